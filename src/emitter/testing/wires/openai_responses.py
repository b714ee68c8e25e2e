"""OpenAI Responses as a server: parse requests and write responses and streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.messages import as_list, as_mapping
from emitter.profiles.model import WireFormat
from emitter.testing.plans import EndReason, ErrorKind, PlannedError, ReceivedRequest
from emitter.testing.wires import openai_chat
from emitter.testing.wires.common import (
    CREATED_AT,
    ID_PLACEHOLDER,
    RequestSchema,
    SentEvent,
    count_input_tokens,
    dump_compact,
    format_named_event,
    make_missing_error,
    parse_budget,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.messages import Json
    from emitter.testing.wires.common import PreparedAnswer

PROFILE: str = "openai"
PATH_SUFFIXES: tuple[str, ...] = ("/responses",)
MAX_BUDGET_MESSAGE: str = (
    "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= {limit}, but got {budget} instead."
)
_MIN_BUDGET = 16
"""The smallest budget that the vendor accepts."""

describe_violation = openai_chat.describe_violation
write_error = openai_chat.write_error


def parse_request(path: str, body: Mapping[str, Json]) -> ReceivedRequest | PlannedError:
    """Parse a request, or return the error that it causes."""
    error = _find_error(body)
    if error:
        return error
    format_, tool = as_mapping(as_mapping(body.get("text")).get("format")), _get_forced_function(body)
    schema = tool.get("parameters") if tool else format_.get("schema")
    if schema is None and format_.get("type") == "json_object":
        schema = {"type": "object"}
    return ReceivedRequest(
        wire=WireFormat.OPENAI_RESPONSES,
        path=path,
        model=str(body["model"]),
        body=body,
        streamed=body.get("stream") is True,
        schema=schema,
        tool=tool.get("name") if tool else None,
        budget=parse_budget(body.get("max_output_tokens")),
        input_tokens=count_input_tokens(
            as_list(body["input"]) or [body["input"]],
            [format_.get("schema"), *as_list(body.get("tools"))],
            system=body.get("instructions"),
        ),
        is_azure=openai_chat.AZURE_QUERY in path,
    )


def _find_error(body: Mapping[str, Json]) -> PlannedError | None:
    for name in ("model", "input"):
        if not body.get(name):
            return make_missing_error(name, f"Missing required parameter: '{name}'.")
    if body.get("background") is True and body.get("store") is False:
        return PlannedError(ErrorKind.BAD_REQUEST, "Background mode requires store to be true.", param="store")
    if "response_format" in body:
        message = (
            "Unsupported parameter: 'response_format'. In the Responses API, this parameter has moved to 'text.format'."
        )
        return PlannedError(ErrorKind.BAD_REQUEST, message, code="unsupported_parameter")
    format_ = as_mapping(as_mapping(body.get("text")).get("format"))
    if format_.get("type") == "json_schema" and not format_.get("name"):
        return make_missing_error("text.format.name", "Missing required parameter: 'text.format.name'.")
    budget = parse_budget(body.get("max_output_tokens"))
    return openai_chat.check_min_budget("max_output_tokens", budget, _MIN_BUDGET)


def _get_forced_function(body: Mapping[str, Json]) -> Mapping[str, Any] | None:
    tools = [as_mapping(tool) for tool in as_list(body.get("tools")) if as_mapping(tool).get("type") == "function"]
    choice = body.get("tool_choice")
    name = as_mapping(choice).get("name")
    matching = [tool for tool in tools if choice == "required" or (name and tool.get("name") == name)]
    return matching[0] if matching else None


def iter_schemas(request: ReceivedRequest) -> Iterator[RequestSchema]:
    """Yield the strict schemas of a request."""
    dialect = "azure-openai" if request.is_azure else "openai"
    format_ = as_mapping(as_mapping(request.body.get("text")).get("format"))
    if format_.get("type") == "json_schema" and format_.get("strict"):
        yield RequestSchema(format_.get("schema"), dialect, str(format_["name"]), "text.format.schema")
    for index, tool in enumerate(map(as_mapping, as_list(request.body.get("tools")))):
        if tool.get("type") == "function" and tool.get("strict"):
            yield RequestSchema(
                tool.get("parameters"), dialect, str(tool.get("name")), f"tools[{index}].parameters", is_tool=True
            )


_IN_PROGRESS = "in_progress"
_STATUSES = {
    EndReason.COMPLETE: "completed",
    EndReason.REFUSED: "completed",
    EndReason.TRUNCATED: "incomplete",
    EndReason.FILTERED: "incomplete",
    EndReason.PAUSED: "incomplete",
    EndReason.MISSING: None,
}
_INCOMPLETE_REASONS = {
    EndReason.TRUNCATED: "max_output_tokens",
    EndReason.FILTERED: "content_filter",
    EndReason.PAUSED: "max_messages",
}
_ECHOED_FIELDS = ("instructions", "max_output_tokens", "metadata", "reasoning", "store", "temperature", "text")


def write_response(answer: PreparedAnswer) -> Json:
    """Return the body of a response that is not streamed."""
    return _make_response(answer, answer.get_end_word(_STATUSES), list(_iter_output_items(answer)))


def _make_response(answer: PreparedAnswer, status: str | None, items: list[Json]) -> dict[str, Json]:
    """Return the response object with a status and the output items so far."""
    body, end_reason = answer.request.body, answer.plan.end_reason
    in_progress = status == _IN_PROGRESS
    reason = _INCOMPLETE_REASONS.get(end_reason) if isinstance(end_reason, EndReason) and not in_progress else None
    return {
        "id": f"resp_{ID_PLACEHOLDER}",
        "object": "response",
        "created_at": CREATED_AT,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        **{key: body.get(key) for key in _ECHOED_FIELDS},
        "model": answer.request.model,
        "output": items,
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": None,
        "service_tier": "default",
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "truncation": "disabled",
        "usage": None if in_progress else _make_usage(answer),
        "user": None,
    }


def _make_usage(answer: PreparedAnswer) -> dict[str, Json]:
    usage = answer.usage
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.thinking},
        "total_tokens": usage.input + usage.output,
    }


def _iter_output_items(answer: PreparedAnswer) -> Iterator[dict[str, Json]]:
    """Yield the items of a complete response."""
    if answer.plan.thinking_tokens:
        yield _make_reasoning_item()
    if answer.is_tool_call:
        yield from (
            _make_call_item(answer, index, arguments, _get_item_status(answer))
            for index, arguments in enumerate(answer.split_calls())
        )
    elif answer.plan.text or answer.plan.end_reason is EndReason.COMPLETE:
        yield _make_message_item([_make_content_part(answer, answer.plan.text)], _get_item_status(answer))


def _get_item_status(answer: PreparedAnswer) -> str:
    return {"incomplete": "incomplete", None: _IN_PROGRESS}.get(answer.get_end_word(_STATUSES), "completed")


def _make_reasoning_item() -> dict[str, Json]:
    return {"id": f"rs_{ID_PLACEHOLDER}", "type": "reasoning", "summary": []}


def _make_call_item(answer: PreparedAnswer, index: int, arguments: str, status: str) -> dict[str, Json]:
    return {
        "id": f"fc_{ID_PLACEHOLDER}{index}",
        "type": "function_call",
        "status": status,
        "arguments": arguments,
        "call_id": f"call_{ID_PLACEHOLDER}{index}",
        "name": answer.request.tool,
    }


def _make_message_item(content: list[Json], status: str) -> dict[str, Json]:
    return {"id": f"msg_{ID_PLACEHOLDER}", "type": "message", "status": status, "content": content, "role": "assistant"}


def _make_content_part(answer: PreparedAnswer, text: str) -> dict[str, Json]:
    """Return the content part with the text or the refusal."""
    if answer.plan.end_reason is EndReason.REFUSED:
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


@dataclass(slots=True)
class _EventCounter:
    """Numbers the events of a stream."""

    number: int = -1

    def make_event(self, kind: str, **fields: Json) -> SentEvent:
        self.number += 1
        return SentEvent(format_named_event(kind, {"type": kind, **fields, "sequence_number": self.number}))

    def iter_deltas(self, kind: str, chunks: Iterator[str], fields: str) -> Iterator[SentEvent]:
        """Yield the same event for each chunk, without ``json``: there may be thousands."""
        for chunk in chunks:
            self.number += 1
            number = f'"sequence_number":{self.number}'
            delta = dump_compact(chunk)
            yield SentEvent(
                f'event: {kind}\ndata: {{"type":"{kind}",{fields},"delta":{delta},{number}}}\n\n', len(chunk)
            )


def write_stream(answer: PreparedAnswer) -> Iterator[SentEvent]:
    """Yield the events of a streamed response."""
    counter = _EventCounter()
    response = _make_response(answer, _IN_PROGRESS, [])
    for kind in ("response.created", "response.in_progress"):
        yield counter.make_event(kind, response=response)
    yield from _iter_item_events(counter, answer)
    end_reason = answer.plan.end_reason
    if answer.plan.error:
        error = write_error(answer.plan.error, answer.request).body["error"]
        fields = {"code": error["code"] or error["type"], "message": error["message"], "param": error["param"]}
        yield counter.make_event("error", **fields)
    elif end_reason is not EndReason.MISSING:
        status = answer.get_end_word(_STATUSES)
        kind = "response.incomplete" if status == "incomplete" else "response.completed"
        yield counter.make_event(kind, response=_make_response(answer, status, list(_iter_output_items(answer))))


def _iter_item_events(counter: _EventCounter, answer: PreparedAnswer) -> Iterator[SentEvent]:
    index = 0
    if answer.plan.thinking_tokens:
        for step in ("added", "done"):
            yield counter.make_event(f"response.output_item.{step}", output_index=0, item=_make_reasoning_item())
        index = 1
    if answer.is_tool_call:
        yield from _iter_call_events(counter, answer, index)
    elif answer.plan.text or answer.plan.end_reason is EndReason.COMPLETE:
        yield from _iter_message_events(counter, answer, index)


def _iter_call_events(counter: _EventCounter, answer: PreparedAnswer, first: int) -> Iterator[SentEvent]:
    for number, arguments in enumerate(answer.split_calls()):
        index, item = first + number, _make_call_item(answer, number, "", _IN_PROGRESS)
        position = {"item_id": item["id"], "output_index": index}
        yield counter.make_event("response.output_item.added", output_index=index, item=item)
        kind = "response.function_call_arguments"
        fields = f'"item_id":"{item["id"]}","output_index":{index}'
        yield from counter.iter_deltas(f"{kind}.delta", answer.iter_chunks(arguments), fields)
        if answer.is_interrupted:
            return
        yield counter.make_event(f"{kind}.done", **position, arguments=arguments)
        done = _make_call_item(answer, number, arguments, _get_item_status(answer))
        yield counter.make_event("response.output_item.done", output_index=index, item=done)


def _iter_message_events(counter: _EventCounter, answer: PreparedAnswer, index: int) -> Iterator[SentEvent]:
    kind = "response.refusal" if answer.plan.end_reason is EndReason.REFUSED else "response.output_text"
    key = "refusal" if answer.plan.end_reason is EndReason.REFUSED else "text"
    text, position = answer.plan.text, {"item_id": f"msg_{ID_PLACEHOLDER}", "output_index": index, "content_index": 0}
    yield counter.make_event(
        "response.output_item.added", output_index=index, item=_make_message_item([], _IN_PROGRESS)
    )
    yield counter.make_event("response.content_part.added", **position, part=_make_content_part(answer, ""))
    fields = f'"item_id":"msg_{ID_PLACEHOLDER}","output_index":{index},"content_index":0'
    yield from counter.iter_deltas(f"{kind}.delta", answer.iter_chunks(text), fields)
    if answer.is_interrupted:
        return
    yield counter.make_event(f"{kind}.done", **position, **{key: text})
    yield counter.make_event("response.content_part.done", **position, part=_make_content_part(answer, text))
    done = _make_message_item([_make_content_part(answer, text)], _get_item_status(answer))
    yield counter.make_event("response.output_item.done", output_index=index, item=done)
