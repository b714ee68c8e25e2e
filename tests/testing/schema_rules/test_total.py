"""A checker answers for every JSON value, and in bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.testing import vendor_rules
from emitter.testing.schema_rules import MAX_VIOLATIONS
from tests.work import FULL, covering

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.testing.schema_rules import SchemaViolation

CHECKERS: dict[str, Callable[[object], list[SchemaViolation]]] = {
    "openai": vendor_rules.OPENAI.find_violations,
    "azure-openai": vendor_rules.AZURE_OPENAI.find_violations,
    "anthropic": vendor_rules.ANTHROPIC.find_violations,
    "anthropic-tool": vendor_rules.ANTHROPIC_TOOL.find_violations,
    "google": vendor_rules.GOOGLE.find_violations,
    "google-ignored": vendor_rules.GOOGLE_IGNORED.find_violations,
    "google-openapi": vendor_rules.GOOGLE_OPENAPI.find_violations,
}

NAMES = ("a", "$defs", "type", "a/b")
KEYWORDS = (
    *("type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "allOf", "oneOf"),
    *("$defs", "definitions", "prefixItems", "not", "format", "pattern", "minItems", "default", "any_of"),
)
words = st.sampled_from(("string", "object", "array", "null", "STRING", "uri", "(?=a)", "a"))
plain = st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=3)
values = st.recursive(
    plain | st.fixed_dictionaries({"$ref": st.sampled_from(("#", "#/$defs/a", "#/properties/a/items", "#x", "http:"))}),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4)
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=20,
)


@given(schema=values)
def test_any_value_is_answered(schema: object) -> None:
    """Nothing raises, and every breach names its rule and a pointer."""
    for each in (found for broken in CHECKERS.values() for found in broken(schema)):
        assert each.rule.replace("_", "").isalnum()
        assert each.pointer == "" or each.pointer.startswith("/")


@given(schema=st.dictionaries(st.sampled_from(KEYWORDS), values, min_size=1, max_size=4))
def test_a_breach_stays_one_when_its_schema_is_held_by_another(schema: dict[str, Any]) -> None:
    """The rules of a place do not depend on where it is, those of the root and of references aside."""
    apart = ("ref_", "root_", "tool_", "max_", "recursion", "too_")
    for broken in CHECKERS.values():
        alone = {(each.pointer, each.rule) for each in broken(schema) if not each.rule.startswith(apart)}
        held = {(each.pointer, each.rule) for each in broken({"type": "array", "items": schema})}

        assert {(f"/items{pointer}", rule) for pointer, rule in alone} <= held


def deep(levels: int, keyword: str) -> object:
    """Return arrays or unions in one another."""
    schema: object = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema} if keyword == "items" else {keyword: [schema]}
    return schema


def bomb(generations: int) -> object:
    """Return one object that is its own two halves over and over."""
    schema: object = {"type": "string"}
    for _ in range(generations):
        schema = {"anyOf": [schema, schema]}
    return schema


def chain(links: int) -> object:
    """Return definitions that each name the next one twice, and the last the first."""
    names = {
        f"d{each}": {"anyOf": [{"$ref": f"#/$defs/d{(each + 1) % links}"}] * 2, "type": ["array", "null"]}
        for each in range(links)
    }
    return {"$ref": "#/$defs/d0", "$defs": names}


WIDE = 100_000 if FULL else 3_000
"""More than any vendor takes, and enough for quadratic work to be seen."""
HOSTILE: dict[str, object] = {
    "deep arrays": deep(100_000, "items"),
    "deep unions": deep(100_000, "anyOf"),
    "doubling": bomb(45),
    "chain of references": chain(3_000 if FULL else 500),
    "wide": {"type": "object", "properties": {str(each): True for each in range(WIDE)}},
    "large enum": {"type": "string", "enum": [*range(WIDE)]},
    "large numbers": {"type": "array", "minItems": 10**5000, "enum": [10**5000], "const": 10**5000},
    "deep value": {"additionalProperties": deep(5_000, "x"), "type": deep(5_000, "x"), "default": deep(5_000, "x")},
    "long reference": {"$ref": "#" + "/~0" * 100_000},
    "long name": {"properties": {"x" * 1_000_000: {"properties": {str(each): {} for each in range(1_000)}}}},
}


@pytest.mark.parametrize(("name", "checker"), covering(HOSTILE, CHECKERS, strength=1))
def test_hostile_schemas_are_answered(name: str, checker: str) -> None:
    """Depth, width, sharing and references are bounded, and so is the answer."""
    assert len(CHECKERS[checker](HOSTILE[name])) <= MAX_VIOLATIONS


@pytest.mark.parametrize(
    ("schema", "rule"),
    [(HOSTILE["deep arrays"], "too_deep_to_read"), (HOSTILE["doubling"], "too_many_places_to_read")],
    ids=["deep", "many"],
)
def test_what_is_not_read_is_no_pass(schema: object, rule: str) -> None:
    """A schema beyond what is read is broken, never silently sound."""
    assert rule in {each.rule for each in vendor_rules.GOOGLE.find_violations(schema)}
