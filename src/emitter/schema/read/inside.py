"""Every keyword that says something inside a schema, wherever its references lead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.errors import Uncompilable
from emitter.schema.pointer import below
from emitter.schema.read.scope import Part, Scope
from emitter.schema.shape import Rule
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.schema.drafts import Draft

MAX_RULES = 5_000
"""More than these are not listed one by one."""

_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset(
    {"additionalProperties", "propertyNames", "items", "additionalItems", "contains", "not", "if", "then", "else"}
    | {"unevaluatedProperties", "unevaluatedItems"}
)
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_SCHEMAS = _MAPS | _LISTS | _SINGLE | _REFERENCES | {"dependencies"}


def everything(parts: Iterable[Part], scope: Scope, draft: Draft, met: set[int] | None = None) -> list[Rule]:
    """Return each keyword in ``parts`` and below, each place once; places in ``met`` are passed over."""
    found: list[Rule] = []
    met = set() if met is None else met
    waiting = list(parts)
    while waiting and len(found) < MAX_RULES:
        part = waiting.pop()
        if part.schema is False:
            found.append(Rule(part.where.rpartition("/")[0], part.where.rpartition("/")[2], False))
            continue
        if part.schema.__class__ is not dict or id(part.schema) in met:
            continue
        met.add(id(part.schema))
        known = {key: each for key, each in part.schema.items() if key in draft.keywords}
        found.extend(Rule(part.where, key, each) for key, each in known.items() if key not in {"$defs", "definitions"})
        for keyword in known:
            waiting.extend(_below(part, keyword, scope))
    return found


def below_rule(rule: Rule, scope: Scope, parts: Iterable[Part]) -> list[Part]:
    """Return the schemas that are the value of ``rule``, which one of ``parts`` holds."""
    if rule.keyword not in _SCHEMAS:
        return []
    resolver = next((part.resolver for part in parts if part.where == rule.where), scope.root.resolver)
    return list(_below(Part({rule.keyword: rule.value}, rule.where, resolver), rule.keyword, scope))


def _below(part: Part, keyword: str, scope: Scope) -> Iterator[Part]:
    value = part.schema[keyword]
    where = below(part.where, keyword)
    if keyword in _REFERENCES:
        yield from _targets(part, keyword, scope)
    elif keyword in _MAPS or keyword == "dependencies":
        for name, each in mapping(value).items():
            yield scope.inside(part, below(where, name), each)
    elif keyword in _LISTS or isinstance(value, list):
        for index, each in enumerate(sequence(value)):
            yield scope.inside(part, below(where, index), each)
    elif keyword in _SINGLE:
        yield scope.inside(part, where, value)


def _targets(part: Part, keyword: str, scope: Scope) -> Iterator[Part]:
    """Yield what a reference names; a dynamic one may name something else, but nothing outside the document."""
    try:
        yield scope.lookup(part, keyword)
    except Uncompilable:  # found by ``dangling``
        return
    if keyword != "$ref":
        yield scope.root


def dangling(scope: Scope, draft: Draft) -> Uncompilable | None:
    """Return the first reference that leads nowhere."""
    for rule in everything([scope.root], scope, draft):
        if rule.keyword == "$ref":
            try:
                scope.lookup(Part({"$ref": rule.value}, rule.where, scope.root.resolver), "$ref")
            except Uncompilable as error:
                return error
    return None


def stated(parts: Iterable[Part], scope: Scope) -> list[Part]:
    """Return the parts without those that another one leads to by ``$ref`` or ``allOf``."""
    found: list[Part] = []
    followed: set[int] = set()
    for part in parts:
        if id(part.schema) not in followed:
            found.append(part)
            _follow(part, scope, followed)
    return found


def _follow(part: Part, scope: Scope, followed: set[int]) -> None:
    """Add the schemas that ``part`` leads to by ``$ref`` and ``allOf``, itself included."""
    waiting = [part]
    while waiting:
        here = waiting.pop()
        if id(here.schema) in followed or here.schema.__class__ is not dict:
            continue
        followed.add(id(here.schema))
        if isinstance(here.schema.get("$ref"), str) and (target := scope.found(here)) is not None:
            waiting.append(target)
        waiting.extend(scope.inside(here, here.where, each) for each in sequence(here.schema.get("allOf")))


def references(part: Part, scope: Scope) -> Iterator[tuple[str, Part]]:
    """Yield every reference inside ``part`` with the schema that it names."""
    waiting = [part]
    while waiting:
        here = waiting.pop()
        node: Any = here.schema
        if node.__class__ is dict:
            for keyword in _REFERENCES & node.keys():
                if isinstance(node[keyword], str):
                    yield from ((node[keyword], each) for each in _targets(here, keyword, scope))
            waiting.extend(scope.inside(here, here.where, each) for each in node.values())
        elif node.__class__ is list:
            waiting.extend(here._replace(schema=each) for each in node)
