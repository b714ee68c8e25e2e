"""The intermediate representation between parsing and writing a schema.

A ``SchemaDocument`` holds a tree of nodes and the definitions that ``RefNode`` refers to. Nodes depend on no draft and
no provider. This module also transforms the tree and analyses how definitions refer to one another.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from emitter.schema.json_data import ALL_TYPES, ARRAY, OBJECT, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emitter.messages import Json


class Rule(NamedTuple):
    """A keyword, its value, and the pointer of the schema that contains it."""

    pointer: str
    keyword: str
    value: Any


class NoteKey:
    """Keys of notes that become sentences, because no provider has a keyword for them."""

    FORMAT = "$format"
    """A format that does not restrict the valid values."""
    NAMES = "$names"
    """The names of enum values, by canonical key."""
    CONTENT = "$content"
    """The part that describes the content of a string, such as JSON."""


def _empty_table() -> dict[str, Any]:
    """Return one shared empty table, because most nodes have no notes. Notes are replaced, never changed."""
    return _EMPTY_TABLE


_EMPTY_TABLE: dict[str, Any] = {}


@dataclass(slots=True, eq=False)
class _Node:
    pointer: str
    notes: dict[str, Any] = field(default_factory=_empty_table, kw_only=True)
    """Title, description, default, examples, and notes under a ``NoteKey``."""
    rules: tuple[Rule, ...] = field(default=(), kw_only=True)
    unenforced: tuple[Rule, ...] = field(default=(), kw_only=True)
    unions: tuple[Rule, ...] = field(default=(), kw_only=True)
    """The unions whose only possible branch is this node."""
    parts: tuple[Any, ...] = field(default=(), kw_only=True)
    """The parts of the original schema that apply here (``emitter.schema.references.SchemaPart``)."""


@dataclass(slots=True, eq=False)
class AnyNode(_Node):
    """Any value of these types, carried as JSON text.

    If ``is_constrained``, ``parts`` restrict the value further, which no provider can enforce. If ``is_degraded``, the
    node lost its structure because the schema was too large. If ``parts`` are the targets of references,
    ``source_parts`` are the schemas that contain the references.
    """

    types: tuple[str, ...] = ALL_TYPES
    is_constrained: bool = False
    is_degraded: bool = False
    source_parts: tuple[Any, ...] = ()


@dataclass(slots=True, eq=False)
class NeverNode(_Node):
    """No value. ``rules`` are the keywords that contradict each other; a schema that is ``false`` has none."""


@dataclass(slots=True, eq=False)
class ScalarNode(_Node):
    """A string, a number, a boolean or null."""

    types: tuple[str, ...]


@dataclass(slots=True, eq=False)
class EnumNode(_Node):
    """One of these values of any type. If ``is_dropped``, there are too many to list for the provider."""

    values: list[Json]
    is_dropped: bool = False


@dataclass(slots=True, eq=False)
class UnnamedProperties:
    """The properties that the schema does not name.

    ``entries`` pairs a name pattern (None for all other names) with the node of the value. If ``is_implicit``, the
    schema does not mention unnamed properties. ``name_rules`` constrain the names, and ``key_enum`` lists the names if
    one rule lists them. ``rules`` are set if only patterns say which names are allowed.
    """

    entries: tuple[tuple[str | None, Node], ...]
    is_implicit: bool = False
    name_rules: tuple[Rule, ...] = ()
    key_enum: EnumNode | None = None
    rules: tuple[Rule, ...] = ()


@dataclass(slots=True, eq=False)
class ObjectNode(_Node):
    """An object, closed if ``unnamed`` is None.

    No property may have one of ``forbidden_names``. The properties in ``overflow`` are carried together as JSON text.
    """

    fields: dict[str, ObjectProperty]
    unnamed: UnnamedProperties | None = None
    forbidden_names: frozenset[str] = frozenset()
    overflow: dict[str, ObjectProperty] = field(default_factory=_empty_table)


@dataclass(slots=True, eq=False)
class ArrayNode(_Node):
    """An array: the items of ``prefix``, then any number of ``items``. Without ``items`` it ends after the prefix."""

    prefix: tuple[Node, ...] = ()
    items: Node | None = None
    min_items: int = 0
    max_items: int | None = None


@dataclass(slots=True, eq=False)
class UnionNode(_Node):
    """One of several branches. ``origin`` is the union keyword, if there is one."""

    branches: tuple[Node, ...]
    origin: Rule | None = None

    @property
    def is_exclusive(self) -> bool:
        """True if exactly one branch must match."""
        return self.origin is not None and self.origin.keyword == "oneOf"


@dataclass(slots=True, eq=False)
class RefNode(_Node):
    """A reference to a definition.

    ``text_parts`` are the schemas of the value if the definition is JSON text that several places share.
    """

    name: str
    text_parts: tuple[Any, ...] = ()


Node: TypeAlias = AnyNode | NeverNode | ScalarNode | EnumNode | ObjectNode | ArrayNode | UnionNode | RefNode


class ObjectProperty(NamedTuple):
    """A property that the schema names."""

    node: Node
    required: bool


@dataclass(frozen=True, slots=True)
class SchemaDocument:
    """A parsed schema: its root, and its definitions by name."""

    root: Node
    definitions: dict[str, Node]

    def resolve(self, node: Node) -> Node:
        """Follow references from ``node``. A cycle of bare references is a ``NeverNode``."""
        seen: set[str] = set()
        while isinstance(node, RefNode):
            if node.name in seen:
                return NeverNode(node.pointer)
            seen.add(node.name)
            node = self.definitions[node.name]
        return node

    def iter_nodes(self) -> Iterator[Node]:
        """Yield the nodes of the root, then the nodes of each definition."""
        for start in (self.root, *self.definitions.values()):
            pending = [start]
            while pending:
                node = pending.pop()
                yield node
                pending.extend(children(node))


def children(node: Node) -> list[Node]:
    """Return the direct children of ``node``. A reference has none."""
    match node:
        case ObjectNode():
            rest = [entry for _, entry in node.unnamed.entries] if node.unnamed is not None else []
            return [*(field.node for field in node.fields.values()), *rest]
        case ArrayNode():
            return [*node.prefix, *([node.items] if node.items is not None else [])]
        case UnionNode():
            return list(node.branches)
        case _:
            return []


class NodeTransform(Protocol):
    """Replaces nodes."""

    def __call__(self, node: Node, /, *, optional: bool) -> Node | None:
        """Return the replacement of ``node``, or None to continue with its children."""
        ...


def transform_node(node: Node, transform: NodeTransform, *, optional: bool = False) -> Node:
    """Return ``node`` with all nodes inside it transformed."""
    changed = transform(node, optional=optional)
    if changed is not None:
        return changed
    match node:
        case ObjectNode():
            fields = {
                name: ObjectProperty(transform_node(field.node, transform, optional=not field.required), field.required)
                for name, field in node.fields.items()
            }
            unnamed = node.unnamed
            if unnamed is not None:
                entries = ((pattern, transform_node(value, transform)) for pattern, value in unnamed.entries)
                unnamed = replace(unnamed, entries=tuple(entries))
            return replace(node, fields=fields, unnamed=unnamed)
        case ArrayNode():
            items = None if node.items is None else transform_node(node.items, transform)
            return replace(node, prefix=tuple(transform_node(item, transform) for item in node.prefix), items=items)
        case UnionNode():
            return replace(node, branches=tuple(transform_node(branch, transform) for branch in node.branches))
        case _:
            return node


MAX_UNION_MEMBERS = 256
"""Unions with more members, including nested ones, are not flattened."""


def flatten_union(document: SchemaDocument, node: Node) -> list[Node] | None:
    """Return the members of nested unions, references followed, or None if there are too many."""
    members: list[Node] = []
    visited: set[int] = set()
    pending = [node]
    while pending:
        current = document.resolve(pending.pop())
        if id(current) in visited:
            continue
        visited.add(id(current))
        if isinstance(current, UnionNode):
            pending.extend(current.branches)
        else:
            members.append(current)
        if len(visited) > MAX_UNION_MEMBERS:
            return None
    return members


def node_types(document: SchemaDocument, node: Node) -> tuple[str, ...]:
    """Return the JSON types that a value of ``node`` may have."""
    members = flatten_union(document, node)
    if members is None:
        return ALL_TYPES
    return tuple(dict.fromkeys(kind for member in members for kind in _single_node_types(member)))


def _single_node_types(node: Node) -> tuple[str, ...]:
    match node:
        case AnyNode() | ScalarNode():
            return node.types
        case EnumNode():
            return tuple(type_of(value) for value in node.values)
        case ObjectNode():
            return (OBJECT,)
        case ArrayNode():
            return (ARRAY,)
        case _:
            return ()


def to_json_text(document: SchemaDocument, node: Node, *, degraded: bool = False) -> AnyNode:
    """Return ``node`` carried as JSON text. ``degraded`` means that only the size of the schema requires it."""
    target = document.resolve(node)
    parts = (isinstance(node, RefNode) and node.text_parts) or target.parts
    text = AnyNode(
        node.pointer,
        node_types(document, target),
        is_constrained=bool(parts),
        is_degraded=degraded,
        source_parts=node.parts,
    )
    text.notes, text.parts = node.notes, parts
    return text


class DefinitionOrder(NamedTuple):
    """The reachable definitions, each after the definitions that it refers to, except in cycles."""

    names: tuple[str, ...]
    recursive: frozenset[str]
    uses: Counter[str]


def iter_references(node: Node, follow: Callable[[Node, Node], bool] = lambda _node, _child: True) -> Iterator[str]:
    """Yield the names of the definitions referred to inside ``node``, through children that ``follow`` accepts."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, RefNode):
            yield current.name
        pending.extend(child for child in children(current) if follow(current, child))


def definition_order(document: SchemaDocument) -> DefinitionOrder:
    """Return the order of the definitions that the root reaches."""
    if not document.definitions:
        return DefinitionOrder((), frozenset(), Counter())
    edges = {name: tuple(dict.fromkeys(iter_references(node))) for name, node in document.definitions.items()}
    names = topological_order(edges, tuple(iter_references(document.root)))
    reached = set(names)
    uses = Counter(iter_references(document.root))
    for name in names:
        uses.update(iter_references(document.definitions[name]))
    return DefinitionOrder(tuple(names), cyclic_names({name: edges[name] for name in reached}), uses)


def topological_order(edges: dict[str, tuple[str, ...]], starts: Iterable[str] | None = None) -> list[str]:
    """Return the names that ``starts`` reach (by default all), each after its successors except in cycles."""
    done: set[str] = set()
    return [name for start in (edges if starts is None else starts) for name in _post_order(start, edges, done)]


def _post_order(start: str, edges: dict[str, tuple[str, ...]], done: set[str]) -> Iterator[str]:
    """Yield the names that ``start`` reaches, each after its successors."""
    if start in done:
        return
    done.add(start)
    trail = [(start, iter(edges[start]))]
    while trail:
        name, rest = trail[-1]
        successor = next((each for each in rest if each not in done), None)
        if successor is None:
            trail.pop()
            yield name
        else:
            done.add(successor)
            trail.append((successor, iter(edges[successor])))


def strong_components(edges: dict[str, tuple[str, ...]]) -> dict[str, int]:
    """Return the number of each name's strongly connected component. An edge leads to the same or a larger number."""
    # Kosaraju's algorithm, without recursion because a schema may have thousands of definitions.
    after = topological_order(edges)
    backward: dict[str, list[str]] = {name: [] for name in edges}
    for name, leads in edges.items():
        for target in leads:
            backward[target].append(name)
    back = {name: tuple(leads) for name, leads in backward.items()}
    done: set[str] = set()
    return {name: number for number, start in enumerate(reversed(after)) for name in _post_order(start, back, done)}


def cyclic_names(edges: dict[str, tuple[str, ...]]) -> frozenset[str]:
    """Return the names that lead back to themselves."""
    number = strong_components(edges)
    sizes = Counter(number.values())
    return frozenset(name for name, leads in edges.items() if sizes[number[name]] > 1 or name in leads)
