"""Finds values in a text, in time that grows with the text and hardly with their number.

It is done by ahocorasick_rs on bytes. ``benchmarks/redaction.py`` measured it beside others: with 1,000 values in 1 KB
pyahocorasick takes 4 times as long, ``str.replace`` of each 35 times, an alternation of ``re`` 750 times; with one
value ``str.replace`` is as fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ahocorasick_rs import BytesAhoCorasick, MatchKind

from emitter.redact.escapes import kinds_in
from emitter.redact.forms import BASE64, forms_of
from emitter.redact.readings import readings
from emitter.redact.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.redact.readings import Reading

_AT_ONCE = 64
"""With no more patterns the automaton of leftmost matches looks at 16 bytes at a time, and is ten times as fast."""
_INNER = range(0x80, 0xC0)
"""The bytes of a character but the first."""


class Finder:
    """Knows values by number, as an automaton: nothing reads them back out of it."""

    __slots__ = ("_all", "_any", "_edges", "_folds")

    def __init__(self, values: Sequence[tuple[int, str]]) -> None:
        """Build the automaton; a value that is there twice has the number that came first."""
        self._folds = any(" " in value or "+" in value for _, value in values)
        edges: dict[bytes, tuple[int, bool, bool]] = {}
        for number, value in values:
            for form in forms_of(value):
                edges.setdefault(self._folded(form.data), (number, form.before, form.after))
        self._edges = tuple(edges.values())
        self._all = BytesAhoCorasick(list(edges))
        few = len(edges) <= _AT_ONCE
        self._any = BytesAhoCorasick(list(edges), matchkind=MatchKind.LeftmostFirst) if few else self._all

    def __deepcopy__(self, _: object) -> Finder:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("Secrets stay in their process: build them again where they are needed.")

    def finds(self, data: bytes) -> bool:
        """Tell whether any value stands in a text, in whatever form."""
        return not self.clear(data) and any(map(self._within, readings(data)))

    def clear(self, data: bytes) -> bool:
        """Tell whether a text shows at a glance that nothing is in it: no value, and no escape to look behind."""
        return not (self._any.find_matches_as_indexes(self._folded(data)) or kinds_in(data))

    def spans(self, data: bytes) -> list[Span]:
        """Return every place of every value in a text, in no order."""
        return [
            Span(*_characters(data, first, last), number)
            for reading in readings(data)
            if self._within(reading)
            for first, last, number in self._places(reading)
        ]

    def _within(self, reading: Reading) -> bool:
        return bool(self._any.find_matches_as_indexes(self._folded(reading.data)))

    def _places(self, reading: Reading) -> Iterator[tuple[int, int, int]]:
        data = reading.data
        for which, start, end in self._all.find_matches_as_indexes(self._folded(data), overlapping=True):
            number, before, after = self._edges[which]
            first = start - (before and data[start - 1 : start] in BASE64)
            last = end + (after and data[end : end + 1] in BASE64)
            while after and last < end + 3 and data[last : last + 1] == b"=":
                last += 1
            yield (*reading.place(first, last), number)

    def _folded(self, data: bytes) -> bytes:
        """Return ``data`` with a space for each ``+``, which means one in a query, where a value holds either."""
        return data.replace(b"+", b" ") if self._folds else data


def _characters(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Return where the characters begin and end of which some bytes were found: half a value may be half of one."""
    while data[start] in _INNER:
        start -= 1
    while end < len(data) and data[end] in _INNER:
        end += 1
    return start, end
