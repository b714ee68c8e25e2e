"""Whatever a server sends, there is an answer or a fault, and never a complete one without a clean stop."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.adapters import ADAPTERS
from emitter.adapters.response_decoding import DecodingTables
from emitter.cli.model_answers import ClassifiedExchange, classify_exchange
from emitter.errors import BadTraffic
from emitter.messages import ExpectedAnswer, Fault, ModelResponse, StopReason
from emitter.profiles import WireFormat, load_profile
from tests.adapters.bodies import (
    VENDORS,
    accumulator,
    answer,
    anthropic,
    bedrock,
    chat,
    google,
    interaction,
    responses,
    text,
)
from tests.adapters.streams import STREAMS
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = [
    "error", "errors", "message", "type", "code", "status", "detail", "details", "object", "choices", "delta",
    "content", "refusal", "tool_calls", "function_call", "function", "custom", "arguments", "input", "index",
    "id", "name", "finish_reason", "finish_details", "text", "output", "incomplete_details", "reason",
    "response", "item", "output_index", "content_index", "phase", "usage", "prompt_tokens", "input_tokens",
    "output_tokens", "stop_reason", "stop_details", "content_block", "partial_json", "candidates",
    "finishReason", "finish_reason", "parts", "thought", "functionCall", "args", "promptFeedback",
    "blockReason", "usageMetadata", "promptTokenCount", "retryDelay", "stopReason", "toolUse", "toolUseId",
    "contentBlockStart", "contentBlockDelta", "contentBlockIndex", "start", "messageStop", "metadata", "inputTokens",
    "citationsContent",
]  # fmt: skip
CLEAN = ["stop", "tool_calls", "function_call", "completed", "end_turn", "tool_use", "stop_sequence", "STOP", "1"]
WORDS = [
    "refusal", "length", "content_filter", "max_tokens", "incomplete", "failed", "error", "message",
    "output_text", "assistant", "commentary", "text", "response.completed", "response.failed",
    "response.output_item.done", "response.output_text.delta", "response.refusal.done", "message_start",
    "message_delta", "message_stop", "content_block_start", "content_block_delta", "MAX_TOKENS", "SAFETY",
    "a|b",
]  # fmt: skip

STOP_KEYS = {"finish_reason", "finishReason", "stop_reason", "status", "type", "stopReason"}
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2**70),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=()), max_size=5),
    st.sampled_from([*CLEAN, *WORDS]),
)
NAMES = st.sampled_from(KEYS) | st.text(max_size=3)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=25
)
EVENTS = st.lists(st.dictionaries(NAMES, JSON, max_size=5), max_size=6)
STATUSES = st.integers(100, 599)
HEADERS = st.dictionaries(
    st.sampled_from(["retry-after", "Retry-After-Ms", "date", "x-request-id", "request-id", "other"]),
    st.text(max_size=12) | st.sampled_from(["5", "nan", "-1", "1e999", "Sat, 21 Nov 2026 04:00:00 GMT", "Sat, 21 Nov"]),
)
WIRES = st.sampled_from(list(WireFormat))


def _reported(body: Any) -> Iterator[str]:
    """Yield whatever stands where a stop word may stand."""
    if isinstance(body, list):
        for each in body:
            yield from _reported(each)
    if isinstance(body, dict):
        yield from (str(body[key]).removeprefix("response.") for key in STOP_KEYS & body.keys())
        yield from _reported(list(body.values()))


def _sound(found: object, body: object) -> None:
    assert isinstance(found, ModelResponse | Fault)
    if isinstance(found, ModelResponse) and found.stop is StopReason.COMPLETE:
        assert set(CLEAN) & set(_reported(body))


@settings(max_examples=examples(300))
@given(wire=WIRES, body=JSON, status=STATUSES, headers=HEADERS)
def test_any_json_body(wire: WireFormat, body: Any, status: int, headers: dict[str, str]) -> None:
    """Any JSON under any status is an answer or a fault; outside 2xx it is never complete."""
    found = answer(wire, json.dumps(body), status, headers)
    _sound(found, body)
    if not 200 <= status < 300:
        assert not isinstance(found, ModelResponse) or found.stop in {StopReason.REFUSED, StopReason.OVERFLOWED}


@settings(max_examples=examples(300))
@given(wire=WIRES, body=st.dictionaries(NAMES, JSON, max_size=6))
def test_any_object(wire: WireFormat, body: dict[str, Any]) -> None:
    """A decoder takes any object at all."""
    facts = load_profile(VENDORS[wire])
    _sound(ADAPTERS[wire].decode(body, DecodingTables(facts.wires[wire].stops, facts.faults), None), body)


@settings(max_examples=examples(300))
@given(wire=WIRES, events=EVENTS, names=st.lists(st.sampled_from(["", "error", "message", "ping"]), min_size=1))
def test_any_events(wire: WireFormat, events: list[dict[str, Any]], names: list[str]) -> None:
    """Any sequence of events is an answer or a fault, as a stream and as an array."""
    _sound(answer(wire, json.dumps(events)), events)
    lines = [f"event: {names[at % len(names)]}\ndata: {json.dumps(each)}\n\n" for at, each in enumerate(events)]
    _sound(answer(wire, "".join(lines)), events)


@settings(max_examples=examples(300))
@given(wire=WIRES, data=st.data())
def test_a_plain_answer_with_anything_in_one_place(wire: WireFormat, data: st.DataObject) -> None:
    """One value of a complete answer may be anything: what is read is sound, and without its stop not complete."""
    body = text(wire, "{}")
    places = list(_places(body))
    *path, key = data.draw(st.sampled_from(places))
    inner = body
    for step in path:
        inner = inner[step]
    inner[key] = data.draw(JSON)
    _sound(answer(wire, body), body)


@settings(max_examples=examples(600))
@given(wire=WIRES, data=st.data(), tool=st.sampled_from([None, "decide"]))
def test_a_plain_stream_with_anything_in_one_place(wire: WireFormat, data: st.DataObject, tool: str | None) -> None:
    """One value of one event may be anything, whether a tool was offered or not, as a stream and as an array."""
    body = text(wire, "{}") if tool is None else called(wire, tool)
    payloads = [payload for _, payload in STREAMS[wire](body, lambda words: [words[:1], words[1:]])]
    *path, key = data.draw(st.sampled_from(list(_places(payloads))))
    inner: Any = payloads
    for step in path:
        inner = inner[step]
    inner[key] = data.draw(JSON)
    _sound(answer(wire, payloads, expected=ExpectedAnswer(tool)), payloads)
    incoming = accumulator(wire, ExpectedAnswer(tool))
    incoming.feed("".join(f"data: {json.dumps(each)}\n\n" for each in payloads).encode())
    _sound(incoming.finish({}), payloads)


def called(wire: WireFormat, tool: str) -> dict[str, Any]:
    """Return an answer that calls a tool."""
    match wire:
        case WireFormat.OPENAI_CHAT:
            call = {"index": 0, "id": "c", "function": {"name": tool, "arguments": "{}"}}
            return chat({"content": "", "tool_calls": [call]}, finish_reason="tool_calls")
        case WireFormat.OPENAI_RESPONSES:
            return responses({"type": "function_call", "name": tool, "arguments": "{}"})
        case WireFormat.ANTHROPIC:
            return anthropic({"type": "tool_use", "id": "t", "name": tool, "input": {}}, stop_reason="tool_use")
        case WireFormat.GOOGLE:
            return google({"functionCall": {"name": tool, "args": {}}})
        case WireFormat.BEDROCK_CONVERSE:
            return bedrock({"toolUse": {"toolUseId": "t", "name": tool, "input": {}}}, stopReason="tool_use")
        case WireFormat.GEMINI_INTERACTIONS:
            call = {"type": "function_call", "id": "c", "name": tool, "arguments": {}}
            return interaction(call, status="requires_action")


def _places(body: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, value in body.items() if isinstance(body, dict) else enumerate(body):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from _places(value, (*path, key))


TEXT = st.text(st.characters(exclude_categories=()))


@settings()
@given(wire=WIRES, words=TEXT, status=STATUSES, prefix=st.sampled_from(["", ":", "data:", "event: error\ndata:", "{"]))
def test_any_text(wire: WireFormat, words: str, status: int, prefix: str) -> None:
    """Any text under any status is a fault, or at least no complete answer."""
    found = answer(wire, prefix + words, status)
    assert isinstance(found, Fault) or found.stop is not StopReason.COMPLETE


@pytest.mark.parametrize("wire", WireFormat)
def test_a_body_nested_without_end(wire: WireFormat) -> None:
    """Depth is a fault, whether the body is a document or a stream."""
    deep = "[" * 100_000
    for body in (deep, f"data: {deep}\n\n", f'{{"error": {deep}'):
        for status in (200, 500):
            assert isinstance(answer(wire, body, status), Fault)


EXCHANGES = st.fixed_dictionaries(
    {"response": st.fixed_dictionaries({"status": STATUSES | JSON, "headers": HEADERS | JSON, "body": JSON})},
    optional={
        "vendor": st.sampled_from(["openai", "anthropic", "google", "nobody"]) | JSON,
        "endpoint": st.sampled_from(["responses", "chat.completions", "messages", "generateContent", "else", ""])
        | JSON,
        "request": st.fixed_dictionaries({"path": st.sampled_from(["/v1/messages", "/responses"]) | JSON}) | JSON,
    },
)


@settings(max_examples=examples(300))
@given(exchange=EXCHANGES)
def test_any_exchange(exchange: dict[str, Any]) -> None:
    """Any recorded exchange with a status is classified; one without is refused in a sentence."""
    if not isinstance(exchange["response"]["status"], int):
        with pytest.raises(BadTraffic, match="no integer 'status'"):
            classify_exchange(exchange, "x.json")
        return
    line = classify_exchange(exchange, "x.json")
    assert isinstance(line, ClassifiedExchange)
    json.dumps(line.to_json())
