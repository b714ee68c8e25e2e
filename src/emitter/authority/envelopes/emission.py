"""`emit_authorization` and `aemit_authorization`: ask a model for an authorization envelope."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from emitter import prompts as prompt
from emitter.authority.envelopes import drafts
from emitter.authority.envelopes.drafts import (
    DEFAULT_NARRATIVE,
    AuthorizationConstraints,
    EnvelopeStamp,
    find_doubts,
    find_violations,
)
from emitter.authority.envelopes.enforcement import (
    authorize_draft,
    dump_authorization,
    parse_envelope,
    release_envelope,
)
from emitter.authority.envelopes.oracles import UnverifiedClaim, validate_verify
from emitter.client.execution import aexecute, execute
from emitter.client.options import EmitOptions, documented_options
from emitter.client.request import prepare_emission
from emitter.client.result import Emission
from emitter.client.settings import Settings
from emitter.errors import InputError
from emitter.forms.form import OutputForm
from emitter.messages import as_mapping
from emitter.models import AUTHORIZATION, AuthorizationEnvelope, Trust
from emitter.models.authorization import EnforcementMode, Refusal
from emitter.models.binding_moment import add_reasoning
from emitter.prompts import Material
from emitter.schema.results import ParseResult

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Unpack

    from emitter.authority.envelopes.oracles import OracleReading, VerifyRecord
    from emitter.client.prepared import PreparedEmission
    from emitter.conversation import Messages
    from emitter.core.verdicts import DocumentContract
    from emitter.messages import Json
    from emitter.models import AIEnvelope
    from emitter.models.authorization import NarrativePolicy, WorkflowDeclaration

AuthorizationEmission: TypeAlias = Emission[AuthorizationEnvelope | UnverifiedClaim]
"""The emission of an authorization; only ASYNC workflows return an ``UnverifiedClaim``."""


@documented_options(EmitOptions)
def emit_authorization(  # noqa: PLR0913  all but the model and the workflow have a default
    messages: Messages,
    *,
    model: str,
    workflow: WorkflowDeclaration,
    oracles: Sequence[OracleReading] = (),
    narrative: NarrativePolicy = DEFAULT_NARRATIVE,
    actions: Collection[str] | None = None,
    verify: VerifyRecord | None = None,
    **options: Unpack[EmitOptions],
) -> AuthorizationEmission:
    """Ask a model for an authorization envelope: a supported claim, text without authority, or a refusal.

    Args:
        messages: A prompt, or a list of messages.
        model: The provider and model name, for example ``"openai/gpt-6-sol"``.
        workflow: Declares whether authority may be emitted at all.
        oracles: Readings you obtained. The model may cite them, claims must equal them, and the provenance is built
            from them. If two disagree on an axis, the model can only report the dispute.
        narrative: The policy for text without authority.
        actions: The actions that may be proposed. Defaults to any.
        verify: Called with each cited record before a claim of an INLINE workflow is returned.

    Returns:
        An ``Emission`` whose ``value`` is one of the six kinds of envelope, or an ``UnverifiedClaim`` in an ASYNC
        workflow. With a store, a previously accepted envelope is checked and verified again.

    Raises:
        InputError: An argument is invalid. Nothing was sent.
        EmissionError: ``Refused``, ``Truncated``, ``Invalid`` or ``Unreachable``, with the whole trace.
    """
    constraints = _check_verify(AuthorizationConstraints.from_arguments(workflow, oracles, narrative, actions), verify)
    settings, constraints = _with_materials(Settings.from_options(model, options), constraints)
    return execute(_plan_request(constraints, verify, messages, settings))


@documented_options(EmitOptions)
async def aemit_authorization(  # noqa: PLR0913  all but the model and the workflow have a default
    messages: Messages,
    *,
    model: str,
    workflow: WorkflowDeclaration,
    oracles: Sequence[OracleReading] = (),
    narrative: NarrativePolicy = DEFAULT_NARRATIVE,
    actions: Collection[str] | None = None,
    verify: VerifyRecord | None = None,
    **options: Unpack[EmitOptions],
) -> AuthorizationEmission:
    """Async version of ``emit_authorization``; ``client`` must be async, and ``verify`` must not be."""
    constraints = _check_verify(AuthorizationConstraints.from_arguments(workflow, oracles, narrative, actions), verify)
    settings, constraints = _with_materials(Settings.from_options(model, options), constraints)
    return await aexecute(_plan_request(constraints, verify, messages, settings))


def _check_verify(constraints: AuthorizationConstraints, verify: VerifyRecord | None) -> AuthorizationConstraints:
    """Return the constraints, or raise ``InputError`` for a ``verify`` that would not be called or cannot answer."""
    if verify is not None:
        validate_verify(verify)
        if constraints.workflow.enforcement_mode is EnforcementMode.ASYNC:
            raise InputError(
                "verify= has no effect in an ASYNC workflow.", hint="Call verify(...) on the returned value."
            )
    return constraints


def _with_materials(
    settings: Settings, constraints: AuthorizationConstraints
) -> tuple[Settings, AuthorizationConstraints]:
    """Add the readings to the materials, and the materials' sources to the constraints.

    A secret in a reading is rejected, and a ``kind`` that names this kind anyway is dropped.
    """
    readings = build_oracle_materials(constraints)
    if settings.host.config.secrets.redact_json([reading.text for reading in readings]).count:
        raise InputError("A reading contains a secret of the host.", hint="Leave it out: models must not see secrets.")
    kind = None if settings.kind == AUTHORIZATION else settings.kind
    materials = settings.resolve_materials()
    sources = tuple(material.source for material in materials)
    return (
        replace(settings, kind=kind, materials=(*materials, *readings)),
        replace(constraints, materials=sources),
    )


def _plan_request(
    constraints: AuthorizationConstraints, verify: VerifyRecord | None, messages: Messages, settings: Settings
) -> PreparedEmission:
    host = settings.host
    return prepare_emission(
        build_authorization_form(constraints, lambda: EnvelopeStamp(host.new_id(), host.new_id(), host.now()), verify),
        messages,
        settings,
    )


def build_authorization_form(
    constraints: AuthorizationConstraints, make_stamp: Callable[[], EnvelopeStamp], verify: VerifyRecord | None
) -> OutputForm:
    """Return the output form; ``make_stamp`` supplies the ids and the time of each envelope."""

    def read(document: Json) -> ParseResult[AuthorizationEnvelope | UnverifiedClaim]:
        draft = drafts.parse_draft(document)
        violations = find_violations(draft, constraints)
        if violations:
            return ParseResult(violations=violations)
        envelope = authorize_draft(draft, constraints, make_stamp(), verify)
        return ParseResult(envelope, findings=find_doubts(draft, constraints))

    return OutputForm(
        kind=AUTHORIZATION,
        default_node_id="emit_authorization",
        name=drafts.PROPOSAL_SCHEMA_NAME,
        schema=drafts.build_draft_schema(constraints),
        system_prompt=partial(
            prompt.authorization_prompt, kinds=drafts.list_offered_kinds(constraints), policy=constraints.narrative
        ),
        read_value=read,
        codec=_AuthorizationCodec(constraints, verify),
        normalize=add_reasoning,
        cache_key=constraints.cache_key,
    )


def build_oracle_materials(constraints: AuthorizationConstraints) -> tuple[Material, ...]:
    """Return the readings as materials. Readings of tier ``unverified`` are untrusted."""
    by_trust = {
        Trust.TRUSTED: [reading for reading in constraints.oracles if reading.is_verified],
        Trust.UNTRUSTED: [reading for reading in constraints.oracles if not reading.is_verified],
    }
    return tuple(
        Material("\n".join(map(_reading_json, readings)), _ORACLE_SOURCE, trust)
        for trust, readings in by_trust.items()
        if readings
    )


_ORACLE_SOURCE = "readings of the oracles, one a line"


def _reading_json(reading: OracleReading) -> str:
    record = reading.record
    members: dict[str, Json] = {"axis": reading.axis, "value": reading.value, "oracle_id": record.oracle_id}
    name = {} if reading.name is None else {"name": reading.name}
    status = {"tier": record.tier.value, "verified_at": record.verified_at}
    return json.dumps({**members, **name, **status}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _AuthorizationCodec:
    """Put envelopes into payloads without a refusal's reasoning, and check and verify those taken out again."""

    constraints: AuthorizationConstraints
    verify: VerifyRecord | None

    def to_payload(self, value: AuthorizationEnvelope | UnverifiedClaim, document: Json) -> tuple[str, Json]:
        envelope = value.unverified_envelope() if isinstance(value, UnverifiedClaim) else value
        reasoning = "" if isinstance(envelope, Refusal) else as_mapping(document)["reasoning"]
        reasoning_member = {"reasoning": reasoning} if reasoning else {}
        return AUTHORIZATION, {**reasoning_member, "authorization": dump_authorization(envelope)}

    def from_envelope(
        self, _: DocumentContract, envelope: AIEnvelope
    ) -> tuple[AuthorizationEnvelope | UnverifiedClaim, Json] | None:
        if envelope.type != AUTHORIZATION:
            return None
        authorization = parse_envelope(as_mapping(envelope.payload).get("authorization"))
        if authorization is None:
            return None
        return release_envelope(authorization, self.constraints, self.verify), envelope.payload
