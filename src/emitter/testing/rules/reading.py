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
    """Return how many objects and arrays stand in one another, references followed, recursion once."""
    edges = tree.edges()
    height: dict[Path, int] = {}
    for path in explore(edges)[0]:
        own = bool({"object", "array"} & set(tree.places[path].types))
        height[path] = own + max((height.get(each, 0) for each in edges[path]), default=0)
    return height[()]
