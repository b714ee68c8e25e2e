"""The words of a text as they are compared: each case-folded, and those that must be exact told apart."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from emitter.decide.handshake.lexicon import (
    CURRENCIES,
    NEGATORS,
    NUMBERS,
    OWNS,
    PHRASES,
    STOP,
    TIMES,
    WORDLESS_NEGATORS,
)
from emitter.decide.seen import bare, seen

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT: Final = "not"
_WORDLESS: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, kana and the Chinese characters."""
_MARKS: Final = "".join(chr(code) for code in range(0x300, 0xE00) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
"""What stands on or beside a letter, and belongs to its word."""
_LETTER: Final = rf"(?:(?![{_WORDLESS}])[\w{_MARKS}])"
_TOKEN: Final = re.compile(
    rf"(?P<wordless>[{_WORDLESS}]+)"
    rf"|(?P<hyphened>(?=[^\W\d_])(?=[\w-]{{0,40}}\d){_LETTER}{{1,40}}(?:-{_LETTER}{{1,40}})+)"
    rf"|(?P<number>\d+(?:[.,]\d+)*)(?:\s?(?P<times>{'|'.join(TIMES)})\b|(?!\w))"
    rf"|(?P<sign>[$€£¥])"
    rf"|(?P<exact>[~@]?{_LETTER}+(?:[.@~]+{_LETTER}+)+|[~@]{_LETTER}+)"
    rf"|(?P<word>{_LETTER}+)",
    re.IGNORECASE,
)
_PHRASES: Final = tuple((re.compile(pattern, re.IGNORECASE), word) for pattern, word in PHRASES)
_TURNS: Final = re.compile("|".join(WORDLESS_NEGATORS))
_GROUPED: Final = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_ENDS: Final = re.compile(r"[.!?:;\n]")
_INEXACT: Final = re.compile(r"[^\W\d_]+")
_TITLED: Final = 0.6
"""Where more of the words than this begin with a capital, a capital marks no name."""
_FEW: Final = 3
"""Words that it takes for that."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or a piece of a text without spaces.

    An ``exact`` one is a number, a name or an identifier; one that ``owns`` has the ending of an owner.
    """

    text: str
    exact: bool = False
    owns: bool = False


def tokens(text: str, size: int) -> tuple[Token, ...]:
    """Return the words of a text, in a time that grows as the text does.

    A script without spaces between words gives its pieces of ``size`` characters.
    """
    plain = _plain(text)
    matches = tuple(_TOKEN.finditer(plain))
    names = not _is_titled(matches)
    found: list[Token] = []
    end = 0
    for match in matches:
        begins = not end or _ENDS.search(plain, end, match.start()) is not None
        if run := match["wordless"]:
            found.extend(map(Token, pieces(run, size)))
            found.extend(Token(NOT) for _ in _TURNS.finditer(run))
        else:
            token = _read(match, names=names, begins=begins)
            found.append(replace(token, owns=True) if plain.startswith(OWNS, match.end()) else token)
        end = match.end()
    return tuple(found)


def runs(text: str) -> Iterator[str]:
    """Return the parts of a text whose script has no spaces between words."""
    return (match["wordless"] for match in _TOKEN.finditer(_plain(text)) if match["wordless"])


def pieces(run: str, size: int) -> Iterator[str]:
    """Return the pieces of ``size`` characters of a run, overlapping; the run itself where it is shorter."""
    return (run[start : start + size] for start in range(max(1, len(run) - size + 1)))


def _plain(text: str) -> str:
    plain = seen(text)
    for pattern, word in _PHRASES:
        plain = pattern.sub(word, plain)
    return plain


def _is_titled(matches: tuple[re.Match[str], ...]) -> bool:
    words = [match["word"] for match in matches if match["word"] and match["word"].casefold() not in STOP]
    return len(words) >= _FEW and sum(each[0].isupper() for each in words) > _TITLED * len(words)


def _read(match: re.Match[str], *, names: bool, begins: bool) -> Token:
    if number := match["number"]:
        return Token(_number(number, TIMES.get((match["times"] or "").casefold(), 0)), exact=True)
    if sign := match["sign"]:
        return Token(CURRENCIES[sign], exact=True)
    if exact := match["exact"] or match["hyphened"]:
        return Token(exact.casefold().lstrip("~@"), exact=True)
    return _word(match["word"], names=names, begins=begins)


def _word(raw: str, *, names: bool, begins: bool) -> Token:
    text = _spelled(raw.casefold())
    known = NUMBERS.get(text) or CURRENCIES.get(text)
    if known or _INEXACT.fullmatch(raw) is None:
        return Token(known or text, exact=known is not None or not raw.isalpha())
    if len(raw) == 1:
        return Token(text, exact=raw.isupper() and raw != "I" and not begins)
    named = raw.isupper() or (raw[0].isupper() and not begins)
    return Token(text, exact=names and named and text not in STOP)


def _spelled(word: str) -> str:
    """Return a word as it is compared; a little word is known by its accents."""
    return word if word in STOP or word in NEGATORS else bare(word)


def _number(raw: str, power: int) -> str:
    """Return a number in one form: 5,000 and 5k are 5000, 214,50 is 214.5; what has more points is a version."""
    digits = "".join(str(unicodedata.decimal(each, each)) for each in raw)
    plain = digits.replace(",", "") if _GROUPED.fullmatch(digits) else digits.replace(",", ".")
    whole, _, part = plain.partition(".")
    if "." in part:
        return plain
    part = part.ljust(power, "0")
    whole, part = (whole + part[:power]).lstrip("0") or "0", part[power:].rstrip("0")
    return f"{whole}.{part}" if part else whole
