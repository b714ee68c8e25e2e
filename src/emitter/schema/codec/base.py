"""What every codec offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json


class Unread:
    """A value that ``decode`` could not read: validation reports it, wherever it stands.

    ``rule`` and ``expected`` are those of the violation. ``slot`` is the name of the property that the wire has for
    it, where the original schema has no such property.
    """

    rule: str = ""
    expected: str = ""
    slot: str | None = None


class UnreadText(Unread, str):
    """A string that could not be read."""

    __slots__ = ()


class UnreadList(Unread, list[Any]):
    """A list that could not be read, or any other value as its only item."""


def unread(value: Json, rule: str, expected: str, slot: str | None = None) -> UnreadText | UnreadList:
    """Return ``value``, marked as not read; what is marked already keeps its rule."""
    marked: UnreadText | UnreadList
    if isinstance(value, str):
        marked = UnreadText(value)
    else:
        marked = UnreadList(cast("list[Any]", value) if isinstance(value, list) else [value])
    before = isinstance(value, Unread)
    marked.rule, marked.expected = (value.rule, value.expected) if before else (rule, expected)
    marked.slot = slot
    return marked


class Members(NamedTuple):
    """The members of an object on the wire: each with its codec and whether it may be null besides."""

    each: Mapping[str, tuple[Codec, bool]]
    required: frozenset[str]
    closed: bool


class Codec(Protocol):
    """One form; ``types`` are the JSON types on the wire.

    ``plain`` tells that decoding changes nothing that the wire admits, ``still`` that it changes nothing at
    all, not even a null that a vendor would not have written.
    """

    @property
    def types(self) -> frozenset[str]:
        """The JSON types that stand on the wire."""
        ...

    @property
    def plain(self) -> bool:
        """Whether what stands on the wire is the value itself."""
        ...

    @property
    def still(self) -> bool:
        """Whether decoding leaves every document as it is."""
        ...

    def encode(self, value: Json, at: str) -> Json:
        """Return the wire form of ``value``, which stands ``at`` this pointer; raises ``Unencodable``."""
        ...

    def decode(self, value: Json) -> Json:
        """Return what the wire form means."""
        ...

    def admits(self, value: Json) -> bool:
        """Tell whether a document could be of this form."""
        ...


class Late:
    """A definition, by name: written later where it is recursive.

    Until then ``types`` and ``members`` return what the shape of the definition already settles: every JSON type
    that its form may have on the wire, and the members that name the form.
    """

    __slots__ = ("_codecs", "_members", "_name", "_types")

    def __init__(
        self, codecs: dict[str, Any], name: str, types: frozenset[str] = frozenset(), members: Members | None = None
    ) -> None:
        self._codecs = codecs
        self._name = name
        self._types = types
        self._members = members

    @property
    def target(self) -> Codec | None:
        """The codec, once it is known."""
        return self._codecs.get(self._name)

    @property
    def types(self) -> frozenset[str]:
        """The types of the definition."""
        return self._types if self.target is None else self.target.types

    @property
    def plain(self) -> bool:
        """Whether the definition is; not while that is unknown."""
        return self.target is not None and self.target.plain

    @property
    def still(self) -> bool:
        """Whether the definition is; not while that is unknown."""
        return self.target is not None and self.target.still

    def encode(self, value: Json, at: str) -> Json:
        """Encode as the definition does."""
        return self._codecs[self._name].encode(value, at)

    def decode(self, value: Json) -> Json:
        """Decode as the definition does."""
        return self._codecs[self._name].decode(value)

    def admits(self, value: Json) -> bool:
        """Tell what the definition tells; while that is unknown, anything may be."""
        return self.target is None or self.target.admits(value)

    def members(self) -> Members | None:
        """Return the members of the definition, as far as they are known; None for what is no object."""
        return self._members if self.target is None else members_of(self.target)


def members_of(codec: Codec) -> Members | None:
    """Return the members of an object on the wire; None for any other form."""
    found = getattr(codec, "members", None)
    return None if found is None else found()
