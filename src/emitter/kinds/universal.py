"""The four universal kinds, which every engine knows and no contract refuses: what their payloads must be.

Source: ai-envelope.md, "Universal kinds" (RFC 0021), and RFC 0030 §A for ``reasoning``. The schemas accept and
refuse exactly what OpenWOP's own do; what an agent of this library writes (``withheld``) is narrower.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from emitter.kinds import withheld

if TYPE_CHECKING:
    from collections.abc import Mapping

CLARIFICATION_REQUEST: Final = withheld.CLARIFICATION_REQUEST
SCHEMA_REQUEST: Final = "schema.request"
SCHEMA_RESPONSE: Final = "schema.response"
ERROR: Final = withheld.ERROR

LONGEST_KIND: Final = 256
"""Characters of a kind's id."""

REASONING: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "type": "string",
        "description": "How the model came to what follows. It may be absent, and nothing is decided by it.",
    }
)
"""The slot for thinking that most payloads offer, as their first property."""

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_ID: dict[str, Any] = {**_TEXT, "maxLength": 128}
_KIND: dict[str, Any] = {**_TEXT, "maxLength": LONGEST_KIND}

_QUESTION: dict[str, Any] = {
    "type": "object",
    "required": ["id", "question"],
    "properties": {
        "id": {**_ID, "description": "Names the question, so that an answer can be matched to it."},
        "question": {**_TEXT, "description": "What the person is asked."},
        "schema": {"type": "object", "description": "JSON Schema of an answer."},
        "context": {
            "type": "object",
            "description": "Whatever a surface may use beside the question; nobody else reads it.",
            "additionalProperties": True,
        },
    },
    "additionalProperties": False,
}

_CLARIFICATION: dict[str, Any] = {
    "title": "Clarification request",
    "description": "The model cannot go on without answers from a person.",
    "type": "object",
    "required": ["questions"],
    "properties": {
        "reasoning": dict(REASONING),
        "questions": {
            "type": "array",
            "minItems": 1,
            "description": "What to ask, in this order.",
            "items": _QUESTION,
        },
        "contextType": {"type": "string", "maxLength": 128, "description": "What kind of surface suits them."},
    },
    "additionalProperties": False,
}

_SCHEMA_REQUEST: dict[str, Any] = {
    "title": "Schema request",
    "description": "The model wants to see the schema of a kind before it writes one.",
    "type": "object",
    "required": ["envelopeType"],
    "properties": {
        "reasoning": dict(REASONING),
        "envelopeType": {**_KIND, "description": "The kind whose schema is wanted."},
        "reason": {"type": "string", "maxLength": 1024, "description": "What it is wanted for; for diagnosis only."},
    },
    "additionalProperties": False,
}

_SCHEMA_RESPONSE: dict[str, Any] = {
    "title": "Schema response",
    "description": "The model has seen the schema that it asked for. No person sees this.",
    "type": "object",
    "required": ["envelopeType", "ack"],
    "properties": {
        "envelopeType": {**_KIND, "description": "The kind whose schema arrived."},
        "ack": {"type": "boolean", "const": True, "description": "Always true."},
    },
    "additionalProperties": False,
}

_ERROR: dict[str, Any] = {
    "title": "Error report",
    "description": "The model says that it could not do what was asked. A turn that ends so has succeeded.",
    "type": "object",
    "required": ["code", "message"],
    "properties": {
        "reasoning": dict(REASONING),
        "code": {**_ID, "description": "For programs, in snake_case, such as context_exhausted."},
        "message": {**_TEXT, "description": "For people."},
        "details": {"type": "object", "description": "More about it; what is in it depends on the code."},
    },
    "additionalProperties": False,
}

UNIVERSAL: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        CLARIFICATION_REQUEST: _CLARIFICATION,
        SCHEMA_REQUEST: _SCHEMA_REQUEST,
        SCHEMA_RESPONSE: _SCHEMA_RESPONSE,
        ERROR: _ERROR,
    }
)
"""The JSON Schema (2020-12) of each universal kind's payload, by the kind's id, in OpenWOP's order."""
