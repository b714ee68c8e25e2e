"""The sizes of a wire schema, measured a second time: as simply as can be, and without the compiler's own code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.profiles.tables import SchemaLimits

STEPS = 50_000
"""No more places than these are entered to find the deepest way through references."""


def excess(wire: Any, limits: SchemaLimits) -> list[str]:
    """Return what is over a limit of the vendor, in words."""
    measured = sizes(wire, limits)
    return [
        f"{name} {count} of at most {most}"
        for name, count in measured.items()
        if (most := getattr(limits, name)) is not None and count > most
    ]


def sizes(wire: Any, limits: SchemaLimits) -> dict[str, int]:
    """Return every size that ``limits`` knows."""
    nodes = list(places(wire))
    properties = [each.get("properties", {}) for each in nodes]
    absent = [len(each.get("properties", {}).keys() - set(each.get("required", ()))) for each in nodes]
    enums = [each["enum"] for each in nodes if "enum" in each]
    long = [each for each in enums if len(each) > (limits.long_enum or 0)]
    unions = ["anyOf" in each or isinstance(each.get("type"), list) for each in nodes]
    texts = [each[name] for each in nodes for name in ("title", "description") if name in each]
    names = [name for each in nodes for name in (*each.get("properties", ()), *each.get("$defs", ()))]
    return {
        "depth": _Depth(wire).of(wire, frozenset({"#"})),
        "levels": levels(wire),
        "properties": sum(map(len, properties)),
        "enum_values": sum(map(len, enums)),
        "characters": sum(map(len, names)) + sum(map(_length, enums)),
        "optional": sum(absent),
        "optional_of_one_object": max(absent),
        "unions": sum(unions),
        "long_enum_characters": max(map(_length, long), default=0),
        "text": sum(map(len, texts)),
    }


def _length(values: list[Any]) -> int:
    return sum(len(each) for each in values if isinstance(each, str))


def inside(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas directly inside one, without its definitions."""
    single = [node[name] for name in ("items", "additionalProperties") if isinstance(node.get(name), dict)]
    return [*node.get("properties", {}).values(), *node.get("anyOf", ()), *node.get("prefixItems", ()), *single]


def places(wire: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every schema in one, definitions too."""
    yield wire
    for each in (*inside(wire), *wire.get("$defs", {}).values()):
        yield from places(each)


def levels(node: dict[str, Any]) -> int:
    """Return how many schemas stand in one another below this one."""
    return max([1 + levels(each) for each in (*inside(node), *node.get("$defs", {}).values())], default=0)


class _Depth:
    """How many objects and arrays stand in one another, with no reference followed twice on one way."""

    def __init__(self, wire: dict[str, Any]) -> None:
        self._wire = wire
        self._steps = STEPS

    def of(self, node: dict[str, Any], passed: frozenset[str]) -> int:
        """Return the depth of ``node``; the deepest way found, where there are too many to try."""
        self._steps -= 1
        named = node.get("type")
        own = int(bool({"object", "array"} & set(named if isinstance(named, list) else [named])))
        reference = node.get("$ref")
        below = [*inside(node), *([] if reference is None or reference in passed else [self._target(reference)])]
        onward = passed if reference is None else passed | {reference}
        return own + max([self.of(each, onward) for each in below if self._steps > 0], default=0)

    def _target(self, reference: str) -> dict[str, Any]:
        return self._wire if reference == "#" else self._wire["$defs"][reference.removeprefix("#/$defs/")]
