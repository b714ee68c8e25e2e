"""Google generateContent as a server: parse requests and write responses, streams and errors."""

from __future__ import annotations

import re
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
    format_event,
    get_retry_seconds,
    load_limits,
    make_retry_headers,
    parse_arguments,
    parse_budget,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.messages import Json
    from emitter.testing.schema_rules import SchemaViolation
    from emitter.testing.wires.common import PreparedAnswer

PROFILE: str = "google"
PATH_SUFFIXES: tuple[str, ...] = (":generateContent", ":streamGenerateContent")
MAX_BUDGET_MESSAGE: str = (
    "Unable to submit request because it has a maxOutputTokens value of {budget} "
    "but the supported range is from 1 to {limit}."
)
_MODEL_PATTERN = re.compile(r"models/([^/:]+):")
_STREAM_METHOD = ":streamGenerateContent"
SSE_QUERY = "alt=sse"
"""The query parameter that asks for server-sent events."""
_FINISH_REASONS = {
    EndReason.COMPLETE: "STOP",
    EndReason.TRUNCATED: "MAX_TOKENS",
    EndReason.REFUSED: "PROHIBITED_CONTENT",
    EndReason.FILTERED: "SAFETY",
    EndReason.PAUSED: "CONTINUATION",
    EndReason.MISSING: None,
}
_CAPITAL = re.compile("[A-Z]")


def _get_field(table: Mapping[str, Any], name: str) -> Json:
    """Return a field by its JSON name, or by its protobuf name, which the SDK sends in nested objects."""
    return table.get(name, table.get(_CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", name)))


def parse_request(path: str, body: Mapping[str, Json]) -> ReceivedRequest | PlannedError:
    """Parse a request, or return the error that it causes."""
    contents, config = as_list(body.get("contents")), as_mapping(_get_field(body, "generationConfig"))
    budget = parse_budget(_get_field(config, "maxOutputTokens"))
    if not contents:
        return PlannedError(ErrorKind.BAD_REQUEST, "* GenerateContentRequest.contents: contents is not specified")
    if budget is not None and budget < 1:
        return PlannedError(
            ErrorKind.BAD_REQUEST, "* GenerateContentRequest.generation_config.max_output_tokens: must be positive"
        )
    function, model = _get_forced_function(body), _MODEL_PATTERN.search(path)
    schema = _get_schema(function, "parametersJsonSchema", "parameters") if function else _get_response_schema(config)
    return ReceivedRequest(
        wire=WireFormat.GOOGLE,
        path=path,
        model=model[1] if model else "",
        body=body,
        streamed=_STREAM_METHOD in path,
        schema=schema,
        tool=function.get("name") if function else None,
        budget=budget,
        input_tokens=count_input_tokens(
            contents,
            [_get_schema(config, "responseJsonSchema", "responseSchema"), *as_list(body.get("tools"))],
            system=_get_field(body, "systemInstruction"),
        ),
    )


def _get_schema(table: Mapping[str, Any], *names: str) -> Json:
    return next((schema for name in names if (schema := _get_field(table, name)) is not None), None)


def _get_response_schema(config: Mapping[str, Any]) -> Json:
    schema = _get_schema(config, "responseJsonSchema", "responseSchema")
    if schema is None and _get_field(config, "responseMimeType") == "application/json":
        return {"type": "object"}
    return schema


def _iter_functions(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for outer, tool in enumerate(map(as_mapping, as_list(body.get("tools")))):
        for inner, function in enumerate(map(as_mapping, as_list(_get_field(tool, "functionDeclarations")))):
            yield f"tools[{outer}].function_declarations[{inner}]", function


def _get_forced_function(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    calling = as_mapping(_get_field(as_mapping(_get_field(body, "toolConfig")), "functionCallingConfig"))
    if str(calling.get("mode")).upper() != "ANY":
        return None
    allowed = as_list(_get_field(calling, "allowedFunctionNames"))
    matching = [function for _, function in _iter_functions(body) if not allowed or function.get("name") in allowed]
    return matching[0] if matching else None


def iter_schemas(request: ReceivedRequest) -> Iterator[RequestSchema]:
    """Yield the schemas of a request."""
    config = as_mapping(_get_field(request.body, "generationConfig"))
    tables = [("generation_config", config, "response_json_schema", "response_schema")]
    tables += [
        (path, function, "parameters_json_schema", "parameters") for path, function in _iter_functions(request.body)
    ]
    for path, table, *names in tables:
        for name, dialect in zip(names, ("google", "google-openapi"), strict=True):
            schema = _get_schema(table, _to_camel_case(name))
            if schema is not None:
                yield RequestSchema(
                    schema, dialect, str(table.get("name", "")), f"{path}.{name}", is_tool=table is not config
                )


def _to_camel_case(name: str) -> str:
    return re.sub("_([a-z])", lambda letter: letter[1].upper(), name)


def write_response(answer: PreparedAnswer) -> Json:
    """Return the body of a response that is not streamed."""
    return _make_chunk(answer, list(_iter_parts(answer)), _make_usage(answer), finish=_get_finish_reason(answer))


def _make_chunk(
    answer: PreparedAnswer, parts: list[Json], usage: dict[str, Json], *, finish: str | None
) -> dict[str, Json]:
    content: dict[str, Json] = {"parts": parts, "role": "model"} if parts else {}
    reason = {"finishReason": finish} if finish is not None else {}
    return {
        "candidates": [{"content": content, **reason, "index": 0}],
        "usageMetadata": usage,
        "modelVersion": answer.request.model,
        "responseId": ID_PLACEHOLDER,
    }


def _iter_parts(answer: PreparedAnswer) -> Iterator[dict[str, Json]]:
    """Yield the parts. As the vendor does, leave out calls whose arguments are not an object."""
    if answer.plan.end_reason is EndReason.REFUSED:
        return
    if not answer.is_tool_call:
        yield from ({"text": text} for text in [answer.plan.text] if text)
        return
    for call in answer.split_calls():
        arguments = parse_arguments(call)
        if arguments is not None:
            yield {"functionCall": {"name": answer.request.tool, "args": arguments}}


def _get_finish_reason(answer: PreparedAnswer) -> str | None:
    is_complete = answer.is_tool_call and answer.plan.end_reason is EndReason.COMPLETE
    if is_complete and not list(_iter_parts(answer)):
        return "MALFORMED_FUNCTION_CALL"
    return answer.get_end_word(_FINISH_REASONS)


def _make_usage(answer: PreparedAnswer) -> dict[str, Json]:
    usage = answer.usage
    thinking: dict[str, Json] = {"thoughtsTokenCount": usage.thinking} if usage.thinking else {}
    cached: dict[str, Json] = {"cachedContentTokenCount": usage.cache_read} if usage.cache_read else {}
    return {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.thinking,  # thinking is counted apart
        "totalTokenCount": usage.input + usage.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
        **thinking,
        **cached,
    }


def write_stream(answer: PreparedAnswer) -> Iterator[SentEvent]:
    """Yield server-sent events, or the elements of a JSON array if the request did not ask for events."""
    if SSE_QUERY in answer.request.path:
        yield from _iter_events(answer)
        return
    separator = "["
    for event in _iter_events(answer):
        yield SentEvent(separator + event.data.decode().removeprefix("data: ").strip(), event.text_length)
        separator = ",\r\n"
    if not answer.is_interrupted:
        yield SentEvent("]")


def _iter_events(answer: PreparedAnswer) -> Iterator[SentEvent]:
    """Yield the events: the last chunk of text comes with the finish reason."""
    usage: dict[str, Json] = {"promptTokenCount": answer.usage.input, "totalTokenCount": answer.usage.input}
    chunks: list[tuple[list[Json], int]] = []
    if answer.is_tool_call:  # the vendor does not split calls
        chunks = [(list(_iter_parts(answer)), len(answer.plan.text))]
    elif answer.plan.end_reason is not EndReason.REFUSED:
        chunks = [([{"text": chunk}], len(chunk)) for chunk in answer.iter_chunks(answer.plan.text)]
    is_complete = not answer.is_interrupted
    for parts, length in chunks[:-1] if is_complete else chunks:
        yield SentEvent(format_event(_make_chunk(answer, parts, usage, finish=None)), length)
    if answer.plan.error:
        yield SentEvent(format_event(_make_error_body(answer, answer.plan.error)))
    elif is_complete:
        parts, length = chunks[-1] if chunks else ([], 0)
        last = _make_chunk(answer, parts, _make_usage(answer), finish=_get_finish_reason(answer))
        yield SentEvent(format_event(last), length)


def _make_error_body(answer: PreparedAnswer, error: PlannedError) -> Json:
    """Return the error. A block is an answer instead, with the usage so far."""
    body = write_error(error, answer.request).body
    return (
        {**as_mapping(body), "usageMetadata": _make_usage(answer)} if error.kind is ErrorKind.PROMPT_BLOCKED else body
    )


_INVALID_ARGUMENT = "INVALID_ARGUMENT"
_TYPE_PREFIX = "type.googleapis.com/google.rpc"
_ERROR_CODES: Mapping[ErrorKind, tuple[int, str]] = {
    ErrorKind.BAD_REQUEST: (400, _INVALID_ARGUMENT),
    ErrorKind.BAD_SCHEMA: (400, _INVALID_ARGUMENT),
    ErrorKind.UNAUTHORIZED: (400, _INVALID_ARGUMENT),  # an invalid key is an invalid argument at Google
    ErrorKind.FORBIDDEN: (403, "PERMISSION_DENIED"),
    ErrorKind.NOT_FOUND: (404, "NOT_FOUND"),
    ErrorKind.NO_MODEL: (404, "NOT_FOUND"),
    ErrorKind.RATE_LIMITED: (429, "RESOURCE_EXHAUSTED"),
    ErrorKind.OVERLOADED: (503, "UNAVAILABLE"),
    ErrorKind.QUOTA: (429, "RESOURCE_EXHAUSTED"),
    ErrorKind.OVERFLOWED: (400, _INVALID_ARGUMENT),
    ErrorKind.SERVER: (500, "INTERNAL"),
}
"""Code and status."""
_ERROR_MESSAGES: Mapping[ErrorKind, str] = {
    ErrorKind.BAD_REQUEST: "Invalid JSON payload received.",
    ErrorKind.BAD_SCHEMA: "Request contains an invalid response_json_schema.",
    ErrorKind.UNAUTHORIZED: "API key not valid. Please pass a valid API key.",
    ErrorKind.FORBIDDEN: (
        "Requests to this API generativelanguage.googleapis.com method "
        "google.ai.generativelanguage.v1beta.GenerativeService.{method} are blocked."
    ),
    ErrorKind.NOT_FOUND: "Requested entity was not found.",
    ErrorKind.NO_MODEL: "models/{model} is not found for API version v1, or is not supported for generateContent.",
    ErrorKind.RATE_LIMITED: "Resource has been exhausted (e.g. check quota). Please retry in {wait}.",
    ErrorKind.OVERLOADED: "The model is overloaded. Please try again later.",
    ErrorKind.QUOTA: "You exceeded your current quota, please check your plan and billing details.",
    ErrorKind.OVERFLOWED: "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit}).",
    ErrorKind.SERVER: "An internal error has occurred. Please retry.",
}
_ERROR_REASONS = {ErrorKind.UNAUTHORIZED: "API_KEY_INVALID", ErrorKind.FORBIDDEN: "API_KEY_SERVICE_BLOCKED"}


def write_error(planned_error: PlannedError, request: ReceivedRequest) -> ErrorResponse:
    """Return the error response. A blocked prompt is an answer without candidates instead."""
    headers = make_retry_headers(planned_error.retry_after)
    if planned_error.kind is ErrorKind.PROMPT_BLOCKED:
        return ErrorResponse(200, _make_blocked_body(request), headers)
    status, kind = _ERROR_CODES[planned_error.kind]
    seconds = get_retry_seconds(planned_error.retry_after)
    limit = load_limits(PROFILE, request.model).longest_prompt
    message = planned_error.message or _ERROR_MESSAGES[planned_error.kind].format(
        model=request.model,
        wait=f"{seconds:g}s",
        limit=limit,
        tokens=max(request.input_tokens, limit + 1),
        method="StreamGenerateContent" if request.streamed else "GenerateContent",
    )
    code = planned_error.status or status
    error: dict[str, Json] = {"code": code, "message": message, "status": kind}
    if planned_error.kind in _ERROR_REASONS:
        error["details"] = [
            {
                "@type": f"{_TYPE_PREFIX}.ErrorInfo",
                "reason": _ERROR_REASONS[planned_error.kind],
                "domain": "googleapis.com",
            }
        ]
    if planned_error.kind is ErrorKind.RATE_LIMITED:
        error["details"] = [{"@type": f"{_TYPE_PREFIX}.RetryInfo", "retryDelay": f"{seconds:g}s"}]
    return ErrorResponse(code, {"error": error}, headers)


def _make_blocked_body(request: ReceivedRequest) -> dict[str, Json]:
    return {
        "promptFeedback": {"blockReason": "SAFETY"},
        "usageMetadata": {"promptTokenCount": request.input_tokens, "totalTokenCount": request.input_tokens},
        "modelVersion": request.model,
        "responseId": ID_PLACEHOLDER,
    }


def describe_violation(schema: RequestSchema, violation: SchemaViolation) -> str:
    """Return Google's message about a schema that breaks a rule."""
    path = schema.path + violation.pointer.replace("/", ".")
    if violation.rule == "keyword_not_supported":
        return f"Invalid JSON payload received. Unknown name \"{violation.detail}\" at '{path}': Cannot find field."
    if violation.rule == "ref_undefined":
        return f"reference to undefined schema at {path}"
    return f"* GenerateContentRequest.{path}: {violation.rule.replace('_', ' ')} {violation.detail}".rstrip()
