"""Canonical JSON: the one spelling of a value, which a digest is taken of.

Source: RFC 8785 through the ``rfc8785`` package; what a value may hold before it is asked is alter's profile
canonical-jcs-v1 and EMILIA's EP-CANONICALIZATION-v1. Numbers are doubles, as RFC 7493 has them: 1.0 is 1, -0 is 0.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, cast

import rfc8785

from emitter.errors import NotCanonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.wire import Json

MAX_DEPTH: Final = 64
"""Containers within containers, the outermost one counted."""

MAX_INTEGER: Final = 2**53 - 1
"""The largest magnitude up to which a double tells every integer from its neighbours."""

HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which has no UTF-8: a whole pair is one character in Python."""


class Members(tuple[tuple[str, "Json"], ...]):
    """An object as a text spells it: a name that stands twice is here twice."""

    __slots__ = ()


class Profile(Enum):
    """Which numbers a value may hold."""

    WIRE = auto()
    """Any that a double holds; an integer only up to ``MAX_INTEGER``."""
    ENVELOPE = auto()
    """Integers up to ``MAX_INTEGER``."""


def canonical(value: Json, profile: Profile = Profile.ENVELOPE) -> bytes:
    """Return RFC 8785 of a JSON value; raises ``NotCanonical``."""
    return rfc8785.dumps(conform(value, profile))


def conform(value: Json, profile: Profile = Profile.ENVELOPE, names: frozenset[str] = frozenset()) -> Json:
    """Return a copy in which equal numbers are alike; raises ``NotCanonical``.

    Of the member names only those in ``names`` are told by the error's pointer: another one is content, shown as ``*``.
    """
    return _Walk(profile, names).value(value, "", 0)


@dataclass(frozen=True, slots=True)
class _Walk:
    """One way through a value; ``depth`` counts the containers around a place."""

    profile: Profile
    names: frozenset[str]

    def value(self, value: Json, at: str, depth: int) -> Json:
        match value:
            case None | bool():
                return value
            case str():
                return _text(value, at)
            case int() | float():
                return self.number(value, at)
            case dict() | Members() | list():
                if depth == MAX_DEPTH:
                    raise NotCanonical(at, f"Containers nest deeper than {MAX_DEPTH}.")
                return self.container(cast("Json", value), at, depth + 1)
            case _:
                raise NotCanonical(at, "This is no JSON value.")

    def container(self, value: Json, at: str, depth: int) -> Json:
        if isinstance(value, list):
            entries = enumerate(cast("list[Json]", value))
            return [self.value(entry, f"{at}/{index}", depth) for index, entry in entries]
        return self.members(value if isinstance(value, Members) else value.items(), at, depth)

    def members(self, pairs: Iterable[tuple[Json, Json]], at: str, depth: int) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for name, value in pairs:
            if not isinstance(name, str):
                raise NotCanonical(at, "A member's name must be a string.")
            if _text(name, at) in found:
                raise NotCanonical(at, "A member's name stands twice in this object.")
            found[name] = self.value(value, f"{at}/{name if name in self.names else '*'}", depth)
        return found

    def number(self, value: float, at: str) -> float:
        if abs(value) <= MAX_INTEGER and value == int(value):
            return int(value)
        if self.profile is Profile.WIRE and isinstance(value, float) and math.isfinite(value):
            return value
        raise NotCanonical(at, _NUMBERS[self.profile])


_NUMBERS: Final = {
    Profile.WIRE: "A number must be finite, and an integer at most 2^53 - 1.",
    Profile.ENVELOPE: "A number must be an integer of at most 2^53 - 1.",
}


def _text(text: str, at: str) -> str:
    if not text.isascii() and HALF_PAIR.search(text):
        raise NotCanonical(at, "A string holds half of a surrogate pair.")
    return text
