"""A text as the rules read it: without quotations, in clauses of plain lower-case words.

What stands in quotation marks is somebody else's and says nothing about the agent's own position. Contractions are
written out ("don't" as "do not"), so that one phrase serves both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

READ = 10_000
"""How many characters of a text are read; what a slot says in one sentence stands well before."""

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\uff07": "'"})
_OPENS = re.compile(r"[\"“„«「『]|(?<!\S)'")
_CLOSES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』"}
_QUOTED = "Q"
"""What stands for a quotation: a name."""
_ENDS = ".!?…"

_TOKEN = re.compile(
    r"[^\W_]+(?:['.][^\W_]+|[,:]\d+)*"
    r"|(?<=\w{3})\.(?=\s+[^\sa-z]|\s*\Z)"
    r"|[,;:()\[\]!?…\n\u2013\u2014]|[\u3002\uff01\uff1f\u060c\u061b\u061f]|(?<=\s)-(?=\s)"
)
"""Words, full stops that may end a sentence, and other marks: with dashes, and those of Chinese and Arabic."""
_CONTRACTED = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "let's": ("let", "us"),
    "okay": ("ok",),
}
_TAILS = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'m": "am"}
_IS = frozenset({"it", "that", "this", "there", "here", "what", "who", "he", "she", "how", "where", "which"})
"""The words whose ``'s`` is "is"; any other's is a genitive, which is left off."""


@dataclass(frozen=True, slots=True)
class Clause:
    """The words between two marks, and the mark before them (empty for the first)."""

    words: tuple[str, ...]
    mark: str = ""


def plain(text: str) -> str:
    """Return a text with its apostrophes made one, and a name in the place of each closed quotation."""
    return "".join(_without_quotations(text[:READ].translate(_APOSTROPHES).strip()))


def clauses(text: str) -> list[Clause]:
    """Return the clauses of a text: what stands between commas, colons, dashes, brackets and the ends of sentences."""
    found: list[Clause] = []
    words: list[str] = []
    mark = ""
    for each in _TOKEN.finditer(plain(text)):
        token = each.group()
        if token[0].isalnum():
            words += _words(token, first=not words and not found)
            continue
        found += [Clause(tuple(words), mark)] if words else []
        words, mark = [], token
    return [*found, Clause(tuple(words), mark)] if words else found


def words(text: str) -> list[str]:
    """Return the words of a text, those of quotations among them."""
    spoken = text[:READ].translate(_APOSTROPHES)
    return [word for each in _TOKEN.findall(spoken) if each[0].isalnum() for word in _words(each, first=True)]


def _words(token: str, *, first: bool) -> tuple[str, ...]:
    if token == "May" and not first:  # noqa: S105 - the month, which is no modal
        return ("month",)
    word = token.casefold()
    if word in _CONTRACTED:
        return _CONTRACTED[word]
    if "'" not in word:
        return (word,)
    if word.endswith("n't"):
        return (word[:-3], "not")
    stem, _, tail = word.rpartition("'")
    if tail == "s":
        return (stem, "is") if stem in _IS else (stem,)
    return (stem, _TAILS[f"'{tail}"]) if f"'{tail}" in _TAILS else (word,)


def _without_quotations(text: str) -> Iterator[str]:
    start = place = 0
    last = {close: text.rfind(close) for close in {*_CLOSES.values()}}
    while (opening := _OPENS.search(text, place)) is not None:
        end = _closing(text, opening.start(), last)
        place = opening.end()
        if end < 0 or (opening.start() == 0 and end == len(text) - 1):
            continue
        yield text[start : opening.start()]
        yield f"{_QUOTED}." if text[end - 1] in _ENDS else _QUOTED
        start = place = end + 1
    yield text[start:]


def _closing(text: str, opening: int, last: dict[str, int]) -> int:
    """Return where the quotation ends that begins at a place; -1 where none does."""
    mark = text[opening]
    if mark != "'":
        close = _CLOSES[mark]
        return text.find(close, opening + 1) if last[close] > opening else -1
    end = text.find("'", opening + 1)
    while end > 0 and text[end - 1].isalnum() and text[end + 1 : end + 2].isalnum():
        end = text.find("'", end + 1)
    return -1 if end < 0 or text[end - 1].isspace() else end
