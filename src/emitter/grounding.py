"""Decide whether a message was fed by outside material, such as a search or a tool that the vendor ran.

The same function judges the answer of a model and the same message in a conversation, so that both have the same trust.
What is not known to be the model's own counts as outside material.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Callable

JsonObject: TypeAlias = Mapping[str, Any]
TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
THINKING_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content", "thought"})
"""The agent's private thinking. A vendor accepts only signed thinking of its own models."""
MEDIA_PARTS = frozenset(
    {
        "audio",
        "document",
        "file",
        "file_data",
        "image",
        "image_url",
        "inline_data",
        "input_audio",
        "input_file",
        "input_image",
    }
)
"""The parts that ``emitter.media.spellings`` reads."""
_OWN_KINDS = frozenset(
    {
        *TEXT_PARTS,
        *THINKING_PARTS,
        *MEDIA_PARTS,
        "cache_point",
        "compaction",
        "custom_tool_call",
        "fallback",
        "function_call",
        "message",
        "model_output",
        "reasoning_text",
        "refusal",
        "summary_text",
        "tool_use",
        "user_input",
    }
)
"""The messages, items, steps and parts that a model or the caller has written."""
_OWN_CALLS = (None, "", "function", "custom")
PLAIN_MEMBERS = frozenset(
    {
        "arguments", "avgLogprobs", "candidates", "choices", "content", "created", "delta", "finishReason",
        "finish_reason", "function_call", "id", "index", "logprobs", "message", "model", "name", "obfuscation",
        "object", "output", "parts", "refusal", "role", "safetyRatings", "service_tier", "status",
        "stop_details", "stop_reason", "stop_sequence", "system_fingerprint", "text", "thoughtSignature",
        "tool_calls", "type", "usage",
    }
)  # fmt: skip
"""The usual members of answers, which name no sources."""
_SOURCE_NAME = re.compile(
    r"(^|_)(annotation|citation|execut|ground|retriev|search|url_context|sources$)|^(context|documents|references?)$"
)
"""The members in which vendors name sources: web pages, files, places or the calls of their own tools."""
_PLAIN_COUNTS = frozenset(
    {
        "cacheDetails", "cacheReadInputTokens", "cacheWriteInputTokens", "cache_creation",
        "cache_creation_input_tokens", "cache_read_input_tokens", "cachedContentTokenCount",
        "candidatesTokenCount", "candidatesTokensDetails", "completion_tokens", "completion_tokens_details",
        "inputTokens", "input_tokens", "input_tokens_by_modality", "input_tokens_details", "outputTokens",
        "output_tokens", "output_tokens_by_modality", "output_tokens_details", "promptTokenCount",
        "promptTokensDetails", "prompt_tokens", "prompt_tokens_details", "service_tier", "thoughtsTokenCount",
        "totalTokenCount", "totalTokens", "total_cached_tokens", "total_input_tokens", "total_output_tokens",
        "total_thought_tokens", "total_tokens", "trafficType",
    }
)  # fmt: skip
"""The usual counts, which say nothing of tools."""
_SOURCE_COUNT = re.compile(r"citation|search|server_.*tool|sources|tool_use")
"""The token counts and numbers of uses that only material of the vendor's tools has."""
IGNORED_MEMBERS = frozenset({"thought", "thought_signature", "part_metadata", "video_metadata", "media_resolution"})
"""Members that Google writes beside the member that names the part."""


def is_grounded(message: JsonObject) -> bool:
    """Return whether a message, or an item, step, choice or body of a response, was fed by outside material."""
    kind, usage = message.get("type"), message.get("usage")
    if isinstance(kind, str) and kind not in _OWN_KINDS:
        return True
    if (not message.keys() <= PLAIN_MEMBERS and _names_sources(message)) or (usage and counts_sources(usage)):
        return True
    for content in (message.get("content"), message.get("parts")):
        if content and not isinstance(content, str) and _has_outside_part(content):
            return True
    return bool(message.get("tool_calls")) and _calls_hosted_tool(message["tool_calls"])


def _has_outside_part(content: object) -> bool:
    if isinstance(content, dict | Mapping):
        return is_grounded(cast("JsonObject", content))
    for part in cast("list[object]", content) if isinstance(content, list | tuple) else ():
        if is_outside_part(part):
            return True
    return False


def is_outside_part(value: object) -> bool:
    """Return whether a part of a message is outside material, or names it."""
    part = None if isinstance(value, str) else as_json_object(value)
    if part is None:
        return False
    kind, is_plain = part.get("type"), part.keys() <= PLAIN_MEMBERS
    if isinstance(kind, str):
        return kind not in _OWN_KINDS or (kind in TEXT_PARTS and not is_plain and _names_sources(part))
    if is_plain and "text" in part:
        return False
    members = {snake_case(name): member for name, member in part.items() if member is not None}
    names = members.keys() - IGNORED_MEMBERS
    if names and names.isdisjoint(_OWN_KINDS):
        return True
    call = as_json_object(members.get("tool_use")) or {}
    return call.get("type") == "server_tool_use" or _names_sources(part)


def _calls_hosted_tool(calls: object) -> bool:
    tables = map(as_json_object, cast("list[object]", calls)) if isinstance(calls, list | tuple) else ()
    return any(call is not None and call.get("type") not in _OWN_CALLS for call in tables)


def _names_sources(table: JsonObject) -> bool:
    for name in table.keys() - PLAIN_MEMBERS:
        value = table[name]
        if value and _is_source_name(name) and _has_content(value):
            return True
    return False


@lru_cache(maxsize=256)
def _is_source_name(name: str) -> bool:
    return _SOURCE_NAME.search(snake_case(name)) is not None


def counts_sources(usage: object) -> bool:
    """Return whether a usage counts tokens or uses of the vendor's own tools."""
    counts = as_json_object(usage) or {}
    others = counts.keys() - _PLAIN_COUNTS
    return bool(others) and any(_is_source_count(name) and _is_positive(counts[name]) for name in others)


@lru_cache(maxsize=256)
def _is_source_count(name: str) -> bool:
    return _SOURCE_COUNT.search(snake_case(name)) is not None


def _is_positive(count: object) -> bool:
    if isinstance(count, Mapping):
        return any(map(_is_positive, cast("JsonObject", count).values()))
    return isinstance(count, int | float) and count > 0


def _has_content(value: object) -> bool:
    """Return whether a value is not empty. Some vendors send an object of empty lists."""
    return any(map(_has_content, cast("JsonObject", value).values())) if isinstance(value, Mapping) else bool(value)


def as_json_object(value: object) -> JsonObject | None:
    """Return a JSON object unchanged, an SDK object as JSON, or None for anything else."""
    if isinstance(value, dict | Mapping):  # almost always a dict, for which no abstract class is consulted
        return cast("JsonObject", value)
    dump = cast("Callable[..., object] | None", getattr(value, "model_dump", None))
    dumped = dump(mode="json", exclude_none=True) if dump is not None and not isinstance(value, type) else None
    return cast("JsonObject", dumped) if isinstance(dumped, Mapping) else None


def snake_case(name: object) -> str:
    """Return a camelCase name in snake_case."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in str(name))
