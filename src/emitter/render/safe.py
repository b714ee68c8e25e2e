"""Which characters of others may stand on a surface of ours; each of the rest is shown as a replacement character.

Refused are controls (an ANSI sequence loses its escape), bidi controls, what cannot be seen (zero-width characters,
fillers, tags), private use and what is no character. Invisible characters that languages need stay where these need
them, and only there: the joiners within words of Arabic and of the scripts of India and around it, and within emoji;
one variation selector after a character that takes one. Marks may stand on a character, but not in a heap.

Sources: Unicode Technical Reports 36 and 39; RFC 5892, appendix A (where joiners are needed); UTS 51 (emoji).
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from emitter.decide.blank import BLANKS

REPLACEMENT = "\ufffd"
MOST_MARKS = 6
"""Marks on one character: Burmese and pointed Hebrew need five."""
MOST_JOINERS = 8
"""Joiners in one cluster: the longest emoji of Unicode has four."""

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_MARKS = frozenset({"Mn", "Mc", "Me"})
_JOINERS = frozenset("\u200c\u200d")
_EMOJI_JOINER = "\u200d"
_VIRAMA = 9
"""The combining class of the sign that a joiner may stand before."""

_JOINED = (
    (0x0600, 0x08FF),  # Arabic, Syriac, N'Ko, Mandaic
    (0x0900, 0x0DFF),  # Devanagari to Sinhala
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x18AF),  # Khmer, Mongolian
    (0x1B00, 0x1B7F),  # Balinese
    (0xA840, 0xA9DF),  # Phags-pa to Javanese
    (0xFB50, 0xFEFC),  # forms of Arabic letters
    (0x11000, 0x11FFF),  # Brahmi and its descendants
)
_PICTURES = ((0x2190, 0x27FF), (0x2900, 0x2BFF), (0x1F000, 0x1FAFF))
_KEYCAPS_AND_SIGNS = ((0x23, 0x23), (0x2A, 0x2A), (0x30, 0x39), (0xA9, 0xAE), (0x203C, 0x2139), (0x3030, 0x3299))
_MONGOLIAN = ((0x1820, 0x18AA),)
_IDEOGRAPHS = ((0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_TAKES: dict[str, tuple[tuple[int, int], ...]] = {
    **{chr(each): () for each in range(0xFE00, 0xFE0E)},
    **dict.fromkeys("\ufe0e\ufe0f", (*_PICTURES, *_KEYCAPS_AND_SIGNS)),
    **dict.fromkeys("\u180b\u180c\u180d\u180f", _MONGOLIAN),
    **{chr(each): _IDEOGRAPHS for each in range(0xE0100, 0xE01F0)},
}
"""Which characters each variation selector may follow."""


def clusters(word: str) -> list[str]:
    """Return ``word`` in the pieces that may be parted, each unsafe character replaced."""
    if word.isascii() and word.isprintable():
        return list(word)
    reading = _Reading()
    for each, following in zip(word, f"{word[1:]} ", strict=True):
        reading.take(each, following)
    return reading.clusters


@dataclass(slots=True)
class _Reading:
    """What was read of a word: its clusters, and how much stands on the last character."""

    clusters: list[str] = field(default_factory=list[str])
    last: str = ""
    marks: int = 0
    joiners: int = 0

    def take(self, character: str, following: str) -> None:
        if character in _TAKES:
            self.glue(character, allowed=self._selects(character))
        elif character in _JOINERS:
            self._join(character, following)
        elif (category := unicodedata.category(character)) in _MARKS and character not in BLANKS:
            self._mark(character)
        elif category in _UNSAFE or character in BLANKS:
            self._begin(REPLACEMENT)
        elif self.last in _JOINERS:
            self.marks = 0
            self.glue(character, allowed=True)
        else:
            self._begin(character)

    def glue(self, character: str, *, allowed: bool) -> None:
        if not allowed:
            self._begin(REPLACEMENT)
            return
        self.clusters[-1] += character
        self.last = character

    def _begin(self, character: str) -> None:
        self.clusters.append(character)
        self.last = character
        self.marks = self.joiners = 0

    def _selects(self, character: str) -> bool:
        return bool(self.last) and _within(self.last, _TAKES[character])

    def _join(self, character: str, following: str) -> None:
        emoji = character == _EMOJI_JOINER and self._pictured() and _within(following, _PICTURES)
        allowed = self.joiners < MOST_JOINERS and (emoji or self._in_a_word(following))
        self.glue(character, allowed=allowed)
        self.joiners += allowed

    def _pictured(self) -> bool:
        return self.last == "\ufe0f" or (bool(self.last) and _within(self.last, _PICTURES))

    def _in_a_word(self, following: str) -> bool:
        if not (self.last and _within(self.last, _JOINED)):
            return False
        if unicodedata.combining(self.last) == _VIRAMA:
            return True
        if not _within(following, _JOINED):
            return False
        before, after = unicodedata.category(self.last), unicodedata.category(following)
        virama = unicodedata.combining(following) == _VIRAMA and before[0] == "L"
        return before[0] in "LM" and following not in BLANKS and (after[0] == "L" or virama)

    def _mark(self, character: str) -> None:
        self.marks += 1
        self.glue(character, allowed=self.last not in {"", REPLACEMENT} and self.marks <= MOST_MARKS)


def _within(character: str, areas: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(character) <= last for first, last in areas)
