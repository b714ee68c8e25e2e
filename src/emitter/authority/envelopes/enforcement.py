"""Authorize drafts, and parse, validate, handle and enforce authorization envelopes.

Only the host adds provenance: a model's draft becomes an envelope through `authorize_draft`. `enforce_workflow` applies
a workflow's rules to an envelope from any source, and input that cannot be read becomes a refusal with `BLOCKED`.

Source: RFC-0010, "Separate proposal generation from authority granting", "Binding Rules" and "Client Requirement".
"""

from __future__ import annotations

from copy import deepcopy
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Final, TypeVar, assert_never

from pydantic import Field, TypeAdapter, ValidationError

from emitter.authority.envelopes.drafts import (
    DEFAULT_NARRATIVE,
    AuthorizationConstraints,
    AuthorizationDraft,
    ProposedAction,
    ProposedClaim,
    ProposedClassification,
    ProposedDispute,
    ProposedMeasurement,
    ProposedNarrative,
    ProposedRefusal,
    find_cited_readings,
    find_narrative_violations,
    find_violations,
    scrub_narrative,
)
from emitter.authority.envelopes.oracles import (
    UnverifiedClaim,
    find_refusal_violations,
    is_genuine_dispute,
    is_supported,
    make_conflict,
    make_refusal,
    verify_claim,
)
from emitter.decisions.canonical_json import CanonicalProfile, digest_of, normalize_json, parse_strict_json
from emitter.errors import InputError, NotCanonical
from emitter.models import AIEnvelope, BindingMoment
from emitter.models.authorization import (
    Action,
    AuthorizationEnvelope,
    Classification,
    DisputeSummary,
    EnforcementMode,
    Measurement,
    Narrative,
    Provenance,
    Refusal,
    RefusalCode,
    RefusalReason,
    WorkflowDeclaration,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emitter.authority.envelopes.drafts import EnvelopeStamp
    from emitter.authority.envelopes.oracles import AuthoritativeClaim, OracleReading, VerifyRecord
    from emitter.messages import Json
    from emitter.models.authorization import NarrativePolicy


def authorize_draft(
    draft: AuthorizationDraft,
    constraints: AuthorizationConstraints,
    stamp: EnvelopeStamp,
    verify: VerifyRecord | None = None,
) -> AuthorizationEnvelope | UnverifiedClaim:
    """Turn a draft into an envelope.

    A draft that violates the constraints becomes a refusal with ``POLICY_VIOLATION``, and an unsupported claim one with
    ``UNRESOLVABLE``. In an INLINE workflow ``verify`` is called with each record of a claim first; an ASYNC workflow
    returns an ``UnverifiedClaim``.

    Raises:
        InputError: ``draft`` is not a draft.
    """
    if not isinstance(draft, AuthorizationDraft):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may not check types
        raise InputError(
            f"draft must be an authorization draft, not {type(draft).__name__}.",
            hint="Pass the draft that was read from a model's document.",
        )
    try:
        envelope = None if find_violations(draft, constraints) else _make_envelope(draft, constraints, stamp)
    except ValidationError:  # a draft made by hand may be invalid
        envelope = None
    if envelope is None:
        return make_refusal(RefusalCode.POLICY_VIOLATION, stamp.audit_id)
    return release_envelope(envelope, constraints, verify)


def _make_envelope(
    draft: AuthorizationDraft, constraints: AuthorizationConstraints, stamp: EnvelopeStamp
) -> AuthorizationEnvelope:
    """Return the envelope of a draft without violations."""
    match draft:
        case ProposedMeasurement(value=value):
            return Measurement(value=value, provenance=_make_provenance(draft, constraints, stamp))
        case ProposedClassification(label=label):
            return Classification(label=label, provenance=_make_provenance(draft, constraints, stamp))
        case ProposedAction(action=action, params=params):
            params_member = {} if params is None else {"params": dict(params)}
            provenance = _make_provenance(draft, constraints, stamp)
            return Action.model_validate({"action": action, **params_member, "provenance": provenance})
        case ProposedNarrative(text=text):
            return Narrative(text=scrub_narrative(text, constraints.narrative), policy=constraints.narrative)
        case ProposedRefusal():
            return Refusal(reason=_refusal_reason(draft, stamp))
        case ProposedDispute(axes=axes):
            return DisputeSummary(
                sources=tuple(make_conflict(axis, constraints.oracles) for axis in dict.fromkeys(axes))
            )
        case _:
            assert_never(draft)


def _make_provenance(draft: ProposedClaim, constraints: AuthorizationConstraints, stamp: EnvelopeStamp) -> Provenance:
    records = tuple(dict.fromkeys(reading.record for reading in find_cited_readings(draft, constraints)))
    return Provenance(oracle_records=records, generated_at=stamp.generated_at, envelope_id=stamp.envelope_id)


def _refusal_reason(draft: ProposedRefusal, stamp: EnvelopeStamp) -> RefusalReason:
    hint = {} if draft.recovery_hint is None else {"recovery_hint": draft.recovery_hint}
    return RefusalReason(code=draft.code, user_message=draft.user_message, audit_id=stamp.audit_id, **hint)


def enforce_workflow(  # noqa: PLR0913  all but the envelope and the workflow have a default
    envelope: AuthorizationEnvelope,
    workflow: WorkflowDeclaration,
    *,
    oracles: Iterable[OracleReading] = (),
    materials: Iterable[str] = (),
    narrative: NarrativePolicy | None = None,
    verify: VerifyRecord | None = None,
) -> AuthorizationEnvelope:
    """Apply a workflow's rules to an envelope from any source, and return it or the refusal that replaces it.

    A claim becomes ``POLICY_VIOLATION`` in a workflow without authority, and ``UNRESOLVABLE`` if ``oracles`` do not
    support it or ``verify`` rejects a record; ASYNC workflows require ``verify``. A dispute becomes ``UNRESOLVABLE`` if
    ``oracles`` do not disagree as it says. A narrative is scanned by its own policy and by ``narrative``, the
    workflow's: measurements are removed if either requires it, and any other violation gives ``POLICY_VIOLATION``. It
    may attribute verdicts and instructions to ``oracles`` and to ``materials``, the sources of the call's materials. A
    refusal's text is replaced if it reveals oracles or thresholds, states something, or contains a marker that
    ``narrative`` forbids.

    Raises:
        InputError: ``envelope`` is not a valid envelope.
    """
    constraints = AuthorizationConstraints.from_arguments(
        workflow, oracles, DEFAULT_NARRATIVE if narrative is None else narrative, materials=materials
    )
    admitted = _check_constraints(validate_envelope(envelope), constraints, narrative)
    if not isinstance(admitted, Measurement | Classification | Action):
        return admitted
    if verify is not None:
        return verify_claim(admitted, verify)
    return _unresolvable(admitted) if workflow.enforcement_mode is EnforcementMode.ASYNC else admitted


def release_envelope(
    envelope: AuthorizationEnvelope, constraints: AuthorizationConstraints, verify: VerifyRecord | None
) -> AuthorizationEnvelope | UnverifiedClaim:
    """Return the checked envelope, as an ``UnverifiedClaim`` for a claim of an ASYNC workflow."""
    admitted = _check_constraints(envelope, constraints, constraints.narrative)
    if not isinstance(admitted, Measurement | Classification | Action):
        return admitted
    if constraints.workflow.enforcement_mode is EnforcementMode.ASYNC:
        return UnverifiedClaim(admitted)
    return admitted if verify is None else verify_claim(admitted, verify)


def _check_constraints(
    envelope: AuthorizationEnvelope, constraints: AuthorizationConstraints, narrative: NarrativePolicy | None
) -> AuthorizationEnvelope:
    """Return the envelope or the refusal that replaces it, without calling ``verify``."""
    match envelope:
        case Measurement() | Classification() | Action():
            return _check_claim(envelope, constraints)
        case Narrative():
            return _check_narrative(envelope, narrative, constraints.sources)
        case Refusal():
            return _check_refusal(envelope, constraints)
        case DisputeSummary():
            return (
                envelope
                if is_genuine_dispute(envelope, constraints.oracles)
                else _refusal_for(envelope, RefusalCode.UNRESOLVABLE)
            )
        case _:
            assert_never(envelope)


def _check_claim(claim: AuthoritativeClaim, constraints: AuthorizationConstraints) -> AuthoritativeClaim | Refusal:
    is_allowed = constraints.actions is None or not isinstance(claim, Action) or claim.action in constraints.actions
    if not constraints.workflow.authoritative or not is_allowed:
        return make_refusal(RefusalCode.POLICY_VIOLATION, claim.provenance.envelope_id)
    return claim if is_supported(claim, constraints.oracles) else _unresolvable(claim)


def _unresolvable(claim: AuthoritativeClaim) -> Refusal:
    return make_refusal(RefusalCode.UNRESOLVABLE, claim.provenance.envelope_id)


def _refusal_for(envelope: AuthorizationEnvelope, code: RefusalCode) -> Refusal:
    """Return the refusal that replaces an envelope without an id."""
    return make_refusal(code, digest_of(envelope.model_dump(mode="json"), CanonicalProfile.WIRE))


def _check_narrative(
    narrative: Narrative, workflow_policy: NarrativePolicy | None, sources: tuple[str, ...]
) -> Narrative | Refusal:
    policies = dict.fromkeys((narrative.policy, workflow_policy or narrative.policy))
    text = reduce(scrub_narrative, policies, narrative.text)
    if any(find_narrative_violations(text, policy, sources) for policy in policies):
        return _refusal_for(narrative, RefusalCode.POLICY_VIOLATION)
    return narrative if text == narrative.text else Narrative(text=text, policy=narrative.policy)


def _check_refusal(envelope: Refusal, constraints: AuthorizationConstraints) -> Refusal:
    """Return a refusal whose text reveals and states nothing, with the same code and audit id."""
    reason, markers = envelope.reason, constraints.narrative.forbidden_markers
    texts = (reason.user_message, reason.recovery_hint or "")
    return (
        make_refusal(reason.code, reason.audit_id)
        if any(find_refusal_violations(text, constraints.oracle_names, markers) for text in texts)
        else envelope
    )


T = TypeVar("T")


def handle_envelope(  # noqa: PLR0913  there are six kinds, and none may be forgotten
    envelope: AuthorizationEnvelope,
    *,
    measurement: Callable[[Measurement], T],
    classification: Callable[[Classification], T],
    action: Callable[[Action], T],
    narrative: Callable[[Narrative], T],
    refusal: Callable[[Refusal], T],
    dispute_summary: Callable[[DisputeSummary], T],
) -> T:
    """Call the function for the envelope's kind, and return its result. All six are required.

    Raises:
        InputError: ``envelope`` is not a valid authorization envelope.
    """
    valid = validate_envelope(envelope)
    match valid:
        case Measurement():
            return measurement(valid)
        case Classification():
            return classification(valid)
        case Action():
            return action(valid)
        case Narrative():
            return narrative(valid)
        case Refusal():
            return refusal(valid)
        case DisputeSummary():
            return dispute_summary(valid)
        case _:
            assert_never(valid)


_UNREADABLE_AUDIT_ID: Final = "unreadable"
"""The audit id of input that has no digest."""


def read_authorization(document: Json, *, audit_id: str | None = None) -> AuthorizationEnvelope:
    """Read an envelope from JSON or JSON text; anything else becomes a refusal with ``BLOCKED``.

    Unknown kinds and malformed envelopes are blocked. Members that the RFC does not name are dropped, because its types
    are minimum schemas. Text is parsed strictly (``parse_strict_json``). ``audit_id`` identifies a refusal and defaults
    to the digest of the input.

    Raises:
        InputError: ``document`` is a draft or another object, not JSON. JSON content never raises.
    """
    reject_proposals(document)
    try:
        value = (
            parse_strict_json(document, CanonicalProfile.WIRE)
            if isinstance(document, str | bytes)
            else normalize_json(document, CanonicalProfile.WIRE)
        )
    except NotCanonical:
        return make_refusal(RefusalCode.BLOCKED, audit_id or _UNREADABLE_AUDIT_ID)
    envelope = parse_foreign_envelope(value)
    return (
        make_refusal(RefusalCode.BLOCKED, audit_id or digest_of(value, CanonicalProfile.WIRE))
        if envelope is None
        else envelope
    )


def dump_authorization(envelope: AuthorizationEnvelope) -> dict[str, Json]:
    """Return the envelope as JSON without absent members, or raise ``InputError`` for an invalid one."""
    return validate_envelope(envelope).model_dump(mode="json")


_ENVELOPE_ADAPTER: Final[TypeAdapter[AuthorizationEnvelope]] = TypeAdapter(
    Annotated[AuthorizationEnvelope, Field(discriminator="kind")]
)
_TYPE_HINTS: Final = (
    (AuthorizationDraft, "Turn a draft into an envelope with authorize_draft(...)."),
    (BindingMoment, "A decision's envelope is a proposal, not an authorization."),
    (UnverifiedClaim, "Call its verify(...) to get an envelope."),
    (AIEnvelope, "Pass read_authorization(envelope.payload['authorization'])."),
    (AuthorizationEnvelope, "It is invalid: it was changed, or built without validation."),
)
_DEFAULT_HINT: Final = "Pass the value of an emission, or read JSON with read_authorization(...)."


def validate_envelope(value: object) -> AuthorizationEnvelope:
    """Return a valid authorization envelope, or raise ``InputError`` for anything else."""
    if isinstance(value, AuthorizationEnvelope) and _is_valid(value):
        return value
    raise _not_an_envelope(value)


def parse_envelope(value: Json) -> AuthorizationEnvelope | None:
    """Return the envelope in a canonical JSON value, or None."""
    try:
        return _ENVELOPE_ADAPTER.validate_python(value)
    except ValidationError:
        return None


def parse_foreign_envelope(value: Json) -> AuthorizationEnvelope | None:
    """Return the envelope in a JSON value without the members that the RFC does not name, or None."""
    try:
        return _ENVELOPE_ADAPTER.validate_python(value)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
    extra_paths = [
        key["loc"][1:] for key in errors if key["type"] == "extra_forbidden"
    ]  # the first element is the kind
    if not extra_paths:
        return None
    reduced = deepcopy(value)
    for *path, name in extra_paths:
        parent: Json = reduced
        for key in path:
            parent = parent[key]
        del parent[name]
    return parse_envelope(reduced)


def _is_valid(envelope: AuthorizationEnvelope) -> bool:
    """Return True if an envelope survives being serialized and parsed."""
    try:
        parsed = parse_envelope(normalize_json(envelope.model_dump(mode="json", warnings=False), CanonicalProfile.WIRE))
    except Exception:  # noqa: BLE001  what cannot be serialized is invalid, whatever the cause
        return False
    return parsed is not None and isinstance(envelope, type(parsed))


def reject_proposals(value: object) -> None:
    """Raise ``InputError`` for an object that could be mistaken for an envelope."""
    if isinstance(value, AuthorizationDraft | BindingMoment | UnverifiedClaim | AIEnvelope):
        raise _not_an_envelope(value)


def _not_an_envelope(value: object) -> InputError:
    hint = next((hint for kind, hint in _TYPE_HINTS if isinstance(value, kind)), _DEFAULT_HINT)
    return InputError(f"Expected a valid authorization envelope, got {type(value).__name__}.", hint=hint)
