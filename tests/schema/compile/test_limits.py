"""The limits of size of each vendor: degraded in a stated order, or refused by name."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from emitter import profiles as profile
from emitter.errors import Uncompilable
from emitter.schema import compile_schema
from emitter.schema.size_limits import measure_schema
from emitter.testing.schema_rules import measure_nesting, parse_schema_tree
from tests.schema.compile.forms import NULL, TEXT, WHOLE, Form, array, closed, either, loose, refer
from tests.schema.compile.lens import ANTHROPIC, AZURE, DEGRADED, INSIDE, OPEN, OPENAI, lens, lost
from tests.schema.proof.sizes import sizes
from tests.work import FULL


def names(count: int, length: int = 5) -> list[str]:
    """Return so many names of this length."""
    return [f"p{each:0{length - 1}}" for each in range(count)]


def nested(levels: int, leaf: Any, *, value: bool = False) -> Any:
    """Return so many objects around a leaf: the schema, or a value of it."""
    for _ in range(levels):
        leaf = {"a": leaf} if value else closed(a=leaf)
    return leaf


def listed(levels: int, leaf: Any, *, value: bool = False) -> Any:
    """Return so many arrays around a leaf: the schema, or a value of it."""
    for _ in range(levels):
        leaf = [leaf] if value else array(leaf)
    return leaf


def chosen(lists: int, count: int) -> Form:
    """Return an object of enums, each of so many values."""
    return closed(**{f"e{each}": {"enum": [f"{each}-{value}" for value in range(count)]} for each in range(lists)})


OR_OBJECT = either(WHOLE, closed(x=WHOLE))
ONE_LONG = closed(a={"enum": [f"{each:060}" for each in range(251)]})

TOO_LARGE: dict[str, tuple[str, Any, Any, str]] = {
    "openai-depth": (OPENAI, nested(11, TEXT), nested(11, "x", value=True), "depth 11 of at most 10"),
    "openai-depth-of-a-wrapped-root": (OPENAI, listed(11, TEXT), listed(11, "x", value=True), "depth 12 of at most 10"),
    "openai-properties": (
        OPENAI,
        closed(**dict.fromkeys(names(5_001), WHOLE)),
        dict.fromkeys(names(5_001), 1),
        "properties 5001 of at most 5000",
    ),
    "openai-optional-properties": (
        OPENAI,
        loose(**dict.fromkeys(names(5_001), TEXT)),
        {"p0000": "x", "p5000": "y"},
        "properties 5001 of at most 5000",
    ),
    "openai-enum-values": (
        OPENAI,
        chosen(5, 240),
        {f"e{each}": f"{each}-3" for each in range(5)},
        "enum values 1200 of at most 1000",
    ),
    "openai-one-huge-enum": (OPENAI, chosen(1, 1_001), {"e0": "0-1000"}, "enum values 1001 of at most 1000"),
    "openai-one-long-enum": (OPENAI, ONE_LONG, {"a": f"{7:060}"}, "long enum characters 15060 of at most 15000"),
    "openai-characters": (
        OPENAI,
        closed(**dict.fromkeys(names(1_300, 100), TEXT)),
        dict.fromkeys(names(1_300, 100), "x"),
        "characters 130000 of at most 120000",
    ),
    "azure-depth": (AZURE, nested(6, TEXT), nested(6, "x", value=True), "depth 6 of at most 5"),
    "azure-depth-through-references": (
        AZURE,
        {**refer("d0"), "$defs": {**{f"d{each}": closed(a=refer(f"d{each + 1}")) for each in range(7)}, "d7": TEXT}},
        nested(7, "x", value=True),
        "depth 7 of at most 5",
    ),
    "azure-properties": (
        AZURE,
        closed(**{f"o{each}": closed(**dict.fromkeys(names(30), WHOLE)) for each in range(4)}),
        {f"o{each}": dict.fromkeys(names(30), 1) for each in range(4)},
        "properties 124 of at most 100",
    ),
    "azure-enum-values": (
        AZURE,
        chosen(3, 240),
        {f"e{each}": f"{each}-3" for each in range(3)},
        "enum values 720 of at most 500",
    ),
    "azure-one-long-enum": (AZURE, ONE_LONG, {"a": f"{7:060}"}, "long enum characters 15060 of at most 7500"),
    "azure-characters": (
        AZURE,
        closed(**dict.fromkeys(names(80, 200), TEXT)),
        dict.fromkeys(names(80, 200), "x"),
        "characters 16000 of at most 15000",
    ),
    "anthropic-optional": (
        ANTHROPIC,
        closed(a=loose(**dict.fromkeys(names(13), TEXT)), b=loose(**dict.fromkeys(names(12), TEXT))),
        {"a": {"p0000": "x"}, "b": {"p0011": "y"}},
        "optional 25 of at most 24",
    ),
    "anthropic-optional-of-one-object": (
        ANTHROPIC,
        loose(**dict.fromkeys(names(24), TEXT)),
        {"p0000": "x", "p0023": "y"},
        "optional of one object 24 of at most 23",
    ),
    "anthropic-far-too-many-optional": (
        ANTHROPIC,
        loose(**dict.fromkeys(names(60), TEXT)),
        {"p0000": "x", "p0059": "y"},
        "optional 60 of at most 24",
    ),
    "anthropic-unions": (
        ANTHROPIC,
        closed(**dict.fromkeys(names(17), OR_OBJECT)),
        {**dict.fromkeys(names(17), 1), "p0003": {"x": 1}},
        "unions 17 of at most 16",
    ),
    "anthropic-no-room-for-null": (
        ANTHROPIC,
        loose(*names(16), **dict.fromkeys(names(16), OR_OBJECT), **{f"q{each}": TEXT for each in range(24)}),
        {**dict.fromkeys(names(16), 1), "q3": "x"},
        "optional of one object 24 of at most 23",
    ),
}


@pytest.mark.parametrize(("vendor", "schema", "example", "limit"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_what_is_too_large_is_degraded(vendor: str, schema: Any, example: Any, limit: str) -> None:
    """The result passes the vendor's rules, says what was given up, and still says every instance."""
    compiled = lens(schema, vendor, example)

    assert compiled.degraded, limit
    assert {each.why for each in compiled.losses} <= {DEGRADED, OPEN, INSIDE}
    assert compiled.validate(NULL) != ()


@pytest.mark.parametrize(("vendor", "schema", "example", "limit"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_what_is_too_large_is_refused_on_demand(vendor: str, schema: Any, example: Any, limit: str) -> None:  # noqa: ARG001
    """Without degrading, the limit is named with what there is and what may be."""
    with pytest.raises(Uncompilable, match=limit) as refused:
        compile_schema(schema, vendor, degrade=False)

    assert refused.value.pointer == ""


JUST_FITS = {
    "openai-depth": (OPENAI, nested(10, TEXT)),
    "openai-properties": (OPENAI, closed(**dict.fromkeys(names(5_000), WHOLE))),
    "openai-enum-values": (OPENAI, chosen(4, 250)),
    "openai-long-enum": (OPENAI, closed(a={"enum": [f"{each:059}" for each in range(251)]})),
    "openai-many-of-250": (OPENAI, closed(a={"enum": [f"{each:0400}" for each in range(250)]})),
    "openai-characters": (OPENAI, closed(**dict.fromkeys(names(1_200, 100), TEXT))),
    "azure-depth": (AZURE, nested(5, TEXT)),
    "azure-properties": (AZURE, closed(**dict.fromkeys(names(100), TEXT))),
    "azure-enum-values": (AZURE, chosen(2, 250)),
    "anthropic-optional-of-one-object": (ANTHROPIC, loose(**dict.fromkeys(names(23), TEXT))),
    "anthropic-optional": (ANTHROPIC, closed(**dict.fromkeys(names(2), loose(**dict.fromkeys(names(12), TEXT))))),
    "anthropic-unions": (ANTHROPIC, closed(**{each: {"type": ["string", "null"]} for each in names(16)})),
}


@pytest.mark.parametrize(("vendor", "schema"), JUST_FITS.values(), ids=JUST_FITS)
def test_what_just_fits_is_left_alone(vendor: str, schema: Any) -> None:
    """At the limit itself nothing is given up."""
    assert lens(schema, vendor, degrade=False).losses == ()


def test_optional_properties_are_flipped_first() -> None:
    """One too many is written as required and nullable, and nothing else is given up."""
    compiled = lens(loose(**dict.fromkeys(names(24), TEXT)), ANTHROPIC, {})

    assert lost(compiled) == {("", "required", DEGRADED)}
    assert compiled.schema["properties"]["p0000"] == {"type": ["string", "null"]}
    assert compiled.decode({"p0000": None}) == {}


def test_long_enums_are_given_up_before_structure() -> None:
    """The longest list loses its values and keeps its type; the others keep theirs."""
    schema = closed(
        long={"enum": [f"v{each}" for each in range(990)]}, short={"enum": [f"w{each}" for each in range(99)]}
    )
    compiled = lens(schema, OPENAI, {"long": "v9", "short": "w9"})

    assert lost(compiled) == {("/properties/long", "enum", DEGRADED)}
    assert compiled.schema["properties"]["long"]["type"] == "string"
    assert len(compiled.schema["properties"]["short"]["enum"]) == 99
    assert [each.rule for each in compiled.validate({"long": "z", "short": "w9"})] == ["enum"]


def test_structure_is_kept_from_the_root_down() -> None:
    """The deepest subtree goes as JSON text, with its schema reported, and is still checked."""
    compiled = lens(nested(6, TEXT), AZURE, nested(6, "x", value=True))
    place = compiled.schema
    for _ in range(5):
        place = place["properties"]["a"]

    assert place["type"] == "string"
    assert '{"type": "object"' in place["description"]
    assert {each.pointer for each in compiled.degraded} == {"/properties/a" * 5}
    assert compiled.validate(nested(6, 3, value=True)) != ()


def circle(size: int, levels: int = 1) -> Form:
    """Return definitions each of which holds every other one, so many arrays deep."""
    names_of_all = [f"d{each}" for each in range(size)]
    definitions = {
        name: loose(**{each: listed(levels - 1, refer(each)) for each in names_of_all if each != name})
        for name in names_of_all
    }
    return {**closed(a=refer("d0")), "$defs": definitions}


def ring(size: int, entry: int) -> Form:
    """Return definitions each of which holds the next one, the last one the first; the root holds one of them."""
    definitions = {f"d{each}": loose(n=refer(f"d{(each + 1) % size}")) for each in range(size)}
    return {**closed(a=refer(f"d{entry}")), "$defs": definitions}


MANY = 30 if FULL else 15
CYCLES: dict[str, tuple[Any, int]] = {
    "one": ({**closed(a=refer("n")), "$defs": {"n": loose(n=refer("n"))}}, 2),
    "two-that-are-each-entered": (
        {**closed(a=refer("n"), b=refer("m")), "$defs": {"n": loose(m=refer("m")), "m": loose(n=refer("n"))}},
        3,
    ),
    "a-deep-end-behind-a-circle": (
        {
            **closed(a=refer("n")),
            "$defs": {"n": loose(m=refer("m")), "m": loose(n=refer("n"), e=refer("e")), "e": nested(4, TEXT)},
        },
        7,
    ),
    "nine-in-a-circle": (circle(9), 10),
    "ten-in-a-circle": (circle(10), 11),
    "many-in-a-circle": (circle(MANY), MANY + 1),
    "a-circle-through-arrays": (circle(4, 3), 13),
    "a-ring-entered-in-its-middle": (ring(10, 5), 11),
    "a-ring-entered-at-its-end": (ring(22, 21), 23),
}


@pytest.mark.parametrize(("schema", "depth"), CYCLES.values(), ids=CYCLES)
def test_depth_is_counted_through_circles(schema: Any, depth: int) -> None:
    """No way that enters each definition once is deeper than the vendor takes; a schema that is too deep is cut."""
    compiled = lens(schema, OPENAI)

    assert bool(compiled.degraded) is (depth > 10)
    if depth > 10:
        with pytest.raises(Uncompilable, match=f"depth {depth} of at most 10"):
            compile_schema(schema, OPENAI, degrade=False)


def tangle(seed: int) -> Form:
    """Return a few definitions that refer to one another as chance has it, and a root that enters some of them."""
    chance = Random(seed)  # noqa: S311  chance that can be repeated
    size = chance.randint(3, 12)

    def some(most: int, letter: str) -> Form:
        return {f"{letter}{each}": refer(f"d{chance.randrange(size)}") for each in range(chance.randint(1, most))}

    definitions = {f"d{each}": loose(**some(2, "p")) for each in range(size)}
    return {**closed(**some(3, "a")), "$defs": definitions}


@pytest.mark.parametrize("seed", [*range(40), 141, 147, 181, 285, 351])
def test_depth_is_measured_as_it_is(seed: int) -> None:
    """Three ways to measure agree: the compiler's, the rule checker's, and the plainest of all."""
    limits = profile.load_profile(OPENAI).subset.limits
    given, sent = tangle(seed), lens(tangle(seed), OPENAI).schema
    keywords = frozenset({"properties", "$defs", "anyOf", "items"})

    for each in (given, sent):
        plain = sizes(each, limits)["depth"]
        assert measure_schema(each, limits).counts["depth"] == plain
        assert measure_nesting(parse_schema_tree(each, keywords)) == plain
