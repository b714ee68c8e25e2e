"""Spans: one for an emission, one in it for each call, from the events alone."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.trace import SpanKind, StatusCode

from emitter.errors import InputError
from emitter.events import (
    CapBreached,
    ClarificationRequested,
    EnvelopeRefusal,
    EnvelopeTruncated,
    InterruptRequested,
    Level,
    LogAppended,
    ModelCapabilityInsufficient,
    ModelCapabilitySubstituted,
    NodeCompleted,
    NodeFailed,
    Reason,
    RetryAttempted,
    RetryExhausted,
)
from emitter.models import Trust
from emitter.telemetry import to_otel
from tests.telemetry.collecting import BEGAN, CALLING, SECOND, USAGE, Collected, reported, story

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from emitter.events import Event, RunEvent

RESENT = LogAppended(Level.WARN, "call failed, will be sent again", {"fault": "overloaded", "status": 503})
CUT = EnvelopeTruncated("anthropic", "claude-sonnet-5-5", "max_tokens", partial_payload_available=True)
DONE = NodeCompleted()


def spans_of(*events: Event, **options: Any) -> Collected:
    """Return what was collected of one emission."""
    collected = Collected()
    with collected.on_event(**options) as on_event:
        for each in story(*events):
            on_event(each)
    return collected


def kinds(span: ReadableSpan) -> list[str]:
    """Return the names of a span's events."""
    return [each.name for each in span.events]


def test_an_emission_is_a_span_with_its_calls_in_it() -> None:
    """Times are the events'; every event stands on the span; each call is a span of its vendor's."""
    collected = spans_of(CALLING, USAGE, CUT, RetryAttempted(2, Reason.TRUNCATION), CALLING, USAGE, DONE)
    first, second, node = collected.spans

    assert (node.name, node.kind, node.parent) == ("openwop.node", SpanKind.INTERNAL, None)
    assert (node.start_time, node.end_time) == (BEGAN, BEGAN + 6 * SECOND)
    assert kinds(node)[:4] == ["log.appended", "provider.usage", "envelope.truncated", "envelope.retry.attempted"]
    assert [each.timestamp for each in node.events] == [BEGAN + second * SECOND for second in range(7)]
    assert node.status.status_code is StatusCode.UNSET
    for call, (start, end) in ((first, (0, 1)), (second, (4, 5))):
        assert (call.name, call.kind) == ("openwop.activity.anthropic", SpanKind.CLIENT)
        assert call.parent is not None
        assert call.parent.span_id == node.context.span_id
        assert (call.start_time, call.end_time) == (BEGAN + start * SECOND, BEGAN + end * SECOND)


def test_what_an_emission_says_of_itself() -> None:
    """Ids, the last word of each kind of event, and all its tokens; never what only a call cost."""
    collected = spans_of(CALLING, USAGE, RetryAttempted(2, Reason.PARSE_ERROR), CALLING, USAGE, DONE)
    (node,) = collected.named("openwop.node")

    assert dict(node.attributes or {}) == {
        "openwop.run_id": "run-1",
        "openwop.node_id": "node-1",
        "openwop.envelope.retry.attempt": 2,
        "openwop.envelope.retry.reason": "parse-error",
        "openwop.cost.tokens.input": 240,
        "openwop.cost.tokens.output": 60,
        "openwop.cost.tokens.total": 300,
    }


def test_what_a_call_says_of_itself() -> None:
    """Who was called, and what it cost, in both vocabularies."""
    (call,) = spans_of(CALLING, USAGE, DONE).named("openwop.activity.anthropic")

    assert dict(call.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-5-5",
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 30,
        "openwop.cost.tokens.input": 120,
        "openwop.cost.tokens.output": 30,
        "openwop.cost.tokens.total": 150,
        "openwop.cost.provider": "anthropic",
    }


def test_the_nodes_type_is_part_of_the_name() -> None:
    """OpenWOP names a node's span after its type; the library does not know it, the host may."""
    (node,) = spans_of(CALLING, DONE, node_type="core.ai.decide").named("openwop.node.core.ai.decide")

    assert (node.attributes or {})["openwop.node_type"] == "core.ai.decide"


def test_a_failed_emission() -> None:
    """The status is an error with the code alone."""
    sentence = "The answer never held (calls made: 1)."
    ended = (RetryExhausted(1, Reason.TRUNCATION), CapBreached("schema", 1, 2))
    failed = NodeFailed("envelope_truncation_unrecoverable", sentence, 1)
    (node,) = spans_of(CALLING, USAGE, CUT, *ended, failed).named("openwop.node")

    assert (node.status.status_code, node.status.description) == (StatusCode.ERROR, "envelope_truncation_unrecoverable")
    assert (node.attributes or {})["error.type"] == "envelope_truncation_unrecoverable"
    assert (node.attributes or {})["openwop.cap_observed"] == 2


FAULTS: list[tuple[str, tuple[Event, ...], list[tuple[str, str | None]]]] = [
    (
        "sent again",
        (CALLING, RESENT, CALLING, USAGE, DONE),
        [("openwop.activity.anthropic", "provider_unavailable"), ("openwop.activity.anthropic", None)],
    ),
    (
        "for good",
        (CALLING, RESENT, CALLING, NodeFailed("rate_limited", "no")),
        [("openwop.activity.anthropic", "provider_unavailable"), ("openwop.activity.anthropic", "rate_limited")],
    ),
    (
        "billed all the same",
        (CALLING, USAGE, NodeFailed("cancelled", "no")),
        [("openwop.activity.anthropic", "cancelled")],
    ),
    (
        "refused, which is an answer",
        (CALLING, EnvelopeRefusal("anthropic", "claude-sonnet-5-5"), NodeFailed("envelope_refusal", "no")),
        [("openwop.activity.anthropic", None)],
    ),
    (
        "broken form, which is an answer",
        (CALLING, USAGE, RetryExhausted(1, Reason.PARSE_ERROR), NodeFailed("envelope_invalid", "no")),
        [("openwop.activity.anthropic", None)],
    ),
    (
        "a line of somebody else's with a fault that is none",
        (CALLING, LogAppended(Level.WARN, "hm", {"fault": "sk-live"}), DONE),
        [("openwop.activity.anthropic", None)],
    ),
]


@pytest.mark.parametrize(("events", "calls"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_calls_that_came_to_nothing(events: tuple[Event, ...], calls: list[tuple[str, str | None]]) -> None:
    """A fault is the call's error, in the terminal codes' words; an answer that does not do is none."""
    found = [each for each in spans_of(*events).spans if each.kind is SpanKind.CLIENT]

    assert [(each.name, (each.attributes or {}).get("error.type")) for each in found] == calls
    assert [each.status.status_code is StatusCode.ERROR for each in found] == [error is not None for _, error in calls]


ENDS: list[tuple[str, tuple[Event, ...]]] = [
    ("completed", (CALLING, USAGE, DONE)),
    ("failed", (CALLING, NodeFailed("deadline_exceeded", "no"))),
    (
        "waits for a person",
        (CALLING, USAGE, ClarificationRequested("i", ()), InterruptRequested("i", "clarification", "r:n:0:k")),
    ),
    ("a limit allowed no call", (CapBreached("budget-tokens", 1, 2), NodeFailed("limit", "no"))),
    (
        "another model was asked",
        (ModelCapabilitySubstituted("a", "b", "c", "d", ("reasoning",)), CALLING, USAGE, DONE),
    ),
    (
        "no model would do",
        (ModelCapabilityInsufficient("a", "b", ("reasoning",)), NodeFailed("capability_not_provided", "no")),
    ),
]


@pytest.mark.parametrize("events", [row[1] for row in ENDS], ids=[row[0] for row in ENDS])
def test_an_emission_is_one_span_and_ends_with_its_last_event(events: tuple[Event, ...]) -> None:
    """Nothing is left open, and nothing is marked as unfinished."""
    collected = Collected()
    on_event = collected.on_event()
    for each in story(*events):
        on_event(each)

    (node,) = collected.named("openwop.node")
    assert kinds(node) == [each.type for each in events]
    assert "emitter.unfinished" not in (node.attributes or {})


@pytest.mark.parametrize("kind", ["error", "schema.request", "schema.response"])
def test_an_envelope_of_which_a_line_tells_ends_the_emission(kind: str) -> None:
    """A host tells of some universal kinds in a log line alone: with it the emission is over."""
    collected = Collected()
    on_event = collected.on_event()
    on_event(reported(CALLING))
    on_event(reported(LogAppended(Level.ERROR, kind), 1, 1, trust=Trust.TRUSTED))

    assert [each.name for each in collected.spans] == ["openwop.activity.anthropic", "openwop.node"]


@pytest.mark.parametrize(
    "event",
    [
        LogAppended(Level.WARN, "envelope_invalid"),
        NodeFailed("cap_breached", "no"),
        DONE,
        ClarificationRequested("i", ()),
    ],
    ids=lambda each: each.type,
)
def test_what_is_reported_outside_of_an_emission_is_a_span_by_itself(event: Event) -> None:
    """Such as what an acceptor tells of an envelope that came from elsewhere: it is not kept open for more."""
    collected = Collected()
    collected.on_event()(reported(event))

    (node,) = collected.spans
    assert kinds(node) == [event.type]
    assert node.start_time == node.end_time == BEGAN


def test_emissions_interleave() -> None:
    """Two runs at once are two spans, each with its own calls and events."""
    collected = Collected()
    on_event = collected.on_event()
    tales = [story(CALLING, USAGE, DONE, run=run) for run in ("a", "b")]
    for pair in zip(*tales, strict=True):
        for each in pair:
            on_event(each)

    nodes = collected.named("openwop.node")
    assert [(each.attributes or {})["openwop.run_id"] for each in nodes] == ["a", "b"]
    assert [kinds(each) for each in nodes] == [["log.appended", "provider.usage", "node.completed"]] * 2
    parents = [each.parent.span_id for each in collected.spans if each.parent]
    assert parents == [each.context.span_id for each in nodes]


def test_many_threads() -> None:
    """Each emission is whole, whoever tells at the same time."""
    collected = Collected()
    on_event = collected.on_event()

    def emit(number: int) -> None:
        for each in story(CALLING, RESENT, CALLING, USAGE, DONE, run=f"run-{number}"):
            on_event(each)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(emit, range(200)))

    nodes = collected.named("openwop.node")
    assert len(nodes) == 200
    assert {len(each.events) for each in nodes} == {5}
    assert len(collected.named("openwop.activity.anthropic")) == 400


def test_emissions_that_never_end_do_not_pile_up() -> None:
    """Beyond so many the one that was silent for longest is ended where its last event was, and says so."""
    collected = Collected()
    on_event = collected.on_event(max_open=2)
    on_event(reported(CALLING, run="a"))
    on_event(reported(CALLING, run="b"))
    on_event(reported(USAGE, 1, 3, run="a"))
    on_event(reported(CALLING, run="c"))

    (node,) = collected.named("openwop.node")
    assert (node.attributes or {})["openwop.run_id"] == "b"
    assert (node.attributes or {})["emitter.unfinished"] is True
    on_event.close()
    ends = {str((each.attributes or {})["openwop.run_id"]): each.end_time for each in collected.named("openwop.node")}
    assert ends == {"b": BEGAN, "a": BEGAN + 3 * SECOND, "c": BEGAN}


def test_a_sink_that_was_closed_goes_on() -> None:
    """Closing ends what is open; it forbids nothing."""
    collected = Collected()
    with collected.on_event() as on_event:
        on_event(reported(CALLING))
    for each in story(CALLING, DONE, run="b"):
        on_event(each)

    assert len(collected.named("openwop.node")) == 2


def test_the_span_is_a_child_of_what_is_current() -> None:
    """An emission stands in the trace of whoever asked for it."""
    collected = Collected()
    on_event = collected.on_event()
    with collected.tracers.get_tracer("mine").start_as_current_span("request") as request:
        on_event(reported(CALLING))
    on_event(reported(DONE, 1))

    (node,) = collected.named("openwop.node")
    assert node.parent == request.get_span_context()


@pytest.mark.parametrize("timestamp", ["tomorrow", "", "0001-01-01T00:00:00Z"])
def test_a_time_that_is_none(timestamp: str) -> None:
    """The span is reported all the same, at the time at which it was heard of."""
    collected = Collected()
    on_event = collected.on_event()
    for number, event in enumerate((CALLING, USAGE, DONE)):
        made = reported(event, number)
        on_event(type(made)(made.event, made.event_id, made.run_id, made.node_id, timestamp, number, made.causation_id))

    assert [each.name for each in collected.spans] == ["openwop.activity.anthropic", "openwop.node"]
    assert not collected.points("gen_ai.client.operation.duration")


def test_half_a_character_is_not_reported() -> None:
    """No exporter can write one, and it would lose all that is exported with it."""
    collected = Collected()
    with collected.on_event() as on_event:
        on_event(reported(CALLING, run="run-\ud800"))

    assert all(str(each).encode() for each in collected.said())


class _Broken(SpanProcessor):
    """A processor with a bug."""

    def on_end(self, span: ReadableSpan) -> None:
        """Raise, with words that nobody may read."""
        raise RuntimeError(f"sk-live {span.name}")


def test_what_a_processor_raises_is_logged_and_goes_no_further(caplog: pytest.LogCaptureFixture) -> None:
    """A decision that was paid for is not lost to telemetry, and the failure is not lost either."""
    tracers = TracerProvider()
    tracers.add_span_processor(_Broken())
    on_event = to_otel(tracers)
    events: list[RunEvent] = story(CALLING, DONE)
    for each in events:
        on_event(each)

    assert [record.name for record in caplog.records] == ["emitter.otel"]
    assert "node.completed" in caplog.text
    assert "sk-live" not in caplog.text


def test_without_providers_it_tells_the_global_ones() -> None:
    """Where none is set up nothing is reported, and nothing goes wrong."""
    with to_otel() as on_event:
        for each in story(CALLING, USAGE, DONE):
            on_event(each)


def test_without_its_extra() -> None:
    """The package can be imported; what is missing is named once it is needed, with the line that installs it."""
    script = """
import sys
sys.modules["opentelemetry"] = None
from emitter.telemetry import to_otel
to_otel()
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, text=True)

    assert "MissingExtra: OpenTelemetry's API is not installed." in ran.stderr
    assert "pip install 'llm-emitter[otel]'" in ran.stderr


def test_a_bound_that_is_none() -> None:
    """Less than one emission cannot be under way."""
    with pytest.raises(InputError, match="max_open"):
        to_otel(max_open=0)
