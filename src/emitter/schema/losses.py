"""Record the keywords that a provider does not enforce.

``LossLog`` records each loss once. ``Appendix`` quotes the parts of the original schema that descriptions refer to;
long parts move to the prompt.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from emitter.messages import as_mapping
from emitter.schema.json_data import MAX_SHOWN_JSON, child_pointer, reference_spellings, truncate_json
from emitter.schema.nodes import Node, RefNode, Rule, SchemaDocument, UnionNode, children
from emitter.schema.references import (
    SchemaPart,
    collect_rules,
    parts_in_rule,
    without_referenced_parts,
)
from emitter.schema.results import Loss, LossReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from referencing._core import Resolver

    from emitter.schema.references import ReferenceResolver

MAX_QUOTE_LENGTH = 2_000
"""The maximum length of a piece of the schema in a description."""


_NO_NOTES: Mapping[str, Any] = {}


class _Quotation(NamedTuple):
    """The number of quotations of a piece of the schema, and its length."""

    times: int
    size: int


class Appendix:
    """The pieces of a schema that descriptions quote, by JSON pointer.

    Short pieces are quoted in full. Long ones, and those in ``moved_names``, move to the appendix, with everything that
    they refer to. The prompt contains the appendix.
    """

    def __init__(self, scope: ReferenceResolver, moved_names: frozenset[str] = frozenset()) -> None:
        self._scope = scope
        self._moved_names = moved_names
        self._names: dict[str, list[Any]] = {}
        self._pieces: dict[tuple[object, ...], tuple[str, SchemaPart]] = {}
        self._texts: dict[tuple[str, frozenset[str]], str | None] = {}
        self._quotations: dict[str, _Quotation] = {}
        self._entries: dict[str, SchemaPart] = {}
        self._included_ids: set[int] = set()
        self._lengths: dict[int, int] = {}

    def quote_schema(self, parts: tuple[SchemaPart, ...], notes: Mapping[str, Any] = _NO_NOTES) -> str:
        """Return the words by which a description refers to the JSON Schema of ``parts``.

        ``notes`` are the title and description beside the quotation, which does not repeat them.
        """
        key = tuple(id(part.schema) for part in parts)
        if key not in self._pieces:
            self._pieces[key] = self._with_name(self._combine(parts))
        name, piece = self._pieces[key]
        repeated = frozenset(key for key, value in notes.items() if as_mapping(piece.schema).get(key) == value)
        text = self._quote(name, piece, MAX_QUOTE_LENGTH, repeated)
        return f"the JSON Schema {name} of the instructions" if text is None else f"this JSON Schema: {text}"

    def quote_properties(self, node: Node, fields: dict[str, tuple[SchemaPart, ...]], needed: list[str]) -> str:
        """Return the words by which a description refers to some properties of ``node``, and to unnamed ones."""
        key = (node.pointer, *((name, *(id(part.schema) for part in parts)) for name, parts in fields.items()))
        if key not in self._pieces:
            schemas = {name: self._combine(parts).schema if parts else True for name, parts in fields.items()}
            schema: dict[str, Any] = {"type": "object", "properties": schemas}
            schema |= {"required": needed} if needed else {}
            for part in node.parts:
                keywords = part.schema.keys() & {"patternProperties", "additionalProperties"}
                schema |= {keyword: part.schema[keyword] for keyword in sorted(keywords)}
            pointer, resolver = node.parts[0][1:] if node.parts else self._scope.root_part[1:]
            self._pieces[key] = self._with_name(SchemaPart(schema, f"{pointer}/additional_properties", resolver))
        name, piece = self._pieces[key]
        return self._quote(name, piece, MAX_QUOTE_LENGTH) or f"the JSON Schema {name} of the instructions"

    def _combine(self, parts: tuple[SchemaPart, ...]) -> SchemaPart:
        """Return one schema that is equivalent to ``parts``."""
        sources = without_referenced_parts(parts, self._scope)
        schema = sources[0].schema if len(sources) == 1 else {"allOf": [part.schema for part in sources]}
        return sources[0]._replace(schema=schema)

    def quote_rule(self, rule: Rule, resolver: Resolver[Any] | None, limit: int = MAX_SHOWN_JSON) -> str:
        """Return the words by which a description refers to the value of a keyword."""
        if rule.value.__class__ not in _CONTAINER_TYPES:
            text = json.dumps(rule.value, ensure_ascii=False)
            if len(text) <= limit:
                return text
        key = (id(rule.value), rule.pointer, rule.keyword)
        if key not in self._pieces:
            self._pieces[key] = self._with_name(
                SchemaPart(rule.value, child_pointer(rule.pointer, rule.keyword), resolver)
            )
        name, piece = self._pieces[key]
        return self._quote(name, piece, limit) or f"as {name} of the instructions"

    def _quote(self, name: str, piece: SchemaPart, limit: int, omitted: frozenset[str] = frozenset()) -> str | None:
        """Return the JSON text of a piece with the definitions it needs, or None if it is in the appendix."""
        key = (name, omitted)
        if key not in self._texts:
            self._texts[key] = None if name in self._moved_names else self._inline_text(name, piece, limit, omitted)
            if self._texts[key] is None:
                self._add_entry(name, piece)
        text = self._texts[key]
        if text is not None:
            self._quotations[name] = self._quotations[name]._replace(times=self._quotations[name].times + 1)
        return text

    def _inline_text(self, name: str, piece: SchemaPart, limit: int, omitted: frozenset[str]) -> str | None:
        needed = self._required_definitions(piece, limit)
        if needed is None:
            return None
        own_references = [
            f"#/{keyword}/{definition}"
            for keyword, definitions in needed.items()
            for definition, target in definitions.items()
            if target is piece.schema
        ]
        # A recursive piece is one of the definitions that it needs, so it is quoted as a reference to itself.
        schema: Any = {"$ref": own_references[0]} if own_references else piece.schema
        if omitted and not own_references:
            schema = {keyword: value for keyword, value in schema.items() if keyword not in omitted}
        text = json.dumps({**schema, **needed} if needed else schema, ensure_ascii=False)
        self._quotations.setdefault(name, _Quotation(0, len(text)))
        return text if len(text) <= limit else None

    def select_overflow(self, max_characters: int) -> frozenset[str]:
        """Return the pieces to move to the appendix: the largest, until the others fit."""
        sizes = sorted((each.times * each.size, name) for name, each in self._quotations.items())
        total = sum(size for size, _ in sizes)
        moved: set[str] = set()
        while total > max_characters:
            size, name = sizes.pop()
            total -= size
            moved.add(name)
        return frozenset(moved)

    def entries(self) -> dict[str, Any]:
        """Return the appendix, without pieces that are part of another one."""
        nested_ids = {id(each) for part in self._entries.values() for each in _iter_nested_values(part.schema)}
        return {name: part.schema for name, part in self._entries.items() if id(part.schema) not in nested_ids}

    def _with_name(self, piece: SchemaPart) -> tuple[str, SchemaPart]:
        name = piece.pointer if piece.pointer and not piece.pointer.startswith("/") else f"#{piece.pointer}"
        namesakes = self._names.setdefault(name, [])
        namesakes.append(piece.schema)
        return (name if len(namesakes) == 1 else f"{name} ({len(namesakes)})"), piece

    def _required_definitions(self, piece: SchemaPart, limit: int) -> dict[str, dict[str, Any]] | None:
        """Return the definitions to quote with a schema, by keyword.

        Returns None if it has other references, or if the definitions alone are longer than ``limit``.
        """
        definitions: dict[str, dict[str, Any]] = {}
        pending = [piece]
        is_schema = piece.pointer.rpartition("/")[2] not in _NON_SCHEMA_KEYWORDS
        while pending:
            for reference, target in self._scope.references_in(pending.pop()):
                if reference == "#" and target.schema is piece.schema:
                    continue
                keyword, name = self._find_definition(reference, target)
                if name is None or keyword in piece.schema or not is_schema:  # there is no place for the definitions
                    return None
                schemas = definitions.setdefault(keyword, {})
                if name not in schemas:
                    schemas[name] = target.schema
                    pending.append(target)
                    limit -= self._json_length(target)
                if limit < 0:
                    return None
        return definitions

    def _find_definition(self, reference: str, target: SchemaPart) -> tuple[str, str | None]:
        """Return the keyword and the name of the definition that a reference names, None if it names another place."""
        match = _DEFINITION_REFERENCE.fullmatch(reference)
        if match is None:
            return "", None
        names = map(unquote, reference_spellings(match[2]))
        definitions = as_mapping(as_mapping(self._scope.root_part.schema).get(match[1]))
        return match[1], next((name for name in names if definitions.get(name) is target.schema), None)

    def _json_length(self, part: SchemaPart) -> int:
        key = id(part.schema)
        if key not in self._lengths:
            self._lengths[key] = len(json.dumps(part.schema, ensure_ascii=False))
        return self._lengths[key]

    def _add_entry(self, name: str, piece: SchemaPart) -> None:
        """Add a piece and everything that it refers to."""
        if name in self._entries:
            return
        self._include(name, piece)
        pending = [piece]
        while pending:
            for reference, target in self._scope.references_in(pending.pop()):
                if id(target.schema) not in self._included_ids and reference not in self._entries:
                    self._include(reference, target)
                    pending.append(target)

    def _include(self, name: str, piece: SchemaPart) -> None:
        self._entries[name] = piece
        self._included_ids.add(id(piece.schema))
        self._included_ids.update(map(id, _iter_nested_values(piece.schema)))


_DEFINITION_REFERENCE = re.compile(r"#/(\$defs|definitions)/([^/~]+)")
_CONTAINER_TYPES = frozenset({dict, list})
_NON_SCHEMA_KEYWORDS = frozenset(
    {"dependentSchemas", "dependencies", "dependentRequired", "patternProperties", "properties", "enum", "const"}
    | {"allOf", "anyOf", "oneOf", "prefixItems"}
)


def _iter_nested_values(value: Any) -> Iterator[Any]:
    """Yield every object and array inside a JSON value."""
    pending = [value]
    while pending:
        current: Any = pending.pop()
        values: Any = current.values() if current.__class__ is dict else current if current.__class__ is list else ()
        containers = [value for value in values if value.__class__ in _CONTAINER_TYPES]
        yield from containers
        pending.extend(containers)


class LossLog:
    """Records each loss once, and the nodes that have losses."""

    def __init__(self, scope: ReferenceResolver, moved_names: frozenset[str] = frozenset()) -> None:
        self.lossy_nodes: set[int] = set()
        self.appendix = Appendix(scope, moved_names)
        self._scope = scope
        self._visited: set[int] = set()
        self._losses: dict[tuple[str, str], Loss] = {}

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses in the order of their recording."""
        return tuple(self._losses.values())

    def record(self, node: Node, rules: Iterable[Rule]) -> list[str]:
        """Record rules with everything inside them. Returns their descriptions for the model."""
        descriptions: list[str] = []
        for rule in rules:
            self.record_rule(node, rule)
            self._add_nested(parts_in_rule(rule, self._scope, node.parts))
            descriptions.append(f"{rule.keyword} {self.appendix.quote_rule(rule, self.resolver_for(rule, node))}")
        return descriptions

    def resolver_for(self, rule: Rule, node: Node) -> Resolver[Any] | None:
        """Return the resolver for the references in a rule of ``node``."""
        return next(
            (part.resolver for part in node.parts if part.pointer == rule.pointer), self._scope.root_part.resolver
        )

    def record_rule(self, node: Node, rule: Rule, why: LossReason = LossReason.UNSUPPORTED) -> None:
        """Record a rule that the wire form expresses in another way."""
        self.lossy_nodes.add(id(node))
        self.add(rule, why)

    def record_json_text(self, node: Node, *, degraded: bool = False) -> None:
        """Record every keyword of a value that is carried as JSON text."""
        self.lossy_nodes.add(id(node))
        parts = (isinstance(node, RefNode) and node.text_parts) or node.parts
        self._add_nested(parts)
        for part in parts if degraded else ():
            for keyword in part.schema.keys() & self._scope.draft.keywords:
                self.add(Rule(part.pointer, keyword, part.schema[keyword]), LossReason.DEGRADED)

    def _add_nested(self, parts: Iterable[SchemaPart]) -> None:
        for rule in collect_rules(parts, self._scope, self._visited):
            self.add(rule, LossReason.OPEN)

    def add(self, rule: Rule, why: LossReason) -> None:
        """Record a rule without a node. Any other reason replaces ``OPEN``, which is also recorded for nested rules."""
        key = (rule.pointer, rule.keyword)
        if key not in self._losses or (why is not LossReason.OPEN and self._losses[key].why is LossReason.OPEN):
            self._losses[key] = Loss(rule.pointer, rule.keyword, truncate_json(rule.value), why)


def without_redundant_title(wire: dict[str, Any], name: str) -> dict[str, Any]:
    """Return ``wire`` without a title that only repeats its name."""
    title = wire.get("title")
    is_redundant = isinstance(title, str) and _alphanumeric(title) == _alphanumeric(name)
    return {key: each for key, each in wire.items() if key != "title"} if is_redundant else wire


def _alphanumeric(text: str) -> str:
    return "".join(each for each in text.casefold() if each.isalnum())


def add_description(wire: dict[str, Any], *sentences: str) -> dict[str, Any]:
    """Return ``wire`` with sentences added to its description."""
    parts = [each for each in (wire.get("description"), *sentences) if each]
    return {**wire, "description": " ".join(parts)} if parts else wire


def conditions_sentence(conditions: list[str]) -> str:
    """Return the sentence that tells the model about unenforced rules, or an empty text."""
    return f"Must hold: {', '.join(conditions)}." if conditions else ""


def add_conditions(wire: dict[str, Any], conditions: list[str]) -> dict[str, Any]:
    """Return ``wire`` with unenforced rules added to its description."""
    return add_description(wire, conditions_sentence(conditions)) if conditions else wire


def enclosing_unions(document: SchemaDocument, lossy: set[int]) -> Iterator[Rule]:
    """Yield the union keywords around lossy nodes, also through references."""
    if not lossy:
        return
    parents = _parents_by_node(document)
    pending = [node for node in document.iter_nodes() if id(node) in lossy]
    visited = {id(node) for node in pending}
    while pending:
        node = pending.pop()
        yield from node.unions
        for each in parents.get(id(node), ()):
            if isinstance(each, UnionNode) and each.origin is not None:
                yield each.origin
            if id(each) not in visited:
                visited.add(id(each))
                pending.append(each)


def _parents_by_node(document: SchemaDocument) -> dict[int, list[Node]]:
    """Return the parents of each node, including references to it."""
    parents: dict[int, list[Node]] = {}
    for node in document.iter_nodes():
        child_nodes = [document.definitions[node.name]] if isinstance(node, RefNode) else children(node)
        for each in child_nodes:
            parents.setdefault(id(each), []).append(node)
    return parents
