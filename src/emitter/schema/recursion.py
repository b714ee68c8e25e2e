"""Remove empty definitions and unroll unsupported recursion.

A definition that no finite document can satisfy is removed. Recursion that the provider rejects is unrolled a fixed
number of times; deeper levels are carried as JSON text.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from emitter.errors import Uncompilable
from emitter.messages import as_mapping
from emitter.profiles.tables import RecursionSupport
from emitter.schema.json_data import definition_name, truncate_json
from emitter.schema.nodes import (
    ArrayNode,
    EnumNode,
    NeverNode,
    Node,
    ObjectNode,
    ObjectProperty,
    RefNode,
    Rule,
    SchemaDocument,
    UnionNode,
    cyclic_names,
    flatten_union,
    iter_references,
    strong_components,
    to_json_text,
    transform_node,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.profiles.tables import SchemaSubset
    from emitter.schema.parser import SchemaParser

MAX_PRUNE_ROUNDS = 200
MAX_SEARCHED_DEFINITIONS = 50
"""The cause of a contradiction is searched in at most this many definitions."""
MAX_NAMED_RULES = 3
"""The maximum number of contradictory keywords in an error message."""


def prune_empty(document: SchemaDocument, parser: SchemaParser) -> SchemaDocument:
    """Return the document without nodes that have no value, whose contradictions ``parser`` records.

    Raises ``Uncompilable`` if the root has none.
    """
    document = _resolve_cyclic_unions(document)
    empty = _find_empty_definitions(document)
    nonempty = document.definitions.keys() - empty
    definitions = {
        name: _remove_empty(document.definitions[name], empty) for name in document.definitions if name in nonempty
    }
    root = document.root
    if _is_empty(root, empty):
        raise _no_document(_find_cause(document, root, empty, set()))
    for name in empty:
        parser.note_contradictions(_find_cause(document, document.definitions[name], empty, {name})[:1])
    return SchemaDocument(_remove_empty(root, empty), definitions)


def _no_document(rules: tuple[Rule, ...]) -> Uncompilable:
    """Return the error for a schema without documents, at the place of the first rule."""
    if not rules:
        return Uncompilable("", "no document can satisfy this schema")
    pointer, shown = rules[0].pointer, rules[:MAX_NAMED_RULES]
    places = ("" if rule.pointer == pointer else f" at {rule.pointer or '/'}" for rule in shown)
    words = " and ".join(
        f"{rule.keyword} {truncate_json(rule.value)}{place}" for rule, place in zip(shown, places, strict=True)
    )
    verb = "allow" if len(shown) > 1 else "allows"
    return Uncompilable(pointer, f"no document can satisfy this schema: {words} {verb} no value")


def _find_cause(document: SchemaDocument, node: Node, empty: frozenset[str], visited: set[str]) -> tuple[Rule, ...]:
    """Return the rules because of which a node has no value, nothing for a schema that is ``false``."""
    match node:
        case NeverNode():
            return node.rules
        case RefNode():
            is_new = node.name not in visited and len(visited) < MAX_SEARCHED_DEFINITIONS
            visited.add(node.name)
            return _find_cause(document, document.definitions[node.name], empty, visited) if is_new else ()
        case UnionNode():
            causes = (_find_cause(document, branch, empty, visited) for branch in node.branches)
            return next(filter(None, causes), () if node.origin is None else (node.origin,))
        case ObjectNode():
            required = ((name, field.node) for name, field in node.fields.items() if field.required)
            name, value = next((name, value) for name, value in required if _is_empty(value, empty))
            cause = _find_cause(document, value, empty, visited)
            return cause or (Rule(node.pointer, "required", [name]),)
        case ArrayNode():
            items = (*node.prefix[: node.min_items], *([node.items] if node.items is not None else []))
            causes = (_find_cause(document, each, empty, visited) for each in items if _is_empty(each, empty))
            return next(filter(None, causes), (Rule(node.pointer, "minItems", node.min_items),))
        case _:
            return ()


def _resolve_cyclic_unions(document: SchemaDocument) -> SchemaDocument:
    """Return the document with unions that contain themselves replaced by their members."""
    alternatives = {name: tuple(_iter_alternatives(node)) for name, node in document.definitions.items()}
    cyclic = cyclic_names(alternatives)
    if not cyclic:
        return document
    has_conditions = any(node.unenforced or node.is_exclusive for node in _iter_unions(document, cyclic))
    definitions = {
        name: _flatten_cyclic_union(document, node, has_conditions=has_conditions) if name in cyclic else node
        for name, node in document.definitions.items()
    }
    return SchemaDocument(document.root, definitions)


def _iter_alternatives(node: Node) -> Iterator[str]:
    """Yield the definitions that ``node`` is an alternative of."""
    if isinstance(node, RefNode):
        yield node.name
    elif isinstance(node, UnionNode):
        for branch in node.branches:
            yield from _iter_alternatives(branch)


def _iter_unions(document: SchemaDocument, names: Iterable[str]) -> Iterator[UnionNode]:
    pending = [document.definitions[name] for name in names]
    while pending:
        node = pending.pop()
        if isinstance(node, UnionNode):
            yield node
            pending.extend(node.branches)


def _flatten_cyclic_union(document: SchemaDocument, node: Node, *, has_conditions: bool) -> Node:
    """Return the members of a cyclic union, or JSON text if conditions apply to the cycle."""
    # A branch that leads back to the union adds nothing to the other branches.
    members = flatten_union(document, node)
    if has_conditions or members is None or not isinstance(node, UnionNode):
        return to_json_text(document, node)
    return replace(node, branches=tuple(members))


def _find_empty_definitions(document: SchemaDocument) -> frozenset[str]:
    """Return the definitions that have no finite value: a fixed point, starting from all of them."""
    empty = frozenset(document.definitions)
    for _ in range(MAX_PRUNE_ROUNDS):
        remaining = frozenset(name for name in empty if _is_empty(document.definitions[name], empty))
        if remaining == empty:
            break
        empty = remaining
    return empty


def _is_empty(node: Node, empty: frozenset[str]) -> bool:
    match node:
        case NeverNode():
            return True
        case RefNode():
            return node.name in empty
        case UnionNode():
            return all(_is_empty(branch, empty) for branch in node.branches)
        case ObjectNode():
            return any(field.required and _is_empty(field.node, empty) for field in node.fields.values())
        case ArrayNode():
            required = node.prefix[: node.min_items]
            is_too_short = node.min_items > len(node.prefix) and (node.items is None or _is_empty(node.items, empty))
            return is_too_short or any(_is_empty(each, empty) for each in required)
        case _:
            return False


def _remove_empty(node: Node, empty: frozenset[str]) -> Node:
    match node:
        case ObjectNode():
            return _prune_object(node, empty)
        case ArrayNode():
            return _prune_array(node, empty)
        case UnionNode():
            kept = [_remove_empty(branch, empty) for branch in node.branches if not _is_empty(branch, empty)]
            if len(kept) == 1:
                return _merge_single_branch(node, kept[0])
            return replace(node, branches=tuple(kept)) if kept else NeverNode(node.pointer)
        case _:
            return node


def _merge_single_branch(node: UnionNode, only: Node) -> Node:
    """Return the only branch left, with the notes and rules of the union."""
    unions = (*only.unions, *node.unions, *([node.origin] if node.origin is not None else []))
    return replace(
        only, notes={**node.notes, **only.notes}, unenforced=(*only.unenforced, *node.unenforced), unions=unions
    )


def _prune_object(node: ObjectNode, empty: frozenset[str]) -> Node:
    fields = {
        name: ObjectProperty(_remove_empty(field.node, empty), field.required)
        for name, field in node.fields.items()
        if not _is_empty(field.node, empty)
    }
    forbidden = node.forbidden_names | (node.fields.keys() - fields.keys())
    if node.unnamed is None:
        return replace(node, fields=fields, forbidden_names=forbidden)
    entries = tuple(
        (pattern, _remove_empty(value, empty)) for pattern, value in node.unnamed.entries if not _is_empty(value, empty)
    )
    unnamed = replace(node.unnamed, entries=entries) if entries else None
    return replace(node, fields=fields, unnamed=unnamed, forbidden_names=forbidden)


def _prune_array(node: ArrayNode, empty: frozenset[str]) -> Node:
    end = next((index for index, item in enumerate(node.prefix) if _is_empty(item, empty)), None)
    prefix = tuple(_remove_empty(item, empty) for item in node.prefix[:end])
    items = node.items
    if end is not None or (items is not None and _is_empty(items, empty)):
        items = None
    elif items is not None:
        items = _remove_empty(items, empty)
    if not prefix and items is None:
        return EnumNode(node.pointer, [[]], notes=node.notes, unenforced=node.unenforced, parts=node.parts)
    max_items = node.max_items
    if items is None:
        max_items = len(prefix) if max_items is None else min(len(prefix), max_items)
    return replace(node, prefix=prefix, items=items, max_items=max_items)


def unroll_recursion(document: SchemaDocument, subset: SchemaSubset) -> SchemaDocument:
    """Return the document without recursion that the provider does not support."""
    cycles = _find_refused_cycles(document, subset.recursion)
    if not cycles:
        return document
    return _RecursionUnroller(document, cycles, subset).unroll()


def _is_optional_property(node: Node, child: Node) -> bool:
    """Return whether ``child`` is an optional property of ``node``."""
    return isinstance(node, ObjectNode) and any(
        field.node is child for field in node.fields.values() if not field.required
    )


def _find_refused_cycles(document: SchemaDocument, recursion: RecursionSupport) -> dict[str, int]:
    """Return the definitions in unsupported cycles, with the number of the cycle."""
    if recursion is RecursionSupport.KEEP or not document.definitions:
        return {}
    required_only = recursion is RecursionSupport.OPTIONAL
    edges = {
        name: tuple(
            dict.fromkeys(
                iter_references(node, lambda here, child: not (required_only and _is_optional_property(here, child)))
            )
        )
        for name, node in document.definitions.items()
    }
    number = strong_components(edges)
    return {
        name: number[name] for name, leads in edges.items() if any(number[target] == number[name] for target in leads)
    }


class _RecursionUnroller:
    def __init__(self, document: SchemaDocument, cycles: dict[str, int], subset: SchemaSubset) -> None:
        self._document = document
        self._cycles = cycles
        self._levels = subset.unroll
        self._needed_only = subset.recursion is RecursionSupport.OPTIONAL
        self._definitions: dict[str, Node] = {}
        self._texts: dict[str, str] = {}
        self._pending: list[tuple[str, int, str]] = []

    def unroll(self) -> SchemaDocument:
        """Return the unrolled document."""
        root = self._unroll_node(self._document.root, None, 0)
        for name in self._document.definitions:
            self._name_at_level(name, 0)
        while self._pending:
            name, level, new = self._pending.pop()
            self._definitions[new] = self._unroll_node(self._document.definitions[name], name, level)
        return SchemaDocument(root, self._definitions)

    def _name_at_level(self, name: str, level: int) -> str:
        new = name if level == 0 else f"{name}_level_{level + 1}"
        while level and new in self._document.definitions:
            new += "_"
        if new not in self._definitions:
            self._definitions[new] = self._document.definitions[name]
            self._pending.append((name, level, new))
        return new

    def _unroll_node(self, node: Node, owner: str | None, level: int) -> Node:
        """Return the node with references inside the cycle moved to the next level, or cut."""

        def change(each: Node, *, optional: bool) -> Node | None:
            if isinstance(each, UnionNode) and each.parts and sum(map(is_cut, each.branches)) > 1:
                return self._text_reference(each)  # one text for all branches
            if not isinstance(each, RefNode):
                return None
            if not is_on_circle(each) or (optional and self._needed_only):
                return replace(each, name=self._name_at_level(each.name, 0))
            if level + 1 >= self._levels:
                return self._text_reference(each)
            return replace(each, name=self._name_at_level(each.name, level + 1))

        def is_on_circle(each: RefNode) -> bool:
            return owner in self._cycles and self._cycles.get(each.name) == self._cycles[owner]

        def is_cut(each: Node) -> bool:
            return isinstance(each, RefNode) and is_on_circle(each) and level + 1 >= self._levels

        return transform_node(node, change)

    def _text_reference(self, node: Node) -> RefNode:
        """Return a reference to the node as JSON text, which is described only once."""
        text = to_json_text(self._document, node)
        schemas = [_strip_notes(part.schema) for part in text.parts]
        key = json.dumps([schemas, text.types], sort_keys=True)
        if key not in self._texts:
            name = f"{node.name if isinstance(node, RefNode) else definition_name(node.pointer)}_text"
            while name in self._definitions or name in self._document.definitions:
                name += "_"
            self._texts[key] = name
            self._definitions[name] = replace(text, notes={})
        return RefNode(node.pointer, self._texts[key], text_parts=text.parts, notes=node.notes, parts=node.parts)


def _strip_notes(schema: Any) -> Any:
    notes = ("title", "description", "default", "examples")
    table = as_mapping(schema)
    return {key: value for key, value in table.items() if key not in notes} if table else schema
