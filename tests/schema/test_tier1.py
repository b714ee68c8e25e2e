"""The linter of OpenWOP's portable subset, held to the conformance suite's own answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from emitter.schema import Tier1Mode, VariantEdition, lint_tier1, lint_variants
from tests.schema.tier1 import (
    COUNT,
    DEPTH,
    FORBIDDEN,
    KEYWORD,
    NULL,
    ON_ARRAY,
    ON_NUMBER,
    ON_STRING,
    ONE_OF,
    OPEN,
    OPTIONAL,
    STRING,
    UNTAGGED,
    closed,
    nested,
    reported,
)

SHARED = Path(__file__).parents[2] / ".." / "shared"
VECTORS = SHARED / "vectors" / "openwop_tier1_vectors.json"
CORE = SHARED / "schemas" / "openwop" / "envelopes"


def vectors() -> list[Any]:
    """Return each vector of the shared file, named."""
    if not VECTORS.is_file():
        return [pytest.param({}, id="absent", marks=pytest.mark.skip(reason="../shared/vectors is absent"))]
    return [pytest.param(each, id=name) for name, each in json.loads(VECTORS.read_text("utf-8")).items()]


@pytest.mark.parametrize("mode", Tier1Mode, ids=lambda mode: mode.value)
@pytest.mark.parametrize("vector", vectors())
def test_every_vector_is_met_exactly(vector: dict[str, Any], mode: Tier1Mode) -> None:
    """The findings of the conformance algorithm: all of them, in its order, and no other."""
    schema = vector.get("schema") or json.loads((CORE / Path(vector["schema_file"]).name).read_text("utf-8"))

    assert [list(each) for each in reported(schema, mode)] == vector[mode.value]


@pytest.mark.parametrize("mode", Tier1Mode, ids=lambda mode: mode.value)
@pytest.mark.parametrize("keyword", FORBIDDEN)
def test_a_forbidden_keyword_is_reported_in_both_modes(keyword: str, mode: Tier1Mode) -> None:
    """Whatever its value, and not descended into."""
    assert reported(closed(a={keyword: [{"allOf": []}]}), mode) == [("#/properties/a", KEYWORD, keyword)]
    assert reported({keyword: None}, mode) == [("#", KEYWORD, keyword)]


BOTH_MODES = {
    "depth 5 by objects": (nested(5, STRING), []),
    "depth 6 by objects": (nested(6, STRING), [("#" + "/properties/n" * 6, DEPTH, "depth=6")]),
    "depth 6, nothing looked at": (nested(6, {"oneOf": []}), [("#" + "/properties/n" * 6, DEPTH, "depth=6")]),
    "depth 6, not a schema object": (nested(6, True), []),
    "depth 6 by items": (
        {"type": "array", "items": nested(5, STRING)},
        [("#/items" + "/properties/n" * 5, DEPTH, "depth=6")],
    ),
    "depth 6 by unions": (
        closed(a={"anyOf": [NULL, nested(4, STRING)]}),
        [("#/properties/a/anyOf/1" + "/properties/n" * 4, DEPTH, "depth=6")],
    ),
    "depth 6 by definitions": (
        {"$defs": {"d": nested(5, STRING)}},
        [("#/$defs/d" + "/properties/n" * 5, DEPTH, "depth=6")],
    ),
    "definitions within a property": (
        closed(a={"$defs": {"d": {"not": {}}}}),
        [("#/properties/a/$defs/d", KEYWORD, "not")],
    ),
    "old definitions are not walked": ({"definitions": {"d": {"not": {}}}}, []),
    "references are not followed": (
        {"$ref": "#/$defs/d", "$defs": {"d": {"not": {}}}},
        [("#/$defs/d", KEYWORD, "not")],
    ),
    "100 properties": (closed(**{f"p{each}": STRING for each in range(100)}), []),
    "101 properties": (closed(**{f"p{each}": STRING for each in range(101)}), [("#", COUNT, "count=101")]),
    "101 properties in all": (
        closed(a=closed(**{f"p{each}": STRING for each in range(100)})),
        [("#", COUNT, "count=101")],
    ),
    "101 properties that are no objects": (
        closed(**{f"p{each}": True for each in range(101)}),
        [("#", COUNT, "count=101")],
    ),
    "the count comes last": (
        {**closed(**{f"p{each}": STRING for each in range(101)}), "$defs": {"d": {"not": {}}}},
        [("#/$defs/d", KEYWORD, "not"), ("#", COUNT, "count=101")],
    ),
    "properties without a type": ({"properties": {"a": {"not": {}}}}, []),
    "items without a type": ({"items": {"not": {}}}, []),
    "items as a list": ({"type": "array", "items": [{"not": {}}]}, []),
    "items under a type list": ({"type": ["array", "null"], "items": {"not": {}}}, [("#/items", KEYWORD, "not")]),
    "a name with slash and tilde": (closed(**{"a/b~": {"not": {}}}), [("#/properties/a~1b~0", KEYWORD, "not")]),
    "keywords that the suite passes over": (
        {
            **closed(a={"const": 1, "exclusiveMinimum": 0, "exclusiveMaximum": 9}),
            "patternProperties": {},
            "contains": {},
            "dependentRequired": {},
        },
        [],
    ),
    "a property named like a keyword": (closed(oneOf=STRING), []),
}


@pytest.mark.parametrize("mode", Tier1Mode, ids=lambda mode: mode.value)
@pytest.mark.parametrize(("schema", "expected"), BOTH_MODES.values(), ids=BOTH_MODES.keys())
def test_what_both_modes_find(schema: Any, expected: list[tuple[str, str, str | None]], mode: Tier1Mode) -> None:
    """The floor: keywords, depth and count, each at its boundary."""
    assert reported(schema, mode) == expected


STRICT_ONLY = {
    "open object": ({"type": "object", "additionalProperties": True}, [("#", OPEN, None)]),
    "object that says nothing": ({"type": "object"}, [("#", OPEN, None)]),
    "zero is not false": ({"type": "object", "additionalProperties": 0}, [("#", OPEN, None)]),
    "open object in a type list": ({"type": ["null", "object"]}, [("#", OPEN, None)]),
    "optional property": ({**closed(a=STRING), "required": []}, [("#/properties/a", OPTIONAL, None)]),
    "required is no list": ({**closed(a=STRING), "required": "a"}, [("#/properties/a", OPTIONAL, None)]),
    "required holds no names": ({**closed(a=STRING), "required": [{}, "a", 1]}, []),
    "type holds no names": ({"type": [{}, "string"], "format": "uri"}, [("#", ON_STRING, "format")]),
    "string bounds": (
        {"type": "string", "format": "uri", "pattern": "a", "maxLength": 1, "minLength": 0},
        [("#", ON_STRING, each) for each in ("minLength", "maxLength", "pattern", "format")],
    ),
    "number bounds": (
        {"type": "number", "multipleOf": 1, "maximum": 1, "minimum": 0},
        [("#", ON_NUMBER, each) for each in ("minimum", "maximum", "multipleOf")],
    ),
    "integer and number are told once": ({"type": ["integer", "number"], "minimum": 0}, [("#", ON_NUMBER, "minimum")]),
    "array bounds": (
        {"type": "array", "uniqueItems": False, "maxItems": 1, "minItems": 0},
        [("#", ON_ARRAY, each) for each in ("minItems", "maxItems", "uniqueItems")],
    ),
    "a bound of another type": ({"type": "string", "minimum": 0, "minItems": 0}, []),
    "a bound without a type": ({"minLength": 0, "minimum": 0, "minItems": 0}, []),
    "bounds under a type list": (
        {"type": ["null", "array", "string"], "maxItems": 1, "maxLength": 1},
        [("#", ON_STRING, "maxLength"), ("#", ON_ARRAY, "maxItems")],
    ),
    "branches, properties, bounds, items, definitions": (
        {
            "$defs": {"d": {"type": "string", "format": "d"}},
            "items": {"type": "string", "format": "i"},
            "minItems": 1,
            "properties": {"p": {"type": "string", "format": "p"}},
            "anyOf": [{"type": "string", "format": "a"}],
            "type": ["array", "object"],
        },
        [
            ("#/anyOf/0", ON_STRING, "format"),
            ("#", OPEN, None),
            ("#/properties/p", OPTIONAL, None),
            ("#/properties/p", ON_STRING, "format"),
            ("#", ON_ARRAY, "minItems"),
            ("#/items", ON_STRING, "format"),
            ("#/$defs/d", ON_STRING, "format"),
        ],
    ),
}


@pytest.mark.parametrize(("schema", "expected"), STRICT_ONLY.values(), ids=STRICT_ONLY.keys())
def test_what_only_the_strict_mode_finds(schema: Any, expected: list[tuple[str, str, str | None]]) -> None:
    """The rest of the intersection, in order; the load-bearing mode lets all of it pass."""
    assert reported(schema) == expected
    assert reported(schema, Tier1Mode.LOAD_BEARING) == []


def test_every_rule_says_how_to_mend_it() -> None:
    """One sentence each, written for the rule or for the keyword."""
    tables = [schema for schema, _ in (*BOTH_MODES.values(), *STRICT_ONLY.values())]
    tables += [{each: []} for each in FORBIDDEN]
    found = [each for schema in tables for each in lint_tier1(schema, Tier1Mode.STRICT)]
    found += lint_variants({"oneOf": [], "anyOf": [NULL]}, VariantEdition.V1)

    assert {each.rule for each in found} == {
        DEPTH, COUNT, KEYWORD, OPEN, OPTIONAL, ON_STRING, ON_NUMBER, ON_ARRAY, ONE_OF, UNTAGGED
    }  # fmt: skip
    assert all(each.fix.endswith(".") and "\n" not in each.fix for each in found)
    assert len({each.fix for each in found if each.rule == KEYWORD}) > 1
