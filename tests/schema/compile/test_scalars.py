"""Types, bounds, patterns and formats of scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.schema.compile.forms import DRAFT4, NULL, NUMBER, TEXT, WHOLE, array, closed, either, reported
from tests.schema.compile.lens import (
    ALL,
    ANTHROPIC,
    AZURE,
    GOOGLE,
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
        "list", {"type": ["string", "integer", "null"]}, ["x", 1, None], (ALL, {"type": ["string", "integer", "null"]})
    ),
    row("integer-in-number", {"type": ["integer", "number"]}, [1, 1.5], (OPENAI, NUMBER)),
    row(
        "list-with-object",
        {
            "type": ["string", "object"],
            "properties": {"x": WHOLE},
            "required": ["x"],
            "additionalProperties": False,
            "pattern": "^a",
        },
        ["ab", {"x": 1}],
        ((OPENAI, ANTHROPIC), either({"type": "string", "pattern": "^a"}, closed(x=WHOLE))),
        (
            (GOOGLE, AZURE),
            either(reported(TEXT, 'Must hold: pattern "^a".'), closed(x=WHOLE)),
            {("", "pattern", UNSUPPORTED)},
        ),
    ),
    row("list-with-array", {"type": ["array", "null"], "items": WHOLE}, [[1], None], (ALL, either(NULL, array(WHOLE)))),
    row("other-types-rules", {"type": "integer", "minLength": 3}, [1], (OPENAI, WHOLE)),
    row("says-nothing", {"type": "string", "minLength": 0}, [""], (OPENAI, TEXT)),
    row(
        "notes",
        {"type": "string", "title": "T", "description": "D", "default": "x", "examples": ["y"]},
        ["y"],
        ((OPENAI, GOOGLE, AZURE), {"type": "string", "title": "T", "description": 'D For example: "y". Default: "x".'}),
        (ANTHROPIC, {"type": "string", "title": "T", "default": "x", "description": 'D For example: "y".'}),
    ),
)
def test_types(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """Every list of types has a form, and annotations stay."""
    holds_of_a_property(vendor, schema, wire, losses, examples)


@table(
    row(
        "number",
        {"type": "number", "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 0.5},
        [0.5],
        (OPENAI, {"type": "number", "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 0.5}),
        (
            (ANTHROPIC, AZURE),
            reported(NUMBER, "Must hold: minimum 0, exclusiveMaximum 10, multipleOf 0.5."),
            {("", "minimum", UNSUPPORTED), ("", "exclusiveMaximum", UNSUPPORTED), ("", "multipleOf", UNSUPPORTED)},
        ),
        (
            GOOGLE,
            {"type": "number", "minimum": 0, "description": "Must hold: exclusiveMaximum 10, multipleOf 0.5."},
            {("", "exclusiveMaximum", UNSUPPORTED), ("", "multipleOf", UNSUPPORTED)},
        ),
    ),
    row(
        "pattern",
        {"type": "string", "pattern": "^[a-z]+$"},
        ["x"],
        ((OPENAI, ANTHROPIC), {"type": "string", "pattern": "^[a-z]+$"}),
        ((GOOGLE, AZURE), reported(TEXT, 'Must hold: pattern "^[a-z]+$".'), {("", "pattern", UNSUPPORTED)}),
    ),
    row(
        "lookahead",
        {"type": "string", "pattern": "^(?!x)"},
        ["y"],
        (ALL, reported(TEXT, 'Must hold: pattern "^(?!x)".'), {("", "pattern", UNSUPPORTED)}),
    ),
    row(
        "word-boundary",
        {"type": "string", "pattern": "\\by"},
        ["y"],
        (OPENAI, {"type": "string", "pattern": "\\by"}),
        (ANTHROPIC, reported(TEXT, 'Must hold: pattern "\\\\by".'), {("", "pattern", UNSUPPORTED)}),
    ),
    row(
        "date",
        {"type": "string", "format": "date"},
        ["2020-01-01"],
        ((OPENAI, ANTHROPIC, GOOGLE), {"type": "string", "format": "date"}),
        (AZURE, reported(TEXT, "A date such as 2027-01-31."), {("", "format", UNSUPPORTED)}),
    ),
    row(
        "uri",
        {"type": "string", "format": "uri"},
        ["http://a.example/"],
        (
            (OPENAI, GOOGLE, AZURE),
            reported(TEXT, "A URI such as https://example.com/page."),
            {("", "format", UNSUPPORTED)},
        ),
        (ANTHROPIC, {"type": "string", "format": "uri"}),
    ),
    row("unknown-format", {"type": "string", "format": "colour"}, ["red"], (ALL, reported(TEXT, "Format: colour."))),
    row(
        "huge",
        {"type": "integer", "maximum": 100000000000000000000},
        [1],
        (OPENAI, reported(WHOLE, "Must hold: maximum 100000000000000000000."), {("", "maximum", UNSUPPORTED)}),
    ),
    row("whole-float", {"type": "integer", "minimum": 1.0}, [1], (OPENAI, {"type": "integer", "minimum": 1})),
    row(
        "format-of-null-or-text",
        {"type": ["string", "null"], "format": "date"},
        [None, "2020-01-01"],
        ((OPENAI, ANTHROPIC, GOOGLE), {"type": ["string", "null"], "format": "date"}),
        (
            AZURE,
            {"type": ["string", "null"], "description": "A date such as 2027-01-31."},
            {("", "format", UNSUPPORTED)},
        ),
    ),
)
def test_bounds(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """What the vendor has is sent; what it lacks is reported."""
    holds_of_a_property(vendor, schema, wire, losses, examples)


@table(
    row(
        "draft-4-exclusive",
        {
            **DRAFT4,
            **closed(
                a={"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False}
            ),
        },
        [{"a": 1}],
        (
            OPENAI,
            closed(a={"type": "integer", "minimum": 0, "exclusiveMinimum": 0, "maximum": 9}),
            set(),
        ),
    ),
    row(
        "draft-6-exclusive",
        {**closed(a={"type": "integer", "exclusiveMinimum": 0}), "$schema": "http://json-schema.org/draft-06/schema#"},
        [{"a": 1}],
        (OPENAI, closed(a={"type": "integer", "exclusiveMinimum": 0})),
    ),
    row(
        "draft-4-const", {**DRAFT4, **closed(a={"type": "integer", "const": 3})}, [{"a": 1}], (OPENAI, closed(a=WHOLE))
    ),
)
def test_drafts(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """A keyword means what its draft gives it."""
    holds_of_a_document(vendor, schema, wire, losses, examples)
