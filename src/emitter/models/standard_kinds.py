"""JSON Schemas of OpenWOP's standard kinds: the four universal ones, A2UI surfaces and media.

The universal schemas accept and reject exactly what OpenWOP's own do. A2UI and media are optional: a host that cannot
render them does not register them.

Source: ai-envelope.md (RFC 0021, RFC 0030, RFC 0055, RFC 0102).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

CLARIFICATION_REQUEST: Final = "clarification.request"
"""OpenWOP's kind for asking a person for missing information."""
SCHEMA_REQUEST: Final = "schema.request"
SCHEMA_RESPONSE: Final = "schema.response"
ERROR: Final = "error"
"""OpenWOP's kind for reporting a failure."""
BINDING_MOMENT: Final = "vendor.emitter.binding-moment"
"""The payload is ``{reasoning?, binding_moment}``."""
DELIBERATION: Final = "vendor.emitter.deliberation"
"""The payload is ``{reasoning?, state, missing, permission}``."""
DOCUMENT: Final = "vendor.emitter.document"
"""The payload is ``{name, document}``."""
AUTHORIZATION: Final = "vendor.emitter.authorization"
"""The payload is ``{reasoning?, authorization}``."""
MAX_KIND_LENGTH: Final = 256
"""The most characters of a kind's id."""
REASONING_SCHEMA: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "type": "string",
        "description": "The model's reasoning about the rest of the payload. It may be absent and has no effect.",
    }
)
"""The slot for thinking, the first property of most payloads."""
_TEXT_SCHEMA: dict[str, Any] = {"type": "string"}
_FLAG_SCHEMA: dict[str, Any] = {"type": "boolean"}
NONEMPTY_TEXT_SCHEMA: dict[str, Any] = {"type": "string", "minLength": 1}
ID_SCHEMA: dict[str, Any] = {**NONEMPTY_TEXT_SCHEMA, "maxLength": 128}
_KIND_SCHEMA: dict[str, Any] = {**NONEMPTY_TEXT_SCHEMA, "maxLength": MAX_KIND_LENGTH}


def closed_schema(optional: tuple[str, ...] = (), /, **properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a closed object in which all properties but the ``optional`` ones are required."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


_QUESTION_SCHEMA = closed_schema(
    ("schema", "context"),
    id={**ID_SCHEMA, "description": "The id by which an answer refers to the question."},
    question={**NONEMPTY_TEXT_SCHEMA, "description": "The question to the person."},
    schema={"type": "object", "description": "JSON Schema of an answer."},
    context={
        "type": "object",
        "description": "Further data for the surface that shows the question.",
        "additionalProperties": True,
    },
)
_CLARIFICATION_SCHEMA: dict[str, Any] = {
    "title": "Clarification request",
    "description": "The model cannot go on without answers from a person.",
    **closed_schema(
        ("reasoning", "contextType"),
        reasoning=dict(REASONING_SCHEMA),
        questions={
            "type": "array",
            "minItems": 1,
            "description": "The questions, in the order in which to ask them.",
            "items": _QUESTION_SCHEMA,
        },
        contextType={"type": "string", "maxLength": 128, "description": "The kind of surface to show them on."},
    ),
}
_SCHEMA_REQUEST_SCHEMA: dict[str, Any] = {
    "title": "Schema request",
    "description": "The model asks for the schema of a kind before it writes one.",
    **closed_schema(
        ("reasoning", "reason"),
        reasoning=dict(REASONING_SCHEMA),
        envelopeType={**_KIND_SCHEMA, "description": "The kind whose schema is requested."},
        reason={"type": "string", "maxLength": 1024, "description": "The reason, for diagnosis only."},
    ),
}
_SCHEMA_RESPONSE_SCHEMA: dict[str, Any] = {
    "title": "Schema response",
    "description": "The model confirms that it has read the requested schema. It is not shown to a person.",
    **closed_schema(
        envelopeType={**_KIND_SCHEMA, "description": "The kind whose schema was read."},
        ack={"type": "boolean", "const": True, "description": "Always true."},
    ),
}
_ERROR_SCHEMA: dict[str, Any] = {
    "title": "Error report",
    "description": "The model reports that it could not do the task. The turn counts as a success.",
    **closed_schema(
        ("reasoning", "details"),
        reasoning=dict(REASONING_SCHEMA),
        code={**ID_SCHEMA, "description": "A code for programs, in snake_case, such as context_exhausted."},
        message={**NONEMPTY_TEXT_SCHEMA, "description": "A message for people."},
        details={"type": "object", "description": "Further details, which depend on the code."},
    ),
}
UNIVERSAL_SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        CLARIFICATION_REQUEST: _CLARIFICATION_SCHEMA,
        SCHEMA_REQUEST: _SCHEMA_REQUEST_SCHEMA,
        SCHEMA_RESPONSE: _SCHEMA_RESPONSE_SCHEMA,
        ERROR: _ERROR_SCHEMA,
    }
)
"""The JSON Schema (2020-12) of each universal kind's payload, by the kind's id, in OpenWOP's order."""
A2UI_SURFACE: Final = "ui.a2ui-surface"
CATALOG_VERSION: Final = "catalogVersion"
"""The property with the version of the A2UI catalog that a surface was composed for."""
CATALOG_VERSIONS: Final = ("0.9.1",)
ACTION_TARGETS: Final = ("resume", "exchange")
"""The targets of an action: the interrupted run, or the conversation."""


def _component_schema(name: str, optional: tuple[str, ...] = (), /, **properties: dict[str, Any]) -> dict[str, Any]:
    return closed_schema(optional, component={"type": "string", "enum": [name]}, **properties)


def _field_schema(name: str, optional: tuple[str, ...], /, **properties: dict[str, Any]) -> dict[str, Any]:
    named = {**_TEXT_SCHEMA, "description": "The name under which the person's answer is returned."}
    return _component_schema(f"field.{name}", optional, id=named, label=_TEXT_SCHEMA, **properties)


_OPTIONS_SCHEMA: dict[str, Any] = {
    "type": "array",
    "minItems": 1,
    "items": closed_schema(value=_TEXT_SCHEMA, label=_TEXT_SCHEMA),
}
_ACTION_SCHEMA = closed_schema(
    target={
        "type": "string",
        "enum": list(ACTION_TARGETS),
        "description": "resume: the answers resume the interrupted run. exchange: the answers become a message.",
    }
)
_COMPONENT_SCHEMAS: dict[str, dict[str, Any]] = {
    "heading": _component_schema(
        "heading", ("level",), text=_TEXT_SCHEMA, level={"type": "integer", "minimum": 1, "maximum": 6}
    ),
    "text": _component_schema("text", text=_TEXT_SCHEMA),
    "fieldText": _field_schema("text", ("placeholder", "required"), placeholder=_TEXT_SCHEMA, required=_FLAG_SCHEMA),
    "fieldDate": _field_schema("date", ("required",), required=_FLAG_SCHEMA),
    "fieldSelect": _field_schema("select", ("required",), required=_FLAG_SCHEMA, options=_OPTIONS_SCHEMA),
    "fieldCheckbox": _field_schema("checkbox", ("default",), default=_FLAG_SCHEMA),
    "actionButton": _component_schema("action.button", id=_TEXT_SCHEMA, label=_TEXT_SCHEMA, action=_ACTION_SCHEMA),
}
_SURFACE_SCHEMA = closed_schema(
    ("title",),
    title=_TEXT_SCHEMA,
    components={
        "type": "array",
        "description": "The components, from top to bottom.",
        "items": {"$ref": "#/$defs/component"},
    },
)
A2UI_SCHEMA: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "title": "A2UI surface",
        "description": "A surface that the host renders with widgets of its own.",
        **closed_schema(
            ("reasoning",),
            reasoning=dict(REASONING_SCHEMA),
            **{
                CATALOG_VERSION: {
                    "type": "string",
                    "enum": list(CATALOG_VERSIONS),
                    "description": "The version of the catalogue. A host rejects an unknown version.",
                }
            },
            surface={"$ref": "#/$defs/surface"},
        ),
        "$defs": {
            "surface": _SURFACE_SCHEMA,
            "component": {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in _COMPONENT_SCHEMAS]},
            **_COMPONENT_SCHEMAS,
        },
    }
)
"""JSON Schema (2020-12) of the payload."""
MEDIA_IMAGE: Final = "media.image"
MEDIA_AUDIO: Final = "media.audio"
MEDIA_FILE: Final = "media.file"
MAX_INLINE_BYTES: Final = 262_144
"""The most bytes in a payload as base64, unless the host advertises another ``maxInlineMediaBytes``."""


def _media_schema(title: str, example: str, /, **own: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": title,
        "description": "The asset is given either by url or as base64.",
        "type": "object",
        "required": ["bytes"],
        "properties": {
            "url": {
                "type": "string",
                "format": "uri",
                "description": "The address at which the host serves the asset, for its tenant only and hard to guess.",
            },
            "base64": {"type": "string", "description": "The asset itself, if it is small enough."},
            "bytes": {"type": "integer", "minimum": 0, "description": "The size of the asset in bytes."},
            "mimeType": {"type": "string", "description": f"The media type, such as {example}."},
            **own,
            "alt": {"type": "string", "description": "The text to show instead of the asset. Recommended."},
        },
        "additionalProperties": False,
    }


MEDIA_SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        MEDIA_IMAGE: _media_schema("Image", "image/png"),
        MEDIA_AUDIO: _media_schema(
            "Audio",
            "audio/ogg",
            durationSeconds={"type": "number", "minimum": 0, "description": "The duration in seconds."},
        ),
        MEDIA_FILE: _media_schema("File", "text/csv", name={"type": "string", "description": "The file name."}),
    }
)
"""The JSON Schema (2020-12) of each media kind's payload, by the kind's id."""
