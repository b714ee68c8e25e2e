"""Types and schemas to register."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from emitter.host.registry import register_kind

if TYPE_CHECKING:
    from emitter.host.kinds import EnvelopeKind

NAME = "vendor.acme.prd.create"
OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}


def registered(model: object, **more: Any) -> EnvelopeKind:
    """Return the kind that a type or schema is registered as."""
    return register_kind(NAME, model, **more)[NAME]


def of(**properties: Any) -> dict[str, Any]:
    """Return a closed object schema."""
    return {**OBJECT, "required": [*properties], "properties": properties}


def model(annotation: Any) -> type[BaseModel]:
    """Return a model with one property."""
    return type("Made", (BaseModel,), {"__annotations__": {"it": annotation}, "__module__": __name__})


A, B = (of(kind={"type": "string", "enum": [each]}) for each in "ab")


class Colour(str, Enum):
    """A tag may be a member of an enum."""

    RED = "red"


class Design(BaseModel):
    """A variant whose tag must be said."""

    kind: Literal["design"]
    title: str


class Plan(BaseModel):
    """A variant whose tag has a default."""

    kind: Literal["plan"] = "plan"
    steps: int


class Red(BaseModel):
    """A variant that is tagged by an enum's member."""

    kind: Literal[Colour.RED]


class Loose(BaseModel):
    """A variant of two tags."""

    kind: Literal["loose", "looser"]


class Untagged(BaseModel):
    """A variant of none."""

    title: str


class OtherTag(BaseModel):
    """A variant tagged under another name."""

    type: Literal["other"]


class SameTag(BaseModel):
    """A variant of the same tag."""

    kind: Literal["design"]
