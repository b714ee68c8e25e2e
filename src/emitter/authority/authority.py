"""The `Authority` class: confirm, revoke, stop, execute and guard, over one store."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, cast, overload

from emitter.authority import configuration, grants, states
from emitter.authority.chain import SigningCallbacks, sign_text
from emitter.authority.context import ActiveActions, AuthorityContext
from emitter.authority.execution import execute_confirmed, resolve_unfinished
from emitter.authority.grants import StopRequest
from emitter.authority.guard.calls import GuardedTool
from emitter.authority.guard.options import GuardConfig, GuardOptions
from emitter.authority.journal import Journal
from emitter.authority.proposals.store import ProposalStore
from emitter.client.options import describe_options
from emitter.decisions import ledger_arguments
from emitter.decisions.ledger import DEFAULT_WORDS, Ledger
from emitter.decisions.ledger_entries import decision_reference
from emitter.errors import InputError, Tampered
from emitter.interpreter import arun_steps, run_steps
from emitter.stores import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from emitter.authority.configuration import AuthorityHook
    from emitter.authority.execution import Effects, Execution
    from emitter.authority.grants import StopResult
    from emitter.authority.records import Confirm, ConfirmRequest, Intent, Line, Receipt, Resume, Revoke, Stop
    from emitter.authority.rules import GrantState, WorkflowState
    from emitter.authority.signing import Key
    from emitter.authority.states import ApprovalState
    from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
    from emitter.decisions.ledger_words import KeepWords
    from emitter.decisions.resolution import AnswerVerifier
    from emitter.messages import Json
    from emitter.stores import Store
    from emitter.telemetry.sinks import Sink

P = ParamSpec("P")
T = TypeVar("T")


class Authority:
    """Confirms, stops and receipts, in a store that threads, processes and machines may share.

    Without ``sign`` and ``check``, anyone who can write to the store can forge a chain. Without ``principals`` or
    ``check``, anyone who can write to the store can forge an answer.

    Args:
        store: Where records and decisions are kept. Defaults to memory.
        ledger: The ledger whose decisions grant authority. Defaults to one in the same store. With ``principals``, a
            ledger of your own needs ``check=`` as well.
        words: How the default ledger keeps the principal's words. See ``Ledger``.
        actor: The name of the agent that acts.
        hooks: Objects with any of the seven hook methods.
        limits: Names of your own limits.
        max_skew: Seconds by which the clocks sharing the store may differ. Confirms end that much earlier.
        clock: Returns seconds since 1970.
        on_event: Receives events.
        sign: Signs each line: see ``emitter.authority.signing.make_signer``.
        check: Verifies each line that is read: see ``emitter.authority.signing.make_verifier``.
        principals: Public keys of the people whose answers count; other answers authorize nothing. Defaults to the keys
            of ``check`` if that comes from ``make_verifier``. Answers resolved by this authority's own ledger are
            signed with ``sign``.

    Raises:
        InputError: An argument is invalid, or ``ledger`` would record an answer that does not count here.
    """

    __slots__ = ("_context", "_proposals")

    def __init__(  # noqa: PLR0913  every one has a default
        self,
        store: Store | None = None,
        *,
        ledger: Ledger | None = None,
        words: KeepWords | None = DEFAULT_WORDS,
        actor: str = "agent",
        hooks: Iterable[AuthorityHook] = (),
        limits: Iterable[str] = (),
        max_skew: float = 0.0,
        clock: Callable[[], float] = time.time,
        on_event: Sink | None = None,
        sign: Callable[[str], str] | None = None,
        check: Callable[[Line], None] | None = None,
        principals: Iterable[Key] = (),
    ) -> None:
        configuration.check_dependencies(store, ledger, clock, on_event)
        store_or_memory, checked = MemoryStore() if store is None else store, configuration.checked_clock(clock)
        verify_answer = _answer_verifier(principals, check)
        signing = SigningCallbacks(
            ledger_arguments.check_callable("sign=", sign),
            ledger_arguments.check_callable("check=", check),
            verify_answer,
        )
        _check_signing_pair(signing)
        if ledger is None:
            ledger = Ledger(
                store_or_memory, clock=checked, on_event=on_event, words=words, sign=sign, check=verify_answer
            )
        else:
            _check_own_ledger(ledger, words, verify_answer)
        self._context = AuthorityContext(
            journal=Journal(
                store_or_memory,
                clock=checked,
                on_event=on_event,
                signing=signing,
                max_skew=configuration.validate_max_skew(max_skew),
            ),
            ledger=ledger,
            actor=configuration.validate_name("actor", actor),
            hooks=configuration.validate_hooks(hooks),
            limit_names=configuration.validate_limit_names(limits),
            max_skew=configuration.validate_max_skew(max_skew),
            active_actions=ActiveActions(),
            check_answer=verify_answer,
        )
        self._proposals = ProposalStore(store_or_memory)

    @property
    def proposals(self) -> ProposalStore:
        """The proposals of guarded calls, with the bytes to serve."""
        return self._proposals

    @property
    def ledger(self) -> Ledger:
        """The ledger whose decisions grant authority."""
        return self._context.ledger

    def confirm(self, decision: ResolvedDecision | str, request: ConfirmRequest) -> Confirm:
        """Grant the authority that a principal approved. Repeating the same choice returns the same confirm.

        Args:
            decision: The result of ``Ledger.resolve``, or the decision's id. The chosen option's action must be
                ``request.digest``.
            request: The authority to grant.

        Raises:
            NotConsent: The decision does not approve exactly this request.
            LimitUnknown: A limit cannot be enforced here.
            ConfirmExpired: The approval is too old.
            ConfirmNotYetValid: The approval is of a clock that is ahead by more than ``max_skew``.
            WorkflowStopped: The workflow was stopped.
        """
        return run_steps(grants.grant_confirm(self._context, decision, request))

    async def aconfirm(self, decision: ResolvedDecision | str, request: ConfirmRequest) -> Confirm:
        """Async version of ``confirm``."""
        return await arun_steps(grants.grant_confirm(self._context, decision, request))

    def revoke(self, confirm_id: str, *, reason: str | None = None) -> Revoke:
        """Revoke a confirm, so that nothing may begin under it any more.

        Raises:
            UnknownConfirm: No confirm has this id.
            NotRevocable: It was granted as not revocable.
            ConfirmRevoked: It was revoked before.
        """
        return grants.revoke_confirm(self._context, confirm_id, reason)

    def get_grant(self, confirm_id: str) -> GrantState:
        """Return a confirm with its state and the amounts spent, or raise ``UnknownConfirm``."""
        return grants.read_grant_state(self._context, confirm_id)

    def stop(self, request: StopRequest | str) -> StopResult:
        """Stop a workflow, or the part of one that a ``StopRequest`` names, in every process.

        Actions running in this process are notified; those in other processes notice when they call
        ``current_action().check()``. ``StopResult.unfinished_intents`` lists them all. Stopping a whole workflow ends
        its confirms for good.

        Raises:
            InputError: The request is invalid.
        """
        return run_steps(grants.stop_workflow(self._context, _as_stop_request(request)))

    async def astop(self, request: StopRequest | str) -> StopResult:
        """Async version of ``stop``."""
        return await arun_steps(grants.stop_workflow(self._context, _as_stop_request(request)))

    def resume(self, workflow_id: str, request_id: str) -> Resume:
        """Lift a pause or a human takeover. Earlier confirms stay invalid.

        Raises:
            WorkflowStopped: The stop is final.
            InputError: No active stop has this id.
        """
        configuration.validate_name("workflow_id", workflow_id)
        configuration.validate_name("request_id", request_id)
        return grants.resume_workflow(self._context, workflow_id, request_id)

    def execute(self, confirm_id: str, execution: Execution) -> Any:
        """Execute an action once under a confirm, and return what its tool returns or raise what it raises.

        The intent is written before the tool is called and the receipt before this method returns. If the same
        ``intent_id`` was executed before, its retained result is returned and nothing runs.

        Raises:
            AuthorityError: The action is not authorized.
            Unfinished: The action began before and its outcome is unknown.
        """
        return run_steps(execute_confirmed(self._context, confirm_id, execution))

    async def aexecute(self, confirm_id: str, execution: Execution) -> Any:
        """Async version of ``execute``, for an async tool."""
        return await arun_steps(execute_confirmed(self._context, confirm_id, execution))

    def resolve_unfinished(self, workflow_id: str, intent_id: str, effects: Effects) -> Receipt:
        """Write the receipt of an unfinished action, once you have found out what it did."""
        return run_steps(resolve_unfinished(self._context, workflow_id, intent_id, effects))

    async def aresolve_unfinished(self, workflow_id: str, intent_id: str, effects: Effects) -> Receipt:
        """Async version of ``resolve_unfinished``."""
        return await arun_steps(resolve_unfinished(self._context, workflow_id, intent_id, effects))

    @overload
    def guard(self, tool: Callable[P, T], /, **options: Unpack[GuardOptions]) -> GuardedTool[P, T]: ...
    @overload
    def guard(
        self, tool: None = None, /, **options: Unpack[GuardOptions]
    ) -> Callable[[Callable[P, T]], GuardedTool[P, T]]: ...
    def guard(self, tool: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Wrap a tool so that it runs only calls that its principal approved, once each, with a receipt.

        Also usable as a decorator, with or without options. A call builds a proposal from its arguments, opens a
        decision with an option for exactly that call, waits for the answer, confirms it, writes the intent, runs the
        tool on a copy of the arguments, and writes the receipt.
        """
        if tool is None:
            return partial(self.guard, **options)
        return GuardedTool(
            tool, GuardConfig.from_options(tool, cast("GuardOptions", options)), self._context, self._proposals
        )

    def workflows(self) -> tuple[str, ...]:
        """Return the workflows that have records, in the order in which they began."""
        return self._context.journal.workflows()

    def unfinished_actions(self, workflow_id: str | None = None) -> tuple[Intent, ...]:
        """Return actions without a receipt, of one workflow or all. They are running, or their outcome is unknown."""
        return self._collect(workflow_id, lambda state: state.unfinished_intents.values())

    def stops(self, workflow_id: str | None = None) -> tuple[Stop, ...]:
        """Return the stops in force, of one workflow or all, in the order written within each workflow."""
        return self._collect(workflow_id, lambda state: state.active_stops.values())

    def receipts(self, workflow_id: str | None = None) -> tuple[Receipt, ...]:
        """Return the receipts of one workflow or all, in the order written within each workflow."""
        return self._collect(workflow_id, lambda state: state.receipts.values())

    def actions_of(self, decision_id: str) -> tuple[tuple[Intent, Receipt | None], ...]:
        """Return the actions that a decision allowed, each with its receipt, or None if there is none yet."""
        return grants.read_actions(self._context, decision_reference(decision_id))

    def find_state(self, decision: PendingDecision | ResolvedDecision | str) -> ApprovalState:
        """Return what a decision has come to: its answer, and what became of the act that it approved.

        Args:
            decision: The decision, or its id.

        Raises:
            UnknownDecision: No decision has this id.
        """
        found = self.ledger.find(decision) if isinstance(decision, str) else decision
        return states.find_state(self._context, found)

    def withdraw_questions(self, call_id_prefix: str) -> tuple[str, ...]:
        """Withdraw the open questions about guarded calls that nobody repeats any more.

        Whoever answers one of them reads that the agent withdrew it.

        Args:
            call_id_prefix: How the ids of the calls begin, such as the name of a job that was cancelled.

        Returns:
            The ids of the decisions that were withdrawn.
        """
        return grants.withdraw_questions(self._context, configuration.validate_name("call_id_prefix", call_id_prefix))

    def find_stop(self, pending: PendingDecision) -> Stop | None:
        """Return the stop that holds the guarded call that a decision is about, or None if it is not stopped."""
        return grants.find_stop(self._context, pending)

    def lines(self, workflow_id: str) -> Iterator[Json]:
        """Yield a workflow's lines as stored, unverified. See ``emitter.authority.chain.verify_chain``."""
        return self._context.journal.lines(configuration.validate_name("workflow_id", workflow_id))

    def _collect(self, workflow_id: str | None, read: Callable[[WorkflowState], Iterable[T]]) -> tuple[T, ...]:
        workflow_ids = (
            self.workflows() if workflow_id is None else (configuration.validate_name("workflow_id", workflow_id),)
        )
        items = (self._context.journal.read(name, lambda state: tuple(read(state))) for name in workflow_ids)
        return tuple(chain.from_iterable(items))


_guard: Any = Authority.guard
_guard.__signature__, _guard.__doc__ = describe_options(_guard, GuardOptions)


def _answer_verifier(principals: object, check: object) -> AnswerVerifier | None:
    """Return the verifier of answers' signatures, or None if no keys were named."""
    if isinstance(principals, (str, bytes, Mapping)) or not isinstance(principals, Iterable):
        raise InputError("principals= must be a list of public keys.", hint="Write principals=[public_jwk(key)].")
    keys = tuple(cast("Iterable[Key]", principals))
    if not keys:
        return cast("AnswerVerifier | None", getattr(check, "verify_answer", None))
    signing = importlib.import_module("emitter.authority.signing")  # needs the signing extra
    return cast("AnswerVerifier", signing.make_verifier(*keys).verify_answer)


def _check_signing_pair(signing: SigningCallbacks) -> None:
    """Raise ``InputError`` if ``check`` would refuse what ``sign`` signs, and so make the chain unreadable."""
    verify = getattr(signing.check, "verify_answer", None)
    if signing.sign is None or verify is None:
        return
    try:
        verify(_PROBE, sign_text(_PROBE, signing.sign))
    except Tampered as error:
        raise InputError(
            f"check= does not accept what sign= signs: {error.args[0]}",
            hint="Pass the public key of sign= to make_verifier(), and the keys of older lines.",
        ) from None


def _check_own_ledger(ledger: Ledger, words: KeepWords | None, verify_answer: AnswerVerifier | None) -> None:
    """Raise ``InputError`` for a ledger of the caller's own that contradicts the other arguments."""
    if words is not DEFAULT_WORDS:
        raise InputError("words= is for the default ledger.", hint="Pass Ledger(words=...), or leave ledger= out.")
    if verify_answer is not None and not ledger.verifies_answers:
        raise InputError(
            "ledger= does not verify answers, so it would record some that do not count.",
            hint="Pass Ledger(..., check=make_verifier(*keys).verify_answer), or leave ledger= out. words= is also an "
            "argument of Authority.",
        )


_PROBE: Final = "emitter.authority.probe"


def _as_stop_request(request: StopRequest | str) -> StopRequest:
    return request if isinstance(request, StopRequest) else StopRequest(request)
