"""One emission: a span ``openwop.node.<type>`` from its first event to its last, with each event on it.

The span's own attributes are what each kind of event said last; tokens are summed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.trace import Status, StatusCode, set_span_in_context

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
from emitter.kinds.universal import UNIVERSAL
from emitter.otel import names
from emitter.otel.attributes import nanoseconds, of_event, own, whole
from emitter.otel.call import Vendor, begin
from emitter.remedy import FAULT_CODES
from emitter.wire import FaultKind

if TYPE_CHECKING:
    from emitter.events import Event, RunEvent
    from emitter.otel.call import Call
    from emitter.otel.instruments import Instruments

_ABOUT_AN_ANSWER = (ProviderUsage, EnvelopeRefusal, EnvelopeTruncated, RecoveryApplied)
_FOLLOWED = (CapBreached, ModelCapabilitySubstituted, ModelCapabilityInsufficient)
_LAST = (NodeCompleted, NodeFailed, InterruptRequested)
_FAULTS = frozenset(FAULT_CODES.values())


class EmissionSpan:
    """The span of one emission; it belongs to one thread at a time."""

    def __init__(self, through: Instruments, node_type: str | None, first: RunEvent) -> None:
        self.lasts = isinstance(first.event, _FOLLOWED) or _is_calling(first.event)
        self._through = through
        self._at = nanoseconds(first.timestamp)
        typed = {} if node_type is None else {names.NODE_TYPE: node_type}
        self._span = through.tracer.start_span(
            ".".join((names.NODE_SPAN, *typed.values())),
            attributes={
                names.RUN_ID: names.sendable(first.run_id),
                names.NODE_ID: names.sendable(first.node_id),
                **typed,
            },
            start_time=self._at,
        )
        self._within = set_span_in_context(self._span)
        self._call: Call | None = None
        self._over: list[Call] = []
        self._vendor: Vendor | None = None
        self._tokens = (0, 0)

    def tell(self, told: RunEvent) -> None:
        """Tell one event; ``lasts`` says afterwards whether more are to be expected."""
        event, at = told.event, nanoseconds(told.timestamp)
        self._at = at or self._at
        self._hear(event, at)
        self._span.add_event(told.type, of_event(told), at)
        self._span.set_attributes({} if isinstance(event, ProviderUsage) else own(event))
        if _is_calling(event):
            self._call = begin(self._through, self._within, at)
        if isinstance(event, NodeFailed):
            self._span.set_status(Status(StatusCode.ERROR, names.word(event.code)))
        self.lasts = self.lasts and not _is_last(told)

    def end(self, *, finished: bool) -> None:
        """End the span where its last event was; ``finished`` says whether that was the emission's."""
        self._call_over(self._at, None)
        self._settle()
        if any(self._tokens):
            spent = (*self._tokens, sum(self._tokens))
            self._span.set_attributes(dict(zip(names.COSTS, map(whole, spent), strict=True)))
        if not finished:
            self._span.set_attribute(names.UNFINISHED, value=True)
        self._span.end(self._at)

    def _hear(self, event: Event, at: int | None) -> None:
        """Take note of what an event means for the call that is open."""
        if not isinstance(event, _ABOUT_AN_ANSWER):
            self._call_over(at, _fault(event))
            return
        if self._call is not None:
            self._call.told(at)
        if isinstance(event, ProviderUsage | EnvelopeRefusal | EnvelopeTruncated):
            self._vendor = Vendor(event.provider, event.model)
        if isinstance(event, ProviderUsage):
            self._spend(event)

    def _spend(self, usage: ProviderUsage) -> None:
        self._tokens = (self._tokens[0] + usage.input_tokens, self._tokens[1] + usage.output_tokens)
        if self._call is not None:
            self._call.cost(usage)
        said = Vendor(usage.provider, usage.model).attributes()
        for kind, count in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            self._through.tokens.record(count, {**said, names.TOKEN_TYPE: kind}, self._within)

    def _call_over(self, at: int | None, error: str | None) -> None:
        if self._call is None:
            return
        self._call.told(at)
        self._call.error = error
        self._over.append(self._call)
        self._call = None
        if self._vendor is not None:
            self._settle()

    def _settle(self) -> None:
        """End the calls that are over."""
        for each in self._over:
            each.end(self._vendor, self._through)
        self._over.clear()


def _is_calling(event: Event) -> bool:
    return isinstance(event, LogAppended) and event.message == CALLING


def _is_last(told: RunEvent) -> bool:
    """Tell whether an emission is over; of some envelopes a host tells no more than a line with their kind."""
    event = told.event
    line = isinstance(event, LogAppended) and event.message in UNIVERSAL and told.content_trust is not None
    return line or isinstance(event, _LAST)


def _fault(event: Event) -> str | None:
    """Return the code of the fault that an event tells, if it tells one."""
    if isinstance(event, NodeFailed):
        return event.code if event.code in _FAULTS else None
    kind = event.fields.get("fault") if isinstance(event, LogAppended) else None
    return next((FAULT_CODES[each] for each in FaultKind if each.value == kind), None)
