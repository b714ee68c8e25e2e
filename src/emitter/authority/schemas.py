"""JSON Schemas (2020-12) of the authority records, proposals and authorization envelopes.

The schemas are generated from the pydantic models. Use a validator that asserts formats: a pattern alone cannot
reject February 30.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter

from emitter.authority.proposals.document import PROPOSAL_SCHEMA
from emitter.authority.records import (
    ActionRequest,
    Confirm,
    ConfirmRequest,
    Expire,
    Intent,
    Line,
    Receipt,
    Result,
    Resume,
    Revoke,
    Stop,
    StopScope,
    TakeoverMode,
    Timestamp,
)
from emitter.host.kinds import DIALECT, STANDARD
from emitter.host.payload_schemas import make_portable
from emitter.models import AUTHORIZATION
from emitter.models.authorization import WorkflowDeclaration
from emitter.schema.dialects import transform_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.authority.records import AuthorityRecord
    from emitter.messages import Json

_PAYLOAD_SCHEMA: Final[Mapping[str, Any]] = STANDARD[AUTHORIZATION].schema


def _without_title(node: dict[str, Any], _pointer: str) -> dict[str, Any]:
    return {name: member for name, member in node.items() if name != "title"}


AUTHORIZATION_SCHEMA: Final[Mapping[str, Json]] = {
    "$schema": DIALECT,
    "title": "AuthorizationEnvelope",
    **_PAYLOAD_SCHEMA["properties"]["authorization"],
    "$defs": _PAYLOAD_SCHEMA["$defs"],
}
"""The schema of the union of the six envelope kinds."""
WORKFLOW_SCHEMA: Final[Mapping[str, Json]] = {
    "$schema": DIALECT,
    "title": "WorkflowDeclaration",
    **transform_schema(make_portable(WorkflowDeclaration.model_json_schema()), _without_title),
}
"""The schema of a workflow declaration."""
RECORD_TYPES: Final[Mapping[str, type[AuthorityRecord]]] = MappingProxyType(
    {
        "confirm-request": ConfirmRequest,
        "confirm": Confirm,
        "revoke": Revoke,
        "expire": Expire,
        "stop": Stop,
        "resume": Resume,
        "action-request": ActionRequest,
        "intent": Intent,
        "receipt": Receipt,
        "line": Line,
    }
)
"""The record models by the name of their schema."""
_OTHER_SCHEMAS: Final[Mapping[str, Mapping[str, Json]]] = {
    "proposal": PROPOSAL_SCHEMA,
    "authorization-envelope": {"description": "What may be shown as established.", **AUTHORIZATION_SCHEMA},
    "workflow-declaration": WORKFLOW_SCHEMA,
}
_LOOSE_TIMESTAMP_PATTERN: Final = TypeAdapter(Timestamp).json_schema()["pattern"]
_MONTH_DAY_PATTERN: Final = "(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_EXACT_TIMESTAMP_PATTERN: Final = (
    rf"^(?!0000){'[0-9]' * 4}-{_MONTH_DAY_PATTERN}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{{1,6}})?Z$"
)
"""A valid time except for the length of months; ``date-time`` checks that but alone would allow a leap second."""
_MODEL_CONDITIONS: Final[Mapping[str, list[Json]]] = {
    "Stop": [
        {
            "if": {"properties": {"stop_scope": {"const": StopScope.STEP.value}}},
            "then": {"required": ["step_id"]},
            "else": {"properties": {"step_id": False}},
        },
        {
            "if": {
                "properties": {"takeover_mode": {"const": TakeoverMode.DELEGATE.value}},
                "required": ["takeover_mode"],
            },
            "then": {"required": ["delegate_to"]},
            "else": {"properties": {"delegate_to": False}},
        },
    ],
    "Receipt": [
        {
            "if": {"properties": {"result": {"const": Result.SUCCESS.value}}},
            "then": {"properties": {"error": False}},
        }
    ],
}
"""Conditions that the models check in code, by model title."""


def _make_document(name: str, schema: Mapping[str, Json]) -> Mapping[str, Json]:
    rest = {member: value for member, value in schema.items() if member not in {"$schema", "$id", "$defs"}}
    defined = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {"$schema": DIALECT, "$id": f"{name}.schema.json", **rest, **defined}


def _record_schema(record: type[AuthorityRecord]) -> Mapping[str, Json]:
    schema: Mapping[str, Json] = transform_schema(record.model_json_schema(), _correct_node)
    first = {member: schema[member] for member in ("title", "description")}
    return {**first, **schema}


def _correct_node(node: dict[str, Any], _pointer: str) -> dict[str, Any]:
    """Fix pydantic's schema: remove nulls, member titles and discriminators, close maps, and add conditions."""
    node = _with_description(_without_null(node))
    if node.get("pattern") == _LOOSE_TIMESTAMP_PATTERN:
        node |= {"pattern": _EXACT_TIMESTAMP_PATTERN, "format": "date-time"}
    if "patternProperties" in node:
        node["additionalProperties"] = False
    node.pop("discriminator", None)
    if "const" in node.get("properties", {}).get("type", {}):
        node["required"] = ["type", *node["required"]]
    conditions = _MODEL_CONDITIONS.get(node.get("title", ""))
    return node if conditions is None else {**node, "allOf": conditions}


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    """Remove the null branch of an optional member and the default of a constant."""
    branches = [member for member in node.get("anyOf", []) if member != {"type": "null"}]
    if len(branches) == 1:
        node = {**node, **branches[0]}
        del node["anyOf"], node["default"]
    if "const" in node:
        del node["default"]
    return node


def _with_description(node: dict[str, Any]) -> dict[str, Any]:
    """Reflow a type's docstring as its description and drop a member's redundant title."""
    if "description" not in node:
        return {name: member for name, member in node.items() if name != "title"}
    paragraphs = node["description"].replace("``", "`").split("\n\n")
    return {**node, "description": "\n\n".join(" ".join(member.split()) for member in paragraphs)}


SCHEMAS: Final[Mapping[str, Mapping[str, Json]]] = MappingProxyType(
    {
        **{name: _make_document(name, _record_schema(record)) for name, record in RECORD_TYPES.items()},
        **{name: _make_document(name, schema) for name, schema in _OTHER_SCHEMAS.items()},
    }
)
"""Each schema by name; ``$id`` is the file name under ``docs/schemas``."""
