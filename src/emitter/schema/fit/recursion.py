"""Recursion for vendors that take none, or not every one: unrolled so far, then carried as JSON text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.profile.subset import Recursion
from emitter.schema.graph import components, is_optional, references
from emitter.schema.shape import Document, Node, Ref
from emitter.schema.walk import as_text, rebuilt

if TYPE_CHECKING:
    from emitter.profile.subset import Subset


def unrolled(document: Document, subset: Subset) -> Document:
    """Return the document without the recursion that the vendor does not take."""
    circle = _circles(document, subset.recursion)
    if not circle:
        return document
    return _Unrolling(document, circle, subset).document()


def _circles(document: Document, recursion: Recursion) -> dict[str, int]:
    """Return the definitions that lead back to themselves in a way that the vendor refuses, by circle."""
    if recursion is Recursion.KEEP or not document.definitions:
        return {}
    needed_only = recursion is Recursion.OPTIONAL
    edges = {
        name: tuple(dict.fromkeys(references(node, lambda here, child: not (needed_only and is_optional(here, child)))))
        for name, node in document.definitions.items()
    }
    number = components(edges)
    return {name: number[name] for name, leads in edges.items() if any(number[each] == number[name] for each in leads)}


class _Unrolling:
    def __init__(self, document: Document, circle: dict[str, int], subset: Subset) -> None:
        self._document = document
        self._circle = circle
        self._levels = subset.unroll
        self._needed_only = subset.recursion is Recursion.OPTIONAL
        self._definitions: dict[str, Node] = {}
        self._waiting: list[tuple[str, int, str]] = []

    def document(self) -> Document:
        """Return the whole document anew."""
        root = self._within(self._document.root, None, 0)
        for name in self._document.definitions:
            self._name(name, 0)
        while self._waiting:
            name, level, new = self._waiting.pop()
            self._definitions[new] = self._within(self._document.definitions[name], name, level)
        return Document(root, self._definitions)

    def _name(self, name: str, level: int) -> str:
        new = name if level == 0 else f"{name}_level_{level + 1}"
        while level and new in self._document.definitions:
            new += "_"
        if new not in self._definitions:
            self._definitions[new] = self._document.definitions[name]
            self._waiting.append((name, level, new))
        return new

    def _within(self, node: Node, owner: str | None, level: int) -> Node:
        """Return a definition's node with the references on the circle led one level on, or cut."""

        def change(each: Node, *, optional: bool) -> Node | None:
            if not isinstance(each, Ref):
                return None
            on = owner in self._circle and self._circle.get(each.name) == self._circle[owner]
            if not on or (optional and self._needed_only):
                return Ref(each.where, self._name(each.name, 0), notes=each.notes, parts=each.parts)
            if level + 1 >= self._levels:
                return as_text(self._document, each)
            return Ref(each.where, self._name(each.name, level + 1), notes=each.notes, parts=each.parts)

        return rebuilt(node, change)
