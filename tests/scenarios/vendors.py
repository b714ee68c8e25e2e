"""Responses as each vendor writes them, from its own documentation. Written by hand, not recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Body = dict[str, Any]


@dataclass(frozen=True)
class Response:
    """One HTTP response."""

    body: Body
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Vendor:
    """The ways in which one wire says the same things."""

    whole: Callable[[str, int], Response]
    cut: Callable[[str, int], Response]
    refused: Callable[[str], Response]
    filtered: Callable[[], Response]
    overloaded: Callable[[], Response]
    thought: Callable[[int], Response]
    called: Callable[..., Response]


INPUT_TOKENS = 1480


def _responses(status: str, output: list[Body], tokens: int, thinking: int = 0, **more: Any) -> Response:
    usage = {
        "input_tokens": INPUT_TOKENS,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": tokens,
        "output_tokens_details": {"reasoning_tokens": thinking},
        "total_tokens": INPUT_TOKENS + tokens,
    }
    shell = {"id": "resp_1", "object": "response", "model": "gpt-6-sol", "error": None, "incomplete_details": None}
    body = {**shell, "status": status, "output": output, "usage": usage, **more}
    return Response(body, headers=(("x-request-id", "req_1"),))


def _message(*content: Body) -> Body:
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": list(content)}


def _output_text(text: str) -> Body:
    return {"type": "output_text", "text": text, "annotations": []}


OPENAI_RESPONSES = Vendor(
    whole=lambda text, tokens: _responses("completed", [_message(_output_text(text))], tokens),
    cut=lambda text, tokens: _responses(
        "incomplete", [_message(_output_text(text))], tokens, incomplete_details={"reason": "max_output_tokens"}
    ),
    refused=lambda text: _responses("completed", [_message({"type": "refusal", "refusal": text})], 12),
    filtered=lambda: _responses("incomplete", [], 7, incomplete_details={"reason": "content_filter"}),
    overloaded=lambda: Response(
        {"error": {"message": "Slow down.", "type": "requests", "param": None, "code": "rate_limit_exceeded"}},
        429,
        (("retry-after", "1"),),
    ),
    thought=lambda tokens: _responses(
        "incomplete",
        [{"id": "rs_1", "type": "reasoning", "summary": []}],
        tokens,
        tokens,
        incomplete_details={"reason": "max_output_tokens"},
    ),
    called=lambda document, tokens, name="binding_turn": _responses(
        "completed",
        [{"id": "fc_1", "type": "function_call", "name": name, "arguments": json.dumps(document)}],
        tokens,
    ),
)


def _chat(finish: str, message: Body, tokens: int, thinking: int = 0) -> Response:
    choice = {"index": 0, "message": {"role": "assistant", "refusal": None, **message}, "finish_reason": finish}
    usage = {
        "prompt_tokens": INPUT_TOKENS,
        "completion_tokens": tokens,
        "total_tokens": INPUT_TOKENS + tokens,
        "completion_tokens_details": {"reasoning_tokens": thinking},
    }
    body = {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-6-sol", "choices": [choice], "usage": usage}
    return Response(body, headers=(("x-request-id", "req_1"),))


def _call(name: str, document: Body) -> Body:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(document)}}


OPENAI_CHAT = Vendor(
    whole=lambda text, tokens: _chat("stop", {"content": text}, tokens),
    cut=lambda text, tokens: _chat("length", {"content": text}, tokens),
    refused=lambda text: _chat("stop", {"content": None, "refusal": text}, 12),
    filtered=lambda: _chat("content_filter", {"content": None}, 7),
    overloaded=OPENAI_RESPONSES.overloaded,
    thought=lambda tokens: _chat("length", {"content": ""}, tokens, tokens),
    called=lambda document, tokens, name="binding_turn": _chat(
        "stop", {"content": None, "tool_calls": [_call(name, document)]}, tokens
    ),
)


def _anthropic(stop: str, content: list[Body], tokens: int, details: Body | None = None) -> Response:
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "stop_details": details,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": tokens},
    }
    return Response(body, headers=(("request-id", "req_1"),))


ANTHROPIC = Vendor(
    whole=lambda text, tokens: _anthropic("end_turn", [{"type": "text", "text": text}], tokens),
    cut=lambda text, tokens: _anthropic("max_tokens", [{"type": "text", "text": text}], tokens),
    refused=lambda text: _anthropic(
        "refusal", [{"type": "text", "text": text}], 12, {"type": "refusal", "category": "general_harms"}
    ),
    filtered=lambda: _anthropic("refusal", [], 7, {"type": "refusal", "category": "bio"}),
    overloaded=lambda: Response(
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529, (("retry-after", "1"),)
    ),
    thought=lambda tokens: _anthropic("max_tokens", [{"type": "thinking", "thinking": "…", "signature": "s"}], tokens),
    called=lambda document, tokens, name="binding_turn": _anthropic(
        "tool_use", [{"type": "tool_use", "id": "toolu_1", "name": name, "input": document}], tokens
    ),
)


def _google(finish: str, parts: list[Body], tokens: int, thinking: int = 0) -> Response:
    body = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": INPUT_TOKENS,
            "candidatesTokenCount": tokens - thinking,
            "thoughtsTokenCount": thinking,
            "totalTokenCount": INPUT_TOKENS + tokens,
        },
        "modelVersion": "gemini-3.8-flash",
    }
    return Response(body)


GOOGLE = Vendor(
    whole=lambda text, tokens: _google("STOP", [{"text": text}], tokens),
    cut=lambda text, tokens: _google("MAX_TOKENS", [{"text": text}], tokens),
    refused=lambda _: _google("PROHIBITED_CONTENT", [], 12),
    filtered=lambda: _google("SAFETY", [], 7),
    overloaded=lambda: Response(
        {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}},
        503,
        (("retry-after", "1"),),
    ),
    thought=lambda tokens: _google("MAX_TOKENS", [], tokens, tokens),
    called=lambda document, tokens, name="binding_turn": _google(
        "STOP", [{"functionCall": {"name": name, "args": document}}], tokens
    ),
)


def _bedrock(stop: str, content: list[Body], tokens: int) -> Response:
    usage = {"inputTokens": INPUT_TOKENS, "outputTokens": tokens, "totalTokens": INPUT_TOKENS + tokens}
    body = {
        "metrics": {"latencyMs": 2400},
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop,
        "usage": usage,
    }
    return Response(body, headers=(("x-amzn-requestid", "req_1"),))


BEDROCK_CONVERSE = Vendor(
    whole=lambda text, tokens: _bedrock("end_turn", [{"text": text}], tokens),
    cut=lambda text, tokens: _bedrock("max_tokens", [{"text": text}], tokens),
    refused=lambda text: _bedrock("content_filtered", [{"text": text}], 12),
    filtered=lambda: _bedrock("guardrail_intervened", [{"text": "Sorry, this was blocked."}], 7),
    overloaded=lambda: Response(
        {"message": "Too many requests, please wait before trying again."},
        429,
        (("x-amzn-errortype", "ThrottlingException:http://internal.amazon.com/coral/"), ("retry-after", "1")),
    ),
    thought=lambda tokens: _bedrock(
        "max_tokens", [{"reasoningContent": {"reasoningText": {"text": "…", "signature": "s"}}}], tokens
    ),
    called=lambda document, tokens, name="binding_turn": _bedrock(
        "tool_use", [{"toolUse": {"toolUseId": "tooluse_1", "name": name, "input": document}}], tokens
    ),
)


def _interaction(status: str, steps: list[Body], tokens: int, thinking: int = 0) -> Response:
    usage = {
        "total_tokens": INPUT_TOKENS + tokens,
        "total_input_tokens": INPUT_TOKENS,
        "total_output_tokens": tokens - thinking,
        "total_thought_tokens": thinking,
    }
    shell = {"id": "v1_1", "object": "interaction", "model": "gemini-3.8-flash"}
    return Response({**shell, "status": status, "usage": usage, "steps": steps})


def _output(text: str, **more: Any) -> list[Body]:
    return [{"type": "model_output", "content": [{"type": "text", "text": text}], **more}]


_BLOCKED = {"code": 3, "message": "The response was blocked by the Generative AI Prohibited Use Policy."}

GEMINI_INTERACTIONS = Vendor(
    whole=lambda text, tokens: _interaction("completed", _output(text), tokens),
    cut=lambda text, tokens: _interaction("incomplete", _output(text), tokens),
    refused=lambda text: _interaction("failed", _output(text, error=_BLOCKED), 12),
    filtered=lambda: _interaction("failed", _output("", error=_BLOCKED), 7),
    overloaded=lambda: Response(
        {"error": {"message": "Resource has been exhausted (e.g. check quota).", "code": "too_many_requests"}},
        429,
        (("retry-after", "1"),),
    ),
    thought=lambda tokens: _interaction("incomplete", [{"type": "thought", "signature": "s"}], tokens, tokens),
    called=lambda document, tokens, name="binding_turn": _interaction(
        "requires_action",
        [{"type": "function_call", "id": "fc_1", "name": name, "arguments": document}],
        tokens,
    ),
)

VENDORS = {
    "openai-responses": OPENAI_RESPONSES,
    "openai-chat": OPENAI_CHAT,
    "anthropic": ANTHROPIC,
    "google": GOOGLE,
    "bedrock-converse": BEDROCK_CONVERSE,
    "gemini-interactions": GEMINI_INTERACTIONS,
}
