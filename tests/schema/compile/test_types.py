"""Python types: what pydantic's JSON Schema leaves out and a model has to be reported."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import ipaddress
import json
import pathlib
import uuid
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

import pytest
from pydantic import (
    UUID4,
    UUID7,
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    Base64Str,
    BaseModel,
    ConfigDict,
    Field,
    IPvAnyAddress,
    IPvAnyInterface,
    IPvAnyNetwork,
    Json,
    NaiveDatetime,
)
from typing_extensions import TypedDict

from emitter.schema import compile_schema
from emitter.schema.python_types import resolve_schema
from tests.schema.compile.lens import ALL, OPENAI, broken

T = TypeVar("T")


class Severity(enum.IntEnum):
    """How bad it is."""

    low = 1
    mid = 2
    high = 3


class Grade(enum.Enum):
    """Names that are codes."""

    A = "very good"
    B = "good"


class Status(enum.Enum):
    """Names that are the values."""

    OPEN = "open"
    IN_PROGRESS = "in-progress"


class Corner(enum.Enum):
    """Values that are lists."""

    ORIGIN = (0, 0)
    FAR = (9, 9)


class Alias(enum.IntEnum):
    """A value with two names."""

    minor = 1
    low = 1
    major = 2


class Box(BaseModel, Generic[T]):
    """Holds one."""

    held: T


@dataclasses.dataclass
class Report:
    """Holds the enum."""

    level: Severity


class Row(TypedDict):
    """Holds the enum."""

    level: Severity


class Nest(BaseModel):
    """Holds the enum and itself."""

    level: Severity
    below: list["Nest"] = []


NAMED = "1 = low, 2 = mid, 3 = high"
HOLDERS: dict[str, Any] = {
    "itself": Severity,
    "optional": Severity | None,
    "list": list[Severity],
    "values-of-a-map": dict[str, Severity],
    "keys-of-a-map": dict[Severity, str],
    "union": Severity | list[str],
    "tuple": tuple[str, Severity],
    "generic": Box[Severity],
    "dataclass": Report,
    "typed-dict": Row,
    "recursive": Nest,
    "literal": Literal[Severity.low, Severity.mid, Severity.high],
    "described": Annotated[Severity, Field(description="The level.")],
    "described-literal": Box[
        Annotated[Literal[Severity.low, Severity.mid, Severity.high], Field(description="The level.")]
    ],
    "set": set[Severity],
    "deep": dict[str, list[Box[Severity] | None]],
}


def descriptions(schema: Any) -> str:
    """Return all that the descriptions in a schema say."""
    if isinstance(schema, list):
        return " ".join(map(descriptions, schema))
    if not isinstance(schema, dict):
        return ""
    said = schema.get("description")
    own = said if isinstance(said, str) else ""
    return " ".join([own, *(descriptions(each) for key, each in schema.items() if key != "description")])


def field(kind: Any, vendor: str = OPENAI) -> dict[str, Any]:
    """Return the wire form of a type that stands as a field."""
    compiled = compile_schema(Box[kind], vendor)
    assert broken(compiled, vendor) == []
    form: Any = compiled.schema
    return form["properties"]["held"]


@pytest.mark.parametrize("vendor", ALL)
@pytest.mark.parametrize("kind", HOLDERS.values(), ids=HOLDERS)
def test_names_of_members_reach_the_model(kind: Any, vendor: str) -> None:
    """Wherever the enum stands: its numbers alone say nothing."""
    compiled = compile_schema(kind, vendor)
    assert broken(compiled, vendor) == []
    reported = descriptions(compiled.schema)
    if kind != dict[Severity, str]:
        assert NAMED in reported
    else:  # keys are texts; a vendor that takes open objects has them as a rule
        assert '"1" = low, "2" = mid, "3" = high' in reported or '"x-enum-varnames": ["low", "mid", "high"]' in reported


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        pytest.param(Grade, '"very good" = A, "good" = B.', id="opaque-text"),
        pytest.param(Status, "", id="the-same-words"),
        pytest.param(Corner, "[0, 0] = ORIGIN, [9, 9] = FAR.", id="lists"),
        pytest.param(Alias, "1 = minor or low, 2 = major.", id="two-names"),
        pytest.param(Literal["a", "b"], "", id="literals"),
    ],
)
def test_names_that_say_more_are_reported(kind: Any, said: str) -> None:
    """A name made of the words of its value is not repeated."""
    reported = field(kind).get("description", "")
    assert said in reported
    assert ("=" in reported) == ("=" in said)


def test_a_json_schema_may_name_its_values() -> None:
    """The keyword is the one that OpenAPI generators use."""
    schema = {"type": "object", "properties": {"a": {"enum": [1, 2], "x-enum-varnames": ["low", "high"]}}}
    assert "1 = low, 2 = high." in descriptions(compile_schema(schema, OPENAI).schema)


def test_keys_that_are_listed_are_enforced() -> None:
    """They are the texts that JSON has for them, and pydantic reads them back."""
    form = field(dict[Severity, int])
    assert form["items"]["properties"]["key"]["enum"] == ["1", "2", "3"]
    compiled = compile_schema(dict[Severity, int], OPENAI)
    document = {"2": 5}
    assert compiled.validate(document) == ()
    assert compiled.decode(compiled.encode(document)) == document
    assert resolve_schema(dict[Severity, int]).parse(document).value == {Severity.mid: 5}


AT, TODAY, NOON = "2026-01-31T09:00:00", "2026-01-31", "12:00:00"
UNIQUE = "0197f3c5-9a5f-7000-8000-000000000000"
FORMATS: dict[str, tuple[Any, str, list[str], list[str]]] = {
    "time": (dt.time, 'A time, as in "09:30:00"', [NOON, "12:00", "12:00:00Z"], ["noon"]),
    "datetime": (dt.datetime, "only if you were given one", [AT, f"{AT}+02:00", "2026-01-31 09:00"], ["tomorrow"]),
    "naive": (NaiveDatetime, "without an offset", [AT], [f"{AT}Z"]),
    "aware": (AwareDatetime, "with its offset from UTC", [f"{AT}Z", "2026-01-31T09:00+02:00"], [AT]),
    "date": (dt.date, "", [TODAY], ["31.1."]),
    "duration": (dt.timedelta, '"PT45M" for 45 minutes', ["PT45M"], ["soon"]),
    "uuid4": (UUID4, "A UUID of version 4.", ["12f4a6f0-7c3d-4c3e-9d55-0d5a2f6f3b11"], [UNIQUE, "x"]),
    "uuid7": (UUID7, "A UUID of version 7.", [UNIQUE], ["12f4a6f0-7c3d-4c3e-9d55-0d5a2f6f3b11"]),
    "uuid": (uuid.UUID, "", [UNIQUE, UNIQUE.replace("-", "")], ["x"]),
    "any-ip": (IPvAnyAddress, "An IPv4 or IPv6 address.", ["192.0.2.1", "::1"], ["home"]),
    "any-interface": (IPvAnyInterface, "prefix length", ["192.0.2.1/24"], ["home"]),
    "any-network": (IPvAnyNetwork, "network", ["192.0.2.0/24"], ["192.0.2.1/24"]),
    "network": (ipaddress.IPv4Network, "An IPv4 network", ["192.0.2.0/24"], ["::1/128"]),
    "base64-text": (Base64Str, "Encoded in Base64.", ["aGk="], ["a"]),
    "base64-bytes": (Base64Bytes, "Encoded in Base64.", ["aGk="], ["a"]),
    "path": (pathlib.Path, "A file system path.", ["/tmp/x"], []),  # noqa: S108  a text
    "url": (AnyUrl, "", ["https://example.com/a b"], ["nowhere"]),
    "json": (Json[int], "JSON text of a value that must be valid against this JSON Schema", ["3"], []),
}


@pytest.mark.parametrize("vendor", ALL)
@pytest.mark.parametrize(("kind", "said", "good", "bad"), FORMATS.values(), ids=FORMATS)
def test_formats_are_reported_and_checked_as_pydantic_reads_them(
    kind: Any, said: str, good: list[str], bad: list[str], vendor: str
) -> None:
    """Every format reaches the model as a keyword or in words, and the local check agrees with the type."""
    compiled, reader = compile_schema(Box[kind], vendor), resolve_schema(Box[kind])
    form: Any = compiled.schema
    form = form["properties"]["held"]
    assert said in form.get("description", "")
    assert "format" in form or form.get("description")
    for text in good:
        assert compiled.validate({"held": text}) == ()
        assert reader.parse({"held": text}).violations == ()
    for text in bad:
        assert compiled.validate({"held": text}) != ()
        assert reader.parse({"held": text}).violations != ()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param(Box[AwareDatetime], AT, id="type"),
        pytest.param({"properties": {"held": {"format": "date-time"}}}, AT, id="date-time"),
        pytest.param({"properties": {"held": {"format": "time"}}}, NOON, id="time"),
    ],
)
def test_a_correction_says_that_only_the_offset_lacks(kind: Any, text: str) -> None:
    """It names no offset that a model could copy."""
    (found,) = compile_schema(kind, OPENAI).validate({"held": text})
    assert "with its offset from UTC" in found.expected
    assert "as you were given it" in found.expected
    assert not any(each in found.expected for each in ("+0", ":00Z", '00Z"'))


@pytest.mark.parametrize("vendor", ALL)
@pytest.mark.parametrize("kind", [dt.time, dt.datetime, NaiveDatetime], ids=["time", "datetime", "naive"])
def test_no_vendor_is_made_to_ask_for_an_offset(kind: Any, vendor: str) -> None:
    """The standard formats demand an offset, so they are not sent where the type takes a time without."""
    assert "format" not in field(kind, vendor)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        pytest.param(decimal.Decimal, 'the digits as text, as in "12.50"', id="decimal"),
        pytest.param(Any, "(a string keeps its quotes)", id="any-value"),
        pytest.param(Json, "(a string keeps its quotes)", id="json-text"),
        pytest.param(dict[str, int], "each key once, in the words you were given", id="map"),
        pytest.param(tuple[int, str], "item_0 is the first", id="tuple"),
    ],
)
def test_words_where_the_form_alone_is_ambiguous(kind: Any, said: str) -> None:
    """A form that could be read in two ways says which is meant."""
    assert said in descriptions(field(kind))


class Place(NamedTuple):
    """A place."""

    latitude: float
    longitude: float = 0.0


def test_items_of_a_named_tuple_keep_their_names() -> None:
    """The slots are said to be what the fields are called."""
    reported = field(Place)["description"]
    assert "item_0 = latitude, item_1 = longitude" in reported


class Defaults(BaseModel):
    """Properties that may be absent."""

    tags: list[str] = []
    aliases: list[str] | None = []
    note: str | None = None
    size: int = 3
    map: dict[str, int] = {}


def test_defaults_say_how_to_say_none() -> None:
    """Where null stands for an absent property it is said what it means, and nothing else is."""
    form: Any = compile_schema(Defaults, OPENAI).schema
    reported = {name: each.get("description", "") for name, each in form["properties"].items()}
    assert reported["tags"] == "null means []."
    assert reported["aliases"] == "Default: []. Write [] if there are none."
    assert reported["note"] == ""
    assert reported["size"] == "null means 3."
    assert reported["map"].endswith("null means [].")  # as it is written on the wire
    assert "title" not in json.dumps(form["properties"])


def test_titles_that_repeat_a_name_are_left_out() -> None:
    """A title of its own stays."""
    schema = {
        "type": "object",
        "properties": {
            "unit_price": {"type": "number", "title": "Unit Price"},
            "n": {"type": "number", "title": "Count"},
        },
    }
    form: Any = compile_schema(schema, OPENAI).schema
    assert "title" not in form["properties"]["unit_price"]
    assert form["properties"]["n"]["title"] == "Count"


class Shown(BaseModel):
    """Has examples."""

    model_config = ConfigDict(title="Shown")

    code: str = Field(examples=["A-1", "B-2", "C-3", "D-4"])
    long: str = Field(examples=["x" * 1_000])
    map: dict[str, int] = Field(examples=[{"a": 1}])
    level: Severity = Field(examples=[2])


@pytest.mark.parametrize("vendor", ALL)
def test_examples_of_a_field_are_reported(vendor: str) -> None:
    """They are few, short, and as the model is to write them."""
    form: Any = compile_schema(Shown, vendor).schema
    reported = {name: each.get("description", "") for name, each in form["properties"].items()}
    assert 'For example: "A-1", "B-2", "C-3".' in reported["code"]
    assert "xxx" not in reported["long"]
    written = '{"a": 1}' if vendor == "google" else '[{"key": "a", "value": 1}]'
    assert written in reported["map"]
    assert "For example: 2." in reported["level"]


def test_a_format_that_nobody_checks_is_reported() -> None:
    """It is a remark, and so no loss."""
    schema = {"type": "object", "properties": {"n": {"type": "integer", "format": "int32"}, "s": {"format": "zip"}}}
    compiled = compile_schema(schema, OPENAI)
    assert "32 bits" in descriptions(compiled.schema)
    assert "Format: zip." in descriptions(compiled.schema)
