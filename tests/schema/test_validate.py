"""What a validator says of a union: the branch that was meant, or all tags where none was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.schema.formats import OFFSET_HINT
from emitter.schema.validator import Validator
from tests.schema.compile.forms import array

TAGS = ("circle", "square", "line")
SAID = "SECRETWORD"


def branch(*tags: str, **properties: Any) -> dict[str, Any]:
    """Return an object that is told apart by ``kind``."""
    kind = {"const": tags[0]} if len(tags) == 1 else {"enum": list(tags)}
    return {"type": "object", "properties": {"kind": kind, **properties}, "required": ["kind", *properties]}


CIRCLE, SQUARE, LINE = (branch(tag, size={"type": "integer"}) for tag in TAGS)
PAIR: list[dict[str, Any]] = [CIRCLE, SQUARE]
UNTAGGED = [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"type": "string"}]

DATE = {"type": "string", "format": "date"}
COLOURED = branch("circle", colour={"enum": ["red", "blue"]})


def fields(**properties: Any) -> dict[str, Any]:
    """Return a closed object with these properties, all required."""
    return {**opened(**properties), "additionalProperties": False}


def opened(**properties: Any) -> dict[str, Any]:
    """Return an object with these properties, all required, among others."""
    return {"type": "object", "properties": properties, "required": list(properties)}


TOLD: dict[str, Any] = {
    "an unknown tag": (
        {"anyOf": [CIRCLE, SQUARE, LINE]},
        {"kind": SAID, "size": 1},
        ['/kind: one of "circle", "square", "line"'],
    ),
    "an unknown tag, of oneOf": (
        {"oneOf": PAIR},
        {"kind": SAID, "size": SAID},
        ['/kind: one of "circle", "square"'],
    ),
    "a branch of several tags": (
        {"anyOf": [branch("circle", "disc"), SQUARE]},
        {"kind": SAID},
        ['/kind: one of "circle", "disc", "square"'],
    ),
    "a tag of another type": ({"anyOf": PAIR}, {"kind": 7, "size": 1}, ['/kind: one of "circle", "square"']),
    "beside null": ({"anyOf": [*PAIR, {"type": "null"}]}, {"kind": SAID}, ['/kind: one of "circle", "square"']),
    "further in": (
        {"type": "array", "items": {"anyOf": PAIR}},
        [{"kind": "circle", "size": 1}, {"kind": SAID, "size": 1}],
        ['/1/kind: one of "circle", "square"'],
    ),
    "a union in a branch": (
        {"anyOf": [branch("circle", of={"anyOf": [SQUARE, LINE]}), {"type": "null"}]},
        {"kind": "circle", "of": {"kind": SAID, "size": 1}},
        ['/of/kind: one of "square", "line"'],
    ),
    "a known tag": (
        {"anyOf": PAIR},
        {"kind": "square"},
        ['/: the property "size", which is a whole number, such as 7'],
    ),
    "a known tag, and a wrong type": pytest.param(
        {"anyOf": PAIR},
        {"kind": "square", "size": SAID},
        ["/size: a whole number, such as 7"],
    ),
    "one branch alone": ({"anyOf": [CIRCLE, {"type": "null"}]}, {"kind": SAID, "size": 1}, ['/kind: exactly "circle"']),
    "no tag": ({"anyOf": PAIR}, {"size": 1}, ['/: the property "kind", which is exactly "circle"']),
    "a known tag, and another enum": (
        {"anyOf": [{"properties": {"kind": {"const": "square"}}, "required": ["kind"]}, COLOURED]},
        {"kind": "circle", "colour": SAID},
        ['/colour: one of "red", "blue"'],
    ),
    "a known tag, and a branch with fewer errors": (
        {"anyOf": [branch("circle", a=DATE, b=DATE, c=DATE), branch("square")]},
        {"kind": "circle", "a": SAID, "b": SAID, "c": "2027-01-31"},
        ["/a: a date such as 2027-01-31", "/b: a date such as 2027-01-31"],
    ),
    "tags of several values": (
        {"oneOf": [branch("circle", "disc"), branch("square", "box", size=DATE)]},
        {"kind": "box", "sise": 1},
        ['/: the property "size", which is a date such as 2027-01-31'],
    ),
    "tags behind references": (
        {
            "anyOf": [{"$ref": "#/$defs/C"}, {"allOf": [{"$ref": "#/$defs/S"}, {"properties": {"day": DATE}}]}],
            "$defs": {"C": CIRCLE, "S": SQUARE},
        },
        {"kind": "square", "size": 1, "day": SAID},
        ["/day: a date such as 2027-01-31"],
    ),
    **{
        f"a format, {name}": (
            {"anyOf": branches},
            value,
            reported,
        )
        for day in ({"due": DATE},)
        for other in ({"paid": {"type": "boolean"}},)
        for name, branches, value, reported in (
            ("first", [fields(**day), fields(**other)], {"due": SAID}, ["/due: a date such as 2027-01-31"]),
            ("last", [fields(**other), fields(**day)], {"due": SAID}, ["/due: a date such as 2027-01-31"]),
            ("of open objects", [opened(**other), opened(**day)], {"due": SAID}, ["/due: a date such as 2027-01-31"]),
            (
                "beside a length",
                [fields(**other), fields(**day, code={"type": "string", "maxLength": 1})],
                {"due": SAID, "code": SAID},
                ["/code: a text of at most 1 character", "/due: a date such as 2027-01-31"],
            ),
            ("of a text", [{"type": "integer"}, DATE], SAID, ["/: a date such as 2027-01-31"]),
            (
                "in a list",
                [fields(**other), array(DATE)],
                [SAID, SAID, SAID],
                [f"/{i}: a date such as 2027-01-31" for i in range(3)],
            ),
        )
    },
    "a type against names": (
        {"anyOf": [opened(note={"type": "string"}), opened(amount={"type": "integer"})]},
        {"amount": SAID},
        ["/amount: a whole number, such as 7"],
    ),
    "a date-time without offset": (
        {"anyOf": [{"type": "null"}, opened(at={"type": "string", "format": "date-time"})]},
        {"at": "2027-01-31T09:00:00"},
        [f'/at: a date and time like "2026-01-31T09:30:00" {OFFSET_HINT}'],
    ),
    "no tags in the schema": ({"anyOf": UNTAGGED}, {"a": SAID}, ["/a: a whole number, such as 7"]),
}


@pytest.mark.parametrize(("schema", "value", "reported"), TOLD.values(), ids=TOLD.keys())
def test_what_was_meant_is_reported(schema: dict[str, Any], value: Any, reported: list[str]) -> None:
    """An unknown tag with all that there are, once; a known one with what is wrong in its branch."""
    assert [str(each) for each in Validator(schema)(value)] == reported


@given(st.sampled_from(TAGS) | st.text(max_size=9).filter(lambda each: each not in TAGS), st.integers() | st.text())
def test_a_tag_is_reported_only_where_it_is_wrong(kind: str, size: Any) -> None:
    """Whatever the tag is, the answer's words are not in what is reported."""
    found = Validator({"anyOf": [CIRCLE, SQUARE, LINE]})({"kind": kind, "size": size})
    wrong = [] if isinstance(size, int) else [("/size", "type")]

    assert [(each.pointer, each.rule) for each in found] == (wrong if kind in TAGS else [("/kind", "enum")])
