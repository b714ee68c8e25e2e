"""Try the recovery strategies in OpenWOP's order and return the one document they agree on.

The order is strict JSON, a document surrounded by a code fence or prose, then a document whose syntax needs repair.
``RecoveryPath`` names the strategy that succeeded. Documents in thinking blocks are ignored, and a document that the
surrounding text retracts is not returned.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, cast

from emitter.recover.answer import (
    Ambiguous,
    Recovered,
    RecoveryPath,
    Retracted,
    byte_offset,
    document_start,
    parse_escaped,
    parse_strict,
)
from emitter.recover.candidates import CandidateDocument, scan_answer, select_documents
from emitter.recover.lenient_parser import CLOSERS, ParseFlaw, scan_scalar
from emitter.recover.retraction import Stance, classify_prose
from emitter.recover.thinking_blocks import blank_out
from emitter.strict_json import NotJsonError, json_equal, parse_json

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


def find_document(text: str) -> Recovered | Ambiguous | Retracted | None:
    """Parse the documents in the text outside its thinking blocks."""
    scan = scan_answer(text)
    if scan.flaw is ParseFlaw.UNFINISHED_THINKING:
        return None
    answer = blank_out(text, scan.blocks) if scan.blocks else text
    unwrapped = (parse_strict(answer) or parse_escaped(answer)) if scan.blocks else None
    if unwrapped is not None:
        path = RecoveryPath.BRACE_WALKER if unwrapped.path is RecoveryPath.DIRECT else unwrapped.path
        return Recovered(unwrapped.value, path, byte_offset(text, document_start(answer)))
    if scan.flaw is ParseFlaw.BROKEN and not scan.candidates:
        return _parse_repaired(text, answer, scan.flaw_position)
    documents = select_documents(answer, scan.candidates) if scan.flaw is None else None
    return _select_document(text, answer, documents) if documents else None


def _parse_repaired(text: str, answer: str, start: int) -> Recovered | Retracted | None:
    """Repair a broken document with json-repair if the result is certain."""
    end = find_document_end(answer, start)
    value = repair_document(answer, start) if end is not None else None
    if value is None:
        return None
    return _check_prose(
        Recovered(value, RecoveryPath.JSONREPAIR, byte_offset(text, start)), f"{answer[:start]}\n{answer[end:]}"
    )


def _select_document(
    text: str, answer: str, candidates: tuple[CandidateDocument, ...]
) -> Recovered | Ambiguous | Retracted | None:
    """Return the document that all candidates agree on, unless the prose retracts it."""
    distinct: list[Recovered] = []
    for candidate in candidates:
        parsed = _parse_candidate(answer, candidate)
        if parsed is None:
            return None
        if not any(json_equal(parsed.value, other.value) for other in distinct):
            distinct.append(parsed)
    if len(distinct) > 1:
        return Ambiguous(len(distinct))
    path = distinct[0].path if len(candidates) == 1 else RecoveryPath.CUSTOM
    offset = byte_offset(text, candidates[0].document.start)
    return _check_prose(Recovered(distinct[0].value, path, offset), _surrounding_prose(answer, candidates))


def _surrounding_prose(answer: str, candidates: tuple[CandidateDocument, ...]) -> str:
    starts = [*(candidate.document.start for candidate in candidates), len(answer)]
    ends = [0, *(candidate.document.end for candidate in candidates)]
    gaps = (answer[end:start] for end, start in zip(ends, starts, strict=True))
    return "\n".join((*gaps, *(candidate.document.comments for candidate in candidates if candidate.document.comments)))


def _check_prose(recovered: Recovered, prose: str) -> Recovered | Retracted:
    """Apply the stance of the surrounding prose to the document."""
    match classify_prose(prose):
        case Stance.PLAIN:
            return recovered
        case Stance.DOUBTFUL:
            return replace(recovered, doubtful=True)
        case Stance.RETRACTED:
            return Retracted()


def _parse_candidate(text: str, candidate: CandidateDocument) -> Recovered | None:
    """Parse a document strictly, or else use its lenient reading."""
    document = candidate.document
    try:
        value = parse_json(text[document.start : document.end])
    except NotJsonError:
        # Duplicate keys in broken syntax are a sign of two objects that ran together.
        return None if document.has_duplicate_keys else Recovered(document.value, RecoveryPath.JSONREPAIR)
    return Recovered(value, RecoveryPath.MARKDOWN_FENCE if candidate.is_fenced else RecoveryPath.BRACE_WALKER)
