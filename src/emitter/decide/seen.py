"""A text as it is read: without what nobody sees, and with letters that pass for others as what they look like.

Source: the default ignorable characters of Unicode and its blocks of combining marks; Unicode Technical Standard 39, by
``emitter.decide.confusables``.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from emitter.decide.confusables import CYRILLIC, CYRILLIC_CAPITALS, DRAWN, GREEK, GREEK_CAPITALS

_UNSEEN: Final = re.compile(
    "[\u0000-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f\u00ad\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Controls, what has no width, and what only chooses how the character before is drawn."""
_HEAPED: Final = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
"""Marks of no script in particular: those that belong to a letter are one character with it in NFKC."""
_BLANK: Final = re.compile("[\u115f\u1160\u2800]")
"""Letters and a symbol that look like a space; the other fillers are one of them in NFKC."""
_EMPHASIS: Final = re.compile(r"(?<!\w)_+|(?<!_)_++(?!\w)")
"""Underscores at the edge of a word, which Markdown takes for emphasis; within one, they are a name's."""
_STRUCK: Final = re.compile(r"(?<!\w)~{1,2}(?=\S)([^~\n]{1,200})(?<=\S)~{1,2}(?!\w)")
"""What stands between tildes, which Markdown strikes through; one alone begins a handle."""
_ALIKE: Final = str.maketrans(CYRILLIC | CYRILLIC_CAPITALS | GREEK | GREEK_CAPITALS)
"""Cyrillic and Greek letters, and the Latin ones that they look like."""
_FLAGS: Final = {chr(0x1F1E6 + at): chr(ord("a") + at) for at in range(26)}
_DRAWN: Final = str.maketrans(DRAWN | _FLAGS)
"""Letters that no word is written in, those of flags among them."""
_MIXED: Final = re.compile(r"\b(?=\w{0,40}[A-Za-z])(?=\w{0,40}[\u0370-\u052f])\w{1,80}")
"""A word that mixes Latin letters with Greek or Cyrillic ones."""
_PASSING: Final = re.compile(rf"\b[{''.join(map(chr, _ALIKE))}]{{2,}}\b")
"""A word of nothing but such letters; one alone is mostly a name, such as α."""  # noqa: RUF001
_LATIN: Final = re.compile("[A-Za-z]")
_OTHER: Final = re.compile("[\u0370-\u052f]")
_ACCENTED: Final = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
"""Latin letters that have more to them than the alphabet's."""

_AS_IT_IS: Final = re.compile(r"[\t-\r -^`-}]*+")
"""ASCII, but for controls and for the marks of Markdown that are read."""
_ELLIPSIS: Final = "…"
"""One mark, which NFKC would make three full stops of."""
_NEGATORS: Final = frozenset({"не", "нет"})
"""Words that turn a text round, also among Latin ones."""


def seen(text: str) -> str:
    """Return a text in NFKC as it is read; its lines stay."""
    if _AS_IT_IS.fullmatch(text):
        return text
    plain = _ELLIPSIS.join(unicodedata.normalize("NFKC", part) for part in text.split(_ELLIPSIS))
    plain = _UNSEEN.sub("", plain)
    plain = _EMPHASIS.sub(" ", _BLANK.sub(" ", _HEAPED.sub("", plain)))
    plain = _MIXED.sub(_latin, plain.translate(_DRAWN))
    is_latin = len(_LATIN.findall(plain)) > len(_OTHER.findall(plain))
    return _STRUCK.sub(r"\1", _PASSING.sub(_latin, plain) if is_latin else plain)


def bare(word: str) -> str:
    """Return a word without what stands on its letters, where plain Latin ones are left: naive for naïve."""
    if _ACCENTED.search(word) is None:
        return word
    plain = _HEAPED.sub("", unicodedata.normalize("NFD", word))
    return plain if plain.isascii() else word


def _latin(match: re.Match[str]) -> str:
    """Return a word with the letters that look like Latin ones as what they look like."""
    return match[0] if match[0].casefold() in _NEGATORS else match[0].translate(_ALIKE)
