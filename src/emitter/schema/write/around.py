"""The unions around what was lost: a union of which a branch is not enforced in full is not enforced either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.schema.shape import Choice, Document, Node, Ref, Rule, children

if TYPE_CHECKING:
    from collections.abc import Iterator


def unions_around(document: Document, lossy: set[int]) -> Iterator[Rule]:
    """Yield the union keywords around the nodes with these identities, references followed backwards."""
    if not lossy:
        return
    above = _above(document)
    waiting = [node for node in document.nodes() if id(node) in lossy]
    met = {id(node) for node in waiting}
    while waiting:
        node = waiting.pop()
        yield from node.unions
        for each in above.get(id(node), ()):
            if isinstance(each, Choice) and each.origin is not None:
                yield each.origin
            if id(each) not in met:
                met.add(id(each))
                waiting.append(each)


def _above(document: Document) -> dict[int, list[Node]]:
    """Return what stands directly around each node, and what refers to it."""
    above: dict[int, list[Node]] = {}
    for node in document.nodes():
        inside = [document.definitions[node.name]] if isinstance(node, Ref) else children(node)
        for each in inside:
            above.setdefault(id(each), []).append(node)
    return above
