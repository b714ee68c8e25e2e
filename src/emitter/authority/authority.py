"""The authority itself: what was approved is confirmed, done once, and receipted; and can be stopped at any time."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from emitter.authority import acting, granting, stopping, taking
from emitter.authority.chain import Seal
from emitter.authority.guard import Guarded, How
from emitter.authority.journal import Journal
from emitter.authority.parts import Parts
from emitter.authority.proposal import Shelf
from emitter.authority.running import Running
from emitter.authority.steps import arun, run
from emitter.authority.stopping import StopRequest
from emitter.errors import InputError
from emitter.ledger import Ledger
from emitter.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from emitter.authority.acting import Work
    from emitter.authority.guard import Guarding
    from emitter.authority.hooks import Hook
    from emitter.authority.records import Confirm, ConfirmRequest, Intent, Line, Receipt, Resume, Revoke
    from emitter.authority.rules.state import Held, State
    from emitter.authority.signing import Key
    from emitter.authority.stopping import Stopped
    from emitter.authority.writing import Effects
    from emitter.decide.digest import AnswerCheck
    from emitter.ledger import Resolved
    from emitter.sinks import Sink
    from emitter.store import Store
    from emitter.wire import Json

P = ParamSpec("P")
T = TypeVar("T")


class Authority:
    """Confirms, stops and receipts, in a store that threads, processes and machines may share.

    ``store`` is any of the library's stores (in memory where None), ``ledger`` the one whose decisions grant authority
    (one in the same store where None). ``actor`` is who acts here. ``hooks`` are objects with any of the seven
    methods. ``limits`` names limits of your own. ``max_skew`` is by how many seconds the clocks of those who share the
    store may differ: a confirm ends so much earlier. ``clock`` returns seconds since 1970. ``sink`` is told events.
    ``sign`` makes a signature of each line, and ``check`` looks at each that is read: ``signer`` and ``checker`` of
    ``emitter.authority.signing``. Without them whoever can write into the store can forge a chain.

    ``principals`` are the public keys of those whose answers count: an answer that none of them signed authorizes
    nothing. If you leave them out and ``check`` is a ``checker``, an answer must be signed by one of its keys; answers
    that are resolved by this authority's own ledger are signed with ``sign``. Without keys whoever can write into the
    store can forge an answer.
    """

    __slots__ = ("_parts", "_shelf")

    def __init__(  # noqa: PLR0913  every one has a default
        self,
        store: Store | None = None,
        *,
        ledger: Ledger | None = None,
        actor: str = "agent",
        hooks: Iterable[Hook] = (),
        limits: Iterable[str] = (),
        max_skew: float = 0.0,
        clock: Callable[[], float] = time.time,
        sink: Sink | None = None,
        sign: Callable[[str], str] | None = None,
        check: Callable[[Line], None] | None = None,
        principals: Iterable[Key] = (),
    ) -> None:
        taking.parts(store, ledger, clock, sink)
        place, timed = MemoryStore() if store is None else store, taking.clock(clock)
        answers = _answers(principals, check)
        seal = Seal(taking.optional("sign=", sign), taking.optional("check=", check), answers)
        self._parts = Parts(
            journal=Journal(place, clock=timed, sink=sink, seal=seal, skew=taking.seconds(max_skew)),
            ledger=Ledger(place, clock=timed, sink=sink, sign=sign, check=answers) if ledger is None else ledger,
            actor=taking.name("actor", actor),
            hooks=taking.hooks(hooks),
            limits=taking.limits(limits),
            max_skew=taking.seconds(max_skew),
            running=Running(),
            answers=answers,
        )
        self._shelf = Shelf(place)

    @property
    def proposals(self) -> Shelf:
        """The proposals of guarded calls, as they are served."""
        return self._shelf

    @property
    def ledger(self) -> Ledger:
        """The ledger whose decisions grant authority."""
        return self._parts.ledger

    def confirm(self, decision: Resolved | str, request: ConfirmRequest) -> Confirm:
        """Return the authority that the principal granted by a decision; the same one again is the same confirm.

        ``decision`` is what ``Ledger.resolve`` returned, or the decision's id. Its chosen option must have
        ``request.digest`` for its action: so what was approved is what is granted. Raises ``NotConsent`` for anything
        else, ``LimitUnknown``, ``ConfirmExpired`` for an approval that is too old, and ``WorkflowStopped``.
        """
        return run(granting.confirm(self._parts, decision, request))

    async def aconfirm(self, decision: Resolved | str, request: ConfirmRequest) -> Confirm:
        """Do as ``confirm`` does, without blocking."""
        return await arun(granting.confirm(self._parts, decision, request))

    def revoke(self, confirm_id: str, *, reason: str | None = None) -> Revoke:
        """Take a confirm back: nothing that begins afterwards is authorized by it.

        Raises ``UnknownConfirm``, ``NotRevocable``, and ``ConfirmRevoked`` where it was taken back before.
        """
        return granting.revoke(self._parts, confirm_id, reason)

    def standing(self, confirm_id: str) -> Held:
        """Return a confirm as it stands, with what was spent of it; raises ``UnknownConfirm``."""
        return granting.standing(self._parts, confirm_id)

    def stop(self, request: StopRequest | str) -> Stopped:
        """Stop a workflow, or what ``StopRequest`` says of one: nothing of it begins afterwards, in whichever process.

        What runs here is told, what runs elsewhere finds out when it looks (``current_act``); all of it is in
        ``Stopped.running``. Of a whole chain the confirms are dead for good. Raises ``InputError`` for what is no stop.
        """
        return run(stopping.stop(self._parts, _asked(request)))

    async def astop(self, request: StopRequest | str) -> Stopped:
        """Do as ``stop`` does, without blocking."""
        return await arun(stopping.stop(self._parts, _asked(request)))

    def resume(self, workflow_id: str, request_id: str) -> Resume:
        """Lift a stop that was a pause, or by which a person took over; what was confirmed before it stays dead.

        Raises ``WorkflowStopped`` for a stop that is final, ``InputError`` where no such stop holds.
        """
        named = taking.name("workflow_id", workflow_id), taking.name("request_id", request_id)
        return stopping.resume(self._parts, *named)

    def execute(self, confirm_id: str, work: Work) -> Any:
        """Do what a confirm authorizes, once, and return what the tool returned; what it raises is raised.

        The intent stands in the chain before the tool is called, the receipt before this returns. Done before, under
        the same ``intent_id``, the retained result is returned and nothing is done. Raises an ``AuthorityError`` where
        nothing may be done, and ``Unfinished`` where it began before and nobody knows how it ended.
        """
        return run(acting.execute(self._parts, confirm_id, work))

    async def aexecute(self, confirm_id: str, work: Work) -> Any:
        """Do as ``execute`` does, for an async tool."""
        return await arun(acting.execute(self._parts, confirm_id, work))

    def settle(self, workflow_id: str, intent_id: str, effects: Effects) -> Receipt:
        """Write the receipt of an act that nobody saw end, once somebody has seen what became of it."""
        return run(acting.settle(self._parts, workflow_id, intent_id, effects))

    async def asettle(self, workflow_id: str, intent_id: str, effects: Effects) -> Receipt:
        """Do as ``settle`` does, without blocking."""
        return await arun(acting.settle(self._parts, workflow_id, intent_id, effects))

    @overload
    def guard(self, tool: Callable[P, T], /, **how: Unpack[Guarding]) -> Guarded[P, T]: ...
    @overload
    def guard(self, tool: None = None, /, **how: Unpack[Guarding]) -> Callable[[Callable[P, T]], Guarded[P, T]]: ...
    def guard(self, tool: Callable[..., Any] | None = None, /, **how: Any) -> Any:
        """Return a tool that runs only what its principal approved, to the letter, once, and with a receipt.

        Also a decorator, with or without settings: see ``Guarding``. A call builds its proposal from the real
        arguments, opens a decision one of whose options has its digest, waits for the resolution, confirms it, writes
        the intent, runs the tool on a copy of the arguments, and writes the receipt.
        """
        if tool is None:
            return partial(self.guard, **how)
        return Guarded(tool, How.of(tool, cast("Guarding", how)), self._parts, self._shelf)

    def workflows(self) -> tuple[str, ...]:
        """Return the workflows that have a record, in the order in which they began."""
        return self._parts.journal.workflows()

    def unfinished(self, workflow_id: str | None = None) -> tuple[Intent, ...]:
        """Return the acts that have no receipt, of one workflow or of all: they run, or nobody knows how they ended."""
        return self._each(workflow_id, lambda state: state.unfinished.values())

    def receipts(self, workflow_id: str | None = None) -> tuple[Receipt, ...]:
        """Return the receipts of one workflow or of all, in the order in which each workflow's were written."""
        return self._each(workflow_id, lambda state: state.receipts.values())

    def lines(self, workflow_id: str) -> Iterator[Json]:
        """Yield the lines of a workflow's chain as they stand in the store: see ``emitter.authority.chain.verify``."""
        return self._parts.journal.lines(taking.name("workflow_id", workflow_id))

    def _each(self, workflow_id: str | None, see: Callable[[State], Iterable[T]]) -> tuple[T, ...]:
        named = self.workflows() if workflow_id is None else (taking.name("workflow_id", workflow_id),)
        found = (self._parts.journal.look(each, lambda state: tuple(see(state))) for each in named)
        return tuple(chain.from_iterable(found))


def _answers(principals: object, check: object) -> AnswerCheck | None:
    """Return what looks at the signature of an answer; None where no key was named for that."""
    if isinstance(principals, (str, bytes, Mapping)) or not isinstance(principals, Iterable):
        raise InputError("principals= is a list of public keys.", hint="Write principals=[public(key)].")
    keys = tuple(cast("Iterable[Key]", principals))
    if not keys:
        return cast("AnswerCheck | None", getattr(check, "answered_by", None))
    signing = importlib.import_module("emitter.authority.signing")  # which needs an extra
    return cast("AnswerCheck", signing.checker(*keys).answered_by)


def _asked(given: StopRequest | str) -> StopRequest:
    return given if isinstance(given, StopRequest) else StopRequest(given)
