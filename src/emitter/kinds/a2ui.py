"""The A2UI surface: a form or panel that an agent composes of seven components, none of which can run anything.

Source: ai-envelope.md, "A2UI surfaces" (RFC 0102). An optional kind, for hosts that render it. Every object is
closed: there is no place for markup, a script, an address or a reference to something outside the payload.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from emitter.kinds.universal import REASONING

if TYPE_CHECKING:
    from collections.abc import Mapping

A2UI_SURFACE: Final = "ui.a2ui-surface"

CATALOG_VERSION: Final = "catalogVersion"
"""The property that says for which version of the A2UI catalogue a surface was composed."""
CATALOG_VERSIONS: Final = ("0.9.1",)

ACTION_TARGETS: Final = ("resume", "exchange")
"""Where an action may lead: on with the interrupted run, or back into the conversation."""

_TEXT: dict[str, Any] = {"type": "string"}
_FLAG: dict[str, Any] = {"type": "boolean"}


def _closed(optional: tuple[str, ...] = (), /, **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
        "properties": properties,
    }


def _component(name: str, optional: tuple[str, ...] = (), /, **properties: dict[str, Any]) -> dict[str, Any]:
    return _closed(optional, component={"type": "string", "enum": [name]}, **properties)


def _field(name: str, optional: tuple[str, ...], /, **properties: dict[str, Any]) -> dict[str, Any]:
    named = {**_TEXT, "description": "Under this name the person's answer goes back."}
    return _component(f"field.{name}", optional, id=named, label=_TEXT, **properties)


_OPTIONS: dict[str, Any] = {"type": "array", "minItems": 1, "items": _closed(value=_TEXT, label=_TEXT)}
_ACTION = _closed(
    target={
        "type": "string",
        "enum": list(ACTION_TARGETS),
        "description": "resume: the answers resume the run that waits. exchange: they become a message.",
    }
)

_COMPONENTS: dict[str, dict[str, Any]] = {
    "heading": _component("heading", ("level",), text=_TEXT, level={"type": "integer", "minimum": 1, "maximum": 6}),
    "text": _component("text", text=_TEXT),
    "fieldText": _field("text", ("placeholder", "required"), placeholder=_TEXT, required=_FLAG),
    "fieldDate": _field("date", ("required",), required=_FLAG),
    "fieldSelect": _field("select", ("required",), required=_FLAG, options=_OPTIONS),
    "fieldCheckbox": _field("checkbox", ("default",), default=_FLAG),
    "actionButton": _component("action.button", id=_TEXT, label=_TEXT, action=_ACTION),
}

_SURFACE = _closed(
    ("title",),
    title=_TEXT,
    components={
        "type": "array",
        "description": "What is shown, from top to bottom.",
        "items": {"$ref": "#/$defs/component"},
    },
)

A2UI: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "title": "A2UI surface",
        "description": "A surface that the host renders with widgets of its own.",
        "type": "object",
        "required": [CATALOG_VERSION, "surface"],
        "additionalProperties": False,
        "properties": {
            "reasoning": dict(REASONING),
            CATALOG_VERSION: {
                "type": "string",
                "enum": list(CATALOG_VERSIONS),
                "description": "The version of the catalogue; a host refuses one that it does not know.",
            },
            "surface": {"$ref": "#/$defs/surface"},
        },
        "$defs": {
            "surface": _SURFACE,
            "component": {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in _COMPONENTS]},
            **_COMPONENTS,
        },
    }
)
"""JSON Schema (2020-12) of the payload."""
