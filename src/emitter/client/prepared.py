"""An emission that is ready to be sent, and its connection to the OpenWOP host.

The answer is submitted to the host as an envelope, without registered secrets.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from emitter.attempts import Verdict
from emitter.client.settings import DEFAULT_HOST
from emitter.core.effects import EmissionFailure, EmissionOutcome, EmissionRequest
from emitter.errors import EmitterError, InputError
from emitter.host import (
    Accepted,
    EnvelopeContext,
    Gated,
    InvalidEnvelope,
    OutcomeCode,
    RefusalMode,
    outcomes,
)
from emitter.host.acceptor import add_accepted, reserve_count
from emitter.host.config import InFlightEnvelope
from emitter.host.validation import check_limits, check_shape
from emitter.models import AIEnvelope, EnvelopeSource, Trust
from emitter.models.envelope import MAX_ID_LENGTH, make_correlation_id
from emitter.prices import ModelPrices, listed_prices
from emitter.telemetry.sinks import EventRecorder

if TYPE_CHECKING:
    from emitter.client.form_plan import FormPlan
    from emitter.client.routing import ModelTarget
    from emitter.client.settings import Settings
    from emitter.conversation import Conversation
    from emitter.forms.form import EnvelopeCodec, OutputForm
    from emitter.host import Acceptance, Acceptor, EnvelopeOutcome
    from emitter.messages import Json
    from emitter.policy import PriceTable
    from emitter.profiles import ProviderProfile, WireFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedEmission(EmissionRequest):
    """An emission that is ready to be sent to its model. It submits the answer to the host.

    Attributes:
        settings: The settings for this model.
        target: The model.
        host: Accepts or rejects the envelope.
        context: The run, node, contract and trust of the envelope.
        correlation_id: The envelope's correlation id.
        codec: Puts the answer into the envelope.
        conversation: The caller's messages and materials, as they are sent to each model.
        is_known_model: False if the model is unknown, so its limits are assumed.
        alternatives: The same emission for the models that are asked if this one fails.
        judging: The emission that asks the judge, if there is one.
    """

    settings: Settings
    target: ModelTarget
    host: Acceptor
    context: EnvelopeContext
    correlation_id: str
    codec: EnvelopeCodec
    conversation: Conversation
    is_known_model: bool
    alternatives: tuple[PreparedEmission, ...] = ()
    judging: PreparedEmission | None = None

    @property
    def profile(self) -> ProviderProfile:
        """The facts about the provider."""
        return self.target.profile

    @property
    def wire(self) -> WireFormat:
        """The wire format of the requests."""
        return self.target.wire

    @property
    def models(self) -> tuple[PreparedEmission, ...]:
        """The emission for each of its models, indexed by ``ModelRequest.route``. The judge's is the last."""
        return (self, *self.alternatives) if self.judging is None else (self, *self.alternatives, self.judging)

    def price_table(self) -> PriceTable:
        """Return the prices of its models: the caller's prices, or the listed ones."""
        tables: list[PriceTable] = []
        for model in self.models:
            profile, name = model.target.profile.name, model.request.model
            tables.append(model.settings.policy.prices or listed_prices(profile, name))
        return ModelPrices(tuple(tables)) if len(tables) > 1 else tables[0]

    def make_recorder(self) -> EventRecorder:
        """Return the recorder of the emission's events. It writes to the host's store and calls the sink.

        If any input is untrusted, every event is marked untrusted, even if no envelope results.
        """
        context, host = self.context, self.host
        return EventRecorder(
            context.run_id,
            context.node_id,
            self.correlation_id,
            self.settings.on_event,
            secrets=host.config.secrets,
            store=host.store,
            trust=Trust.UNTRUSTED if context.inputs is Trust.UNTRUSTED else None,
        )

    def find_accepted(self) -> EmissionOutcome | None:
        """Return the answer that this or another process accepted for this emission before, if there is one."""
        store = self.host.store
        entry = None if store is None else store.find(self.context.run_id, self.correlation_id)
        recorded = None if entry is None else outcomes.load_envelope(entry, self.host.config.secrets)
        allowed = recorded is not None and self.context.contract.allows(recorded.type)
        return self._reuse(recorded) if recorded is not None and allowed else None

    def check_capacity(self) -> EmissionOutcome | None:
        """Return the host's refusal if it can accept no further envelope in this turn."""
        if self.host is DEFAULT_HOST:
            return None
        with reserve_count(self.host, self.context, self.settings.turn, self.kind, self.correlation_id) as context:
            counted = context.counters.envelopes
        if counted < self.host.config.limits.envelopes_per_turn:
            return None
        case = check_shape(self.host.receive(self._build_envelope(self.kind, None), context))
        outcome = check_limits(case) if isinstance(case, InFlightEnvelope) else case
        if isinstance(outcome, InFlightEnvelope) or not isinstance(case, InFlightEnvelope):
            return None
        return EmissionOutcome(events=self.host.refuse(outcome, case).events, failure=_host_refusal(outcome))

    def submit(self, value: Any, document: Json) -> EmissionOutcome:
        """Submit a valid answer, without registered secrets."""
        secrets = self.host.config.secrets
        clean = secrets.redact_json(document) if secrets.ids else None
        if clean is not None and clean.count:
            result = self.contract.check(clean.value)
            if result.violations or result.failure is not None:
                return EmissionOutcome(failure=_INVALID_WITHOUT_SECRETS)
            value, document = result.value, clean.value
        kind, payload = self.codec.to_payload(value, document)
        try:
            acceptance = self._submit(kind, payload)
        except EmitterError:
            raise
        except Exception as error:  # noqa: BLE001  the host's own code may raise anything, and the trace must survive it
            return EmissionOutcome(failure=_host_error(error))
        outcome = acceptance.outcome
        # Another process may have accepted an answer since find_accepted() was called first.
        accepted = (
            self.find_accepted()
            if isinstance(outcome, InvalidEnvelope) and outcome.code is OutcomeCode.CONFLICT
            else None
        )
        if accepted is not None:
            return accepted
        if acceptance.envelope is None:
            discarded = isinstance(outcome, Gated) and outcome.refusal_mode is RefusalMode.DISCARD_AND_WARN
            return EmissionOutcome(events=acceptance.events, failure=_host_refusal(outcome), was_discarded=discarded)
        if acceptance.cached:
            return self._reuse(acceptance.envelope) or EmissionOutcome(failure=_CONFLICT)
        return EmissionOutcome((), value, document, envelope=acceptance.envelope, events=acceptance.events)

    def _submit(self, kind: str, payload: Json) -> Acceptance:
        if self.host is DEFAULT_HOST:
            return self._accept(kind, payload, self.context)
        with reserve_count(self.host, self.context, self.settings.turn, kind, self.correlation_id) as context:
            acceptance = self._accept(kind, payload, context)
            add_accepted(self.host, self.settings.turn, acceptance)
        return acceptance

    def _accept(self, kind: str, payload: Json, context: EnvelopeContext) -> Acceptance:
        document, known = self._build_envelope(kind, payload), self.host.config.registry.get(kind)
        if known is None or not known.is_own:
            return self.host.accept(document, context)
        # The contract has validated the payload of the library's own kinds, so the host need not do it again.
        try:
            envelope = AIEnvelope.model_validate(document)
        except ValidationError:  # an id or time of the host is not valid, which the pipeline reports
            return self.host.accept(document, context)
        return self.host.accept_emission(envelope, context)

    def _reuse(self, recorded: AIEnvelope) -> EmissionOutcome | None:
        """Return the answer in a recorded envelope, if it satisfies the current form."""
        answer = self.codec.from_envelope(self.contract, recorded)
        return None if answer is None else EmissionOutcome((), *answer, envelope=recorded)

    def _build_envelope(self, kind: str, payload: Json) -> Json:
        context, host = self.context, self.host
        version = host.config.registry.versions.get(kind, 1)
        return {
            "type": kind,
            "schemaVersion": version,
            "envelopeId": host.new_id(),
            "correlationId": self.correlation_id,
            "nodeId": context.node_id,
            "payload": payload,
            "meta": {
                "source": EnvelopeSource.AI_GENERATION.value,
                "ts": host.now(),
                "contentTrust": context.inputs.value,
            },
        }


def _host_error(error: Exception) -> EmissionFailure:
    return EmissionFailure(
        Verdict.UNCHECKED, OutcomeCode.PAYLOAD.value, f"The host raised {type(error).__name__}.", error
    )


def _host_refusal(outcome: EnvelopeOutcome) -> EmissionFailure:
    code = OutcomeCode.PAYLOAD if isinstance(outcome, Accepted) else outcome.code
    reason = "" if isinstance(outcome, Accepted) else f": {outcome.reason}"
    return EmissionFailure(Verdict.VIOLATED, code.value, f"The host rejected the envelope{reason}.")


_CONFLICT = EmissionFailure(
    Verdict.VIOLATED,
    "envelope_correlation_conflict",
    "A different answer was accepted before for this run, node and turn.",
)
_INVALID_WITHOUT_SECRETS = EmissionFailure(
    Verdict.VIOLATED, "envelope_invalid", "With its secrets removed, the answer does not satisfy the schema."
)


EmissionIdentity: TypeAlias = tuple[EnvelopeContext, str]
"""The origin of an emission's envelope, and its correlation id."""
_BAD_IDS = (
    "run_id and node_id must not be empty, and the correlation id built from them has at most "
    f"{MAX_ID_LENGTH} characters."
)


def identify_emission(
    form: OutputForm, plan: FormPlan, conversation: Conversation, settings: Settings
) -> EmissionIdentity:
    """Return the identity of an emission. Raises ``InputError`` for invalid ids.

    If the host has a store, the correlation id includes a digest of the request, so that a different question never
    gets a stored answer.
    """
    node_id = form.default_node_id if settings.node_id is None else settings.node_id
    if not settings.run_id or not node_id:
        raise InputError(_BAD_IDS)
    secrets = settings.host.config.secrets
    if secrets.ids:
        secrets.check_name("run_id", settings.run_id)
        secrets.check_name("node_id", node_id)
    context = EnvelopeContext(settings.run_id, node_id, settings.contract, inputs=conversation.trust)
    name = form.kind
    if settings.host.store is not None:
        name = f"{form.kind} {_digest_request(form, plan, conversation, settings)}"
    correlation_id = make_correlation_id(context.run_id, node_id, settings.turn, name)
    if len(correlation_id) > MAX_ID_LENGTH:
        raise InputError(_BAD_IDS)
    return context, correlation_id


def _digest_request(form: OutputForm, plan: FormPlan, conversation: Conversation, settings: Settings) -> str:
    """Return a digest of a request: its system texts, turns, trust and schema, and the form's cache key."""
    system = (form.system_prompt(plan.templates), settings.instructions, *conversation.system)
    turns = [repr(part) for part in (*conversation.messages, *conversation.shown)]
    text = json.dumps([system, turns, conversation.trust.value, plan.compiled.original, form.cache_key])
    return hashlib.sha256(text.encode()).hexdigest()
