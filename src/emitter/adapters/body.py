"""Laying options over a request body."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json


def merged(body: Mapping[str, Json], *layers: Mapping[str, Json]) -> dict[str, Json]:
    """Return ``body`` with each layer laid over it; objects are merged key by key."""
    result = dict(body)
    for layer in layers:
        for key, value in layer.items():
            below = result.get(key)
            if isinstance(below, dict) and isinstance(value, dict):
                result[key] = merged(cast("dict[str, Json]", below), cast("dict[str, Json]", value))
            else:
                result[key] = value
    return result
