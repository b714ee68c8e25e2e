"""Resolve references with the ``referencing`` package, and bundle the schemas of ``registry=`` into one document.

Loaded when a schema has a reference or an id, because most of what it imports is for those.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from referencing import Registry, Resource, exceptions
from referencing.jsonschema import specification_with

from emitter.errors import InputError
from emitter.schema.dialects import DATA_KEYWORDS, NAMED_SCHEMA_KEYWORDS, detect_draft
from emitter.schema.json_data import definition_name, iter_objects, reference_spellings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referencing._core import Resolved, Resolver

    from emitter.schema.dialects import SchemaDraft
    from emitter.schema.references import SchemaRegistry


def _load_metaschema(uri: str) -> Resource[Any]:
    # Imported only if needed, because it reads a dozen files. The package has no types.
    registry: Registry[Any] = import_module("jsonschema_specifications").REGISTRY
    try:
        return registry[uri]
    except KeyError as error:
        raise exceptions.NoSuchResource(ref=uri) from error  # type: ignore[call-arg]  # mypy sees no attrs class in it


class DocumentRegistry:
    """One document, and what its references and ids lead to."""

    def __init__(self, schema: Any, draft: SchemaDraft) -> None:
        self._specification: Any = specification_with(draft.uri)
        registry: Any = Registry(retrieve=cast("Any", _load_metaschema))  # type: ignore[call-arg]  # nor in this
        self._root: Resolver[Any] = registry.resolver_with_root(self._specification.create_resource(schema))

    def enter(self, schema: Any, resolver: Resolver[Any] | None) -> Resolver[Any]:
        """Return the resolver for a subschema that has an id."""
        return (resolver or self._root).in_subresource(self._specification.create_resource(schema))

    def lookup(self, reference: Any, resolver: Resolver[Any] | None) -> Resolved[Any] | None:
        """Return the target of a reference, or None."""
        return _lookup(resolver or self._root, reference)

    def spell(self, reference: str, resolver: Resolver[Any] | None) -> str:
        """Return the spelling of a reference that has a target, or the reference if there is none."""
        return next((spelling for spelling, _ in _readings(resolver or self._root, reference)), reference)


def _lookup(resolver: Resolver[Any], reference: Any) -> Resolved[Any] | None:
    return next((resolved for _, resolved in _readings(resolver, reference)), None)


def _readings(resolver: Resolver[Any], reference: Any) -> Iterator[tuple[str, Resolved[Any]]]:
    """Yield the spellings of a reference that have a target, each with its target."""
    for spelling in reference_spellings(reference) if isinstance(reference, str) else ():
        # The package reads what it passes on its way as schemas, whatever it is.
        with suppress(exceptions.Unresolvable, ValueError, TypeError, LookupError, AttributeError):
            yield spelling, resolver.lookup(spelling)


_IDENTITY_KEYWORDS = frozenset({"$schema", "$id", "id"})
_INVALID_REGISTRY = "registry must be a mapping of URIs to schemas, or a referencing.Registry"


def bundle_schemas(schema: Mapping[str, Any], registry: SchemaRegistry) -> Mapping[str, Any]:
    """Return a schema with the external ones it refers to. The compiler rejects references that the registry lacks."""
    untyped: Any = registry
    if not isinstance(untyped, Mapping | Registry):
        raise InputError(f"{_INVALID_REGISTRY}, not a {type(untyped).__name__}.")
    return _SchemaBundler(schema, detect_draft(cast("Any", schema)), _schemas_by_uri(registry)).bundle()


def _schemas_by_uri(registry: SchemaRegistry) -> dict[str, Any]:
    """Return the schemas by URI. The retrieval function of a registry is not used."""
    mapping = cast("Mapping[str, Any]", registry)
    entries = {uri: mapping[uri] for uri in mapping}
    return {
        uri: cast("Resource[Any]", entry).contents if isinstance(entry, Resource) else entry
        for uri, entry in entries.items()
    }


class _SchemaBundler:
    def __init__(self, schema: Mapping[str, Any], draft: SchemaDraft, resources: dict[str, Any]) -> None:
        self._schema = schema
        self._draft = draft
        self._specification: Any = specification_with(draft.uri)
        resource = self._specification.create_resource(schema)
        registry_type: Any = Registry
        registry = registry_type().with_resources(
            (uri, Resource.from_contents(resource, default_specification=self._specification))
            for uri, resource in resources.items()
        )
        self._root_resolver = registry.resolver_with_root(resource)
        self._own_schemas = {id(node) for node in iter_objects(schema)}
        self._names: dict[int, str] = {}
        self._pending: list[tuple[str, Any, Resolver[Any]]] = []
        self._used_names = set(cast("Mapping[str, Any]", schema.get("$defs", {})))

    def bundle(self) -> Mapping[str, Any]:
        """Return the bundled schema, or the original one if it has no external references."""
        bundled = self._copy(self._schema, self._root_resolver, top=True)
        added: dict[str, Any] = {}
        while self._pending:
            name, schema, resolver = self._pending.pop()
            added[name] = self._copy(schema, resolver, outside=True)
        return {**bundled, "$defs": {**bundled.get("$defs", {}), **added}} if added else self._schema

    def _copy(self, node: Any, resolver: Resolver[Any], *, outside: bool = False, top: bool = False) -> Any:
        if isinstance(node, list):
            return [self._copy(each, resolver, outside=outside) for each in cast("list[Any]", node)]
        if not isinstance(node, Mapping):
            return node
        table = cast("Mapping[str, Any]", node)
        if not top and isinstance(table.get(self._draft.identifier), str):
            resolver = resolver.in_subresource(self._specification.create_resource(table))
        copy: dict[str, Any] = {}
        for key, value in table.items():
            if outside and key in _IDENTITY_KEYWORDS and isinstance(value, str):
                continue  # a base URI would change the targets of rewritten references
            if key == "$ref" and isinstance(value, str):
                copy[key] = self._rewrite_reference(value, resolver)
            elif key in NAMED_SCHEMA_KEYWORDS and isinstance(value, Mapping):
                schemas = cast("Mapping[str, Any]", value)
                copy[key] = {name: self._copy(one, resolver, outside=outside) for name, one in schemas.items()}
            else:
                copy[key] = value if key in DATA_KEYWORDS else self._copy(value, resolver, outside=outside)
        return copy

    def _rewrite_reference(self, reference: str, resolver: Resolver[Any]) -> str:
        """Return the reference inside the bundle that replaces ``reference``, if there is one."""
        resolved = _lookup(resolver, reference)
        if resolved is None or id(resolved.contents) in self._own_schemas:
            return reference
        key = id(resolved.contents)
        if key not in self._names:
            self._names[key] = self._unique_name(definition_name(reference))
            self._pending.append((self._names[key], resolved.contents, resolved.resolver))
        return f"#/$defs/{self._names[key]}"

    def _unique_name(self, base_name: str) -> str:
        name, count = base_name, 1
        while name in self._used_names:
            count += 1
            name = f"{base_name}_{count}"
        self._used_names.add(name)
        return name
