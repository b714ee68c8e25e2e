"""Holding an envelope to the workflow that it belongs to, whoever made it.

Source: RFC-0010, "Binding Rules". A workflow without authority hands out none, and its narratives are scanned all the
same; a workflow with authority hands out what its oracles vouch for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from emitter.authority.envelope.backing import is_backed
from emitter.authority.envelope.given import checked
from emitter.authority.envelope.objections import marked, narrated
from emitter.authority.envelope.refusing import refusal, told
from emitter.authority.envelope.terms import Terms
from emitter.authority.envelope.verifying import Unverified, verified
from emitter.decide.digest import digest_of
from emitter.kinds.authorization import (
    Action,
    AuthorizationEnvelope,
    Classification,
    DisputeSummary,
    EnforcementMode,
    Measurement,
    Narrative,
    Refusal,
    RefusalCode,
    WorkflowDeclaration,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.authority.envelope.reading import OracleReading
    from emitter.authority.envelope.verifying import Claim, Verify


def enforce(
    envelope: AuthorizationEnvelope,
    workflow: WorkflowDeclaration,
    *,
    oracles: Iterable[OracleReading] = (),
    verify: Verify | None = None,
) -> AuthorizationEnvelope:
    """Return the envelope as the workflow lets it be used, or the refusal that stands in its place.

    A measurement, a classification or an action is ``POLICY_VIOLATION`` in a workflow without authority, and
    ``UNRESOLVABLE`` where ``oracles`` do not vouch for its records and for what it says, or where ``verify`` does not
    hold one of its records to be true; an ASYNC workflow needs ``verify``. A narrative is scanned in every workflow:
    measurements are taken out where its policy says so, and any other marker is ``POLICY_VIOLATION``. The text of a
    refusal that tells of oracles or thresholds is replaced. Raises ``InputError`` for what is no envelope.
    """
    terms = Terms.of(workflow, oracles)
    admitted = _admitted(checked(envelope), terms)
    if not isinstance(admitted, Measurement | Classification | Action):
        return admitted
    if verify is not None:
        return verified(admitted, verify)
    return _unresolved(admitted) if workflow.enforcement_mode is EnforcementMode.ASYNC else admitted


def hand_out(
    envelope: AuthorizationEnvelope, terms: Terms, verify: Verify | None
) -> AuthorizationEnvelope | Unverified:
    """Return the envelope as the workflow hands it out: a claim of an ASYNC one is not verified yet."""
    admitted = _admitted(envelope, terms)
    if not isinstance(admitted, Measurement | Classification | Action):
        return admitted
    if terms.workflow.enforcement_mode is EnforcementMode.ASYNC:
        return Unverified(admitted)
    return admitted if verify is None else verified(admitted, verify)


def _admitted(envelope: AuthorizationEnvelope, terms: Terms) -> AuthorizationEnvelope:
    """Return the envelope, or the refusal in its place, before any oracle is asked."""
    match envelope:
        case Measurement() | Classification() | Action():
            return _claimed(envelope, terms)
        case Narrative():
            return _narrative(envelope)
        case Refusal():
            return _refused(envelope, terms.names)
        case DisputeSummary():
            return envelope
        case _:
            assert_never(envelope)


def _claimed(claim: Claim, terms: Terms) -> Claim | Refusal:
    if not terms.workflow.authoritative:
        return refusal(RefusalCode.POLICY_VIOLATION, claim.provenance.envelope_id)
    return claim if is_backed(claim, terms.oracles) else _unresolved(claim)


def _unresolved(claim: Claim) -> Refusal:
    return refusal(RefusalCode.UNRESOLVABLE, claim.provenance.envelope_id)


def _narrative(given: Narrative) -> Narrative | Refusal:
    text = narrated(given.text, given.policy)
    if marked(text, given.policy):
        return refusal(RefusalCode.POLICY_VIOLATION, digest_of(given.model_dump(mode="json")))
    return given if text == given.text else Narrative(text=text, policy=given.policy)


def _refused(given: Refusal, names: tuple[str, ...]) -> Refusal:
    """Return a refusal that tells nothing of oracles or thresholds, under the same code and id."""
    reason = given.reason
    said = (reason.user_message, reason.recovery_hint or "")
    return refusal(reason.code, reason.audit_id) if any(told(each, names) for each in said) else given
