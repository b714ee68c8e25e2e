"""Unary answers of each wire, written by hand, and the reading of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from emitter import profiles as profile
from emitter.adapters.http_response import ResponseHead, StreamAccumulator, parse_response
from emitter.messages import ModelResponse
from emitter.profiles import WireFormat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import CallResult, ExpectedAnswer, StopReason

VENDORS = {
    WireFormat.OPENAI_RESPONSES: "openai",
    WireFormat.OPENAI_CHAT: "openai",
    WireFormat.ANTHROPIC: "anthropic",
    WireFormat.GOOGLE: "google",
    WireFormat.BEDROCK_CONVERSE: "bedrock",
    WireFormat.GEMINI_INTERACTIONS: "google",
}

CLEAN = {
    WireFormat.OPENAI_RESPONSES: "completed",
    WireFormat.OPENAI_CHAT: "stop",
    WireFormat.ANTHROPIC: "end_turn",
    WireFormat.GOOGLE: "STOP",
    WireFormat.BEDROCK_CONVERSE: "end_turn",
    WireFormat.GEMINI_INTERACTIONS: "completed",
}


def answer(  # noqa: PLR0913  most have a default
    wire: WireFormat,
    body: object,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    *,
    vendor: str = "",
    expected: ExpectedAnswer | None = None,
) -> CallResult:
    """Read a body as it would have come, as the answer to an unknown request if none is ``expected``."""
    text, facts = body if isinstance(body, str) else json.dumps(body), profile.load_profile(vendor or VENDORS[wire])
    return parse_response(facts, wire, ResponseHead(status, headers or {}), text, expected=expected)


def accumulator(wire: WireFormat, expected: ExpectedAnswer) -> StreamAccumulator:
    """Return what reads a stream that answers the request."""
    return StreamAccumulator(profile.load_profile(VENDORS[wire]), wire, expected)


def responses(*output: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a response."""
    usage = {"input_tokens": 7, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 3}}
    return {"object": "response", "status": "completed", "output": list(output), "usage": usage, **more}


def said(*parts: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a message item of a response."""
    return {"type": "message", "role": "assistant", "content": list(parts), **more}


def chat(message: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a chat completion with one choice; ``more`` goes into the choice."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop", **more}
    return {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 5}}


def anthropic(*content: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a message."""
    usage = {"input_tokens": 3, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 2, "output_tokens": 5}
    return {"type": "message", "content": list(content), "stop_reason": "end_turn", "usage": usage, **more}


def google(*parts: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a generated content with one candidate; ``more`` goes into the candidate."""
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}
    candidate = {"content": {"parts": list(parts), "role": "model"}, "finishReason": "STOP", **more}
    return {"candidates": [candidate], "usageMetadata": usage}


def bedrock(*content: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return an answer of Converse."""
    usage = {"inputTokens": 3, "cacheReadInputTokens": 2, "cacheWriteInputTokens": 2, "outputTokens": 5}
    message = {"role": "assistant", "content": list(content)}
    return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage, **more}


def interaction(*steps: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return an interaction."""
    usage = {"total_input_tokens": 7, "total_output_tokens": 2, "total_thought_tokens": 3, "total_cached_tokens": 4}
    return {"object": "interaction", "status": "completed", "steps": list(steps), "usage": usage, **more}


def output(*words: str) -> dict[str, Any]:
    """Return a step of an interaction that holds texts."""
    return {"type": "model_output", "content": [{"type": "text", "text": each} for each in words]}


def text(wire: WireFormat, words: str, stop: str = "") -> dict[str, Any]:
    """Return the wire's plainest answer: ``words``, and a clean stop where no other is given."""
    match wire:
        case WireFormat.OPENAI_RESPONSES:
            return responses(said({"type": "output_text", "text": words}), **({"status": stop} if stop else {}))
        case WireFormat.OPENAI_CHAT:
            return chat({"content": words}, finish_reason=stop or "stop")
        case WireFormat.ANTHROPIC:
            return anthropic({"type": "text", "text": words}, stop_reason=stop or "end_turn")
        case WireFormat.GOOGLE:
            return google({"text": words}, finishReason=stop or "STOP")
        case WireFormat.BEDROCK_CONVERSE:
            return bedrock({"text": words}, stopReason=stop or "end_turn")
        case WireFormat.GEMINI_INTERACTIONS:
            return interaction(output(words), status=stop or "completed")


def events(*payloads: object) -> str:
    """Write payloads as a stream of events; a text is written as it is."""
    return "".join(f"data: {each if isinstance(each, str) else json.dumps(each)}\n\n" for each in payloads)


def shown(found: CallResult) -> tuple[StopReason, str, tuple[Any, ...]]:
    """Return what an answer says, for comparison with a row of a table."""
    assert isinstance(found, ModelResponse)
    return found.stop, found.text, found.arguments
