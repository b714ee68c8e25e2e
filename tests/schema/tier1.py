"""Schemas to lint, and what the linter tells of them without the advice."""

from __future__ import annotations

from typing import Any

from emitter.schema import Tier1Mode, VariantEdition, lint_tier1, lint_variants

STRING, NULL = {"type": "string"}, {"type": "null"}
DEPTH, COUNT, KEYWORD = "max-nesting-depth-5", "max-property-count-100-exceeded", "forbidden-keyword"
OPEN, OPTIONAL = "additionalProperties-must-be-false-on-object-strict-only", "property-not-in-required-strict-mode-only"
ON_STRING, ON_NUMBER = "forbidden-string-constraint-strict-only", "forbidden-number-constraint-strict-only"
ON_ARRAY, CUT = "forbidden-array-constraint-strict-only", "report-cut-off"
ONE_OF, UNTAGGED = "oneOf-forbidden", "anyOf-branch-missing-discriminator"
FORBIDDEN = ("oneOf", "allOf", "not", "if", "then", "else", "dependencies", "prefixItems", "propertyNames")


def closed(**properties: Any) -> dict[str, Any]:
    """Return an object schema inside the strict subset."""
    return {"type": "object", "additionalProperties": False, "required": [*properties], "properties": properties}


def nested(levels: int, leaf: Any) -> Any:
    """Return ``leaf`` inside so many objects."""
    for _ in range(levels):
        leaf = closed(n=leaf)
    return leaf


def reported(schema: Any, mode: Tier1Mode = Tier1Mode.STRICT) -> list[tuple[str, str, str | None]]:
    """Return what the linter finds, without the advice."""
    return [(each.pointer, each.rule, each.detail) for each in lint_tier1(schema, mode)]


def untagged(schema: Any, edition: VariantEdition) -> list[tuple[str, str]]:
    """Return the places and rules that the variant check finds."""
    return [(each.pointer, each.rule) for each in lint_variants(schema, edition)]
