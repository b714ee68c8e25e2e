"""The two steps that every form shares: closing an object, and letting a form be null besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.schema.value import OBJECT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.profile.subset import Subset

_SHAPED = frozenset({"enum", "const", "properties", "items"})
_NOTES = frozenset({"title", "description", "default"})


def closed(properties: dict[str, Any], required: Iterable[str], subset: Subset) -> dict[str, Any]:
    """Return an object that has these properties and no others, in this order."""
    wire = {"type": OBJECT, "properties": properties, "required": list(required), "additionalProperties": False}
    if subset.ordering and properties:
        wire[subset.ordering] = list(properties)
    return wire


def nullable(wire: dict[str, Any]) -> dict[str, Any]:
    """Let a form be null besides, inside the subset of every vendor."""
    kind = wire.get("type")
    if isinstance(kind, str) and kind != "null" and not wire.keys() & _SHAPED:
        return {**wire, "type": [kind, "null"]}
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return wire
    notes = {key: each for key, each in wire.items() if key in _NOTES}
    inner = {key: each for key, each in wire.items() if key not in notes}
    if inner.keys() != {"anyOf"}:
        return {"anyOf": [inner, {"type": "null"}], **notes}
    has_null = any(each.get("type") == "null" for each in inner["anyOf"])
    return wire if has_null else {"anyOf": [*inner["anyOf"], {"type": "null"}], **notes}
