"""Measure a wire schema, compare it with a provider's size limits, and shorten its descriptions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from emitter.schema.json_data import ARRAY, OBJECT
from emitter.schema.nodes import strong_components

if TYPE_CHECKING:
    from emitter.messages import Json
    from emitter.profiles.tables import SchemaLimits

MAX_SCHEMAS = 10_000
"""A schema with more subschemas is too large for every provider."""
_NO_DEFINITIONS: dict[str, Any] = {}
_CONTAINER_TYPES = (OBJECT, ARRAY)
_SCALAR_TYPES = ("string", "integer", "number", "boolean", "null")
DEFINITION_PREFIX = "#/$defs/"


@dataclass(slots=True)
class SchemaSize:
    """The measured size of a schema, by the names of ``SchemaLimits``."""

    counts: Counter[str] = field(default_factory=Counter[str])

    def keep_largest(self, name: str, value: int) -> None:
        """Keep the largest value of ``name``."""
        self.counts[name] = max(self.counts[name], value)


def measure_schema(wire: dict[str, Any], limits: SchemaLimits) -> SchemaSize:
    """Return the size of ``wire``. Definitions count once."""
    size = SchemaSize()
    pending = [wire]
    count = 0
    while pending and count <= MAX_SCHEMAS:
        node = pending.pop()
        count += 1
        if len(node) > 1 or "type" not in node or node["type"].__class__ is list:
            _count_node(node, size, limits)
            pending.extend(_subschemas(node))
            pending.extend(node.get("$defs", _NO_DEFINITIONS).values())
    size.counts["places"] = count
    if count <= MAX_SCHEMAS:
        size.counts["depth"] = _nesting_depth(wire)
        if limits.levels is not None:
            size.counts["levels"] = _nesting_levels(wire)
    return size


def exceeded_limits(size: SchemaSize, limits: SchemaLimits) -> dict[str, tuple[int, int]]:
    """Return the exceeded limits, each with the measured size and the limit."""
    values = {name: getattr(limits, name) for name in type(limits).model_fields}
    places = {"places": (size.counts["places"], MAX_SCHEMAS)} if size.counts["places"] > MAX_SCHEMAS else {}
    return places | {
        name: (size.counts[name], most)
        for name, most in values.items()
        if isinstance(most, int) and name != "long_enum" and size.counts[name] > most
    }


def _subschemas(node: dict[str, Any]) -> list[dict[str, Any]]:
    schemas: list[dict[str, Any]] = []
    if "properties" in node:
        schemas.extend(node["properties"].values())
    if "anyOf" in node:
        schemas.extend(node["anyOf"])
    if "prefixItems" in node:
        schemas.extend(node["prefixItems"])
    if "items" in node:
        schemas.append(node["items"])
    if node.get("additionalProperties"):
        schemas.append(node["additionalProperties"])
    return schemas


def _count_node(node: dict[str, Any], size: SchemaSize, limits: SchemaLimits) -> None:
    counts = size.counts
    if "anyOf" in node or node.get("type").__class__ is list:
        counts["unions"] += 1
    if "properties" in node:
        properties = node["properties"]
        optional = len(properties) - len(node["required"])
        counts["properties"] += len(properties)
        counts["characters"] += sum(map(len, properties))
        counts["optional"] += optional
        size.keep_largest("optional_of_one_object", optional)
    if "enum" in node:
        values: list[Any] = node["enum"]
        characters = sum(len(value) for value in values if isinstance(value, str))
        counts["enum_values"] += len(values)
        counts["characters"] += characters
        if limits.long_enum is not None and len(values) > limits.long_enum:
            size.keep_largest("long_enum_characters", characters)
    if "$defs" in node:
        counts["characters"] += sum(map(len, node["$defs"]))
    if limits.text is not None:
        counts["text"] += len(node.get("title", "")) + len(node.get("description", ""))


ROOT_POINTER = "#"


def _nesting_depth(wire: dict[str, Any]) -> int:
    """Return the depth in objects and arrays. References are followed, recursion once."""
    schemas = {
        ROOT_POINTER: wire,
        **{DEFINITION_PREFIX + name: each for name, each in wire.get("$defs", _NO_DEFINITIONS).items()},
    }
    heights: dict[str, int] = {}
    references: dict[str, dict[str, int]] = {}
    for name, schema in schemas.items():
        references[name] = {}
        heights[name] = _measure_height(schema, 0, references[name])
    return longest_path(heights, references, ROOT_POINTER)


def _nesting_levels(node: dict[str, Any]) -> int:
    """Return the depth in subschemas, without following references."""
    schemas = [*_subschemas(node), *node.get("$defs", _NO_DEFINITIONS).values()]
    return 1 + max(map(_nesting_levels, schemas)) if schemas else 0


def _measure_height(node: dict[str, Any], above: int, reference_depths: dict[str, int]) -> int:
    """Return the depth that ``node`` reaches by itself, and record the depths of its references."""
    if "$ref" in node:
        name = node["$ref"]
        reference_depths[name] = max(reference_depths.get(name, 0), above)
        return above
    kind: Any = node.get("type")
    if kind in _SCALAR_TYPES:
        return above
    depth = above + (
        kind in _CONTAINER_TYPES or (kind.__class__ is list and any(each in _CONTAINER_TYPES for each in kind))
    )
    return max([depth, *(_measure_height(subschema, depth, reference_depths) for subschema in _subschemas(node))])


MAX_PATH_STEPS = 20_000
"""The maximum number of steps in the search for the longest path through a cycle. Afterwards it is overestimated."""


def longest_path(own_lengths: dict[str, int], edges_by_name: dict[str, dict[str, int]], start: str) -> int:
    """Return the length of the longest path from ``start`` that visits no name twice.

    ``own_lengths`` are the lengths of names by themselves, ``edges_by_name`` the distances to other names. The result
    is exact, or too large if a cycle has too many paths to try.
    """
    # The longest simple path is an NP-hard problem, but only inside cycles. Between cycles the lengths add up.
    edges = {name: tuple(each) for name, each in edges_by_name.items()}
    number = strong_components(edges)
    members: dict[int, list[str]] = {}
    for name in edges:
        members.setdefault(number[name], []).append(name)
    known: dict[str, int] = {}
    for _, component in sorted(members.items(), reverse=True):  # successors first
        names_inside = set(component)
        exits: dict[str, int] = {}
        inner_edges: dict[str, dict[str, int]] = {}
        for name in component:
            distances = edges_by_name[name].items()
            outer = (distance + known[target] for target, distance in distances if target not in names_inside)
            exits[name] = max([own_lengths[name], *outer])
            inner_edges[name] = {target: distance for target, distance in distances if target in names_inside}
        known.update(_longest_in_cycle(exits, inner_edges))
    return known[start]


def _longest_in_cycle(exits: dict[str, int], edges_in_cycle: dict[str, dict[str, int]]) -> dict[str, int]:
    """Return the longest path from each member of a cycle, or an upper bound for all."""
    lengths: dict[str, int] = {}
    steps = MAX_PATH_STEPS
    for start, own_length in exits.items():
        lengths[start] = own_length
        trail = [(start, 0, iter(edges_in_cycle[start].items()))]
        visited = {start}
        while trail:
            current, distance, rest = trail[-1]
            edge = next(rest, None)
            steps -= 1
            if steps < 0:
                longest_edges = [max(each.values(), default=0) for each in edges_in_cycle.values()]
                return dict.fromkeys(exits, sum(longest_edges) - min(longest_edges) + max(exits.values()))
            if edge is None:
                trail.pop()
                visited.discard(current)
            elif edge[0] not in visited:
                name, step = edge
                lengths[start] = max(lengths[start], distance + step + exits[name])
                trail.append((name, distance + step, iter(edges_in_cycle[name].items())))
                visited.add(name)
    return lengths


_MIN_DESCRIPTION_LENGTH = 20


def shorten_descriptions(wire: dict[str, Any], max_characters: int) -> dict[str, Any]:
    """Return ``wire`` with its longest descriptions cut, so that all text has at most ``max_characters``."""
    lengths = sorted(_description_lengths(wire))
    allowed = max(_MIN_DESCRIPTION_LENGTH, _common_length(lengths, max_characters))
    return _shorten_object(wire, allowed)


def _common_length(lengths: list[int], max_characters: int) -> int:
    """Return the greatest length to which texts can be cut to have at most ``max_characters`` together."""
    remaining = max_characters
    for index, length in enumerate(lengths):
        share = remaining // (len(lengths) - index)
        if length > share:
            return share
        remaining -= length
    return lengths[-1] if lengths else 0


def _description_lengths(node: Json) -> list[int]:
    if isinstance(node, list):
        return [length for each in cast("list[Json]", node) for length in _description_lengths(each)]
    if not isinstance(node, dict):
        return []
    table = cast("dict[str, Json]", node)
    lengths = [len(table[key]) for key in ("title", "description") if isinstance(table.get(key), str)]
    return lengths + [length for value in table.values() for length in _description_lengths(value)]


def _shorten_value(node: Json, allowed: int) -> Any:
    if isinstance(node, list):
        return [_shorten_value(each, allowed) for each in cast("list[Json]", node)]
    return _shorten_object(cast("dict[str, Json]", node), allowed) if isinstance(node, dict) else node


def _shorten_object(table: dict[str, Json], allowed: int) -> dict[str, Json]:
    return {
        key: f"{value[: allowed - 1]}…"
        if key in {"title", "description"} and isinstance(value, str) and len(value) > allowed
        else _shorten_value(value, allowed)
        for key, value in table.items()
    }
