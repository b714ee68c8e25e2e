"""The ways to read a text, with the way back from each byte to where it came from.

What kind of text it is cannot be known, so whatever looks like an escape is undone: reading too much costs only time.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from emitter.redact.escapes import KINDS, escapes, kinds_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from emitter.redact.escapes import Escapes

LAYERS = 5
"""How many times over a text may be escaped; each layer is one more reading of it."""


@dataclass(frozen=True)  # without slots: the map is made where something was found, and kept
class _Layer:
    """Escapes that were undone in a text."""

    source: bytes
    escapes: Escapes

    def place(self, at: int) -> tuple[int, int]:
        """Return where in the source the byte at ``at`` begins and ends."""
        starts, ends, sources = self._map
        which = bisect_right(starts, at) - 1
        if which < 0:
            return at, at + 1
        if at < ends[which]:
            return sources[which]
        place = sources[which][1] + at - ends[which]
        return place, place + 1

    @cached_property
    def _map(self) -> tuple[list[int], list[int], list[tuple[int, int]]]:
        """For each escape: where what it means begins and ends, and where it stands in the source."""
        starts: list[int] = []
        ends: list[int] = []
        sources: list[tuple[int, int]] = []
        shorter = 0
        for escape in self.escapes.pattern.finditer(self.source):
            starts.append(escape.start() - shorter)
            ends.append(starts[-1] + len(self.escapes.meant(escape)))
            sources.append(escape.span())
            shorter = escape.end() - ends[-1]
        return starts, ends, sources


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says once its layers, outermost first, are undone."""

    data: bytes
    layers: tuple[_Layer, ...] = ()

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return where the bytes from ``start`` to before ``end`` stand in the text itself, escapes whole."""
        for layer in reversed(self.layers):
            start, end = layer.place(start)[0], layer.place(end - 1)[1]
        return start, end


def readings(data: bytes) -> Iterator[Reading]:
    """Yield the text as it is, and every way to read it."""
    plain = Reading(data)
    yield plain
    for chosen in _choices(frozenset(kinds_in(data))):
        yield from _undone(plain, escapes(chosen))


def _undone(reading: Reading, kinds: Escapes) -> Iterator[Reading]:
    for _ in range(LAYERS):
        data = kinds.undone(reading.data)
        if data == reading.data:
            return
        reading = Reading(data, (*reading.layers, _Layer(reading.data, kinds)))
        yield reading
        if not kinds_in(data):
            return


@cache
def _choices(present: AbstractSet[str]) -> list[tuple[str, ...]]:
    """Return the kinds to undo together: all, and all but one of them.

    A secret may become an escape together with what stands beside it. That is seen through where it is written in one
    way, however often, and not where it is written in two, one over the other.
    """
    if not present:
        return []
    left_out = [set[str](), *({each} for each in sorted(present - {"byte"}) if len(present) > 1)]
    if "byte" in present:
        left_out += [{*each, "byte"} for each in left_out]
    return [tuple(kind for kind in KINDS if kind not in each) for each in left_out]
