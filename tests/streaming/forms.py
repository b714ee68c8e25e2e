"""Schemas of many sorts, and documents that are valid under each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from tests.work import covering

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

PROFILES = ("openai", "azure-openai", "anthropic", "google", "plain")

TEXTS = st.text(
    st.sampled_from('ab{}[]":,\\/ \n\t\x00é決🙂~') | st.characters(exclude_categories=["Cs"], max_codepoint=0x1F600),
    max_size=12,
)
INTEGERS = st.integers(-(10**18), 10**18)
NUMBERS = INTEGERS | st.floats(allow_nan=False, allow_infinity=False)
VALUES: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | INTEGERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@dataclass(frozen=True)
class Form:
    """A schema, documents of it, and pointers to containers and texts in it."""

    schema: Any
    documents: SearchStrategy[Any]
    into: tuple[str, ...] = ()
    follow: tuple[str, ...] = ()


class Line(BaseModel):
    """A line of an invoice."""

    what: str
    count: Annotated[int, Field(ge=0)]


class Invoice(BaseModel):
    """A nested model."""

    vendor: str
    lines: list[Line]
    billed: Line | None = None
    note: str | None = None


class Node(BaseModel):
    """Refers to itself."""

    name: str
    below: list[Node] = []


class Cat(BaseModel):
    """One of two, by its tag."""

    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    """The other."""

    kind: Literal["dog"]
    says: str
    variant: str


class Cup(BaseModel):
    """One of two that only their members tell apart."""

    model_config = ConfigDict(extra="forbid")

    value: str
    size: int


class Pot(BaseModel):
    """The other."""

    model_config = ConfigDict(extra="forbid")

    value: str
    lid: bool = True


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Home(BaseModel):
    """Has what compilers change: unions, maps, tuples, open values."""

    pet: Pet
    vessel: Cup | Pot
    either: list[int] | dict[str, int]
    named: dict[str, int]
    pair: tuple[int, str]
    mixed: tuple[dict[str, Any], int]
    anything: Any
    most: dict[str, Any] = {}


ODD_NAMES = ("a/b", "m~n", "", "é", "~1", "kind")


def fixed(**members: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Draw objects whose members stand in this order; those named with a leading underscore may be absent."""
    drawn = {name: each for name, each in members.items() if not name.startswith("_")}
    optional = {name[1:]: each for name, each in members.items() if name.startswith("_")}
    names = [name.removeprefix("_") for name in members]
    return st.fixed_dictionaries(drawn, optional=optional).map(
        lambda found: {name: found[name] for name in names if name in found}
    )


LINES = fixed(what=TEXTS, count=st.integers(0, 99))
NODES: SearchStrategy[Any] = st.recursive(
    fixed(name=TEXTS), lambda inner: fixed(name=TEXTS, below=st.lists(inner, max_size=2)), max_leaves=4
)
CATS = fixed(kind=st.just("cat"), lives=INTEGERS)
DOGS = fixed(kind=st.just("dog"), says=TEXTS, variant=TEXTS)
CUPS = fixed(value=TEXTS, size=INTEGERS)
POTS = fixed(value=TEXTS, _lid=st.booleans())
HOMES = fixed(
    pet=CATS | DOGS,
    vessel=CUPS | POTS,
    either=st.lists(INTEGERS, max_size=3) | st.dictionaries(TEXTS, INTEGERS, max_size=3),
    named=st.dictionaries(TEXTS | st.sampled_from(("kind", "item_0", "rest")), INTEGERS, max_size=3),
    pair=st.tuples(INTEGERS, TEXTS).map(list),
    mixed=st.tuples(st.dictionaries(TEXTS, VALUES, max_size=2), INTEGERS).map(list),
    anything=VALUES,
    _most=st.dictionaries(TEXTS, VALUES, max_size=2),
)
CLOSED = {"type": "object", "additionalProperties": False}


def closed(properties: dict[str, Any], required: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Return an object schema that is closed."""
    return {**CLOSED, "properties": properties, "required": list(properties if required is None else required)}


ROOTED = closed({"n": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}})
ROOTED_DOCUMENTS: SearchStrategy[Any] = st.recursive(
    fixed(n=INTEGERS, next=st.none()), lambda inner: fixed(n=INTEGERS, next=inner), max_leaves=3
)

FORMS: dict[str, Form] = {
    "nested-models": Form(
        Invoice,
        fixed(vendor=TEXTS, lines=st.lists(LINES, max_size=3), billed=st.none() | LINES, note=st.none() | TEXTS),
        into=("/lines", "/billed"),
        follow=("/vendor",),
    ),
    "followed-within": Form(
        Invoice,
        fixed(vendor=TEXTS, lines=st.lists(LINES, max_size=1), billed=LINES, note=TEXTS),
        follow=("/billed/what",),
    ),
    "recursive-model": Form(Node, NODES, into=("/below",), follow=("/name",)),
    "recursive-root": Form(ROOTED, ROOTED_DOCUMENTS, into=("/next",)),
    "list-of-integers": Form(list[int], st.lists(INTEGERS, max_size=5)),
    "list-of-models": Form(list[Line], st.lists(LINES, max_size=3)),
    "list-of-unions": Form(list[Pet], st.lists(CATS | DOGS, max_size=3)),
    "list-of-anything": Form(list[Any], st.lists(VALUES, max_size=3)),
    "map": Form(dict[str, int], st.dictionaries(TEXTS, INTEGERS, max_size=4)),
    "map-of-models": Form(dict[str, Line], st.dictionaries(TEXTS, LINES, max_size=2)),
    "tagged-union": Form(Pet, CATS | DOGS),
    "untagged-union": Form(Cup | Pot, CUPS | POTS),
    "union-of-kinds": Form(Line | list[int] | str, LINES | st.lists(INTEGERS, max_size=3)),
    "tuple": Form(tuple[int, str], st.tuples(INTEGERS, TEXTS).map(list)),
    "tuple-of-open-values": Form(
        tuple[Any, int, dict[str, Any]],
        st.tuples(VALUES, INTEGERS, st.dictionaries(TEXTS, VALUES, max_size=2)).map(list),
    ),
    "tuple-with-rest": Form(
        {"type": "array", "prefixItems": [{"type": "integer"}, {}], "items": {"type": "string"}, "minItems": 2},
        st.tuples(INTEGERS, VALUES, st.lists(TEXTS, max_size=3)).map(lambda each: [each[0], each[1], *each[2]]),
    ),
    "everything": Form(
        Home,
        HOMES,
        into=("/pet", "/vessel", "/either", "/named", "/pair", "/mixed", "/anything", "/most"),
        follow=("/pet/says",),
    ),
    "odd-names": Form(
        closed({name: {"type": "integer"} for name in ODD_NAMES}),
        st.tuples(*[INTEGERS] * len(ODD_NAMES)).map(lambda each: dict(zip(ODD_NAMES, each, strict=True))),
    ),
    "open-object": Form({"type": "object"}, st.dictionaries(TEXTS, VALUES, max_size=4)),
    "half-open-object": Form(
        {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        st.tuples(INTEGERS, st.dictionaries(TEXTS.filter(lambda name: name != "n"), VALUES, max_size=3)).map(
            lambda each: {"n": each[0], **each[1]}
        ),
    ),
    "anything-in-it": Form(closed({"it": {}, "n": {"type": "number"}}), fixed(it=VALUES, n=NUMBERS), into=("/it",)),
    "either-way": Form(
        {"oneOf": [closed({"n": {"type": "integer"}}), closed({"s": {"type": "string"}})]},
        fixed(n=INTEGERS) | fixed(s=TEXTS),
    ),
}
"""Every form by what it is; ``into`` and ``follow`` are used together."""

SCALARS: dict[str, tuple[Any, Any]] = {
    "integer": (int, 3),
    "text": (str, 'see {"a": 1} and [2]'),
    "anything": (Any, 'see {"a": 1} and [2]'),
    "nothing": ({"type": "null"}, None),
}
"""Documents that are no containers."""


def every_form(first: int) -> Any:
    """Try each form under a profile, and under all of them in ``make check-all``; the profiles take turns.

    Tests that begin with another profile than each other try all combinations between them.
    """
    profiles = [*PROFILES[first:], *PROFILES[:first]]
    return pytest.mark.parametrize(("name", "profile"), covering(FORMS, profiles, strength=1))
