"""The types of authorization, as a user's code sees them. Checked by mypy and pyright, never run."""

from __future__ import annotations

from typing import assert_never, assert_type

from emitter import Emission, InputError
from emitter.authority.envelopes import (
    AuthorizationConstraints,
    AuthorizationDraft,
    EnvelopeStamp,
    OracleReading,
    UnverifiedClaim,
    aemit_authorization,
    authorize_draft,
    dump_authorization,
    emit_authorization,
    enforce_workflow,
    handle_envelope,
    read_authorization,
)
from emitter.models.authorization import (
    Action,
    AuthorizationEnvelope,
    Classification,
    DisputeSummary,
    Measurement,
    Narrative,
    OracleVerificationRecord,
    Refusal,
    WorkflowDeclaration,
)


def by_matching(envelope: AuthorizationEnvelope) -> str:
    """Handle every kind by ``match``: one that is left out is an error of the checker's."""
    match envelope:
        case Measurement(value=value):
            return f"{value:g}"
        case Classification(label=label):
            return label
        case Action(action=action):
            return action
        case Narrative(text=text):
            return text
        case Refusal(reason=reason):
            return reason.user_message
        case DisputeSummary(sources=sources):
            return ", ".join(each.axis for each in sources)
        case _:
            assert_never(envelope)


def by_matching_some(envelope: AuthorizationEnvelope) -> str:
    """Forget a kind, and be reported."""
    match envelope:
        case Measurement() | Classification() | Action() | Narrative() | Refusal():
            return envelope.kind
        case _:
            assert_never(envelope)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def by_function(envelope: AuthorizationEnvelope) -> str:
    """Handle every kind by a function of its own."""
    return handle_envelope(
        envelope,
        measurement=lambda each: f"{each.value:g}",
        classification=lambda each: each.label,
        action=lambda each: each.action,
        narrative=lambda each: each.text,
        refusal=lambda each: each.reason.user_message,
        dispute_summary=lambda each: str(len(each.sources)),
    )


def by_function_of_some(envelope: AuthorizationEnvelope) -> None:
    """Forget a kind, and be reported."""
    handle_envelope(  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
        envelope,
        measurement=lambda each: each.kind,
        classification=lambda each: each.kind,
        action=lambda each: each.kind,
        narrative=lambda each: each.kind,
        refusal=lambda each: each.kind,
    )


def by_another_kinds_function(envelope: AuthorizationEnvelope) -> None:
    """Give a kind a function of another, and be reported."""

    def label(given: Classification) -> str:
        return given.label

    handle_envelope(
        envelope,
        measurement=label,  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        classification=label,
        action=lambda each: each.action,
        narrative=lambda each: each.text,
        refusal=lambda each: each.reason.audit_id,
        dispute_summary=lambda _: "",
    )


def verify(record: OracleVerificationRecord) -> bool:
    """Say whether a record holds."""
    return record.tier is not record.tier.UNVERIFIED


def sync(workflow: WorkflowDeclaration, readings: list[OracleReading]) -> AuthorizationEnvelope:
    """See the types of the blocking call."""
    found = emit_authorization("?", model="openai/m", workflow=workflow, oracles=readings, actions={"a"}, verify=verify)
    assert_type(found, Emission[AuthorizationEnvelope | UnverifiedClaim])
    if isinstance(found.value, UnverifiedClaim):
        handle_what_is_unverified(found.value)
        return found.value.verify(verify)
    assert_type(found.value, AuthorizationEnvelope)
    return enforce_workflow(found.value, workflow, oracles=readings, verify=verify)


def handle_what_is_unverified(claim: UnverifiedClaim) -> None:
    """Take a claim that nobody verified for an envelope, and be reported."""
    by_matching(claim)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    dump_authorization(claim)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


async def asynchronous(workflow: WorkflowDeclaration) -> None:
    """See the types of the awaited call."""
    found = await aemit_authorization("?", model="google/m", workflow=workflow, run_id="r")
    assert_type(found, Emission[AuthorizationEnvelope | UnverifiedClaim])


def drafts(draft: AuthorizationDraft, terms: AuthorizationConstraints, stamp: EnvelopeStamp) -> None:
    """Take a draft for an envelope, and be reported."""
    assert_type(authorize_draft(draft, terms, stamp), AuthorizationEnvelope | UnverifiedClaim)
    by_matching(draft)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    dump_authorization(draft)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def reading(text: str) -> None:
    """See that whatever is read is an envelope."""
    try:
        assert_type(read_authorization(text), AuthorizationEnvelope)
        assert_type(read_authorization({"kind": "decree"}), AuthorizationEnvelope)
    except InputError:
        return
