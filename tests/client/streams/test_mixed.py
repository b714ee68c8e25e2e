"""Answers in which something stands before the document: only the document is reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emitter import Policy
from emitter.streaming import FieldComplete
from tests.adapters.bodies import anthropic, chat, responses, said
from tests.client.streams.vendor import WORLDS, ask, streamed

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["query", "n"],
    "additionalProperties": False,
}
MEANT = {"query": "meant", "n": 7}
OTHER = '{"query": "other"}'

MIXED: dict[str, tuple[str, dict[str, Any]]] = {
    "chat-words-and-call": (
        "openai-chat",
        chat(
            {
                "content": OTHER,
                "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": json.dumps(MEANT)}}],
            },
            finish_reason="tool_calls",
        ),
    ),
    "responses-words-and-call": (
        "openai-responses",
        responses(
            said({"type": "output_text", "text": OTHER}),
            {"type": "function_call", "name": "decide", "arguments": json.dumps(MEANT)},
        ),
    ),
    "anthropic-words-and-call": (
        "anthropic",
        anthropic(
            {"type": "text", "text": OTHER},
            {"type": "tool_use", "id": "t", "name": "decide", "input": MEANT},
            stop_reason="tool_use",
        ),
    ),
    "anthropic-server-tool-and-call": (
        "anthropic",
        anthropic(
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": json.loads(OTHER)},
            {"type": "tool_use", "id": "t", "name": "decide", "input": MEANT},
            stop_reason="tool_use",
        ),
    ),
}


WORDS_FIRST = [name for name in MIXED if name.endswith("words-and-call")]
"""A known hole: words were asked for and reported, and then a call nobody asked for outweighs them."""


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", MIXED)
def test_only_the_document_is_reported(name: str, world: str) -> None:
    """What a server's own tool was called with is no part of it; an unexpected call is reported at its end."""
    wire, body = MIXED[name]
    found = ask(wire, world, [streamed(wire, body)], FORM, policy=Policy(max_attempts=1))

    assert found.result.value == MEANT
    reported = {each.pointer[1:]: each.value for each in found.reported if isinstance(each, FieldComplete)}
    assert reported == ({"query": "other"} if name in WORDS_FIRST else MEANT)
