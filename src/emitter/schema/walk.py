"""Going over a shape: changing it, and asking what values it has."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from emitter.schema.shape import Choice, Document, Field, Node, Open, Record, Ref, Scalar, Sequence, Values
from emitter.schema.value import ARRAY, EVERY_TYPE, OBJECT, type_of


class Change(Protocol):
    """Returns a node to put in the place of one, or None to leave it and go on inside."""

    def __call__(self, node: Node, /, *, optional: bool) -> Node | None:
        """Return what stands in the place of ``node``; ``optional`` tells of a property that may be absent."""
        ...


def rebuilt(node: Node, change: Change, *, optional: bool = False) -> Node:
    """Return ``node`` with every node inside it changed."""
    changed = change(node, optional=optional)
    if changed is not None:
        return changed
    match node:
        case Record():
            fields = {
                name: Field(rebuilt(each.node, change, optional=not each.required), each.required)
                for name, each in node.fields.items()
            }
            rest = node.rest
            if rest is not None:
                rest = replace(rest, entries=tuple((key, rebuilt(each, change)) for key, each in rest.entries))
            return replace(node, fields=fields, rest=rest)
        case Sequence():
            rest_node = None if node.rest is None else rebuilt(node.rest, change)
            return replace(node, prefix=tuple(rebuilt(each, change) for each in node.prefix), rest=rest_node)
        case Choice():
            return replace(node, branches=tuple(rebuilt(each, change) for each in node.branches))
        case _:
            return node


MAX_FORMS = 256
"""Unions in unions of more single forms than this are not looked through."""


def forms_of(document: Document, node: Node) -> list[Node] | None:
    """Return the single forms that ``node`` may have, unions and references looked through; None if they are many."""
    found: list[Node] = []
    met: set[int] = set()
    waiting = [node]
    while waiting:
        here = document.resolved(waiting.pop())
        if id(here) in met:
            continue
        met.add(id(here))
        if isinstance(here, Choice):
            waiting.extend(here.branches)
        else:
            found.append(here)
        if len(met) > MAX_FORMS:
            return None
    return found


def types_of(document: Document, node: Node) -> tuple[str, ...]:
    """Return the JSON types that a value of ``node`` may have."""
    forms = forms_of(document, node)
    if forms is None:
        return EVERY_TYPE
    return tuple(dict.fromkeys(kind for each in forms for kind in _own_types(each)))


def _own_types(node: Node) -> tuple[str, ...]:
    match node:
        case Open() | Scalar():
            return node.types
        case Values():
            return tuple(type_of(each) for each in node.values)
        case Record():
            return (OBJECT,)
        case Sequence():
            return (ARRAY,)
        case _:
            return ()


def as_text(document: Document, node: Node, *, degraded: bool = False) -> Open:
    """Return what ``node`` is, carried as JSON text; ``degraded`` where only the schema's size makes it so."""
    target = document.resolved(node)
    parts = (isinstance(node, Ref) and node.text) or target.parts
    text = Open(node.where, types_of(document, target), whole=bool(parts), degraded=degraded, said=node.parts)
    text.notes, text.parts = node.notes, parts
    return text
