"""Letting a form be null besides."""

from __future__ import annotations

from typing import Any

_SHAPED = frozenset({"enum", "const", "properties", "items"})
_NOTES = frozenset({"title", "description", "default"})


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
