"""Objects: named members, and what is not named as a list of entries or as JSON text."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from emitter.errors import Unencodable
from emitter.schema.codec.base import Codec, Members, unread
from emitter.schema.codec.leaves import Text
from emitter.schema.pattern import matches
from emitter.schema.pointer import below
from emitter.schema.value import ARRAY, OBJECT
from emitter.wire import mapping, sequence
from emitter.wire.strict import RepeatedError, members, same

if TYPE_CHECKING:
    from emitter.wire import Json

KEY, VALUE = "key", "value"

_KEYS: Final = "no two entries with one key and different values"
_ENTRIES: Final = 'a list of objects with "key" and "value"'
_OBJECT: Final = "the JSON text of one whole object, which names no property twice"
_OTHERS: Final = "no property that stands beside this one with another value"


class Member(NamedTuple):
    """A named property: ``nullable`` says that the wire has null for absent, ``takes_null`` that null is a value.

    ``null_is_absent`` says how a null on the wire is read.
    """

    codec: Codec
    required: bool
    nullable: bool
    takes_null: bool
    null_is_absent: bool


class Entries:
    """An open map as a list of ``{key, value}``; which codec a value has depends on its key.

    Entries with a ``forbidden`` key are passed over.
    """

    types = frozenset({ARRAY})
    plain = still = False

    def __init__(self, entries: tuple[tuple[str | None, Codec], ...], forbidden: frozenset[str] = frozenset()) -> None:
        self._entries = entries
        self._forbidden = forbidden
        self.most = math.inf

    def _of(self, key: str) -> Codec | None:
        return next((codec for pattern, codec in self._entries if pattern is None or matches(pattern, key)), None)

    def encode(self, value: Json, at: str) -> Json:
        """Return the entries of an object."""
        if not isinstance(value, dict):
            raise Unencodable(at, "must be of type object")
        if len(mapping(value)) > self.most:
            raise Unencodable(at, "has more properties than its schema allows")
        return [{KEY: key, VALUE: self._encoded(key, each, at)} for key, each in mapping(value).items()]

    def _encoded(self, key: str, value: Json, at: str) -> Json:
        codec = None if key in self._forbidden else self._of(key)
        if codec is None:
            raise Unencodable(at, "has a property whose name is not allowed")
        return codec.encode(value, below(at, key))

    def decode(self, value: Json) -> Json:
        """Return the object; what is no list of entries stays.

        A list that has one key with different values is marked as not read.
        """
        if isinstance(value, dict):
            return self.pairs(mapping(value))
        entries = [mapping(each) for each in sequence(value)]
        if not isinstance(value, list) or not all(isinstance(each.get(KEY), str) and VALUE in each for each in entries):
            return cast("Json", value)
        try:
            return self.pairs(members([(each[KEY], each[VALUE]) for each in entries]))
        except RepeatedError:
            return unread(value, "keys", _KEYS)

    def pairs(self, given: Json) -> dict[str, Json]:
        """Return the properties with their values decoded."""
        read = ((key, each, self._of(key)) for key, each in mapping(given).items() if key not in self._forbidden)
        return {key: each if codec is None else codec.decode(each) for key, each, codec in read}

    def admits(self, value: Json) -> bool:
        """Tell whether it is a list of entries."""
        return isinstance(value, list) and all(
            KEY in each and ((codec := self._of(each[KEY])) is None or codec.admits(each.get(VALUE)))
            for each in map(mapping, sequence(value))
        )


class Extras:
    """Properties without a place of their own, together as the JSON text of one object; ``allowed`` names them."""

    types = Text.types
    plain = still = False

    def __init__(self, allowed: frozenset[str] | None = None) -> None:
        self._allowed = allowed

    def encode(self, value: Json, at: str) -> Json:
        """Return the JSON text of the object."""
        if self._allowed is not None and mapping(value).keys() - self._allowed:
            raise Unencodable(at, "has a property that the schema does not name")
        return json.dumps(value, ensure_ascii=False)

    def decode(self, value: Json) -> Json:
        """Return the object; text that says none is returned as it is."""
        if value is None or value == "":
            return {}
        meant = Text((OBJECT,)).decode(value)
        if not isinstance(meant, dict):
            return meant
        return {name: each for name, each in mapping(meant).items() if self._allowed is None or name in self._allowed}

    def admits(self, value: Json) -> bool:
        """Tell whether it is text."""
        return isinstance(value, str)


class Object:
    """An object with named members; ``rest`` holds the others, under the name ``slot`` or, without, beside them.

    Others with a ``forbidden`` name are passed over.
    """

    types = frozenset({OBJECT})

    def __init__(
        self,
        members: dict[str, Member],
        rest: Codec | None = None,
        slot: str | None = None,
        forbidden: frozenset[str] = frozenset(),
    ) -> None:
        self._members = members
        self._passed_over = forbidden | members.keys()
        self._rest = rest
        self._slot = slot
        beside = rest is None or (slot is None and not forbidden and rest.plain)
        self.plain = beside and all(each.codec.plain and not each.nullable for each in members.values())
        kept = all(each.codec.still and not each.null_is_absent for each in members.values())
        self.still = self.plain and kept and (rest is None or rest.still)

    def members(self) -> Members:
        """Return the members on the wire."""
        each = {name: (one.codec, one.nullable) for name, one in self._members.items()}
        if self._slot is not None and self._rest is not None:
            each[self._slot] = (self._rest, False)
        needed = {name for name, one in self._members.items() if one.required or one.nullable}
        needed |= set() if self._slot is None else {self._slot}
        return Members(each, frozenset(needed), closed=self._rest is None or self._slot is not None)

    def encode(self, value: Json, at: str) -> Json:
        """Return the object with every member that the wire asks for."""
        if not isinstance(value, dict):
            raise Unencodable(at, "must be of type object")
        out: dict[str, Json] = {}
        for name, member in self._members.items():
            given = name in value and (value[name] is not None or member.required or member.takes_null)
            if given:
                out[name] = member.codec.encode(value[name], below(at, name))
            elif member.required:
                raise Unencodable(below(at, name), "is required")
            elif member.nullable:
                out[name] = None
        return {**out, **self._others(mapping(value), at)}

    def _others(self, value: Json, at: str) -> dict[str, Json]:
        others = {name: each for name, each in value.items() if name not in self._members}
        if others.keys() & self._passed_over:
            raise Unencodable(at, "has a property that the schema forbids")
        if self._rest is None:
            if others:
                raise Unencodable(at, "has a property that the schema does not name")
            return {}
        encoded = self._rest.encode(others, at)
        return encoded if self._slot is None else {self._slot: encoded}

    def decode(self, value: Json) -> Json:
        """Return the object with what is absent left out, and the rest among the members."""
        if self.still or not isinstance(value, dict):
            return value
        out: dict[str, Json] = {}
        beside: dict[str, Json] = {}
        for name, each in mapping(value).items():
            member = self._members.get(name)
            if member is None:
                beside[name] = each
            elif each is not None or not member.null_is_absent:
                out[name] = member.codec.decode(each)
        return {**self._decoded(beside, out), **out}

    def _decoded(self, beside: dict[str, Json], named: dict[str, Json]) -> dict[str, Json]:
        if self._rest is None:
            return beside
        if self._slot is None:
            return self._kept(self._rest.decode(beside))
        if self._slot not in beside:
            return beside
        said = beside.pop(self._slot)
        more = self._rest.decode(said)
        if not isinstance(more, dict):
            expected = _ENTRIES if isinstance(self._rest, Entries) else _OBJECT
            return {**beside, self._slot: unread(more, "json", expected, self._slot)}
        known = {**dict.fromkeys(self._members), **beside, **named}
        if any(not same(known[name], each) for name, each in mapping(more).items() if name in known):
            return {**beside, self._slot: unread(said, "keys", _OTHERS, self._slot)}
        return {**beside, **self._kept(more)}

    def _kept(self, more: Json) -> dict[str, Json]:
        return {name: each for name, each in mapping(more).items() if name not in self._passed_over}

    def admits(self, value: Json) -> bool:
        """Tell whether the members are there and could be what they are."""
        if not isinstance(value, dict):
            return False
        given = mapping(value)
        each, required, closed = self.members()
        if not required <= given.keys() or (closed and given.keys() - each.keys()):
            return False
        return all(
            (one is None and each[name][1]) or each[name][0].admits(one) for name, one in given.items() if name in each
        )


class Beside(Entries):
    """Properties that are not named, where the vendor takes them as they are."""

    types = frozenset({OBJECT})

    def __init__(self, entries: tuple[tuple[str | None, Codec], ...]) -> None:
        super().__init__(entries)
        self.plain = all(codec.plain for _, codec in entries)
        self.still = all(codec.still for _, codec in entries)

    def encode(self, value: Json, at: str) -> Json:
        """Return the properties with their values encoded."""
        return {key: self._encoded(key, each, at) for key, each in mapping(value).items()}

    def decode(self, value: Json) -> Json:
        """Return the properties with their values decoded."""
        return self.pairs(value)
