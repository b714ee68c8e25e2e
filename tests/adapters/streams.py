"""Unary bodies turned into the event streams that the vendors would have sent instead.

``cut`` splits a text into the pieces of its deltas. An event is a name, or none, and its payload.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from emitter.profiles import WireFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Cut: TypeAlias = "Callable[[str], list[str]]"
    Event: TypeAlias = "tuple[str, dict[str, Any]]"
    Body: TypeAlias = "dict[str, Any]"


@dataclass(frozen=True)
class Frame:
    """How events are written down; all of it is allowed by the standard, or seen."""

    eol: str = "\n"
    space: str = " "
    before: str = ""
    between: str = ""
    named: bool = True
    split: bool = False
    done: bool = True

    def write(self, events: list[Event]) -> str:
        """Return the stream's text."""
        lines = [self.before] if self.before else []
        for name, payload in events:
            text = json.dumps(payload, indent=1 if self.split else None, ensure_ascii=not self.split)
            lines += [f"event:{self.space}{name}"] if self.named and name else []
            lines += [f"data:{self.space}{line}" for line in text.split("\n")]
            lines += [self.between, ""] if self.between else [""]
        lines += ["data: [DONE]", ""] if self.done else []
        return self.eol.join([*lines, ""])


def chat(body: Body, cut: Cut) -> Iterator[Event]:
    """Stream a chat completion."""
    for choice in body["choices"]:
        index, message = choice.get("index", 0), choice.get("message") or {}
        yield "", {"choices": [{"index": index, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
        for delta in _chat_deltas(message, cut):
            yield "", {"choices": [{"index": index, "delta": delta, "finish_reason": None}]}
        last = {key: choice[key] for key in ("finish_reason", "finish_details") if key in choice}
        yield "", {"choices": [{"index": index, "delta": {}, **last}]}
    yield "", {"choices": [], "usage": body.get("usage")}


def _chat_deltas(message: Body, cut: Cut) -> Iterator[Body]:
    for key in ("content", "refusal"):
        yield from ({key: piece} for piece in cut(message.get(key) or ""))
    for index, call in enumerate(message.get("tool_calls") or []):
        begun = {"index": index, "id": call.get("id"), "function": {"name": call["function"]["name"], "arguments": ""}}
        yield {"tool_calls": [begun]}
        for piece in cut(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
    if message.get("function_call"):
        yield {"function_call": {"name": message["function_call"]["name"], "arguments": ""}}
        for piece in cut(message["function_call"]["arguments"]):
            yield {"function_call": {"arguments": piece}}


def responses(body: Body, cut: Cut) -> Iterator[Event]:
    """Stream a response."""
    yield _typed("response.created", response={**body, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(body["output"]):
        bare = {key: value for key, value in item.items() if key not in ("content", "arguments", "input")}
        yield _typed("response.output_item.added", output_index=index, item=bare)
        for stem, place, key, text in _responses_texts(item):
            at = {"output_index": index, **place}
            yield from (_typed(f"{stem}.delta", **at, delta=piece) for piece in cut(text))
            yield _typed(f"{stem}.done", **at, **{key: text})
        yield _typed("response.output_item.done", output_index=index, item=item)
    yield _typed(f"response.{body['status']}", response=body)


def _responses_texts(item: Body) -> Iterator[tuple[str, Body, str, str]]:
    if item["type"] == "function_call":
        yield "response.function_call_arguments", {}, "arguments", item["arguments"]
    if item["type"] == "message":
        for index, part in enumerate(item["content"]):
            key = "refusal" if part["type"] == "refusal" else "text"
            yield f"response.{part['type']}", {"content_index": index}, key, part[key]


def anthropic(body: Body, cut: Cut) -> Iterator[Event]:
    """Stream a message."""
    begun = {**body, "content": [], "stop_reason": None, "usage": {**body["usage"], "output_tokens": 1}}
    yield _typed("message_start", message=begun)
    yield _typed("ping")
    for index, block in enumerate(body["content"]):
        empty = {"text": {"text": ""}, "tool_use": {"input": {}}}.get(block["type"], {})
        yield _typed("content_block_start", index=index, content_block={**block, **empty})
        yield from (_typed("content_block_delta", index=index, delta=delta) for delta in _anthropic_deltas(block, cut))
        yield _typed("content_block_stop", index=index)
    last = {key: body.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    yield _typed("message_delta", delta=last, usage={"output_tokens": body["usage"]["output_tokens"]})
    yield _typed("message_stop")


def _anthropic_deltas(block: Body, cut: Cut) -> Iterator[Body]:
    if block["type"] == "text":
        yield from ({"type": "text_delta", "text": piece} for piece in cut(block["text"]))
    if block["type"] == "tool_use":
        yield from ({"type": "input_json_delta", "partial_json": piece} for piece in cut(json.dumps(block["input"])))


def google(body: Body, cut: Cut) -> Iterator[Event]:
    """Stream a generated content."""
    if "promptFeedback" in body:
        yield "", {"promptFeedback": body["promptFeedback"]}
    for candidate in body.get("candidates") or []:
        index = candidate.get("index", 0)
        for part in (candidate.get("content") or {}).get("parts") or []:
            for piece in _google_pieces(part, cut):
                yield "", {"candidates": [{"index": index, "content": {"parts": [piece], "role": "model"}}]}
        yield "", {"candidates": [{"index": index, "finishReason": candidate["finishReason"]}]}
    yield "", {"usageMetadata": body.get("usageMetadata") or {}}


def _google_pieces(part: Body, cut: Cut) -> list[Body]:
    return [{**part, "text": piece} for piece in cut(part["text"])] if "text" in part else [part]


def bedrock(body: Body, cut: Cut) -> Iterator[Event]:
    """Stream an answer of Converse."""
    yield "", {"messageStart": {"role": "assistant"}}
    for index, block in enumerate(body["output"]["message"]["content"]):
        call = block.get("toolUse")
        if call:
            start = {"toolUse": {"toolUseId": call["toolUseId"], "name": call["name"]}}
            yield "", {"contentBlockStart": {"contentBlockIndex": index, "start": start}}
        for delta in _bedrock_deltas(block, cut):
            yield "", {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}
        yield "", {"contentBlockStop": {"contentBlockIndex": index}}
    yield "", {"messageStop": {"stopReason": body["stopReason"]}}
    yield "", {"metadata": {"usage": body["usage"], "metrics": {"latencyMs": 1}}}


def _bedrock_deltas(block: Body, cut: Cut) -> Iterator[Body]:
    yield from ({"text": piece} for piece in cut(block.get("text", "")))
    if "toolUse" in block:
        yield from ({"toolUse": {"input": piece}} for piece in cut(json.dumps(block["toolUse"]["input"])))
    if "reasoningContent" in block:
        yield {"reasoningContent": {"text": "hm"}}


def interactions(body: Body, cut: Cut) -> Iterator[Event]:
    """Stream an interaction."""
    begun = {"object": "interaction", "status": "in_progress"}
    yield "interaction.created", {"event_type": "interaction.created", "interaction": begun}
    yield "", {"event_type": "interaction.status_update", "status": "in_progress"}
    for index, step in enumerate(body["steps"]):
        bare = {key: value for key, value in step.items() if key != "content"}
        begun = {**bare, "arguments": {}} if "arguments" in bare else bare
        yield "step.start", {"event_type": "step.start", "index": index, "step": begun}
        for delta in _interaction_deltas(step, cut):
            yield "step.delta", {"event_type": "step.delta", "index": index, "delta": delta}
        yield "step.stop", {"event_type": "step.stop", "index": index}
    ended = {key: value for key, value in body.items() if key != "steps"}
    yield "interaction.completed", {"event_type": "interaction.completed", "interaction": ended}


def _interaction_deltas(step: Body, cut: Cut) -> Iterator[Body]:
    for content in step.get("content") or []:
        yield from ({"type": "text", "text": piece} for piece in cut(content.get("text", "")))
    if "arguments" in step:
        yield from ({"type": "arguments_delta", "arguments": piece} for piece in cut(json.dumps(step["arguments"])))


def _typed(kind: str, **payload: Any) -> Event:
    return kind, {"type": kind, **payload}


STREAMS = {
    WireFormat.OPENAI_CHAT: chat,
    WireFormat.OPENAI_RESPONSES: responses,
    WireFormat.ANTHROPIC: anthropic,
    WireFormat.GOOGLE: google,
    WireFormat.BEDROCK_CONVERSE: bedrock,
    WireFormat.GEMINI_INTERACTIONS: interactions,
}
