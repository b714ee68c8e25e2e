"""What is told through: a tracer and two histograms. It cannot be imported without the extra."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from opentelemetry import metrics, trace
from opentelemetry.context import get_current
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from emitter.otel import names
from emitter.otel.attributes import nanoseconds, of_event

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram, MeterProvider
    from opentelemetry.trace import Tracer, TracerProvider

    from emitter.otel.past import Past

_W3C = TraceContextTextMapPropagator()


@dataclass(frozen=True, slots=True)
class Instruments:
    """A tracer, and the histograms of the GenAI conventions for clients: tokens, and seconds."""

    tracer: Tracer
    tokens: Histogram
    seconds: Histogram


def tracer(provider: TracerProvider | None) -> Tracer:
    """Return the library's tracer of a provider, of the global one where None."""
    return trace.get_tracer(names.SCOPE, _version(), provider, names.SCHEMA_URL)


def instruments(traces: TracerProvider | None, meters: MeterProvider | None) -> Instruments:
    """Return the library's instruments of two providers, of the global ones where None."""
    meter = metrics.get_meter(names.SCOPE, _version() or "", meters, names.SCHEMA_URL)
    return Instruments(
        tracer(traces),
        meter.create_histogram(
            names.TOKEN_USAGE,
            unit="{token}",
            description="Tokens that went into a call, and that came out of it.",
            explicit_bucket_boundaries_advisory=names.TOKEN_BUCKETS,
        ),
        meter.create_histogram(
            names.OPERATION_DURATION,
            unit="s",
            description="How long a call took, up to what its answer was judged to be.",
            explicit_bucket_boundaries_advisory=names.SECOND_BUCKETS,
        ),
    )


def tell(past: Past, through: Tracer) -> None:
    """Tell a span that is over: a child of the one its ``traceparent`` names, linked to what is current."""
    here = trace.get_current_span().get_span_context()
    carried = {} if past.traceparent is None else {"traceparent": past.traceparent}
    within = _W3C.extract(carried, get_current())
    elsewhere = here.is_valid and trace.get_current_span(within).get_span_context() != here
    span = through.start_span(
        past.name,
        within,
        attributes=past.attributes,
        links=[trace.Link(here)] if elsewhere else None,
        start_time=nanoseconds(past.events[0].timestamp) if past.events else None,
    )
    for each in past.events:
        span.add_event(each.type, of_event(each), nanoseconds(each.timestamp))
    if past.error is not None:
        span.set_status(trace.Status(trace.StatusCode.ERROR, past.error))
    span.end(nanoseconds(past.events[-1].timestamp) if past.events else None)


def _version() -> str | None:
    try:
        return version(names.SCOPE)
    except PackageNotFoundError:
        return None
