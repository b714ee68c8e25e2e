"""What an auth token's claims let an agent call: at once, with a proposal for each call, or not at all.

Source: draft-hardt-aauth-r3-02, sections 9 and 11.6. ``r3_conditional`` is what ``r3_per_call`` was called before -02.
An operation is in a claim if it is equal to one there as a JSON value: what a claim says otherwise, it does not say.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from emitter.authority.proposal.matching import equal
from emitter.authority.proposal.vocabulary import operation_of
from emitter.errors import InputError
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json

_GRANTED: Final = "r3_granted"
_PER_CALL: Final = "r3_per_call"
_CONDITIONAL: Final = "r3_conditional"


class Access(str, Enum):
    """What a resource does with a call."""

    GRANTED = "granted"
    """Serve it."""
    PER_CALL = "per_call"
    """Propose it, and serve it once that is approved."""
    NO_MATCH = "no_match"
    """Reject it."""


class Operations(NamedTuple):
    """The operations of a claim, and the vocabulary that they are named in; both empty where there is no claim."""

    vocabulary: str
    operations: tuple[Mapping[str, Json], ...]


_NONE: Final = Operations("", ())


def decide_access(claims: Mapping[str, Json], vocabulary: str, operation: Mapping[str, Json] | str) -> Access:
    """Return what claims of a token that was verified let a resource do with a call.

    What is granted is granted, even where it is listed as per call too (section 9.1). Raises ``InputError`` for claims
    that are none.
    """
    asked = operation_of(operation, vocabulary)
    granted, per_call = granted_operations(claims), per_call_operations(claims)
    if _holds(granted, vocabulary, asked):
        return Access.GRANTED
    return Access.PER_CALL if _holds(per_call, vocabulary, asked) else Access.NO_MATCH


def granted_operations(claims: Mapping[str, Json]) -> Operations:
    """Return what ``r3_granted`` lists; raises ``InputError`` for a claim that is none."""
    return _operations(claims[_GRANTED]) if _GRANTED in claims else _NONE


def per_call_operations(claims: Mapping[str, Json]) -> Operations:
    """Return what ``r3_per_call`` lists, or its older name; raises ``InputError`` where the two differ, or are none."""
    given = [claims[name] for name in (_PER_CALL, _CONDITIONAL) if name in claims]
    if len(given) > 1 and not equal(*given):
        raise InputError(
            f"The claims {_PER_CALL} and {_CONDITIONAL} are two names of one thing, and differ.",
            hint="Have the token issued again with the first alone.",
        )
    return _operations(given[0]) if given else _NONE


def _operations(claim: Json) -> Operations:
    match claim:
        case {"vocabulary": str(vocabulary), "operations": list()}:
            return Operations(vocabulary, tuple(map(_operation, sequence(claim["operations"]))))
        case _:
            raise InputError("A claim of operations is an object with a vocabulary and an array of operations.")


def _operation(given: Json) -> Mapping[str, Json]:
    if not mapping(given):
        raise InputError("An operation in a claim is an object with at least one member.")
    return mapping(given)


def _holds(listed: Operations, vocabulary: str, operation: Mapping[str, Json]) -> bool:
    return listed.vocabulary == vocabulary and any(equal(each, operation) for each in listed.operations)
