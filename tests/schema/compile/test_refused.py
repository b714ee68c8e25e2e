"""What is no schema, or names what is not there, is refused before any request, with a pointer."""

from __future__ import annotations

import math
from typing import Any

import pytest

from emitter.errors import Uncompilable
from emitter.schema import LossReason, compile_schema
from emitter.schema.compiler import MAX_SCHEMA_LENGTH, MAX_SCHEMA_VALUES
from tests.schema.compile.forms import TEXT, array, closed, either, loose, refer
from tests.schema.compile.lens import ALL, OPENAI, lens, lost
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


_LIST = {"type": "array", "items": TEXT}
CONTRADICTORY: dict[str, tuple[Any, str, str]] = {
    "type-and-enum": ({"type": "integer", "enum": ["1", "2"]}, "", "enum"),
    "type-and-const": ({"type": "integer", "const": "1"}, "", "const"),
    "type-and-null": ({"type": "string", "enum": [None]}, "", "enum"),
    "enum-and-const": ({"enum": [1, 2], "allOf": [{"const": 3}]}, "", "enum"),
    "enums": ({"allOf": [{"enum": ["a"]}, {"enum": ["b"]}]}, "/allOf/0", "enum"),
    "enum-and-bound": ({"enum": [1, 2], "minimum": 3}, "", "enum"),
    "enum-and-length": ({"enum": ["a"], "minLength": 2}, "", "enum"),
    "enum-and-pattern": ({"enum": ["a"], "pattern": "b"}, "", "enum"),
    "const-and-format": ({"const": "soon", "format": "date"}, "", "const"),
    "const-and-required": ({"const": {"b": 1}, "required": ["a"]}, "", "const"),
    "const-and-items": ({"const": [1], "items": TEXT}, "", "const"),
    "enum-and-not": ({"enum": [1], "not": {"type": "integer"}}, "", "enum"),
    "empty-enum": ({"enum": []}, "", "enum"),
    "bounds": ({"type": "integer", "minimum": 5, "maximum": 3}, "", "minimum"),
    "exclusive-bounds": ({"type": "number", "minimum": 5, "exclusiveMaximum": 5}, "", "minimum"),
    "between-integers": ({"type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 5}, "", "exclusiveMinimum"),
    "between-multiples": ({"type": "integer", "multipleOf": 10, "minimum": 1, "maximum": 9}, "", "minimum"),
    "bounds-of-two": ({"type": "number", "allOf": [{"minimum": 5}, {"maximum": 3}]}, "/allOf/0", "minimum"),
    "lengths": ({"type": "string", "minLength": 5, "maxLength": 3}, "", "minLength"),
    "types": ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "/allOf/0", "type"),
    "type-and-not": ({"type": "string", "not": {"type": ["string", "null"]}}, "", "not"),
    "not-anything": ({"not": {}}, "", "not"),
    "counts": ({**_LIST, "minItems": 3, "maxItems": 2}, "", "minItems"),
    "no-items": ({"type": "array", "items": False, "minItems": 1}, "", "minItems"),
    "unique-items": (
        {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 3},
        "",
        "uniqueItems",
    ),
    "contains": ({**_LIST, "contains": {}, "maxItems": 0}, "", "contains"),
    "contains-nothing": ({**_LIST, "contains": False}, "", "contains"),
    "contains-counts": ({**_LIST, "contains": TEXT, "minContains": 3, "maxContains": 2}, "", "minContains"),
    "items": ({"type": "array", "items": {"type": "integer", "const": "1"}, "minItems": 1}, "/items", "const"),
    "required-and-false": (closed(b=False), "", "required"),
    "required-and-shut": ({"type": "object", "required": ["b"], "additionalProperties": False}, "", "required"),
    "required-and-names": (
        {"type": "object", "required": ["b"], "propertyNames": {"maxLength": 0}},
        "",
        "propertyNames",
    ),
    "shut-by-another": (
        {"allOf": [closed(c=TEXT), {"type": "object", "properties": {"b": TEXT}, "required": ["b"]}]},
        "/allOf/0",
        "additionalProperties",
    ),
    "property-counts": ({"type": "object", "minProperties": 2, "maxProperties": 1}, "", "minProperties"),
    "too-few-properties": ({**loose(b=TEXT), "minProperties": 2}, "", "minProperties"),
    "too-many-required": ({**closed(b=TEXT, c=TEXT), "maxProperties": 1}, "", "maxProperties"),
    "deep": (
        closed(b=_LIST | {"items": closed(c={"type": "null", "const": 1}), "minItems": 1}),
        "/properties/b/items/properties/c",
        "const",
    ),
    "branches": ({"anyOf": [{"type": "string", "const": 1}, {"enum": []}]}, "/anyOf/0", "const"),
    "definition": ({**refer("E"), "$defs": {"E": {"type": "string", "const": 1}}}, "/$defs/E", "const"),
    "without-end": ({**refer("T"), "$defs": {"T": closed(n=refer("T"))}}, "/$defs/T", "required"),
}
"""Each schema, with the pointer of the first keyword that contradicts another, and its name."""


def _definitions(schema: Any) -> Any:
    return {"$defs": schema.pop("$defs")} if "$defs" in schema else {}


@pytest.mark.parametrize("vendor", ALL)
@pytest.mark.parametrize(("schema", "pointer", "keyword"), CONTRADICTORY.values(), ids=CONTRADICTORY)
def test_a_contradiction_is_named_with_its_place(schema: Any, pointer: str, keyword: str, vendor: str) -> None:
    """A required property makes the schema impossible. An optional one, an item or a branch is left out, and a loss."""
    inner = dict(schema)
    definitions = _definitions(inner)
    inside = not pointer.startswith("/$defs")

    with pytest.raises(Uncompilable, match=r"no document can satisfy this schema: .*allows? no value") as refused:
        compile_schema({**closed(a=inner), **definitions}, vendor)
    assert refused.value.pointer == ("/properties/a" if inside else "") + pointer
    assert refused.value.reason.startswith(f"no document can satisfy this schema: {keyword} ")

    for place, form in {
        "/properties/a": loose("z", z=TEXT, a=inner),
        "/properties/z/items": closed(z=array(inner)),
        "/properties/z/anyOf/1": closed(z=either(TEXT, inner)),
        "/properties/z/additionalProperties": closed(z={"type": "object", "additionalProperties": inner}),
    }.items():
        compiled = compile_schema({**form, **definitions}, vendor)
        assert ((place if inside else "") + pointer, keyword, LossReason.CONTRADICTORY) in lost(compiled)


PARTLY: dict[str, tuple[Any, str, Any]] = {
    "enum": ({"type": "string", "enum": ["a", None]}, "enum", "a"),
    "integer-or-null": ({"type": ["integer", "null"], "minimum": 5, "maximum": 3}, "minimum", None),
    "string-or-integer": ({"type": ["string", "integer"], "minLength": 5, "maxLength": 3}, "minLength", 1),
    "array-or-string": ({"type": ["string", "array"], "minItems": 2, "maxItems": 1}, "minItems", "a"),
    "untyped": ({"minItems": 2, "maxItems": 1, "minLength": 1}, "minItems", "a"),
}


@pytest.mark.parametrize(("schema", "keyword", "valid"), PARTLY.values(), ids=PARTLY)
def test_values_that_a_contradiction_excludes_are_named(schema: Any, keyword: str, valid: Any) -> None:
    """The other values remain."""
    compiled = lens(closed(a=schema), OPENAI, {"a": valid})

    assert ("/properties/a", keyword, LossReason.CONTRADICTORY) in lost(compiled)


EXCLUDED = {
    "forbidden": loose("b", a=False, b=TEXT),
    "forbidden-in-a-branch": either(closed(k={"const": 1}, a=TEXT), {**loose("k", k={"const": 2}, a=False)}),
    "forbidden-by-another": {"allOf": [loose("b", a=TEXT, b=TEXT), {"properties": {"a": False}}]},
    "unions": closed(a={"allOf": [either(TEXT, {"type": "integer"}), either({"type": "integer"}, {"type": "null"})]}),
    "enums": closed(a={"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}),
    "bounds": closed(a={"type": "integer", "minimum": 3, "maximum": 3}),
    "multiples": closed(a={"type": "number", "multipleOf": 0.1, "minimum": 0.3, "maximum": 0.35}),
    "lengths": closed(a={"type": "string", "minLength": 3, "maxLength": 3}),
}


@pytest.mark.parametrize("schema", EXCLUDED.values(), ids=EXCLUDED)
def test_what_a_schema_excludes_on_purpose_is_no_contradiction(schema: Any) -> None:
    """A property that is false, and what two lists have not in common, are what the caller asked for."""
    assert LossReason.CONTRADICTORY not in {why for _, _, why in lost(compile_schema(schema, OPENAI))}


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
