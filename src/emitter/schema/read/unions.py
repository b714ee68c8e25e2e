"""Reading ``anyOf`` and ``oneOf``: each branch together with what stands around the union."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from emitter.schema.pointer import below
from emitter.schema.read.facts import FOLLOWED, NOTES, UNIONS
from emitter.schema.shape import Choice, Never, Node, Open, Rule
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from emitter.schema.read.facts import Facts
    from emitter.schema.read.reader import Reader
    from emitter.schema.read.scope import Part

MAX_BRANCHES = 12
"""Unions that multiply to more than this are not unfolded into each other but checked locally."""

MAX_COPIED = 2_000
"""No more properties than this are repeated in the branches of one union."""

_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_CONDITIONS = frozenset(
    {"required", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies"}
    | {"minProperties", "maxProperties", "minItems", "maxItems", "contains"}
    | {"title", "description", "$comment"}
)
_SAYS_NOTHING = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "example",
        "$comment",
        "$schema",
        "$defs",
        "definitions",
        "discriminator",
    }
    | {"$id", "id", "$anchor", "deprecated", "readOnly", "writeOnly", "nullable"}
)


def union(facts: Facts, reader: Reader) -> Node:
    """Return the choice between the branches of one union; the others unfold inside, or are left over."""
    if len(facts.unions) == len(facts.parts) == 1 and not (facts.types or facts.about):
        return _alone(facts, reader)
    unfolded, left = _sorted_out(facts)
    plain = [reader.without(part, (*UNIONS, *FOLLOWED)) for part in facts.parts]
    if not unfolded:
        node = reader.node(plain)
        node.left = (*node.left, *left)
        return node
    part, keyword = unfolded[0]
    if keyword == "anyOf":
        # What is unevaluated depends on every branch that holds, and more than one may.
        left += [rule for rules in facts.about.values() for rule in rules if rule.keyword in _UNEVALUATED]
    kept = {(id(each.schema), name) for each, name in unfolded[1:]}
    around = [_around(each, reader, kept, open_ended=keyword == "anyOf") for each in facts.parts]
    around = [each for each in around if each.schema.keys() - _SAYS_NOTHING]
    branches = [
        reader.node([*around, reader.scope.inside(part, below(part.where, keyword, index), each)])
        for index, each in enumerate(sequence(part.schema[keyword]))
    ]
    node = _chosen(facts, branches, Rule(part.where, keyword, part.schema[keyword]))
    node.left = (*node.left, *left)
    return node


def _alone(facts: Facts, reader: Reader) -> Node:
    """Return a union around which nothing stands."""
    part, keyword = facts.unions[0]
    listed = sequence(part.schema[keyword])
    if keyword == "anyOf" and (True in listed or {} in listed):
        return Open(facts.where)
    where = below(part.where, keyword)
    branches = [reader.node([reader.scope.inside(part, f"{where}/{i}", each)]) for i, each in enumerate(listed)]
    return _chosen(facts, branches, Rule(part.where, keyword, part.schema[keyword]))


def _chosen(facts: Facts, branches: list[Node], origin: Rule) -> Node:
    possible = [each for each in branches if not isinstance(each, Never)]
    if not possible:
        return Never(facts.where)
    if len(possible) == 1:
        possible[0].unions = (*possible[0].unions, origin)
        return possible[0]
    return Choice(facts.where, tuple(possible), origin, parts=facts.parts)


def _sorted_out(facts: Facts) -> tuple[list[tuple[Part, str]], list[Rule]]:
    """Return the unions to unfold, and those that are checked locally."""
    bare = not (facts.types or facts.about)
    unfolded: list[tuple[Part, str]] = []
    left: list[Rule] = []
    for part, keyword in facts.unions:
        branches = sequence(part.schema[keyword])
        if keyword == "anyOf" and any(each is True or each == {} for each in branches):
            continue
        if not bare and all(_is_condition(each) for each in branches):
            left.append(Rule(part.where, keyword, branches))
        else:
            unfolded.append((part, keyword))
    while unfolded and _weight(facts, unfolded) > MAX_COPIED * MAX_BRANCHES:
        part, keyword = unfolded.pop()
        left.append(Rule(part.where, keyword, part.schema[keyword]))
    return unfolded, left


def _is_condition(branch: Any) -> bool:
    return isinstance(branch, dict) and not branch.keys() - _CONDITIONS


def _weight(facts: Facts, unions: list[tuple[Part, str]]) -> float:
    """Return how much unfolding repeats; more than ``MAX_BRANCHES`` of several unions count as endless."""
    branches = prod(len(sequence(part.schema[keyword])) for part, keyword in unions)
    if len(unions) > 1 and branches > MAX_BRANCHES:
        return float("inf")
    named = sum(len(mapping(part.schema.get("properties"))) for part in facts.parts)
    return branches * named * MAX_BRANCHES


def _around(part: Part, reader: Reader, kept: set[tuple[int, str]], *, open_ended: bool) -> Part:
    """Return what stands around a union: without it and those left over, without what is read already."""
    dropped = tuple(name for name in UNIONS if (id(part.schema), name) not in kept)
    return reader.without(part, (*dropped, *FOLLOWED, *NOTES, *(_UNEVALUATED if open_ended else ())))
