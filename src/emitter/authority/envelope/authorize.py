"""The one way from a draft to an envelope: what it rests on is put beside it by the host, never by the model.

Source: RFC-0010, "Separate proposal generation from authority granting"; "Every authoritative envelope variant MUST
include at least one OracleVerificationRecord".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from pydantic import ValidationError

from emitter.authority.envelope.backing import conflict
from emitter.authority.envelope.draft import (
    Draft,
    ProposedAction,
    ProposedClaim,
    ProposedClassification,
    ProposedDispute,
    ProposedMeasurement,
    ProposedNarrative,
    ProposedRefusal,
)
from emitter.authority.envelope.enforce import hand_out
from emitter.authority.envelope.objections import cited, narrated, objections
from emitter.authority.envelope.refusing import refusal
from emitter.errors import InputError
from emitter.kinds.authorization import (
    Action,
    AuthorizationEnvelope,
    Classification,
    DisputeSummary,
    Measurement,
    Narrative,
    Provenance,
    Refusal,
    RefusalCode,
    RefusalReason,
)

if TYPE_CHECKING:
    from emitter.authority.envelope.terms import Stamp, Terms
    from emitter.authority.envelope.verifying import Unverified, Verify


def authorize(
    draft: Draft, terms: Terms, stamp: Stamp, verify: Verify | None = None
) -> AuthorizationEnvelope | Unverified:
    """Return the envelope that a draft comes to under ``terms``.

    A draft that they forbid comes to a refusal with ``POLICY_VIOLATION``, and a claim for which the oracles do not
    vouch to one with ``UNRESOLVABLE``. In an INLINE workflow ``verify`` is asked of each record before the claim is
    handed out; in an ASYNC one the claim is handed out as ``Unverified``. Raises ``InputError`` for what is no draft.
    """
    if not isinstance(draft, Draft):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may not check types
        raise InputError(f"A draft was given as {type(draft).__name__}.", hint="A model's document is read as one.")
    try:
        made = None if objections(draft, terms) else _enveloped(draft, terms, stamp)
    except ValidationError:  # a draft that was made by hand may hold what no envelope can
        made = None
    if made is None:
        return refusal(RefusalCode.POLICY_VIOLATION, stamp.audit_id)
    return hand_out(made, terms, verify)


def _enveloped(draft: Draft, terms: Terms, stamp: Stamp) -> AuthorizationEnvelope:
    """Return the envelope of a draft that nothing forbids."""
    match draft:
        case ProposedMeasurement(value=value):
            return Measurement(value=value, provenance=_provenance(draft, terms, stamp))
        case ProposedClassification(label=label):
            return Classification(label=label, provenance=_provenance(draft, terms, stamp))
        case ProposedAction(action=action, params=params):
            given = {} if params is None else {"params": dict(params)}
            rests_on = _provenance(draft, terms, stamp)
            return Action.model_validate({"action": action, **given, "provenance": rests_on})
        case ProposedNarrative(text=text):
            return Narrative(text=narrated(text, terms.narrative), policy=terms.narrative)
        case ProposedRefusal():
            return Refusal(reason=_reason(draft, stamp))
        case ProposedDispute(axes=axes):
            return DisputeSummary(sources=tuple(conflict(each, terms.oracles) for each in dict.fromkeys(axes)))
        case _:
            assert_never(draft)


def _provenance(draft: ProposedClaim, terms: Terms, stamp: Stamp) -> Provenance:
    records = tuple(dict.fromkeys(each.record for each in cited(draft, terms)))
    return Provenance(oracle_records=records, generated_at=stamp.generated_at, envelope_id=stamp.envelope_id)


def _reason(draft: ProposedRefusal, stamp: Stamp) -> RefusalReason:
    hint = {} if draft.recovery_hint is None else {"recovery_hint": draft.recovery_hint}
    return RefusalReason(code=draft.code, user_message=draft.user_message, audit_id=stamp.audit_id, **hint)
