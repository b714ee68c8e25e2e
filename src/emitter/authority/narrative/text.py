"""Normalize a narrative's text and split it into sentences and clauses.

Look-alike letters are folded, invisible characters removed, and every position maps back to the original text.

Source: Unicode NFKC and the general categories; UTS 39.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, Final

from emitter.authority.narrative.lexicon import ILLNESSES, OFFENCES, PERMITTED, VERDICTS
from emitter.checks.english import split_words as spelt
from emitter.checks.english import word_set
from emitter.render.safe_text import to_skeleton
from emitter.visible_text import INVISIBLE_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PLAIN: Final = re.compile(r"[\t\n !-%'()+-;=?-\[\]^{|}a-z]*+")
"""ASCII that is seen as it is written: no marks of Markdown, HTML or TeX, and nothing that is no character."""
_PIECE: Final = re.compile(
    r"(?P<entity>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});)"
    r"|(?P<line></?(?:br|p|div|li|ul|ol|tr)\s?/?>)"
    r"|(?P<item>(?<![^\n])\*(?=[ \t]))"
    r"|(?P<space>\\[,;:! ])"
    r"|(?P<nothing></?(?:b|i|u|em|strong|sub|sup|span|mark|small|code|wbr)\s?/?>"
    r"|\\(?:text|mathrm|rm|mathbf|textbf)\{|[*`~]|(?<![^\W_])_|_(?![^\W_]))"
    r"|(?P<character>.)",
    re.DOTALL,
)
_SPACED: Final = re.compile(r"(?<![^\W_])[^\W_](?![^\W_])(?:[ .\-_\u00b7]{1,3}[^\W_](?![^\W_])){3,}+")
"""A word written with something between its letters."""
_LINES: Final = frozenset("\n\x0b\x0c\x85\u2028\u2029")
_NOT_SEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Me"})
_INSTEAD: Final = {
    **dict.fromkeys("\u201c\u201e\u201f\u00ab\u300c\u300e\u2039", "\u201c"),
    **dict.fromkeys("\u201d\u00bb\u300d\u300f\u203a", "\u201d"),
    **dict.fromkeys("\u2018\u2019\u02bc\uff07\u00b4", "'"),
    **dict.fromkeys("\u2010\u2011\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2012\u2013", "\u2013"),
    **dict.fromkeys("\u2014\u2015\u2e3a", "\u2014"),
    **dict.fromkeys("\u3002\uff61", ". "),
    "\uff01": "! ",
    "\uff1f": "? ",
    "\u066a": "%",
    "\u00b7": "\u00b7",
    "\u2022": "\u2022",
}
_LIKE_I: Final = frozenset("\u0456\u0457\u0406\u0407\u03b9\u0399\u0131\u0269\u026a")
"""What ``fold`` takes for an l, as it does an i: here the two are told apart."""
_FRACTION_SLASH: Final = "\u2044"


@dataclass(frozen=True, slots=True)
class VisibleText:
    """What is seen, and for each of its characters where the ones that it was written with start and end."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where in the text itself a part of what is seen stands; a part has a character at least."""
        return self.starts[start], self.ends[end - 1]


def to_visible_text(text: str) -> VisibleText:
    """Return a text as it is seen, in time that grows as the text does."""
    whole = range(len(text) + 1)
    return VisibleText(text, whole[:-1], whole[1:]) if _PLAIN.fullmatch(text) else _map_visible(text)


def _map_visible(text: str) -> VisibleText:
    shown: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for piece in _PIECE.finditer(text):
        looks = _visible_piece(piece)
        if not looks and ends and piece.lastgroup == "character":
            ends[-1] = piece.end()
        for each in looks:
            shown.append(each)
            starts.append(piece.start())
            ends.append(piece.end())
    return VisibleText("".join(shown), starts, ends)


def _visible_piece(piece: re.Match[str]) -> str:
    match piece.lastgroup:
        case "character":
            return normalize_character(piece[0])
        case "entity":
            return "".join(map(normalize_character, unescape(piece[0])))
        case "line":
            return "\n"
        case "item":
            return "-"
        case "space":
            return " "
        case _:
            return ""


@lru_cache(maxsize=8192)
def normalize_character(character: str) -> str:
    """Return what a character passes for: some of ASCII where it can, nothing where it cannot be seen."""
    if character in _INSTEAD:
        return _INSTEAD[character]
    if character.isspace():
        return "\n" if character in _LINES else " "
    if character in INVISIBLE_CHARACTERS or unicodedata.category(character) in _NOT_SEEN:
        return ""
    if (digit := unicodedata.decimal(character, None)) is not None:
        return str(digit)
    return _compatible(character, unicodedata.normalize("NFKC", character))


def _compatible(character: str, plain: str) -> str:
    if _FRACTION_SLASH in plain:
        return f" {plain.replace(_FRACTION_SLASH, '/')}"
    letters = "".join(each for each in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(each))
    if letters.isascii():
        return letters
    alike = "i" if character in _LIKE_I else to_skeleton(plain)
    return alike.upper() if character.isupper() else alike


def join_spaced_words(text: VisibleText) -> VisibleText:
    """Return what is seen with the words closed up that have a space or a mark after each letter."""
    runs = [each.span() for each in _SPACED.finditer(text.text)]
    if not runs:
        return text
    kept = list(_iter_kept(runs, text.text))
    return VisibleText(
        "".join(text.text[place] for place in kept),
        [text.starts[place] for place in kept],
        [text.ends[place] for place in kept],
    )


def _iter_kept(runs: list[tuple[int, int]], text: str) -> Iterator[int]:
    place = 0
    for start, end in runs:
        yield from range(place, start)
        yield from (each for each in range(start, end) if text[each].isalnum())
        place = end
    yield from range(place, len(text))


_LEET_FORMS: Final = {
    "a": "a4@",
    "e": "e3",
    "i": "i1!|",
    "l": "l1|",
    "o": "o0",
    "s": "s5$",
    "t": "t7",
    "0": "0o",
    "1": "1il",
}
_BETWEEN: Final = r"[\W_]{0,3}"
_FUNCTION_WORDS: Final = word_set("""
    a an and are as at be by can do for go he if in is it may me my no not of on or our she so that the they this to up
    us was we what who will you
""")


@lru_cache(maxsize=256)
def spelling_pattern(phrases: tuple[str, ...], *, acronyms: bool = False) -> re.Pattern[str] | None:
    """Return what finds some words and phrases in a text as it is seen; None where there is nothing to find.

    With ``acronyms``, one that reads as a function word ("WHO") is found in capitals only.
    """
    parts = [
        part for each in phrases if (part := _spelling_regex(to_visible_text(each).text.strip(), acronyms=acronyms))
    ]
    return re.compile("|".join(parts)) if parts else None


def find_spellings(phrases: tuple[str, ...], text: str, *, acronyms: bool = False) -> Iterator[tuple[int, int]]:
    """Yield where some words and phrases stand in a text as it is seen."""
    compiled = spelling_pattern(phrases, acronyms=acronyms)
    if compiled is not None:
        yield from (each.span() for each in compiled.finditer(text))


def _spelling_regex(phrase: str, *, acronyms: bool) -> str:
    letters = [each for each in phrase if each.isalnum()]
    if not letters:
        return re.escape(phrase)
    if acronyms and phrase.casefold() in _FUNCTION_WORDS:
        return _whole(letters, _BETWEEN.join(map(re.escape, "".join(letters).upper())))
    folded = "".join(letters).casefold()
    body = _BETWEEN.join(f"[{re.escape(_LEET_FORMS.get(each, each))}]" for each in folded)
    return _whole(letters, f"(?i:{body})")


def _whole(letters: list[str], body: str) -> str:
    """Return a pattern that begins and ends with a word, in the scripts that set words apart."""
    before = r"(?<![^\W_])" if _is_spaced(letters[0]) else ""
    after = r"(?![^\W_])" if _is_spaced(letters[-1]) else ""
    return f"{before}{body}{after}"


def _is_spaced(letter: str) -> bool:
    return letter.isdigit() or letter.lower() != letter.upper()


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
_SHORT: Final = word_set(
    "dr mr mrs ms mx prof st vs fig figs sec no nos art approx ca vol ed al cf e.g i.e messrs rev hon"
)
_SHORT_OR_LAST: Final = word_set("etc inc ltd co corp jr sr dept max min est")
_STARTERS: Final = word_set("the a an it this that these those he she they we you i there in on if when and but")
_MONTHS_APART: Final = "month"
_LEET_DIGITS: Final = {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t"}
_MASKED: Final = VERDICTS | PERMITTED | OFFENCES | ILLNESSES | word_set("must should shall ought required mandatory")
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


def split_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text as it is seen, in time that grows as the text does."""
    reader = _SentenceSplitter(text, [each.span() for each in _QUOTATION.finditer(text)])
    for token in _TOKEN.finditer(text):
        if token["word"]:
            reader.word(token)
        else:
            yield from reader.mark(token)
    yield from reader.close("")


@dataclass(slots=True)
class _SentenceSplitter:
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
        for each in _spell_words(token[0], first=not self.words and not self.clauses):
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
    letters = _MASK.sub(lambda found: _LEET_DIGITS[found[0]], word)
    return letters if letters in _MASKED else word


def _spell_words(token: str, *, first: bool) -> tuple[str, ...]:
    """Return the words of a token: a contraction as two, a genitive as its word and the ending."""
    if token == "May" and not first:  # noqa: S105 - the month, which is no modal
        return (_MONTHS_APART,)
    if "'" not in token:
        return ("can", "not") if token.casefold() == "cannot" else (_unmasked(token.casefold()),)
    said = tuple(spelt(token))
    return (*said, "'s") if len(said) == 1 and token.casefold().endswith("'s") else said
