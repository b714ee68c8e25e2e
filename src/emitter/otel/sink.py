"""The sink: it knows which emissions are under way, and bounds how many it remembers."""

from __future__ import annotations

from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Self

from emitter.errors import InputError, MissingExtra
from emitter.otel.guard import guarded

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from emitter.events import RunEvent
    from emitter.otel.emission import EmissionSpan

_MOST_OPEN = 4096


class OtelSink:
    """A sink that tells OpenTelemetry; see ``to_otel``.

    ``close`` ends the spans of emissions whose end was not told; so does leaving it as a context manager. It may
    be used from many threads at once, and afterwards too.
    """

    def __init__(self, begin: Callable[[RunEvent], EmissionSpan], most_open: int) -> None:
        self._begin, self._most_open = begin, most_open
        self._open: dict[tuple[str, str, str], EmissionSpan] = {}
        self._lock = RLock()

    def __call__(self, told: RunEvent) -> None:
        """Tell one event; where OpenTelemetry fails, a log line says so and the emission goes on."""
        with guarded(told.type), self._lock:
            self._tell(told)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what is open."""
        self.close()

    def close(self) -> None:
        """End the spans of emissions whose end was not told."""
        with self._lock:
            while self._open:
                self._end_oldest()

    def _tell(self, told: RunEvent) -> None:
        key = (told.run_id, told.node_id, told.causation_id)
        # Taken out and put back, so that the first is the one that was silent for longest.
        emission = self._open.pop(key, None) or self._begin(told)
        self._open[key] = emission
        emission.tell(told)
        if not emission.lasts:
            self._open.pop(key).end(finished=True)
        while len(self._open) > self._most_open:
            self._end_oldest()

    def _end_oldest(self) -> None:
        self._open.pop(next(iter(self._open))).end(finished=False)


def to_otel(
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    *,
    node_type: str | None = None,
    most_open: int = _MOST_OPEN,
) -> OtelSink:
    """Return a sink that tells emissions as spans and metrics, to the global providers where None.

    An emission is a span ``openwop.node.<node_type>`` (``openwop.node`` where the type is not given) with every
    event on it, from the first call to ``node.completed``, ``node.failed`` or an interrupt; each call is a span
    ``openwop.activity.<provider>`` in it. An event outside of any emission is a span by itself. Times are those of
    the events. The span is a child of what is current when the emission begins. Beyond ``most_open`` emissions
    under way, the span of the one that was silent for longest is ended, marked as unfinished.

    Each ``provider.usage`` goes into ``gen_ai.client.token.usage``, each call's time into
    ``gen_ai.client.operation.duration``: up to the event that follows, so with the judging of the answer, and with
    the waiting where it came in a batch.

    Raises ``MissingExtra`` without OpenTelemetry's API.
    """
    if most_open < 1:
        raise InputError(f"most_open is {most_open}; it must be 1 or more.")
    try:
        from emitter.otel.emission import EmissionSpan  # noqa: PLC0415  the extra may be missing
        from emitter.otel.instruments import instruments  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("OpenTelemetry's API is not installed.", hint="Run: pip install 'emitter[otel]'") from error
    through = instruments(tracer_provider, meter_provider)
    return OtelSink(partial(EmissionSpan, through, node_type), most_open)
