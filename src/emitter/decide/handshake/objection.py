"""What an objection brings up that the vetoed envelope did not say, as far as an answer can be held to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from emitter.decide.handshake.lexicon import ENGLISH, FOREIGN, NEGATORS, OBJECTING
from emitter.decide.handshake.said import held, named, stems
from emitter.decide.handshake.stem import OBJECTING_STEMS
from emitter.decide.handshake.tokens import runs, tokens

_ENOUGH: Final = 2
"""Stems that an objection brings up at least, where it names nothing; one alone may be a mere exclamation."""
_AMBIGUOUS: Final = FOREIGN | frozenset({"to", "do", "i", "on", "at", "for", "so", "we", "no", "was", "am"})
"""Little words that are of English and of another language too."""
_ENGLISH: Final = (ENGLISH | {"not", "never", "cannot", "nothing", "neither", "nor"}) - _AMBIGUOUS
_FOREIGN: Final = (FOREIGN | NEGATORS) - ENGLISH - {"not", "never", "cannot", "no"}
_TELLING: Final = re.compile("[^\u3040-\u309f]{2}")
"""Two signs that are no hiragana, which are mostly the endings and little words of Japanese."""
_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class _Tongue:
    """The words of a text by which its language is told, and whether it has any without spaces between words."""

    english: frozenset[str]
    foreign: frozenset[str]
    wordless: bool


def brought_up(objection: str, vetoed: str) -> frozenset[str]:
    """Return the stems that an objection brings up against the text of the vetoed envelope, or none.

    Words that speak of the question as such ("wrong", "too early") bring nothing up. There is nothing either where
    only one stem is left that is no name, number or identifier, or where the two texts are not in one language.
    """
    # In capitals throughout, a capital marks no name.
    plain = objection.casefold() if objection.isupper() else objection
    new = stems(plain) - held(vetoed) - OBJECTING_STEMS
    new = frozenset(each for each in new if _tells(each))
    enough = len(new) >= _ENOUGH or not new.isdisjoint(named(plain))
    return new if enough and _is_of_one_language(plain, vetoed) else frozenset()


def _tells(piece: str) -> bool:
    return next(runs(piece), None) is None or _TELLING.search(piece) is not None


def _is_of_one_language(objection: str, vetoed: str) -> bool:
    """Tell whether two texts are in one language, by their little words, or by their script where there are none.

    Where one text has more little words of English than of others, and the other has not, they are in two languages.
    Other languages are told apart by whether the objection shares a word with the envelope.
    """
    one, other = _tongue(objection, _ENGLISH | OBJECTING), _tongue(vetoed, _ENGLISH)
    if one.wordless or other.wordless:
        return one.wordless and other.wordless
    if _is_english(one) and _is_english(other):
        return True
    return _is_english(one) == _is_english(other) and _share(objection, vetoed)


def _tongue(text: str, english: frozenset[str]) -> _Tongue:
    words = _words(text)
    return _Tongue(words & english, words & _FOREIGN, next(runs(text), None) is not None)


def _is_english(tongue: _Tongue) -> bool:
    return len(tongue.english) > len(tongue.foreign)


def _share(one: str, other: str) -> bool:
    """Tell whether two texts have a word in common: a little one, or a stem."""
    return not (_words(one) | stems(one)).isdisjoint(_words(other) | stems(other))


def _words(text: str) -> frozenset[str]:
    return frozenset(each.text for each in tokens(text, _LEAST))
