"""Attributes: each event says what OpenWOP's table names, and nothing else."""

from __future__ import annotations

import importlib
from typing import Any, get_args

import pytest

from emitter.events import (
    CapBreached,
    ClarificationRequested,
    EnvelopeRefusal,
    EnvelopeTruncated,
    Event,
    InterruptRequested,
    Level,
    LogAppended,
    ModelCapabilityInsufficient,
    ModelCapabilitySubstituted,
    NlToFormatEngaged,
    NodeCompleted,
    NodeFailed,
    ProviderUsage,
    Reason,
    RecoveryApplied,
    ReplayDiverged,
    ReplayDivergedAtRefusal,
    RetryAttempted,
    RetryExhausted,
)
from emitter.telemetry import attributes
from emitter.telemetry.attributes import EVENT_ATTRIBUTES, get_event_attributes, get_payload_attributes, to_nanoseconds
from tests.telemetry.collecting import BEGAN, SECOND, Collected, reported, story

CANARY = "the canary sk-live-51Habc that nobody may read"

SAYS: list[tuple[Event, dict[str, Any]]] = [
    (
        RetryAttempted(2, Reason.SCHEMA_VIOLATION, CANARY),
        {"openwop.envelope.retry.attempt": 2, "openwop.envelope.retry.reason": "schema-violation"},
    ),
    (
        RetryExhausted(3, Reason.TRUNCATION, CANARY),
        {"openwop.envelope.retry.total_attempts": 3, "openwop.envelope.retry.final_reason": "truncation"},
    ),
    (
        EnvelopeRefusal("google", "gemini", "SAFETY_BLOCK_HARASSMENT"),
        {"openwop.envelope.refusal.safety_category": "SAFETY_BLOCK_HARASSMENT"},
    ),
    (
        EnvelopeTruncated("openai", "gpt", "max_tokens", partial_payload_available=True, output_token_count=64),
        {"openwop.envelope.truncated.stop_reason": "max_tokens", "openwop.envelope.truncated.output_token_count": 64},
    ),
    (NlToFormatEngaged("vendor.acme.prd", 2), {"openwop.envelope.nl_to_format.fallback_calls": 2}),
    (
        RecoveryApplied("markdown-fence", 8),
        {"openwop.envelope.recovery.path": "markdown-fence", "openwop.envelope.recovery.byte_offset": 8},
    ),
    (
        CapBreached("schema", 3, 4),
        {"openwop.cap_kind": "schema", "openwop.cap_limit": 3, "openwop.cap_observed": 4},
    ),
    (
        ProviderUsage("openai", "gpt", 100, 20, 5, 6),
        {
            "openwop.cost.tokens.input": 100,
            "openwop.cost.tokens.output": 20,
            "openwop.cost.tokens.total": 120,
            "openwop.cost.provider": "openai",
        },
    ),
    (NodeFailed("envelope_invalid", CANARY, 3, {"at": CANARY}), {"error.type": "envelope_invalid"}),
    (NodeCompleted({"value": CANARY}), {}),
    (ClarificationRequested("int-1", ({"id": "q1", "question": CANARY},)), {}),
    (InterruptRequested("int-1", "clarification", "r:n:0:k", {"questions": [CANARY]}), {}),
    (ModelCapabilitySubstituted("openai", "small", "openai", "large", ("long-context",)), {}),
    (ModelCapabilityInsufficient("openai", "small", ("long-context",)), {}),
    (ReplayDiverged("run-0", 4, "output", "envelope.truncated"), {}),
    (ReplayDivergedAtRefusal("run-0", 4, "valid", "refusal"), {}),
    (LogAppended(Level.WARN, CANARY, {"fault": CANARY, "deep": [{"er": CANARY}]}), {}),
]


@pytest.mark.parametrize(("event", "said"), SAYS, ids=[each.type for each, _ in SAYS])
def test_an_event_says_what_the_table_names(event: Event, said: dict[str, Any]) -> None:
    """The names and types are observability.md's; type and place stand beside them."""
    assert get_payload_attributes(event) == said
    assert get_event_attributes(reported(event, 7)) == {
        "openwop.event_type": event.type,
        "openwop.event_seq": 7,
        **said,
    }


def test_the_table_is_total() -> None:
    """No kind of event can be added without saying what may be reported it."""
    assert set(EVENT_ATTRIBUTES) == set(get_args(Event)) == {type(each) for each, _ in SAYS}


@pytest.mark.parametrize(
    "event",
    [
        EnvelopeRefusal("openai", "gpt", None),
        EnvelopeTruncated("openai", "gpt", "unknown", partial_payload_available=False),
        RecoveryApplied("jsonrepair"),
    ],
    ids=lambda each: each.type,
)
def test_what_is_absent_is_left_out(event: Event) -> None:
    """OpenTelemetry has no null."""
    assert None not in get_payload_attributes(event).values()
    assert len(get_payload_attributes(event)) == len(EVENT_ATTRIBUTES[type(event)]) - 1


@pytest.mark.parametrize("event", [each for each, _ in SAYS], ids=[each.type for each, _ in SAYS])
def test_no_free_text_is_reported_anywhere(event: Event) -> None:
    """Whatever text stands in an event, no span, no status and no metric carries it."""
    collected = Collected()
    with collected.on_event() as on_event:
        for each in story(LogAppended(Level.DEBUG, "calling", {"attempt": CANARY}), event, event):
            on_event(each)

    assert any(event.type == each.name for span in collected.spans for each in span.events)
    assert not [each for each in collected.said() if "canary" in str(each) or "sk-live" in str(each)]


@pytest.mark.parametrize(
    "event",
    [
        EnvelopeRefusal("openai", "gpt", CANARY),
        NodeFailed(CANARY, "no"),
        CapBreached(CANARY, 1, 2),
        RecoveryApplied(CANARY),
    ],
    ids=lambda each: each.type,
)
def test_a_sentence_is_no_word(event: Event) -> None:
    """Where a vocabulary's word should stand and a sentence does, the conventions have a word for it."""
    collected = Collected()
    with collected.on_event() as on_event:
        on_event(reported(event))

    assert attributes.OTHER in collected.said()
    assert not [each for each in collected.said() if "canary" in str(each)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("harmful-content", "harmful-content"),
        ("prompt blocked: SAFETY", "prompt blocked: SAFETY"),
        ("vendor.acme.prd.create", "vendor.acme.prd.create"),
        ("four words are many", attributes.OTHER),
        ("a\nb", attributes.OTHER),
        ("x" * 65, attributes.OTHER),
        ("", attributes.OTHER),
        ("größer", attributes.OTHER),
    ],
)
def test_words(text: str, said: str) -> None:
    """Up to three words of plain letters are a vocabulary's."""
    assert attributes.limit_to_vocabulary(text) == said


@pytest.mark.parametrize(
    ("timestamp", "found"),
    [
        ("2026-01-31T12:00:00Z", BEGAN),
        ("2026-01-31T12:00:00.250Z", BEGAN + SECOND // 4),
        ("2026-01-31T13:00:01+01:00", BEGAN + SECOND),
        ("2026-01-31T12:00:00", BEGAN),
        ("1969-12-31T23:59:59Z", None),
        ("tomorrow", None),
    ],
)
def test_times(timestamp: str, found: int | None) -> None:
    """An event's time to the nanosecond; what is none, or lies before all time, is not reported."""
    assert to_nanoseconds(timestamp) == found


def test_a_number_that_no_exporter_can_write() -> None:
    """A vendor's nonsense must not lose the spans that are exported with it."""
    absurd = ProviderUsage("openai", "gpt", 2**70, 2**70)

    assert all(value <= 2**63 - 1 for value in get_payload_attributes(absurd).values() if isinstance(value, int))


ATTRIBUTES = {
    "GEN_AI_OPERATION_NAME": attributes.OPERATION,
    "GEN_AI_PROVIDER_NAME": attributes.PROVIDER,
    "GEN_AI_REQUEST_MODEL": attributes.MODEL,
    "GEN_AI_TOKEN_TYPE": attributes.TOKEN_TYPE,
    "GEN_AI_USAGE_INPUT_TOKENS": attributes.USAGE_INPUT,
    "GEN_AI_USAGE_OUTPUT_TOKENS": attributes.USAGE_OUTPUT,
}
METRICS = {
    "GEN_AI_CLIENT_TOKEN_USAGE": attributes.TOKEN_USAGE,
    "GEN_AI_CLIENT_OPERATION_DURATION": attributes.OPERATION_DURATION,
}


@pytest.mark.parametrize(
    ("module", "pinned"),
    [("attributes.gen_ai_attributes", ATTRIBUTES), ("metrics.gen_ai_metrics", METRICS)],
    ids=["attributes", "metrics"],
)
def test_our_names_are_the_conventions(module: str, pinned: dict[str, str]) -> None:
    """The names that are pinned here are still those of the package, where it is installed."""
    pytest.importorskip("opentelemetry.semconv")
    theirs = importlib.import_module(f"opentelemetry.semconv._incubating.{module}")

    assert {name: getattr(theirs, name) for name in pinned} == pinned


def test_the_providers_are_the_conventions() -> None:
    """Each of our ids that the conventions name otherwise is reported as theirs; the rest are reported as they are."""
    text = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes").__dict__
    known = {each.value for each in text["GenAiProviderNameValues"]}

    assert {
        attributes.get_provider_name(each) for each in ("google", "azure-openai", "mistral", "openai", "anthropic")
    } <= known
    assert attributes.get_provider_name("ollama") == "ollama"
    assert {attributes.get_operation_name("google"), attributes.get_operation_name("openai")} == {
        "generate_content",
        "chat",
    }
