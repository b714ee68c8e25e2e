"""No two values are one call: what a value does not tell of itself is told, or nobody can approve it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from emitter.authority import Authority
from emitter.errors import InputError, OtherCall
from tests.authority.guard.parts import Person
from tests.authority.guard.values import (
    Mail,
    Masked,
    Model,
    hidden,
    one,
    told,
)

HIDDEN: dict[str, tuple[Any, str]] = {
    "a member that the model leaves out": (Model(to="mom", bcc="ceo"), "ceo"),
    "a private attribute": (hidden("mom", "ceo"), "ceo"),
    "what a model shows otherwise": (Masked(to="ceo"), "ceo"),
    "a member below": (Mail(Model(to="mom", bcc="ceo")), "ceo"),
}


@pytest.mark.parametrize(("value", "part"), HIDDEN.values(), ids=HIDDEN)
def test_what_a_value_does_not_tell_of_itself_is_told_all_the_same(value: Any, part: str) -> None:
    """Or refused: nobody approves what they are not told."""
    try:
        shown = json.dumps(told(value))
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
}


@pytest.mark.parametrize(("value", "other"), APART.values(), ids=APART)
def test_two_values_are_never_one_call(value: Any, other: Any) -> None:
    """Either the second is refused as another call, or both are as what nobody can approve."""
    guard = Authority().guard(one, ask=Person())
    try:
        guard.call("c1", value)
    except InputError:
        with pytest.raises(InputError):
            guard.call("c2", other)
        return
    with pytest.raises(OtherCall):
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
    """Tell whether two values are one as JSON and bytes: 1 is 1.0 and no truth value."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(_same(value[each], other[each]) for each in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_same, value, other))
    return bool(value == other)


@settings(max_examples=150, deadline=None)
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
