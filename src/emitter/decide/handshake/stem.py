"""Stems of English words, and the ideas that stand for words of the same or of opposite meaning.

The stemmer takes off one ending and smooths what is left: enough for a word to meet its own other forms, no more.
"""

from __future__ import annotations

from typing import Final

from emitter.decide.handshake.lexicon import NEGATORS, OBJECTING, STOP
from emitter.decide.handshake.synonyms import CONCEPTS, FORMS

_ENDINGS: Final = (
    *("ications", "ication", "ifying", "ifies", "ified", "ations", "ation", "ating", "ments", "ment", "ating", "ated"),
    *("ates", "ings", "ions", "ying", "ify", "ate", "ing", "ion", "ies", "ied", "als", "al", "ed", "es", "ly", "s"),
)
_SHORTEST: Final = 3
"""Letters that must be left; ``al`` leaves one more, so that ``legal`` stays itself."""
_OUR: Final = 5
"""Letters of a word in -our, at most, that has no -or beside it: hour, flour."""
_VOWELS: Final = frozenset("aeiou")
_LONGEST: Final = 40
"""Letters of a word that are looked at for its ending; a longer one is no word of English."""


def stem(word: str) -> str:
    """Return the stem of a case-folded word; a number, and a word of other letters than English, is its own."""
    if not word.isascii() or not word.isalpha() or len(word) > _LONGEST:
        return word
    word = FORMS.get(word, word)
    if len(word) <= _SHORTEST:
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
    """Return a stump without what its forms differ in: a final e, y or i, or the second of two equal consonants.

    British and American spelling differ in the end of what is left: -is and -iz, -our and -or.
    """
    if len(stump) <= _SHORTEST:
        return stump
    if stump[-1] in "eyi" or (stump[-1] == stump[-2] and stump[-1] not in _VOWELS):
        stump = stump[:-1]
    if stump.endswith("iz"):
        return f"{stump[:-1]}s"
    return f"{stump[:-2]}r" if stump.endswith("our") and len(stump) > _OUR else stump


def _concepts() -> dict[str, tuple[str, bool | None]]:
    known: dict[str, tuple[str, bool | None]] = {}
    for same, opposite in CONCEPTS:
        words, others = same.split(), opposite.split()
        for word in (*words, *others):
            known[word] = (stem(words[0]), word in words if others else None)
    for word, meant in tuple(known.items()):
        known.setdefault(stem(word), meant)
    return known


_CONCEPT: Final = _concepts()
"""By word, and by stem where no other word is it: the idea that it stands for, and on which side of it."""


def idea(word: str) -> tuple[str, bool | None]:
    """Return the idea that a case-folded word stands for, and on which side of it, where it has an opposite.

    A word of the table goes before another one that has the same stem: agreement is contract, and agree is approve.
    """
    found = _CONCEPT.get(word) or _CONCEPT.get(word.removesuffix("s"))
    if found:
        return found
    stump = stem(word)
    return _CONCEPT.get(stump, (stump, None))


OBJECTING_STEMS: Final = frozenset(map(stem, OBJECTING))


def is_empty(word: str) -> bool:
    """Tell whether a case-folded word tells nothing of what a question is about."""
    return word in STOP or word in NEGATORS
