"""What holds together is merged, and what no vendor enforces is left over and reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.schema.compile.forms import (
    FURTHER,
    NULL,
    RULED,
    TEXT,
    WHOLE,
    array,
    closed,
    either,
    entries,
    loose,
    reported,
)
from tests.schema.compile.lens import (
    ALL,
    CONTRADICTORY,
    GOOGLE,
    OPEN,
    OPENAI,
    UNSUPPORTED,
    holds_of_a_property,
    lens,
    lost,
    row,
    table,
)
from tests.schema.proof.request import missing

if TYPE_CHECKING:
    from tests.schema.compile.forms import Form
    from tests.schema.compile.lens import Lost


@table(
    row(
        "bounds",
        {"allOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"minimum": 3}]},
        [3],
        (OPENAI, {"type": "integer", "minimum": 3, "maximum": 9}),
    ),
    row(
        "types",
        {"allOf": [{"type": ["string", "integer", "null"]}, {"type": ["number", "null"]}]},
        [3, None],
        (OPENAI, {"type": ["integer", "null"]}),
    ),
    row(
        "properties",
        {
            "allOf": [
                {"type": "object", "properties": {"x": WHOLE}, "required": ["x"]},
                {"properties": {"y": TEXT, "x": {"maximum": 5}}, "additionalProperties": False, "required": ["y"]},
            ]
        },
        [{"x": 1, "y": "z"}],
        (OPENAI, closed(x={"type": "integer", "maximum": 5}, y=TEXT)),
    ),
    row(
        "shut",
        {
            "allOf": [
                {"type": "object", "properties": {"x": WHOLE}},
                {"properties": {"y": TEXT}, "additionalProperties": False},
            ]
        },
        [{"y": "z"}, {}],
        (OPENAI, closed(y={"type": ["string", "null"]}), {("/allOf/1", "additionalProperties", CONTRADICTORY)}),
    ),
    row(
        "two-patterns",
        {"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "b$"}]},
        ["ab"],
        (
            OPENAI,
            {"type": "string", "pattern": "^a", "description": 'Must hold: pattern "b$".'},
            {("/allOf/1", "pattern", UNSUPPORTED)},
        ),
    ),
    row(
        "enums",
        {"allOf": [{"enum": ["p", "q"]}, {"enum": ["q", "r"]}]},
        ["q"],
        (OPENAI, {"type": "string", "enum": ["q"]}),
    ),
    row("unions", {"allOf": [either(TEXT, WHOLE), either(WHOLE, NULL)]}, [1], (OPENAI, WHOLE)),
    row(
        "items",
        {"allOf": [array({"minimum": 1}), array(WHOLE)]},
        [[1]],
        (OPENAI, array({"type": "integer", "minimum": 1})),
    ),
    row(
        "tuple-and-items",
        {"allOf": [{"type": "array", "prefixItems": [{"minimum": 1}]}, array(WHOLE, minItems=1, maxItems=1)]},
        [[1]],
        (
            GOOGLE,
            {"type": "array", "prefixItems": [{"type": "integer", "minimum": 1}], "minItems": 1, "maxItems": 1},
        ),
    ),
    row(
        "nested",
        {"allOf": [{"allOf": [TEXT]}, {"allOf": [{"allOf": [{"pattern": "^a"}]}]}]},
        ["ab"],
        (OPENAI, {"type": "string", "pattern": "^a"}),
    ),
    row(
        "notes",
        {"allOf": [{"title": "T"}, {"type": "integer", "title": "U", "description": "D"}]},
        [1],
        (OPENAI, {"type": "integer", "title": "T", "description": "D"}),
    ),
    row("true", {"allOf": [True, TEXT, {}]}, ["x"], (OPENAI, TEXT)),
)
def test_what_holds_together(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """AllOf never reaches a vendor: its schemas are one."""
    holds_of_a_property(vendor, schema, wire, losses, examples)


@table(
    row(
        "not",
        {"type": "string", "not": {"const": "x"}},
        ["y"],
        (ALL, reported(TEXT, 'Must hold: not {"const": "x"}.'), {("", "not", UNSUPPORTED), ("/not", "const", OPEN)}),
    ),
    row(
        "if",
        {"type": "integer", "if": {"minimum": 5}, "then": {"multipleOf": 2}, "else": {"maximum": 3}},
        [6, 2],
        (
            OPENAI,
            reported(WHOLE, 'Must hold: if {"minimum": 5}, then {"multipleOf": 2}, else {"maximum": 3}.'),
            {
                ("", "if", UNSUPPORTED),
                ("/if", "minimum", OPEN),
                ("", "then", UNSUPPORTED),
                ("/then", "multipleOf", OPEN),
                ("", "else", UNSUPPORTED),
                ("/else", "maximum", OPEN),
            },
        ),
    ),
    row("if-alone", {"type": "integer", "if": {"minimum": 5}}, [6, 2], (OPENAI, WHOLE)),
    row(
        "uniqueItems",
        array(WHOLE, uniqueItems=True),
        [[1, 2]],
        (ALL, array(WHOLE, description="Must hold: uniqueItems true."), {("", "uniqueItems", UNSUPPORTED)}),
    ),
    row(
        "contains",
        array(WHOLE, contains={"const": 1}, minContains=2),
        [[1, 1]],
        (
            OPENAI,
            array(WHOLE, description='Must hold: contains {"const": 1}, minContains 2.'),
            {("", "contains", UNSUPPORTED), ("/contains", "const", OPEN), ("", "minContains", UNSUPPORTED)},
        ),
    ),
    row(
        "length",
        {"type": "string", "minLength": 2, "maxLength": 3},
        ["xx"],
        (
            ALL,
            reported(TEXT, "Must hold: minLength 2, maxLength 3."),
            {("", "minLength", UNSUPPORTED), ("", "maxLength", UNSUPPORTED)},
        ),
    ),
    row(
        "dependentRequired",
        {**loose(x=WHOLE, y=WHOLE), "dependentRequired": {"x": ["y"]}},
        [{"y": 1}],
        (
            OPENAI,
            reported(
                closed(x={"type": ["integer", "null"]}, y={"type": ["integer", "null"]}),
                'Must hold: dependentRequired {"x": ["y"]}.',
            ),
            {("", "dependentRequired", UNSUPPORTED)},
        ),
    ),
    row(
        "dependentSchemas",
        {**loose(x=WHOLE, y=WHOLE), "dependentSchemas": {"x": {"required": ["y"]}}},
        [{"y": 1}],
        (
            OPENAI,
            reported(
                closed(x={"type": ["integer", "null"]}, y={"type": ["integer", "null"]}),
                'Must hold: dependentSchemas {"x": {"required": ["y"]}}.',
            ),
            {("", "dependentSchemas", UNSUPPORTED), ("/dependentSchemas/x", "required", OPEN)},
        ),
    ),
    row(
        "minProperties",
        {**loose(x=WHOLE, y=WHOLE), "minProperties": 1},
        [{"y": 1}],
        (
            OPENAI,
            reported(
                closed(x={"type": ["integer", "null"]}, y={"type": ["integer", "null"]}), "Must hold: minProperties 1."
            ),
            {("", "minProperties", UNSUPPORTED)},
        ),
    ),
    row(
        "minProperties-held",
        {**loose("x", x=WHOLE, y=WHOLE), "minProperties": 1},
        [{"x": 1}],
        (OPENAI, closed(x=WHOLE, y={"type": ["integer", "null"]})),
    ),
    row(
        "maxProperties",
        {**loose(x=WHOLE, y=WHOLE), "maxProperties": 1},
        [{"y": 1}],
        (
            OPENAI,
            reported(
                closed(x={"type": ["integer", "null"]}, y={"type": ["integer", "null"]}), "Must hold: maxProperties 1."
            ),
            {("", "maxProperties", UNSUPPORTED)},
        ),
    ),
    row(
        "propertyNames",
        {"type": "object", "additionalProperties": WHOLE, "propertyNames": {"maxLength": 2}},
        [{"y": 1}],
        (
            OPENAI,
            reported(entries(WHOLE), RULED, 'Must hold: propertyNames {"maxLength": 2}.'),
            {("", "propertyNames", UNSUPPORTED), ("/propertyNames", "maxLength", OPEN)},
        ),
    ),
    row(
        "unevaluatedProperties",
        {"type": "object", "properties": {"x": WHOLE}, "required": ["x"], "unevaluatedProperties": WHOLE},
        [{"x": 1, "y": 2}],
        (
            OPENAI,
            reported(
                closed(x=WHOLE, additional_properties=reported(TEXT, FURTHER)),
                'Must hold: unevaluatedProperties {"type": "integer"}.',
            ),
            {("", "unevaluatedProperties", UNSUPPORTED), ("/unevaluatedProperties", "type", OPEN)},
        ),
    ),
    row(
        "multipleOf-twice",
        {"type": "integer", "multipleOf": 2, "allOf": [{"multipleOf": 3}]},
        [6],
        (
            OPENAI,
            {"type": "integer", "multipleOf": 2, "description": "Must hold: multipleOf 3."},
            {("/allOf/0", "multipleOf", UNSUPPORTED)},
        ),
    ),
    row("unknown-keyword", {"type": "integer", "x-mine": {"minimum": 3}}, [1], (OPENAI, WHOLE)),
)
def test_what_is_left_over(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """A keyword without a form is a loss, with all that stands inside it."""
    holds_of_a_property(vendor, schema, wire, losses, examples)


@pytest.mark.parametrize("vendor", ALL)
def test_a_property_that_a_closed_object_forbids_is_no_part_of_the_form(vendor: str) -> None:
    """Extending a closed object by allOf adds nothing to it: a document with more is invalid."""
    schema = {"allOf": [closed(a=WHOLE), {"properties": {"b": closed(c=TEXT)}}]}
    compiled = lens(schema, vendor, {"a": 1})

    assert missing(schema, compiled) == []
    assert list(compiled.schema["properties"]) == ["a"]
    assert lost(compiled) == {("/allOf/0", "additionalProperties", CONTRADICTORY)}
    assert [each.rule for each in compiled.validate({"a": 1, "b": {"c": "x"}})] == ["additionalProperties"]
