"""Undo the escapes in a text and map each decoded byte back to its source.

The kind of a text is unknown, so everything that looks like an escape is undone. Texts are UTF-8 in which lone
surrogates are allowed. An invisible character counts as an escape without a meaning.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from html import unescape
from typing import TYPE_CHECKING

from ahocorasick_rs import BytesAhoCorasick, MatchKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

_PATTERNS = {
    "byte": rb"\\x[89a-fA-F][0-9a-fA-F]",
    "backslash": rb"""\\(?: u[dD][89abAB][0-9a-fA-F]{2} \\u[dD][c-fC-F][0-9a-fA-F]{2}
        | u[0-9a-fA-F]{4} | u\{[0-9a-fA-F]{1,6}\} | U[0-9a-fA-F]{8} | x[0-9a-fA-F]{2} | ["'\\/bfnrt] )""",
    "percent": rb"%[0-9a-fA-F]{2}",
    "entity": rb"&(?: \#[0-9]{1,7} | \#[xX][0-9a-fA-F]{1,6} | [a-zA-Z][a-zA-Z0-9]{1,31} );",
    "unseen": rb"\xc2\xad | \xe2\x80[\x8b-\x8f\xaa-\xae] | \xe2\x81[\xa0-\xa4\xa6-\xa9] | \xef\xbb\xbf",
    "halves": rb"\xed[\xa0-\xaf][\x80-\xbf] \xed[\xb0-\xbf][\x80-\xbf]",
}
ESCAPE_KINDS = tuple(_PATTERNS)
"""The kinds of escapes. "byte" is Python's escape in ``bytes``; in JavaScript the same spelling is a character."""
_HINTS = {
    **{b"\\%c" % byte: "backslash" for byte in b"\"'\\/bfnrtuU"},
    b"\\x": "byte",
    **{b"%%%c" % byte: "percent" for byte in b"0123456789abcdefABCDEF"},
    **{b"\xe2\x80%c" % byte: "unseen" for byte in (*range(0x8B, 0x90), *range(0xAA, 0xAF))},
    **{b"\xe2\x81%c" % byte: "unseen" for byte in (*range(0xA0, 0xA5), *range(0xA6, 0xAA))},
    **dict.fromkeys((b"\xc2\xad", b"\xef\xbb\xbf"), "unseen"),
}
_HINT_KINDS = tuple(_HINTS.values())
# With at most 64 patterns of two or more bytes, the search reads 16 bytes at a time.
_SEARCH = BytesAhoCorasick(list(_HINTS), matchkind=MatchKind.LeftmostFirst).find_matches_as_indexes
_RARE_KINDS = ((b"&", "entity"), (b"\xed", "halves"))
_SHORT_ESCAPES = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_MAX_CODE_POINT = 0x10FFFF


@dataclass(frozen=True, slots=True)
class EscapeSyntax:
    """A set of escape kinds that are decoded together."""

    pattern: re.Pattern[bytes]
    decodes_bytes: bool

    def decode(self, data: bytes) -> bytes:
        """Return a text with one layer of these escapes decoded."""
        return self.pattern.sub(self.decode_escape, data)

    def decode_escape(self, escape: re.Match[bytes]) -> bytes:
        """Return the meaning of an escape, or the escape itself if it has none."""
        return _decode_escape(escape[0], self.decodes_bytes)


@cache
def escape_syntax(kinds: Sequence[str]) -> EscapeSyntax:
    """Return the syntax of these escape kinds."""
    return EscapeSyntax(re.compile(b"|".join(_PATTERNS[kind] for kind in kinds), re.VERBOSE), "byte" in kinds)


def find_escape_kinds(data: bytes) -> set[str]:
    """Return the kinds of escapes that a text may contain, possibly too many; fast for texts without escapes."""
    kinds = {_HINT_KINDS[index] for index, _, _ in _SEARCH(data)}
    for first_byte, kind in _RARE_KINDS:
        if first_byte in data and escape_syntax((kind,)).pattern.search(data):
            kinds.add(kind)
    return kinds


@lru_cache(4096)
def _decode_escape(escape: bytes, bytes_too: bool) -> bytes:  # noqa: FBT001  part of the cache key
    match escape[:1]:
        case b"%":
            return bytes.fromhex(escape[1:].decode())
        case b"&":
            return unescape(escape.decode()).encode()
        case b"\xed":
            return _join_surrogates(escape.decode("utf-8", "surrogatepass"))
        case b"\\":
            return _decode_backslash(escape, bytes_too=bytes_too)
        case _:
            return b""


def _decode_backslash(escape: bytes, *, bytes_too: bool) -> bytes:
    letter, digits = escape[1:2], escape[2:].strip(b"{}")
    if not digits:
        return _SHORT_ESCAPES.get(letter, letter)
    if letter == b"x" and bytes_too:
        return bytes.fromhex(digits.decode())
    points = [int(point, 16) for point in digits.split(b"\\u")]
    return _join_surrogates("".join(map(chr, points))) if max(points) <= _MAX_CODE_POINT else escape


def _join_surrogates(text: str) -> bytes:
    """Return a character, joined if it is a surrogate pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass")


MAX_ESCAPE_LAYERS = 5
"""How many times a text may be escaped; each layer is decoded separately."""


@dataclass(frozen=True)  # no slots, because of the cached property
class _EscapeLayer:
    """One layer of escapes that was decoded."""

    source: bytes
    syntax: EscapeSyntax

    def source_range(self, offset: int) -> tuple[int, int]:
        """Return the range in the source of the byte at ``offset``."""
        starts, ends, sources = self._offsets
        index = bisect_right(starts, offset) - 1
        if index < 0:
            return offset, offset + 1
        if offset < ends[index]:
            return sources[index]
        source = sources[index][1] + offset - ends[index]
        return source, source + 1

    @cached_property
    def _offsets(self) -> tuple[list[int], list[int], list[tuple[int, int]]]:
        """The start and end of each decoded escape, and its range in the source."""
        starts: list[int] = []
        ends: list[int] = []
        sources: list[tuple[int, int]] = []
        removed = 0
        for escape in self.syntax.pattern.finditer(self.source):
            starts.append(escape.start() - removed)
            ends.append(starts[-1] + len(self.syntax.decode_escape(escape)))
            sources.append(escape.span())
            removed = escape.end() - ends[-1]
        return starts, ends, sources


@dataclass(frozen=True, slots=True)
class Decoding:
    """A text with its escape layers, outermost first, decoded."""

    data: bytes
    layers: tuple[_EscapeLayer, ...] = ()

    def source_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the range in the original text of the bytes from ``start`` to ``end``, including whole escapes."""
        for layer in reversed(self.layers):
            start, end = layer.source_range(start)[0], layer.source_range(end - 1)[1]
        return start, end


def iter_decodings(data: bytes) -> Iterator[Decoding]:
    """Yield the text unchanged and every decoding of it."""
    plain = Decoding(data)
    yield plain
    for kinds in _escape_combinations(frozenset(find_escape_kinds(data))):
        yield from _peel_layers(plain, escape_syntax(kinds))


def _peel_layers(decoding: Decoding, syntax: EscapeSyntax) -> Iterator[Decoding]:
    for _ in range(MAX_ESCAPE_LAYERS):
        data = syntax.decode(decoding.data)
        if data == decoding.data:
            return
        decoding = Decoding(data, (*decoding.layers, _EscapeLayer(decoding.data, syntax)))
        yield decoding
        if not find_escape_kinds(data):
            return


@cache
def _escape_combinations(present: AbstractSet[str]) -> list[tuple[str, ...]]:
    """Return the kinds to decode together: all, and all but one.

    A secret next to other text may look like an escape. It is found if it is escaped in one way any number of times,
    but not if two ways are mixed.
    """
    if not present:
        return []
    omissions = [set[str](), *({kind} for kind in sorted(present - {"byte"}) if len(present) > 1)]
    if "byte" in present:
        omissions += [{*omitted, "byte"} for omitted in omissions]
    return [tuple(kind for kind in ESCAPE_KINDS if kind not in omitted) for omitted in omissions]
