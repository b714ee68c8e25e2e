"""``Reassembly``: chunks in, and the envelope accepted once it is whole, never before.

Source: ai-envelope.md, ``PartialInfo``; what it leaves open is settled in ``emitter.accept.partial``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

from emitter.accept.gates.shape import document
from emitter.accept.outcome import Gated, Invalid
from emitter.accept.partial import Assembly, Broken, Complete, Waiting
from emitter.accept.telling import REPAIRABLE
from emitter.clock import Clock
from emitter.kinds.envelope import Trust

if TYPE_CHECKING:
    from emitter.accept.acceptance import Acceptance
    from emitter.accept.acceptor import Acceptor
    from emitter.accept.case import Case
    from emitter.accept.context import Context
    from emitter.accept.partial import Bounds
    from emitter.wire import Json


@dataclass(slots=True)
class Reassembly:
    """Puts chunks together for ``acceptor``; it may be fed from many threads.

    Chunks come in any order and more than once. What a sender can make it hold is bounded by ``bounds``.
    """

    acceptor: Acceptor
    bounds: Bounds | None = None
    clock: Clock = field(default_factory=Clock)
    _assembly: Assembly = field(init=False)
    _first: dict[tuple[str, str], Case] = field(init=False, default_factory=dict[tuple[str, str], "Case"])
    _guard: Lock = field(init=False, default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self._assembly = Assembly(self.bounds)

    def accept(self, chunk: Json, context: Context) -> Acceptance | None:
        """Return what becomes of the envelope that ``chunk`` makes whole, or breaks; None while others are awaited.

        An envelope that is no chunk is whole.
        """
        case = document(self.acceptor.receive(chunk, context))
        if isinstance(case, Invalid) or case.envelope.partial is None:
            return self.acceptor.accept(chunk, context)
        key = context.run_id, case.envelope.correlation_id
        with self._guard:
            found = self._assembly.add(case.envelope, self.clock.monotonic(), context.run_id)
            first = self._noted(key, case, waiting=isinstance(found, Waiting))
        if isinstance(found, Waiting):
            return None
        if isinstance(found, Broken):
            return self.acceptor.refuse(_refusal(found), first)
        if isinstance(found, Complete):
            return self._mendable(self.acceptor.accept(found.envelope, first.context), key)
        return self.acceptor.recall(case.envelope.correlation_id, context)

    def expired(self) -> tuple[Acceptance, ...]:
        """Return the refusals of the envelopes whose chunks did not all come in time; to be called now and then."""
        with self._guard:
            late = self._assembly.expired(self.clock.monotonic())
            cases = [(each.broken, self._first.pop((each.run_id, each.correlation_id))) for each in late]
        return tuple(self.acceptor.refuse(_refusal(broken), case) for broken, case in cases)

    def _noted(self, key: tuple[str, str], case: Case, *, waiting: bool) -> Case:
        """Return the first chunk's case; one chunk from a node that read untrusted content taints the whole."""
        first = self._first.pop(key, case)
        if case.context.inputs is Trust.UNTRUSTED and first.context.inputs is Trust.TRUSTED:
            received = replace(first.received, context=replace(first.context, inputs=Trust.UNTRUSTED))
            first = replace(first, received=received)
        if waiting:
            self._first[key] = first
        return first

    def _mendable(self, found: Acceptance, key: tuple[str, str]) -> Acceptance:
        """Let the model emit it anew under the same id, where it may mend what was refused."""
        if isinstance(found.outcome, Gated | Invalid) and found.outcome.code in REPAIRABLE:
            with self._guard:
                self._assembly.forget(key[1], key[0])
        return found


def _refusal(broken: Broken) -> Invalid:
    return Invalid(broken.code, f"{broken.code.value}: {broken.violations[0]}", broken.violations)
