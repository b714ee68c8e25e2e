"""Find secrets in a text with Aho-Corasick and replace them with markers.

``benchmarks/redaction.py`` compares the search with the alternatives.
"""

from __future__ import annotations

import re
from base64 import b64encode
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, NoReturn, TypeVar

from ahocorasick_rs import BytesAhoCorasick, MatchKind

from emitter.redaction.escape_decoding import find_escape_kinds, iter_decodings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from emitter.redaction.escape_decoding import Decoding

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
        self._all = BytesAhoCorasick(list(edges))
        is_small = len(edges) <= _MAX_FAST_PATTERNS
        self._any = BytesAhoCorasick(list(edges), matchkind=MatchKind.LeftmostFirst) if is_small else self._all

    def __deepcopy__(self, _: object) -> SecretMatcher:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("Secrets cannot be pickled. Create them again in the other process.")

    def has_match(self, data: bytes) -> bool:
        """Tell whether a text contains any value in any form."""
        return not self.is_clean(data) and any(map(self._matches, iter_decodings(data)))

    def is_clean(self, data: bytes) -> bool:
        """Tell whether a text contains neither a value nor an escape, which is quick to check."""
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
_TO_URLSAFE = bytes.maketrans(b"+/", b"-_")


@dataclass(frozen=True, slots=True)
class SearchPattern:
    """Bytes to search for; the flags tell whether the neighbouring characters hold bits of the value."""

    data: bytes = field(repr=False)
    shares_bits_before: bool = False
    shares_bits_after: bool = False


def iter_search_patterns(value: str) -> Iterator[SearchPattern]:
    """Yield the forms of a value, first the value itself.

    A value that looks like an escape is also searched for in its decoded form.
    """
    data = value.encode()
    yield from (SearchPattern(decoding.data) for decoding in iter_decodings(data))
    for skipped in range(3):
        yield from _iter_base64_patterns(data, skipped)


def _iter_base64_patterns(data: bytes, skipped: int) -> Iterator[SearchPattern]:
    """Yield the base64 of ``data`` after ``skipped`` bytes, of which only the number modulo 3 matters.

    A base64 character holds 6 bits. Characters at the ends that share bits with neighbouring bytes are left out.
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
    """Return the alternating start and end of every marker with one of these ids.

    The id of any other marker may be anything, even a secret.
    """
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
