"""A real emission, against the simulator, through the whole library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from opentelemetry.trace import StatusCode

from emitter import EmissionError, Policy, emit, emit_binding_moment
from emitter.clock import Clock
from emitter.models.binding_moment import Clarification, ClarificationRequest, Deliberation, ErrorReport
from emitter.telemetry.attributes import UNFINISHED
from emitter.testing import Cut, Overloaded, Text, simulator, write_decision
from tests.telemetry.collecting import Collected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.models.binding_moment import TurnAnswer

SCHEMA = {
    "title": "Invoice",
    "type": "object",
    "properties": {"vendor": {"type": "string"}, "total": {"type": "number"}},
    "required": ["vendor", "total"],
    "additionalProperties": False,
}
ACME = Text({"vendor": "Acme the canary", "total": 12.5})
CLOCK = Clock(sleep=lambda _: None)
VENDORS = [
    ("openai/gpt-6-sol", "openai", "openai"),
    ("anthropic/claude-sonnet-5-5", "anthropic", "anthropic"),
    ("google/gemini-3.8-flash", "google", "gcp.gen_ai"),
]


@pytest.mark.parametrize(("model", "ours", "theirs"), VENDORS, ids=[each[1] for each in VENDORS])
def test_an_emission_that_comes_through(model: str, ours: str, theirs: str) -> None:
    """Three calls, of which the first met an overloaded vendor and the second was cut: three spans, one bill."""
    collected = Collected()
    with simulator(answers=ACME) as vendor, collected.on_event() as on_event:
        vendor.script(Overloaded(503, retry_after=0), Cut(answer=ACME))
        situation = "From Acme the canary: 12.50."
        emission = emit(SCHEMA, situation, model=model, client=vendor.client(model), on_event=on_event, clock=CLOCK)

    calls = collected.named(f"openwop.activity.{ours}")
    (node,) = collected.named("openwop.node")
    said: Mapping[str, object] = node.attributes or {}
    assert [(each.attributes or {}).get("error.type") for each in calls] == ["provider_unavailable", None, None]
    assert all(each.parent and each.parent.span_id == node.context.span_id for each in calls)
    assert UNFINISHED not in said
    assert said["openwop.cost.tokens.input"] == emission.usage.input == vendor.billed.input
    assert said["openwop.cost.tokens.output"] == emission.usage.output == vendor.billed.output
    assert said["openwop.envelope.truncated.stop_reason"] == "max_tokens"
    billed = {point[0]["gen_ai.token.type"]: point[1:] for point in collected.points("gen_ai.client.token.usage")}
    assert billed == {"input": (vendor.billed.input, 2), "output": (vendor.billed.output, 2)}
    durations = collected.points("gen_ai.client.operation.duration")
    assert {each[0]["gen_ai.provider.name"] for each in durations} == {theirs}
    assert sum(each[2] for each in durations) == 3
    assert not [each for each in collected.said() if "canary" in str(each)]


TURNS: dict[str, TurnAnswer] = {
    "error": ErrorReport(code="ambiguous_intent", message="It may mean two things."),
    "clarification": ClarificationRequest(questions=(Clarification(id="q1", question="Which region?"),)),
    "deliberation": Deliberation(state="Two vendors.", missing=("A price.",), permission="May I ask for prices?"),
}


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_an_agent_that_withholds(turn: TurnAnswer) -> None:
    """Whatever the host tells of it, the emission's span is whole when the call returns."""
    collected, model = Collected(), "openai/gpt-6-sol"
    with simulator(answers=write_decision(turn)) as vendor:
        emit_binding_moment("Shall we?", model=model, client=vendor.client(model), on_event=collected.on_event())

    (node,) = collected.named("openwop.node")
    assert UNFINISHED not in (node.attributes or {})
    assert node.status.status_code is StatusCode.UNSET


def test_an_emission_that_fails() -> None:
    """Its span is an error with the terminal code, ended by the emission itself."""
    collected, model = Collected(), "openai/gpt-6-sol"
    with simulator(answers=Text("There is no canary here.")) as vendor, pytest.raises(EmissionError):
        emit(
            SCHEMA,
            "From Acme.",
            model=model,
            client=vendor.client(model),
            on_event=collected.on_event(),
            policy=Policy(max_attempts=2),
        )

    (node,) = collected.named("openwop.node")
    assert node.status.description == "envelope_invalid"
    assert (node.attributes or {})["openwop.envelope.retry.total_attempts"] == 2
    assert len(collected.named("openwop.activity.openai")) == 2
    assert not [each for each in collected.said() if "canary" in str(each)]
