"""Test the words of a correction: one sentence for each keyword, with an example, written from the schema alone."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from emitter.findings import SCHEMA_KEYWORDS
from emitter.schema import compile_schema
from emitter.schema.formats import CHECKED_FORMATS, FORMAT_CHECKS, FORMAT_DESCRIPTIONS
from emitter.schema.phrases import CORRECTIONS, generate_text
from emitter.schema.validator import Validator

SAID = "SECRETWORD"
PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["age"]}
CLOSED = {**PERSON, "additionalProperties": False}
ROWS: dict[str, tuple[Any, Any, str]] = {
    "integer": ({"type": "integer"}, SAID, "a whole number, such as 7"),
    "integer in a range": (
        {"type": "integer", "minimum": 20, "maximum": 30},
        SAID,
        "a whole number from 20 to 30",
    ),
    "number": ({"type": "number"}, SAID, "a number, such as 1.5"),
    "text": ({"type": "string"}, 5, "a text"),
    "boolean": ({"type": "boolean"}, SAID, "true or false"),
    "list": ({"type": "array", "maxItems": 3}, SAID, "a list of at most 3 items"),
    "object": (PERSON, SAID, 'an object with "name", "age"'),
    "two types": ({"type": ["number", "null"]}, SAID, "null, or a number, such as 1.5"),
    "a date": ({"type": "string", "format": "date"}, SAID, "a date such as 2027-01-31"),
    "a date with an example": (
        {"type": "string", "format": "date", "examples": ["2020-02-29"]},
        SAID,
        'a date such as 2027-01-31, for example "2020-02-29"',
    ),
    "minimum": ({"type": "integer", "minimum": 3}, 1, "a whole number of at least 3, such as 7"),
    "maximum": ({"type": "number", "maximum": 0.5}, 1, "a number of at most 0.5, such as 0"),
    "both": ({"type": "integer", "minimum": 0, "maximum": 23}, 99, "a whole number from 0 to 23, such as 7"),
    "above": ({"type": "number", "exclusiveMinimum": 7}, 7, "a number greater than 7, such as 8"),
    "below": ({"type": "integer", "exclusiveMaximum": -5}, 7, "a whole number less than -5, such as -6"),
    "multiple": ({"type": "integer", "multipleOf": 5}, 7, "a whole number that is a multiple of 5, such as 0"),
    "default": ({"type": "integer", "minimum": 3, "default": 12}, 1, "a whole number of at least 3, such as 12"),
    "shortest": ({"type": "string", "minLength": 20}, SAID, "a text of at least 20 characters"),
    "longest": ({"type": "string", "maxLength": 1}, SAID, "a text of at most 1 character"),
    "pattern": (
        {"type": "string", "pattern": r"^[A-Z]{2}-\d{4}$"},
        SAID,
        r'a text that matches the pattern ^[A-Z]{2}-\d{4}$, such as "AA-1111"',
    ),
    "a pattern without example": ({"pattern": "^(a|b)$"}, SAID, "a text that matches the pattern ^(a|b)$"),
    "fewest": ({"type": "array", "minItems": 2, "maxItems": 4}, [], "a list of 2 to 4 items"),
    "exactly": ({"type": "array", "minItems": 2, "maxItems": 2}, [], "a list of exactly 2 items"),
    "most": ({"type": "array", "maxItems": 1}, [1, 2], "a list of at most 1 item"),
    "unique": ({"type": "array", "uniqueItems": True}, [SAID, SAID], "a list in which no item stands twice"),
    "contains": ({"contains": {"type": "integer"}}, [SAID], "a list with at least 1 item that is a whole number"),
    "no more items": ({"prefixItems": [{}], "unevaluatedItems": False}, [1, SAID], "no further items in the list"),
    "enum": ({"enum": ["red", "blue", None]}, SAID, 'one of "red", "blue", null'),
    "const": ({"const": "cat"}, SAID, 'exactly "cat"'),
    "required": (PERSON, {}, 'the property "age", which is a whole number, such as 7'),
    "required and described nowhere": ({"required": ["age"]}, {}, 'the property "age"'),
    "required by another": ({"dependentRequired": {"a": ["b"]}}, {"a": SAID}, 'the property "b"'),
    "no other name": (CLOSED, {"age": 1, SAID: 1}, 'only the properties "name", "age", and no others'),
    "unevaluated": (
        {**PERSON, "unevaluatedProperties": False},
        {"age": 1, SAID: 1},
        'only the properties "name", "age", and no others',
    ),
    "few properties": ({"type": "object", "minProperties": 2}, {}, "an object of at least 2 properties"),
    "many properties": ({"type": "object", "maxProperties": 1}, {"a": 1, "b": 1}, "an object of at most 1 property"),
    "names": (
        {"propertyNames": {"maxLength": 3}},
        {SAID: 1},
        "an object in which each name is a text of at most 3 characters",
    ),
    "no value": ({"properties": {"a": False}}, {"a": SAID}, "nothing at this place: leave it out"),
    "not": ({"not": {"type": "string"}}, SAID, "another value; not a text"),
    "both branches": (
        {"oneOf": [{"type": "integer"}, {"type": "number"}]},
        1,
        "exactly one of these: a whole number, or a number",
    ),
    "behind a reference": (
        {"$ref": "#/$defs/Day", "$defs": {"Day": {"type": "string", "format": "date"}}},
        SAID,
        "a date such as 2027-01-31",
    ),
}


@pytest.mark.parametrize(("schema", "value", "expected"), ROWS.values(), ids=ROWS.keys())
def test_each_keyword_has_a_sentence(schema: dict[str, Any], value: Any, expected: str) -> None:
    """The words are those of the schema, with an example that it accepts. The keyword is not among them."""
    (violation,) = Validator(schema)(value)

    assert violation.expected == expected
    assert str(violation) == f"{violation.pointer or '/'}: {expected}"
    assert SAID not in str(violation)


def test_every_keyword_of_the_validator_has_words() -> None:
    """A new keyword of the validator, or a keyword without a sentence, is named here."""
    kinds = {name[0].lower() + name[1:] for name in dir(jsonschema_rs.ValidationErrorKind) if name[0].isupper()}
    renamed = {"constant": "const", "oneOfMultipleValid": "oneOf", "oneOfNotValid": "oneOf"}
    errors = {"backtrackLimitExceeded", "custom", "fromUtf8", "referencing", "regexEngineFailure"}

    assert {renamed.get(kind, kind) for kind in kinds} - errors == CORRECTIONS.keys()
    assert SCHEMA_KEYWORDS - {"json", "keys"} == CORRECTIONS.keys()


def test_every_checked_format_has_an_example_or_a_description() -> None:
    """A correction never consists of the name of a format."""
    assert all(FORMAT_DESCRIPTIONS.get(name) for name in CHECKED_FORMATS)


@pytest.mark.parametrize("name", sorted(CHECKED_FORMATS - FORMAT_CHECKS.keys()))
def test_the_example_of_a_format_is_valid(name: str) -> None:
    """The example is one that the validator accepts, but for a UTC offset, which only the caller's text can state."""
    words = FORMAT_DESCRIPTIONS[name].removesuffix(".")
    if name in ("date-time", "time", "duration"):
        return
    example = words.rpartition(" such as ")[2]

    assert not Validator({"format": name})(example)


@pytest.mark.parametrize("length", [1, 100, 10_000])
def test_the_size_of_a_correction_is_constant(length: int) -> None:
    """Neither long values and names of a schema nor many of them make a correction long."""
    names = [f"{'n' * 40}{number}" for number in range(length)]
    schemas: list[Any] = [
        {"enum": names},
        {"const": "x" * length},
        {"type": "string", "pattern": f"^{'a' * length}$"},
        {"anyOf": [{"const": name} for name in names[:200]]},
        {"oneOf": [{"type": "integer", "minimum": number} for number in range(min(length, 200))]},
        {"type": "object", "properties": dict.fromkeys(names, True), "additionalProperties": False},
    ]
    for schema, value in zip(schemas, [SAID, SAID, SAID, SAID, 10**9, {SAID: 1}], strict=True):
        assert all(len(str(violation)) < 1200 for violation in Validator(schema)(value))


@pytest.mark.parametrize("pattern", [r"^\d{3}$", "^[a-f0-9]{8}$", "^K[79]$", r"\w+@\w+", "^v[0-9]+", r"^\+[0-9]{5,9}$"])
def test_an_example_is_generated_for_a_simple_pattern(pattern: str) -> None:
    """The generated text matches."""
    text = generate_text(pattern)

    assert text
    assert not Validator({"pattern": pattern})(text)


def test_no_keys_are_invented_after_repeated_ones() -> None:
    """The correction says what to leave out."""
    compiled = compile_schema({"type": "object", "additionalProperties": {"type": "integer"}}, "openai")
    entries = [{"key": "a", "value": 1}, {"key": "a", "value": 2}]
    (violation,) = compiled.validate(compiled.decode({"value": entries}))

    assert "leave out the others, and make up no new keys" in str(violation)
