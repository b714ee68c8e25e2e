"""Responses as servers, proxies and recorders really send them, and what they mean."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.messages import Fault, StopReason
from emitter.profiles import WireFormat
from tests.adapters.bodies import answer, events, responses, said, shown

REPLIES: dict[str, tuple[Any, StopReason, str, tuple[Any, ...]]] = {
    "commentary": (
        responses(
            said({"type": "output_text", "text": "hm"}, phase="commentary"),
            said({"type": "output_text", "text": "{}"}, phase="final_answer"),
        ),
        StopReason.COMPLETE,
        "{}",
        (),
    ),
    "refused-in-commentary": (
        responses(said({"type": "refusal", "refusal": "No."}, phase="commentary")),
        StopReason.REFUSED,
        "",
        (),
    ),
    "plain-content": (responses({"type": "message", "content": "{}"}), StopReason.COMPLETE, "{}", ()),
    "complete-but-cut": (
        responses(said({"type": "output_text", "text": "{"}), incomplete_details={"reason": "max_output_tokens"}),
        StopReason.TRUNCATED,
        "{",
        (),
    ),
    "half-a-message": (
        responses(said({"type": "output_text", "text": "{}"}, status="incomplete")),
        StopReason.UNKNOWN,
        "{}",
        (),
    ),
    "custom-tool": (
        responses({"type": "custom_tool_call", "name": "f", "input": "x"}),
        StopReason.COMPLETE,
        "",
        ("x",),
    ),
    "policy": (
        responses(status="failed", error={"code": "bio_policy", "message": "no"}),
        StopReason.REFUSED,
        "",
        (),
    ),
    "empty-terminal": (
        events(
            {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}},
            {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "{"},
            {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "}"},
            {"type": "response.completed", "response": {"status": "completed", "output": []}},
        ),
        StopReason.COMPLETE,
        "{}",
        (),
    ),
    "call-only-streamed": (
        events(
            {"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call"}},
            {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": "{}"},
            {"type": "response.completed", "response": {"status": "completed", "output": []}},
        ),
        StopReason.COMPLETE,
        "",
        ("{}",),
    ),
    "no-status-at-the-end": (
        events(
            {"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call"}},
            {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": "{}"},
            {"type": "response.completed", "response": {"output": []}},
        ),
        StopReason.UNKNOWN,
        "",
        ("{}",),
    ),
    "no-response-at-the-end": (
        events(
            {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}},
            {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "{}"},
            {"type": "response.completed"},
        ),
        StopReason.UNKNOWN,
        "{}",
        (),
    ),
    "two-ends": (
        events(
            {
                "type": "response.incomplete",
                "response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            },
            {"type": "response.completed", "response": responses(said({"type": "output_text", "text": "{}"}))},
        ),
        StopReason.UNKNOWN,
        "{}",
        (),
    ),
    "two-answers": (
        events(
            {"type": "response.completed", "response": responses(said({"type": "output_text", "text": "{}"}))},
            {"type": "response.completed", "response": responses(said({"type": "output_text", "text": "[]"}))},
        ),
        StopReason.COMPLETE,
        "{}[]",
        (),
    ),
    "an-end-that-contradicts-its-status": (
        events({"type": "response.incomplete", "response": responses(said({"type": "output_text", "text": "{}"}))}),
        StopReason.UNKNOWN,
        "{}",
        (),
    ),
    "half-a-call": (
        responses({"type": "function_call", "arguments": "{}", "status": "incomplete"}),
        StopReason.UNKNOWN,
        "",
        ("{}",),
    ),
    "a-call-in-progress": (
        responses({"type": "custom_tool_call", "input": "{}", "status": "in_progress"}),
        StopReason.PAUSED,
        "",
        ("{}",),
    ),
    "a-message-in-progress": (
        responses(said({"type": "output_text", "text": "{}"}, status="in_progress")),
        StopReason.PAUSED,
        "{}",
        (),
    ),
    "an-item-of-an-unknown-status": (
        responses(said({"type": "output_text", "text": "{}"}, status="completed:almost")),
        StopReason.UNKNOWN,
        "{}",
        (),
    ),
    "a-search-that-failed": (
        responses({"type": "web_search_call", "status": "failed"}, said({"type": "output_text", "text": "{}"})),
        StopReason.COMPLETE,
        "{}",
        (),
    ),
    "refusal-as-an-item": (responses({"type": "refusal", "refusal": "No."}), StopReason.REFUSED, "", ()),
    "reasoning-is-no-answer": (
        responses(
            {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "{}"}]},
            said({"type": "reasoning_text", "text": "{}"}, {"type": "output_text", "text": "[]"}),
        ),
        StopReason.COMPLETE,
        "[]",
        (),
    ),
    "refusal-left-out-at-the-end": (
        events(
            {"type": "response.refusal.done", "output_index": 0, "content_index": 0, "refusal": "No."},
            {"type": "response.completed", "response": responses(said({"type": "output_text", "text": "{}"}))},
        ),
        StopReason.REFUSED,
        "{}",
        (),
    ),
    "refusal-only-streamed": (
        events(
            {"type": "response.refusal.done", "output_index": 0, "content_index": 0, "refusal": "No."},
            {"type": "response.completed", "response": {"status": "completed", "output": []}},
        ),
        StopReason.REFUSED,
        "",
        (),
    ),
}


@pytest.mark.parametrize(("body", "stop", "words", "arguments"), REPLIES.values(), ids=REPLIES)
def test_an_odd_answer(body: Any, stop: StopReason, words: str, arguments: tuple[Any, ...]) -> None:
    """Each is read for what it is; no cut, refused or unknown one as complete."""
    assert shown(answer(WireFormat.OPENAI_RESPONSES, body)) == (stop, words, arguments)


CUT = {
    "an-item-of-no-type": events(
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": {"type": {}}},
    ),
    "in-progress": events({"type": "response.created", "response": {"status": "completed"}}),
    "error-then-completed": events(
        {"type": "error", "message": "broke"},
        {"type": "response.completed", "response": {"status": "completed"}},
    ),
    "error-by-another-name": events(
        {"type": "response.error", "code": "server_error"},
        {"type": "response.completed", "response": {"status": "completed"}},
    ),
}


@pytest.mark.parametrize("body", CUT.values(), ids=CUT)
def test_a_stream_that_never_ended(body: Any) -> None:
    """Without its terminal event a stream is a fault."""
    assert isinstance(answer(WireFormat.OPENAI_RESPONSES, body), Fault)
