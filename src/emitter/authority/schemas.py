"""JSON Schemas (2020-12) of every record that is published, made from the types themselves.

What a model checks in code stands here as conditions, so that a schema accepts what the library accepts. It has to be
used by a validator that asserts formats: no pattern says that February has no 30th.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter

from emitter.accept.catalogue.kind import DIALECT
from emitter.accept.catalogue.schema import rebuilt
from emitter.authority.envelope.schemas import AUTHORIZATION_SCHEMA, WORKFLOW_SCHEMA
from emitter.authority.proposal import PROPOSAL_SCHEMA
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
)
from emitter.authority.records.form import Timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.authority.records.form import Record
    from emitter.wire import Json

RECORDS: Final[Mapping[str, type[Record]]] = MappingProxyType(
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
"""The records, by the names of their schemas."""

_OTHERS: Final[Mapping[str, Mapping[str, Json]]] = {
    "proposal": PROPOSAL_SCHEMA,
    "authorization-envelope": {"description": "What may be shown as established.", **AUTHORIZATION_SCHEMA},
    "workflow-declaration": WORKFLOW_SCHEMA,
}
"""What other packages publish: a document of theirs, by its name."""

_TIMESTAMP: Final = TypeAdapter(Timestamp).json_schema()["pattern"]
_MONTHS: Final = "(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_EXACT: Final = rf"^(?!0000){'[0-9]' * 4}-{_MONTHS}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{{1,6}})?Z$"
"""A time that there is but for the month's length, which ``date-time`` knows; that alone would take a leap second."""

_CONDITIONS: Final[Mapping[str, list[Json]]] = {
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
"""What the models of these titles check in code."""


def _document(name: str, schema: Mapping[str, Json]) -> Mapping[str, Json]:
    rest = {each: value for each, value in schema.items() if each not in {"$schema", "$id", "$defs"}}
    defined = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {"$schema": DIALECT, "$id": f"{name}.schema.json", **rest, **defined}


def _of_record(record: type[Record]) -> Mapping[str, Json]:
    found: Mapping[str, Json] = rebuilt(record.model_json_schema(), _said)
    first = {each: found[each] for each in ("title", "description")}
    return {**first, **found}


def _said(node: dict[str, Any]) -> dict[str, Any]:
    """Return what pydantic makes of a part as it is meant: no null, no title of a member, and nothing left open."""
    node = _described(_present(node))
    if node.get("pattern") == _TIMESTAMP:
        node |= {"pattern": _EXACT, "format": "date-time"}
    if "patternProperties" in node:
        node["additionalProperties"] = False
    node.pop("discriminator", None)
    if "const" in node.get("properties", {}).get("type", {}):
        node["required"] = ["type", *node["required"]]
    conditions = _CONDITIONS.get(node.get("title", ""))
    return node if conditions is None else {**node, "allOf": conditions}


def _present(node: dict[str, Any]) -> dict[str, Any]:
    """Return a member that may be absent without the null that pydantic gives it, and a constant without default."""
    branches = [each for each in node.get("anyOf", []) if each != {"type": "null"}]
    if len(branches) == 1:
        node = {**node, **branches[0]}
        del node["anyOf"], node["default"]
    if "const" in node:
        del node["default"]
    return node


def _described(node: dict[str, Any]) -> dict[str, Any]:
    """Return a type with its docstring as text, and a member without the title that is its name once more."""
    if "description" not in node:
        return {name: each for name, each in node.items() if name != "title"}
    paragraphs = node["description"].replace("``", "`").split("\n\n")
    return {**node, "description": "\n\n".join(" ".join(each.split()) for each in paragraphs)}


SCHEMAS: Final[Mapping[str, Mapping[str, Json]]] = MappingProxyType(
    {
        **{name: _document(name, _of_record(record)) for name, record in RECORDS.items()},
        **{name: _document(name, schema) for name, schema in _OTHERS.items()},
    }
)
"""Each schema by its name; ``$id`` is relative, the name of its file under ``docs/schemas``."""
