"""An emission that is ready to be sent: the plan for the core, its settings and its envelope's ids."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from emitter.errors import InputError
from emitter.host import EnvelopeContext
from emitter.models import Trust
from emitter.models.envelope import MAX_ID_LENGTH, make_correlation_id
from emitter.prices import ModelPrices, listed_prices
from emitter.telemetry.sinks import EventRecorder

if TYPE_CHECKING:
    from emitter.client.form_plan import FormPlan
    from emitter.client.routing import ModelTarget
    from emitter.client.settings import Settings
    from emitter.conversation import Conversation
    from emitter.core.effects import EmissionRequest
    from emitter.core.verdicts import DocumentContract
    from emitter.forms.form import EnvelopeCodec, OutputForm
    from emitter.messages import ModelRequest
    from emitter.policy import PriceTable
    from emitter.profiles import Profile, WireFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedEmission:
    """An emission that is ready to be sent to its model.

    Attributes:
        emission: The request, contract and budgets for the core.
        settings: The settings for this model.
        target: The model.
        context: The run, node, contract and trust of the envelope.
        correlation_id: The envelope's correlation id.
        codec: Puts the answer into the envelope.
        conversation: The caller's messages and materials, as they are sent to each model.
        is_known_model: False if the model is unknown, so its limits are assumed.
        alternatives: The same emission for the models that are asked if this one fails.
        judging: The emission that asks the judge, if there is one.
    """

    emission: EmissionRequest
    settings: Settings
    target: ModelTarget
    context: EnvelopeContext
    correlation_id: str
    codec: EnvelopeCodec
    conversation: Conversation
    is_known_model: bool
    alternatives: tuple[PreparedEmission, ...] = ()
    judging: PreparedEmission | None = None

    @property
    def request(self) -> ModelRequest:
        """The first request."""
        return self.emission.request

    @property
    def contract(self) -> DocumentContract:
        """The contract of the answer."""
        return self.emission.contract

    @property
    def profile(self) -> Profile:
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

    def with_request(self, request: ModelRequest) -> PreparedEmission:
        """Return the emission with another first request."""
        return replace(self, emission=replace(self.emission, request=request))

    def price_table(self) -> PriceTable:
        """Return the prices of its models: the caller's prices, or the listed ones."""
        tables = [
            model.settings.policy.prices or listed_prices(model.profile, model.target.model) for model in self.models
        ]
        return ModelPrices(tuple(tables)) if len(tables) > 1 else tables[0]

    def make_recorder(self) -> EventRecorder:
        """Return the recorder of the emission's events. It writes to the host's store and calls the sink.

        If any input is untrusted, every event is marked untrusted, even if no envelope results.
        """
        context, host = self.context, self.settings.host
        return EventRecorder(
            context.run_id,
            context.node_id,
            self.correlation_id,
            self.settings.on_event,
            secrets=host.config.secrets,
            store=host.store,
            trust=Trust.UNTRUSTED if context.inputs is Trust.UNTRUSTED else None,
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
