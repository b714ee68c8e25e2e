"""Readings, workflows, drafts and envelopes that the tests of authorization start from."""

from __future__ import annotations

from typing import Any

from emitter.authority.envelopes import (
    AuthorizationConstraints,
    EnvelopeStamp,
    OracleReading,
    ProposedAction,
    ProposedClassification,
    ProposedDispute,
    ProposedMeasurement,
    ProposedNarrative,
    ProposedRefusal,
)
from emitter.models import BindingMoment, Option, Question
from emitter.models.authorization import (
    Action,
    AuthoritativeIntent,
    Classification,
    DisputeSummary,
    EnforcementMode,
    GrammarMode,
    Measurement,
    Narrative,
    NarrativePolicy,
    OracleConflict,
    OracleValue,
    OracleVerificationRecord,
    Provenance,
    Refusal,
    RefusalCode,
    RefusalReason,
    Specificity,
    Tier,
    WorkflowDeclaration,
)

ASKED = "2026-03-19T08:12:00.000Z"
MADE = "2026-03-19T08:12:05.000Z"
CLAIM = "quillious"
"""A word that stands in what a test's envelope says, and must stand in nothing that is shown of it."""


def workflow(intent: str = "authoritative", mode: str = "INLINE") -> WorkflowDeclaration:
    """Return a workflow's declaration."""
    return WorkflowDeclaration(
        workflow_id="triage",
        authoritative_intent=AuthoritativeIntent(intent),
        enforcement_mode=EnforcementMode(mode),
    )


INLINE = workflow()
ASYNC = workflow(mode="ASYNC")
WITHOUT = workflow("non_authoritative", "NON_AUTHORITATIVE_ONLY")
WORKFLOWS = {"inline": INLINE, "async": ASYNC, "without authority": WITHOUT}


def record(oracle_id: str, tier: Tier = Tier.PRIMARY, **more: str) -> OracleVerificationRecord:
    """Return the record of an oracle that was asked."""
    return OracleVerificationRecord(oracle_id=oracle_id, tier=tier, verified_at=ASKED, **more)


LAB = record("lab-7", method="photometry")
EHR = record("ehr-2", Tier.SECONDARY)
HEARSAY = record("forum-9", Tier.UNVERIFIED)

POTASSIUM = OracleReading(LAB, "potassium", 4.2, "Central Laboratory")
STATUS = OracleReading(EHR, "status", ["stable", CLAIM])
SODIUM = OracleReading(LAB, "sodium", 140, "Central Laboratory")
OTHER_SODIUM = OracleReading(EHR, "sodium", 141)
RUMOUR = OracleReading(HEARSAY, "weight", 80)
READINGS = (POTASSIUM, STATUS, SODIUM, OTHER_SODIUM, RUMOUR)

LOOSE = NarrativePolicy(
    grammar_mode=GrammarMode.ATTRIBUTIVE,
    forbidden_markers=(),
    max_specificity=Specificity.CONTEXTUALIZED,
    scrub_measurements=False,
)
SCRUBBING = LOOSE.model_copy(update={"scrub_measurements": True})
STRICT = LOOSE.model_copy(update={"forbidden_markers": ("miracle",)})
TERMS = AuthorizationConstraints.from_arguments(INLINE, READINGS, LOOSE, ["notify", "escalate"])
STAMP = EnvelopeStamp("env-1", "audit-1", MADE)

SAID = "According to the manual, the pump supports several modes."
"""A narrative that has no marker."""
DOSED = "According to the manual, the pump delivers 5 mg of it."
NOTHING = "Nothing can be said about this."
INSTEAD = "Ask about something else."
ORDERED = "You must stop the pump now."

DRAFTS: dict[str, Any] = {
    "measurement": ProposedMeasurement("potassium", 4.2, ("lab-7",)),
    "classification": ProposedClassification("status", CLAIM, ("ehr-2",)),
    "action": ProposedAction("notify", ("potassium", "status"), ("lab-7", "ehr-2"), {"who": CLAIM}),
    "narrative": ProposedNarrative(SAID),
    "refusal": ProposedRefusal(RefusalCode.UNRESOLVABLE, NOTHING, INSTEAD),
    "dispute_summary": ProposedDispute(("sodium",)),
}
"""A draft of each kind to which nothing objects."""

DOCUMENTS: dict[str, dict[str, Any]] = {
    "measurement": {"proposes": "measurement", "axis": "potassium", "value": 4.2, "cites": ["lab-7"]},
    "classification": {"proposes": "classification", "axis": "status", "label": CLAIM, "cites": ["ehr-2"]},
    "action": {
        "proposes": "action",
        "action": "notify",
        "axes": ["potassium", "status"],
        "cites": ["lab-7", "ehr-2"],
        "params": {"who": CLAIM},
    },
    "narrative": {"proposes": "narrative", "text": SAID},
    "refusal": {
        "proposes": "refusal",
        "code": "UNRESOLVABLE",
        "user_message": NOTHING,
        "recovery_hint": INSTEAD,
    },
    "dispute_summary": {"proposes": "dispute_summary", "axes": ["sodium"]},
}
"""The same, as a model writes them."""


def document(kind: str = "measurement", /, **change: Any) -> dict[str, Any]:
    """Return what a model writes, with ``change`` in its proposal."""
    return {"reasoning": "The laboratory says so.", "proposal": {**DOCUMENTS[kind], **change}}


def provenance(*records: OracleVerificationRecord) -> Provenance:
    """Return a provenance with these records."""
    return Provenance(oracle_records=records or (LAB,), generated_at=MADE, envelope_id="env-1")


def conflict(*values: OracleValue) -> OracleConflict:
    """Return a conflict between these values."""
    return OracleConflict(axis="sodium", oracles=values, resolution_attempted=False, escalation_required=True)


def value(of: OracleReading) -> OracleValue:
    """Return what an oracle said, as a conflict tells it."""
    return OracleValue(oracle_id=of.record.oracle_id, tier=of.record.tier, value=of.value, verified_at=ASKED)


ENVELOPES: dict[str, Any] = {
    "measurement": Measurement(value=4.2, provenance=provenance()),
    "classification": Classification(label=CLAIM, provenance=provenance(EHR)),
    "action": Action(action="notify", params={"who": CLAIM}, provenance=provenance(LAB, EHR)),
    "narrative": Narrative(text=SAID, policy=LOOSE),
    "refusal": Refusal(
        reason=RefusalReason(
            code=RefusalCode.UNRESOLVABLE,
            user_message=NOTHING,
            recovery_hint=INSTEAD,
            audit_id="audit-1",
        )
    ),
    "dispute_summary": DisputeSummary(sources=(conflict(value(SODIUM), value(OTHER_SODIUM)),)),
}
"""The envelope that each draft comes to."""

CLAIMS = ("measurement", "classification", "action")
"""The kinds that have authority."""

MOMENT = BindingMoment(
    synopsis="Ship now: all is green.",
    findings=("The tests pass.",),
    recommendations=("Publish it.",),
    offer="Ask for the report.",
    question=Question.ask(
        "When?", [Option(label="Now", reasoning="Green."), Option(label="Later", reasoning="Late.")], 0
    ),
)
"""A decision, which is a proposal too."""
