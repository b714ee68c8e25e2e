"""Repair a small broken document with json-repair and verify the result.

json-repair guesses, so its result is accepted only if it has the same brackets, strings and numbers as the text, in
the same order.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from emitter.recover.lenient_parser import CLOSERS, scan_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.messages import Json

MAX_REPAIR_CHARS = 2048
"""The longest document passed to json-repair, whose worst case is worse than linear."""
MAX_REPAIR_DEPTH = 16
"""The deepest document passed to json-repair, which is recursive."""
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\]]', re.DOTALL)
_REMAINDER = re.compile(r'["{}\[\]]')
_QUOTES = frozenset("\"'\u201c\u201d\u201e\u2018\u2019`\u00b4")
_ALWAYS_ESCAPED = frozenset("\\\0\n")
_QUOTE_IN_WORD = re.compile(r"(?<=\w)[\"'](?=\w)")
_BLANK_BEFORE = re.compile(r"\s*+")
_COMMA = re.compile(r"\s*+,\s*+")
_OPTIONAL_COMMA = re.compile(r"\s*+,?+\s*+")
_COLON = re.compile(r"\s*+:\s*+|\s++")


@dataclass(frozen=True, slots=True)
class _Bracket:
    """A bracket, as opposed to a string that contains one."""

    char: str


ExpectedToken: TypeAlias = "tuple[re.Pattern[str], _Bracket | str | float | None]"
"""The text that may precede a token, and the token."""


def repair_document(text: str, start: int) -> Json | None:
    """Return the value of the broken document at ``start``, or None if that would be a guess."""
    end = find_document_end(text, start)
    if end is None or _REMAINDER.search(text, end):
        return None
    piece = text[start:end]
    value = _run_json_repair(piece)
    return value if is_faithful(piece, value) else None


def find_document_end(text: str, start: int) -> int | None:
    """Return the end of the document at ``start``, if it is closed within the limits for json-repair."""
    expected_closers: list[str] = []
    for token in _STRING_OR_BRACKET.finditer(text, start, start + MAX_REPAIR_CHARS):
        char = token[0]
        if char in CLOSERS:
            expected_closers.append(CLOSERS[char])
        elif (
            char == '"' or (char in "}]" and expected_closers.pop() != char) or len(expected_closers) > MAX_REPAIR_DEPTH
        ):
            return None
        if not expected_closers:
            return token.end()
    return None


def _run_json_repair(piece: str) -> Json:
    from json_repair import repair_json  # noqa: PLC0415  rarely needed

    try:
        return repair_json(piece, return_objects=True, skip_json_loads=True)
    except Exception:  # noqa: BLE001  its exceptions are not documented
        return None


def is_faithful(piece: str, value: Json) -> bool:
    """Tell whether ``value`` is ``piece`` without anything added, dropped or changed."""
    at = 0
    for separator, token in _expected_tokens(value, _BLANK_BEFORE):
        gap = separator.match(piece, at)
        end = _match_token(piece, gap.end(), token) if gap else None
        if end is None:
            return False
        at = end
    return at == len(piece)


def _expected_tokens(value: Json, separator: re.Pattern[str]) -> Iterator[ExpectedToken]:
    """Yield the tokens that the text of ``value`` must consist of; ``separator`` may precede the first."""
    if isinstance(value, dict):
        members = cast("dict[str, Json]", value)
        yield separator, _Bracket("{")
        for index, (key, child) in enumerate(members.items()):
            yield _COMMA if index else _BLANK_BEFORE, key
            yield from _expected_tokens(child, _COLON)
        yield _OPTIONAL_COMMA if members else _BLANK_BEFORE, _Bracket("}")
    elif isinstance(value, list):
        elements = cast("Sequence[Json]", value)
        yield separator, _Bracket("[")
        for index, child in enumerate(elements):
            yield from _expected_tokens(child, _COMMA if index else _BLANK_BEFORE)
        yield _OPTIONAL_COMMA if elements else _BLANK_BEFORE, _Bracket("]")
    else:
        yield separator, value


def _match_token(piece: str, at: int, expected: _Bracket | str | float | None) -> int | None:
    """Return the end of the expected token if it is at ``at``."""
    if isinstance(expected, _Bracket):
        return at + 1 if piece.startswith(expected.char, at) else None
    if isinstance(expected, str):
        return _match_string(piece, at, expected)
    try:
        token = scan_scalar(piece, at)
    except ValueError:
        return None
    if token is None or type(token[0]) is not type(expected) or token[0] != expected:
        return None
    return token[1]


def _match_string(piece: str, at: int, value: str) -> int | None:
    """Return the end of the string ``value`` if it is at ``at`` between quotes."""
    opening = piece[at : at + 1]
    spellings = [json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1]]
    if _ALWAYS_ESCAPED.isdisjoint(value):
        spellings.append(value)
    for spelling in spellings:
        end = at + 1 + len(spelling)
        closing = piece[end : end + 1]
        if not {opening, closing} <= _QUOTES or not piece.startswith(spelling, at + 1):
            continue
        if _has_no_stray_quotes(spelling, {opening, closing}):
            return end + 1
    return None


def _has_no_stray_quotes(spelling: str, quotes: set[str]) -> bool:
    """Tell whether a string contains ``quotes`` only in pairs within words (``v"alu"e``)."""
    paired = [quote for quote in _QUOTE_IN_WORD.findall(spelling) if quote in quotes]
    stray = [char for char in _QUOTE_IN_WORD.sub("", spelling.replace('\\"', "")) if char in quotes]
    return not stray and len(paired) % 2 == 0
