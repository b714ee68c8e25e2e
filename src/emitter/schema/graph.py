"""How definitions refer to one another: their order, their circles, and how often each is used."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from emitter.schema.shape import Document, Node, Record, Ref, children

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


MAX_STEPS = 20_000
"""How many steps are taken to find the longest way through one circle; beyond them it is estimated from above."""


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
    """Return for each name the number of its circle: names that lead to one another share it.

    A circle has a smaller number than those that it leads to.
    """
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


def longest(own: dict[str, int], leads: dict[str, dict[str, int]], start: str) -> int:
    """Return the length of the longest way from ``start`` that enters no name twice.

    ``own`` is how far each name leads by itself, ``leads`` how far it is from a name to another that it refers
    to. The result is exact, or too large where a circle has more ways than can be tried.
    """
    edges = {name: tuple(each) for name, each in leads.items()}
    number = components(edges)
    members: dict[int, list[str]] = {}
    for name in edges:
        members.setdefault(number[name], []).append(name)
    known: dict[str, int] = {}
    for _, circle in sorted(members.items(), reverse=True):  # each circle after those that it leads to
        inside = set(circle)
        exits = {
            name: max([own[name], *(far + known[to] for to, far in leads[name].items() if to not in inside)])
            for name in circle
        }
        around = {name: {to: far for to, far in leads[name].items() if to in inside} for name in circle}
        known.update(_through(exits, around))
    return known[start]


def _through(exits: dict[str, int], around: dict[str, dict[str, int]]) -> dict[str, int]:
    """Return the longest way from each member of one circle, or an upper bound for all of them."""
    found: dict[str, int] = {}
    steps = MAX_STEPS
    for start, alone in exits.items():
        found[start] = alone
        trail = [(start, 0, iter(around[start].items()))]
        passed = {start}
        while trail:
            here, far, rest = trail[-1]
            onward = next(rest, None)
            steps -= 1
            if steps < 0:
                furthest = [max(each.values(), default=0) for each in around.values()]
                return dict.fromkeys(exits, sum(furthest) - min(furthest) + max(exits.values()))
            if onward is None:
                trail.pop()
                passed.discard(here)
            elif onward[0] not in passed:
                name, step = onward
                found[start] = max(found[start], far + step + exits[name])
                trail.append((name, far + step, iter(around[name].items())))
                passed.add(name)
    return found


def is_optional(node: Node, child: Node) -> bool:
    """Tell whether ``child`` is a property of ``node`` that may be left out."""
    return isinstance(node, Record) and any(each.node is child for each in node.fields.values() if not each.required)
