"""Tell whether a text is in English, the language of the lexicons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.checks.text import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

LANGUAGE_UNCHECKED: Final = "language-unchecked"
"""The rule of the notice that no rule reads the language of a text."""
_FUNCTION_WORDS: Final = word_set(
    "after and are because been before but by can could does each every for from had have he her his how if into is it "
    "its may might must not of our she should than that the their then there these they this to until was we were what "
    "when which while who will with would you your"
)
"""Words that every longer English text has, and few texts in other languages."""
_MIN_WORDS: Final = 10
"""Fewer words do not show their language."""
_LEAST_SHARE: Final = 0.08
"""The least share of function words. English decisions have 0.2 to 0.5, those in other languages next to none."""


def is_english(tokens: Iterable[str]) -> bool:
    """Return whether the tokens of a text are English, or too few to tell. Words of other scripts always tell."""
    words = [token for token in tokens if token[0].isalpha()]
    if 2 * sum(len(word) for word in words if not word.isascii()) > sum(map(len, words)):
        return False
    return len(words) < _MIN_WORDS or sum(word in _FUNCTION_WORDS for word in words) >= _LEAST_SHARE * len(words)
