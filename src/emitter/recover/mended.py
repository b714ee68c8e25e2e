"""The last step: show json-repair a small broken document, and believe only what the text proves.

json-repair guesses: it closes what is open, fills what is empty and drops what it cannot place. So it is shown
only what a linear look finds closed, short and shallow, and its answer is held against the text: the same
brackets, the same strings and numbers in the same order, and nothing left over but commas, colons and space.
So what it may mend is a forgotten colon and quotes that do not match; the rest stays with ``reader``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from emitter.recover.bounds import MENDABLE_CHARS, MENDABLE_DEPTH
from emitter.recover.reader import CLOSERS
from emitter.recover.scalars import scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.wire import Json

_WORD = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\]]', re.DOTALL)
_LEFT_OVER = re.compile(r'["{}\[\]]')

_QUOTES = frozenset("\"'\u201c\u201d\u201e\u2018\u2019`\u00b4")

_TELLING = frozenset("\\\0\n")
_INNER = re.compile(r"(?<=\w)[\"'](?=\w)")
_START = re.compile(r"\s*+")
_NEXT = re.compile(r"\s*+,\s*+")
_LAST = re.compile(r"\s*+,?+\s*+")
_COLON = re.compile(r"\s*+:\s*+|\s++")


@dataclass(frozen=True, slots=True)
class _Bracket:
    """A bracket, to tell it from a string that holds one."""

    char: str


Piece: TypeAlias = "tuple[re.Pattern[str], _Bracket | str | float | None]"
"""What must stand next in the text, and what may stand before it."""


def mended(text: str, start: int) -> Json | None:
    """Return the value of the broken document at ``start``, or ``None`` when that would be a guess."""
    end = closed_end(text, start)
    if end is None or _LEFT_OVER.search(text, end):
        return None
    piece = text[start:end]
    value = _repaired(piece)
    return value if proven(piece, value) else None


def closed_end(text: str, start: int) -> int | None:
    """Return where the document at ``start`` is closed, if it is, within the bounds set for json-repair."""
    owed: list[str] = []
    for word in _WORD.finditer(text, start, start + MENDABLE_CHARS):
        char = word[0]
        if char in CLOSERS:
            owed.append(CLOSERS[char])
        elif char == '"' or (char in "}]" and owed.pop() != char) or len(owed) > MENDABLE_DEPTH:
            return None
        if not owed:
            return word.end()
    return None


def _repaired(piece: str) -> Json:
    from json_repair import repair_json  # noqa: PLC0415 - most programs never come here

    try:
        return repair_json(piece, return_objects=True, skip_json_loads=True)
    except Exception:  # noqa: BLE001 - it makes no promise about what it raises
        return None


def proven(piece: str, value: Json) -> bool:
    """Tell whether ``value`` is ``piece`` read without adding, dropping or changing anything."""
    at = 0
    for space, leaf in _pieces(value, _START):
        gap = space.match(piece, at)
        end = _matched(piece, gap.end(), leaf) if gap else None
        if end is None:
            return False
        at = end
    return at == len(piece)


def _pieces(value: Json, space: re.Pattern[str]) -> Iterator[Piece]:
    """Yield what the text of ``value`` must consist of; ``space`` is what may stand before it."""
    if isinstance(value, dict):
        members = cast("dict[str, Json]", value)
        yield space, _Bracket("{")
        for place, (key, child) in enumerate(members.items()):
            yield _NEXT if place else _START, key
            yield from _pieces(child, _COLON)
        yield _LAST if members else _START, _Bracket("}")
    elif isinstance(value, list):
        elements = cast("Sequence[Json]", value)
        yield space, _Bracket("[")
        for place, child in enumerate(elements):
            yield from _pieces(child, _NEXT if place else _START)
        yield _LAST if elements else _START, _Bracket("]")
    else:
        yield space, value


def _matched(piece: str, at: int, leaf: _Bracket | str | float | None) -> int | None:
    """Return where ``leaf`` ends if it stands at ``at``."""
    if isinstance(leaf, _Bracket):
        return at + 1 if piece.startswith(leaf.char, at) else None
    if isinstance(leaf, str):
        return _quoted_end(piece, at, leaf)
    try:
        token = scalar(piece, at)
    except ValueError:
        return None
    if token is None or type(token[0]) is not type(leaf) or token[0] != leaf:
        return None
    return token[1]


def _quoted_end(piece: str, at: int, leaf: str) -> int | None:
    """Return where the string ``leaf`` ends if it stands at ``at`` between quotes."""
    opening = piece[at : at + 1]
    spellings = [json.dumps(leaf, ensure_ascii=False)[1:-1], json.dumps(leaf)[1:-1]]
    if _TELLING.isdisjoint(leaf):
        spellings.append(leaf)
    for spelling in spellings:
        end = at + 1 + len(spelling)
        closing = piece[end : end + 1]
        if not {opening, closing} <= _QUOTES or not piece.startswith(spelling, at + 1):
            continue
        if _holds_none(spelling, {opening, closing}):
            return end + 1
    return None


def _holds_none(spelling: str, quotes: set[str]) -> bool:
    """Tell whether none of ``quotes`` stands in a string, but for pairs within words (``v"alu"e``)."""
    inner = [quote for quote in _INNER.findall(spelling) if quote in quotes]
    strangers = [char for char in _INNER.sub("", spelling.replace('\\"', "")) if char in quotes]
    return not strangers and len(inner) % 2 == 0
