"""Export acceptances as OpenTelemetry spans, and collect a run's debug bundle.

Spans carry an envelope's kind, ids, version and trust, but none of its content. They require the extra ``otel``.

Source: OpenWOP observability.md and debug-bundle.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.errors import InputError, MissingExtra
from emitter.events import LogAppended
from emitter.host.outcomes import Accepted, Breached, Gated, OutcomeCode, RefusalMode
from emitter.host.pipeline import ASSET_REFERENCE
from emitter.messages import as_mapping
from emitter.telemetry import attributes
from emitter.telemetry.attributes import CompletedSpan, log_export_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from opentelemetry.trace import TracerProvider

    from emitter.host.acceptor import Acceptor
    from emitter.host.outcomes import EnvelopeOutcome
    from emitter.host.pipeline import Acceptance
    from emitter.messages import Json
    from emitter.models.envelope import AIEnvelope
    from emitter.telemetry.attributes import AttributeValue


def observe_acceptances(tracer_provider: TracerProvider | None = None) -> Callable[[Acceptance], None]:
    """Return an observer that exports each acceptance as a span.

    The span is a child of the envelope's ``traceparent``, with a link to the current span, or of the current span if
    the envelope has none.

    Args:
        tracer_provider: The provider, or None for the global one.

    Raises:
        MissingExtra: OpenTelemetry's API is not installed.
    """
    try:
        from emitter.telemetry.spans import export_span, get_tracer  # noqa: PLC0415  the extra may be missing
    except ImportError as error:
        raise MissingExtra("OpenTelemetry's API is not installed.", extra="otel") from error
    tracer = get_tracer(tracer_provider)

    def observe(acceptance: Acceptance) -> None:
        with log_export_errors("an acceptance"):
            export_span(build_span(acceptance), tracer)

    return observe


def build_span(acceptance: Acceptance) -> CompletedSpan:
    """Return the span of an acceptance."""
    outcome, envelope = acceptance.outcome, acceptance.envelope
    span_attributes: dict[str, AttributeValue] = {
        "envelope_outcome": outcome.status,
        attributes.RUN_ID: attributes.replace_surrogates(acceptance.context.run_id),
        attributes.NODE_ID: attributes.replace_surrogates(acceptance.context.node_id),
        attributes.REDACTIONS: acceptance.redactions,
        attributes.CACHED: acceptance.cached,
        **_get_refusal_attributes(acceptance),
        **({} if envelope is None else _get_envelope_attributes(envelope)),
        **_get_drift_attributes(acceptance),
    }
    return CompletedSpan(
        name=f"envelope.{outcome.status}",
        attributes=span_attributes,
        events=acceptance.events,
        traceparent=None if envelope is None else envelope.meta.traceparent,
        error=_get_error_code(outcome),
    )


def _get_envelope_attributes(envelope: AIEnvelope) -> dict[str, AttributeValue]:
    kind, ident = attributes.limit_to_vocabulary(envelope.type), attributes.replace_surrogates(envelope.envelope_id)
    trust = envelope.meta.content_trust
    return {
        "envelope_type": kind,
        attributes.ENVELOPE_KIND: kind,
        "envelope_id": ident,
        attributes.ENVELOPE_ID: ident,
        "envelope_correlation_id": attributes.replace_surrogates(envelope.correlation_id),
        "envelope_schema_version": envelope.schema_version,
        **({} if trust is None else {"envelope_content_trust": trust.value}),
    }


def _get_drift_attributes(acceptance: Acceptance) -> dict[str, AttributeValue]:
    """Return whether the schema version was below the advertised one, for an accepted envelope."""
    if not isinstance(acceptance.outcome, Accepted):
        return {}
    if acceptance.drift is None:
        return {"envelope_schema_version_drift": False}
    return {"envelope_schema_version_drift": True, "envelope_schema_version_floor": acceptance.drift}


def _get_refusal_attributes(acceptance: Acceptance) -> dict[str, AttributeValue]:
    """Return the code of a refusal, and the ids that its events name."""
    outcome = acceptance.outcome
    if isinstance(outcome, Accepted):
        return {}
    refusal: dict[str, AttributeValue] = {attributes.ERROR_TYPE: outcome.code.value}
    if isinstance(outcome, Gated):
        kind = attributes.limit_to_vocabulary(outcome.refused_type)
        refusal |= {"envelope_type": kind, attributes.ENVELOPE_KIND: kind}
    if isinstance(outcome, Breached):
        refusal |= {attributes.CAP_KIND: outcome.cap_kind.value}
        refusal |= {attributes.CAP_LIMIT: outcome.limit, attributes.CAP_OBSERVED: outcome.observed}
    # An envelope with an invalid shape has no id; its events have a substitute.
    if outcome.code is not OutcomeCode.SHAPE and acceptance.events:
        refusal["envelope_correlation_id"] = attributes.replace_surrogates(acceptance.events[0].causation_id)
    return refusal


def _get_error_code(outcome: EnvelopeOutcome) -> str | None:
    """Return the code of the failure, or None. It is no failure if the node discards the envelope with a warning."""
    if isinstance(outcome, Accepted):
        return None
    discarded = isinstance(outcome, Gated) and outcome.refusal_mode is RefusalMode.DISCARD_AND_WARN
    return None if discarded else outcome.code.value


def build_debug_bundle(acceptor: Acceptor, run_id: str) -> dict[str, Json]:
    """Return the run's log, the addresses of its assets and the host's kinds, without secrets.

    Assets are listed by reference: a bundle contains no bytes of them (RFC 0055 §C).

    Raises:
        InputError: The host has no store.
        StoreFailed: The log cannot be read.
    """
    if acceptor.store is None:
        raise InputError("The host has no log.", hint="Give the Acceptor a store.")
    config = acceptor.config
    events = [dict(event) for event in acceptor.store.events(run_id)]
    bundle: Json = {
        "runId": run_id,
        "events": events,
        "assets": list(dict.fromkeys(_iter_asset_urls(events))),
        "supportedEnvelopes": list(config.registry.ids),
        "schemaVersions": dict(config.registry.versions),
    }
    clean: dict[str, Json] = config.secrets.redact_json(bundle).value
    return clean


def _iter_asset_urls(events: Iterable[Json]) -> Iterator[str]:
    for event in events:
        payload = as_mapping(event.get("payload"))
        if event.get("type") == LogAppended.type and payload.get("message") == ASSET_REFERENCE:
            yield str(as_mapping(payload.get("fields")).get("url"))
