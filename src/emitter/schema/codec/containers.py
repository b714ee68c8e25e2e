"""Codecs of arrays, tuples, objects and maps.

Tuples are objects with one member per item on the wire, and open maps are lists of key-value entries.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from emitter.errors import Unencodable
from emitter.messages import as_list, as_mapping
from emitter.schema.codec.base import VALUE_MEMBER, Codec, JsonTextCodec, WireMembers, mark_undecoded
from emitter.schema.dialects import pattern_matches
from emitter.schema.json_data import ARRAY, OBJECT, child_pointer
from emitter.strict_json import DuplicateKeyError, build_object, json_equal

if TYPE_CHECKING:
    from emitter.messages import Json

REST_MEMBER = "rest"


def item_member_name(index: int) -> str:
    """Return the wire member of a tuple item."""
    return f"item_{index}"


class ArrayCodec:
    """An array within the bounds of `wire`. The items of `prefix` have codecs of their own."""

    types = frozenset({ARRAY})

    def __init__(self, item: Codec | None, wire: dict[str, Any], first: tuple[Codec, ...] = ()) -> None:
        self._item = item
        self._prefix = first
        self._min_items = wire.get("minItems", 0)
        self._max_items = wire.get("maxItems", math.inf)
        inside = (*first, *([item] if item is not None else []))
        self.same_on_wire = all(child.same_on_wire for child in inside)
        self.decode_is_noop = all(child.decode_is_noop for child in inside)

    def _codec_at(self, index: int) -> Codec | None:
        return self._prefix[index] if index < len(self._prefix) else self._item

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the encoded items."""
        if not isinstance(value, list):
            raise Unencodable(pointer, "must be of type array")
        given = as_list(value)
        codecs = [self._codec_at(index) for index in range(len(given))]
        if None in codecs or not self._min_items <= len(codecs) <= self._max_items:
            raise Unencodable(pointer, "has too few or too many items")
        return [
            codec.encode(each, child_pointer(pointer, i))
            for i, (codec, each) in enumerate(zip(codecs, given, strict=True))
            if codec
        ]

    def decode(self, value: Json) -> Json:
        """Return the decoded items."""
        if self.decode_is_noop or not isinstance(value, list):
            return value
        pairs = [(self._codec_at(index), each) for index, each in enumerate(as_list(value))]
        return [item if codec is None else codec.decode(item) for codec, item in pairs]

    def admits(self, value: Json) -> bool:
        """Return whether the value is an array and every item is admitted."""
        return isinstance(value, list) and all(
            (codec := self._codec_at(index)) is not None and codec.admits(each)
            for index, each in enumerate(as_list(value))
        )


class TupleCodec:
    """An array written as an object: one member per prefix item, of which `min_items` are required, then the rest.

    With `nullable`, an absent item is null instead of omitted.
    """

    types = frozenset({OBJECT})
    same_on_wire = decode_is_noop = False

    def __init__(self, first: tuple[Codec, ...], rest: ArrayCodec | None, min_items: int, *, nullable: bool) -> None:
        self._prefix = first
        self._rest = rest
        self._min_items = min_items
        self._nullable = nullable

    def members(self) -> WireMembers:
        """Return the members on the wire."""
        each: dict[str, tuple[Codec, bool]] = {
            item_member_name(index): (codec, self._nullable and index >= self._min_items)
            for index, codec in enumerate(self._prefix)
        }
        needed = len(self._prefix) if self._nullable else self._min_items
        required = [item_member_name(index) for index in range(needed)]
        if self._rest is not None:
            each[REST_MEMBER] = (self._rest, False)
            required.append(REST_MEMBER)
        return WireMembers(each, frozenset(required), is_closed=True)

    def encode(self, value: Json, pointer: str) -> Json:
        """Return an object with one member per item."""
        if not isinstance(value, list):
            raise Unencodable(pointer, "must be of type array")
        given: list[Any] = as_list(value)
        if len(given) < self._min_items or (self._rest is None and len(given) > len(self._prefix)):
            raise Unencodable(pointer, "has too few or too many items")
        pairs = zip(self._prefix, given, strict=False)
        out = {
            item_member_name(i): codec.encode(item, child_pointer(pointer, i)) for i, (codec, item) in enumerate(pairs)
        }
        if self._nullable:
            out.update({item_member_name(index): None for index in range(len(given), len(self._prefix))})
        if self._rest is not None:
            out[REST_MEMBER] = self._rest.encode(given[len(self._prefix) :], pointer)
        return out

    def decode(self, value: Json) -> Json:
        """Return the array. It ends at the first absent item."""
        if not isinstance(value, dict):
            return value
        given = as_mapping(value)
        out: list[Any] = []
        for index, codec in enumerate(self._prefix):
            named = item_member_name(index)
            if named not in given or (self._nullable and given[named] is None and index >= self._min_items):
                return out
            out.append(codec.decode(given[named]))
        return out if self._rest is None else [*out, *as_list(self._rest.decode(given.get(REST_MEMBER)))]

    def admits(self, value: Json) -> bool:
        """Return whether the required items are present and every item is admitted."""
        if not isinstance(value, dict):
            return False
        given = as_mapping(value)
        each, required, _ = self.members()
        return required <= given.keys() <= each.keys() and all(
            (one is None and each[name][1]) or each[name][0].admits(one) for name, one in given.items()
        )


KEY_MEMBER = "key"
_EXPECTED_UNIQUE_KEYS: Final = "no two entries with one key and different values"
_EXPECTED_ENTRIES: Final = 'a list of objects with "key" and "value"'
_EXPECTED_OBJECT_TEXT: Final = "the JSON text of one whole object, which names no property twice"
_EXPECTED_NO_CONFLICT: Final = "no property that stands beside this one with another value"


class MemberCodec(NamedTuple):
    """A named property.

    `nullable` means that null stands for an absent property on the wire, `takes_null` that null is a value of the
    property, and `null_is_absent` that a null on the wire is read as absent.
    """

    codec: Codec
    required: bool
    nullable: bool
    takes_null: bool
    null_is_absent: bool


class KeyValueCodec:
    """An open map as a list of `{key, value}` entries. The codec of a value is chosen by its key.

    Entries with a forbidden key are dropped.
    """

    types = frozenset({ARRAY})
    same_on_wire = decode_is_noop = False

    def __init__(self, entries: tuple[tuple[str | None, Codec], ...], forbidden: frozenset[str] = frozenset()) -> None:
        self._entries = entries
        self._forbidden = forbidden
        self.max_entries = math.inf

    def _codec_for_key(self, key: str) -> Codec | None:
        return next(
            (codec for pattern, codec in self._entries if pattern is None or pattern_matches(pattern, key)), None
        )

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the entries of an object."""
        if not isinstance(value, dict):
            raise Unencodable(pointer, "must be of type object")
        if len(as_mapping(value)) > self.max_entries:
            raise Unencodable(pointer, "has more properties than its schema allows")
        return [
            {KEY_MEMBER: key, VALUE_MEMBER: self._encode_value(key, each, pointer)}
            for key, each in as_mapping(value).items()
        ]

    def _encode_value(self, key: str, value: Json, pointer: str) -> Json:
        codec = None if key in self._forbidden else self._codec_for_key(key)
        if codec is None:
            raise Unencodable(pointer, "has a property with a forbidden name")
        return codec.encode(value, child_pointer(pointer, key))

    def decode(self, value: Json) -> Json:
        """Return the object. A list with two values for a key is marked as undecoded; what is no list is unchanged."""
        if isinstance(value, dict):
            return self.decode_properties(as_mapping(value))
        entries = [as_mapping(each) for each in as_list(value)]
        if not isinstance(value, list) or not all(
            isinstance(entry.get(KEY_MEMBER), str) and VALUE_MEMBER in entry for entry in entries
        ):
            return cast("Json", value)
        try:
            return self.decode_properties(build_object([(entry[KEY_MEMBER], entry[VALUE_MEMBER]) for entry in entries]))
        except DuplicateKeyError:
            return mark_undecoded(value, "keys", _EXPECTED_UNIQUE_KEYS)

    def decode_properties(self, properties: Json) -> dict[str, Json]:
        """Return the properties with decoded values."""
        read = (
            (key, value, self._codec_for_key(key))
            for key, value in as_mapping(properties).items()
            if key not in self._forbidden
        )
        return {key: each if codec is None else codec.decode(each) for key, each, codec in read}

    def admits(self, value: Json) -> bool:
        """Return whether the value is a list of admitted entries."""
        return isinstance(value, list) and all(
            KEY_MEMBER in each
            and ((codec := self._codec_for_key(each[KEY_MEMBER])) is None or codec.admits(each.get(VALUE_MEMBER)))
            for each in map(as_mapping, as_list(value))
        )


class OverflowCodec:
    """Properties that share one member, as the JSON text of an object. `allowed` limits their names."""

    types = JsonTextCodec.types
    same_on_wire = decode_is_noop = False

    def __init__(self, allowed: frozenset[str] | None = None) -> None:
        self._allowed = allowed

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the JSON text of the object."""
        if self._allowed is not None and as_mapping(value).keys() - self._allowed:
            raise Unencodable(pointer, "has a property that the schema does not name")
        return json.dumps(value, ensure_ascii=False)

    def decode(self, value: Json) -> Json:
        """Return the object. Text that is no object is returned as decoded."""
        if value is None or value == "":
            return {}
        meant = JsonTextCodec((OBJECT,)).decode(value)
        if not isinstance(meant, dict):
            return meant
        return {
            name: each for name, each in as_mapping(meant).items() if self._allowed is None or name in self._allowed
        }

    def admits(self, value: Json) -> bool:
        """Return whether the value is a string."""
        return isinstance(value, str)


class ObjectCodec:
    """An object with named members. `unnamed` encodes the others, in the member `slot` or beside the named ones.

    Unnamed properties with a forbidden name are dropped.
    """

    types = frozenset({OBJECT})

    def __init__(
        self,
        members: dict[str, MemberCodec],
        rest: Codec | None = None,
        slot: str | None = None,
        forbidden: frozenset[str] = frozenset(),
    ) -> None:
        self._members = members
        self._ignored_names = forbidden | members.keys()
        self._unnamed_codec = rest
        self._overflow_name = slot
        beside = rest is None or (slot is None and not forbidden and rest.same_on_wire)
        self.same_on_wire = beside and all(
            member.codec.same_on_wire and not member.nullable for member in members.values()
        )
        kept = all(member.codec.decode_is_noop and not member.null_is_absent for member in members.values())
        self.decode_is_noop = self.same_on_wire and kept and (rest is None or rest.decode_is_noop)

    def members(self) -> WireMembers:
        """Return the members on the wire."""
        each = {name: (one.codec, one.nullable) for name, one in self._members.items()}
        if self._overflow_name is not None and self._unnamed_codec is not None:
            each[self._overflow_name] = (self._unnamed_codec, False)
        needed = {name for name, one in self._members.items() if one.required or one.nullable}
        needed |= set() if self._overflow_name is None else {self._overflow_name}
        return WireMembers(
            each, frozenset(needed), is_closed=self._unnamed_codec is None or self._overflow_name is not None
        )

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the object with all members that the wire schema requires."""
        if not isinstance(value, dict):
            raise Unencodable(pointer, "must be of type object")
        out: dict[str, Json] = {}
        for name, member in self._members.items():
            given = name in value and (value[name] is not None or member.required or member.takes_null)
            if given:
                out[name] = member.codec.encode(value[name], child_pointer(pointer, name))
            elif member.required:
                raise Unencodable(child_pointer(pointer, name), "is required")
            elif member.nullable:
                out[name] = None
        return {**out, **self._encode_unnamed(as_mapping(value), pointer)}

    def _encode_unnamed(self, value: Json, pointer: str) -> dict[str, Json]:
        others = {name: each for name, each in value.items() if name not in self._members}
        if others.keys() & self._ignored_names:
            raise Unencodable(pointer, "has a property that the schema forbids")
        if self._unnamed_codec is None:
            if others:
                raise Unencodable(pointer, "has a property that the schema does not name")
            return {}
        encoded = self._unnamed_codec.encode(others, pointer)
        return encoded if self._overflow_name is None else {self._overflow_name: encoded}

    def decode(self, value: Json) -> Json:
        """Return the object without absent members, and with the unnamed properties among the others."""
        if self.decode_is_noop or not isinstance(value, dict):
            return value
        out: dict[str, Json] = {}
        beside: dict[str, Json] = {}
        for name, each in as_mapping(value).items():
            member = self._members.get(name)
            if member is None:
                beside[name] = each
            elif each is not None or not member.null_is_absent:
                out[name] = member.codec.decode(each)
        return {**self._decode_unnamed(beside, out), **out}

    def _decode_unnamed(self, unnamed: dict[str, Json], named: dict[str, Json]) -> dict[str, Json]:
        if self._unnamed_codec is None:
            return unnamed
        if self._overflow_name is None:
            return self._allowed_properties(self._unnamed_codec.decode(unnamed))
        if self._overflow_name not in unnamed:
            return unnamed
        said = unnamed.pop(self._overflow_name)
        more = self._unnamed_codec.decode(said)
        if not isinstance(more, dict):
            expected = _EXPECTED_ENTRIES if isinstance(self._unnamed_codec, KeyValueCodec) else _EXPECTED_OBJECT_TEXT
            return {**unnamed, self._overflow_name: mark_undecoded(more, "json", expected, self._overflow_name)}
        known = {**dict.fromkeys(self._members), **unnamed, **named}
        if any(not json_equal(known[name], each) for name, each in as_mapping(more).items() if name in known):
            return {
                **unnamed,
                self._overflow_name: mark_undecoded(said, "keys", _EXPECTED_NO_CONFLICT, self._overflow_name),
            }
        return {**unnamed, **self._allowed_properties(more)}

    def _allowed_properties(self, more: Json) -> dict[str, Json]:
        return {name: each for name, each in as_mapping(more).items() if name not in self._ignored_names}

    def admits(self, value: Json) -> bool:
        """Return whether the required members are present and every member is admitted."""
        if not isinstance(value, dict):
            return False
        given = as_mapping(value)
        each, required, closed = self.members()
        if not required <= given.keys() or (closed and given.keys() - each.keys()):
            return False
        return all(
            (one is None and each[name][1]) or each[name][0].admits(one) for name, one in given.items() if name in each
        )


class SiblingCodec(KeyValueCodec):
    """Unnamed properties, for providers that accept open objects."""

    types = frozenset({OBJECT})

    def __init__(self, entries: tuple[tuple[str | None, Codec], ...]) -> None:
        super().__init__(entries)
        self.same_on_wire = all(codec.same_on_wire for _, codec in entries)
        self.decode_is_noop = all(codec.decode_is_noop for _, codec in entries)

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the properties with encoded values."""
        return {key: self._encode_value(key, each, pointer) for key, each in as_mapping(value).items()}

    def decode(self, value: Json) -> Json:
        """Return the properties with decoded values."""
        return self.decode_properties(value)
