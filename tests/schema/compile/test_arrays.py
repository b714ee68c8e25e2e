"""Arrays and tuples: places of their own become slots where the vendor has no prefixItems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.schema.compile.forms import (
    ANY,
    DRAFT7,
    DRAFT2019,
    NUMBER,
    PLACED,
    TEXT,
    WHOLE,
    array,
    closed,
    entries,
    loose,
    reported,
    text_of,
)
from tests.schema.compile.lens import (
    ALL,
    ANTHROPIC,
    AZURE,
    GOOGLE,
    OPEN,
    OPENAI,
    UNSUPPORTED,
    holds_of_a_document,
    holds_of_a_property,
    row,
    table,
)

if TYPE_CHECKING:
    from tests.schema.compile.forms import Form
    from tests.schema.compile.lens import Lost


@table(
    row(
        "bounded",
        array(WHOLE, minItems=2, maxItems=5),
        [[1, 2]],
        ((OPENAI, GOOGLE), array(WHOLE, minItems=2, maxItems=5)),
        (
            ANTHROPIC,
            array(WHOLE, minItems=1, description="Must hold: minItems 2, maxItems 5."),
            {("", "minItems", UNSUPPORTED), ("", "maxItems", UNSUPPORTED)},
        ),
        (
            AZURE,
            array(WHOLE, description="Must hold: minItems 2, maxItems 5."),
            {("", "minItems", UNSUPPORTED), ("", "maxItems", UNSUPPORTED)},
        ),
    ),
    row(
        "one-at-least",
        array(WHOLE, minItems=1),
        [[1]],
        ((OPENAI, ANTHROPIC, GOOGLE), array(WHOLE, minItems=1)),
        (AZURE, array(WHOLE, description="Must hold: minItems 1."), {("", "minItems", UNSUPPORTED)}),
    ),
    row("of-anything", {"type": "array"}, [[1, "x"], []], (ALL, array(ANY))),
    row(
        "empty",
        {"type": "array", "maxItems": 0},
        [[]],
        (ALL, {"type": "string", "enum": ["[]"], "description": "JSON text of the value."}),
    ),
    row(
        "of-nothing",
        array(False),
        [[]],
        (OPENAI, {"type": "string", "enum": ["[]"], "description": "JSON text of the value."}),
    ),
    row(
        "map-items",
        array({"type": "object", "additionalProperties": WHOLE}),
        [[{"p": 1}]],
        (OPENAI, array(entries(WHOLE))),
    ),
)
def test_an_array(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """Bounds are sent as far as the vendor takes them."""
    holds_of_a_property(vendor, schema, wire, losses, examples)


@table(
    row(
        "exact",
        array(False, prefixItems=[TEXT, WHOLE], minItems=2),
        [["x", 1]],
        ((OPENAI, ANTHROPIC, AZURE), reported(closed(item_0=TEXT, item_1=WHOLE), PLACED)),
        (GOOGLE, {"type": "array", "prefixItems": [TEXT, WHOLE], "minItems": 2, "maxItems": 2}),
    ),
    row(
        "open",
        {"type": "array", "prefixItems": [TEXT, WHOLE], "minItems": 1},
        [["x"], ["x", 1], ["x", 1, None, [2]]],
        ((OPENAI, AZURE), reported(closed(item_0=TEXT, item_1={"type": ["integer", "null"]}, rest=array(ANY)), PLACED)),
        (ANTHROPIC, reported(loose("item_0", "rest", item_0=TEXT, item_1=WHOLE, rest=array(ANY)), PLACED)),
        (GOOGLE, array(ANY, prefixItems=[TEXT, WHOLE], minItems=1)),
    ),
    row(
        "rest",
        array(WHOLE, prefixItems=[TEXT], minItems=1, maxItems=3),
        [["x"], ["x", 1, 2]],
        (OPENAI, reported(closed(item_0=TEXT, rest=array(WHOLE, maxItems=2)), PLACED)),
        (
            (ANTHROPIC, AZURE),
            reported(closed(item_0=TEXT, rest=array(WHOLE, description="Must hold: maxItems 3.")), PLACED),
            {("", "maxItems", UNSUPPORTED)},
        ),
        (GOOGLE, array(WHOLE, prefixItems=[TEXT], minItems=1, maxItems=3)),
    ),
    row(
        "null-in-a-place",
        array(False, prefixItems=[TEXT, {"type": ["integer", "null"]}], minItems=1),
        [["x"], ["x", None], ["x", 3]],
        (
            (OPENAI, AZURE),
            reported(
                closed(item_0=TEXT, item_1={**text_of({"type": ["integer", "null"]}), "type": ["string", "null"]}),
                PLACED,
            ),
            {("/prefixItems/1", "type", OPEN)},
        ),
        (ANTHROPIC, reported(loose("item_0", item_0=TEXT, item_1={"type": ["integer", "null"]}), PLACED)),
        (GOOGLE, {"type": "array", "prefixItems": [TEXT, {"type": ["integer", "null"]}], "minItems": 1, "maxItems": 2}),
    ),
    row(
        "alike",
        array(False, prefixItems=[NUMBER, NUMBER]),
        [[], [1], [1, 2.5]],
        (OPENAI, array(NUMBER, minItems=0, maxItems=2)),
        (ANTHROPIC, reported(loose(item_0=NUMBER, item_1=NUMBER), PLACED)),
        (GOOGLE, {"type": "array", "prefixItems": [NUMBER, NUMBER], "maxItems": 2}),
        (AZURE, reported(closed(item_0={"type": ["number", "null"]}, item_1={"type": ["number", "null"]}), PLACED)),
    ),
    row(
        "cut-by-false",
        {"type": "array", "prefixItems": [WHOLE, False, TEXT]},
        [[1], []],
        (OPENAI, array(WHOLE, minItems=0, maxItems=1)),
    ),
    row(
        "unevaluated",
        {"type": "array", "prefixItems": [TEXT, WHOLE], "minItems": 2, "unevaluatedItems": False},
        [["x", 1]],
        (
            OPENAI,
            reported(
                closed(item_0=TEXT, item_1=WHOLE),
                f"{PLACED} Must hold: unevaluatedItems false.",
            ),
            {("", "unevaluatedItems", UNSUPPORTED)},
        ),
    ),
)
def test_a_tuple(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """Each place has its own form, and those that are absent stay absent."""
    holds_of_a_property(vendor, schema, wire, losses, examples)


@table(
    row(
        "draft-7",
        {**DRAFT7, **closed(a=array([TEXT, WHOLE], additionalItems=False, minItems=2))},
        [{"a": ["x", 1]}],
        (OPENAI, closed(a=reported(closed(item_0=TEXT, item_1=WHOLE), PLACED))),
    ),
    row(
        "draft-7-rest",
        {**DRAFT7, **closed(a=array([TEXT], additionalItems=WHOLE, minItems=1))},
        [{"a": ["x", 1]}, {"a": ["x"]}],
        (OPENAI, closed(a=reported(closed(item_0=TEXT, rest=array(WHOLE)), PLACED))),
    ),
    row(
        "2019-09",
        {**DRAFT2019, **closed(a=array([TEXT, WHOLE], additionalItems=False, minItems=2))},
        [{"a": ["x", 1]}],
        (OPENAI, closed(a=reported(closed(item_0=TEXT, item_1=WHOLE), PLACED))),
    ),
    row(
        "draft-7-additional-alone",
        {**DRAFT7, **closed(a=array(WHOLE, additionalItems=False))},
        [{"a": [1, 2]}],
        (OPENAI, closed(a=array(WHOLE))),
    ),
    row(
        "draft-7-no-prefixItems",
        {**DRAFT7, **closed(a=array(WHOLE, prefixItems=[TEXT]))},
        [{"a": [1, 2]}],
        (OPENAI, closed(a=array(WHOLE))),
    ),
)
def test_a_tuple_of_an_older_draft(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """Items is a list there, and additionalItems the rest."""
    holds_of_a_document(vendor, schema, wire, losses, examples)
