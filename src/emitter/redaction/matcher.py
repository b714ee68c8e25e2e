"""Find secrets in a text with Aho-Corasick and replace them with markers.

``benchmarks/redaction.py`` compares the search with the alternatives.
"""

from __future__ import annotations

import re
from base64 import b64encode
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from html import unescape
from typing import TYPE_CHECKING, Generic, NamedTuple, NoReturn, TypeVar

from ahocorasick_rs import BytesAhoCorasick, MatchKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

_PATTERNS = {
    "byte": rb"\\x[89a-fA-F][0-9a-fA-F]",
    "backslash": rb"""\\(?: u[dD][89abAB][0-9a-fA-F]{2} \\u[dD][c-fC-F][0-9a-fA-F]{2}
        | u[0-9a-fA-F]{4} | u\{[0-9a-fA-F]{1,6}\} | U[0-9a-fA-F]{8} | x[0-9a-fA-F]{2} | ["'\\/bfnrt] )""",
    "percent": rb"%[0-9a-fA-F]{2}",
    "entity": rb"&(?: \#[0-9]{1,7} | \#[xX][0-9a-fA-F]{1,6} | [a-zA-Z][a-zA-Z0-9]{1,31} );",
    "halves": rb"\xed[\xa0-\xaf][\x80-\xbf] \xed[\xb0-\xbf][\x80-\xbf]",
}
ESCAPE_KINDS = (*_PATTERNS, "unseen")
"""The kinds of escapes. "byte" is Python's escape in ``bytes``; in JavaScript the same spelling is a character."""
_HINTS = {
    **{b"\\%c" % byte: "backslash" for byte in b"\"'\\/bfnrtuU"},
    b"\\x": "byte",
    **{b"%%%c" % byte: "percent" for byte in b"0123456789abcdefABCDEF"},
}
_UNSEEN_HINTS = [
    *(character.encode() for character in "\xad\u061c\u115f\u1160\u17b4\u17b5\u3164\ufeff\uffa0"),
    *(b"\xd2%c" % byte for byte in range(0x83, 0x8A)),
    *(b"\xe2\x80%c" % byte for byte in (*range(0x8B, 0x90), *range(0xAA, 0xAF))),
    # Of blocks that are rare in texts, the first bytes are enough.
    *(b"\xe1\xa0", b"\xe1\xaa", b"\xe1\xab", b"\xe1\xb7", b"\xe2\x81", b"\xe2\x83"),
    *(b"\xef\xb8", b"\xef\xbf", b"\xf0\x9b\xb2", b"\xf0\x9d\x85", b"\xf3\xa0"),
]
_HINT_KINDS = tuple(_HINTS.values())
# With at most 64 patterns of two or more bytes, a search reads 16 bytes at a time.
_SEARCH = BytesAhoCorasick(list(_HINTS), matchkind=MatchKind.LeftmostFirst).find_matches_as_indexes
_SEARCH_UNSEEN = BytesAhoCorasick(_UNSEEN_HINTS, matchkind=MatchKind.LeftmostFirst).find_matches_as_indexes
# These begin with one byte, for which the fast search has no hint. They are rare, so their own patterns are searched.
_RARE_KINDS = ((b"\xed", "halves"), (b"\xcc", "unseen"), (b"\xcd", "unseen"))
_SHORT_ESCAPES = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_MAX_CODE_POINT = 0x10FFFF


@dataclass(frozen=True, slots=True)
class EscapeSyntax:
    """A set of escape kinds that are decoded together."""

    pattern: re.Pattern[bytes]
    decodes_bytes: bool

    def decode(self, escape: re.Match[bytes]) -> bytes:
        """Return the meaning of an escape, or the escape itself if it has none."""
        return _decode_escape(escape[0], self.decodes_bytes)


@cache
def escape_syntax(kinds: Sequence[str]) -> EscapeSyntax:
    """Return the syntax of these escape kinds."""
    patterns = (_PATTERNS[kind] if kind in _PATTERNS else _unseen_pattern() for kind in kinds)
    return EscapeSyntax(re.compile(b"|".join(patterns), re.VERBOSE), "byte" in kinds)


@cache
def _unseen_pattern() -> bytes:
    """Return the pattern of the characters that a reader does not see, or reads past, between those of a secret."""
    from emitter.visible_text import COMBINING_MARKS, DEFAULT_IGNORABLE  # noqa: PLC0415  few texts have escapes

    # Each alternative begins with a byte, as those of the other kinds do, so that the search passes over other bytes.
    words = sorted(character.encode() for character in DEFAULT_IGNORABLE | COMBINING_MARKS)
    return b"|".join(first + _to_pattern(rest) for first, rest in _split(words))


def _split(words: Iterable[bytes]) -> list[tuple[bytes, frozenset[bytes]]]:
    """Return each first byte with the rests of the words that it begins."""
    rests: dict[bytes, set[bytes]] = {}
    for word in words:
        rests.setdefault(word[:1], set()).add(word[1:])
    return [(first, frozenset(rest)) for first, rest in sorted(rests.items())]


def _to_pattern(words: frozenset[bytes]) -> bytes:
    """Return a pattern of these words, of which none begins another one: a class of bytes for each position."""
    if words == frozenset({b""}):
        return b""
    firsts: dict[frozenset[bytes], bytes] = {}
    for first, rest in _split(words):
        firsts[rest] = firsts.get(rest, b"") + first
    return b"(?:%b)" % b"|".join(b"[%b]%b" % (each, _to_pattern(rest)) for rest, each in firsts.items())


def find_escape_kinds(data: bytes) -> set[str]:
    """Return the kinds of escapes that a text may contain, possibly too many; fast for texts without escapes."""
    kinds = {_HINT_KINDS[index] for index, _, _ in _SEARCH(data)}
    if b"&" in data and escape_syntax(("entity",)).pattern.search(data):
        kinds.add("entity")
    if not data.isascii():
        kinds |= {kind for byte, kind in _RARE_KINDS if byte in data and escape_syntax((kind,)).pattern.search(data)}
        kinds |= {"unseen"} if _SEARCH_UNSEEN(data) else set()
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
"""The number of times a text may be escaped. Each layer is decoded separately."""


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
            ends.append(starts[-1] + len(self.syntax.decode(escape)))
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
        data = syntax.pattern.sub(syntax.decode, decoding.data)
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


_MAX_FAST_PATTERNS = 64
"""With at most this many patterns the automaton of leftmost matches reads 16 bytes at a time, ten times as fast."""
_CONTINUATION_BYTES = range(0x80, 0xC0)
"""All bytes of a UTF-8 character but the first."""


class SecretMatcher:
    """An automaton that finds values by number. The values cannot be read back from it."""

    __slots__ = ("_all", "_any", "_edges", "_folds_plus")

    def __init__(self, values: Sequence[tuple[int, str]]) -> None:
        """Build the automaton; a repeated value keeps its first number."""
        self._folds_plus = any(" " in value or "+" in value for _, value in values)
        edges: dict[bytes, tuple[int, bool, bool]] = {}
        for number, value in values:
            for pattern in iter_search_patterns(value):
                edges.setdefault(
                    self._fold_plus(pattern.data), (number, pattern.shares_bits_before, pattern.shares_bits_after)
                )
        self._edges = tuple(edges.values())
        # Replacing needs overlapping matches, which only the standard automaton finds. To find out whether there is any
        # match, the automaton of leftmost matches is faster.
        self._all = BytesAhoCorasick(list(edges))
        is_small = len(edges) <= _MAX_FAST_PATTERNS
        self._any = BytesAhoCorasick(list(edges), matchkind=MatchKind.LeftmostFirst) if is_small else self._all

    def __deepcopy__(self, _: object) -> SecretMatcher:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("Secrets cannot be pickled. Create them again in the other process.")

    def has_match(self, data: bytes) -> bool:
        """Return whether a text contains any value in any form."""
        return not self.is_clean(data) and any(map(self._matches, iter_decodings(data)))

    def is_clean(self, data: bytes) -> bool:
        """Return whether a text contains neither a value nor an escape, which is quick to check."""
        return not (self._any.find_matches_as_indexes(self._fold_plus(data)) or find_escape_kinds(data))

    def find_spans(self, data: bytes) -> list[SecretSpan]:
        """Return every occurrence of every value, in no order."""
        return [
            SecretSpan(*_widen_to_characters(data, first, last), number)
            for decoding in iter_decodings(data)
            if self._matches(decoding)
            for first, last, number in self._match_bounds(decoding)
        ]

    def _matches(self, decoding: Decoding) -> bool:
        return bool(self._any.find_matches_as_indexes(self._fold_plus(decoding.data)))

    def _match_bounds(self, decoding: Decoding) -> Iterator[tuple[int, int, int]]:
        data = decoding.data
        for index, start, end in self._all.find_matches_as_indexes(self._fold_plus(data), overlapping=True):
            number, shares_before, shares_after = self._edges[index]
            # The character next to a match in base64 contains bits of the secret, and padding reveals its length.
            first = start - (shares_before and data[start - 1 : start] in BASE64_CHARACTERS)
            last = end + (shares_after and data[end : end + 1] in BASE64_CHARACTERS)
            while shares_after and last < end + 3 and data[last : last + 1] == b"=":
                last += 1
            yield (*decoding.source_range(first, last), number)

    def _fold_plus(self, data: bytes) -> bytes:
        """Return ``data`` with each ``+``, which means a space in a query, replaced if a value contains either."""
        return data.replace(b"+", b" ") if self._folds_plus else data


def _widen_to_characters(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Extend a range of bytes to whole characters."""
    while data[start] in _CONTINUATION_BYTES:
        start -= 1
    while end < len(data) and data[end] in _CONTINUATION_BYTES:
        end += 1
    return start, end


BASE64_CHARACTERS = frozenset(
    bytes([byte]) for byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
)
"""The characters of both base64 alphabets."""
_FIRST_TAG = 0xE0000
"""The first of the tag characters, which stand for ASCII and are not shown."""
_TO_URLSAFE = bytes.maketrans(b"+/", b"-_")


@dataclass(frozen=True, slots=True)
class SearchPattern:
    """Bytes to search for. The flags are true if the neighbouring characters contain bits of the value."""

    data: bytes = field(repr=False)
    shares_bits_before: bool = False
    shares_bits_after: bool = False


def iter_search_patterns(value: str) -> Iterator[SearchPattern]:
    """Yield the forms of a value, first the value itself.

    A value that looks like an escape is also searched for in its decoded form.
    """
    data = value.encode()
    yield from (SearchPattern(decoding.data) for decoding in iter_decodings(data))
    yield SearchPattern("".join(chr(_FIRST_TAG + ord(each)) if each.isascii() else each for each in value).encode())
    for skipped in range(3):  # four base64 characters encode three bytes, and the value may start at each
        yield from _iter_base64_patterns(data, skipped)


def _iter_base64_patterns(data: bytes, skipped: int) -> Iterator[SearchPattern]:
    """Yield the base64 of ``data`` after ``skipped`` bytes, of which only the number modulo 3 matters.

    A base64 character encodes 6 bits. Characters at the ends that share bits with neighbouring bytes are left out.
    """
    total = skipped + len(data)
    encoded = b64encode(bytes(skipped) + data)[-(-skipped * 8 // 6) : total * 8 // 6]
    for form in dict.fromkeys((encoded, encoded.translate(_TO_URLSAFE))):
        yield SearchPattern(form, shares_bits_before=skipped > 0, shares_bits_after=total % 3 > 0)


RedactedT = TypeVar("RedactedT")
MARKER_PREFIX = "[REDACTED:"
_MARKER = re.compile(rb"\[REDACTED:([^\[\]]{1,512})\]")


@dataclass(frozen=True, slots=True)
class Redacted(Generic[RedactedT]):
    """A value without secrets, and the number of secrets removed."""

    value: RedactedT
    count: int


class SecretSpan(NamedTuple):
    """The bytes from ``start`` to ``end`` contain the secret with number ``secret``."""

    start: int
    end: int
    secret: int


def format_marker(secret_id: str) -> str:
    """Return the marker of the secret with this id."""
    return f"{MARKER_PREFIX}{secret_id}]"


def find_marker_bounds(data: bytes, ids: Sequence[str]) -> list[int]:
    """Return the alternating start and end of every marker with one of these ids; any other may even be a secret."""
    if MARKER_PREFIX.encode() not in data:
        return []
    known = {name.encode() for name in ids}
    return [bound for marker in _MARKER.finditer(data) if marker[1] in known for bound in marker.span()]


def exclude_markers(spans: Iterable[SecretSpan], bounds: Sequence[int]) -> Iterator[SecretSpan]:
    """Yield the spans without the parts that belong to a marker."""
    for start, end, secret in spans:
        first, last = bisect_right(bounds, start), bisect_left(bounds, end)
        begin = bounds[first] if first % 2 else start
        finish = bounds[last - 1] if last % 2 else end
        if begin < finish:
            yield SecretSpan(begin, finish, secret)


def merge_overlaps(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Return spans that do not overlap and cover the same bytes: leftmost first, then the longest.

    The rest of an overlapped secret is added to the span before it, so that no part of a secret remains.
    """
    merged: list[SecretSpan] = []
    covered_to = 0
    for span in sorted(spans, key=lambda item: (item.start, -item.end, item.secret)):
        last = merged[-1] if merged else SecretSpan(0, 0, 0)
        if span.start < covered_to:
            merged[-1] = last._replace(end=max(last.end, span.end))
            continue
        covered_to = span.end
        if last.end > span.start:
            merged[-1] = last._replace(end=span.start)
        merged.append(span._replace(end=max(last.end, span.end)))
    return merged


def replace_spans(data: bytes, spans: Iterable[SecretSpan], ids: Sequence[str]) -> bytes:
    """Return the text with each span replaced by its marker."""
    pieces: list[bytes] = []
    at = 0
    for start, end, secret in spans:
        pieces += data[at:start], format_marker(ids[secret]).encode()
        at = end
    return b"".join((*pieces, data[at:]))
