"""An envelope's wire form, both ways. What cannot be read is blocked: it fails closed.

Source: RFC-0010, "Clients MUST treat unknown kind values as BLOCKED".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.authority.envelope.given import checked, readable, refuse_proposals
from emitter.authority.envelope.refusing import refusal
from emitter.decide.canonical import Profile, conform
from emitter.decide.digest import digest_of
from emitter.decide.strict import parse
from emitter.errors import NotCanonical
from emitter.kinds.authorization import RefusalCode

if TYPE_CHECKING:
    from emitter.kinds import AuthorizationEnvelope
    from emitter.wire import Json

_UNREADABLE: Final = "unreadable"
"""The audit id of what has no digest."""


def read_authorization(document: Json, *, audit_id: str | None = None) -> AuthorizationEnvelope:
    """Return the envelope that a JSON value, or a JSON text, is; a refusal with ``BLOCKED`` for anything else.

    An unknown kind is blocked, and so is a known one that is malformed. Members that the RFC does not name are left
    out, and block nothing: its types are minimum schemas. A text is read strictly: see
    ``emitter.decide.strict.parse``. ``audit_id`` is what such a refusal is looked up by; without it, it is the digest
    of what was read. No content raises; ``InputError`` is raised for a draft and for the envelope of a decision.
    """
    refuse_proposals(document)
    try:
        value = parse(document, Profile.WIRE) if isinstance(document, str | bytes) else conform(document, Profile.WIRE)
    except NotCanonical:
        return refusal(RefusalCode.BLOCKED, audit_id or _UNREADABLE)
    found = readable(value)
    return refusal(RefusalCode.BLOCKED, audit_id or digest_of(value, Profile.WIRE)) if found is None else found


def to_json(envelope: AuthorizationEnvelope) -> dict[str, Json]:
    """Return the wire form; what is absent is left out. Raises ``InputError`` for what is none."""
    return checked(envelope).model_dump(mode="json")
