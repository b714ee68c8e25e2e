"""Thinking within the output budget: it is remembered for the first budget, told in a cut, and lowered if allowed."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from emitter import LimitReached, Policy, Truncated, aemit, emit, emit_many, stream
from emitter.client import thinking
from emitter.client.settings import Settings
from emitter.core.verdicts import DocumentContract, classify
from emitter.events import EFFORT_LOWERED
from emitter.messages import ModelRequest, ModelResponse, OutputFormat, OutputMode, StopReason, Usage
from emitter.schema import compile_schema
from emitter.testing import Cut, Text, Thinking, simulator

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
ANSWER = Text({"a": 1})
LONG = 12_000


class Wire(NamedTuple):
    """A model on a wire that counts thinking, the path of its effort, and the efforts from the first downwards."""

    model: str
    path: tuple[str, ...]
    efforts: tuple[str | None, str]
    wire: str | None = None


WIRES = {
    "Responses": Wire("openai/gpt-6-sol", ("reasoning", "effort"), (None, "low")),
    "Chat Completions": Wire("openai/gpt-6-sol", ("reasoning_effort",), (None, "low"), "openai-chat"),
    "compatible": Wire("openai-compatible/qwen-3", ("reasoning_effort",), ("medium", "low")),
    "Messages": Wire("anthropic/claude-opus-5-5", ("output_config", "effort"), (None, "low")),
    "Gemini": Wire(
        "google/gemini-3.8-flash", ("generationConfig", "thinkingConfig", "thinking_level"), (None, "low"), "google"
    ),
    "Interactions": Wire(
        "google/gemini-3.8-flash", ("generation_config", "thinking_level"), (None, "low"), "gemini-interactions"
    ),
}
every_wire = pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)


def options(wire: Wire, **settings: Any) -> dict[str, Any]:
    """Return the options that lead to a model, with its first effort."""
    effort = {} if wire.efforts[0] is None else {"reasoning_effort": wire.efforts[0]}
    policy = Policy(max_output_tokens=60_000)  # a compatible server has a lower one, by assumption
    return {"model": wire.model, "wire": wire.wire, "policy": policy, **effort, **settings}


def at(body: Any, path: tuple[str, ...]) -> Any:
    """Return a member of a request's body, or None."""
    for key in path:
        body = body.get(key) or {}
    return str(body).lower() if body else None


def budgets(found: Any) -> list[int]:
    """Return the budgets of all calls."""
    return [attempt.budget for attempt in found.attempts]


@every_wire
def test_the_first_budget_has_room_for_the_thinking_that_was_seen(wire: Wire) -> None:
    """Of this model and client. Another client has seen nothing."""
    with simulator(answers=Thinking(LONG, ANSWER)) as vendor:
        given = options(wire, client=vendor.client(wire.model))
        first, second = (emit(SCHEMA, "How many?", **given) for _ in range(2))
        other = emit(SCHEMA, "How many?", **{**given, "client": vendor.client(wire.model)})

    assert len(first.attempts) > 1
    assert len(second.attempts) == 1
    assert second.attempts[0].budget >= LONG + 512
    assert budgets(other) == budgets(first)


def test_every_way_to_emit_remembers_and_recalls(monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one, streamed, in rows and asynchronously, all through the clients that the functions share."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    model = "openai/gpt-6-sol"
    with simulator(answers=Thinking(LONG, ANSWER)) as vendor:
        given: dict[str, Any] = {"model": model, "base_url": vendor.base_url(model)}
        with stream(SCHEMA, "How many?", **given) as streamed:
            list(streamed)
        rows = list(emit_many(SCHEMA, ["How many?"] * 3, **given))
        emit(SCHEMA, "How many?", **given)
        asyncio.run(aemit(SCHEMA, "How many?", **given))
        with stream(SCHEMA, "How many?", **given) as streamed:
            list(streamed)
        asked = [call.body["max_output_tokens"] for call in vendor.calls]

    assert len(rows) == 3
    assert asked[0] < asked[1] < LONG < asked[3]
    assert len(asked) == 3 + 3 + 1 + 1 + 1
    assert len(set(asked[3:])) == 1


class Answered(NamedTuple):
    """An answer, and the thinking that is counted in it."""

    text: str
    usage: Usage | None
    counted: int
    has_thinking: bool = False
    arguments: tuple[Any, ...] = ()


ANSWERS = {
    "counted": Answered('{"a": 1}', Usage(1, 900, thinking=800), 800),
    "not counted, alone": Answered("", Usage(1, 900), 900, has_thinking=True),
    "not counted, beside a text": Answered('{"a": 1}', Usage(1, 908), 900, has_thinking=True),
    "in tags": Answered(f"<think>{'x' * 85}</think>" + "y" * 100, Usage(1, 400), 200),
    "in tags that were cut": Answered("<think>Three, or", Usage(1, 400), 400),
    "no thinking": Answered('{"a": 1}', Usage(1, 8), 0),
    "no thinking, in a fence": Answered('```json\n{"a": 1}\n```', Usage(1, 14), 0),
    "no thinking, a call": Answered("", Usage(1, 8), 0, arguments=("{}",)),
    "an empty answer": Answered("", Usage(1, 0), 0),
    "no usage": Answered("", None, 0, has_thinking=True),
    "an estimated usage": Answered("", Usage(1, 900, estimated=True), 0, has_thinking=True),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_thinking_is_counted_or_estimated(answer: Answered) -> None:
    """Whichever way a server shows it."""
    response = ModelResponse(
        StopReason.COMPLETE,
        "stop",
        text=answer.text,
        usage=answer.usage,
        has_thinking=answer.has_thinking,
        arguments=answer.arguments,
    )
    assert thinking.count_thinking(response) == pytest.approx(answer.counted, abs=8)


ESTIMATES: dict[str, tuple[list[int], int]] = {
    "nothing": ([], 0),
    "one": ([4000], 5120),
    "a little": ([1], 1024),
    "the largest of a few": ([100, 9000, 100], 11_264),
    "not one runaway of many": ([100] * 9 + [90_000], 1024),
    "but two": ([100] * 8 + [90_000] * 2, 112_640),
    "only the last ones": ([90_000] * 9 + [1000] * 16, 2048),
}


@pytest.mark.parametrize(("seen", "reserved"), ESTIMATES.values(), ids=ESTIMATES)
def test_the_estimate(seen: list[int], reserved: int) -> None:
    """It is a high quantile of the last answers with a margin, in whole steps."""
    settings = Settings("openai/gpt-6-sol", client=Client())
    for tokens in seen:
        remember(settings, tokens)
    assert recall(settings) == reserved


def test_the_estimate_is_kept_for_each_effort_and_model() -> None:
    """A low effort is not given the room of a high one."""
    settings = Settings("openai/gpt-6-sol", client=Client())
    remember(settings, 9000)
    assert recall(settings, reasoning={"effort": "low"}) == 0
    assert recall(Settings("openai/gpt-6-luna", client=settings.client)) == 0
    assert recall(settings, temperature=1) == recall(settings) > 9000


def test_threads_may_remember_at_the_same_time() -> None:
    """And what is remembered has an upper bound."""
    settings = Settings("openai/gpt-6-sol", client=Client())

    def fill(model: int) -> None:
        for _ in range(200):
            remember(settings, 5000, f"m-{model}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(8)))
    for model in range(1100):
        remember(settings, 5000, f"m-{model}")
    assert len(thinking._SEEN[settings.client]) == 1024


def test_nothing_outlives_its_client() -> None:
    """It is referenced weakly."""
    thinking._SEEN.clear()
    settings = Settings("openai/gpt-6-sol", client=Client())
    remember(settings, 5000)
    assert len(thinking._SEEN) == 1
    del settings
    gc.collect()
    assert len(thinking._SEEN) == 0


class Client:
    """Something that can be referenced weakly."""


def remember(settings: Settings, tokens: int, model: str | None = None) -> None:
    """Let a model think."""
    target = settings.resolve()
    request = ModelRequest(target.model, "", (), OutputFormat("a", {}, OutputMode.TEXT), 100)
    answer = ModelResponse(StopReason.COMPLETE, "stop", usage=Usage(1, tokens, thinking=tokens))
    thinking.remember_thinking(settings, target._replace(model=model or target.model), request, answer)


def recall(settings: Settings, **given: Any) -> int:
    """Return what is expected of the model."""
    return thinking.recall_thinking(settings, settings.resolve(), given)


BUDGET = 100
WHOLE_AT_THE_BUDGET = ModelResponse(StopReason.COMPLETE, "stop", usage=Usage(1, BUDGET))
CUT = ModelResponse(StopReason.TRUNCATED, "length")
CUTS: dict[str, tuple[ModelResponse, str]] = {
    "told as a cut": (replace(CUT, usage=Usage(1, 90, thinking=90)), "truncated"),
    "told as a cut, not counted": (replace(CUT, has_thinking=True), "truncated"),
    "told as a cut, in tags": (replace(CUT, text="<think>Three, or"), "truncated"),
    "at the budget": (replace(WHOLE_AT_THE_BUDGET, usage=Usage(1, BUDGET, thinking=BUDGET)), "truncated"),
    "at the budget, not counted": (replace(WHOLE_AT_THE_BUDGET, has_thinking=True), "truncated"),
    "at the budget, in tags": (replace(WHOLE_AT_THE_BUDGET, text="<think>Three, or"), "truncated"),
    "whole": (replace(WHOLE_AT_THE_BUDGET, usage=Usage(1, 90, thinking=90)), "malformed"),
    "whole, not counted": (replace(WHOLE_AT_THE_BUDGET, usage=None, has_thinking=True), "malformed"),
}


@pytest.mark.parametrize(("answer", "verdict"), CUTS.values(), ids=CUTS)
def test_thinking_up_to_the_budget_is_a_cut(answer: ModelResponse, verdict: str) -> None:
    """Whatever the stop reason says, and the grounds are the same."""
    request = ModelRequest("m", "", (), OutputFormat("a", {}, OutputMode.TEXT), BUDGET)
    classification = classify(answer, DocumentContract(compile_schema(SCHEMA, "openai")), request)
    assert classification.verdict.value == verdict
    assert [violation.rule for violation in classification.violations] == ["only-thinking"]


@every_wire
def test_the_effort_is_lowered_once(wire: Wire) -> None:
    """At the largest budget, and the attempt and an event say so."""
    policy = Policy(max_output_tokens=6000, lower_effort=True, max_attempts=6)
    with simulator() as vendor:
        vendor.script(*[Thinking(9000, ANSWER)] * 2, Thinking(100, ANSWER))
        emission = emit(SCHEMA, "How many?", **options(wire, client=vendor.client(wire.model), policy=policy))
        efforts = [at(call.body, wire.path) for call in vendor.calls]

    assert efforts == [wire.efforts[0], wire.efforts[0], wire.efforts[1]]
    assert budgets(emission)[1:] == [6000, 6000]
    assert [attempt.lowered_effort for attempt in emission.attempts] == [None, None, wire.efforts[1]]
    assert [attempt.violations[0].rule for attempt in emission.attempts[:2]] == ["only-thinking"] * 2
    assert lowered(emission) == [{"effort": wire.efforts[1], "budget": 6000}]


@every_wire
@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_cut_of_thinking_alone_says_so(wire: Wire, *, is_allowed: bool) -> None:
    """Whether or not less effort was tried: not more than once."""
    policy = Policy(max_output_tokens=6000, lower_effort=is_allowed, max_attempts=9)
    with simulator(answers=Thinking(9000, ANSWER)) as vendor, pytest.raises(Truncated) as raised:
        emit(SCHEMA, "How many?", **options(wire, client=vendor.client(wire.model), policy=policy))

    assert "cut at 6000 tokens of thinking alone, the limit of Policy.max_output_tokens" in str(raised.value)
    assert "Pass a lower reasoning_effort=" in str(raised.value)
    assert len(raised.value.attempts) == 2 + is_allowed
    assert {attempt.verdict.value for attempt in raised.value.attempts} == {"truncated"}


LESS = Policy(max_output_tokens=6000, lower_effort=True, max_attempts=6)
LOWERED = {
    "no attempt is left": (replace(LESS, max_attempts=2), Thinking(9000, ANSWER), 2),
    "no thinking": (LESS, Cut(answer=ANSWER), 2),
    "a limit of tokens": (replace(LESS, max_total_tokens=15_000), Thinking(9000, ANSWER), 3),
    "too few tokens": (replace(LESS, max_total_tokens=10_700), Thinking(9000, ANSWER), 2),
}


@pytest.mark.parametrize(("policy", "answers", "calls"), LOWERED.values(), ids=LOWERED)
def test_the_effort_is_lowered_only_within_the_limits(policy: Policy, answers: Any, calls: int) -> None:
    """And only if the model had thought."""
    model = "openai/gpt-6-sol"
    with simulator(answers=answers) as vendor, pytest.raises((Truncated, LimitReached)):
        emit(SCHEMA, "How many?", model=model, client=vendor.client(model), policy=policy)
    assert len(vendor.calls) == calls


OWN_FIELDS: dict[str, tuple[str, dict[str, Any], str | None]] = {
    "the default": ("openai/gpt-6-sol", {}, "low"),
    "the caller's": ("openai/gpt-6-sol", {"reasoning": {"effort": "max"}}, "xhigh"),
    "the lowest": ("anthropic/claude-opus-5-5", {"output_config": {"effort": "low"}}, None),
    "a number": ("anthropic/claude-opus-5", {"thinking": {"budget_tokens": 9000}}, None),
    "beside a kind of thinking": ("anthropic/claude-opus-5", {"thinking": {"type": "adaptive"}}, "medium"),
    "another field": ("google/gemini-3.8-flash", {"thinkingConfig": {"thinkingLevel": "HIGH"}}, None),
    "in capitals": ("google/gemini-3.8-flash", {"thinking_config": {"thinking_level": "HIGH"}}, "medium"),
    "no such setting": ("openai/gpt-4.1", {}, None),
    "a word of another vendor": ("openai/gpt-6-sol", {"reasoning": {"effort": "extreme"}}, None),
    "an assumed default": ("openai-compatible/qwen-3", {}, "minimal"),
}


@pytest.mark.parametrize(("model", "given", "effort"), OWN_FIELDS.values(), ids=OWN_FIELDS)
def test_the_next_lower_effort(model: str, given: dict[str, Any], effort: str | None) -> None:
    """It is the one below that in force. What the caller controls in another way is left alone."""
    target = Settings(model).resolve()
    assert target.profile.lower_effort(target.wire, target.model, given) == effort


def lowered(found: Any) -> list[Any]:
    """Return the fields of the log lines about less effort."""
    events = [each.event for each in found.trace.events]
    return [dict(event.fields) for event in events if getattr(event, "message", None) == EFFORT_LOWERED]
