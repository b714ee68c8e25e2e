"""A part of a document that is being written, and what it cannot be read without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.progress.standing import named, tags
from emitter.schema.codec.lists import REST, slot
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.progress.scan import Path
    from emitter.wire import Json


class Needed:
    """What has to be remembered: the tags of unions, and the items of arrays whose places differ."""

    def __init__(self, *schemas: Mapping[str, Json] | bool) -> None:
        tuples = [each for schema in schemas for each in _tuples(schema)]
        self.first = max((len(each) for each in tuples), default=0)
        self._tags: dict[str, list[Json]] = {}
        for schema in schemas:
            for name, values in tags(schema).items():
                self._tags.setdefault(name, []).extend(values)
        names = {name for schema in schemas for name, _ in named(schema)}
        self._slots = {slot(at) for at in range(len(names))} & names
        self._slots |= {REST} & names if self._slots else set()

    def keeps(self, step: str | int, value: Json) -> bool:
        """Tell whether a member has to be remembered."""
        if isinstance(step, int):
            return step < self.first
        return step in self._slots or value in self._tags.get(step, ())


class Beside:
    """What one answer has had so far of what is needed."""

    def __init__(self, needed: Needed) -> None:
        self._needed = needed
        self._kept: dict[Path, dict[str | int, Json]] = {}

    def keep(self, path: Path, value: Json) -> None:
        """Remember a member, if it is needed."""
        if self._needed.keeps(path[-1], value):
            self._kept.setdefault(path[:-1], {})[path[-1]] = value

    def has(self, path: Path) -> bool:
        """Tell whether something stands beside the members of a container."""
        return path in self._kept

    def place(self, step: int) -> int:
        """Return where an item stands in the array of a part."""
        return min(step, self._needed.first)

    def document(self, path: Path, value: Json) -> Json:
        """Return the document that has only ``value``, and what is needed beside it."""
        for end in range(len(path) - 1, -1, -1):
            value = self.container(path[:end], path[end], value)
        return value

    def container(self, path: Path, step: str | int, *inside: Json) -> Json:
        """Return a container with what is needed, and with one member at ``step``, or without."""
        kept = self._kept.get(path, {})
        if isinstance(step, int):
            return [*(each for at, each in kept.items() if at != step), *inside]
        members = {str(name): each for name, each in kept.items()}
        return {**members, step: inside[0]} if inside else members


def _tuples(schema: Json) -> list[list[Json]]:
    """Return every list of schemas for items with places of their own."""
    waiting: list[Json] = [schema]
    found: list[list[Json]] = []
    while waiting:
        node = waiting.pop()
        table = mapping(node)
        found.extend(sequence(table.get(key)) for key in ("prefixItems", "items") if isinstance(table.get(key), list))
        waiting.extend(table.values() if isinstance(node, dict) else sequence(node))
    return found
