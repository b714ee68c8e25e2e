"""Holding an envelope to the workflow that it belongs to, whoever made it.

Source: RFC-0010, "Binding Rules". A workflow without authority hands out none, and its narratives are scanned all the
same; a workflow with authority hands out what its oracles vouch for.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, assert_never

from emitter.authority.envelope.backing import is_backed, is_disputed
from emitter.authority.envelope.given import checked
from emitter.authority.envelope.objections import marked, narrated
from emitter.authority.envelope.refusing import refusal, told
from emitter.authority.envelope.terms import DEFAULT_NARRATIVE, Terms
from emitter.authority.envelope.verifying import Unverified, verified
from emitter.decide.canonical import Profile
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
    from emitter.kinds.authorization import NarrativePolicy


def enforce(
    envelope: AuthorizationEnvelope,
    workflow: WorkflowDeclaration,
    *,
    oracles: Iterable[OracleReading] = (),
    narrative: NarrativePolicy | None = None,
    verify: Verify | None = None,
) -> AuthorizationEnvelope:
    """Return the envelope as the workflow lets it be used, or the refusal that stands in its place.

    A measurement, a classification or an action is ``POLICY_VIOLATION`` in a workflow without authority, and
    ``UNRESOLVABLE`` where ``oracles`` do not vouch for its records and for what it says, or where ``verify`` does not
    hold one of its records to be true; an ASYNC workflow needs ``verify``. A dispute is ``UNRESOLVABLE`` where
    ``oracles`` do not disagree as it says. A narrative is scanned in every workflow, by its own policy and by
    ``narrative``, which is the workflow's: measurements are taken out where one of them says so, and any other marker
    is ``POLICY_VIOLATION``. The text of a refusal that tells of oracles or thresholds, states something, or has a
    marker that ``narrative`` forbids, is replaced. Raises ``InputError`` for what is no envelope.
    """
    terms = Terms.of(workflow, oracles, DEFAULT_NARRATIVE if narrative is None else narrative)
    admitted = _admitted(checked(envelope), terms, narrative)
    if not isinstance(admitted, Measurement | Classification | Action):
        return admitted
    if verify is not None:
        return verified(admitted, verify)
    return _unresolved(admitted) if workflow.enforcement_mode is EnforcementMode.ASYNC else admitted


def hand_out(
    envelope: AuthorizationEnvelope, terms: Terms, verify: Verify | None
) -> AuthorizationEnvelope | Unverified:
    """Return the envelope as the workflow hands it out: a claim of an ASYNC one is not verified yet."""
    admitted = _admitted(envelope, terms, terms.narrative)
    if not isinstance(admitted, Measurement | Classification | Action):
        return admitted
    if terms.workflow.enforcement_mode is EnforcementMode.ASYNC:
        return Unverified(admitted)
    return admitted if verify is None else verified(admitted, verify)


def _admitted(
    envelope: AuthorizationEnvelope, terms: Terms, narrative: NarrativePolicy | None
) -> AuthorizationEnvelope:
    """Return the envelope, or the refusal in its place, before any oracle is asked."""
    match envelope:
        case Measurement() | Classification() | Action():
            return _claimed(envelope, terms)
        case Narrative():
            return _narrative(envelope, narrative)
        case Refusal():
            return _refused(envelope, terms)
        case DisputeSummary():
            return envelope if is_disputed(envelope, terms.oracles) else _stands_for(envelope, RefusalCode.UNRESOLVABLE)
        case _:
            assert_never(envelope)


def _claimed(claim: Claim, terms: Terms) -> Claim | Refusal:
    if not terms.workflow.authoritative or not _allowed(claim, terms):
        return refusal(RefusalCode.POLICY_VIOLATION, claim.provenance.envelope_id)
    return claim if is_backed(claim, terms.oracles) else _unresolved(claim)


def _allowed(claim: Claim, terms: Terms) -> bool:
    return terms.actions is None or not isinstance(claim, Action) or claim.action in terms.actions


def _unresolved(claim: Claim) -> Refusal:
    return refusal(RefusalCode.UNRESOLVABLE, claim.provenance.envelope_id)


def _stands_for(envelope: AuthorizationEnvelope, code: RefusalCode) -> Refusal:
    """Return the refusal in the place of an envelope that has no id of its own."""
    return refusal(code, digest_of(envelope.model_dump(mode="json"), Profile.WIRE))


def _narrative(given: Narrative, of_workflow: NarrativePolicy | None) -> Narrative | Refusal:
    policies = dict.fromkeys((given.policy, of_workflow or given.policy))
    text = reduce(narrated, policies, given.text)
    if any(marked(text, each) for each in policies):
        return _stands_for(given, RefusalCode.POLICY_VIOLATION)
    return given if text == given.text else Narrative(text=text, policy=given.policy)


def _refused(given: Refusal, terms: Terms) -> Refusal:
    """Return a refusal that tells nothing of oracles or thresholds and states nothing, under the same code and id."""
    reason, markers = given.reason, terms.narrative.forbidden_markers
    said = (reason.user_message, reason.recovery_hint or "")
    return refusal(reason.code, reason.audit_id) if any(told(each, terms.names, markers) for each in said) else given
