"""Types as callers write them, and what their schemas cost: ``python -m tests.schema.readable [PROFILE ...]``.

It prints the tokens of each type's wire schema, of pydantic's own JSON Schema, and the median ratio per profile.
Tokens are counted with the o200k ranks where they are on this machine, otherwise with the library's estimate.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import ipaddress
import json
import pathlib
import statistics
import sys
import uuid
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar

from pydantic import (
    UUID4,
    AnyUrl,
    AwareDatetime,
    Base64Str,
    BaseModel,
    Field,
    IPvAnyAddress,
    Json,
    NaiveDatetime,
    TypeAdapter,
)
from typing_extensions import TypedDict

from emitter import tokens
from emitter.schema import compile_schema

T = TypeVar("T")
PROFILES = ("openai", "azure-openai", "anthropic", "google", "tier1")
ENCODING = "o200k_base"


class Severity(enum.IntEnum):
    """How bad it is."""

    low = 1
    mid = 2
    high = 3


class Line(BaseModel):
    """One line of an invoice."""

    description: str
    quantity: int = Field(ge=1)
    unit_price: decimal.Decimal


class Invoice(BaseModel):
    """An invoice."""

    number: str = Field(examples=["INV-2026-001"])
    issued: dt.date
    currency: Literal["EUR", "USD", "GBP"]
    lines: list[Line]
    total: decimal.Decimal = Field(description="Gross total")
    notes: str | None = None


class Ticket(BaseModel):
    """A support ticket."""

    title: str
    severity: Severity
    tags: list[str] = []
    assignee: str | None = None
    labels: dict[str, str] = {}
    due: dt.datetime | None = None


class Meeting(BaseModel):
    """An appointment."""

    subject: str
    starts: AwareDatetime
    local_start: NaiveDatetime
    daily_at: dt.time
    length: dt.timedelta
    attendees: set[str]
    aliases: list[str] | None = []


class Tree(BaseModel):
    """A binary tree."""

    value: int
    left: Optional["Tree"] = None
    right: Optional["Tree"] = None


class Comment(BaseModel):
    """A comment and its replies."""

    author: str
    text: str
    replies: list["Comment"] = []


class Add(BaseModel):
    """A sum."""

    op: Literal["add"]
    left: "Expression"
    right: "Expression"


class Negate(BaseModel):
    """A negation."""

    op: Literal["neg"]
    inner: "Expression"


class Number(BaseModel):
    """A number."""

    op: Literal["num"]
    value: float


Expression = Annotated[Add | Negate | Number, Field(discriminator="op")]
Add.model_rebuild()
Negate.model_rebuild()


class Point(NamedTuple):
    """A place."""

    latitude: float
    longitude: float


@dataclasses.dataclass
class Route:
    """A route."""

    name: str
    stops: list[Point]
    box: tuple[float, float, float, float]
    kind: Literal["road", "rail"] = "road"


class Host(BaseModel):
    """A machine."""

    ident: UUID4
    parent: uuid.UUID | None = None
    address: IPvAnyAddress
    network: ipaddress.IPv4Network
    home: pathlib.Path
    key: Base64Str
    page: AnyUrl
    settings: Json[dict[str, int]]


class Event(TypedDict):
    """Something that happened."""

    kind: Literal["created", "deleted"]
    payload: Any
    counts: dict[str, int]


class Page(BaseModel, Generic[T]):
    """A page of results."""

    items: list[T]
    next_page: int | None = None


TYPES: dict[str, Any] = {
    "invoice": Invoice,
    "ticket": Ticket,
    "meeting": Meeting,
    "tree": Tree,
    "comment": Comment,
    "expression": Add,
    "route": Route,
    "host": Host,
    "event": Event,
    "page_of_tickets": Page[Ticket],
    "list_of_lines": list[Line],
    "either": Invoice | Ticket,
}


def text(schema: object) -> str:
    """Return a schema as it stands in a request."""
    return json.dumps(schema, ensure_ascii=False)


def costs(profile: str) -> dict[str, tuple[int, int]]:
    """Return for each type the tokens of its wire schema and those of pydantic's own schema."""
    count = tokens.make_token_counter(ENCODING)
    return {
        name: (count(text(compile_schema(kind, profile).schema)), count(text(TypeAdapter(kind).json_schema())))
        for name, kind in TYPES.items()
    }


def main(profiles: list[str]) -> None:
    """Write the table to standard output."""
    exact = tokens.has_exact_counter(ENCODING)
    lines = [f"Tokens of {ENCODING}." if exact else f"No ranks of {ENCODING} here: the library's own estimate."]
    for profile in profiles or PROFILES:
        found = costs(profile)
        ratio = statistics.median(wire / own for wire, own in found.values())
        each = "  ".join(f"{name} {wire}/{own}" for name, (wire, own) in found.items())
        median = statistics.median(wire for wire, _ in found.values())
        lines.append(f"{profile:12}  median {median:5.0f}  ratio to pydantic's schema {ratio:.2f}  {each}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
