"""Sinks, and the recorder that gives events their ids and times and sends them to a sink.

A sink is any function that takes one ``RunEvent``, such as a list's ``append``. It runs in the emission's own
thread or event loop. A sink with an attribute ``blocking`` that is true runs in another thread, so that an event loop
does not wait for it. An exception that a sink raises becomes a ``RuntimeWarning``.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar, cast, get_args

from emitter.arguments import is_async
from emitter.errors import EmitterError, InputError, MissingExtra
from emitter.events import Event, Level, LogAppended, RunEvent
from emitter.files import check_path, private_opener
from emitter.interpreter import BlockingStep, run_steps
from emitter.redaction import NO_SECRETS
from emitter.redaction.secret_registry import redact_event

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from emitter.interpreter import Steps
    from emitter.messages import Trust
    from emitter.redaction import Secrets
    from emitter.stores.protocol import Store
    from emitter.telemetry.content import CallContent
    from emitter.telemetry.spans import EmissionSpan

EventT = TypeVar("EventT", bound=Event)
Sink: TypeAlias = Callable[[RunEvent], object]
"""A function that is called with every event as it happens. The return value is ignored."""
ContentSink: TypeAlias = "Callable[[CallContent], object]"
"""A function that is called with the content of every call."""
_LEVELS = {
    Level.DEBUG: logging.DEBUG,
    Level.INFO: logging.INFO,
    Level.WARN: logging.WARNING,
    Level.ERROR: logging.ERROR,
}
_WARNINGS = frozenset(
    {
        "cap.breached",
        "envelope.refusal",
        "envelope.truncated",
        "model.capability.substituted",
        "replay.diverged",
        "replay.divergedAtRefusal",
    }
)
_ERRORS = frozenset({"envelope.retry.exhausted", "model.capability.insufficient", "node.failed"})


def utc_timestamp() -> str:
    """Return the current time as ISO 8601 in UTC."""
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{_format_second(seconds)}.{milliseconds:03}Z"


@lru_cache(maxsize=4)
def _format_second(seconds: int) -> str:
    """Return a second without its zone. The cache helps because most events of an emission share it."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()


def generate_id() -> str:
    """Return a new opaque id."""
    return os.urandom(16).hex()


@dataclass(slots=True)
class EventRecorder:
    """Gives each event its ids and time, removes ``secrets``, keeps it, and sends it to the sink.

    With a ``store``, the event is added to the run's log before it is sent, and has its number there. ``trust`` marks
    the events. ``now`` and ``new_id`` return the time and the event ids; tests pass their own. The first exception of
    the sink is a warning, so that no answer is lost that was paid for.
    """

    run_id: str
    node_id: str
    correlation_id: str
    on_event: Sink | None = None
    secrets: Secrets = NO_SECRETS
    store: Store | None = None
    now: Callable[[], str] = utc_timestamp
    new_id: Callable[[], str] = generate_id
    trust: Trust | None = None
    events: list[RunEvent] = field(default_factory=list[RunEvent])
    _has_warned: bool = field(default=False, init=False)

    def __call__(self, event: Event | RunEvent) -> None:
        """Record ``event`` in this thread."""
        run_steps(self.record(event))

    def record(self, event: Event | RunEvent) -> Steps[None]:
        """Record ``event``. An event loop does not wait for the store or for a blocking sink."""
        if not isinstance(event, RunEvent):
            recorded = RunEvent(
                event=redact_event(event, self.secrets) if self.secrets.ids else event,
                event_id=self.new_id(),
                run_id=self.run_id,
                node_id=self.node_id,
                timestamp=self.now(),
                sequence=len(self.events),
                causation_id=self.correlation_id,
                content_trust=self.trust,
            )
            if self.store is not None:
                from emitter.stores.memory import works_in_memory  # noqa: PLC0415  most emissions have no store

                append = partial(self.store.append, self.run_id, (recorded,))
                (recorded,) = yield BlockingStep(append, must_finish=True, is_quick=works_in_memory(self.store))
        elif self.store is None and event.sequence != len(self.events):
            recorded = _with_sequence(event, len(self.events))
        else:
            recorded = event  # the store's log has numbered it
        self.events.append(recorded)
        if self.on_event is not None:
            yield from call_sink(self.on_event, recorded, self._warn)

    def _warn(self, error: Exception) -> None:
        if not self._has_warned:
            from emitter.problems import warn_of_problem  # noqa: PLC0415  few sinks fail

            self._has_warned = True
            words = self.secrets.redact_text(str(error)).value.partition("\n")[0].removesuffix(".")
            reason = f": {words}" if words else ""
            message = f"on_event raised {type(error).__name__}{reason}. The emission continues."
            warn_of_problem(message)


def _with_sequence(event: RunEvent, sequence: int) -> RunEvent:
    """Return the event with another number. Copying it with the standard library takes three times as long."""
    return RunEvent(
        event.event,
        event.event_id,
        event.run_id,
        event.node_id,
        event.timestamp,
        sequence,
        event.causation_id,
        event.content_trust,
    )


T = TypeVar("T")


def call_sink(
    receive: Callable[[T], object], value: T, on_error: Callable[[Exception], object] | None = None
) -> Steps[None]:
    """Call a sink or observer, and each sink of a group. A blocking one is called in another thread.

    Its exceptions are passed to ``on_error``, or raised.
    """
    for each in _members(receive):
        try:
            if getattr(each, "blocking", False):
                yield BlockingStep(partial(each, value), must_finish=True)
            else:
                each(value)
        except Exception as error:
            if on_error is None:
                raise
            on_error(error)


SinkT = TypeVar("SinkT", bound=Callable[..., object])


def blocking(sink: SinkT) -> SinkT:
    """Mark a sink or observer as one that waits for a file or a network, and return it.

    An async emission calls it in another thread, so that the event loop is free. Its calls for one emission still come
    one after the other. Use it as a decorator, or set the attribute ``blocking`` of an object.
    """
    sink.blocking = True  # type: ignore[attr-defined]
    return sink


def to_jsonl(path: str | Path) -> Sink:
    """Return a sink that appends one RunEventDoc per line; each line is in the file before the next step.

    A new file is readable only by its owner. Lines of several threads and processes never mix.

    Args:
        path: The file.

    Raises:
        InputError: The file cannot be opened. Later, the sink raises ``EmitterError`` if a line cannot be written,
            which an emission reports as a ``RuntimeWarning``.
    """
    file_path = check_path("path", path)
    try:
        open(file_path, "ab", opener=private_opener).close()
    except OSError as error:
        raise InputError(
            f"{file_path} cannot be opened for events: {error.strerror}.", hint="Pass the path of a writable file."
        ) from error

    def on_event(event: RunEvent) -> None:
        _append(file_path, json.dumps(event.to_json()).encode() + b"\n")

    return blocking(on_event)


def _append(path: Path, line: bytes) -> None:
    """Append ``line`` in a single system write, so that lines do not mix."""
    try:
        with open(path, "ab", buffering=0, opener=private_opener) as file:
            is_complete = file.write(line) == len(line)
    except OSError as error:
        raise EmitterError(f"An event could not be written to {path}: {error.strerror}.") from error
    if not is_complete:
        raise EmitterError(f"An event could only be written in part to {path}.", hint="Free some disk space.")


def to_logging(logger: logging.Logger | None = None) -> Sink:
    """Return a sink that logs events, to the logger ``emitter`` by default."""
    target = logger or logging.getLogger("emitter")

    def on_event(event: RunEvent) -> None:
        document = event.to_json()
        target.log(_get_level(event), "%s %s", event.type, document["payload"], extra={"openwop": document})

    return on_event


def on(kind: type[EventT], handler: Callable[[EventT], object]) -> Sink:
    """Return a sink that calls a function with each event of one class.

    Args:
        kind: A class of ``emitter.events``, such as ``NodeFailed``.
        handler: A function of such an event. Its return value is ignored.

    Raises:
        InputError: ``kind`` is not a class of events, or the handler is async.
    """
    if kind not in get_args(Event):
        names = ", ".join(sorted(each.__name__ for each in get_args(Event)))
        raise InputError(f"{kind!r} is not a class of events.", hint=f"Pass one of emitter.events: {names}.")
    if is_async(handler):
        raise InputError(f"The handler of {kind.__name__} is async.", hint="Pass a plain function.")

    def on_event(event: RunEvent) -> None:
        if isinstance(event.event, kind):
            handler(cast("EventT", event.event))

    return blocking(on_event) if getattr(handler, "blocking", False) else on_event


def to_all(*sinks: Sink) -> Sink:
    """Return a sink that sends each event to all of ``sinks`` in order."""
    return _SinkGroup(tuple(each for sink in sinks for each in _members(sink)))


def find_content_sink(on_event: object) -> ContentSink | None:
    """Return the sink of the content of calls that belongs to a sink of events, if it has one."""
    return cast("ContentSink | None", getattr(on_event, "on_content", None))


@dataclass(frozen=True, slots=True)
class _SinkGroup:
    """Sends each event, and the content of each call, to several sinks."""

    sinks: tuple[Sink, ...]

    def __call__(self, event: RunEvent) -> None:
        for send in self.sinks:
            send(event)

    @property
    def on_content(self) -> ContentSink | None:
        """The sink of content, if one of the sinks has one."""
        receivers = [receive for receive in map(find_content_sink, self.sinks) if receive is not None]
        return partial(_send_content, receivers) if receivers else None


def _members(receive: Any) -> tuple[Callable[[Any], object], ...]:
    """Return the sinks of a group, or the sink itself."""
    return receive.sinks if isinstance(receive, _SinkGroup) else (receive,)


def _send_content(receivers: list[ContentSink], content: CallContent) -> None:
    for receive in receivers:
        receive(content)


def _get_level(event: RunEvent) -> int:
    if isinstance(event.event, LogAppended):
        return _LEVELS[event.event.level]
    if event.type in _ERRORS:
        return logging.ERROR
    return logging.WARNING if event.type in _WARNINGS else logging.INFO


_MAX_OPEN = 4096
"""Emissions in progress. A process may abandon emissions, whose spans must not pile up."""


class OtelSink:
    """A sink that exports events to OpenTelemetry; see ``to_otel``. It is thread-safe.

    ``close``, or leaving it as a context manager, ends the spans of emissions without a last event. The sink can still
    be used afterwards.
    """

    def __init__(
        self, start_span: Callable[[RunEvent], EmissionSpan], max_open: int, *, captures_content: bool = False
    ) -> None:
        self._start_span, self._max_open = start_span, max_open
        self.on_content: ContentSink | None = self._add_content if captures_content else None
        """Receives the content of calls, if it is to be exported."""
        self._open: dict[tuple[str, str, str], EmissionSpan] = {}
        self._lock = RLock()

    def __call__(self, event: RunEvent) -> None:
        """Export one event. If OpenTelemetry fails, log it and let the emission continue."""
        from emitter.telemetry.attributes import log_export_errors  # noqa: PLC0415  only OpenTelemetry needs it

        with log_export_errors(event.type), self._lock:
            self._export(event)

    def __enter__(self) -> Self:
        """Return the sink."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the sink."""
        self.close()

    def close(self) -> None:
        """End the spans of emissions without a last event."""
        with self._lock:
            while self._open:
                self._end_oldest()

    def _export(self, event: RunEvent) -> None:
        key = (event.run_id, event.node_id, event.causation_id)
        # Removed and added again, so that the first entry is the emission without an event for the longest time.
        emission = self._open.pop(key, None) or self._start_span(event)
        self._open[key] = emission
        emission.add_event(event)
        if not emission.is_open:
            self._open.pop(key).end(finished=True)
        while len(self._open) > self._max_open:
            self._end_oldest()

    def _add_content(self, content: CallContent) -> None:
        """Add the content of a call to its span, which ends with the next events."""
        from emitter.telemetry.attributes import log_export_errors  # noqa: PLC0415  only OpenTelemetry needs it

        with log_export_errors("content"), self._lock:
            emission = self._open.get((content.run_id, content.node_id, content.correlation_id))
            if emission is not None:
                emission.add_content(content)

    def _end_oldest(self) -> None:
        self._open.pop(next(iter(self._open))).end(finished=False)


def to_otel(  # noqa: PLR0913  all have defaults
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    *,
    node_type: str | None = None,
    max_open: int = _MAX_OPEN,
    capture_content: bool | None = None,
    logger_provider: LoggerProvider | None = None,
) -> OtelSink:
    """Return a sink that exports emissions as spans and metrics.

    An emission is a span ``openwop.node.<node_type>`` (``openwop.node`` without a type) with every event on it, from
    the first call to ``node.completed``, ``node.failed`` or an interrupt. Each call is a span
    ``openwop.activity.<provider>`` inside it. An event outside an emission is a span of its own. Times are those of the
    events, and the parent is the current span at the start of the emission.

    Each ``provider.usage`` is recorded in ``gen_ai.client.token.usage``, and each call's duration in
    ``gen_ai.client.operation.duration``. The duration ends at the next event, so it includes the validation of the
    answer, and the waiting time of a batch.

    Args:
        tracer_provider: The provider of spans, or None for the global one.
        meter_provider: The provider of metrics, or None for the global one.
        node_type: The type of the nodes, for the name of the span.
        max_open: The most emissions in progress. Beyond it, the span of the emission without an event for the longest
            time ends, marked as unfinished.
        capture_content: True exports the prompts and answers of calls as attributes of their spans, without registered
            secrets. By default ``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` decides: ``SPAN_ONLY``,
            ``EVENT_ONLY``, ``SPAN_AND_EVENT`` or ``NO_CONTENT``, the default.
        logger_provider: The provider for content in events, or None for the global one.

    Raises:
        MissingExtra: OpenTelemetry's API is not installed.
    """
    if max_open < 1:
        raise InputError(f"max_open is {max_open}; it must be 1 or more.")
    from emitter.telemetry.content import ContentCapture, find_capture  # noqa: PLC0415  few programs export content

    try:
        from emitter.telemetry.spans import (  # noqa: PLC0415  the extra may be missing
            EmissionSpan,
            create_instruments,
            get_logger,
        )
    except ImportError as error:
        raise MissingExtra("OpenTelemetry's API is not installed.", extra="otel") from error
    instruments = create_instruments(tracer_provider, meter_provider)
    capture = find_capture() if capture_content is None else ContentCapture(in_spans=capture_content)
    instruments = replace(
        instruments,
        content_in_spans=capture.in_spans,
        logger=get_logger(logger_provider) if capture.in_events else None,
    )
    start_span = partial(EmissionSpan, instruments, node_type)
    return OtelSink(start_span, max_open, captures_content=any(capture))
