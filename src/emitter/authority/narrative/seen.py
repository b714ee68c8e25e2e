"""A text as a reader sees it: letters that pass for others are these, and what cannot be seen is not there.

Each character seen knows which characters it was written with, so that a marker names a place of the text itself.
Source: Unicode NFKC and the general categories; UTS 39 for look-alikes, by ``emitter.render.alike``.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, Final

from emitter.decide.blank import BLANKS
from emitter.render.alike import fold

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
class Seen:
    """What is seen, and for each of its characters where the ones that it was written with start and end."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where in the text itself a part of what is seen stands; a part has a character at least."""
        return self.starts[start], self.ends[end - 1]


def see(text: str) -> Seen:
    """Return a text as it is seen, in time that grows as the text does."""
    whole = range(len(text) + 1)
    return Seen(text, whole[:-1], whole[1:]) if _PLAIN.fullmatch(text) else _decipher(text)


def _decipher(text: str) -> Seen:
    shown: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for piece in _PIECE.finditer(text):
        looks = _looks(piece)
        if not looks and ends and piece.lastgroup == "character":
            ends[-1] = piece.end()
        for each in looks:
            shown.append(each)
            starts.append(piece.start())
            ends.append(piece.end())
    return Seen("".join(shown), starts, ends)


def _looks(piece: re.Match[str]) -> str:
    match piece.lastgroup:
        case "character":
            return look(piece[0])
        case "entity":
            return "".join(map(look, unescape(piece[0])))
        case "line":
            return "\n"
        case "item":
            return "-"
        case "space":
            return " "
        case _:
            return ""


@lru_cache(maxsize=8192)
def look(character: str) -> str:
    """Return what a character passes for: some of ASCII where it can, nothing where it cannot be seen."""
    if character in _INSTEAD:
        return _INSTEAD[character]
    if character.isspace():
        return "\n" if character in _LINES else " "
    if character in BLANKS or unicodedata.category(character) in _NOT_SEEN:
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
    alike = "i" if character in _LIKE_I else fold(plain)
    return alike.upper() if character.isupper() else alike


def closed_up(seen: Seen) -> Seen:
    """Return what is seen with the words closed up that have a space or a mark after each letter."""
    runs = [each.span() for each in _SPACED.finditer(seen.text)]
    if not runs:
        return seen
    kept = list(_kept(runs, seen.text))
    return Seen(
        "".join(seen.text[place] for place in kept),
        [seen.starts[place] for place in kept],
        [seen.ends[place] for place in kept],
    )


def _kept(runs: list[tuple[int, int]], text: str) -> Iterator[int]:
    place = 0
    for start, end in runs:
        yield from range(place, start)
        yield from (each for each in range(start, end) if text[each].isalnum())
        place = end
    yield from range(place, len(text))
