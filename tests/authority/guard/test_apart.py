"""No two values are one call: what a value does not tell of itself is reported, or nobody can approve it."""

from __future__ import annotations

import enum
import json
import re
from datetime import UTC, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from emitter.authority import Authority
from emitter.errors import InputError, OtherCall
from tests.authority.guard.parts import Person
from tests.authority.guard.values import Colour, Mail, Masked, Model, Number, hidden, one, reported
from tests.work import examples


class Loud(dict[str, Any]):
    """An object of a class of its own."""


class Quiet(str):
    """A text of a class of its own."""

    __slots__ = ()


class Raw(bytes):
    """Bytes of a class of their own."""

    __slots__ = ()


class Other(enum.IntEnum):
    """Another enumeration of numbers."""

    ONE = 1


HIDDEN: dict[str, tuple[Any, str]] = {
    "a member that the model leaves out": (Model(to="mom", bcc="ceo"), "ceo"),
    "a private attribute": (hidden("mom", "ceo"), "ceo"),
    "what a model shows otherwise": (Masked(to="ceo"), "ceo"),
    "a member below": (Mail(Model(to="mom", bcc="ceo")), "ceo"),
}


@pytest.mark.parametrize(("value", "part"), HIDDEN.values(), ids=HIDDEN)
def test_what_a_value_does_not_tell_of_itself_is_reported_all_the_same(value: Any, part: str) -> None:
    """Or refused: nobody approves what they are not reported."""
    try:
        shown = json.dumps(reported(value))
    except InputError:
        return
    assert part in shown


APART: dict[str, tuple[Any, Any]] = {
    "secrets": (SecretStr("a"), SecretStr("b")),
    "secrets below": (Mail(SecretStr("a")), Mail(SecretStr("b"))),
    "patterns": (re.compile("a"), re.compile("a", re.IGNORECASE)),
    "what a model leaves out": (Model(to="mom", bcc="dad"), Model(to="mom", bcc="ceo")),
    "what a model hides": (hidden("mom", "dad"), hidden("mom", "ceo")),
    "what a model masks": (Masked(to="dad"), Masked(to="ceo")),
    "bytes in a dataclass": (Mail(b"hi"), Mail("hi")),
    "zones": (datetime(2026, 1, 31, 12, tzinfo=UTC), datetime(2026, 1, 31, 12)),  # noqa: DTZ001
    "decimals": (Decimal("1.10"), Decimal("1.1")),
    "a decimal and its text": (Decimal("1.10"), "1.10"),
    "a dict and a subclass": ({"to": "mom"}, Loud({"to": "mom"})),
    "a subclass below": ([{"to": "mom"}], [Loud({"to": "mom"})]),
    "a text and a subclass": ("mom", Quiet("mom")),
    "a long text and a subclass": ("x" * 5_000, Quiet("x" * 5_000)),
    "bytes and a subclass": (b"mom", Raw(b"mom")),
    "a name in an object and a subclass": ({"to": "mom"}, {Quiet("to"): "mom"}),
    "a list and a tuple": ([1, 2], (1, 2)),
    "bytes that can be changed": (b"hi", bytearray(b"hi")),
    "an integer and a float": (1, 1.0),
    "zero and minus zero": (0.0, -0.0),
    "two dataclasses": (Mail("mom"), {"to": "mom", "inner": None}),
    "two models": (Model(to="mom"), Mail("mom")),
    "a model and its member unset": (Model(to="mom"), Model(to="mom", bcc=None)),
    "a member of an enumeration and its value": (Colour.RED, "red"),
    "members of two enumerations": (Number.ONE, Other.ONE),
    "a time and its text": (datetime(2026, 10, 25, 2, 30), "2026-10-25T02:30:00"),  # noqa: DTZ001
    "a time that is told twice": (
        datetime(2026, 10, 25, 2, 30),  # noqa: DTZ001
        datetime(2026, 10, 25, 2, 30, fold=1),  # noqa: DTZ001
    ),
    "an hour that is told twice": (time(2, 30), time(2, 30, fold=1)),
    "two zones of one offset": (
        datetime(2026, 1, 31, 12, tzinfo=ZoneInfo("Europe/Paris")),
        datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=1))),
    ),
    "two places of one offset": (
        datetime(2026, 1, 31, 12, tzinfo=ZoneInfo("Europe/Paris")),
        datetime(2026, 1, 31, 12, tzinfo=ZoneInfo("Europe/Rome")),
    ),
    "paths": (Path("/a"), "/a"),
}


@pytest.mark.parametrize(("value", "other"), APART.values(), ids=APART)
def test_two_values_are_never_one_call(value: Any, other: Any) -> None:
    """Either the second is refused as another call, or one of them as what nobody can approve."""
    guard = Authority().guard(one, ask=Person())
    try:
        guard.call("c1", value)
    except InputError:
        return
    with pytest.raises((OtherCall, InputError)):
        guard.call("c1", other)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abs256", max_size=4), inner, max_size=3),
    max_leaves=6,
)


def _same(value: Any, other: Any) -> bool:
    """Tell whether two values are equal, and of the same classes: 1 is neither 1.0 nor true, and 0.0 is not -0.0."""
    if type(value) is not type(other):
        return False
    if isinstance(value, float):
        return repr(value) == repr(other)
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(_same(value[each], other[each]) for each in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_same, value, other))
    return bool(value == other)


@settings(max_examples=examples(150))
@given(value=JSON, other=JSON)
def test_a_call_is_the_same_exactly_if_its_arguments_are(value: Any, other: Any) -> None:
    """Whatever they are, bytes and what looks like a digest among them; the tool gets what was approved."""
    got = list[Any]()

    def take(value: Any) -> None:
        got.append(value)

    guard = Authority().guard(take, ask=Person())
    guard.call("c1", value)
    assert _same(got[0], value)

    if _same(value, other):
        guard.call("c1", other)
    else:
        with pytest.raises(OtherCall):
            guard.call("c1", other)
    assert len(got) == 1
