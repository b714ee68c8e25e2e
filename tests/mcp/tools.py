"""Tools of every kind that the SDK takes, which know nothing of decisions but where they say so."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field

from emitter.mcp import WithMoment
from emitter.testing.sample_moments import VALID_MOMENT

if TYPE_CHECKING:
    from collections.abc import Callable


class Branch(BaseModel):
    """An open object."""

    name: str
    ahead: int = 3
    owner: str | None = None


class Closed(BaseModel):
    """An object that takes no other member."""

    model_config = ConfigDict(extra="forbid")

    name: str
    where: Where = Field(default_factory=lambda: Where(host="local"))


class Where(BaseModel):
    """An object within."""

    model_config = ConfigDict(extra="forbid")

    host: str


class Tree(BaseModel):
    """An object that holds itself."""

    name: str
    below: list[Tree] = []


class Typed(TypedDict):
    """A dictionary with a form."""

    name: str


@dataclass
class Plain:
    """A class with annotations."""

    name: str


def model(name: str) -> Branch:
    """Return a model."""
    return Branch(name=name)


def closed(name: str) -> Closed:
    """Return a model that takes no other member."""
    return Closed(name=name)


def tree(name: str) -> Tree:
    """Return a model that holds itself."""
    return Tree(name=name, below=[Tree(name="a", below=[Tree(name="b", below=[Tree(name="c")])])])


async def later(name: str) -> Branch:
    """Return a model, after others had their turn."""
    await asyncio.sleep(0)
    return Branch(name=name)


def typed(name: str) -> Typed:
    """Return a typed dictionary."""
    return {"name": name}


def plain(name: str) -> Plain:
    """Return an instance of a class."""
    return Plain(name)


def free(name: str) -> dict[str, Any]:
    """Return a dictionary of anything."""
    return {"name": name, "owner": None}


def numbers(name: str) -> dict[str, int]:
    """Return a dictionary of numbers."""
    return {name: 1}


def text(name: str) -> str:
    """Return a text."""
    return f"Looked at {name}."


def many(name: str) -> list[str]:
    """Return a list."""
    return [name, name]


def block(name: str) -> TextContent:
    """Return a block of content."""
    return TextContent(type="text", text=name)


def untyped(name):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Return something."""
    return {"name": name}


def result(name: str) -> CallToolResult:
    """Return a result of its own making."""
    return CallToolResult.model_validate(
        {"content": [{"type": "text", "text": name}], "structuredContent": {"n": name}}
    )


def checked(name: str) -> Annotated[CallToolResult, Branch]:
    """Return a result that is held to a type."""
    made = {"content": [{"type": "text", "text": name}], "structuredContent": {"name": name, "ahead": 1}}
    return CallToolResult.model_validate(made)


TOOLS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (model, closed, tree, later, typed, plain, free, numbers, text, many, block, untyped, result, checked)
}


def says(name: str) -> WithMoment[Branch]:
    """Return a payload with its decision."""
    return WithMoment(Branch(name=name), VALID_MOMENT)


async def sometimes(name: str) -> Branch | WithMoment[Branch]:
    """Return a payload with a decision, or without."""
    return WithMoment(Branch(name=name), VALID_MOMENT) if name == "spike" else Branch(name=name)


def nothing(name: str) -> WithMoment[Branch]:
    """Return a payload without a decision, in the same form."""
    return WithMoment(Branch(name=name))


def bare(name: str) -> WithMoment:  # type: ignore[type-arg]
    """Return a payload that says nothing of its type."""
    return WithMoment({"name": name}, VALID_MOMENT)


def payload(result: dict[str, Any], *, untyped: bool) -> Any:
    """Return what a conventional result tells as JSON: of a tool without a type the SDK makes a text alone."""
    return json.loads(result["content"][0]["text"]) if untyped else result.get("structuredContent", {})
