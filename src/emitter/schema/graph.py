"""How definitions refer to one another: their order, their circles, and how often each is used."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from emitter.schema.shape import Document, Node, Record, Ref, children

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Order(NamedTuple):
    """``names`` puts each definition after those it refers to, recursion aside; only those that are reached."""

    names: tuple[str, ...]
    recursive: frozenset[str]
    uses: Counter[str]


def references(node: Node, follow: Callable[[Node, Node], bool] = lambda _node, _child: True) -> Iterator[str]:
    """Yield the definitions that are referred to inside ``node``, through the children to ``follow``."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Ref):
            yield here.name
        waiting.extend(each for each in children(here) if follow(here, each))


def order_of(document: Document) -> Order:
    """Return the order of what the root reaches."""
    if not document.definitions:
        return Order((), frozenset(), Counter())
    edges = {name: tuple(dict.fromkeys(references(node))) for name, node in document.definitions.items()}
    names = ordered(edges, tuple(references(document.root)))
    reached = set(names)
    uses = Counter(references(document.root))
    for name in names:
        uses.update(references(document.definitions[name]))
    return Order(tuple(names), circles({name: edges[name] for name in reached}), uses)


def ordered(edges: dict[str, tuple[str, ...]], starts: Iterable[str] | None = None) -> list[str]:
    """Return what ``starts`` reach (all names, without), each after those it leads to, circles aside."""
    done: set[str] = set()
    return [name for start in (edges if starts is None else starts) for name in _after(start, edges, done)]


def _after(start: str, edges: dict[str, tuple[str, ...]], done: set[str]) -> Iterator[str]:
    """Yield what ``start`` reaches, each after what it reaches itself."""
    if start in done:
        return
    done.add(start)
    trail = [(start, iter(edges[start]))]
    while trail:
        name, rest = trail[-1]
        onward = next((each for each in rest if each not in done), None)
        if onward is None:
            trail.pop()
            yield name
        else:
            done.add(onward)
            trail.append((onward, iter(edges[onward])))


def components(edges: dict[str, tuple[str, ...]]) -> dict[str, int]:
    """Return for each name the number of its circle: names that lead to one another share it."""
    after = ordered(edges)
    backward: dict[str, list[str]] = {name: [] for name in edges}
    for name, leads in edges.items():
        for each in leads:
            backward[each].append(name)
    back = {name: tuple(leads) for name, leads in backward.items()}
    done: set[str] = set()
    return {name: number for number, start in enumerate(reversed(after)) for name in _after(start, back, done)}


def circles(edges: dict[str, tuple[str, ...]]) -> frozenset[str]:
    """Return the names that lead back to themselves."""
    number = components(edges)
    sizes = Counter(number.values())
    return frozenset(name for name, leads in edges.items() if sizes[number[name]] > 1 or name in leads)


def is_optional(node: Node, child: Node) -> bool:
    """Tell whether ``child`` is a property of ``node`` that may be left out."""
    return isinstance(node, Record) and any(each.node is child for each in node.fields.values() if not each.required)
