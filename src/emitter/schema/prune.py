"""Taking away what no document can hold: forms without any value, and references to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emitter.errors import Uncompilable
from emitter.schema.graph import circles
from emitter.schema.shape import Choice, Document, Field, Never, Node, Record, Ref, Sequence, Values
from emitter.schema.walk import as_text, forms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_ROUNDS = 200


def pruned(document: Document) -> Document:
    """Return the document without forms that hold no value; raises ``Uncompilable`` where none is left."""
    if not document.definitions and not isinstance(document.root, Never):
        return document  # what holds no value was taken out as it was read; only references hide it
    document = _unknotted(document)
    empty = _empty(document)
    kept = document.definitions.keys() - empty
    definitions = {name: _without(document.definitions[name], empty) for name in document.definitions if name in kept}
    root = document.root
    if _holds_none(root, empty):
        raise Uncompilable("", "no document can satisfy this schema")
    return Document(_without(root, empty), definitions)


def _unknotted(document: Document) -> Document:
    """Return the document without unions that lead back to themselves: each is the forms that it can come to."""
    bare = {name: tuple(_bare(node)) for name, node in document.definitions.items()}
    knots = circles(bare)
    if not knots:
        return document
    tied = any(node.left or node.exclusive for node in _choices(document, knots))
    definitions = {
        name: _loosened(document, node, tied=tied) if name in knots else node
        for name, node in document.definitions.items()
    }
    return Document(document.root, definitions)


def _bare(node: Node) -> Iterator[str]:
    """Yield the definitions that ``node`` may simply be."""
    if isinstance(node, Ref):
        yield node.name
    elif isinstance(node, Choice):
        for each in node.branches:
            yield from _bare(each)


def _choices(document: Document, names: Iterable[str]) -> Iterator[Choice]:
    waiting = [document.definitions[name] for name in names]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Choice):
            yield node
            waiting.extend(node.branches)


def _loosened(document: Document, node: Node, *, tied: bool) -> Node:
    """Return the forms of ``node`` without the way round; as JSON text where more is said on that way."""
    forms = forms_of(document, node)
    if tied or forms is None or not isinstance(node, Choice):
        return as_text(document, node)
    return replace(node, branches=tuple(forms))


def _empty(document: Document) -> frozenset[str]:
    """Return the definitions of which no finite value exists: the least fixed point, reached from all of them."""
    empty = frozenset(document.definitions)
    for _ in range(MAX_ROUNDS):
        left = frozenset(name for name in empty if _holds_none(document.definitions[name], empty))
        if left == empty:
            break
        empty = left
    return empty


def _holds_none(node: Node, empty: frozenset[str]) -> bool:
    match node:
        case Never():
            return True
        case Ref():
            return node.name in empty
        case Choice():
            return all(_holds_none(each, empty) for each in node.branches)
        case Record():
            return any(each.required and _holds_none(each.node, empty) for each in node.fields.values())
        case Sequence():
            needed = node.prefix[: node.least]
            lacking = node.least > len(node.prefix) and (node.rest is None or _holds_none(node.rest, empty))
            return lacking or any(_holds_none(each, empty) for each in needed)
        case _:
            return False


def _without(node: Node, empty: frozenset[str]) -> Node:
    match node:
        case Record():
            return _record(node, empty)
        case Sequence():
            return _sequence(node, empty)
        case Choice():
            kept = [_without(each, empty) for each in node.branches if not _holds_none(each, empty)]
            if len(kept) == 1:
                return _joined(node, kept[0])
            return replace(node, branches=tuple(kept)) if kept else Never(node.where)
        case _:
            return node


def _joined(node: Choice, only: Node) -> Node:
    """Return the one branch left, with what was said of the choice."""
    unions = (*only.unions, *node.unions, *([node.origin] if node.origin is not None else []))
    return replace(only, notes={**node.notes, **only.notes}, left=(*only.left, *node.left), unions=unions)


def _record(node: Record, empty: frozenset[str]) -> Node:
    fields = {
        name: Field(_without(each.node, empty), each.required)
        for name, each in node.fields.items()
        if not _holds_none(each.node, empty)
    }
    forbidden = node.forbidden | (node.fields.keys() - fields.keys())
    if node.rest is None:
        return replace(node, fields=fields, forbidden=forbidden)
    entries = tuple((key, _without(each, empty)) for key, each in node.rest.entries if not _holds_none(each, empty))
    rest = replace(node.rest, entries=entries) if entries else None
    return replace(node, fields=fields, rest=rest, forbidden=forbidden)


def _sequence(node: Sequence, empty: frozenset[str]) -> Node:
    cut = next((index for index, each in enumerate(node.prefix) if _holds_none(each, empty)), None)
    prefix = tuple(_without(each, empty) for each in node.prefix[:cut])
    rest = node.rest
    if cut is not None or (rest is not None and _holds_none(rest, empty)):
        rest = None
    elif rest is not None:
        rest = _without(rest, empty)
    if not prefix and rest is None:
        return Values(node.where, [[]], notes=node.notes, left=node.left, parts=node.parts)
    most = node.most if rest is not None else min(len(prefix), node.most if node.most is not None else len(prefix))
    return replace(node, prefix=prefix, rest=rest, most=most)
