"""Null as absent, done for peers, who have neither ``encode`` nor ``decode``.

Otherwise it is the identity: a document that the original does not take is tried once more without its nulls, and an
instance that the vendor's schema does not take once more with null for each property that it requires and misses.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs

_DEEP = 40
_DEFINITIONS = ("$defs", "definitions")


def checker(schema: Any) -> Any:
    """Return a validator that fetches nothing, formats asserted."""
    return jsonschema_rs.validator_for(schema, validate_formats=True, retriever=_refuse)


def _refuse(uri: str) -> Any:
    raise LookupError(f"nothing is fetched here, {uri} neither")


class Nulls:
    """Reads and writes documents of ``wire`` for ``original``."""

    def __init__(self, original: Any, wire: Any) -> None:
        self._original = checker(original)
        self._wire = wire
        self._whole = checker(wire)
        self._definitions = {each: wire[each] for each in _DEFINITIONS if each in wire}
        self._branches: dict[int, Any] = {}

    def decode(self, document: Any) -> Any:
        """Return the document, without its nulls where only that is valid."""
        if self._original.is_valid(document):
            return document
        bare = _without_nulls(document)
        return bare if self._original.is_valid(bare) else document

    def encode(self, instance: Any) -> Any:
        """Return the instance, with nulls for what is required and missing where only that is taken."""
        if self._whole.is_valid(instance):
            return instance
        return self._filled(instance, self._wire, 0)

    def _filled(self, value: Any, schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict) or depth > _DEEP:
            return value
        if "$ref" in schema:
            value = self._filled(value, self._target(schema["$ref"]), depth + 1)
        value = self._chosen(value, schema.get("anyOf") or schema.get("oneOf") or [], depth)
        if isinstance(value, list):
            return [self._filled(each, schema.get("items"), depth + 1) for each in value]
        return self._object(value, schema, depth) if isinstance(value, dict) else value

    def _object(self, value: dict[str, Any], schema: dict[str, Any], depth: int) -> dict[str, Any]:
        known = schema.get("properties") or {}
        missing = {name: None for name in schema.get("required") or () if name in known and name not in value}
        rest = schema.get("additionalProperties")
        return {name: self._filled(each, known.get(name, rest), depth + 1) for name, each in value.items()} | missing

    def _chosen(self, value: Any, branches: list[Any], depth: int) -> Any:
        for each in branches:
            candidate = self._filled(value, each, depth + 1)
            if self._fits(candidate, each):
                return candidate
        return value

    def _fits(self, value: Any, branch: Any) -> bool:
        if id(branch) not in self._branches:
            self._branches[id(branch)] = self._built(branch)
        check = self._branches[id(branch)]
        return check is not None and check.is_valid(value)

    def _built(self, branch: Any) -> Any:
        try:
            return checker({**self._definitions, **branch})
        except (ValueError, TypeError, LookupError):
            return None  # it refers to another place than a definition: this branch is not chosen

    def _target(self, reference: str) -> Any:
        node: Any = self._wire
        for step in reference.removeprefix("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            node = node.get(name) if isinstance(node, dict) else None
        return node


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value
