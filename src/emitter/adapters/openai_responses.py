"""Adapter for OpenAI Responses, as served by OpenAI and Azure.

The terminal event of a stream holds the whole response. If a proxy leaves its output empty, the streamed items are
used instead. A streamed refusal counts whatever the terminal event says.

Source: developers.openai.com/api/reference/resources/responses; openai 3.52.0, types/responses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from emitter.adapters.openai_chat import audio_members, cache_parameters, file_data_members, mark_system, parse_usage
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
    parse_error,
    with_usage,
    worst_stop_reason,
)
from emitter.adapters.transport import post, post_streamed
from emitter.messages import Medium, OutputMode, StopReason, as_list, as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.response_decoding import DecodingTables
    from emitter.messages import CallResult, Json, MediaPart, ModelRequest, OutputFormat
    from emitter.profiles.model import WireProfile

PATH = "/responses"
RESERVED_OPTIONS: Mapping[str, ReservedOption] = MappingProxyType(
    {
        "model": ReservedOption.MODEL,
        "input": ReservedOption.PROMPT,
        "instructions": ReservedOption.INSTRUCTIONS,
        "max_output_tokens": ReservedOption.BUDGET,
        "text.format": ReservedOption.SCHEMA,
        "tools": ReservedOption.TOOLS,
        "tool_choice": ReservedOption.TOOLS,
        "parallel_tool_calls": ReservedOption.TOOLS,
        "stream": ReservedOption.STREAM,
        "background": ReservedOption.BACKGROUND,
    }
)
"""The request fields that ``extra_body`` may not set, including other names of the same fields."""
_FINAL_PHASES = (None, "final_answer")
_VISIBLE_TYPES = ("output_text", "text")
_CALL_INPUT_KEYS = {"function_call": "arguments", "custom_tool_call": "input"}
"""The key of the input of each kind of tool call."""
_ARGUMENT_EVENTS = ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta")
_COMPLETED = "completed"
_ANSWER_ITEMS = ("message", "error", *_CALL_INPUT_KEYS)
"""The items whose error is the error of the response. After a hosted tool's error the model continues."""
_EXPLAINED_STATUSES = ("failed", "incomplete")
"""The statuses that explain an ``error`` member. They have stop reasons of their own."""


def encode(request: ModelRequest, wire: WireProfile) -> dict[str, Json]:
    """Return the request body."""
    turns: list[Json] = [
        {"role": message.role.value, "content": list(map(_content_part, message.parts)) or message.text}
        for message in request.all_messages()
    ]
    body: dict[str, Json] = {
        "model": request.model,
        "instructions": request.system,
        "input": turns,
        wire.tokens.parameter: request.max_output_tokens,
        **_output_parameters(request.output),
    }
    if request.cache is not None:
        body |= cache_parameters(request.cache)
        if request.cache.is_marked:  # instructions cannot be marked
            del body["instructions"]
            body["input"] = [{"role": "developer", "content": mark_system(request, "input_text")}, *turns]
    return merge_layers(body, wire.output.options, request.options)


def _content_part(part: str | MediaPart) -> Json:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    match part.medium:
        case Medium.IMAGE:
            address = {"file_id": part.file_id} if part.file_id else {"image_url": part.url or part.data_url}
            return {"type": "input_image", **address, "detail": part.detail or "auto"}
        case Medium.DOCUMENT:
            return {"type": "input_file", **_file_members(part)}
        case Medium.AUDIO:
            return {"type": "input_audio", "input_audio": audio_members(part)}


def _file_members(part: MediaPart) -> dict[str, Json]:
    if part.file_id is not None:
        return {"file_id": part.file_id}
    return {"file_url": part.url} if part.url is not None else file_data_members(part)


def _output_parameters(output: OutputFormat) -> dict[str, Json]:
    match output.mode:
        case OutputMode.JSON_SCHEMA:
            schema = {"name": output.name, "schema": output.schema, "strict": output.strict}
            return {"text": {"format": {"type": "json_schema", **schema}}}
        case OutputMode.JSON_OBJECT:
            return {"text": {"format": {"type": "json_object"}}}
        case OutputMode.TEXT:
            return {}
        case OutputMode.TOOL:
            function = {"name": output.name, "parameters": output.schema, "strict": output.strict}
            return {
                "tools": [{"type": "function", **function}],
                "tool_choice": {"type": "function", "name": output.name},
                "parallel_tool_calls": False,
            }


def decode(body: Mapping[str, Json], tables: DecodingTables) -> CallResult:
    """Return the response or fault that a response body describes."""
    output, usage = as_objects(body.get("output")), parse_usage(body.get("usage"), "input", "output")
    stop_reasons = _stop_reasons(body, output)
    has_unexplained_error = is_error_body(body, "status", "output") and not any(
        reason.startswith(_EXPLAINED_STATUSES) for reason in stop_reasons
    )
    error = find_error(*[item for item in output if item.get("type") in _ANSWER_ITEMS])
    if error or has_unexplained_error or worst_stop_reason(stop_reasons, tables.stops) is StopReason.FAULTED:
        return with_usage(parse_error(200, error or body, tables), usage)
    refused, texts, arguments = False, list[str](), list[Any]()
    for item in output:
        parts = _message_parts(item)
        refused = refused or any(part.get("type") == "refusal" or part.get("refusal") for part in (item, *parts))
        if item.get("phase") in _FINAL_PHASES:  # the others are commentary between tool calls
            texts += [as_string(part.get("text")) for part in parts if part.get("type") in _VISIBLE_TYPES]
        key = _CALL_INPUT_KEYS.get(as_string(item.get("type")))
        arguments += [item[key]] if key is not None and key in item else []
    raw_stops = ("refusal",) if refused else stop_reasons
    return make_result(tables, usage, raw_stops, text="".join(texts), arguments=tuple(arguments))


def _stop_reasons(body: Mapping[str, Any], output: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return each status with its detail and, for a completed response, the statuses of unfinished answer items.

    ``incomplete_details`` counts whatever the status is.
    """
    incomplete_reason = as_mapping(body.get("incomplete_details")).get("reason")
    code = as_string(as_mapping(body.get("error")).get("code"))
    statuses = collect_stop_reasons(body.get("status"))
    if incomplete_reason:
        statuses = (
            *(status for status in statuses if status not in ("", "incomplete")),
            f"incomplete:{collect_stop_reasons(incomplete_reason)[0]}",
        )
    elif code:
        statuses = tuple(f"{status}:{code}" if status == "failed" else status for status in statuses)
    if statuses != (_COMPLETED,):
        return statuses
    items = [item.get("status") for item in output if item.get("type") in ("message", *_CALL_INPUT_KEYS)]
    unfinished = [status for status in items if status != _COMPLETED]
    return collect_stop_reasons(statuses, *unfinished) if unfinished else statuses


def _message_parts(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if item.get("type") != "message":
        return []
    content = item.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else as_objects(content)


def delta_text(event: Mapping[str, Json], mode: OutputMode, state: dict[str, Json]) -> str:
    """Return the text that an event adds to the final answer or, in tool mode, to the first tool call."""
    kind, index = as_string(event.get("type")), as_count(event.get("output_index"))
    if mode is OutputMode.TOOL:
        is_first_call = kind in _ARGUMENT_EVENTS and state.setdefault("call", index) == index
        return as_string(event.get("delta")) if is_first_call else ""
    if kind == "response.output_item.added" and as_mapping(event.get("item")).get("phase") not in _FINAL_PHASES:
        state[f"commentary {index}"] = True
    is_answer = kind == "response.output_text.delta" and f"commentary {index}" not in state
    return as_string(event.get("delta")) if is_answer else ""


send = partial(post, PATH)
open_stream = partial(post_streamed, PATH)
with_stream = add_stream_flag


_TERMINAL_EVENTS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
PENDING_STATUSES = ("queued", "in_progress")
"""The statuses of a response that is not finished."""
_NO_STATUS = "no status"
"""Stands for the status that a terminal event lacks."""
_PieceKey: TypeAlias = tuple[int, int, str]
"""The output index, the content index and the stem of the event."""
_DELTA_TARGETS = {
    "response.output_text": ("output_text", "text"),
    "response.refusal": ("refusal", "refusal"),
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
}
"""The part or call that each kind of delta writes to: its type and key."""


@dataclass(slots=True)
class StreamAssembler:
    """Folds the events of a stream into one response: the latest one, finished items and pieces of unfinished ones."""

    _items: dict[int, Mapping[str, Any]] = field(default_factory=dict[int, "Mapping[str, Any]"])
    _pieces: dict[_PieceKey, list[str]] = field(default_factory=dict["_PieceKey", list[str]])
    _latest: Mapping[str, Any] = field(default_factory=dict[str, Any])
    _output: list[Json] = field(default_factory=list["Json"])
    _statuses: list[Json] = field(default_factory=list["Json"])
    _error: Json = None
    _is_complete: bool = False

    def add(self, event: Mapping[str, Any]) -> None:
        """Add an event."""
        kind = as_string(event.get("type"))
        if is_error_body(event, "type") or kind == "response.error":
            self._error = event.get("error") or event
        elif "response" in event:
            self._latest = as_mapping(event["response"])
            self._record_status(kind)
        elif kind in _TERMINAL_EVENTS:
            self._statuses.append(_NO_STATUS)
        self._is_complete = self._is_complete or kind in _TERMINAL_EVENTS
        self._add_output(kind, event)

    def body(self) -> AssembledBody:
        """Return the response so far."""
        output = self._output or self._streamed_items()
        refusals = [_make_part(key, pieces) for key, pieces in self._pieces.items() if key[2] == "response.refusal"]
        if refusals:
            output = [*output, {"type": "message", "content": refusals}]
        body = {**self._latest, "status": collect_stop_reasons(*self._statuses), "output": output}
        if self._error is not None:
            body["error"] = body.get("error") or self._error
        return AssembledBody(body, is_complete=self._is_complete or self._error is not None)

    def _record_status(self, kind: str) -> None:
        """Keep the status of an event. If a stream holds several responses, all their statuses are kept.

        A terminal event states the outcome twice, by its name and by the status of its response. Both must be good.
        """
        status = self._latest.get("status")
        if kind in _TERMINAL_EVENTS:
            self._statuses.extend((status or _NO_STATUS, kind.partition(".")[2]))
            self._output.extend(as_list(self._latest.get("output")))
        elif status not in PENDING_STATUSES:
            self._statuses.append(status)

    def _add_output(self, kind: str, event: Mapping[str, Any]) -> None:
        """Add a finished item or a delta."""
        index = as_count(event.get("output_index"))
        stem, _, step = kind.rpartition(".")
        if stem == "response.output_item":
            # Some proxies omit the index. The finished item then follows the previous ones.
            item_index = index if "output_index" in event else len(self._items)
            self._items[item_index] = as_mapping(event.get("item"))
        if stem in _DELTA_TARGETS:
            key = (index, as_count(event.get("content_index")), stem)
            if step == "done":
                self._pieces[key] = [as_string(event.get(_DELTA_TARGETS[stem][1]))]
            else:
                self._pieces.setdefault(key, []).append(as_string(event.get("delta")))

    def _streamed_items(self) -> list[Json]:
        indices = sorted({*self._items, *(key[0] for key in self._pieces)})
        return [self._fill_item(index, self._items.get(index, {})) for index in indices]

    def _fill_item(self, index: int, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a streamed item, filled from its pieces if it came without content."""
        parts = [_make_part(key, pieces) for key, pieces in sorted(self._pieces.items()) if key[0] == index]
        if item.get("content") or not parts:
            return item
        if parts[0]["type"] in ("function_call", "custom_tool_call"):
            return {**item, **parts[0]}
        return {**item, "type": "message", "content": parts}


def _make_part(piece_key: _PieceKey, pieces: list[str]) -> dict[str, Any]:
    kind, key = _DELTA_TARGETS[piece_key[2]]
    return {"type": kind, key: "".join(pieces)}
