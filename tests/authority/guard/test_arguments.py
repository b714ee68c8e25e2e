"""Arguments: each is reported as JSON that leaves nothing out, or the call is refused before anybody is asked."""

from __future__ import annotations

import ipaddress
import threading
from collections import Counter, OrderedDict
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from pydantic import SecretStr

from emitter.authority import Authority
from emitter.errors import InputError
from emitter.models.authorization import Refusal, RefusalCode, RefusalReason
from tests.authority.guard.parts import Person
from tests.authority.guard.values import Colour, Mail, Model, Number, Open, Point, Slotted, Word, one, reported

if TYPE_CHECKING:
    from collections.abc import Callable


NO = {"code": "BLOCKED", "user_message": "No.", "recovery_hint": None, "audit_id": "audit-1"}
REFUSAL = Refusal(reason=RefusalReason(code=RefusalCode.BLOCKED, user_message="No.", audit_id="audit-1"))

TOLD: dict[str, tuple[Any, Any]] = {
    "nothing": (None, None),
    "a truth value": (True, True),
    "a float": (0.1, 0.1),
    "nought below nought": (-0.0, 0),
    "the largest integer": (2**53 - 1, 2**53 - 1),
    "a large float": (1e300, 1e300),
    "an enumeration": (Colour.RED, "red"),
    "an enumeration of numbers": (Number.ONE, 1),
    "an enumeration of texts": (Word.YES, "yes"),
    "a date": (date(2026, 1, 31), "2026-01-31"),
    "a time": (time(12, 30), "12:30:00"),
    "a moment": (datetime(2026, 1, 31, 12, tzinfo=UTC), "2026-01-31T12:00:00Z"),
    "a moment elsewhere": (
        datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=2))),
        "2026-01-31T12:00:00+02:00",
    ),
    "a span": (timedelta(days=1, microseconds=1), "P1DT0.000001S"),
    "a decimal": (Decimal("1.10"), "1.10"),
    "a UUID": (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "a path": (Path("hosts"), "hosts"),
    "an address": (ipaddress.ip_address("::1"), "::1"),
    "a tuple": ((1, (2,)), [1, [2]]),
    "a named tuple": (Point(1, 2), [1, 2]),
    "an ordered object": (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    "a counter": (Counter("aab"), {"a": 2, "b": 1}),
    "a dataclass": (Mail("mom", Mail("dad", [Colour.RED])), {"to": "mom", "inner": {"to": "dad", "inner": ["red"]}}),
    "a dataclass without a dict": (Slotted("mom"), {"to": "mom"}),
    "a model in a model": (Open(inner=Open(to="mom")), {"inner": {"to": "mom"}}),
    "a model with members of its own": (Open(to="mom"), {"to": "mom"}),
    "an authorization envelope": (REFUSAL, {"kind": "refusal", "reason": NO}),
}


@pytest.mark.parametrize(("value", "expected"), TOLD.values(), ids=TOLD)
def test_what_has_one_form_as_json_is_reported_by_it(value: Any, expected: Any) -> None:
    """And the tool gets the value itself, or one like it."""
    assert reported(value) == expected
    assert Authority().guard(one, ask=Person())(value) == value


def _loop() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def _deep(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = [found]
    return found


REFUSED: dict[str, Callable[[], Any]] = {
    "a set": lambda: {1, 2},
    "a frozen set": lambda: frozenset({1}),
    "a set below": lambda: {"a": [{1, 2}]},
    "a set in a dataclass": lambda: Mail({1, 2}),
    "a set in a model": lambda: Model(to="mom", inner={1, 2}),
    "an object": object,
    "a class": lambda: Mail,
    "a function": lambda: one,
    "a function in a dataclass": lambda: Mail(one),
    "an error": lambda: ValueError("x"),
    "a lock": threading.Lock,
    "an open file": lambda: (Path(__file__)).open,
    "a generator": lambda: (each for each in [1]),
    "an iterator": lambda: iter([1, 2]),
    "a map": lambda: map(str, [1]),
    "a range": lambda: range(3),
    "a namespace": lambda: SimpleNamespace(a=1),
    "a view": lambda: memoryview(b"x"),
    "what cannot be written": lambda: MappingProxyType({"a": 1}),
    "a secret": lambda: SecretStr("x"),
    "no number": lambda: float("nan"),
    "a number without end": lambda: float("inf"),
    "no number below": lambda: {"a": [float("nan")]},
    "a huge integer": lambda: 10**30,
    "an integer that a double does not hold": lambda: 2**53,
    "half a character": lambda: "\ud800",
    "half a character in a name": lambda: {"\ud800": 1},
    "a name that is a number": lambda: {1: 2},
    "a name that is nothing": lambda: {None: 2},
    "what holds itself": _loop,
    "what nests deep": lambda: _deep(70),
    "what nests very deep": lambda: _deep(3_000),
}


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_what_has_no_form_as_json_is_refused_before_anybody_is_asked(make: Callable[[], Any]) -> None:
    """With what to do instead; neither its value nor anything of it is in the message."""
    person = Person()
    guard = Authority().guard(one, ask=person)
    with pytest.raises(InputError) as refused:
        guard(make())

    assert person.asked == []
    assert refused.value.hint
    assert "exclude=" in str(refused.value) or "as text" in str(refused.value)
