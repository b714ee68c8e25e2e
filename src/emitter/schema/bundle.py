"""References to schemas outside the document: what the caller supplies is put under ``$defs``. Nothing is fetched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from referencing import Registry, Resource, exceptions

from emitter.errors import InputError
from emitter.schema.drafts import DATA, MAPS_OF_SCHEMAS, draft_of
from emitter.schema.read.scope import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referencing._core import Resolver

    from emitter.schema.drafts import Draft

Supplied: TypeAlias = "Mapping[str, Any] | Registry[Any]"
"""Schemas by their URI, or a registry of the ``referencing`` package."""

_OWN = frozenset({"$schema", "$id", "id"})
_MISUSED = "registry must be a mapping of URIs to schemas, or a referencing.Registry"


def bundled(schema: Mapping[str, Any], supplied: Supplied) -> Mapping[str, Any]:
    """Return a schema with the schemas that it refers to outside itself, as far as they are supplied.

    A reference that ``supplied`` does not have stays as it is, and is refused where the schema is compiled.
    """
    given: Any = supplied
    if not isinstance(given, Mapping | Registry):
        raise InputError(f"{_MISUSED}, not a {type(given).__name__}.")
    return _Bundling(schema, draft_of(cast("Any", schema)), _resources(supplied)).whole()


def _resources(supplied: Supplied) -> dict[str, Any]:
    """Return the schemas by URI; a registry's way to retrieve others is not taken along."""
    named = cast("Mapping[str, Any]", supplied)
    found = {uri: named[uri] for uri in named}
    return {
        uri: cast("Resource[Any]", each).contents if isinstance(each, Resource) else each for uri, each in found.items()
    }


class _Bundling:
    def __init__(self, schema: Mapping[str, Any], draft: Draft, resources: dict[str, Any]) -> None:
        self._schema = schema
        self._draft = draft
        own = draft.specification.create_resource(cast("Any", schema))
        made: Any = Registry
        specification: Any = draft.specification
        known = made().with_resources(
            (uri, Resource.from_contents(each, default_specification=specification)) for uri, each in resources.items()
        )
        self._start = known.resolver_with_root(own)
        self._inside = {id(each) for each in _tables(schema)}
        self._names: dict[int, str] = {}
        self._waiting: list[tuple[str, Any, Resolver[Any]]] = []
        self._taken = set(cast("Mapping[str, Any]", schema.get("$defs", {})))

    def whole(self) -> Mapping[str, Any]:
        """Return the schema, the same one where it refers to nothing outside."""
        found = self._copy(self._schema, self._start, top=True)
        added: dict[str, Any] = {}
        while self._waiting:
            name, schema, resolver = self._waiting.pop()
            added[name] = self._copy(schema, resolver, outside=True)
        return {**found, "$defs": {**found.get("$defs", {}), **added}} if added else self._schema

    def _copy(self, node: Any, resolver: Resolver[Any], *, outside: bool = False, top: bool = False) -> Any:
        if isinstance(node, list):
            return [self._copy(each, resolver, outside=outside) for each in cast("list[Any]", node)]
        if not isinstance(node, Mapping):
            return node
        table = cast("Mapping[str, Any]", node)
        if not top and isinstance(table.get(self._draft.identifier), str):
            resolver = resolver.in_subresource(self._draft.specification.create_resource(cast("Any", table)))
        found: dict[str, Any] = {}
        for key, each in table.items():
            if outside and key in _OWN and isinstance(each, str):
                continue  # a base of its own would lead the rewritten references elsewhere
            if key == "$ref" and isinstance(each, str):
                found[key] = self._reference(each, resolver)
            elif key in MAPS_OF_SCHEMAS and isinstance(each, Mapping):
                named = cast("Mapping[str, Any]", each)
                found[key] = {name: self._copy(one, resolver, outside=outside) for name, one in named.items()}
            else:
                found[key] = each if key in DATA else self._copy(each, resolver, outside=outside)
        return found

    def _reference(self, reference: str, resolver: Resolver[Any]) -> str:
        """Return a reference inside the document to what ``reference`` names, or the same one."""
        try:
            resolved = resolver.lookup(reference)
        except (exceptions.Unresolvable, exceptions.NoSuchResource, ValueError, TypeError, LookupError):
            return reference
        if id(resolved.contents) in self._inside:
            return reference
        key = id(resolved.contents)
        if key not in self._names:
            self._names[key] = self._free(name_of(reference))
            self._waiting.append((self._names[key], resolved.contents, resolved.resolver))
        return f"#/$defs/{self._names[key]}"

    def _free(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name


def _tables(schema: Any) -> Iterator[Any]:
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            yield node
            waiting.extend(cast("Mapping[str, Any]", node).values())
        elif isinstance(node, list):
            waiting.extend(cast("list[Any]", node))
