"""Whether a call is the one that was proposed: nothing of it may differ.

Source: draft-hardt-aauth-r3-02, section 10.2, step 3. Values are compared as JSON values, so that 1 is 1.0 and no
``true``, and the order of members says nothing; what stands as a digest is compared by its bytes and its kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from emitter.authority.proposal.digests import is_digest_object, is_of
from emitter.authority.proposal.document import content_of
from emitter.authority.proposal.parameters import valid
from emitter.authority.proposal.proposal import Proposal
from emitter.authority.proposal.vocabulary import operation_of
from emitter.decide.canonical import Profile, canonical
from emitter.errors import InputError, NotCanonical
from emitter.schema.pointer import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json

_DIFFERS = "This differs from what was proposed."
_KIND = "This is of another kind than what was proposed."
_MISSING = "This was proposed, and is missing."
_MORE = "There is a member that was not proposed."
_COUNT = "This has another number of entries than what was proposed."


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first place in which a call is not the one that was proposed.

    ``pointer`` is a JSON pointer into the proposal's document; a name that is not in it is not told. ``reason`` is one
    sentence without a value.
    """

    pointer: str
    reason: str

    def __str__(self) -> str:
        return f"{self.pointer}: {self.reason}"


def mismatch(
    proposal: Proposal | bytes,
    operation: Mapping[str, Json] | str,
    parameters: dict[str, Json],
    *,
    account: str | None = None,
) -> Mismatch | None:
    """Return where a call differs from the one that was proposed; None where nothing does.

    Raises ``InputError`` where the bytes are no proposal. What a call presents is never an error, but a mismatch.
    """
    content = content_of(proposal.document if isinstance(proposal, Proposal) else proposal)
    return (
        _operation(content, operation)
        or (None if content.get("account") == account else Mismatch("/account", _DIFFERS))
        or _parameters(content["parameters"], parameters)
    )


def _operation(content: dict[str, Json], given: Mapping[str, Json] | str) -> Mismatch | None:
    try:
        presented = operation_of(given, content["vocabulary"])
    except InputError:
        return Mismatch("/operations/0", _DIFFERS)
    return None if equal(content["operations"][0], presented) else Mismatch("/operations/0", _DIFFERS)


def equal(one: Json, other: Json) -> bool:
    """Tell whether two values are one as JSON values; what is no JSON is no other's equal."""
    try:
        return canonical(one, Profile.WIRE) == canonical(other, Profile.WIRE)
    except NotCanonical:
        return False


def _parameters(proposed: dict[str, Json], given: object) -> Mismatch | None:
    try:
        presented = valid(given)
    except InputError:
        return Mismatch("/parameters", "These are no parameters that could have been proposed.")
    return _members(proposed, presented, "/parameters")


def _members(proposed: dict[str, Json], presented: dict[str, Json], at: str) -> Mismatch | None:
    for name, each in proposed.items():
        below = f"{at}/{escaped(name)}"
        found = _value(each, presented[name], below) if name in presented else Mismatch(below, _MISSING)
        if found is not None:
            return found
    return None if len(presented) == len(proposed) else Mismatch(at, _MORE)


def _value(proposed: Json, presented: Json, at: str) -> Mismatch | None:
    if is_digest_object(proposed):
        return _digest(proposed, presented, at)
    match proposed, presented:
        case dict(), dict():
            return _members(cast("dict[str, Json]", proposed), cast("dict[str, Json]", presented), at)
        case list(), list():
            return _entries(cast("list[Json]", proposed), cast("list[Json]", presented), at)
        case _:
            return None if equal(proposed, presented) else Mismatch(at, _DIFFERS)


def _digest(proposed: dict[str, Json], presented: Json, at: str) -> Mismatch | None:
    match is_of(proposed, presented):
        case None:
            return Mismatch(at, _KIND)
        case False:
            return Mismatch(at, _DIFFERS)
        case True:
            return None


def _entries(proposed: list[Json], presented: list[Json], at: str) -> Mismatch | None:
    if len(proposed) != len(presented):
        return Mismatch(at, _COUNT)
    found = (_value(each, presented[index], f"{at}/{index}") for index, each in enumerate(proposed))
    return next(filter(None, found), None)
