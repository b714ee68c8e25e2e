"""The linters on any JSON value: however deep, shared or broken it is."""

from __future__ import annotations

import json
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from emitter.schema import Tier1Mode, VariantEdition, lint_variants, tier1
from tests.schema.tier1 import COUNT, CUT, DEPTH, FORBIDDEN, KEYWORD, ONE_OF, STRING, closed, reported, untagged
from tests.work import FULL

if TYPE_CHECKING:
    import pytest


def doubled(levels: int, part: Any) -> Any:
    """Return a schema of so many objects that stands for two to that power."""
    for _ in range(levels):
        part = closed(a=part, b=part)
    return part


def test_nesting_has_no_end_that_breaks_it() -> None:
    """Thousands of levels: the subset stops at six, the variant check goes to the bottom."""
    schema: Any = {"oneOf": []}
    for keyword in islice(cycle(["properties", "items", "anyOf", "$defs"]), 20_000 if FULL else 2_000):
        below = {"properties": {"n": schema}, "items": schema, "anyOf": [schema], "$defs": {"n": schema}}
        schema = {"type": ["object", "array"], keyword: below[keyword]}

    assert [each[1:] for each in reported(schema, Tier1Mode.LOAD_BEARING)] == [(DEPTH, "depth=6")]
    assert [each.rule for each in lint_variants(schema, VariantEdition.V2)] == [ONE_OF]


def test_a_shared_part_is_reported_at_each_of_its_places() -> None:
    """As if it were written out."""
    assert reported(doubled(2, {"not": {}})) == [
        (f"#/properties/{outer}/properties/{inner}", KEYWORD, "not") for outer in "ab" for inner in "ab"
    ]


def test_sharing_does_not_multiply_the_work() -> None:
    """Counted exactly, and clean where it is clean, though written out it would have no end."""
    part: Any = STRING
    for _ in range(5):
        part = closed(**{f"p{each}": part for each in range(1_000)})

    assert reported(part) == [("#", COUNT, f"count={sum(1_000**each for each in range(1, 6))}")]
    assert lint_variants(doubled(200, STRING), VariantEdition.V1) == ()


def test_a_report_without_end_is_cut_off_and_says_so() -> None:
    """The last line tells that there is more."""
    *found, last = lint_variants(doubled(60, {"oneOf": []}), VariantEdition.V1)

    assert {each.rule for each in found} == {ONE_OF}
    assert (last.pointer, last.rule) == ("#", CUT)
    assert last.fix.endswith(".")


def test_a_schema_that_holds_itself_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no JSON, but it can be handed over; the report stops at its limit, here a small one."""
    monkeypatch.setattr(tier1, "MAX_REPORT", 100_000)
    schema: dict[str, Any] = closed(n=None)
    schema["properties"]["n"] = schema
    schema["$defs"] = {"d": {"oneOf": []}}

    assert ("#" + "/properties/n" * 6, DEPTH, "depth=6") in reported(schema)
    assert lint_variants(schema, VariantEdition.V2)[-1].rule == CUT


TYPES = st.sampled_from(["object", "array", "string", "number", "integer", "null"])
KEYWORDS = st.sampled_from(
    [
        *FORBIDDEN,
        "anyOf",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "$defs",
        "$ref",
        "enum",
        "type",
        "minLength",
        "minimum",
        "minItems",
        "kind",
        "a/b",
        "~",
        "",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | TYPES | st.lists(TYPES, max_size=3),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(KEYWORDS, below, max_size=5)
        | st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(KEYWORDS, below, max_size=3)},
            optional={"anyOf": st.lists(below, max_size=3), "required": st.lists(KEYWORDS, max_size=3)},
        )
    ),
    max_leaves=20,
)


def at(schema: Any, pointer: str) -> Any:
    """Follow a pointer that starts with ``#``."""
    for each in pointer.split("/")[1:]:
        step = each.replace("~1", "/").replace("~0", "~")
        schema = schema[int(step)] if isinstance(schema, list) else schema[step]
    return schema


@given(VALUES)
def test_any_json_value_is_linted(schema: Any) -> None:
    """Without an exception; every pointer leads somewhere, and the strict mode finds what the other finds."""
    strict, floor = reported(schema), reported(schema, Tier1Mode.LOAD_BEARING)
    variants = [untagged(schema, each) for each in VariantEdition]

    for pointer, *_ in (*strict, *variants[0]):
        at(schema, pointer)
    assert [each for each in strict if each[1] in {DEPTH, COUNT, KEYWORD}] == floor
    assert set(variants[1]) <= set(variants[0])


@given(VALUES)
def test_a_detail_that_is_a_keyword_stands_where_the_pointer_leads(schema: Any) -> None:
    """What is reported a place is true of that place."""
    for pointer, rule, detail in reported(schema):
        if rule not in {DEPTH, COUNT} and detail is not None:
            assert detail in at(schema, pointer)


@given(VALUES)
def test_the_verdict_does_not_depend_on_what_is_shared(schema: Any) -> None:
    """A schema built of shared parts and its copy read from text are the same schema."""
    shared = {"type": "array", "items": schema, "anyOf": [schema, schema], "$defs": {"d": schema}}
    apart = json.loads(json.dumps(shared))

    assert reported(shared) == reported(apart)
    assert untagged(shared, VariantEdition.V1) == untagged(apart, VariantEdition.V1)
