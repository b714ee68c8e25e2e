"""The acceptance pipeline: its steps in their normative order, the default handlers, and the events of an outcome.

Source: ai-envelope.md, "Production flow", "Run event log integration", "Refusal contract" and "Validation outcomes".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias, assert_never, cast, get_args

from emitter.errors import InputError
from emitter.events import (
    CapBreached,
    ClarificationRequested,
    Event,
    InterruptRequested,
    Level,
    LogAppended,
    NodeCompleted,
    NodeFailed,
    RunEvent,
)
from emitter.host.config import CachedOutcome, InFlightEnvelope
from emitter.host.kinds import is_web_url
from emitter.host.outcomes import Accepted, Breached, CapKind, Gated, InvalidEnvelope, OutcomeCode, RefusalMode
from emitter.host.validation import (
    apply_trust,
    check_contract,
    check_kind,
    check_limits,
    check_payload,
    check_shape,
    deduplicate,
    get_effective_trust,
    redact_secrets,
)
from emitter.messages import Trust, as_list, as_mapping
from emitter.models.envelope import MAX_ID_LENGTH
from emitter.models.standard_kinds import (
    CLARIFICATION_REQUEST,
    ERROR,
    MEDIA_SCHEMAS,
    SCHEMA_REQUEST,
    SCHEMA_RESPONSE,
)
from emitter.redaction.secret_registry import redact_event

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.host.config import Counters, EnvelopeContext, HostConfig, HostServices, ReceivedEnvelope
    from emitter.host.outcomes import EnvelopeOutcome
    from emitter.models.envelope import AIEnvelope


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The result of accepting one envelope.

    Attributes:
        outcome: ``Accepted``, ``Gated``, ``InvalidEnvelope`` or ``Breached``.
        context: The origin of the envelope.
        config: The configuration of the host.
        envelope: The accepted envelope, redacted and with its trust; the recorded one if ``cached`` is true. None
            if it was refused, because a refused envelope may still contain secrets.
        events: The events that were recorded now. Empty for a cached envelope.
        warnings: Problems that did not refuse the envelope.
        drift: The advertised schema version, if the envelope's is lower.
        redactions: The number of secrets removed.
        requested_kind: The kind whose schema the model asked for.
        cached: Whether the envelope was accepted before.
    """

    outcome: EnvelopeOutcome
    context: EnvelopeContext
    config: HostConfig = field(repr=False)
    envelope: AIEnvelope | None = None
    events: tuple[RunEvent, ...] = ()
    warnings: tuple[str, ...] = ()
    drift: int | None = None
    redactions: int = 0
    requested_kind: str | None = None
    cached: bool = False

    @property
    def status(self) -> str:
        """One of ``accepted``, ``gated``, ``invalid``, ``breached``."""
        return self.outcome.status

    @property
    def failed(self) -> bool:
        """True if the node failed on this envelope. No further envelope of the node should be accepted."""
        return any(isinstance(event.event, NodeFailed) for event in self.events)


VERSION_DRIFT = "envelope_schema_version_drift"
ASSET_REFERENCE = "media.asset"
"""The message of a log line that names the address of an envelope's asset, whichever handler the kind has."""
REPAIRABLE = frozenset({OutcomeCode.SHAPE, OutcomeCode.KIND, OutcomeCode.PAYLOAD, OutcomeCode.SCHEMA_VERSION})
"""Refusals that the model may correct in another round, within ``schema_rounds``."""
_CONTENT_PREFIXES = ("media.", "ui.")
"""Namespaces of OpenWOP's content kinds. The node continues if the host does not know such a kind."""
_NON_FATAL_CODES = frozenset({OutcomeCode.APPROVAL})
"""Refusals that do not fail the node: the approval gate stays closed."""


EventOrigin: TypeAlias = "tuple[str, str, str, Trust | None]"
"""The run, node and correlation id that events report, and their trust."""


def get_event_origin(state: ReceivedEnvelope | InFlightEnvelope) -> EventOrigin:
    """Return the origin of the events about an envelope, without ids that are not yet validated."""
    context = state.context
    if isinstance(state, InFlightEnvelope):
        envelope = state.envelope
        node_id, correlation_id = envelope.node_id or context.node_id, envelope.correlation_id
        if not state.redactions:
            secrets = state.received.config.secrets
            node_id, correlation_id = secrets.redact_text(node_id).value, secrets.redact_text(correlation_id).value
        return context.run_id, node_id, correlation_id[:MAX_ID_LENGTH], get_effective_trust(state)
    trust = Trust.UNTRUSTED if context.inputs is Trust.UNTRUSTED else None
    return context.run_id, context.node_id, f"{context.run_id}:{context.node_id}"[:MAX_ID_LENGTH], trust


def record_envelope(state: InFlightEnvelope) -> Acceptance:
    """Return the acceptance of a handled envelope, with its events."""
    envelope, context, secrets = state.envelope, state.received.context, state.received.config.secrets
    node_id = envelope.node_id or context.node_id
    origin = context.run_id, node_id, envelope.correlation_id, envelope.meta.content_trust
    warned = [*_build_warnings(state), *state.events] if state.warnings or state.drift is not None else state.events
    reported = [*build_asset_references(envelope), *warned] if envelope.type in MEDIA_SCHEMAS else warned
    clean = [redact_event(event, secrets) for event in reported] if secrets.ids else reported
    events = to_run_events(clean, origin, state.received.services)
    return Acceptance(
        Accepted(envelope.envelope_id, tuple(map(_EVENT_ID, events))),
        context,
        state.received.config,
        envelope=envelope,
        events=events,
        warnings=state.warnings,
        drift=state.drift,
        redactions=state.redactions,
        requested_kind=state.requested_kind,
    )


_EVENT_ID = attrgetter("event_id")


def to_run_events(events: Iterable[Event], origin: EventOrigin, services: HostServices) -> tuple[RunEvent, ...]:
    """Return the events as run events, numbered from 0."""
    run_id, node_id, correlation_id, trust = origin
    stamped: list[RunEvent] = []
    for number, event in enumerate(events):
        event_id, now = services.new_id(), services.now()
        stamped.append(RunEvent(event, event_id, run_id, node_id, now, number, correlation_id, trust))
    return tuple(stamped)


def _build_warnings(state: InFlightEnvelope) -> Iterable[Event]:
    for warning in state.warnings:
        yield LogAppended(Level.WARN, warning)
    if state.drift is not None:
        versions = {"emitted": state.envelope.schema_version, "advertised": state.drift}
        yield LogAppended(Level.WARN, VERSION_DRIFT, versions)


def build_refusal_events(outcome: EnvelopeOutcome, config: HostConfig, counters: Counters) -> tuple[Event, ...]:
    """Return the events of an envelope that was not accepted."""
    match outcome:
        case Accepted():
            return ()
        case Gated():
            return _build_gated_events(outcome, config, counters)
        case InvalidEnvelope():
            return _build_invalid_events(outcome, config, counters)
        case Breached():
            breach = CapBreached(outcome.cap_kind.value, outcome.limit, outcome.observed)
            return breach, NodeFailed(OutcomeCode.CAP.value, outcome.reason)
        case _:
            assert_never(outcome)


def _build_gated_events(outcome: Gated, config: HostConfig, counters: Counters) -> tuple[Event, ...]:
    details = {"refusedType": outcome.refused_type, "acceptedTypes": list(outcome.allowed_kinds)}
    if outcome.code is OutcomeCode.KIND and counts_as_round(outcome):
        return _build_round_events(outcome.code, outcome.reason, config, counters)
    if outcome.code is OutcomeCode.KIND or outcome.refusal_mode is RefusalMode.DISCARD_AND_WARN:
        return (LogAppended(Level.WARN, outcome.code.value, details),)
    return (NodeFailed(outcome.code.value, outcome.reason, details=details),)


def build_asset_references(envelope: AIEnvelope) -> Iterable[Event]:
    """Yield the log line with the address of a media envelope's asset, if it has one (RFC 0055 §C)."""
    url = as_mapping(envelope.payload).get("url") if envelope.type in MEDIA_SCHEMAS else None
    if isinstance(url, str) and is_web_url(url):  # the payload of stored content was not validated
        yield LogAppended(Level.INFO, ASSET_REFERENCE, {"envelopeType": envelope.type, "url": url})


def is_unrendered_content(outcome: EnvelopeOutcome) -> bool:
    """Return whether the outcome refuses a content kind of OpenWOP's that the host cannot render."""
    if not isinstance(outcome, Gated) or outcome.code is not OutcomeCode.KIND:
        return False
    return outcome.refused_type.startswith(_CONTENT_PREFIXES)


def counts_as_round(outcome: EnvelopeOutcome) -> bool:
    """Return whether the refusal uses up a round. Content that the host cannot render does not (RFC 0102)."""
    if isinstance(outcome, Gated) and outcome.code is OutcomeCode.KIND:
        return not is_unrendered_content(outcome)
    return isinstance(outcome, Gated | InvalidEnvelope) and outcome.code in REPAIRABLE


def _build_invalid_events(outcome: InvalidEnvelope, config: HostConfig, counters: Counters) -> tuple[Event, ...]:
    if outcome.code in REPAIRABLE:
        return _build_round_events(outcome.code, outcome.reason, config, counters)
    if outcome.code in _NON_FATAL_CODES:
        return (LogAppended(Level.WARN, outcome.code.value),)
    return (NodeFailed(outcome.code.value, outcome.reason),)


def _build_round_events(code: OutcomeCode, reason: str, config: HostConfig, counters: Counters) -> tuple[Event, ...]:
    """Return a warning, or a failure if no rounds are left."""
    used, allowed = counters.schema + 1, config.limits.schema_rounds
    if used <= allowed:
        return (LogAppended(Level.WARN, code.value, {"round": used, "schemaRounds": allowed}),)
    return CapBreached(CapKind.SCHEMA.value, allowed, used), NodeFailed(code.value, reason)


EVENT_TYPES = get_args(Event)
_MACHINE_CODE = re.compile(r"[a-z][a-z0-9_.-]{0,127}", re.ASCII)


def call_handler(state: InFlightEnvelope) -> InFlightEnvelope | InvalidEnvelope:
    """Run the handler of the kind and add its events to the envelope."""
    handler = state.received.config.handlers.get(state.envelope.type)
    if handler is not None:
        events = _validate_events(state.envelope.type, handler(state.envelope, state.received.context))
        return replace(state, events=events)
    return _DEFAULT_HANDLERS.get(state.envelope.type, _complete_node)(state)


def _validate_events(kind: str, returned: object) -> tuple[Event, ...]:
    events = tuple(cast("Iterable[object]", returned)) if isinstance(returned, Iterable) else (None,)
    if not all(isinstance(event, EVENT_TYPES) for event in events):
        raise InputError(
            f"The handler of {kind} must return events.",
            hint="Return a list of objects of emitter.events, or an empty list.",
        )
    return cast("tuple[Event, ...]", events)


def _complete_node(state: InFlightEnvelope) -> InFlightEnvelope:
    completed = NodeCompleted({"envelopeType": state.envelope.type})
    return InFlightEnvelope(
        state.received, state.envelope, state.joined_text, state.warnings, state.drift, state.redactions, (completed,)
    )


def _request_clarification(state: InFlightEnvelope) -> InFlightEnvelope | InvalidEnvelope:
    if not state.received.config.allows_clarifications:
        return InvalidEnvelope(OutcomeCode.NOT_APPLICABLE, OutcomeCode.NOT_APPLICABLE.value)
    interrupt_id, payload = state.received.services.new_id(), as_mapping(state.envelope.payload)
    data = {name: value for name, value in payload.items() if name != "reasoning"}
    clarification = ClarificationRequested(interrupt_id, tuple(as_list(payload["questions"])))
    interrupt = InterruptRequested(interrupt_id, "clarification", state.envelope.correlation_id, data)
    return replace(state, events=(clarification, interrupt))


def _request_schema(state: InFlightEnvelope) -> InFlightEnvelope:
    """Record the kind whose schema the model asks for; the log line does not repeat an unknown name."""
    kind: str = state.envelope.payload["envelopeType"]
    fields = {"envelopeType": kind} if kind in state.received.config.registry else {}
    return replace(state, events=(LogAppended(Level.DEBUG, SCHEMA_REQUEST, fields),), requested_kind=kind)


def _log_schema_response(state: InFlightEnvelope) -> InFlightEnvelope:
    return replace(state, events=(LogAppended(Level.DEBUG, SCHEMA_RESPONSE),))


def _log_error(state: InFlightEnvelope) -> InFlightEnvelope:
    """Log the model's own error report. Reporting it is a success of the turn, so the node does not fail."""
    code: str = state.envelope.payload["code"]
    fields = {"code": code} if _MACHINE_CODE.fullmatch(code) else {}
    return replace(state, events=(LogAppended(Level.ERROR, ERROR, fields),))


_DEFAULT_HANDLERS: dict[str, Callable[[InFlightEnvelope], InFlightEnvelope | InvalidEnvelope]] = {
    CLARIFICATION_REQUEST: _request_clarification,
    SCHEMA_REQUEST: _request_schema,
    SCHEMA_RESPONSE: _log_schema_response,
    ERROR: _log_error,
}
# The order is normative (ai-envelope.md, "Production flow"): it decides which refusal an envelope gets that breaks
# several rules. Secrets are removed before a handler, the log or the store can see them.
STEPS: Final[tuple[Callable[[Any], Any], ...]] = (
    check_shape,
    check_kind,
    check_payload,
    check_contract,
    check_limits,
    redact_secrets,
    apply_trust,
    deduplicate,
    call_handler,
    record_envelope,
)
"""All steps, from the received document to the recorded events. Any step can end the pipeline with an outcome."""
_FIRST_RECORDING_STEP: Final = STEPS.index(deduplicate) + 1
VALIDATION_STEPS, RECORDING_STEPS = STEPS[:_FIRST_RECORDING_STEP], STEPS[_FIRST_RECORDING_STEP:]
"""The steps for every envelope, and those that run once per correlation id under the lock of the store."""
STORE_ONLY_STEPS: Final = VALIDATION_STEPS[VALIDATION_STEPS.index(check_contract) :]
"""The steps for content that the host stores without knowing its kind, so that its payload is not checked."""
OWN_STEPS: Final = VALIDATION_STEPS[VALIDATION_STEPS.index(check_contract) :]
"""The steps for an envelope that the library built itself from a valid document."""
_FINAL_TYPES: Final = (Gated, InvalidEnvelope, Breached, CachedOutcome)


def run_pipeline(state: Any, steps: Iterable[Callable[[Any], Any]]) -> tuple[Any, Any]:
    """Run the steps; return the final value and the state before it."""
    before = state
    for step in steps:
        before, state = state, step(state)
        if isinstance(state, _FINAL_TYPES):
            break
    return state, before
