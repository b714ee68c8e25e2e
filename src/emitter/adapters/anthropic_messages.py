"""Adapter for Anthropic Messages, as served by the Anthropic API, Bedrock, Vertex and Foundry.

Source: platform.claude.com/docs/en/api/messages; anthropic 2.11.0, types.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emitter.adapters.request_options import ReservedOption, add_stream_flag, merge_layers
from emitter.adapters.response_decoding import (
    AssembledBody,
    as_count,
    as_objects,
    as_string,
    collect_stop_reasons,
    find_error,
    is_error_body,
    make_result,
    parse_arguments,
    parse_error,
    with_usage,
)
from emitter.adapters.transport import post, post_streamed
from emitter.messages import Medium, OutputMode, Usage, as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.response_decoding import DecodingTables
    from emitter.messages import CallResult, Json, MediaPart, ModelRequest, OutputFormat, PromptCache
    from emitter.profiles.model import WireProfile

PATH = "/v1/messages"
_NO_STOP_REASON = "no stop reason"
"""Stands for the stop reason of a message that ended because another one began."""
RESERVED_OPTIONS: Mapping[str, ReservedOption] = MappingProxyType(
    {
        "model": ReservedOption.MODEL,
        "messages": ReservedOption.PROMPT,
        "system": ReservedOption.INSTRUCTIONS,
        "max_tokens": ReservedOption.BUDGET,
        "output_config.format": ReservedOption.SCHEMA,
        "output_format": ReservedOption.SCHEMA,
        "tools": ReservedOption.TOOLS,
        "tool_choice": ReservedOption.TOOLS,
        "stream": ReservedOption.STREAM,
    }
)
"""The request fields that ``extra_body`` may not set, including other names of the same fields."""


def encode(request: ModelRequest, wire: WireProfile) -> dict[str, Json]:
    """Return the request body."""
    body: dict[str, Json] = {
        "model": request.model,
        "system": request.system if request.cache is None else _system(request.cache, request),
        "messages": [
            {"role": message.role.value, "content": list(map(_content_block, message.parts)) or message.text}
            for message in request.all_messages()
        ],
        wire.tokens.parameter: request.max_output_tokens,
        **_output_parameters(request.output),
    }
    return merge_layers(body, wire.output.options, request.options)


def _system(cache: PromptCache, request: ModelRequest) -> Json:
    """Return the system prompt. A mark at the end of its prefix also covers the tools and the schema before it."""
    if not cache.is_marked:
        return request.system
    lifetime = {"ttl": cache.lifetime} if cache.lifetime else {}
    prefix, *rest = ({"type": "text", "text": text} for text in request.system_parts())
    return [{**prefix, "cache_control": {"type": "ephemeral", **lifetime}}, *rest]


def _content_block(part: str | MediaPart) -> Json:
    """Return a text, an image or a document. There is no block for audio, because no model accepts it."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if part.medium is Medium.DOCUMENT:
        title = {"title": part.name} if part.name else {}
        return {"type": "document", "source": _media_source(part), **title}
    return {"type": "image", "source": _media_source(part)}


def _media_source(part: MediaPart) -> Json:
    if part.data is not None:
        return {"type": "base64", "media_type": part.media_type, "data": part.base64}
    if part.url is not None:
        return {"type": "url", "url": part.url}
    return {"type": "file", "file_id": part.file_id}


def _output_parameters(output: OutputFormat) -> dict[str, Json]:
    match output.mode:
        case OutputMode.JSON_SCHEMA:
            return {"output_config": {"format": {"type": "json_schema", "schema": output.schema}}}
        case OutputMode.TOOL:
            tool: dict[str, Json] = {"name": output.name, "input_schema": output.schema}
            choice = {"type": "tool", "name": output.name, "disable_parallel_tool_use": True}
            strict = {"strict": True} if output.strict else {}
            return {"tools": [{**tool, **strict}], "tool_choice": choice}
        case OutputMode.JSON_OBJECT | OutputMode.TEXT:
            return {}


def decode(body: Mapping[str, Json], tables: DecodingTables) -> CallResult:
    """Return the response or fault that a response body describes."""
    usage = _parse_usage(body.get("usage"))
    error = find_error(*_content_blocks(body.get("content")))
    if error or is_error_body(body, "content", "stop_reason"):
        return with_usage(parse_error(200, error or body, tables), usage)
    blocks, details = _content_blocks(body.get("content")), as_mapping(body.get("stop_details"))
    refused = "refusal" in (details.get("type"), *(block.get("type") for block in blocks))
    return make_result(
        tables,
        usage,
        ("refusal",) if refused else collect_stop_reasons(body.get("stop_reason")),
        text="".join(as_string(block.get("text")) for block in blocks if block.get("type") == "text"),
        arguments=tuple(block["input"] for block in blocks if block.get("type") == "tool_use" and "input" in block),
        refused_as=as_string(details.get("category")) or None,
    )


def _content_blocks(content: Json) -> list[Mapping[str, Any]]:
    """Return the content blocks; plain text counts as one block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else as_objects(content)


def _parse_usage(usage: Json) -> Usage | None:
    table = as_mapping(usage)
    if not table:
        return None
    read, written = (as_count(table.get(f"cache_{kind}_input_tokens")) for kind in ("read", "creation"))
    return Usage(
        input=as_count(table.get("input_tokens")) + read + written,
        output=as_count(table.get("output_tokens")),
        cache_read=read,
        cache_write=written,
        thinking=as_count(as_mapping(table.get("output_tokens_details")).get("thinking_tokens")),
        cache_write_1h=as_count(as_mapping(table.get("cache_creation")).get("ephemeral_1h_input_tokens")),
    )


send = partial(post, PATH)
open_stream = partial(post_streamed, PATH)
with_stream = add_stream_flag


@dataclass(slots=True)
class StreamAssembler:
    """Folds the events of a stream into one message.

    A second ``message_start`` begins a new message. The stop reason of the previous one is kept, or its absence.
    """

    _message: dict[str, Any] = field(default_factory=dict[str, Any])
    _blocks: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    _stop_reasons: list[Json] = field(default_factory=list["Json"])
    _refusal: Json = None
    _is_closed: bool = False
    _failure: AssembledBody | None = None

    def add(self, event: Mapping[str, Any]) -> None:
        """Add an event; events after an error are ignored."""
        if self._failure is not None:
            return
        failed = event if is_error_body(event, "type") else find_error(as_mapping(event.get("delta")))
        if failed:
            error = {"type": "error", "error": failed.get("error") or failed}
            self._failure = AssembledBody({**self._message, **error}, is_complete=True)
            return
        match event.get("type"):
            case "message_start":
                self._start_message(event)
            case "content_block_start":
                self._blocks[as_count(event.get("index"))] = {**as_mapping(event.get("content_block")), "deltas": []}
            case "content_block_delta":
                block = self._blocks.setdefault(as_count(event.get("index")), {"type": "text", "deltas": []})
                block["deltas"].append(as_mapping(event.get("delta")))
            case "message_delta":
                self._update_message(event)
                self._is_closed = True
            case "message_stop":
                self._is_closed = True
            case _:
                pass

    def body(self) -> AssembledBody:
        """Return the message so far."""
        if self._failure is not None:
            return self._failure
        content = [_finish_block(self._blocks[index]) for index in sorted(self._blocks)]
        body = {
            **self._message,
            "stop_reason": collect_stop_reasons(*self._stop_reasons),
            "stop_details": self._refusal or self._message.get("stop_details"),
            "content": content or self._message.get("content"),
        }
        return AssembledBody(body, is_complete=self._is_closed and bool(self._message.get("stop_reason")))

    def _start_message(self, event: Mapping[str, Any]) -> None:
        if self._blocks and not self._message.get("stop_reason"):
            self._stop_reasons.append(_NO_STOP_REASON)
        self._message, self._blocks, self._is_closed = dict(as_mapping(event.get("message"))), {}, False
        self._record_stop(self._message)

    def _update_message(self, event: Mapping[str, Any]) -> None:
        message, delta = self._message, as_mapping(event.get("delta"))
        for key, value in delta.items():
            message[key] = message.get(key) if value is None else value
        latest = {key: value for key, value in as_mapping(event.get("usage")).items() if value is not None}
        message["usage"] = {**as_mapping(message.get("usage")), **latest}
        self._record_stop(delta)

    def _record_stop(self, message: Mapping[str, Any]) -> None:
        """Keep the stop reason of a message or a message delta; a refusal is never replaced."""
        self._stop_reasons.append(message.get("stop_reason"))
        details = message.get("stop_details")
        self._refusal = details if as_mapping(details).get("type") == "refusal" else self._refusal


def _finish_block(block: Mapping[str, Any]) -> dict[str, Any]:
    text = "".join(as_string(delta.get("text")) for delta in block["deltas"])
    arguments = "".join(as_string(delta.get("partial_json")) for delta in block["deltas"])
    finished = {key: value for key, value in block.items() if key != "deltas"}
    if finished.get("type") == "text":
        return {**finished, "text": as_string(finished.get("text")) + text}
    return {**finished, "input": parse_arguments(arguments)} if arguments else finished


def delta_text(event: Mapping[str, Json], mode: OutputMode, state: dict[str, Json]) -> str:
    """Return the text that an event adds to the first message or, in tool mode, to its first tool call."""
    block, delta = as_mapping(event.get("content_block")), as_mapping(event.get("delta"))
    index = f"block {event.get('index')}"
    match event.get("type"):
        case "message_start":
            state["messages"] = as_count(state.get("messages")) + 1
        case "content_block_start":
            state[index] = block.get("type")
            if mode is OutputMode.TOOL and state[index] == "tool_use":
                state.setdefault("call", index)
            return as_string(block.get("text")) if mode is not OutputMode.TOOL and state[index] == "text" else ""
        case "content_block_delta" if as_count(state.get("messages")) <= 1:
            if mode is OutputMode.TOOL:
                return as_string(delta.get("partial_json")) if state.get("call") == index else ""
            return as_string(delta.get("text")) if state.get(index, "text") == "text" else ""
        case _:
            pass
    return ""
