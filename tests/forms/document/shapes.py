"""Types of every sort that pydantic reads."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import uuid
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Json, computed_field
from typing_extensions import TypedDict

T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    """Holds one."""

    held: T


class Node(BaseModel):
    """Refers to itself."""

    name: str
    below: "list[Node]" = []


class Cat(BaseModel):
    """One of two."""

    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    """The other."""

    kind: Literal["dog"]


class Colour(enum.Enum):
    """A choice."""

    RED = "red"


class Named(BaseModel):
    """Has names on the wire, strict members, and one that nobody writes."""

    model_config = ConfigDict(strict=True, extra="forbid")

    when: dt.datetime = Field(alias="theTime")
    price: decimal.Decimal
    ident: uuid.UUID
    raw: bytes
    tags: set[str]
    pair: tuple[int, str]
    embedded: Json[list[int]] = Field(default_factory=list)

    @computed_field
    def double(self) -> decimal.Decimal:
        """Twice the price."""
        return self.price * 2


@dataclasses.dataclass
class Point:
    """A plain dataclass."""

    x: int


class Table(TypedDict):
    """A typed dict."""

    a: int
