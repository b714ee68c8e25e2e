"""What an escape looks like, and what it means: those of JSON, JavaScript and Python, of URLs and of HTML.

Texts are UTF-8 here, with halves of characters let through. What nobody sees counts as an escape that means nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from html import unescape
from typing import TYPE_CHECKING

from ahocorasick_rs import BytesAhoCorasick, MatchKind

if TYPE_CHECKING:
    from collections.abc import Sequence

_PATTERNS = {
    "byte": rb"\\x[89a-fA-F][0-9a-fA-F]",
    "backslash": rb"""\\(?: u[dD][89abAB][0-9a-fA-F]{2} \\u[dD][c-fC-F][0-9a-fA-F]{2}
        | u[0-9a-fA-F]{4} | u\{[0-9a-fA-F]{1,6}\} | U[0-9a-fA-F]{8} | x[0-9a-fA-F]{2} | ["'\\/bfnrt] )""",
    "percent": rb"%[0-9a-fA-F]{2}",
    "entity": rb"&(?: \#[0-9]{1,7} | \#[xX][0-9a-fA-F]{1,6} | [a-zA-Z][a-zA-Z0-9]{1,31} );",
    "unseen": rb"\xc2\xad | \xe2\x80[\x8b-\x8f\xaa-\xae] | \xe2\x81[\xa0-\xa4\xa6-\xa9] | \xef\xbb\xbf",
    "halves": rb"\xed[\xa0-\xaf][\x80-\xbf] \xed[\xb0-\xbf][\x80-\xbf]",
}
KINDS = tuple(_PATTERNS)
"""A byte is what Python writes in ``bytes``; JavaScript writes a character so, and that is a backslash's escape too."""

_HINTS = {
    **{b"\\%c" % each: "backslash" for each in b"\"'\\/bfnrtuU"},
    b"\\x": "byte",
    **{b"%%%c" % each: "percent" for each in b"0123456789abcdefABCDEF"},
    **{b"\xe2\x80%c" % each: "unseen" for each in (*range(0x8B, 0x90), *range(0xAA, 0xAF))},
    **{b"\xe2\x81%c" % each: "unseen" for each in (*range(0xA0, 0xA5), *range(0xA6, 0xAA))},
    **dict.fromkeys((b"\xc2\xad", b"\xef\xbb\xbf"), "unseen"),
}
_HINTED = tuple(_HINTS.values())
# At most 64 patterns of two bytes or more: with these the search looks at 16 bytes at a time.
_SEARCH = BytesAhoCorasick(list(_HINTS), matchkind=MatchKind.LeftmostFirst).find_matches_as_indexes
_RARE = ((b"&", "entity"), (b"\xed", "halves"))

_SHORT = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_LAST = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Escapes:
    """Some kinds of escapes, to be undone together."""

    pattern: re.Pattern[bytes]
    bytes_too: bool

    def undone(self, data: bytes) -> bytes:
        """Return a text with one layer of these escapes undone."""
        return self.pattern.sub(self.meant, data)

    def meant(self, escape: re.Match[bytes]) -> bytes:
        """Return what an escape means; the escape itself where it means nothing."""
        return _meaning(escape[0], self.bytes_too)


@cache
def escapes(kinds: Sequence[str]) -> Escapes:
    """Return the escapes of these kinds."""
    return Escapes(re.compile(b"|".join(_PATTERNS[each] for each in kinds), re.VERBOSE), "byte" in kinds)


def kinds_in(data: bytes) -> set[str]:
    """Return the kinds of escapes that may be in a text. It is quick where there are none, and may name too many."""
    kinds = {_HINTED[which] for which, _, _ in _SEARCH(data)}
    for first, kind in _RARE:
        if first in data and escapes((kind,)).pattern.search(data):
            kinds.add(kind)
    return kinds


@lru_cache(4096)
def _meaning(escape: bytes, bytes_too: bool) -> bytes:  # noqa: FBT001  it is a part of the cache's key
    match escape[:1]:
        case b"%":
            return bytes.fromhex(escape[1:].decode())
        case b"&":
            return unescape(escape.decode()).encode()
        case b"\xed":
            return _whole(escape.decode("utf-8", "surrogatepass"))
        case b"\\":
            return _behind_backslash(escape, bytes_too=bytes_too)
        case _:
            return b""


def _behind_backslash(escape: bytes, *, bytes_too: bool) -> bytes:
    letter, digits = escape[1:2], escape[2:].strip(b"{}")
    if not digits:
        return _SHORT.get(letter, letter)
    if letter == b"x" and bytes_too:
        return bytes.fromhex(digits.decode())
    points = [int(each, 16) for each in digits.split(b"\\u")]
    return _whole("".join(map(chr, points))) if max(points) <= _LAST else escape


def _whole(text: str) -> bytes:
    """Return a character, and the one character that two halves make."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass")
