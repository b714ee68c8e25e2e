"""Anthropic Messages as a server: parse requests and write responses, streams and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.messages import as_list, as_mapping
from emitter.profiles.model import WireFormat
from emitter.testing.plans import EndReason, ErrorKind, PlannedError, ReceivedRequest
from emitter.testing.wires.common import (
    ID_PLACEHOLDER,
    ErrorResponse,
    RequestSchema,
    SentEvent,
    count_input_tokens,
    dump_compact,
    format_named_event,
    get_type_at,
    load_limits,
    make_missing_error,
    make_retry_headers,
    parse_arguments,
    parse_budget,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.messages import Json
    from emitter.testing.schema_rules import SchemaViolation
    from emitter.testing.wires.common import PreparedAnswer

PROFILE: str = "anthropic"
PATH_SUFFIXES: tuple[str, ...] = ("/messages",)
MAX_BUDGET_MESSAGE: str = "max_tokens: {budget} > {limit}, which is the maximum allowed number of output tokens"
_STOP_REASONS = {
    EndReason.COMPLETE: "end_turn",
    EndReason.TRUNCATED: "max_tokens",
    EndReason.REFUSED: "refusal",
    EndReason.FILTERED: "refusal",
    EndReason.PAUSED: "pause_turn",
    EndReason.MISSING: None,
}
_FILTER_CATEGORY = "bio"
_SIGNATURE = "c2lnbmF0dXJl"


def parse_request(path: str, body: Mapping[str, Json]) -> ReceivedRequest | PlannedError:
    """Parse a request, or return the error that it causes."""
    error = _find_error(body)
    if error:
        return error
    format_, tool = _get_output_format(body), _get_forced_tool(body)
    return ReceivedRequest(
        wire=WireFormat.ANTHROPIC,
        path=path,
        model=str(body["model"]),
        body=body,
        streamed=body.get("stream") is True,
        schema=tool.get("input_schema") if tool else format_.get("schema"),
        tool=tool.get("name") if tool else None,
        budget=parse_budget(body["max_tokens"]),
        input_tokens=count_input_tokens(
            as_list(body["messages"]),
            [format_.get("schema"), *as_list(body.get("tools"))],
            system=body.get("system"),
        ),
    )


def _find_error(body: Mapping[str, Json]) -> PlannedError | None:
    for name in ("model", "max_tokens", "messages"):
        if body.get(name) is None:
            return make_missing_error(name, f"{name}: Field required")
    budget = parse_budget(body["max_tokens"])
    if budget is None:
        return PlannedError(ErrorKind.BAD_REQUEST, "max_tokens: Input should be a valid integer")
    if budget < 1:
        return PlannedError(ErrorKind.BAD_REQUEST, "max_tokens: Input should be greater than or equal to 1")
    if not as_list(body["messages"]):
        return PlannedError(ErrorKind.BAD_REQUEST, "messages: at least one message is required")
    return None


def _get_output_format(body: Mapping[str, Json]) -> Mapping[str, Any]:
    return as_mapping(as_mapping(body.get("output_config")).get("format")) or as_mapping(body.get("output_format"))


def _get_forced_tool(body: Mapping[str, Json]) -> Mapping[str, Any] | None:
    choice, tools = as_mapping(body.get("tool_choice")), list(map(as_mapping, as_list(body.get("tools"))))
    name = choice.get("name") if choice.get("type") == "tool" else None
    matching = [tool for tool in tools if choice.get("type") == "any" or (name and tool.get("name") == name)]
    return matching[0] if matching else None


def iter_schemas(request: ReceivedRequest) -> Iterator[RequestSchema]:
    """Yield the schemas of a request. A few rules also apply to tools that are not strict."""
    if _get_output_format(request.body):
        yield RequestSchema(
            _get_output_format(request.body).get("schema"), "anthropic", "", "output_config.format.schema"
        )
    for index, tool in enumerate(map(as_mapping, as_list(request.body.get("tools")))):
        if "input_schema" in tool:
            dialect = "anthropic-tool" if tool.get("strict") else "anthropic-loose-tool"
            path = f"tools.{index}.custom"
            yield RequestSchema(tool["input_schema"], dialect, str(tool.get("name")), path, is_tool=True)


def write_response(answer: PreparedAnswer) -> Json:
    """Return the body of a response that is not streamed."""
    return {
        **_make_message(answer, list(_iter_content(answer))),
        **_make_stop_fields(answer),
        "usage": _make_usage(answer, answer.usage.output),
    }


def _make_message(answer: PreparedAnswer, content: list[Json]) -> dict[str, Json]:
    return {
        "model": answer.request.model,
        "id": f"msg_{ID_PLACEHOLDER}",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
    }


def _make_stop_fields(answer: PreparedAnswer) -> dict[str, Json]:
    stop, details = answer.get_end_word(_STOP_REASONS), None
    if stop == "refusal":
        category = answer.plan.category or _FILTER_CATEGORY
        explanation = "This request was stopped by a safety system."
        details = {"type": "refusal", "category": category, "explanation": explanation}
    if answer.is_tool_call and answer.plan.end_reason is EndReason.COMPLETE:
        stop = "tool_use"
    return {"stop_reason": stop, "stop_sequence": None, "stop_details": details}


def _make_usage(answer: PreparedAnswer, output: int) -> dict[str, Json]:
    usage = answer.usage
    return {
        # Unlike at OpenAI and Google, cached tokens are not part of the input tokens.
        "input_tokens": usage.input - usage.cache_read - usage.cache_write,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write - usage.cache_write_1h,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": min(answer.usage.thinking, output)},
        "service_tier": "standard",
    }


def _iter_content(answer: PreparedAnswer) -> Iterator[dict[str, Json]]:
    if answer.plan.thinking_tokens:
        yield {"type": "thinking", "thinking": "", "signature": _SIGNATURE}
    if answer.is_tool_call:
        for index, arguments in enumerate(answer.split_calls()):
            yield {**_make_tool_use(answer, index), "input": parse_arguments(arguments) or {}}
    elif answer.plan.text:
        yield {"type": "text", "text": answer.plan.text}


def _make_tool_use(answer: PreparedAnswer, index: int) -> dict[str, Json]:
    return {"type": "tool_use", "id": f"toolu_{ID_PLACEHOLDER}{index}", "name": answer.request.tool, "input": {}}


def write_stream(answer: PreparedAnswer) -> Iterator[SentEvent]:
    """Yield the events of a streamed response."""
    start = {**_make_message(answer, []), "usage": _make_usage(answer, 1)}
    yield SentEvent(format_named_event("message_start", {"type": "message_start", "message": start}))
    yield from _iter_block_events(answer)
    if answer.plan.error:
        yield SentEvent(format_named_event("error", write_error(answer.plan.error, answer.request).body))
    elif answer.plan.end_reason is not EndReason.MISSING:
        end = {
            "type": "message_delta",
            "delta": _make_stop_fields(answer),
            "usage": _make_usage(answer, answer.usage.output),
        }
        yield SentEvent(format_named_event("message_delta", end))
        yield SentEvent(format_named_event("message_stop", {"type": "message_stop"}))


def _iter_block_events(answer: PreparedAnswer) -> Iterator[SentEvent]:
    index = 0
    if answer.plan.thinking_tokens:
        yield _make_block_start(0, {"type": "thinking", "thinking": "", "signature": ""})
        delta = {"type": "signature_delta", "signature": _SIGNATURE}
        payload = {"type": "content_block_delta", "index": 0, "delta": delta}
        yield SentEvent(format_named_event("content_block_delta", payload))
        yield _make_block_stop(0)
        index = 1
    if answer.is_tool_call:
        for number, arguments in enumerate(answer.split_calls()):
            kind = "input_json_delta", "partial_json"
            yield from _iter_text_block_events(answer, index + number, _make_tool_use(answer, number), kind, arguments)
    elif answer.plan.text:
        yield from _iter_text_block_events(
            answer, index, {"type": "text", "text": ""}, ("text_delta", "text"), answer.plan.text
        )


def _make_block_start(index: int, block: dict[str, Json]) -> SentEvent:
    payload = {"type": "content_block_start", "index": index, "content_block": block}
    # The vendor sends a ping after the start of the first block, which clients must skip.
    ping = format_named_event("ping", {"type": "ping"}) if index == 0 else ""
    return SentEvent(format_named_event("content_block_start", payload) + ping)


def _make_block_stop(index: int) -> SentEvent:
    return SentEvent(format_named_event("content_block_stop", {"type": "content_block_stop", "index": index}))


def _iter_text_block_events(
    answer: PreparedAnswer, index: int, block: dict[str, Json], kind: tuple[str, str], text: str
) -> Iterator[SentEvent]:
    """Yield the events of a block. Deltas are formatted without ``json``: there may be thousands."""
    yield _make_block_start(index, block)
    prefix = f'event: content_block_delta\ndata: {{"type":"content_block_delta","index":{index},"delta":{{"type":'
    for chunk in answer.iter_chunks(text):
        yield SentEvent(f'{prefix}"{kind[0]}","{kind[1]}":{dump_compact(chunk)}}}}}\n\n', len(chunk))
    if not answer.is_interrupted:
        yield _make_block_stop(index)


_INVALID_REQUEST = "invalid_request_error"
_ERRORS: Mapping[ErrorKind, tuple[int, str, str]] = {
    ErrorKind.BAD_REQUEST: (400, _INVALID_REQUEST, "The request body is not valid JSON"),
    ErrorKind.BAD_SCHEMA: (400, _INVALID_REQUEST, "output_config.format.schema: Invalid schema"),
    ErrorKind.UNAUTHORIZED: (401, "authentication_error", "invalid x-api-key"),
    ErrorKind.FORBIDDEN: (
        403,
        "permission_error",
        "Your API key does not have permission to use the specified resource.",
    ),
    ErrorKind.NOT_FOUND: (404, "not_found_error", "Not Found"),
    ErrorKind.NO_MODEL: (404, "not_found_error", "model: {model}"),
    ErrorKind.RATE_LIMITED: (
        429,
        "rate_limit_error",
        "This request would exceed the rate limit for your organization.",
    ),
    ErrorKind.OVERLOADED: (529, "overloaded_error", "Overloaded"),
    # Only the message tells an empty account from an invalid request.
    ErrorKind.QUOTA: (400, _INVALID_REQUEST, "Your credit balance is too low to access the Anthropic API."),
    ErrorKind.OVERFLOWED: (400, _INVALID_REQUEST, "prompt is too long: {tokens} tokens > {limit} maximum"),
    ErrorKind.PROMPT_BLOCKED: (400, _INVALID_REQUEST, "Output blocked by content filtering policy"),
    ErrorKind.SERVER: (500, "api_error", "Internal server error"),
}
_SCHEMA_MESSAGES = {
    "empty_schema": "Empty schema ({{}}) that accepts any JSON value is not supported.",
    "type_missing": "Invalid schema: Schema type is missing",
    "object_must_be_closed": (
        "For 'object' type, 'additionalProperties: true' is not supported. Please set 'additionalProperties' to false"
    ),
    "keyword_not_supported": "For '{type}' type, property '{detail}' is not supported",
    "keyword_of_another_type": "For '{type}' type, property '{detail}' is not supported",
    "tool_root_must_be_an_object": "input_schema.type: Input should be 'object'",
    "tool_root_must_not_be_a_union": "input_schema does not support oneOf, allOf, or anyOf at the top level",
    "tool_property_key": "input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'",
}
_LIMIT_MESSAGES = {
    "max_unions": "Schemas contains too many parameters with union types ({detail} parameters with unions).",
    "max_optional_properties": "Schemas contains too many optional parameters ({detail}).",
    "max_optional_of_one_object": "Schema is too complex for compilation. Try simplifying tool schemas.",
}


def write_error(planned_error: PlannedError, request: ReceivedRequest) -> ErrorResponse:
    """Return the error response."""
    status, kind, message = _ERRORS[planned_error.kind]
    if planned_error.kind is ErrorKind.OVERFLOWED:
        limit = load_limits(PROFILE, request.model).longest_prompt
        message = message.format(tokens=max(request.input_tokens, limit + 1), limit=limit)
    text = planned_error.message or message.replace("{model}", request.model)
    request_id = f"req_{ID_PLACEHOLDER}"
    body = {"type": "error", "error": {"type": kind, "message": text}, "request_id": request_id}
    return ErrorResponse(
        planned_error.status or status,
        body,
        {"request-id": request_id, **make_retry_headers(planned_error.retry_after)},
    )


def describe_violation(schema: RequestSchema, violation: SchemaViolation) -> str:
    """Return Anthropic's message about a schema that breaks a rule."""
    if violation.rule in _LIMIT_MESSAGES:
        return _LIMIT_MESSAGES[violation.rule].format(detail=violation.detail)
    template = _SCHEMA_MESSAGES.get(violation.rule, "Invalid schema: {rule} {detail}")
    kind = get_type_at(schema.schema, violation.pointer)
    message = template.format(detail=violation.detail, type=kind, rule=violation.rule.replace("_", " ")).rstrip()
    return f"{schema.path}{'.' if message.startswith('input_schema') else ': '}{message}"
