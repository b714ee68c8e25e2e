"""Constants: by type, and as JSON texts where the vendor does not take one of them."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter import profiles as profile
from emitter.schema import compile_schema
from tests.schema.compile.forms import NULL, TRUTH, closed, either
from tests.schema.compile.lens import (
    ALL,
    ANTHROPIC,
    AZURE,
    CONTRADICTORY,
    GOOGLE,
    OPENAI,
    holds_of_a_property,
    lens,
    row,
    same,
    table,
)
from tests.schema.proof.laws import checkers

if TYPE_CHECKING:
    from tests.schema.compile.forms import Form
    from tests.schema.compile.lens import Lost


@table(
    row("text", {"const": "x"}, ["x"], (ALL, {"type": "string", "enum": ["x"]})),
    row("null", {"const": None}, [None], (ALL, NULL)),
    row(
        "true",
        {"const": True},
        [True],
        ((OPENAI, ANTHROPIC, AZURE), {"type": "boolean", "enum": [True]}),
        (GOOGLE, {"type": "string", "enum": ["true"], "description": "JSON text of the value."}),
    ),
    row("both-truths", {"enum": [True, False]}, [True, False], (ALL, TRUTH)),
    row(
        "mixed",
        {"enum": ["x", 1, None, 2.5]},
        ["x", 1, None, 2.5],
        (ALL, either({"type": "string", "enum": ["x"]}, {"type": "number", "enum": [1, 2.5]}, NULL)),
    ),
    row(
        "one-and-true",
        {"enum": [1, True]},
        [1, True],
        ((OPENAI, ANTHROPIC, AZURE), either({"type": "integer", "enum": [1]}, {"type": "boolean", "enum": [True]})),
        (GOOGLE, {"type": "string", "enum": ["1", "true"], "description": "JSON text of the value."}),
    ),
    row(
        "objects",
        {"enum": [{"p": 1}, [2], "x"]},
        [{"p": 1}, [2], "x"],
        (ALL, {"type": "string", "enum": ['{"p": 1}', "[2]", '"x"'], "description": "JSON text of the value."}),
    ),
    row(
        "type-narrows",
        {"type": "string", "enum": ["x", 1]},
        ["x"],
        (OPENAI, {"type": "string", "enum": ["x"]}, {("", "enum", CONTRADICTORY)}),
    ),
    row(
        "bounds-narrow",
        {"enum": [1, 5, 9], "minimum": 3, "maximum": 8},
        [5],
        (OPENAI, {"type": "integer", "enum": [5]}, {("", "enum", CONTRADICTORY)}),
    ),
    row(
        "pattern-narrows",
        {"enum": ["a", "b", 3], "pattern": "a"},
        ["a", 3],
        (
            OPENAI,
            either({"type": "string", "enum": ["a"]}, {"type": "integer", "enum": [3]}),
            {("", "enum", CONTRADICTORY)},
        ),
    ),
    row("twice", {"allOf": [{"enum": [1, 2]}, {"enum": [2.0]}]}, [2], (OPENAI, {"type": "integer", "enum": [2]})),
    row("both", {"const": "x", "enum": ["x", "y"]}, ["x"], (OPENAI, {"type": "string", "enum": ["x"]})),
    row(
        "lookalikes",
        {"enum": ["1", 1, "null", None]},
        ["1", 1, "null", None],
        (OPENAI, either({"type": "string", "enum": ["1", "null"]}, {"type": "integer", "enum": [1]}, NULL)),
    ),
    row(
        "lookalikes-as-text",
        {"enum": ["{}", {}]},
        ["{}", {}],
        (OPENAI, {"type": "string", "enum": ['"{}"', "{}"], "description": "JSON text of the value."}),
    ),
    row(
        "nested-truths",
        {"enum": [[1], [True]]},
        [[1], [True]],
        (OPENAI, {"type": "string", "enum": ["[1]", "[true]"], "description": "JSON text of the value."}),
    ),
)
def test_constants(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """Each value is listed once, and comes back as it was."""
    holds_of_a_property(vendor, schema, wire, losses, examples)


def test_a_constant_of_no_type_that_is_allowed() -> None:
    """Types that exclude one another leave no value, whatever is listed."""
    nothing = {"allOf": [{"type": "integer"}, {"type": "string"}, {"const": "x"}]}
    compiled = lens({"anyOf": [nothing, {"type": "boolean"}]}, OPENAI, True)
    assert compiled.schema == closed(value=TRUTH)


LOOKALIKES = (0, 1, True, False, 1.0, 0.0, "1", "true", None, [1], [True], {"a": 0}, {"a": False})
"""Values that Python takes for one another, or that look alike as JSON text."""


@pytest.mark.parametrize("vendor", ALL)
@pytest.mark.parametrize("values", [[0, 1, True], [0, 1, False], [1, True], [0, False], [True, 1, 0, False]], ids=repr)
def test_a_truth_value_is_no_number(vendor: str, values: list[Any]) -> None:
    """The wire schema of numbers and truth values keeps them apart, in the types that the vendor takes."""
    lens(closed(a={"enum": values}), vendor, *({"a": each} for each in values))


@given(
    values=st.lists(st.sampled_from(LOOKALIKES), min_size=1, max_size=4),
    name=st.sampled_from([each for each in profile.profile_names() if profile.load_profile(each).subset.enforced]),
)
def test_constants_that_look_alike_stay_apart(values: list[Any], name: str) -> None:
    """Each value comes back as itself, any other is invalid, and the vendor's rules are kept."""
    compiled = compile_schema(closed(a={"enum": values}), name)

    assert [found for broken in checkers(name) for found in broken(compiled.schema)] == []
    for each in LOOKALIKES:
        listed = any(same(each, other) for other in values)
        assert (compiled.validate({"a": each}) == ()) is listed
        if listed:
            assert same(compiled.decode(compiled.encode({"a": each})), {"a": each})


@pytest.mark.parametrize(("one", "other"), [*combinations(LOOKALIKES, 2)], ids=repr)
def test_branches_with_constants_that_look_alike_are_read_as_what_they_are(one: Any, other: Any) -> None:
    """A union is decoded by JSON equality: 1 is 1.0, and neither is true."""
    branches = [closed(k={"const": each}, v={"type": ["array", "null"], "items": NULL}) for each in (one, other)]
    for value in (one, other):
        lens(closed(a=either(*branches)), OPENAI, {"a": {"k": value, "v": []}})
