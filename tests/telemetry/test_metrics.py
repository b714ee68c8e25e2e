"""Metrics: tokens and seconds of every call, under the GenAI conventions' names for clients."""

from __future__ import annotations

import pytest

from emitter.events import Level, LogAppended, NodeCompleted, NodeFailed, ProviderUsage, Reason, RetryAttempted
from tests.telemetry.collecting import CALLING, USAGE, Collected, reported, story

TOKENS, SECONDS = "gen_ai.client.token.usage", "gen_ai.client.operation.duration"
ANTHROPIC = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-sonnet-5-5",
}
RESENT = LogAppended(Level.WARN, "call failed, will be sent again", {"fault": "rate_limit"})
AGAIN = RetryAttempted(2, Reason.PARSE_ERROR)


def test_tokens_of_every_call() -> None:
    """What went in and what came out are two points of one histogram, each counted once a call."""
    collected = Collected()
    on_event = collected.on_event()
    for each in story(CALLING, USAGE, AGAIN, CALLING, USAGE, NodeCompleted()):
        on_event(each)

    assert collected.points(TOKENS) == [
        ({**ANTHROPIC, "gen_ai.token.type": "input"}, 240, 2),
        ({**ANTHROPIC, "gen_ai.token.type": "output"}, 60, 2),
    ]


@pytest.mark.parametrize(
    ("provider", "said", "operation"),
    [
        ("google", "gcp.gen_ai", "generate_content"),
        ("azure-openai", "azure.ai.openai", "chat"),
        ("mistral", "mistral_ai", "chat"),
        ("my-own-server", "my-own-server", "chat"),
    ],
)
def test_providers_are_reported_by_the_conventions_ids(provider: str, said: str, operation: str) -> None:
    """Where they have an id for the vendor it must be that one."""
    collected = Collected()
    collected.on_event()(reported(ProviderUsage(provider, "m", 1, 1)))

    attributes = collected.points(TOKENS)[0][0]
    assert (attributes["gen_ai.provider.name"], attributes["gen_ai.operation.name"]) == (said, operation)


def test_seconds_of_every_call() -> None:
    """From the line that a call begins with to the next event; with the error's code where none answered."""
    collected = Collected()
    on_event = collected.on_event()
    events = (CALLING, RESENT, CALLING, USAGE, AGAIN, CALLING, USAGE, NodeCompleted())
    for number, (event, second) in enumerate(zip(events, (0, 2.5, 3, 4.25, 4.25, 5, 5.5, 6), strict=True)):
        on_event(reported(event, number, second))

    assert collected.points(SECONDS) == [
        ({**ANTHROPIC, "error.type": "rate_limited"}, 2.5, 1),
        (ANTHROPIC, 1.75, 2),
    ]


def test_a_vendor_that_never_answers_is_named() -> None:
    """An alarm for one vendor sees its outage."""
    collected = Collected()
    on_event = collected.on_event()
    for each in story(CALLING, RESENT, CALLING, NodeFailed("rate_limited", "no")):
        on_event(each)

    assert collected.points(SECONDS) == [({**ANTHROPIC, "error.type": "rate_limited"}, 2, 2)]
    assert collected.points(TOKENS) == []


def test_a_clock_that_was_put_back() -> None:
    """A call took no time less than none."""
    collected = Collected()
    on_event = collected.on_event()
    for number, (event, second) in enumerate(((CALLING, 60), (USAGE, 0), (NodeCompleted(), 0))):
        on_event(reported(event, number, second))

    assert [each[1:] for each in collected.points(SECONDS)] == [(0, 1)]


@pytest.mark.parametrize(
    ("name", "unit", "bounds"),
    [(TOKENS, "{token}", (1, 67108864, 14)), (SECONDS, "s", (0.01, 81.92, 14))],
    ids=["tokens", "seconds"],
)
def test_units_and_buckets(name: str, unit: str, bounds: tuple[float, float, int]) -> None:
    """They are the conventions' own, so that other people's dashboards fit."""
    collected = Collected()
    on_event = collected.on_event()
    for each in story(CALLING, USAGE, NodeCompleted()):
        on_event(each)

    metric = collected.metrics()[name]
    edges = metric.data.data_points[0].explicit_bounds
    assert metric.unit == unit
    assert (edges[0], edges[-1], len(edges)) == bounds


def test_a_measurement_knows_its_span() -> None:
    """An exemplar leads from a slow call in a histogram to its trace."""
    collected = Collected()
    on_event = collected.on_event()
    for each in story(CALLING, USAGE, NodeCompleted()):
        on_event(each)

    (call,) = collected.named("openwop.activity.anthropic")
    (point,) = collected.metrics()[SECONDS].data.data_points
    assert [each.span_id for each in point.exemplars] == [call.context.span_id]
