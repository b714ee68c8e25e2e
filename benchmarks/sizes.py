"""Schemas of a wanted number of properties, in three shapes that vendors take: flat, nested, and with references.

They are in OpenAI's strict form already (closed, everything required), because the peers' helpers leave the rest to
the caller or change it; the properties are a mix that people write.
"""

from __future__ import annotations

from typing import Any

_WIDTH = 10
_MIX: tuple[dict[str, Any], ...] = (
    {"type": "string", "description": "What it is called."},
    {"type": "integer", "minimum": 0},
    {"type": "array", "items": {"type": "string"}},
    {"type": "string", "enum": ["low", "high"]},
    {"anyOf": [{"type": "number"}, {"type": "null"}]},
)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _leaves(count: int, prefix: str) -> dict[str, Any]:
    return {f"{prefix}{index}": dict(_MIX[index % len(_MIX)]) for index in range(count)}


def flat(properties: int) -> dict[str, Any]:
    """Return one object."""
    return _object(_leaves(properties, "p"))


def nested(properties: int) -> dict[str, Any]:
    """Return a tree of objects, each of at most ten properties; inner properties count too."""
    if properties <= _WIDTH:
        return _object(_leaves(properties, "p"))
    share, more = divmod(properties - _WIDTH, _WIDTH)
    sizes = [share + (index < more) for index in range(_WIDTH)]
    return _object({f"n{i}": nested(size) if size else {"type": "string"} for i, size in enumerate(sizes)})


def referring(properties: int) -> dict[str, Any]:
    """Return one object whose properties, but for the first, refer to definitions of ten properties each."""
    count = max(1, properties // (_WIDTH + 1))
    names = [f"d{index}" for index in range(count)]
    members = {f"r{index}": {"$ref": f"#/$defs/{name}"} for index, name in enumerate(names)}
    left = max(0, properties - count * (_WIDTH + 1))
    return {
        **_object({**_leaves(left, "p"), **members}),
        "$defs": {each: _object(_leaves(_WIDTH, "f")) for each in names},
    }


SHAPES = {"flat": flat, "nested": nested, "refs": referring}
