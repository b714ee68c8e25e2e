"""What is given up because a schema is too large: reported whole, once, and no more of it than needed."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from emitter.schema import compile_schema
from tests.schema.compile.forms import NULL, TEXT, WHOLE, Form, array, closed, either, loose, refer
from tests.schema.compile.lens import ANTHROPIC, AZURE, OPENAI, lens
from tests.schema.proof.corpora import Case
from tests.schema.proof.large import large
from tests.schema.proof.laws import MAX_GROWTH, SPARE, Subject, prove
from tests.schema.proof.request import missing
from tests.work import covering

TIER1 = "tier1"


def names(count: int, letter: str = "p") -> list[str]:
    """Return so many names."""
    return [f"{letter}{each}" for each in range(count)]


def both(needed: int, optional: int, form: Any = WHOLE) -> Form:
    """Return an object with so many properties that must be there, and so many that may."""
    return loose(*names(needed), **dict.fromkeys([*names(needed), *names(optional, "q")], form))


def deep(levels: int) -> Form:
    """Return so many objects in one another, each of which may be null."""
    schema: Form = closed(innermost=TEXT)
    for each in range(levels):
        schema = {**closed(**{f"level_{each}": schema}), "type": ["object", "null"]}
    return closed(a=schema)


MANY = closed(**dict.fromkeys(names(101), WHOLE))
WITHOUT_TYPE = {name: each for name, each in MANY.items() if name != "type"}
GIVEN_UP: dict[str, Any] = {
    "nullable-object": closed(a={**MANY, "type": ["object", "null"]}),
    "object-or-text": closed(a={**MANY, "type": ["object", "string"]}),
    "object-without-type": closed(a=WITHOUT_TYPE),
    "nullable-of-openapi": closed(a={**MANY, "nullable": True}),
    "object-in-a-union": closed(a=either(MANY, NULL)),
    "object-behind-a-reference": {**closed(a=either(refer("M"), NULL)), "$defs": {"M": {**MANY, "title": "M"}}},
    "object-of-all-of": closed(a={"allOf": [MANY, {"type": ["object", "null"]}]}),
    "many-required": closed(**dict.fromkeys(names(300), WHOLE)),
    "many-optional": both(0, 300),
    "eleven-nullable-objects": deep(11),
    "arrays-that-may-be-null": closed(a=array({**deep(6)["properties"]["a"]}, minItems=1)),
    "a-map-of-a-definition": {
        **closed(a={**both(0, 120), "additionalProperties": refer("d")}),
        "$defs": {"d": closed(x=TEXT)},
    },
    "a-map-of-itself": {**refer("d"), "$defs": {"d": {**both(0, 120), "additionalProperties": refer("d")}}},
    "a-long-enum": closed(a={"enum": [f"value-{each}" for each in range(1_100)]}),
    "long-enums": closed(**{each: {"enum": [f"{each}-{nth}" for nth in range(60)]} for each in names(30)}),
}


@pytest.mark.parametrize(("name", "vendor"), covering(GIVEN_UP, [AZURE, TIER1, ANTHROPIC, OPENAI], strength=1))
def test_what_is_given_up_is_reported_whole(name: str, vendor: str) -> None:
    """The request holds every name and every value to choose from, and what is not enforced is a loss."""
    schema = GIVEN_UP[name]
    report = prove(Subject(Case("given up", schema)), vendor, samples=1)

    assert report.failures == []
    assert missing(schema, compile_schema(schema, vendor)) == []


def test_the_pieces_that_descriptions_name_are_in_the_prompt() -> None:
    """Each stands there once, by its pointer, with what it refers to."""
    schema = {
        **closed(a={**both(60, 200, refer("t")), "type": ["object", "null"]}, b=array(refer("t"))),
        "$defs": {"t": {"type": "string", "enum": ["x", "y"], "description": "A letter. " * 30}},
    }
    compiled = lens(schema, AZURE, {"a": dict.fromkeys(names(60), "x"), "b": ["y"]})
    slot = compiled.schema["properties"]["a"]["anyOf"][1]["properties"]["additional_properties"]

    assert "#/properties/a/additional_properties of the instructions" in slot["description"]
    assert list(compiled.appendix) == ["#/properties/a/additional_properties", "#/$defs/t"]
    assert compiled.appendix["#/$defs/t"] == schema["$defs"]["t"]


def test_a_piece_is_reported_once_however_many_descriptions_name_it() -> None:
    """It stands in the prompt; one that stands inside another stands there alone."""
    tree = closed(
        left=either(refer("tree"), NULL), right=either(refer("tree"), NULL), note={"description": "x" * 3_000}
    )
    schema = {**closed(**dict.fromkeys(names(9), refer("tree"))), "$defs": {"tree": tree}}
    compiled = lens(schema, ANTHROPIC)
    text = json.dumps([compiled.schema, compiled.appendix])

    assert compiled.appendix == {"#/$defs/tree": tree}
    assert text.count("x" * 3_000) <= 3  # the two levels that are kept, and the whole


def test_what_a_rule_refers_to_is_reported() -> None:
    """A condition may be all that speaks of a definition."""
    schema = {
        "type": "object",
        "properties": {"kind": TEXT},
        "if": {"properties": {"kind": {"const": "card"}}},
        "then": refer("card"),
        "$defs": {"card": {"properties": {"number": TEXT, "expiry": TEXT}, "required": ["number"]}},
    }

    assert missing(schema, lens(schema, OPENAI)) == []


SPILLED = {"90+20": (90, 20), "93+8": (93, 8), "40+80": (40, 80), "99+2": (99, 2), "101+0": (101, 0), "0+300": (0, 300)}


@pytest.mark.parametrize("vendor", [AZURE, TIER1])
@pytest.mark.parametrize(("needed", "optional"), SPILLED.values(), ids=SPILLED)
def test_only_what_does_not_fit_is_spilled(vendor: str, needed: int, optional: int) -> None:
    """All that the vendor has room for stays enforced, what must be there first."""
    schema = both(needed, optional)
    compiled = compile_schema(schema, vendor)
    kept = list(compiled.schema["properties"])

    assert len(kept) == 100
    assert kept[-1] == "additional_properties"
    assert set(names(min(needed, 99))) <= set(kept)
    example = dict.fromkeys([*names(needed), *names(optional, "q")], 1)
    assert compiled.decode(compiled.encode(example)) == example
    assert compiled.degraded
    assert missing(schema, compiled) == []


def test_spilled_properties_that_must_be_there_are_checked() -> None:
    """That they are not enforced is a loss of ``required``."""
    compiled = lens(both(120, 0), AZURE)

    assert ("", "required") in {(each.pointer, each.keyword) for each in compiled.degraded}
    assert [each.rule for each in compiled.validate(dict.fromkeys(names(119), 1))] == ["required"]


@pytest.mark.parametrize("vendor", [AZURE, ANTHROPIC, OPENAI])
def test_an_object_with_a_map_besides_spills_too(vendor: str) -> None:
    """What is not named goes as text with what has no room."""
    schema = closed(a={**both(0, 5_200 if vendor == OPENAI else 120), "additionalProperties": TEXT})
    compiled = lens(schema, vendor, {"a": {"q3": 1, "q119": 2, "else": "x"}})

    assert len(compiled.schema["properties"]["a"]["properties"]) > 20
    assert missing(schema, compiled) == []


def web(seed: int) -> Form:
    """Return definitions that refer to many others, with an enum too long for any vendor beside them."""
    chance = Random(seed)  # noqa: S311  chance that can be repeated
    size = chance.randint(10, 40)
    definitions = {
        f"d{each}": loose(
            **{f"p{each}_{nth}": refer(f"d{chance.randrange(size)}") for nth in range(chance.randint(2, 6))},
            **{f"t{each}": {"type": "string", "description": "Words to tell. " * chance.randint(1, 12)}},
        )
        for each in range(size)
    }
    return {**closed(a=refer("d0"), b=array(refer("d1"))), "$defs": definitions}


@pytest.mark.parametrize(("vendor", "seed"), covering([OPENAI, AZURE, ANTHROPIC, TIER1], range(4), strength=1))
def test_what_is_cut_down_does_not_grow(vendor: str, seed: int) -> None:
    """References stay references, and no text is repeated: at most twice the size, and 4,000 characters."""
    schema = web(seed)
    compiled = compile_schema(schema, vendor)

    assert compiled.losses
    assert len(json.dumps(compiled.schema)) <= MAX_GROWTH * len(json.dumps(schema)) + SPARE
    assert len(json.dumps(compiled.appendix)) <= 1.5 * len(json.dumps(schema))
    assert missing(schema, compiled) == []


@pytest.mark.parametrize(
    ("vendor", "seed"), covering([OPENAI, AZURE, ANTHROPIC, "google", TIER1], [1, 4, 7, 20, 32], strength=1)
)
def test_the_laws_hold_for_large_and_odd_schemas(vendor: str, seed: int) -> None:
    """Up to a hundred kilobytes of nested, nullable, recursive and tagged forms."""
    assert prove(Subject(Case(f"large {seed}", large(seed))), vendor, samples=1).failures == []


def extended(count: int) -> Form:
    """Return so many properties that each say something of their own, and what a definition says."""
    rule = loose(level={"type": "string", "enum": ["error", "warn"], "description": "Determines the level."})
    properties = {
        each: {"description": f"The rule {each} {'on words to tell ' * 9}.", "allOf": [refer("rule")]}
        for each in names(count)
    }
    return {"type": "object", "properties": properties, "$defs": {"rule": rule}}


@pytest.mark.parametrize(
    ("vendor", "count"), covering([OPENAI, AZURE, ANTHROPIC, "google", TIER1], [10, 33, 60, 90], strength=1)
)
def test_a_description_is_reported_once(vendor: str, count: int) -> None:
    """Not again where a reference is written out, nor in the schema that stands beside it."""
    schema = extended(count)
    compiled = compile_schema(schema, vendor)
    report = prove(Subject(Case("extended", schema)), vendor, samples=1)

    assert report.failures == []
    assert max(json.dumps(compiled.schema).count(f"The rule {each} on") for each in names(count)) == 1


@pytest.mark.parametrize(("vendor", "count"), covering([AZURE, TIER1], [44, 47, 80, 86], strength=1))
def test_growth_is_measured_as_the_request_is_sent(vendor: str, count: int) -> None:
    """In bytes, and without spaces between the parts."""
    maps = {"type": "object", "properties": {"a": {"type": "object"}, "b": {}}, "description": "éü"}
    schema = {"type": "object", "properties": dict.fromkeys(names(count), maps)}
    report = prove(Subject(Case("maps", schema)), vendor, samples=0)

    assert report.degraded
    assert report.failures == []
