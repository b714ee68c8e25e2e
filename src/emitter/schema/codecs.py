"""Convert the caller's documents to and from their wire form: the ``Codec`` protocol, scalars, JSON text and unions.

``encode`` raises ``Unencodable`` if a value has no wire form. ``decode`` never raises: a value that it cannot interpret
is returned unchanged, or as ``Undecoded`` if interpreting it would be a guess, and validation reports it.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast

import jsonschema_rs

from emitter.errors import Unencodable
from emitter.messages import as_mapping
from emitter.schema.json_data import ALL_TYPES, INTEGER, OBJECT, STRING, canonical_key, is_type
from emitter.strict_json import NotJsonError, parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json


class Undecoded:
    """A value that ``decode`` could not interpret. Validation reports it.

    ``rule`` and ``expected`` describe the violation. ``slot`` is the name of the wire member that contained the value,
    if the original schema has no property of this name.
    """

    rule: str = ""
    expected: str = ""
    slot: str | None = None


class UndecodedText(Undecoded, str):
    """A string that could not be interpreted."""

    __slots__ = ()


class UndecodedList(Undecoded, list[Any]):
    """A list that could not be interpreted, or another value as its only item."""


def mark_undecoded(value: Json, rule: str, expected: str, slot: str | None = None) -> UndecodedText | UndecodedList:
    """Return ``value`` marked as undecoded. A value that is already marked keeps its rule."""
    marked: UndecodedText | UndecodedList
    if isinstance(value, str):
        marked = UndecodedText(value)
    else:
        marked = UndecodedList(cast("list[Any]", value) if isinstance(value, list) else [value])
    is_marked = isinstance(value, Undecoded)
    marked.rule, marked.expected = (value.rule, value.expected) if is_marked else (rule, expected)
    marked.slot = slot
    return marked


class Codec(Protocol):
    """Encodes and decodes the values of one wire schema."""

    @property
    def types(self) -> frozenset[str]:
        """The JSON types of the wire form."""
        ...

    @property
    def same_on_wire(self) -> bool:
        """True if every value is its own wire form."""
        ...

    @property
    def decode_is_noop(self) -> bool:
        """True if decoding changes no document, not even a null that the provider would not write."""
        ...

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the wire form of ``value``. Raises ``Unencodable`` with ``pointer`` if it has none."""
        ...

    def decode(self, value: Json) -> Json:
        """Return the value of a wire form."""
        ...

    def admits(self, value: Json) -> bool:
        """Return whether a document may have this form."""
        ...


class WireMembers(NamedTuple):
    """The members of an object on the wire: the codec of each, and whether it may be null as well."""

    codecs: Mapping[str, tuple[Codec, bool]]
    required: frozenset[str]
    is_closed: bool


class LazyCodec:
    """The codec of a definition, looked up by name.

    References to a recursive definition are written before the definition itself. Until it is written, ``types`` and
    ``members`` return the facts that its nodes imply: all types of its wire form, and its discriminating members.
    """

    __slots__ = ("_codecs", "_members", "_name", "_types")

    def __init__(
        self, codecs: dict[str, Any], name: str, types: frozenset[str] = frozenset(), members: WireMembers | None = None
    ) -> None:
        self._codecs = codecs
        self._name = name
        self._types = types
        self._members = members

    @property
    def target(self) -> Codec | None:
        """The codec of the definition, if it is written."""
        return self._codecs.get(self._name)

    @property
    def types(self) -> frozenset[str]:
        """The types of the definition."""
        return self._types if self.target is None else self.target.types

    @property
    def same_on_wire(self) -> bool:
        """True if the definition is written and its values are their own wire form."""
        return self.target is not None and self.target.same_on_wire

    @property
    def decode_is_noop(self) -> bool:
        """True if the definition is written and decoding changes no document."""
        return self.target is not None and self.target.decode_is_noop

    def encode(self, value: Json, pointer: str) -> Json:
        """Encode with the codec of the definition."""
        return self._codecs[self._name].encode(value, pointer)

    def decode(self, value: Json) -> Json:
        """Decode with the codec of the definition."""
        return self._codecs[self._name].decode(value)

    def admits(self, value: Json) -> bool:
        """Return whether the definition admits the value; True if it is not written yet."""
        return self.target is None or self.target.admits(value)

    def members(self) -> WireMembers | None:
        """Return the known members of the definition, or None if it is not an object."""
        return self._members if self.target is None else get_members(self.target)


def get_members(codec: Codec) -> WireMembers | None:
    """Return the members of an object codec, or None for any other codec."""
    members = getattr(codec, "members", None)
    return None if members is None else members()


_JSON_START: Final = re.compile(
    r"""[\s\ufeff]*(?:[{\["]|(?:(?=[-\d])-?\d*(?:\.\d*)?(?:[eE][+-]?\d*)?|NaN|-?Infinity)\s*\Z)""", re.ASCII
)
"""Matches the start of a JSON object, array or string, or a text that is only a number, perhaps cut off."""
_EXPECTED_JSON_TEXT: Final = (
    "one whole JSON text: strings in quotes, no property of an object twice, no number that a double cannot represent"
)
_UNCHECKED_KEYWORDS = frozenset({"type", "title", "description", "default"})


class ScalarCodec:
    """A scalar that is the same on the wire. ``wire`` is its wire schema."""

    same_on_wire = decode_is_noop = True

    def __init__(self, types: tuple[str, ...], wire: dict[str, Any]) -> None:
        self.types = frozenset(types)
        self.values: list[Json] | None = wire.get("enum")
        self._type_names = types
        self._wire = wire

    @cached_property
    def _keys(self) -> frozenset[str] | None:
        return None if self.values is None else frozenset(map(canonical_key, self.values))

    @cached_property
    def _check(self) -> Any:
        rules = {keyword: value for keyword, value in self._wire.items() if keyword not in _UNCHECKED_KEYWORDS}
        return jsonschema_rs.validator_for(rules, validate_formats=True) if rules else None

    def encode(self, value: Json, pointer: str) -> Json:
        """Return ``value`` if the wire schema accepts it."""
        if not is_type(value, self._type_names):
            raise Unencodable(pointer, f"must be of type {' or '.join(self._type_names)}")
        if self._check is not None and not self._check.is_valid(value):
            raise Unencodable(pointer, "violates its schema")
        return value

    def decode(self, value: Json) -> Json:
        """Return ``value``."""
        return value

    def admits(self, value: Json) -> bool:
        """Return whether the type and the enum values match."""
        return is_type(value, self._type_names) and (self._keys is None or canonical_key(value) in self._keys)


class AnyCodec:
    """Any value, unchanged."""

    types = frozenset({*ALL_TYPES, INTEGER})
    same_on_wire = decode_is_noop = True

    def encode(self, value: Json, pointer: str) -> Json:  # noqa: ARG002  part of the protocol
        """Return ``value``."""
        return value

    def decode(self, value: Json) -> Json:
        """Return ``value``."""
        return value

    def admits(self, value: Json) -> bool:  # noqa: ARG002  part of the protocol
        """Return True."""
        return True


class JsonTextCodec:
    """A value of ``value_types``, written as JSON text. ``values`` maps each enum value to its text.

    Where a string is allowed, text that does not look like JSON, or is JSON of another type, is the value itself. Text
    that looks like JSON and cannot be parsed is marked as undecoded.
    """

    types = frozenset({STRING})
    same_on_wire = decode_is_noop = False

    def __init__(self, value_types: tuple[str, ...] = ALL_TYPES, values: dict[str, str] | None = None) -> None:
        self._value_types = value_types
        self.values = None if values is None else list(values.values())
        self._text_by_key = values

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the JSON text of ``value``."""
        if not is_type(value, self._value_types):
            raise Unencodable(pointer, f"must be of type {' or '.join(self._value_types)}")
        if self._text_by_key is None:
            return json.dumps(value, ensure_ascii=False)
        key = canonical_key(value)
        if key not in self._text_by_key:
            raise Unencodable(pointer, "is not one of the enum values")
        return self._text_by_key[key]

    def decode(self, value: Json) -> Json:
        """Return the value of the JSON text."""
        if not isinstance(value, str):
            return value
        try:
            decoded = parse_json(value)
        except NotJsonError:
            return mark_undecoded(value, "json", _EXPECTED_JSON_TEXT) if _JSON_START.match(value) else value
        return decoded if is_type(decoded, self._value_types) else value

    def admits(self, value: Json) -> bool:
        """Return whether the value is a string, and one of the enum texts if there are any."""
        return isinstance(value, str) and (self.values is None or value in self.values)


VARIANT_MEMBER, VALUE_MEMBER = "variant", "value"


class UnionCodec:
    """A union whose branches cannot be confused on the wire."""

    def __init__(self, branches: tuple[Codec, ...]) -> None:
        self.branches = branches
        self.same_on_wire = all(branch.same_on_wire for branch in branches)
        self.decode_is_noop = all(branch.decode_is_noop for branch in branches)

    @property
    def types(self) -> frozenset[str]:
        """The types of all branches."""
        return frozenset[str]().union(*(branch.types for branch in self.branches))

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the wire form of the first branch that can encode ``value``."""
        for branch in self.branches:
            try:
                return branch.encode(value, pointer)
            except Unencodable:
                continue
        raise Unencodable(pointer, "matches no branch of the union")

    def decode(self, value: Json) -> Json:
        """Decode with the branch that the document matches."""
        if self.decode_is_noop:
            return value
        # A document that matches no branch is decoded with the nearest one, so that its violations are named in the
        # caller's schema.
        branch = (
            self._branch_by_tag(value)
            or next((branch for branch in self.branches if branch.admits(value)), None)
            or self._nearest_branch(value)
        )
        return value if branch is None else branch.decode(value)

    @cached_property
    def _discriminator(self) -> tuple[str, dict[str, Codec]] | None:
        """The member whose value differs in every branch, and the branch of each value."""
        enums_of_branches = [_required_text_members(branch) for branch in self.branches]
        for name in enums_of_branches[0] if enums_of_branches else ():
            values = [value for enums in enums_of_branches for value in enums.get(name, ())]
            if all(enums.get(name) for enums in enums_of_branches) and len(set(values)) == len(values):
                pairs = zip(enums_of_branches, self.branches, strict=True)
                return name, {value: branch for enums, branch in pairs for value in enums[name]}
        return None

    def _branch_by_tag(self, value: Json) -> Codec | None:
        """Return the branch that the discriminator names."""
        if self._discriminator is None or not isinstance(value, dict):
            return None
        name, branches = self._discriminator
        tag = as_mapping(value).get(name)
        return branches.get(tag) if isinstance(tag, str) else None

    def _nearest_branch(self, value: Json) -> Codec | None:
        """Return a branch of the right type; among objects, the branch with the most members in common."""
        candidates = [branch for branch in self.branches if any(_is_type(value, kind) for kind in branch.types)]
        return max(candidates, key=lambda branch: _count_common_members(branch, value), default=None)

    def admits(self, value: Json) -> bool:
        """Return whether any branch admits the value."""
        return any(branch.admits(value) for branch in self.branches)


def _required_text_members(codec: Codec) -> dict[str, list[str]]:
    """Return the required members that are string enums, with their values."""
    members = get_members(codec)
    if members is None:
        return {}
    enums = {
        name: codec.values
        for name, (codec, nullable) in members.codecs.items()
        if name in members.required and not nullable and isinstance(codec, ScalarCodec) and codec.values
    }
    return {name: values for name, values in enums.items() if all(isinstance(value, str) for value in values)}


def _is_type(value: Json, kind: str) -> bool:
    return (kind == OBJECT) == isinstance(value, dict) and (kind == STRING) == isinstance(value, str)


def _count_common_members(codec: Codec, value: Json) -> int:
    members = get_members(codec)
    if members is None:
        return 0
    common = [(members.codecs[name][0], each) for name, each in as_mapping(value).items() if name in members.codecs]
    return sum(1 if codec.admits(each) else -1 for codec, each in common)


class TaggedUnionCodec:
    """A union of ``{variant, value}`` objects. The tag is added by encoding and removed by decoding."""

    types = frozenset({OBJECT})
    same_on_wire = decode_is_noop = False

    def __init__(self, branches: dict[str, Codec]) -> None:
        self.branches = branches

    def members(self) -> WireMembers:
        """Return the member that distinguishes the branches."""
        tag = ScalarCodec((STRING,), {"enum": list(self.branches)})
        return WireMembers({VARIANT_MEMBER: (tag, False)}, frozenset({VARIANT_MEMBER}), is_closed=False)

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the first branch that can encode ``value``, with its tag."""
        for name, branch in self.branches.items():
            try:
                return {VARIANT_MEMBER: name, VALUE_MEMBER: branch.encode(value, pointer)}
            except Unencodable:
                continue
        raise Unencodable(pointer, "matches no branch of the union")

    def decode(self, value: Json) -> Json:
        """Return the value without its tag."""
        members = as_mapping(value)
        codec = self._branch_by_tag(members)
        return value if codec is None or VALUE_MEMBER not in members else codec.decode(members[VALUE_MEMBER])

    def _branch_by_tag(self, members: Json) -> Codec | None:
        name = members.get(VARIANT_MEMBER)
        return self.branches.get(name) if isinstance(name, str) else None

    def admits(self, value: Json) -> bool:
        """Return whether the tag names a branch that admits the value."""
        members = as_mapping(value)
        codec = self._branch_by_tag(members)
        is_tagged = set(members) == {VARIANT_MEMBER, VALUE_MEMBER}
        return is_tagged and codec is not None and codec.admits(members[VALUE_MEMBER])


class WrappedCodec:
    """A root that is not an object, wrapped in an object with one member."""

    types = frozenset({OBJECT})
    same_on_wire = decode_is_noop = False

    def __init__(self, inner: Codec) -> None:
        self._inner = inner

    def encode(self, value: Json, pointer: str) -> Json:
        """Return the wrapped value."""
        return {VALUE_MEMBER: self._inner.encode(value, pointer)}

    def decode(self, value: Json) -> Json:
        """Return the inner value. A value without its wrapper is accepted."""
        members = as_mapping(value)
        return self._inner.decode(members[VALUE_MEMBER] if set(members) == {VALUE_MEMBER} else value)

    def admits(self, value: Json) -> bool:
        """Return whether the wrapped value is admitted."""
        members = as_mapping(value)
        return set(members) == {VALUE_MEMBER} and self._inner.admits(members[VALUE_MEMBER])
