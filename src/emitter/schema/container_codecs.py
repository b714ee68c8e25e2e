"""Codecs of arrays, tuples, objects and maps.

Where a provider has no form for them, tuples are objects with one member per item, and open maps are lists of
key-value entries.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from emitter.errors import Unencodable
from emitter.messages import as_list, as_mapping
from emitter.schema.codecs import VALUE_MEMBER, Codec, JsonTextCodec, WireMembers, mark_undecoded
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
    """An array within the bounds of ``wire``. The items of ``prefix`` have codecs of their own."""

    types = frozenset({ARRAY})

    def __init__(self, item: Codec | None, wire: dict[str, Any], prefix: tuple[Codec, ...] = ()) -> None:
        self._item = item
        self._prefix = prefix
        self._min_items = wire.get("minItems", 0)
        self._max_items = wire.get("maxItems", math.inf)
        codecs = (*prefix, *([item] if item is not None else []))
        self.same_on_wire = all(codec.same_on_wire for codec in codecs)
        self.decode_is_noop = all(codec.decode_is_noop for codec in codecs)

    def _codec_at(self, index: int) -> Codec | None:
        return self._prefix[index] if index < len(self._prefix) else self._item

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the encoded items."""
        if not isinstance(value, list):
            raise Unencodable(pointer, "must be of type array")
        items = as_list(value)
        codecs = [self._codec_at(index) for index in range(len(items))]
        if None in codecs or not self._min_items <= len(codecs) <= self._max_items:
            raise Unencodable(pointer, "has too few or too many items")
        return [
            codec.encode(item, child_pointer(pointer, index))
            for index, (codec, item) in enumerate(zip(codecs, items, strict=True))
            if codec
        ]

    def decode(self, value: Json) -> Json:
        """Return the decoded items."""
        if self.decode_is_noop or not isinstance(value, list):
            return value
        pairs = [(self._codec_at(index), item) for index, item in enumerate(as_list(value))]
        return [item if codec is None else codec.decode(item) for codec, item in pairs]

    def admits(self, value: Json) -> bool:
        """Return whether the value is an array and every item is admitted."""
        return isinstance(value, list) and all(
            (codec := self._codec_at(index)) is not None and codec.admits(item)
            for index, item in enumerate(as_list(value))
        )


class TupleCodec:
    """An array written as an object: one member per prefix item, of which ``min_items`` are required, then the rest.

    With ``nullable``, an absent item is null instead of omitted.
    """

    types = frozenset({OBJECT})
    same_on_wire = decode_is_noop = False

    def __init__(self, prefix: tuple[Codec, ...], rest: ArrayCodec | None, min_items: int, *, nullable: bool) -> None:
        self._prefix = prefix
        self._rest = rest
        self._min_items = min_items
        self._nullable = nullable

    def members(self) -> WireMembers:
        """Return the members on the wire."""
        codecs: dict[str, tuple[Codec, bool]] = {
            item_member_name(index): (codec, self._nullable and index >= self._min_items)
            for index, codec in enumerate(self._prefix)
        }
        required_count = len(self._prefix) if self._nullable else self._min_items
        required = [item_member_name(index) for index in range(required_count)]
        if self._rest is not None:
            codecs[REST_MEMBER] = (self._rest, False)
            required.append(REST_MEMBER)
        return WireMembers(codecs, frozenset(required), is_closed=True)

    def encode(self, value: Json, pointer: str) -> Json:
        """Return an object with one member per item."""
        if not isinstance(value, list):
            raise Unencodable(pointer, "must be of type array")
        items: list[Any] = as_list(value)
        if len(items) < self._min_items or (self._rest is None and len(items) > len(self._prefix)):
            raise Unencodable(pointer, "has too few or too many items")
        members = {
            item_member_name(index): codec.encode(item, child_pointer(pointer, index))
            for index, (codec, item) in enumerate(zip(self._prefix, items, strict=False))
        }
        if self._nullable:
            members.update({item_member_name(index): None for index in range(len(items), len(self._prefix))})
        if self._rest is not None:
            members[REST_MEMBER] = self._rest.encode(items[len(self._prefix) :], pointer)
        return members

    def decode(self, value: Json) -> Json:
        """Return the array. It ends at the first absent item."""
        if not isinstance(value, dict):
            return value
        members = as_mapping(value)
        items: list[Any] = []
        for index, codec in enumerate(self._prefix):
            name = item_member_name(index)
            if name not in members or (self._nullable and members[name] is None and index >= self._min_items):
                return items
            items.append(codec.decode(members[name]))
        return items if self._rest is None else [*items, *as_list(self._rest.decode(members.get(REST_MEMBER)))]

    def admits(self, value: Json) -> bool:
        """Return whether the required items are present and every item is admitted."""
        return isinstance(value, dict) and _admits_members(self.members(), as_mapping(value))


def _admits_members(members: WireMembers, value: Json) -> bool:
    """Return whether an object has the required members, and only admitted ones."""
    if not members.required <= value.keys() or (members.is_closed and value.keys() - members.codecs.keys()):
        return False
    for name, each in value.items():
        if name in members.codecs:
            codec, nullable = members.codecs[name]
            if not (each is None and nullable) and not codec.admits(each):
                return False
    return True


KEY_MEMBER = "key"
_EXPECTED_UNIQUE_KEYS: Final = (
    'each "key" once: keep one entry of those with the same "key", leave out the others, and make up no new keys'
)
_EXPECTED_ENTRIES: Final = 'a list of objects with "key" and "value", such as [{"key": "…", "value": …}]'
_EXPECTED_OBJECT_TEXT: Final = 'a text that is one whole JSON object, such as "{}", with each name in it once'
_EXPECTED_NO_CONFLICT: Final = (
    "only properties that do not stand outside this member already: leave out the repeated ones"
)


class MemberCodec(NamedTuple):
    """A named property.

    ``nullable`` means that an absent property is null on the wire, ``takes_null`` that null is a value of the property,
    and ``null_is_absent`` that a null on the wire is decoded as absent.
    """

    codec: Codec
    required: bool
    nullable: bool
    takes_null: bool
    null_is_absent: bool


class KeyValueCodec:
    """An open map as a list of ``{key, value}`` entries. The codec of a value is chosen by its key.

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
        """Return the object. A list with two values for a key is marked as undecoded, any other value is unchanged."""
        if isinstance(value, dict):
            return self.decode_properties(as_mapping(value))
        entries = list(map(as_mapping, as_list(value)))
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
        return {
            key: value if (codec := self._codec_for_key(key)) is None else codec.decode(value)
            for key, value in as_mapping(properties).items()
            if key not in self._forbidden
        }

    def admits(self, value: Json) -> bool:
        """Return whether the value is a list of admitted entries."""
        return isinstance(value, list) and all(
            KEY_MEMBER in entry
            and ((codec := self._codec_for_key(entry[KEY_MEMBER])) is None or codec.admits(entry.get(VALUE_MEMBER)))
            for entry in map(as_mapping, as_list(value))
        )


class OverflowCodec:
    """Properties that share one member, as the JSON text of an object. ``allowed`` limits their names."""

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
        """Return the object. Other JSON is returned as it was decoded, for validation to report."""
        if value is None or value == "":
            return {}
        decoded = JsonTextCodec((OBJECT,)).decode(value)
        if not isinstance(decoded, dict):
            return decoded
        properties = as_mapping(decoded).items()
        return {name: each for name, each in properties if self._allowed is None or name in self._allowed}

    def admits(self, value: Json) -> bool:
        """Return whether the value is a string."""
        return isinstance(value, str)


class ObjectCodec:
    """An object with named members. ``unnamed`` is the codec of all other properties.

    The other properties are in the member ``overflow``, or next to the named ones if there is no such member. Unnamed
    properties with a forbidden name are dropped.
    """

    types = frozenset({OBJECT})

    def __init__(
        self,
        members: dict[str, MemberCodec],
        unnamed: Codec | None = None,
        overflow: str | None = None,
        forbidden: frozenset[str] = frozenset(),
    ) -> None:
        self._members = members
        self._ignored_names = forbidden | members.keys()
        self._unnamed_codec = unnamed
        self._overflow_name = overflow
        self.same_on_wire = (unnamed is None or (overflow is None and not forbidden and unnamed.same_on_wire)) and all(
            member.codec.same_on_wire and not member.nullable for member in members.values()
        )
        self.decode_is_noop = (
            self.same_on_wire
            and (unnamed is None or unnamed.decode_is_noop)
            and all(member.codec.decode_is_noop and not member.null_is_absent for member in members.values())
        )

    def members(self) -> WireMembers:
        """Return the members on the wire."""
        codecs = {name: (member.codec, member.nullable) for name, member in self._members.items()}
        required = {name for name, member in self._members.items() if member.required or member.nullable}
        if self._overflow_name is not None and self._unnamed_codec is not None:
            codecs[self._overflow_name] = (self._unnamed_codec, False)
            required.add(self._overflow_name)
        is_closed = self._unnamed_codec is None or self._overflow_name is not None
        return WireMembers(codecs, frozenset(required), is_closed)

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the object with all members that the wire schema requires."""
        if not isinstance(value, dict):
            raise Unencodable(pointer, "must be of type object")
        encoded: dict[str, Json] = {}
        for name, member in self._members.items():
            # For an optional property that may not be null, null means absent.
            if name in value and (value[name] is not None or member.required or member.takes_null):
                encoded[name] = member.codec.encode(value[name], child_pointer(pointer, name))
            elif member.required:
                raise Unencodable(child_pointer(pointer, name), "is required")
            elif member.nullable:
                encoded[name] = None
        return {**encoded, **self._encode_unnamed(as_mapping(value), pointer)}

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
        named: dict[str, Json] = {}
        unnamed: dict[str, Json] = {}
        for name, each in as_mapping(value).items():
            member = self._members.get(name)
            if member is None:
                unnamed[name] = each
            elif each is not None or not member.null_is_absent:
                named[name] = member.codec.decode(each)
        return {**self._decode_unnamed(unnamed, named), **named}

    def _decode_unnamed(self, unnamed: dict[str, Json], named: dict[str, Json]) -> dict[str, Json]:
        if self._unnamed_codec is None:
            return unnamed
        if self._overflow_name is None:
            return self._allowed_properties(self._unnamed_codec.decode(unnamed))
        if self._overflow_name not in unnamed:
            return unnamed
        wire_value = unnamed.pop(self._overflow_name)
        overflow = self._unnamed_codec.decode(wire_value)
        if not isinstance(overflow, dict):
            expected = _EXPECTED_ENTRIES if isinstance(self._unnamed_codec, KeyValueCodec) else _EXPECTED_OBJECT_TEXT
            return {**unnamed, self._overflow_name: mark_undecoded(overflow, "json", expected, self._overflow_name)}
        # A model may write a property twice, in its own member and in the overflow. Different values are ambiguous.
        known = {**dict.fromkeys(self._members), **unnamed, **named}
        if any(not json_equal(known[name], each) for name, each in as_mapping(overflow).items() if name in known):
            undecoded = mark_undecoded(wire_value, "keys", _EXPECTED_NO_CONFLICT, self._overflow_name)
            return {**unnamed, self._overflow_name: undecoded}
        return {**unnamed, **self._allowed_properties(overflow)}

    def _allowed_properties(self, properties: Json) -> dict[str, Json]:
        return {name: each for name, each in as_mapping(properties).items() if name not in self._ignored_names}

    def admits(self, value: Json) -> bool:
        """Return whether the required members are present and every member is admitted."""
        return isinstance(value, dict) and _admits_members(self.members(), as_mapping(value))


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
