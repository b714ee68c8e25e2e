"""``register_kind``: a host's own kinds, from types and schemas, and what it refuses."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, field_validator
from typing_extensions import TypedDict

from emitter.errors import InputError, Uncompilable
from emitter.host import Acceptor, HostConfig, KindRegistry, Strictness
from emitter.host.registry import STANDARD, register_kind
from emitter.schema import VariantEdition, lint_variants
from tests.host.envelopes import CONTEXT, envelope
from tests.host.kinds.near import often
from tests.host.kinds.shapes import NAME, OBJECT, A, B, Design, Plan, Red, Untagged, model, of, registered

if TYPE_CHECKING:
    from emitter.host.kinds import EnvelopeKind


class Node(BaseModel):
    """A type that refers to itself."""

    name: str
    inside: list[Node] = []


class Point(TypedDict):
    """A typed dict."""

    x: int


@dataclass
class Place:
    """A dataclass."""

    street: str
    number: int | None = None


class Even(BaseModel):
    """A type that knows more than its schema."""

    model_config = ConfigDict(extra="forbid")
    number: int

    @field_validator("number")
    @classmethod
    def _even(cls, number: int) -> int:
        if number == 13:
            raise RuntimeError("a bug in the host's own code, which quotes secret-13")
        if number % 2:
            raise ValueError("odd")
        return number


TYPES: dict[str, tuple[Any, Any, Any]] = {
    "a model": (Design, {"kind": "design", "title": "x"}, {"kind": "plan", "title": "x"}),
    "a literal": (model(Literal["x"]), {"it": "x"}, {"it": "y"}),
    "a literal number": (model(Literal[1]), {"it": 1}, {"it": 2}),
    "a dataclass": (Place, {"street": "x"}, {"street": 1}),
    "a typed dict": (Point, {"x": 1}, {}),
    "an optional": (model(str | None), {"it": None}, {"it": 1}),
    "an optional object": (model(Design | None), {"it": None}, {"it": {"kind": "plan"}}),
    "scalars": (model(str | int), {"it": 1}, {"it": []}),
    "an object or a text": (model(Untagged | str), {"it": {"title": "x"}}, {"it": 1}),
    "itself": (Node, {"name": "a", "inside": [{"name": "b"}]}, {"name": "a", "inside": [{}]}),
    "variants": (
        model(Design | Red),
        {"it": {"kind": "red"}},
        {"it": {"kind": "green"}},
    ),
    "a tagged union": (
        model(Annotated[Design | Plan, Field(discriminator="kind")]),
        {"it": {"kind": "plan", "steps": 1}},
        {"it": {"steps": 1}},
    ),
    "a list of a tagged union": (
        model(list[Annotated[Design | Plan, Field(discriminator="kind")]]),
        {"it": [{"kind": "design", "title": "x"}]},
        {"it": [{"kind": "design", "steps": 1}]},
    ),
    "a tagged union in another": (
        model(Annotated[Annotated[Design | Plan, Field(discriminator="kind")] | Red, Field(discriminator="kind")]),
        {"it": {"kind": "red"}},
        {"it": {"kind": "blue"}},
    ),
    "an optional tagged union": (
        model(Annotated[Design | Plan, Field(discriminator="kind")] | None),
        {"it": None},
        {"it": {"kind": "none"}},
    ),
    "a schema": (of(x={"type": "integer"}), {"x": 1}, {"x": "1"}),
    "a schema with tagged variants": (
        of(
            it={
                "anyOf": [
                    of(kind={"type": "string", "enum": ["a"]}),
                    of(kind={"type": "string", "enum": ["b"]}, n={"type": "integer"}),
                    {"type": "null"},
                ]
            }
        ),
        {"it": {"kind": "b", "n": 1}},
        {"it": {"kind": "a", "n": 1}},
    ),
    "a schema with a property that is called as a keyword": (of(allOf={"const": "x"}), {"allOf": "x"}, {"allOf": 1}),
}


@pytest.mark.parametrize(("model", "good", "bad"), TYPES.values(), ids=TYPES.keys())
def test_a_kind_of_a_type(model: Any, good: Any, bad: Any) -> None:
    """What the type takes is taken, what it refuses is refused, and its schema has no ``oneOf``."""
    kind = registered(model, version=2)

    assert kind.version == 2
    assert kind.find_violations(good) == ()
    assert kind.find_violations(bad) != ()
    assert kind.find_violations([]) != ()
    assert kind.schema["type"] == "object"
    assert '"oneOf"' not in json.dumps(kind.schema)
    assert lint_variants(kind.schema, VariantEdition.V2) == ()


def test_literals_become_enums() -> None:
    """``const`` is no discriminator to OpenWOP, an enum of one text is."""
    kind = registered(model(Annotated[Design | Plan, Field(discriminator="kind")]))

    assert kind.schema["$defs"]["Plan"]["properties"]["kind"]["enum"] == ["plan"]
    assert "kind" in kind.schema["$defs"]["Plan"]["required"]
    assert kind.schema["properties"]["it"]["anyOf"] == [{"$ref": "#/$defs/Design"}, {"$ref": "#/$defs/Plan"}]


def test_a_types_validators_are_asked() -> None:
    """They may know more than the schema; what they say is not repeated, and what they raise refuses."""
    kind = registered(Even)

    assert kind.find_violations({"number": 2}) == ()
    assert [(each.pointer, each.rule) for each in kind.find_violations({"number": 3})] == [("/number", "value_error")]
    raised = kind.find_violations({"number": 13})
    assert [(each.pointer, each.rule) for each in raised] == [("", "validator")]
    assert "secret" not in str(raised)


def test_a_schema_is_kept_as_it_was() -> None:
    """A host may change its dict afterwards; the kind does not change with it."""
    schema = of(x={"type": "integer"})
    kind = registered(schema)
    schema["properties"].clear()
    schema["$id"] = "https://acme.example/x"

    assert kind.find_violations({"x": 1}) == ()
    assert kind.schema["$id"] == f"/schemas/envelopes/{NAME}.schema.json"


SCHEMAS: dict[str, tuple[Any, str]] = {
    "a list at the root": ({"type": "array"}, "must describe an object"),
    "a union at the root": ({"anyOf": [A, B]}, "must describe an object"),
    "an object or null at the root": ({"type": ["object", "null"]}, "must describe an object"),
    "nothing said": ({}, "must describe an object"),
    "a boolean": (True, "must describe an object"),
    "a type that is a list": (list[int], "must describe an object"),
    "a type that is a union": (Design | Plan, "must describe an object"),
    "an older draft": ({**OBJECT, "$schema": "http://json-schema.org/draft-07/schema#"}, "has another dialect"),
    "a reference to elsewhere": (
        of(x={"$ref": "https://acme.example/x.json"}),
        "#/properties/x .* refers to another document",
    ),
    "a reference to a file": (of(x={"$ref": "x.json#/$defs/x"}), "refers to another document"),
    "a reference to the draft itself": (
        of(x={"$ref": "https://json-schema.org/draft/2020-12/schema"}),
        "refers to another document",
    ),
    "a reference to nothing": (of(x={"$ref": "#/$defs/gone"}), "refers to another document"),
    "a reference to a text": (of(x={"$ref": "#/type"}), "refers to another document"),
    "a reference to an anchor": (of(x={"$ref": "#here"}), "refers to another document"),
    "a reference that is a number": (of(x={"$ref": 1}), "refers to another document"),
    "a dynamic reference": (of(x={"$dynamicRef": "#/$defs/x"}), "refers to another document"),
    "an address inside": (of(x={"$id": "https://acme.example/x", "type": "string"}), "refers to another document"),
    "a number that is none": (of(x={"default": float("nan")}), "is not JSON"),
    "an object of Python": (of(x={"default": object()}), "is not JSON"),
    "half a character": (of(x={"description": "\ud800"}), "is not JSON"),
}


@pytest.mark.parametrize(("model", "reported"), SCHEMAS.values(), ids=SCHEMAS.keys())
def test_a_schema_that_will_not_do(model: Any, reported: str) -> None:
    """It is refused before anything is made of it, with the place and the cure."""
    with pytest.raises(InputError, match=reported):
        registered(model)


NO_SCHEMAS: dict[str, Any] = {
    "an unknown type": {**OBJECT, "properties": {"x": {"type": "text"}}},
    "a pattern that is none": of(x={"type": "string", "pattern": "("}),
    "a text": "object",
    "nothing": None,
    "a value": 7,
}


@pytest.mark.parametrize("model", NO_SCHEMAS.values(), ids=NO_SCHEMAS.keys())
def test_what_is_no_schema(model: Any) -> None:
    """The validator has the last word."""
    with pytest.raises(Uncompilable):
        registered(model)


@pytest.mark.parametrize("version", [-1, 1.0, True, "2"], ids=repr)
def test_a_version_that_is_none(version: Any) -> None:
    """It counts from 0."""
    with pytest.raises(InputError, match=r"version of vendor\.acme\.prd\.create must be a whole number"):
        registered(OBJECT, version=version)


KEYWORDS = ("type", "properties", "required", "anyOf", "oneOf", "enum", "const", "items", "$ref", "$defs", "$id", "not")
SAID = st.sampled_from(
    ["object", "string", "#", "#/$defs/x", "#/properties/kind", "kind", ["a"], [["a"]], ["kind"], 1, None]
)


@often
@given(
    st.recursive(
        SAID,
        lambda inner: (
            st.dictionaries(st.sampled_from([*KEYWORDS, "kind", "x"]), inner, max_size=5)
            | st.lists(inner, min_size=1, max_size=3)
        ),
        max_leaves=25,
    )
)
def test_any_json_is_registered_or_refused(said: Any) -> None:
    """Whatever stands where a schema should, the errors are those that are promised."""
    given = {"type": "object", **said} if isinstance(said, dict) else {**OBJECT, "anyOf": said}
    with suppress(InputError, Uncompilable):
        assert registered(given).id == NAME


def test_a_kind_may_have_no_version() -> None:
    """It is then not advertised among the versions."""
    catalogue = register_kind(NAME, OBJECT, None)

    assert catalogue[NAME].version is None
    assert NAME in catalogue.ids
    assert NAME not in catalogue.versions
    assert register_kind(NAME, OBJECT, 0).versions[NAME] == 0


def test_a_kind_is_registered_once() -> None:
    """A second one of the same name would leave open which is meant."""
    once = register_kind(NAME, OBJECT)

    with pytest.raises(InputError, match=f"already has a kind {NAME}"):
        register_kind(NAME, OBJECT, 2, registry=once)
    assert NAME not in STANDARD


# reasoning

NULLABLE: dict[str, Any] = {"type": ["string", "null"]}
TEXT: dict[str, Any] = {"type": "string", "minLength": 1}


def reasoned(reasoning: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    """Return the schema of a note with a `reasoning`."""
    properties = {"reasoning": reasoning, "text": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": ["text", *required], **more}


class Reasoned(BaseModel):
    """A type that wants a reasoning."""

    reasoning: str
    text: str


PART = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "allOf": [{"properties": {"reasoning": NULLABLE}, "required": ["reasoning"]}],
    "required": ["text"],
}
REASONED: dict[str, Any] = {
    "union with null, required": reasoned(NULLABLE, "reasoning"),
    "union with null, closed": reasoned(NULLABLE, "reasoning", additionalProperties=False),
    "a text that is required": reasoned({"type": "string"}, "reasoning", additionalProperties=False),
    "a text of some length": reasoned(TEXT, "reasoning"),
    "a text that is optional": reasoned({"type": "string"}, additionalProperties=False),
    "in a part of the schema": PART,
    "a type of pydantic's": Reasoned,
}


@pytest.mark.parametrize("posture", ["warn", "strict"])
@pytest.mark.parametrize("schema", REASONED.values(), ids=REASONED)
@pytest.mark.parametrize("said", [{}, {"reasoning": None}, {"reasoning": "Because."}], ids=["absent", "null", "said"])
def test_no_payload_is_refused_for_want_of_reasoning(said: dict[str, Any], schema: Any, posture: str) -> None:
    """Absent and null are the same, whatever the kind's schema says of it and however strict the host is."""
    kind = register_kind("vendor.acme.reasoned", schema)["vendor.acme.reasoned"]
    rules = HostConfig(KindRegistry([kind]), strictness=Strictness(posture))
    given = envelope(kind.id, payload={"text": "x", **said}, schemaVersion=1)

    assert Acceptor(rules).accept(given, CONTEXT).status == "accepted"


@pytest.mark.parametrize("schema", REASONED.values(), ids=REASONED)
def test_what_else_is_wrong_is_reported_without_the_reasoning(schema: Any) -> None:
    """A payload that does not hold is refused for that alone; a reasoning that is there must be a text."""
    kind = register_kind("vendor.acme.reasoned", schema)["vendor.acme.reasoned"]

    assert {each.pointer for each in kind.find_violations({"text": 7})} == {"/text"}
    assert {each.pointer for each in kind.find_violations({"text": "x", "reasoning": 7})} == {"/reasoning"}


@pytest.mark.parametrize("kind", [each for each in STANDARD.values() if "reasoning" in each.schema["properties"]])
def test_null_is_no_reasoning_in_the_kinds_that_come_with_the_library(kind: EnvelopeKind) -> None:
    """The universal kinds and our own read null as absent."""
    wrong = {"reasoning": None, "nothing_else": 1}

    assert "/reasoning" not in {each.pointer for each in kind.find_violations(wrong)}


def test_a_kind_without_reasoning_takes_none() -> None:
    """Null is absence where the schema permits the property; an acknowledgement has no such property."""
    assert STANDARD["schema.response"].find_violations({"envelopeType": "error", "ack": True, "reasoning": None})
