"""OpenAPI's ``nullable`` and Google's types in capitals are read as the JSON Schema that is meant."""

from __future__ import annotations

import pytest

from emitter.schema import compile_schema
from tests.schema.compile.forms import TEXT, array, closed
from tests.schema.compile.lens import OPENAI, lens

GOOGLES = {"type": "OBJECT", "properties": {"a": {"type": "ARRAY", "items": {"type": "STRING"}}}, "required": ["a"]}


def test_types_in_capitals_are_types() -> None:
    """What Google's own types write compiles for any vendor."""
    compiled = lens({**GOOGLES, "additionalProperties": False}, OPENAI, {"a": ["x"]})

    assert compiled.schema == closed(a=array(TEXT))
    assert compiled.validate({"a": [1]}) != ()


def test_a_property_may_be_named_as_the_keyword() -> None:
    """Only the value of a schema's own ``type`` is a type."""
    schema = closed(type={"const": "STRING"}, nullable={"type": "boolean"})
    compiled = lens(schema, OPENAI, {"type": "STRING", "nullable": True})

    assert compiled.schema["properties"]["type"] == {"type": "string", "enum": ["STRING"]}


@pytest.mark.parametrize("named", ["string", ["string", "null"]])
def test_what_is_nullable_takes_null(named: object) -> None:
    """Null can be said, comes back, and is valid, where it stands in a property that must be there."""
    compiled = lens(closed(a={"type": named, "nullable": True}), OPENAI, {"a": "x"})

    assert compiled.decode({"a": None}) == {"a": None}
    assert compiled.validate({"a": None}) == ()
    assert compiled.encode({"a": None}) == {"a": None}


def test_constants_are_left_alone() -> None:
    """A constant that looks like a schema is data."""
    value = {"type": "STRING", "nullable": True}

    assert compile_schema(closed(a={"const": value}), OPENAI).decode({"a": '{"type": "STRING", "nullable": true}'}) == {
        "a": value
    }


@pytest.mark.parametrize("name", ["default", "enum", "const", "examples", "example"])
def test_a_property_may_be_named_as_a_keyword_of_data(name: str) -> None:
    """Its schema is read as any other."""
    schema = {"type": "OBJECT", "properties": {name: {"type": "STRING", "nullable": True}}, "required": [name]}

    assert compile_schema(schema, OPENAI).validate({name: None}) == ()
    assert compile_schema(schema, OPENAI).validate({name: 1}) != ()
