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


def block_end(text: str, tag: re.Match[str], begun: Mark) -> int | None:
    """Return where the block ends that ``tag`` begins, or ``None`` when it never does.

    A tag in quotation marks ends nothing: it is spoken of.
    """
    owed = [begun.name]
    for each in TAG.finditer(text, tag.end()):
        found = mark(each)
        if found is None:
            continue
        if found.side is Side.BEGIN:
            if not found.name == owed[-1] == _CHANNEL:  # a channel ends where the next one begins
                owed.append(found.name)
        elif found.name in owed and not _is_quoted(text, each):
            while owed.pop() != found.name:
                pass
            if not owed:
                header = _HEADER.match(text, each.end()) if found.name == _CHANNEL else None
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


def spoken(text: str) -> str:
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
