"""One bounded walk over a schema: which places it has, and which place leads to which.

It knows JSON Schema's shape and no vendor's rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from emitter.schema.pointer import escaped
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Path: TypeAlias = tuple[str, ...]
Edges: TypeAlias = "Mapping[Path, tuple[Path, ...]]"

MAX_DEPTH = 100
MAX_PLACES = 20_000
"""No vendor takes more; what lies beyond is not read, and that is a breach of its own."""

MAX_STEPS = 200_000
"""How many steps are taken to find the deepest way through references."""

DEFINITIONS = ("$defs", "definitions")
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", *DEFINITIONS})
_LISTS = frozenset({"anyOf", "any_of", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset({"items", "not", "if", "then", "else", "contains", "propertyNames"})
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule of the vendor that the schema breaks, and where."""

    pointer: str
    rule: str
    told: str


@dataclass(frozen=True, slots=True)
class Place:
    """A value that stands where a schema is expected; ``members`` is empty when it is no object.

    ``types`` are in lower case; what is malformed is left out of them, of ``properties`` and of ``required``.
    """

    path: Path
    schema: Any
    members: Mapping[str, Any]
    types: tuple[str, ...]
    properties: Mapping[str, Any]
    required: frozenset[str]

    def breach(self, rule: str, told: str = "") -> Breach:
        """Tell that a rule is broken here."""
        return Breach("".join(f"/{escaped(each)}" for each in self.path), rule, told[:_SHOWN])


@dataclass(frozen=True, slots=True)
class Tree:
    """Every place of a schema in reading order, what each one holds, and what was too deep or too many to read."""

    places: dict[Path, Place] = field(default_factory=dict[Path, Place])
    inside: dict[Path, list[Path]] = field(default_factory=dict[Path, list[Path]])
    unread: dict[str, Breach] = field(default_factory=dict[str, Breach])

    def target(self, reference: object) -> Path | None:
        """Return the place that a reference inside this schema names, if there is one."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        path = tuple(
            each.replace("~1", "/").replace("~0", "~") for each in unquote(reference).removeprefix("#").split("/")[1:]
        )
        return path if path in self.places and reference[1:2] in ("", "/") else None

    def edges(self, *, follow: Callable[[Place, Path], bool] = lambda _place, _path: True) -> Edges:
        """Return where a document can go on from each place; a definition is entered by reference only."""
        found: dict[Path, tuple[Path, ...]] = {}
        for path, place in self.places.items():
            below = [each for each in self.inside[path] if each in self.places and each[len(path)] not in DEFINITIONS]
            held = [each for each in below if follow(place, each)]
            named = self.target(place.members.get("$ref"))
            found[path] = (*held, *(() if named is None else (named,)))
        return found


def _place(path: Path, schema: object) -> Place:
    members = mapping(schema)
    named = members.get("type")
    return Place(
        path,
        schema,
        members,
        types=tuple(each.lower() for each in sequence(named) or [named] if isinstance(each, str)),
        properties=mapping(members.get("properties")),
        required=frozenset(each for each in sequence(members.get("required")) if isinstance(each, str)),
    )


def read(schema: object, keywords: frozenset[str]) -> Tree:
    """Read a schema, going down only through keywords that the vendor looks at."""
    tree = Tree()
    waiting: list[tuple[Path, object]] = [((), schema)]
    while waiting:
        path, value = waiting.pop()
        place = _place(path, value)
        if len(tree.places) >= MAX_PLACES:
            tree.unread["places"] = place.breach("too_many_places_to_read")
            break
        tree.places[path] = place
        tree.inside[path] = []
        below = [each for each in _below(place) if each[0][len(path)] in keywords]
        if len(path) >= MAX_DEPTH and below:
            tree.unread.setdefault("depth", place.breach("too_deep_to_read"))
            continue
        tree.inside[path] = [each for each, _ in below]
        waiting.extend(reversed(below))
    return tree


def _below(place: Place) -> Iterator[tuple[Path, object]]:
    for keyword, value in place.members.items():
        path = (*place.path, keyword)
        if keyword in _MAPS:
            yield from (((*path, name), each) for name, each in mapping(value).items())
        elif keyword in _LISTS:
            yield from (((*path, str(index)), each) for index, each in enumerate(sequence(value)))
        elif keyword in _SINGLE or (keyword == "additionalProperties" and isinstance(value, dict)):
            yield path, value


def explore(edges: Edges) -> tuple[list[Path], list[Path]]:
    """Return all places, each after those it leads to, and those that lead back to where they came from."""
    finished: dict[Path, None] = {}
    looping: list[Path] = []
    for start in edges:
        if start in finished:
            continue
        trail, passed = [(start, iter(edges[start]))], {start}
        while trail:
            here, rest = trail[-1]
            onward = next(rest, None)
            if onward is None:
                trail.pop()
                passed.discard(here)
                finished[here] = None
            elif onward in passed:
                looping.append(here)
            elif onward not in finished:
                trail.append((onward, iter(edges[onward])))
                passed.add(onward)
    return list(finished), looping


def levels(tree: Tree) -> int:
    """Return how many objects and arrays stand in one another: references followed, none of them twice on one way.

    Where a schema has more ways than are tried, this is the deepest of those that were.
    """
    own: dict[Path, int] = {}
    onward: dict[Path, dict[Path, int]] = {}
    waiting: list[Path] = [()]
    while waiting:
        start = waiting.pop()
        if start not in own:
            own[start], onward[start] = _reach(tree, start)
            waiting.extend(onward[start])
    deepest, steps = own[()], MAX_STEPS
    trail: list[tuple[Path, int, Iterator[tuple[Path, int]]]] = [((), 0, iter(onward[()].items()))]
    passed: set[Path] = {()}
    while trail and steps:
        here, depth, rest = trail[-1]
        following = next(rest, None)
        steps -= 1
        if following is None:
            trail.pop()
            passed.discard(here)
        elif following[0] not in passed:
            target, below = following
            deepest = max(deepest, depth + below + own[target])
            trail.append((target, depth + below, iter(onward[target].items())))
            passed.add(target)
    return deepest


def _reach(tree: Tree, start: Path) -> tuple[int, dict[Path, int]]:
    """Return how deep a place reaches without its references, and at which depth each of those stands."""
    deepest, found = 0, dict[Path, int]()
    waiting = [(start, 0)]
    while waiting:
        path, depth = waiting.pop()
        place = tree.places[path]
        depth += bool({"object", "array"} & set(place.types))
        deepest = max(deepest, depth)
        target = tree.target(place.members.get("$ref"))
        if target is not None:
            found[target] = max(found.get(target, 0), depth)
        inside = [each for each in tree.inside[path] if each in tree.places and each[len(path)] not in DEFINITIONS]
        waiting.extend((each, depth) for each in inside)
    return deepest, found
