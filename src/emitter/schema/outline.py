"""Write a JSON Schema as an outline in words, which is shorter than the schema and which a model does not repeat.

An outline looks like the document: its names, and in place of each value the words for it. Definitions that are used
more than once, or in themselves, follow by name. A keyword that has no words is quoted as it stands.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from emitter.messages import as_list, as_mapping
from emitter.schema.json_data import ARRAY, OBJECT, STRING, iter_objects, resolve_reference
from emitter.schema.phrases import (
    RULE_KEYWORDS,
    describe_rules,
    describe_type,
    is_short_pattern,
    join_alternatives,
    types_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.messages import Json

_NOTES: Final = frozenset({"title", "description", "default", "examples"})
_WITHOUT_MEANING: Final = frozenset(
    {"$schema", "$comment", "$defs", "definitions", "deprecated", "readOnly", "writeOnly"}
)
_UNIONS: Final = ("anyOf", "oneOf")
_SCOPES: Final = ("$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef")
"""Keywords that change what references mean. A schema with one of them has no outline."""
_MAX_NESTING: Final = 40
_INDENT: Final = "  "


def write_outline(schema: Json) -> str | None:
    """Return a schema as an outline, or None if it has none or if the schema itself is shorter."""
    try:
        text = _OutlineWriter(schema).write()
    except _NoOutlineError:
        return None
    return text if len(text) < len(json.dumps(schema, ensure_ascii=False)) else None


class _NoOutlineError(Exception):
    """The schema cannot be written as an outline."""


class _OutlineWriter:
    """Writes the outline of one schema. Each definition is written once, so the outline is not longer than it."""

    def __init__(self, schema: Json) -> None:
        self._root = schema
        nodes = list(iter_objects(schema))
        if any(isinstance(node.get(keyword), str) for node in nodes for keyword in _SCOPES):
            raise _NoOutlineError
        self._uses = Counter(each["$ref"] for each in nodes if isinstance(each.get("$ref"), str))
        self._nesting = 0
        self._names: dict[str, str] = {}
        """The names of the definitions that are written below the document, by reference."""

    def write(self) -> str:
        """Return the outline of the document and of the named definitions."""
        parts = [self._write_value(self._root, 0)]
        written = 0
        while written < len(self._names):
            reference, name = list(self._names.items())[written]
            parts.append(f"{name} is {self._write_value(resolve_reference(self._root, reference), 0)}")
            written += 1
        return "\n\n".join(parts)

    def _write_value(self, schema: Json, depth: int) -> str:
        """Return the words for a value, on several lines if it is an object."""
        if self._nesting > _MAX_NESTING or schema is False:
            raise _NoOutlineError
        node = as_mapping(schema)
        self._nesting += 1
        words, stated = self._write_reference(node, depth) if "$ref" in node else self._write_node(node, depth)
        self._nesting -= 1
        notes = [*_iter_notes(node), *_iter_quoted(node.keys() - stated, node)]
        if not notes:
            return words
        note = f"({'; '.join(notes)})"
        return f"{note} {words}" if "\n" in words else f"{words} {note}"

    def _write_reference(self, node: Mapping[str, Any], depth: int) -> tuple[str, frozenset[str]]:
        """Return the words for a reference: a name, or the definition itself if nothing else refers to it."""
        reference = node["$ref"]
        target = resolve_reference(self._root, reference)
        if target is None:
            raise _NoOutlineError
        if reference != "#" and self._uses[reference] == 1:
            return self._write_value(target, depth), frozenset({"$ref"})
        if reference not in self._names:
            name = reference.rpartition("/")[2] if reference != "#" else "Document"
            taken = list(self._names.values())
            self._names[reference] = name if name not in taken else f"{name} {len(taken)}"
        return self._names[reference], frozenset({"$ref"})

    def _write_node(self, node: Mapping[str, Any], depth: int) -> tuple[str, frozenset[str]]:
        """Return the words for a value, and the keywords that they state."""
        if "const" in node or "enum" in node:
            values = [node["const"]] if "const" in node else as_list(node["enum"])
            return join_alternatives(map(_to_json, values), limit=None), frozenset(
                {"const", "enum", "type"} & node.keys()
            )
        union = next((keyword for keyword in _UNIONS if keyword in node), None)
        if union is not None:
            branches = [self._write_value(branch, depth) for branch in as_list(node[union])]
            if not branches:
                raise _NoOutlineError
            return join_alternatives(branches, limit=None), frozenset({union})
        names = types_of(node)
        if not names:
            return "any value", frozenset()
        written = [self._write_type(name, node, depth) for name in names]
        unrelated = frozenset[str]().union(*RULE_KEYWORDS.values()) if "type" in node else frozenset[str]()
        stated = frozenset[str]().union({"type"}, unrelated, *(keywords for _, keywords in written))
        return join_alternatives((words for words, _ in written), limit=None), stated

    def _write_type(self, name: str, node: Mapping[str, Any], depth: int) -> tuple[str, frozenset[str]]:
        """Return the words for the values of one type, and the keywords that they state besides bounds."""
        if name == OBJECT:
            return self._write_object(node, depth)
        if name == ARRAY and "prefixItems" not in node and as_mapping(node.get("items")):
            count = describe_rules(node, ARRAY)
            items = self._write_value(node["items"], depth)
            return f"a list{f' {count}' if count else ''}, each {items}", frozenset({"items"})
        if not is_short_pattern(node):
            raise _NoOutlineError
        return describe_type(name, node), frozenset({"format"} if name == STRING else ())

    def _write_object(self, node: Mapping[str, Any], depth: int) -> tuple[str, frozenset[str]]:
        properties, others = as_mapping(node.get("properties")), node.get("additionalProperties")
        required = {str(name) for name in as_list(node.get("required"))}
        members = [
            f"{_to_json(name)}: {self._write_member(member, depth + 1, is_optional=name not in required)}"
            for name, member in properties.items()
        ]
        members += [f"{_to_json(name)}: any value" for name in sorted(required - properties.keys())]
        stated = frozenset({"properties", "required", "additionalProperties"})
        if as_mapping(others):
            members.append(f"any other name: {self._write_value(as_mapping(others), depth + 1)}")
        count = describe_rules(node, OBJECT)
        if not members:
            return f"an object {count}".strip() if others is not False else "an object without names: {}", stated
        indent = _INDENT * (depth + 1)
        lines = ",".join(f"\n{indent}{member}" for member in members)
        return f"{f'an object {count} ' if count else ''}{{{lines}\n{_INDENT * depth}}}", stated

    def _write_member(self, schema: Json, depth: int, *, is_optional: bool) -> str:
        words = self._write_value(schema, depth)
        return f"{words}, or left out" if is_optional else words


def _iter_notes(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the title, the description, the default and the examples of a value."""
    stated = node.get("description") or node.get("title")
    if isinstance(stated, str):
        yield stated
    if node.get("default") is not None:
        yield f"default {_to_json(node['default'])}"
    if as_list(node.get("examples")):
        yield f"for example {', '.join(map(_to_json, as_list(node['examples'])))}"


def _iter_quoted(keywords: frozenset[str] | set[str], node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keywords that have no words, as they stand."""
    quoted = {key: node[key] for key in sorted(keywords - _NOTES - _WITHOUT_MEANING)}
    quoted = {key: value for key, value in quoted.items() if not (key == "additionalProperties" and value is True)}
    if any("$ref" in each for each in iter_objects(quoted)):
        raise _NoOutlineError  # the definition would have to be quoted, too
    if quoted:
        yield f"must also satisfy the JSON Schema {_to_json(quoted)}"


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
