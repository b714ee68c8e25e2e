"""Hashes of a proposal: of the document as it is served, and of a value that stands in it as a digest object.

Source: draft-hardt-aauth-r3-02, sections 7.2 (``r3_s256``, over bytes, without canonicalization) and 10.1 (the digest
object). The draft leaves open what the bytes of a value are; here its media type says what kind of value they spell,
so that no two values share a digest object: a text is its UTF-8 under ``text/...``, an object, an array or another JSON
value its RFC 8785 form under ``application/json``, and bytes are themselves under any other type.

A hash hides only what cannot be guessed: a PIN or an amount can be found by trying them all.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeGuard, cast

from emitter.decide.canonical import MAX_DEPTH, Profile, canonical, conform
from emitter.errors import InputError
from emitter.render.line import line

if TYPE_CHECKING:
    from emitter.wire import Json

S256: Final = "s256"
"""The member that makes an object a digest object, wherever it stands in a proposal's parameters."""

LONGEST_EXCERPT: Final = 120
"""Characters of an excerpt, the mark of the cut included."""

_MIXED: Final = "application/vnd.emitter.parameters+json"
"""Ours: a JSON value with bytes in it, each of these as its digest object."""
_LOOKED_AT: Final = 1_000
_MEDIA_TYPE: Final = re.compile(
    r"[a-z0-9][\w.+-]{0,63}/[a-z0-9][\w.+-]{0,63}( *; *[\w.+-]+=[\w.+-]+){0,4}", re.IGNORECASE | re.ASCII
)


class Kind(Enum):
    """What a digest was taken of, with the media type that says so."""

    TEXT = "text/plain; charset=utf-8"
    BYTES = "application/octet-stream"
    JSON = "application/json"
    MIXED = _MIXED


_BY_ESSENCE: Final = {Kind.JSON.value: Kind.JSON, _MIXED: Kind.MIXED}
_UNSAID: Final = frozenset({Kind.TEXT, Kind.BYTES})
"""What a digest without a media type may be of: the draft compares bytes, and these two are theirs alone."""


@dataclass(frozen=True, slots=True)
class Digested:
    """A parameter that is to stand in a proposal as a digest.

    ``place`` is its name, or a JSON pointer into the parameters. Only with ``excerpt`` is any of it shown.
    ``media_type`` is one of ``text/...`` for a text, and another for bytes.
    """

    place: str
    media_type: str | None = None
    excerpt: bool = False


def r3_s256(document: bytes) -> str:
    """Return the hash of a document's bytes as they are served: SHA-256 in base64url, 43 characters."""
    return base64.urlsafe_b64encode(hashlib.sha256(document).digest()).rstrip(b"=").decode()


def same(one: str, other: str) -> bool:
    """Tell, in a time that says nothing, whether two hashes are the same."""
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "surrogatepass"))


def digest_object(value: Json, *, media_type: str | None = None, excerpt: bool = False) -> dict[str, Json]:
    """Return the digest object of a value: a text, bytes, or any other JSON value, which may have bytes in it.

    An excerpt is of at most 120 characters, and safe to stand on a line; bytes have none. Raises ``InputError`` for a
    media type that would say that it was another kind of value, and ``NotCanonical`` for what is no JSON.
    """
    conforms(value)
    kind = _kind(value)
    named = _named(kind, media_type)
    shown = _excerpt(value, kind) if excerpt else ""
    return {S256: r3_s256(_spelled(value, kind)), **({"excerpt": shown} if shown else {}), "media_type": named}


def conforms(value: Json) -> None:
    """Raise ``NotCanonical`` for what is no JSON, bytes in it aside."""
    conform(_without_bytes(value, 0), Profile.WIRE)


def _without_bytes(value: Json, depth: int) -> Json:
    """Return a copy with null for bytes; what nests too deep to be copied is left for others to refuse."""
    match value:
        case bytes():
            return None
        case dict() if depth < MAX_DEPTH:
            return {name: _without_bytes(each, depth + 1) for name, each in cast("dict[str, Json]", value).items()}
        case list() if depth < MAX_DEPTH:
            return [_without_bytes(each, depth + 1) for each in cast("list[Json]", value)]
        case _:
            return value


def is_of(digest: dict[str, Json], value: Json) -> bool | None:
    """Tell whether a digest object is that of a value; None where the value is of another kind."""
    kind = _kind(value)
    if kind not in _kinds(digest.get("media_type")):
        return None
    return same(r3_s256(_spelled(value, kind)), digest[S256])


def _kind(value: Json) -> Kind:
    match value:
        case str():
            return Kind.TEXT
        case bytes():
            return Kind.BYTES
        case _:
            return Kind.MIXED if _holds_bytes(value) else Kind.JSON


def _kinds(media_type: str | None) -> frozenset[Kind]:
    if media_type is None:
        return _UNSAID
    essence = media_type.partition(";")[0].strip().lower()
    if essence.startswith("text/"):
        return frozenset({Kind.TEXT})
    return frozenset({_BY_ESSENCE.get(essence, Kind.BYTES)})


def _named(kind: Kind, media_type: str | None) -> str:
    if media_type is None:
        return kind.value
    if not _MEDIA_TYPE.fullmatch(media_type) or kind not in _kinds(media_type):
        raise InputError(
            "The media type of a digested parameter says that it is of another kind, or is none.",
            hint="Name one of text/... for a text, another one for bytes, and none for a JSON value.",
        )
    return media_type


def _holds_bytes(value: Json) -> bool:
    match value:
        case bytes():
            return True
        case dict():
            return any(map(_holds_bytes, cast("dict[str, Json]", value).values()))
        case list():
            return any(map(_holds_bytes, cast("list[Json]", value)))
        case _:
            return False


def _spelled(value: Json, kind: Kind) -> bytes:
    """Return the bytes that a digest is of: other ones for every other value of the same kind."""
    if kind is Kind.BYTES:
        return memoryview(cast("bytes", value)).tobytes()
    if kind is Kind.TEXT:
        return str.encode(cast("str", value))  # what it holds: str() of a member of an enumeration is its name
    return canonical(_inner(value) if kind is Kind.MIXED else value, Profile.WIRE)


def _inner(value: Json) -> Json:
    """Return a container with the digest objects of what JSON cannot say, and of what would look like one of them."""
    match value:
        case dict():
            members = cast("dict[str, Json]", value)
            return {name: _unlike(each) for name, each in members.items()}
        case list():
            return [_unlike(each) for each in cast("list[Json]", value)]
        case _:
            return value


def _unlike(value: Json) -> Json:
    return digest_object(value) if isinstance(value, bytes) or is_digest_object(value) else _inner(value)


def is_digest_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """Tell whether a value in a proposal's parameters is a digest object, and no value of its own."""
    return isinstance(value, dict) and S256 in value


def _excerpt(value: Json, kind: Kind) -> str:
    if kind is Kind.BYTES:
        return ""
    text = _spelled(value, kind).decode()
    whole = line(text[:_LOOKED_AT])
    cut = len(whole) > LONGEST_EXCERPT or len(text) > _LOOKED_AT
    return f"{whole[: LONGEST_EXCERPT - 1]}…" if cut else whole
