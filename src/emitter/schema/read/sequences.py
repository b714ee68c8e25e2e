"""Reading what is said of arrays: places by position, and the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.schema.pointer import below
from emitter.schema.read.scalars import merged
from emitter.schema.shape import Never, Node, Open, Rule, Sequence, Values
from emitter.schema.value import ARRAY
from emitter.wire import sequence

if TYPE_CHECKING:
    from emitter.schema.read.facts import Facts
    from emitter.schema.read.reader import Reader
    from emitter.schema.read.scope import Part

MAX_PREFIX = 64
"""A tuple longer than this is read as an array whose places are checked locally."""

_READ = frozenset({"items", "prefixItems", "additionalItems", "minItems", "maxItems"})


def array(facts: Facts, reader: Reader) -> Node:
    """Return the array that the parts describe together."""
    said = facts.about.get(ARRAY, ())
    if len(facts.parts) == 1 and all(rule.keyword == "items" for rule in said):
        return _plain_array(facts, reader)
    return _array(facts, reader)


def _array(facts: Facts, reader: Reader) -> Node:
    said = facts.about.get(ARRAY, ())
    parts = [part for part in facts.parts if part.schema.keys() & _READ]
    least = max((int(rule.value) for rule in said if rule.keyword == "minItems"), default=0)
    bounds = [int(rule.value) for rule in said if rule.keyword == "maxItems"]
    most = min(bounds, default=None)
    left = [rule for rule in said if rule.keyword not in _READ and not _idle(rule, said)]
    prefix, over = _prefix(parts, reader)
    rest: Node | None = _rest(facts, parts, len(prefix), reader)
    if isinstance(rest, Never) or _all_evaluated(facts, parts, reader):
        rest = None
    cut = next((index for index, each in enumerate(prefix) if isinstance(each, Never)), None)
    if cut is not None:
        prefix, rest = prefix[:cut], None
    if most is not None and most <= len(prefix):
        rest = None
    if rest is None:
        most = len(prefix) if most is None else min(most, len(prefix))
    if most is not None and least > most:
        return Never(facts.where)
    bounds_kept, _ = merged(rule for rule in said if rule.keyword in {"minItems", "maxItems"})
    if most == 0:
        return Values(facts.where, [[]], left=(*left, *over), parts=facts.parts)
    node = Sequence(facts.where, tuple(prefix[:most]), rest, least, most, parts=facts.parts)
    node.rules, node.left = tuple(bounds_kept), (*left, *over)
    return node


def _plain_array(facts: Facts, reader: Reader) -> Node:
    """Return an array of which only the items are spoken of, all alike."""
    part = facts.parts[0]
    items = part.schema.get("items", True)
    if isinstance(items, list):
        return _array(facts, reader)
    where = below(part.where, "items")
    rest = reader.node([reader.scope.inside(part, where, items)])
    if isinstance(rest, Never):
        return Values(facts.where, [[]], parts=facts.parts)
    return Sequence(facts.where, (), rest, parts=facts.parts)


def _idle(rule: Rule, said: Any) -> bool:
    """Tell whether the rule says nothing without ``contains``."""
    return rule.keyword in {"minContains", "maxContains"} and not any(each.keyword == "contains" for each in said)


def _all_evaluated(facts: Facts, parts: list[Part], reader: Reader) -> bool:
    """Tell whether items beyond those that are read here are forbidden; the rule stays for the local check."""
    said = facts.about.get(ARRAY, ())
    shut = [rule.value is False for rule in said if rule.keyword == "unevaluatedItems"]
    if not shut or not all(shut) or facts.conditional or any(rule.keyword == "contains" for rule in said):
        return False
    return not any(reader.draft.rest_keyword in part.schema or _plain(part, reader) for part in parts)


def _plain(part: Part, reader: Reader) -> bool:
    return "items" in part.schema and not _tuple(part, reader)


def _tuple(part: Part, reader: Reader) -> list[Any]:
    return sequence(part.schema.get(reader.draft.tuple_keyword))


def _prefix(parts: list[Part], reader: Reader) -> tuple[list[Node], list[Rule]]:
    """Return the items that have a place of their own, and the rules left over where they are too many."""
    longest = max((len(_tuple(part, reader)) for part in parts), default=0)
    keyword = reader.draft.tuple_keyword
    if longest > MAX_PREFIX:
        told = [Rule(part.where, keyword, part.schema[keyword]) for part in parts if _tuple(part, reader)]
        return [], [*told, *_rest_rules(parts, reader)]
    nodes: list[Node] = []
    for index in range(longest):
        said = [each for part in parts for each in _said_of(part, index, reader)]
        nodes.append(reader.node(said) if said else Open(below(parts[0].where, keyword, index)))
    return nodes, []


def _rest_rules(parts: list[Part], reader: Reader) -> list[Rule]:
    keyword = reader.draft.rest_keyword
    return [Rule(part.where, keyword, part.schema[keyword]) for part in parts if keyword in part.schema]


def _said_of(part: Part, index: int, reader: Reader) -> list[Part]:
    places = _tuple(part, reader)
    if index < len(places):
        where = below(part.where, reader.draft.tuple_keyword, index)
        return [reader.scope.inside(part, where, places[index])]
    return _said_of_rest(part, reader)


def _said_of_rest(part: Part, reader: Reader) -> list[Part]:
    keyword = "items" if _plain(part, reader) else reader.draft.rest_keyword
    if keyword not in part.schema or (keyword == "additionalItems" and not _tuple(part, reader)):
        return []
    return [reader.scope.inside(part, below(part.where, keyword), part.schema[keyword])]


def _rest(facts: Facts, parts: list[Part], prefixed: int, reader: Reader) -> Node:
    long = [part for part in parts if prefixed == 0 and _tuple(part, reader)]
    said = [each for part in parts if part not in long for each in _said_of_rest(part, reader)]
    return reader.node(said) if said else Open(below(facts.where, "items"))
