"""An answer has the trust that the same message has in a conversation: one function judges both."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest

from emitter import grounding
from emitter.adapters import detect_wire
from emitter.conversation import parse_conversation
from emitter.errors import InputError
from emitter.messages import ExpectedAnswer, ModelResponse, StopReason
from emitter.models import Trust
from emitter.profiles import WireFormat
from emitter.prompts import load
from tests.adapters.bodies import (
    accumulator,
    answer,
    anthropic,
    bedrock,
    chat,
    google,
    interaction,
    responses,
    said,
)
from tests.adapters.streams import Frame
from tests.traffic.recorded import exchanges, needed

PROMPTS = load()
WORDS = '{"vendor": "Acme"}'
URL = {
    "type": "url_citation",
    "url_citation": {"url": "http://a.example", "title": "t", "start_index": 0, "end_index": 5},
}


@dataclass(frozen=True)
class Marker:
    """A mark of outside material: an answer that has it, its events, and the messages of a conversation."""

    wire: WireFormat
    body: dict[str, Any]
    events: list[dict[str, Any]]
    history: list[Any]


def chat_member(name: str, value: Any) -> Marker:
    """Return a mark in a member of a chat message."""
    body = chat({"content": WORDS, name: value})
    deltas: list[dict[str, Any]] = [{"content": WORDS}, {name: value}]
    events = [*({"choices": [{"index": 0, "delta": each}]} for each in deltas), chat_end()]
    return Marker(WireFormat.OPENAI_CHAT, body, events, [body["choices"][0]["message"]])


def chat_end() -> dict[str, Any]:
    """Return the chunk that ends a chat completion."""
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def chat_body(name: str, value: Any) -> Marker:
    """Return a mark beside the choices of a chat completion."""
    body = {**chat({"content": WORDS}), name: value}
    events = [{"choices": [{"index": 0, "delta": {"content": WORDS}}], name: value}, chat_end()]
    return Marker(WireFormat.OPENAI_CHAT, body, events, [{**body["choices"][0]["message"], name: value}])


def chat_parts(*parts: dict[str, Any]) -> Marker:
    """Return a mark in the parts of a chat message."""
    body = chat({"content": [{"type": "text", "text": WORDS}, *parts]})
    content = body["choices"][0]["message"]["content"]
    events = [{"choices": [{"index": 0, "delta": {"content": content}}]}, chat_end()]
    return Marker(WireFormat.OPENAI_CHAT, body, events, [body["choices"][0]["message"]])


def item(*items: dict[str, Any], part: dict[str, Any] | None = None) -> Marker:
    """Return a mark in an item of a response, or in a part of its text. The end of the stream does not repeat it."""
    text = {"type": "output_text", "text": WORDS, **(part or {})}
    body = responses(*items, said(text))
    events: list[dict[str, Any]] = []
    for index, each in enumerate(body["output"]):
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": each},
            {"type": "response.output_item.done", "output_index": index, "item": each},
        ]
    ended = {**body, "output": [said({"type": "output_text", "text": WORDS})]}
    return Marker(
        WireFormat.OPENAI_RESPONSES, body, [*events, {"type": "response.completed", "response": ended}], body["output"]
    )


def annotation() -> Marker:
    """Return a mark that a response streams in an event of its own."""
    made = item(part={"annotations": [URL]})
    bare = item()
    added = {"type": "response.output_text.annotation.added", "output_index": 0, "annotation": URL}
    return Marker(made.wire, made.body, [*bare.events[:-1], added, bare.events[-1]], made.history)


def blocks(*made: dict[str, Any], text: dict[str, Any] | None = None, usage: dict[str, Any] | None = None) -> Marker:
    """Return a mark in the content blocks of a message, in the citations of its text or in its usage."""
    words = {"type": "text", "text": WORDS, **(text or {})}
    body = anthropic(*made, words)
    body = {**body, "role": "assistant", "usage": {**body["usage"], **(usage or {})}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**body, "content": [], "stop_reason": None}}]
    for index, block in enumerate(body["content"]):
        bare = {key: value for key, value in block.items() if key != "citations"}
        events.append({"type": "content_block_start", "index": index, "content_block": bare})
        if block.get("citations"):
            delta = {"type": "citations_delta", "citation": block["citations"][0]}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    events += [
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage or {}},
        {"type": "message_stop"},
    ]
    return Marker(WireFormat.ANTHROPIC, body, events, [body])


def candidate(*parts: dict[str, Any], **members: Any) -> Marker:
    """Return a mark in the parts or the members of a candidate."""
    body = google({"text": WORDS}, *parts, **members)
    first = {"candidates": [{"content": {"role": "model", "parts": [{"text": WORDS}]}}]}
    rest = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", **members}
    return Marker(
        WireFormat.GOOGLE, body, [first, {"candidates": [rest]}], [{**body["candidates"][0]["content"], **members}]
    )


def converse(*content: dict[str, Any], events: list[dict[str, Any]]) -> Marker:
    """Return a mark in the blocks of an answer of Converse."""
    body = bedrock({"text": WORDS}, *content)
    words = {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": WORDS}}}
    return Marker(
        WireFormat.BEDROCK_CONVERSE,
        body,
        [words, *events, {"messageStop": {"stopReason": "end_turn"}}],
        [body["output"]["message"]],
    )


def step(*steps: dict[str, Any], text: dict[str, Any] | None = None) -> Marker:
    """Return a mark in the steps of an interaction, or in a text of its output."""
    words = {"type": "text", "text": WORDS, **(text or {})}
    body = interaction(*steps, {"type": "model_output", "content": [words]})
    events: list[dict[str, Any]] = []
    for index, each in enumerate(body["steps"]):
        bare = {key: value for key, value in each.items() if key != "content"}
        events.append({"event_type": "step.start", "index": index, "step": bare})
        events += [{"event_type": "step.delta", "index": index, "delta": part} for part in each.get("content") or []]
        events.append({"event_type": "step.stop", "index": index})
    ended = {"event_type": "interaction.completed", "interaction": {"status": "completed"}}
    return Marker(WireFormat.GEMINI_INTERACTIONS, body, [*events, ended], body["steps"])


SEARCH = {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "q"}}
SERVER_USE = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}}
PAGE = {"type": "web_search_result", "url": "http://a.example", "title": "t", "encrypted_content": "x"}

MARKERS: dict[str, Marker] = {
    "chat annotations": chat_member("annotations", [URL]),
    "chat citations": chat_member("citations", ["http://a.example"]),
    "chat context of Azure": chat_member("context", {"citations": [{"content": "x"}], "intent": "[]"}),
    "chat executed_tools of Groq": chat_member("executed_tools", [{"index": 0, "type": "search", "output": "x"}]),
    "chat search_results": chat_member("search_results", [{"title": "t"}]),
    "chat sources of tomorrow": chat_member("web_sources", [{"title": "t"}]),
    "chat citations beside the choices": chat_body("citations", ["http://a.example"]),
    "chat search results beside the choices": chat_body("search_results", [{"title": "t", "url": "x"}]),
    "chat sources in the usage": chat_body(
        "usage", {"prompt_tokens": 7, "completion_tokens": 5, "num_sources_used": 2}
    ),
    "chat hosted call": chat_member("tool_calls", [{"id": "c", "type": "web_search", "function": {"name": "s"}}]),
    "chat part with sources": chat_parts({"type": "text", "text": " ", "annotations": [URL]}),
    "chat part that refers": chat_parts({"type": "reference", "reference_ids": [1]}),
    "responses web search": item(SEARCH),
    "responses file search": item({"type": "file_search_call", "id": "f", "queries": ["q"], "results": None}),
    "responses code": item({"type": "code_interpreter_call", "code": "1", "container_id": "c", "outputs": None}),
    "responses MCP call": item(
        {"type": "mcp_call", "name": "f", "arguments": "{}", "server_label": "s", "output": "x"}
    ),
    "responses MCP tools": item({"type": "mcp_list_tools", "server_label": "s", "tools": []}),
    "responses computer": item({"type": "computer_call", "action": {"type": "click"}, "call_id": "c"}),
    "responses item of tomorrow": item({"type": "browse_call", "id": "b"}),
    "responses annotation": item(part={"annotations": [URL]}),
    "responses annotation in an event": annotation(),
    "anthropic search": blocks(SERVER_USE, {"type": "web_search_tool_result", "tool_use_id": "s", "content": [PAGE]}),
    "anthropic call alone": blocks(SERVER_USE),
    "anthropic MCP": blocks({"type": "mcp_tool_use", "id": "m", "name": "f", "input": {}, "server_name": "s"}),
    "anthropic block of tomorrow": blocks({"type": "browse_tool_use", "id": "b"}),
    "anthropic citations": blocks(text={"citations": [{"type": "web_search_result_location", "url": "x"}]}),
    "anthropic usage": blocks(usage={"server_tool_use": {"web_search_requests": 1}}),
    "google grounding": candidate(groundingMetadata={"webSearchQueries": ["q"]}),
    "google grounding, snake case": candidate(grounding_metadata={"web_search_queries": ["q"]}),
    "google citations": candidate(citationMetadata={"citationSources": [{"uri": "x"}]}),
    "google pages": candidate(urlContextMetadata={"urlMetadata": [{"retrievedUrl": "x"}]}),
    "google code": candidate({"executableCode": {"language": "PYTHON", "code": "1"}}),
    "google result of code": candidate({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}),
    "google hosted call": candidate({"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {}}}),
    "google hosted result": candidate({"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {}}}),
    "converse citations": converse(
        {"citationsContent": {"content": [{"text": " "}], "citations": [{"title": "t"}]}},
        events=[{"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"citation": {"title": "t"}}}}],
    ),
    "converse hosted call": converse(
        {"toolUse": {"toolUseId": "t", "name": "nova_grounding", "type": "server_tool_use", "input": {}}},
        events=[
            {
                "contentBlockStart": {
                    "contentBlockIndex": 1,
                    "start": {"toolUse": {"toolUseId": "t", "name": "nova_grounding", "type": "server_tool_use"}},
                }
            }
        ],
    ),
    "converse result": converse(
        {"toolResult": {"toolUseId": "t", "content": [{"text": "x"}]}},
        events=[{"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolResult": {"toolUseId": "t"}}}}],
    ),
    "interactions search": step(
        {"type": "google_search_call", "id": "g", "arguments": {"queries": ["q"]}},
        {"type": "google_search_result", "call_id": "g", "result": [{"url": "x"}]},
    ),
    "interactions pages": step({"type": "url_context_call", "id": "u", "arguments": {"urls": ["x"]}}),
    "interactions code": step({"type": "code_execution_result", "call_id": "c", "result": "1"}),
    "interactions MCP": step({"type": "mcp_server_tool_call", "id": "m", "name": "f", "arguments": {}}),
    "interactions step of tomorrow": step({"type": "browse_call", "id": "b"}),
    "interactions annotations": step(text={"annotations": [{"type": "url_citation", "url": "x"}]}),
}

PLAIN: dict[str, Marker] = {
    "chat": chat_member("refusal", None),
    "chat, empty": chat_member("annotations", []),
    "chat, empty context": chat_member("context", {"citations": []}),
    "chat thinking": chat_member("reasoning_content", "hm"),
    "chat usage": chat_body("usage", {"prompt_tokens": 7, "completion_tokens": 5, "num_sources_used": 0}),
    "chat filters": chat_body("prompt_filter_results", [{"prompt_index": 0}]),
    "responses": item({"type": "reasoning", "summary": []}, part={"annotations": []}),
    "anthropic": blocks({"type": "thinking", "thinking": "hm", "signature": "s"}, text={"citations": None}),
    "anthropic usage": blocks(usage={"server_tool_use": {"web_search_requests": 0}}),
    "google": candidate(
        {"text": "", "thoughtSignature": "s"}, groundingMetadata={}, safetyRatings=[{"blocked": False}]
    ),
    "google, empty": candidate(groundingMetadata={"webSearchQueries": []}),
    "converse": converse(
        {"reasoningContent": {"reasoningText": {"text": "hm"}}},
        events=[{"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"reasoningContent": {"text": "hm"}}}}],
    ),
    "interactions": step({"type": "thought", "signature": "s"}, text={"annotations": []}),
}


def is_grounded(marker: Marker, form: str) -> bool:
    """Tell whether an answer is grounded, whole or streamed."""
    if form == "unary":
        found = answer(marker.wire, marker.body, expected=ExpectedAnswer())
    else:
        incoming = accumulator(marker.wire, ExpectedAnswer())
        incoming.feed(Frame().write([("", each) for each in marker.events]).encode())
        found = incoming.finish({})
    assert isinstance(found, ModelResponse)
    assert (found.stop, found.text.strip()) == (StopReason.COMPLETE, WORDS)
    return found.is_grounded


def trust_of(messages: list[Any]) -> Trust:
    """Return the trust of a conversation with these messages."""
    question = {"role": "user", "content": "Who?"}
    return parse_conversation([question, *messages, question], PROMPTS).trust


@pytest.mark.parametrize("form", ["unary", "streamed"])
@pytest.mark.parametrize("name", MARKERS)
def test_every_mark_taints_an_answer(name: str, form: str) -> None:
    """Whole and streamed."""
    assert is_grounded(MARKERS[name], form)


@pytest.mark.parametrize("name", MARKERS)
def test_every_mark_taints_a_conversation(name: str) -> None:
    """What cannot be shown to a model is not read at all."""
    history = json.loads(json.dumps(MARKERS[name].history))
    assert any(map(grounding.is_grounded, history))
    try:
        trust = trust_of(history)
    except InputError:
        return
    assert trust is Trust.UNTRUSTED


@pytest.mark.parametrize("name", PLAIN)
def test_no_mark_taints_nothing(name: str) -> None:
    """The model's own words, thinking and calls are no material, and members that hold nothing are no mark."""
    assert [is_grounded(PLAIN[name], form) for form in ("unary", "streamed")] == [False, False]
    assert trust_of(json.loads(json.dumps(PLAIN[name].history))) is Trust.TRUSTED


def history_of(wire: WireFormat, body: dict[str, Any]) -> list[Any]:
    """Return the messages that a caller would take from a recorded answer."""
    match wire:
        case WireFormat.OPENAI_CHAT:
            return [choice["message"] for choice in body["choices"][:1]]
        case WireFormat.OPENAI_RESPONSES:
            return body["output"]
        case WireFormat.ANTHROPIC:
            return [body]
        case WireFormat.GOOGLE:
            return [{**first.pop("content"), **first} for first in [dict(body["candidates"][0])]]
        case WireFormat.BEDROCK_CONVERSE:
            return [body["output"]["message"]]
        case WireFormat.GEMINI_INTERACTIONS:
            return body["steps"]


_MARKS = re.compile(
    r"citation|grounding|web_search|server_tool|tool_search|code_interpreter|executableCode|mcp_|google_search"
    r"|url_?context|file_search|toolCall|image_generation|some_future_type",
    re.IGNORECASE,
)
"""What recorded answers have that outside material fed, whole or streamed."""


@needed
def test_no_recorded_answer_is_grounded_without_a_reason() -> None:
    """A second look at the raw body finds a mark in each."""
    found = {
        name: answer(wire, exchange["response"]["body"])
        for name, exchange in exchanges().items()
        if (wire := detect_wire(exchange["endpoint"], "")) is not None and exchange["response"]["status"] == 200
    }
    grounded = [name for name, result in found.items() if isinstance(result, ModelResponse) and result.is_grounded]
    assert len(grounded) > 25
    assert [name for name in grounded if not _MARKS.search(str(exchanges()[name]["response"]["body"]))] == []


@needed
def test_recorded_answers_have_the_trust_of_the_same_messages() -> None:
    """As answers and as history."""
    compared, grounded, differing = 0, 0, list[str]()
    for name, exchange in exchanges().items():
        body, wire = exchange["response"]["body"], detect_wire(exchange["endpoint"], "")
        if wire is None or not isinstance(body, dict) or exchange["response"]["status"] != 200:
            continue
        found = answer(wire, body)
        try:
            trust = trust_of(history_of(wire, body))
        except (InputError, LookupError):
            continue
        if isinstance(found, ModelResponse):
            compared, grounded = compared + 1, grounded + found.is_grounded
            if found.is_grounded is not (trust is Trust.UNTRUSTED):
                differing.append(name)
    assert differing == []
    assert compared > 500
    assert grounded >= 10
