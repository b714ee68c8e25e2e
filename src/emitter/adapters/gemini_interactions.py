"""Adapter for Google's Interactions, as served by the Gemini API.

The request goes through the ``google.genai`` client's own low-level method, without the continuations and the retries
of ``client.interactions``.

Source: ai.google.dev/gemini-api/docs/interactions; google-genai 3.4.0, _gaos/types/interactions; recorded responses.
"""

from __future__ import annotations

from dataclasses import replace
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
    cover_total,
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
from emitter.grounding import PLAIN_MEMBERS, counts_sources, is_grounded, is_outside_part
from emitter.messages import ModelResponse, OutputMode, Role, Usage, as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.response_decoding import DecodingTables
    from emitter.messages import CallResult, ExpectedAnswer, Json, MediaPart, ModelRequest, OutputFormat
    from emitter.profiles.model import WireProfile

RESERVED_OPTIONS: Mapping[str, ReservedOption] = MappingProxyType(
    {
        "model": ReservedOption.MODEL,
        "agent": ReservedOption.MODEL,
        "input": ReservedOption.PROMPT,
        "system_instruction": ReservedOption.INSTRUCTIONS,
        "generation_config.max_output_tokens": ReservedOption.BUDGET,
        "response_format": ReservedOption.SCHEMA,
        "response_mime_type": ReservedOption.SCHEMA,
        "tools": ReservedOption.TOOLS,
        "generation_config.tool_choice": ReservedOption.TOOLS,
        "stream": ReservedOption.STREAM,
        "background": ReservedOption.WHOLE_ANSWER,
        "continuation_token": ReservedOption.WHOLE_ANSWER,
    }
)
"""The request fields that ``extra_body`` may not set."""
_STEPS = {Role.USER: "user_input", Role.ASSISTANT: "model_output"}
_ANSWER_KEYS = ("status", "steps", "outputs", "usage")
_OWN_DELTAS = ("text", "arguments_delta", "thought_signature", "thought_summary")
"""The deltas that the model writes itself."""
_RUNNING = ("in_progress", "queued")


def encode(request: ModelRequest, wire: WireProfile) -> dict[str, Json]:
    """Return the request body."""
    body: dict[str, Json] = {
        "model": request.model,
        "system_instruction": request.system,
        "input": [
            {"type": _STEPS[message.role], "content": list(map(_content, message.parts or (message.text,)))}
            for message in request.all_messages()
        ],
        "generation_config": {wire.tokens.parameter: request.max_output_tokens},
    }
    return merge_layers(body, _output_parameters(request.output), wire.output.options, request.options)


def _content(part: str | MediaPart) -> dict[str, Json]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    source = {"data": part.base64} if part.data is not None else {"uri": part.url or part.file_id}
    return {"type": part.medium.value, **source, **({"mime_type": part.media_type} if part.media_type else {})}


def _output_parameters(output: OutputFormat) -> dict[str, Json]:
    match output.mode:
        case OutputMode.JSON_SCHEMA:
            return {"response_format": {"type": "text", "mime_type": "application/json", "schema": output.schema}}
        case OutputMode.JSON_OBJECT:
            return {"response_format": {"type": "text", "mime_type": "application/json"}}
        case OutputMode.TEXT:
            return {}
        case OutputMode.TOOL:
            allowed = {"allowed_tools": {"mode": "any", "tools": [output.name]}}
            return {
                "tools": [{"type": "function", "name": output.name, "parameters": output.schema}],
                "generation_config": {"tool_choice": allowed},
            }


def decode(body: Mapping[str, Json], tables: DecodingTables, expected: ExpectedAnswer | None) -> CallResult:
    """Return the response or fault that a response body describes."""
    usage, steps = _parse_usage(body.get("usage")), _steps(body)
    text = "".join(map(_step_text, steps))
    error = find_error(body, *steps) or next(iter(as_objects(body.get("errors"))), None)
    if error or is_error_body(body, *_ANSWER_KEYS):
        result = with_usage(parse_error(200, error or body, tables), usage)
        return replace(result, text=text) if isinstance(result, ModelResponse) else result
    calls = [step for step in steps if step.get("type") == "function_call"]
    result = make_result(
        tables,
        usage,
        collect_stop_reasons(body.get("status")),
        text=text,
        calls=[(step.get("name"), step.get("arguments") or {}) for step in calls],
        expected=expected,
        is_grounded=counts_sources(body.get("usage")) or any(map(is_grounded, steps)),
    )
    return reject_foreign(result, find_foreign_role(steps if body.get("role") == "agent" else (body, *steps)))


def _steps(body: Mapping[str, Json]) -> list[Mapping[str, Any]]:
    """Return the steps; the first revision of the API has the contents of the answer among its outputs."""
    return [*as_objects(body.get("steps")), *as_objects(body.get("outputs"))]


def _step_text(step: Mapping[str, Any]) -> str:
    contents = as_objects(step.get("content")) if step.get("type") == "model_output" else [step]
    return "".join(as_string(content.get("text")) for content in contents if content.get("type") == "text")


def _parse_usage(usage: Json) -> Usage | None:
    table = as_mapping(usage)
    if not table:
        return None
    names = ("input", "tool_use", "output", "thought", "cached")
    prompt, tool_use, answer, thinking, cached = (as_count(table.get(f"total_{name}_tokens")) for name in names)
    usage = Usage(input=prompt + tool_use, output=answer + thinking, cache_read=cached, thinking=thinking)
    return cover_total(usage, as_count(table.get("total_tokens")))


send = partial(post, "interactions")
with_stream = add_stream_flag
open_stream = partial(post_streamed, "interactions?alt=sse")


class StreamAssembler:
    """Folds the events of a stream into one interaction."""

    def __init__(self, expected: ExpectedAnswer | None) -> None:
        self._identity = StreamIdentity(expected)
        self._interaction: dict[str, Any] = {}
        self._steps = StreamedBlocks(expected, self._identity, "function_call", "model_output")
        self._statuses: list[Json] = []
        self._failure: Json = None
        self._has_ended = False
        self._is_complete = False

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event. Return the text that it adds to the document. Events after an error are ignored."""
        if self._has_failed(event):
            return ""
        if "interaction_id" in event:
            self._identity.check_id(event["interaction_id"])
        match event.get("event_type"):
            case "step.delta":
                return self._add_delta(read_index(event.get("index")), as_mapping(event.get("delta")))
            case "step.start":
                step = as_mapping(event.get("step"))
                self._identity.check_role(step.get("role"))
                index, text = read_index(event.get("index")), _step_text(step)
                return self._steps.open(index, step, text, has_ended=self._has_ended)
            case "step.stop":
                self._steps.close(read_index(event.get("index")))
            case "interaction.created" | "interaction.completed" as kind:
                self._update(as_mapping(event.get("interaction")))
                self._is_complete = self._is_complete or kind == "interaction.completed"
                self._has_ended = self._has_ended or self._is_complete
            case "interaction.status_update":
                self._update({key: event[key] for key in ("status", "usage") if key in event})
            case _:
                pass
        return ""

    def _has_failed(self, event: Mapping[str, Any]) -> bool:
        """Return whether this or an earlier event is an error."""
        if not self._failure and (is_error_body(event, "event_type") or event.get("event_type") == "error"):
            self._failure = event.get("error") or event.get("errors") or event
        return bool(self._failure)

    def _update(self, interaction: Mapping[str, Any]) -> None:
        self._identity.check_id(interaction.get("id"))
        self._identity.check_end(has_ended=self._is_complete and bool(interaction.get("steps")))
        self._interaction |= interaction
        if interaction.get("status") not in _RUNNING:
            self._statuses.append(interaction.get("status"))
            self._has_ended = self._has_ended or bool(interaction.get("status"))

    def _add_delta(self, index: int, delta: Mapping[str, Any]) -> str:
        kind, arguments = delta.get("type"), as_string(delta.get("arguments"))
        text = as_string(delta.get("text")) if kind == "text" else ""
        if kind not in _OWN_DELTAS or (text and not delta.keys() <= PLAIN_MEMBERS and is_outside_part(delta)):
            self._identity.is_grounded = True
        return self._steps.add(index, delta, text, arguments, has_ended=self._has_ended)

    def body(self) -> AssembledBody:
        """Return the interaction so far."""
        steps = list(map(_finish_step, self._steps.blocks.values()))
        reasons = collect_stop_reasons(*self._statuses)
        body = {**self._interaction, "status": reasons, "steps": self._interaction.get("steps") or steps}
        if self._failure:
            return AssembledBody({**body, "error": self._failure}, is_complete=True)
        is_complete, identity = self._is_complete and any(reasons), self._identity
        return AssembledBody(body, is_complete, identity.problem, identity.is_grounded)


def _finish_step(step: Mapping[str, Any]) -> dict[str, Any]:
    deltas: list[Mapping[str, Any]] = step["deltas"]
    finished = {key: value for key, value in step.items() if key != "deltas"}
    arguments = "".join(as_string(delta.get("arguments")) for delta in deltas)
    if arguments:
        return {**finished, "arguments": parse_arguments(arguments)}
    texts = [delta for delta in deltas if delta.get("type") == "text"]
    return {**finished, "content": [*as_objects(finished.get("content")), *texts]} if texts else finished
