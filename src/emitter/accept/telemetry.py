"""Acceptances as OpenTelemetry spans: one span ``envelope.<status>`` for each. Extra ``otel``.

The attributes are those of OpenWOP's reference host, and ``openwop.*`` beside them. Nothing that an envelope holds
is told: of it only kind, ids, version and trust, which were struck clean of secrets before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.accept.outcome import Accepted, Breached, Code, Gated, RefusalMode
from emitter.errors import MissingExtra
from emitter.otel import names
from emitter.otel.guard import guarded
from emitter.otel.past import Past

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.trace import TracerProvider

    from emitter.accept.acceptance import Acceptance
    from emitter.accept.outcome import Outcome
    from emitter.kinds.envelope import AIEnvelope
    from emitter.otel.attributes import Value


def observe_acceptances(tracer_provider: TracerProvider | None = None) -> Callable[[Acceptance], None]:
    """Return an observer that tells each acceptance as a span, to the global provider where None.

    The span is a child of the one that the envelope's ``traceparent`` names, linked to what is current; of what is
    current where it names none. Raises ``MissingExtra`` without OpenTelemetry's API.
    """
    try:
        from emitter.otel.instruments import tell, tracer  # noqa: PLC0415  the extra may be missing
    except ImportError as error:
        raise MissingExtra("OpenTelemetry's API is not installed.", hint="Run: pip install 'emitter[otel]'") from error
    through = tracer(tracer_provider)

    def observe(acceptance: Acceptance) -> None:
        with guarded("an acceptance"):
            tell(past(acceptance), through)

    return observe


def past(acceptance: Acceptance) -> Past:
    """Return the span of an acceptance."""
    outcome, envelope = acceptance.outcome, acceptance.envelope
    said: dict[str, Value] = {
        "envelope_outcome": outcome.status,
        names.RUN_ID: names.sendable(acceptance.context.run_id),
        names.NODE_ID: names.sendable(acceptance.context.node_id),
        names.REDACTIONS: acceptance.redactions,
        names.CACHED: acceptance.cached,
        **_refused(acceptance),
        **({} if envelope is None else _of_envelope(envelope)),
        **_drift(acceptance),
    }
    return Past(
        name=f"envelope.{outcome.status}",
        attributes=said,
        events=acceptance.events,
        traceparent=None if envelope is None else envelope.meta.traceparent,
        error=_error(outcome),
    )


def _of_envelope(envelope: AIEnvelope) -> dict[str, Value]:
    kind, ident = names.word(envelope.type), names.sendable(envelope.envelope_id)
    trust = envelope.meta.content_trust
    return {
        "envelope_type": kind,
        names.ENVELOPE_KIND: kind,
        "envelope_id": ident,
        names.ENVELOPE_ID: ident,
        "envelope_correlation_id": names.sendable(envelope.correlation_id),
        "envelope_schema_version": envelope.schema_version,
        **({} if trust is None else {"envelope_content_trust": trust.value}),
    }


def _drift(acceptance: Acceptance) -> dict[str, Value]:
    """Return whether the schema version was below the advertised one; of a refused envelope it is not known."""
    if not isinstance(acceptance.outcome, Accepted):
        return {}
    floor = acceptance.drift
    said: dict[str, Value] = {"envelope_schema_version_drift": floor is not None}
    return said if floor is None else {**said, "envelope_schema_version_floor": floor}


def _refused(acceptance: Acceptance) -> dict[str, Value]:
    """Return what is known of an envelope that was refused: why, and whom the events name."""
    outcome = acceptance.outcome
    if isinstance(outcome, Accepted):
        return {}
    said: dict[str, Value] = {names.ERROR_TYPE: outcome.code.value}
    if isinstance(outcome, Gated):
        kind = names.word(outcome.refused_type)
        said |= {"envelope_type": kind, names.ENVELOPE_KIND: kind}
    if isinstance(outcome, Breached):
        said |= {names.CAP_KIND: outcome.cap_kind.value}
        said |= {names.CAP_LIMIT: outcome.limit, names.CAP_OBSERVED: outcome.observed}
    # without a shape that holds there was no id, and the events are told under a made-up one
    if outcome.code is not Code.SHAPE and acceptance.events:
        said["envelope_correlation_id"] = names.sendable(acceptance.events[0].causation_id)
    return said


def _error(outcome: Outcome) -> str | None:
    """Return what made it fail; an envelope that the node discards with a warning fails nothing."""
    if isinstance(outcome, Accepted):
        return None
    discarded = isinstance(outcome, Gated) and outcome.refusal_mode is RefusalMode.DISCARD_AND_WARN
    return None if discarded else outcome.code.value
