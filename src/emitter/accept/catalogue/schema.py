"""Going over a JSON Schema (2020-12): its parts, and what a reference names. Depth is bounded before (``bounds``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from emitter.schema.drafts import MAPS_OF_SCHEMAS
from emitter.schema.pointer import escaped
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.wire import Json

_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset(
    {"additionalProperties", "propertyNames", "items", "contains", "not", "if", "then", "else"}
    | {"unevaluatedProperties", "unevaluatedItems", "contentSchema"}
)


def places(schema: Json, pointer: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema inside ``schema`` that is an object, with its pointer; the outer before the inner."""
    if not isinstance(schema, dict):
        return
    yield pointer, cast("dict[str, Any]", schema)
    for keyword, value in mapping(schema).items():
        here = f"{pointer}/{escaped(keyword)}"
        if keyword in MAPS_OF_SCHEMAS:
            for name, each in mapping(value).items():
                yield from places(each, f"{here}/{escaped(name)}")
        elif keyword in _LISTS:
            for index, each in enumerate(sequence(value)):
                yield from places(each, f"{here}/{index}")
        elif keyword in _SINGLE:
            yield from places(value, here)


def rebuilt(schema: Json, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Json:
    """Return ``schema`` with every schema in it changed, the inner before the outer."""
    if not isinstance(schema, dict):
        return schema
    return change({keyword: _below(keyword, value, change) for keyword, value in mapping(schema).items()})


def _below(keyword: str, value: Json, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Json:
    if keyword in MAPS_OF_SCHEMAS:
        return {name: rebuilt(each, change) for name, each in mapping(value).items()}
    if keyword in _LISTS:
        return [rebuilt(each, change) for each in sequence(value)]
    return rebuilt(value, change) if keyword in _SINGLE else value


def named(schema: Json, reference: object) -> Json:
    """Return what a reference into the document itself names, or None where that is nothing."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    found: Json = schema
    for step in unquote(reference).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list):
            members = sequence(found)
            found = members[int(key)] if key.isdecimal() and int(key) < len(members) else None
        else:
            found = mapping(found).get(key)
    return found
