"""The published rules for which no rejection was recorded, and the edges that are still inside."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.testing.rules import anthropic, azure_openai, google, google_openapi, openai
from tests.schema.rules.shapes import TEXT, chosen, closed, many, nested

ITEM = {"$ref": "#/$defs/A"}


def defined(place: Any, **definitions: Any) -> dict[str, Any]:
    """Return an object with one property, and definitions beside it."""
    return {**closed(a=place), "$defs": definitions}


BROKEN: dict[str, tuple[Any, Any, str, str]] = {
    "openai one-of": (openai, closed(a={**TEXT, "oneOf": [TEXT]}), "/properties/a", "keyword_not_supported"),
    "openai string length": (openai, closed(a={**TEXT, "minLength": 1}), "/properties/a", "keyword_not_supported"),
    "openai unique items": (
        openai,
        closed(a={"type": "array", "items": TEXT, "uniqueItems": True}),
        "/properties/a",
        "keyword_not_supported",
    ),
    "openai lookaround": (openai, closed(a={**TEXT, "pattern": "^(?!x)"}), "/properties/a", "pattern_not_supported"),
    "openai described reference": (
        openai,
        defined({**ITEM, "description": "x"}, A=TEXT),
        "/properties/a",
        "keyword_beside_ref",
    ),
    "openai dangling reference": (openai, closed(a=ITEM), "/properties/a", "ref_undefined"),
    "openai boolean schema": (openai, closed(a=True), "/properties/a", "schema_must_be_an_object"),
    "openai list of types at the root": (openai, {**closed(), "type": ["object"]}, "", "root_must_be_an_object"),
    "openai required stranger": (openai, {**closed(), "required": ["b"]}, "", "required_names_no_property"),
    "openai unknown type": (openai, closed(a={"type": "text"}), "/properties/a", "type_unknown"),
    "openai empty enum": (openai, closed(a={**TEXT, "enum": []}), "/properties/a", "keyword_malformed"),
    "openai constant of another type": (openai, closed(a={**TEXT, "const": 1}), "/properties/a", "enum_must_fit_type"),
    "openai name in a pointer": (openai, closed(**{"a/b~": {}}), "/properties/a~1b~0", "type_missing"),
    "openai characters": (openai, closed(**{"x" * 120_001: TEXT}), "", "max_characters"),
    "openai depth behind a reference": (openai, defined(ITEM, A=nested(10)), "", "max_nesting"),
    "azure pattern": (azure_openai, closed(a={**TEXT, "pattern": "x"}), "/properties/a", "keyword_not_supported"),
    "azure default": (azure_openai, closed(a={**TEXT, "default": "x"}), "/properties/a", "keyword_not_supported"),
    "azure properties": (azure_openai, many(101, TEXT), "", "max_properties"),
    "azure depth": (azure_openai, nested(6), "", "max_nesting"),
    "azure dangling reference": (azure_openai, closed(a=ITEM), "/properties/a", "ref_undefined"),
    "azure characters": (azure_openai, closed(**{"x" * 15_001: TEXT}), "", "max_characters"),
    "azure one enum": (azure_openai, chosen(251, 30), "/properties/a", "max_characters_of_one_enum"),
    "anthropic one-of": (anthropic, closed(a={**TEXT, "oneOf": [TEXT]}), "/properties/a", "keyword_not_supported"),
    "anthropic unknown type": (anthropic, closed(a={"type": "text"}), "/properties/a", "type_unknown"),
    "anthropic constant of another type": (
        anthropic,
        closed(a={**TEXT, "const": 1}),
        "/properties/a",
        "enum_must_fit_type",
    ),
    "anthropic back reference": (
        anthropic,
        closed(a={**TEXT, "pattern": r"(a)\1"}),
        "/properties/a",
        "pattern_not_supported",
    ),
    "anthropic reference in all-of": (
        anthropic,
        defined({"allOf": [ITEM]}, A=TEXT),
        "/properties/a/allOf/0",
        "ref_in_all_of",
    ),
    "anthropic enum of objects": (anthropic, closed(a={"enum": [{}]}), "/properties/a", "enum_of_primitives_only"),
    "anthropic mutual recursion": (
        anthropic,
        defined(ITEM, A=closed(b={"$ref": "#/$defs/B"}), B={"type": "array", "items": ITEM}),
        "/$defs/B/items",
        "recursion",
    ),
    "anthropic keyword of another type": (
        anthropic,
        closed(a={"type": "integer", "pattern": "x"}),
        "/properties/a",
        "keyword_of_another_type",
    ),
    "google boolean schema": (google, {"items": True}, "/items", "schema_must_be_an_object"),
    "google unknown type": (google, {"type": "text"}, "", "type_unknown"),
    "google count below zero": (google, {"items": {"minItems": -1}}, "/items", "keyword_malformed"),
    "google described reference": (
        google,
        defined({**ITEM, "description": "x"}, A=TEXT),
        "/properties/a",
        "keyword_beside_ref",
    ),
    "google enum of null": (google, {"enum": ["a", None]}, "", "enum_of_strings_and_numbers_only"),
    "google recursion that may be null": (
        google,
        {"properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "required": ["a"]},
        "/properties/a/anyOf/0",
        "recursion_in_required",
    ),
    "google-openapi boolean schema": (
        google_openapi,
        {"type": "ARRAY", "items": True},
        "/items",
        "schema_must_be_an_object",
    ),
    "google-openapi count as text": (
        google_openapi,
        {"type": "STRING", "maxLength": "9"},
        "",
        "keyword_malformed",
    ),
    "google-openapi two types": (google_openapi, {"type": ["string", "null"]}, "", "type_must_be_one_name"),
}

SOUND: dict[str, tuple[Any, Any]] = {
    "openai recursion": (openai, closed(a={"anyOf": [{"$ref": "#"}, {"type": "null"}]})),
    "openai ten levels": (openai, nested(10)),
    "openai a thousand values": (openai, chosen(1000)),
    "openai 5000 properties": (openai, many(5000, TEXT)),
    "openai bounds": (openai, closed(a={"type": "array", "items": {"type": "number", "minimum": 0}, "maxItems": 3})),
    "openai format of a number": (openai, closed(a={"type": "integer", "format": "int64"})),
    "openai property with a keyword's name": (openai, closed(oneOf=TEXT, properties=TEXT)),
    "openai whole number as integer": (openai, closed(a={"type": "integer", "const": 1.0})),
    "azure five levels": (azure_openai, nested(5)),
    "anthropic root array": (anthropic, {"type": "array", "items": TEXT, "minItems": 1}),
    "anthropic root union": (anthropic, {"anyOf": [closed(a=TEXT), TEXT]}),
    "anthropic 23 optional": (anthropic, {**many(23, TEXT), "required": []}),
    "anthropic shared definition": (anthropic, {**closed(a=ITEM, b=ITEM), "$defs": {"A": TEXT}}),
    "anthropic uri": (anthropic, closed(a={**TEXT, "format": "uri", "pattern": r"^https?://\w{1,99}$"})),
    "google root text": (google, TEXT),
    "google map": (google, {"type": "object", "additionalProperties": TEXT}),
    "google tree": (google, {"properties": {"a": {"items": {"$ref": "#"}}}}),
    "google ignored not": (google, {"not": True, "const": 1, "allOf": []}),
    "google-openapi capitals": (google_openapi, {"type": "ARRAY", "items": {"type": "STRING", "nullable": True}}),
}


@pytest.mark.parametrize(("dialect", "schema", "pointer", "rule"), BROKEN.values(), ids=BROKEN)
def test_what_breaks_one_rule(dialect: Any, schema: object, pointer: str, rule: str) -> None:
    """That rule is told, at its place, and no other."""
    assert [(each.pointer, each.rule) for each in dialect.broken(schema)] == [(pointer, rule)]


@pytest.mark.parametrize(("dialect", "schema"), SOUND.values(), ids=SOUND)
def test_what_is_just_inside(dialect: Any, schema: object) -> None:
    """Nothing is told."""
    assert dialect.broken(schema) == []


def test_what_google_does_not_heed_is_no_breach() -> None:
    """It is told on its own, keywords and formats, and what lies inside such a keyword is not looked at."""
    schema = {"properties": {"a": {"type": "string", "format": "uri", "not": {"const": 1}}}, "maxProperties": 1}

    assert [(each.pointer, each.rule, each.told) for each in google.ignored(schema)] == [
        ("", "keyword_ignored", "maxProperties"),
        ("/properties/a", "keyword_ignored", "not"),
        ("/properties/a", "format_ignored", "uri"),
    ]
