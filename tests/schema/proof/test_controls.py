"""The laws see what is wrong: compilers that err in one way each, made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emitter.errors import Unencodable
from emitter.schema import Compiled, Loss, Validator, Violation
from tests.schema.proof.corpora import Case
from tests.schema.proof.laws import Subject, hold
from tests.schema.proof.request import words
from tests.schema.proof.verdict import LAWS, Report
from tests.testing.schema_rules.shapes import TEXT, closed

COUNTS = {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}
CASE = Case("counts", COUNTS, valid=[{"a": 1, "b": 2}, {}], invalid=[{"a": -1}, [], {"a": 0.5}])


def entries(number: dict[str, Any]) -> dict[str, Any]:
    """Return the wire schema of the map: its entries in an array."""
    return closed(entries={"type": "array", "items": closed(key=TEXT, value=number)})


def encode(instance: Any) -> Any:
    """Write a map as its entries."""
    return {"entries": [{"key": key, "value": each} for key, each in instance.items()]}


def decode(wire: Any) -> Any:
    """Read a map from its entries."""
    return {each["key"]: each["value"] for each in wire["entries"]}


def forgetful(instance: Any) -> Any:
    """Encode, and empty what was handed over."""
    wire = encode(instance)
    instance.clear()
    return wire


def refuse(_instance: Any) -> Any:
    """Refuse every instance."""
    raise Unencodable("", "no place for it")


def stumble(_value: Any) -> Any:
    """Fail as code fails."""
    raise KeyError("x")


RIGHT = Compiled(
    schema=entries({"type": "integer"}),
    losses=(Loss("/additionalProperties", "minimum", "0"),),
    encode=encode,
    decode=decode,
    validate=Validator(COUNTS),
    original=COUNTS,
)
VIOLATION = Violation("", "minimum", "0")

WRONG: dict[str, tuple[Compiled, set[str]]] = {
    "decode drops a member": (replace(RIGHT, decode=lambda wire: dict(list(decode(wire).items())[1:])), {"faithful"}),
    "decode is the identity": (replace(RIGHT, decode=lambda wire: wire), {"sound", "faithful"}),
    "decode fails": (replace(RIGHT, decode=stumble), {"total", "faithful"}),
    "encode is the identity": (replace(RIGHT, encode=lambda instance: instance), {"faithful", "total"}),
    "encode refuses an instance": (replace(RIGHT, encode=refuse), {"faithful"}),
    "encode fails": (replace(RIGHT, encode=stumble), {"total"}),
    "encode changes its argument": (replace(RIGHT, encode=forgetful), {"faithful"}),
    "a bound is forgotten": (replace(RIGHT, losses=()), {"sound"}),
    "another bound is told": (replace(RIGHT, losses=(Loss("", "maximum", "0"),)), {"sound"}),
    "the wire narrows": (replace(RIGHT, schema=entries({"type": "integer", "enum": [0]})), {"faithful"}),
    "the wire widens": (replace(RIGHT, schema=entries({"type": "string"})), {"sound", "faithful"}),
    "the wire is open": (replace(RIGHT, schema={**RIGHT.schema, "additionalProperties": True}), {"accepted"}),
    "the wire says what no decoder reads": (
        replace(RIGHT, schema={**RIGHT.schema, "dependentRequired": {}}),
        {"accepted", "decodable"},
    ),
    "the wire is no schema": (
        replace(RIGHT, schema=entries({"type": "integer", "minimum": "0"})),
        {"accepted", "decodable"},
    ),
    "validate finds nothing": (replace(RIGHT, validate=lambda _: ()), {"checked"}),
    "validate finds something": (replace(RIGHT, validate=lambda _: (VIOLATION,)), {"checked"}),
    "validate fails": (replace(RIGHT, validate=stumble), {"total"}),
}


def report_of(compiled: Compiled, case: Case = CASE) -> Report:
    """Try the laws on what a compiler returned."""
    report = Report(case.name, "openai")
    hold(report, Subject(case), compiled, samples=40)
    return report


def test_what_is_right_is_green() -> None:
    """A sound lens breaks no law, and what excuses it is counted."""
    report = report_of(RIGHT)

    assert report.failures == []
    assert report.counts["drawn"] == 40
    assert report.counts["faithful"] == report.counts["instances"] > 2
    assert report.counts["excused by keyword"] == report.counts["excused by decoder"] == 0


@pytest.mark.parametrize(("compiled", "laws"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_red(compiled: Compiled, laws: set[str]) -> None:
    """Each error turns its own laws red, and no other."""
    report = report_of(compiled)

    assert {law for law in LAWS if report.red(law)} == laws


def test_what_is_not_sent_as_a_strict_schema_is_no_vendors_business() -> None:
    """Without enforcement the rules of the vendor and of the decoder are not asked."""
    identity: Any = lambda value: value  # noqa: E731  the plainest lens there is
    report = report_of(replace(RIGHT, schema=COUNTS, losses=(), encode=identity, decode=identity, enforced=False))

    assert report.failures == []
    assert report.counts["drawn"] == 0


UNION = {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "boolean"}]}
"""What a closed object holds in the following tests."""


@pytest.mark.parametrize(
    ("loss", "sound", "excuse"),
    [
        (Loss("/properties/a/anyOf/0", "minimum", "5"), False, ""),
        (Loss("/properties/a", "anyOf", ""), True, "place"),
        (Loss("/elsewhere", "anyOf", ""), True, "keyword"),
    ],
    ids=["the branch", "the union", "a union elsewhere"],
)
def test_a_union_is_excused_by_itself(loss: Loss, sound: bool, excuse: str) -> None:
    """A branch that is not enforced in full does not excuse the union that it stands in."""
    schema = closed(a=UNION)
    wire = closed(a={"anyOf": [{"type": "integer"}, {"type": "boolean"}]})
    identity: Any = lambda value: value  # noqa: E731  see above
    report = report_of(Compiled(wire, (loss,), identity, identity, Validator(schema), schema), Case("union", schema))

    assert report.red("sound") is not sound
    assert report.counts[f"excused by {excuse}"] > 0 or not sound


def test_places_are_known_across_references() -> None:
    """A loss at the definition excuses what is reached through a reference."""
    schema = {"$defs": {"n": {"type": "integer", "maximum": -1}}, **closed(a={"$ref": "#/$defs/n"})}
    identity: Any = lambda value: value  # noqa: E731  see above
    losses = (Loss("/$defs/n", "maximum", "-1"),)
    wire = closed(a={"type": "integer"})
    report = report_of(Compiled(wire, losses, identity, identity, Validator(schema), schema), Case("reference", schema))

    assert not report.red("sound")
    assert report.counts["excused by place"] > 0
    assert report.counts["excused by keyword"] == 0


def narrowed(**more: Any) -> dict[str, Any]:
    """Return a closed object that another schema extends, which no document can do."""
    return {"allOf": [closed(a=TEXT), {"properties": {"b": {"properties": {"c": TEXT}}}, "required": ["a"]}], **more}


SPOKEN_OF: dict[str, tuple[Any, set[str]]] = {
    "extended": (narrowed(), {"a"}),
    "extended by a reference": (
        {"allOf": [{"$ref": "#/$defs/d"}, {"properties": {"b": TEXT}}], "$defs": {"d": closed(a=TEXT)}},
        {"a"},
    ),
    "closed beside": ({"allOf": [{"properties": {"b": TEXT}}], **closed(a=TEXT)}, {"a"}),
    "in a branch": ({**closed(a=TEXT), "anyOf": [{"properties": {"b": TEXT}}, {"required": ["a", "c"]}]}, {"a"}),
    "inside a property": (closed(a={"properties": {"b": TEXT}}), {"a", "b"}),
    "reached in another way": (
        {**closed(a=narrowed(), b={"$ref": "#/properties/a/allOf/1"})},
        {"a", "b", "c"},
    ),
    "one of two branches": ({"anyOf": [closed(a=TEXT), {"properties": {"b": TEXT}}]}, {"a", "b"}),
    "by a pattern": (
        {"allOf": [{**closed(a=TEXT), "patternProperties": {"b": TEXT}}, narrowed()["allOf"][1]]},
        set("abc"),
    ),
}


@pytest.mark.parametrize(("schema", "spoken"), SPOKEN_OF.values(), ids=SPOKEN_OF)
def test_names_that_no_document_has_need_not_be_reported(schema: Any, spoken: set[str]) -> None:
    """A closed object closes whatever holds of the same value; the same schema elsewhere is reported."""
    assert set(words(schema)) == spoken
