"""Recursion for vendors that take none, or not every one: unrolled so far, then carried as JSON text."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from emitter.profile.subset import Recursion
from emitter.schema.graph import components, is_optional, references
from emitter.schema.read.scope import name_of
from emitter.schema.shape import Choice, Document, Node, Ref
from emitter.schema.walk import as_text, rebuilt
from emitter.wire import mapping

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
        self._texts: dict[str, str] = {}
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
            if isinstance(each, Choice) and each.parts and sum(map(is_cut, each.branches)) > 1:
                return self._text(each)  # one text, and not one for each branch
            if not isinstance(each, Ref):
                return None
            if not is_on_circle(each) or (optional and self._needed_only):
                return replace(each, name=self._name(each.name, 0))
            if level + 1 >= self._levels:
                return self._text(each)
            return replace(each, name=self._name(each.name, level + 1))

        def is_on_circle(each: Ref) -> bool:
            return owner in self._circle and self._circle.get(each.name) == self._circle[owner]

        def is_cut(each: Node) -> bool:
            return isinstance(each, Ref) and is_on_circle(each) and level + 1 >= self._levels

        return rebuilt(node, change)

    def _text(self, node: Node) -> Ref:
        """Return a reference to the node as JSON text: what is described once need not be repeated."""
        text = as_text(self._document, node)
        schemas = [_without_notes(part.schema) for part in text.parts]
        key = json.dumps([schemas, text.types], sort_keys=True)
        if key not in self._texts:
            name = f"{node.name if isinstance(node, Ref) else name_of(node.where)}_text"
            while name in self._definitions or name in self._document.definitions:
                name += "_"
            self._texts[key] = name
            self._definitions[name] = replace(text, notes={})
        return Ref(node.where, self._texts[key], text=text.parts, notes=node.notes, parts=node.parts)


def _without_notes(schema: Any) -> Any:
    notes = ("title", "description", "default", "examples")
    table = mapping(schema)
    return {key: each for key, each in table.items() if key not in notes} if table else schema
