"""Test the outline of a schema: its words, that it loses nothing, and that it is never longer than the schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from emitter.errors import Uncompilable
from emitter.schema import compile_schema
from emitter.schema.outline import write_outline
from tests.schema.proof.request import words
from tests.schema.proof.strategies import cases
from tests.work import examples

DAY = {"type": "string", "format": "date", "description": "The last day."}
COUNT = {"type": "integer", "minimum": 1, "maximum": 100}
FILLER = {"description": "The words of this description make the schema longer than any outline of it."}


def of(schema: Any) -> str:
    """Return the outline of a value in an object."""
    outline = write_outline({"type": "object", "properties": {"a": schema}, "required": ["a"]})
    assert outline is not None
    return outline.removeprefix('{\n  "a": ').removesuffix("\n}")


VALUES: dict[str, tuple[Any, str]] = {
    "text": ({"type": "string"}, "a text"),
    "bounds": (COUNT, "a whole number from 1 to 100"),
    "date": (DAY, "a date such as 2027-01-31 (The last day.)"),
    "title": ({"type": "boolean", "title": "Paid"}, "true or false (Paid)"),
    "default": ({"type": "number", "default": 1.5}, "a number (default 1.5)"),
    "examples": ({"type": "string", "examples": ["x", "y"]}, 'a text (for example "x", "y")'),
    "enum": ({"enum": ["red", "blue"]}, '"red", or "blue"'),
    "const": ({"const": None}, "null"),
    "nullable": ({"type": ["string", "null"], "maxLength": 9}, "a text of at most 9 characters, or null"),
    "list": (
        {"type": "array", "items": COUNT, "maxItems": 4},
        "a list of at most 4 items, each a whole number from 1 to 100",
    ),
    "union": ({"anyOf": [{"type": "string"}, COUNT]}, "a text, or a whole number from 1 to 100"),
    "map": (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        "{\n    any other name: a whole number\n  }",
    ),
    "object": (
        {
            "type": "object",
            "properties": {"x": DAY, "y": {"type": "boolean"}},
            "required": ["x"],
            "additionalProperties": False,
        },
        '{\n    "x": a date such as 2027-01-31 (The last day.),\n    "y": true or false, or left out\n  }',
    ),
    "anything": (True, "any value"),
    "no words": (
        {"type": "string", "not": {"const": "x"}},
        'a text (must also satisfy the JSON Schema {"not": {"const": "x"}})',
    ),
    "a format of numbers": (
        {"type": "integer", "format": "int32"},
        'a whole number (must also satisfy the JSON Schema {"format": "int32"})',
    ),
}


@pytest.mark.parametrize(("schema", "expected"), VALUES.values(), ids=VALUES.keys())
def test_a_value_is_described(schema: Any, expected: str) -> None:
    """Types, bounds, descriptions, alternatives, and what has no words as it stands."""
    assert of(schema) == expected


TREE: Any = {
    "$ref": "#/$defs/Tree",
    "$defs": {
        "Tree": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            },
            "required": ["name", "children"],
            **FILLER,
        }
    },
}


def test_recursion_is_by_name() -> None:
    """A definition that refers to itself is written once."""
    outline = write_outline(TREE)

    assert outline is not None
    assert outline.startswith("Tree\n\nTree is (")
    assert '"children": a list, each Tree' in outline


def test_definitions_of_equal_names_stay_apart() -> None:
    """A name stands for one definition."""
    twice = [{"$ref": f"#/{place}/A"} for place in ("$defs", "definitions") for _ in range(2)]
    properties = {f"p{number}": each for number, each in enumerate(twice)}
    one, other = ({"type": kind, **FILLER} for kind in ("string", "integer"))
    outline = write_outline(
        {"type": "object", "properties": properties, "$defs": {"A": one}, "definitions": {"A": other}}
    )

    assert outline is not None
    assert "A is a text" in outline
    assert "A 1 is a whole number" in outline


UNWRITABLE: dict[str, Any] = {
    "a moved scope": {"$id": "https://example.com/x", "type": "object", **FILLER},
    "a dynamic reference": {"type": "object", "properties": {"a": {"$dynamicRef": "#x"}}, **FILLER},
    "a lost reference": {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}, **FILLER},
    "a reference in what has no words": {
        "type": "object",
        "not": {"$ref": "#/$defs/a"},
        "$defs": {"a": {"const": 1}},
        **FILLER,
    },
    "no value": {"type": "object", "properties": {"a": False}, **FILLER},
    "a long pattern": {"type": "string", "pattern": "a" * 1000, **FILLER},
    "shorter than its outline": True,
}


@pytest.mark.parametrize("schema", UNWRITABLE.values(), ids=UNWRITABLE.keys())
def test_a_schema_without_an_outline_is_shown_itself(schema: Any) -> None:
    """Nothing is left out silently."""
    assert write_outline(schema) is None


def test_the_length_is_linear() -> None:
    """Definitions that are used twice each are written once each, and a deep schema has no outline."""
    chain: dict[str, Any] = {
        f"D{number}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/$defs/D{number + 1}"} for side in ("left", "right")},
            **FILLER,
        }
        for number in range(30)
    }
    schema: Any = {"$ref": "#/$defs/D0", "$defs": {**chain, "D30": {"type": "string"}}}
    deep: Any = {"type": "string"}
    for _ in range(2000):
        deep = {"type": "array", "items": deep}

    outline = write_outline(schema)

    assert outline is not None
    assert len(outline) < len(json.dumps(schema))
    assert write_outline({"type": "object", "properties": {"a": deep}} | FILLER) is None


@given(cases())
@settings(max_examples=examples(70))
def test_no_name_and_no_choice_is_lost(case: Any) -> None:
    """The outline of what a server receives has each name and each value to choose from."""
    try:
        compiled = compile_schema(case.schema, "openai-compatible")
    except Uncompilable:
        return
    outline = write_outline(compiled.schema)

    assert outline is None or all(json.dumps(word, ensure_ascii=False) in outline for word in words(compiled.schema))
