"""The published rules for which no rejection was recorded, and the edges that are still inside."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.testing import vendor_rules
from tests.testing.schema_rules.shapes import TEXT, chosen, closed, many, nested

ITEM = {"$ref": "#/$defs/A"}


def defined(place: Any, **definitions: Any) -> dict[str, Any]:
    """Return an object with one property, and definitions beside it."""
    return {**closed(a=place), "$defs": definitions}


BROKEN: dict[str, tuple[Any, Any, str, str]] = {
    "openai one-of": (
        vendor_rules.OPENAI,
        closed(a={**TEXT, "oneOf": [TEXT]}),
        "/properties/a",
        "keyword_not_supported",
    ),
    "openai string length": (
        vendor_rules.OPENAI,
        closed(a={**TEXT, "minLength": 1}),
        "/properties/a",
        "keyword_not_supported",
    ),
    "openai unique items": (
        vendor_rules.OPENAI,
        closed(a={"type": "array", "items": TEXT, "uniqueItems": True}),
        "/properties/a",
        "keyword_not_supported",
    ),
    "openai lookaround": (
        vendor_rules.OPENAI,
        closed(a={**TEXT, "pattern": "^(?!x)"}),
        "/properties/a",
        "pattern_not_supported",
    ),
    "openai described reference": (
        vendor_rules.OPENAI,
        defined({**ITEM, "description": "x"}, A=TEXT),
        "/properties/a",
        "keyword_beside_ref",
    ),
    "openai dangling reference": (vendor_rules.OPENAI, closed(a=ITEM), "/properties/a", "ref_undefined"),
    "openai boolean schema": (vendor_rules.OPENAI, closed(a=True), "/properties/a", "schema_must_be_an_object"),
    "openai list of types at the root": (
        vendor_rules.OPENAI,
        {**closed(), "type": ["object"]},
        "",
        "root_must_be_an_object",
    ),
    "openai required stranger": (
        vendor_rules.OPENAI,
        {**closed(), "required": ["b"]},
        "",
        "required_names_no_property",
    ),
    "openai unknown type": (vendor_rules.OPENAI, closed(a={"type": "text"}), "/properties/a", "type_unknown"),
    "openai empty enum": (vendor_rules.OPENAI, closed(a={**TEXT, "enum": []}), "/properties/a", "keyword_malformed"),
    "openai constant of another type": (
        vendor_rules.OPENAI,
        closed(a={**TEXT, "const": 1}),
        "/properties/a",
        "enum_must_fit_type",
    ),
    "openai name in a pointer": (vendor_rules.OPENAI, closed(**{"a/b~": {}}), "/properties/a~1b~0", "type_missing"),
    "openai characters": (vendor_rules.OPENAI, closed(**{"x" * 120_001: TEXT}), "", "max_characters"),
    "openai depth behind a reference": (vendor_rules.OPENAI, defined(ITEM, A=nested(10)), "", "max_nesting"),
    "azure pattern": (
        vendor_rules.AZURE_OPENAI,
        closed(a={**TEXT, "pattern": "x"}),
        "/properties/a",
        "keyword_not_supported",
    ),
    "azure default": (
        vendor_rules.AZURE_OPENAI,
        closed(a={**TEXT, "default": "x"}),
        "/properties/a",
        "keyword_not_supported",
    ),
    "azure properties": (vendor_rules.AZURE_OPENAI, many(101, TEXT), "", "max_properties"),
    "azure depth": (vendor_rules.AZURE_OPENAI, nested(6), "", "max_nesting"),
    "azure dangling reference": (vendor_rules.AZURE_OPENAI, closed(a=ITEM), "/properties/a", "ref_undefined"),
    "azure characters": (vendor_rules.AZURE_OPENAI, closed(**{"x" * 15_001: TEXT}), "", "max_characters"),
    "azure one enum": (vendor_rules.AZURE_OPENAI, chosen(251, 30), "/properties/a", "max_characters_of_one_enum"),
    "anthropic one-of": (
        vendor_rules.ANTHROPIC,
        closed(a={**TEXT, "oneOf": [TEXT]}),
        "/properties/a",
        "keyword_not_supported",
    ),
    "anthropic unknown type": (vendor_rules.ANTHROPIC, closed(a={"type": "text"}), "/properties/a", "type_unknown"),
    "anthropic constant of another type": (
        vendor_rules.ANTHROPIC,
        closed(a={**TEXT, "const": 1}),
        "/properties/a",
        "enum_must_fit_type",
    ),
    "anthropic back reference": (
        vendor_rules.ANTHROPIC,
        closed(a={**TEXT, "pattern": r"(a)\1"}),
        "/properties/a",
        "pattern_not_supported",
    ),
    "anthropic reference in all-of": (
        vendor_rules.ANTHROPIC,
        defined({"allOf": [ITEM]}, A=TEXT),
        "/properties/a/allOf/0",
        "ref_in_all_of",
    ),
    "anthropic enum of objects": (
        vendor_rules.ANTHROPIC,
        closed(a={"enum": [{}]}),
        "/properties/a",
        "enum_of_primitives_only",
    ),
    "anthropic mutual recursion": (
        vendor_rules.ANTHROPIC,
        defined(ITEM, A=closed(b={"$ref": "#/$defs/B"}), B={"type": "array", "items": ITEM}),
        "/$defs/B/items",
        "recursion",
    ),
    "anthropic keyword of another type": (
        vendor_rules.ANTHROPIC,
        closed(a={"type": "integer", "pattern": "x"}),
        "/properties/a",
        "keyword_of_another_type",
    ),
    "google boolean schema": (vendor_rules.GOOGLE, {"items": True}, "/items", "schema_must_be_an_object"),
    "google unknown type": (vendor_rules.GOOGLE, {"type": "text"}, "", "type_unknown"),
    "google count below zero": (vendor_rules.GOOGLE, {"items": {"minItems": -1}}, "/items", "keyword_malformed"),
    "google described reference": (
        vendor_rules.GOOGLE,
        defined({**ITEM, "description": "x"}, A=TEXT),
        "/properties/a",
        "keyword_beside_ref",
    ),
    "google enum of null": (vendor_rules.GOOGLE, {"enum": ["a", None]}, "", "enum_of_strings_and_numbers_only"),
    "google recursion that may be null": (
        vendor_rules.GOOGLE,
        {"properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "required": ["a"]},
        "/properties/a/anyOf/0",
        "recursion_in_required",
    ),
    "google-openapi boolean schema": (
        vendor_rules.GOOGLE_OPENAPI,
        {"type": "ARRAY", "items": True},
        "/items",
        "schema_must_be_an_object",
    ),
    "google-openapi count as text": (
        vendor_rules.GOOGLE_OPENAPI,
        {"type": "STRING", "maxLength": "9"},
        "",
        "keyword_malformed",
    ),
    "google-openapi two types": (
        vendor_rules.GOOGLE_OPENAPI,
        {"type": ["string", "null"]},
        "",
        "type_must_be_one_name",
    ),
}

SOUND: dict[str, tuple[Any, Any]] = {
    "openai recursion": (vendor_rules.OPENAI, closed(a={"anyOf": [{"$ref": "#"}, {"type": "null"}]})),
    "openai ten levels": (vendor_rules.OPENAI, nested(10)),
    "openai a thousand values": (vendor_rules.OPENAI, chosen(1000)),
    "openai 5000 properties": (vendor_rules.OPENAI, many(5000, TEXT)),
    "openai bounds": (
        vendor_rules.OPENAI,
        closed(a={"type": "array", "items": {"type": "number", "minimum": 0}, "maxItems": 3}),
    ),
    "openai format of a number": (vendor_rules.OPENAI, closed(a={"type": "integer", "format": "int64"})),
    "openai property with a keyword's name": (vendor_rules.OPENAI, closed(oneOf=TEXT, properties=TEXT)),
    "openai whole number as integer": (vendor_rules.OPENAI, closed(a={"type": "integer", "const": 1.0})),
    "azure five levels": (vendor_rules.AZURE_OPENAI, nested(5)),
    "anthropic root array": (vendor_rules.ANTHROPIC, {"type": "array", "items": TEXT, "minItems": 1}),
    "anthropic root union": (vendor_rules.ANTHROPIC, {"anyOf": [closed(a=TEXT), TEXT]}),
    "anthropic 23 optional": (vendor_rules.ANTHROPIC, {**many(23, TEXT), "required": []}),
    "anthropic property with a keyword's name": (
        vendor_rules.ANTHROPIC,
        defined({"type": "array", "items": closed(allOf={"type": "array", "items": ITEM})}, A=TEXT),
    ),
    "anthropic shared definition": (vendor_rules.ANTHROPIC, {**closed(a=ITEM, b=ITEM), "$defs": {"A": TEXT}}),
    "anthropic uri": (vendor_rules.ANTHROPIC, closed(a={**TEXT, "format": "uri", "pattern": r"^https?://\w{1,99}$"})),
    "google root text": (vendor_rules.GOOGLE, TEXT),
    "google map": (vendor_rules.GOOGLE, {"type": "object", "additionalProperties": TEXT}),
    "google tree": (vendor_rules.GOOGLE, {"properties": {"a": {"items": {"$ref": "#"}}}}),
    "google ignored not": (vendor_rules.GOOGLE, {"not": True, "const": 1, "allOf": []}),
    "google-openapi capitals": (
        vendor_rules.GOOGLE_OPENAPI,
        {"type": "ARRAY", "items": {"type": "STRING", "nullable": True}},
    ),
}


@pytest.mark.parametrize(("dialect", "schema", "pointer", "rule"), BROKEN.values(), ids=BROKEN)
def test_what_breaks_one_rule(dialect: Any, schema: object, pointer: str, rule: str) -> None:
    """That rule is reported, at its place, and no other."""
    assert [(each.pointer, each.rule) for each in dialect.find_violations(schema)] == [(pointer, rule)]


@pytest.mark.parametrize(("dialect", "schema"), SOUND.values(), ids=SOUND)
def test_what_is_just_inside(dialect: Any, schema: object) -> None:
    """Nothing is reported."""
    assert dialect.find_violations(schema) == []


def test_what_google_does_not_heed_is_no_breach() -> None:
    """It is reported on its own, keywords and formats, and what lies inside such a keyword is not looked at."""
    schema = {"properties": {"a": {"type": "string", "format": "uri", "not": {"const": 1}}}, "maxProperties": 1}

    assert [(each.pointer, each.rule, each.detail) for each in vendor_rules.GOOGLE_IGNORED.find_violations(schema)] == [
        ("", "keyword_ignored", "maxProperties"),
        ("/properties/a", "keyword_ignored", "not"),
        ("/properties/a", "format_ignored", "uri"),
    ]
