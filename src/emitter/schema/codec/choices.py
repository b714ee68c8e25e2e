"""One of several forms: told apart by what they look like, or by a tag that is put in and taken out again."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from emitter.errors import Unencodable
from emitter.schema.codec.base import Codec, Members, members_of
from emitter.schema.codec.leaves import Plain
from emitter.schema.value import OBJECT, STRING
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.wire import Json

VARIANT, VALUE = "variant", "value"


class Among:
    """One of several forms that no document can be taken for another of."""

    def __init__(self, branches: tuple[Codec, ...]) -> None:
        self.branches = branches
        self.plain = all(each.plain for each in branches)
        self.still = all(each.still for each in branches)

    @property
    def types(self) -> frozenset[str]:
        """The types of all branches."""
        return frozenset[str]().union(*(each.types for each in self.branches))

    def encode(self, value: Json, at: str) -> Json:
        """Return the first form that holds ``value``."""
        for each in self.branches:
            try:
                return each.encode(value, at)
            except Unencodable:
                continue
        raise Unencodable(at, "is of none of the forms that the schema lists")

    def decode(self, value: Json) -> Json:
        """Return what the form says that the document has."""
        if self.still:
            return value
        meant = (
            self._tagged(value)
            or next((each for each in self.branches if each.admits(value)), None)
            or self._nearest(value)
        )
        return value if meant is None else meant.decode(value)

    @cached_property
    def _tags(self) -> tuple[str, dict[str, Codec]] | None:
        """The member that tells all branches apart by its value, and the branch of each of its values."""
        listed = [_listed(each) for each in self.branches]
        for name in listed[0] if listed else ():
            values = [value for each in listed for value in each.get(name, ())]
            if all(each.get(name) for each in listed) and len(set(values)) == len(values):
                pairs = zip(listed, self.branches, strict=True)
                return name, {value: branch for each, branch in pairs for value in each[name]}
        return None

    def _tagged(self, value: Json) -> Codec | None:
        """Return the branch that a tag names: no other could be meant."""
        if self._tags is None or not isinstance(value, dict):
            return None
        name, branches = self._tags
        given = mapping(value).get(name)
        return branches.get(given) if isinstance(given, str) else None

    def _nearest(self, value: Json) -> Codec | None:
        """Return the branch of the right type; of several objects the one with most members in common."""
        likely = [each for each in self.branches if any(_is_type(value, kind) for kind in each.types)]
        return max(likely, key=lambda each: _shared(each, value), default=None)

    def admits(self, value: Json) -> bool:
        """Tell whether any branch does."""
        return any(each.admits(value) for each in self.branches)


def _listed(codec: Codec) -> dict[str, list[str]]:
    """Return the members that must be there and are one of some texts, and which."""
    members = members_of(codec)
    if members is None:
        return {}
    each, required, _ = members
    plain = {name: one for name, (one, nullable) in each.items() if name in required and not nullable}
    values = {name: one.values for name, one in plain.items() if isinstance(one, Plain) and one.values}
    return {name: texts for name, texts in values.items() if all(isinstance(text, str) for text in texts)}


def _is_type(value: Json, kind: str) -> bool:
    return (kind == OBJECT) == isinstance(value, dict) and (kind == STRING) == isinstance(value, str)


def _shared(codec: Codec, value: Json) -> int:
    members = members_of(codec)
    if members is None:
        return 0
    each = members.each
    return sum(1 if each[name][0].admits(one) else -1 for name, one in mapping(value).items() if name in each)


class Tagged:
    """One of several forms in ``{variant, value}``: the tag is ours, and is taken out again."""

    types = frozenset({OBJECT})
    plain = still = False

    def __init__(self, branches: dict[str, Codec]) -> None:
        self.branches = branches

    def members(self) -> Members:
        """Return the members on the wire, as far as they tell one form from another."""
        tag = Plain((STRING,), {"enum": list(self.branches)})
        return Members({VARIANT: (tag, False)}, frozenset({VARIANT}), closed=False)

    def encode(self, value: Json, at: str) -> Json:
        """Return the first form that holds ``value``, and its tag."""
        for name, each in self.branches.items():
            try:
                return {VARIANT: name, VALUE: each.encode(value, at)}
            except Unencodable:
                continue
        raise Unencodable(at, "is of none of the forms that the schema lists")

    def decode(self, value: Json) -> Json:
        """Return the value without its tag."""
        given = mapping(value)
        codec = self._meant(given)
        return value if codec is None or VALUE not in given else codec.decode(given[VALUE])

    def _meant(self, given: Json) -> Codec | None:
        name = given.get(VARIANT)
        return self.branches.get(name) if isinstance(name, str) else None

    def admits(self, value: Json) -> bool:
        """Tell whether there is a tag, and its form fits."""
        given = mapping(value)
        codec = self._meant(given)
        return set(given) == {VARIANT, VALUE} and codec is not None and codec.admits(given[VALUE])


class Wrapped:
    """A document that is no object, in an object with one member."""

    types = frozenset({OBJECT})
    plain = still = False

    def __init__(self, inner: Codec) -> None:
        self._inner = inner

    def encode(self, value: Json, at: str) -> Json:
        """Return the object around the value."""
        return {VALUE: self._inner.encode(value, at)}

    def decode(self, value: Json) -> Json:
        """Return the value; one that came without its wrapping is taken as it is."""
        given = mapping(value)
        return self._inner.decode(given[VALUE] if set(given) == {VALUE} else value)

    def admits(self, value: Json) -> bool:
        """Tell whether the value inside fits."""
        given = mapping(value)
        return set(given) == {VALUE} and self._inner.admits(given[VALUE])
