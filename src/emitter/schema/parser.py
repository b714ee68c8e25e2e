"""Parse a JSON Schema of any draft into nodes.

Schemas that apply to the same value (references, ``allOf``, a union and its branch) are parsed as one conjunction. Each
conjunction that is reached through a reference is parsed once and named, which bounds the work and allows recursion.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import jsonschema_rs

from emitter.errors import Uncompilable
from emitter.messages import as_list, as_mapping
from emitter.schema.dialects import pattern_matches
from emitter.schema.json_data import (
    ALL_TYPES,
    ARRAY,
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    child_pointer,
    definition_name,
)
from emitter.schema.keywords import (
    EXPANDED_KEYWORDS,
    NOTE_KEYWORDS,
    SCALAR_TYPES,
    KeywordFacts,
    allowed_types,
    collect_keywords,
    merge_rules,
    parse_enum,
    parse_scalar,
    parse_union,
)
from emitter.schema.nodes import (
    AnyNode,
    ArrayNode,
    EnumNode,
    NeverNode,
    Node,
    ObjectNode,
    ObjectProperty,
    RefNode,
    Rule,
    ScalarNode,
    SchemaDocument,
    UnionNode,
    UnnamedProperties,
)
from emitter.schema.references import ReferenceResolver, SchemaPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


MAX_DEPTH = 25
"""Deeper schemas are sent as JSON text. No provider accepts them, and the time for parsing must be bounded."""
MAX_NODES = 8_000
"""Schemas that expand to more nodes are carried as JSON text."""
MAX_CONJUNCTION = 100
"""More schemas that apply to one value are carried as JSON text."""
_ANNOTATION_KEYWORDS = frozenset(
    {"$schema", "$id", "id", "$comment", "$defs", "definitions", "$anchor", "title", "description"}
)


class SchemaParser:
    """Parses one schema. With ``close``, properties that an object does not name are not allowed."""

    def __init__(self, resolver: ReferenceResolver, *, close: bool) -> None:
        self.resolver = resolver
        self.draft = resolver.draft
        self.closes_objects = close
        self.closed_rules: list[Rule] = []
        self._contradictions: dict[tuple[str, str], Rule] = {}
        self._branches: dict[str, Node] = {}
        self._names: dict[frozenset[int], str] = {}
        self._used_names: dict[str, int] = {}
        self._pending: list[tuple[str, list[SchemaPart]]] = []
        self._reduced: dict[tuple[int, tuple[str, ...]], dict[str, Any]] = {}
        self._depth = 0
        self._count = 0

    def parse(self) -> SchemaDocument:
        """Return the parsed document."""
        root = self.parse_node([self.resolver.root_part])
        definitions: dict[str, Node] = {}
        while self._pending:
            name, parts = self._pending.pop()
            definitions[name] = self._parse_definition(parts)
        # A schema that refers to its root is one of its own definitions.
        root_name = self._names.get(frozenset({id(self.resolver.root_part.schema)}))
        return SchemaDocument(root if root_name is None else RefNode("", root_name), definitions)

    @property
    def contradictions(self) -> Iterable[Rule]:
        """The rules because of which something is left out. A branch of a union counts if no place has it."""
        for branch in self._branches.values():
            self.note_contradictions(branch.rules[:1] if isinstance(branch, NeverNode) else ())
        return self._contradictions.values()

    def note_contradictions(self, rules: Iterable[Rule]) -> None:
        """Record rules because of which something is left out."""
        for rule in rules:
            self._contradictions.setdefault((rule.pointer, rule.keyword), rule)

    def note_branches(self, part: SchemaPart, keyword: str, branches: Sequence[Node]) -> None:
        """Record the branches of a union, which may be parsed several times, each time with other rules around it."""
        for index, node in enumerate(branches):
            pointer = child_pointer(part.pointer, keyword, index)
            if pointer not in self._branches or isinstance(self._branches[pointer], NeverNode):
                self._branches[pointer] = node

    def parse_node(self, parts: Sequence[SchemaPart]) -> Node:
        """Return the conjunction of ``parts``."""
        self._count += 1
        constraining = [part for part in parts if part.schema is not True and part.schema != {}]
        if any(part.schema is False for part in constraining):
            return NeverNode(parts[0].pointer, rules=_closing_rules(constraining))
        if not constraining:
            return AnyNode(parts[0].pointer)
        if len(constraining) == 1 and "$ref" not in constraining[0].schema and "allOf" not in constraining[0].schema:
            return self._parse_expanded(constraining, constraining)
        reference = self._only_reference(constraining)
        if reference is not None:
            return self._named_reference([self.resolver.resolve(reference, "$ref")], [reference])
        expanded, has_reference = self._expand_references(constraining)
        if has_reference and expanded is not None and not any(part.schema is False for part in expanded):
            return self._named_reference([part for part in expanded if isinstance(part.schema, dict)], constraining)
        return self._parse_expanded(expanded, constraining)

    def without_keywords(self, part: SchemaPart, keywords: tuple[str, ...]) -> SchemaPart:
        """Return ``part`` without these keywords, always as the same object, because parts are compared by identity."""
        if not part.schema.keys() & set(keywords):
            return part
        key = (id(part.schema), keywords)
        if key not in self._reduced:
            self._reduced[key] = {name: value for name, value in part.schema.items() if name not in keywords}
        return part._replace(schema=self._reduced[key])

    def _only_reference(self, parts: list[SchemaPart]) -> SchemaPart | None:
        """Return the part that is a plain reference, if no other part constrains the value."""
        constraining = [part for part in parts if part.schema.keys() - _ANNOTATION_KEYWORDS]
        if len(constraining) != 1 or "$ref" not in constraining[0].schema:
            return None
        if self.draft.ref_ignores_siblings or not (constraining[0].schema.keys() - {"$ref"}) & self.draft.keywords - {
            "$defs"
        }:
            return constraining[0]
        return None

    def _named_reference(self, parts: list[SchemaPart], source_parts: list[SchemaPart]) -> Node:
        """Return a reference to the conjunction of ``parts``, which is parsed once."""
        # Schemas are compared by identity: equal schemas at two places have different pointers in losses.
        key = frozenset(id(part.schema) for part in parts)
        if key not in self._names:
            self._names[key] = self._unique_name(definition_name(parts[0].pointer))
            self._pending.append((self._names[key], parts))
        first = source_parts[0]
        notes = {
            keyword: first.schema[keyword]
            for keyword in ("title", "description", "examples")
            if keyword in first.schema
        }
        return RefNode(first.pointer, self._names[key], notes=notes, parts=tuple(source_parts))

    def _unique_name(self, base_name: str) -> str:
        name = base_name
        while name in self._used_names:
            self._used_names[base_name] += 1
            name = f"{base_name}_{self._used_names[base_name]}"
        self._used_names[name] = 1
        return name

    def _expand_references(self, parts: Sequence[SchemaPart]) -> tuple[list[SchemaPart] | None, bool]:
        """Return the parts without ``$ref`` and ``allOf`` (None if too many), and whether a reference was expanded."""
        pending, visited, expanded = list(reversed(parts)), set[int](), list[SchemaPart]()
        has_reference = is_cyclic = False
        while pending:
            part = pending.pop()
            if id(part.schema) in visited and part.schema.__class__ is dict:
                is_cyclic = True
                continue
            visited.add(id(part.schema))
            if len(visited) > MAX_CONJUNCTION:
                return None, has_reference
            is_reference = part.schema.__class__ is dict and "$ref" in part.schema
            if is_reference:
                has_reference = True
                pending.append(self.resolver.resolve(part, "$ref"))
            if not (is_reference and self.draft.ref_ignores_siblings):
                expanded.append(part)
                pending.extend(reversed(self._all_of_parts(part)))
        if has_reference and is_cyclic and not any(_constrains_value(part.schema) for part in expanded):
            raise Uncompilable(parts[0].pointer, "refers only to itself")
        return expanded, has_reference

    def _all_of_parts(self, part: SchemaPart) -> list[SchemaPart]:
        branches = as_list(part.schema.get("allOf")) if part.schema.__class__ is dict else []
        return [
            self.resolver.child_part(part, child_pointer(part.pointer, "allOf", index), branch)
            for index, branch in enumerate(branches)
        ]

    def _parse_definition(self, parts: Sequence[SchemaPart]) -> Node:
        """Parse the conjunction of ``parts``, with their own references expanded."""
        if all(part.schema.__class__ is dict and not set(EXPANDED_KEYWORDS) & part.schema.keys() for part in parts):
            return self._parse_expanded(list(parts), parts)
        return self._parse_expanded(self._expand_references(parts)[0], parts)

    def _parse_expanded(self, expanded: list[SchemaPart] | None, parts: Sequence[SchemaPart]) -> Node:
        """Parse schemas without references. ``parts`` are the original ones."""
        pointer = parts[0].pointer
        if expanded is None or self._depth > MAX_DEPTH or self._count > MAX_NODES:
            return AnyNode(pointer, is_constrained=True, parts=tuple(parts))
        if any(part.schema is False for part in expanded):
            return NeverNode(pointer, rules=_closing_rules(expanded))
        schemas = [part for part in expanded if isinstance(part.schema, dict)]
        if not schemas:
            return AnyNode(pointer)
        facts = collect_keywords(schemas, self.draft)
        excluding = next((rule for rule in facts.unenforced if _excludes_all(rule, facts.types)), None)
        if excluding is not None:
            return NeverNode(pointer, rules=(excluding,))
        self._depth += 1
        try:
            node = self._parse_facts(facts)
        finally:
            self._depth -= 1
        self.note_contradictions(facts.contradictions)
        if isinstance(node, NeverNode):
            return node
        node.notes = {**facts.notes, **node.notes}
        node.parts = facts.parts
        node.unenforced = (*node.unenforced, *facts.unenforced)
        return node

    def _parse_facts(self, facts: KeywordFacts) -> Node:
        if facts.constants:
            return parse_enum(facts, ALL_TYPES if facts.types is None else facts.types, self.draft)
        if facts.unions:
            return parse_union(facts, self)
        types = allowed_types(facts)
        if facts.types is None:
            return self._parse_untyped(facts)
        if not types:
            return NeverNode(facts.pointer, rules=tuple(facts.stated_rules("type")))
        return _union_of([self._parse_typed(facts, group) for group in _group_types(types)], facts)

    def _parse_untyped(self, facts: KeywordFacts) -> Node:
        """Parse a schema without ``type``. Types that no keyword constrains are carried as JSON text."""
        groups = [group for group in _group_types(ALL_TYPES) if set(group) & facts.rules_by_type.keys()]
        if not groups:
            return AnyNode(facts.pointer)
        nodes = [
            self._parse_typed(facts, tuple(kind for kind in group if kind in facts.rules_by_type)) for group in groups
        ]
        if self.closes_objects:
            self.closed_rules.append(Rule(facts.pointer, "type", None))
            return _union_of(nodes, facts)
        other_types = tuple(kind for kind in ALL_TYPES if kind not in facts.rules_by_type)
        # A JSON text may decode to a plain string, to which these rules apply too.
        string_rules = tuple(facts.rules_by_type.get(STRING, ()))
        return _union_of([*nodes, AnyNode(facts.pointer, types=other_types, rules=string_rules)], facts)

    def _parse_typed(self, facts: KeywordFacts, types: tuple[str, ...]) -> Node:
        if types == (OBJECT,):
            return parse_object(facts, self)
        if types == (ARRAY,):
            return parse_array(facts, self)
        return parse_scalar(facts, types)


def _constrains_value(schema: Any) -> bool:
    """Return whether a schema has keywords besides references and annotations."""
    return schema.__class__ is not dict or bool(schema.keys() - _ANNOTATION_KEYWORDS - set(EXPANDED_KEYWORDS))


_CLOSING_KEYWORDS = frozenset({"additionalProperties", "additionalItems", "items"})


def _closing_rules(parts: Sequence[SchemaPart]) -> tuple[Rule, ...]:
    """Return the rule that closes an object or array, if another schema describes what it leaves out."""
    if all(part.schema is False for part in parts):
        return ()
    for part in parts:
        pointer, _, keyword = part.pointer.rpartition("/")
        if part.schema is False and keyword in _CLOSING_KEYWORDS and not pointer.endswith("/properties"):
            return (Rule(pointer, keyword, False),)
    return ()


def _excludes_all(rule: Rule, types: tuple[str, ...] | None) -> bool:
    """Return whether a ``not`` excludes every value of these types."""
    if rule.keyword != "not" or rule.value in (True, {}):
        return rule.keyword == "not"
    excluded = as_mapping(rule.value)
    if types is None or set(excluded) != {"type"}:
        return False
    names = {excluded["type"]} if isinstance(excluded["type"], str) else {*as_list(excluded["type"])}
    return names >= {*types} - ({INTEGER} if NUMBER in names else set[str]())


def _group_types(types: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the types in groups: all scalars, arrays, objects."""
    scalars = tuple(kind for kind in types if kind in SCALAR_TYPES)
    return [*([scalars] if scalars else []), *((kind,) for kind in types if kind in {ARRAY, OBJECT})]


def _union_of(nodes: list[Node], facts: KeywordFacts) -> Node:
    """Return the only possible node, or a union of the possible ones."""
    possible = [node for node in nodes if not isinstance(node, NeverNode)]
    if not possible:
        return nodes[0]
    facts.contradictions += [node.rules[0] for node in nodes if isinstance(node, NeverNode) and node.rules]
    return possible[0] if len(possible) == 1 else UnionNode(facts.pointer, tuple(possible), parts=facts.parts)


_COUNT_KEYWORDS = frozenset({"minProperties", "maxProperties"})
_OBJECT_KEYWORDS = frozenset({"properties", "required", "additionalProperties", "patternProperties", "propertyNames"})


def parse_object(facts: KeywordFacts, parser: SchemaParser) -> Node:
    """Return the object that the parts describe together."""
    parts = [part for part in facts.parts if part.schema.keys() & _OBJECT_KEYWORDS]
    fields, forbidden, contradiction = _parse_properties(facts, parts, parser)
    if contradiction:
        return NeverNode(facts.pointer, rules=contradiction)
    unnamed, inexpressible = _parse_unnamed_properties(parts, parser)
    if unnamed is not None and unnamed.is_implicit and _forbids_unevaluated_properties(facts, parts):
        unnamed = None
    if unnamed is not None and unnamed.is_implicit and fields and parser.closes_objects:
        parser.closed_rules.append(Rule(facts.pointer, "additionalProperties", True))
        unnamed = None
    rules = [rule for rule in facts.rules_by_type.get(OBJECT, ()) if rule.keyword not in _OBJECT_KEYWORDS]
    bounds, _ = merge_rules(rule for rule in rules if rule.keyword in _COUNT_KEYWORDS)
    counts = tuple(rule for rule in bounds if not _is_implied_by_properties(rule, fields, unnamed))
    contradiction = _find_count_contradiction(facts, bounds, fields, unnamed)
    if contradiction:
        return NeverNode(facts.pointer, rules=contradiction)
    unenforced = [*inexpressible, *(rule for rule in rules if rule.keyword not in _COUNT_KEYWORDS)]
    return ObjectNode(
        facts.pointer, fields, unnamed, forbidden, rules=counts, unenforced=tuple(unenforced), parts=facts.parts
    )


def _forbids_unevaluated_properties(facts: KeywordFacts, parts: list[SchemaPart]) -> bool:
    """Return whether unevaluated properties are forbidden. The rule is validated in any case."""
    rules = facts.rules_by_type.get(OBJECT, ())
    is_conditional = any(rule.keyword.startswith("depend") for rule in rules) or facts.is_conditional
    is_unmentioned = not any("additionalProperties" in part.schema for part in parts)
    verdicts = [rule.value is False for rule in rules if rule.keyword == "unevaluatedProperties"]
    return bool(verdicts) and all(verdicts) and is_unmentioned and not is_conditional


def _is_implied_by_properties(rule: Rule, fields: dict[str, ObjectProperty], rest: UnnamedProperties | None) -> bool:
    """Return whether the properties alone satisfy a bound on their number."""
    count: int = rule.value
    if rule.keyword == "minProperties":
        return count <= sum(field.required for field in fields.values())
    return rest is None and count >= len(fields)


def _find_count_contradiction(
    facts: KeywordFacts, bounds: list[Rule], fields: dict[str, ObjectProperty], rest: UnnamedProperties | None
) -> tuple[Rule, ...]:
    """Return the bounds on the number of properties that no object satisfies, with what contradicts them."""
    by_keyword = {rule.keyword: rule for rule in bounds}
    least, most = by_keyword.get("minProperties"), by_keyword.get("maxProperties")
    if least is not None and most is not None and least.value > most.value:
        return least, most
    if least is not None and rest is None and least.value > len(fields):
        return least, facts.stated_rule("additionalProperties")
    if most is not None and most.value < sum(field.required for field in fields.values()):
        return most, facts.stated_rule("required")
    return ()


def _parse_properties(
    facts: KeywordFacts, parts: list[SchemaPart], parser: SchemaParser
) -> tuple[dict[str, ObjectProperty], frozenset[str], tuple[Rule, ...]]:
    """Return the named properties, the forbidden names, and what makes a required property impossible."""
    required = {
        name: Rule(part.pointer, "required", [name])
        for part in reversed(parts)
        for name in reversed(as_list(part.schema.get("required")))
        if isinstance(name, str)
    }
    names = dict.fromkeys(name for part in parts for name in as_mapping(part.schema.get("properties")))
    fields: dict[str, ObjectProperty] = {}
    forbidden: set[str] = set()
    for name in {**names, **dict(reversed(required.items()))}:
        node = _parse_property(facts, parts, name, parser)
        if not isinstance(node, NeverNode):
            fields[name] = ObjectProperty(node, name in required)
        elif name in required:
            return {}, frozenset(), node.rules or (required[name],)
        else:
            forbidden.add(name)
            facts.contradictions += node.rules[:1]
    return fields, frozenset(forbidden), ()


def _parse_property(facts: KeywordFacts, parts: list[SchemaPart], name: str, parser: SchemaParser) -> Node:
    refusing = next((part for part in parts if not _is_name_allowed(part, name, parser)), None)
    if refusing is not None:
        return NeverNode(
            facts.pointer, rules=(Rule(refusing.pointer, "propertyNames", refusing.schema["propertyNames"]),)
        )
    schemas = [schema for part in parts for schema in _schemas_for_property(part, name, parser)]
    return parser.parse_node(schemas) if schemas else AnyNode(child_pointer(facts.pointer, "properties", name))


def _property_names_schema(part: SchemaPart, parser: SchemaParser) -> Any:
    """Return the value of ``propertyNames``, which draft 4 does not have."""
    return part.schema.get("propertyNames", True) if "propertyNames" in parser.draft.keywords else True


def _is_name_allowed(part: SchemaPart, name: str, parser: SchemaParser) -> bool:
    """Return whether ``propertyNames`` allows a name. A rule with references is left to validation."""
    rule = _property_names_schema(part, parser)
    return rule is True or _contains_reference(rule) or jsonschema_rs.is_valid(rule, name, validate_formats=True)


def _contains_reference(rule: Any) -> bool:
    return "$ref" in json.dumps(rule)


def _schemas_for_property(part: SchemaPart, name: str, parser: SchemaParser) -> Iterator[SchemaPart]:
    """Yield the subschemas of ``part`` that apply to a property."""
    is_mentioned = False
    properties = as_mapping(part.schema.get("properties"))
    if name in properties:
        is_mentioned = True
        yield parser.resolver.child_part(part, child_pointer(part.pointer, "properties", name), properties[name])
    for pattern, schema in as_mapping(part.schema.get("patternProperties")).items():
        if pattern_matches(pattern, name):
            is_mentioned = True
            yield parser.resolver.child_part(part, child_pointer(part.pointer, "patternProperties", pattern), schema)
    if not is_mentioned and "additionalProperties" in part.schema:
        pointer = child_pointer(part.pointer, "additionalProperties")
        yield parser.resolver.child_part(part, pointer, part.schema["additionalProperties"])


def _parse_unnamed_properties(
    parts: list[SchemaPart], parser: SchemaParser
) -> tuple[UnnamedProperties | None, list[Rule]]:
    """Return the unnamed properties, and the rules for them that cannot be expressed."""
    parts_with_name_rules = [part for part in parts if _property_names_schema(part, parser) is not True]
    name_rules = tuple(
        Rule(part.pointer, "propertyNames", _property_names_schema(part, parser)) for part in parts_with_name_rules
    )
    constraining = [part for part in parts if _constrains_unnamed(part.schema)]
    pointer = parts[0].pointer if parts else ""
    if any(_property_names_schema(part, parser) is False or _is_closed(part.schema) for part in parts):
        return None, [rule for rule in name_rules if _contains_reference(rule.value)]
    if not constraining:
        is_explicit = any("additionalProperties" in part.schema for part in parts)
        return UnnamedProperties(((None, AnyNode(pointer)),), is_implicit=not is_explicit, name_rules=name_rules), []
    if len(constraining) > 1:
        # Combinations of several rule sets are not expanded.
        return UnnamedProperties(((None, AnyNode(pointer)),), name_rules=name_rules), [
            rule for part in constraining for rule in _unnamed_property_rules(part)
        ]
    unnamed, inexpressible = _parse_unnamed_schema(constraining[0], name_rules, parser)
    return (unnamed and replace(unnamed, key_enum=_parse_name_enum(parts_with_name_rules, parser))), inexpressible


def _parse_name_enum(parts: list[SchemaPart], parser: SchemaParser) -> EnumNode | None:
    """Return the names that ``propertyNames`` lists, if it has no other rules."""
    if len(parts) != 1:
        return None
    [part] = parts
    part = parser.resolver.child_part(part, child_pointer(part.pointer, "propertyNames"), part.schema["propertyNames"])
    if part.schema.__class__ is dict and part.schema.keys() - NOTE_KEYWORDS == {"$ref"}:
        part = parser.resolver.resolve_or_none(part) or part
    if part.schema.__class__ is not dict or "$ref" in part.schema or "allOf" in part.schema:
        return None
    facts = collect_keywords([part], parser.draft)
    if len(facts.constants) != 1 or facts.unions or facts.rules_by_type or facts.unenforced:
        return None
    names = list(dict.fromkeys(name for name in facts.constants[0] if isinstance(name, str)))
    return EnumNode(part.pointer, cast("list[Any]", names), notes=facts.notes) if names else None


def _constrains_unnamed(schema: dict[str, Any]) -> bool:
    return schema.get("additionalProperties", True) is not True or bool(as_mapping(schema.get("patternProperties")))


def _is_closed(schema: dict[str, Any]) -> bool:
    return schema.get("additionalProperties") is False and not as_mapping(schema.get("patternProperties"))


def _unnamed_property_rules(part: SchemaPart) -> list[Rule]:
    keywords = ("additionalProperties", "patternProperties")
    return [Rule(part.pointer, keyword, part.schema[keyword]) for keyword in keywords if keyword in part.schema]


def _parse_unnamed_schema(
    part: SchemaPart, names: tuple[Rule, ...], parser: SchemaParser
) -> tuple[UnnamedProperties | None, list[Rule]]:
    """Return the unnamed properties that one schema describes."""
    patterns = as_mapping(part.schema.get("patternProperties"))
    additional = part.schema.get("additionalProperties", True)
    schemas: list[tuple[str | None, str, Any]] = [
        (pattern, child_pointer(part.pointer, "patternProperties", pattern), schema)
        for pattern, schema in patterns.items()
    ]
    if additional is not False:
        schemas.append((None, child_pointer(part.pointer, "additionalProperties"), additional))
    entries: list[tuple[str | None, Node]] = []
    for pattern, pointer, schema in schemas:
        node = parser.parse_node([parser.resolver.child_part(part, pointer, schema)])
        if isinstance(node, NeverNode):
            parser.note_contradictions(node.rules[:1])
        else:
            entries.append((pattern, node))
    is_ambiguous = len(patterns) > 1 or (bool(patterns) and additional is not False)
    inexpressible = _unnamed_property_rules(part) if is_ambiguous else []
    unnamed = UnnamedProperties(
        tuple(entries),
        name_rules=names,
        rules=tuple(_unnamed_property_rules(part)) if patterns and additional is False else (),
    )
    return (unnamed if entries else None), inexpressible


MAX_PREFIX_ITEMS = 64
"""Longer tuples are parsed as arrays, and their positions are only validated."""
_ARRAY_KEYWORDS = frozenset({"items", "prefixItems", "additionalItems", "minItems", "maxItems"})


class _Items(NamedTuple):
    """The items of an array, the rules that cannot be expressed, and the rules that exclude some of the items."""

    prefix: list[Node]
    rest: Node | None
    inexpressible: list[Rule]
    contradictions: list[Rule]


def parse_array(facts: KeywordFacts, parser: SchemaParser) -> Node:
    """Return the array that the parts describe together."""
    rules = facts.rules_by_type.get(ARRAY, ())
    bounds, _ = merge_rules(rule for rule in rules if rule.keyword in {"minItems", "maxItems"})
    limits = {rule.keyword: int(rule.value) for rule in bounds}
    min_items, max_items = limits.get("minItems", 0), limits.get("maxItems")
    items = _parse_items(facts, parser)
    prefix, rest = items.prefix, items.rest
    if max_items is not None and max_items <= len(prefix):
        rest = None
    if rest is None:
        max_items = len(prefix) if max_items is None else min(max_items, len(prefix))
    if max_items is not None and min_items > max_items:
        return NeverNode(facts.pointer, rules=(*items.contradictions, *bounds))
    contradiction = _find_item_contradiction(rules, None if prefix else rest, min_items, max_items)
    if contradiction:
        return NeverNode(facts.pointer, rules=contradiction)
    facts.contradictions += items.contradictions
    unenforced = [rule for rule in rules if rule.keyword not in _ARRAY_KEYWORDS and not _lacks_contains(rule, rules)]
    unenforced += items.inexpressible
    if max_items == 0:
        return EnumNode(facts.pointer, [[]], unenforced=tuple(unenforced), parts=facts.parts)
    node = ArrayNode(facts.pointer, tuple(prefix[:max_items]), rest, min_items, max_items, parts=facts.parts)
    node.rules, node.unenforced = tuple(bounds), tuple(unenforced)
    return node


def _parse_items(facts: KeywordFacts, parser: SchemaParser) -> _Items:
    """Parse the items of an array, which ends before the first impossible item."""
    parts = [part for part in facts.parts if part.schema.keys() & _ARRAY_KEYWORDS]
    prefix, inexpressible = _parse_prefix_items(parts, parser)
    rest: Node | None = _parse_further_items(facts, parts, len(prefix), parser)
    contradictions = [rule for node in (*prefix, rest) if isinstance(node, NeverNode) for rule in node.rules[:1]]
    if isinstance(rest, NeverNode) or _forbids_unevaluated_items(facts, parts, parser):
        rest = None
    end = next((index for index, item in enumerate(prefix) if isinstance(item, NeverNode)), None)
    if end is not None:
        prefix, rest = prefix[:end], None
    return _Items(prefix, rest, inexpressible, contradictions)


def _find_item_contradiction(
    rules: Sequence[Rule], items: Node | None, min_items: int, max_items: int | None
) -> tuple[Rule, ...]:
    """Return the rules of an array's items that no array satisfies together."""
    by_keyword = {rule.keyword: rule for rule in rules}
    least = by_keyword.get("minItems")
    count = _count_values(items)
    if by_keyword.get("uniqueItems") is not None and least is not None and count is not None and min_items > count:
        return by_keyword["uniqueItems"], least
    contains = by_keyword.get("contains")
    if contains is None:
        return ()
    least, most = by_keyword.get("minContains", contains), by_keyword.get("maxContains")
    needed = 1 if least is contains else cast("float", least.value)
    if needed and contains.value is False:
        return (contains,)
    if most is not None and needed > most.value:
        return least, most
    return (least, by_keyword.get("maxItems", contains)) if max_items is not None and needed > max_items else ()


def _count_values(node: Node | None) -> int | None:
    """Return how many values a node has, or None if that is not known."""
    if isinstance(node, EnumNode):
        return len(node.values)
    sizes = {BOOLEAN: 2, NULL: 1}
    is_finite = isinstance(node, ScalarNode) and all(kind in sizes for kind in node.types)
    return sum(sizes[kind] for kind in node.types) if is_finite and isinstance(node, ScalarNode) else None


def _lacks_contains(rule: Rule, rules: Any) -> bool:
    """Return whether a rule has no effect without ``contains``."""
    return rule.keyword in {"minContains", "maxContains"} and not any(rule.keyword == "contains" for rule in rules)


def _forbids_unevaluated_items(facts: KeywordFacts, parts: list[SchemaPart], parser: SchemaParser) -> bool:
    """Return whether unevaluated items are forbidden. The rule is validated in any case."""
    rules = facts.rules_by_type.get(ARRAY, ())
    verdicts = [rule.value is False for rule in rules if rule.keyword == "unevaluatedItems"]
    if not verdicts or not all(verdicts) or facts.is_conditional or any(rule.keyword == "contains" for rule in rules):
        return False
    return not any(parser.draft.rest_keyword in part.schema or _has_uniform_items(part, parser) for part in parts)


def _has_uniform_items(part: SchemaPart, parser: SchemaParser) -> bool:
    return "items" in part.schema and not _tuple_schemas(part, parser)


def _tuple_schemas(part: SchemaPart, parser: SchemaParser) -> list[Any]:
    return as_list(part.schema.get(parser.draft.tuple_keyword))


def _parse_prefix_items(parts: list[SchemaPart], parser: SchemaParser) -> tuple[list[Node], list[Rule]]:
    """Return the prefix items, and the rules that are left if there are too many."""
    longest = max((len(_tuple_schemas(part, parser)) for part in parts), default=0)
    keyword = parser.draft.tuple_keyword
    if longest > MAX_PREFIX_ITEMS:
        rest_keyword = parser.draft.rest_keyword
        rules = [Rule(part.pointer, keyword, part.schema[keyword]) for part in parts if _tuple_schemas(part, parser)]
        rules += [
            Rule(part.pointer, rest_keyword, part.schema[rest_keyword]) for part in parts if rest_keyword in part.schema
        ]
        return [], rules
    nodes: list[Node] = []
    for index in range(longest):
        schemas = [schema for part in parts for schema in _schemas_for_item(part, index, parser)]
        nodes.append(
            parser.parse_node(schemas) if schemas else AnyNode(child_pointer(parts[0].pointer, keyword, index))
        )
    return nodes, []


def _schemas_for_item(part: SchemaPart, index: int, parser: SchemaParser) -> list[SchemaPart]:
    prefix = _tuple_schemas(part, parser)
    if index < len(prefix):
        pointer = child_pointer(part.pointer, parser.draft.tuple_keyword, index)
        return [parser.resolver.child_part(part, pointer, prefix[index])]
    return _schemas_for_further_items(part, parser)


def _schemas_for_further_items(part: SchemaPart, parser: SchemaParser) -> list[SchemaPart]:
    keyword = "items" if _has_uniform_items(part, parser) else parser.draft.rest_keyword
    if keyword not in part.schema or (keyword == "additionalItems" and not _tuple_schemas(part, parser)):
        return []
    return [parser.resolver.child_part(part, child_pointer(part.pointer, keyword), part.schema[keyword])]


def _parse_further_items(facts: KeywordFacts, parts: list[SchemaPart], prefixed: int, parser: SchemaParser) -> Node:
    skipped = [part for part in parts if prefixed == 0 and _tuple_schemas(part, parser)]
    schemas = [schema for part in parts if part not in skipped for schema in _schemas_for_further_items(part, parser)]
    return parser.parse_node(schemas) if schemas else AnyNode(child_pointer(facts.pointer, "items"))
