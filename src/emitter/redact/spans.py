"""Where secrets stand in a text, and the markers that stand there instead."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Value = TypeVar("Value")

OPENING = "[REDACTED:"
_MARKER = re.compile(rb"\[REDACTED:([^\[\]]{1,512})\]")


@dataclass(frozen=True, slots=True)
class Redacted(Generic[Value]):
    """A value that shows no secret, and the number of places where one was taken out."""

    value: Value
    count: int


class Span(NamedTuple):
    """The bytes from ``start`` to before ``end`` hold the secret of that number."""

    start: int
    end: int
    secret: int


def marker(name: str) -> str:
    """Return what stands in the place of the secret of that id."""
    return f"{OPENING}{name}]"


def markers_in(data: bytes, ids: Sequence[str]) -> list[int]:
    """Return where markers of these ids begin and end, by turns. Another marker's id may be anything, even a secret."""
    if OPENING.encode() not in data:
        return []
    known = {name.encode() for name in ids}
    return [bound for each in _MARKER.finditer(data) if each[1] in known for bound in each.span()]


def outside(spans: Iterable[Span], bounds: Sequence[int]) -> Iterator[Span]:
    """Yield the spans without what of them belongs to a marker."""
    for start, end, secret in spans:
        first, last = bisect_right(bounds, start), bisect_left(bounds, end)
        begin = bounds[first] if first % 2 else start
        close = bounds[last - 1] if last % 2 else end
        if begin < close:
            yield Span(begin, close, secret)


def apart(spans: Iterable[Span]) -> list[Span]:
    """Return spans that do not overlap and cover the same bytes: leftmost first, of those the longest.

    What another secret leaves over at the end of one belongs to it, so that no part of a secret stays.
    """
    chosen: list[Span] = []
    taken = 0
    for span in sorted(spans, key=lambda each: (each.start, -each.end, each.secret)):
        last = chosen[-1] if chosen else Span(0, 0, 0)
        if span.start < taken:
            chosen[-1] = last._replace(end=max(last.end, span.end))
            continue
        taken = span.end
        if last.end > span.start:
            chosen[-1] = last._replace(end=span.start)
        chosen.append(span._replace(end=max(last.end, span.end)))
    return chosen


def replaced(data: bytes, spans: Iterable[Span], ids: Sequence[str]) -> bytes:
    """Return the text with a marker in the place of each span."""
    pieces: list[bytes] = []
    at = 0
    for start, end, secret in spans:
        pieces += data[at:start], marker(ids[secret]).encode()
        at = end
    return b"".join((*pieces, data[at:]))
