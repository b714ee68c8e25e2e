"""Unions: told apart by what the branches look like, else by a tag; and roots that are no object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.schema import compile_schema
from tests.schema.compile.forms import (
    ANY,
    LISTED,
    NULL,
    NUMBER,
    TEXT,
    WHOLE,
    array,
    closed,
    either,
    entries,
    loose,
    refer,
    reported,
    variant,
)
from tests.schema.compile.lens import (
    ALL,
    ANTHROPIC,
    AZURE,
    GOOGLE,
    INSIDE,
    OPEN,
    OPENAI,
    UNSUPPORTED,
    holds_of_a_document,
    holds_of_a_property,
    lens,
    lost,
    row,
    table,
)
from tests.schema.proof.corpora import Case
from tests.schema.proof.laws import Subject, prove

if TYPE_CHECKING:
    from tests.schema.compile.forms import Form
    from tests.schema.compile.lens import Lost


@table(
    row("scalars", either(TEXT, WHOLE), ["x", 1], (ALL, either(TEXT, WHOLE))),
    row(
        "const-tags",
        {"oneOf": [closed(kind={"const": "p"}, x=WHOLE), closed(kind={"const": "q"}, y=TEXT)]},
        [{"kind": "p", "x": 1}, {"kind": "q", "y": "z"}],
        (
            ALL,
            either(
                closed(kind={"type": "string", "enum": ["p"]}, x=WHOLE),
                closed(kind={"type": "string", "enum": ["q"]}, y=TEXT),
            ),
        ),
    ),
    row(
        "structural",
        {"oneOf": [closed(x=WHOLE), closed(y=TEXT)]},
        [{"x": 1}, {"y": "z"}],
        (ALL, either(closed(x=WHOLE), closed(y=TEXT))),
    ),
    row(
        "alike-and-plain",
        either(closed(x=WHOLE), closed(x=NUMBER)),
        [{"x": 1}, {"x": 1.5}],
        (ALL, either(closed(x=WHOLE), closed(x=NUMBER))),
    ),
    row(
        "injected-tag",
        either(
            {"title": "Maps!", "type": "object", "additionalProperties": WHOLE},
            {"type": "object", "additionalProperties": TEXT},
        ),
        [{"p": 1}, {"p": "x"}, {}],
        (
            (OPENAI, ANTHROPIC, AZURE),
            either(
                variant("Maps", array(closed(key=TEXT, value=WHOLE), title="Maps!", description=LISTED)),
                variant("record", entries(TEXT)),
            ),
        ),
        (
            GOOGLE,
            either(
                {"type": "object", "additionalProperties": WHOLE, "title": "Maps!"},
                {"type": "object", "additionalProperties": TEXT},
            ),
        ),
    ),
    row(
        "text-or-json",
        either(TEXT, reported(TEXT, "A."), {"type": ["array", "null"]}),
        ["x", ["1"], None],
        (OPENAI, either(TEXT, reported(TEXT, "A."), NULL, array(ANY))),
    ),
    row(
        "base",
        {**closed(x=WHOLE), "anyOf": [{"properties": {"x": {"maximum": 1}}}, {"properties": {"x": {"minimum": 5}}}]},
        [{"x": 0}, {"x": 9}],
        (OPENAI, either(closed(x={"type": "integer", "maximum": 1}), closed(x={"type": "integer", "minimum": 5}))),
    ),
    row(
        "conditions",
        {**loose(x=WHOLE, y=WHOLE), "anyOf": [{"required": ["x"]}, {"required": ["y"]}]},
        [{"x": 0}],
        (
            OPENAI,
            reported(
                closed(x={"type": ["integer", "null"]}, y={"type": ["integer", "null"]}),
                'Must hold: anyOf [{"required": ["x"]}, {"required": ["y"]}].',
            ),
            {("", "anyOf", UNSUPPORTED), ("/anyOf/1", "required", OPEN), ("/anyOf/0", "required", OPEN)},
        ),
    ),
    row("vacuous-branch", either(True, TEXT, type="integer"), [1], (OPENAI, WHOLE)),
    row("impossible-branch", {"oneOf": [False, TEXT]}, ["x"], (OPENAI, TEXT)),
    row(
        "lost-inside",
        {"oneOf": [{"type": "string", "minLength": 2}, WHOLE]},
        ["xx", 1],
        (
            ALL,
            either(reported(TEXT, "Must hold: minLength 2."), WHOLE),
            {("/oneOf/0", "minLength", UNSUPPORTED), ("", "oneOf", INSIDE)},
        ),
    ),
    row(
        "two-at-once",
        {
            "allOf": [
                either(closed(k={"const": 1}), closed(k={"const": 2})),
                either({"properties": {"k": {"const": 2}}}, {"properties": {"k": {"const": 3}}}),
            ],
            "type": "object",
        },
        [{"k": 2}],
        (OPENAI, closed(k={"type": "integer", "enum": [2]})),
    ),
    row("nested", either(WHOLE, either(TEXT, NULL)), [1, "x", None], (OPENAI, either(WHOLE, TEXT, NULL))),
)
def test_a_union(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """Branches that no document can be taken for another of stay as they are; others get a tag."""
    holds_of_a_property(vendor, schema, wire, losses, examples)


@table(
    row(
        "union",
        either(closed(kind={"const": "p"}, x=WHOLE), closed(kind={"const": "q"}, y=TEXT)),
        [{"kind": "p", "x": 1}, {"kind": "q", "y": "z"}],
        (
            ALL,
            closed(
                value=either(
                    closed(kind={"type": "string", "enum": ["p"]}, x=WHOLE),
                    closed(kind={"type": "string", "enum": ["q"]}, y=TEXT),
                )
            ),
        ),
    ),
    row("array", array(WHOLE), [[1, 2], []], (ALL, closed(value=array(WHOLE)))),
    row("scalar", TEXT, ["x", "null", '{"value": 1}'], (ALL, closed(value=TEXT))),
    row(
        "open-map",
        {"type": "object"},
        [{"a": [1]}, {"value": 1}, {}],
        ((OPENAI, ANTHROPIC, AZURE), closed(value=entries(ANY))),
        (GOOGLE, {"type": "object"}),
    ),
    row("anything", True, [1, "1", None, {"value": {"value": 1}}], (ALL, closed(value=ANY))),
    row(
        "odd-names",
        {"type": "object", "properties": {"a b": WHOLE}, "required": [], "additionalProperties": False},
        [{"a b": 1}],
        (
            (OPENAI, AZURE),
            {
                "type": "object",
                "properties": {"a b": {"type": ["integer", "null"]}},
                "required": ["a b"],
                "additionalProperties": False,
            },
        ),
        (
            ANTHROPIC,
            closed(
                value={"type": "object", "properties": {"a b": WHOLE}, "required": [], "additionalProperties": False}
            ),
        ),
        (GOOGLE, {"type": "object", "properties": {"a b": WHOLE}, "required": [], "additionalProperties": False}),
    ),
    row("null", NULL, [None], (ALL, closed(value=NULL))),
    row(
        "nullable-object",
        {"type": ["object", "null"], "properties": {"x": WHOLE}, "required": ["x"], "additionalProperties": False},
        [None, {"x": 1}],
        (ALL, closed(value=either(NULL, closed(x=WHOLE)))),
    ),
)
def test_a_root(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """What is no plain object stands in one, under the name value."""
    holds_of_a_document(vendor, schema, wire, losses, examples)


def test_one_of_is_lost_where_branches_overlap() -> None:
    """The vendor holds it to any of them; that exactly one fits is reported, and checked here."""
    compiled = lens(closed(a={"oneOf": [closed(x=WHOLE), closed(x={"type": "number"})]}), OPENAI, {"a": {"x": 1.5}})

    assert ("/properties/a", "oneOf", UNSUPPORTED) in lost(compiled)
    assert compiled.schema["properties"]["a"]["description"] == "Must hold: exactly one of these forms fits."
    assert [each.rule for each in compiled.validate({"a": {"x": 1}})] == ["oneOf"]


SHARED_LIST: dict[str, Any] = {"type": "array", "items": {"type": "string", "minLength": 1}}
BESIDE_REFERENCES: dict[str, Any] = {
    "a list": {**closed(a=either(closed(x=WHOLE), refer("d")), b=refer("d")), "$defs": {"d": SHARED_LIST}},
    "texts": {
        **closed(a=either(refer("d"), closed(x=WHOLE)), b=refer("d")),
        "$defs": {"d": either({"enum": ["p"]}, {"type": "integer", "maximum": 3})},
    },
    "a list of itself": {
        **closed(a=either(closed(x=WHOLE), refer("d"))),
        "$defs": {"d": array(either(refer("d"), TEXT))},
    },
    "a union in a union": {
        **closed(a=either(either(closed(x=WHOLE), NULL), refer("d")), b=refer("d")),
        "$defs": {"d": SHARED_LIST, "object": TEXT},
    },
    "two of one title": {
        **closed(
            a=either({**closed(x=WHOLE), "title": "T"}, refer("d")),
            b=either({**closed(y=TEXT), "title": "T"}, refer("d")),
        ),
        "$defs": {"d": SHARED_LIST, "T": TEXT},
    },
    "an object with a tag": {
        **closed(a=either(closed(x=WHOLE), refer("d")), b=refer("d")),
        "$defs": {"d": closed(kind={"const": "p"}, y=TEXT)},
    },
}


@pytest.mark.parametrize("schema", BESIDE_REFERENCES.values(), ids=BESIDE_REFERENCES)
def test_an_object_beside_a_reference_passes_the_variant_rule(schema: Any) -> None:
    """The rule does not look where a reference leads: it takes each for an object."""
    report = prove(Subject(Case("beside", schema)), "tier1")

    assert report.enforced
    assert report.failures == []


@pytest.mark.parametrize("vendor", [OPENAI, AZURE])
def test_an_unknown_keyword_beside_a_union_changes_nothing(vendor: str) -> None:
    """Its branches are still the definitions that they refer to."""
    tree = closed(a=array(refer("d")), b=either(refer("d"), NULL), c=either(refer("d"), NULL))
    schemas = [{**tree, "$defs": {"d": closed(x=either(refer("d"), TEXT, **more))}} for more in ({}, {"x-link": {}})]

    assert compile_schema(schemas[0], vendor).schema == compile_schema(schemas[1], vendor).schema
