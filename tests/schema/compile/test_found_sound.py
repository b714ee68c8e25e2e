"""Faults that were found in what is enforced, reported and said; each test holds the least schema that shows it."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.schema import compile_schema
from tests.schema.compile.forms import (
    ANYTHING,
    DRAFT4,
    LISTED,
    NULL,
    PLACED,
    TEXT,
    WHOLE,
    array,
    closed,
    either,
    loose,
    refer,
    reported,
)
from tests.schema.compile.lens import (
    ANTHROPIC,
    AZURE,
    GOOGLE,
    OPEN,
    OPENAI,
    UNSUPPORTED,
    holds_of_a_property,
    lens,
    lost,
)

UNTOLD: dict[str, tuple[Any, Any]] = {
    "nullable-of-openapi": (loose(a={"type": "string", "nullable": True}), {"a": None}),
    "format-of-an-enum": (closed(a={"type": "string", "enum": ["x", "2020-01-01"], "format": "date"}), {"a": "x"}),
    "union-of-an-enum": (closed(a={"enum": ["x", "y"], "anyOf": [{"const": "x"}]}), {"a": "y"}),
    "exclusive-bound-of-an-enum": (
        {**DRAFT4, **closed(a={"enum": [1, 2], "minimum": 1, "exclusiveMinimum": True})},
        {"a": 1},
    ),
    "format-of-names": ({**loose(a=TEXT), "propertyNames": {"format": "date"}}, {"a": "x"}),
}


@pytest.mark.parametrize(("schema", "document"), UNTOLD.values(), ids=UNTOLD)
def test_what_the_wire_admits_is_valid_or_a_loss_says_why_not(schema: Any, document: Any) -> None:
    """A document of the wire schema that is invalid breaks only rules that are reported."""
    compiled = compile_schema(schema, OPENAI)
    wire = compile_schema(compiled.schema, "plain").validate
    broken = {each.rule for each in compiled.validate(compiled.decode(document))}

    assert wire(document) != () or broken <= {each.keyword for each in compiled.losses}


def test_an_idle_keyword_of_draft_4_is_no_crash() -> None:
    """``exclusiveMinimum: false`` beside constants says nothing."""
    lens({**DRAFT4, **closed(a={"enum": [1, 2], "minimum": 1, "exclusiveMinimum": False})}, OPENAI, {"a": 1})


def test_draft_4_has_no_rule_for_names() -> None:
    """``propertyNames`` came with draft 6; before, it means nothing."""
    schema = {**DRAFT4, **loose("b", a=TEXT, b=TEXT), "required": ["b"], "propertyNames": {"enum": ["b"]}}

    assert lens(schema, OPENAI, {"a": "x", "b": "y"}).losses == ()


def test_properties_of_several_branches_can_be_said_together() -> None:
    """``unevaluatedProperties`` sees what any branch that holds has evaluated."""
    branches = [{"properties": {"x": TEXT}, "required": ["x"]}, {"properties": {"y": TEXT}}]
    schema = {"type": "object", "anyOf": branches, "unevaluatedProperties": False}

    lens(closed(a=schema), OPENAI, {"a": {"x": "1"}}, {"a": {"x": "1", "y": "2"}})


@pytest.mark.parametrize("vendor", [OPENAI, ANTHROPIC, AZURE])
def test_a_tuple_of_a_fixed_length_has_no_rest(vendor: str) -> None:
    """Pydantic writes ``tuple[str, int]`` with ``maxItems`` alone, which the slots keep by themselves."""
    schema = {"type": "array", "prefixItems": [TEXT, WHOLE], "minItems": 2, "maxItems": 2}

    holds_of_a_property(vendor, schema, reported(closed(item_0=TEXT, item_1=WHOLE), PLACED), set(), [["x", 1]])


TOLD = {
    "what-must-hold": ({"type": "string", "minLength": 3}, "Must hold: minLength 3."),
    "json-text": ({"minItems": 0}, ANYTHING),
    "entries": ({"type": "object"}, LISTED),
    "places": ({"type": "array", "prefixItems": [TEXT], "items": False}, PLACED),
}


@pytest.mark.parametrize(("definition", "sentence"), TOLD.values(), ids=TOLD)
def test_the_description_beside_a_reference_does_not_hide_what_is_reported(definition: Any, sentence: str) -> None:
    """The model reads both: what the caller says here, and what it must know of the form."""
    schema = {**closed(a={**refer("A"), "description": "An a."}), "$defs": {"A": definition}}
    said = lens(schema, AZURE).schema["properties"]["a"]["description"]

    assert "An a." in said
    assert sentence in said


def test_one_of_tells_only_what_is_not_enforced() -> None:
    """That exactly one fits is lost; the branches themselves are on the wire."""
    compiled = lens(closed(a={"oneOf": [closed(x=WHOLE), closed(x={"type": "number"})]}), OPENAI)

    assert lost(compiled) == {("/properties/a", "oneOf", UNSUPPORTED)}


@pytest.mark.parametrize("vendor", [OPENAI, ANTHROPIC])
def test_a_union_that_refers_to_itself_is_its_other_branches(vendor: str) -> None:
    """It compiles, and its values can be said."""
    schema = {**closed(a=refer("A")), "$defs": {"A": either(refer("A"), TEXT)}}

    lens(schema, vendor, {"a": "x"})


CIRCLE = {"A": either(refer("B"), TEXT), "B": either(refer("C"), WHOLE), "C": either(refer("A"), closed(b=refer("B")))}


@pytest.mark.parametrize("vendor", [OPENAI, ANTHROPIC, GOOGLE, AZURE])
def test_unions_that_lead_round_are_the_forms_they_come_to(vendor: str) -> None:
    """A circle of nothing but references and unions is no recursion: its values can be said, each one."""
    schema = {**closed(a=refer("A"), b=refer("B")), "$defs": CIRCLE}

    lens(schema, vendor, {"a": "x", "b": 1}, {"a": 1, "b": "x"}, {"a": {"b": {"b": "x"}}, "b": {"b": 1}})


def test_a_union_that_leads_round_and_says_more_goes_as_text() -> None:
    """That exactly one branch holds cannot be unwound, and is reported."""
    definitions = {"A": {"oneOf": [refer("B"), TEXT]}, "B": either(refer("A"), WHOLE)}
    compiled = compile_schema({**closed(a=refer("A")), "$defs": definitions}, OPENAI)

    assert compiled.decode({"a": "1"}) == {"a": 1}
    assert ("/$defs/A", "oneOf") in {(each.pointer, each.keyword) for each in compiled.losses}


def test_every_branch_of_a_tagged_union_has_a_name_of_its_own() -> None:
    """A title may look like the name that another branch is given to tell it apart."""
    maps = [({"type": "object", "additionalProperties": each}) for each in (WHOLE, TEXT, NULL)]
    titled = [{"title": title, **each} for title, each in zip(("a_2", "a", "a"), maps, strict=True)]
    compiled = lens(closed(a=either(*titled)), OPENAI, {"a": {"p": 1}}, {"a": {"p": "x"}}, {"a": {"p": None}})
    named = [each["properties"]["variant"]["enum"][0] for each in compiled.schema["properties"]["a"]["anyOf"]]

    assert len(set(named)) == 3


def test_an_unrolled_level_does_not_take_the_name_of_a_definition() -> None:
    """The name that unrolling makes may be the caller's already."""
    definitions = {"A": loose(n=refer("A")), "A_level_2": closed(z=WHOLE)}
    schema = {**closed(a=refer("A"), b=refer("A_level_2")), "$defs": definitions}

    lens(schema, ANTHROPIC, {"a": {"n": {"n": {}}}, "b": {"z": 1}})


def test_many_nullable_texts_are_not_given_up_as_a_whole() -> None:
    """One type list too many costs one place, not the vendor's enforcement of all."""
    names = [f"u{each:02}" for each in range(17)]
    schema = closed(**{each: {"type": ["string", "null"]} for each in names})

    assert lens(schema, ANTHROPIC, dict.fromkeys(names)).degraded


def test_too_many_optional_places_are_not_given_up_as_a_whole() -> None:
    """The slots of a tuple are optional properties too, and are afforded like these."""
    places = {"type": "array", "prefixItems": [TEXT, WHOLE] * 13, "items": False}

    assert lens(closed(a=places, b=TEXT), ANTHROPIC, {"a": ["x", 1], "b": "y"}).degraded


def test_a_schema_for_the_prompt_tells_its_losses_once_and_with_their_values() -> None:
    """``Loss.value`` is the value as JSON; a closed object is one loss, not two."""
    losses = compile_schema(closed(a=array(TEXT)), "plain").losses

    assert len({(each.pointer, each.keyword) for each in losses}) == len(losses)
    assert all(each.value for each in losses)
    assert {each.why for each in losses} == {OPEN}
