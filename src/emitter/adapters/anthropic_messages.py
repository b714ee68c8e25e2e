"""Adapter for Anthropic Messages, as served by the Anthropic API, Bedrock, Vertex and Foundry.

Source: platform.claude.com/docs/en/api/messages; anthropic 2.11.0, types.
"""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emitter.adapters.request_options import ReservedOption, add_stream_flag, merge_layers
from emitter.adapters.response_decoding import (
    AssembledBody,
    StreamedBlocks,
    StreamIdentity,
    as_count,
    as_objects,
    as_string,
    collect_stop_reasons,
    find_error,
    find_foreign_role,
    is_error_body,
    make_result,
    parse_arguments,
    parse_error,
    read_index,
    reject_foreign,
    with_usage,
)
from emitter.adapters.transport import post, post_streamed
from emitter.grounding import is_grounded
from emitter.messages import Medium, OutputMode, Usage, as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.response_decoding import DecodingTables
    from emitter.messages import CallResult, ExpectedAnswer, Json, MediaPart, ModelRequest, OutputFormat, PromptCache
    from emitter.profiles.model import WireProfile

PATH = "/v1/messages"
_OWN_DELTAS = (None, "text_delta", "input_json_delta", "thinking_delta", "signature_delta")
"""The deltas that the model writes itself. Others name the sources of a text."""
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


def decode(body: Mapping[str, Json], tables: DecodingTables, expected: ExpectedAnswer | None) -> CallResult:
    """Return the response or fault that a response body describes."""
    usage, blocks = _parse_usage(body.get("usage")), _content_blocks(body.get("content"))
    error = find_error(*blocks)
    if error or is_error_body(body, "content", "stop_reason"):
        return with_usage(parse_error(200, error or body, tables), usage)
    details = as_mapping(body.get("stop_details"))
    refused = "refusal" in (details.get("type"), *(block.get("type") for block in blocks))
    calls = [block for block in blocks if block.get("type") == "tool_use" and "input" in block]
    result = make_result(
        tables,
        usage,
        ("refusal",) if refused else collect_stop_reasons(body.get("stop_reason")),
        text="".join(as_string(block.get("text")) for block in blocks if block.get("type") == "text"),
        calls=[(block.get("name"), block["input"]) for block in calls],
        expected=expected,
        refused_as=as_string(details.get("category")) or None,
        is_grounded=is_grounded(body),
    )
    foreign = find_foreign_role((body,))
    return result if foreign is None else reject_foreign(result, foreign)


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


class StreamAssembler:
    """Folds the events of a stream into one message.

    A second ``message_start`` begins a new message if the first one has no content, and always in a recording. The stop
    reason of the previous message is kept, or its absence.
    """

    def __init__(self, expected: ExpectedAnswer | None) -> None:
        self._identity = StreamIdentity(expected)
        self._message: dict[str, Any] = {}
        self._blocks = StreamedBlocks(expected, self._identity, "tool_use", "text")
        self._stop_reasons: list[Json] = []
        self._refusal: Json = None
        self._has_ended = False
        self._is_closed = False
        self._failure: AssembledBody | None = None

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event. Return the text that it adds to the document. Events after an error are ignored."""
        if self._has_failed(event):
            return ""
        match event.get("type"):
            case "content_block_delta":
                return self._add_delta(read_index(event.get("index")), as_mapping(event.get("delta")))
            case "content_block_start":
                block = as_mapping(event.get("content_block"))
                text = as_string(block.get("text"))
                return self._blocks.open(read_index(event.get("index")), block, text, has_ended=self._has_ended)
            case "content_block_stop":
                self._blocks.close(read_index(event.get("index")))
            case "message_start":
                self._start_message(as_mapping(event.get("message")))
            case "message_delta":
                self._update_message(event)
            case "message_stop":
                self._is_closed = self._has_ended = True
            case _:
                pass
        return ""

    def body(self) -> AssembledBody:
        """Return the message so far."""
        if self._failure is not None:
            return self._failure
        content = list(map(_finish_block, self._blocks.blocks.values()))
        body = {
            **self._message,
            "stop_reason": collect_stop_reasons(*self._stop_reasons),
            "stop_details": self._refusal or self._message.get("stop_details"),
            "content": content or self._message.get("content"),
        }
        is_complete = self._is_closed and bool(self._message.get("stop_reason"))
        return AssembledBody(body, is_complete, self._identity.problem, self._identity.is_grounded)

    def _has_failed(self, event: Mapping[str, Any]) -> bool:
        """Return whether this or an earlier event is an error."""
        failed = event if is_error_body(event, "type") else find_error(as_mapping(event.get("delta")))
        if failed and self._failure is None:
            error = {"type": "error", "error": failed.get("error") or failed}
            self._failure = AssembledBody({**self._message, **error}, is_complete=True)
        return self._failure is not None

    def _start_message(self, message: Mapping[str, Any]) -> None:
        if self._blocks.blocks and not self._message.get("stop_reason"):
            self._stop_reasons.append(_NO_STOP_REASON)
        self._identity.check_end(has_ended=bool(self._blocks.blocks))
        self._identity.check_role(message.get("role"))
        self._message = dict(message)
        self._blocks.clear()
        self._has_ended = self._is_closed = False
        self._record_stop(message)

    def _add_delta(self, index: int, delta: Mapping[str, Any]) -> str:
        if delta.get("type") not in _OWN_DELTAS:
            self._identity.is_grounded = True
        text, arguments = as_string(delta.get("text")), as_string(delta.get("partial_json"))
        return self._blocks.add(index, delta, text, arguments, has_ended=self._has_ended)

    def _update_message(self, event: Mapping[str, Any]) -> None:
        message, delta = self._message, as_mapping(event.get("delta"))
        for key, value in delta.items():
            message[key] = message.get(key) if value is None else value
        latest = {key: value for key, value in as_mapping(event.get("usage")).items() if value is not None}
        message["usage"] = {**as_mapping(message.get("usage")), **latest}
        self._record_stop(delta)
        self._has_ended = self._has_ended or bool(delta.get("stop_reason"))
        self._is_closed = True

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
