"""Allotting a vendor's limits to the places of a shape; what is not afforded goes as JSON text.

Structure is kept from the root down: what is nearest to it is afforded first.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from emitter.profile.subset import Optionals
from emitter.schema.fit.enums import characters_of
from emitter.schema.shape import (
    Choice,
    Document,
    Field,
    Never,
    Node,
    Open,
    Record,
    Scalar,
    Sequence,
    Values,
)
from emitter.schema.walk import as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.profile.subset import Limits, Subset

MAX_PLACES = 4_000
"""Where references are unfolded, no more places than these keep their structure."""

MAX_DEPTH = 30
"""Nor is anything deeper than this, where the vendor names no limit of its own."""

_SLACK = {"properties": 8, "characters": 100, "enum_values": 8}
"""What a property for the spilled ones, a wrapped root and the like may cost beside the estimate."""

_NO_LIMIT = 10**9


@dataclass(slots=True)
class _Place:
    """A place in the unfolded shape; ``inside`` is filled when its structure is afforded."""

    node: Node
    depth: int
    inside: list[_Place] | None = None
    kept: dict[str, Field] | None = None


class Allotment:
    """One allotment of a vendor's limits to the places of a document.

    ``share`` is how much of what is counted is used, ``spare`` how many levels are left over, ``extra`` how many
    optional properties may be kept beyond the limit, to be written as null later.
    """

    def __init__(self, document: Document, subset: Subset, share: float, spare: int, extra: int = 0) -> None:
        self._document = document
        self._subset = subset
        self._left = {
            name: int((most - _SLACK.get(name, 0)) * share) for name, most in _countable(subset.limits).items()
        }
        self._left["optional"] = self._left.get("optional", 0) + extra if "optional" in self._left else _NO_LIMIT
        self._of_one = (
            None if subset.limits.optional_of_one_object is None else subset.limits.optional_of_one_object + extra
        )
        deepest = [each for each in (subset.limits.depth, subset.limits.levels) if each is not None]
        self._depth = min(deepest, default=MAX_DEPTH) - spare
        self._places = 0

    def document(self) -> Document:
        """Return the document without references, and with JSON text where its structure is not afforded."""
        root = _Place(self._document.resolved(self._document.root), 1)
        waiting = deque([root])
        while waiting:
            place = waiting.popleft()
            if self._afford(place):
                place.inside = [self._below(place, each) for each in self._inside(place)]
                waiting.extend(place.inside)
        return Document(self._built(root), {})

    def _below(self, place: _Place, node: Node) -> _Place:
        return _Place(self._document.resolved(node), place.depth + _levels(place.node))

    def _inside(self, place: _Place) -> list[Node]:
        if isinstance(place.node, Record) and place.kept is not None:
            rest = [each for _, each in place.node.rest.entries] if place.node.rest is not None else []
            return [*(each.node for each in place.kept.values()), *rest]
        if isinstance(place.node, Sequence):
            return [*place.node.prefix, *([place.node.rest] if place.node.rest is not None else [])]
        return list(place.node.branches) if isinstance(place.node, Choice) else []

    def _afford(self, place: _Place) -> bool:
        """Take what the place costs out of what is left; False where that is too much."""
        self._places += 1
        deep = place.depth + _levels(place.node) - 1 > self._depth
        if self._places > MAX_PLACES or deep:
            return False
        if isinstance(place.node, Record):
            place.kept = self._kept(place.node)
            return place.kept is not None
        return self._take(self._cost(place.node))

    def _take(self, cost: Counter[str]) -> bool:
        if any(cost[name] > left for name, left in self._left.items()):
            return False
        for name in self._left:
            self._left[name] -= cost[name]
        return True

    def _kept(self, node: Record) -> dict[str, Field] | None:
        """Return the properties that are afforded, the required ones first; None where those are too many."""
        kept: dict[str, Field] = {}
        if not self._take(Counter(properties=3, characters=30)):
            return None
        most = self._of_one
        optional = 0
        for name, each in sorted(node.fields.items(), key=lambda pair: not pair[1].required):
            full = not each.required and most is not None and optional >= most
            if full or not self._take(self._field_cost(name, each)):
                if each.required:
                    return None
                continue
            kept[name] = each
            optional += not each.required
        return {name: kept[name] for name in node.fields if name in kept}

    def _field_cost(self, name: str, each: Field) -> Counter[str]:
        absent = not each.required
        omits = self._subset.optionals is Optionals.OMIT
        return Counter(
            properties=1, characters=len(name), optional=int(absent and omits), unions=int(absent and not omits)
        )

    def _cost(self, node: Node) -> Counter[str]:
        match node:
            case Choice():
                tags = len(node.branches)
                return Counter(unions=1, properties=2 * tags, enum_values=tags, characters=60 * tags)
            case Values():
                mixed = len(set(map(type, node.values))) > 1
                return Counter(unions=int(mixed), enum_values=len(node.values), characters=characters_of(node))
            case Sequence():
                places, spare = len(node.prefix), max(len(node.prefix) - node.least, 0)
                omits = self._subset.optionals is Optionals.OMIT
                kept = Counter(properties=places + 1, characters=9 * places)
                return kept + Counter(optional=spare if omits else 0, unions=0 if omits else spare)
            case _:
                return Counter(unions=int(len(getattr(node, "types", ())) > 1))

    def _built(self, place: _Place) -> Node:
        """Return the node of a place, with what stands inside it."""
        node = place.node
        if place.inside is None:
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
            name: Field(as_text(self._document, each.node), each.required)
            for name, each in node.fields.items()
            if name not in kept
        }
        rest = node.rest
        if rest is not None:
            rest = replace(rest, entries=tuple((key, next(inside)) for key, _ in rest.entries))
        if spilled and rest is not None and not rest.implicit:
            return self._given_up(node)
        return replace(node, fields=fields, rest=rest, spilled=spilled)

    def _given_up(self, node: Node) -> Node:
        """Return a node without its structure; a scalar has none to give up."""
        if isinstance(node, Values) and len(set(map(type, node.values))) == 1 and _flat(node.values[0]):
            return replace(node, dropped=True)
        if isinstance(node, Open | Never) or (isinstance(node, Scalar) and len(node.types) == 1):
            return node
        return as_text(self._document, node, degraded=True)


def _flat(value: Any) -> bool:
    return not isinstance(value, dict | list)


def _levels(node: Node) -> int:
    """Return how many objects and arrays a form may need of its own."""
    match node:
        case Record() if node.rest is None or (node.fields and node.rest.implicit):
            return 1
        case Record():
            return 3 if node.fields else 2
        case Sequence():
            return 2 if node.prefix and node.rest is not None else 1
        case Choice():
            return 1
        case _:
            return 0


def _countable(limits: Limits) -> dict[str, int]:
    names = ("properties", "enum_values", "characters", "optional", "unions")
    found: dict[str, Any] = {name: getattr(limits, name) for name in names}
    return {name: most for name, most in found.items() if most is not None}
