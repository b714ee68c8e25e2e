"""Decide whether a call is permitted: access annotations, token claims, and comparison with an approved proposal.

Source: draft-hardt-aauth-r3-02, sections 5, 9, 10.2 (step 3) and 11.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from emitter.authority.proposals.document import is_digest_object, matches_digest, parse_document, parse_operation
from emitter.authority.proposals.proposal import Proposal, check_parameters
from emitter.decisions.canonical_json import CanonicalProfile, canonicalize
from emitter.errors import InputError, NotCanonical
from emitter.messages import as_list, as_mapping
from emitter.schema.json_data import escape_pointer_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json

_DIFFERS = "This differs from what was proposed."
_OTHER_KIND = "This is of a different kind than what was proposed."
_MISSING_MEMBER = "This was proposed but is missing."
_EXTRA_MEMBER = "There is a member that was not proposed."
_OTHER_COUNT = "This has a different number of entries than what was proposed."


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first place in which a call differs from its proposal.

    ``pointer`` is a JSON pointer into the proposal's document and never contains a name that is not in it. ``reason``
    is one sentence without values.
    """

    pointer: str
    reason: str

    def __str__(self) -> str:
        return f"{self.pointer}: {self.reason}"


def find_mismatch(
    proposal: Proposal | bytes,
    operation: Mapping[str, Json] | str,
    parameters: dict[str, Json],
    *,
    account: str | None = None,
) -> Mismatch | None:
    """Return where a call differs from its proposal, or None if it does not.

    Invalid operations and parameters are mismatches, not errors.

    Raises:
        InputError: ``proposal`` is not a valid document.
    """
    content = proposal.content if isinstance(proposal, Proposal) else parse_document(proposal)
    return (
        _operation_mismatch(content, operation)
        or (None if content.get("account") == account else Mismatch("/account", _DIFFERS))
        or _parameters_mismatch(content["parameters"], parameters)
    )


def _operation_mismatch(content: dict[str, Json], operation: Mapping[str, Json] | str) -> Mismatch | None:
    try:
        presented = parse_operation(operation, content["vocabulary"])
    except InputError:
        return Mismatch("/operations/0", _DIFFERS)
    return None if is_equal_json(content["operations"][0], presented) else Mismatch("/operations/0", _DIFFERS)


def is_equal_json(one: Json, other: Json) -> bool:
    """Return True if two values are equal as JSON; a value that is not JSON equals nothing."""
    if type(one) is str and type(other) is str and one.isascii():
        return one == other
    try:
        return canonicalize(one, CanonicalProfile.WIRE) == canonicalize(other, CanonicalProfile.WIRE)
    except NotCanonical:
        return False


def _parameters_mismatch(proposed: dict[str, Json], parameters: object) -> Mismatch | None:
    try:
        presented = check_parameters(parameters)
    except InputError:
        return Mismatch("/parameters", "These are not valid parameters.")
    return _members_mismatch(proposed, presented, "/parameters")


def _members_mismatch(proposed: dict[str, Json], presented: dict[str, Json], pointer: str) -> Mismatch | None:
    for name, value in proposed.items():
        member_pointer = f"{pointer}/{escape_pointer_token(name)}"
        mismatch = (
            _value_mismatch(value, presented[name], member_pointer)
            if name in presented
            else Mismatch(member_pointer, _MISSING_MEMBER)
        )
        if mismatch is not None:
            return mismatch
    return None if len(presented) == len(proposed) else Mismatch(pointer, _EXTRA_MEMBER)


def _value_mismatch(proposed: Json, presented: Json, pointer: str) -> Mismatch | None:
    if is_digest_object(proposed):
        return _digest_mismatch(proposed, presented, pointer)
    match proposed, presented:
        case dict(), dict():
            return _members_mismatch(cast("dict[str, Json]", proposed), cast("dict[str, Json]", presented), pointer)
        case list(), list():
            return _entries_mismatch(cast("list[Json]", proposed), cast("list[Json]", presented), pointer)
        case _:
            return None if is_equal_json(proposed, presented) else Mismatch(pointer, _DIFFERS)


def _digest_mismatch(proposed: dict[str, Json], presented: Json, pointer: str) -> Mismatch | None:
    is_same = matches_digest(proposed, presented)
    if is_same:
        return None
    return Mismatch(pointer, _OTHER_KIND if is_same is None else _DIFFERS)


def _entries_mismatch(proposed: list[Json], presented: list[Json], pointer: str) -> Mismatch | None:
    if len(proposed) != len(presented):
        return Mismatch(pointer, _OTHER_COUNT)
    mismatches = (
        _value_mismatch(value, presented[index], f"{pointer}/{index}") for index, value in enumerate(proposed)
    )
    return next(filter(None, mismatches), None)


_GRANTED_CLAIM: Final = "r3_granted"
_PER_CALL_CLAIM: Final = "r3_per_call"
_CONDITIONAL_CLAIM: Final = "r3_conditional"


class AccessDecision(str, Enum):
    """The way in which a resource should handle a call."""

    GRANTED = "granted"
    """Serve it."""
    PER_CALL = "per_call"
    """Propose it, and serve it once approved."""
    NO_MATCH = "no_match"
    """Reject it."""


class ClaimedOperations(NamedTuple):
    """The operations of a claim and their vocabulary; both empty without the claim."""

    vocabulary: str
    operations: tuple[Mapping[str, Json], ...]


_NO_OPERATIONS: Final = ClaimedOperations("", ())


def decide_access(claims: Mapping[str, Json], vocabulary: str, operation: Mapping[str, Json] | str) -> AccessDecision:
    """Decide on a call from the claims of a verified token.

    A granted operation is granted even if it is listed as per call too (section 9.1).

    Raises:
        InputError: A claim is malformed.
    """
    requested = parse_operation(operation, vocabulary)
    granted, per_call = granted_operations(claims), per_call_operations(claims)
    if _contains_operation(granted, vocabulary, requested):
        return AccessDecision.GRANTED
    return AccessDecision.PER_CALL if _contains_operation(per_call, vocabulary, requested) else AccessDecision.NO_MATCH


def granted_operations(claims: Mapping[str, Json]) -> ClaimedOperations:
    """Return the operations of ``r3_granted``, or raise ``InputError`` for a malformed claim."""
    return _parse_operations(claims[_GRANTED_CLAIM]) if _GRANTED_CLAIM in claims else _NO_OPERATIONS


def per_call_operations(claims: Mapping[str, Json]) -> ClaimedOperations:
    """Return the operations of ``r3_per_call`` or its older name.

    Raises:
        InputError: The claim is malformed, or both names are present and differ.
    """
    values = [claims[name] for name in (_PER_CALL_CLAIM, _CONDITIONAL_CLAIM) if name in claims]
    if len(values) > 1 and not is_equal_json(*values):
        raise InputError(
            f"The claims {_PER_CALL_CLAIM} and {_CONDITIONAL_CLAIM} are names of the same claim but differ.",
            hint="Issue the token again with only the first.",
        )
    return _parse_operations(values[0]) if values else _NO_OPERATIONS


def _parse_operations(claim: Json) -> ClaimedOperations:
    match claim:
        case {"vocabulary": str(vocabulary), "operations": list()}:
            return ClaimedOperations(vocabulary, tuple(map(_parse_claimed_operation, as_list(claim["operations"]))))
        case _:
            raise InputError("A claim of operations must be an object with a vocabulary and an array of operations.")


def _parse_claimed_operation(value: Json) -> Mapping[str, Json]:
    if not as_mapping(value):
        raise InputError("An operation in a claim must be an object with at least one member.")
    return as_mapping(value)


def _contains_operation(listed: ClaimedOperations, vocabulary: str, operation: Mapping[str, Json]) -> bool:
    return listed.vocabulary == vocabulary and any(
        is_equal_json(candidate, operation) for candidate in listed.operations
    )


ACCESS_MODE_KEY: Final = "aauth.dev/access-mode"
BUDGET_KEY: Final = "aauth.dev/budget"


class AccessMode(str, Enum):
    """The token an agent needs to call an operation."""

    AGENT_TOKEN = "agent-token"  # noqa: S105  the name of a kind of token
    PERSON_TOKEN = "person-token"  # noqa: S105
    AUTH_TOKEN = "auth-token"  # noqa: S105
    PER_CALL = "per-call"
    """An auth token obtained for one call from its proposal."""


_MODES_WITHOUT_BUDGET: Final = frozenset({AccessMode.AGENT_TOKEN, AccessMode.PERSON_TOKEN})


def access_annotations(access_mode: AccessMode | str | None, budget: bool | None = None) -> dict[str, Json]:  # noqa: FBT001
    """Return the ``_meta`` entries of a tool. None leaves a setting to the resource's default.

    Raises:
        InputError: The mode is unknown or ``session-token``, or no token of the mode could carry a budget.
    """
    mode = None if access_mode is None else _parse_access_mode(access_mode)
    if budget and mode in _MODES_WITHOUT_BUDGET:
        raise InputError(
            "An operation with a budget needs at least an auth token, which carries the budget.",
            hint="Annotate it with auth-token or per-call, or without a mode.",
        )
    if not isinstance(budget, bool | None):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may not check types
        raise InputError("budget must be True or False.")
    entries: dict[str, Json] = {} if mode is None else {ACCESS_MODE_KEY: mode.value}
    return entries if budget is None else {**entries, BUDGET_KEY: budget}


def _parse_access_mode(value: object) -> AccessMode:
    try:
        return AccessMode(value)
    except ValueError:
        known = ", ".join(mode.value for mode in AccessMode)
        raise InputError(f"The access mode of an operation must be one of {known}.", hint=_SESSION_TOKEN_HINT) from None


_SESSION_TOKEN_HINT: Final = "session-token describes a whole resource, never an operation."  # noqa: S105  a sentence
