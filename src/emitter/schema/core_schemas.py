"""Search the core schema that pydantic makes of a Python type."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import to_jsonable_python

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA_KEYS = frozenset({"metadata", "serialization", "config", "default", "expected", "members"})
"""The members of a core schema that hold no schemas of documents."""
_UNION_TYPES = frozenset({"union", "tagged-union"})


def find_union_tags(core_schema: object) -> frozenset[int]:
    """Return the `id` of each field that has other values in another member of the same union.

    Such a field usually has its only value as its default. If it were optional, a document without it could be read
    as any member.
    """
    nodes = list(iter_nodes(core_schema))
    definitions = {node["ref"]: node for node in nodes if "ref" in node}
    return frozenset(tag for node in nodes if node["type"] in _UNION_TYPES for tag in _tags_of_union(node, definitions))


def find_generator(core_schema: object) -> str | None:
    """Return the place of an `Iterable`, which pydantic would read lazily, such as ``Team.people``."""
    nodes = list(iter_nodes(core_schema))
    if not any(map(_is_generator, nodes)):
        return None
    places = [
        f"{node['cls'].__name__}.{name}"
        for node in nodes
        if "cls" in node
        for name, field in _iter_fields(node, {}, set())
        if any(map(_is_generator, iter_nodes(field)))
    ]
    return places[-1] if places else "A part of the type"


def _is_generator(node: Mapping[str, Any]) -> bool:
    return bool(node["type"] == "generator")


def iter_nodes(core_schema: object) -> Iterator[Mapping[str, Any]]:
    """Yield all schemas in a core schema."""
    match core_schema:
        case Mapping():  # not always a dict, for a model with ``defer_build``
            node = cast("Mapping[str, Any]", core_schema)
            if is_schema := isinstance(node.get("type"), str):  # else a mapping of fields or choices
                yield node
            for key, value in node.items():
                if not (is_schema and key in DATA_KEYS):
                    yield from iter_nodes(value)
        case list() | tuple():
            for each in cast("list[object]", core_schema):
                yield from iter_nodes(each)
        case _:
            return


def input_name(name: str, field: Mapping[str, Any]) -> str | None:
    """Return the name of a field in documents, or None if it is only read from inside another."""
    alias: Any = field.get("validation_alias", name)
    return alias if isinstance(alias, str) else _first_member_name(cast("list[Any]", alias))


def _first_member_name(paths: list[Any]) -> str | None:
    """Return the first alias that names a member. pydantic's JSON Schema uses the same one."""
    listed = [cast("list[Any]", path) for path in paths if isinstance(path, list)]
    return next((path[0] for path in listed if len(path) == 1 and isinstance(path[0], str)), None)


def _tags_of_union(union: Mapping[str, Any], definitions: dict[str, Mapping[str, Any]]) -> Iterator[int]:
    values_by_name: dict[str | None, dict[int, frozenset[str]]] = defaultdict(dict)
    for name, field in _iter_fields(union, definitions, set()):
        if values := _literal_values(field["schema"], definitions):
            values_by_name[input_name(name, field)][id(field)] = values
    for fields in values_by_name.values():
        yield from (key for key, values in fields.items() if any(map(values.isdisjoint, fields.values())))


def _iter_fields(
    node: Mapping[str, Any], definitions: dict[str, Mapping[str, Any]], visited: set[int]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the fields of all objects that a value of this schema may be, with their names."""
    if id(node) in visited:
        return
    visited.add(id(node))
    match node:
        case {"type": "model-fields" | "typed-dict", "fields": fields}:
            yield from fields.items()
        case {"type": "dataclass-args", "fields": fields}:
            yield from ((field["name"], field) for field in fields)
        case _:
            for each in _inner_schemas(node, definitions):
                yield from _iter_fields(each, definitions, visited)


def _inner_schemas(node: Mapping[str, Any], definitions: dict[str, Mapping[str, Any]]) -> list[Any]:
    """Return the schemas of the same value."""
    match node:
        case {"type": "tagged-union", "choices": choices}:
            return list(choices.values())
        case {"type": "union", "choices": choices}:
            return [choice[0] if isinstance(choice, tuple) else choice for choice in choices]
        case {"type": "definition-ref", "schema_ref": name} if name in definitions:
            return [definitions[name]]
        case {"schema": inner}:
            return [inner]
        case _:
            return []


def _literal_values(node: Mapping[str, Any], definitions: dict[str, Mapping[str, Any]]) -> frozenset[str]:
    """Return the values of a literal or enum as JSON, or nothing for another schema."""
    match node:
        case {"type": "literal", "expected": values} | {"type": "enum", "members": values}:
            return frozenset(json.dumps(to_jsonable_python(value)) for value in values)
        case {"type": "definition-ref", "schema_ref": name} if name in definitions:
            return _literal_values(definitions[name], definitions)
        case {"type": str(kind), "schema": inner} if kind != "nullable":
            return _literal_values(inner, definitions)
        case _:
            return frozenset()
