"""What is no schema, or names what is not there, is refused before any request, with a pointer."""

from __future__ import annotations

import math
from typing import Any

import pytest

from emitter.errors import Uncompilable
from emitter.schema import compile_schema
from emitter.schema.compiler import MAX_SCHEMA_LENGTH, MAX_SCHEMA_VALUES
from tests.schema.compile.forms import TEXT, array, closed, loose, refer
from tests.schema.compile.lens import ALL, OPENAI, lens
from tests.testing.schema_rules.test_total import deep

NOT_JSON = {
    "nan": {"type": "number", "maximum": math.nan},
    "infinite": {"enum": [math.inf]},
    "a-set": {"enum": [{1}]},
    "an-object": {"enum": [object()]},
    "bytes": {"const": b"x"},
    "half-a-character": {"title": "\ud800"},
}
NO_SCHEMA = {"none": None, "text": "x", "bytes-alone": b"{}", "number": 3, "list": [TEXT]}


@pytest.mark.parametrize("given", [*NOT_JSON.values(), *NO_SCHEMA.values()], ids=[*NOT_JSON, *NO_SCHEMA])
def test_what_is_no_json_schema_is_refused(given: Any) -> None:
    """The message is a sentence, and points at the whole."""
    with pytest.raises(Uncompilable) as refused:
        compile_schema(given, OPENAI)

    assert refused.value.pointer == ""
    assert "schema" in refused.value.reason


def test_an_object_that_holds_itself_is_refused() -> None:
    """Python can say it, JSON cannot."""
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"a": schema}

    with pytest.raises(Uncompilable, match="schema"):
        compile_schema(schema, OPENAI)


TOO_LARGE = {
    "characters": ({"description": "x" * MAX_SCHEMA_LENGTH}, "longer than"),
    "values": ({"enum": [0] * MAX_SCHEMA_VALUES}, "more than"),
    "long-names": (
        closed(**{"x" * 1_000_000: closed(**dict.fromkeys(map(str, range(1_000)), TEXT))}),
        "long property names",
    ),
    "depth": (deep(100_000, "items"), "nested too deeply"),
}


@pytest.mark.parametrize(("schema", "reason"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_schema_that_is_too_large_is_refused(schema: Any, reason: str) -> None:
    """A validator keeps the pointer of each place, so a long name is paid for as often as there is anything below."""
    with pytest.raises(Uncompilable, match=reason):
        compile_schema(schema, OPENAI)


INVALID = {
    "type": (closed(a={"type": "text"}), "/properties/a/type"),
    "type-of-type": (array({"type": 3}), "/items/type"),
    "properties": ({"properties": []}, "/properties"),
    "required": (closed(a={"required": True}), "/properties/a/required"),
    "escaped": (closed(**{"a/b~": {"minLength": "("}}), "/properties/a~1b~0/minLength"),
    "in-definitions": ({"$defs": {"A": {"minLength": -1}}}, "/$defs/A/minLength"),
    "exclusive-of-draft-4": ({"minimum": 1, "exclusiveMinimum": True}, "/exclusiveMinimum"),
}


@pytest.mark.parametrize(("schema", "pointer"), INVALID.values(), ids=INVALID)
def test_an_invalid_schema_is_refused_at_its_place(schema: Any, pointer: str) -> None:
    """The pointer is that of the keyword."""
    with pytest.raises(Uncompilable, match="not valid JSON Schema") as refused:
        compile_schema(schema, OPENAI)

    assert refused.value.pointer == pointer


INSIDE, OUTSIDE = "does not exist in this document", "outside this document"
DANGLING = {
    "definition": (closed(a=refer("no")), "/properties/a/$ref", INSIDE),
    "escaped-place": (closed(**{"a/b": array(refer("no"))}), "/properties/a~1b/items/$ref", INSIDE),
    "anchor": (closed(a={"$ref": "#no"}), "/properties/a/$ref", INSIDE),
    "through-a-definition": (
        {**closed(a=refer("A")), "$defs": {"A": array(refer("no"))}},
        "/$defs/A/items/$ref",
        INSIDE,
    ),
    "http": (closed(a={"$ref": "http://schemas.example/a"}), "/properties/a/$ref", OUTSIDE),
    "file": (closed(a={"$ref": "file:///a.json"}), "/properties/a/$ref", OUTSIDE),
    "relative": (closed(a={"$ref": "a.json#/b"}), "/properties/a/$ref", OUTSIDE),
}


@pytest.mark.parametrize(("schema", "pointer", "reason"), DANGLING.values(), ids=DANGLING)
def test_a_reference_to_nothing_is_refused(schema: Any, pointer: str, reason: str) -> None:
    """The pointer is that of the reference, and the reason says whether it leads out of the document."""
    with pytest.raises(Uncompilable, match=reason) as refused:
        compile_schema(schema, OPENAI)

    assert refused.value.pointer == pointer


EMPTY = {
    "false": False,
    "empty-enum": {"enum": []},
    "types": {"allOf": [{"type": "string"}, {"type": "integer"}]},
    "bounds": {"type": "integer", "minimum": 5, "maximum": 3},
    "lengths": {"type": "string", "minLength": 5, "maxLength": 3},
    "not-anything": {"not": {}},
    "no-items": {"type": "array", "items": False, "minItems": 1},
    "required-and-false": closed(a=False),
    "required-and-shut": {"type": "object", "required": ["a"], "additionalProperties": False},
    "no-branch": {"oneOf": [False, {"enum": []}]},
    "without-end": {**refer("T"), "$defs": {"T": closed(n=refer("T"))}},
    "type-and-enum": {"type": "string", "enum": [1]},
}


@pytest.mark.parametrize("vendor", ALL)
@pytest.mark.parametrize("schema", EMPTY.values(), ids=EMPTY)
def test_a_schema_without_any_document_is_refused(schema: Any, vendor: str) -> None:
    """Nothing is narrowed to nothing in silence."""
    with pytest.raises(Uncompilable, match="no document can satisfy"):
        compile_schema(schema, vendor)


@pytest.mark.parametrize("vendor", ALL)
def test_a_circle_of_bare_references_is_refused(vendor: str) -> None:
    """It says nothing of any value, and is told apart from a schema that holds none."""
    with pytest.raises(Uncompilable, match="refers only to itself") as refused:
        compile_schema({**refer("A"), "$defs": {"A": refer("B"), "B": refer("A")}}, vendor)

    assert refused.value.pointer.startswith("/$defs/")


@pytest.mark.parametrize("vendor", ALL)
def test_a_property_without_any_value_is_only_left_out(vendor: str) -> None:
    """Where it may be absent, absent is what it is."""
    compiled = lens(loose("b", a={"enum": []}, b=TEXT), vendor, {"b": "x"})

    assert compiled.schema["properties"] == {"b": TEXT}
