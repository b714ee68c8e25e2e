"""The same question on every wire, sent as plain HTTP, and what the library's own adapters read in the answer."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx2
import pytest

from emitter.adapters.bedrock_client import as_server_sent_events, with_error_type
from emitter.adapters.http_response import ResponseHead, parse_response
from emitter.profiles import load_profile
from emitter.profiles.model import WireFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.messages import CallResult
    from emitter.testing import Simulator

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"vendor": {"type": "string"}, "total": {"type": "integer"}},
    "required": ["vendor", "total"],
    "additionalProperties": False,
}
DOCUMENT = {"vendor": "Acme, of the Old Mill beside the river", "total": 12}
TEXT = json.dumps(DOCUMENT)

WIRES = tuple(WireFormat)
MODELS = {
    WireFormat.OPENAI_RESPONSES: "gpt-6-sol",
    WireFormat.OPENAI_CHAT: "gpt-6-sol",
    WireFormat.ANTHROPIC: "claude-sonnet-5-5",
    WireFormat.GOOGLE: "gemini-3.8-flash",
    WireFormat.GEMINI_INTERACTIONS: "gemini-3.8-flash",
    WireFormat.BEDROCK_CONVERSE: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
PROFILES = {
    WireFormat.OPENAI_RESPONSES: "openai",
    WireFormat.OPENAI_CHAT: "openai",
    WireFormat.ANTHROPIC: "anthropic",
    WireFormat.GOOGLE: "google",
    WireFormat.GEMINI_INTERACTIONS: "google",
    WireFormat.BEDROCK_CONVERSE: "bedrock",
}
every_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.value)
both_forms = pytest.mark.parametrize("streamed", [False, True], ids=["unary", "stream"])


@dataclass(frozen=True)
class Question:
    """What is asked: by default a document of ``SCHEMA`` within 400 tokens."""

    prompt: str = "What is to be paid, and to whom?"
    schema: Any = None
    budget: int | None = 400
    tool: bool = False
    model: str | None = None
    key: str = "a-key"

    @property
    def held(self) -> Any:
        """The schema that is sent."""
        return SCHEMA if self.schema is None else self.schema


def body(wire: WireFormat, asked: Question, *, streamed: bool = False) -> dict[str, Any]:
    """Return the request's body."""
    turns = [{"role": "user", "content": asked.prompt}]
    model = asked.model or MODELS[wire]
    match wire:
        case WireFormat.OPENAI_RESPONSES:
            made = {"model": model, "input": turns, **_responses(asked)}
            return _with(made, streamed=streamed, max_output_tokens=asked.budget)
        case WireFormat.OPENAI_CHAT:
            options = {"stream_options": {"include_usage": True}} if streamed else {}
            made = {"model": model, "messages": turns, **_chat(asked), **options}
            return _with(made, streamed=streamed, max_completion_tokens=asked.budget)
        case WireFormat.ANTHROPIC:
            made = {"model": model, "messages": turns, **_anthropic(asked)}
            return _with(made, streamed=streamed, max_tokens=asked.budget)
        case WireFormat.GOOGLE:
            parts = {"contents": [{"role": "user", "parts": [{"text": asked.prompt}]}]}
            return {**parts, **_google(asked)}
        case WireFormat.GEMINI_INTERACTIONS:
            turns = [{"type": "user_input", "content": [{"type": "text", "text": asked.prompt}]}]
            made = {"model": model, "input": turns, **_interaction(asked)}
            return {**made, "stream": True} if streamed else made
        case WireFormat.BEDROCK_CONVERSE:
            parts = {"messages": [{"role": "user", "content": [{"text": asked.prompt}]}]}
            config = {} if asked.budget is None else {"inferenceConfig": {"maxTokens": asked.budget}}
            return {**parts, **config, **_bedrock(asked)}


def _with(made: dict[str, Any], *, streamed: bool, **budget: int | None) -> dict[str, Any]:
    given = {name: value for name, value in budget.items() if value is not None}
    return {**made, **given, **({"stream": True} if streamed else {})}


def _responses(asked: Question) -> dict[str, Any]:
    if asked.tool:
        tool = {"type": "function", "name": "pay", "parameters": asked.held, "strict": True}
        return {"tools": [tool], "tool_choice": {"type": "function", "name": "pay"}}
    return {"text": {"format": {"type": "json_schema", "name": "bill", "schema": asked.held, "strict": True}}}


def _chat(asked: Question) -> dict[str, Any]:
    if asked.tool:
        tool = {"type": "function", "function": {"name": "pay", "parameters": asked.held, "strict": True}}
        return {"tools": [tool], "tool_choice": {"type": "function", "function": {"name": "pay"}}}
    held = {"name": "bill", "schema": asked.held, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": held}}


def _anthropic(asked: Question) -> dict[str, Any]:
    if asked.tool:
        tool = {"name": "pay", "input_schema": asked.held, "strict": True}
        return {"tools": [tool], "tool_choice": {"type": "tool", "name": "pay"}}
    return {"output_config": {"format": {"type": "json_schema", "schema": asked.held}}}


def _google(asked: Question) -> dict[str, Any]:
    config = {} if asked.budget is None else {"maxOutputTokens": asked.budget}
    if asked.tool:
        calling = {"mode": "ANY", "allowedFunctionNames": ["pay"]}
        tool = {"name": "pay", "parametersJsonSchema": asked.held}
        return {
            "generationConfig": config,
            "tools": [{"functionDeclarations": [tool]}],
            "toolConfig": {"functionCallingConfig": calling},
        }
    return {"generationConfig": {**config, "responseMimeType": "application/json", "responseJsonSchema": asked.held}}


def _interaction(asked: Question) -> dict[str, Any]:
    config: dict[str, Any] = {} if asked.budget is None else {"max_output_tokens": asked.budget}
    if asked.tool:
        tools = [{"type": "function", "name": "pay", "parameters": asked.held}]
        return {"generation_config": {**config, "tool_choice": "any"}, "tools": tools}
    format_ = {"type": "text", "mime_type": "application/json", "schema": asked.held}
    return {"generation_config": config, "response_format": format_}


def _bedrock(asked: Question) -> dict[str, Any]:
    if asked.tool:
        tool = {"name": "pay", "inputSchema": {"json": asked.held}, "strict": True}
        return {"toolConfig": {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": "pay"}}}}
    held = {"name": "bill", "schema": json.dumps(asked.held)}
    return {"outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": held}}}}


def address(vendor: Simulator, wire: WireFormat, asked: Question, *, streamed: bool = False) -> str:
    """Return where the request goes."""
    paths = {
        WireFormat.OPENAI_RESPONSES: "/v1/responses",
        WireFormat.OPENAI_CHAT: "/v1/chat/completions",
        WireFormat.ANTHROPIC: "/v1/messages",
        WireFormat.GEMINI_INTERACTIONS: "/v1/interactions",
    }
    if wire is WireFormat.BEDROCK_CONVERSE:
        operation = "converse-stream" if streamed else "converse"
        return f"{vendor.url}/model/{quote(asked.model or MODELS[wire])}/{operation}"
    google = f"/v1/models/{asked.model or MODELS[wire]}:"
    form = "streamGenerateContent?alt=sse" if streamed else "generateContent"
    return vendor.url + paths.get(wire, google + form)


def headers(wire: WireFormat, key: str) -> dict[str, str]:
    """Return the headers that carry the key."""
    match wire:
        case WireFormat.ANTHROPIC:
            return {"x-api-key": key, "anthropic-version": "2023-06-01"}
        case WireFormat.GOOGLE | WireFormat.GEMINI_INTERACTIONS:
            return {"x-goog-api-key": key}
        case WireFormat.BEDROCK_CONVERSE:
            return {"authorization": f"Bearer {key}", "amz-sdk-invocation-id": "1"}
        case _:
            return {"authorization": f"Bearer {key}"}


@cache
def http() -> httpx2.Client:
    """Return the client of all tests: making one costs more than most requests."""
    return httpx2.Client(timeout=120)


def post(
    vendor: Simulator, wire: WireFormat, asked: Question | None = None, *, streamed: bool = False
) -> httpx2.Response:
    """Send the question and return the whole response."""
    asked = asked or Question()
    return http().post(
        address(vendor, wire, asked, streamed=streamed),
        json=body(wire, asked, streamed=streamed),
        headers=headers(wire, asked.key),
    )


def understood(wire: WireFormat, response: httpx2.Response) -> CallResult:
    """Return what the library's own adapter reads in a response."""
    text = as_text(wire, response.headers, response.content)
    head = ResponseHead(response.status_code, dict(response.headers))
    return parse_response(load_profile(PROFILES[wire]), wire, head, text, expected=None)


def as_text(wire: WireFormat, headers: Mapping[str, str], content: bytes) -> str:
    """Return a body as adapters read it: Bedrock's streams are binary, and its errors have their type in a header."""
    if wire is WireFormat.BEDROCK_CONVERSE and "eventstream" in headers["content-type"]:
        return b"".join(as_server_sent_events([content])).decode()
    return with_error_type(content, headers).decode() if "x-amzn-errortype" in headers else content.decode()


def answer(vendor: Simulator, wire: WireFormat, asked: Question | None = None, *, streamed: bool = False) -> CallResult:
    """Send the question, and read the answer."""
    return understood(wire, post(vendor, wire, asked, streamed=streamed))


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, at most ten seconds."""
    for _ in range(1_000):
        if holds():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never held")
