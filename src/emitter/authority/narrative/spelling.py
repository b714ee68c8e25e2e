"""Words of the caller's, found however they are spelt: in any case, with spaces, marks or look-alikes in between."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from emitter.authority.narrative.seen import see
from emitter.decide.lint.phrases import lexicon

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEET: Final = {"a": "a4@", "e": "e3", "i": "i1!|", "l": "l1|", "o": "o0", "s": "s5$", "t": "t7", "0": "0o", "1": "1il"}
_BETWEEN: Final = r"[\W_]{0,3}"
_FUNCTION_WORDS: Final = lexicon("""
    a an and are as at be by can do for go he if in is it may me my no not of on or our she so that the they this to up
    us was we what who will you
""")


@lru_cache(maxsize=256)
def pattern(phrases: tuple[str, ...], *, acronyms: bool = False) -> re.Pattern[str] | None:
    """Return what finds some words and phrases in a text as it is seen; None where there is nothing to find.

    With ``acronyms``, one that reads as a function word ("WHO") is found in capitals only.
    """
    parts = [part for each in phrases if (part := _spelt(see(each).text.strip(), acronyms=acronyms))]
    return re.compile("|".join(parts)) if parts else None


def found(phrases: tuple[str, ...], text: str, *, acronyms: bool = False) -> Iterator[tuple[int, int]]:
    """Yield where some words and phrases stand in a text as it is seen."""
    compiled = pattern(phrases, acronyms=acronyms)
    if compiled is not None:
        yield from (each.span() for each in compiled.finditer(text))


def _spelt(phrase: str, *, acronyms: bool) -> str:
    letters = [each for each in phrase if each.isalnum()]
    if not letters:
        return re.escape(phrase)
    if acronyms and phrase.casefold() in _FUNCTION_WORDS:
        return _whole(letters, _BETWEEN.join(map(re.escape, "".join(letters).upper())))
    folded = "".join(letters).casefold()
    body = _BETWEEN.join(f"[{re.escape(_LEET.get(each, each))}]" for each in folded)
    return _whole(letters, f"(?i:{body})")


def _whole(letters: list[str], body: str) -> str:
    """Return a pattern that begins and ends with a word, in the scripts that set words apart."""
    before = r"(?<![^\W_])" if _is_spaced(letters[0]) else ""
    after = r"(?![^\W_])" if _is_spaced(letters[-1]) else ""
    return f"{before}{body}{after}"


def _is_spaced(letter: str) -> bool:
    return letter.isdigit() or letter.lower() != letter.upper()
