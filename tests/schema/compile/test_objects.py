"""Objects that are open: maps go as a list of entries, what is not named as one more property."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.schema.compile.forms import (
    ANY,
    FURTHER,
    LISTED,
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
    ANTHROPIC,
    AZURE,
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
    row(
        "of-whole-numbers",
        {"type": "object", "additionalProperties": WHOLE},
        [{}, {"p": 1, "q": 2}],
        ((OPENAI, ANTHROPIC, AZURE), entries(WHOLE)),
        (GOOGLE, {"type": "object", "additionalProperties": WHOLE}),
    ),
    row(
        "silent",
        {"type": "object"},
        [{}, {"p": [1]}],
        ((OPENAI, ANTHROPIC, AZURE), entries(ANY)),
        (GOOGLE, {"type": "object"}),
    ),
    row(
        "true",
        {"type": "object", "additionalProperties": True},
        [{}, {"p": [1]}],
        ((OPENAI, ANTHROPIC, AZURE), entries(ANY)),
        (GOOGLE, {"type": "object"}),
    ),
    row(
        "pattern",
        {"type": "object", "patternProperties": {"^x": WHOLE}, "additionalProperties": False},
        [{}, {"xp": 1}],
        ((OPENAI, ANTHROPIC), entries(WHOLE, {"type": "string", "pattern": "^x"})),
        (
            GOOGLE,
            {
                "type": "object",
                "additionalProperties": WHOLE,
                "description": 'Must hold: additionalProperties false, patternProperties {"^x": {"type": "integer"}}.',
            },
            {
                ("", "additionalProperties", UNSUPPORTED),
                ("", "patternProperties", UNSUPPORTED),
                ("/patternProperties/^x", "type", OPEN),
            },
        ),
        (
            AZURE,
            reported(
                entries(WHOLE),
                RULED,
                'Must hold: additionalProperties false, patternProperties {"^x": {"type": "integer"}}.',
            ),
            {
                ("", "additionalProperties", UNSUPPORTED),
                ("", "patternProperties", UNSUPPORTED),
                ("/patternProperties/^x", "type", OPEN),
            },
        ),
    ),
    row(
        "pattern-and-rest",
        {"type": "object", "patternProperties": {"^x": WHOLE}, "additionalProperties": TEXT},
        [{"xp": 1, "q": "r"}],
        (
            OPENAI,
            array(
                either(closed(key={"type": "string", "pattern": "^x"}, value=WHOLE), closed(key=TEXT, value=TEXT)),
                description=f"{RULED} Must hold: "
                'additionalProperties {"type": "string"}, patternProperties {"^x": {"type": "integer"}}.',
            ),
            {
                ("", "additionalProperties", UNSUPPORTED),
                ("/additionalProperties", "type", OPEN),
                ("", "patternProperties", UNSUPPORTED),
                ("/patternProperties/^x", "type", OPEN),
            },
        ),
    ),
    row(
        "propertyNames",
        {"type": "object", "additionalProperties": WHOLE, "propertyNames": {"pattern": "^x"}},
        [{"xp": 1}],
        (
            OPENAI,
            reported(entries(WHOLE), RULED, 'Must hold: propertyNames {"pattern": "^x"}.'),
            {("", "propertyNames", UNSUPPORTED), ("/propertyNames", "pattern", OPEN)},
        ),
    ),
    row(
        "bounds",
        {"type": "object", "additionalProperties": WHOLE, "maxProperties": 2, "minProperties": 1},
        [{"p": 1}],
        (
            OPENAI,
            array(
                closed(key=TEXT, value=WHOLE),
                description=f"{LISTED} Must hold: minProperties 1.",
                maxItems=2,
            ),
            {("", "minProperties", UNSUPPORTED)},
        ),
        (
            (ANTHROPIC, AZURE),
            reported(entries(WHOLE), LISTED, "Must hold: maxProperties 2, minProperties 1."),
            {("", "maxProperties", UNSUPPORTED), ("", "minProperties", UNSUPPORTED)},
        ),
        (
            GOOGLE,
            {
                "type": "object",
                "description": "Must hold: maxProperties 2, minProperties 1.",
                "additionalProperties": WHOLE,
            },
            {("", "maxProperties", UNSUPPORTED), ("", "minProperties", UNSUPPORTED)},
        ),
    ),
    row(
        "forbidden",
        {"type": "object", "additionalProperties": WHOLE, "properties": {"n": False}},
        [{"p": 1}],
        ((OPENAI, ANTHROPIC, AZURE), entries(WHOLE)),
        (GOOGLE, {"type": "object", "additionalProperties": WHOLE}),
    ),
    row("empty", closed(), [{}], (ALL, closed())),
)
def test_a_map(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """No open map becomes an empty closed object."""
    holds_of_a_property(vendor, schema, wire, losses, examples)


@table(
    row(
        "map",
        {"type": "object", "properties": {"n": TEXT}, "required": ["n"], "additionalProperties": WHOLE},
        [{"n": "x"}, {"n": "x", "p": 1}],
        (
            (OPENAI, ANTHROPIC, AZURE),
            closed(n=TEXT, additional_properties=reported(entries(WHOLE), LISTED, "Further properties.")),
        ),
        (GOOGLE, {"type": "object", "properties": {"n": TEXT}, "required": ["n"], "additionalProperties": WHOLE}),
    ),
    row(
        "silence",
        {"type": "object", "properties": {"n": TEXT}, "required": ["n"]},
        [{"n": "x"}, {"n": "x", "p": [1]}],
        ((OPENAI, ANTHROPIC, AZURE), closed(n=TEXT, additional_properties=reported(TEXT, FURTHER))),
        (GOOGLE, {"type": "object", "properties": {"n": TEXT}, "required": ["n"]}),
    ),
    row(
        "patterns",
        {**closed(xn={"maximum": 3}), "patternProperties": {"^x": WHOLE}},
        [{"xn": 1}, {"xn": 1, "xp": 9}],
        (
            OPENAI,
            closed(
                xn={"type": "integer", "maximum": 3},
                additional_properties=reported(
                    entries(WHOLE, {"type": "string", "pattern": "^x"}), RULED, "Further properties."
                ),
            ),
        ),
    ),
    row(
        "required-alone",
        {"type": "object", "required": ["n"], "additionalProperties": True},
        [{"n": [1]}],
        (OPENAI, closed(n=ANY, additional_properties=reported(entries(ANY), LISTED, "Further properties."))),
    ),
    row(
        "slot-taken",
        {"type": "object", "properties": {"additional_properties": TEXT}, "required": ["additional_properties"]},
        [{"additional_properties": "x", "p": 1}],
        (OPENAI, closed(additional_properties=TEXT, additional_properties_=reported(TEXT, FURTHER))),
    ),
    row("booleans", loose("x", x=True, y=False), [{"x": 1}], (OPENAI, closed(x=ANY))),
)
def test_an_open_object_with_names(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """What is not named can still be said."""
    holds_of_a_property(vendor, schema, wire, losses, examples)
