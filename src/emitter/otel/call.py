"""One call of an emission: a span ``openwop.activity.<provider>``, and how long it took.

A call begins with the line that says so and is over with the next event; who was called is only told with what
came of it. So a call that came to nothing is named by a later one of the same emission, or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

from emitter.otel import names
from emitter.otel.attributes import own

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

    from emitter.events import ProviderUsage
    from emitter.otel.attributes import Value
    from emitter.otel.instruments import Instruments

_NANO = 1e-9


@dataclass(frozen=True, slots=True)
class Vendor:
    """Who is called: the provider's id as events tell it, and the model."""

    provider: str
    model: str

    def attributes(self) -> dict[str, Value]:
        """Return what the conventions want with every span and metric."""
        return {
            names.OPERATION: names.operation(self.provider),
            names.PROVIDER: names.sendable(names.provider(self.provider)),
            names.MODEL: names.sendable(self.model),
        }


@dataclass(slots=True)
class Call:
    """A call; times are in nanoseconds. ``error`` is the code of what kept an answer from coming."""

    span: Span
    began: int | None
    over: int | None = None
    error: str | None = None

    def told(self, at: int | None) -> None:
        """Take note of an event about the answer: the first says when it was there."""
        self.over = self.over or at

    def cost(self, usage: ProviderUsage) -> None:
        """Take note of what it cost."""
        said = own(usage)
        tokens = {names.USAGE_INPUT: said[names.COST_INPUT], names.USAGE_OUTPUT: said[names.COST_OUTPUT]}
        self.span.set_attributes({**tokens, **said})

    def end(self, vendor: Vendor | None, through: Instruments) -> None:
        """End the span, and tell how long the call took."""
        said = vendor.attributes() if vendor else {names.OPERATION: names.operation(None)}
        if vendor is not None:
            self.span.update_name(f"{names.ACTIVITY_SPAN}.{names.sendable(vendor.provider)}")
        if self.error is not None:
            said[names.ERROR_TYPE] = self.error
            self.span.set_status(Status(StatusCode.ERROR, self.error))
        self.span.set_attributes(said)
        self.span.end(self.over)
        if self.began is not None and self.over is not None:
            took = max(0, self.over - self.began) * _NANO
            through.seconds.record(took, said, set_span_in_context(self.span))


def begin(through: Instruments, within: Context, at: int | None) -> Call:
    """Begin a call within its emission."""
    return Call(through.tracer.start_span(names.ACTIVITY_SPAN, within, SpanKind.CLIENT, start_time=at), at)
