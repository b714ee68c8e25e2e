"""How long an answer can be, read off its schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from emitter.budget import (
    answer_tokens_needed,
    estimate_answer_length,
    estimate_compiled_answer,
    estimate_max_tokens,
    measure_schema,
)
from emitter.models import binding_moment
from emitter.schema import compile_schema

YES_NO = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
TEXT = {"type": "string"}
CODE = {"type": "string", "maxLength": 10}


def obj(**properties: object) -> dict[str, Any]:
    """Return a closed object schema."""
    return {"type": "object", "properties": properties, "additionalProperties": False}


def tree() -> dict[str, Any]:
    """Return a schema that refers back to itself."""
    node = obj(name=CODE, children={"type": "array", "maxItems": 3, "items": {"$ref": "#/$defs/node"}})
    return {"$ref": "#/$defs/node", "$defs": {"node": node}}


def nested(depth: int) -> dict[str, Any]:
    """Return a schema of that many lists in lists."""
    schema: dict[str, Any] = {"type": "boolean"}
    for _ in range(depth):
        schema = {"type": "array", "maxItems": 2, "items": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        pytest.param(YES_NO, {"ok": False}, id="yes or no"),
        pytest.param({"const": "all of this text, word for word"}, "all of this text, word for word", id="const"),
        pytest.param({"enum": ["a", "the longest of the values", 7, None]}, "the longest of the values", id="enum"),
        pytest.param({"enum": [f"value-{i:05}" for i in range(900)]}, "value-00899", id="long enum"),
        pytest.param(obj(a=CODE, b=CODE), {"a": "x1y2z3w4v5", "b": "人工智能人工智能人工"}, id="bounded strings"),
        pytest.param({"type": "array", "maxItems": 4, "items": CODE}, ["a-b-c-d-e-"] * 4, id="bounded list"),
        pytest.param(
            {"type": "array", "prefixItems": [CODE, YES_NO], "items": False}, ["0123456789", {"ok": True}], id="tuple"
        ),
        pytest.param({"type": "integer", "minimum": 0, "maximum": 10**12}, 10**12, id="bounded integer"),
        pytest.param({"type": "number"}, -1.2345678901234567e-300, id="number"),
        pytest.param({"type": ["string", "null"], "maxLength": 3}, "a-b", id="nullable"),
        pytest.param({"anyOf": [YES_NO, obj(why=CODE)]}, {"why": "x-y-z-x-y-"}, id="union"),
        pytest.param({"allOf": [obj(a=CODE), obj(b=CODE)]}, {"a": "1-2-3-4-5-", "b": "6-7-8-9-0-"}, id="all of"),
        pytest.param(
            {**obj(a=CODE), "anyOf": [{"required": ["a"]}]}, {"a": "1-2-3-4-5-"}, id="branch that only requires"
        ),
        pytest.param({"type": "string", "format": "uuid"}, "6a2f41a3-c54c-fce8-32d2-0324e1c32e22", id="uuid"),
        pytest.param({"$ref": "#/$defs/a", "$defs": {"a": YES_NO}}, {"ok": False}, id="reference"),
        pytest.param({"type": "null"}, None, id="null"),
    ],
)
def test_no_bounded_answer_is_longer_than_the_worst(schema: dict[str, Any], document: object) -> None:
    """The longest document, written with indentation, fits what its schema is said to take."""
    span = estimate_answer_length(schema)
    assert span.maximum is not None
    assert span.typical <= span.maximum
    assert estimate_max_tokens(json.dumps(document, ensure_ascii=False)) <= span.maximum + 4


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({}, id="anything"),
        pytest.param(True, id="true"),
        pytest.param(None, id="no schema"),
        pytest.param(TEXT, id="free text"),
        pytest.param(obj(ok={"type": "boolean"}, why=TEXT), id="object with free text"),
        pytest.param({"type": "array", "items": YES_NO}, id="endless list"),
        pytest.param({"type": "object", "additionalProperties": {"type": "boolean"}}, id="map"),
        pytest.param({"anyOf": [YES_NO, TEXT]}, id="union with free text"),
        pytest.param(tree(), id="recursion"),
        pytest.param({"$ref": "#"}, id="itself"),
        pytest.param({"$ref": "#/nowhere"}, id="broken reference"),
        pytest.param({"$ref": "https://example.org/other"}, id="reference elsewhere"),
        pytest.param(nested(1000), id="a thousand lists deep"),
    ],
)
def test_what_the_schema_does_not_bound_has_no_worst(schema: object) -> None:
    """Free text, endless lists, maps, recursion and what cannot be followed are unbounded, yet have a typical."""
    span = estimate_answer_length(schema)
    assert span.maximum is None
    assert 0 <= span.typical <= span.longest_known


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"enum": []}, id="empty enum"),
        pytest.param(False, id="false"),
        pytest.param({"enum": ["x" * 10] * 200_000}, id="enormous enum"),
        pytest.param({"type": "string", "maxLength": 10**400}, id="enormous bound"),
        pytest.param({"type": "integer", "minimum": -(10**5000), "maximum": 10**5000}, id="enormous integers"),
        pytest.param({"type": "string", "maxLength": float("inf")}, id="infinite bound"),
        pytest.param({"type": "array", "maxItems": -3, "minItems": -9, "items": TEXT}, id="negative bound"),
        pytest.param({"type": "string", "maxLength": "10", "enum": "ab"}, id="words of the wrong type"),
        pytest.param({"properties": [], "items": 3, "anyOf": {}, "type": {"a": 1}}, id="nothing is what it should be"),
        pytest.param({"type": "banana"}, id="no such type"),
        pytest.param({"const": nested(100_000)}, id="a constant too deep to write"),
    ],
)
def test_a_hostile_schema_is_measured_all_the_same(schema: object) -> None:
    """What no vendor would take breaks nothing here."""
    span = estimate_answer_length(schema)
    assert 0 <= span.typical <= span.longest_known


def test_references_that_multiply_are_followed_once_each() -> None:
    """Thirty definitions, each twice the next, are no 2^30 steps."""
    defs = {f"d{i}": obj(a={"$ref": f"#/$defs/d{i + 1}"}, b={"$ref": f"#/$defs/d{i + 1}"}) for i in range(30)}
    span = estimate_answer_length({"$ref": "#/$defs/d0", "$defs": {**defs, "d30": {"type": "boolean"}}})
    assert span.maximum is not None
    assert span.maximum > 2**30


SCHEMAS = st.recursive(
    st.sampled_from([TEXT, CODE, {"type": "boolean"}, {"type": "number"}, {"enum": ["a", "bcd"]}, {"type": "null"}]),
    lambda inner: st.one_of(
        st.dictionaries(st.text("abc", min_size=1, max_size=4), inner, max_size=3).map(lambda members: obj(**members)),
        st.tuples(inner, st.integers(0, 9)).map(lambda each: {"type": "array", "items": each[0], "maxItems": each[1]}),
        inner.map(lambda each: {"type": "array", "items": each}),
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches}),
    ),
    max_leaves=12,
)


@given(SCHEMAS, SCHEMAS)
def test_more_to_write_never_takes_less(one: dict[str, Any], other: dict[str, Any]) -> None:
    """A further property, branch or item makes no answer shorter, and no budget smaller."""
    alone = estimate_answer_length(obj(a=one))
    for larger in (obj(a=one, b=other), obj(a={"anyOf": [one, other]}), obj(a=obj(c=one))):
        span = estimate_answer_length(larger)
        assert alone.typical <= span.typical
        assert alone.longest_known <= span.longest_known
        assert answer_tokens_needed(alone) <= answer_tokens_needed(span)


@given(SCHEMAS)
def test_a_typical_answer_is_never_longer_than_the_worst(schema: dict[str, Any]) -> None:
    """The budget that is set aside never lies below a typical answer."""
    span = estimate_answer_length(schema)
    assert span.typical <= span.longest_known <= answer_tokens_needed(span)


class Label(BaseModel):
    """A type whose bounds OpenAI does not enforce."""

    text: str = Field(max_length=200)
    ok: bool


@pytest.mark.parametrize("name", ["openai", "anthropic", "google", "plain"])
def test_a_bound_counts_though_the_vendor_does_not_enforce_it(name: str) -> None:
    """An answer beyond a bound would be sent back, so no room is kept for it."""
    worst = estimate_compiled_answer(compile_schema(Label, name)).maximum
    assert worst is not None
    assert 400 <= worst <= 500


def test_a_binding_moment_is_unbounded_and_of_a_length_that_was_seen() -> None:
    """The turn's real answers, of 620 tokens and so, are what its schema is said to take typically."""
    span = measure_schema(compile_schema(binding_moment.TURN_SCHEMA, "openai")).answer
    assert span.maximum is None
    assert 600 <= span.typical <= 4000


def test_a_compiled_schema_is_measured_once() -> None:
    """The second look returns the first one's object."""
    compiled = compile_schema(YES_NO, "openai")
    assert measure_schema(compiled) is measure_schema(compiled)


def test_many_schemas_are_not_kept_for_ever() -> None:
    """More schemas than are kept are measured right all the same."""
    for width in range(1, 300):
        compiled = compile_schema(obj(code={"type": "string", "maxLength": width}), "google")
        assert measure_schema(compiled).answer == estimate_compiled_answer(compiled)
