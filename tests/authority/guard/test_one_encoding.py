"""A drawn tree of arguments is read, digested, kept and run as the same value, or refused before anybody is asked."""

from __future__ import annotations

import copy
import dataclasses
import enum
import hashlib
import ipaddress
import json
import math
import re
from base64 import urlsafe_b64encode
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque, namedtuple
from datetime import UTC, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, PrivateAttr, RootModel, SecretStr, TypeAdapter, computed_field, field_serializer
from starlette.datastructures import Headers, MultiDict, QueryParams

from emitter.authority import Authority
from emitter.errors import InputError
from tests.authority.guard.parts import Person, approve
from tests.work import FULL

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.decisions.ledger_entries import PendingDecision

T = TypeVar("T")


class Refused(Exception):
    """The value has no place in a call."""


@dataclasses.dataclass
class Plain:
    """A dataclass."""

    inner: Any
    made: list[int] = dataclasses.field(default_factory=list[int])
    counted: int = dataclasses.field(default=3, init=False)
    start: dataclasses.InitVar[int] = 1

    def __post_init__(self, start: int) -> None:
        self.counted = start + 1


@dataclasses.dataclass(frozen=True, slots=True)
class Slots:
    """A dataclass without a dict."""

    inner: Any


@dataclasses.dataclass
class Child(Plain):
    """A dataclass over another."""

    more: Any = None


@dataclasses.dataclass
class Box(Generic[T]):
    """A generic dataclass."""

    inner: T


class Model(BaseModel):
    """A model with a private attribute, a serializer that lies and a computed field."""

    inner: Any = None
    bcc: str | None = Field(default=None, exclude=True)
    _note: str = PrivateAttr(default="")

    @field_serializer("bcc")
    def _masked(self, _: str) -> str:
        return "mom"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def length(self) -> int:
        """Something computed."""
        return 1


class Heir(Model):
    """A model over another."""

    more: int = 2


class Open(BaseModel, extra="allow"):
    """A model that takes more."""


class Frozen(BaseModel, frozen=True):
    """A model that does not change."""

    inner: Any


class Generics(BaseModel, Generic[T]):
    """A generic model."""

    inner: T


class Listed(RootModel[list[int]]):
    """A model that is a list."""


Old = namedtuple("Old", "a b")  # noqa: PYI024  one of the old kind


class New(NamedTuple):
    """A named tuple that says that it is another."""

    a: Any
    b: int = 2

    def __str__(self) -> str:
        return "mom"


class Colour(enum.Enum):
    """Members with equal values are one member."""

    RED = "red"
    CRIMSON = "red"  # noqa: PIE796  it is what is tested
    PAIR = (1, Decimal("1.0"))


class Number(enum.IntEnum):
    """Numbers."""

    ONE = 1


class Word(enum.StrEnum):
    """Texts."""

    YES = "yes"


class Rights(enum.Flag):
    """Flags."""

    READ = 1
    WRITE = 2


class Listy(enum.Enum):
    """A member that can be changed."""

    ONE = [1]  # noqa: RUF012  it is what is tested


class Text(str):
    """A text that says that it is another."""

    __slots__ = ()

    def __str__(self) -> str:
        return "mom"


class Priced(float):
    """A number with a slot."""

    __slots__ = ("currency",)


class Coins(int):
    """A number with a dict."""


class Lying(Decimal):
    """A number whose text is another."""

    def __str__(self) -> str:
        return "1"


class Stack(list[Any]):
    """A list that shows something else."""

    def __iter__(self) -> Any:
        return iter(["mom"])


class Blob(bytes):
    """Bytes that say that they are others."""

    def __bytes__(self) -> bytes:
        return b"mom"


class Loud(dict[str, Any]):
    """An object that shows something else."""

    def items(self) -> Any:
        """Return another member."""
        return [("to", "mom")]


class Moment(datetime):
    """A time with a text of its own."""

    def isoformat(self, *_: Any) -> str:
        """Return another one's."""
        return "2026-01-01T00:00:00"


class Pairs(tuple[Any, ...]):
    """A tuple of a class of its own."""

    __slots__ = ()


class Over(Plain):
    """A class over a dataclass, with a slot that is no field."""

    __slots__ = ("bcc",)


@dataclasses.dataclass
class Both(str):  # noqa: SLOT000  a field needs a dict
    """A dataclass that is a text."""

    inner: Any = None


@dataclasses.dataclass
class Property:
    """A dataclass of which a field is computed."""

    inner: Any


class Computed(Property):
    """What replaces the field by a property."""

    @property
    def inner(self) -> str:
        """Another text."""
        return "mom"

    @inner.setter
    def inner(self, value: Any) -> None:
        self.__dict__["kept"] = value


class Foreign(UserDict[str, Any]):
    """A mapping that has a name twice."""

    def items(self) -> Any:
        """Return both."""
        return [("to", "ceo"), ("to", "mom")]


class Node:
    """An object."""

    def __init__(self) -> None:
        self.to = "mom"


def _with(value: Any, **members: Any) -> Any:
    for name, each in members.items():
        object.__setattr__(value, name, each)
    return value


def _digest(data: bytes) -> dict[str, Any]:
    s256 = urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return {"s256": s256, "media_type": "application/octet-stream"}


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A value that can be made again, and the JSON that a person reads of it; ``Refused`` if it has no place."""

    make: Callable[[], Any]
    shown: Any

    @property
    def is_refused(self) -> bool:
        """Whether something in the tree has no place in a call."""
        return self.shown is Refused


def good(value: Any, shown: Any = ...) -> Drawn:
    """Return a value that is shown as JSON."""
    return Drawn(lambda: copy.deepcopy(value), value if shown is ... else shown)


def bad(make: Callable[[], Any]) -> Drawn:
    """Return a value that is refused."""
    return Drawn(make, Refused)


def _leaf(make: Callable[[Any], Any], source: st.SearchStrategy[Any], show: Callable[[Any], Any]) -> Any:
    return source.map(lambda drawn: Drawn(lambda: make(drawn), show(drawn)))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["\x00", "\u202e", "m\u043em", "null", "s256", '"', "x" * 1_200, "\U0001f600", "e\u0301"]
)
INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([-0.0, 1.0, 1e300, 5e-324])
LOOKS = {"s256": "x", "to": "ceo"}
ZONES = st.sampled_from([None, UTC, timezone(timedelta(hours=2), "X"), ZoneInfo("Europe/Paris")])
TIMES = st.datetimes(timezones=ZONES)
GOOD: dict[str, st.SearchStrategy[Drawn]] = {
    "None": st.just(good(None)),
    "bool": st.booleans().map(good),
    "int": INTEGERS.map(good),
    "float": FLOATS.map(good),
    "str": TEXTS.map(good),
    "bytes": st.binary(max_size=4).map(lambda data: good(data, _digest(data))),
    "bytearray": st.binary(max_size=4).map(lambda data: good(bytearray(data), _digest(data))),
    "Decimal": st.decimals(allow_nan=False, allow_infinity=False).map(lambda each: good(each, str(each))),
    "Decimal exponent": st.sampled_from(["1E+2", "-0", "0E-7", "120.0"]).map(lambda each: good(Decimal(each), each)),
    "datetime": TIMES.map(lambda each: good(each, TypeAdapter(datetime).dump_python(each, mode="json"))),
    "date": st.dates().map(lambda each: good(each, each.isoformat())),
    "time": st.times().map(lambda each: good(each, TypeAdapter(time).dump_python(each, mode="json"))),
    "timedelta": st.timedeltas().map(lambda each: good(each, TypeAdapter(timedelta).dump_python(each, mode="json"))),
    "UUID": st.uuids().map(lambda each: good(each, str(each))),
    "Path": st.just(good(Path("a/b"), "a/b")),
    "PurePosixPath": st.just(good(PurePosixPath("a"), "a")),
    "IPv4Address": st.just(good(ipaddress.ip_address("1.2.3.4"), "1.2.3.4")),
    "IPv6Network": st.just(good(ipaddress.ip_network("::/8"), "::/8")),
    "Enum": st.sampled_from([good(Colour.CRIMSON, "red"), good(Colour.PAIR, [1, "1.0"])]),
    "IntEnum": st.just(good(Number.ONE, 1)),
    "StrEnum": st.just(good(Word.YES, "yes")),
    "Flag": st.just(good(Rights.READ | Rights.WRITE, 3)),
    "StrEnum as a name": st.just(good({Word.YES: {"key": 1.0}}, {"yes": {"key": 1}})),
    "Counter": st.just(good(Counter("aab"), {"a": 2, "b": 1})),
    "RootModel": st.just(Drawn(lambda: Listed([1, 2]), {"root": [1, 2]})),
    "what looks like a digest": st.just(good(LOOKS)),
}
BAD: dict[str, Callable[[], Any]] = {
    "str subclass": lambda: Text("ceo"),
    "float with a slot": lambda: _with(Priced(5), currency="BTC"),
    "int with a dict": lambda: _with(Coins(5), currency="BTC"),
    "lying Decimal": lambda: Lying("1000000"),
    "lying list": lambda: Stack(["ceo"]),
    "lying bytes": lambda: Blob(b"ceo"),
    "lying dict": lambda: Loud(to="ceo"),
    "lying datetime": lambda: Moment(2027, 1, 1),
    "tuple subclass": lambda: Pairs([1]),
    "defaultdict": lambda: defaultdict(list, to=["mom"]),
    "ChainMap": lambda: ChainMap({"to": "mom"}, {"to": "ceo"}),
    "UserDict": Foreign,
    "UserList": lambda: UserList(["mom"]),
    "UserString": lambda: UserString("mom"),
    "MappingProxyType": lambda: MappingProxyType({"to": "mom"}),
    "httpx.QueryParams": lambda: httpx.QueryParams("to=mom&to=ceo"),
    "starlette QueryParams": lambda: QueryParams("to=ceo&to=mom"),
    "MultiDict": lambda: MultiDict([("to", "ceo"), ("to", "mom")]),
    "Headers": lambda: Headers({"to": "mom"}),
    "OrderedDict with an attribute": lambda: _with(OrderedDict(a=1), to="ceo"),
    "set": lambda: {1},
    "frozenset": lambda: frozenset({1}),
    "deque": lambda: deque([1]),
    "range": lambda: range(3),
    "generator": lambda: (each for each in [1]),
    "iterator": lambda: iter([1]),
    "complex": lambda: 1j,
    "Fraction": lambda: Fraction(1, 3),
    "SecretStr": lambda: SecretStr("x"),
    "object": Node,
    "namespace": lambda: SimpleNamespace(to="mom"),
    "class": lambda: Node,
    "function": lambda: _with,
    "NaN": lambda: math.nan,
    "Decimal that is not a number": lambda: Decimal("NaN"),
    "signalling Decimal": lambda: Decimal("sNaN"),
    "infinite Decimal": lambda: Decimal("Infinity"),
    "infinity": lambda: -math.inf,
    "huge int": lambda: 2**53,
    "lone surrogate": lambda: "\ud800",
    "name that is a number": lambda: {1: 2},
    "name that is a subclass": lambda: {Text("to"): 1},
    "two names that are one": lambda: {Colour.RED: 1, "red": 2},
    "member with a list": lambda: Listy.ONE,
    "dataclass with another slot": lambda: _with(Over("mom"), bcc="ceo"),
    "dataclass that is a text": lambda: Both("ceo"),
    "field that is computed": lambda: Computed("ceo"),
    "unset field": lambda: object.__new__(Slots),
}


@st.composite
def _trees(draw: st.DrawFn, inner: st.SearchStrategy[Drawn]) -> Drawn:
    shape, parts = draw(st.sampled_from(list(SHAPES))), draw(st.lists(inner, max_size=3))
    make, show = SHAPES[shape]
    if any(each.is_refused for each in parts[: 1 if shape in ONE else None]):
        shown = Refused
    else:
        shown = show([each.shown for each in parts])
    return Drawn(lambda: make([each.make() for each in parts]), shown)


def _first(parts: list[Any]) -> Any:
    return parts[0] if parts else None


ONE = ("dataclass", "slots", "child", "generic", "model", "heir", "frozen", "generic model", "new named tuple")
"""Shapes of one part."""
NAMES = ("to", "s256x", "a b/~\u202e")
SHAPES: dict[str, tuple[Callable[[list[Any]], Any], Callable[[list[Any]], Any]]] = {
    "list": (list, list),
    "tuple": (tuple, list),
    "dict": (lambda parts: dict(zip(NAMES, parts, strict=False)), lambda parts: dict(zip(NAMES, parts, strict=False))),
    "OrderedDict": (
        lambda parts: OrderedDict(zip(NAMES, parts, strict=False)),
        lambda parts: dict(zip(NAMES, parts, strict=False)),
    ),
    "old named tuple": (lambda parts: Old(parts, 1), lambda parts: [parts, 1]),
    "new named tuple": (lambda parts: New(_first(parts)), lambda parts: [_first(parts), 2]),
    "dataclass": (
        lambda parts: _with(Plain(_first(parts), start=4), noted=1),
        lambda parts: {"inner": _first(parts), "made": [], "counted": 5, "noted": 1},
    ),
    "slots": (lambda parts: Slots(_first(parts)), lambda parts: {"inner": _first(parts)}),
    "child": (
        lambda parts: Child(1, more=_first(parts)),
        lambda parts: {"inner": 1, "made": [], "more": _first(parts), "counted": 2},
    ),
    "generic": (lambda parts: Box[Any](_first(parts)), lambda parts: {"inner": _first(parts)}),
    "model": (
        lambda parts: _with_note(Model(inner=_first(parts), bcc="ceo")),
        lambda parts: {"inner": _first(parts), "bcc": "ceo", "_note": "n"},
    ),
    "heir": (
        lambda parts: Heir(inner=_first(parts)),
        lambda parts: {"inner": _first(parts), "bcc": None, "more": 2, "_note": ""},
    ),
    "frozen": (lambda parts: Frozen(inner=_first(parts)), lambda parts: {"inner": _first(parts)}),
    "generic model": (lambda parts: Generics[Any](inner=_first(parts)), lambda parts: {"inner": _first(parts)}),
    "open model": (lambda parts: Open.model_validate({"to": parts}), lambda parts: {"to": parts}),
}


def _with_note(model: Model) -> Model:
    model._note = "n"
    return model


LEAVES = st.one_of(*GOOD.values())
TREES = st.recursive(
    st.one_of(LEAVES, LEAVES, LEAVES, st.sampled_from(list(BAD.values())).map(bad)), _trees, max_leaves=6
)


def state(value: Any) -> Any:
    """Return all that a value holds, with the classes: equal for the same values only."""
    kind = type(value)
    if isinstance(value, enum.Enum):
        return kind, value.name
    if isinstance(value, dict):
        return kind, [(state(name), state(each)) for name, each in dict.items(value)]
    if isinstance(value, list | tuple):
        return kind, list(map(state, value))
    if isinstance(value, BaseModel):
        parts = (value.__dict__, value.__pydantic_extra__, value.__pydantic_private__)
        return kind, [state(part) for part in parts], value.model_fields_set
    if dataclasses.is_dataclass(value):
        names = [each.name for each in dataclasses.fields(value)]
        return kind, {
            name: state(getattr(value, name)) for name in {*names, *getattr(value, "__dict__", {})} - {"__orig_class__"}
        }
    return kind, repr(value)


_BYTES = re.compile(r"\d+ bytes? \(SHA-256 ([\w-]{43})\)")
_HASH = re.compile(r" \(SHA-256 [\w-]{43}\)")


@dataclasses.dataclass
class Reader:
    """Reads the line of an argument: JSON, in which bytes are their size and their hash."""

    text: str
    at: int = 0

    def read(self) -> Any:
        """Return the value that begins here."""
        if found := _BYTES.match(self.text, self.at):
            self.at = found.end()
            return {"s256": found[1], "media_type": "application/octet-stream"}
        if self.text[self.at] in "[{":
            return self.read_inside(self.text[self.at])
        value, self.at = json.JSONDecoder().raw_decode(self.text, self.at)
        return value

    def read_inside(self, opening: str) -> Any:
        """Return a list or an object, without the hash of one that looks like a digest."""
        closing = {"[": "]", "{": "}"}[opening]
        entries = list[Any]()
        self.at += 1
        while self.text[self.at] != closing:
            name = self.read() if opening == "{" else ""
            self.at += 2 if opening == "{" else 0
            entries.append((name, self.read()))
            self.at += 2 if self.text.startswith(", ", self.at) else 0
        hashed = _HASH.match(self.text, self.at + 1)
        self.at = hashed.end() if hashed else self.at + 1
        return dict(entries) if opening == "{" else [each for _, each in entries]


def read(line: str) -> Any:
    """Return what a person reads of the argument."""
    reader = Reader(line.removeprefix("value: "))
    value = reader.read()
    assert reader.at == len(reader.text)
    return value


def stored(shown: Any) -> Any:
    """Return what the proposal has of a value: what looks like a digest is a digest itself."""
    if shown == LOOKS:
        return {**_digest(json.dumps(LOOKS, separators=(",", ":")).encode()), "media_type": "application/json"}
    if isinstance(shown, dict):
        return {name: stored(each) for name, each in shown.items()}
    return list(map(stored, shown)) if isinstance(shown, list) else shown


def spoil(value: Any) -> None:
    """Change the object that was passed, in every place that can be changed."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        spoil(inner)
    if isinstance(value, list | dict | bytearray) and value:
        value.clear()
    if isinstance(value, Plain | Box | Model | Open):
        spoil(value.__dict__)


def is_same_json(one: Any, other: Any) -> bool:
    """Compare as JSON, in which 1.0 is 1 and true is not."""
    return json.dumps(_numbers(one)) == json.dumps(_numbers(other))


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return list(map(_numbers, value))
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


@settings(
    max_examples=10_000 if FULL else 300,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(tree=TREES)
def test_what_is_read_digested_kept_and_run_is_one_value(tree: Drawn) -> None:
    """Whatever becomes of the object that was passed; or nobody is asked."""
    check(tree)


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_each_class_that_is_not_exact_is_refused(make: Callable[[], Any]) -> None:
    """By itself, in a list, as a member, in a model and in a dataclass."""
    places: tuple[Callable[[Any], Any], ...] = (
        lambda value: value,
        lambda value: [value],
        lambda value: {"to": value},
        Slots,
        lambda value: Open.model_validate({"to": value}),
    )
    for place in places:
        check(bad(lambda place=place: place(make())))  # type: ignore[misc]


@pytest.mark.parametrize("drawn", GOOD.values(), ids=GOOD)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_each_exact_class_is_taken(drawn: st.SearchStrategy[Drawn], data: st.DataObject) -> None:
    """And comes to the tool as it was."""
    check(data.draw(drawn))


def check(tree: Drawn) -> None:
    """Make the call of a tree, and compare what each of the four got."""
    authority, ran, passed = Authority(), list[Any](), tree.make()

    def answer(pending: PendingDecision) -> Any:
        spoil(passed)
        return approve(pending)

    person = Person(answer)
    guard = authority.guard(lambda value: ran.append(state(value)), name="take", ask=person)
    if tree.is_refused:
        with pytest.raises(InputError):
            guard.call("c", passed)
        assert person.asked == []
        return
    guard.call("c", passed)
    findings = person.asked[0].moment.findings
    assert is_same_json(read(findings[0]), tree.shown)
    s256 = findings[2].partition("Reference of the call: ")[2].rstrip(".")
    proposal = authority.proposals.get(s256)
    assert proposal is not None
    assert _digest(proposal.document)["s256"] == s256
    assert is_same_json(json.loads(proposal.document)["parameters"]["value"], stored(tree.shown))
    assert ran == [state(tree.make())]
