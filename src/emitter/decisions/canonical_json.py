"""Canonical JSON (RFC 8785), strict parsing, and the SHA-256 digests that name envelopes and actions.

Numbers are doubles as in RFC 7493: 1.0 is 1, and -0 is 0. The strict parser rejects any text that two parsers could
read differently.

Source: RFC 8785 through the ``rfc8785`` package, RFC 8259 and RFC 7493 (I-JSON); alter's profile canonical-jcs-v1 and
EMILIA's EP-CANONICALIZATION-v1; the abstract of draft-morrison-binding-moment-envelope-03 for the digest.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import weakref
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Final, TypeGuard, cast

import rfc8785

from emitter.errors import InputError, NotCanonical
from emitter.models import BindingMoment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.messages import Json

MAX_DEPTH: Final = 64
"""Maximum nesting of containers, including the outermost one."""
MAX_INTEGER: Final = 2**53 - 1
"""The largest integer up to which doubles are exact."""
LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""A lone surrogate, which has no UTF-8 form."""


class MemberPairs(tuple[tuple[str, "Json"], ...]):
    """The members of a parsed object, including duplicate names."""

    __slots__ = ()


class CanonicalProfile(Enum):
    """The numbers that a value may contain."""

    WIRE = auto()
    """Any finite double; integers up to ``MAX_INTEGER``."""
    ENVELOPE = auto()
    """Only integers up to ``MAX_INTEGER``."""


def encode_base64url(data: bytes) -> str:
    """Return bytes in base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def canonicalize(value: Json, profile: CanonicalProfile = CanonicalProfile.ENVELOPE) -> bytes:
    """Return a JSON value in RFC 8785 form. Raises ``NotCanonical``."""
    if _is_plain(value):
        try:
            return _encode_plain(value).encode()
        except UnicodeEncodeError:  # a lone surrogate, which the error below places
            pass
    return rfc8785.dumps(normalize_json(value, profile))


_encode_plain = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":")).encode
"""Writes a plain value as RFC 8785 does, in C."""
_encode_in_order = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


def _is_plain(value: Json) -> bool:
    """Return whether the C encoder writes a value as RFC 8785 does: no fractions, and members named in ASCII.

    It neither recurses nor calls a function for each value, since every record and envelope comes through here.
    """
    pending: list[tuple[Json, int]] = [(value, 0)]
    while pending:  # the deepest first, so that a cycle ends
        each, depth = pending.pop()
        kind = type(each)  # pyright: ignore[reportUnknownVariableType]  cast() is a call
        if kind is dict and {*map(type, each)} <= _TEXT and "".join(each).isascii():
            inner = each.values()
        elif kind is list:
            inner = each
        elif kind in _ALWAYS_PLAIN or (kind is int and -MAX_INTEGER <= each <= MAX_INTEGER):
            continue
        else:
            return False
        if depth == MAX_DEPTH:
            return False
        for entry in inner:
            if type(entry) not in _ALWAYS_PLAIN:
                pending.append((entry, depth + 1))  # noqa: PERF401  a comprehension is a call
    return True


_TEXT: Final = frozenset({str})
_ALWAYS_PLAIN: Final = frozenset({str, bool, type(None)})


def normalize_json(
    value: Json, profile: CanonicalProfile = CanonicalProfile.ENVELOPE, disclosed_names: frozenset[str] = frozenset()
) -> Json:
    """Return a copy in which equal numbers have one form. Raises ``NotCanonical``.

    The pointer in the error shows only member names in ``disclosed_names``. Other names are content and appear as
    ``*``.
    """
    if _is_plain(value):
        try:
            return json.loads(_encode_in_order(value).encode())
        except UnicodeEncodeError:  # a lone surrogate, as in canonicalize()
            pass
    return _Normalizer(profile, disclosed_names).normalize_value(value, "", 0)


@dataclass(frozen=True, slots=True)
class _Normalizer:
    """One traversal of a value; ``depth`` counts the enclosing containers."""

    profile: CanonicalProfile
    disclosed_names: frozenset[str]

    def normalize_value(self, value: Json, pointer: str, depth: int) -> Json:
        match value:
            case None | bool():
                return value
            case str():
                return _check_text(value, pointer)
            case int() | float():
                return self.normalize_number(value, pointer)
            case dict() | MemberPairs() | list():
                if depth == MAX_DEPTH:
                    raise NotCanonical(pointer, f"Containers nest deeper than {MAX_DEPTH}.")
                return self.normalize_container(cast("Json", value), pointer, depth + 1)
            case _:
                raise NotCanonical(pointer, "This is not a JSON value.")

    def normalize_container(self, value: Json, pointer: str, depth: int) -> Json:
        if isinstance(value, list):
            entries = enumerate(cast("list[Json]", value))
            return [self.normalize_value(entry, f"{pointer}/{index}", depth) for index, entry in entries]
        return self.normalize_members(value if isinstance(value, MemberPairs) else value.items(), pointer, depth)

    def normalize_members(self, pairs: Iterable[tuple[Json, Json]], pointer: str, depth: int) -> dict[str, Json]:
        members: dict[str, Json] = {}
        for name, value in pairs:
            if not isinstance(name, str):
                raise NotCanonical(pointer, "A member's name must be a string.")
            if _check_text(name, pointer) in members:
                raise NotCanonical(pointer, "This object has two members of the same name.")
            members[name] = self.normalize_value(
                value, f"{pointer}/{name if name in self.disclosed_names else '*'}", depth
            )
        return members

    def normalize_number(self, value: float, pointer: str) -> float:
        if abs(value) <= MAX_INTEGER and value == int(value):
            return int(value)
        if self.profile is CanonicalProfile.WIRE and isinstance(value, float) and math.isfinite(value):
            return value
        raise NotCanonical(pointer, _NUMBER_ERRORS[self.profile])


_NUMBER_ERRORS: Final = {
    CanonicalProfile.WIRE: "A number must be finite, and an integer at most 2^53 - 1.",
    CanonicalProfile.ENVELOPE: "A number must be an integer of at most 2^53 - 1.",
}


def _check_text(text: str, pointer: str) -> str:
    if not text.isascii() and LONE_SURROGATE.search(text):
        raise NotCanonical(pointer, "A string contains a lone surrogate.")
    return text


DIGEST_PATTERN: Final = r"^sha256:[0-9a-f]{64}$"
"""The form of every digest, as a JSON Schema pattern."""
DIGEST_LENGTH: Final = len("sha256:") + 64


def digest(moment: BindingMoment) -> str:
    """Return the digest of an envelope: ``sha256:`` and 64 hexadecimal digits over the RFC 8785 form.

    An envelope cannot change, so its digest is computed once and kept for as long as the object exists.

    Raises:
        InputError: ``moment`` is not a ``BindingMoment``.
    """
    known = _DIGESTS.get(id(moment))
    if known is not None and known[0]() is moment:
        return known[1]
    computed = digest_of(require_moment(moment).to_json())
    if type(moment) is BindingMoment:  # a subclass may change
        _DIGESTS[id(moment)] = weakref.ref(moment, partial(_forget_digest, id(moment))), computed
    return computed


_DIGESTS: Final[dict[int, tuple[weakref.ref[BindingMoment], str]]] = {}


def _forget_digest(key: int, _: object) -> None:
    _DIGESTS.pop(key, None)


def require_moment(value: object) -> BindingMoment:
    """Return ``value`` if it is an envelope. Raises ``InputError`` otherwise."""
    if not isinstance(value, BindingMoment):
        raise InputError(
            f"moment is of type {type(value).__name__}; it must be a BindingMoment.",
            hint="Pass its .value."
            if isinstance(getattr(value, "value", None), BindingMoment)
            else "Parse the wire form with emitter.decisions.parse_moment.",
        )
    return value


def digest_of(value: Json, profile: CanonicalProfile = CanonicalProfile.ENVELOPE) -> str:
    """Return ``sha256:`` and 64 hexadecimal digits over the RFC 8785 form of a value. Raises ``NotCanonical``."""
    return f"sha256:{hashlib.sha256(canonicalize(value, profile)).hexdigest()}"


def is_digest(value: Json) -> TypeGuard[str]:
    """Return whether ``value`` has the form of a digest."""
    return isinstance(value, str) and len(value) == DIGEST_LENGTH and re.match(DIGEST_PATTERN, value) is not None


_WHITESPACE: Final = re.compile(r"[ \t\n\r]*")
_MAX_DIGITS: Final = 20


def parse_strict_json(
    text: str | bytes,
    profile: CanonicalProfile = CanonicalProfile.ENVELOPE,
    disclosed_names: frozenset[str] = frozenset(),
) -> Json:
    """Parse a JSON text strictly. Raises ``NotCanonical``.

    Besides invalid JSON it refuses duplicate member names, lone surrogates, bytes that are not UTF-8, a byte order
    mark, more than 64 nested containers, and numbers that ``profile`` does not allow. The error has the position as a
    byte offset or a pointer; ``disclosed_names`` are the member names that it may show.
    """
    with suppress(ValueError, RecursionError):
        value: Json = json.loads(text)
        # What is written as it was read has no member twice.
        if _is_plain(value) and _encode_in_order(value).encode() == (
            text if isinstance(text, bytes) else text.encode()
        ):
            return value
    document = _decode(text)
    if isinstance(document, NotCanonical):
        raise document
    return normalize_json(document, profile, disclosed_names)


def _decode(text: str | bytes) -> Json | NotCanonical:
    """Return the value with its objects as ``MemberPairs``, or the error.

    The decoder's exceptions contain the whole text. They end here, so that none becomes a cause or context.
    """
    try:
        text = text if isinstance(text, str) else text.decode()
        value, end = _DECODER.raw_decode(text, _skip_whitespace(text, 0))
    except UnicodeDecodeError as error:
        return NotCanonical("", f"The text is not UTF-8 at byte {error.start}.")
    except json.JSONDecodeError as error:
        return NotCanonical("", _syntax_error(error.doc, error.pos))
    except RecursionError:
        return NotCanonical("", f"Containers nest deeper than {MAX_DEPTH}.")
    end = _skip_whitespace(text, end)
    if end != len(text):
        return NotCanonical("", f"There is text after the value, at byte {_byte_offset(text, end)}.")
    return value


def _syntax_error(text: str, position: int) -> str:
    if text.startswith("\ufeff"):
        return "There is a byte order mark before the value."
    return f"The text is not JSON at byte {_byte_offset(text, position)}."


def _skip_whitespace(text: str, position: int) -> int:
    blank = _WHITESPACE.match(text, position)
    return blank.end() if blank else position


def _byte_offset(text: str, position: int) -> int:
    return len(text[:position].encode("utf-8", "surrogatepass"))


def _parse_integer(digits: str) -> int:
    # Python refuses to convert thousands of digits; from twenty on all are out of range anyway.
    return int(digits) if len(digits) < _MAX_DIGITS else MAX_INTEGER + 1


_DECODER: Final = json.JSONDecoder(object_pairs_hook=MemberPairs, parse_int=_parse_integer)
