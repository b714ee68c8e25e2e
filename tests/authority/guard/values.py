"""Arguments of every kind, and how the envelope of a call reported one."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections import namedtuple
from typing import Any

from pydantic import BaseModel, Field, PrivateAttr, field_serializer

from emitter.authority import Authority
from tests.authority.guard.parts import Person


class Colour(enum.Enum):
    """An enumeration of texts."""

    RED = "red"


class Number(enum.IntEnum):
    """An enumeration of numbers."""

    ONE = 1


class Word(str, enum.Enum):
    """An enumeration whose members are texts."""

    YES = "yes"


@dataclasses.dataclass
class Mail:
    """A dataclass, in which another may stand."""

    to: Any
    inner: Any = None


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    """One without a dict."""

    to: str


class Model(BaseModel):
    """A model, with more than its schema tells."""

    to: str
    bcc: str | None = Field(default=None, exclude=True)
    inner: Any = None
    _note: str = PrivateAttr(default="")


class Open(BaseModel, extra="allow"):
    """A model that takes what it does not know."""


Point = namedtuple("Point", "x y")  # noqa: PYI024  it has to be one of the old kind


def one(value: Any) -> Any:
    """Return what it is given."""
    return value


def reported(value: Any) -> Any:
    """Return a value as the envelope of a call told it."""
    person = Person()
    Authority().guard(one, ask=person)(value)
    return json.loads(person.asked[0].moment.findings[0].removeprefix("value: "))


class Masked(BaseModel):
    """A model that shows something else."""

    to: str

    @field_serializer("to")
    def _shown(self, _: str) -> str:
        return "mom"


def hidden(to: str, note: str) -> Model:
    """Return a model with a private attribute."""
    made = Model(to=to)
    made._note = note
    return made
