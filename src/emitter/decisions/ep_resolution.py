"""Write a resolution as a signed record: EP-RESOLUTION-v1 of the EMILIA Protocol.

A selected option becomes ``approved``, a free text ``amended`` and a dialogue ``rejected``. The record has a digest of
the principal's words, never the words. The signature is a WebAuthn assertion by the principal's own authenticator; this
module cannot sign.

Source: EP-RESOLUTION-SPEC and its verifier, emilia-verify 2.9.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never, cast

from emitter.decisions.canonical_json import (
    LONE_SURROGATE,
    CanonicalProfile,
    canonicalize,
    digest,
    digest_of,
    encode_base64url,
    is_digest,
    parse_strict_json,
)
from emitter.decisions.resolution import Act, Hold, Incorporate, Reopen, continue_after
from emitter.errors import BadResolution, BadToken, InputError, NotCanonical
from emitter.messages import as_mapping
from emitter.visible_text import is_blank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.decisions.resolution import Continuation, Resolution, Unresolved
    from emitter.messages import Json
    from emitter.models import BindingMoment

NO_ACTION_DIGEST: Final = digest_of(None)
"""The action digest of an option that does nothing: the digest of ``null``."""
_FLAGS_OFFSET: Final = 32
_USER_PRESENT_AND_VERIFIED: Final = 0x05
_MIN_AUTHENTICATOR_DATA: Final = 37


@dataclass(frozen=True, slots=True)
class Ceremony:
    """The terms of a resolution, agreed before the principal is asked.

    Attributes:
        nonce: A value that is used once.
        issued_at: From when the record is valid, to the millisecond and with a time zone.
        expires_at: Until when the record is valid, to the millisecond and with a time zone.
        actions: For each option, in order, the digest of what it does, or None if it does nothing. The digests are not
            part of the envelope, so approving one action can never execute another.

    Raises:
        InputError: A verifier would not accept these terms.
    """

    principal: str
    principal_key_id: str
    initiator: str
    nonce: str
    issued_at: datetime
    expires_at: datetime
    actions: tuple[str | None, ...]

    def __post_init__(self) -> None:
        if not all(map(_is_visible_text, (self.principal, self.principal_key_id, self.initiator, self.nonce))):
            raise InputError("principal, principal_key_id, initiator and nonce must be strings with visible text.")
        if not (_has_time_zone(self.issued_at) and _has_time_zone(self.expires_at)):
            raise InputError("issued_at and expires_at must have a time zone.", hint="Use datetime.now(UTC).")
        if _format_time(self.issued_at) >= _format_time(self.expires_at):
            raise InputError("expires_at must be later than issued_at.")
        if not _are_action_digests(self.actions):
            raise InputError("Each of actions must be a digest or None.", hint="Use digest_of(action).")


@dataclass(frozen=True, slots=True)
class WebAuthnAssertion:
    """The result of ``navigator.credentials.get`` in WebAuthn, as bytes."""

    authenticator_data: bytes
    client_data_json: bytes
    signature: bytes


Authenticator: TypeAlias = Callable[[bytes], WebAuthnAssertion]
"""Signs a challenge as the principal. If the answer comes later, call the three steps one by one."""


def build_ep_resolution(
    resolution: Resolution | Unresolved,
    moment: BindingMoment,
    *,
    ceremony: Ceremony,
    authenticator: Authenticator,
    successor: BindingMoment | None = None,
) -> dict[str, Json]:
    """Return the signed record. Raises the errors of ``build_ep_context`` and ``build_ep_receipt``."""
    context = build_ep_context(resolution, moment, ceremony=ceremony, successor=successor)
    return build_ep_receipt(context, authenticator(compute_ep_challenge(context)))


def build_ep_context(
    resolution: Resolution | Unresolved,
    moment: BindingMoment,
    *,
    ceremony: Ceremony,
    successor: BindingMoment | None = None,
) -> dict[str, Json]:
    """Return the context to sign.

    The action belongs to the selected option. Without a selection it belongs to the recommended option, and the record
    does not authorize it.

    Args:
        resolution: The principal's answer.
        moment: The envelope that was answered.
        ceremony: The terms of the record.
        successor: The envelope that was emitted after an amendment or a rejection, if there is one.

    Raises:
        BadResolution: Nobody decided, or ``continue_after`` refuses the resolution.
        InputError: The actions or the successor do not fit.
    """
    continuation = continue_after(resolution, moment)
    outcome = _outcome_members(continuation)
    return {
        "ep_version": "1.0",
        "context_type": "ep.resolution.v1",
        "envelope_hash": resolution.digest,
        "action_hash": _action_hash(continuation, ceremony),
        "principal": ceremony.principal,
        "principal_key_id": ceremony.principal_key_id,
        "initiator": ceremony.initiator,
        "nonce": ceremony.nonce,
        "issued_at": _format_time(ceremony.issued_at),
        "expires_at": _format_time(ceremony.expires_at),
        "resolution": outcome if successor is None else {**outcome, **_successor_members(continuation, successor)},
    }


def compute_ep_challenge(context: dict[str, Json]) -> bytes:
    """Return the 32-byte challenge for the principal's authenticator."""
    return hashlib.sha256(canonicalize(context)).digest()


def build_ep_receipt(context: dict[str, Json], assertion: WebAuthnAssertion) -> dict[str, Json]:
    """Return the record of a signed context.

    The signature itself is left to the verifier, which knows whose key to trust.

    Raises:
        BadToken: The assertion answers another challenge, or was made without the principal.
    """
    if not _is_answer_to(assertion, compute_ep_challenge(context)):
        raise BadToken("The assertion does not answer this challenge, or was made without the principal.")
    webauthn = {
        "authenticator_data": encode_base64url(assertion.authenticator_data),
        "client_data_json": encode_base64url(assertion.client_data_json),
        "signature": encode_base64url(assertion.signature),
    }
    signoff = {"@type": "ep.signoff", "context": context, "webauthn": webauthn}
    return {"profile": "EP-RESOLUTION-v1", "signoff": signoff}


def _outcome_members(continuation: Continuation) -> dict[str, Json]:
    match continuation:
        case Act(index=index):
            return {"outcome": "approved", "selected_option": index}
        case Incorporate(answer=answer):
            return {"outcome": "amended", "response_hash": digest_of(answer)}
        case Reopen(objection=objection):
            members = {"objection_hash": digest_of(objection)} if objection else {}
            return {"outcome": "rejected", **members}
        case Hold():
            raise BadResolution("The decision is unresolved, so there is nothing to record.")
        case _:
            assert_never(continuation)


def _action_hash(continuation: Continuation, ceremony: Ceremony) -> str:
    question = continuation.moment.question
    if len(ceremony.actions) != len(question.options):
        raise InputError(
            f"actions has {len(ceremony.actions)} entries for {len(question.options)} options.",
            hint="Pass one for each option, or None for an option that does nothing.",
        )
    action = ceremony.actions[continuation.index if isinstance(continuation, Act) else question.recommended_idx]
    return NO_ACTION_DIGEST if action is None else action


def _successor_members(continuation: Continuation, successor: BindingMoment) -> dict[str, Json]:
    successor_digest = digest(successor)
    if isinstance(continuation, Act):
        raise InputError("successor= is not possible after an option was selected.")
    if successor_digest == digest(continuation.moment):
        raise InputError("successor= is the envelope itself; it must be another one.")
    return {"successor_envelope_hash": successor_digest}


def _is_answer_to(assertion: WebAuthnAssertion, challenge: bytes) -> bool:
    try:
        client = as_mapping(parse_strict_json(assertion.client_data_json, CanonicalProfile.WIRE))
    except NotCanonical:
        return False
    data = assertion.authenticator_data
    return (
        client.get("type") == "webauthn.get"
        and client.get("challenge") == encode_base64url(challenge)
        and len(data) >= _MIN_AUTHENTICATOR_DATA
        and data[_FLAGS_OFFSET] & _USER_PRESENT_AND_VERIFIED == _USER_PRESENT_AND_VERIFIED
    )


def _is_visible_text(value: object) -> bool:
    return isinstance(value, str) and not is_blank(value) and LONE_SURROGATE.search(value) is None


def _has_time_zone(value: object) -> bool:
    return isinstance(value, datetime) and value.utcoffset() is not None


def _are_action_digests(value: Json) -> bool:
    if not isinstance(value, tuple | list):
        return False
    return all(action is None or is_digest(action) for action in cast("Sequence[Json]", value))


def _format_time(time: datetime) -> str:
    try:
        time = time.astimezone(UTC)
    except OverflowError:
        raise InputError("issued_at and expires_at must be in the years 1 to 9999 of UTC.") from None
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
