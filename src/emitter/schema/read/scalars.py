"""Reading what is said of strings and numbers, and lists of constants."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from emitter.schema.formats import CHECKED
from emitter.schema.read.facts import NOTES
from emitter.schema.shape import Never, Node, Remark, Rule, Scalar, Values
from emitter.schema.value import BOOLEAN, INTEGER, NULL, NUMBER, STRING, is_of, same

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.schema.read.facts import Facts
    from emitter.schema.read.scope import Part
    from emitter.wire import Json

SCALARS = (STRING, NUMBER, INTEGER, BOOLEAN, NULL)
_OF_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_RULES = {
    STRING: frozenset({"minLength", "maxLength", "pattern", "format"}),
    NUMBER: _OF_NUMBERS,
    INTEGER: _OF_NUMBERS,
    BOOLEAN: frozenset[str](),
    NULL: frozenset[str](),
}
_ALONE = {each: (each,) for each in SCALARS}
_ROUNDED = {"minimum": math.ceil, "maximum": math.floor}
_LOWER = {"minimum": max, "exclusiveMinimum": max, "minLength": max}
_UPPER = {"maximum": min, "exclusiveMaximum": min, "maxLength": min}
_TIGHTEST = {**_LOWER, **_UPPER}


def leaf(part: Part) -> Node | None:
    """Return the commonest schemas of all by the shortest way: a scalar of one type, texts to choose from."""
    schema = part.schema
    kind: Any = schema.get("type") if schema.__class__ is dict else None
    types = _ALONE.get(kind) if kind.__class__ is str else None
    if types is None:
        return None
    notes: dict[str, Any] = {}
    rules: list[Rule] = []
    for keyword, value in schema.items():
        if keyword in NOTES:
            notes[keyword] = value
        elif keyword != "type":
            if keyword not in _RULES[kind] or value is True or value is False or _is_remark(keyword, value):
                return _texts(part) if keyword == "enum" else None
            rules.append(Rule(part.where, keyword, value))
    if not rules:
        return Scalar(part.where, types, notes=notes, parts=(part,))
    kept, _ = merged(rules)
    kept = whole(kept) if kind == INTEGER else kept
    if contradictory(kept):
        return Never(part.where)
    return Scalar(part.where, types, notes=notes, rules=tuple(kept), parts=(part,))


def _is_remark(keyword: str, value: Any) -> bool:
    return keyword == "format" and value not in CHECKED


def _texts(part: Part) -> Node | None:
    """Return a choice of texts about which nothing else is said; None for any other list of constants."""
    schema = part.schema
    values: list[Any] = schema["enum"]
    if schema["type"] != STRING or schema.keys() - NOTES - {"type", "enum"} or not values:
        return None
    if not all(each.__class__ is str for each in values) or len(set(values)) != len(values):
        return None
    notes = {keyword: value for keyword, value in schema.items() if keyword in NOTES}
    return Values(part.where, values, notes=notes, parts=(part,))


def merged(rules: Iterable[Rule]) -> tuple[list[Rule], list[Rule]]:
    """Return one rule for each keyword, the tightest, and those that are left over."""
    kept: dict[str, Rule] = {}
    over: list[Rule] = []
    for rule in map(_even, rules):
        if (rule.keyword == "format" and rule.value not in CHECKED) or rule[1:] == _IDLE:
            continue
        first = kept.setdefault(rule.keyword, rule)
        if first.value == rule.value:
            continue
        pick = _TIGHTEST.get(rule.keyword)
        if pick is None:
            over.append(rule)
        elif pick(first.value, rule.value) == rule.value:
            kept[rule.keyword] = rule
    return list(kept.values()), over


_IDLE = ("minLength", 0)


def _even(rule: Rule) -> Rule:
    """Write whole numbers without a fraction."""
    even = isinstance(rule.value, float) and rule.value.is_integer()
    return rule._replace(value=int(rule.value)) if even else rule


def whole(rules: list[Rule]) -> list[Rule]:
    """Return the rules of an integer with their bounds on integers."""
    return [
        rule._replace(value=_ROUNDED[rule.keyword](rule.value)) if rule.keyword in _ROUNDED else rule for rule in rules
    ]


def contradictory(rules: Iterable[Rule]) -> bool:
    """Tell whether the bounds leave no value at all."""
    bound: dict[str, float] = {rule.keyword: rule.value for rule in rules}
    low = max(bound.get("minimum", -math.inf), bound.get("exclusiveMinimum", -math.inf))
    high = min(bound.get("maximum", math.inf), bound.get("exclusiveMaximum", math.inf))
    return low > high or bound.get("minLength", 0) > bound.get("maxLength", math.inf)


def scalar(facts: Facts, types: tuple[str, ...]) -> Node:
    """Return the scalar of these types."""
    said = [*(facts.about.get(STRING, ()) if STRING in types else ())]
    if NUMBER in types or INTEGER in types:
        said += facts.about.get(NUMBER, ())
    rules, over = merged(said)
    rules = whole(rules) if types == (INTEGER,) else rules
    formats = [each.value for each in facts.about.get(STRING, ()) if each.keyword == "format"]
    remark = next((each for each in formats if STRING not in types or each not in CHECKED), None)
    notes = {} if remark is None or types == (NULL,) else {Remark.FORMAT: remark}
    node = Scalar(facts.where, types, rules=tuple(rules), left=tuple(over), parts=facts.parts, notes=notes)
    return Never(facts.where) if len(types) == 1 and contradictory(rules) else node


def constants(facts: Facts, types: tuple[str, ...]) -> Node:
    """Return the values that every list of constants holds and no simple rule forbids."""
    simple = [rule for about in (STRING, NUMBER) for rule in facts.about.get(about, ())]
    values = [each for each in _common(facts.constants) if is_of(each, types) and _holds(simple, each)]
    if not values:
        return Never(facts.where)
    unions = [Rule(part.where, keyword, part.schema[keyword]) for part, keyword in facts.unions]
    deep = [rule for about, rules in facts.about.items() if about not in {STRING, NUMBER} for rule in rules]
    left = [*unions, *(deep if any(isinstance(each, dict | list) for each in values) else ())]
    return Values(facts.where, values, left=tuple(left), parts=facts.parts)


def _common(lists: list[list[Json]]) -> list[Json]:
    found = {same(each): each for each in reversed(lists[0])}
    for others in lists[1:]:
        keys = {same(each) for each in others}
        found = {key: each for key, each in found.items() if key in keys}
    return list(reversed(found.values()))


def _holds(rules: list[Rule], value: Json) -> bool:
    if not rules:
        return True
    return all(jsonschema_rs.is_valid({rule.keyword: rule.value}, value, validate_formats=True) for rule in rules)
