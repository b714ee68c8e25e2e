"""Walks through JSON values without recursion, so that no depth is too much."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import TYPE_CHECKING, TypeAlias, cast

from emitter.errors import InputError
from emitter.redact.spans import Redacted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.wire import Json

_PLAIN = frozenset({int, float, bool, NoneType})

Rewrite: TypeAlias = Callable[[str], Redacted[str]]
_Holder: TypeAlias = "list[Json] | dict[Json, Json]"


def joined(value: Json) -> tuple[str, int]:
    """Return every string of a value as one text, keys included, and the number of its objects and arrays.

    What stands in several places is looked at once. Raises ``InputError`` for what is no JSON: nobody can say what it
    will look like when it is told.
    """
    found: list[Json] = []
    seen: set[int] = set()
    pending: list[Json] = [value]
    for each in pending:  # which grows meanwhile
        kind = each.__class__
        if kind is str:
            found.append(each)
        elif kind in _PLAIN:
            continue
        elif (place := id(each)) not in seen:
            seen.add(place)
            keys, items = (each, each.values()) if kind is dict else _parts(each)
            found += keys
            pending += items
    return _text(found), len(seen)


def _parts(each: Json) -> tuple[Iterable[Json], Iterable[Json]]:
    """Return the keys and the items of what is no plain object."""
    if isinstance(each, str):
        return (each,), ()
    if isinstance(each, (list, tuple)):
        return (), cast("list[Json]", each)
    if isinstance(each, (int, float)):
        return (), ()
    if isinstance(each, Mapping):
        bag = cast("Mapping[Json, Json]", each)
        return bag, bag.values()
    raise _foreign(each)


def _text(found: list[Json]) -> str:
    try:
        return "\0".join(found)
    except TypeError:  # keys that JSON writes as text, or that it cannot write
        return "\0".join(each if isinstance(each, str) else _plain(each) for each in found)


def _plain(key: Json) -> str:
    if key is None or isinstance(key, (int, float)):
        return ""
    raise _foreign(key)


def _foreign(value: Json) -> InputError:
    return InputError(f"A value of type {type(value).__name__} is no JSON, so no secret can be found in it.")


def rewritten(value: Json, rewrite: Rewrite, deepest: int) -> Redacted[Json]:
    """Return a copy with every string rewritten; raises ``InputError`` where it is deeper than it can be."""
    top = [value]
    count = 0
    pending: list[tuple[_Holder, int]] = [(top, 0)]
    tuples: list[tuple[_Holder, Json]] = []
    while pending:
        holder, depth = pending.pop()
        if depth > deepest:
            raise InputError("A value holds itself, so it is no JSON.")
        for key, item in holder.items() if isinstance(holder, dict) else enumerate(holder):
            told = _told(item, rewrite)
            value = holder[key] = told.value
            count += told.count
            if isinstance(value, (list, dict)):
                pending.append((cast("_Holder", value), depth + 1))
            if isinstance(item, tuple):
                tuples.append((holder, key))
    for holder, key in reversed(tuples):  # the innermost first
        holder[key] = tuple(holder[key])
    return Redacted(top[0], count)


def _told(item: Json, rewrite: Rewrite) -> Redacted[Json]:
    """Return a string rewritten, an object with its keys rewritten, a copy of an array, anything else as it is."""
    if isinstance(item, str):
        return rewrite(item)
    if isinstance(item, (list, tuple)):
        return Redacted(list(cast("list[Json]", item)), 0)
    if isinstance(item, (dict, Mapping)):
        return _bag(cast("Mapping[Json, Json]", item), rewrite)
    return Redacted(item, 0)


def _bag(source: Mapping[Json, Json], rewrite: Rewrite) -> Redacted[Json]:
    """Return an object with its keys rewritten; none takes the place of another."""
    told = {key: rewrite(key) for key in source if isinstance(key, str)}
    count = sum(each.count for each in told.values())
    names = _Names({key for key in source if key not in told or not told[key].count}, rewrite)
    bag = {names.free(told[key].value) if key in told and told[key].count else key: source[key] for key in source}
    return Redacted(bag, count)


@dataclass(slots=True)
class _Names:
    """The keys of one object; those that were rewritten alike are numbered from ``~2`` on."""

    taken: set[Json]
    rewrite: Rewrite
    last: dict[str, int] = field(default_factory=dict[str, int])

    def free(self, name: str) -> str:
        """Return a key that nothing has yet."""
        found = name
        while found in self.taken:
            self.last[name] = self.last.get(name, 1) + 1
            found = self.rewrite(f"{name}~{self.last[name]}").value
        self.taken.add(found)
        return found
