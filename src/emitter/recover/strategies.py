"""Find the one document in an answer that is not strict JSON.

OpenWOP's strategies are tried in order: a document surrounded by a code fence or prose, then a document whose syntax
needs repair. ``RecoveryPath`` names the strategy that succeeded.

Values that contain a quoted string count wherever they stand. Values without one, such as ``[1]`` or ``{}``, count
only on lines of their own or next to a value that counts. A document nested in brackets of the prose may be a
fragment of something larger and is not an answer.
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
from emitter.recover.lenient_parser import (
    CLOSERS,
    DOCUMENT_START,
    PROSE_SIGN,
    ParsedDocument,
    ParseFlaw,
    UnparsedBracket,
    parse_document,
    scan_scalar,
)
from emitter.recover.retraction import Stance, classify_prose
from emitter.recover.thinking_blocks import (
    TAG,
    TagSide,
    blank_out,
    find_block_end,
    find_fence_end,
    find_last_unopened_end,
    find_untagged_end,
    is_thinking_fence,
    parse_tag,
)
from emitter.strict_json import NotJsonError, json_equal, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from re import Match

    from emitter.messages import Json


def recover(text: str) -> Recovered | None:
    """Return the one document in ``text``, or None. Never raises.

    Documents in thinking blocks are ignored, and a document that the surrounding text retracts is not returned.

    Args:
        text: A complete answer. Check the stop reason first.
    """
    outcome = parse_answer(text)
    return outcome if isinstance(outcome, Recovered) else None


def parse_answer(text: str) -> Recovered | Ambiguous | Retracted | None:
    """Return the one document in ``text``, or None. Never raises.

    ``Ambiguous`` means that there are several different documents, ``Retracted`` that the text retracts its document.
    """
    return parse_strict(text) or parse_escaped(text) or find_document(text)


def find_document(text: str) -> Recovered | Ambiguous | Retracted | None:
    """Parse the documents in the text outside its thinking blocks."""
    scan = scan_answer(text)
    if scan.flaw is ParseFlaw.UNFINISHED_THINKING:
        return None
    answer = text[: scan.end]
    if scan.blocks:
        answer = blank_out(answer, scan.blocks)
        if (parsed := parse_strict(answer) or parse_escaped(answer)) is not None:
            # OpenWOP's "direct" is an answer without anything around the document, and here are thinking blocks.
            path = RecoveryPath.BRACE_WALKER if parsed.path is RecoveryPath.DIRECT else parsed.path
            return Recovered(parsed.value, path, byte_offset(text, document_start(answer)))
    if scan.flaw is ParseFlaw.BROKEN and not scan.candidates:
        return _parse_repaired(text, answer, scan.flaw_position)
    documents = select_documents(answer, scan.candidates) if scan.flaw is None else None
    return _select_document(text, answer, documents) if documents else None


def _parse_repaired(text: str, answer: str, start: int) -> Recovered | Retracted | None:
    """Repair a broken document with json-repair if the result is certain."""
    end = find_document_end(answer, start)
    if end is None or _REMAINDER.search(answer, end):
        return None
    piece = answer[start:end]
    value = _run_json_repair(piece)
    # json-repair always returns something. It counts only if it is the text itself in another spelling.
    if not is_faithful(piece, value):
        return None
    recovered = Recovered(value, RecoveryPath.JSONREPAIR, byte_offset(text, start))
    return _check_prose(recovered, f"{answer[:start]}\n{answer[end:]}")


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
    # A comment inside the document may retract it as well.
    comments = (candidate.document.comments for candidate in candidates if candidate.document.comments)
    prose = "\n".join((*_gaps_between(answer, candidates), *comments))
    return _check_prose(Recovered(distinct[0].value, path, offset), prose)


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


# Surplus brackets after the document are harmless if nothing else follows.
_SURPLUS_BRACKETS = re.compile(r"[\s}\]),;.`]*+")
_SEPARATORS = re.compile(r"[\s,;)`]*+")
_CLOSING_BRACKETS = frozenset(CLOSERS.values())


@dataclass(frozen=True, slots=True)
class CandidateDocument:
    """A document, and whether it is inside a code fence or inside brackets of the prose."""

    document: ParsedDocument
    is_fenced: bool
    is_nested: bool


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The candidates of an answer and its thinking blocks.

    ``flaw`` is the reason why no document of the answer can be trusted, and ``flaw_position`` its position. Only a
    repetition of the document's end follows ``end``, if that is set.
    """

    candidates: tuple[CandidateDocument, ...]
    flaw: ParseFlaw | None = None
    flaw_position: int = 0
    blocks: tuple[tuple[int, int], ...] = ()
    end: int | None = None


def scan_answer(text: str) -> ScanResult:
    """Find every object and array that is neither inside another one nor in a thinking block."""
    start = find_untagged_end(text)
    if start is None:
        return ScanResult((), ParseFlaw.UNFINISHED_THINKING)
    scanner = _scan_from(text, start)
    if scanner.flaw not in (None, ParseFlaw.UNFINISHED_THINKING):
        # Chat templates may open the thinking block themselves. Its text looks broken until its end is found.
        end = find_last_unopened_end(text, scanner.position)
        scanner = scanner if end is None else _scan_from(text, end)
    return ScanResult(tuple(scanner.candidates), scanner.flaw, scanner.position, tuple(scanner.blocks), scanner.end)


def _scan_from(text: str, start: int) -> _AnswerScanner:
    """Scan from ``start``; everything before it counts as thinking."""
    scanner = _AnswerScanner(text, start)
    while scanner.flaw is None and (sign := PROSE_SIGN.search(text, scanner.position)):
        scanner.handle_sign(sign[0], sign.start())
    if scanner.flaw is None and scanner.expected_closers:
        scanner.flaw = ParseFlaw.CUT_OFF
    return scanner


class _AnswerScanner:
    """The position in the prose, the brackets open there and the candidates so far."""

    __slots__ = ("blocks", "candidates", "end", "expected_closers", "flaw", "is_fenced", "position", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.flaw: ParseFlaw | None = None
        self.restart(start)

    def restart(self, at: int) -> None:
        """Restart at ``at``; everything before it counts as thinking."""
        self.position = at
        self.end: int | None = None
        self.expected_closers: list[str] = []
        self.is_fenced = False
        self.candidates: list[CandidateDocument] = []
        self.blocks: list[tuple[int, int]] = [(0, at)] if at else []

    def handle_sign(self, sign: str, start: int) -> None:
        """Handle a tag, a fence or a bracket of the prose."""
        if (tag := TAG.match(self.text, start)) and self.skip_thinking(tag):
            return
        self.position = start + len(sign)
        if sign.startswith("`"):
            if not self.is_fenced and is_thinking_fence(self.text, self.position):
                self.skip_block(start, find_fence_end(self.text, self.position))
                return
            self.is_fenced = not self.is_fenced
        elif sign in CLOSERS:
            self.read_bracket(sign, start)
        elif sign not in _CLOSING_BRACKETS:
            pass  # another tag, or no tag
        elif self.expected_closers and self.expected_closers[-1] == sign:
            self.expected_closers.pop()
        elif self.is_surplus(start):
            self.end, self.position = self.candidates[0].document.end, len(self.text)
        else:
            self.flaw = ParseFlaw.FRAGMENT

    def skip_thinking(self, tag: Match[str]) -> bool:
        """Skip a thinking block that begins or ends at ``tag``. Returns False if there is none."""
        thinking_tag = parse_tag(tag)
        if thinking_tag is None:
            return False
        if thinking_tag.side is TagSide.BEGIN:
            self.skip_block(tag.start(), find_block_end(self.text, tag, thinking_tag))
        elif thinking_tag.may_end_unopened:
            self.restart(tag.end())
        else:
            return False
        return True

    def skip_block(self, start: int, end: int | None) -> None:
        """Continue after a thinking block; a block that never ends leaves no answer."""
        if end is None:
            self.flaw, self.position = ParseFlaw.UNFINISHED_THINKING, start
        else:
            self.blocks.append((start, end))
            self.position = end

    def read_bracket(self, sign: str, start: int) -> None:
        """Parse the document at an opening bracket, or count the bracket as one of the prose."""
        if not DOCUMENT_START.match(self.text, start):
            self.expected_closers.append(CLOSERS[sign])
            return
        match parse_document(self.text, start):
            case ParsedDocument() as document:
                self.candidates.append(CandidateDocument(document, self.is_fenced, bool(self.expected_closers)))
                self.position = document.end
            case UnparsedBracket() as unparsed:
                self.handle_unparsed(unparsed)

    def handle_unparsed(self, unparsed: UnparsedBracket) -> None:
        """Continue after a bracket of the prose, or stop at a broken document.

        Quoted strings distinguish them: prose contains ``{x: int}``, a document contains ``"x"``.
        """
        if unparsed.flaw is ParseFlaw.BROKEN and not unparsed.has_strings:
            self.expected_closers.extend(unparsed.expected_closers)
            self.position = unparsed.stopped_at
            return
        self.flaw = ParseFlaw.FRAGMENT if unparsed.flaw is ParseFlaw.BROKEN and self.expected_closers else unparsed.flaw
        self.position = unparsed.start

    def is_surplus(self, start: int) -> bool:
        """Return whether only surplus brackets, or the end of the first document once more, follow it."""
        if self.expected_closers or not self.candidates:
            return False
        document = self.candidates[0].document
        separators = _SEPARATORS.match(self.text, document.end, start)
        rest = _SURPLUS_BRACKETS.match(self.text, start)
        is_last = rest is not None and rest.end() == len(self.text)
        if separators and separators.end() == start:
            return is_last
        return is_last and _repeats_end(self.text[document.start : document.end], self.text[document.end :])


_LAST_STRING = re.compile(r'[\s`]*+([^"{}\[\]]++"[\s}\]]*+)[\s`]*+')


def _repeats_end(document: str, rest: str) -> bool:
    """Return whether ``rest`` is the end of the document once more, from within its last string."""
    repeat = _LAST_STRING.fullmatch(rest)
    return repeat is not None and "".join(document.split()).endswith("".join(repeat[1].split()))


_LINE_START = re.compile(
    r"(?:[ \t\r>\ufeff\xa0]|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)*+(?:[A-Za-z_$][\w$.]*+[ \t]*+\([ \t]*+)?+"
)
_LINE_END = re.compile(r"[ \t\ufeff\xa0)}\];,.]*+(?:[\r\n]|\Z|```|/[/*])")
_FENCE_TAG = re.compile(r"[ \t]*+[\w+-]*+")
_ADJACENT = re.compile(r"[ \t,;]*+")
_BEFORE_SUBSCRIPT = re.compile(r"[\w\])]")
# `"a": {…}` and `{…}, "b": 1` are members of an object that lost its brackets.
_KEY_QUOTES = ('"', "'", "\u201d", "\u2019")
_MEMBER_AFTER = re.compile(r"\s*+(?:,\s*+(?:[\"'\u201c\u2018]|[\w$]++\s*+:)|\"[^\"\n]*+\"\s*+:|[\w$]*+\"\s*+:)")
# Prose may contain braces, or quoted words with a colon. Both together are an unreadable object, unless words precede
# the quoted ones on their line.
_BRACE = re.compile(r"[{}]")
_KEY_END = re.compile(r"(?:^|[{},\[\]])[^\w\n]{0,20}+\w[^\"\n]{0,200}+[\"\u201d]\s{0,20}+:", re.MULTILINE)
_MEMBER_LINE = re.compile(r'^[ \t]*+"[^"\n]*+"[ \t]*+:[^\n]*,[ \t\r]*+$', re.MULTILINE)


def select_documents(text: str, candidates: tuple[CandidateDocument, ...]) -> tuple[CandidateDocument, ...] | None:
    """Return the candidates that are documents, or None if one of them is a fragment of something larger."""
    gaps = _gaps_between(text, candidates)
    if any(_MEMBER_LINE.search(gap) or (_BRACE.search(gap) and _KEY_END.search(gap)) for gap in gaps):
        return None
    is_certain = _are_certain(text, candidates)
    selected = [
        index
        for index, candidate in enumerate(candidates)
        if is_certain[index]
        or (_begins_line(candidate, gaps[index]) and _LINE_END.match(text, candidate.document.end))
        or _is_adjacent(candidates, is_certain, gaps, index)
    ]
    if any(candidates[index].is_nested or _is_fragment(text, candidates[index], gaps[index]) for index in selected):
        return None
    return tuple(candidates[index] for index in selected)


def _gaps_between(text: str, candidates: tuple[CandidateDocument, ...]) -> list[str]:
    starts = [*(candidate.document.start for candidate in candidates), len(text)]
    ends = [0, *(candidate.document.end for candidate in candidates)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


def _are_certain(text: str, candidates: tuple[CandidateDocument, ...]) -> list[bool]:
    """Return for each candidate whether it is certainly a document, not a citation, a subscript or a link."""
    is_certain: list[bool] = []
    end, is_subscript = 0, False
    for document in (candidate.document for candidate in candidates):
        before = text[document.start - 1 : document.start] if document.start else ""
        # An array after another array is a subscript only if that one is: x["a"]["b"], but not ["a"]["b"].
        is_chained = document.start != end or is_subscript
        is_array = text.startswith("[", document.start)
        is_subscript = is_array and is_chained and _BEFORE_SUBSCRIPT.fullmatch(before) is not None
        is_link = is_array and text.startswith("(", document.end)
        is_certain.append(document.has_strings and not is_subscript and not is_link)
        end = document.end
    return is_certain


def _begins_line(candidate: CandidateDocument, before: str) -> bool:
    """Return whether only a comment or a function's name precedes the candidate on its line."""
    _, newline, line = before.rpartition("\n")
    _, fence, after_fence = line.rpartition("```")
    if fence:
        tag = _FENCE_TAG.match(after_fence)
        line = after_fence[tag.end() :] if tag else after_fence
    is_first = len(before) == candidate.document.start
    return bool(newline or fence or is_first) and _LINE_START.fullmatch(line) is not None


def _is_adjacent(
    candidates: tuple[CandidateDocument, ...], is_certain: list[bool], gaps: list[str], index: int
) -> bool:
    """Return whether at most a comma separates the candidate from a certain one.

    Before a document in the middle of a line it is still a citation.
    """
    if index > 0 and is_certain[index - 1] and _ADJACENT.fullmatch(gaps[index]):
        return True
    is_next_certain = index + 1 < len(is_certain) and is_certain[index + 1]
    return (
        is_next_certain and bool(_ADJACENT.fullmatch(gaps[index + 1])) and _begins_line(candidates[index], gaps[index])
    )


def _is_fragment(text: str, candidate: CandidateDocument, before: str) -> bool:
    """Return whether the candidate is the value of a key, or is followed by another member of a larger object."""
    key, colon, blank = before.rpartition(":")
    if colon and not blank.strip() and key.rstrip().endswith(_KEY_QUOTES):
        return True
    return _MEMBER_AFTER.match(text, candidate.document.end) is not None


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
    """Return whether ``value`` is ``piece`` without anything added, dropped or changed."""
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
    """Return whether a string contains ``quotes`` only in pairs within words (``v"alu"e``)."""
    paired = [quote for quote in _QUOTE_IN_WORD.findall(spelling) if quote in quotes]
    stray = [char for char in _QUOTE_IN_WORD.sub("", spelling.replace('\\"', "")) if char in quotes]
    return not stray and len(paired) % 2 == 0
