"""What a host hands over: readings and terms, and what is refused before a model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.authority.envelopes import AuthorizationConstraints, OracleReading
from emitter.authority.envelopes.oracles import find_disputed_axes, select_undisputed
from emitter.decisions.canonical_json import CanonicalProfile, digest_of
from emitter.errors import InputError
from tests.authority.envelopes.parts import EHR, INLINE, LAB, LOOSE, POTASSIUM, READINGS, STATUS, TERMS, record

if TYPE_CHECKING:
    from collections.abc import Callable

BAD: dict[str, tuple[Callable[[], object], str]] = {
    "a record that is JSON": (
        lambda: OracleReading(LAB.model_dump(), "a", 1),
        "record must be an OracleVerificationRecord, not dict",
    ),  # type: ignore[arg-type]
    "no axis": (lambda: OracleReading(LAB, "", 1), "axis must be a string that is not blank"),
    "an axis that is no text": (lambda: OracleReading(LAB, 3, 1), "axis must be a string that is not blank"),  # type: ignore[arg-type]
    "an empty name": (lambda: OracleReading(LAB, "a", 1, ""), "name must be a string that is not blank"),
    "a value that is no JSON": (lambda: OracleReading(LAB, "a", {1}), "not a JSON value"),
    "a value that is not finite": (lambda: OracleReading(LAB, "a", float("nan")), "finite"),
    "a value beyond what is exact": (lambda: OracleReading(LAB, "a", 2**53), r"2\^53"),
    "another value's hash": (
        lambda: OracleReading(record("a", value_hash=digest_of(4)), "a", 5),
        "value_hash is not the digest",
    ),
    "no workflow": (
        lambda: AuthorizationConstraints.from_arguments(None),
        "workflow is of type NoneType; it must be of type WorkflowDeclaration",
    ),  # type: ignore[arg-type]
    "a workflow as JSON": (
        lambda: AuthorizationConstraints.from_arguments(INLINE.model_dump()),
        "workflow is of type dict; it must be of type WorkflowDeclaration",
    ),  # type: ignore[arg-type]
    "a policy as JSON": (
        lambda: AuthorizationConstraints.from_arguments(INLINE, (), LOOSE.model_dump()),
        "narrative is of type dict; it must be of type NarrativePolicy",
    ),  # type: ignore[arg-type]
    "one reading": (lambda: AuthorizationConstraints.from_arguments(INLINE, POTASSIUM), "oracles must be a list"),
    "records for readings": (
        lambda: AuthorizationConstraints.from_arguments(INLINE, [LAB]),
        r"oracles\[0\] is of type OracleVerificationRecord; it must be of type OracleReading",
    ),
    "one action": (
        lambda: AuthorizationConstraints.from_arguments(INLINE, (), LOOSE, "notify"),
        "actions must be a list",
    ),
    "an action that is no text": (
        lambda: AuthorizationConstraints.from_arguments(INLINE, (), LOOSE, ["a", 2]),
        r"actions\[1\] is of type int; it must be of type str",
    ),
    "a name that nobody can see": (lambda: OracleReading(LAB, "a", 1, "\u200b"), "name must be a string"),
    "an action that nobody can see": (
        lambda: AuthorizationConstraints.from_arguments(INLINE, (), LOOSE, ["a", " "]),
        "actions contains a blank string",
    ),
    "a marker that nobody can see": (
        lambda: AuthorizationConstraints.from_arguments(
            INLINE, (), LOOSE.model_copy(update={"forbidden_markers": ("\u200b",)})
        ),
        "forbidden_markers contains a blank string",
    ),
}


@pytest.mark.parametrize(("make", "reported"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_used_is_refused_at_once(make: Callable[[], object], reported: str) -> None:
    """The error names the setting and what is wrong with it."""
    with pytest.raises(InputError, match=reported):
        make()


def test_a_value_is_the_hosts_own_copy() -> None:
    """What is changed afterwards is not what the oracle said."""
    value = {"a": [1.0]}
    reading = OracleReading(LAB, "a", value)
    value["a"][0] = 2.0

    assert reading.value == {"a": [1]}


def test_a_record_may_carry_the_digest_of_its_value() -> None:
    """Over RFC 8785, where equal numbers are alike."""
    hashed = record("a", value_hash=digest_of(4.5, CanonicalProfile.WIRE))

    assert OracleReading(hashed, "a", 4.5).record is hashed


SAME = [(1, 1.0), (0, -0.0), ([1, {"a": 2}], [1.0, {"a": 2.0}]), ({"a": 1, "b": 2}, {"b": 2, "a": 1})]
OTHER = [(1, True), (0, False), (1, "1"), (None, False), ([], {}), ([1, 2], [2, 1]), ("a", "A"), (1, 1.0000001)]


@pytest.mark.parametrize(("one", "other"), SAME, ids=map(str, SAME))
def test_readings_agree_where_they_are_equal_as_json(one: Any, other: Any) -> None:
    """Spelling is no disagreement."""
    readings = (OracleReading(LAB, "a", one), OracleReading(EHR, "a", other))

    assert find_disputed_axes(readings) == frozenset()
    assert select_undisputed(readings) == readings


@pytest.mark.parametrize(("one", "other"), OTHER, ids=map(str, OTHER))
def test_readings_disagree_where_they_are_not(one: Any, other: Any) -> None:
    """However near they are, and whoever says so: the same oracle may, too. Other axes are not concerned."""
    readings = (OracleReading(LAB, "a", one), OracleReading(LAB, "b", 1), OracleReading(LAB, "a", other))

    assert find_disputed_axes(readings) == {"a"}
    assert select_undisputed(readings) == readings[1:2]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([1, 1.0, 2, True, "x"])), max_size=6))
def test_an_axis_is_disputed_in_any_order(said: list[tuple[str, Any]]) -> None:
    """Which reading came first decides nothing."""
    readings = [OracleReading(LAB, axis, value) for axis, value in said]
    expected = {axis for axis, _ in said if len({repr(each.value_key) for each in readings if each.axis == axis}) > 1}

    assert find_disputed_axes(readings) == expected == find_disputed_axes(reversed(readings))


def test_terms_take_lists_of_any_kind() -> None:
    """A generator is read once, and kept."""
    made = AuthorizationConstraints.from_arguments(INLINE, (each for each in READINGS), LOOSE, {"notify": 1})

    assert made.oracles == READINGS
    assert made.actions == ("notify",)


def test_terms_are_told_apart() -> None:
    """By every setting, and by what stands in a record that the model is not shown."""
    others = [
        AuthorizationConstraints.from_arguments(INLINE, READINGS, LOOSE),
        AuthorizationConstraints.from_arguments(INLINE, READINGS[1:], LOOSE, TERMS.actions),
        AuthorizationConstraints.from_arguments(
            INLINE.model_copy(update={"workflow_id": "other"}), READINGS, LOOSE, TERMS.actions
        ),
        AuthorizationConstraints.from_arguments(
            INLINE, READINGS, LOOSE.model_copy(update={"scrub_measurements": True}), TERMS.actions
        ),
        AuthorizationConstraints.from_arguments(
            INLINE, [OracleReading(record("lab-7"), "potassium", 4.2, "Central Laboratory"), *READINGS[1:]]
        ),
    ]

    assert len({each.cache_key for each in (TERMS, *others)}) == len(others) + 1
    assert (
        AuthorizationConstraints.from_arguments(INLINE, READINGS, LOOSE, ["notify", "escalate"]).cache_key
        == TERMS.cache_key
    )


def test_the_names_that_no_user_is_told() -> None:
    """Ids and names of the oracles, each once."""
    assert TERMS.oracle_names == ("lab-7", "Central Laboratory", "ehr-2", "forum-9")


def test_what_a_reading_can_be_cited_for() -> None:
    """Numbers are measured, texts classified; a truth value is neither."""
    cases: list[tuple[Any, Any, tuple[str, ...]]] = [
        (4, 4, ()),
        (True, None, ()),
        ("a", None, ("a",)),
        (["a", 1, "", "b"], None, ("a", "b")),
        ({"a": "b"}, None, ()),
        (None, None, ()),
        ("", None, ()),
    ]
    for value, number, labels in cases:
        reading = OracleReading(LAB, "a", value)
        assert (reading.number, reading.labels) == (number, labels), value
    assert STATUS.is_verified
    assert not READINGS[-1].is_verified
