"""A second reader of recorded exchanges, for comparison; it shares no code and no table with the library.

It looks at the raw body only: the stop word, marks of refusal, error objects, the text and the token counts.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_CLEAN = {"stop", "tool_calls", "function_call", "completed", "end_turn", "tool_use", "stop_sequence", "STOP", "1"}
_CUT = {"length", "max_tokens", "MAX_TOKENS", "2", "max_output_tokens"}
_BLOCKED = {"content_filter", "refusal", "SAFETY", "RECITATION", "MODEL_ARMOR", "BLOCKLIST", "PROHIBITED_CONTENT"}
_WAITING = {"pause_turn", "compaction", "in_progress", "queued"}
_TOO_LONG = re.compile(r"context (length|window|limit)|prompt is too long|token count .*exceeds", re.IGNORECASE)
_REFUSING = re.compile(r"content management policy|content filtering policy|usage policy", re.IGNORECASE)


@dataclass(frozen=True)
class Seen:
    """What the second reader found; ``usage`` is input and output."""

    verdict: str
    text: str = ""
    usage: tuple[int, int] | None = None


def look(exchange: dict[str, Any]) -> Seen:
    """Read an exchange."""
    response, endpoint = exchange["response"], exchange["endpoint"]
    if response["status"] != 200:
        return Seen(_failed(json.dumps(response["body"])))
    try:
        events = _documents(response["body"])
    except ValueError:
        events = None
    if events is None:
        return Seen("faulted")
    if endpoint == "interactions":
        return _interaction(events)
    read = _chat if "chat" in endpoint else _responses if endpoint == "responses" else _anthropic
    seen = _google(events, streamed=not isinstance(response["body"], dict)) if "ontent" in endpoint else read(events)
    errors = [each for each in events if each.get("error") and not each.get("status")]
    if errors:
        return Seen(_failed(json.dumps(errors)), usage=seen.usage)
    return Seen("faulted", usage=seen.usage) if seen.verdict == "faulted" else seen


def _documents(body: object) -> list[dict[str, Any]] | None:
    if isinstance(body, dict):
        return [body]
    if isinstance(body, list):
        return body
    if "data:" not in str(body):
        return None
    lines = [line[5:].strip() for line in str(body).splitlines() if line.startswith("data:")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def _failed(reported: str) -> str:
    return "overflowed" if _TOO_LONG.search(reported) else "refused" if _REFUSING.search(reported) else "faulted"


def _verdict(words: list[str], *, streamed: bool = False) -> str:
    """Judge the stop words; none at all is unknown, or a stream that was cut."""
    for verdict, meant in (("refused", _BLOCKED), ("truncated", _CUT), ("paused", _WAITING)):
        if meant & set(words):
            return verdict
    if not words:
        return "faulted" if streamed else "unknown"
    return "complete" if set(words) <= _CLEAN else "unknown"


def _counted(usage: dict[str, Any] | None, inputs: list[str], outputs: list[str]) -> tuple[int, int] | None:
    if not usage:
        return None
    found = [sum(usage.get(name) or 0 for name in names) for names in (inputs, outputs)]
    # Some servers count thinking beside the output, and only the sum has it.
    return found[0], max(found[1], (usage.get("total_tokens") or usage.get("totalTokenCount") or 0) - found[0])


def _chat(events: list[dict[str, Any]]) -> Seen:
    words, text, refusal, usage = [], "", "", None
    for event in events:
        usage = event.get("usage") or usage
        for choice in event.get("choices") or []:
            said = choice.get("delta") or choice.get("message") or {}
            text += (said.get("content") or "") if not choice.get("index") else ""
            refusal += said.get("refusal") or ""
            words.append(choice.get("finish_reason") or (choice.get("finish_details") or {}).get("type"))
    known = [word for word in words if word]
    verdict = "refused" if refusal else _verdict(known, streamed="chunk" in (events[0].get("object") or ""))
    return Seen(verdict, text, _counted(usage, ["prompt_tokens"], ["completion_tokens"]))


def _responses(events: list[dict[str, Any]]) -> Seen:
    streamed = "response" in events[0]
    last = [each["response"] for each in events if "response" in each][-1] if streamed else events[0]
    output = last.get("output") or [each["item"] for each in events if each.get("type") == "response.output_item.done"]
    said = [item for item in output if item["type"] == "message" and item.get("phase") != "commentary"]
    parts = [part for item in said for part in item["content"]]
    going_on = [each["status"] for each in output if each.get("status") == "in_progress" and "arguments" in each]
    word = (last.get("incomplete_details") or {}).get("reason") or next(iter(going_on), last.get("status"))
    verdict = "refused" if any(part["type"] == "refusal" for part in parts) else _verdict([word] if word else [])
    if word == "failed":
        verdict = _failed(json.dumps(last["error"]))
    text = "".join(part["text"] for part in parts if part["type"] == "output_text")
    return Seen(verdict, text, _counted(last.get("usage"), ["input_tokens"], ["output_tokens"]))


def _anthropic(events: list[dict[str, Any]]) -> Seen:
    if "content" in events[0]:
        words = [events[0]["stop_reason"]]
        text = "".join(block["text"] for block in events[0]["content"] if block["type"] == "text")
        return Seen(_verdict(words), text, _anthropic_usage(events[0]["usage"]))
    words, texts, usage = [], list[str](), dict[str, Any]()
    for event in events:
        if event["type"] == "message_start":
            texts, usage = [], dict(event["message"]["usage"])
        texts.append((event.get("delta") or {}).get("text") or (event.get("content_block") or {}).get("text") or "")
        words.append((event.get("delta") or {}).get("stop_reason"))
        usage |= {key: value for key, value in (event.get("usage") or {}).items() if value is not None}
    known = [word for word in words if word]
    return Seen(_verdict(known, streamed=True), "".join(texts), _anthropic_usage(usage))


def _anthropic_usage(usage: dict[str, Any]) -> tuple[int, int] | None:
    inputs = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
    return _counted(usage, inputs, ["output_tokens"])


def _interaction(events: list[dict[str, Any]]) -> Seen:
    status, texts, usage = "", list[str](), None
    for event in events:
        reported = event if "status" in event else event.get("interaction") or {}
        status, usage = reported.get("status", status), reported.get("usage", usage)
        if (event.get("delta") or {}).get("type") == "text":
            texts.append(event["delta"]["text"])
        outputs = [each for step in reported.get("steps") or [] if "content" in step for each in step["content"]]
        texts += [each["text"] for each in [*outputs, *(reported.get("outputs") or [])] if each["type"] == "text"]
    verdict = {"incomplete": "truncated", "requires_action": "complete"}.get(status) or _verdict([status])
    inputs, written = ["total_input_tokens", "total_tool_use_tokens"], ["total_output_tokens", "total_thought_tokens"]
    return Seen(verdict, "".join(texts), _counted(usage, inputs, written))


def _google(events: list[dict[str, Any]], *, streamed: bool) -> Seen:
    words, text, usage = [], "", dict[str, Any]()
    for event in events:
        if (event.get("promptFeedback") or {}).get("blockReason"):
            words.append("SAFETY")
        for candidate in event.get("candidates") or []:
            parts = (candidate.get("content") or {}).get("parts") or []
            text += "".join(part.get("text") or "" for part in parts if not part.get("thought"))
            words.append(candidate.get("finishReason"))
        usage |= event.get("usageMetadata") or {}
    inputs, outputs = ["promptTokenCount", "toolUsePromptTokenCount"], ["candidatesTokenCount", "thoughtsTokenCount"]
    known = [str(word) for word in words if word]
    return Seen(_verdict(known, streamed=streamed), text, _counted(usage, inputs, outputs))
