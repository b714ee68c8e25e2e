"""Derive the schema that a part of a document must satisfy.

Constraints on a whole container, such as ``required`` and ``minItems``, are dropped along the path to the part.
Constraints on its members are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from emitter.messages import as_list, as_mapping
from emitter.schema.dialects import detect_draft
from emitter.schema.json_data import escape_pointer_token, iter_objects
from emitter.schema.references import ReferenceResolver, SchemaPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emitter.messages import Json
    from emitter.schema.dialects import SchemaDraft
    from emitter.streaming import DocumentPath

_MEMBER_KEYWORDS = (
    *("type", "const", "enum"),
    *("properties", "patternProperties", "additionalProperties", "propertyNames"),
    *("items", "prefixItems", "additionalItems"),
)
_ROOT_URI = "urn:emitter:whole"


def relax_schema(
    schema: Mapping[str, Json], containers: frozenset[DocumentPath], draft: SchemaDraft
) -> Mapping[str, Json]:
    """Return the schema of the parts of a document; ``containers`` are the paths to the containers of the parts."""
    return _SchemaRelaxer(schema, containers, draft).build()


class _SchemaRelaxer:
    """Builds a relaxed schema. Parts that are not relaxed are referenced in the original schema."""

    def __init__(self, schema: Mapping[str, Json], containers: frozenset[DocumentPath], draft: SchemaDraft) -> None:
        self._containers, self._draft = containers, draft
        self._scope = ReferenceResolver(schema, draft)
        self._definitions_keyword = "$defs" if "$defs" in draft.keywords else "definitions"
        identifier = schema.get(draft.identifier)
        self._base = identifier.rstrip("#") if isinstance(identifier, str) else _ROOT_URI
        self._original = {**schema, draft.identifier: self._base}
        self._names: dict[tuple[str, DocumentPath], str] = {}
        self._definitions: dict[str, Json] = {}

    def build(self) -> Mapping[str, Json]:
        """Return the relaxed schema together with the original."""
        root = self._reference(self._scope.root_part, ())
        declared = {"$schema": self._original["$schema"]} if "$schema" in self._original else {}
        return {**declared, "allOf": [root], self._definitions_keyword: {**self._definitions, "whole": self._original}}

    def _reference(self, part: SchemaPart, path: DocumentPath) -> Json:
        """Return a reference to a relaxed part. Each place and path is written once, so that cycles end."""
        if not isinstance(part.schema, dict):
            return part.schema
        if part.pointer and not part.pointer.startswith("/"):  # a meta-schema of a draft
            return {"$ref": part.pointer}
        name = self._names.get((part.pointer, path))
        if name is None:
            name = self._names[part.pointer, path] = f"part_{len(self._names)}"
            self._definitions[name] = self._relax(part, path)
        return {"$ref": f"#/{self._definitions_keyword}/{name}"}

    def _relax(self, part: SchemaPart, path: DocumentPath) -> Json:
        node: dict[str, Any] = part.schema
        if "$ref" in node and self._draft.ref_ignores_siblings:
            return {"allOf": list(self._combined_schemas(part, path, ("$ref",)))}
        relaxed: dict[str, Any] = {key: self._relax_keyword(part, key, path) for key in _MEMBER_KEYWORDS if key in node}
        if any(isinstance(value, dict | list) for value in (node.get("const"), *as_list(node.get("enum")))):
            relaxed = {key: value for key, value in relaxed.items() if key not in ("const", "enum")}
        combined = list(self._combined_schemas(part, path, ("$ref", "allOf", "anyOf", "oneOf")))
        return {**relaxed, "allOf": combined} if combined else relaxed

    def _relax_keyword(self, part: SchemaPart, key: str, path: DocumentPath) -> Json:
        """Return the relaxed value of a keyword that constrains members."""
        value: Json = part.schema[key]
        pointer = f"{part.pointer}/{key}"
        if key in ("properties", "patternProperties"):
            is_named = key == "properties"
            return {
                name: self._relax_member(
                    part, f"{pointer}/{escape_pointer_token(name)}", schema, (*path, name) if is_named else None
                )
                for name, schema in as_mapping(value).items()
            }
        item_path = None if key in ("propertyNames", "additionalProperties") else (*path, -1)
        if key in ("items", "prefixItems") and isinstance(value, list):
            return [
                self._relax_member(part, f"{pointer}/{index}", schema, item_path)
                for index, schema in enumerate(as_list(value))
            ]
        return value if key in ("const", "enum") else self._relax_member(part, pointer, value, item_path)

    def _relax_member(self, part: SchemaPart, pointer: str, schema: Json, path: DocumentPath | None) -> Json:
        if not isinstance(schema, dict):
            return schema
        if path in self._containers:
            return self._reference(self._scope.child_part(part, pointer, schema), path or ())
        return {"$ref": f"{self._base}#{quote(pointer)}"}

    def _combined_schemas(self, part: SchemaPart, path: DocumentPath, keys: tuple[str, ...]) -> Iterator[Json]:
        """Yield the relaxed schemas of ``allOf`` and references, and one ``anyOf`` per union."""
        for key in keys:
            if key == "$ref" and key in part.schema:
                target = self._scope.resolve_or_none(part)
                yield from [] if target is None else [self._reference(target, path)]
                continue
            branches = [
                self._reference(self._scope.child_part(part, f"{part.pointer}/{key}/{index}", schema), path)
                for index, schema in enumerate(as_list(part.schema.get(key)))
            ]
            yield from branches if key == "allOf" else [{"anyOf": branches}] if branches else []


_PYTHON_TYPES = {"string": str, "object": dict, "array": list}
_ANY_SCHEMA: dict[str, Any] = {}
_COMBINATORS = ("allOf", "anyOf", "oneOf")


def schemas_at(schema: Json, path: DocumentPath, *, unnamed: bool = False) -> list[Mapping[str, Json]]:
    """Return every schema of the value at ``path``.

    The path follows named properties, and with ``unnamed`` also the members of lists and maps.
    """
    scope = ReferenceResolver(schema, detect_draft(schema))
    parts = _expand_schemas(scope, [scope.root_part])
    for step in path:
        children = [child for part in parts for child in _property_schemas(scope, part, step)]
        if unnamed and not children:
            children = [
                scope.child_part(part, part.pointer, child)
                for part in parts
                for child in _unnamed_member_schemas(part.schema, step)
            ]
        parts = _expand_schemas(scope, children)
    return [part.schema for part in parts]


def admits_type(node: Mapping[str, Json], *types: str) -> bool:
    """Return whether a schema admits a value of one of the types (string, object, array)."""
    declared = node.get("type")
    if declared is not None:
        return any(kind in (as_list(declared) or [declared]) for kind in types)
    values = [node["const"]] if "const" in node else as_list(node.get("enum"))
    if values:
        return any(isinstance(value, _PYTHON_TYPES[kind]) for value in values for kind in types)
    return not any(key in node for key in ("$ref", *_COMBINATORS))


def iter_properties(schema: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the name and schema of every property anywhere in a schema."""
    for node in iter_objects(schema):
        yield from ((name, as_mapping(each)) for name, each in as_mapping(node.get("properties")).items())


def discriminator_values(schema: Json) -> dict[str, list[Json]]:
    """Return the properties that discriminate between the variants of a union, with their values."""
    values: dict[str, list[Json]] = {}
    for name, node in iter_properties(schema):
        constants = [node["const"]] if "const" in node else as_list(node.get("enum"))
        if len(constants) == 1 and isinstance(constants[0], str):
            values.setdefault(name, []).append(constants[0])
    return values


def _property_schemas(scope: ReferenceResolver, part: SchemaPart, step: str | int) -> Iterator[SchemaPart]:
    members = as_mapping(part.schema.get("properties"))
    if step in members:
        yield scope.child_part(part, f"{part.pointer}/properties/{step}", members[str(step)])


def _unnamed_member_schemas(node: Mapping[str, Json], step: str | int) -> list[Json]:
    if isinstance(step, str):
        return [*as_mapping(node.get("patternProperties")).values(), node.get("additionalProperties")]
    positional = as_list(node.get("prefixItems")) or as_list(node.get("items"))
    return positional[step : step + 1] or [node.get("items"), node.get("additionalItems")]


def _expand_schemas(scope: ReferenceResolver, parts: Iterable[SchemaPart]) -> list[SchemaPart]:
    """Return the schemas with all schemas that they combine or refer to."""
    pending, expanded = list(parts), dict[int, SchemaPart]()
    while pending:
        part = pending.pop()
        if part.schema is True:  # True has no keywords
            part = part._replace(schema=_ANY_SCHEMA)
        node = part.schema
        if node.__class__ is not dict or id(node) in expanded:
            continue
        expanded[id(node)] = part
        branches = [branch for key in _COMBINATORS for branch in as_list(node.get(key))]
        pending.extend(scope.child_part(part, part.pointer, branch) for branch in branches)
        target = scope.resolve_or_none(part) if "$ref" in node else None
        pending.extend([] if target is None else [target])
    return list(expanded.values())
