"""Resolve references and walk the subschemas that they lead to.

References never leave the document, except to the drafts' own metaschemas and to schemas that the caller supplies in
``registry=``. Nothing is fetched. Schemas whose references expand beyond a bound are rejected.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from emitter.errors import Uncompilable
from emitter.messages import as_list, as_mapping
from emitter.schema.dialects import DATA_KEYWORDS, transform_schema
from emitter.schema.json_data import child_pointer, escape_reference
from emitter.schema.nodes import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from referencing import Registry
    from referencing._core import Resolver

    from emitter.schema.dialects import SchemaDraft
    from emitter.schema.registry import DocumentRegistry

SchemaRegistry: TypeAlias = "Mapping[str, Any] | Registry[Any]"
"""Schemas by URI, or a registry of the ``referencing`` package."""


class SchemaPart(NamedTuple):
    """A schema in the document, its pointer, and the resolver for its references (None: the document's own)."""

    schema: Any
    pointer: str
    resolver: Resolver[Any] | None


class ReferenceResolver:
    """Resolves the references of one document."""

    def __init__(self, schema: Any, draft: SchemaDraft) -> None:
        self._schema = schema
        self.draft = draft
        self._pointers: dict[int, str] | None = None
        self._references: dict[int, tuple[SchemaPart, list[tuple[str, SchemaPart]]]] = {}

    @cached_property
    def _document(self) -> DocumentRegistry:
        from emitter.schema.registry import DocumentRegistry  # noqa: PLC0415  many schemas have no reference and no id

        return DocumentRegistry(self._schema, self.draft)

    @property
    def root_part(self) -> SchemaPart:
        """The whole document."""
        return SchemaPart(self._schema, "", None)

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
        """Return a subschema of ``part``. An id of its own changes the base of its references."""
        resolver = part.resolver
        if schema.__class__ is dict and isinstance(schema.get(self.draft.identifier), str):
            resolver = self._document.enter(schema, resolver)
        return SchemaPart(schema, pointer, resolver)

    def resolve(self, part: SchemaPart, keyword: str) -> SchemaPart:
        """Return the target of the reference in ``part``. Raises ``Uncompilable`` if there is none."""
        reference = part.schema[keyword]
        resolved = self._document.lookup(reference, part.resolver)
        if resolved is None:
            raise Uncompilable(child_pointer(part.pointer, keyword), _unresolved_message(reference))
        return SchemaPart(resolved.contents, self._pointer_to(resolved.contents, reference), resolved.resolver)

    def escaped(self, part: SchemaPart, keyword: str) -> str:
        """Return the reference or id in ``part`` as a URI."""
        reference = part.schema[keyword]
        is_id = keyword == self.draft.identifier
        return escape_reference(reference if is_id else self._document.spell(reference, part.resolver))

    def references_in(self, part: SchemaPart) -> list[tuple[str, SchemaPart]]:
        """Return every reference inside ``part`` with its target. A part is walked once."""
        key = id(part.schema)  # the part is kept, so that no other schema has its id
        if key not in self._references:
            self._references[key] = (part, list(_iter_reference_targets(part, self)))
        return self._references[key][1]

    def resolve_or_none(self, part: SchemaPart) -> SchemaPart | None:
        """Return the target of the reference in ``part``, or None."""
        try:
            return self.resolve(part, "$ref")
        except Uncompilable:
            return None

    def _pointer_to(self, schema: Any, reference: str) -> str:
        # Only a schema with references needs the pointers, and finding them means a walk through the document.
        if self._pointers is None:
            self._pointers = {id(part.schema): part.pointer for part in self.iter_parts()}
        return self._pointers.get(id(schema), reference)


def escape_references(schema: Any, draft: SchemaDraft) -> Any:
    """Return a schema whose references and ids are URIs, for a validator that accepts nothing else."""
    scope = ReferenceResolver(schema, draft)
    parts = {part.pointer: part for part in scope.iter_parts()}

    def escape(node: dict[str, Any], pointer: str) -> dict[str, Any]:
        for keyword in node.keys() & {*_REFERENCE_KEYWORDS, draft.identifier}:
            if isinstance(node[keyword], str):
                node[keyword] = scope.escaped(parts[pointer], keyword)
        return node

    return transform_schema(schema, escape)


def _unresolved_message(reference: object) -> str:
    if isinstance(reference, str) and not reference.startswith("#"):
        return "refers to a schema outside this document; move it into $defs, or pass it in registry="
    return "does not exist in this document"


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


def collect_rules(parts: Iterable[SchemaPart], scope: ReferenceResolver, visited: set[int] | None = None) -> list[Rule]:
    """Return each keyword in ``parts`` and below, once per place. ``visited`` places are skipped."""
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
        keywords = {key: value for key, value in part.schema.items() if key in scope.draft.keywords}
        rules.extend(
            Rule(part.pointer, key, each) for key, each in keywords.items() if key not in {"$defs", "definitions"}
        )
        for keyword in keywords:
            pending.extend(_child_parts(part, keyword, scope))
    return rules


def parts_in_rule(rule: Rule, scope: ReferenceResolver, parts: Iterable[SchemaPart]) -> list[SchemaPart]:
    """Return the schemas in the value of ``rule``, which belongs to one of ``parts``."""
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
    elif keyword in _LIST_KEYWORDS or (isinstance(value, list) and keyword not in DATA_KEYWORDS):
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
        yield scope.root_part  # a dynamic reference may resolve to an outer schema with the same anchor


def find_dangling_reference(scope: ReferenceResolver) -> Uncompilable | None:
    """Return an error for the first reference without a target."""
    for rule in collect_rules([scope.root_part], scope):
        if rule.keyword == "$ref":
            try:
                scope.resolve(SchemaPart({"$ref": rule.value}, rule.pointer, scope.root_part.resolver), "$ref")
            except Uncompilable as error:
                return error
    return None


def without_referenced_parts(parts: Iterable[SchemaPart], scope: ReferenceResolver) -> list[SchemaPart]:
    """Return the parts that no other part includes by ``$ref`` or ``allOf``."""
    parts_left: list[SchemaPart] = []
    included: set[int] = set()
    for part in parts:
        if id(part.schema) not in included:
            parts_left.append(part)
            _mark_referenced(part, scope, included)
    return parts_left


def _mark_referenced(part: SchemaPart, scope: ReferenceResolver, followed: set[int]) -> None:
    """Add the ids of ``part`` and of the schemas that it includes by ``$ref`` and ``allOf``."""
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


def _iter_reference_targets(part: SchemaPart, scope: ReferenceResolver) -> Iterator[tuple[str, SchemaPart]]:
    """Yield every reference inside ``part`` with its target."""
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
    """Raise ``Uncompilable`` if references expand to too many schemas."""
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
