"""The way back from a vendor's document to an instance of the original schema.

A property that may be absent comes back null from vendors that require every property; null and absent are
the same on read (OpenWOP ai-envelope, optional-field emulation), so it is dropped where the original does
not take null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.wire import Json

MAX_DEPTH = 256


def decoder(schema: dict[str, Any]) -> Callable[[Json], Json]:
    """Return the function that decodes a document of the compiled ``schema``."""

    def decode(document: Json) -> Json:
        return _decode(document, schema, schema, 0)

    return decode


def _decode(value: Json, schema: Any, root: dict[str, Any], depth: int) -> Json:
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return value
    node = cast("dict[str, Any]", schema)
    if "$ref" in node:
        return _decode(value, _resolve(node["$ref"], root), root, depth + 1)
    if "anyOf" in node:
        return _decode(value, _branch(value, node["anyOf"], root), root, depth + 1)
    if isinstance(value, dict) and "properties" in node:
        return _decode_object(cast("dict[str, Json]", value), node, root, depth)
    if isinstance(value, list) and "items" in node:
        return [_decode(each, node["items"], root, depth + 1) for each in sequence(value)]
    return cast("Json", value)


def _decode_object(value: dict[str, Json], node: dict[str, Any], root: dict[str, Any], depth: int) -> dict[str, Json]:
    names: dict[str, Any] = node["properties"]
    required = node.get("required", ())
    return {
        name: _decode(each, names.get(name), root, depth + 1)
        for name, each in value.items()
        if each is not None or name in required or name not in names or _takes_null(names[name], root)
    }


def _resolve(reference: str, root: dict[str, Any]) -> Any:
    node: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        node = cast("dict[str, Any]", node).get(key) if isinstance(node, dict) else None
    return node


def _branch(value: Json, branches: list[Any], root: dict[str, Any]) -> Any:
    """Choose the branch whose tag the value carries; else the first that could hold it."""
    for each in branches:
        if _could_hold(value, each, root):
            return each
    return None


def _could_hold(value: Json, schema: Any, root: dict[str, Any]) -> bool:
    node = _resolve(schema["$ref"], root) if "$ref" in schema else schema
    if not isinstance(value, dict):
        return "properties" not in node
    given = cast("dict[str, Json]", value)
    tags = {name: _tag(each) for name, each in node.get("properties", {}).items()}
    return "properties" in node and all(allowed is None or given.get(name) in allowed for name, allowed in tags.items())


def _tag(schema: Any) -> list[Json] | None:
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return cast("list[Json]", values) if values is not None and len(values) == 1 else None


def _takes_null(schema: Any, root: dict[str, Any]) -> bool:
    node = _resolve(schema["$ref"], root) if "$ref" in schema else schema
    kind = node.get("type")
    return (
        kind == "null"
        or (isinstance(kind, list) and "null" in kind)
        or (any(_takes_null(each, root) for each in node.get("anyOf", ())))
    )
