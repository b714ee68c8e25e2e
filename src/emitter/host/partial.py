"""Assemble an envelope that arrives in chunks. The host acts on it only when it is complete.

Chunks share a ``correlationId``, arrive in any order and may repeat. If every ``payload`` is a string, the
strings are fragments: joined by ``index`` they are the payload as strict JSON. Otherwise each chunk carries the
payload so far, and the last one is final. Contradictory chunks never become an envelope. OpenWOP defines only
``PartialInfo``; the other rules are emitter's own (its gap E1).

Source: ai-envelope.md, ``PartialInfo``.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from emitter.host.outcomes import OutcomeCode
from emitter.messages import Trust
from emitter.models.envelope import AIEnvelope, EnvelopeMeta
from emitter.schema import Violation
from emitter.strict_json import NotJsonError, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.messages import Json
    from emitter.models.envelope import PartialInfo

    _Key: TypeAlias = tuple[str, str]
    _ConflictRule: TypeAlias = "tuple[bool, str, str] | tuple[bool, str, str, OutcomeCode]"
    _FinalResult: TypeAlias = "BrokenChunks | RepeatedChunk"


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Limits on envelopes that arrive in chunks.

    Attributes:
        max_chunks: Chunks per envelope.
        max_size: Characters of a payload as JSON, or of all fragments together.
        max_open: Incomplete envelopes per run.
        timeout: Seconds from the first chunk to arrive to the last.
        max_remembered: Finished envelopes that a late chunk still finds.
    """

    max_chunks: int = 4096
    max_size: int = 1_048_576
    max_open: int = 64
    timeout: float = 300.0
    max_remembered: int = 4096


@dataclass(frozen=True, slots=True)
class WaitingForChunks:
    """The envelope is incomplete: ``chunks`` of ``total`` arrived (-1 if unknown). It may only be displayed."""

    chunks: int
    total: int


@dataclass(frozen=True, slots=True)
class CompleteEnvelope:
    """The complete envelope, without ``partial``; untrusted if any of its chunks is."""

    envelope: AIEnvelope


@dataclass(frozen=True, slots=True)
class BrokenChunks:
    """The envelope cannot be completed: chunks contradict each other, exceed a limit or are late."""

    code: OutcomeCode
    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class RepeatedChunk:
    """The envelope was completed before; the store has its outcome under its ``correlationId``."""


ChunkResult: TypeAlias = WaitingForChunks | CompleteEnvelope | BrokenChunks | RepeatedChunk


@dataclass(frozen=True, slots=True)
class ExpiredChunks:
    """An envelope whose chunks did not arrive in time, with the members of the first that did."""

    run_id: str
    correlation_id: str
    type: str
    node_id: str | None
    broken: BrokenChunks


UNKNOWN_TOTAL = -1
"""``PartialInfo.total`` if the sender does not know it."""


def make_broken(pointer: str, expected: str, code: OutcomeCode = OutcomeCode.SHAPE) -> BrokenChunks:
    """Return a result with one violation."""
    return BrokenChunks(code, (Violation(pointer, "partial", expected),))


TOO_LATE = make_broken("/partial", "every chunk within the timeout", OutcomeCode.PARTIAL_TIMEOUT)
NOT_JSON = make_broken("/payload", "one JSON document of bounded depth")
NOT_A_DOCUMENT = make_broken("/payload", "fragments that join to one document of strict JSON", OutcomeCode.PAYLOAD)
NOT_A_CHUNK = make_broken("/partial", "a chunk, because chunks of this correlationId are still missing")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk; those with the same content have the same ``digest``. ``size`` is in characters."""

    envelope: AIEnvelope
    partial: PartialInfo
    digest: bytes
    size: int

    @classmethod
    def from_envelope(cls, envelope: AIEnvelope, partial: PartialInfo) -> Chunk | None:
        """Return the chunk, or None if its payload is not JSON."""
        try:
            text = json.dumps(envelope.payload, sort_keys=True)
        except (TypeError, ValueError, RecursionError):
            return None
        digest = hashlib.sha256(f"{partial.is_partial} {text}".encode()).digest()
        return cls(envelope, partial, digest, len(text))

    @property
    def final_index(self) -> int | None:
        """The index of the last chunk, if this is the last."""
        return None if self.partial.is_partial else self.partial.index

    @property
    def fragment(self) -> str | None:
        """The piece of text, or None for a chunk with a whole payload."""
        payload: Json = self.envelope.payload
        return payload if isinstance(payload, str) else None


@dataclass(slots=True)
class ChunkedEnvelope:
    """The chunks of one envelope by ``index``; ``first`` is the first to arrive, at ``started_at``."""

    first: AIEnvelope
    started_at: float
    digests: dict[int, bytes] = field(default_factory=dict[int, bytes])
    fragments: dict[int, str] = field(default_factory=dict[int, str])
    trust_values: set[Trust | None] = field(default_factory=set["Trust | None"])
    size: int = 0
    total: int = UNKNOWN_TOTAL
    highest_index: int = 0
    last: Chunk | None = None

    def find_conflict(self, chunk: Chunk, limits: ChunkLimits) -> BrokenChunks | None:
        """Return the first rule that this chunk breaks, if any."""
        for is_broken, pointer, expected, *codes in _iter_conflict_rules(self, chunk, limits):
            if is_broken:
                return make_broken(pointer, expected, *codes)
        return None

    def get_size_with(self, chunk: Chunk) -> int:
        """Return the size including this chunk. Fragments add up; a repeated chunk adds nothing."""
        return self.size if chunk.partial.index in self.digests else self.size + chunk.size

    def add(self, chunk: Chunk) -> None:
        """Add a chunk without conflicts; a repeated one changes nothing."""
        index, fragment = chunk.partial.index, chunk.fragment
        if fragment is not None:
            self.size = self.get_size_with(chunk)
            self.fragments[index] = fragment
        self.digests[index] = chunk.digest
        self.trust_values.add(chunk.envelope.meta.content_trust)
        self.total, self.highest_index = _get_total(self, chunk), max(self.highest_index, index)
        if chunk.final_index is not None:
            self.last = chunk

    def complete(self) -> CompleteEnvelope | BrokenChunks | None:
        """Return the envelope if all of it arrived."""
        if self.last is None:
            return None
        final = self.last.envelope
        if self.last.fragment is None:
            trust = self._combine_trust(final.meta.content_trust)
            return CompleteEnvelope(_build_envelope(final, final.payload, trust))
        if len(self.digests) <= self.last.partial.index:
            return None
        try:
            payload = parse_json("".join(self.fragments[index] for index in sorted(self.fragments)))
        except NotJsonError:
            return NOT_A_DOCUMENT
        trust = self._combine_trust(None if None in self.trust_values else Trust.TRUSTED)
        return CompleteEnvelope(_build_envelope(final, payload, trust))

    def _combine_trust(self, default: Trust | None) -> Trust | None:
        """Return the lowest trust of the chunks; ``default`` if none is untrusted."""
        return Trust.UNTRUSTED if Trust.UNTRUSTED in self.trust_values else default


def _build_envelope(final: AIEnvelope, payload: Json, trust: Trust | None) -> AIEnvelope:
    """Return the last chunk as the whole envelope, without adding absent members."""
    meta = {name: getattr(final.meta, name) for name in final.meta.model_fields_set - {"content_trust"}}
    if trust is not None:
        meta["content_trust"] = trust
    members = {name: getattr(final, name) for name in final.model_fields_set - {"partial"}}
    return AIEnvelope.model_validate({**members, "payload": payload, "meta": EnvelopeMeta.model_validate(meta)})


def _get_total(emission: ChunkedEnvelope, chunk: Chunk) -> int:
    return emission.total if chunk.partial.total == UNKNOWN_TOTAL else chunk.partial.total


def _has_other_end(emission: ChunkedEnvelope, chunk: Chunk) -> bool:
    """Return whether the chunks have two ends, one follows the end, or ``total`` contradicts the end."""
    total, highest = _get_total(emission, chunk), max(emission.highest_index, chunk.partial.index)
    ends = {final.final_index for final in (emission.last, chunk) if final is not None} - {None}
    if not ends:
        return highest + 1 == total
    return len(ends) > 1 or highest not in ends or (total != UNKNOWN_TOTAL and total - 1 not in ends)


def _iter_conflict_rules(emission: ChunkedEnvelope, chunk: Chunk, limits: ChunkLimits) -> Iterator[_ConflictRule]:
    """Yield each rule: whether the chunk breaks it, its pointer, what is expected, and its code if not SHAPE."""
    envelope, first, index = chunk.envelope, emission.first, chunk.partial.index
    total, highest = _get_total(emission, chunk), max(emission.highest_index, index)
    has_other_total = UNKNOWN_TOTAL not in (emission.total, chunk.partial.total) and emission.total != total
    yield envelope.type != first.type, "/type", "the type of the earlier chunks", OutcomeCode.CONFLICT
    yield envelope.schema_version != first.schema_version, "/schemaVersion", "the schemaVersion of the earlier chunks"
    yield envelope.node_id != first.node_id, "/nodeId", "the nodeId of the earlier chunks"
    yield isinstance(first.payload, str) is (chunk.fragment is None), "/payload", "a string in every chunk, or in none"
    yield max(index + 1, chunk.partial.total) > limits.max_chunks, "/partial", "indexes and total within the limits"
    yield emission.get_size_with(chunk) > limits.max_size, "/payload", "a size within the limits"
    is_other_chunk = emission.digests.get(index, chunk.digest) != chunk.digest
    yield is_other_chunk, "/partial/index", "another index, or the same chunk as before"
    yield has_other_total, "/partial/total", "the total of the earlier chunks"
    yield total != UNKNOWN_TOTAL and highest >= total, "/partial/index", "an index below the total"
    is_other_end = _has_other_end(emission, chunk)
    yield is_other_end, "/partial/isPartial", "false in the chunk with the highest index, and in no other"


TOO_MANY_OPEN = make_broken("/partial", "fewer incomplete envelopes in this run at a time")


class ChunkAssembler:
    """The incomplete envelopes of any number of runs. Correlation ids are unique within a run. Not thread-safe.

    A finished envelope is remembered for the timeout, so that a late chunk neither restarts nor completes it.
    ``ChunkLimits`` bound what the sender can make each run hold.
    """

    def __init__(self, limits: ChunkLimits | None = None) -> None:
        self._limits = limits or ChunkLimits()
        self._open: dict[str, dict[str, ChunkedEnvelope]] = {}
        self._finished: OrderedDict[_Key, tuple[_FinalResult, float]] = OrderedDict()

    def add(self, chunk: AIEnvelope, now: float, run_id: str = "") -> ChunkResult:
        """Add a chunk; ``now`` is in seconds of a monotonic clock.

        An envelope without ``partial`` is complete. A chunk that is refused because too many envelopes are incomplete
        does not break its envelope, and may be sent again.
        """
        self._forget_finished(now)
        key = run_id, chunk.correlation_id
        waiting = self._open.get(run_id, {}).get(chunk.correlation_id)
        if chunk.partial is None:
            return CompleteEnvelope(chunk) if waiting is None else self._finish(key, NOT_A_CHUNK, now)
        if key in self._finished:
            return self._finished[key][0]
        emission = waiting or ChunkedEnvelope(chunk, now)
        if now - emission.started_at >= self._limits.timeout:
            return self._finish(key, TOO_LATE, now)
        parsed = Chunk.from_envelope(chunk, chunk.partial)
        if parsed is None:
            return self._finish(key, NOT_JSON, now)
        conflict = emission.find_conflict(parsed, self._limits)
        return self._add_chunk(key, emission, parsed, now) if conflict is None else self._finish(key, conflict, now)

    def expire(self, now: float) -> tuple[ExpiredChunks, ...]:
        """Return the envelopes that timed out, each of them once. Call it while any are incomplete."""
        late = [
            (run_id, emission.first)
            for run_id, emissions in self._open.items()
            for emission in emissions.values()
            if now - emission.started_at >= self._limits.timeout
        ]
        for run_id, first in late:
            self._finish((run_id, first.correlation_id), TOO_LATE, now)
        return tuple(
            ExpiredChunks(run_id, first.correlation_id, first.type, first.node_id, TOO_LATE) for run_id, first in late
        )

    def forget(self, correlation_id: str, run_id: str = "") -> None:
        """Let the envelope start again, when the model corrects it under the same id."""
        self._discard((run_id, correlation_id))
        self._finished.pop((run_id, correlation_id), None)

    def _add_chunk(self, key: _Key, emission: ChunkedEnvelope, chunk: Chunk, now: float) -> ChunkResult:
        run_id, correlation_id = key
        waiting = self._open.get(run_id, {})
        is_full = len(waiting) >= self._limits.max_open and correlation_id not in waiting
        emission.add(chunk)
        result = emission.complete()
        if result is not None:
            self._finish(key, RepeatedChunk() if isinstance(result, CompleteEnvelope) else result, now)
            return result
        if is_full:
            return TOO_MANY_OPEN
        self._open.setdefault(run_id, {})[correlation_id] = emission
        return WaitingForChunks(len(emission.digests), emission.total)

    def _finish(self, key: _Key, result: _FinalResult, now: float) -> _FinalResult:
        """Remember the result, without the chunks."""
        self._discard(key)
        self._finished[key] = result, now + self._limits.timeout
        return result

    def _discard(self, key: _Key) -> None:
        run_id, correlation_id = key
        emissions = self._open.get(run_id, {})
        emissions.pop(correlation_id, None)
        if not emissions:
            self._open.pop(run_id, None)

    def _forget_finished(self, now: float) -> None:
        """Forget results that expired, and the oldest if there are too many; they are in order of their end."""
        while self._finished:
            _, expires_at = next(iter(self._finished.values()))
            if expires_at > now and len(self._finished) <= self._limits.max_remembered:
                return
            self._finished.popitem(last=False)
