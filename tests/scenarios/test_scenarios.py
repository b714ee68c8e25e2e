"""Every scripted scenario on every wire, sync and async: exact events, calls, budgets, prompts and usage."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from emitter import (
    Emission,
    EmissionError,
    Invalid,
    Refused,
    Truncated,
    Withheld,
    aemit_binding_moment,
    emit_binding_moment,
)
from emitter.clock import Clock
from emitter.events import (
    SCHEMA_IGNORED,
    CapBreached,
    EnvelopeRefusal,
    EnvelopeTruncated,
    Event,
    LogAppended,
    NodeCompleted,
    NodeFailed,
    ProviderUsage,
    RecoveryApplied,
    RetryAttempted,
    RetryExhausted,
)
from emitter.testing.scenarios import (
    FIRST_BUDGET,
    SCENARIO_MODELS,
    SCENARIOS,
    SITUATION,
    get_scenario,
    load_scenario_cassette,
    make_replay_transport,
)
from tests.scenarios.answers import BROKEN_WORD, REFUSAL_TEXT
from tests.scenarios.scripts import WHOLE_TOKENS
from tests.scenarios.vendors import INPUT_TOKENS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.testing.cassettes import ReplayTransport

WIRES = tuple(SCENARIO_MODELS)
WORLDS = ("sync", "async")
TWICE = 2 * FIRST_BUDGET
CEILING = 3000


@dataclass(frozen=True)
class Played:
    """What came of playing a scene."""

    result: Emission[Any] | Withheld | EmissionError
    tape: ReplayTransport
    waits: list[float]

    @property
    def events(self) -> list[Event]:
        """The events that were reported."""
        return [each.event for each in self._trace.events]

    @property
    def _trace(self) -> Any:
        return self.result.trace


@cache
def play(scenario: str, wire: str, world: str) -> Played:
    """Play a scene through the vendor's own SDK, once for all tests that look at it."""
    asked = get_scenario(scenario, wire)
    tape, waits = make_replay_transport(asked), list[float]()

    async def asleep(seconds: float) -> None:
        waits.append(seconds)

    clock = Clock(sleep=waits.append, async_sleep=asleep)
    client = asked.client(tape, asynchronous=world == "async")
    arguments = {"client": client, "clock": clock, **asked.arguments()}
    try:
        if world == "async":
            return Played(asyncio.run(aemit_binding_moment(SITUATION, **arguments)), tape, waits)
        return Played(emit_binding_moment(SITUATION, **arguments), tape, waits)
    except EmissionError as error:
        return Played(error, tape, waits)


LINES: Mapping[type, str] = {
    ProviderUsage: "usage {0.input_tokens} {0.output_tokens}",
    EnvelopeTruncated: "truncated {0.stop_reason} partial={0.partial_payload_available} {0.output_token_count}",
    EnvelopeRefusal: "refusal {0.safety_category}",
    RecoveryApplied: "recovered {0.path} at {0.byte_offset}",
    RetryAttempted: "retry {0.attempt} {0.reason.value}",
    RetryExhausted: "exhausted {0.total_attempts} {0.final_reason.value}",
    CapBreached: "cap {0.kind} {0.limit} {0.observed}",
    NodeCompleted: "done {0.outputs[envelopeType]}",
    NodeFailed: "failed {0.code} {0.attempts}",
}
"""How an event reads in one line: everything in it that a scenario decides."""


def line(event: Event) -> str:
    """Return an event in one line."""
    if isinstance(event, LogAppended):
        calling = event.message == "calling"
        reported = "call {attempt} budget {budget}" if calling else f"{event.level.value} {{fault}} {{status}}"
        reported = "the schema is ignored" if event.message == SCHEMA_IGNORED else reported
        return reported.format(**event.fields)
    return LINES[type(event)].format(event)


CALL = f"call 1 budget {FIRST_BUDGET}"
WHOLE = f"usage {INPUT_TOKENS} {WHOLE_TOKENS}"
DONE = "done vendor.emitter.binding-moment"
CUT = [
    f"usage {INPUT_TOKENS} {FIRST_BUDGET}",
    f"truncated max_tokens partial=True {FIRST_BUDGET}",
]

EVENTS: dict[str, list[str]] = {
    "bound": [CALL, WHOLE, DONE],
    "deliberation": [CALL, f"usage {INPUT_TOKENS} 140", "done vendor.emitter.deliberation"],
    "truncated-then-bound": [CALL, *CUT, "retry 2 truncation", f"call 2 budget {TWICE}", WHOLE, DONE],
    "truncated-to-the-ceiling": [
        CALL,
        *CUT,
        "retry 2 truncation",
        f"call 2 budget {TWICE}",
        f"usage {INPUT_TOKENS} {TWICE}",
        f"truncated max_tokens partial=True {TWICE}",
        "retry 3 truncation",
        f"call 3 budget {CEILING}",
        f"usage {INPUT_TOKENS} {CEILING}",
        f"truncated max_tokens partial=True {CEILING}",
        "exhausted 3 truncation",
        "cap schema 2 3",
        "failed envelope_truncation_unrecoverable 3",
    ],
    "refused": [CALL, f"usage {INPUT_TOKENS} 12", "refusal {refused}", "failed envelope_refusal 1"],
    "filtered": [CALL, f"usage {INPUT_TOKENS} 7", "refusal {filtered}", "failed envelope_refusal 1"],
    "violated-then-bound": [
        CALL,
        f"usage {INPUT_TOKENS} 480",
        "retry 2 schema-violation",
        f"call 2 budget {FIRST_BUDGET}",
        WHOLE,
        DONE,
    ],
    "fenced": [CALL, WHOLE, "recovered markdown-fence at 8", DONE],
    "prose": [CALL, WHOLE, "recovered brace-walker at 37", DONE],
    "malformed-to-the-end": [
        CALL,
        f"usage {INPUT_TOKENS} 40",
        "the schema is ignored",
        "retry 2 parse-error",
        f"call 2 budget {FIRST_BUDGET}",
        f"usage {INPUT_TOKENS} 40",
        "retry 3 parse-error",
        f"call 3 budget {FIRST_BUDGET}",
        f"usage {INPUT_TOKENS} 40",
        "exhausted 3 parse-error",
        "cap schema 2 3",
        "failed envelope_invalid 3",
    ],
    "overloaded-then-bound": [CALL, "warn {overloaded}", f"call 2 budget {FIRST_BUDGET}", WHOLE, DONE],
    "thinking-ate-the-budget": [
        CALL,
        f"usage {INPUT_TOKENS} {FIRST_BUDGET}",
        f"truncated max_tokens partial=False {FIRST_BUDGET}",
        "retry 2 truncation",
        f"call 2 budget {TWICE}",
        WHOLE,
        DONE,
    ],
}

WORDS: Mapping[str, Mapping[str, str]] = {
    "openai-responses": {
        "refused": "refusal",
        "filtered": "incomplete:content_filter",
        "overloaded": "rate_limit 429",
    },
    "openai-chat": {"refused": "refusal", "filtered": "content_filter", "overloaded": "rate_limit 429"},
    "anthropic": {"refused": "general_harms", "filtered": "bio", "overloaded": "overloaded 529"},
    "google": {"refused": "PROHIBITED_CONTENT", "filtered": "SAFETY", "overloaded": "overloaded 503"},
    "gemini-interactions": {"refused": "3", "filtered": "3", "overloaded": "rate_limit 429"},
    "bedrock-converse": {
        "refused": "content_filtered",
        "filtered": "guardrail_intervened",
        "overloaded": "rate_limit 429",
    },
}
"""The vendors' own words where they differ."""

ENDS: dict[str, type] = {
    "deliberation": Withheld,
    "truncated-to-the-ceiling": Truncated,
    "refused": Refused,
    "filtered": Refused,
    "malformed-to-the-end": Invalid,
}
"""What a scenario ends in, where it is no binding moment."""

BUDGET_KEYS = {
    "openai-responses": ("max_output_tokens",),
    "openai-chat": ("max_completion_tokens",),
    "anthropic": ("max_tokens",),
    "google": ("generationConfig", "maxOutputTokens"),
    "gemini-interactions": ("generation_config", "max_output_tokens"),
    "bedrock-converse": ("inferenceConfig", "maxTokens"),
}

every_scene = pytest.mark.parametrize(
    ("scenario", "wire"), [(each, wire) for each in SCENARIOS for wire in WIRES], ids=lambda each: each
)
every_wire = pytest.mark.parametrize("wire", WIRES)
every_world = pytest.mark.parametrize("world", WORLDS)


@every_world
@every_scene
def test_tells_exactly_these_events(scenario: str, wire: str, world: str) -> None:
    """The whole sequence of events is pinned, in order, with calls and budgets."""
    played = play(scenario, wire, world)

    assert [line(each) for each in played.events] == [each.format(**WORDS[wire]) for each in EVENTS[scenario]]
    assert played.tape.unused() == ()


@every_world
@every_scene
def test_ends_as_it_should(scenario: str, wire: str, world: str) -> None:
    """A scenario ends in a binding moment, in a veto, or in its own error with a code."""
    result = play(scenario, wire, world).result

    assert type(result) is ENDS.get(scenario, Emission)
    if isinstance(result, EmissionError):
        assert result.code == EVENTS[scenario][-1].split()[1]


@every_scene
def test_both_worlds_tell_the_same(scenario: str, wire: str) -> None:
    """The sync and the async driver tell equal events and count equal attempts."""
    one, other = (play(scenario, wire, world) for world in WORLDS)

    assert one.events == other.events
    assert one.result.trace.attempts == other.result.trace.attempts
    assert one.result.trace.usage == other.result.trace.usage


@every_scene
def test_usage_adds_up(scenario: str, wire: str) -> None:
    """The usage reported is the sum over attempts, and the sum over events."""
    played = play(scenario, wire, "sync")
    reported = [each for each in played.events if isinstance(each, ProviderUsage)]
    usage = played.result.trace.usage

    assert usage.input == sum(each.input_tokens for each in reported) == INPUT_TOKENS * len(reported)
    assert usage.output == sum(each.output_tokens for each in reported)
    assert usage.output == sum(each.usage.output for each in played.result.trace.attempts if each.usage)


@every_wire
@pytest.mark.parametrize("scenario", ["refused", "filtered"])
def test_a_refusal_makes_exactly_one_call(scenario: str, wire: str) -> None:
    """A refusal is never re-sent, and its words reach neither the error nor an event."""
    played = play(scenario, wire, "sync")

    assert len(load_scenario_cassette(get_scenario(scenario, wire)).interactions) == 1
    assert len(played.result.trace.attempts) == 1
    assert REFUSAL_TEXT not in str(played.result)
    assert REFUSAL_TEXT not in json.dumps([each.to_json() for each in played.result.trace.events])


def sent(scenario: str, wire: str) -> list[tuple[int, str]]:
    """Return the budget and the rest of each request body, as the replay demands them to the letter."""
    bodies = [each.request.body for each in load_scenario_cassette(get_scenario(scenario, wire)).interactions]
    return [_without_budget(json.loads(json.dumps(body)), BUDGET_KEYS[wire]) for body in bodies]


def _without_budget(body: dict[str, Any], keys: tuple[str, ...]) -> tuple[int, str]:
    place = body
    for key in keys[:-1]:
        place = place[key]
    budget = place.pop(keys[-1])
    return budget, json.dumps(body)


@every_wire
@pytest.mark.parametrize("scenario", ["truncated-then-bound", "thinking-ate-the-budget", "truncated-to-the-ceiling"])
def test_a_truncation_retry_has_a_larger_budget_and_the_same_prompt(scenario: str, wire: str) -> None:
    """Nothing but the budget changes after a cut, to the byte."""
    budgets, rests = zip(*sent(scenario, wire), strict=True)

    assert list(budgets) == sorted(set(budgets))
    assert len(set(rests)) == 1


@every_wire
@pytest.mark.parametrize("scenario", ["violated-then-bound", "malformed-to-the-end"])
def test_a_schema_retry_has_the_same_budget_and_no_word_of_the_answer(scenario: str, wire: str) -> None:
    """The correction is written by us: the failed answer is nowhere in the next request."""
    (first, before), *later = sent(scenario, wire)

    assert BROKEN_WORD in json.dumps(load_scenario_cassette(get_scenario(scenario, wire)).interactions[0].response.body)
    for budget, after in later:
        assert budget == first
        assert after != before
        assert BROKEN_WORD not in after


@every_wire
def test_a_correction_replaces_its_predecessor(wire: str) -> None:
    """Corrections never pile up: equal failures make equal requests."""
    _, second, third = sent("malformed-to-the-end", wire)

    assert second == third


@every_wire
@every_world
def test_an_overload_waits_as_long_as_the_vendor_asks(wire: str, world: str) -> None:
    """Retry-After is honoured, and the fault costs no schema round."""
    played = play("overloaded-then-bound", wire, world)

    assert len(played.waits) == 1
    assert played.waits[0] >= 1.0
    assert isinstance(played.result, Emission)


@every_wire
def test_the_decision_is_what_the_model_wrote(wire: str) -> None:
    """The value holds the eight slots, the caller's class and open hatches; the envelope holds the value."""
    result = play("bound", wire, "sync").result

    assert isinstance(result, Emission)
    assert result.value.question.recommended.label == "Resume from partition 62 now"
    assert result.value.question.hatches.free_text
    assert result.value.question.hatches.dialogue
    assert result.value.meta.decision_class == "operations"
    assert result.envelope.payload["binding_moment"] == result.value.to_json()
    assert result.envelope.type == "vendor.emitter.binding-moment"


def test_every_cassette_says_that_it_was_written_by_hand() -> None:
    """No cassette claims to be a recording."""
    reported = {
        load_scenario_cassette(get_scenario(each, wire)).provenance.value for each in SCENARIOS for wire in WIRES
    }

    assert reported == {"written by hand"}
