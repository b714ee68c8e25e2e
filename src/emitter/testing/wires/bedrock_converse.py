"""Converse of Amazon Bedrock as a server: parse requests and write responses, event streams and errors.

Streams are written in Amazon's binary event stream, which botocore can only read.

Source of the event stream: smithy.io/2.0/aws/amazon-eventstream.html; botocore 1.44.5, eventstream.py.
"""

from __future__ import annotations

import json
from struct import pack
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from zlib import crc32

from emitter.adapters.sse import SseDecoder
from emitter.messages import as_list, as_mapping
from emitter.profiles.model import WireFormat
from emitter.testing.plans import EndReason, ErrorKind, PlannedError, ReceivedRequest
from emitter.testing.wires import anthropic
from emitter.testing.wires.common import (
    ID_PLACEHOLDER,
    ErrorResponse,
    RequestSchema,
    SentEvent,
    count_input_tokens,
    dump_compact,
    make_retry_headers,
    parse_arguments,
    parse_budget,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.messages import Json
    from emitter.testing.schema_rules import SchemaViolation
    from emitter.testing.wires.common import PreparedAnswer

PROFILE: str = "bedrock"
PATH_SUFFIXES: tuple[str, ...] = ("/converse", "/converse-stream")
MAX_BUDGET_MESSAGE: str = (
    "The maximum tokens you requested exceeds the model limit of {limit}. Try again with a maximum tokens value that "
    "is lower than {limit}."
)
_STOP_REASONS = {
    EndReason.COMPLETE: "end_turn",
    EndReason.TRUNCATED: "max_tokens",
    EndReason.REFUSED: "content_filtered",
    EndReason.FILTERED: "guardrail_intervened",
    EndReason.PAUSED: "malformed_model_output",
    EndReason.MISSING: None,
}
_REASONING_SIGNATURE = "c2lnbmF0dXJl"
_SCHEMA_PATH = "output_config.format.schema"


_STRING_TYPE = 7
"""The type of a header whose value is a string."""
_FRAME_BYTES = 16
"""The bytes of a frame without headers and payload: two lengths and two checksums."""


def _encode_frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Return one frame of an event stream."""
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    block = b"".join(
        pack("!B", len(name)) + name + pack("!BH", _STRING_TYPE, len(value)) + value for name, value in pairs
    )
    prelude = pack("!II", _FRAME_BYTES + len(block) + len(payload), len(block))
    frame = prelude + pack("!I", crc32(prelude)) + block + payload
    return frame + pack("!I", crc32(frame))


def encode_event_stream(text: str) -> bytes:
    """Return the event stream of server-sent events whose data is ``{"<event>": {…}}`` or ``{"error": {…}}``."""
    decoder = SseDecoder()
    return b"".join(map(_encode_data, [*decoder.feed(text), *decoder.end()]))


def _encode_data(data: Json) -> bytes:
    [(name, payload)] = as_mapping(data).items()
    body = json.dumps(payload, ensure_ascii=False).encode()
    return encode_exception(str(payload["type"]), body) if name == "error" else encode_event(name, body)


def encode_event(name: str, payload: bytes) -> bytes:
    """Return the frame of an event."""
    return _encode_frame({":event-type": name, ":content-type": "application/json", ":message-type": "event"}, payload)


def encode_exception(name: str, payload: bytes) -> bytes:
    """Return the frame of an exception, which ends a stream."""
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return _encode_frame(headers, payload)


KEEPALIVE = encode_event("keepAlive", b"{}")
"""An event without a meaning, which clients skip."""


def parse_request(path: str, body: Mapping[str, Json]) -> ReceivedRequest | PlannedError:
    """Parse a request, or return the error that it causes."""
    messages = as_list(body.get("messages"))
    if not messages:
        return PlannedError(ErrorKind.BAD_REQUEST, "A conversation must start with a user message.")
    budget = parse_budget(as_mapping(body.get("inferenceConfig")).get("maxTokens"))
    if budget is not None and budget < 1:
        message = "Value at 'inferenceConfig.maxTokens' failed to satisfy constraint: must be at least 1"
        return PlannedError(ErrorKind.BAD_REQUEST, message)
    model, _, operation = path.partition("?")[0].rpartition("/")
    schema, tool = _get_output_schema(body), _get_forced_tool(body)
    return ReceivedRequest(
        wire=WireFormat.BEDROCK_CONVERSE,
        path=path,
        model=unquote(model.rpartition("/model/")[2]),
        body=body,
        streamed=operation == "converse-stream",
        schema=as_mapping(tool.get("inputSchema")).get("json") if tool else schema,
        tool=tool.get("name") if tool else None,
        budget=budget,
        input_tokens=count_input_tokens(messages, [schema, *_get_tools(body)], system=body.get("system")),
    )


def _get_output_schema(body: Mapping[str, Json]) -> Json:
    """Return the schema of the answer, which is sent as text, or None."""
    structure = as_mapping(as_mapping(as_mapping(body.get("outputConfig")).get("textFormat")).get("structure"))
    text = as_mapping(structure.get("jsonSchema")).get("schema")
    try:
        return json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return text


def _get_tools(body: Mapping[str, Json]) -> list[Mapping[str, Any]]:
    tools = as_list(as_mapping(body.get("toolConfig")).get("tools"))
    return [as_mapping(as_mapping(tool).get("toolSpec")) for tool in tools]


def _get_forced_tool(body: Mapping[str, Json]) -> Mapping[str, Any] | None:
    choice = as_mapping(as_mapping(body.get("toolConfig")).get("toolChoice"))
    name = as_mapping(choice.get("tool")).get("name")
    return next((tool for tool in _get_tools(body) if "any" in choice or (name and tool.get("name") == name)), None)


def iter_schemas(request: ReceivedRequest) -> Iterator[RequestSchema]:
    """Yield the schemas of a request. They are compiled by Anthropic's rules."""
    schema = _get_output_schema(request.body)
    if schema is not None:
        yield RequestSchema(schema, "anthropic", "", _SCHEMA_PATH)
    for index, tool in enumerate(_get_tools(request.body)):
        dialect = "anthropic-tool" if tool.get("strict") else "anthropic-loose-tool"
        schema = as_mapping(tool.get("inputSchema")).get("json")
        yield RequestSchema(schema, dialect, str(tool.get("name")), f"tools.{index}.custom", is_tool=True)


def write_response(answer: PreparedAnswer) -> Json:
    """Return the body of a response that is not streamed."""
    return {
        "metrics": {"latencyMs": 350},
        "output": {"message": {"role": "assistant", "content": list(_iter_content(answer))}},
        "stopReason": _get_stop_reason(answer),
        "usage": _make_usage(answer),
    }


def _get_stop_reason(answer: PreparedAnswer) -> str | None:
    if answer.is_tool_call and answer.plan.end_reason is EndReason.COMPLETE:
        return "tool_use"
    return answer.get_end_word(_STOP_REASONS)


def _make_usage(answer: PreparedAnswer) -> dict[str, Json]:
    # As at Anthropic, cached tokens are not part of the input tokens, but they are part of the total.
    usage = answer.usage
    cached: dict[str, Json] = {}
    if usage.cache_read or usage.cache_write:
        lifetimes = (("1h", usage.cache_write_1h), ("5m", usage.cache_write - usage.cache_write_1h))
        details = [{"ttl": ttl, "inputTokens": tokens} for ttl, tokens in lifetimes if tokens]
        cached = {"cacheReadInputTokens": usage.cache_read, "cacheWriteInputTokens": usage.cache_write}
        cached |= {"cacheDetails": details} if details else {}
    return {
        "inputTokens": usage.input - usage.cache_read - usage.cache_write,
        "outputTokens": usage.output,
        "totalTokens": usage.input + usage.output,
        **cached,
    }


def _iter_content(answer: PreparedAnswer) -> Iterator[dict[str, Json]]:
    if answer.plan.thinking_tokens:
        yield {"reasoningContent": {"reasoningText": {"text": "", "signature": _REASONING_SIGNATURE}}}
    if answer.is_tool_call:
        for index, arguments in enumerate(answer.split_calls()):
            yield {"toolUse": {**_make_tool_use(answer, index), "input": parse_arguments(arguments) or {}}}
    elif answer.plan.text:
        yield {"text": answer.plan.text}


def _make_tool_use(answer: PreparedAnswer, index: int) -> dict[str, Json]:
    return {"toolUseId": f"tooluse_{index}", "name": answer.request.tool}


def write_stream(answer: PreparedAnswer) -> Iterator[SentEvent]:
    """Yield the frames of a streamed response."""
    yield _make_event("messageStart", {"role": "assistant"})
    yield from _iter_block_events(answer)
    if answer.plan.error:
        yield _make_error_event(answer.plan.error, answer.request)
    elif answer.plan.end_reason is not EndReason.MISSING:
        yield _make_event("messageStop", {"stopReason": _get_stop_reason(answer)})
        yield _make_event("metadata", {"usage": _make_usage(answer), "metrics": {"latencyMs": 350}})


def _make_event(name: str, payload: dict[str, Json], text_length: int = 0) -> SentEvent:
    return SentEvent(encode_event(name, dump_compact(payload).encode()), text_length)


def _make_error_event(error: PlannedError, request: ReceivedRequest) -> SentEvent:
    """Return an exception of the stream, whose name begins with a small letter."""
    response = write_error(error, request)
    name = response.headers["x-amzn-errortype"].partition(":")[0]
    return SentEvent(encode_exception(f"{name[0].lower()}{name[1:]}", dump_compact(response.body).encode()))


def _iter_block_events(answer: PreparedAnswer) -> Iterator[SentEvent]:
    index = 0
    if answer.plan.thinking_tokens:
        delta = {"reasoningContent": {"signature": _REASONING_SIGNATURE}}
        yield _make_event("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta})
        yield _make_event("contentBlockStop", {"contentBlockIndex": 0})
        index = 1
    if answer.is_tool_call:
        for number, arguments in enumerate(answer.split_calls()):
            start = {"toolUse": _make_tool_use(answer, number)}
            yield _make_event("contentBlockStart", {"contentBlockIndex": index + number, "start": start})
            yield from _iter_deltas(answer, index + number, arguments)
    elif answer.plan.text:
        yield from _iter_deltas(answer, index, answer.plan.text)


def _iter_deltas(answer: PreparedAnswer, index: int, text: str) -> Iterator[SentEvent]:
    for chunk in answer.iter_chunks(text):
        delta: dict[str, Json] = {"toolUse": {"input": chunk}} if answer.is_tool_call else {"text": chunk}
        yield _make_event("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}, len(chunk))
    if not answer.is_interrupted:
        yield _make_event("contentBlockStop", {"contentBlockIndex": index})


_VALIDATION = "ValidationException"
_ERRORS: Mapping[ErrorKind, tuple[int, str, str]] = {
    ErrorKind.BAD_REQUEST: (400, _VALIDATION, "The request body is not valid JSON."),
    ErrorKind.BAD_SCHEMA: (400, _VALIDATION, f"{_SCHEMA_PATH}: Invalid schema"),
    ErrorKind.UNAUTHORIZED: (
        403,
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
    ),
    ErrorKind.FORBIDDEN: (
        403,
        "AccessDeniedException",
        "You don't have access to the specified model.",
    ),
    ErrorKind.NOT_FOUND: (404, "UnknownOperationException", ""),
    ErrorKind.NO_MODEL: (
        404,
        "ResourceNotFoundException",
        "Could not resolve the foundation model from the model identifier: {model}",
    ),
    ErrorKind.RATE_LIMITED: (429, "ThrottlingException", "Too many requests, please wait before trying again."),
    ErrorKind.OVERLOADED: (503, "ServiceUnavailableException", "Bedrock is unable to process your request."),
    # The same exception as for a rate limit, although only the next day helps.
    ErrorKind.QUOTA: (429, "ThrottlingException", "Too many tokens per day, please wait before trying again."),
    ErrorKind.OVERFLOWED: (400, _VALIDATION, "Input is too long for requested model."),
    ErrorKind.PROMPT_BLOCKED: (
        400,
        _VALIDATION,
        "The model returned the following errors: Output blocked by content filtering policy",
    ),
    ErrorKind.SERVER: (500, "InternalServerException", "The system encountered an unexpected error."),
}


def write_error(planned_error: PlannedError, request: ReceivedRequest) -> ErrorResponse:
    """Return the error response."""
    status, kind, message = _ERRORS[planned_error.kind]
    text = planned_error.message or message.replace("{model}", request.model)
    # The body has no type: clients read it from this header, up to the colon.
    headers = {
        "x-amzn-errortype": f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/",
        "x-amzn-requestid": f"req_{ID_PLACEHOLDER}",
    }
    retry = make_retry_headers(planned_error.retry_after)
    return ErrorResponse(planned_error.status or status, {"message": text}, {**headers, **retry})


def describe_violation(schema: RequestSchema, violation: SchemaViolation) -> str:
    """Return the message about a schema that breaks a rule, which is Anthropic's."""
    return f"The model returned the following errors: {anthropic.describe_violation(schema, violation)}"
