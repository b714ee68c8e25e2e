"""What a schema is silent about: carried as JSON text, or closed by the caller's wish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.schema.compiler import UndeclaredProperties
from tests.schema.compile.forms import (
    ANY,
    ANYTHING,
    LISTED,
    NUMBER,
    TEXT,
    WHOLE,
    closed,
    either,
    entries,
    reported,
    variant,
)
from tests.schema.compile.lens import (
    ALL,
    ANTHROPIC,
    AZURE,
    CLOSED,
    GOOGLE,
    OPEN,
    OPENAI,
    UNSUPPORTED,
    holds_of_a_property,
    row,
    table,
)

if TYPE_CHECKING:
    from tests.schema.compile.forms import Form
    from tests.schema.compile.lens import Lost


@table(
    row("empty", {}, [1, "1", None, True, [{}], {"p": {}}, "{"], (ALL, ANY)),
    row("true", True, ["{", "null", '"x"'], (ALL, ANY)),
    row("described", {"description": "D."}, [1], (OPENAI, reported(TEXT, "D.", ANYTHING))),
    row(
        "object",
        {"properties": {"x": WHOLE}, "required": ["x"], "additionalProperties": False},
        [{"x": 1}, 3, "s", [{}]],
        (
            ALL,
            either(
                closed(x=WHOLE),
                reported(TEXT, "JSON text of a value of type string or number or boolean or null or array."),
            ),
        ),
    ),
    row(
        "number",
        {"minimum": 3},
        [3, "s", None, "5"],
        (
            (OPENAI, GOOGLE),
            either(
                {"type": "number", "minimum": 3},
                reported(TEXT, "JSON text of a value of type string or boolean or null or array or object."),
            ),
        ),
        (
            (ANTHROPIC, AZURE),
            either(
                reported(NUMBER, "Must hold: minimum 3."),
                reported(TEXT, "JSON text of a value of type string or boolean or null or array or object."),
            ),
            {("", "minimum", UNSUPPORTED)},
        ),
    ),
    row(
        "text",
        {"pattern": "^a"},
        ["ab", 3, None],
        (
            OPENAI,
            either(
                variant("scalar", {"type": "string", "pattern": "^a"}),
                variant(
                    "open", reported(TEXT, "JSON text of a value of type number or boolean or null or array or object.")
                ),
            ),
            {("", "pattern", OPEN)},
        ),
    ),
)
def test_carried(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """What JSON Schema allows can be said."""
    holds_of_a_property(vendor, schema, wire, losses, examples)


@table(
    row(
        "untyped",
        {"properties": {"x": WHOLE}, "required": ["x"]},
        [{"x": 1}],
        (ALL, closed(x=WHOLE), {("", "additionalProperties", CLOSED), ("", "type", CLOSED)}),
    ),
    row(
        "silent",
        {"type": "object", "properties": {"x": WHOLE}, "required": ["x"]},
        [{"x": 1}],
        (ALL, closed(x=WHOLE), {("", "additionalProperties", CLOSED)}),
    ),
    row(
        "said",
        {"type": "object", "properties": {"x": WHOLE}, "required": ["x"], "additionalProperties": True},
        [{"x": 1, "y": 2}],
        (OPENAI, closed(x=WHOLE, additional_properties=reported(entries(ANY), LISTED, "Further properties."))),
    ),
    row("map", {"type": "object", "additionalProperties": WHOLE}, [{"x": 1}], (OPENAI, entries(WHOLE))),
    row("silent-map", {"type": "object"}, [{"x": 1}], (OPENAI, entries(ANY))),
    row("anything", {}, [{"x": 1}, 2], (OPENAI, ANY)),
)
def test_closed(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """What is not named cannot be said, which is a loss; what is said to be open stays so."""
    holds_of_a_property(vendor, schema, wire, losses, examples, undeclared=UndeclaredProperties.CLOSE)
