"""A text in sentences, clauses and plain lower-case words, each of which knows where it stands.

Unlike the content discipline, which reads the beginning of a slot and would rather see a sentence too few, this reads
all of a text and would rather see one too many: nothing may hide in the sentence of another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.authority.narrative.verdicts import ILLNESSES, OFFENCES, PERMITTED, VERDICTS
from emitter.decide.lint.phrases import lexicon
from emitter.decide.lint.text import words as spelt

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN: Final = re.compile(
    r"(?P<item>^[ \t]*(?:[-\u2022\u2013\u2014]|\d{1,3}[.)])[ \t]+)"
    r"|(?P<word>[^\W_]+(?:(?:['\-@]|(?<=\d)[.,](?=\d))[^\W_]+)*)"
    r"|(?P<line>\n(?=[ \t]*(?:[\nA-Z\d\u201c\"\u2022]|-[ \t])))"
    r"|(?P<mark>[.!?;:,()\[\]\u201c\u201d\"\u2013\u2014|=\u2192]|(?<=\s)-(?=\s)|[-=]>)",
    re.MULTILINE,
)
_QUOTATION: Final = re.compile(r"\"[^\"\n]{1,2000}\"|\u201c[^\u201c\u201d\n]{1,2000}\u201d")
_ENDS: Final = frozenset(".!?;")
_QUOTES: Final = frozenset('"\u201c')
LABELS: Final = frozenset({":", "=", "|", "->", "=>", "\u2192", "\u2013", "\u2014", "-"})
"""The marks between what something is called and what it is."""
_AFTER: Final = re.compile(r"[)\]\"\u201d']*(?:\s+(\S)?|\Z|([A-Z]))")
_SHORT: Final = lexicon(
    "dr mr mrs ms mx prof st vs fig figs sec no nos art approx ca vol ed al cf e.g i.e messrs rev hon"
)
_SHORT_OR_LAST: Final = lexicon("etc inc ltd co corp jr sr dept max min est")
_STARTERS: Final = lexicon("the a an it this that these those he she they we you i there in on if when and but")
_MONTHS_APART: Final = "month"
_LEET: Final = {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t"}
_MASKED: Final = VERDICTS | PERMITTED | OFFENCES | ILLNESSES | lexicon("must should shall ought required mandatory")
_MASK: Final = re.compile(r"(?<=[^\W\d_])[013457](?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Clause:
    """The words between two marks: where each of them starts and ends, the mark before, whether it is quoted."""

    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    capitals: frozenset[int]
    mark: str
    quoted: bool

    @property
    def span(self) -> tuple[int, int]:
        """Where it starts and ends."""
        return self.places[0][0], self.places[-1][1]


@dataclass(frozen=True, slots=True)
class Sentence:
    """The clauses up to a mark that ends a sentence, and that mark: empty where a line ends without one."""

    clauses: tuple[Clause, ...]
    end: str

    @property
    def span(self) -> tuple[int, int]:
        """Where it starts and ends."""
        return self.clauses[0].span[0], self.clauses[-1].span[1]

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return self.end == "?"

    @property
    def length(self) -> int:
        """How many words it has."""
        return sum(len(each.words) for each in self.clauses)


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text as it is seen, in time that grows as the text does."""
    reader = _Reader(text, [each.span() for each in _QUOTATION.finditer(text)])
    for token in _TOKEN.finditer(text):
        if token["word"]:
            reader.word(token)
        else:
            yield from reader.mark(token)
    yield from reader.close("")


@dataclass(slots=True)
class _Reader:
    """What was read of a text: the clauses of the sentence at hand, the words of the clause at hand."""

    text: str
    quotations: list[tuple[int, int]]
    next: int = 0
    clauses: list[Clause] = field(default_factory=list[Clause])
    words: list[str] = field(default_factory=list[str])
    places: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    capitals: set[int] = field(default_factory=set[int])
    before: str = ""
    inside: bool = False

    def word(self, token: re.Match[str]) -> None:
        if token[0][0].isupper():
            self.capitals.add(len(self.words))
        for each in _spelt(token[0], first=not self.words and not self.clauses):
            self.words.append(each)
            self.places.append(token.span())
        self.inside = self._within(token.start())

    def mark(self, token: re.Match[str]) -> Iterator[Sentence]:
        if token["mark"] is None:
            yield from self.close("")
            return
        mark = token["mark"]
        if mark == "." and self._shortens(token.end()):
            return
        self._clause(mark)
        if not self._within(token.start()) and self._closes(token):
            yield from self.close(mark)

    def close(self, mark: str) -> Iterator[Sentence]:
        self._clause("")
        if self.clauses:
            yield Sentence(tuple(self.clauses), mark)
        self.clauses = []
        self.before = ""

    def _clause(self, mark: str) -> None:
        if self.words:
            words, places = tuple(self.words), tuple(self.places)
            self.clauses.append(Clause(words, places, frozenset(self.capitals), self.before, self.inside))
            self.before = ""
        self.words, self.places, self.capitals = [], [], set()
        if not (mark in _QUOTES and self.before in LABELS):
            self.before = mark

    def _within(self, place: int) -> bool:
        """Say whether a place is inside a closed quotation; places are asked for in their order."""
        while self.next < len(self.quotations) and self.quotations[self.next][1] <= place + 1:
            self.next += 1
        return self.next < len(self.quotations) and self.quotations[self.next][0] <= place

    def _closes(self, token: re.Match[str]) -> bool:
        if token[0] == ";":
            return True
        if token[0] in _ENDS:
            return _AFTER.match(self.text, token.end()) is not None
        if token[0] not in '\u201d"' or self.text[token.start() - 1] not in ".!?":
            return False
        after = _AFTER.match(self.text, token.end())
        return after is not None and not (after[1] or "A").islower()

    def _shortens(self, end: int) -> bool:
        """Say whether a full stop follows a word that is written short, and so ends nothing."""
        if not self.words:
            return False
        last, after = self.words[-1], _AFTER.match(self.text, end)
        following = (after[1] or after[2] or "") if after else "a"
        if len(last) == 1 and last.isalpha():
            starts = following.isupper() and _word_at(self.text, end) in _STARTERS
            return last != "i" and bool(following) and not starts
        if last in _SHORT_OR_LAST:
            return following.islower()
        return last in _SHORT and bool(following) and (last != "no" or following.isdigit())


def _word_at(text: str, place: int) -> str:
    return text[place : place + 12].strip().partition(" ")[0].casefold()


def _unmasked(word: str) -> str:
    """Return a word of authority with letters for the digits that stand in their place; what is a name stays one."""
    if word.isalpha():
        return word
    letters = _MASK.sub(lambda found: _LEET[found[0]], word)
    return letters if letters in _MASKED else word


def _spelt(token: str, *, first: bool) -> tuple[str, ...]:
    """Return the words of a token: a contraction as two, a genitive as its word and the ending."""
    if token == "May" and not first:  # noqa: S105 - the month, which is no modal
        return (_MONTHS_APART,)
    if "'" not in token:
        return ("can", "not") if token.casefold() == "cannot" else (_unmasked(token.casefold()),)
    said = tuple(spelt(token))
    return (*said, "'s") if len(said) == 1 and token.casefold().endswith("'s") else said
