"""Recursion: kept, kept where it may be left out, or unrolled and then carried as JSON text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.schema.compile.forms import NULL, WHOLE, array, closed, either, loose, refer, text_of
from tests.schema.compile.lens import ANTHROPIC, AZURE, GOOGLE, INSIDE, OPEN, OPENAI, holds_of_a_document, row, table

if TYPE_CHECKING:
    from tests.schema.compile.forms import Form
    from tests.schema.compile.lens import Lost


@table(
    row(
        "needed",
        {"$ref": "#/$defs/T", "$defs": {"T": closed(v=WHOLE, n=array(refer("T")))}},
        [{"v": 1, "n": []}, {"v": 1, "n": [{"v": 2, "n": [{"v": 3, "n": [{"v": 4, "n": []}]}]}]}],
        (
            (OPENAI, AZURE),
            {**closed(v=WHOLE, n=array(refer("T"))), "$defs": {"T": closed(v=WHOLE, n=array(refer("T")))}},
        ),
        (
            (ANTHROPIC, GOOGLE),
            closed(
                v=WHOLE,
                n=array(
                    closed(
                        v=WHOLE,
                        n=array(text_of(closed(v=WHOLE, n=array(refer("T"))), T=closed(v=WHOLE, n=array(refer("T"))))),
                    )
                ),
            ),
            {
                ("/$defs/T", "type", OPEN),
                ("/$defs/T", "properties", OPEN),
                ("/$defs/T", "required", OPEN),
                ("/$defs/T", "additionalProperties", OPEN),
                ("/$defs/T/properties/n", "type", OPEN),
                ("/$defs/T/properties/n", "items", OPEN),
                ("/$defs/T/properties/n/items", "$ref", OPEN),
                ("/$defs/T/properties/v", "type", OPEN),
            },
        ),
    ),
    row(
        "optional",
        {"$ref": "#/$defs/T", "$defs": {"T": loose("v", v=WHOLE, n=refer("T"))}},
        [{"v": 1}, {"v": 1, "n": {"v": 2, "n": {"v": 3, "n": {"v": 4}}}}],
        (
            (OPENAI, AZURE),
            {
                **closed(v=WHOLE, n=either(refer("T"), NULL)),
                "$defs": {"T": closed(v=WHOLE, n=either(refer("T"), NULL))},
            },
        ),
        (
            ANTHROPIC,
            loose(
                "v",
                v=WHOLE,
                n=loose(
                    "v",
                    v=WHOLE,
                    n=text_of(loose("v", v=WHOLE, n=refer("T")), T=loose("v", v=WHOLE, n=refer("T"))),
                ),
            ),
            {
                ("/$defs/T", "type", OPEN),
                ("/$defs/T", "properties", OPEN),
                ("/$defs/T", "required", OPEN),
                ("/$defs/T", "additionalProperties", OPEN),
                ("/$defs/T/properties/n", "$ref", OPEN),
                ("/$defs/T/properties/v", "type", OPEN),
            },
        ),
        (GOOGLE, {**loose("v", v=WHOLE, n=refer("T")), "$defs": {"T": loose("v", v=WHOLE, n=refer("T"))}}),
    ),
    row(
        "of-the-root",
        loose(a={"$ref": "#"}),
        [{"a": {"a": {"a": {"a": {}}}}}, {}],
        (
            (OPENAI, AZURE),
            {**closed(a=either(refer("root"), NULL)), "$defs": {"root": closed(a=either(refer("root"), NULL))}},
        ),
        (
            ANTHROPIC,
            loose(a=loose(a=loose(a=text_of(loose(a={"$ref": "#"}))))),
            {
                ("", "type", OPEN),
                ("", "properties", OPEN),
                ("", "required", OPEN),
                ("", "additionalProperties", OPEN),
                ("/properties/a", "$ref", OPEN),
            },
        ),
        (GOOGLE, {**loose(a=refer("root")), "$defs": {"root": loose(a=refer("root"))}}),
    ),
    row(
        "in-a-union",
        {**closed(e=refer("E")), "$defs": {"E": either(WHOLE, closed(l=refer("E"), r=refer("E")))}},
        [{"e": 1}, {"e": {"l": 1, "r": {"l": {"l": 1, "r": 2}, "r": 3}}}],
        ((OPENAI, AZURE), {**closed(e=refer("E")), "$defs": {"E": either(WHOLE, closed(l=refer("E"), r=refer("E")))}}),
        (
            (ANTHROPIC, GOOGLE),
            {
                **closed(e=either(WHOLE, closed(l=refer("E_level_2"), r=refer("E_level_2")))),
                "$defs": {
                    "E_level_2": either(
                        WHOLE,
                        closed(
                            l=text_of(
                                either(WHOLE, closed(l=refer("E"), r=refer("E"))),
                                E=either(WHOLE, closed(l=refer("E"), r=refer("E"))),
                            ),
                            r=text_of(
                                either(WHOLE, closed(l=refer("E"), r=refer("E"))),
                                E=either(WHOLE, closed(l=refer("E"), r=refer("E"))),
                            ),
                        ),
                    )
                },
            },
            {
                ("/$defs/E", "anyOf", INSIDE),
                ("/$defs/E/anyOf/1", "type", OPEN),
                ("/$defs/E/anyOf/1", "properties", OPEN),
                ("/$defs/E/anyOf/1", "required", OPEN),
                ("/$defs/E/anyOf/1", "additionalProperties", OPEN),
                ("/$defs/E/anyOf/1/properties/r", "$ref", OPEN),
                ("/$defs/E/anyOf/1/properties/l", "$ref", OPEN),
                ("/$defs/E/anyOf/0", "type", OPEN),
            },
        ),
    ),
    row(
        "mutual",
        {"$ref": "#/$defs/A", "$defs": {"A": loose(b=refer("B")), "B": loose(a=refer("A"))}},
        [{}, {"b": {"a": {"b": {}}}}],
        (
            OPENAI,
            {
                **closed(b=either(refer("B"), NULL)),
                "$defs": {"A": closed(b=either(refer("B"), NULL)), "B": closed(a=either(refer("A"), NULL))},
            },
        ),
        (
            ANTHROPIC,
            loose(b=loose(a=text_of(loose(b=refer("B")), B=loose(a=refer("A")), A=loose(b=refer("B"))))),
            {
                ("/$defs/A", "type", OPEN),
                ("/$defs/A", "properties", OPEN),
                ("/$defs/A", "required", OPEN),
                ("/$defs/A", "additionalProperties", OPEN),
                ("/$defs/A/properties/b", "$ref", OPEN),
                ("/$defs/B", "type", OPEN),
                ("/$defs/B", "properties", OPEN),
                ("/$defs/B", "required", OPEN),
                ("/$defs/B", "additionalProperties", OPEN),
                ("/$defs/B/properties/a", "$ref", OPEN),
            },
        ),
    ),
)
def test_recursion(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """Each vendor is sent as much of it as it takes, and what is below is told."""
    holds_of_a_document(vendor, schema, wire, losses, examples)
