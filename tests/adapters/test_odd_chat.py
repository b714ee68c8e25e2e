"""Chat Completions as servers, proxies and recorders really send them, and what they mean."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.messages import Fault, StopReason
from emitter.profiles import WireFormat
from tests.adapters.bodies import answer, chat, events, shown


def called(*deltas: dict[str, Any]) -> str:
    """Return a stream that calls tools with these deltas."""
    chunks = [{"index": 0, "delta": {"tool_calls": [each]}, "finish_reason": None} for each in deltas]
    return events(*({"choices": [each]} for each in [*chunks, {"delta": {}, "finish_reason": "tool_calls"}]))


REPLIES: dict[str, tuple[Any, StopReason, str, tuple[Any, ...]]] = {
    "null-choices": ({"choices": None, "error": {}}, StopReason.UNKNOWN, "", ()),
    "null-message": ({"choices": [{"message": None, "finish_reason": None}]}, StopReason.UNKNOWN, "", ()),
    "parts": (
        chat({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "{}"}]}),
        StopReason.COMPLETE,
        "{}",
        (),
    ),
    "refusal-part": (chat({"content": [{"type": "refusal", "refusal": "No."}]}), StopReason.REFUSED, "", ()),
    "second-choice-cut": (
        {"choices": [*chat({"content": "{}"})["choices"], *chat({"content": "{"}, finish_reason="length")["choices"]]},
        StopReason.TRUNCATED,
        "{",
        (),
    ),
    "custom-tool": (
        chat({"tool_calls": [{"type": "custom", "custom": {"name": "f", "input": "x"}}]}),
        StopReason.COMPLETE,
        "",
        ("x",),
    ),
    "call-without-arguments": (
        chat({"tool_calls": [{"function": {"name": "f", "arguments": None}}]}),
        StopReason.COMPLETE,
        "",
        ("",),
    ),
    "stop-after-filter": (
        events(
            {"choices": [{"delta": {"content": "{}"}, "finish_reason": "content_filter"}]},
            {"choices": [{"delta": {}, "finish_reason": "stop"}]},
        ),
        StopReason.REFUSED,
        "{}",
        (),
    ),
    "cut-after-stop": (
        events(
            {"choices": [{"delta": {"content": "{}"}, "finish_reason": "stop"}]},
            {"choices": [{"delta": {}, "finish_reason": "length"}]},
        ),
        StopReason.TRUNCATED,
        "{}",
        (),
    ),
    "chunk-with-message": (
        events({"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}),
        StopReason.COMPLETE,
        "{}",
        (),
    ),
    "calls-without-index": (
        called(
            {"id": "a", "function": {"name": "f", "arguments": '{"n": 1}'}},
            {"id": "b", "function": {"name": "f", "arguments": '{"n": 2}'}},
        ),
        StopReason.COMPLETE,
        "",
        ('{"n": 1}', '{"n": 2}'),
    ),
    "calls-all-zero": (
        called(
            {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}},
            {"index": 0, "id": "b", "function": {"name": "f", "arguments": "[]"}},
        ),
        StopReason.COMPLETE,
        "",
        ("{}", "[]"),
    ),
    "call-continued-without-index": (
        called({"id": "a", "function": {"name": "f", "arguments": "{"}}, {"function": {"arguments": "}"}}),
        StopReason.COMPLETE,
        "",
        ("{}",),
    ),
    "index-of-another-kind": (
        called(
            {"index": [], "function": {"name": "f", "arguments": "{"}},
            {"index": [], "function": {"arguments": "}"}},
        ),
        StopReason.COMPLETE,
        "",
        ("{}",),
    ),
}


@pytest.mark.parametrize(("body", "stop", "words", "arguments"), REPLIES.values(), ids=REPLIES)
def test_an_odd_answer(body: Any, stop: StopReason, words: str, arguments: tuple[Any, ...]) -> None:
    """Each is read for what it is; no cut, refused or unknown one as complete."""
    assert shown(answer(WireFormat.OPENAI_CHAT, body)) == (stop, words, arguments)


CUT = {
    "one-choice-open": events(
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}, {"index": 1, "delta": {}}]},
    ),
    "done-without-reason": events({"choices": [{"delta": {"content": "{}"}}]}, "[DONE]"),
}


@pytest.mark.parametrize("body", CUT.values(), ids=CUT)
def test_a_stream_that_never_ended(body: Any) -> None:
    """Without its terminal event a stream is a fault."""
    assert isinstance(answer(WireFormat.OPENAI_CHAT, body), Fault)
