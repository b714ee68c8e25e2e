"""OpenWOP's tier-1 portable subset: where a schema steps outside it, and how to mend it.

Rules, ids and order are those of the OpenWOP conformance suite (RFC 0030 §B and RFC 0031 §A), quirks
included: no more is checked than it checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from emitter.schema.lint.survey import Breach, Step, Survey
from emitter.schema.pointer import escaped
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.wire import Json

MAX_DEPTH = 5
MAX_PROPERTIES = 100


class Mode(str, Enum):
    """How much is asked of a schema."""

    LOAD_BEARING = "load-bearing"
    """What fails on several vendors: the floor for every schema."""
    STRICT = "strict"
    """The whole intersection, for a host that advertises ``tierOneSubsetCompliance: "strict"``."""


class Edition(str, Enum):
    """Which branches of an ``anyOf`` must carry a discriminator."""

    V1 = "v1"
    """Every branch of every union."""
    V2 = "v2"
    """The branches that admit an object, where two or more do; unions with scalars and null pass."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule: where, which, what exactly, and how to mend it.

    ``pointer`` starts with ``#``, and escapes names as JSON pointers do; ``detail`` is the keyword or the
    number that broke the rule, where there is one.
    """

    pointer: str
    rule: str
    detail: str | None
    fix: str


def lint_tier1(schema: Json, mode: Mode) -> tuple[Finding, ...]:
    """Return where ``schema`` leaves the portable subset, in the order of the conformance suite."""
    survey = Survey(schema, partial(_subset, mode=mode))
    count = survey.count()
    over = [Breach("#", "max-property-count-100-exceeded", f"count={count}")] if count > MAX_PROPERTIES else []
    return tuple(map(_finding, (*survey.report(), *over)))


def lint_variants(schema: Json, edition: Edition) -> tuple[Finding, ...]:
    """Return where ``schema`` has a ``oneOf``, or a union whose branches no single field tells apart."""
    return tuple(map(_finding, Survey(schema, partial(_variants, edition=edition)).report()))


_FORBIDDEN = ("oneOf", "allOf", "not", "if", "then", "else", "dependencies", "prefixItems", "propertyNames")
_CONSTRAINTS = (
    ({"string"}, "forbidden-string-constraint-strict-only", ("minLength", "maxLength", "pattern", "format")),
    ({"number", "integer"}, "forbidden-number-constraint-strict-only", ("minimum", "maximum", "multipleOf")),
    ({"array"}, "forbidden-array-constraint-strict-only", ("minItems", "maxItems", "uniqueItems")),
)

_TAGGED = "Use anyOf, and give each branch a required string property whose enum holds one value of its own."
_LOCALLY = "Take the keyword out, say the rule in the description, and check it on the answer."
_FIXES = {
    "max-nesting-depth-5": "Flatten the schema, or move this part up: nothing may lie deeper than 5.",
    "additionalProperties-must-be-false-on-object-strict-only": 'Add "additionalProperties": false.',
    "property-not-in-required-strict-mode-only": 'List it in required, and add "null" to its type if it may be absent.',
    "forbidden-string-constraint-strict-only": _LOCALLY,
    "forbidden-number-constraint-strict-only": _LOCALLY,
    "forbidden-array-constraint-strict-only": _LOCALLY,
    "max-property-count-100-exceeded": "Split the schema: all its objects together may name 100 properties.",
    "oneOf-forbidden": _TAGGED,
    "anyOf-branch-missing-discriminator": (
        'Give this branch a required property with "type": "string" and an enum of one value.'
    ),
    "report-cut-off": "Mend what is reported, then lint again: the rest of the report was cut off.",
}
_KEYWORD_FIXES = {
    "oneOf": _TAGGED,
    "allOf": "Merge its branches into this schema.",
    "prefixItems": "Use an object with one named property for each place.",
    "propertyNames": "Name the properties, or use an array of objects with a key and a value.",
}


def _subset(step: Step, mode: Mode) -> Iterator[Breach | Step]:
    """Yield what RFC 0030 §B finds in one schema, and the schemas below it."""
    value: Json = step.value
    if not isinstance(value, dict):
        return
    if step.depth > MAX_DEPTH:
        yield Breach("", "max-nesting-depth-5", f"depth={step.depth}")
        return
    node, below, strict = mapping(value), step.depth + 1, mode is Mode.STRICT
    yield from (Breach("", "forbidden-keyword", each) for each in _FORBIDDEN if each in node)
    for index, branch in enumerate(sequence(node.get("anyOf"))):
        yield Step(f"/anyOf/{index}", branch, below)
    if _admits(node, {"object"}):
        yield from _object(node, below, strict=strict)
    if strict:
        yield from _constraints(node)
    if _admits(node, {"array"}):
        yield Step("/items", node.get("items"), below)
    for name, each in mapping(node.get("$defs")).items():
        yield Step(f"/$defs/{escaped(name)}", each, below)


def _object(node: Json, below: int, *, strict: bool) -> Iterator[Breach | Step]:
    if strict and node.get("additionalProperties") is not False:
        yield Breach("", "additionalProperties-must-be-false-on-object-strict-only")
    required = _names(node.get("required"))
    for name, each in mapping(node.get("properties")).items():
        suffix = f"/properties/{escaped(name)}"
        if strict and name not in required:
            yield Breach(suffix, "property-not-in-required-strict-mode-only")
        yield Step(suffix, each, below, counts=True)


def _constraints(node: Json) -> Iterator[Breach]:
    for types, rule, keywords in _CONSTRAINTS:
        if _admits(node, types):
            yield from (Breach("", rule, each) for each in keywords if each in node)


def _variants(step: Step, edition: Edition) -> Iterator[Breach | Step]:
    """Yield what RFC 0031 §A finds at one JSON position, and the positions below it."""
    node = mapping(step.value)
    if "oneOf" in node:
        yield Breach("", "oneOf-forbidden")
    branches = sequence(node.get("anyOf"))
    concerned = [edition is Edition.V1 or _admits_object(each) for each in branches]
    if edition is Edition.V1 or sum(concerned) > 1:
        for index, branch in enumerate(branches):
            if concerned[index] and not _discriminated(branch):
                yield Breach(f"/anyOf/{index}", "anyOf-branch-missing-discriminator")
    for name, each in (*node.items(), *enumerate(sequence(step.value))):
        if isinstance(each, dict | list):
            yield Step(f"/{escaped(str(name))}", each)


def _admits_object(branch: Json) -> bool:
    node = mapping(branch)
    if "type" not in node:
        return not node.keys().isdisjoint({"$ref", "properties", "required"})
    return "$ref" in node or _admits(node, {"object"})


def _discriminated(branch: Json) -> bool:
    """Tell whether one field's value chooses this branch; where a reference leads is not looked at."""
    node = mapping(branch)
    properties = mapping(node.get("properties"))
    return "$ref" in node or any(_is_tag(properties.get(name)) for name in _names(node.get("required")))


def _is_tag(schema: Json) -> bool:
    node = mapping(schema)
    return node.get("type") == "string" and len(sequence(node.get("enum"))) == 1


def _admits(node: Json, types: set[str]) -> bool:
    kind = node.get("type")
    return not types.isdisjoint(_names(kind if isinstance(kind, list) else [kind]))


def _names(value: Json) -> frozenset[str]:
    return frozenset(each for each in sequence(value) if isinstance(each, str))


def _finding(breach: Breach) -> Finding:
    fix = _FIXES.get(breach.rule) or _KEYWORD_FIXES.get(breach.detail or "", _LOCALLY)
    return Finding(breach.pointer, breach.rule, breach.detail, fix)
