"""Measuring a wire schema against a vendor's limits of size."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter.schema.graph import longest
from emitter.schema.value import ARRAY, OBJECT

if TYPE_CHECKING:
    from emitter.profile.subset import Limits

MAX_PLACES = 10_000
"""A schema of more places is too large for every vendor."""

_NONE: dict[str, Any] = {}
_DEEP = (OBJECT, ARRAY)
_FLAT = ("string", "integer", "number", "boolean", "null")

DEFINITION = "#/$defs/"


@dataclass(slots=True)
class Size:
    """What a schema counts, in the words of ``Limits``."""

    counts: Counter[str] = field(default_factory=Counter[str])

    def most(self, name: str, value: int) -> None:
        """Keep the largest value of ``name``."""
        self.counts[name] = max(self.counts[name], value)


def measure(wire: dict[str, Any], limits: Limits) -> Size:
    """Return what ``wire`` counts, definitions once."""
    size = Size()
    waiting = [wire]
    places = 0
    while waiting and places <= MAX_PLACES:
        node = waiting.pop()
        places += 1
        if len(node) > 1 or "type" not in node or node["type"].__class__ is list:
            _count(node, size, limits)
            waiting.extend(_below(node))
            waiting.extend(node.get("$defs", _NONE).values())
    size.counts["places"] = places
    if places <= MAX_PLACES:
        size.counts["depth"] = _depth(wire)
        if limits.levels is not None:
            size.counts["levels"] = _levels(wire)
    return size


def exceeded(size: Size, limits: Limits) -> dict[str, tuple[int, int]]:
    """Return what is over its limit: the measure, and the limit."""
    limited = {name: getattr(limits, name) for name in type(limits).model_fields}
    places = {"places": (size.counts["places"], MAX_PLACES)} if size.counts["places"] > MAX_PLACES else {}
    return places | {
        name: (size.counts[name], most)
        for name, most in limited.items()
        if isinstance(most, int) and name != "long_enum" and size.counts[name] > most
    }


def _below(node: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if "properties" in node:
        found.extend(node["properties"].values())
    if "anyOf" in node:
        found.extend(node["anyOf"])
    if "prefixItems" in node:
        found.extend(node["prefixItems"])
    if "items" in node:
        found.append(node["items"])
    if node.get("additionalProperties"):
        found.append(node["additionalProperties"])
    return found


def _count(node: dict[str, Any], size: Size, limits: Limits) -> None:
    counts = size.counts
    if "anyOf" in node or node.get("type").__class__ is list:
        counts["unions"] += 1
    if "properties" in node:
        names = node["properties"]
        absent = len(names) - len(node["required"])
        counts["properties"] += len(names)
        counts["characters"] += sum(map(len, names))
        counts["optional"] += absent
        size.most("optional_of_one_object", absent)
    if "enum" in node:
        values: list[Any] = node["enum"]
        texts = sum(len(each) for each in values if isinstance(each, str))
        counts["enum_values"] += len(values)
        counts["characters"] += texts
        if limits.long_enum is not None and len(values) > limits.long_enum:
            size.most("long_enum_characters", texts)
    if "$defs" in node:
        counts["characters"] += sum(map(len, node["$defs"]))
    if limits.text is not None:
        counts["text"] += len(node.get("title", "")) + len(node.get("description", ""))


ROOT = "#"


def _depth(wire: dict[str, Any]) -> int:
    """Return how many objects and arrays stand in one another, references followed, recursion once."""
    places = {ROOT: wire, **{DEFINITION + name: each for name, each in wire.get("$defs", _NONE).items()}}
    own: dict[str, int] = {}
    leads: dict[str, dict[str, int]] = {}
    for name, each in places.items():
        leads[name] = {}
        own[name] = _height(each, 0, leads[name])
    return longest(own, leads, ROOT)


def _levels(node: dict[str, Any]) -> int:
    """Return how many schemas stand in one another below this one, references not followed."""
    inside = [*_below(node), *node.get("$defs", _NONE).values()]
    return 1 + max(map(_levels, inside)) if inside else 0


def _height(node: dict[str, Any], above: int, leads: dict[str, int]) -> int:
    """Return how deep ``node`` reaches by itself below ``above`` levels; note in ``leads`` what it refers to."""
    if "$ref" in node:
        name = node["$ref"]
        leads[name] = max(leads.get(name, 0), above)
        return above
    named: Any = node.get("type")
    if named in _FLAT:
        return above
    here = above + (named in _DEEP or (named.__class__ is list and any(each in _DEEP for each in named)))
    return max([here, *(_height(each, here, leads) for each in _below(node))])
