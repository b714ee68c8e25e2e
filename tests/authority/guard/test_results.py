"""What a tool returned is answered again as it was, or not at all."""

from __future__ import annotations

import dataclasses
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, computed_field

from emitter.authority import Result
from emitter.errors import AlreadyUsed
from tests.authority.guard.parts import MOM, guarded, proven

if TYPE_CHECKING:
    from collections.abc import Callable


class Sent(BaseModel):
    """A model that a tool returns."""

    to: str
    on: date


@dataclasses.dataclass
class Note:
    """A dataclass that one returns."""

    to: str


@dataclasses.dataclass(slots=True)
class Unset:
    """One of which nothing is set."""

    to: str


class Failing(BaseModel):
    """A model that cannot be written."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def size(self) -> int:
        """Fail."""
        raise ZeroDivisionError


RETAINED: dict[str, tuple[Any, Any]] = {
    "nothing": (None, None),
    "a number": (5, 5),
    "a text": ("", ""),
    "a list": ([1, {"a": None}], [1, {"a": None}]),
    "a tuple": ((1, 2), [1, 2]),
    "a model": (Sent(to=MOM, on=date(2026, 1, 31)), {"to": MOM, "on": "2026-01-31"}),
    "a dataclass": (Note(MOM), {"to": MOM}),
}


@pytest.mark.parametrize(("value", "again"), RETAINED.values(), ids=RETAINED)
def test_the_same_call_is_answered_with_what_it_returned(value: Any, again: Any) -> None:
    """The first time with the very object, from then on with the same as JSON."""
    authority, call = guarded(value)

    assert call() is value
    assert [call(), call()] == [again, again]
    proven(authority)


LOST: dict[str, Any] = {
    "an object": object,
    "a function": lambda: print,
    "no number": lambda: float("nan"),
    "a huge integer": lambda: 10**30,
    "half a character": lambda: "\ud800",
    "bytes that are no text": lambda: b"\xff",
    "a model that cannot be written": Failing,
    "a dataclass that is not set": lambda: Unset.__new__(Unset),
}


@pytest.mark.parametrize("make", LOST.values(), ids=LOST)
def test_what_cannot_be_retained_is_returned_once(make: Callable[[], Any]) -> None:
    """The act was done and has its receipt; the same call again is told that it was, and runs nothing."""
    authority, call = guarded(make)

    call()
    for _ in range(2):
        with pytest.raises(AlreadyUsed):
            call()
    proven(authority)
    assert [each.result for each in authority.receipts()] == [Result.SUCCESS]


SPENT: dict[str, Callable[[], Any]] = {
    "a generator": lambda: (each for each in [1, 2]),
    "an iterator": lambda: iter([1, 2]),
    "what is made as it is read": lambda: map(int, ["1", "2"]),
}


@pytest.mark.parametrize("make", SPENT.values(), ids=SPENT)
def test_what_is_spent_by_reading_is_left_to_the_caller(make: Callable[[], Any]) -> None:
    """To retain it would be to take it away."""
    authority, call = guarded(make)

    assert list(call()) == [1, 2]
    with pytest.raises(AlreadyUsed):
        call()
    proven(authority)


def test_what_raises_as_it_is_read_costs_no_receipt() -> None:
    """It is the caller's to meet."""
    authority, call = guarded(lambda: (1 // each for each in [0]))

    with pytest.raises(ZeroDivisionError):
        list(call())
    proven(authority)


@pytest.mark.parametrize("value", [5, None], ids=["a number", "nothing"])
def test_what_shall_not_be_retained_is_not(value: Any) -> None:
    """It stands nowhere, and is not answered again: not even as nothing."""
    authority, call = guarded(value, retain=False)

    assert call() == value
    with pytest.raises(AlreadyUsed):
        call()
    (receipt,) = authority.receipts()
    assert receipt.retained is None
    proven(authority)
