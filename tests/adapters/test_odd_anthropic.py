"""Messages as servers, proxies and recorders really send them, and what they mean."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.messages import Fault, StopReason, Usage
from emitter.profiles import WireFormat
from tests.adapters.bodies import answer, anthropic, events, shown

REPLIES: dict[str, tuple[Any, StopReason, str, tuple[Any, ...]]] = {
    "plain-content": (anthropic() | {"content": "{}"}, StopReason.COMPLETE, "{}", ()),
    "details-of-refusal": (
        anthropic({"type": "text", "text": "{}"}, stop_details={"type": "refusal", "category": "cyber"}),
        StopReason.REFUSED,
        "{}",
        (),
    ),
    "server-tool": (
        anthropic({"type": "server_tool_use", "input": {"query": "q"}}, {"type": "text", "text": "{}"}),
        StopReason.COMPLETE,
        "{}",
        (),
    ),
    "cut-before-another-message": (
        events(
            {"type": "message_start", "message": {}},
            {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
            {"type": "message_start", "message": {}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"text": "{}"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        ),
        StopReason.TRUNCATED,
        "{}",
        (),
    ),
    "cut-without-a-word-before-another-message": (
        events(
            {"type": "message_start", "message": {}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"text": "{"}},
            {"type": "message_start", "message": {}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"text": "{}"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        ),
        StopReason.UNKNOWN,
        "{}",
        (),
    ),
    "begun-twice": (
        events(
            {"type": "message_start", "message": {}},
            {"type": "message_start", "message": {}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"text": "{}"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        ),
        StopReason.COMPLETE,
        "{}",
        (),
    ),
    "cut-then-stopped": (
        events(
            {"type": "message_start", "message": {}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"text": "{}"}},
            {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        ),
        StopReason.TRUNCATED,
        "{}",
        (),
    ),
    "refused-then-stopped": (
        events(
            {"type": "message_start", "message": {}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"text": "{}"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_details": {"type": "refusal"}}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_details": {"type": "none"}}},
        ),
        StopReason.REFUSED,
        "{}",
        (),
    ),
    "thinking-is-no-answer": (
        anthropic({"type": "thinking", "thinking": "{}", "text": "{}"}, {"type": "redacted_thinking", "data": "{}"}),
        StopReason.COMPLETE,
        "",
        (),
    ),
}


@pytest.mark.parametrize(("body", "stop", "words", "arguments"), REPLIES.values(), ids=REPLIES)
def test_an_odd_answer(body: Any, stop: StopReason, words: str, arguments: tuple[Any, ...]) -> None:
    """Each is read for what it is; no cut, refused or unknown one as complete."""
    assert shown(answer(WireFormat.ANTHROPIC, body)) == (stop, words, arguments)


CUT = {
    "stop-told-at-the-start": events({"type": "message_start", "message": {"stop_reason": "end_turn"}}),
    "half-an-event": events('{"type": "message_delta", "delta": {"stop_reason": "end_turn"'),
    "stop-taken-back": events(
        {"type": "message_start", "message": {}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_start", "message": {}},
    ),
}


@pytest.mark.parametrize("body", CUT.values(), ids=CUT)
def test_a_stream_that_never_ended(body: Any) -> None:
    """Without its terminal event a stream is a fault."""
    assert isinstance(answer(WireFormat.ANTHROPIC, body), Fault)


def test_a_cut_stream_keeps_what_it_cost() -> None:
    """The tokens that were reported before the cut are counted."""
    begun = {"usage": {"input_tokens": 7, "output_tokens": 1}}
    found = answer(WireFormat.ANTHROPIC, events({"type": "message_start", "message": begun}))
    assert isinstance(found, Fault)
    assert found.usage == Usage(input=7, output=1)
