"""Adapter for OpenAI Responses, as served by OpenAI and Azure.

The terminal event of a stream holds the whole response. If a proxy leaves its output empty, the streamed items are
used instead. A streamed refusal counts whatever the terminal event says.

Source: developers.openai.com/api/reference/resources/responses; openai 3.52.0, types/responses.
"""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from emitter.adapters.openai_chat import audio_members, cache_parameters, file_data_members, mark_system
from emitter.adapters.request_options import ReservedOption, add_stream_flag, merge_layers
from emitter.adapters.response_decoding import (
    ANOTHER_DOCUMENT,
    ANOTHER_ID,
    NOT_OPEN,
    AssembledBody,
    StreamIdentity,
    as_objects,
    as_string,
    collect_stop_reasons,
    find_error,
    find_foreign_role,
    is_error_body,
    make_protocol_fault,
    make_result,
    parse_error,
    read_index,
    read_usage,
    reject_foreign,
    with_usage,
    worst_stop_reason,
)
from emitter.adapters.transport import post, post_streamed
from emitter.grounding import counts_sources, is_grounded
from emitter.messages import Medium, OutputMode, StopReason, as_list, as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.response_decoding import DecodingTables, ToolCall
    from emitter.messages import CallResult, ExpectedAnswer, Json, MediaPart, ModelRequest, OutputFormat
    from emitter.profiles.model import WireProfile

_COUNTS = ("input_tokens", "output_tokens")
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


def decode(body: Mapping[str, Json], tables: DecodingTables, expected: ExpectedAnswer | None) -> CallResult:
    """Return the response or fault that a response body describes."""
    output, usage = as_objects(body.get("output")), read_usage(body.get("usage"), _COUNTS, tables)
    is_error = is_error_body(body, "status", "output")
    is_foreign = expected is not None and not expected.is_own_id(body.get("id"))
    if is_foreign and not (is_error and "id" not in body):
        return make_protocol_fault(ANOTHER_ID)
    stop_reasons = _stop_reasons(body, output)
    has_unexplained_error = is_error and not any(reason.startswith(_EXPLAINED_STATUSES) for reason in stop_reasons)
    error = find_error(*[item for item in output if item.get("type") in _ANSWER_ITEMS])
    if error or has_unexplained_error or worst_stop_reason(stop_reasons, tables.stops) is StopReason.FAULTED:
        return with_usage(parse_error(200, error or body, tables), usage)
    refused, texts, calls = False, list[str](), list["ToolCall"]()
    for item in output:
        kind, parts = item.get("type"), _message_parts(item)
        is_final = item.get("phase") in _FINAL_PHASES  # the others are commentary between tool calls
        refused = refused or kind == "refusal" or bool(item.get("refusal"))
        for part in parts:
            part_type = part.get("type")
            refused = refused or part_type == "refusal" or bool(part.get("refusal"))
            if is_final and part_type in _VISIBLE_TYPES:
                texts.append(as_string(part.get("text")))
        key = _CALL_INPUT_KEYS.get(as_string(kind))
        if key is not None and key in item:
            calls.append((item.get("name"), item[key]))
    raw_stops = ("refusal",) if refused else stop_reasons
    grounded = counts_sources(body.get("usage")) or any(map(is_grounded, output))
    text = "".join(texts)
    result = make_result(tables, usage, raw_stops, text=text, calls=calls, expected=expected, is_grounded=grounded)
    foreign = find_foreign_role(output)
    return result if foreign is None else reject_foreign(result, foreign)


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
_REFUSAL_STEM = "response.refusal"
_ANNOTATION_STEM = "response.output_text.annotation"
_TEXT_STEMS = ("response.output_text", _REFUSAL_STEM)
_CALL_STEMS = ("response.function_call_arguments", "response.custom_tool_call_input")
_DELTA_TARGETS = {
    "response.output_text": ("output_text", "text"),
    "response.refusal": ("refusal", "refusal"),
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
}
"""The part or call that each kind of delta writes to: its type and key."""


class StreamAssembler:
    """Folds the events of a stream into one response: the latest one, finished items and pieces of unfinished ones."""

    def __init__(self, expected: ExpectedAnswer | None) -> None:
        self._expected = expected
        self._identity = StreamIdentity(expected)
        self._items: dict[int, Mapping[str, Any]] = {}
        self._pieces: dict[_PieceKey, list[str]] = {}
        self._closed: set[int | _PieceKey] = set()
        self._own_call: int | None = None
        self._latest: Mapping[str, Any] = {}
        self._output: list[Json] = []
        self._statuses: list[Json] = []
        self._error: Json = None
        self._is_complete = False

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event. Return the text that it adds to the document."""
        kind = as_string(event.get("type"))
        if is_error_body(event, "type") or kind == "response.error":
            self._error = event.get("error") or event
        elif "response" in event:
            self._update(kind, as_mapping(event["response"]))
        elif kind in _TERMINAL_EVENTS:
            self._statuses.append(_NO_STATUS)
        self._is_complete = self._is_complete or kind in _TERMINAL_EVENTS
        stem, _, step = kind.rpartition(".")
        if stem == "response.output_item":
            self._add_item(event, step)
        elif stem == _ANNOTATION_STEM:
            self._identity.is_grounded = True
        return self._add_piece(event, stem, step) if stem in _DELTA_TARGETS else ""

    def body(self) -> AssembledBody:
        """Return the response so far."""
        output = self._output or self._streamed_items()
        refusals = [_make_part(key, pieces) for key, pieces in self._pieces.items() if key[2] == _REFUSAL_STEM]
        if refusals:
            output = [*output, {"type": "message", "content": refusals}]
        body = {**self._latest, "status": collect_stop_reasons(*self._statuses), "output": output}
        if self._error is not None:
            body["error"] = body.get("error") or self._error
        is_complete, identity = self._is_complete or self._error is not None, self._identity
        return AssembledBody(body, is_complete, identity.problem, identity.is_grounded)

    def _update(self, kind: str, response: Mapping[str, Any]) -> None:
        """Keep the latest response, and its status. If a stream holds several responses, all their statuses are kept.

        A terminal event states the outcome twice, by its name and by the status of its response. Both must be good.
        """
        self._identity.check_id(response.get("id"))
        usage = self._latest.get("usage")
        if usage and not response.get("usage"):  # what was billed stays billed
            response = {**response, "usage": usage}
        self._latest, status = response, response.get("status")
        if kind in _TERMINAL_EVENTS:
            output = as_list(response.get("output"))
            self._identity.check_end(has_ended=self._is_complete and bool(output))
            self._statuses.extend((status or _NO_STATUS, kind.partition(".")[2]))
            self._output.extend(output)
        elif status not in PENDING_STATUSES:
            self._statuses.append(status)

    def _add_item(self, event: Mapping[str, Any], step: str) -> None:
        """Add an item that begins or is finished."""
        item = as_mapping(event.get("item"))
        index = self._item_index(event, item)
        self._identity.check_role(item.get("role"))
        self._identity.check_end(has_ended=self._is_complete)
        if index < 0 or index in self._closed or (step == "added" and index in self._items):
            self._identity.fail(NOT_OPEN)
        if self._identity.problem:
            return
        self._items[index] = item
        self._identity.is_grounded = self._identity.is_grounded or is_grounded(item)
        if step == "done":
            self._closed.add(index)
        is_call = as_string(item.get("type")) in _CALL_INPUT_KEYS
        if self._own_call is None and is_call and self._expected is not None:
            self._own_call = index if self._expected.is_own_call(item.get("name")) else None

    def _item_index(self, event: Mapping[str, Any], item: Mapping[str, Any]) -> int:
        """Return the index of an item. Some proxies omit it. The item is then known by its id, or it is a new one."""
        if "output_index" in event:
            return read_index(event["output_index"])
        known = (index for index, other in self._items.items() if item.get("id") and other.get("id") == item["id"])
        return next(known, len(self._items))

    def _add_piece(self, event: Mapping[str, Any], stem: str, step: str) -> str:
        """Add a delta, or the whole text at its end. Return what it adds to the document."""
        is_whole = step == "done"
        text = as_string(event.get(_DELTA_TARGETS[stem][1] if is_whole else "delta"))
        index = read_index(event["output_index"]) if "output_index" in event else max(self._items, default=-1)
        key = (index, read_index(event.get("content_index")), stem)
        pieces = self._pieces.setdefault(key, [])
        if is_whole:
            text = self._remaining_text("".join(pieces), text)
        if text and stem != _REFUSAL_STEM:  # a refusal counts wherever it comes from
            self._check_place(index, key)
        if is_whole:
            self._closed.add(key)
        if self._identity.problem and stem != _REFUSAL_STEM:
            return ""
        pieces.append(text)
        return text if self._is_document(index, stem) else ""

    def _remaining_text(self, streamed: str, whole: str) -> str:
        """Return the part of a whole text that was not streamed."""
        if whole and not whole.startswith(streamed):
            self._identity.fail(ANOTHER_DOCUMENT)
        return whole[len(streamed) :]

    def _check_place(self, index: int, key: _PieceKey) -> None:
        """Note a piece that comes after the end, or for an item or a text that is not open."""
        self._identity.check_end(has_ended=self._is_complete)
        if index not in self._items or -1 in key or not self._closed.isdisjoint((index, key)):
            self._identity.fail(NOT_OPEN)

    def _is_document(self, index: int, stem: str) -> bool:
        """Return whether the pieces of an item are the document: the expected call, or else the final answer."""
        if self._expected is not None and self._expected.tool_name is not None:
            return index == self._own_call and stem in _CALL_STEMS
        item = self._items.get(index, {})
        is_answer = item.get("type") == "message" and item.get("phase") in _FINAL_PHASES
        return is_answer and stem == "response.output_text"

    def _streamed_items(self) -> list[Json]:
        return [self._fill_item(index, self._items[index]) for index in sorted(self._items)]

    def _fill_item(self, index: int, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a streamed item, filled from its pieces if it came without content."""
        own_type = item.get("type")
        own_stems = {"message": _TEXT_STEMS}.get(as_string(own_type), _CALL_STEMS)
        parts = [
            _make_part(key, pieces)
            for key, pieces in sorted(self._pieces.items())
            if key[0] == index and key[2] in own_stems
        ]
        if item.get("content") or not parts:
            return item
        if own_type == "message":
            return {**item, "content": parts}
        return {**item, **parts[0]} if own_type == parts[0]["type"] else item


def _make_part(piece_key: _PieceKey, pieces: list[str]) -> dict[str, Any]:
    kind, key = _DELTA_TARGETS[piece_key[2]]
    return {"type": kind, key: "".join(pieces)}
