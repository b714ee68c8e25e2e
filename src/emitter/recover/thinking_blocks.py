"""Find and remove thinking blocks in a model's text.

Blocks are recognised by tags such as ``<think>``, ``[THINK]``, ``<|START_THINKING|>`` and ``&lt;thought&gt;``, by
tokens that a table lists, by harmony channels, by code fences with such a language, and by the words that begin and end
the thinking of models without tags. Blocks nest. An ambiguous tag is read in the way that leaves less of the text in
the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

_OPEN_BRACKET, _CLOSE_BRACKET = r"(?:[<\uff1c\u25c1\u27e8]|&lt;)", r"(?:[>\uff1e\u25b7\u27e9]|&gt;)"
_ANGLED = (
    rf"{_OPEN_BRACKET}(?P<pipe>[|\uff5c]?)\s{{0,4}}+(?P<slash>/?)\s{{0,4}}+"
    r"(?P<name>[^\W\d_](?:[\w:.-]|\|(?=\w)){0,60}+)"
    rf"(?P<rest>[^<>|{{}}\[\]\uff1c\uff1e\u25c1\u25b7]{{0,500}}?)[|\uff5c]?{_CLOSE_BRACKET}"
)
_BRACKETED = r"\[[ ]?(?P<end>/?)[ ]?(?P<word>[^\W\d_][\w-]{2,30}+)[ ]?\]"
TAG: Final = re.compile(rf"{_ANGLED}|{_BRACKETED}")
"""A tag of any name."""
_THINKING_NAME = re.compile(
    r"think|thought|reasoning|scratch_?-?pad|monolog|reflect|deliberat|ponder|contemplat|brainstorm|chain_?-?of"
    r"|rationale|思考|推理|思路|思维|思維|생각|추론"
    r"|gedanke|überleg|nachdenk|denken|pens[ée]e|pensamiento|pensamento|pensiero|réflexion|raisonnement"
    r"|razonamiento|raciocínio|ragionamento|рассужд|мысл"
    r"|размышл|роздум|σκέψ|myśl|myšlen|düşünc|tänk|tanke|gedacht|suy nghĩ|pikir|تفكير|सोच"
)
_THINKING_WORDS = frozenset(
    {"analysis", "reason", "reasons", "draft", "drafts", "plan", "planning", "cot", "musing", "musings"}
)
_ATTRIBUTE = re.compile(r"=\s*[\"']?(?:think|thought|reasoning)", re.IGNORECASE)
_SUMMARY = re.compile(r"\s*+<summary[^<>]{0,200}>[^<>]{0,200}?(?:think|thought|reasoning)", re.IGNORECASE)
_BEGIN_WORDS, _END_WORDS = frozenset({"begin", "start", "open"}), frozenset({"end", "stop", "close"})
_NAME_SEPARATORS = re.compile(r"[_:.| -]+")
_GLUED_SIDE = re.compile(r"(?:(?:begin|start|open)|(end|stop|close))(?:of)?(?=think|thought|reasoning)")
_PAIRED_TOKENS = {
    # MedGemma: https://huggingface.co/google/medgemma-1.5-4b-it
    "unused94": ("unused94", False),
    "unused95": ("unused94", True),
    # openPangu-Embedded and openPangu-R
    "unused16": ("unused16", False),
    "unused17": ("unused16", True),
    # Apertus: https://huggingface.co/swiss-ai/Apertus-8B-Instruct-2509
    "inner_prefix": ("inner_prefix", False),
    "inner_suffix": ("inner_prefix", True),
}
"""Tokens whose names do not tell that they begin or end a block, with the name of the block and whether they end it."""
_PIPE = "|"
"""Precedes the name of a block that began with a token such as Solar Open's ``<|think|>``, which ``<|end|>`` ends."""
# gpt-oss writes <|channel|>analysis<|message|>...<|end|>, Gemma <|channel>thought...<channel|>.
_CHANNEL = "channel"
_THINKING_CHANNEL = re.compile(r"\s*+(?:analysis|commentary|thought|thinking)\b", re.IGNORECASE)
_HEADER = re.compile(
    r"(?:\s*+<\|(?:start|begin)\|>\s*+assistant)?+(?:\s*+<\|channel\|>)?+(?:\s*+final\b[^<>\n]{0,40}+)?+"
    r"(?:<\|(?:message|content)\|>)?+"
)
_CHANNEL_ENDS = frozenset({"channel", "end", "return", "start"})
_FENCE = re.compile(r"^[ \t>]*+(?P<ticks>`{3,})[ \t]*+(?P<info>[^\s`]*+)[^\n`]*+$", re.MULTILINE)
_FENCE_INFO = re.compile(r"[ \t]*+([^\s`]*+)")
_QUOTES = frozenset("\"'`\u201c\u201d")
_HARMONY_OPENING, _HARMONY_END = re.compile(r"\s*+analysis(?=[A-Z])"), re.compile(r"assistant\s?+final(?![a-z])")
_GRANITE_OPENING = re.compile(r"\s*+\**+here(?: is|'s|\u2019s) my thought process:", re.IGNORECASE)
_GRANITE_END = re.compile(r"\**+here(?: is|'s|\u2019s) my response:\**+", re.IGNORECASE)
_UNTAGGED_BLOCKS = ((_HARMONY_OPENING, _HARMONY_END), (_GRANITE_OPENING, _GRANITE_END))
"""The words with which a text begins that is thinking, and the words that end it.

A server that drops special tokens leaves gpt-oss's roles and channels: ``analysisWe need …assistantfinal{…}``. Granite
3.2 has no tags: https://huggingface.co/ibm-granite/granite-3.2-8b-instruct
"""


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
    name = (tag["word"] or tag["name"]).casefold()
    if paired := _PAIRED_TOKENS.get(name):
        return ThinkingTag(TagSide.END if paired[1] else TagSide.BEGIN, paired[0])
    if tag["word"]:
        return _make_tag(name, tag["end"]) if _THINKING_NAME.match(name) else None
    return None if tag["rest"].rstrip().endswith("/") else _parse_angled_tag(tag, name)


def _parse_angled_tag(tag: re.Match[str], name: str) -> ThinkingTag | None:
    rest = tag["rest"]
    if name in _CHANNEL_ENDS and "|" in tag[0]:
        is_begin = name == _CHANNEL and _THINKING_CHANNEL.match(tag.string, tag.end())
        return ThinkingTag(TagSide.BEGIN if is_begin else TagSide.END, _CHANNEL, may_end_unopened=False)
    if _THINKING_NAME.search(name) or name in _THINKING_WORDS:
        return _make_tag(name, tag["slash"], tag["pipe"] and _PIPE)
    if tag["slash"]:
        return ThinkingTag(TagSide.END, name, may_end_unopened=False)
    is_thinking = _ATTRIBUTE.search(rest) or (name == "details" and _SUMMARY.match(tag.string, tag.end()))
    return ThinkingTag(TagSide.BEGIN, name) if is_thinking else None


def _make_tag(name: str, slash: str, pipe: str = "") -> ThinkingTag:
    """Return the thinking tag of a name; ``begin_of_thought`` and ``end_of_thought`` share the name ``thought``."""
    if glued := _GLUED_SIDE.match(name):
        return ThinkingTag(TagSide.END if glued[1] else TagSide.BEGIN, name[glued.end() :])
    words = [word for word in _NAME_SEPARATORS.split(name) if word != "of"]
    is_end = bool(slash) or not _END_WORDS.isdisjoint(words)
    name_words = [word for word in words if word not in _BEGIN_WORDS | _END_WORDS]
    is_begin_token = pipe and len(name_words) == len(words) and not is_end
    return ThinkingTag(
        TagSide.END if is_end else TagSide.BEGIN, (pipe if is_begin_token else "") + " ".join(name_words)
    )


def _find_ended(open_names: list[str], name: str) -> int | None:
    """Return the index of the innermost open block that an end tag of this name ends."""
    for index in range(len(open_names) - 1, -1, -1):
        opened = open_names[index]
        if name in (opened, opened.removeprefix(_PIPE)) or (name == _CHANNEL and opened.startswith(_PIPE)):
            return index
    return None


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
    elif (ended := _find_ended(open_names, thinking_tag.name)) is not None and not _is_quoted(text, tag):
        del open_names[ended:]
    return not open_names


def find_block_end(text: str, tag: re.Match[str], opening: ThinkingTag) -> int | None:
    """Return the end of the block that ``tag`` begins, or None if it never ends."""
    open_names = [opening.name]
    for inner in TAG.finditer(text, tag.end()):
        if _closes_block(open_names, text, inner):
            header = _HEADER.match(text, inner.end()) if opening.name.startswith((_CHANNEL, _PIPE)) else None
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


def find_untagged_end(text: str) -> int | None:
    """Return the end of the thinking with which a text begins without a tag: 0 if there is none, None if it never ends.

    The first end counts. If it is only mentioned, the rest holds several documents, or words that make one doubtful.
    """
    for opening, ending in _UNTAGGED_BLOCKS:
        if begin := opening.match(text):
            end = ending.search(text, begin.end())
            return end.end() if end else None
    return 0


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
    untagged_end = find_untagged_end(text)
    kept_from = at = len(text) if untagged_end is None else untagged_end
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


_UNTAGGED_WORDS = (
    "analysis",
    *(f"here{verb} my thought process:" for verb in (" is", "'s", "\u2019s")),
)


def _may_begin_untagged(text: str) -> bool:
    """Return whether the next piece may turn the text into the beginning of thinking without a tag."""
    begun = text.lstrip().lstrip("*").lower()
    return any(words.startswith(begun) for words in _UNTAGGED_WORDS)


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

    __slots__ = ("_document_begun", "_has_begun", "_open_fences", "_open_names", "_pending", "_untagged_end")

    def __init__(self) -> None:
        self._pending = ""
        self._has_begun = False
        self._untagged_end: re.Pattern[str] | None = None
        self._open_names: list[str] = []
        self._open_fences = 0
        self._document_begun = False

    def feed(self, piece: str) -> str:
        """Return the text that is now certain to be outside thinking blocks."""
        if self._document_begun:
            return piece
        text = self._pending + piece
        start = 0 if self._has_begun and self._untagged_end is None else self._skip_untagged(text)
        return "" if start is None else self._filter(text, start)

    def _filter(self, text: str, at: int) -> str:
        parts: list[str] = []
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

    def _skip_untagged(self, text: str) -> int | None:
        """Return the end of the thinking with which the text begins without a tag, or None if it is not known yet."""
        if not self._has_begun:
            if _may_begin_untagged(text):
                self._pending = text
                return None
            self._has_begun = True
            self._untagged_end = next((end for opening, end in _UNTAGGED_BLOCKS if opening.match(text)), None)
        if self._untagged_end is None:
            return 0
        end = self._untagged_end.search(text)
        if end is None or end.end() == len(text):
            self._pending = text[-_LOOKAHEAD:]
            return None
        self._untagged_end = None
        return end.end()

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
