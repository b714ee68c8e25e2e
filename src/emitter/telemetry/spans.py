"""OpenTelemetry spans and metrics for emissions and vendor calls.

An emission is a span ``openwop.node.<type>`` with each event on it; each call to a vendor is a span
``openwop.activity.<provider>`` inside it. Importing this module requires the extra ``otel``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from opentelemetry import _logs, metrics, trace
from opentelemetry.context import get_current
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from emitter.core.verdicts import FAULT_CODES
from emitter.events import (
    CALLING,
    CapBreached,
    EnvelopeRefusal,
    EnvelopeTruncated,
    InterruptRequested,
    LogAppended,
    ModelCapabilityInsufficient,
    ModelCapabilitySubstituted,
    NodeCompleted,
    NodeFailed,
    ProviderUsage,
    RecoveryApplied,
)
from emitter.messages import FaultKind
from emitter.models.standard_kinds import UNIVERSAL_SCHEMAS
from emitter.telemetry import attributes
from emitter.telemetry.attributes import clamp_integer, get_event_attributes, get_payload_attributes, to_nanoseconds
from emitter.telemetry.content import DETAILS_EVENT
from emitter.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry._logs import Logger, LoggerProvider
    from opentelemetry.metrics import Histogram, MeterProvider
    from opentelemetry.trace import Span, Tracer, TracerProvider

    from emitter.events import Event, RunEvent
    from emitter.telemetry.attributes import AttributeValue, CompletedSpan
    from emitter.telemetry.content import CallContent

_PROPAGATOR = TraceContextTextMapPropagator()


@dataclass(frozen=True, slots=True)
class Instruments:
    """A tracer, and the client histograms of the GenAI conventions: tokens and seconds.

    The content of calls goes into their spans if ``content_in_spans`` is true, and to the ``logger`` if there is one.
    """

    tracer: Tracer
    tokens: Histogram
    seconds: Histogram
    content_in_spans: bool = False
    logger: Logger | None = None


def get_tracer(provider: TracerProvider | None) -> Tracer:
    """Return the library's tracer of a provider, or of the global one."""
    return trace.get_tracer(attributes.SCOPE, __version__, provider, attributes.SCHEMA_URL)


def create_instruments(tracer_provider: TracerProvider | None, meter_provider: MeterProvider | None) -> Instruments:
    """Return the library's instruments of two providers, or of the global ones."""
    meter = metrics.get_meter(attributes.SCOPE, __version__, meter_provider, attributes.SCHEMA_URL)
    return Instruments(
        get_tracer(tracer_provider),
        meter.create_histogram(
            attributes.TOKEN_USAGE,
            unit="{token}",
            description="Input and output tokens of a call.",
            explicit_bucket_boundaries_advisory=attributes.TOKEN_BUCKETS,
        ),
        meter.create_histogram(
            attributes.OPERATION_DURATION,
            unit="s",
            description="Duration of a call, including the validation of its answer.",
            explicit_bucket_boundaries_advisory=attributes.SECOND_BUCKETS,
        ),
    )


def get_logger(provider: LoggerProvider | None) -> Logger:
    """Return the library's logger of a provider, or of the global one."""
    return _logs.get_logger(attributes.SCOPE, __version__, provider, attributes.SCHEMA_URL)


def export_span(completed: CompletedSpan, tracer: Tracer) -> None:
    """Export a completed span: a child of its ``traceparent``, with a link to the current span."""
    current = trace.get_current_span().get_span_context()
    carrier = {} if completed.traceparent is None else {"traceparent": completed.traceparent}
    parent = _PROPAGATOR.extract(carrier, get_current())
    # An envelope may be accepted in another trace than its ``traceparent`` names. A link connects the two.
    is_elsewhere = current.is_valid and trace.get_current_span(parent).get_span_context() != current
    span = tracer.start_span(
        completed.name,
        parent,
        attributes=completed.attributes,
        links=[trace.Link(current)] if is_elsewhere else None,
        start_time=to_nanoseconds(completed.events[0].timestamp) if completed.events else None,
    )
    for event in completed.events:
        span.add_event(event.type, get_event_attributes(event), to_nanoseconds(event.timestamp))
    if completed.error is not None:
        span.set_status(trace.Status(trace.StatusCode.ERROR, completed.error))
    span.end(to_nanoseconds(completed.events[-1].timestamp) if completed.events else None)


_NANO = 1e-9


@dataclass(frozen=True, slots=True)
class VendorModel:
    """The provider's id in events, and the model."""

    provider: str
    model: str

    def get_attributes(self) -> dict[str, AttributeValue]:
        """Return the attributes that the conventions require of every span and metric."""
        return {
            attributes.OPERATION: attributes.get_operation_name(self.provider),
            attributes.PROVIDER: attributes.replace_surrogates(attributes.get_provider_name(self.provider)),
            attributes.MODEL: attributes.replace_surrogates(self.model),
        }


@dataclass(slots=True)
class VendorCall:
    """A call; times are in nanoseconds. ``error`` is the code of a call without an answer."""

    span: Span
    started_at: int | None
    vendor: VendorModel | None
    ended_at: int | None = None
    error: str | None = None
    content: CallContent | None = None

    def note_event(self, at: int | None) -> None:
        """Record the time of an event about the answer. The first one ends the call."""
        self.ended_at = self.ended_at or at

    def record_usage(self, usage: ProviderUsage) -> None:
        """Add the tokens to the span."""
        cost = get_payload_attributes(usage)
        tokens = {
            attributes.USAGE_INPUT: cost[attributes.COST_INPUT],
            attributes.USAGE_OUTPUT: cost[attributes.COST_OUTPUT],
        }
        self.span.set_attributes({**tokens, **cost})

    def end(self, instruments: Instruments) -> None:
        """End the span, and record the duration."""
        vendor = self.vendor
        call_attributes = (
            vendor.get_attributes() if vendor else {attributes.OPERATION: attributes.get_operation_name(None)}
        )
        if vendor is not None:
            self.span.update_name(f"{attributes.ACTIVITY_SPAN}.{attributes.replace_surrogates(vendor.provider)}")
        if self.error is not None:
            call_attributes[attributes.ERROR_TYPE] = self.error
            self.span.set_status(Status(StatusCode.ERROR, self.error))
        self.span.set_attributes(call_attributes)
        if self.content is not None:
            self._export_content(self.content, call_attributes, instruments)
        self.span.end(self.ended_at)
        if self.started_at is not None and self.ended_at is not None:
            seconds = max(0, self.ended_at - self.started_at) * _NANO
            instruments.seconds.record(seconds, call_attributes, set_span_in_context(self.span))

    def _export_content(
        self, content: CallContent, call_attributes: Mapping[str, AttributeValue], instruments: Instruments
    ) -> None:
        if instruments.content_in_spans:
            self.span.set_attributes(content.as_texts())
        if instruments.logger is not None:
            instruments.logger.emit(
                _logs.LogRecord(
                    timestamp=self.ended_at,
                    context=set_span_in_context(self.span),
                    event_name=DETAILS_EVENT,
                    attributes={**call_attributes, **content.attributes},
                )
            )


_ANSWER_EVENTS = (ProviderUsage, EnvelopeRefusal, EnvelopeTruncated, RecoveryApplied)
_OPENING_EVENTS = (CapBreached, ModelCapabilitySubstituted, ModelCapabilityInsufficient)
_FINAL_EVENTS = (NodeCompleted, NodeFailed, InterruptRequested)
_KNOWN_FAULT_CODES = frozenset(FAULT_CODES.values())


class EmissionSpan:
    """The span of one emission. Not thread-safe."""

    def __init__(self, instruments: Instruments, node_type: str | None, first: RunEvent) -> None:
        self.is_open = isinstance(first.event, _OPENING_EVENTS) or _is_call_start(first.event)
        self._instruments = instruments
        self._last_time = to_nanoseconds(first.timestamp)
        typed = {} if node_type is None else {attributes.NODE_TYPE: node_type}
        self._span = instruments.tracer.start_span(
            ".".join((attributes.NODE_SPAN, *typed.values())),
            attributes={
                attributes.RUN_ID: attributes.replace_surrogates(first.run_id),
                attributes.NODE_ID: attributes.replace_surrogates(first.node_id),
                **typed,
            },
            start_time=self._last_time,
        )
        self._context = set_span_in_context(self._span)
        self._call: VendorCall | None = None
        self._tokens = (0, 0)

    def add_event(self, run_event: RunEvent) -> None:
        """Add an event to the span; ``is_open`` is true afterwards if more events are expected."""
        event, at = run_event.event, to_nanoseconds(run_event.timestamp)
        self._last_time = at or self._last_time
        self._update_call(event, at)
        self._span.add_event(run_event.type, get_event_attributes(run_event), at)
        # The tokens of one call are on its own span. The span of the emission gets their sum at its end.
        self._span.set_attributes({} if isinstance(event, ProviderUsage) else get_payload_attributes(event))
        if _is_call_start(event):
            tracer = self._instruments.tracer
            span = tracer.start_span(attributes.ACTIVITY_SPAN, self._context, SpanKind.CLIENT, start_time=at)
            self._call = VendorCall(span, at, _get_called_model(event))
        if isinstance(event, NodeFailed):
            self._span.set_status(Status(StatusCode.ERROR, attributes.limit_to_vocabulary(event.code)))
        self.is_open = self.is_open and not _is_last(run_event)

    def add_content(self, content: CallContent) -> None:
        """Keep the content of the open call until its span ends."""
        if self._call is not None:
            self._call.content = content

    def end(self, *, finished: bool) -> None:
        """End the span at its last event; ``finished`` is false if the emission's last event never came."""
        self._end_call(self._last_time, None)
        if any(self._tokens):
            counts = (*self._tokens, sum(self._tokens))
            self._span.set_attributes(dict(zip(attributes.COST_TOKENS, map(clamp_integer, counts), strict=True)))
        if not finished:
            self._span.set_attribute(attributes.UNFINISHED, value=True)
        self._span.end(self._last_time)

    def _update_call(self, event: Event, at: int | None) -> None:
        """Apply an event to the open call."""
        if not isinstance(event, _ANSWER_EVENTS):
            self._end_call(at, _get_fault_code(event))
            return
        if self._call is not None:
            self._call.note_event(at)
        if isinstance(event, ProviderUsage):
            self._record_usage(event)

    def _record_usage(self, usage: ProviderUsage) -> None:
        self._tokens = (self._tokens[0] + usage.input_tokens, self._tokens[1] + usage.output_tokens)
        if self._call is not None:
            self._call.record_usage(usage)
        vendor = VendorModel(usage.provider, usage.model).get_attributes()
        for kind, count in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            self._instruments.tokens.record(count, {**vendor, attributes.TOKEN_TYPE: kind}, self._context)

    def _end_call(self, at: int | None, error: str | None) -> None:
        if self._call is None:
            return
        self._call.note_event(at)
        self._call.error = error
        self._call.end(self._instruments)
        self._call = None


def _is_call_start(event: Event) -> TypeGuard[LogAppended]:
    return isinstance(event, LogAppended) and event.message == CALLING


def _get_called_model(event: LogAppended) -> VendorModel | None:
    provider, model = event.fields.get("provider"), event.fields.get("model")
    return VendorModel(provider, model) if isinstance(provider, str) and isinstance(model, str) else None


def _is_last(run_event: RunEvent) -> bool:
    """Check whether an event ends an emission. For some kinds, OpenWOP ends it with a log entry of the kind's name."""
    event = run_event.event
    if isinstance(event, LogAppended):
        return event.message in UNIVERSAL_SCHEMAS and run_event.content_trust is not None
    return isinstance(event, _FINAL_EVENTS)


def _get_fault_code(event: Event) -> str | None:
    """Return the code of the fault that an event reports, if any."""
    if isinstance(event, NodeFailed):
        return event.code if event.code in _KNOWN_FAULT_CODES else None
    kind = event.fields.get("fault") if isinstance(event, LogAppended) else None
    return next((FAULT_CODES[fault] for fault in FaultKind if fault.value == kind), None)
