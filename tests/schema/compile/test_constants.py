"""Constants: by type, and as JSON texts where the vendor does not take one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.schema.compile.forms import NULL, TRUTH, closed, either
from tests.schema.compile.lens import ALL, ANTHROPIC, AZURE, GOOGLE, OPENAI, holds_of_a_property, lens, row, table

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
    row("type-narrows", {"type": "string", "enum": ["x", 1]}, ["x"], (OPENAI, {"type": "string", "enum": ["x"]})),
    row(
        "bounds-narrow",
        {"enum": [1, 5, 9], "minimum": 3, "maximum": 8},
        [5],
        (OPENAI, {"type": "integer", "enum": [5]}),
    ),
    row(
        "pattern-narrows",
        {"enum": ["a", "b", 3], "pattern": "a"},
        ["a", 3],
        (OPENAI, either({"type": "string", "enum": ["a"]}, {"type": "integer", "enum": [3]})),
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
