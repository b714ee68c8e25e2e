"""Find and remove thinking blocks in a model's text.

Blocks are recognised by tags such as ``<think>``, ``[THINK]``, ``<|START_THINKING|>`` and ``&lt;thought&gt;``, by
harmony channels and by code fences with such a language. Blocks nest. An ambiguous tag is read in the way that leaves
less of the text in the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

_OPEN_BRACKET, _CLOSE_BRACKET = r"(?:[<\uff1c\u25c1\u27e8]|&lt;)", r"(?:[>\uff1e\u25b7\u27e9]|&gt;)"
_ANGLED = (
    rf"{_OPEN_BRACKET}\|?\s{{0,4}}+(?P<slash>/?)\s{{0,4}}+(?P<name>[^\W\d_][\w:.-]{{0,60}}+)"
    rf"(?P<rest>[^<>|{{}}\[\]\uff1c\uff1e\u25c1\u25b7]{{0,500}}?)\|?{_CLOSE_BRACKET}"
)
_BRACKETED = r"\[[ ]?(?P<end>/?)[ ]?(?P<word>[^\W\d_][\w-]{2,30}+)[ ]?\]"
TAG: Final = re.compile(rf"{_ANGLED}|{_BRACKETED}")
"""A tag of any name."""
_THINKING_NAME = re.compile(
    r"think|thought|reasoning|scratch_?-?pad|monolog|reflect|deliberat|ponder|contemplat|brainstorm|chain_?-?of"
    r"|rationale|思考|推理|思路|思维|思維|생각|추론"
    r"|gedanke|überleg|nachdenk|denken|pens[ée]e|pensamiento|pensamento|pensiero|réflexion|raisonnement"
    r"|razonamiento|raciocínio|ragionamento|рассужд|мысл"
    r"|размышл"
)
_THINKING_WORDS = frozenset(
    {"analysis", "reason", "reasons", "draft", "drafts", "plan", "planning", "cot", "musing", "musings"}
)
_ATTRIBUTE = re.compile(r"=\s*[\"']?(?:think|thought|reasoning)", re.IGNORECASE)
_SUMMARY = re.compile(r"\s*+<summary[^<>]{0,200}>[^<>]{0,200}?(?:think|thought|reasoning)", re.IGNORECASE)
_BEGIN_WORDS, _END_WORDS = frozenset({"begin", "start", "open"}), frozenset({"end", "stop", "close"})
_NAME_SEPARATORS = re.compile(r"[_:. -]+")
# gpt-oss writes <|channel|>analysis<|message|>...<|end|>, Gemma <|channel>thought...<channel|>.
_CHANNEL = "channel"
_THINKING_CHANNEL = re.compile(r"\s*+(?:analysis|commentary|thought|thinking)\b", re.IGNORECASE)
_HEADER = re.compile(
    r"(?:\s*+<\|start\|>\s*+assistant)?+(?:\s*+<\|channel\|>)?+(?:\s*+final\b[^<>\n]{0,40}+)?+(?:<\|message\|>)?+"
)
_CHANNEL_ENDS = frozenset({"channel", "end", "return", "start"})
_FENCE = re.compile(r"^[ \t>]*+(?P<ticks>`{3,})[ \t]*+(?P<info>[^\s`]*+)[^\n`]*+$", re.MULTILINE)
_FENCE_INFO = re.compile(r"[ \t]*+([^\s`]*+)")
_QUOTES = frozenset("\"'`\u201c\u201d")


class TagSide(Enum):
    """The end of a block that a tag marks."""

    BEGIN = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class ThinkingTag:
    """A thinking tag; ``may_end_unopened`` tells whether it may end a block without a beginning."""

    side: TagSide
    name: str
    may_end_unopened: bool = True


def parse_tag(tag: re.Match[str]) -> ThinkingTag | None:
    """Return the thinking tag that ``tag`` is, or None for any other tag."""
    if word := tag["word"]:
        name = word.casefold()
        return _make_tag(name, tag["end"]) if _THINKING_NAME.match(name) else None
    return None if tag["rest"].rstrip().endswith("/") else _parse_angled_tag(tag)


def _parse_angled_tag(tag: re.Match[str]) -> ThinkingTag | None:
    name, rest = tag["name"].casefold(), tag["rest"]
    if name in _CHANNEL_ENDS and "|" in tag[0]:
        is_begin = name == _CHANNEL and _THINKING_CHANNEL.match(tag.string, tag.end())
        return ThinkingTag(TagSide.BEGIN if is_begin else TagSide.END, _CHANNEL, may_end_unopened=False)
    if _THINKING_NAME.search(name) or name in _THINKING_WORDS:
        return _make_tag(name, tag["slash"])
    if tag["slash"]:
        return ThinkingTag(TagSide.END, name, may_end_unopened=False)
    is_thinking = _ATTRIBUTE.search(rest) or (name == "details" and _SUMMARY.match(tag.string, tag.end()))
    return ThinkingTag(TagSide.BEGIN, name) if is_thinking else None


def _make_tag(name: str, slash: str) -> ThinkingTag:
    """Return the thinking tag of a name; ``begin_of_thought`` and ``end_of_thought`` share the name ``thought``."""
    words = [word for word in _NAME_SEPARATORS.split(name) if word != "of"]
    is_end = bool(slash) or not _END_WORDS.isdisjoint(words)
    name_words = [word for word in words if word not in _BEGIN_WORDS | _END_WORDS]
    return ThinkingTag(TagSide.END if is_end else TagSide.BEGIN, " ".join(name_words))


def _closes_block(open_names: list[str], text: str, tag: re.Match[str]) -> bool:
    """Apply a tag inside a block to its ``open_names``. Returns True if the block ends there.

    A tag in quotation marks is only mentioned and ends nothing.
    """
    thinking_tag = parse_tag(tag)
    if thinking_tag is None:
        return False
    if thinking_tag.side is TagSide.BEGIN:
        if not thinking_tag.name == open_names[-1] == _CHANNEL:  # a channel ends where the next one begins
            open_names.append(thinking_tag.name)
    elif thinking_tag.name in open_names and not _is_quoted(text, tag):
        while open_names.pop() != thinking_tag.name:
            pass
    return not open_names


def find_block_end(text: str, tag: re.Match[str], opening: ThinkingTag) -> int | None:
    """Return the end of the block that ``tag`` begins, or None if it never ends."""
    open_names = [opening.name]
    for inner in TAG.finditer(text, tag.end()):
        if _closes_block(open_names, text, inner):
            header = _HEADER.match(text, inner.end()) if opening.name == _CHANNEL else None
            return header.end() if header else inner.end()
    return None


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    before, after = text[tag.start() - 1 : tag.start()], text[tag.end() : tag.end() + 1]
    return before == after and before in _QUOTES


def is_thinking_fence(text: str, at: int) -> bool:
    """Return whether the fence whose backticks end at ``at`` has a language such as ``thinking``."""
    info = _FENCE_INFO.match(text, at)
    return info is not None and _THINKING_NAME.match(info[1].casefold()) is not None


def find_fence_end(text: str, at: int) -> int | None:
    """Return the end of a thinking fence. An inner fence with a language has its own end."""
    depth = 1
    for fence in _FENCE.finditer(text, at):
        depth += 1 if fence["info"] else -1
        if not depth:
            return fence.end()
    return None


def find_last_unopened_end(text: str, at: int) -> int | None:
    """Return the end of the last block after ``at`` whose beginning is missing, or None.

    Chat templates open the block for the model. Only a tag at the beginning or end of a line counts, because the tag
    may be part of a broken string.
    """
    end: int | None = None
    block_end = at
    for tag in TAG.finditer(text, at):
        thinking_tag = parse_tag(tag) if tag.start() >= block_end else None
        if thinking_tag is None:
            continue
        if thinking_tag.side is TagSide.BEGIN:
            block_end = find_block_end(text, tag, thinking_tag) or len(text)
        elif thinking_tag.may_end_unopened and _edges_line(text, tag):
            end = tag.end()
    return end


def _edges_line(text: str, tag: re.Match[str]) -> bool:
    before = text[max(0, tag.start() - 80) : tag.start()].rpartition("\n")[2]
    after = text[tag.end() : tag.end() + 80].partition("\n")[0]
    return not before.strip() or not after.strip()


def strip_thinking(text: str) -> str:
    """Return prose without its thinking blocks; an unfinished block extends to the end."""
    parts: list[str] = []
    kept_from = at = 0
    while tag := TAG.search(text, at):
        thinking_tag, at = parse_tag(tag), tag.end()
        if thinking_tag is None:
            continue
        if thinking_tag.side is TagSide.BEGIN:
            parts.append(text[kept_from : tag.start()])
            kept_from = at = find_block_end(text, tag, thinking_tag) or len(text)
        elif thinking_tag.may_end_unopened:
            parts, kept_from = [], at
    return "".join((*parts, text[kept_from:]))


def blank_out(text: str, blocks: tuple[tuple[int, int], ...]) -> str:
    """Return ``text`` with its blocks replaced by line breaks, so that positions stay the same."""
    parts: list[str] = []
    at = 0
    for start, end in blocks:
        parts.extend((text[at:start], "\n" * (end - start)))
        at = end
    return "".join((*parts, text[at:]))


_MAX_TAG_LENGTH = 580
"""An upper bound on the length of a tag."""
_FIRST_SIGN = re.compile(r"`{3,}|[{\[<\uff1c\u25c1\u27e8]|&")
_UNFINISHED_SIGN = re.compile(
    r"(?:`+[^\n]{0,80}|\[ ?/?[\w-]{0,32} ?|(?:[<\uff1c\u25c1\u27e8]|&(?:l|lt|lt;)?)"
    rf"[^<>{{}}\[\]\uff1c\uff1e\u25c1\u25b7]{{0,{_MAX_TAG_LENGTH}}})\Z"
)
"""Text that the next piece may turn into a fence or a tag."""
_UNFINISHED_TAG = re.compile(
    r"(?:\A|.)(?:[<\[\uff1c\u25c1\u27e8]|&(?!g))(?:[^<\[&\uff1c\u25c1\u27e8]|&(?=g|\Z))*\Z|.\Z", re.DOTALL
)
"""Text inside a block that may become a tag, with the preceding character, which may be a quotation mark."""
_LOOKAHEAD = 60
"""The number of characters after a tag that identify a channel or a summary."""


def _may_continue(text: str, start: int, tag: re.Match[str] | None) -> bool:
    """Return whether the next piece may change the meaning of the sign at ``start``."""
    if tag is None:
        return _UNFINISHED_SIGN.match(text, start) is not None
    needs_lookahead = (tag["name"] or "").casefold() in _CHANNEL_ENDS | {"details"}
    return needs_lookahead and len(text) < tag.end() + _LOOKAHEAD and "{" not in text[start:]


class ThinkingFilter:
    """Pass text through up to its first document, without the thinking blocks before it.

    A block without a beginning is recognised only at its end, so its text is passed through.
    """

    __slots__ = ("_document_begun", "_open_fences", "_open_names", "_pending")

    def __init__(self) -> None:
        self._pending = ""
        self._open_names: list[str] = []
        self._open_fences = 0
        self._document_begun = False

    def feed(self, piece: str) -> str:
        """Return the text that is now certain to be outside thinking blocks."""
        if self._document_begun:
            return piece
        text, at, parts = self._pending + piece, 0, list[str]()
        while not self._document_begun and at < len(text):
            before = at
            at = self._in_fence(text, at) if self._open_fences else self._in_block(text, at) if self._open_names else at
            if self._open_fences or self._open_names:
                break
            if at == before:
                at = self._in_prose(text, at, parts)
                if at == before:
                    break
        if self._document_begun:
            parts.append(text[at:])
            at = len(text)
        self._pending = text[at:]
        return "".join(parts)

    def _in_prose(self, text: str, at: int, parts: list[str]) -> int:
        """Read prose up to the end of the next sign, or up to a sign that may be incomplete."""
        sign = _FIRST_SIGN.search(text, at)
        if sign is None:
            end = len(text.rstrip("`"))
            parts.append(text[at:end])
            return end
        start = sign.start()
        parts.append(text[at:start])
        tag = TAG.match(text, start)
        if _may_continue(text, start, tag):
            return start
        thinking_tag = parse_tag(tag) if tag else None
        if tag and thinking_tag and thinking_tag.side is TagSide.BEGIN:
            self._open_names = [thinking_tag.name]
            return tag.end()
        line_end = text.find("\n", start)
        if sign[0].startswith("`") and line_end > 0 and is_thinking_fence(text, sign.end()):
            self._open_fences = 1
            return line_end
        if sign[0] in "{[" and not tag:
            self._document_begun = True
            return start
        parts.append(sign[0])
        return sign.end()

    def _in_block(self, text: str, at: int) -> int:
        for tag in TAG.finditer(text, at):
            if tag.end() == len(text):  # the next character decides whether it is quoted
                return max(at, tag.start() - 1)
            at = tag.end()
            if _closes_block(self._open_names, text, tag):
                return at
        rest = _UNFINISHED_TAG.search(text, max(at, len(text) - _MAX_TAG_LENGTH))
        return rest.start() if rest else len(text)

    def _in_fence(self, text: str, at: int) -> int:
        while (end := text.find("\n", at + 1)) > 0:
            line = _FENCE.match(text[at:end].lstrip("\n"))
            at = end
            self._open_fences += 0 if line is None else 1 if line["info"] else -1
            if not self._open_fences:
                break
        return at
