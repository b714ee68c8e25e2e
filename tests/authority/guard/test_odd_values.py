"""Values with ideas of their own: what is reported is what they hold, or the call is refused; and in time."""

from __future__ import annotations

import dataclasses
import enum
from collections import UserDict
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, RootModel

from emitter.authority import Authority
from emitter.errors import ApprovalPending, InputError, OtherCall
from tests.authority.guard.parts import CEO, MOM, Person, resolved
from tests.authority.guard.values import one, reported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Names(RootModel[list[str]]):
    """A model that is gone through as the list in it is, as pydantic's manual has it."""

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        return iter(self.root)


@dataclasses.dataclass
class Noted:
    """A dataclass with an attribute that is no field."""

    to: str

    def __post_init__(self) -> None:
        self.bcc = CEO


class Text(str):
    """A text that says that it is another, and a short one."""

    __slots__ = ()

    def __str__(self) -> str:
        return MOM

    def __len__(self) -> int:
        return 3


class Count(int):
    """A number that is written as another."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "7"


class Blob(bytes):
    """Bytes that say that they are others."""

    def __bytes__(self) -> bytes:
        return MOM.encode()


HELD: dict[str, tuple[Any, Any]] = {
    "a model with its own way through it": (Names(["ab", "ac"]), {"root": ["ab", "ac"]}),
    "a model that is gone through as texts of any length": (Names(["abc"]), {"root": ["abc"]}),
    "a dataclass with more than its fields": (Noted(MOM), {"to": MOM, "bcc": CEO}),
    "a text that says it is another": (Text(CEO), CEO),
    "a number that is written as another": (Count(9), 9),
}


@pytest.mark.parametrize(("value", "expected"), HELD.values(), ids=HELD)
def test_what_is_reported_is_what_a_value_holds(value: Any, expected: Any) -> None:
    """Not what its class says of it."""
    assert reported(value) == expected


class Money(int):
    """An amount with its currency."""

    currency = ""


def _euros() -> Money:
    made = Money(5)
    made.currency = "EUR"
    return made


class Last(dict[str, Any]):
    """An object that shows the last of all that it holds under a name, as those of a web form do."""

    def __deepcopy__(self, memo: Any) -> Last:
        return self

    def items(self) -> Any:
        """Return what it shows."""
        return [(name, each[-1]) for name, each in super().items()]


class Listed(list[Any]):
    """A list that shows something else."""

    def __deepcopy__(self, memo: Any) -> Listed:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter([MOM])


class Twice(UserDict[str, Any]):
    """An object in which a name stands twice, as a header does."""

    def items(self) -> Any:
        """Return what it shows."""
        return [("to", CEO), ("to", MOM)]


class Broken(UserDict[str, Any]):
    """An object that cannot be read."""

    def items(self) -> Any:
        """Raise."""
        raise KeyError("to")


@dataclasses.dataclass
class Unset:
    """A dataclass that is not whole."""

    to: str = dataclasses.field(init=False)


class Endless(enum.Enum):
    """A member whose value is itself."""

    ONE = 1

    @property
    def value(self) -> Endless:
        """The member itself."""
        return self


def _shared(levels: int, make: Callable[[Any], Any] = lambda each: [each, each], value: Any = "x") -> Any:
    """Return a value of few objects, which would be 2 ** levels if each were reported wherever it stands."""
    for _ in range(levels):
        value = make(value)
    return value


def _both_ways() -> list[Any]:
    value: list[Any] = []
    value.extend([value, value])
    return value


class Pair(BaseModel):
    """A model of two."""

    left: Any
    right: Any


UNTOLD: dict[str, Callable[[], Any]] = {
    "a number with a currency": _euros,
    "what shows the last only": lambda: Last(to=[CEO, MOM]),
    "what shows another": lambda: Listed([CEO]),
    "a name twice": Twice,
    "what cannot be read": Broken,
    "a field that is not set": Unset,
    "a member that is its own value": lambda: Endless.ONE,
    "what is shared 40 deep": lambda: _shared(40),
    "what is shared in objects": lambda: _shared(40, lambda each: {"a": each, "b": each}),
    "what is shared in models": lambda: _shared(40, lambda each: Pair(left=each, right=each)),
    "what is shared below what nests deep": lambda: _shared(100, lambda each: [each], _shared(40)),
    "what holds itself twice": _both_ways,
    "more than anybody can read": lambda: [0] * 100_000,
}


@pytest.mark.parametrize("make", UNTOLD.values(), ids=UNTOLD)
def test_what_cannot_be_reported_whole_is_refused_before_anybody_is_asked(make: Callable[[], Any]) -> None:
    """With what to do instead."""
    person = Person()
    with pytest.raises(InputError, match="exclude="):
        Authority().guard(one, ask=person)(make())
    assert person.asked == []


def test_what_is_shared_by_few_is_reported_wherever_it_stands() -> None:
    """As JSON would have it."""
    assert reported(_shared(3)) == [[["x", "x"], ["x", "x"]], [["x", "x"], ["x", "x"]]]


class Group(enum.Enum):
    """Members of which there is one in the process, so that no call has a copy of what they hold."""

    FAMILY = [MOM]  # noqa: RUF012  it is to be changed


@pytest.fixture
def family() -> Iterator[list[str]]:
    """Return what a member holds, and put it back."""
    yield Group.FAMILY.value
    Group.FAMILY.value[:] = [MOM]


def test_what_no_copy_can_be_made_of_is_looked_at_again_before_the_act(family: list[str]) -> None:
    """The principal was asked about mom, and the list was another one when they had answered."""

    def ask(pending: Any) -> Any:
        family[:] = [CEO]
        return Person()(pending)

    authority, sent = Authority(), list[Any]()
    with pytest.raises(OtherCall) as refused:
        authority.guard(sent.append, name="send", ask=ask)(Group.FAMILY)
    assert refused.value.pointer == "/parameters/object/0"
    assert (sent, authority.receipts(), authority.unfinished_actions()) == ([], (), ())


def test_what_was_answered_is_answered_again_whatever_became_of_it(family: list[str]) -> None:
    """It is the same call as long as it says the same."""
    authority, sent = Authority(), list[Any]()
    guard = authority.guard(lambda to: sent.append(list(to.value)), name="send")
    with pytest.raises(ApprovalPending) as waits:
        guard.call("c", Group.FAMILY)
    resolved(authority, waits.value.decision_id)
    family[:] = [CEO]
    with pytest.raises(OtherCall):
        guard.call("c", Group.FAMILY)
    family[:] = [MOM]
    guard.call("c", Group.FAMILY)
    assert sent == [[MOM]]
