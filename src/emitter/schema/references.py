"""Resolve references and walk the subschemas that they lead to.

References never leave the document, except to the drafts' own metaschemas and to schemas that the caller supplies in
`registry=`. Nothing is fetched. Schemas whose references expand beyond a bound are rejected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from referencing import Registry, Resource, exceptions

from emitter.errors import InputError, Uncompilable
from emitter.messages import as_list, as_mapping
from emitter.schema.dialects import DATA_KEYWORDS, NAMED_SCHEMA_KEYWORDS, detect_draft
from emitter.schema.json_data import child_pointer
from emitter.schema.nodes import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referencing._core import Resolver

    from emitter.schema.dialects import SchemaDraft

_NAME_SEPARATORS = re.compile(r"[^A-Za-z0-9_.-]+")


class SchemaPart(NamedTuple):
    """A schema in the document, its pointer, and the resolver for its references."""

    schema: Any
    pointer: str
    resolver: Resolver[Any]


def _load_metaschema(uri: str) -> Resource[Any]:
    # Imported only if needed, because it reads a dozen files. The package has no types.
    registry: Registry[Any] = import_module("jsonschema_specifications").REGISTRY
    try:
        return registry[uri]
    except KeyError as error:
        raise exceptions.NoSuchResource(ref=uri) from error  # type: ignore[call-arg]  # mypy sees no attrs class in it


class ReferenceResolver:
    """Resolves the references of one document."""

    def __init__(self, schema: Any, draft: SchemaDraft) -> None:
        self._schema = schema
        self._draft = draft
        self._pointers: dict[int, str] | None = None
        registry: Any = Registry(retrieve=cast("Any", _load_metaschema))  # type: ignore[call-arg]  # nor in this
        self._resource = draft.specification.create_resource(schema)
        self._start = registry.resolver_with_root(self._resource)

    @property
    def root_part(self) -> SchemaPart:
        """The whole document."""
        return SchemaPart(self._schema, "", self._start)

    def iter_parts(self) -> Iterator[SchemaPart]:
        """Yield everything in the document that may be a schema."""
        pending = [self.root_part]
        while pending:
            part = pending.pop()
            node: Any = part.schema
            if node.__class__ is dict:
                yield part
                pending.extend(
                    self.child_part(part, child_pointer(part.pointer, key), each) for key, each in node.items()
                )
            elif node.__class__ is list:
                pending.extend(
                    part._replace(pointer=child_pointer(part.pointer, i), schema=each) for i, each in enumerate(node)
                )

    def child_part(self, part: SchemaPart, pointer: str, schema: Any) -> SchemaPart:
        """Return a subschema of `part`. An id of its own changes the base of its references."""
        resolver = part.resolver
        if schema.__class__ is dict and isinstance(schema.get(self._draft.identifier), str):
            resolver = resolver.in_subresource(self._draft.specification.create_resource(schema))
        return SchemaPart(schema, pointer, resolver)

    def resolve(self, part: SchemaPart, keyword: str) -> SchemaPart:
        """Return the target of the reference in `part`. Raises `Uncompilable` if there is none."""
        reference = part.schema[keyword]
        try:
            resolved = part.resolver.lookup(reference)
        except (exceptions.Unresolvable, exceptions.NoSuchResource, ValueError, TypeError, LookupError) as error:
            raise Uncompilable(child_pointer(part.pointer, keyword), _unresolved_message(reference)) from error
        return SchemaPart(resolved.contents, self._pointer_to(resolved.contents, reference), resolved.resolver)

    def resolve_or_none(self, part: SchemaPart) -> SchemaPart | None:
        """Return the target of the reference in `part`, or None."""
        try:
            return self.resolve(part, "$ref")
        except Uncompilable:
            return None

    def _pointer_to(self, schema: Any, reference: str) -> str:
        if self._pointers is None:
            self._pointers = {id(part.schema): part.pointer for part in self.iter_parts()}
        return self._pointers.get(id(schema), reference)


def _unresolved_message(reference: object) -> str:
    if isinstance(reference, str) and not reference.startswith("#"):
        return "names a schema outside this document; put it under $defs and refer to it there, or pass it in registry="
    return "names nothing in this document"


def definition_name(pointer: str) -> str:
    """Return a definition name for a pointer, in characters that every provider accepts."""
    last = pointer.rstrip("/#").rpartition("/")[2]
    return _NAME_SEPARATORS.sub("_", last)[:64].strip("_") or "root"


MAX_COLLECTED_RULES = 5_000
"""At most this many rules are collected."""
_MAP_KEYWORDS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LIST_KEYWORDS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE_KEYWORDS = frozenset(
    {"additionalProperties", "propertyNames", "items", "additionalItems", "contains", "not", "if", "then", "else"}
    | {"unevaluatedProperties", "unevaluatedItems"}
)
_REFERENCE_KEYWORDS = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_SCHEMA_KEYWORDS = _MAP_KEYWORDS | _LIST_KEYWORDS | _SINGLE_KEYWORDS | _REFERENCE_KEYWORDS | {"dependencies"}


def collect_rules(
    parts: Iterable[SchemaPart], scope: ReferenceResolver, draft: SchemaDraft, visited: set[int] | None = None
) -> list[Rule]:
    """Return each keyword in `parts` and below, once per place. `visited` places are skipped."""
    rules: list[Rule] = []
    visited = set() if visited is None else visited
    pending = list(parts)
    while pending and len(rules) < MAX_COLLECTED_RULES:
        part = pending.pop()
        if part.schema is False:
            rules.append(Rule(part.pointer.rpartition("/")[0], part.pointer.rpartition("/")[2], False))
            continue
        if part.schema.__class__ is not dict or id(part.schema) in visited:
            continue
        visited.add(id(part.schema))
        keywords = {key: value for key, value in part.schema.items() if key in draft.keywords}
        rules.extend(
            Rule(part.pointer, key, each) for key, each in keywords.items() if key not in {"$defs", "definitions"}
        )
        for keyword in keywords:
            pending.extend(_child_parts(part, keyword, scope))
    return rules


def parts_in_rule(rule: Rule, scope: ReferenceResolver, parts: Iterable[SchemaPart]) -> list[SchemaPart]:
    """Return the schemas in the value of `rule`, which belongs to one of `parts`."""
    if rule.keyword not in _SCHEMA_KEYWORDS:
        return []
    resolver = next((part.resolver for part in parts if part.pointer == rule.pointer), scope.root_part.resolver)
    return list(_child_parts(SchemaPart({rule.keyword: rule.value}, rule.pointer, resolver), rule.keyword, scope))


def _child_parts(part: SchemaPart, keyword: str, scope: ReferenceResolver) -> Iterator[SchemaPart]:
    value = part.schema[keyword]
    pointer = child_pointer(part.pointer, keyword)
    if keyword in _REFERENCE_KEYWORDS:
        yield from _reference_targets(part, keyword, scope)
    elif keyword in _MAP_KEYWORDS or keyword == "dependencies":
        for name, each in as_mapping(value).items():
            yield scope.child_part(part, child_pointer(pointer, name), each)
    elif keyword in _LIST_KEYWORDS or isinstance(value, list):
        for index, each in enumerate(as_list(value)):
            yield scope.child_part(part, child_pointer(pointer, index), each)
    elif keyword in _SINGLE_KEYWORDS:
        yield scope.child_part(part, pointer, value)


def _reference_targets(part: SchemaPart, keyword: str, scope: ReferenceResolver) -> Iterator[SchemaPart]:
    """Yield the target of a reference, and for a dynamic one also the root."""
    try:
        yield scope.resolve(part, keyword)
    except Uncompilable:  # reported by find_dangling_reference
        return
    if keyword != "$ref":
        yield scope.root_part


def find_dangling_reference(scope: ReferenceResolver, draft: SchemaDraft) -> Uncompilable | None:
    """Return an error for the first reference without a target."""
    for rule in collect_rules([scope.root_part], scope, draft):
        if rule.keyword == "$ref":
            try:
                scope.resolve(SchemaPart({"$ref": rule.value}, rule.pointer, scope.root_part.resolver), "$ref")
            except Uncompilable as error:
                return error
    return None


def without_referenced_parts(parts: Iterable[SchemaPart], scope: ReferenceResolver) -> list[SchemaPart]:
    """Return the parts without those that another one includes by `$ref` or `allOf`."""
    parts_left: list[SchemaPart] = []
    included: set[int] = set()
    for part in parts:
        if id(part.schema) not in included:
            parts_left.append(part)
            _mark_referenced(part, scope, included)
    return parts_left


def _mark_referenced(part: SchemaPart, scope: ReferenceResolver, followed: set[int]) -> None:
    """Add the ids of `part` and of the schemas that it includes by `$ref` and `allOf`."""
    pending = [part]
    while pending:
        current = pending.pop()
        if id(current.schema) in followed or current.schema.__class__ is not dict:
            continue
        followed.add(id(current.schema))
        if isinstance(current.schema.get("$ref"), str) and (target := scope.resolve_or_none(current)) is not None:
            pending.append(target)
        pending.extend(
            scope.child_part(current, current.pointer, schema) for schema in as_list(current.schema.get("allOf"))
        )


def iter_reference_targets(part: SchemaPart, scope: ReferenceResolver) -> Iterator[tuple[str, SchemaPart]]:
    """Yield every reference inside `part` with its target."""
    pending = [part]
    while pending:
        current = pending.pop()
        node: Any = current.schema
        if node.__class__ is dict:
            for keyword in _REFERENCE_KEYWORDS & node.keys():
                if isinstance(node[keyword], str):
                    yield from ((node[keyword], each) for each in _reference_targets(current, keyword, scope))
            pending.extend(scope.child_part(current, current.pointer, each) for each in node.values())
        elif node.__class__ is list:
            pending.extend(current._replace(schema=each) for each in node)


MAX_COMPLEXITY = 100_000
"""The maximum number of schemas that apply to one value. A validator could not finish with more."""
MAX_REFERENCE_CHAIN = 200
"""The maximum length of a chain of references. A stack overflow in native code raises no exception."""
_SAME_VALUE_LIST_KEYWORDS = ("anyOf", "oneOf", "allOf")
_SAME_VALUE_SCHEMA_KEYWORDS = ("not", "if", "then", "else")


def check_complexity(scope: ReferenceResolver) -> None:
    """Raise `Uncompilable` if references expand to too many schemas."""
    known: dict[int, int] = {}
    for part in scope.iter_parts():
        try:
            weight = _complexity(part, scope, known)
        except RecursionError as error:
            raise Uncompilable(part.pointer, "the references are nested too deeply") from error
        if weight > MAX_COMPLEXITY:
            raise Uncompilable(
                part.pointer, f"the references expand to more than {MAX_COMPLEXITY} schemas for one value"
            )


def _complexity(part: SchemaPart, scope: ReferenceResolver, known: dict[int, int], depth: int = 0) -> int:
    schema: Any = part.schema
    if schema.__class__ is not dict:
        return 1
    if id(schema) not in known:
        if depth == MAX_REFERENCE_CHAIN:
            raise Uncompilable(part.pointer, "the references are nested too deeply")
        known[id(schema)] = 0  # for cycles
        subschemas = [each for keyword in _SAME_VALUE_LIST_KEYWORDS for each in as_list(schema.get(keyword))]
        subschemas += [schema[keyword] for keyword in _SAME_VALUE_SCHEMA_KEYWORDS if keyword in schema]
        children = [scope.child_part(part, part.pointer, subschema) for subschema in subschemas]
        if isinstance(schema.get("$ref"), str) and (target := scope.resolve_or_none(part)) is not None:
            children.append(target)
        known[id(schema)] = 1 + sum(_complexity(child, scope, known, depth + 1) for child in children)
    return known[id(schema)]


SchemaRegistry: TypeAlias = "Mapping[str, Any] | Registry[Any]"
"""Schemas by URI, or a registry of the `referencing` package."""
_IDENTITY_KEYWORDS = frozenset({"$schema", "$id", "id"})
_INVALID_REGISTRY = "registry must be a mapping of URIs to schemas, or a referencing.Registry"


def bundle_schemas(schema: Mapping[str, Any], registry: SchemaRegistry) -> Mapping[str, Any]:
    """Return a schema with the external schemas that it refers to.

    References that the registry does not contain are kept, and rejected by the compiler.
    """
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
        resource = draft.specification.create_resource(cast("Any", schema))
        registry_type: Any = Registry
        specification: Any = draft.specification
        registry = registry_type().with_resources(
            (uri, Resource.from_contents(resource, default_specification=specification))
            for uri, resource in resources.items()
        )
        self._root_resolver = registry.resolver_with_root(resource)
        self._own_schemas = {id(each) for each in _iter_objects(schema)}
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
            resolver = resolver.in_subresource(self._draft.specification.create_resource(cast("Any", table)))
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
        """Return the reference inside the bundle that replaces `reference`, if there is one."""
        try:
            resolved = resolver.lookup(reference)
        except (exceptions.Unresolvable, exceptions.NoSuchResource, ValueError, TypeError, LookupError):
            return reference
        if id(resolved.contents) in self._own_schemas:
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


def _iter_objects(schema: Any) -> Iterator[Any]:
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, Mapping):
            yield node
            pending.extend(cast("Mapping[str, Any]", node).values())
        elif isinstance(node, list):
            pending.extend(cast("list[Any]", node))
