"""Find the JSON documents in an answer and separate them from the signs of its prose.

Values that contain a quoted string count wherever they stand. Values without one, such as ``[1]`` or ``{}``, count
only on lines of their own or next to a value that counts. A document nested in brackets of the prose may be a
fragment of something larger and is not an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.recover.lenient_parser import (
    CLOSERS,
    DOCUMENT_START,
    PROSE_SIGN,
    ParsedDocument,
    ParseFlaw,
    UnparsedBracket,
    parse_document,
)
from emitter.recover.thinking_blocks import (
    TAG,
    TagSide,
    find_block_end,
    find_fence_end,
    find_last_unopened_end,
    is_thinking_fence,
    parse_tag,
)

if TYPE_CHECKING:
    from re import Match

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

    ``flaw`` says why the answer as a whole cannot be trusted, and ``flaw_position`` where the flaw is.
    """

    candidates: tuple[CandidateDocument, ...]
    flaw: ParseFlaw | None = None
    flaw_position: int = 0
    blocks: tuple[tuple[int, int], ...] = ()


def scan_answer(text: str) -> ScanResult:
    """Find every object and array that is neither inside another one nor in a thinking block."""
    scanner = _scan_from(text, 0)
    if scanner.flaw not in (None, ParseFlaw.UNFINISHED_THINKING):
        end = find_last_unopened_end(text, scanner.position)
        scanner = scanner if end is None else _scan_from(text, end)
    return ScanResult(tuple(scanner.candidates), scanner.flaw, scanner.position, tuple(scanner.blocks))


def _scan_from(text: str, start: int) -> _AnswerScanner:
    """Scan from ``start``, taking everything before it for thinking."""
    scanner = _AnswerScanner(text, start)
    while scanner.flaw is None and (sign := PROSE_SIGN.search(text, scanner.position)):
        scanner.handle_sign(sign[0], sign.start())
    if scanner.flaw is None and scanner.expected_closers:
        scanner.flaw = ParseFlaw.CUT_OFF
    return scanner


class _AnswerScanner:
    """The position in the prose, the brackets open there and the candidates so far."""

    __slots__ = ("blocks", "candidates", "expected_closers", "flaw", "is_fenced", "position", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.flaw: ParseFlaw | None = None
        self.restart(start)

    def restart(self, at: int) -> None:
        """Restart at ``at``, taking everything before it for thinking."""
        self.position = at
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
            self.position = len(self.text)
        else:
            self.flaw = ParseFlaw.FRAGMENT

    def skip_thinking(self, tag: Match[str]) -> bool:
        """Skip a thinking block that begins or ends at ``tag``; tell whether there is one."""
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
        """Go on after a thinking block; a block that never ends leaves no answer."""
        if end is None:
            self.flaw, self.position = ParseFlaw.UNFINISHED_THINKING, start
        else:
            self.blocks.append((start, end))
            self.position = end

    def read_bracket(self, sign: str, start: int) -> None:
        """Parse the document that begins at an opening bracket, if one does."""
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
        """Go on after a bracket of the prose, or stop at a broken document.

        Quoted strings tell them apart: prose contains ``{x: int}``, a document contains ``"x"``.
        """
        if unparsed.flaw is ParseFlaw.BROKEN and not unparsed.has_strings:
            self.expected_closers.extend(unparsed.expected_closers)
            self.position = unparsed.stopped_at
            return
        self.flaw = ParseFlaw.FRAGMENT if unparsed.flaw is ParseFlaw.BROKEN and self.expected_closers else unparsed.flaw
        self.position = unparsed.start

    def is_surplus(self, start: int) -> bool:
        """Tell whether only surplus brackets follow the first document."""
        if self.expected_closers or not self.candidates:
            return False
        end = self.candidates[0].document.end
        separators = _SEPARATORS.match(self.text, end, start)
        rest = _SURPLUS_BRACKETS.match(self.text, start)
        return bool(separators and separators.end() == start and rest and rest.end() == len(self.text))


_LINE_START = re.compile(
    r"(?:[ \t\r>\ufeff\xa0]|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)*+(?:[A-Za-z_$][\w$.]*+[ \t]*+\([ \t]*+)?+"
)
_LINE_END = re.compile(r"[ \t\ufeff\xa0)}\];,.]*+(?:[\r\n]|\Z|```|/[/*])")
_FENCE_TAG = re.compile(r"[ \t]*+[\w+-]*+")
_ADJACENT = re.compile(r"[ \t,;]*+")
_BEFORE_SUBSCRIPT = re.compile(r"[\w\])]")
# `"a": {…}` and `{…}, "b": 1` are members of an object that lost its brackets.
_QUOTES = ('"', "'", "\u201d", "\u2019")
_MEMBER_AFTER = re.compile(r"\s*+(?:,\s*+(?:[\"'\u201c\u2018]|[\w$]++\s*+:)|\"[^\"\n]*+\"\s*+:|[\w$]*+\"\s*+:)")
# Prose may contain braces, or quoted words with a colon. Both together are an unreadable object.
_BRACE = re.compile(r"[{}]")
_KEY_END = re.compile(r"[\"\u201d]\s*+:")
_MEMBER_LINE = re.compile(r'^[ \t]*+"[^"\n]*+"[ \t]*+:[^\n]*,[ \t\r]*+$', re.MULTILINE)


def select_documents(text: str, candidates: tuple[CandidateDocument, ...]) -> tuple[CandidateDocument, ...] | None:
    """Return the candidates that are documents, or None if one of them is a fragment of something larger."""
    gaps = _gaps_between(text, candidates)
    if any(_MEMBER_LINE.search(gap) or (_BRACE.search(gap) and _KEY_END.search(gap)) for gap in gaps):
        return None
    self_evident = _are_self_evident(text, candidates)
    selected = [
        index
        for index, candidate in enumerate(candidates)
        if self_evident[index]
        or _stands_alone(text, candidate, gaps[index])
        or _is_adjacent(candidates, self_evident, gaps, index)
    ]
    if any(candidates[index].is_nested or _is_fragment(text, candidates[index], gaps[index]) for index in selected):
        return None
    return tuple(candidates[index] for index in selected)


def _gaps_between(text: str, candidates: tuple[CandidateDocument, ...]) -> list[str]:
    starts = [*(candidate.document.start for candidate in candidates), len(text)]
    ends = [0, *(candidate.document.end for candidate in candidates)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


def _are_self_evident(text: str, candidates: tuple[CandidateDocument, ...]) -> list[bool]:
    """Tell for each candidate whether it is a document anywhere, rather than a citation, a subscript or a link."""
    self_evident: list[bool] = []
    end, is_subscript = 0, False
    for document in (candidate.document for candidate in candidates):
        before = text[document.start - 1 : document.start] if document.start else ""
        # An array after another array is a subscript only if that one is: x["a"]["b"], but not ["a"]["b"].
        is_chained = document.start != end or is_subscript
        is_array = text.startswith("[", document.start)
        is_subscript = is_array and is_chained and _BEFORE_SUBSCRIPT.fullmatch(before) is not None
        is_link = is_array and text.startswith("(", document.end)
        self_evident.append(document.has_strings and not is_subscript and not is_link)
        end = document.end
    return self_evident


def _stands_alone(text: str, candidate: CandidateDocument, before: str) -> bool:
    """Tell whether nothing else is on the candidate's lines."""
    return _begins_line(candidate, before) and _LINE_END.match(text, candidate.document.end) is not None


def _begins_line(candidate: CandidateDocument, before: str) -> bool:
    """Tell whether only a comment or a function's name precedes the candidate on its line."""
    _, newline, line = before.rpartition("\n")
    _, fence, after_fence = line.rpartition("```")
    if fence:
        tag = _FENCE_TAG.match(after_fence)
        line = after_fence[tag.end() :] if tag else after_fence
    is_first = len(before) == candidate.document.start
    return bool(newline or fence or is_first) and _LINE_START.fullmatch(line) is not None


def _is_adjacent(
    candidates: tuple[CandidateDocument, ...], self_evident: list[bool], gaps: list[str], index: int
) -> bool:
    """Tell whether at most a comma separates the candidate from a self-evident one.

    Before a document in the middle of a line it is still a citation.
    """
    if index > 0 and self_evident[index - 1] and _ADJACENT.fullmatch(gaps[index]):
        return True
    following = index + 1 < len(self_evident) and self_evident[index + 1]
    return following and bool(_ADJACENT.fullmatch(gaps[index + 1])) and _begins_line(candidates[index], gaps[index])


def _is_fragment(text: str, candidate: CandidateDocument, before: str) -> bool:
    """Tell whether the candidate stands where a member of a larger object, or a neighbour of one, would."""
    key, colon, blank = before.rpartition(":")
    if colon and not blank.strip() and key.rstrip().endswith(_QUOTES):
        return True
    return _MEMBER_AFTER.match(text, candidate.document.end) is not None
