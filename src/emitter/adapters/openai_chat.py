"""Adapter for OpenAI Chat Completions, as served by OpenAI, Azure and compatible servers.

Source: developers.openai.com/api/reference/resources/chat; openai 3.52.0, types/chat.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emitter.adapters.request_options import ReservedOption, merge_layers
from emitter.adapters.response_decoding import (
    AssembledBody,
    StreamIdentity,
    as_objects,
    as_string,
    collect_stop_reasons,
    find_error,
    find_foreign_choice,
    find_foreign_role,
    is_error_body,
    make_result,
    parse_error,
    read_index,
    read_usage,
    reject_foreign,
    with_usage,
    worst_result,
)
from emitter.adapters.transport import post, post_streamed
from emitter.grounding import PLAIN_MEMBERS, is_grounded
from emitter.messages import Medium, ModelResponse, OutputMode, as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.response_decoding import DecodingTables, ToolCall
    from emitter.messages import CallResult, ExpectedAnswer, Json, MediaPart, ModelRequest, OutputFormat, PromptCache
    from emitter.profiles.model import WireProfile

PATH = "/chat/completions"
RESERVED_OPTIONS: Mapping[str, ReservedOption] = MappingProxyType(
    {
        "model": ReservedOption.MODEL,
        "messages": ReservedOption.PROMPT,
        "max_tokens": ReservedOption.BUDGET,
        "max_completion_tokens": ReservedOption.BUDGET,
        "response_format": ReservedOption.SCHEMA,
        "tools": ReservedOption.TOOLS,
        "tool_choice": ReservedOption.TOOLS,
        "parallel_tool_calls": ReservedOption.TOOLS,
        "functions": ReservedOption.TOOLS,
        "function_call": ReservedOption.TOOLS,
        "n": ReservedOption.ONE_ANSWER,
        "stream": ReservedOption.STREAM,
        "stream_options.include_usage": ReservedOption.STREAM,
    }
)
"""The request fields that ``extra_body`` may not set, including other names of the same fields."""
_COUNTS = ("prompt_tokens", "completion_tokens")
_FILTERED = "content_filter"
_FILE_NAME = "document.pdf"
_AUDIO_FORMATS = {"audio/wav": "wav", "audio/mpeg": "mp3"}
_VISIBLE_TYPES = (None, "text", "output_text")
_THINKING_TYPES = ("thinking", "reasoning")
_THINKING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")


def encode(request: ModelRequest, wire: WireProfile) -> dict[str, Json]:
    """Return the request body."""
    turns = [
        {"role": message.role.value, "content": list(map(_content_part, message.parts)) or message.text}
        for message in request.all_messages()
    ]
    body: dict[str, Json] = {
        "model": request.model,
        "messages": [{"role": "system", "content": request.system}, *turns],
        wire.tokens.parameter: request.max_output_tokens,
        **_output_parameters(request.output),
    }
    if request.cache is not None:
        body |= cache_parameters(request.cache)
        if request.cache.is_marked:
            body["messages"] = [{"role": "system", "content": mark_system(request, "text")}, *turns]
    return merge_layers(body, wire.output.options, request.options)


def mark_system(request: ModelRequest, kind: str) -> list[Json]:
    """Return the parts of the system prompt with a mark at the end of its prefix."""
    prefix, *rest = ({"type": kind, "text": text} for text in request.system_parts())
    return [{**prefix, "prompt_cache_breakpoint": {"mode": "explicit"}}, *rest]


def cache_parameters(cache: PromptCache) -> dict[str, Json]:
    """Return the parameters of the prompt cache. Models with marks have options, earlier ones a retention."""
    parameters: dict[str, Json] = {"prompt_cache_key": cache.key} if cache.key else {}
    lifetime = {"ttl": cache.lifetime} if cache.lifetime else {}
    if cache.is_exclusive:
        return {**parameters, "prompt_cache_options": {"mode": "explicit", **lifetime}}
    return {**parameters, **({"prompt_cache_retention": cache.lifetime} if cache.lifetime else {})}


def _content_part(part: str | MediaPart) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    match part.medium:
        case Medium.IMAGE:
            detail = {"detail": part.detail} if part.detail else {}
            return {"type": "image_url", "image_url": {"url": part.url or part.data_url, **detail}}
        case Medium.DOCUMENT:
            return {"type": "file", "file": _file_members(part)}
        case Medium.AUDIO:
            return {"type": "input_audio", "input_audio": audio_members(part)}


def _file_members(part: MediaPart) -> dict[str, Json]:
    """Return the members of a document. OpenRouter takes a URL in place of the data."""
    if part.file_id is not None:
        return {"file_id": part.file_id}
    members = file_data_members(part)
    return members if part.url is None else {**members, "file_data": part.url}


def file_data_members(part: MediaPart) -> dict[str, Json]:
    """Return the members of a document's bytes. The vendor requires a file name."""
    return {"filename": part.name or _FILE_NAME, "file_data": part.data_url}


def audio_members(part: MediaPart) -> dict[str, Json]:
    """Return the members of a recording."""
    return {"data": part.base64, "format": _AUDIO_FORMATS.get(part.media_type, part.media_type.partition("/")[2])}


def _output_parameters(output: OutputFormat) -> dict[str, Json]:
    match output.mode:
        case OutputMode.JSON_SCHEMA:
            schema = {"name": output.name, "schema": output.schema, "strict": output.strict}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        case OutputMode.JSON_OBJECT:
            return {"response_format": {"type": "json_object"}}
        case OutputMode.TEXT:
            return {}
        case OutputMode.TOOL:
            function = {"name": output.name, "parameters": output.schema, "strict": output.strict}
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": output.name}},
                "parallel_tool_calls": False,
            }


def decode(body: Mapping[str, Json], tables: DecodingTables, expected: ExpectedAnswer | None) -> CallResult:
    """Return the response or fault that a response body describes."""
    choices, usage = as_objects(body.get("choices")), read_usage(_find_usage(body), _COUNTS, tables)
    messages = [as_mapping(choice.get("message")) for choice in choices]
    error = find_error(*choices, *messages)
    if error or is_error_body(body, "choices"):
        return with_usage(parse_error(200, error or body, tables), usage)
    if not choices:
        return make_result(tables, usage)
    results = [
        make_result(
            tables,
            usage,
            ("refusal",) if _is_refusal(message) else _stop_reasons(choice),
            text=_visible_text(message.get("content")),
            calls=_tool_calls(message),
            expected=expected,
            is_grounded=is_grounded(message) or is_grounded(choice) or is_grounded(body),
        )
        for choice, message in zip(choices, messages, strict=True)
    ]
    foreign = find_foreign_choice(choices, expected) or find_foreign_role(messages)
    result = worst_result(results)
    if isinstance(result, ModelResponse) and any(map(_has_thinking, messages)):
        result = replace(result, has_thinking=True)
    return result if foreign is None else reject_foreign(result, foreign)


def _has_thinking(message: Mapping[str, Any]) -> bool:
    """Return whether a message has thinking, in a field or a part of its own."""
    parts = as_objects(message.get("content"))
    is_part = any(part.get("type") in _THINKING_TYPES for part in parts)
    return is_part or any(bool(message.get(name)) for name in _THINKING_FIELDS)


def _stop_reasons(choice: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the finish reasons of a choice, and that of Azure's filter if a category says that it was filtered."""
    reasons = (choice.get("finish_reason"), as_mapping(choice.get("finish_details")).get("type"))
    filters = as_mapping(choice.get("content_filter_results"))
    if filters and any(as_mapping(category).get("filtered") for category in filters.values()):
        return collect_stop_reasons(*reasons, _FILTERED)
    return collect_stop_reasons(*reasons)


def _is_refusal(message: Mapping[str, Any]) -> bool:
    """Return whether a message or one of its parts is a refusal, whatever the refusal field contains."""
    content = message.get("content")
    parts = as_objects(content) or [as_mapping(content)]
    return bool(message.get("refusal")) or any(part.get("type") == "refusal" or part.get("refusal") for part in parts)


def _visible_text(content: Json) -> str:
    """Return the visible text; some servers send a list of parts that includes thinking."""
    if isinstance(content, str):
        return content
    return "".join(as_string(part.get("text")) for part in as_objects(content) if part.get("type") in _VISIBLE_TYPES)


def _tool_calls(message: Mapping[str, Any]) -> list[ToolCall]:
    calls = [*as_objects(message.get("tool_calls")), {"function": message.get("function_call")}]
    return [(_called_function(call).get("name"), _call_input(call)) for call in calls if _called_function(call)]


def _called_function(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the called function or custom tool, whose input is free text."""
    return as_mapping(call.get("function")) or as_mapping(call.get("custom"))


def _call_input(call: Mapping[str, Any]) -> Json:
    function = _called_function(call)
    arguments = function.get("arguments", function.get("input"))
    return "" if arguments is None else arguments


def _find_usage(body: Mapping[str, Any]) -> Json:
    """Return the usage of a response or chunk. Some servers put it into an extension or into the last choice."""
    usage = body.get("usage")
    if usage:
        return usage
    places = [as_mapping(body.get("x_groq")), *as_objects(body.get("choices"))]
    return next((place["usage"] for place in places if place.get("usage")), None)


send = partial(post, PATH)
open_stream = partial(post_streamed, PATH)


def with_stream(body: Mapping[str, Json], wire: WireProfile) -> dict[str, Json]:
    """Return the body of a streaming request."""
    usage: dict[str, Json] = {"stream_options": {"include_usage": True}} if wire.output.stream_usage else {}
    return {**body, "stream": True, **usage}


@dataclass(slots=True)
class _StreamedCall:
    """The state of a streamed tool call."""

    index: Json
    id: Json
    name: Json
    pieces: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _StreamedChoice:
    """The state of a streamed choice."""

    stop_reasons: list[str] = field(default_factory=list[str])
    content: list[str] = field(default_factory=list[str])
    is_refused: bool = False
    has_thinking: bool = False
    calls: list[_StreamedCall] = field(default_factory=list[_StreamedCall])
    error: Json = None


class StreamAssembler:
    """Folds the chunks of a stream into one body. If a choice has several finish reasons, all of them are kept."""

    def __init__(self, expected: ExpectedAnswer | None) -> None:
        self._expected = expected
        self._identity = StreamIdentity(expected)
        self._choices: dict[int, _StreamedChoice] = {}
        self._own_call: _StreamedCall | None = None
        self._usage: Json = None
        self._error: Json = None

    def add(self, event: Mapping[str, Any]) -> str:
        """Add a chunk. Return the text that it adds to the document."""
        if is_error_body(event, "choices", "usage"):
            self._error = event.get("error") or event
        self._usage = _find_usage(event) or self._usage
        if not event.keys() <= PLAIN_MEMBERS:
            self._identity.is_grounded = self._identity.is_grounded or is_grounded(event)
        written = ""
        for choice in as_objects(event.get("choices")):
            written += self._add_chunk(choice, event.get("id"))
        return written

    def body(self) -> AssembledBody:
        """Return the body so far."""
        choices = [_finish_choice(index, self._choices[index]) for index in sorted(self._choices)]
        body: dict[str, Json] = {"usage": self._usage, "choices": choices}
        if self._error is not None:
            body["error"] = self._error
        is_stopped = bool(choices) and all(choice.stop_reasons for choice in self._choices.values())
        is_complete, identity = is_stopped or self._error is not None, self._identity
        return AssembledBody(body, is_complete, identity.problem, identity.is_grounded)

    def _add_chunk(self, choice: Mapping[str, Any], chunk_id: Json) -> str:
        index = read_index(choice.get("index"))
        target = self._choices.setdefault(index, _StreamedChoice())
        delta = as_mapping(choice.get("delta")) or as_mapping(choice.get("message"))
        text, calls = _visible_text(delta.get("content")), _call_deltas(delta)
        if text or calls:
            self._identity.check_piece(chunk_id, has_ended=bool(target.stop_reasons))
        if "role" in delta:
            self._identity.check_role(delta["role"])
        if not self._identity.is_grounded:
            self._identity.is_grounded = is_grounded(delta) or is_grounded(choice)
        target.is_refused = target.is_refused or _is_refusal(delta)
        target.has_thinking = target.has_thinking or _has_thinking(delta)
        target.error = choice.get("error") or delta.get("error") or target.error
        target.stop_reasons.extend(filter(None, _stop_reasons(choice)))
        if self._identity.problem:
            return ""
        target.content.append(text)
        arguments = "".join([self._add_call_delta(target.calls, call) for call in calls])
        if index != 0:
            return ""
        return text if self._expected is None or self._expected.tool_name is None else arguments

    def _add_call_delta(self, calls: list[_StreamedCall], call: Mapping[str, Any]) -> str:
        """Add a delta to the call that it continues, or begin a new call. Return what it adds to the document.

        Some servers omit the index or send 0 for every call. A name with a new id, or without any id, then begins a
        call.
        """
        index, call_id, arguments = call.get("index"), call.get("id"), _call_input(call)
        name = _called_function(call).get("name")
        call_index = index if index is not None or not calls else calls[-1].index
        current = next((known for known in reversed(calls) if known.index == call_index), None)
        if current is None or (name and (call_id != current.id if call_id else index is None)):
            current = _StreamedCall(call_index, call_id, name)
            calls.append(current)
            if self._own_call is None and self._expected is not None and self._expected.is_own_call(name):
                self._own_call = current
        piece = json.dumps(arguments) if isinstance(arguments, dict) else as_string(arguments)
        current.pieces.append(piece)
        return piece if current is self._own_call else ""


def _call_deltas(delta: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the deltas of tool calls that have a name or arguments."""
    calls = as_objects(delta.get("tool_calls"))
    if delta.get("function_call"):
        calls = [*calls, {"index": "function_call", "function": delta["function_call"]}]
    return [call for call in calls if _called_function(call).get("name") or _call_input(call)]


def _finish_choice(index: int, choice: _StreamedChoice) -> dict[str, Any]:
    calls = [{"function": {"name": call.name, "arguments": "".join(call.pieces)}} for call in choice.calls]
    message = {
        "content": "".join(choice.content),
        "refusal": choice.is_refused,
        "tool_calls": calls,
        "reasoning_content": choice.has_thinking,
    }
    return {"index": index, "message": message, "finish_reason": tuple(choice.stop_reasons), "error": choice.error}
