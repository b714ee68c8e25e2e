"""Thinking that a server sends beside the text: it is never the answer, and an answer that has nothing else says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emitter import profiles
from emitter.adapters.http_response import ResponseHead, StreamAccumulator, parse_response
from emitter.messages import ExpectedAnswer, ModelResponse

WIRE = profiles.WireFormat.OPENAI_CHAT
MESSAGES: dict[str, tuple[dict[str, Any], bool]] = {
    "deepseek": ({"content": "", "reasoning_content": '{"n": 3}'}, True),
    "vllm": ({"content": None, "reasoning": '{"n": 3}'}, True),
    "openrouter": ({"content": "", "reasoning_details": [{"type": "reasoning.text", "text": "Three."}]}, True),
    "magistral": ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Three."}]}]}, True),
    "empty": ({"content": "", "reasoning_content": ""}, False),
    "null": ({"content": None, "reasoning": None}, False),
}


@pytest.mark.parametrize("way", ["unary", "streamed"])
@pytest.mark.parametrize("name", MESSAGES)
def test_an_answer_of_thinking_alone(name: str, way: str) -> None:
    """The adapter tells it from an empty one."""
    message, has_thinking = MESSAGES[name]
    loaded, expected = profiles.load_profile("openai-compatible"), ExpectedAnswer()
    if way == "unary":
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        result = parse_response(loaded, WIRE, ResponseHead(200), body, expected=expected)
    else:
        stream = StreamAccumulator(loaded, WIRE, expected)
        event = {"choices": [{"index": 0, "delta": message, "finish_reason": "stop"}]}
        stream.feed(f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n".encode())
        result = stream.finish({})

    assert isinstance(result, ModelResponse)
    assert (result.text, result.has_thinking) == ("", has_thinking)
