"""Values with ideas of their own: what is reported is what they hold, or the call is refused; and in time."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections import ChainMap, OrderedDict, UserDict, defaultdict
from datetime import datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, RootModel, SecretStr

from emitter.authority import Authority, register_argument_class
from emitter.authority.guard import value_classes
from emitter.errors import InputError, OtherCall
from tests.authority.guard.parts import CEO, MOM, Person
from tests.authority.guard.values import Colour, one, reported

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


class Zone(tzinfo):
    """A zone of its own."""

    def utcoffset(self, _: Any) -> timedelta:
        """Return an hour."""
        return timedelta(hours=1)

    def dst(self, _: Any) -> None:
        """Return nothing."""

    def tzname(self, _: Any) -> str:
        """Return a name."""
        return "here"


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


class Price(float):
    """An amount with its currency, in a slot."""

    __slots__ = ("currency",)


class Lying(Decimal):
    """A number whose text is another number."""

    def __str__(self) -> str:
        return "1"


class Cast(str):
    """A text that has a copy of its own kind and says another thing in JSON."""

    __slots__ = ()

    def encode(self, *_: Any) -> bytes:
        """Return others."""
        return MOM.encode()


class Base:
    """What has a slot."""

    __slots__ = ("bcc",)


Slotted = dataclasses.make_dataclass("Slotted", ["to"], bases=(Base,), slots=True)


@dataclasses.dataclass
class TextData(str):  # noqa: SLOT000  a field needs a dict
    """A dataclass that is a text, too."""

    to: str = MOM


class Shy(enum.Enum):
    """A member of which the value is another one's."""

    ONE = 1

    @property
    def value(self) -> int:
        """Not its value."""
        return 2


class Lists(enum.Enum):
    """A member with a list that anybody may change."""

    FAMILY = [MOM]  # noqa: RUF012  it is what is tested


def _noted(value: Any) -> Any:
    value.note = CEO
    return value


class Params(dict[str, Any]):
    """What has several values under a name, such as the parameters of a URL."""

    def multi_items(self) -> list[tuple[str, str]]:
        """Return them all."""
        return [("to", MOM), ("to", CEO)]


UNTOLD: dict[str, Callable[[], Any]] = {
    "a text that says it is another": lambda: Text(CEO),
    "a number that is written as another": lambda: Count(9),
    "bytes that say they are others": lambda: Blob(CEO.encode()),
    "a number with a slot": lambda: Price(5),
    "a number whose text is another": lambda: Lying("1000000"),
    "a text that is encoded as another": lambda: Cast(CEO),
    "a dataclass over a slot": lambda: Slotted(MOM),
    "a dataclass that is a text": lambda: TextData(MOM),
    "an ordered object with an attribute": lambda: _noted(OrderedDict(a=1)),
    "what makes members": lambda: defaultdict(lambda: CEO, to=MOM),
    "several objects in one": lambda: ChainMap({"to": MOM}, {"to": CEO}),
    "several values of a name": lambda: Params(to=MOM),
    "a member with another value": lambda: Shy.ONE,
    "a member whose value changes": lambda: Lists.FAMILY,
    "a time of a zone of its own": lambda: datetime(2026, 1, 1, tzinfo=Zone()),
    "a second in an offset": lambda: datetime(2026, 1, 1, tzinfo=timezone(timedelta(seconds=3601))),
    "two names of one member": lambda: {Colour.RED: 1, "red": 2},
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


PLACES: dict[str, tuple[Callable[[], Any], str, str]] = {
    "in a list": (lambda: [1, {2}], "value at /1 ", "sorted(value)"),
    "in a member": (lambda: {"cc": [Text(CEO)]}, "value at /cc/0 ", "str(value)"),
    "under a name that is content": (lambda: {"a b": object()}, "value at /* ", "register_argument_class"),
    "in a dataclass": (lambda: Noted([Lying("1")]), "value at /to/0 ", "Decimal(value)"),  # type: ignore[arg-type]
    "several values": (lambda: Params(to=MOM), "value is of the class", "multi_items"),
    "an object": (Twice, "value is of the class", "dict(value)"),
    "a generator": (lambda: [iter([1])], "value at /0 ", "list(value)"),
    "a secret": (lambda: SecretStr("x"), "value is of the class", "get_secret_value"),
    "a number": (lambda: [0, float("nan")], "value at /1 is not a finite number", "None"),
    "a large number": (lambda: {"n": 2**53}, "value at /n is an integer beyond", "as text"),
}


@pytest.mark.parametrize(("make", "place", "conversion"), PLACES.values(), ids=PLACES)
def test_the_error_names_the_place_and_the_conversion(make: Callable[[], Any], place: str, conversion: str) -> None:
    """The argument, the place in it, the class, and what to pass instead."""
    with pytest.raises(InputError) as refused:
        Authority().guard(one)(make())
    assert f"The argument {place}" in refused.value.summary
    assert conversion in refused.value.hint


class Amount:
    """An amount of money, with a class of its own."""

    def __init__(self, number: Decimal, currency: str) -> None:
        self.number, self.currency = number, currency


@pytest.fixture
def amounts() -> Iterator[None]:
    """Teach the class."""
    register_argument_class(
        Amount,
        encode=lambda amount: {"number": amount.number, "currency": amount.currency},
        decode=lambda part: Amount(**part),
    )
    yield
    value_classes._registered.pop(Amount)


@pytest.mark.usefixtures("amounts")
def test_a_class_can_be_taught() -> None:
    """The tool gets what was decoded; another currency is another call."""
    authority, got = Authority(), list[Amount]()
    guard = authority.guard(got.append, name="pay", ask=(person := Person()))
    given = Amount(Decimal(5), "USD")
    guard.call("c", given)

    assert json.loads(person.asked[0].moment.findings[0].removeprefix("object: ")) == {"number": "5", "currency": "USD"}
    assert [(each.number, each.currency) for each in got] == [(Decimal(5), "USD")]
    assert got[0] is not given
    with pytest.raises(OtherCall) as refused:
        guard.call("c", Amount(Decimal(5), "BTC"))
    assert refused.value.pointer == "/parameters/object/currency"


def test_what_a_class_loses_is_found_before_anybody_is_asked() -> None:
    """A class that decodes to another value than it encoded is refused."""
    register_argument_class(
        Amount, encode=lambda amount: [amount.number, amount.currency], decode=lambda part: Amount(part[0], "BTC")
    )
    try:
        with pytest.raises(InputError, match="another value once it is rebuilt"):
            Authority().guard(one)(Amount(Decimal(5), "USD"))
    finally:
        value_classes._registered.pop(Amount)


@pytest.mark.parametrize("cls", [str, Decimal, dict, 5], ids=str)
def test_what_the_library_knows_is_not_taught(cls: Any) -> None:
    """Nobody may change what an approval of a plain value binds."""
    with pytest.raises(InputError):
        register_argument_class(cls, encode=str, decode=str)
