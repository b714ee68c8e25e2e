"""What may stand where an envelope is wanted: an envelope, and nothing that only looks like one.

An envelope is held to its form whenever it is handed in: a copy with changes, or one that was made around its checks,
is of the type and may be none all the same.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field, TypeAdapter, ValidationError

from emitter.authority.envelope.draft import Draft
from emitter.authority.envelope.verifying import Unverified
from emitter.decide.canonical import Profile, conform
from emitter.errors import InputError
from emitter.kinds import AIEnvelope, AuthorizationEnvelope, BindingMoment

if TYPE_CHECKING:
    from emitter.wire import Json

_ADAPTER: Final[TypeAdapter[AuthorizationEnvelope]] = TypeAdapter(
    Annotated[AuthorizationEnvelope, Field(discriminator="kind")]
)
_HINTS: Final = (
    (Draft, "A draft is a proposal: authorize(...) makes an envelope of it."),
    (BindingMoment, "The envelope of a decision is a proposal: what its chosen option allows is authorized apart."),
    (Unverified, "Nobody has verified it: settle(verify) makes an envelope of it."),
    (AIEnvelope, "Read what it carries: read_authorization(envelope.payload['authorization'])."),
    (AuthorizationEnvelope, "It does not hold: it was changed since it was made, or made around its checks."),
)
_OTHERWISE: Final = "Of an emission pass the value; of JSON, read_authorization makes an envelope."


def checked(given: object) -> AuthorizationEnvelope:
    """Return what was given, if it is an authorization envelope that holds; raises ``InputError`` for anything else."""
    if isinstance(given, AuthorizationEnvelope) and _holds(given):
        return given
    raise _refused(given)


def recorded(value: Json) -> AuthorizationEnvelope | None:
    """Return the envelope that a JSON value with a canonical form is, or None where it is none."""
    try:
        return _ADAPTER.validate_python(value)
    except ValidationError:
        return None


def readable(value: Json) -> AuthorizationEnvelope | None:
    """Return the envelope that a JSON value of somebody else's is, or None where it is none.

    Members that the RFC does not name are left out: its types are minimum schemas, and only an unknown kind is BLOCKED.
    """
    try:
        return _ADAPTER.validate_python(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
    more = [each["loc"][1:] for each in found if each["type"] == "extra_forbidden"]  # the first step is the kind
    if not more:
        return None
    known = deepcopy(value)
    for *path, name in more:
        place: Json = known
        for each in path:
            place = place[each]
        del place[name]
    return recorded(known)


def _holds(envelope: AuthorizationEnvelope) -> bool:
    """Tell whether an envelope, written and read again, is one of its own kind."""
    try:
        found = recorded(conform(envelope.model_dump(mode="json", warnings=False), Profile.WIRE))
    except Exception:  # noqa: BLE001  whatever stands in it, what cannot be written is no envelope
        return False
    return found is not None and isinstance(envelope, type(found))


def refuse_proposals(given: object) -> None:
    """Raise ``InputError`` for an object that is no JSON, and would be taken for an envelope."""
    if isinstance(given, Draft | BindingMoment | Unverified | AIEnvelope):
        raise _refused(given)


def _refused(given: object) -> InputError:
    said = next((said for kind, said in _HINTS if isinstance(given, kind)), _OTHERWISE)
    return InputError(f"An authorization envelope was given as {type(given).__name__}.", hint=said)
