"""Check a JSON Schema against a vendor's dialect: parse it into nodes, then run rules on the nodes and on the tree.

The rules that several vendors share are here. ``emitter.testing.vendor_rules`` has each vendor's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from emitter.messages import as_list, as_mapping
from emitter.schema.json_data import escape_pointer_token, parse_pointer

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Mapping

NodePath: TypeAlias = tuple[str, ...]
NodeEdges: TypeAlias = "Mapping[NodePath, tuple[NodePath, ...]]"
MAX_DEPTH = 100
MAX_NODES = 20_000
"""No vendor accepts more. A larger schema is not parsed further, and has a violation that says so."""
MAX_STEPS = 200_000
"""Steps of the search for the deepest path through references, whose number can grow exponentially."""
DEFINITION_KEYWORDS = ("$defs", "definitions")
_SCHEMA_MAP_KEYWORDS = frozenset({"properties", "patternProperties", "dependentSchemas", *DEFINITION_KEYWORDS})
_SCHEMA_LIST_KEYWORDS = frozenset({"anyOf", "any_of", "oneOf", "allOf", "prefixItems"})
_SUBSCHEMA_KEYWORDS = frozenset({"items", "not", "if", "then", "else", "contains", "propertyNames"})
_MAX_DETAIL_LENGTH = 80


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """A vendor rule that a schema breaks, and the place as a JSON pointer."""

    pointer: str
    rule: str
    detail: str


@dataclass(frozen=True, slots=True)
class SchemaNode:
    """A value where a schema is expected.

    ``members`` is empty if the value is not an object. ``types`` are in lower case. Malformed entries are left out of
    ``types``, ``properties`` and ``required``.
    """

    path: NodePath
    schema: Any
    members: Mapping[str, Any]
    types: tuple[str, ...]
    properties: Mapping[str, Any]
    required: frozenset[str]

    def make_violation(self, rule: str, detail: str = "") -> SchemaViolation:
        """Return a violation at this node."""
        return SchemaViolation(
            "".join(f"/{escape_pointer_token(token)}" for token in self.path), rule, detail[:_MAX_DETAIL_LENGTH]
        )


@dataclass(frozen=True, slots=True)
class SchemaTree:
    """All nodes of a schema in document order, their children, and the limits at which parsing stopped."""

    nodes: dict[NodePath, SchemaNode] = field(default_factory=dict[NodePath, SchemaNode])
    children: dict[NodePath, list[NodePath]] = field(default_factory=dict[NodePath, list[NodePath]])
    read_limits: dict[str, SchemaViolation] = field(default_factory=dict[str, SchemaViolation])

    def resolve_reference(self, reference: object) -> NodePath | None:
        """Return the node that a local ``$ref`` points to, or None."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        path = parse_pointer(unquote(reference).removeprefix("#"))
        return path if path in self.nodes and reference[1:2] in ("", "/") else None

    def make_edges(self, *, follow: Callable[[SchemaNode, NodePath], bool] = lambda _place, _path: True) -> NodeEdges:
        """Return the nodes that a document can reach from each node; definitions are reached by reference only."""
        edges: dict[NodePath, tuple[NodePath, ...]] = {}
        for path, node in self.nodes.items():
            children = [
                child
                for child in self.children[path]
                if child in self.nodes and child[len(path)] not in DEFINITION_KEYWORDS
            ]
            followed = [child for child in children if follow(node, child)]
            target = self.resolve_reference(node.members.get("$ref"))
            edges[path] = (*followed, *(() if target is None else (target,)))
        return edges


def _make_node(path: NodePath, schema: object) -> SchemaNode:
    members = as_mapping(schema)
    type_value = members.get("type")
    return SchemaNode(
        path,
        schema,
        members,
        types=tuple(name.lower() for name in as_list(type_value) or [type_value] if isinstance(name, str)),
        properties=as_mapping(members.get("properties")),
        required=frozenset(name for name in as_list(members.get("required")) if isinstance(name, str)),
    )


def parse_schema_tree(schema: object, keywords: frozenset[str]) -> SchemaTree:
    """Parse a schema, descending only through keywords that the vendor reads."""
    tree = SchemaTree()
    pending: list[tuple[NodePath, object]] = [((), schema)]
    while pending:
        path, value = pending.pop()
        node = _make_node(path, value)
        if len(tree.nodes) >= MAX_NODES:
            tree.read_limits["places"] = node.make_violation("too_many_places_to_read")
            break
        tree.nodes[path] = node
        tree.children[path] = []
        children = [child for child in _iter_subschemas(node) if child[0][len(path)] in keywords]
        if len(path) >= MAX_DEPTH and children:
            tree.read_limits.setdefault("depth", node.make_violation("too_deep_to_read"))
            continue
        tree.children[path] = [child for child, _ in children]
        pending.extend(reversed(children))
    return tree


def _iter_subschemas(node: SchemaNode) -> Iterator[tuple[NodePath, object]]:
    for keyword, value in node.members.items():
        path = (*node.path, keyword)
        if keyword in _SCHEMA_MAP_KEYWORDS:
            yield from (((*path, name), subschema) for name, subschema in as_mapping(value).items())
        elif keyword in _SCHEMA_LIST_KEYWORDS:
            yield from (((*path, str(index)), subschema) for index, subschema in enumerate(as_list(value)))
        elif keyword in _SUBSCHEMA_KEYWORDS or (keyword == "additionalProperties" and isinstance(value, dict)):
            yield path, value


def order_nodes(edges: NodeEdges) -> tuple[list[NodePath], list[NodePath]]:
    """Return all nodes, each after its successors, and the nodes with an edge back to an ancestor."""
    finished: dict[NodePath, None] = {}
    cyclic: list[NodePath] = []
    for start in edges:
        if start in finished:
            continue
        stack, on_path = [(start, iter(edges[start]))], {start}
        while stack:
            node, successors = stack[-1]
            successor = next(successors, None)
            if successor is None:
                stack.pop()
                on_path.discard(node)
                finished[node] = None
            elif successor in on_path:
                cyclic.append(node)
            elif successor not in finished:
                stack.append((successor, iter(edges[successor])))
                on_path.add(successor)
    return list(finished), cyclic


def measure_nesting(tree: SchemaTree) -> int:
    """Return the deepest nesting, with each reference followed once per path.

    The search ends after ``MAX_STEPS`` steps with the deepest nesting so far.
    """
    # First the depths between references, each measured once; then a search over the reference targets only.
    depths: dict[NodePath, int] = {}
    targets: dict[NodePath, dict[NodePath, int]] = {}
    pending: list[NodePath] = [()]
    while pending:
        start = pending.pop()
        if start not in depths:
            depths[start], targets[start] = _measure_reach(tree, start)
            pending.extend(targets[start])
    deepest, steps = depths[()], MAX_STEPS
    stack: list[tuple[NodePath, int, Iterator[tuple[NodePath, int]]]] = [((), 0, iter(targets[()].items()))]
    on_path: set[NodePath] = {()}
    while stack and steps:
        node, depth, successors = stack[-1]
        successor = next(successors, None)
        steps -= 1
        if successor is None:
            stack.pop()
            on_path.discard(node)
        elif successor[0] not in on_path:
            target, offset = successor
            deepest = max(deepest, depth + offset + depths[target])
            stack.append((target, depth + offset, iter(targets[target].items())))
            on_path.add(target)
    return deepest


def _measure_reach(tree: SchemaTree, start: NodePath) -> tuple[int, dict[NodePath, int]]:
    """Return the depth below a node without references, and the depth of each reference target."""
    deepest, targets = 0, dict[NodePath, int]()
    pending = [(start, 0)]
    while pending:
        path, depth = pending.pop()
        node = tree.nodes[path]
        depth += bool({"object", "array"} & set(node.types))
        deepest = max(deepest, depth)
        target = tree.resolve_reference(node.members.get("$ref"))
        if target is not None:
            targets[target] = max(targets.get(target, 0), depth)
        children = [
            child
            for child in tree.children[path]
            if child in tree.nodes and child[len(path)] not in DEFINITION_KEYWORDS
        ]
        pending.extend((child, depth) for child in children)
    return deepest, targets


NodeRule: TypeAlias = "Callable[[SchemaNode], Iterable[SchemaViolation]]"
TreeRule: TypeAlias = "Callable[[SchemaTree], Iterable[SchemaViolation]]"
MAX_VIOLATIONS = 200


@dataclass(frozen=True, slots=True)
class SchemaDialect:
    """The rules of one vendor; ``keywords`` are those that it descends into."""

    keywords: frozenset[str]
    node_rules: tuple[NodeRule, ...]
    tree_rules: tuple[TreeRule, ...] = ()

    def find_violations(self, schema: object) -> list[SchemaViolation]:
        """Return at most ``MAX_VIOLATIONS`` violations of any JSON value, starting with rules about the whole tree."""
        tree = parse_schema_tree(schema, self.keywords)
        violations = chain(
            tree.read_limits.values(),
            chain.from_iterable(rule(tree) for rule in self.tree_rules),
            chain.from_iterable(rule(node) for node in tree.nodes.values() for rule in self.node_rules),
        )
        return list(islice(violations, MAX_VIOLATIONS))


JSON_TYPES = frozenset({"string", "number", "boolean", "integer", "object", "array", "null"})
STRING_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, as_list(value)))


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_filled_list(value: object) -> bool:
    return bool(as_list(value))


def _is_bool_or_object(value: object) -> bool:
    return isinstance(value, bool | dict)


_KEYWORD_CHECKS: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", *DEFINITION_KEYWORDS), _is_object),
    **dict.fromkeys(("anyOf", "any_of", "oneOf", "allOf", "prefixItems", "enum"), _is_filled_list),
    **dict.fromkeys(("required", "propertyOrdering", "property_ordering"), _is_text_list),
    **dict.fromkeys(("title", "description", "pattern", "format", "$ref", "$schema", "$id", "$anchor"), _is_text),
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _is_number),
    "additionalProperties": _is_bool_or_object,
}


def check_schema_is_object(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Forbid schemas that are not objects, such as ``true``."""
    if not isinstance(node.schema, dict):
        yield node.make_violation("schema_must_be_an_object", type(node.schema).__name__)


def check_keyword_values(keywords: frozenset[str]) -> NodeRule:
    """Forbid values of these keywords that have the wrong JSON type."""
    checks = {keyword: is_valid for keyword, is_valid in _KEYWORD_CHECKS.items() if keyword in keywords}

    def rule(node: SchemaNode) -> Iterator[SchemaViolation]:
        for keyword, value in node.members.items():
            if keyword in checks and not checks[keyword](value):
                yield node.make_violation("keyword_malformed", keyword)

    return rule


def check_known_types(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Forbid a ``type`` outside the seven JSON types, or a list with such a name."""
    type_value = node.members.get("type", "null")
    names = as_list(type_value) if isinstance(type_value, list) else [type_value]
    if not names or not all(isinstance(name, str) and name in JSON_TYPES for name in names):
        yield node.make_violation("type_unknown")


def allow_keywords(keywords: frozenset[str]) -> NodeRule:
    """Forbid all other keywords."""

    def rule(node: SchemaNode) -> Iterator[SchemaViolation]:
        yield from (
            node.make_violation("keyword_not_supported", keyword) for keyword in node.members if keyword not in keywords
        )

    return rule


def require_type_unless(*keywords: str) -> NodeRule:
    """Require ``type``, unless one of these keywords is present."""

    def rule(node: SchemaNode) -> Iterator[SchemaViolation]:
        if isinstance(node.schema, dict) and not {"type", *keywords} & set(node.members):
            yield node.make_violation("type_missing")

    return rule


def check_object_closed(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Require ``additionalProperties: false`` for objects."""
    if "object" in node.types and node.members.get("additionalProperties") is not False:
        yield node.make_violation("object_must_be_closed")


def check_array_items(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Require ``items`` for arrays."""
    if "array" in node.types and "items" not in node.members:
        yield node.make_violation("array_needs_items")


def check_required_names(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Forbid names in ``required`` that are not properties."""
    for name in sorted(node.required - node.properties.keys()):
        yield node.make_violation("required_names_no_property", name)


def allow_formats(known: frozenset[str], rule_id: str = "format_not_supported") -> NodeRule:
    """Forbid all other formats of strings. Other types may have any format."""

    def rule(node: SchemaNode) -> Iterator[SchemaViolation]:
        format_ = node.members.get("format")
        if "string" in node.types and isinstance(format_, str) and format_ not in known:
            yield node.make_violation(rule_id, format_)

    return rule


def forbid_in_pattern(forbidden: re.Pattern[str]) -> NodeRule:
    """Forbid patterns with constructs that the vendor's engine lacks."""

    def rule(node: SchemaNode) -> Iterator[SchemaViolation]:
        pattern = node.members.get("pattern")
        if isinstance(pattern, str) and forbidden.search(pattern):
            yield node.make_violation("pattern_not_supported", pattern)

    return rule


def get_json_types(value: Any) -> frozenset[str]:
    """Return the names of the JSON types that a value has."""
    match value:
        case None:
            return frozenset({"null"})
        case bool():
            return frozenset({"boolean"})
        case int():
            return frozenset({"integer", "number"})
        case float():
            return frozenset({"integer", "number"} if value.is_integer() else {"number"})
        case str():
            return frozenset({"string"})
        case _:
            return frozenset({"array"} if isinstance(value, list) else {"object"})


def get_constants(node: SchemaNode) -> list[Any]:
    """Return the values of ``enum`` and ``const``."""
    return [*as_list(node.members.get("enum")), *([node.members["const"]] if "const" in node.members else [])]


def check_enum_types(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Forbid ``enum`` and ``const`` values that do not match ``type``."""
    if node.types and not all(get_json_types(value) & set(node.types) for value in get_constants(node)):
        yield node.make_violation("enum_must_fit_type", " ".join(node.types))


def allow_ref_siblings(keywords: frozenset[str]) -> NodeRule:
    """Forbid all other keywords next to ``$ref``."""

    def rule(node: SchemaNode) -> Iterator[SchemaViolation]:
        if "$ref" in node.members:
            siblings = [keyword for keyword in node.members if keyword != "$ref" and keyword not in keywords]
            yield from (node.make_violation("keyword_beside_ref", keyword) for keyword in siblings)

    return rule


def check_refs_resolve(tree: SchemaTree) -> Iterator[SchemaViolation]:
    """Forbid references outside the schema or to undefined places."""
    for node in tree.nodes.values():
        reference = node.members.get("$ref")
        if isinstance(reference, str) and not reference.startswith("#"):
            yield node.make_violation("ref_external", reference)
        elif isinstance(reference, str) and tree.resolve_reference(reference) is None:
            yield node.make_violation("ref_undefined", reference)


def check_no_recursion(tree: SchemaTree) -> Iterator[SchemaViolation]:
    """Forbid recursive references."""
    yield from (tree.nodes[path].make_violation("recursion") for path in order_nodes(tree.make_edges())[1])


def limit_total(limit: int, rule: str, measure: Callable[[SchemaTree], int]) -> TreeRule:
    """Limit a measure of the whole schema."""

    def check(tree: SchemaTree) -> Iterator[SchemaViolation]:
        measured = measure(tree)
        if measured > limit:
            yield tree.nodes[()].make_violation(rule, f"{measured} of at most {limit}")

    return check


def count_properties(tree: SchemaTree) -> int:
    """Count the properties of all objects."""
    return sum(len(node.properties) for node in tree.nodes.values())


def count_enum_values(tree: SchemaTree) -> int:
    """Count the values of all enums."""
    return sum(len(as_list(node.members.get("enum"))) for node in tree.nodes.values())


def count_characters(tree: SchemaTree) -> int:
    """Count the characters of all property names, definition names and string constants."""
    return sum(
        sum(map(len, node.properties))
        + sum(len(name) for keyword in DEFINITION_KEYWORDS for name in as_mapping(node.members.get(keyword)))
        + sum(len(constant) for constant in get_constants(node) if isinstance(constant, str))
        for node in tree.nodes.values()
    )
