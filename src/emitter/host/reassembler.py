"""Join the chunks of envelopes, and accept each envelope when it is complete."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

from emitter.host.outcomes import Gated, InvalidEnvelope
from emitter.host.partial import (
    TOO_MANY_OPEN,
    BrokenChunks,
    ChunkAssembler,
    ChunkLimits,
    CompleteEnvelope,
    WaitingForChunks,
)
from emitter.host.pipeline import REPAIRABLE, Acceptance
from emitter.host.validation import parse_document
from emitter.messages import Trust

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.host.acceptor import Acceptor
    from emitter.host.config import EnvelopeContext, InFlightEnvelope
    from emitter.messages import Json
    from emitter.models.envelope import AIEnvelope

DEFAULT_CHUNK_LIMITS = ChunkLimits()


@dataclass(slots=True)
class EnvelopeReassembler:
    """Joins chunks into envelopes for ``acceptor``. It is thread-safe.

    Chunks may arrive in any order and more than once. ``limits`` bound what a sender can make it hold.
    """

    acceptor: Acceptor
    limits: ChunkLimits = DEFAULT_CHUNK_LIMITS
    monotonic: Callable[[], float] = time.monotonic
    _assembler: ChunkAssembler = field(init=False, repr=False)
    _first_chunks: dict[tuple[str, str], InFlightEnvelope] = field(
        init=False, default_factory=dict[tuple[str, str], "InFlightEnvelope"], repr=False
    )
    _finished: OrderedDict[tuple[str, str], Acceptance] = field(
        init=False, default_factory=OrderedDict[tuple[str, str], "Acceptance"], repr=False
    )
    _lock: Lock = field(init=False, default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self._assembler = ChunkAssembler(self.limits)

    def accept(self, chunk: AIEnvelope | Json, context: EnvelopeContext) -> Acceptance | None:
        """Accept a chunk, or an envelope without chunks.

        A late chunk has the outcome of its envelope, without further events. If the model may correct a refused
        envelope, its first chunk starts it again.

        Returns:
            The acceptance of the envelope that the chunk completes or breaks. None while chunks are missing.
        """
        state = parse_document(self.acceptor.receive(chunk, context))
        if isinstance(state, InvalidEnvelope) or state.envelope.partial is None:
            return self.acceptor.accept(chunk, context)
        key = context.run_id, state.envelope.correlation_id
        with self._lock:
            if state.envelope.partial.index == 0 and self._is_retryable(key):
                self._assembler.forget(key[1], key[0])
                del self._finished[key]
            if key in self._finished:
                return self.acceptor.recall(key[1], context) or self._finished[key]
            result = self._assembler.add(state.envelope, self.monotonic(), context.run_id)
            first = self._remember_first(key, state, waiting=isinstance(result, WaitingForChunks))
            if isinstance(result, BrokenChunks) and result is not TOO_MANY_OPEN:
                self._remember_end(key, Acceptance(_to_invalid(result), first.context, first.config))
        if isinstance(result, BrokenChunks):
            return self.acceptor.refuse(_to_invalid(result), first)
        if isinstance(result, CompleteEnvelope):
            acceptance = self.acceptor.accept(result.envelope, first.context)
            with self._lock:
                self._remember_end(key, acceptance)
            return acceptance
        return None if isinstance(result, WaitingForChunks) else self.acceptor.recall(key[1], context)

    def expire(self) -> tuple[Acceptance, ...]:
        """Return the refusals of the envelopes whose chunks did not arrive in time. Call it regularly."""
        late: list[tuple[InvalidEnvelope, InFlightEnvelope]] = []
        with self._lock:
            for expired in self._assembler.expire(self.monotonic()):
                key, outcome = (expired.run_id, expired.correlation_id), _to_invalid(expired.broken)
                state = self._first_chunks.pop(key)
                self._remember_end(key, Acceptance(outcome, state.context, state.config))
                late.append((outcome, state))
        return tuple(self.acceptor.refuse(outcome, state) for outcome, state in late)

    def _remember_first(self, key: tuple[str, str], state: InFlightEnvelope, *, waiting: bool) -> InFlightEnvelope:
        """Return the first chunk's state; one chunk from an untrusted node makes the envelope untrusted."""
        first = self._first_chunks.pop(key, state)
        if state.context.inputs is Trust.UNTRUSTED and first.context.inputs is Trust.TRUSTED:
            received = replace(first.received, context=replace(first.context, inputs=Trust.UNTRUSTED))
            first = replace(first, received=received)
        if waiting:
            self._first_chunks[key] = first
        return first

    def _remember_end(self, key: tuple[str, str], acceptance: Acceptance) -> None:
        """Remember the outcome, without the envelope and its events."""
        self._finished[key] = replace(acceptance, envelope=None, events=())
        while len(self._finished) > self.limits.max_remembered:
            self._finished.popitem(last=False)

    def _is_retryable(self, key: tuple[str, str]) -> bool:
        outcome = self._finished[key].outcome if key in self._finished else None
        return isinstance(outcome, Gated | InvalidEnvelope) and outcome.code in REPAIRABLE


def _to_invalid(broken: BrokenChunks) -> InvalidEnvelope:
    return InvalidEnvelope(broken.code, f"{broken.code.value}: {broken.violations[0]}", broken.violations)
