"""The format of a proposal document: vocabularies, digest objects, JSON Schema, parsing and serialization.

A large or sensitive value is represented by a digest object. A digest hides only what cannot be guessed: a PIN or an
amount can be found by trying every possibility.

Source: draft-hardt-aauth-r3-02, sections 4.3, 7.1, 7.2 and 10.1.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeGuard, cast

from emitter.decisions.canonical_json import (
    MAX_DEPTH,
    CanonicalProfile,
    canonicalize,
    encode_base64url,
    normalize_json,
    parse_strict_json,
)
from emitter.errors import InputError
from emitter.render.safe_text import to_single_line
from emitter.schema import Validator

if TYPE_CHECKING:
    from emitter.messages import Json

VOCABULARY_MCP: Final = "urn:aauth:vocabulary:mcp"
"""The vocabulary of a proposal whose operation is the name of an MCP tool."""
_NAME_SCHEMA: Final[Mapping[str, Json]] = MappingProxyType({"type": "string", "minLength": 1})


def _empty_mapping() -> Mapping[str, Json]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The form of an operation in a vocabulary: the member with its name, and other members.

    ``required`` and ``optional`` map member names to JSON Schemas.
    """

    name_member: str
    required: Mapping[str, Json] = field(default_factory=_empty_mapping)
    optional: Mapping[str, Json] = field(default_factory=_empty_mapping)

    def schema(self) -> dict[str, Json]:
        """Return the JSON Schema of an operation, which permits unknown members."""
        required = {self.name_member: dict(_NAME_SCHEMA), **self.required}
        return {"properties": {**required, **self.optional}, "required": list(required)}


VOCABULARIES: Final[Mapping[str, Vocabulary]] = MappingProxyType(
    {
        VOCABULARY_MCP: Vocabulary("tool"),
        "urn:aauth:vocabulary:openapi": Vocabulary("operationId"),
        "urn:aauth:vocabulary:grpc": Vocabulary("method"),
        "urn:aauth:vocabulary:graphql": Vocabulary(
            "operation", required={"type": {"type": "string", "enum": ["query", "mutation", "subscription"]}}
        ),
        "urn:aauth:vocabulary:asyncapi": Vocabulary(
            "operationId", optional={"action": {"type": "string", "enum": ["send", "receive"]}}
        ),
        "urn:aauth:vocabulary:wsdl": Vocabulary("operation", optional={"service": {"type": "string"}}),
        "urn:aauth:vocabulary:odata": Vocabulary(
            "operation", optional={"methods": {"type": "array", "items": {"type": "string"}}}
        ),
    }
)
"""The seven standard vocabularies."""


def parse_operation(operation: object, vocabulary: str) -> Mapping[str, Json]:
    """Return an operation as an object, or raise ``InputError``. A string is short for the member that names it."""
    if isinstance(operation, Mapping):
        return dict(cast("Mapping[str, Json]", operation))
    known = VOCABULARIES.get(vocabulary)
    if not isinstance(operation, str) or known is None or known.required:
        raise InputError(
            "An operation must be an object of its vocabulary.",
            hint='Pass one such as {"tool": "send_email"}. A name is enough if nothing else is required.',
        )
    return {known.name_member: operation}


def get_operation_name(operation: Mapping[str, Json], vocabulary: str) -> str:
    """Return the name of a valid operation, or its canonical JSON in an unknown vocabulary."""
    known = VOCABULARIES.get(vocabulary)
    if known is None:
        return canonicalize(dict(operation), CanonicalProfile.WIRE).decode()
    return str.__str__(operation[known.name_member])


def get_operation_details(operation: Mapping[str, Json], vocabulary: str) -> Mapping[str, Json]:
    """Return the members of an operation other than its name."""
    known = VOCABULARIES.get(vocabulary)
    return {} if known is None else {name: value for name, value in operation.items() if name != known.name_member}


DIGEST_MEMBER: Final = "s256"
"""The member that makes an object in a proposal's parameters a digest object."""
MAX_EXCERPT_LENGTH: Final = 120
"""Maximum characters of an excerpt, including the ellipsis."""
_MIXED_MEDIA_TYPE: Final = "application/vnd.emitter.parameters+json"
"""Ours: JSON that contains bytes, each replaced by its digest object."""
_EXCERPT_SOURCE_LENGTH: Final = 1_000
_MEDIA_TYPE: Final = re.compile(
    r"[a-z0-9][\w.+-]{0,63}/[a-z0-9][\w.+-]{0,63}( *; *[\w.+-]+=[\w.+-]+){0,4}", re.IGNORECASE | re.ASCII
)


class DigestKind(Enum):
    """The kind of value a digest was computed from, with its media type."""

    TEXT = "text/plain; charset=utf-8"
    BYTES = "application/octet-stream"
    JSON = "application/json"
    MIXED = _MIXED_MEDIA_TYPE


_KIND_BY_MEDIA_TYPE: Final = {DigestKind.JSON.value: DigestKind.JSON, _MIXED_MEDIA_TYPE: DigestKind.MIXED}
_KINDS_WITHOUT_MEDIA_TYPE: Final = frozenset({DigestKind.TEXT, DigestKind.BYTES})
"""Kinds a digest without media type may have: the draft compares bytes, which only these two have."""


@dataclass(frozen=True, slots=True)
class DigestedParameter:
    """A parameter to represent by a digest.

    ``place`` is its name, or a JSON pointer into the parameters. ``excerpt`` shows its beginning. ``media_type`` must
    be ``text/...`` for a string, and another type for bytes.
    """

    place: str
    media_type: str | None = None
    excerpt: bool = False


def r3_s256(document: bytes) -> str:
    """Return the unpadded base64url SHA-256 of a document's bytes as served, 43 characters."""
    return encode_base64url(hashlib.sha256(document).digest())


def is_same_hash(one: str, other: str) -> bool:
    """Compare two hashes in constant time."""
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "surrogatepass"))


def make_digest_object(value: Json, *, media_type: str | None = None, excerpt: bool = False) -> dict[str, Json]:
    """Return the digest object of a string, bytes or any other JSON value, which may contain bytes.

    An excerpt has at most 120 characters that are safe on one line; bytes have none.

    Raises:
        InputError: The media type does not fit the value.
        NotCanonical: The value is not JSON.
    """
    check_json_or_bytes(value)
    kind = _kind_of(value)
    checked_media_type = _check_media_type(kind, media_type)
    excerpt_text = _make_excerpt(value, kind) if excerpt else ""
    return {
        DIGEST_MEMBER: r3_s256(_digested_bytes(value, kind)),
        **({"excerpt": excerpt_text} if excerpt_text else {}),
        "media_type": checked_media_type,
    }


def check_json_or_bytes(value: Json) -> None:
    """Raise ``NotCanonical`` unless the value is JSON, possibly with bytes in it."""
    normalize_json(_without_bytes(value, 0), CanonicalProfile.WIRE)


def _without_bytes(value: Json, depth: int) -> Json:
    """Return a copy with null for bytes; values beyond the depth limit are left for the JSON check to reject."""
    match value:
        case bytes():
            return None
        case dict() if depth < MAX_DEPTH:
            return {name: _without_bytes(value, depth + 1) for name, value in cast("dict[str, Json]", value).items()}
        case list() if depth < MAX_DEPTH:
            return [_without_bytes(value, depth + 1) for value in cast("list[Json]", value)]
        case _:
            return value


def matches_digest(digest: dict[str, Json], value: Json) -> bool | None:
    """Return True if the digest belongs to the value, or None if the value is of another kind."""
    kind = _kind_of(value)
    if kind not in _possible_kinds(digest.get("media_type")):
        return None
    return is_same_hash(r3_s256(_digested_bytes(value, kind)), digest[DIGEST_MEMBER])


def _kind_of(value: Json) -> DigestKind:
    match value:
        case str():
            return DigestKind.TEXT
        case bytes():
            return DigestKind.BYTES
        case _:
            return DigestKind.MIXED if holds_bytes(value) else DigestKind.JSON


def _possible_kinds(media_type: str | None) -> frozenset[DigestKind]:
    if media_type is None:
        return _KINDS_WITHOUT_MEDIA_TYPE
    essence = media_type.partition(";")[0].strip().lower()
    if essence.startswith("text/"):
        return frozenset({DigestKind.TEXT})
    return frozenset({_KIND_BY_MEDIA_TYPE.get(essence, DigestKind.BYTES)})


def _check_media_type(kind: DigestKind, media_type: str | None) -> str:
    if media_type is None:
        return kind.value
    if not _MEDIA_TYPE.fullmatch(media_type) or kind not in _possible_kinds(media_type):
        raise InputError(
            "The media type of a digested parameter is invalid or does not fit its value.",
            hint="Use text/... for a string, another type for bytes, and none for a JSON value.",
        )
    return media_type


def holds_bytes(value: Json) -> bool:
    """Return True if a value is bytes or contains some."""
    match value:
        case bytes():
            return True
        case dict():
            return any(map(holds_bytes, cast("dict[str, Json]", value).values()))
        case list():
            return any(map(holds_bytes, cast("list[Json]", value)))
        case _:
            return False


def _digested_bytes(value: Json, kind: DigestKind) -> bytes:
    """Return the bytes to digest, which differ for all different values of a kind."""
    if kind is DigestKind.BYTES:
        return memoryview(cast("bytes", value)).tobytes()
    if kind is DigestKind.TEXT:
        return str.encode(cast("str", value))  # str() of an Enum member would be its name
    return canonicalize(_replace_bytes(value) if kind is DigestKind.MIXED else value, CanonicalProfile.WIRE)


def _replace_bytes(value: Json) -> Json:
    """Return a container with digest objects for bytes and for values that look like digest objects."""
    match value:
        case dict():
            members = cast("dict[str, Json]", value)
            return {name: _replace_ambiguous(member) for name, member in members.items()}
        case list():
            return [_replace_ambiguous(member) for member in cast("list[Json]", value)]
        case _:
            return value


def _replace_ambiguous(value: Json) -> Json:
    return make_digest_object(value) if isinstance(value, bytes) or is_digest_object(value) else _replace_bytes(value)


def is_digest_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """Return True if a value in a proposal's parameters is a digest object."""
    return isinstance(value, dict) and DIGEST_MEMBER in value


def _make_excerpt(value: Json, kind: DigestKind) -> str:
    if kind is DigestKind.BYTES:
        return ""
    text = _digested_bytes(value, kind).decode()
    line = to_single_line(text[:_EXCERPT_SOURCE_LENGTH])
    is_cut = len(line) > MAX_EXCERPT_LENGTH or len(text) > _EXCERPT_SOURCE_LENGTH
    return f"{line[: MAX_EXCERPT_LENGTH - 1]}…" if is_cut else line


S256_PATTERN: Final = "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$"
"""Unpadded base64url SHA-256; the last of the 43 characters encodes only four bits."""
_TEXT_SCHEMA: Final = {"type": "string"}
_DISPLAY_TEXTS: Final = ("implications", "data_accessed", "irreversible", "detail")
PROPOSAL_SCHEMA: Final[dict[str, Json]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Per-call proposal",
    "description": "An R3 document for a single call (draft-hardt-aauth-r3-02, section 10.1).",
    "type": "object",
    "required": ["vocabulary", "operations", "parameters"],
    "properties": {
        "vocabulary": {
            "type": "string",
            "pattern": r"^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$",
            "description": "The URI of the vocabulary in which the operation is named.",
        },
        "operations": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": {"type": "object", "minProperties": 1},
            "description": "The one operation that is called.",
        },
        "account": {"type": "string", "description": "The account at the resource, as the request named it."},
        "parameters": {
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/value"},
            "description": "What it is called with; large and sensitive values stand as digest objects.",
        },
        "shown": {
            "type": "object",
            "additionalProperties": _TEXT_SCHEMA,
            "description": "Ours: by JSON pointer into parameters, what a person reads of a value besides its JSON.",
        },
        "display": {
            "type": "object",
            "required": ["summary"],
            "properties": {"summary": _TEXT_SCHEMA, **dict.fromkeys(_DISPLAY_TEXTS, _TEXT_SCHEMA)},
            "description": "What a person is shown; detail is Markdown, the others are plain language.",
        },
    },
    "allOf": [
        {
            "if": {"properties": {"vocabulary": {"const": name}}},
            "then": {"properties": {"operations": {"items": vocabulary.schema()}}},
        }
        for name, vocabulary in VOCABULARIES.items()
    ],
    "$defs": {
        "value": {
            "if": {"type": "object", "required": [DIGEST_MEMBER]},
            "then": {"$ref": "#/$defs/digest"},
            "else": {"items": {"$ref": "#/$defs/value"}, "additionalProperties": {"$ref": "#/$defs/value"}},
        },
        "digest": {
            "type": "object",
            "required": [DIGEST_MEMBER],
            "properties": {
                DIGEST_MEMBER: {"type": "string", "pattern": S256_PATTERN},
                "excerpt": _TEXT_SCHEMA,
                "media_type": _TEXT_SCHEMA,
            },
            "description": "Stands for a value; every object with this member is one.",
        },
    },
}
"""The JSON Schema (2020-12) of what ``read_proposal`` accepts, which must also be strict JSON."""
_KNOWN_MEMBERS: Final = frozenset(PROPOSAL_SCHEMA["properties"]) | {"summary", *_DISPLAY_TEXTS}


def parse_document(document: object) -> dict[str, Json]:
    """Return the content of a document, or raise ``InputError`` without quoting it."""
    if not isinstance(document, bytes):
        raise InputError("The document of a proposal must be bytes.")
    return validate_content(parse_strict_json(document, CanonicalProfile.WIRE, _KNOWN_MEMBERS))


def validate_content(content: Json) -> dict[str, Json]:
    """Return normalized content, or raise ``InputError`` or ``NotCanonical`` if it is not a proposal."""
    normalized: dict[str, Json] = normalize_json(content, CanonicalProfile.WIRE, _KNOWN_MEMBERS)
    for violation in _proposal_validator()(normalized):
        raise InputError(f"This is not a per-call proposal. {violation}")
    return normalized


def serialize_content(content: dict[str, Json]) -> bytes:
    """Return a document's bytes. Serialize only once: the hash depends on them."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


@cache
def _proposal_validator() -> Validator:
    return Validator(PROPOSAL_SCHEMA)
