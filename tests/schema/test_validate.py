"""What a validator says of a union: the branch that was meant, or all tags where none was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.schema.validator import Validator

TAGS = ("circle", "square", "line")
SAID = "SECRETWORD"


def branch(*tags: str, **properties: Any) -> dict[str, Any]:
    """Return an object that is told apart by ``kind``."""
    kind = {"const": tags[0]} if len(tags) == 1 else {"enum": list(tags)}
    return {"type": "object", "properties": {"kind": kind, **properties}, "required": ["kind", *properties]}


CIRCLE, SQUARE, LINE = (branch(tag, size={"type": "integer"}) for tag in TAGS)
PAIR: list[dict[str, Any]] = [CIRCLE, SQUARE]
UNTAGGED = [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"type": "string"}]

TOLD: dict[str, Any] = {
    "an unknown tag": (
        {"anyOf": [CIRCLE, SQUARE, LINE]},
        {"kind": SAID, "size": 1},
        ['/kind: enum: ["circle", "square", "line"]'],
    ),
    "an unknown tag, of oneOf": (
        {"oneOf": PAIR},
        {"kind": SAID, "size": SAID},
        ['/kind: enum: ["circle", "square"]'],
    ),
    "a branch of several tags": (
        {"anyOf": [branch("circle", "disc"), SQUARE]},
        {"kind": SAID},
        ['/kind: enum: ["circle", "disc", "square"]'],
    ),
    "a tag of another type": ({"anyOf": PAIR}, {"kind": 7, "size": 1}, ['/kind: enum: ["circle", "square"]']),
    "beside null": ({"anyOf": [*PAIR, {"type": "null"}]}, {"kind": SAID}, ['/kind: enum: ["circle", "square"]']),
    "further in": (
        {"type": "array", "items": {"anyOf": PAIR}},
        [{"kind": "circle", "size": 1}, {"kind": SAID, "size": 1}],
        ['/1/kind: enum: ["circle", "square"]'],
    ),
    "a union in a branch": (
        {"anyOf": [branch("circle", of={"anyOf": [SQUARE, LINE]}), {"type": "null"}]},
        {"kind": "circle", "of": {"kind": SAID, "size": 1}},
        ['/of/kind: enum: ["square", "line"]'],
    ),
    "a known tag": ({"anyOf": PAIR}, {"kind": "square"}, ['/: required: the property "size"']),
    "a known tag, and a wrong type": pytest.param(
        {"anyOf": PAIR},
        {"kind": "square", "size": SAID},
        ["/size: type: must be of type integer"],
    ),
    "one branch alone": ({"anyOf": [CIRCLE, {"type": "null"}]}, {"kind": SAID, "size": 1}, ['/kind: const: "circle"']),
    "no tag": ({"anyOf": PAIR}, {"size": 1}, ['/: required: the property "kind"']),
    "no tags in the schema": ({"anyOf": UNTAGGED}, {"a": SAID}, ["/a: type: must be of type integer"]),
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
