"""Types with a text and the value that it states, for a small model on a real server.

Only pydantic is imported, so that the environments of other libraries can load this module.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field


class Invoice(BaseModel):
    """An invoice."""

    vendor: str
    total: float


class Colour(str, Enum):
    """A colour."""

    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Bill(BaseModel):
    """A bill with a day on which it is due."""

    vendor: str
    due: dt.date


class Meeting(BaseModel):
    """A meeting."""

    day: dt.date
    hour: Annotated[int, Field(ge=0, le=23)]


class Item(BaseModel):
    """A line of an order."""

    name: str
    count: Annotated[int, Field(ge=1, le=100)]


class Order(BaseModel):
    """An order."""

    items: Annotated[list[Item], Field(min_length=1, max_length=4)]


class Tree(BaseModel):
    """A folder and the folders in it."""

    name: str
    children: Annotated[list[Tree], Field(max_length=3)] = []


class Cat(BaseModel):
    """A cat."""

    kind: Literal["cat"]
    name: str


class Dog(BaseModel):
    """A dog."""

    kind: Literal["dog"]
    name: str


class Sky(BaseModel):
    """The sky."""

    colour: Colour


class Palette(BaseModel):
    """Some colours."""

    colours: Annotated[list[str], Field(min_length=1, max_length=3)]


class Pet(BaseModel):
    """A pet."""

    animal: Annotated[Cat | Dog, Field(discriminator="kind")]


class Box(BaseModel):
    """A box of apples."""

    apples: int


class Bottle(BaseModel):
    """A bottle."""

    litres: float


class Person(BaseModel):
    """A person."""

    name: str
    age: Annotated[int, Field(ge=0, le=130)]


class Address(BaseModel):
    """An address."""

    street: str
    city: str


class Customer(BaseModel):
    """A customer with an address."""

    name: str
    address: Address


@dataclass
class Point:
    """A point."""

    x: int
    y: int


@dataclass(frozen=True)
class Task:
    """A type to ask for, a text, and the value that the text states."""

    name: str
    form: Any
    text: str
    truth: Any


MODEL_TASKS = (
    Task("invoice", Invoice, "Acme wants 12.50 for two boxes.", Invoice(vendor="Acme", total=12.5)),
    Task("box", Box, "The box has 7 apples.", Box(apples=7)),
    Task("bottle", Bottle, "The bottle holds 1.5 litres.", Bottle(litres=1.5)),
    Task("sky", Sky, "The sky is blue.", Sky(colour=Colour.BLUE)),
    Task("palette", Palette, "The colours are red and blue.", Palette(colours=["red", "blue"])),
    Task("bill", Bill, "Acme is to be paid by 2027-01-31.", Bill(vendor="Acme", due=dt.date(2027, 1, 31))),
    Task("meeting", Meeting, "We meet on 2027-03-05 at 14:00.", Meeting(day=dt.date(2027, 3, 5), hour=14)),
    Task(
        "order",
        Order,
        "I want 2 pens and 3 cups.",
        Order(items=[Item(name="pens", count=2), Item(name="cups", count=3)]),
    ),
    Task(
        "tree",
        Tree,
        "The folder home has one folder, which is called docs.",
        Tree(name="home", children=[Tree(name="docs")]),
    ),
    Task("pet", Pet, "Rex is a dog.", Pet(animal=Dog(kind="dog", name="Rex"))),
    Task("person", Person, "Ada is 36 years old.", Person(name="Ada", age=36)),
    Task(
        "customer",
        Customer,
        "Ada lives in Baker Street in London.",
        Customer(name="Ada", address=Address(street="Baker Street", city="London")),
    ),
)
"""Twelve pydantic models, which every library takes."""

TASKS = (
    *MODEL_TASKS,
    Task("boolean", bool, "Is Paris in France?", True),
    Task("integer", int, "The box has 7 apples. How many apples has the box?", 7),
    Task("number", float, "The bottle holds 1.5 litres. How many litres does it hold?", 1.5),
    Task("string", str, "Repeat this word and nothing else: banana", "banana"),
    Task("enum", Colour, "The sky is blue. Which colour has the sky?", Colour.BLUE),
    Task("literal", Literal["yes", "no"], "Water is wet. Is water wet?", "yes"),
    Task("date", dt.date, "The rent is due on 2027-01-31. When is it due?", dt.date(2027, 1, 31)),
    Task("decimal", Decimal, "The fee is 2.50 dollars. How high is the fee?", Decimal("2.50")),
    Task("strings", Annotated[list[str], Field(max_length=3)], "The colours are red and blue.", ["red", "blue"]),
    Task("union", Annotated[Cat | Dog, Field(discriminator="kind")], "Rex is a dog.", Dog(kind="dog", name="Rex")),
    Task("dataclass", Point, "The point is at x = 3 and y = 4.", Point(3, 4)),
    Task("optional", Person | None, "Bob is 40 years old.", Person(name="Bob", age=40)),
    Task(
        "schema",
        {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
        "Ada lives in London.",
        {"city": "London"},
    ),
)
"""The models, and the other kinds of types: plain values, a union, a dataclass, an optional model, a JSON Schema."""
