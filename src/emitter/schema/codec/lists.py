"""Arrays, and arrays with places of their own as objects with one slot for each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from emitter.errors import Unencodable
from emitter.schema.codec.base import Codec, Members
from emitter.schema.pointer import below
from emitter.schema.value import ARRAY, OBJECT
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from emitter.wire import Json

REST = "rest"


def slot(index: int) -> str:
    """Return the name of the slot of an item."""
    return f"item_{index}"


class Array:
    """An array on the wire, of a length that the wire takes; the first items may have codecs of their own."""

    types = frozenset({ARRAY})

    def __init__(self, item: Codec | None, wire: dict[str, Any], first: tuple[Codec, ...] = ()) -> None:
        self._item = item
        self._first = first
        self._least = wire.get("minItems", 0)
        self._most = wire.get("maxItems", math.inf)
        inside = (*first, *([item] if item is not None else []))
        self.plain = all(each.plain for each in inside)
        self.still = all(each.still for each in inside)

    def _of(self, index: int) -> Codec | None:
        return self._first[index] if index < len(self._first) else self._item

    def encode(self, value: Json, at: str) -> Json:
        """Return the items encoded."""
        if not isinstance(value, list):
            raise Unencodable(at, "must be of type array")
        given = sequence(value)
        codecs = [self._of(index) for index in range(len(given))]
        if None in codecs or not self._least <= len(codecs) <= self._most:
            raise Unencodable(at, "has another number of items than its schema allows")
        return [
            codec.encode(each, below(at, i)) for i, (codec, each) in enumerate(zip(codecs, given, strict=True)) if codec
        ]

    def decode(self, value: Json) -> Json:
        """Return the items decoded."""
        if self.still or not isinstance(value, list):
            return value
        pairs = [(self._of(index), each) for index, each in enumerate(sequence(value))]
        return [each if codec is None else codec.decode(each) for codec, each in pairs]

    def admits(self, value: Json) -> bool:
        """Tell whether it is an array whose items could be what they are."""
        return isinstance(value, list) and all(
            (codec := self._of(index)) is not None and codec.admits(each) for index, each in enumerate(sequence(value))
        )


class Slots:
    """An array as an object: one slot for each place, the first ``least`` of them needed, then the rest.

    ``nullable`` says that a slot that is not needed is null rather than left out.
    """

    types = frozenset({OBJECT})
    plain = still = False

    def __init__(self, first: tuple[Codec, ...], rest: Array | None, least: int, *, nullable: bool) -> None:
        self._first = first
        self._rest = rest
        self._least = least
        self._nullable = nullable

    def members(self) -> Members:
        """Return the members on the wire."""
        each: dict[str, tuple[Codec, bool]] = {
            slot(index): (codec, self._nullable and index >= self._least) for index, codec in enumerate(self._first)
        }
        needed = len(self._first) if self._nullable else self._least
        required = [slot(index) for index in range(needed)]
        if self._rest is not None:
            each[REST] = (self._rest, False)
            required.append(REST)
        return Members(each, frozenset(required), closed=True)

    def encode(self, value: Json, at: str) -> Json:
        """Return the items in their slots."""
        if not isinstance(value, list):
            raise Unencodable(at, "must be of type array")
        given: list[Any] = sequence(value)
        if len(given) < self._least or (self._rest is None and len(given) > len(self._first)):
            raise Unencodable(at, "has another number of items than its schema allows")
        pairs = zip(self._first, given, strict=False)
        out = {slot(i): codec.encode(each, below(at, i)) for i, (codec, each) in enumerate(pairs)}
        if self._nullable:
            out.update({slot(index): None for index in range(len(given), len(self._first))})
        if self._rest is not None:
            out[REST] = self._rest.encode(given[len(self._first) :], at)
        return out

    def decode(self, value: Json) -> Json:
        """Return the array: slots up to the first that is not filled, then the rest."""
        if not isinstance(value, dict):
            return value
        given = mapping(value)
        out: list[Any] = []
        for index, codec in enumerate(self._first):
            named = slot(index)
            if named not in given or (self._nullable and given[named] is None and index >= self._least):
                return out
            out.append(codec.decode(given[named]))
        return out if self._rest is None else [*out, *sequence(self._rest.decode(given.get(REST)))]

    def admits(self, value: Json) -> bool:
        """Tell whether the slots that are needed are filled."""
        if not isinstance(value, dict):
            return False
        given = mapping(value)
        each, required, _ = self.members()
        return required <= given.keys() <= each.keys() and all(
            (one is None and each[name][1]) or each[name][0].admits(one) for name, one in given.items()
        )
