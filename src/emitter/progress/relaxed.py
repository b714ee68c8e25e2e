"""The schema of a document of which only a part is there.

A part is valid if it would be valid in the whole. So what a container demands as a whole (what it must have, how
much, how often) is dropped along the way to the parts, and what it says of each member is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from emitter.schema.read.scope import Part, Scope
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.progress.scan import Path
    from emitter.schema.drafts import Draft
    from emitter.wire import Json

_OF_MEMBERS = (
    *("type", "const", "enum"),
    *("properties", "patternProperties", "additionalProperties", "propertyNames"),
    *("items", "prefixItems", "additionalItems"),
)
_WHOLE = "urn:emitter:whole"


def relaxed(schema: Mapping[str, Json], opened: frozenset[Path], draft: Draft) -> Mapping[str, Json]:
    """Return the schema of a part of a document; ``opened`` are the ways to the containers around the parts."""
    return _Relaxing(schema, opened, draft).whole()


class _Relaxing:
    """One relaxing. What is not relaxed is referred to where it stands, for it may refer to its own document."""

    def __init__(self, schema: Mapping[str, Json], opened: frozenset[Path], draft: Draft) -> None:
        self._opened, self._draft = opened, draft
        self._scope = Scope(schema, draft)
        self._home = "$defs" if "$defs" in draft.keywords else "definitions"
        given = schema.get(draft.identifier)
        self._base = given.rstrip("#") if isinstance(given, str) else _WHOLE
        self._original = {**schema, draft.identifier: self._base}
        self._names: dict[tuple[str, Path], str] = {}
        self._defined: dict[str, Json] = {}

    def whole(self) -> Mapping[str, Json]:
        """Return the relaxed schema, with the original beside it."""
        root = self._node(self._scope.root, ())
        declared = {"$schema": self._original["$schema"]} if "$schema" in self._original else {}
        return {**declared, "allOf": [root], self._home: {**self._defined, "whole": self._original}}

    def _node(self, part: Part, path: Path) -> Json:
        """Return what stands at ``path``, relaxed; each place and path is written once, so that cycles end."""
        if not isinstance(part.schema, dict):
            return part.schema
        if part.where and not part.where.startswith("/"):  # one of the drafts' own schemas
            return {"$ref": part.where}
        name = self._names.get((part.where, path))
        if name is None:
            name = self._names[part.where, path] = f"part_{len(self._names)}"
            self._defined[name] = self._relaxed(part, path)
        return {"$ref": f"#/{self._home}/{name}"}

    def _relaxed(self, part: Part, path: Path) -> Json:
        node: dict[str, Any] = part.schema
        if "$ref" in node and self._draft.ref_alone:
            return {"allOf": list(self._joined(part, path, ("$ref",)))}
        out: dict[str, Any] = {key: self._kept(part, key, path) for key in _OF_MEMBERS if key in node}
        if any(isinstance(each, dict | list) for each in (node.get("const"), *sequence(node.get("enum")))):
            out = {key: each for key, each in out.items() if key not in ("const", "enum")}
        must = list(self._joined(part, path, ("$ref", "allOf", "anyOf", "oneOf")))
        return {**out, "allOf": must} if must else out

    def _kept(self, part: Part, key: str, path: Path) -> Json:
        """Return what a keyword says of the members."""
        value: Json = part.schema[key]
        where = f"{part.where}/{key}"
        if key in ("properties", "patternProperties"):
            named = key == "properties"
            return {
                name: self._member(part, f"{where}/{_escaped(name)}", each, (*path, name) if named else None)
                for name, each in mapping(value).items()
            }
        inside = None if key in ("propertyNames", "additionalProperties") else (*path, -1)
        if key in ("items", "prefixItems") and isinstance(value, list):
            return [self._member(part, f"{where}/{at}", each, inside) for at, each in enumerate(sequence(value))]
        return value if key in ("const", "enum") else self._member(part, where, value, inside)

    def _member(self, part: Part, where: str, schema: Json, path: Path | None) -> Json:
        if not isinstance(schema, dict):
            return schema
        if path in self._opened:
            return self._node(self._scope.inside(part, where, schema), path or ())
        return {"$ref": f"{self._base}#{quote(where)}"}

    def _joined(self, part: Part, path: Path, keys: tuple[str, ...]) -> Iterator[Json]:
        """Yield what other schemas add: those that must all hold, and those of which one must."""
        for key in keys:
            if key == "$ref" and key in part.schema:
                found = self._scope.found(part)
                yield from [] if found is None else [self._node(found, path)]
                continue
            branches = [
                self._node(self._scope.inside(part, f"{part.where}/{key}/{at}", each), path)
                for at, each in enumerate(sequence(part.schema.get(key)))
            ]
            yield from branches if key == "allOf" else [{"anyOf": branches}] if branches else []


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
