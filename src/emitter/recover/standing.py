"""Which of the things seen in an answer are documents, and which are signs of its prose.

- What holds a quoted string speaks for itself, wherever it stands.
- What holds none (``[1]``, ``{}``, ``{x: 1}``) looks like a citation or a placeholder. It is a document when
  it stands on lines of its own, or touches one that speaks for itself.
- ``rows["a"]`` is a subscript and ``["a"](b)`` a link, never a document.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emitter.recover.scan import Sighting

_LINE_START = re.compile(
    r"(?:[ \t\r>\ufeff\xa0]|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)*+(?:[A-Za-z_$][\w$.]*+[ \t]*+\([ \t]*+)?+"
)
_LINE_END = re.compile(r"[ \t\ufeff\xa0)}\];,.]*+(?:[\r\n]|\Z|```|/[/*])")
_FENCE_TAG = re.compile(r"[ \t]*+[\w+-]*+")
_TOUCH = re.compile(r"[ \t,;]*+")
_SUBSCRIPTED = re.compile(r"[\w\])]")

# `"a": {…}` and `{…}, "b": 1` are members of an object whose brackets are lost.
_QUOTES = ('"', "'", "\u201d", "\u2019")
_MEMBER_AFTER = re.compile(r"\s*+(?:,\s*+(?:[\"'\u201c\u2018]|[\w$]++\s*+:)|\"[^\"\n]*+\"\s*+:|[\w$]*+\"\s*+:)")

# Prose may hold braces, and quoted words with a colon; both together are an object that could not be read.
_BRACE = re.compile(r"[{}]")
_MEMBER = re.compile(r"[\"\u201d]\s*+:")
_LOST_LINE = re.compile(r'^[ \t]*+"[^"\n]*+"[ \t]*+:[^\n]*,[ \t\r]*+$', re.MULTILINE)


def documents(text: str, sightings: tuple[Sighting, ...]) -> tuple[Sighting, ...] | None:
    """Return the sightings that are documents; ``None`` when one of them is a piece of something larger."""
    gaps = _gaps(text, sightings)
    if any(_LOST_LINE.search(gap) or (_BRACE.search(gap) and _MEMBER.search(gap)) for gap in gaps):
        return None
    speaking = _speaking(text, sightings)
    counted = [
        place
        for place, each in enumerate(sightings)
        if speaking[place] or _stands(text, each, gaps[place]) or _touches(sightings, speaking, gaps, place)
    ]
    if any(sightings[place].inside or _orphaned(text, sightings[place], gaps[place]) for place in counted):
        return None
    return tuple(sightings[place] for place in counted)


def _gaps(text: str, sightings: tuple[Sighting, ...]) -> list[str]:
    """Return what stands before, between and behind the sightings."""
    starts = [*(each.found.start for each in sightings), len(text)]
    ends = [0, *(each.found.end for each in sightings)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


def _speaking(text: str, sightings: tuple[Sighting, ...]) -> list[bool]:
    """Tell of each whether it is a document wherever it stands: no citation, subscript or link."""
    speaking: list[bool] = []
    end, subscript = 0, False
    for each in (sighting.found for sighting in sightings):
        before = text[each.start - 1 : each.start] if each.start else ""
        # Behind another array it is a subscript only if that one is: x["a"]["b"], but not ["a"]["b"].
        chained = each.start != end or subscript
        array = text.startswith("[", each.start)
        subscript = array and chained and _SUBSCRIPTED.fullmatch(before) is not None
        link = array and text.startswith("(", each.end)
        speaking.append(each.quoted and not subscript and not link)
        end = each.end
    return speaking


def _stands(text: str, each: Sighting, before: str) -> bool:
    """Tell whether it has its lines for itself."""
    return _begins_line(each, before) and _LINE_END.match(text, each.found.end) is not None


def _begins_line(each: Sighting, before: str) -> bool:
    """Tell whether nothing but a comment or a function's name stands before it on its line."""
    _, newline, line = before.rpartition("\n")
    _, fence, behind = line.rpartition("```")
    if fence:
        tag = _FENCE_TAG.match(behind)
        line = behind[tag.end() :] if tag else behind
    first = len(before) == each.found.start
    return bool(newline or fence or first) and _LINE_START.fullmatch(line) is not None


def _touches(sightings: tuple[Sighting, ...], speaking: list[bool], gaps: list[str], place: int) -> bool:
    """Tell whether nothing but a comma is between it and one that speaks for itself.

    Before a document in the middle of a line, it is still a citation.
    """
    if place > 0 and speaking[place - 1] and _TOUCH.fullmatch(gaps[place]):
        return True
    following = place + 1 < len(speaking) and speaking[place + 1]
    return following and bool(_TOUCH.fullmatch(gaps[place + 1])) and _begins_line(sightings[place], gaps[place])


def _orphaned(text: str, each: Sighting, before: str) -> bool:
    """Tell whether it stands where a member of a larger object, or the neighbour of one, would."""
    key, colon, blank = before.rpartition(":")
    if colon and not blank.strip() and key.rstrip().endswith(_QUOTES):
        return True
    return _MEMBER_AFTER.match(text, each.found.end) is not None
