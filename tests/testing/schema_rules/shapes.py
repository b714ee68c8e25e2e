"""Strict schemas of a wanted size, for tables of cases."""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string"}


def closed(**properties: Any) -> dict[str, Any]:
    """Return an object with these properties, all required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def nested(levels: int) -> dict[str, Any]:
    """Return objects in one another."""
    schema = closed(a=TEXT)
    for _ in range(levels - 1):
        schema = closed(a=schema)
    return schema


def chosen(values: int, length: int = 4) -> dict[str, Any]:
    """Return an object whose one property is an enum."""
    return closed(a={"type": "string", "enum": [f"{each:0{length}}" for each in range(values)]})


def many(count: int, each: Any) -> dict[str, Any]:
    """Return an object with many properties of one kind."""
    return closed(**{f"p{index}": each for index in range(count)})
