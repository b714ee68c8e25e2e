"""``partials()``: typed values that grow, over every wire."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import BaseModel, Field, ValidationInfo, field_validator, model_validator
from typing_extensions import TypedDict

from emitter import EmissionError, InputError, Policy
from emitter.host import Acceptor, HostConfig
from emitter.profiles import find_profile
from emitter.redaction import Secrets
from emitter.schema import compile_schema
from emitter.streaming import Restart
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.client.streams.vendor import WIRES, WORLDS, Answer, Vendor, opened, streamed
from tests.scenarios.vendors import VENDORS


class Line(BaseModel, frozen=True):
    """A line of a bill."""

    item: str
    price: float = Field(gt=0)


class Bill(BaseModel):
    """A bill, whose validators expect a complete one."""

    vendor: str
    lines: Annotated[list[Line], Field(min_length=2)]
    note: str = "none"

    @field_validator("vendor")
    @classmethod
    def _loud(cls, vendor: str) -> str:
        return vendor.upper()

    @model_validator(mode="after")
    def _is_whole(self) -> Bill:
        assert self.vendor.isupper()
        assert len(self.lines) > 1
        return self


DOCUMENT = {"vendor": "Acme", "lines": [{"item": "boxes", "price": 12.5}, {"item": "tape", "price": 3}], "note": "x"}


def answer(wire: str, document: Any, size: int = 1) -> Answer:
    """Return an answer that comes in pieces of a size."""
    return streamed(wire, VENDORS[wire].whole(json.dumps(document), 40).body, size)


def read(wire: str, world: str, script: list[Answer], form: Any, **more: Any) -> tuple[list[Any], Any]:
    """Return the partial values of a stream, and its result or error."""
    strings = more.pop("trailing_strings", False)
    running = opened(wire, world, Vendor(script), form, **more)
    found: list[Any] = []

    async def aread() -> Any:
        found.extend([each async for each in running.partials(trailing_strings=strings)])
        return await running.result()

    try:
        if world == "async":
            return found, asyncio.run(aread())
        found.extend(running.partials(trailing_strings=strings))
        return found, running.result()
    except EmissionError as error:
        return found, error


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("wire", WIRES)
def test_partial_values_grow_until_the_last_is_the_result(wire: str, world: str) -> None:
    """Missing fields are None, validators wait for the whole value, and the last value is that of the result."""
    found, emission = read(wire, world, [answer(wire, DOCUMENT)], Bill)

    assert all(isinstance(each, Bill) for each in found)
    assert found[0].model_dump() == {"vendor": "Acme", "lines": None, "note": None}
    assert [[line.price for line in each.lines or ()] for each in found if each.lines is not None][:4] == [
        [],
        [None],
        [12.5],
        [12.5, None],
    ]
    assert {each.vendor for each in found[:-1]} == {"Acme"}
    assert found[-1] is emission.value
    assert emission.value.vendor == "ACME"


def test_a_restart_takes_back_the_values_before_it() -> None:
    """A rejected answer is asked for again: the values start anew after a ``Restart``."""
    bad = {**DOCUMENT, "vendor": "Bolt", "lines": DOCUMENT["lines"][:1]}
    found, emission = read("anthropic", "sync", [answer("anthropic", bad), answer("anthropic", DOCUMENT)], Bill)
    (at,) = [index for index, each in enumerate(found) if isinstance(each, Restart)]

    assert {each.vendor for each in found[:at]} == {"Bolt"}
    assert {each.vendor for each in found[at + 1 : -1]} == {"Acme"}
    assert found[-1] is emission.value


def test_an_emission_that_fails_raises_its_error() -> None:
    """The error ends the iteration; what was shown before it has no last value."""
    bad = {**DOCUMENT, "lines": []}
    found, error = read("google", "sync", [answer("google", bad)], Bill, policy=Policy(max_attempts=1))

    assert isinstance(error, EmissionError)
    assert found[-1].lines == []


class Colour(enum.Enum):
    """A colour."""

    RED = "red"


class Cat(BaseModel):
    """A cat."""

    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    """A dog."""

    kind: Literal["dog"]
    name: str


@dataclass(frozen=True, slots=True)
class Point:
    """A point, whose hook expects numbers."""

    x: float
    y: float = 7

    def __post_init__(self) -> None:
        assert self.x < self.y


class Size(TypedDict):
    """A size."""

    width: int
    height: int


class Pair(NamedTuple):
    """A pair."""

    left: int
    right: str


class Tree(BaseModel):
    """A tree."""

    name: str
    children: list[Tree] = []


FORMS: dict[str, tuple[Any, Any, Any]] = {
    "list": (list[Line], DOCUMENT["lines"], [Line.model_construct(item="boxes", price=None)]),
    "dataclass": (Point, {"x": 1, "y": 2}, Point.__new__(Point)),
    "TypedDict": (Size, {"width": 1, "height": 2}, {"width": 1}),
    "dict": (dict[str, int], {"a": 1, "b": 2}, {"a": 1}),
    "recursion": (Tree, {"name": "a", "children": [{"name": "b"}]}, Tree.model_construct(name="a", children=None)),
    "union": (list[Cat | Dog], [{"kind": "dog", "name": "Rex"}], [Dog.model_construct(kind="dog", name=None)]),
    "JSON Schema": (
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}},
        {"a": 1, "b": [2]},
        {"a": 1},
    ),
}
object.__setattr__(FORMS["dataclass"][2], "x", 1.0)
object.__setattr__(FORMS["dataclass"][2], "y", None)


@pytest.mark.parametrize("wire", ["openai-responses", "google"])
@pytest.mark.parametrize(("form", "document", "early"), FORMS.values(), ids=FORMS.keys())
def test_every_form_has_partial_values(wire: str, form: Any, document: Any, early: Any) -> None:
    """Each value has the type of the form, and one of them is this early one."""
    profile, _ = find_profile(SCENARIO_MODELS[wire])
    encoded = compile_schema(form, profile).encode(document)
    found, emission = read(wire, "sync", [answer(wire, encoded)], form)

    assert early in found
    assert found[-1] is emission.value
    assert all(type(each) is type(emission.value) for each in found)


class Dated(BaseModel):
    """Fields with formats."""

    due: dt.date
    colour: Colour
    text: str


def test_strings_are_whole_unless_their_beginning_is_asked_for() -> None:
    """With ``trailing_strings`` a text grows; what is no date or colour yet is None."""
    document = {"due": "2027-01-31", "colour": "red", "text": "some words"}
    whole, _ = read("openai-chat", "sync", [answer("openai-chat", document)], Dated)
    grown, _ = read("openai-chat", "sync", [answer("openai-chat", document)], Dated, trailing_strings=True)

    assert {each.text for each in whole} == {None, "some words"}
    assert {"s", "some", "some words"} <= {each.text for each in grown}
    assert {each.due for each in grown} == {dt.date(2027, 1, 31)}
    assert {each.colour for each in grown} == {None, Colour.RED}


class Shade(enum.Enum):
    """One name is the beginning of the other."""

    RED = "red"
    REDDISH = "reddish"


class Entry(BaseModel):
    """Strings that stand for something else, and plain ones, in every place."""

    amount: Decimal
    at: dt.datetime
    took: dt.timedelta
    level: Literal["low", "lower"]
    shade: Shade
    path: Path
    code: Annotated[str, Field(pattern="^[A-Z]+$")]
    when: dt.date | str
    rates: list[Decimal]
    by_name: dict[str, Decimal]
    note: str | None
    words: list[str]
    texts: dict[str, str]
    pair: tuple[str, dt.date]


ENTRY = {
    "amount": "1234.50",
    "at": "2027-01-31T10:00:30+02:00",
    "took": "PT45M30S",
    "level": "lower",
    "shade": "reddish",
    "path": "/etc/hosts",
    "code": "ABC",
    "when": "2027",
    "rates": ["100.25", "7"],
    "by_name": {"k": "99.5"},
    "note": "plain of some length",
    "words": ["more", "words of some length"],
    "texts": {"k": "text of some length"},
    "pair": ["left of some length", "2027-01-31"],
}


@pytest.mark.parametrize("wire", ["openai-responses", "anthropic", "google"])
@pytest.mark.parametrize(
    ("form", "grown"),
    [(Entry, {"note", "words", "texts"}), (Entry.model_json_schema(), {"note", "words", "texts", "pair"})],
    ids=["type", "JSON Schema"],  # a tuple of a type is shown when it is complete
)
def test_only_plain_strings_grow(wire: str, form: Any, grown: set[str]) -> None:
    """A number, date, literal, path or pattern that is written as a string is never shown in part."""
    profile, _ = find_profile(SCENARIO_MODELS[wire])
    encoded = compile_schema(form, profile).encode(ENTRY)
    shown = [
        {(name, repr(value)) for each in found for name, value in dict(each).items()}
        for found, _ in (
            read(wire, "sync", [answer(wire, encoded)], form, trailing_strings=trailing) for trailing in (False, True)
        )
    ]

    assert {name for name, _ in shown[1] - shown[0]} == grown


def test_no_half_of_a_secret_is_shown() -> None:
    """Registered secrets are removed from partial values, so strings are then whole."""
    host = Acceptor(HostConfig(secrets=Secrets.of({"pin": "quxillious-7"})))
    document = {"due": "2027-01-31", "colour": "red", "text": "it is quxillious-7"}
    options = {"host": host, "trailing_strings": True}
    found, _ = read("anthropic", "sync", [answer("anthropic", document)], Dated, **options)

    assert {each.text for each in found} == {None, "it is [REDACTED:pin]"}


class Known(BaseModel):
    """A name that the context knows."""

    name: str

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str, info: ValidationInfo) -> str:
        assert name in info.context
        return name


def test_the_last_value_is_validated_in_the_context() -> None:
    """Validators that need a context do not run on partial values."""
    found, emission = read("anthropic", "sync", [answer("anthropic", {"name": "a"})], Known, context=["a"])

    assert found == [emission.value, emission.value]


def test_a_decision_and_a_stream_in_progress_have_no_partial_values() -> None:
    """Both are errors of the caller."""
    with pytest.raises(InputError, match="A decision has no partial values"):
        opened("anthropic", "sync", Vendor([]), None).partials()
    with opened("anthropic", "sync", Vendor([answer("anthropic", DOCUMENT)]), Bill) as running:
        next(running)
        with pytest.raises(InputError, match="already being read"):
            running.partials()
