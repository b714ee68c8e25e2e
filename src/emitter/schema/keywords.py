"""Interpret the keywords that apply to one value.

Keywords from several schemas are collected in ``KeywordFacts``, then read as scalars, enums or unions. Bounds are
merged, and contradictory ones give a ``NeverNode``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

from emitter.messages import as_list, as_mapping
from emitter.schema.formats import CHECKED_FORMATS
from emitter.schema.json_data import (
    ALL_TYPES,
    ARRAY,
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    canonical_key,
    child_pointer,
    is_type,
)
from emitter.schema.nodes import AnyNode, EnumNode, NeverNode, Node, NoteKey, Rule, ScalarNode, UnionNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from emitter.messages import Json
    from emitter.schema.dialects import SchemaDraft
    from emitter.schema.parser import SchemaParser
    from emitter.schema.references import SchemaPart

UNION_KEYWORDS = ("anyOf", "oneOf")
EXPANDED_KEYWORDS = ("$ref", "allOf")
"""Keywords whose schemas become parts of their own."""
NOTE_KEYWORDS = frozenset({"title", "description", "default", "examples"})
_VALUE_NAME_KEYWORDS = ("x-enum-varnames", "x-enumNames", "enumNames")
"""Keywords that list the names of enum values, in the order of the values."""
_CONTENT_KEYWORDS = frozenset({"contentMediaType", "contentEncoding", "contentSchema"})
_TYPE_BY_KEYWORD: dict[str, str] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), STRING),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), NUMBER),
    **dict.fromkeys(("items", "additionalItems", "prefixItems", "minItems", "maxItems", "uniqueItems"), ARRAY),
    **dict.fromkeys(("contains", "minContains", "maxContains", "unevaluatedItems"), ARRAY),
    **dict.fromkeys(("properties", "required", "additionalProperties", "patternProperties"), OBJECT),
    **dict.fromkeys(("propertyNames", "minProperties", "maxProperties", "unevaluatedProperties"), OBJECT),
    **dict.fromkeys(("dependencies", "dependentRequired", "dependentSchemas"), OBJECT),
}
_DESCRIPTIVE_KEYWORDS = frozenset({"example", *_VALUE_NAME_KEYWORDS, *_CONTENT_KEYWORDS})
_DRAFT4_EXCLUSIVE_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_UNREAD_KEYWORDS = frozenset({"not", "if", "then", "else", "$dynamicRef", "$recursiveRef"})
_VACUOUS_RULES = {"minLength": 0, "minItems": 0, "minProperties": 0, "uniqueItems": False}
"""Rules that every value satisfies."""


class KeywordFacts:
    """The keywords that apply to one value.

    ``rules_by_type`` groups rules by the type that they constrain. ``contradictions`` are the rules because of which a
    part of the schema is left out.
    """

    __slots__ = ("constants", "contradictions", "notes", "parts", "rules_by_type", "types", "unenforced", "unions")

    def __init__(self, parts: tuple[SchemaPart, ...]) -> None:
        self.parts = parts
        self.types: tuple[str, ...] | None = None
        self.notes: dict[str, Any] = {}
        self.constants: list[list[Any]] = []
        self.unions: list[tuple[SchemaPart, str]] = []
        self.rules_by_type: dict[str, list[Rule]] = {}
        self.unenforced: list[Rule] = []
        self.contradictions: list[Rule] = []

    @property
    def is_conditional(self) -> bool:
        """True if a schema that is not parsed, such as ``if``, may mention more properties or items."""
        return bool(self.unenforced) or any("if" in part.schema for part in self.parts)

    @property
    def pointer(self) -> str:
        """The pointer of the first part."""
        return self.parts[0].pointer

    def stated_rules(self, keyword: str) -> list[Rule]:
        """Return the rules with this keyword."""
        return [Rule(part.pointer, keyword, part.schema[keyword]) for part in self.parts if keyword in part.schema]

    def stated_rule(self, keyword: str) -> Rule:
        """Return the first rule with this keyword."""
        return next(iter(self.stated_rules(keyword)), Rule(self.pointer, keyword, None))


def collect_keywords(parts: Sequence[SchemaPart], draft: SchemaDraft) -> KeywordFacts:
    """Return the keywords of ``parts``, whose references and ``allOf`` are already expanded."""
    facts = KeywordFacts(tuple(parts))
    for part in parts:
        for keyword, value in part.schema.items():
            if keyword in NOTE_KEYWORDS:
                facts.notes.setdefault(keyword, value)
            elif keyword in _DESCRIPTIVE_KEYWORDS:
                _add_note(facts, part, keyword)
            elif keyword in draft.keywords:
                _add_keyword(facts, part, keyword, value)
    return facts


def _add_note(facts: KeywordFacts, part: SchemaPart, keyword: str) -> None:
    """Record a keyword that describes values without constraining them."""
    value = part.schema[keyword]
    if keyword == "example":
        facts.notes.setdefault("examples", [value])
    elif keyword in _CONTENT_KEYWORDS:
        facts.notes.setdefault(NoteKey.CONTENT, part)
    elif isinstance(value, list):
        values = [part.schema["const"]] if "const" in part.schema else as_list(part.schema.get("enum"))
        names = facts.notes.setdefault(NoteKey.NAMES, {})
        names.update({canonical_key(const): name for const, name in zip(values, as_list(value), strict=False)})


def _add_keyword(facts: KeywordFacts, part: SchemaPart, keyword: str, value: Any) -> None:
    constrained_type = _TYPE_BY_KEYWORD.get(keyword)
    if constrained_type is not None:
        rule = _boolean_rule(part, keyword) if value is True or value is False else Rule(part.pointer, keyword, value)
        if rule is not None and (keyword not in _VACUOUS_RULES or value != _VACUOUS_RULES[keyword]):
            facts.rules_by_type.setdefault(constrained_type, []).append(rule)
    elif keyword == "type":
        declared = (value,) if isinstance(value, str) else tuple(dict.fromkeys(as_list(value)))
        facts.types = _intersect_types(facts.types, declared)
    elif keyword in {"enum", "const"}:
        facts.constants.append(as_list(value) if keyword == "enum" else [value])
    elif keyword in UNION_KEYWORDS:
        facts.unions.append((part, keyword))
    elif keyword in _UNREAD_KEYWORDS and _has_effect(part.schema, keyword):
        facts.unenforced.append(Rule(part.pointer, keyword, value))


def _boolean_rule(part: SchemaPart, keyword: str) -> Rule | None:
    """Return the rule of a boolean keyword. In draft 4, it makes the bound in the same schema exclusive."""
    value = part.schema[keyword]
    if keyword in _DRAFT4_EXCLUSIVE_BOUNDS:
        bound = part.schema.get(_DRAFT4_EXCLUSIVE_BOUNDS[keyword])
        return Rule(part.pointer, keyword, bound) if value and bound is not None else None
    return Rule(part.pointer, keyword, value)


def _has_effect(schema: dict[str, Any], keyword: str) -> bool:
    if keyword == "if":
        return "then" in schema or "else" in schema
    if keyword == "not":
        return schema["not"] is not False
    return keyword not in {"then", "else"} or "if" in schema


def _intersect_types(one: tuple[str, ...] | None, other: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types that both allow. Every integer is a number."""
    if one is None:
        return other
    other_types = set(other)
    common = [kind for kind in one if kind in other_types or (kind == INTEGER and NUMBER in other_types)]
    if NUMBER in one and INTEGER in other_types and NUMBER not in other_types:
        common.append(INTEGER)
    return tuple(dict.fromkeys(common))


def allowed_types(facts: KeywordFacts) -> tuple[str, ...]:
    """Return the types that the value may have."""
    types = ALL_TYPES if facts.types is None else facts.types
    if len(types) == 1:
        return types
    return tuple(kind for kind in types if not (kind == INTEGER and NUMBER in types))


SCALAR_TYPES = (STRING, NUMBER, INTEGER, BOOLEAN, NULL)
_BOUND_ROUNDING = {"minimum": math.ceil, "maximum": math.floor}
_TIGHTEST: dict[str, Any] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}


def merge_rules(rules: Iterable[Rule]) -> tuple[list[Rule], list[Rule]]:
    """Return the tightest rule of each keyword, and the rules that could not be merged."""
    kept: dict[str, Rule] = {}
    unmerged: list[Rule] = []
    for rule in map(_normalize_rule, rules):
        if rule.keyword == "format" and rule.value not in CHECKED_FORMATS:
            continue
        first = kept.setdefault(rule.keyword, rule)
        if first.value == rule.value:
            continue
        tighter = _TIGHTEST.get(rule.keyword)
        if tighter is None:
            unmerged.append(rule)
        elif tighter(first.value, rule.value) == rule.value:
            kept[rule.keyword] = rule
    return list(kept.values()), unmerged


def _normalize_rule(rule: Rule) -> Rule:
    """Write whole numbers without a fraction."""
    is_whole = isinstance(rule.value, float) and rule.value.is_integer()
    return rule._replace(value=int(rule.value)) if is_whole else rule


def round_integer_bounds(rules: list[Rule]) -> list[Rule]:
    """Return the rules of an integer with integer bounds."""
    return [
        rule._replace(value=_BOUND_ROUNDING[rule.keyword](rule.value)) if rule.keyword in _BOUND_ROUNDING else rule
        for rule in rules
    ]


def find_contradiction(rules: Iterable[Rule], *, integer: bool = False) -> tuple[Rule, ...]:
    """Return the bounds that together exclude every number or every string, or nothing."""
    by_keyword = {rule.keyword: rule for rule in (round_integer_bounds(list(rules)) if integer else rules)}
    if _value(by_keyword, "minLength", 0) > _value(by_keyword, "maxLength", math.inf):
        return by_keyword["minLength"], by_keyword["maxLength"]
    lower = [rule for name, rule in by_keyword.items() if name in {"minimum", "exclusiveMinimum"}]
    upper = [rule for name, rule in by_keyword.items() if name in {"maximum", "exclusiveMaximum"}]
    if not lower or not upper:
        return ()
    # Of two equal bounds, the exclusive one is tighter.
    low = max(lower, key=lambda rule: (rule.value, rule.keyword == "exclusiveMinimum"))
    high = min(upper, key=lambda rule: (rule.value, rule.keyword == "maximum"))
    if low.value > high.value or (low.value == high.value and (low.keyword, high.keyword) != ("minimum", "maximum")):
        return low, high
    step = Fraction(str(_value(by_keyword, "multipleOf", 1)))
    is_stepped = integer or "multipleOf" in by_keyword
    if is_stepped and not _has_multiple(low, high, Fraction(step.numerator) if integer else step):
        return low, high, *([by_keyword["multipleOf"]] if "multipleOf" in by_keyword else [])
    return ()


def _value(rules: dict[str, Rule], keyword: str, default: float) -> Any:
    return rules[keyword].value if keyword in rules else default


def _has_multiple(low: Rule, high: Rule, step: Fraction) -> bool:
    """Return whether a multiple of ``step`` lies within the bounds."""
    least, most = Fraction(str(low.value)), Fraction(str(high.value))
    first = math.ceil(least / step) * step
    first += step if low.keyword == "exclusiveMinimum" and first == least else 0
    return first < most or (first == most and high.keyword == "maximum")


def parse_scalar(facts: KeywordFacts, types: tuple[str, ...]) -> Node:
    """Return a scalar of those types that its rules do not exclude."""
    contradictions = {kind: _find_type_contradiction(facts, kind) for kind in types}
    possible = tuple(kind for kind in types if not contradictions[kind])
    if not possible:
        return NeverNode(facts.pointer, rules=next(iter(contradictions.values()), (facts.stated_rule("type"),)))
    facts.contradictions += [rules[0] for rules in contradictions.values() if rules]
    return _parse_possible_scalar(facts, possible)


def _find_type_contradiction(facts: KeywordFacts, kind: str) -> tuple[Rule, ...]:
    """Return the rules that exclude every value of a scalar type."""
    rules = facts.rules_by_type.get(NUMBER if kind == INTEGER else kind) if kind in {STRING, NUMBER, INTEGER} else None
    return find_contradiction(merge_rules(rules)[0], integer=kind == INTEGER) if rules else ()


def _parse_possible_scalar(facts: KeywordFacts, types: tuple[str, ...]) -> Node:
    stated_rules = [*(facts.rules_by_type.get(STRING, ()) if STRING in types else ())]
    if NUMBER in types or INTEGER in types:
        stated_rules += facts.rules_by_type.get(NUMBER, ())
    rules, unmerged = merge_rules(stated_rules)
    rules = round_integer_bounds(rules) if types == (INTEGER,) else rules
    formats = [rule.value for rule in facts.rules_by_type.get(STRING, ()) if rule.keyword == "format"]
    descriptive_format = next(
        (format_name for format_name in formats if STRING not in types or format_name not in CHECKED_FORMATS), None
    )
    notes = {} if descriptive_format is None or types == (NULL,) else {NoteKey.FORMAT: descriptive_format}
    return ScalarNode(
        facts.pointer, types, rules=tuple(rules), unenforced=tuple(unmerged), parts=facts.parts, notes=notes
    )


def parse_enum(facts: KeywordFacts, types: tuple[str, ...], draft: SchemaDraft) -> Node:
    """Return the values that all enums contain and no rule excludes."""
    common = _intersect_constants(facts.constants)
    is_admitted = _make_value_check(facts, draft)
    values = [value for value in common if is_type(value, types) and is_admitted(value)]
    if not values:
        return NeverNode(facts.pointer, rules=_excluding_rules(facts, common, types))
    if len(values) < len(common):
        excluded = [value for value in common if value not in values]
        facts.contradictions.append(_constant_rules(facts)[0]._replace(value=excluded))
    unions = [Rule(part.pointer, keyword, part.schema[keyword]) for part, keyword in facts.unions]
    container_rules = [
        rule for kind, rules in facts.rules_by_type.items() if kind not in {STRING, NUMBER} for rule in rules
    ]
    unenforced = [*unions, *(container_rules if any(isinstance(value, dict | list) for value in values) else ())]
    return EnumNode(facts.pointer, values, unenforced=tuple(unenforced), parts=facts.parts)


def _constant_rules(facts: KeywordFacts) -> tuple[Rule, ...]:
    """Return the rules that list the values."""
    return tuple(
        Rule(part.pointer, keyword, part.schema[keyword])
        for part in facts.parts
        for keyword in ("enum", "const")
        if keyword in part.schema
    )


def _excluding_rules(facts: KeywordFacts, common: list[Json], types: tuple[str, ...]) -> tuple[Rule, ...]:
    """Return the rules that together exclude all constants."""
    constants = _constant_rules(facts)
    if not common:
        return constants
    if not any(is_type(value, types) for value in common):
        return constants[0], facts.stated_rule("type")
    rules = [rule for rules in facts.rules_by_type.values() for rule in rules]
    return constants[0], *(rules or facts.unenforced)[:1]


_WITH_OTHER_PARTS = frozenset({"enum", "const", "type", "allOf", "$defs", "definitions"})
"""Keywords that say nothing more about one value of an enum, or are parts of their own."""


def _make_value_check(facts: KeywordFacts, draft: SchemaDraft) -> Callable[[Json], bool]:
    """Return a check of a value against the keywords around an enum, without the ones that contain references."""
    schemas = [{name: part.schema[name] for name in part.schema.keys() & draft.keywords} for part in facts.parts]
    checked = [{name: each[name] for name in each.keys() - _WITH_OTHER_PARTS} for each in schemas]
    checks = [
        draft.validator(each, validate_formats=True)
        for each in checked
        if each and "Ref" not in (text := str(each)) and "$ref" not in text
    ]
    return lambda value: all(check.is_valid(value) for check in checks)


def _intersect_constants(lists: list[list[Json]]) -> list[Json]:
    common = {canonical_key(enum): enum for enum in reversed(lists[0])}
    for values in lists[1:]:
        keys = {canonical_key(value) for value in values}
        common = {key: each for key, each in common.items() if key in keys}
    return list(reversed(common.values()))


MAX_BRANCHES = 12
"""Unions whose product has more branches are not expanded, only validated."""
MAX_COPIED_PROPERTIES = 2_000
"""At most this many properties are copied into the branches of a union."""
_UNEVALUATED_KEYWORDS = ("unevaluatedProperties", "unevaluatedItems")
_CONDITION_KEYWORDS = frozenset(
    {"required", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies"}
    | {"minProperties", "maxProperties", "minItems", "maxItems", "contains"}
    | {"title", "description", "$comment"}
)


def parse_union(facts: KeywordFacts, parser: SchemaParser) -> Node:
    """Return the expansion of one union. The others are expanded inside it, or only validated."""
    expanded, unenforced = _select_unions(facts)
    parts_without_unions = [
        parser.without_keywords(part, (*UNION_KEYWORDS, *EXPANDED_KEYWORDS)) for part in facts.parts
    ]
    if not expanded:
        node = parser.parse_node(parts_without_unions)
        node.unenforced = (*node.unenforced, *unenforced)
        return node
    part, keyword = expanded[0]
    if keyword == "anyOf":
        # Several branches may match, and each of them evaluates properties or items.
        unenforced += [
            rule for rules in facts.rules_by_type.values() for rule in rules if rule.keyword in _UNEVALUATED_KEYWORDS
        ]
    # The keywords around the union move into each branch, so that a branch alone says what a value must satisfy. The
    # other unions stay among them and are expanded inside the branches.
    kept_unions = {(id(part.schema), name) for part, name in expanded[1:]}
    enclosing = [_enclosing_part(part, parser, kept_unions, open_ended=keyword == "anyOf") for part in facts.parts]
    effective = parser.draft.keywords - {"$defs", "definitions"} | _DESCRIPTIVE_KEYWORDS - {"example"}
    enclosing = [part for part in enclosing if part.schema.keys() & effective]
    branches = [
        parser.parse_node(
            [*enclosing, parser.resolver.child_part(part, child_pointer(part.pointer, keyword, index), value)]
        )
        for index, value in enumerate(as_list(part.schema[keyword]))
    ]
    # Only some combinations of several unions are possible, so a branch that is in none contradicts no keyword.
    for union, name in facts.unions if len(facts.unions) > 1 else ():
        parser.note_branches(union, name, [AnyNode("")] * len(as_list(union.schema[name])))
    parser.note_branches(part, keyword, branches)
    node = _union_node(facts, branches, Rule(part.pointer, keyword, part.schema[keyword]))
    node.unenforced = (*node.unenforced, *unenforced)
    return node


def _union_node(facts: KeywordFacts, branches: list[Node], origin: Rule) -> Node:
    possible = [branch for branch in branches if not isinstance(branch, NeverNode)]
    if not possible:
        return NeverNode(facts.pointer, rules=next((each.rules for each in branches if each.rules), (origin,)))
    if len(possible) == 1:
        possible[0].unions = (*possible[0].unions, origin)
        return possible[0]
    return UnionNode(facts.pointer, tuple(possible), origin, parts=facts.parts)


def _select_unions(facts: KeywordFacts) -> tuple[list[tuple[SchemaPart, str]], list[Rule]]:
    """Return the unions to expand, and the rules of the unions that are only validated."""
    is_bare = not (facts.types or facts.rules_by_type)
    expanded: list[tuple[SchemaPart, str]] = []
    unenforced: list[Rule] = []
    for part, keyword in facts.unions:
        branches = as_list(part.schema[keyword])
        if keyword == "anyOf" and any(branch is True or branch == {} for branch in branches):
            continue
        if not is_bare and all(_is_condition(branch) for branch in branches):
            unenforced.append(Rule(part.pointer, keyword, branches))
        else:
            expanded.append((part, keyword))
    while expanded and _expansion_cost(facts, expanded) > MAX_COPIED_PROPERTIES * MAX_BRANCHES:
        part, keyword = expanded.pop()
        unenforced.append(Rule(part.pointer, keyword, part.schema[keyword]))
    return expanded, unenforced


def _is_condition(branch: Any) -> bool:
    return isinstance(branch, dict) and not branch.keys() - _CONDITION_KEYWORDS


def _expansion_cost(facts: KeywordFacts, unions: list[tuple[SchemaPart, str]]) -> float:
    """Return how many properties an expansion copies, or infinity for several unions with too many branches."""
    branches = prod(len(as_list(part.schema[keyword])) for part, keyword in unions)
    if len(unions) > 1 and branches > MAX_BRANCHES:
        return float("inf")
    property_count = sum(len(as_mapping(part.schema.get("properties"))) for part in facts.parts)
    return branches * property_count * MAX_BRANCHES


def _enclosing_part(
    part: SchemaPart, parser: SchemaParser, kept_unions: set[tuple[int, str]], *, open_ended: bool
) -> SchemaPart:
    """Return the keywords around a union, without the ones that its branches replace."""
    union_keywords = tuple(name for name in UNION_KEYWORDS if (id(part.schema), name) not in kept_unions)
    return parser.without_keywords(
        part, (*union_keywords, *EXPANDED_KEYWORDS, *NOTE_KEYWORDS, *(_UNEVALUATED_KEYWORDS if open_ended else ()))
    )
