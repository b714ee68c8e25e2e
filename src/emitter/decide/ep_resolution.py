"""A resolution as a signed record: EP-RESOLUTION-v1 of the EMILIA Protocol.

Source: EP-RESOLUTION-SPEC and its verifier, emilia-verify 2.9. The draft keeps no record and leaves it to whoever needs
one (section 1). A vote is ``approved``, a free text ``amended``, a dialogue ``rejected``; EP's fourth outcome,
``declined``, has no case in the draft, where an option that says no is an option. What the principal wrote enters as a
digest only.

The signature is a WebAuthn assertion: the principal's own authenticator makes it, and swears that they were there.
Nothing here can sign, and nothing here makes such a claim for anybody.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never, cast

from emitter.decide.blank import is_blank
from emitter.decide.canonical import HALF_PAIR, Profile, canonical
from emitter.decide.continuation import Act, Hold, Incorporate, Reopen, continue_after
from emitter.decide.digest import digest, digest_of, is_digest
from emitter.decide.strict import parse
from emitter.errors import BadResolution, BadToken, InputError, NotCanonical
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.decide.continuation import Continuation
    from emitter.decide.resolution import Resolution, Unresolved
    from emitter.kinds import BindingMoment
    from emitter.wire import Json

NO_ACTION: Final = digest_of(None)
"""What stands for the action of an option that does nothing: the digest of ``null``."""

_FLAGS_AT: Final = 32
_PRESENT_AND_VERIFIED: Final = 0x05
_SHORTEST: Final = 37


@dataclass(frozen=True, slots=True)
class Ceremony:
    """What was settled before the principal was asked; raises ``InputError`` for what no verifier would take.

    ``actions`` holds, for each option in order, the digest of what it makes happen, or None where that is nothing: it
    stands beside the envelope, so that approving one thing can never execute another. ``nonce`` is used once. The
    record holds from ``issued_at`` to ``expires_at``, to the millisecond; both know their time zone.
    """

    principal: str
    principal_key_id: str
    initiator: str
    nonce: str
    issued_at: datetime
    expires_at: datetime
    actions: tuple[str | None, ...]

    def __post_init__(self) -> None:
        if not all(map(_is_name, (self.principal, self.principal_key_id, self.initiator, self.nonce))):
            raise InputError("A ceremony names its principal, their key, its initiator and a nonce, each as a text.")
        if not (_is_zoned(self.issued_at) and _is_zoned(self.expires_at)):
            raise InputError("A ceremony's times know their time zone.", hint="Use datetime.now(UTC).")
        if _instant(self.issued_at) >= _instant(self.expires_at):
            raise InputError("A ceremony expires after it is issued.")
        if not _are_actions(self.actions):
            raise InputError("An action is named by a digest, or is None.", hint="Use digest_of(action).")


@dataclass(frozen=True, slots=True)
class Assertion:
    """What WebAuthn's ``navigator.credentials.get`` returned, as bytes."""

    authenticator_data: bytes
    client_data_json: bytes
    signature: bytes


Authenticator: TypeAlias = Callable[[bytes], Assertion]
"""Signs a challenge as the principal; where the answer comes later, use the steps of ``ep_resolution`` one by one."""


def ep_resolution(
    resolution: Resolution | Unresolved,
    moment: BindingMoment,
    *,
    ceremony: Ceremony,
    authenticator: Authenticator,
    successor: BindingMoment | None = None,
) -> dict[str, Json]:
    """Return the signed record; raises what ``ep_context`` and ``ep_receipt`` raise."""
    context = ep_context(resolution, moment, ceremony=ceremony, successor=successor)
    return ep_receipt(context, authenticator(ep_challenge(context)))


def ep_context(
    resolution: Resolution | Unresolved,
    moment: BindingMoment,
    *,
    ceremony: Ceremony,
    successor: BindingMoment | None = None,
) -> dict[str, Json]:
    """Return what is to be signed.

    ``successor`` is the envelope that was emitted after an amendment or a rejection, once there is one. The action is
    that of the chosen option; without a choice it is that of the recommended one, which the record then does not
    authorize. Raises ``BadResolution`` where nobody decided, what ``continue_after`` raises for a resolution that the
    envelope does not take, and ``InputError`` for actions or a successor that do not go with it.
    """
    continuation = continue_after(resolution, moment)
    outcome = _outcome(continuation)
    return {
        "ep_version": "1.0",
        "context_type": "ep.resolution.v1",
        "envelope_hash": resolution.digest,
        "action_hash": _action(continuation, ceremony),
        "principal": ceremony.principal,
        "principal_key_id": ceremony.principal_key_id,
        "initiator": ceremony.initiator,
        "nonce": ceremony.nonce,
        "issued_at": _instant(ceremony.issued_at),
        "expires_at": _instant(ceremony.expires_at),
        "resolution": outcome if successor is None else {**outcome, **_succeeded(continuation, successor)},
    }


def ep_challenge(context: dict[str, Json]) -> bytes:
    """Return the challenge that the principal's authenticator is to sign: 32 bytes."""
    return hashlib.sha256(canonical(context)).digest()


def ep_receipt(context: dict[str, Json], assertion: Assertion) -> dict[str, Json]:
    """Return the record of a signed context.

    Raises ``BadToken`` for an assertion that answers another challenge, or was made without the principal. The
    signature itself is the verifier's to check: only it knows whose key to trust.
    """
    if not _answers(assertion, ep_challenge(context)):
        raise BadToken("The assertion is not the principal's answer to this challenge.")
    webauthn = {
        "authenticator_data": _base64url(assertion.authenticator_data),
        "client_data_json": _base64url(assertion.client_data_json),
        "signature": _base64url(assertion.signature),
    }
    signoff = {"@type": "ep.signoff", "context": context, "webauthn": webauthn}
    return {"profile": "EP-RESOLUTION-v1", "signoff": signoff}


def _outcome(continuation: Continuation) -> dict[str, Json]:
    match continuation:
        case Act(index=index):
            return {"outcome": "approved", "selected_option": index}
        case Incorporate(answer=answer):
            return {"outcome": "amended", "response_hash": digest_of(answer)}
        case Reopen(objection=objection):
            hashed = {"objection_hash": digest_of(objection)} if objection else {}
            return {"outcome": "rejected", **hashed}
        case Hold():
            raise BadResolution("Nobody decided, so there is nothing to record.")
        case _:
            assert_never(continuation)


def _action(continuation: Continuation, ceremony: Ceremony) -> str:
    question = continuation.moment.question
    if len(ceremony.actions) != len(question.options):
        raise InputError("A ceremony has one action for each option.", hint="Put None where an option does nothing.")
    action = ceremony.actions[continuation.index if isinstance(continuation, Act) else question.recommended_idx]
    return NO_ACTION if action is None else action


def _succeeded(continuation: Continuation, successor: BindingMoment) -> dict[str, Json]:
    named = digest(successor)
    if isinstance(continuation, Act):
        raise InputError("A vote ends the matter: no envelope succeeds it.")
    if named == digest(continuation.moment):
        raise InputError("An envelope cannot succeed itself.")
    return {"successor_envelope_hash": named}


def _answers(assertion: Assertion, challenge: bytes) -> bool:
    try:
        client = mapping(parse(assertion.client_data_json, Profile.WIRE))
    except NotCanonical:
        return False
    said = assertion.authenticator_data
    return (
        client.get("type") == "webauthn.get"
        and client.get("challenge") == _base64url(challenge)
        and len(said) >= _SHORTEST
        and said[_FLAGS_AT] & _PRESENT_AND_VERIFIED == _PRESENT_AND_VERIFIED
    )


def _is_name(given: object) -> bool:
    return isinstance(given, str) and not is_blank(given) and HALF_PAIR.search(given) is None


def _is_zoned(given: object) -> bool:
    return isinstance(given, datetime) and given.utcoffset() is not None


def _are_actions(given: Json) -> bool:
    if not isinstance(given, tuple | list):
        return False
    return all(each is None or is_digest(each) for each in cast("Sequence[Json]", given))


def _instant(time: datetime) -> str:
    try:
        time = time.astimezone(UTC)
    except OverflowError:
        raise InputError("A ceremony's times lie in the years 1 to 9999 of UTC.") from None
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
