"""What the tests of OpenTelemetry tell, and where they look at what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from emitter.events import Event, Level, LogAppended, ProviderUsage, RunEvent
from emitter.telemetry import OtelSink, to_otel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opentelemetry.sdk.trace import ReadableSpan

    from emitter.models import Trust

_FIELDS = {"attempt": 1, "budget": 4096, "provider": "anthropic", "model": "claude-sonnet-5-5"}
CALLING = LogAppended(Level.DEBUG, "calling", _FIELDS)
USAGE = ProviderUsage("anthropic", "claude-sonnet-5-5", 120, 30)
BEGAN = 1_769_860_800_000_000_000
"""The nanosecond of ``2026-01-31T12:00:00Z``."""
SECOND = 1_000_000_000


@dataclass
class Collected:
    """Providers whose spans and metrics stay in memory."""

    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    reader: InMemoryMetricReader = field(default_factory=InMemoryMetricReader)
    tracers: TracerProvider = field(default_factory=TracerProvider)

    def __post_init__(self) -> None:
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.meters = MeterProvider([self.reader])

    def on_event(self, **options: Any) -> OtelSink:
        """Return a sink that tells here."""
        return to_otel(self.tracers, self.meters, **options)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """The spans that have ended, in order."""
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        """Return the ended spans of a name."""
        return [each for each in self.spans if each.name == name]

    def metrics(self) -> dict[str, Any]:
        """Return every metric by name."""
        data = self.reader.get_metrics_data()
        scopes = [scope for of in (data.resource_metrics if data else ()) for scope in of.scope_metrics]
        return {metric.name: metric for scope in scopes for metric in scope.metrics}

    def points(self, name: str) -> list[tuple[dict[str, Any], float, int]]:
        """Return attributes, sum and count of each point of a histogram."""
        metric = self.metrics().get(name)
        return [(dict(each.attributes), each.sum, each.count) for each in metric.data.data_points] if metric else []

    def said(self) -> Iterable[Any]:
        """Yield every name, attribute and description that was reported anywhere."""
        for span in self.spans:
            yield from (span.name, span.status.description, *(span.attributes or {}).values())
            for event in span.events:
                yield from (event.name, *(event.attributes or {}).values())
        for metric in self.metrics().values():
            for point in metric.data.data_points:
                yield from point.attributes.values()


def reported(
    event: Event, sequence: int = 0, second: float = 0, *, run: str = "run-1", trust: Trust | None = None
) -> RunEvent:
    """Return an event of a run as it is reported, so many seconds after noon."""
    whole, rest = divmod(second, 1)
    at = f"2026-01-31T12:{int(whole) // 60:02}:{int(whole) % 60:02}.{round(rest * 1000):03}Z"
    return RunEvent(event, f"{run}-{sequence}", run, "node-1", at, sequence, f"{run}:node-1:0:abc", trust)


def story(*events: Event, run: str = "run-1") -> list[RunEvent]:
    """Return events that are reported one a second."""
    return [reported(each, number, number, run=run) for number, each in enumerate(events)]
