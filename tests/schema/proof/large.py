"""Large and odd schemas, made by chance that can be repeated: what no corpus has enough of."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Form = dict[str, Any]

DEEPEST = 14
WORDS = ("amount", "name", "kind", "state", "owner", "since", "until", "price", "unit", "note", "street", "größe")
_PLAIN = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "number", "minimum": 0},
    {"type": "boolean"},
    {"type": ["string", "null"]},
    {"type": "string", "format": "date-time", "description": "When it was."},
    {"type": ["integer", "string"]},
    {},
)

CLOSED = {"additionalProperties": False}


class _Making:
    """One schema on its way: what it still may spend on places, and how many definitions there will be."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)  # noqa: S311  chance that can be repeated
        self.left = self.chance.choice((30, 80, 200, 600))
        self.definitions = self.chance.choice((0, 0, 3, 8, 25))
        self._number = 0

    def name(self) -> str:
        """Return a name that no other property has."""
        self._number += 1
        return f"{self.chance.choice(WORDS)}_{self._number}"

    def schema(self) -> Form:
        """Return the whole schema."""
        root = self.object(0)
        definitions = {f"D{each}": self.chance.choice((self.object, self.object, self.union))(1) for each in self.all()}
        return {**root, "$defs": definitions} if definitions else root

    def all(self) -> range:
        """Return the numbers of the definitions."""
        return range(self.definitions)

    def node(self, depth: int) -> Form:
        """Return a schema of any form, an easy one where there is nothing left to spend."""
        self.left -= 1
        if self.left <= 0 or depth > DEEPEST:
            return dict(self.chance.choice(_PLAIN))
        makers: list[Callable[[int], Form]] = [self.plain, self.plain, self.chosen, self.array, self.union, self.object]
        if self.definitions:
            makers += [self.reference] * 3
        return self.chance.choice(makers)(depth + 1)

    def plain(self, _depth: int) -> Form:
        """Return a scalar."""
        return dict(self.chance.choice(_PLAIN))

    def chosen(self, _depth: int) -> Form:
        """Return a list of constants, now and then a long one."""
        texts: list[Any] = [f"{self.name()}" for _ in range(self.chance.choice((1, 3, 3, 30, 300)))]
        return {"enum": [*texts, *self.chance.choice(((), (), (1, True), (None,)))]}

    def array(self, depth: int) -> Form:
        """Return an array, or a tuple."""
        if self.chance.random() < 0.2:
            return {"type": "array", "prefixItems": [self.node(depth) for _ in range(3)], "items": False}
        return {"type": self.chance.choice(("array", ["array", "null"])), "items": self.node(depth)}

    def object(self, depth: int) -> Form:
        """Return an object of few or many properties, closed, silent or a map besides."""
        names = [self.name() for _ in range(self.chance.choice((1, 3, 6, 15, 15, 110)))]
        needed = self.chance.choice((0.0, 0.3, 0.9, 1.0))
        form: Form = {"type": self.chance.choice(("object", "object", ["object", "null"]) if depth else ("object",))}
        form["properties"] = {each: self.node(depth) for each in names}
        form["required"] = [each for each in names if self.chance.random() < needed]
        form |= self.chance.choice(
            (
                {"additionalProperties": False},
                {"additionalProperties": False},
                {},
                {"additionalProperties": {"type": "integer"}},
            )
        )
        if self.chance.random() < 0.1:
            form["dependentRequired"] = {names[0]: [names[-1]]}
        if self.chance.random() < 0.1 and depth:
            del form["type"]
        return form

    def union(self, depth: int) -> Form:
        """Return a union, of objects that name themselves or of anything."""
        keyword = self.chance.choice(("anyOf", "oneOf"))
        if self.chance.random() < 0.5:
            return {keyword: [self.node(depth), {"type": "null"}]}
        tag = self.name()
        branches = [self.object(depth) for _ in range(3)]
        for index, each in enumerate(branches):
            each["properties"] = {tag: {"const": f"v{index}"}, **each["properties"]}
            each["required"] = [tag, *each["required"]]
        return {keyword: branches}

    def reference(self, _depth: int) -> Form:
        """Return a reference, now and then with something beside it."""
        name = {"$ref": f"#/$defs/D{self.chance.choice(self.all())}"}
        beside: tuple[Form, ...] = ({}, {}, {"description": "One of these."}, {"title": "T"})
        wrapped = {"allOf": [name]} if self.chance.random() < 0.1 else name
        wrapped = {"anyOf": [wrapped, {"type": "null"}]} if self.chance.random() < 0.3 else wrapped
        return {**wrapped, **self.chance.choice(beside)}


def large(seed: int) -> Form:
    """Return the schema of this number."""
    return _Making(seed).schema()
