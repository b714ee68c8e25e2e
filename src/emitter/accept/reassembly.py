"""``Reassembly``: chunks in, and the envelope accepted once it is whole, never before.

Source: ai-envelope.md, ``PartialInfo``; what it leaves open is settled in ``emitter.accept.partial``.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

from emitter.accept.acceptance import Acceptance
from emitter.accept.gates.shape import document
from emitter.accept.outcome import Gated, Invalid
from emitter.accept.partial import Assembly, Bounds, Broken, Complete, Waiting
from emitter.accept.partial.assembly import TOO_MANY
from emitter.accept.telling import REPAIRABLE
from emitter.kinds.envelope import AIEnvelope, Trust

DEFAULT_BOUNDS = Bounds()

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.accept.acceptor import Acceptor
    from emitter.accept.case import Case
    from emitter.accept.context import Context
    from emitter.wire import Json


@dataclass(slots=True)
class Reassembly:
    """Puts chunks together for ``acceptor``; it may be fed from many threads.

    Chunks come in any order and more than once. What a sender can make it hold is bounded by ``bounds``.
    """

    acceptor: Acceptor
    bounds: Bounds = DEFAULT_BOUNDS
    monotonic: Callable[[], float] = time.monotonic
    _assembly: Assembly = field(init=False, repr=False)
    _first: dict[tuple[str, str], Case] = field(init=False, default_factory=dict[tuple[str, str], "Case"], repr=False)
    _ended: OrderedDict[tuple[str, str], Acceptance] = field(
        init=False, default_factory=OrderedDict[tuple[str, str], "Acceptance"], repr=False
    )
    _guard: Lock = field(init=False, default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self._assembly = Assembly(self.bounds)

    def accept(self, chunk: AIEnvelope | Json, context: Context) -> Acceptance | None:
        """Return what becomes of the envelope that ``chunk`` makes whole, or breaks; None while others are awaited.

        An envelope that is no chunk is whole. A chunk that comes after the end has the same outcome, and nothing is
        told again. Where the model may mend what was refused, its first chunk begins it anew.
        """
        case = document(self.acceptor.receive(chunk, context))
        if isinstance(case, Invalid) or case.envelope.partial is None:
            return self.acceptor.accept(chunk, context)
        key = context.run_id, case.envelope.correlation_id
        with self._guard:
            if case.envelope.partial.index == 0 and self._may_be_mended(key):
                self._assembly.forget(key[1], key[0])
                del self._ended[key]
            if key in self._ended:
                return self.acceptor.recall(key[1], context) or self._ended[key]
            found = self._assembly.add(case.envelope, self.monotonic(), context.run_id)
            first = self._noted(key, case, waiting=isinstance(found, Waiting))
            if isinstance(found, Broken) and found is not TOO_MANY:
                self._note_end(key, Acceptance(_refusal(found), first.context, first.rules))
        if isinstance(found, Broken):
            return self.acceptor.refuse(_refusal(found), first)
        if isinstance(found, Complete):
            accepted = self.acceptor.accept(found.envelope, first.context)
            with self._guard:
                self._note_end(key, accepted)
            return accepted
        return None if isinstance(found, Waiting) else self.acceptor.recall(key[1], context)

    def expired(self) -> tuple[Acceptance, ...]:
        """Return the refusals of the envelopes whose chunks did not all come in time; to be called now and then."""
        with self._guard:
            late = {
                (each.run_id, each.correlation_id): each.broken for each in self._assembly.expired(self.monotonic())
            }
            first = {key: self._first.pop(key) for key in late}
            for key, case in first.items():
                self._note_end(key, Acceptance(_refusal(late[key]), case.context, case.rules))
        return tuple(self.acceptor.refuse(_refusal(late[key]), first[key]) for key in late)

    def _noted(self, key: tuple[str, str], case: Case, *, waiting: bool) -> Case:
        """Return the first chunk's case; one chunk from a node that read untrusted content taints the whole."""
        first = self._first.pop(key, case)
        if case.context.inputs is Trust.UNTRUSTED and first.context.inputs is Trust.TRUSTED:
            received = replace(first.received, context=replace(first.context, inputs=Trust.UNTRUSTED))
            first = replace(first, received=received)
        if waiting:
            self._first[key] = first
        return first

    def _note_end(self, key: tuple[str, str], found: Acceptance) -> None:
        """Remember the outcome, and nothing of what was emitted."""
        self._ended[key] = replace(found, envelope=None, events=())
        while len(self._ended) > self.bounds.remembered:
            self._ended.popitem(last=False)

    def _may_be_mended(self, key: tuple[str, str]) -> bool:
        ended = self._ended.get(key)
        return ended is not None and isinstance(ended.outcome, Gated | Invalid) and ended.outcome.code in REPAIRABLE


def _refusal(broken: Broken) -> Invalid:
    return Invalid(broken.code, f"{broken.code.value}: {broken.violations[0]}", broken.violations)
