"""Find thinking blocks in a model's text: what stands between reasoning tags is never part of the answer.

A block begins with a tag whose name speaks of thinking, in any of the spellings that models write: ``<think>``,
``[THINK]``, ``<|START_THINKING|>``, ``&lt;thought&gt;``, ``<details type="reasoning">``, a harmony channel, or a
code fence with such a language. Blocks nest. Where a tag could be read in two ways, the reading that leaves less of
the text in the answer wins: a missed answer costs one more call, and a draft that is taken for one costs more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

_OPEN, _CLOSE = r"(?:[<\uff1c\u25c1\u27e8]|&lt;)", r"(?:[>\uff1e\u25b7\u27e9]|&gt;)"
_ANGLED = (
    rf"{_OPEN}\|?\s{{0,4}}+(?P<slash>/?)\s{{0,4}}+(?P<name>[^\W\d_][\w:.-]{{0,60}}+)"
    rf"(?P<rest>[^<>|{{}}\[\]\uff1c\uff1e\u25c1\u25b7]{{0,500}}?)\|?{_CLOSE}"
)
_BRACKETED = r"\[[ ]?(?P<end>/?)[ ]?(?P<word>[^\W\d_][\w-]{2,30}+)[ ]?\]"

TAG: Final = re.compile(rf"{_ANGLED}|{_BRACKETED}")
"""A tag of any name."""

_ALWAYS = re.compile(
    r"think|thought|reasoning|scratch_?-?pad|monolog|reflect|deliberat|ponder|contemplat|brainstorm|chain_?-?of"
    r"|rationale|思考|推理|思路|思维|思維|생각|추론"
    r"|gedanke|überleg|nachdenk|denken|pens[ée]e|pensamiento|pensamento|pensiero|réflexion|raisonnement"
    r"|razonamiento|raciocínio|ragionamento|рассужд|мысл"
    r"|размышл"
)
_ALONE = frozenset({"analysis", "reason", "reasons", "draft", "drafts", "plan", "planning", "cot", "musing", "musings"})
_ATTRIBUTE = re.compile(r"=\s*[\"']?(?:think|thought|reasoning)", re.IGNORECASE)
_SUMMARY = re.compile(r"\s*+<summary[^<>]{0,200}>[^<>]{0,200}?(?:think|thought|reasoning)", re.IGNORECASE)
_BEGINS, _ENDS = frozenset({"begin", "start", "open"}), frozenset({"end", "stop", "close"})
_JOINTS = re.compile(r"[_:. -]+")

# gpt-oss writes <|channel|>analysis<|message|>...<|end|>, Gemma <|channel>thought...<channel|>.
_CHANNEL = "channel"
_ASIDE = re.compile(r"\s*+(?:analysis|commentary|thought|thinking)\b", re.IGNORECASE)
_HEADER = re.compile(
    r"(?:\s*+<\|start\|>\s*+assistant)?+(?:\s*+<\|channel\|>)?+(?:\s*+final\b[^<>\n]{0,40}+)?+(?:<\|message\|>)?+"
)
_CHANNEL_ENDS = frozenset({"channel", "end", "return", "start"})

_FENCE = re.compile(r"^[ \t>]*+(?P<ticks>`{3,})[ \t]*+(?P<info>[^\s`]*+)[^\n`]*+$", re.MULTILINE)
_INFO = re.compile(r"[ \t]*+([^\s`]*+)")
_QUOTES = frozenset("\"'`\u201c\u201d")


class Side(Enum):
    """Which end of a block a tag marks."""

    BEGIN = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Mark:
    """A reasoning tag. ``lone`` tells whether it may end a block whose beginning was never written."""

    side: Side
    name: str
    lone: bool = True


def mark(tag: re.Match[str]) -> Mark | None:
    """Return what a tag says of thinking, or ``None`` for any other tag."""
    if word := tag["word"]:
        name = word.casefold()
        return _sided(name, tag["end"]) if _ALWAYS.match(name) else None
    return None if tag["rest"].rstrip().endswith("/") else _angled(tag)


def _angled(tag: re.Match[str]) -> Mark | None:
    name, rest = tag["name"].casefold(), tag["rest"]
    if name in _CHANNEL_ENDS and "|" in tag[0]:
        begins = name == _CHANNEL and _ASIDE.match(tag.string, tag.end())
        return Mark(Side.BEGIN if begins else Side.END, _CHANNEL, lone=False)
    if _ALWAYS.search(name) or name in _ALONE:
        return _sided(name, tag["slash"])
    if tag["slash"]:
        return Mark(Side.END, name, lone=False)
    says_it = _ATTRIBUTE.search(rest) or (name == "details" and _SUMMARY.match(tag.string, tag.end()))
    return Mark(Side.BEGIN, name) if says_it else None


def _sided(name: str, slash: str) -> Mark:
    """Return which end of a block the tag marks; ``begin_of_thought`` and ``end_of_thought`` are one name."""
    words = [each for each in _JOINTS.split(name) if each != "of"]
    ends = bool(slash) or not _ENDS.isdisjoint(words)
    kept = [each for each in words if each not in _BEGINS | _ENDS]
    return Mark(Side.END if ends else Side.BEGIN, " ".join(kept))


def _ends(owed: list[str], text: str, tag: re.Match[str]) -> bool:
    """Follow a tag inside a block, whose open names are ``owed``; tell whether the block ends there.

    A tag in quotation marks ends nothing: it is only mentioned.
    """
    found = mark(tag)
    if found is None:
        return False
    if found.side is Side.BEGIN:
        if not found.name == owed[-1] == _CHANNEL:  # a channel ends where the next one begins
            owed.append(found.name)
    elif found.name in owed and not _is_quoted(text, tag):
        while owed.pop() != found.name:
            pass
    return not owed


def block_end(text: str, tag: re.Match[str], begun: Mark) -> int | None:
    """Return where the block ends that ``tag`` begins, or ``None`` when it never does."""
    owed = [begun.name]
    for each in TAG.finditer(text, tag.end()):
        if _ends(owed, text, each):
            header = _HEADER.match(text, each.end()) if begun.name == _CHANNEL else None
            return header.end() if header else each.end()
    return None


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    before, after = text[tag.start() - 1 : tag.start()], text[tag.end() : tag.end() + 1]
    return before == after and before in _QUOTES


def is_fence(text: str, at: int) -> bool:
    """Tell whether the fence whose backticks end at ``at`` is one of thinking, by its language."""
    info = _INFO.match(text, at)
    return info is not None and _ALWAYS.match(info[1].casefold()) is not None


def fence_end(text: str, at: int) -> int | None:
    """Return where a fence of thinking ends; a fence with a language inside it has an end of its own."""
    owed = 1
    for each in _FENCE.finditer(text, at):
        owed += 1 if each["info"] else -1
        if not owed:
            return each.end()
    return None


def last_lone_end(text: str, at: int) -> int | None:
    """Return where the last block ends, behind ``at``, whose beginning was never written.

    Chat templates open the block for the model. Only a tag that begins or ends its line counts: this is asked where
    the text could not be followed, so that the tag may stand in a broken string.
    """
    end: int | None = None
    behind = at
    for each in TAG.finditer(text, at):
        found = mark(each) if each.start() >= behind else None
        if found is None:
            continue
        if found.side is Side.BEGIN:
            behind = block_end(text, each, found) or len(text)
        elif found.lone and _edges_line(text, each):
            end = each.end()
    return end


def _edges_line(text: str, tag: re.Match[str]) -> bool:
    before = text[max(0, tag.start() - 80) : tag.start()].rpartition("\n")[2]
    after = text[tag.end() : tag.end() + 80].partition("\n")[0]
    return not before.strip() or not after.strip()


def without_blocks(text: str) -> str:
    """Return plain words without their thinking blocks; one that never ends goes on to the end."""
    parts: list[str] = []
    kept = at = 0
    while tag := TAG.search(text, at):
        found, at = mark(tag), tag.end()
        if found is None:
            continue
        if found.side is Side.BEGIN:
            parts.append(text[kept : tag.start()])
            kept = at = block_end(text, tag, found) or len(text)
        elif found.lone:
            parts, kept = [], at
    return "".join((*parts, text[kept:]))


def without(text: str, blocks: tuple[tuple[int, int], ...]) -> str:
    """Return ``text`` with each block blanked out, so that every place in it stays where it is."""
    parts: list[str] = []
    at = 0
    for start, end in blocks:
        parts.extend((text[at:start], "\n" * (end - start)))
        at = end
    return "".join((*parts, text[at:]))


_LONGEST = 580
"""More characters than any tag has."""
_FIRST = re.compile(r"`{3,}|[{\[<\uff1c\u25c1\u27e8]|&")
_BEGUN = re.compile(
    r"(?:`+[^\n]{0,80}|\[ ?/?[\w-]{0,32} ?|(?:[<\uff1c\u25c1\u27e8]|&(?:l|lt|lt;)?)"
    rf"[^<>{{}}\[\]\uff1c\uff1e\u25c1\u25b7]{{0,{_LONGEST}}})\Z"
)
"""What may become a fence or a tag with the next piece."""
_LAST = re.compile(
    r"(?:\A|.)(?:[<\[\uff1c\u25c1\u27e8]|&(?!g))(?:[^<\[&\uff1c\u25c1\u27e8]|&(?=g|\Z))*\Z|.\Z", re.DOTALL
)
"""What may become a tag inside a block, with the character before it, which says whether it is quoted."""
_TELLING = 60
"""So many characters behind a tag say what its name alone does not: a channel's, and a summary."""


def _is_open(text: str, start: int, tag: re.Match[str] | None) -> bool:
    """Tell whether the next piece may make another thing of the sign at ``start``."""
    if tag is None:
        return _BEGUN.match(text, start) is not None
    told_behind = (tag["name"] or "").casefold() in _CHANNEL_ENDS | {"details"}
    return told_behind and len(text) < tag.end() + _TELLING and "{" not in text[start:]


class Outside:
    """Lets a text through as it comes, up to its first document, without the thinking blocks before that.

    A block whose beginning was never written is known for one only at its end, so it is let through.
    """

    __slots__ = ("_fences", "_held", "_owed", "_through")

    def __init__(self) -> None:
        self._held = ""
        self._owed: list[str] = []
        self._fences = 0
        self._through = False

    def feed(self, piece: str) -> str:
        """Return what of the text is certain with this piece to stand outside."""
        if self._through:
            return piece
        text, at, shown = self._held + piece, 0, list[str]()
        while not self._through and at < len(text):
            begin = at
            at = self._in_fence(text, at) if self._fences else self._in_block(text, at) if self._owed else at
            if self._fences or self._owed:
                break
            if at == begin:
                at = self._before(text, at, shown)
                if at == begin:
                    break
        if self._through:
            shown.append(text[at:])
            at = len(text)
        self._held = text[at:]
        return "".join(shown)

    def _before(self, text: str, at: int, shown: list[str]) -> int:
        """Go through prose to behind the next sign; stop at one that may not be whole yet."""
        sign = _FIRST.search(text, at)
        if sign is None:
            end = len(text.rstrip("`"))
            shown.append(text[at:end])
            return end
        start = sign.start()
        shown.append(text[at:start])
        tag = TAG.match(text, start)
        if _is_open(text, start, tag):
            return start
        found = mark(tag) if tag else None
        if tag and found and found.side is Side.BEGIN:
            self._owed = [found.name]
            return tag.end()
        line = text.find("\n", start)
        if sign[0].startswith("`") and line > 0 and is_fence(text, sign.end()):
            self._fences = 1
            return line
        if sign[0] in "{[" and not tag:
            self._through = True
            return start
        shown.append(sign[0])
        return sign.end()

    def _in_block(self, text: str, at: int) -> int:
        for tag in TAG.finditer(text, at):
            if tag.end() == len(text):  # what follows says whether it is quoted
                return max(at, tag.start() - 1)
            at = tag.end()
            if _ends(self._owed, text, tag):
                return at
        rest = _LAST.search(text, max(at, len(text) - _LONGEST))
        return rest.start() if rest else len(text)

    def _in_fence(self, text: str, at: int) -> int:
        while (end := text.find("\n", at + 1)) > 0:
            line = _FENCE.match(text[at:end].lstrip("\n"))
            at = end
            self._fences += 0 if line is None else 1 if line["info"] else -1
            if not self._fences:
                break
        return at
