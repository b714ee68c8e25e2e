"""Recursion: kept, kept where it may be left out, or unrolled and then carried as JSON text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.schema.compile.forms import NULL, WHOLE, array, closed, either, loose, refer, text_of
from tests.schema.compile.lens import (
    ANTHROPIC,
    AZURE,
    GOOGLE,
    INSIDE,
    OPEN,
    OPENAI,
    holds_of_a_document,
    lens,
    row,
    table,
)

if TYPE_CHECKING:
    from tests.schema.compile.forms import Form
    from tests.schema.compile.lens import Lost

ROOT = {"$ref": "#"}


@table(
    row(
        "needed",
        {"$ref": "#/$defs/T", "$defs": {"T": closed(v=WHOLE, n=array(refer("T")))}},
        [{"v": 1, "n": []}, {"v": 1, "n": [{"v": 2, "n": [{"v": 3, "n": [{"v": 4, "n": []}]}]}]}],
        (
            (OPENAI, AZURE),
            closed(v=WHOLE, n=array(ROOT)),
        ),
        (
            (ANTHROPIC, GOOGLE),
            closed(
                v=WHOLE,
                n=array(
                    closed(
                        v=WHOLE,
                        n=array(text_of(refer("T"), T=closed(v=WHOLE, n=array(refer("T"))))),
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
            closed(v=WHOLE, n=either(ROOT, NULL)),
        ),
        (
            ANTHROPIC,
            loose(
                "v",
                v=WHOLE,
                n=loose(
                    "v",
                    v=WHOLE,
                    n=text_of(refer("T"), T=loose("v", v=WHOLE, n=refer("T"))),
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
        (GOOGLE, {**closed(value=refer("T")), "$defs": {"T": loose("v", v=WHOLE, n=refer("T"))}}),
    ),
    row(
        "of-the-root",
        loose(a=ROOT),
        [{"a": {"a": {"a": {"a": {}}}}}, {}],
        (
            (OPENAI, AZURE),
            closed(a=either(ROOT, NULL)),
        ),
        (
            ANTHROPIC,
            loose(a=loose(a=text_of(loose(a=ROOT)))),
            {
                ("", "type", OPEN),
                ("", "properties", OPEN),
                ("", "required", OPEN),
                ("", "additionalProperties", OPEN),
                ("/properties/a", "$ref", OPEN),
            },
        ),
        (GOOGLE, {**closed(value=refer("root")), "$defs": {"root": loose(a=refer("root"))}}),
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
                    "E_level_2": either(WHOLE, closed(l=refer("E_text"), r=refer("E_text"))),
                    "E_text": text_of(refer("E"), E=either(WHOLE, closed(l=refer("E"), r=refer("E")))),
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
                "$defs": {"B": closed(a=either(ROOT, NULL))},
            },
        ),
        (
            ANTHROPIC,
            loose(b=loose(a=text_of(refer("A"), B=loose(a=refer("A")), A=loose(b=refer("B"))))),
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
    """Each vendor is sent as much of it as it takes, and what is below is reported."""
    holds_of_a_document(vendor, schema, wire, losses, examples)


MAYBE_TREE = {"anyOf": [refer("T"), NULL]}
LEAF = closed(op={"type": "string", "enum": ["leaf"]}, value=WHOLE)
SIDE = either(refer("F"), refer("L"))
FORK = closed(op={"type": "string", "enum": ["fork"]}, l=SIDE, r=SIDE)


@table(
    row(
        "null-is-told-from-the-definition",
        {"$ref": "#/$defs/T", "$defs": {"T": closed(v=WHOLE, l=MAYBE_TREE, r=MAYBE_TREE)}},
        [{"v": 1, "l": None, "r": {"v": 2, "l": None, "r": None}}],
        ((OPENAI, AZURE), closed(v=WHOLE, l=either(ROOT, NULL), r=either(ROOT, NULL))),
    ),
    row(
        "below-the-root",
        {**closed(t=refer("T")), "$defs": {"T": loose("v", v=WHOLE, n=MAYBE_TREE)}},
        [{"t": {"v": 1, "n": {"v": 2, "n": None}}}],
        ((OPENAI, AZURE), {**closed(t=refer("T")), "$defs": {"T": closed(v=WHOLE, n=either(refer("T"), NULL))}}),
        (GOOGLE, {**closed(t=refer("T")), "$defs": {"T": loose("v", v=WHOLE, n=either(refer("T"), NULL))}}),
    ),
    row(
        "list-or-null",
        {"$ref": "#/$defs/T", "$defs": {"T": closed(v=WHOLE, n=either(array(refer("T")), NULL))}},
        [{"v": 1, "n": None}, {"v": 1, "n": [{"v": 2, "n": []}]}],
        ((OPENAI, AZURE), closed(v=WHOLE, n=either(array(ROOT), NULL))),
    ),
    row(
        "objects-that-name-themselves",
        {**closed(e=either(refer("F"), refer("L"))), "$defs": {"F": FORK, "L": LEAF}},
        [{"e": {"op": "fork", "l": {"op": "leaf", "value": 1}, "r": {"op": "leaf", "value": 2}}}],
        (OPENAI, {**closed(e=either(refer("F"), refer("L"))), "$defs": {"F": FORK, "L": LEAF}}),
    ),
)
def test_branches_are_told_apart_in_recursion(
    vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]
) -> None:
    """A union with a definition that is still being written needs no tag where the shapes differ anyway."""
    holds_of_a_document(vendor, schema, wire, losses, examples)


@table(
    row(
        "alternatives",
        {"$ref": "#/$defs/F", "$defs": {"F": FORK, "L": LEAF}},
        [{"op": "fork", "l": {"op": "leaf", "value": 1}, "r": {"op": "leaf", "value": 2}}],
        (ANTHROPIC, {}),
    )
)
def test_what_is_cut_is_reported_once(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """Places below the last level share one text, and their alternatives are one text as well."""
    del wire, losses
    compiled = lens(schema, vendor, *examples)
    assert json.dumps(compiled.schema).count("JSON text of a value") == 1
    named = {each.pointer for each in compiled.losses}
    assert {"/$defs/F/properties/l", "/$defs/F/properties/r"} <= named
