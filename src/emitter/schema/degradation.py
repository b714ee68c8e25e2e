"""Reduce a schema until it fits a provider's size limits.

Optional properties become nullable, long enums are dropped, and subtrees become JSON text. ``SizeAllocation`` spends
the limits from the root down, so that structure near the root is kept.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emitter.profiles.tables import OptionalProperties
from emitter.schema.json_data import INTEGER, NUMBER, type_of
from emitter.schema.nodes import (
    AnyNode,
    ArrayNode,
    EnumNode,
    NeverNode,
    Node,
    NodeTransform,
    ObjectNode,
    ObjectProperty,
    RefNode,
    ScalarNode,
    SchemaDocument,
    UnionNode,
    definition_order,
    node_types,
    to_json_text,
    transform_node,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.profiles.tables import SchemaLimits, SchemaSubset

MAX_STRUCTURED_NODES = 8_000
"""At most this many nodes keep their structure."""
MAX_DEPTH = 30
"""The maximum depth for providers without a limit of their own."""
_COUNTED_LIMITS = ("properties", "enum_values", "characters", "optional", "unions")
_OVERFLOW_NAME_LENGTH = len("additional_properties")
_ROOT_NAME = ""


class SizeBudget:
    """The part of each limit that may be used: all of it at first, and less after each attempt that is too large.

    The cost of a node is an estimate. For example, only writing a union shows whether it needs tags.
    """

    def __init__(self, limits: SchemaLimits, extra: int = 0) -> None:
        """Start with the limits. ``extra`` optional properties may exceed them, to be made nullable later."""
        self.counts = {name: most for name in _COUNTED_LIMITS if (most := getattr(limits, name)) is not None}
        self.counts["places"] = MAX_STRUCTURED_NODES
        per_object = limits.optional_of_one_object
        self.max_optional_per_object = None if per_object is None else per_object + extra
        if "optional" in self.counts:
            self.counts["optional"] += extra
        self.depth = MAX_DEPTH if limits.depth is None else limits.depth
        self.levels = limits.levels
        self.cuts_references = False

    def tighten(self, exceeded: dict[str, tuple[int, int]]) -> None:
        """Subtract the excess. ``exceeded`` maps the name of a limit to the measured size and the limit."""
        for name, (count, most) in exceeded.items():
            if name == "depth":
                # References are cut only once the rest is within the limit.
                self.depth -= (count - most) if self.cuts_references else 0
                self.cuts_references = True
            elif name == "levels" and self.levels is not None:
                self.levels -= 1
            elif name == "optional_of_one_object" and self.max_optional_per_object is not None:
                self.max_optional_per_object -= count - most
            elif name in {"places", "size"}:
                self.counts["places"] = min(self.counts["places"] // 2, self.counts["places"] * most // count)
            elif name in self.counts:
                self.counts[name] -= count - most

    def shrink(self, share: float) -> None:
        """Keep only this share of everything."""
        self.counts = {name: int(each * share) for name, each in self.counts.items()}
        self.depth = max(int(self.depth * share), 1)
        self.levels = None if self.levels is None else max(int(self.levels * share), 1)


@dataclass(slots=True, eq=False)
class _NodeSlot:
    """A node and its position: its depth in containers below the root, and its level below its definition.

    ``children`` is set if the budget covers its structure. A reference that ``is_cut`` becomes JSON text.
    """

    node: Node
    depth: int
    level: int
    owner: str
    children: list[_NodeSlot] | None = None
    kept_properties: dict[str, ObjectProperty] | None = None
    is_cut: bool = False


@dataclass(slots=True)
class _DefinitionSlot:
    """A definition or the root, the depth that it reaches by itself, and its references."""

    root_slot: _NodeSlot
    reach: int = 0
    references: list[_NodeSlot] = field(default_factory=list[_NodeSlot])


class SizeAllocation:
    """Spends a budget on the nodes of a document, breadth first."""

    def __init__(self, document: SchemaDocument, subset: SchemaSubset, budget: SizeBudget) -> None:
        self._document = document
        self._subset = subset
        self._budget = budget
        self._remaining = dict(budget.counts)
        self._uses = definition_order(document).uses
        self._bodies: dict[str, _DefinitionSlot] = {}
        self._first_references: set[int] = set()

    def allocate(self) -> SchemaDocument:
        """Return the document with JSON text in place of the nodes that the budget does not cover."""
        root = _NodeSlot(self._document.root, 1, 0, _ROOT_NAME)
        self._bodies[_ROOT_NAME] = _DefinitionSlot(root)
        pending = deque([root])
        # Breadth first, because the structure near the root guides the model most.
        while pending:
            slot = pending.popleft()
            if isinstance(slot.node, RefNode):
                pending.extend(self._visit_reference(slot, slot.node))
            elif self._try_afford(slot):
                slot.children = [self._child_slot(slot, child) for child in self._child_nodes(slot)]
                pending.extend(slot.children)
        if self._budget.cuts_references:
            self._cut_deep_references()
        definitions = {
            name: self._build_node(each.root_slot) for name, each in self._bodies.items() if name != _ROOT_NAME
        }
        return SchemaDocument(self._build_node(root), definitions)

    def _visit_reference(self, slot: _NodeSlot, node: RefNode) -> Iterator[_NodeSlot]:
        """Record a reference, and yield the definition if this is the first reference to it."""
        slot.children = []
        self._bodies[slot.owner].references.append(slot)
        if node.name not in self._bodies and self._try_spend(Counter(characters=len(node.name))):
            is_only_reference = self._uses[node.name] == 1
            body = _NodeSlot(
                self._document.definitions[node.name], slot.depth, slot.level if is_only_reference else 1, node.name
            )
            self._bodies[node.name] = _DefinitionSlot(body)
            self._first_references.add(id(slot))
            yield body
        slot.is_cut = node.name not in self._bodies

    def _child_slot(self, slot: _NodeSlot, node: Node) -> _NodeSlot:
        return _NodeSlot(node, slot.depth + _container_count(slot.node), slot.level + 1, slot.owner)

    def _child_nodes(self, slot: _NodeSlot) -> list[Node]:
        if isinstance(slot.node, ObjectNode) and slot.kept_properties is not None:
            overflows = len(slot.kept_properties) < len(slot.node.fields)
            entries = slot.node.unnamed.entries if slot.node.unnamed is not None and not overflows else ()
            return [*(kept.node for kept in slot.kept_properties.values()), *(value for _, value in entries)]
        if isinstance(slot.node, ArrayNode):
            return [*slot.node.prefix, *([slot.node.items] if slot.node.items is not None else [])]
        return list(slot.node.branches) if isinstance(slot.node, UnionNode) else []

    def _try_afford(self, slot: _NodeSlot) -> bool:
        """Subtract the cost of a node from the budget. Returns False if the budget does not cover it."""
        reach = slot.depth + _container_count(slot.node) - 1
        is_nested = isinstance(slot.node, ObjectNode | ArrayNode | UnionNode)
        is_too_low = self._budget.levels is not None and slot.level + is_nested > self._budget.levels
        if reach > self._budget.depth or is_too_low or not self._try_spend(Counter(places=1)):
            return False
        if isinstance(slot.node, ObjectNode):
            slot.kept_properties = self._select_properties(slot.node)
            if slot.kept_properties is None:
                return False
        elif not self._try_spend(self._node_cost(slot.node)):
            return False
        body = self._bodies[slot.owner]
        body.reach = max(body.reach, reach - body.root_slot.depth + 1)
        return True

    def _try_spend(self, cost: Counter[str]) -> bool:
        if any(cost[name] > left for name, left in self._remaining.items()):
            return False
        for name in self._remaining:
            self._remaining[name] -= cost[name]
        return True

    def _select_properties(self, node: ObjectNode) -> dict[str, ObjectProperty] | None:
        """Return the properties that the budget covers, required ones first, or None if there are none."""
        if not node.fields:
            entries = 0 if node.unnamed is None else 2 * len(node.unnamed.entries)
            return {} if self._try_spend(Counter(properties=entries)) else None
        optional = sum(not field.required for field in node.fields.values())
        max_optional = self._budget.max_optional_per_object
        costs = {name: self._property_cost(name, field) for name, field in node.fields.items()}
        slot = Counter(properties=1, characters=_OVERFLOW_NAME_LENGTH)
        total = sum(costs.values(), slot if node.unnamed is not None else Counter[str]())
        if (max_optional is None or optional <= max_optional) and self._try_spend(total):
            return dict(node.fields)
        if not self._try_spend(slot):
            return None
        kept: set[str] = set()
        optional = 0
        for name, member in sorted(node.fields.items(), key=lambda pair: not pair[1].required):
            is_full = not member.required and max_optional is not None and optional >= max_optional
            if not is_full and self._try_spend(costs[name]):
                kept.add(name)
                optional += not member.required
        return {name: field for name, field in node.fields.items() if name in kept} or None

    def _property_cost(self, name: str, member: ObjectProperty) -> Counter[str]:
        absent = not member.required
        omits = self._subset.optionals is OptionalProperties.OMIT
        return Counter(
            properties=1, characters=len(name), optional=int(absent and omits), unions=int(absent and not omits)
        )

    def _node_cost(self, node: Node) -> Counter[str]:
        match node:
            case UnionNode():
                return Counter(unions=1)
            case EnumNode():
                is_mixed = len(_value_types(node)) > 1
                return Counter(
                    unions=int(is_mixed), enum_values=len(node.values), characters=count_enum_characters(node)
                )
            case ArrayNode():
                prefix_length, optional_items = len(node.prefix), max(len(node.prefix) - node.min_items, 0)
                if not prefix_length:
                    return Counter()
                omits = self._subset.optionals is OptionalProperties.OMIT
                cost = Counter(properties=prefix_length + (node.items is not None), characters=7 * prefix_length)
                return cost + Counter(optional=optional_items if omits else 0, unions=0 if omits else optional_items)
            case _:
                return Counter(unions=int(len(getattr(node, "types", ())) > 1))

    def _cut_deep_references(self) -> None:
        """Cut the references that would make a path through distinct definitions too deep.

        The first references to each definition form a tree. Any other forward reference is kept if the definition fits
        at its depth too, and a backward reference if every path to it has already passed that definition.
        """
        names = list(self._bodies)
        number = {name: index for index, name in enumerate(names)}
        reach = {name: each.reach for name, each in self._bodies.items()}
        for name in reversed(names):
            for reference, target, depth in self._iter_uncut_references(name):
                if id(reference) in self._first_references:
                    reach[name] = max(reach[name], depth + reach[target])
        start, dominators = {_ROOT_NAME: 1}, dict[str, str]()  # immediate dominators
        backward: list[tuple[_NodeSlot, str, str]] = []
        for name in names:
            for reference, target, depth in self._iter_uncut_references(name):
                fits = number[target] > number[name] and start[name] + depth + reach[target] - 1 <= self._budget.depth
                if id(reference) not in self._first_references and not fits:
                    backward.append((reference, name, target))
                    continue
                start[target] = max(start.get(target, 0), start[name] + depth)
                dominators[target] = (
                    _common_dominator(dominators[target], name, dominators, number) if target in dominators else name
                )
        for reference, name, target in backward:
            reference.is_cut = not _is_dominated(target, name, dominators)

    def _iter_uncut_references(self, name: str) -> Iterator[tuple[_NodeSlot, str, int]]:
        """Yield each reference of a definition, its target, and its depth below the top of the definition."""
        body = self._bodies[name]
        for reference in body.references:
            if isinstance(reference.node, RefNode) and not reference.is_cut:
                yield reference, reference.node.name, reference.depth - body.root_slot.depth

    def _build_node(self, slot: _NodeSlot) -> Node:
        """Return the node of a slot with its children."""
        node = slot.node
        if isinstance(node, RefNode) and not slot.is_cut:
            return node
        if slot.children is None or slot.is_cut:
            return self._drop_structure(node)
        children = iter([self._build_node(child) for child in slot.children])
        match node:
            case ObjectNode():
                return self._build_object(node, slot.kept_properties or {}, children)
            case ArrayNode():
                prefix = tuple(next(children) for _ in node.prefix)
                return replace(node, prefix=prefix, items=None if node.items is None else next(children))
            case UnionNode():
                return replace(node, branches=tuple(children))
            case _:
                return node

    def _build_object(
        self, node: ObjectNode, kept_properties: dict[str, ObjectProperty], children: Iterator[Node]
    ) -> Node:
        fields = {name: ObjectProperty(next(children), each.required) for name, each in kept_properties.items()}
        overflow = {
            name: ObjectProperty(to_json_text(self._document, field.node, degraded=True), field.required)
            for name, field in node.fields.items()
            if name not in kept_properties
        }
        unnamed = node.unnamed
        if unnamed is not None:
            # The entries join the text of overflowing properties, so no definition is kept for them.
            entries = (
                (pattern, to_json_text(self._document, value, degraded=True) if overflow else next(children))
                for pattern, value in unnamed.entries
            )
            unnamed = replace(unnamed, entries=tuple(entries))
        return replace(node, fields=fields, unnamed=unnamed, overflow=overflow)

    def _drop_structure(self, node: Node) -> Node:
        """Return a node without its structure. Scalars have none."""
        if isinstance(node, EnumNode) and len(_value_types(node)) == 1 and not isinstance(node.values[0], dict | list):
            return replace(node, is_dropped=True)
        if isinstance(node, AnyNode | NeverNode) or (isinstance(node, ScalarNode) and len(node.types) == 1):
            return node
        return to_json_text(self._document, node, degraded=True)


def _common_dominator(one: str, other: str, dominators: dict[str, str], number: dict[str, int]) -> str:
    """Return the last definition that lies on every path to either of two definitions."""
    while one != other:
        if number[one] > number[other]:
            one = dominators[one]
        else:
            other = dominators[other]
    return one


def _is_dominated(through: str, name: str, dominators: dict[str, str]) -> bool:
    """Return whether ``through`` is ``name``, or lies on every path to it."""
    while name != through and name in dominators:
        name = dominators[name]
    return name == through


def _value_types(node: EnumNode) -> set[str]:
    """Return the types of enum values that need a schema each. All numbers share one."""
    return {NUMBER if (kind := type_of(value)) == INTEGER else kind for value in node.values}


def _container_count(node: Node) -> int:
    """Return how many objects and arrays the wire form of a node adds."""
    match node:
        case ObjectNode() if node.unnamed is None or (node.fields and node.unnamed.is_implicit):
            return 1
        case ObjectNode():
            return 3 if node.fields else 2
        case ArrayNode():
            return 2 if node.prefix and node.items is not None else 1
        case _:
            return 0


def drop_long_enums(document: SchemaDocument, limits: SchemaLimits) -> SchemaDocument:
    """Return the document without its longest enums, until the others are within the limits."""
    enums = [node for node in document.iter_nodes() if isinstance(node, EnumNode)]
    enums.sort(key=count_enum_characters, reverse=True)
    dropped: set[int] = set()
    values = sum(len(enum.values) for enum in enums)
    characters = sum(map(count_enum_characters, enums))
    for enum in enums:
        max_characters = limits.long_enum_characters
        is_long = limits.long_enum is not None and len(enum.values) > limits.long_enum
        is_too_long = is_long and max_characters is not None and count_enum_characters(enum) > max_characters
        if is_too_long or _exceeds(values, limits.enum_values) or _exceeds(characters, limits.characters):
            dropped.add(id(enum))
            values -= len(enum.values)
            characters -= count_enum_characters(enum)

    def change(node: Node, *, optional: bool) -> Node | None:  # noqa: ARG001  enums are dropped anywhere
        return replace(node, is_dropped=True) if isinstance(node, EnumNode) and id(node) in dropped else None

    return transform_document(document, change) if dropped else document


def transform_document(document: SchemaDocument, transform: NodeTransform) -> SchemaDocument:
    """Return the document with every node transformed."""
    definitions = {name: transform_node(node, transform) for name, node in document.definitions.items()}
    return SchemaDocument(transform_node(document.root, transform), definitions)


def _exceeds(count: int, limit: int | None) -> bool:
    return limit is not None and count > limit


def count_enum_characters(node: EnumNode) -> int:
    """Return the total length of the strings in an enum."""
    return sum(len(value) for value in node.values if isinstance(value, str))


def select_nullable_properties(
    document: SchemaDocument, subset: SchemaSubset, exceeded: dict[str, tuple[int, int]], unions: int
) -> frozenset[int]:
    """Return the nodes of optional properties to make nullable, if that is enough to meet the limits."""
    too_many = max(
        (exceeded[name][0] - exceeded[name][1] for name in ("optional", "optional_of_one_object") if name in exceeded),
        default=0,
    )
    if not too_many or subset.optionals is not OptionalProperties.OMIT:
        return frozenset()
    spare_unions = (subset.limits.unions if subset.limits.unions is not None else too_many) - unions
    objects = [node for node in document.iter_nodes() if isinstance(node, ObjectNode)]
    objects.sort(key=lambda node: sum(not field.required for field in node.fields.values()), reverse=True)
    fields = [field for node in objects for field in node.fields.values() if not field.required]
    # Properties that may be null come first: making them nullable adds no union.
    fields.sort(key=lambda field: "null" not in node_types(document, field.node))
    already_nullable = [field for field in fields if "null" in node_types(document, field.node)]
    return frozenset(id(field.node) for field in fields[: min(too_many, len(already_nullable) + max(spare_unions, 0))])
