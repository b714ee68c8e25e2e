"""Lint schemas against OpenWOP's portable tier-1 subset.

Rules, identifiers and order follow the OpenWOP conformance suite (RFC 0030 §B and RFC 0031 §A). Each finding has a
pointer and a suggested fix. Shared subschemas are checked once, and the length of a report is bounded.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from emitter.messages import as_list, as_mapping
from emitter.schema.json_data import escape_pointer_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emitter.messages import Json

MAX_DEPTH = 5
MAX_PROPERTIES = 100


class Tier1Mode(str, Enum):
    """The strictness of the linter."""

    LOAD_BEARING = "load-bearing"
    """Only rules whose violation fails at several providers."""
    STRICT = "strict"
    """The whole subset, for hosts that advertise ``tierOneSubsetCompliance: "strict"``."""


class VariantEdition(str, Enum):
    """The branches of an ``anyOf`` that need a discriminator."""

    V1 = "v1"
    """Every branch of every union."""
    V2 = "v2"
    """The branches that may be objects, if there are several."""


@dataclass(frozen=True, slots=True)
class Tier1Finding:
    """A broken rule.

    Attributes:
        pointer: The JSON pointer of the schema, starting with ``#``.
        rule: The identifier of the rule.
        detail: The keyword or number that broke the rule, if any.
        fix: A suggestion.
    """

    pointer: str
    rule: str
    detail: str | None
    fix: str


def lint_tier1(schema: Json, mode: Tier1Mode) -> tuple[Tier1Finding, ...]:
    """Return the violations of the portable subset, in the order of the conformance suite."""
    survey = SchemaSurvey(schema, partial(_check_subset, mode=mode))
    count = survey.count()
    too_many = [_finding("#", "max-property-count-100-exceeded", f"count={count}")] if count > MAX_PROPERTIES else []
    return (*survey.report(), *too_many)


def lint_variants(schema: Json, edition: VariantEdition) -> tuple[Tier1Finding, ...]:
    """Return each ``oneOf``, and each union branch without a discriminator."""
    return tuple(SchemaSurvey(schema, partial(_check_variants, edition=edition)).report())


_FORBIDDEN_KEYWORDS = ("oneOf", "allOf", "not", "if", "then", "else", "dependencies", "prefixItems", "propertyNames")
_STRICT_CONSTRAINTS = (
    ({"string"}, "forbidden-string-constraint-strict-only", ("minLength", "maxLength", "pattern", "format")),
    ({"number", "integer"}, "forbidden-number-constraint-strict-only", ("minimum", "maximum", "multipleOf")),
    ({"array"}, "forbidden-array-constraint-strict-only", ("minItems", "maxItems", "uniqueItems")),
)
_FIX_DISCRIMINATOR = "Use anyOf, and give each branch a required string property with an enum of one distinct value."
_FIX_CHECK_LOCALLY = "Remove the keyword, describe the rule in the description, and check the answer locally."
_FIXES_BY_RULE = {
    "max-nesting-depth-5": "Flatten the schema, or move this part up: the maximum depth is 5.",
    "additionalProperties-must-be-false-on-object-strict-only": 'Add "additionalProperties": false.',
    "property-not-in-required-strict-mode-only": 'List it in required, and add "null" to its type if it may be absent.',
    "forbidden-string-constraint-strict-only": _FIX_CHECK_LOCALLY,
    "forbidden-number-constraint-strict-only": _FIX_CHECK_LOCALLY,
    "forbidden-array-constraint-strict-only": _FIX_CHECK_LOCALLY,
    "max-property-count-100-exceeded": "Split the schema: its objects may have 100 properties in total.",
    "oneOf-forbidden": _FIX_DISCRIMINATOR,
    "anyOf-branch-missing-discriminator": (
        'Give this branch a required property with "type": "string" and an enum of one value.'
    ),
    "report-cut-off": "Fix the reported problems and lint again: the rest of the report was cut off.",
}
_FIXES_BY_KEYWORD = {
    "oneOf": _FIX_DISCRIMINATOR,
    "allOf": "Merge its branches into this schema.",
    "prefixItems": "Use an object with one named property for each position.",
    "propertyNames": "Name the properties, or use an array of objects with a key and a value.",
}


def _check_subset(step: SchemaStep, mode: Tier1Mode) -> Iterator[Tier1Finding | SchemaStep]:
    """Yield the violations of RFC 0030 §B in one schema, and the schemas below it."""
    value: Json = step.value
    if not isinstance(value, dict):
        return
    if step.depth > MAX_DEPTH:
        yield _finding("", "max-nesting-depth-5", f"depth={step.depth}")
        return  # the conformance suite does not descend further
    node, below, strict = as_mapping(value), step.depth + 1, mode is Tier1Mode.STRICT
    yield from (_finding("", "forbidden-keyword", each) for each in _FORBIDDEN_KEYWORDS if each in node)
    for index, branch in enumerate(as_list(node.get("anyOf"))):
        yield SchemaStep(f"/anyOf/{index}", branch, below)
    if _allows_type(node, {"object"}):
        yield from _check_object(node, below, strict=strict)
    if strict:
        yield from _check_constraints(node)
    if _allows_type(node, {"array"}):
        yield SchemaStep("/items", node.get("items"), below)
    for name, each in as_mapping(node.get("$defs")).items():
        yield SchemaStep(f"/$defs/{escape_pointer_token(name)}", each, below)


def _check_object(node: Json, child_depth: int, *, strict: bool) -> Iterator[Tier1Finding | SchemaStep]:
    if strict and node.get("additionalProperties") is not False:
        yield _finding("", "additionalProperties-must-be-false-on-object-strict-only")
    required = _string_values(node.get("required"))
    for name, value in as_mapping(node.get("properties")).items():
        suffix = f"/properties/{escape_pointer_token(name)}"
        if strict and name not in required:
            yield _finding(suffix, "property-not-in-required-strict-mode-only")
        yield SchemaStep(suffix, value, child_depth, is_counted=True)


def _check_constraints(node: Json) -> Iterator[Tier1Finding]:
    for types, rule, keywords in _STRICT_CONSTRAINTS:
        if _allows_type(node, types):
            yield from (_finding("", rule, each) for each in keywords if each in node)


def _check_variants(step: SchemaStep, edition: VariantEdition) -> Iterator[Tier1Finding | SchemaStep]:
    """Yield the violations of RFC 0031 §A at one JSON position, and the positions below it."""
    node = as_mapping(step.value)
    if "oneOf" in node:
        yield _finding("", "oneOf-forbidden")
    branches = as_list(node.get("anyOf"))
    if edition is VariantEdition.V1:
        rejected = [index for index, branch in enumerate(branches) if not _has_discriminator(branch)]
    else:
        rejected = branches_without_discriminator(branches)
    yield from (_finding(f"/anyOf/{index}", "anyOf-branch-missing-discriminator") for index in rejected)
    for name, each in (*node.items(), *enumerate(as_list(step.value))):
        if isinstance(each, dict | list):
            yield SchemaStep(f"/{escape_pointer_token(str(name))}", each)


def branches_without_discriminator(branches: list[Json]) -> list[int]:
    """Return the indices of the branches that may be objects, if there are several, and have no discriminator."""
    indices = [index for index, branch in enumerate(branches) if _allows_object(branch)]
    return [index for index in indices if len(indices) > 1 and not _has_discriminator(branches[index])]


def _allows_object(branch: Json) -> bool:
    node = as_mapping(branch)
    if "type" not in node:
        return not node.keys().isdisjoint({"$ref", "properties", "required"})
    return "$ref" in node or _allows_type(node, {"object"})


def _has_discriminator(branch: Json) -> bool:
    """Return whether one property identifies this branch. References are accepted, but not followed."""
    node = as_mapping(branch)
    properties = as_mapping(node.get("properties"))
    return "$ref" in node or any(_is_tag(properties.get(name)) for name in _string_values(node.get("required")))


def _is_tag(schema: Json) -> bool:
    node = as_mapping(schema)
    return node.get("type") == "string" and len(as_list(node.get("enum"))) == 1


def _allows_type(node: Json, types: set[str]) -> bool:
    kind = node.get("type")
    return not types.isdisjoint(_string_values(kind if isinstance(kind, list) else [kind]))


def _string_values(value: Json) -> frozenset[str]:
    return frozenset(each for each in as_list(value) if isinstance(each, str))


def _finding(pointer: str, rule: str, detail: str | None = None) -> Tier1Finding:
    """Return a finding with its fix. Until it is reported, ``pointer`` is relative to the part."""
    fix = _FIXES_BY_RULE.get(rule) or _FIXES_BY_KEYWORD.get(detail or "", _FIX_CHECK_LOCALLY)
    return Tier1Finding(pointer, rule, detail, fix)


MAX_REPORT = 4_000_000
"""The maximum number of characters in the pointers of a report."""


@dataclass(frozen=True, slots=True)
class SchemaStep:
    """A step to a part of the schema. ``is_counted`` steps add to the survey's count."""

    pointer: str
    value: Json
    depth: int = 0
    is_counted: bool = False

    @property
    def key(self) -> PartKey:
        """The identity of a part: its value and depth."""
        return id(self.value), self.depth


PartKey: TypeAlias = tuple[int, int]
PartTable: TypeAlias = "dict[PartKey, list[Tier1Finding | SchemaStep]]"


class SchemaSurvey:
    """Checks each part of a schema once, shallow parts first.

    ``check`` yields the violations of a part and the steps to further parts, in the order of the report.
    """

    def __init__(self, schema: Json, check: Callable[[SchemaStep], Iterable[Tier1Finding | SchemaStep]]) -> None:
        self._start = SchemaStep("#", schema)
        self._parts: PartTable = {}
        pending = deque([self._start])
        while pending:
            step = pending.popleft()
            if step.key not in self._parts:
                self._parts[step.key] = list(check(step))
                pending.extend(part for part in self._parts[step.key] if isinstance(part, SchemaStep))

    def count(self) -> int:
        """Return the number of counted steps, shared parts once per path. Every step must lead one level deeper."""
        count = 0
        times = Counter({self._start.key: 1})
        for key, parts in self._parts.items():
            for part in parts:
                if isinstance(part, SchemaStep):
                    times[part.key] += times[key]
                    count += times[key] * part.is_counted
        return count

    def report(self) -> Iterator[Tier1Finding]:
        """Yield the violations in order, with absolute pointers."""
        parts_with_findings = self._parts_with_findings()
        stack, trail, remaining = (
            [iter(parts_with_findings.get(self._start.key, ()))],
            [self._start.pointer],
            MAX_REPORT,
        )
        while stack and remaining > 0:
            part = next(stack[-1], None)
            if part is None:
                stack.pop()
                trail.pop()
            elif isinstance(part, Tier1Finding):
                pointer = "".join((*trail, part.pointer))
                remaining -= len(pointer)
                yield replace(part, pointer=pointer)
            else:
                remaining -= 1  # so that cyclic schemas end too
                stack.append(iter(parts_with_findings[part.key]))
                trail.append(part.pointer)
        if stack:
            yield _finding("#", "report-cut-off", f"characters={MAX_REPORT}")

    def _parts_with_findings(self) -> PartTable:
        """Return the parts that lead to a finding. The others need not be visited for a report."""
        parents: dict[PartKey, list[PartKey]] = {}
        for key, parts in self._parts.items():
            for part in parts:
                if isinstance(part, SchemaStep):
                    parents.setdefault(part.key, []).append(key)
        pending = [key for key, parts in self._parts.items() if any(isinstance(part, Tier1Finding) for part in parts)]
        visited = set(pending)
        while pending:
            unvisited = set(parents.get(pending.pop(), ())) - visited
            visited |= unvisited
            pending.extend(unvisited)
        return {
            key: [part for part in self._parts[key] if isinstance(part, Tier1Finding) or part.key in visited]
            for key in visited
        }
