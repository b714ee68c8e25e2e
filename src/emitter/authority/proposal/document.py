"""A proposal's document: what it must hold, as a schema, and how its bytes are read and written.

Source: draft-hardt-aauth-r3-02, sections 7.1 and 10.1. Members that the draft does not name are kept and ignored.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Final

from emitter.authority.proposal.digests import S256
from emitter.authority.proposal.vocabulary import VOCABULARIES
from emitter.decide.canonical import Profile, conform
from emitter.decide.strict import parse
from emitter.errors import InputError
from emitter.schema import Validator

if TYPE_CHECKING:
    from emitter.wire import Json

S256_PATTERN: Final = "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$"
"""SHA-256 in base64url without padding, as a pattern of JSON Schema: the last of 43 characters has but four bits."""

_TEXT: Final = {"type": "string"}
_DISPLAY: Final = ("implications", "data_accessed", "irreversible", "detail")

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
        "display": {
            "type": "object",
            "required": ["summary"],
            "properties": {"summary": _TEXT, **dict.fromkeys(_DISPLAY, _TEXT)},
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
            "if": {"type": "object", "required": [S256]},
            "then": {"$ref": "#/$defs/digest"},
            "else": {"items": {"$ref": "#/$defs/value"}, "additionalProperties": {"$ref": "#/$defs/value"}},
        },
        "digest": {
            "type": "object",
            "required": [S256],
            "properties": {S256: {"type": "string", "pattern": S256_PATTERN}, "excerpt": _TEXT, "media_type": _TEXT},
            "description": "Stands for a value; every object with this member is one.",
        },
    },
}
"""The document as JSON Schema 2020-12: what ``read_proposal`` accepts is what it says, and strict JSON."""

_NAMES: Final = frozenset(PROPOSAL_SCHEMA["properties"]) | {"summary", *_DISPLAY}


def content_of(document: object) -> dict[str, Json]:
    """Return what a document says; raises ``InputError`` for one that does not hold, without a word of it."""
    if not isinstance(document, bytes):
        raise InputError("The document of a proposal is bytes, as they are served.")
    return checked(parse(document, Profile.WIRE, _NAMES))


def checked(content: Json) -> dict[str, Json]:
    """Return what a document is to say; raises ``InputError`` where that is no proposal, and ``NotCanonical``."""
    whole: dict[str, Json] = conform(content, Profile.WIRE, _NAMES)
    for violation in _validator()(whole):
        raise InputError(f"It is no per-call proposal. {violation}")
    return whole


def written(content: dict[str, Json]) -> bytes:
    """Return a document's bytes, written once and for all; they hold what was ``checked``."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


@cache
def _validator() -> Validator:
    return Validator(PROPOSAL_SCHEMA)
