"""Allotting a vendor's limits to the places of a shape; what is not afforded goes as JSON text.

Structure is kept from the root down: what is nearest to it is afforded first. Definitions stay definitions, each
afforded once, where the first reference to it stands.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emitter.profile.subset import Optionals
from emitter.schema.fit.enums import characters_of
from emitter.schema.graph import order_of
from emitter.schema.shape import Choice, Document, Field, Never, Node, Open, Record, Ref, Scalar, Sequence, Values
from emitter.schema.value import INTEGER, NUMBER, type_of
from emitter.schema.walk import as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.profile.subset import Limits, Subset

MAX_PLACES = 8_000
"""No more places than these keep their structure."""

MAX_DEPTH = 30
"""Nor is anything deeper than this, where the vendor names no limit of its own."""

_COUNTED = ("properties", "enum_values", "characters", "optional", "unions")
_SLOT = len("additional_properties")
_ROOT = ""


class Budget:
    """How much of each limit may be used: all of it at first, and less after each try that came out too large.

    What a form costs is estimated, for only writing it shows whether a union needs tags and the like.
    """

    def __init__(self, limits: Limits, extra: int = 0) -> None:
        """Start with the limits; ``extra`` optional properties may be kept beyond, to be written as null later."""
        self.counts = {name: most for name in _COUNTED if (most := getattr(limits, name)) is not None}
        self.counts["places"] = MAX_PLACES
        of_one = limits.optional_of_one_object
        self.of_one = None if of_one is None else of_one + extra
        if "optional" in self.counts:
            self.counts["optional"] += extra
        self.depth = MAX_DEPTH if limits.depth is None else limits.depth
        self.levels = limits.levels
        self.cut = False

    def tighten(self, over: dict[str, tuple[int, int]]) -> None:
        """Take away what was too much: the measure, and the limit, by name."""
        for name, (count, most) in over.items():
            if name == "depth":
                # Only when the limit is to be met through references as well is a reference cut for it.
                self.depth -= (count - most) if self.cut else 0
                self.cut = True
            elif name == "levels" and self.levels is not None:
                self.levels -= 1
            elif name == "optional_of_one_object" and self.of_one is not None:
                self.of_one -= count - most
            elif name in {"places", "size"}:
                self.counts["places"] = min(self.counts["places"] // 2, self.counts["places"] * most // count)
            elif name in self.counts:
                self.counts[name] -= count - most

    def shrink(self, share: float) -> None:
        """Leave only this share of everything."""
        self.counts = {name: int(each * share) for name, each in self.counts.items()}
        self.depth = max(int(self.depth * share), 1)
        self.levels = None if self.levels is None else max(int(self.levels * share), 1)


@dataclass(slots=True, eq=False)
class _Place:
    """A place in the shape, ``depth`` objects and arrays below the top and ``level`` schemas below its definition's.

    ``inside`` is filled when its structure is afforded. ``cut`` says of a reference that it goes as JSON text.
    """

    node: Node
    depth: int
    level: int
    owner: str
    inside: list[_Place] | None = None
    kept: dict[str, Field] | None = None
    cut: bool = False


@dataclass(slots=True)
class _Body:
    """A definition, or the root: where it starts, how deep it reaches by itself, and the references in it."""

    place: _Place
    reach: int = 0
    uses: list[_Place] = field(default_factory=list[_Place])


class Allotment:
    """One allotment of a budget to the places of a document."""

    def __init__(self, document: Document, subset: Subset, budget: Budget) -> None:
        self._document = document
        self._subset = subset
        self._budget = budget
        self._left = dict(budget.counts)
        self._uses = order_of(document).uses
        self._bodies: dict[str, _Body] = {}
        self._first: set[int] = set()

    def document(self) -> Document:
        """Return the document with JSON text where its structure is not afforded."""
        root = _Place(self._document.root, 1, 0, _ROOT)
        self._bodies[_ROOT] = _Body(root)
        waiting = deque([root])
        while waiting:
            place = waiting.popleft()
            if isinstance(place.node, Ref):
                waiting.extend(self._refer(place, place.node))
            elif self._afford(place):
                place.inside = [self._below(place, each) for each in self._inside(place)]
                waiting.extend(place.inside)
        if self._budget.cut:
            self._cut()
        definitions = {name: self._built(each.place) for name, each in self._bodies.items() if name != _ROOT}
        return Document(self._built(root), definitions)

    def _refer(self, place: _Place, node: Ref) -> Iterator[_Place]:
        """Note a reference; yield the definition when it is the first to lead there."""
        place.inside = []
        self._bodies[place.owner].uses.append(place)
        if node.name not in self._bodies and self._take(Counter(characters=len(node.name))):
            once = self._uses[node.name] == 1
            body = _Place(self._document.definitions[node.name], place.depth, place.level if once else 1, node.name)
            self._bodies[node.name] = _Body(body)
            self._first.add(id(place))
            yield body
        place.cut = node.name not in self._bodies

    def _below(self, place: _Place, node: Node) -> _Place:
        return _Place(node, place.depth + _containers(place.node), place.level + 1, place.owner)

    def _inside(self, place: _Place) -> list[Node]:
        if isinstance(place.node, Record) and place.kept is not None:
            spilled = len(place.kept) < len(place.node.fields)
            entries = place.node.rest.entries if place.node.rest is not None and not spilled else ()
            return [*(each.node for each in place.kept.values()), *(each for _, each in entries)]
        if isinstance(place.node, Sequence):
            return [*place.node.prefix, *([place.node.rest] if place.node.rest is not None else [])]
        return list(place.node.branches) if isinstance(place.node, Choice) else []

    def _afford(self, place: _Place) -> bool:
        """Take what the place costs out of what is left; False where that is too much."""
        reach = place.depth + _containers(place.node) - 1
        nested = isinstance(place.node, Record | Sequence | Choice)
        too_low = self._budget.levels is not None and place.level + nested > self._budget.levels
        if reach > self._budget.depth or too_low or not self._take(Counter(places=1)):
            return False
        if isinstance(place.node, Record):
            place.kept = self._kept(place.node)
            if place.kept is None:
                return False
        elif not self._take(self._cost(place.node)):
            return False
        body = self._bodies[place.owner]
        body.reach = max(body.reach, reach - body.place.depth + 1)
        return True

    def _take(self, cost: Counter[str]) -> bool:
        if any(cost[name] > left for name, left in self._left.items()):
            return False
        for name in self._left:
            self._left[name] -= cost[name]
        return True

    def _kept(self, node: Record) -> dict[str, Field] | None:
        """Return the properties that are afforded, the required ones first; None where there are none."""
        if not node.fields:
            entries = 0 if node.rest is None else 2 * len(node.rest.entries)
            return {} if self._take(Counter(properties=entries)) else None
        optional = sum(not each.required for each in node.fields.values())
        most = self._budget.of_one
        costs = {name: self._field_cost(name, each) for name, each in node.fields.items()}
        slot = Counter(properties=1, characters=_SLOT)
        whole = sum(costs.values(), slot if node.rest is not None else Counter[str]())
        if (most is None or optional <= most) and self._take(whole):
            return dict(node.fields)
        if not self._take(slot):
            return None
        kept: set[str] = set()
        optional = 0
        for name, each in sorted(node.fields.items(), key=lambda pair: not pair[1].required):
            full = not each.required and most is not None and optional >= most
            if not full and self._take(costs[name]):
                kept.add(name)
                optional += not each.required
        return {name: each for name, each in node.fields.items() if name in kept} or None

    def _field_cost(self, name: str, each: Field) -> Counter[str]:
        absent = not each.required
        omits = self._subset.optionals is Optionals.OMIT
        return Counter(
            properties=1, characters=len(name), optional=int(absent and omits), unions=int(absent and not omits)
        )

    def _cost(self, node: Node) -> Counter[str]:
        match node:
            case Choice():
                return Counter(unions=1)
            case Values():
                mixed = len(_kinds(node)) > 1
                return Counter(unions=int(mixed), enum_values=len(node.values), characters=characters_of(node))
            case Sequence():
                places, spare = len(node.prefix), max(len(node.prefix) - node.least, 0)
                if not places:
                    return Counter()
                omits = self._subset.optionals is Optionals.OMIT
                kept = Counter(properties=places + (node.rest is not None), characters=7 * places)
                return kept + Counter(optional=spare if omits else 0, unions=0 if omits else spare)
            case _:
                return Counter(unions=int(len(getattr(node, "types", ())) > 1))

    def _cut(self) -> None:
        """Cut the references by which a way through definitions, none of them entered twice, would be too deep.

        The first references to each definition form a tree. One that leads on is kept where the definition fits
        there too, one that leads back where every way has passed that definition before.
        """
        names = list(self._bodies)
        number = {name: index for index, name in enumerate(names)}
        reach = {name: each.reach for name, each in self._bodies.items()}
        for name in reversed(names):
            for use, to, far in self._onward(name):
                if id(use) in self._first:
                    reach[name] = max(reach[name], far + reach[to])
        start, before = {_ROOT: 1}, dict[str, str]()  # the immediate dominator of each definition
        backward: list[tuple[_Place, str, str]] = []
        for name in names:
            for use, to, far in self._onward(name):
                fits = number[to] > number[name] and start[name] + far + reach[to] - 1 <= self._budget.depth
                if id(use) not in self._first and not fits:
                    backward.append((use, name, to))
                    continue
                start[to] = max(start.get(to, 0), start[name] + far)
                before[to] = _shared(before[to], name, before, number) if to in before else name
        for use, name, to in backward:
            use.cut = not _passes(to, name, before)

    def _onward(self, name: str) -> Iterator[tuple[_Place, str, int]]:
        """Yield each reference of a definition, where it leads, and how deep below the definition's top it stands."""
        body = self._bodies[name]
        for use in body.uses:
            if isinstance(use.node, Ref) and not use.cut:
                yield use, use.node.name, use.depth - body.place.depth

    def _built(self, place: _Place) -> Node:
        """Return the node of a place, with what stands inside it."""
        node = place.node
        if isinstance(node, Ref) and not place.cut:
            return node
        if place.inside is None or place.cut:
            return self._given_up(node)
        inside = iter([self._built(each) for each in place.inside])
        match node:
            case Record():
                return self._record(node, place.kept or {}, inside)
            case Sequence():
                prefix = tuple(next(inside) for _ in node.prefix)
                return replace(node, prefix=prefix, rest=None if node.rest is None else next(inside))
            case Choice():
                return replace(node, branches=tuple(inside))
            case _:
                return node

    def _record(self, node: Record, kept: dict[str, Field], inside: Iterator[Node]) -> Node:
        fields = {name: Field(next(inside), each.required) for name, each in kept.items()}
        spilled = {
            name: Field(as_text(self._document, each.node, degraded=True), each.required)
            for name, each in node.fields.items()
            if name not in kept
        }
        rest = node.rest
        if rest is not None and not spilled:
            rest = replace(rest, entries=tuple((key, next(inside)) for key, _ in rest.entries))
        return replace(node, fields=fields, rest=rest, spilled=spilled)

    def _given_up(self, node: Node) -> Node:
        """Return a node without its structure; a scalar has none to give up."""
        if isinstance(node, Values) and len(_kinds(node)) == 1 and not isinstance(node.values[0], dict | list):
            return replace(node, dropped=True)
        if isinstance(node, Open | Never) or (isinstance(node, Scalar) and len(node.types) == 1):
            return node
        return as_text(self._document, node, degraded=True)


def _shared(one: str, other: str, before: dict[str, str], number: dict[str, int]) -> str:
    """Return the last definition that every way to either of two leads through."""
    while one != other:
        if number[one] > number[other]:
            one = before[one]
        else:
            other = before[other]
    return one


def _passes(through: str, name: str, before: dict[str, str]) -> bool:
    """Tell whether every way to ``name`` leads through a definition, or is that definition."""
    while name != through and name in before:
        name = before[name]
    return name == through


def _kinds(node: Values) -> set[str]:
    """Return the types of constants that need a form each; all numbers have one."""
    return {NUMBER if (kind := type_of(each)) == INTEGER else kind for each in node.values}


def _containers(node: Node) -> int:
    """Return how many objects and arrays a form needs of its own."""
    match node:
        case Record() if node.rest is None or (node.fields and node.rest.implicit):
            return 1
        case Record():
            return 3 if node.fields else 2
        case Sequence():
            return 2 if node.prefix and node.rest is not None else 1
        case _:
            return 0
