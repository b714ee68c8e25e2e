"""Every way to answer, on every wire and in both forms: the vendor's own words, and what our adapters make of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest

from emitter.messages import ModelResponse, StopReason, Usage
from emitter.profiles.model import WireFormat
from emitter.testing import (
    Cut,
    Decoded,
    Empty,
    Fenced,
    Filtered,
    InProse,
    Malformed,
    Paused,
    Refused,
    Text,
    Thinking,
    Twice,
    UnknownStop,
    Violating,
)
from emitter.testing.plans import count_tokens
from tests.testing.asking import (
    DOCUMENT,
    SCHEMA,
    TEXT,
    Question,
    address,
    answer,
    body,
    both_forms,
    every_wire,
    http,
    understood,
)

if TYPE_CHECKING:
    from emitter.testing import Behaviour, Simulator

WHOLE = Text(DOCUMENT)
COMPLETE = ("completed", "stop", "end_turn", "STOP", "end_turn", "completed")
CUT = ("incomplete:max_output_tokens", "length", "max_tokens", "MAX_TOKENS", "max_tokens", "incomplete")
FILTERED = ("incomplete:content_filter", "content_filter", "refusal", "SAFETY", "guardrail_intervened", "error:3")


@dataclass(frozen=True)
class Expected:
    """What an answer amounts to; ``words`` are the raw stops in the order of the wires."""

    behaviour: Behaviour
    stop: StopReason
    words: tuple[str, ...]
    text: str | None = None


EXPECTED = {
    "text": Expected(WHOLE, StopReason.COMPLETE, COMPLETE, TEXT),
    "fenced": Expected(Fenced(answer=WHOLE), StopReason.COMPLETE, COMPLETE, f"```json\n{TEXT}\n```"),
    "twice": Expected(Twice(answer=WHOLE), StopReason.COMPLETE, COMPLETE, f"{TEXT}\n{TEXT}"),
    "malformed": Expected(Malformed("No."), StopReason.COMPLETE, COMPLETE, "No."),
    "empty": Expected(Empty(), StopReason.COMPLETE, COMPLETE, ""),
    "violating": Expected(Violating({"total": "x"}), StopReason.COMPLETE, COMPLETE, '{"total": "x"}'),
    "thinking": Expected(Thinking(50, answer=WHOLE), StopReason.COMPLETE, COMPLETE, TEXT),
    "thought it all away": Expected(Thinking(400, answer=WHOLE), StopReason.TRUNCATED, CUT, ""),
    "cut": Expected(Cut(answer=WHOLE), StopReason.TRUNCATED, CUT),
    "cut early": Expected(Cut(at_tokens=3, answer=WHOLE), StopReason.TRUNCATED, CUT),
    "whole at this budget": Expected(Cut(complete_at_tokens=400, answer=WHOLE), StopReason.COMPLETE, COMPLETE, TEXT),
    "refused": Expected(
        Refused("No."),
        StopReason.REFUSED,
        ("refusal", "refusal", "refusal", "PROHIBITED_CONTENT", "content_filtered", "error:3"),
    ),
    "filtered": Expected(Filtered(), StopReason.REFUSED, FILTERED, ""),
    "filtered midway": Expected(Filtered(partial_text="{"), StopReason.REFUSED, FILTERED, "{"),
    "unknown": Expected(UnknownStop("zonk", answer=WHOLE), StopReason.UNKNOWN, ("zonk",) * len(WireFormat), TEXT),
}


@both_forms
@every_wire
@pytest.mark.parametrize("expected", EXPECTED.values(), ids=EXPECTED.keys())
def test_what_is_read(vendor: Simulator, wire: WireFormat, expected: Expected, *, streamed: bool) -> None:
    """Each answer comes back with the vendor's word, our meaning, its text, and a bill that is the ledger's."""
    vendor.script(expected.behaviour)

    reply = answer(vendor, wire, streamed=streamed)

    assert isinstance(reply, ModelResponse)
    word = dict(zip(WireFormat, expected.words, strict=True))[wire]
    # A stream of Responses may name a status beside the type of its last event; both are reported.
    assert (reply.stop, reply.raw_stop) in {(expected.stop, word), (expected.stop, f"{word}|completed")}
    if expected.text is not None:
        assert reply.text == expected.text
    assert vendor.billed == vendor.calls[0].usage
    assert reply.usage == without_thinking(wire, vendor.billed)
    assert vendor.calls[0].behaviour == expected.behaviour


def without_thinking(wire: WireFormat, usage: Usage) -> Usage:
    """Return a usage as its wire tells it: Converse does not tell thinking from the rest of the output."""
    return replace(usage, thinking=0) if wire is WireFormat.BEDROCK_CONVERSE else usage


@both_forms
@every_wire
def test_paused(vendor: Simulator, wire: WireFormat, *, streamed: bool) -> None:
    """A pause has a word on some wires; Chat Completions says nothing, and Converse has none."""
    vendor.script(Paused())

    found = answer(vendor, wire, streamed=streamed)

    words = {
        WireFormat.OPENAI_RESPONSES: "incomplete:max_messages",
        WireFormat.ANTHROPIC: "pause_turn",
        WireFormat.GOOGLE: "CONTINUATION",
        WireFormat.GEMINI_INTERACTIONS: "requires_continuation",
    }
    if wire not in words:
        assert getattr(found, "raw_stop", "") in ("", "malformed_model_output")
    else:
        assert isinstance(found, ModelResponse)
        assert (found.stop, found.raw_stop) == (StopReason.PAUSED, words[wire])


@every_wire
def test_an_answer_longer_than_its_budget_is_cut_there(vendor: Simulator, wire: WireFormat) -> None:
    """The text is as long as the budget allows, and the bill is the budget."""
    budget = 16
    vendor.script(Text("one two three four five six seven eight nine ten " * 20))

    reply = answer(vendor, wire, Question(budget=budget))

    assert isinstance(reply, ModelResponse)
    assert reply.stop is StopReason.TRUNCATED
    assert reply.usage is not None
    assert reply.usage.output == budget
    whole = "one two three four five six seven eight nine ten " * 20
    assert whole.startswith(reply.text)
    assert count_tokens(reply.text) <= budget < count_tokens(whole[: len(reply.text) + 1])


@every_wire
def test_thinking_leaves_the_text_the_rest(vendor: Simulator, wire: WireFormat) -> None:
    """What is thought is billed, and what is left of the budget is written."""
    vendor.script(Thinking(30, answer=Text("word " * 500)))

    reply = answer(vendor, wire, Question(budget=40))

    assert isinstance(reply, ModelResponse)
    assert reply.usage is not None
    assert reply.usage == without_thinking(wire, Usage(reply.usage.input, output=40, thinking=30))
    assert count_tokens(reply.text) <= 10


@pytest.mark.parametrize("budget", [None, 100, 10_000])
def test_a_short_answer_that_is_cut_costs_the_budget(vendor: Simulator, budget: int | None) -> None:
    """An answer that would have fitted loses its end, and costs what a cut answer costs."""
    vendor.script(Cut(answer=Text(DOCUMENT)))

    reply = answer(vendor, WireFormat.OPENAI_RESPONSES, Question(budget=budget))

    assert isinstance(reply, ModelResponse)
    assert TEXT.startswith(reply.text)
    assert reply.text != TEXT
    assert reply.usage is not None
    assert reply.usage.output == (count_tokens(TEXT) * 3 // 5 if budget is None else budget)


@both_forms
@every_wire
@pytest.mark.parametrize("tool", [False, True], ids=["format", "tool"])
def test_a_decoded_document_is_of_the_schema(
    vendor: Simulator, wire: WireFormat, *, tool: bool, streamed: bool
) -> None:
    """Constrained decoding writes an instance of whatever schema is sent, wherever it is sent."""
    vendor.script(Decoded())

    reply = answer(vendor, wire, Question(tool=tool, budget=20_000), streamed=streamed)

    assert isinstance(reply, ModelResponse)
    assert reply.stop is StopReason.COMPLETE
    given = reply.arguments[0] if tool else reply.text
    document = json.loads(given) if isinstance(given, str) else given
    assert jsonschema_rs.is_valid(SCHEMA, document)
    assert bool(reply.text) is not tool


@both_forms
@every_wire
def test_the_same_document_twice_is_two_calls(vendor: Simulator, wire: WireFormat, *, streamed: bool) -> None:
    """Where a function is forced, each document is a call of its own."""
    vendor.script(Twice(answer=Text(DOCUMENT)))

    reply = answer(vendor, wire, Question(tool=True), streamed=streamed)

    assert isinstance(reply, ModelResponse)
    given = [json.loads(each) if isinstance(each, str) else each for each in reply.arguments]
    assert given == [DOCUMENT, DOCUMENT]


@every_wire
def test_a_drawn_document_is_broken(vendor: Simulator, wire: WireFormat) -> None:
    """Without a document of its own the behaviour breaks one that it draws: JSON, but no instance."""
    vendor.script(*[Violating()] * 10)

    for _ in range(10):
        reply = answer(vendor, wire, Question(budget=20_000))
        assert isinstance(reply, ModelResponse)
        assert not jsonschema_rs.is_valid(SCHEMA, json.loads(reply.text))


def test_a_stream_of_google_may_be_an_array(vendor: Simulator) -> None:
    """Without ``alt=sse`` the same parts come as one JSON array, and are read alike."""
    place = address(vendor, WireFormat.GOOGLE, Question(), streamed=True).partition("?")[0]

    response = http().post(place, json=body(WireFormat.GOOGLE, Question()))

    assert response.headers["content-type"].startswith("application/json")
    assert len(response.json()) == -(-len(TEXT) // 20)
    reply = understood(WireFormat.GOOGLE, response)
    assert isinstance(reply, ModelResponse)
    assert (reply.stop, reply.text) == (StopReason.COMPLETE, TEXT)


def test_prose_holds_the_document(vendor: Simulator) -> None:
    """The words stand around the document."""
    vendor.script(InProse(answer=Text(DOCUMENT)))

    reply = answer(vendor, WireFormat.OPENAI_RESPONSES)

    assert isinstance(reply, ModelResponse)
    assert TEXT in reply.text
    assert not reply.text.startswith("{")
