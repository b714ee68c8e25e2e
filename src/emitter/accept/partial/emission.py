"""One emission in chunks: what came of it, what contradicts it, and the envelope it makes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.accept.outcome import Code
from emitter.accept.partial.verdict import Broken, Complete
from emitter.kinds.envelope import AIEnvelope, EnvelopeMeta, Trust
from emitter.schema import Violation
from emitter.wire.strict import NotJsonError, loads

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.accept.partial.verdict import Bounds
    from emitter.kinds.envelope import PartialInfo
    from emitter.wire import Json

UNKNOWN = -1
"""``PartialInfo.total`` where the sender does not know it."""


def broken(pointer: str, expected: str, code: Code = Code.SHAPE) -> Broken:
    """Return the verdict that names one broken rule."""
    return Broken(code, (Violation(pointer, "partial", expected),))


TOO_LATE = broken("/partial", "every chunk within the time set for an emission", Code.PARTIAL_TIMEOUT)
NO_JSON = broken("/payload", "one JSON document of bounded depth")
NO_DOCUMENT = broken("/payload", "fragments that together are one document of strict JSON", Code.PAYLOAD)
WHOLE = broken("/partial", "a chunk: chunks came under this correlationId, and not yet the last")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk that can be held against others: ``mark`` is equal where they say the same, ``size`` in characters."""

    envelope: AIEnvelope
    partial: PartialInfo
    mark: bytes
    size: int

    @classmethod
    def of(cls, envelope: AIEnvelope, partial: PartialInfo) -> Chunk | None:
        """Return the chunk; None where its payload is no JSON that can be written."""
        try:
            written = json.dumps(envelope.payload, sort_keys=True)
        except (TypeError, ValueError, RecursionError):
            return None
        mark = hashlib.sha256(f"{partial.is_partial} {written}".encode()).digest()
        return cls(envelope, partial, mark, len(written))

    @property
    def ends(self) -> int | None:
        """The index at which the emission ends, where this chunk is the last."""
        return None if self.partial.is_partial else self.partial.index

    @property
    def fragment(self) -> str | None:
        """The piece of text it carries, unless it carries a whole payload."""
        payload: Json = self.envelope.payload
        return payload if isinstance(payload, str) else None


@dataclass(slots=True)
class Emission:
    """What came of an emission, told apart by ``index``; ``begun`` is when the first came, ``first`` what it was."""

    first: AIEnvelope
    begun: float
    marks: dict[int, bytes] = field(default_factory=dict[int, bytes])
    fragments: dict[int, str] = field(default_factory=dict[int, str])
    stated: set[Trust | None] = field(default_factory=set["Trust | None"])
    size: int = 0
    total: int = UNKNOWN
    highest: int = 0
    last: Chunk | None = None

    def refusal(self, chunk: Chunk, bounds: Bounds) -> Broken | None:
        """Return what contradicts this chunk, if anything does."""
        return next((verdict for verdict, breaks in _RULES if breaks(self, chunk, bounds)), None)

    def size_with(self, chunk: Chunk) -> int:
        """Return the size with this chunk: fragments add up, and one that came before adds nothing."""
        return self.size if chunk.partial.index in self.marks else self.size + chunk.size

    def take(self, chunk: Chunk) -> None:
        """Keep a chunk that contradicts nothing; one that came before changes nothing."""
        index, fragment = chunk.partial.index, chunk.fragment
        if fragment is not None:
            self.size = self.size_with(chunk)
            self.fragments[index] = fragment
        self.marks[index] = chunk.mark
        self.stated.add(chunk.envelope.meta.content_trust)
        self.total, self.highest = _total(self, chunk), max(self.highest, index)
        if chunk.ends is not None:
            self.last = chunk

    def end(self) -> Complete | Broken | None:
        """Return what it makes, where all of it is there."""
        if self.last is None:
            return None
        final = self.last.envelope
        if self.last.fragment is None:
            return Complete(_envelope(final, final.payload, self._trust(final.meta.content_trust)))
        if len(self.marks) <= self.last.partial.index:
            return None
        try:
            payload = loads("".join(self.fragments[index] for index in sorted(self.fragments)))
        except NotJsonError:
            return NO_DOCUMENT
        silent = None in self.stated
        return Complete(_envelope(final, payload, self._trust(None if silent else Trust.TRUSTED)))

    def _trust(self, otherwise: Trust | None) -> Trust | None:
        """Return the meet of what the chunks say; one that says nothing leaves it to the run's boundary."""
        return Trust.UNTRUSTED if Trust.UNTRUSTED in self.stated else otherwise


def _envelope(final: AIEnvelope, payload: Json, trust: Trust | None) -> AIEnvelope:
    """Return the last chunk as the whole envelope; what is absent in it stays absent."""
    meta = {name: getattr(final.meta, name) for name in final.meta.model_fields_set - {"content_trust"}}
    if trust is not None:
        meta["content_trust"] = trust
    members = {name: getattr(final, name) for name in final.model_fields_set - {"partial"}}
    return AIEnvelope.model_validate({**members, "payload": payload, "meta": EnvelopeMeta.model_validate(meta)})


def _total(emission: Emission, chunk: Chunk) -> int:
    return emission.total if chunk.partial.total == UNKNOWN else chunk.partial.total


def _another_total(emission: Emission, chunk: Chunk, _: Bounds) -> bool:
    return UNKNOWN not in (emission.total, chunk.partial.total) and emission.total != chunk.partial.total


def _beyond_total(emission: Emission, chunk: Chunk, _: Bounds) -> bool:
    total = _total(emission, chunk)
    return total != UNKNOWN and max(emission.highest, chunk.partial.index) >= total


def _another_end(emission: Emission, chunk: Chunk, _: Bounds) -> bool:
    """Tell whether there are two ends, or a chunk behind the end, or ``total`` puts the end elsewhere."""
    total, highest = _total(emission, chunk), max(emission.highest, chunk.partial.index)
    ends = {each.ends for each in (emission.last, chunk) if each is not None and each.ends is not None}
    if not ends:
        return highest + 1 == total
    return len(ends) > 1 or highest not in ends or (total != UNKNOWN and total - 1 not in ends)


_RULES: tuple[tuple[Broken, Callable[[Emission, Chunk, Bounds], bool]], ...] = (
    (
        broken("/type", "the type of the chunks before it", Code.CONFLICT),
        lambda emission, chunk, _: chunk.envelope.type != emission.first.type,
    ),
    (
        broken("/schemaVersion", "the schemaVersion of the chunks before it"),
        lambda emission, chunk, _: chunk.envelope.schema_version != emission.first.schema_version,
    ),
    (
        broken("/nodeId", "the nodeId of the chunks before it"),
        lambda emission, chunk, _: chunk.envelope.node_id != emission.first.node_id,
    ),
    (
        broken("/payload", "a text in every chunk, or in none"),
        lambda emission, chunk, _: isinstance(emission.first.payload, str) is (chunk.fragment is None),
    ),
    (
        broken("/partial", "indexes and total within the bounds"),
        lambda _, chunk, bounds: max(chunk.partial.index + 1, chunk.partial.total) > bounds.chunks,
    ),
    (
        broken("/payload", "a size within the bounds"),
        lambda emission, chunk, bounds: emission.size_with(chunk) > bounds.size,
    ),
    (
        broken("/partial/index", "another index, or the same chunk that came under it"),
        lambda emission, chunk, _: emission.marks.get(chunk.partial.index, chunk.mark) != chunk.mark,
    ),
    (broken("/partial/total", "the total of the chunks before it"), _another_total),
    (broken("/partial/index", "an index below the total"), _beyond_total),
    (broken("/partial/isPartial", "false in the chunk of the highest index, and in no other"), _another_end),
)
