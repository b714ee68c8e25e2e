# ruff: noqa: RUF001  the tables list characters that look like others
"""Reduce text to its visible characters.

``visible_text`` applies NFKC, removes characters without width, and replaces look-alike letters by the Latin
letters that they imitate. ``is_blank`` finds text without any visible character. ``mark_lookalikes`` marks letters that
are in a word of another script, or whose word looks Latin.

Source: the general categories and default ignorable characters of Unicode, and Unicode Technical Standard 39.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_DEFAULT_IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's property Default_Ignorable_Code_Point, which is stable, as a class of a regular expression."""
_COMBINING: Final = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
"""The blocks of marks that belong to no script."""


def _list_characters(ranges: str) -> frozenset[str]:
    parts = re.findall("(.)(?:-(.))?", ranges)
    return frozenset(chr(code) for first, last in parts for code in range(ord(first), ord(last or first) + 1))


DEFAULT_IGNORABLE: Final = _list_characters(_DEFAULT_IGNORABLE)
"""The characters that render as nothing, whatever stands around them."""
COMBINING_MARKS: Final = _list_characters(_COMBINING)
"""Marks that belong to no script, such as a stroke through a letter."""
INVISIBLE_CHARACTERS: Final = DEFAULT_IGNORABLE | {"\u2800"}
"""The characters that render as nothing, and the blank pattern of Braille."""
_VISIBLE_CATEGORIES: Final = frozenset("LNPS")
"""Categories that are visible on their own; a mark needs a base character."""


def is_blank(text: str) -> bool:
    """Return whether a text has no visible letter, number, sign or symbol."""
    return not any(
        unicodedata.category(character)[0] in _VISIBLE_CATEGORIES and character not in INVISIBLE_CHARACTERS
        for character in text
    )


def has_invisible(text: str) -> bool:
    """Return whether a text has a control character or one that renders as nothing."""
    return _ZERO_WIDTH.search(text) is not None or "\u2800" in text


def _parse_pairs(table: str) -> dict[str, str]:
    return {pair[0]: pair[2] for pair in table.split()}


CYRILLIC_LOOKALIKES: Final = _parse_pairs(
    "а=a в=b г=r е=e ё=e ѕ=s і=i ї=i ј=j к=k м=m н=h о=o п=n р=p с=c т=t у=y х=x ԁ=d ԛ=q ԝ=w һ=h ӏ=l ь=b ѵ=v"
)
CYRILLIC_CAPITAL_LOOKALIKES: Final = _parse_pairs(
    "А=A В=B Е=E Ѕ=S І=I Ј=J К=K М=M Н=H О=O Р=P С=C Т=T У=Y Х=X Ԁ=D Ԛ=Q Ԝ=W Һ=H Ӏ=I"
)
GREEK_LOOKALIKES: Final = _parse_pairs("α=a ε=e η=n ι=i κ=k ν=v ο=o ρ=p σ=o τ=t υ=u χ=x ω=w")
GREEK_CAPITAL_LOOKALIKES: Final = _parse_pairs("Α=A Β=B Ε=E Ζ=Z Η=H Ι=I Κ=K Μ=M Ν=N Ο=O Ρ=P Τ=T Υ=Y Χ=X")
STYLED_LETTERS: Final = _parse_pairs(
    "ɑ=a ɡ=g ɩ=i ᴀ=a ʙ=b ᴄ=c ᴅ=d ᴇ=e ꜰ=f ɢ=g ʜ=h ɪ=i ᴊ=j ᴋ=k ʟ=l ᴍ=m ɴ=n ᴏ=o ᴘ=p ʀ=r ꜱ=s ᴛ=t ᴜ=u ᴠ=v ᴡ=w ʏ=y ᴢ=z"
) | {chr(first + place): chr(ord("a") + place) for first in (0x1F150, 0x1F170) for place in range(26)}
"""Small capitals, and letters in circles and squares."""
_ZERO_WIDTH: Final = re.compile(
    f"[\u0000-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f\ufff9-\ufffb{_DEFAULT_IGNORABLE}]"
)
"""Control characters and characters without width."""
_COMBINING_MARKS: Final = re.compile(f"[{_COMBINING}]")
"""NFKC merges the marks that are part of a letter."""
_SPACE_LOOKALIKES: Final = re.compile("[\u115f\u1160\u2800]")
"""Characters that look like a space. NFKC maps the other fillers to one of them."""
_EMPHASIS: Final = re.compile(r"(?<!\w)_+|(?<!_)_++(?!\w)")
"""Underscores at the edge of a word, which Markdown reads as emphasis. Inside a word they are part of a name."""
_STRIKETHROUGH: Final = re.compile(r"(?<!\w)~{1,2}(?=\S)([^~\n]{1,200})(?<=\S)~{1,2}(?!\w)")
"""Text between tildes, which Markdown strikes through. A single tilde starts a handle."""
_LATIN_LOOKALIKES: Final = str.maketrans(
    CYRILLIC_LOOKALIKES | CYRILLIC_CAPITAL_LOOKALIKES | GREEK_LOOKALIKES | GREEK_CAPITAL_LOOKALIKES
)
"""Cyrillic and Greek letters, mapped to the Latin letters they look like."""
_FLAG_LETTERS: Final = {chr(0x1F1E6 + at): chr(ord("a") + at) for at in range(26)}
_STYLED_TO_LATIN: Final = str.maketrans(STYLED_LETTERS | _FLAG_LETTERS)
"""Styled letters, including flag letters, mapped to Latin."""
_MIXED_SCRIPT_WORD: Final = re.compile(r"\b(?=\w{0,40}[A-Za-z])(?=\w{0,40}[\u0370-\u052f])\w{1,80}")
"""A word that mixes Latin letters with Greek or Cyrillic ones."""
_LOOKALIKE_WORD: Final = re.compile(rf"\b[{''.join(map(chr, _LATIN_LOOKALIKES))}]{{2,}}\b")
"""A word made of look-alikes only. A single letter is usually a name, such as α."""
_LATIN: Final = re.compile("[A-Za-z]")
_GREEK_OR_CYRILLIC: Final = re.compile("[\u0370-\u052f]")
_PLAIN_ASCII: Final = re.compile(r"[\t-\r -^`-}]*+")
"""ASCII without control characters and without the Markdown marks handled below."""
_ELLIPSIS: Final = "…"
"""Kept as one character, which NFKC would turn into three full stops."""
_NEGATORS: Final = frozenset({"не", "нет"})
"""Words that negate a text, also between Latin words."""


def visible_text(text: str) -> str:
    """Return a text in NFKC as a reader sees it, with its line breaks."""
    if _PLAIN_ASCII.fullmatch(text):
        return text
    # NFKC comes first: it turns styled and full-width letters into plain ones, which the patterns below search for.
    plain = _ELLIPSIS.join(unicodedata.normalize("NFKC", part) for part in text.split(_ELLIPSIS))
    plain = _ZERO_WIDTH.sub("", _SPACE_LOOKALIKES.sub(" ", plain))
    plain = _EMPHASIS.sub(" ", _COMBINING_MARKS.sub("", plain))
    plain = _MIXED_SCRIPT_WORD.sub(_replace_lookalikes, plain.translate(_STYLED_TO_LATIN))
    is_latin = len(_LATIN.findall(plain)) > len(_GREEK_OR_CYRILLIC.findall(plain))
    return _STRIKETHROUGH.sub(r"\1", _LOOKALIKE_WORD.sub(_replace_lookalikes, plain) if is_latin else plain)


def _replace_lookalikes(match: re.Match[str]) -> str:
    """Return a word with its look-alike letters replaced by Latin ones."""
    return match[0] if match[0].casefold() in _NEGATORS else match[0].translate(_LATIN_LOOKALIKES)


_ANY_WORD: Final = re.compile(r"\w++")
_IDENTICAL: Final = frozenset("аеорсухѕіјԁԛԝһӏАВЕКМНОРСТХЅІЈԌοΑΒΕΖΗΙΚΜΝΟΡΤΥΧօոսհԼՕՏ")
"""Cyrillic, Greek and Armenian letters that most fonts draw as Latin ones."""
_IMITATING: Final = frozenset(
    [
        *("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET", "TIFINAGH", "CANADIAN", "GOTHIC"),
        *("FULLWIDTH", "MATHEMATICAL", "SCRIPT", "DOUBLE-STRUCK", "BLACK-LETTER"),
    ]
)
"""Scripts with letters that look Latin, as the names of their characters begin."""
_TABLED: Final = _IDENTICAL.union(map(chr, _LATIN_LOOKALIKES))
_DISTINCT_SCRIPTS: Final = frozenset({"CYRILLIC", "GREEK"})
"""Scripts of which only the letters in the tables look Latin."""


def _script(character: str) -> str:
    """Return the first word of a letter's name in Unicode, which is its script for most scripts."""
    if character.isascii():
        return "LATIN" if character.isalpha() else ""
    return unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""


def mark_lookalikes(text: str, mark: Callable[[str], str]) -> str:
    """Replace each letter or digit that looks like one of another script by its mark.

    These are the letters of another script in a word, those of a word that only looks Latin, and digits among others.
    """
    if text.isascii():
        return text
    others = [each for each in text if _script(each) in _IMITATING]
    looks_latin = bool(_LATIN.search(text)) and all(each in _IDENTICAL for each in others)
    return _ANY_WORD.sub(lambda match: _mark_word(match[0], mark, looks_latin=looks_latin), text)


def _mark_word(word: str, mark: Callable[[str], str], *, looks_latin: bool) -> str:
    if word.isascii():
        return word
    lookalikes = _find_lookalikes(word, looks_latin=looks_latin)
    return "".join(mark(each) if each in lookalikes else each for each in word)


def _find_lookalikes(word: str, *, looks_latin: bool) -> set[str]:
    latin = [each for each in word if _script(each) == "LATIN"]
    imitating = [each for each in word if _script(each) in _IMITATING]
    found = {each for each in word if each in STYLED_LETTERS} if _LATIN.search(word) else set[str]()
    if any(each.isascii() for each in word):
        found |= {each for each in word if not each.isascii() and unicodedata.category(each) == "Nd"}
    if not latin:
        return found.union(imitating if looks_latin else ())
    if len(latin) < len(imitating) and not _IDENTICAL.issuperset(imitating):
        return found.union(filter(str.isascii, latin))  # a Cyrillic word with a Latin letter
    return found | {each for each in imitating if each in _TABLED or _script(each) not in _DISTINCT_SCRIPTS}
