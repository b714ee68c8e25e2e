"""Stems of English words, and the ideas that stand for words of the same or of opposite meaning.

The stemmer takes off one ending and smooths what is left: enough for a word to meet its own other forms, no more.
"""

from __future__ import annotations

from typing import Final

from emitter.decide.handshake.lexicon import CONCEPTS, NEGATORS, OBJECTING, STOP

_ENDINGS: Final = (
    *("ications", "ication", "ifying", "ifies", "ified", "ations", "ation", "ating", "ments", "ment", "ating", "ated"),
    *("ates", "ings", "ions", "ying", "ify", "ate", "ing", "ion", "ies", "ied", "als", "al", "ed", "es", "ly", "s"),
)
_SHORTEST: Final = 3
"""Letters that must be left; ``al`` leaves one more, so that ``legal`` stays itself."""
_VOWELS: Final = frozenset("aeiou")
_LONGEST: Final = 40
"""Letters of a word that are looked at for its ending; a longer one is no word of English."""


def stem(word: str) -> str:
    """Return the stem of a case-folded word; a number, and a word of other letters than English, is its own."""
    if not word.isascii() or not word.isalpha() or len(word) > _LONGEST:
        return word
    for ending in _ENDINGS:
        left = len(word) - len(ending)
        if word.endswith(ending) and left >= _SHORTEST + (ending in {"al", "als"}) and _parts(word, ending):
            return _smooth(word[:left])
    return _smooth(word)


def _parts(word: str, ending: str) -> bool:
    """Tell whether a final ``s`` is an ending: it is none in access, status and analysis."""
    return ending != "s" or word[-2] not in "sui"


def _smooth(stump: str) -> str:
    """Return a stump without what its forms differ in: a final e, y or i, or the second of two equal consonants."""
    if len(stump) <= _SHORTEST:
        return stump
    if stump[-1] in "eyi":
        return stump[:-1]
    return stump[:-1] if stump[-1] == stump[-2] and stump[-1] not in _VOWELS else stump


def _concepts() -> dict[str, tuple[str, bool | None]]:
    known: dict[str, tuple[str, bool | None]] = {}
    for same, opposite in CONCEPTS:
        words, others = same.split(), opposite.split()
        idea = stem(words[0])
        for word in (*words, *others):
            known.setdefault(stem(word), (idea, word in words if others else None))
    return known


CONCEPT: Final = _concepts()
"""By stem: the idea that a word stands for, and on which side of it, where it has an opposite."""
OBJECTING_STEMS: Final = frozenset(map(stem, OBJECTING))


def is_empty(word: str) -> bool:
    """Tell whether a case-folded word tells nothing of what a question is about."""
    return word in STOP or word in NEGATORS
