"""The parameters of a call as they stand in a proposal: what is large, sensitive or no JSON stands as its digest.

Source: draft-hardt-aauth-r3-02, section 10.1. Ours is the rule that keeps it unambiguous: below ``parameters``, an
object with the member ``s256`` is a digest object, always, and so a parameter that has such a member stands as its
digest too. What a proposal says is then another thing for every other call. The parameters themselves are no value: one
of them may be called ``s256``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from emitter.authority.proposal.digests import Digested, conforms, digest_object, is_digest_object
from emitter.errors import InputError, NotCanonical
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json

Place: TypeAlias = "tuple[str, ...]"
"""The names and indexes that lead to a value."""

_TIMES_LONGEST: Final = 16
"""How much longer than a text a list or an object may be, as JSON, and stand whole: many lines are told one by one."""

_POINTER: Final = re.compile(r"(/([^~/]|~[01])*)+")
_NO_LIST: Final = "digested= is a list of names, JSON pointers and Digested."
_AS_TEXT: Final = "They are JSON, and bytes; send a number that is larger, or must be exact, as text."


@dataclass(frozen=True, slots=True)
class Held:
    """A value that stands in the proposal as a digest.

    ``about`` says what it is, to a person. ``within`` is what is shown of it all the same: the members of an object
    that is a digest only because it would look like one.
    """

    digest: dict[str, Json]
    about: str
    within: Json = None


def valid(parameters: object) -> dict[str, Json]:
    """Return the parameters of a call; raises ``InputError`` for what is no JSON object, bytes aside."""
    if not isinstance(parameters, dict):
        raise InputError("The parameters of a call are an object.", hint="Give a dict with a value for each name.")
    try:
        conforms(cast("Json", parameters))
    except NotCanonical as error:
        raise InputError(f"Parameters, at {error.pointer or '#'}: {error.reason}", hint=_AS_TEXT) from None
    return cast("dict[str, Json]", parameters)


def bound(parameters: dict[str, Json], digested: Iterable[str | Digested], longest: int) -> dict[str, Json]:
    """Return the parameters with a ``Held`` for each value that stands as a digest; raises ``InputError``."""
    if type(longest) is not int or longest < 1:
        raise InputError("longest= is the number of characters up to which a text stands in a proposal, at least 1.")
    return _Binding(_places(digested), longest).members(parameters, ())


def plain(value: Json) -> Json:
    """Return what was bound as it stands in the document."""
    match value:
        case Held():
            return value.digest
        case dict():
            return {name: plain(each) for name, each in cast("dict[str, Json]", value).items()}
        case list():
            return [plain(each) for each in cast("list[Json]", value)]
        case _:
            return value


def entries(value: Json) -> list[tuple[str, Json]]:
    """Return what a container holds, with the names or indexes; nothing for what is none."""
    return [*mapping(value).items(), *((f"{index}", each) for index, each in enumerate(sequence(value)))]


def holds(value: Json) -> bool:
    """Tell whether something within a value stands as a digest."""
    return any(isinstance(each, Held) or holds(each) for _, each in entries(value))


@dataclass(frozen=True, slots=True)
class _Binding:
    """One way through the parameters."""

    places: Mapping[Place, Digested]
    longest: int

    def members(self, parameters: dict[str, Json], at: Place) -> dict[str, Json]:
        return {name: self.value(each, (*at, name)) for name, each in parameters.items()}

    def value(self, value: Json, at: Place) -> Json:
        told = self.places.get(at)
        if told is not None:
            return _hidden(value, told)
        match value:
            case bytes():
                return Held(digest_object(value), f"{len(value):,} bytes")
            case str():
                return _long(value) if len(value) > self.longest else value
            case list():
                entries = enumerate(cast("list[Json]", value))
                return self.whole(value, [self.value(each, (*at, f"{index}")) for index, each in entries])
            case dict():
                return self.whole(value, self.members(cast("dict[str, Json]", value), at))
            case _:
                return value

    def whole(self, value: Json, parts: Json) -> Json:
        """Return a list or an object as it stands: its parts, or its digest where these are too long or look like one.

        The excerpt of what is too long shows nothing of what is kept back in it: then there is none.
        """
        size = len(json.dumps(plain(parts), ensure_ascii=False))
        if size > self.longest * _TIMES_LONGEST:
            return Held(digest_object(value, excerpt=not holds(parts)), f"{size:,} characters of JSON")
        return Held(digest_object(value), "", parts) if is_digest_object(value) else parts


def _hidden(value: Json, told: Digested) -> Held:
    digest = digest_object(value, media_type=told.media_type, excerpt=told.excerpt)
    return Held(digest, "the rest is kept back" if "excerpt" in digest else "kept back")


def _long(text: str) -> Held:
    return Held(digest_object(text, excerpt=True), f"{len(text):,} characters")


def _places(digested: object) -> dict[Place, Digested]:
    """Return what is kept back by its place; the letters of one name that was given for a list are none."""
    if isinstance(digested, str | bytes) or not isinstance(digested, Iterable):
        raise InputError(_NO_LIST)
    found = map(_digested, cast("Iterable[object]", digested))
    return {_place(each.place): each for each in found}


def _digested(given: object) -> Digested:
    told = Digested(given) if isinstance(given, str) else given
    if not isinstance(told, Digested) or not isinstance(cast("object", told.place), str):
        raise InputError(_NO_LIST)
    return told


def _place(given: str) -> Place:
    """Return the place that a pointer or a name tells; raises ``InputError``."""
    if not given.startswith("/"):
        return (given,)
    if not _POINTER.fullmatch(given):
        raise InputError("A place in the parameters is a name, or a JSON pointer with ~0 for ~ and ~1 for /.")
    return tuple(each.replace("~1", "/").replace("~0", "~") for each in given.split("/")[1:])
