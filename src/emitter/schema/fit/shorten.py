"""Shortening titles and descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from emitter.wire import Json

_LEAST = 20


def shortened(wire: dict[str, Any], most: int) -> dict[str, Any]:
    """Return ``wire`` with the longest descriptions cut until all text together has at most ``most`` characters."""
    lengths = sorted(_lengths(wire))
    allowed = max(_LEAST, _level(lengths, most))
    return _cut_within(wire, allowed)


def _level(lengths: list[int], most: int) -> int:
    """Return the greatest length to which texts may be cut so that all together stay within ``most``."""
    left = most
    for index, length in enumerate(lengths):
        even = left // (len(lengths) - index)
        if length > even:
            return even
        left -= length
    return lengths[-1] if lengths else 0


def _lengths(node: Json) -> list[int]:
    if isinstance(node, list):
        return [length for each in cast("list[Json]", node) for length in _lengths(each)]
    if not isinstance(node, dict):
        return []
    table = cast("dict[str, Json]", node)
    own = [len(table[key]) for key in ("title", "description") if isinstance(table.get(key), str)]
    return own + [length for each in table.values() for length in _lengths(each)]


def _cut(node: Json, allowed: int) -> Any:
    if isinstance(node, list):
        return [_cut(each, allowed) for each in cast("list[Json]", node)]
    return _cut_within(cast("dict[str, Json]", node), allowed) if isinstance(node, dict) else node


def _cut_within(table: dict[str, Json], allowed: int) -> dict[str, Json]:
    return {
        key: f"{each[: allowed - 1]}…"
        if key in {"title", "description"} and isinstance(each, str) and len(each) > allowed
        else _cut(each, allowed)
        for key, each in table.items()
    }
