"""What may stand where an envelope is wanted: an envelope, and nothing that only looks like one."""

from __future__ import annotations

from typing import Final

from emitter.authority.envelope.draft import Draft
from emitter.authority.envelope.verifying import Unverified
from emitter.errors import InputError
from emitter.kinds import AIEnvelope, AuthorizationEnvelope, BindingMoment

_HINTS: Final = (
    (Draft, "A draft is a proposal: authorize(...) makes an envelope of it."),
    (BindingMoment, "The envelope of a decision is a proposal: what its chosen option allows is authorized apart."),
    (Unverified, "Nobody has verified it: settle(verify) makes an envelope of it."),
    (AIEnvelope, "Read what it carries: read_authorization(envelope.payload['authorization'])."),
)
_OTHERWISE: Final = "Of an emission pass the value; of JSON, read_authorization makes an envelope."


def checked(given: object) -> AuthorizationEnvelope:
    """Return what was given, if it is an authorization envelope; raises ``InputError`` for anything else."""
    if isinstance(given, AuthorizationEnvelope):
        return given
    raise _refused(given)


def refuse_proposals(given: object) -> None:
    """Raise ``InputError`` for an object that is no JSON, and would be taken for an envelope."""
    if isinstance(given, Draft | BindingMoment | Unverified | AIEnvelope):
        raise _refused(given)


def _refused(given: object) -> InputError:
    said = next((said for kind, said in _HINTS if isinstance(given, kind)), _OTHERWISE)
    return InputError(f"An authorization envelope was given as {type(given).__name__}.", hint=said)
