"""The second validator agrees with the official suite, and traces where a fault comes from."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schema.proof.corpora import SUITE, read
from tests.schema.proof.exceptions import by_the_decoder
from tests.schema.proof.judge import Judge, Step, Unjudged

OTHERWISE = {
    "format": "formats are asserted here, of which the suite takes no notice",
    "content": "likewise",
    "vocabulary": "a metaschema of its own is not read",
    "unevaluatedProperties": "the package misreads one case of draft 2019-09",
    "unknown": "formats that nobody knows are no faults",
}
"""Files of the suite with a case on which the judge differs, and why."""


def test_the_judge_agrees_with_the_suite() -> None:
    """Where it says anything, it says what the official suite says, but for what is listed."""
    if not SUITE.exists():
        pytest.skip(f"{SUITE} is absent")
    differing: set[str] = set()
    for case in read(SUITE, pytest.fail):
        judge = Judge(case.schema, case.draft)
        for instance, valid in [*((each, True) for each in case.valid), *((each, False) for each in case.invalid)]:
            try:
                if judge.valid(instance) is not valid:
                    differing.add(case.name.split(":")[0].split("/")[1])
            except Unjudged:
                continue

    assert differing - OTHERWISE.keys() == set()


@pytest.mark.parametrize(
    ("schema", "instance", "steps"),
    [
        ({"minimum": 3}, 1, [Step("", "minimum")]),
        ({"properties": {"a/b": {"$ref": "#/$defs/~0"}}, "$defs": {"~": {"type": "null"}}}, {"a/b": 1}, None),
        ({"items": {"anyOf": [{"minimum": 3}]}}, [1], [Step("/items", "anyOf"), Step("", "items")]),
        ({"properties": {"a": False}}, {"a": 1}, [Step("", "properties")]),
        ({"additionalProperties": False}, {"a": 1}, [Step("", "additionalProperties")]),
        ({"if": True, "then": {"minimum": 3}}, 1, [Step("/then", "minimum"), Step("", "if")]),
        (False, 1, [Step("", "false")]),
        (
            {"contains": {}, "maxContains": 1},
            [1, 2],
            [Step("", "maxContains"), Step("", "contains")],
        ),
    ],
)
def test_a_fault_knows_its_way(schema: Any, instance: Any, steps: list[Step] | None) -> None:
    """From the inside out, each keyword with the pointer of the schema that holds it."""
    across = [Step("/$defs/~0", "type"), Step("/properties/a~1b", "$ref"), Step("", "properties")]

    assert [list(each.steps) for each in Judge(schema).faults(instance)] == [steps or across]


@pytest.mark.parametrize(
    ("schema", "instance"),
    [
        ({"type": 3}, 1),
        ({"$ref": "#/$defs/absent"}, 1),
        ({"$ref": "http://absent.example/"}, 1),
        ({"$ref": "#"}, 1),
        ({"pattern": "("}, "x"),
    ],
)
def test_what_cannot_be_judged_is_no_verdict(schema: Any, instance: Any) -> None:
    """A schema that is none, a reference to nothing, and one that never ends."""
    with pytest.raises(Unjudged):
        Judge(schema).valid(instance)


LEAP = {"anyOf": [{"type": "object", "properties": {"at": {"type": "string", "format": "time"}, "n": {"const": 1}}}]}


@pytest.mark.parametrize(
    ("instance", "excused"),
    [({"at": "19:43:60Z", "n": 1}, True), ({"at": "19:43:60Z", "n": 2}, False), ({"n": 2}, False), (7, False)],
    ids=["leap second alone", "and something else", "something else", "another type"],
)
def test_a_union_is_the_decoders_fault_only_if_a_branch_is(instance: object, *, excused: bool) -> None:
    """What the decoder writes beyond a format excuses a union in which nothing else is broken."""
    faults = Judge(LEAP).faults(instance)

    assert [by_the_decoder(each) for each in faults] == [excused]
