"""Normalize a narrative's text and split it into sentences and clauses.

Look-alike letters are folded, invisible characters removed, and every position maps back to the original text.

Source: Unicode NFKC and the general categories; UTS 39.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, Final

from emitter.checks.wording import word_set
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


_SENTENCE_END: Final = re.compile(
    r"(?:[!?]|\.(?!\s*[a-z]))+[\"\u201d')\]]*(?:\s+|(?=[A-Z])|\Z)|;\s*|\n(?=[ \t]*(?:[\nA-Z\d\u201c\"\u2022]|-[ \t]))"
)
_ABBREVIATED: Final = re.compile(
    r"(?:(?<![^\W_])(?:dr|mr|mrs|ms|mx|prof|st|vs|figs?|secs?|nos?|art|approx|ca|vol|ed|al|cf|g|e|messrs|rev|hon|inc)"
    r"|(?<![^\W_])[^\W\d_]|(?:\A|\n)[ \t]*\d{1,3})\.[ \t]*\Z",
    re.IGNORECASE,
)
_STARTER: Final = re.compile(r"(?:The|It|This|That|These|Those|He|She|They|We|You|I|There|In|On|If|When|And|But)\b")
_LOOK_BACK: Final = 12
_LONGEST: Final = 5_000
"""The characters of a sentence that are read as one."""


def split_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the sentences of a text as it is seen start and end, in time that grows as the text does."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if _STARTER.match(text, end.end()) or not _ABBREVIATED.search(
            text[max(start, end.end() - _LOOK_BACK) : end.end()]
        ):
            yield from _trim(text, start, end.end())
            start = end.end()
    yield from _trim(text, start, len(text))


def _trim(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a part of a text without the space around it, if it has a letter or a digit; a very long one in pieces."""
    for place in range(start, end, _LONGEST):
        part = text[place : min(place + _LONGEST, end)]
        if any(map(str.isalnum, part)):
            yield place + len(part) - len(part.lstrip()), place + len(part.rstrip())
