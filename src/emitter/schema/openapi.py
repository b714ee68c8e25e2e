"""OpenAPI 3.0's ``nullable``, which JSON Schema does not know: read as the type list that is meant."""

from __future__ import annotations

from typing import Any, cast

from emitter.schema.pointer import below
from emitter.schema.shape import Rule
from emitter.wire import sequence

_DATA = frozenset({"const", "enum", "default", "examples", "example"})
"""Keywords whose values are no schemas."""


def with_null(schema: Any) -> tuple[Any, list[Rule]]:
    """Return the schema with null among the types of what is nullable, and the types that were widened."""
    widened: list[Rule] = []
    return _widened(schema, "", widened), widened


def _widened(node: Any, where: str, widened: list[Rule]) -> Any:
    if isinstance(node, list):
        return [_widened(each, below(where, i), widened) for i, each in enumerate(cast("list[Any]", node))]
    if not isinstance(node, dict):
        return node
    table = cast("dict[str, Any]", node)
    found = {
        name: each if name in _DATA else _widened(each, below(where, name), widened) for name, each in table.items()
    }
    if table.get("nullable") is True and isinstance(table.get("type"), str | list):
        named = sequence(table["type"]) or [table["type"]]
        widened.append(Rule(where, "type", table["type"]))
        found["type"] = named if "null" in named else [*named, "null"]
    return found
