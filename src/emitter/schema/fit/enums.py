"""Giving up enums that are too long for the vendor, the longest first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emitter.schema.shape import Document, Node, Values
from emitter.schema.walk import Change, rebuilt

if TYPE_CHECKING:
    from emitter.profile.subset import Limits


def unlisted(document: Document, limits: Limits) -> Document:
    """Return the document with its longest enums given up, until the others are within the limits."""
    lists = [each for each in document.nodes() if isinstance(each, Values)]
    lists.sort(key=characters_of, reverse=True)
    dropped: set[int] = set()
    values = sum(len(each.values) for each in lists)
    characters = sum(map(characters_of, lists))
    for each in lists:
        most = limits.long_enum_characters
        long = limits.long_enum is not None and len(each.values) > limits.long_enum
        too_long = long and most is not None and characters_of(each) > most
        if too_long or _over(values, limits.enum_values) or _over(characters, limits.characters):
            dropped.add(id(each))
            values -= len(each.values)
            characters -= characters_of(each)

    def change(node: Node, *, optional: bool) -> Node | None:  # noqa: ARG001  a list is given up wherever it stands
        return replace(node, dropped=True) if isinstance(node, Values) and id(node) in dropped else None

    return changed(document, change) if dropped else document


def changed(document: Document, change: Change) -> Document:
    """Return the document with every node changed."""
    definitions = {name: rebuilt(node, change) for name, node in document.definitions.items()}
    return Document(rebuilt(document.root, change), definitions)


def _over(count: int, limit: int | None) -> bool:
    return limit is not None and count > limit


def characters_of(node: Values) -> int:
    """Return the length of all texts listed."""
    return sum(len(each) for each in node.values if isinstance(each, str))
