"""OpenAI Chat Completions as a server: parse requests and write responses, streams and errors.

Azure and compatible servers use this API too. OpenAI Responses has the same error format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.messages import as_list, as_mapping
from emitter.profiles.model import WireFormat
from emitter.testing.plans import EndReason, ErrorKind, PlannedError, ReceivedRequest
from emitter.testing.wires.common import (
    CREATED_AT,
    ID_PLACEHOLDER,
    ErrorResponse,
    RequestSchema,
    SentEvent,
    count_input_tokens,
    dump_compact,
    format_event,
    get_retry_seconds,
    make_missing_error,
    make_retry_headers,
    parse_budget,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.messages import Json
    from emitter.testing.schema_rules import SchemaViolation
    from emitter.testing.wires.common import PreparedAnswer

PROFILE: str = "openai"
PATH_SUFFIXES: tuple[str, ...] = ("/chat/completions",)
MAX_BUDGET_MESSAGE: str = "max_tokens is too large: {budget}. This model supports at most {limit} completion tokens."
_BUDGET_PARAMETERS = ("max_completion_tokens", "max_tokens")
_FINISH_REASONS = {
    EndReason.COMPLETE: "stop",
    EndReason.REFUSED: "stop",
    EndReason.TRUNCATED: "length",
    EndReason.FILTERED: "content_filter",
    EndReason.PAUSED: None,
    EndReason.MISSING: None,
}
_CHOICE_FIELDS = {"index": 0, "logprobs": None}


def parse_request(path: str, body: Mapping[str, Json]) -> ReceivedRequest | PlannedError:
    """Parse a request, or return the error that it causes."""
    error = _find_error(body)
    if error:
        return error
    format_, tool = as_mapping(body.get("response_format")), _get_forced_function(body)
    json_schema = as_mapping(format_.get("json_schema"))
    schema = tool.get("parameters") if tool else json_schema.get("schema")
    if schema is None and format_.get("type") == "json_object":
        schema = {"type": "object"}
    options = as_mapping(body.get("stream_options"))
    return ReceivedRequest(
        wire=WireFormat.OPENAI_CHAT,
        path=path,
        model=str(body["model"]),
        body=body,
        streamed=body.get("stream") is True,
        schema=schema,
        tool=tool.get("name") if tool else None,
        budget=_get_budget(body)[1],
        input_tokens=count_input_tokens(
            as_list(body["messages"]), [json_schema.get("schema"), *as_list(body.get("tools"))]
        ),
        include_usage=options.get("include_usage") is True,
        is_azure=AZURE_QUERY in path,
    )


def _get_budget(body: Mapping[str, Json]) -> tuple[str, int | None]:
    return next(
        ((name, budget) for name in _BUDGET_PARAMETERS if (budget := parse_budget(body.get(name))) is not None),
        ("", None),
    )


def _find_error(body: Mapping[str, Json]) -> PlannedError | None:
    for name in ("model", "messages"):
        if not body.get(name):
            return make_missing_error(name, f"Missing required parameter: '{name}'.")
    format_ = as_mapping(body.get("response_format"))
    if format_.get("type") == "json_schema" and not as_mapping(format_.get("json_schema")).get("name"):
        name = "response_format.json_schema.name"
        return make_missing_error(name, f"Missing required parameter: '{name}'.")
    return check_min_budget(*_get_budget(body), 1)


def _get_forced_function(body: Mapping[str, Json]) -> Mapping[str, Any] | None:
    functions = [as_mapping(as_mapping(tool).get("function")) for tool in as_list(body.get("tools"))]
    choice = body.get("tool_choice")
    name = as_mapping(as_mapping(choice).get("function")).get("name")
    matching = [function for function in functions if choice == "required" or (name and function.get("name") == name)]
    return matching[0] if matching else None


def iter_schemas(request: ReceivedRequest) -> Iterator[RequestSchema]:
    """Yield the strict schemas of a request."""
    dialect = "azure-openai" if request.is_azure else "openai"
    json_schema = as_mapping(as_mapping(request.body.get("response_format")).get("json_schema"))
    if json_schema.get("strict"):
        yield RequestSchema(json_schema.get("schema"), dialect, str(json_schema["name"]), "response_format")
    for index, tool in enumerate(as_list(request.body.get("tools"))):
        function = as_mapping(as_mapping(tool).get("function"))
        if function.get("strict"):
            path = f"tools[{index}].function.parameters"
            yield RequestSchema(function.get("parameters"), dialect, str(function.get("name")), path, is_tool=True)


def write_response(answer: PreparedAnswer) -> Json:
    """Return the body of a response that is not streamed."""
    choice = {
        **_CHOICE_FIELDS,
        "message": {"role": "assistant", **_make_message(answer)},
        "finish_reason": _get_finish_reason(answer),
    }
    return {**_make_response_fields(answer, "chat.completion"), "choices": [choice], "usage": _make_usage(answer)}


def _make_response_fields(answer: PreparedAnswer, kind: str) -> dict[str, Json]:
    return {
        "id": f"chatcmpl-{ID_PLACEHOLDER}",
        "object": kind,
        "created": CREATED_AT,
        "model": answer.request.model,
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
    }


def _make_message(answer: PreparedAnswer) -> dict[str, Json]:
    text = answer.plan.text
    if answer.plan.end_reason is EndReason.REFUSED:
        return {"content": None, "refusal": text}
    if answer.is_tool_call:
        calls = [_make_tool_call(answer, index, arguments) for index, arguments in enumerate(answer.split_calls())]
        return {"content": None, "refusal": None, "tool_calls": calls}
    return {"content": None if answer.plan.end_reason is EndReason.FILTERED and not text else text, "refusal": None}


def _make_tool_call(answer: PreparedAnswer, index: int, arguments: str) -> dict[str, Json]:
    function = {"name": answer.request.tool, "arguments": arguments}
    return {"id": f"call_{ID_PLACEHOLDER}{index}", "type": "function", "function": function}


def _get_finish_reason(answer: PreparedAnswer) -> str | None:
    # A function forced by name ends with "stop", one forced by "required" with "tool_calls".
    is_required = answer.is_tool_call and answer.request.body.get("tool_choice") == "required"
    if is_required and answer.plan.end_reason is EndReason.COMPLETE:
        return "tool_calls"
    return answer.get_end_word(_FINISH_REASONS)


def _make_usage(answer: PreparedAnswer) -> dict[str, Json]:
    usage = answer.usage
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.thinking, "audio_tokens": 0},
    }


def write_stream(answer: PreparedAnswer) -> Iterator[SentEvent]:
    """Yield the events of a streamed response."""
    common = _make_response_fields(answer, "chat.completion.chunk")
    usage: dict[str, Json] = {"usage": None} if answer.request.include_usage else {}

    def chunk(delta: dict[str, Json], finish_reason: str | None = None) -> str:
        return format_event(
            {**common, "choices": [{**_CHOICE_FIELDS, "delta": delta, "finish_reason": finish_reason}], **usage}
        )

    yield SentEvent(chunk({"role": "assistant", "content": None if answer.is_tool_call else "", "refusal": None}))
    yield from _iter_deltas(answer, chunk)
    if answer.plan.error:
        yield SentEvent(format_event(write_error(answer.plan.error, answer.request).body))
    elif answer.plan.end_reason is not EndReason.MISSING:
        yield SentEvent(chunk({}, _get_finish_reason(answer)))
        # The usage is a chunk without choices after the last one, and only on request.
        if answer.request.include_usage:
            yield SentEvent(format_event({**common, "choices": [], "usage": _make_usage(answer)}))
        yield SentEvent("data: [DONE]\n\n")


def _iter_deltas(answer: PreparedAnswer, chunk: Any) -> Iterator[SentEvent]:
    if answer.is_tool_call:
        for index, arguments in enumerate(answer.split_calls()):
            yield SentEvent(chunk({"tool_calls": [{"index": index, **_make_tool_call(answer, index, "")}]}))
            template = chunk({"tool_calls": [{"index": index, "function": {"arguments": ID_PLACEHOLDER}}]})
            yield from _fill_template(template, answer.iter_chunks(arguments))
    else:
        key = "refusal" if answer.plan.end_reason is EndReason.REFUSED else "content"
        yield from _fill_template(chunk({key: ID_PLACEHOLDER}), answer.iter_chunks(answer.plan.text))


def _fill_template(template: str, chunks: Iterator[str]) -> Iterator[SentEvent]:
    """Yield the same event for each chunk. String formatting is faster than ``json`` for thousands of chunks."""
    before, _, after = template.rpartition(f'"{ID_PLACEHOLDER}"')
    for chunk in chunks:
        yield SentEvent(f"{before}{dump_compact(chunk)}{after}", len(chunk))


_INVALID_REQUEST = "invalid_request_error"
_ERROR_MESSAGES: Mapping[ErrorKind, str] = {
    ErrorKind.BAD_REQUEST: "We could not parse the JSON body of your request.",
    ErrorKind.BAD_SCHEMA: "Invalid schema for response_format.",
    ErrorKind.UNAUTHORIZED: "Incorrect API key provided.",
    ErrorKind.FORBIDDEN: "Country, region, or territory not supported",
    ErrorKind.NOT_FOUND: "Invalid URL",
    ErrorKind.NO_MODEL: "The model `{model}` does not exist or you do not have access to it.",
    ErrorKind.RATE_LIMITED: "Rate limit reached for {model} on requests per min (RPM).{wait}",
    ErrorKind.OVERLOADED: "The engine is currently overloaded, please try again later.",
    ErrorKind.QUOTA: "You exceeded your current quota, please check your plan and billing details.",
    ErrorKind.OVERFLOWED: (
        "Your input exceeds the context window of this model. Please adjust your input and try again."
    ),
    ErrorKind.PROMPT_BLOCKED: "Your prompt was flagged as potentially violating our usage policy.",
    ErrorKind.SERVER: "The server had an error while processing your request. Sorry about that!",
}
_ERROR_CODES: Mapping[ErrorKind, tuple[int, str, str | None]] = {
    ErrorKind.BAD_REQUEST: (400, _INVALID_REQUEST, None),
    ErrorKind.BAD_SCHEMA: (400, _INVALID_REQUEST, "invalid_json_schema"),
    ErrorKind.UNAUTHORIZED: (401, _INVALID_REQUEST, "invalid_api_key"),
    ErrorKind.FORBIDDEN: (403, "request_forbidden", "unsupported_country_region_territory"),
    ErrorKind.NOT_FOUND: (404, _INVALID_REQUEST, None),
    ErrorKind.NO_MODEL: (404, _INVALID_REQUEST, "model_not_found"),
    ErrorKind.RATE_LIMITED: (429, "requests", "rate_limit_exceeded"),
    ErrorKind.OVERLOADED: (503, "server_error", None),
    ErrorKind.QUOTA: (429, "insufficient_quota", "insufficient_quota"),
    ErrorKind.OVERFLOWED: (400, _INVALID_REQUEST, "context_length_exceeded"),
    ErrorKind.PROMPT_BLOCKED: (400, _INVALID_REQUEST, "invalid_prompt"),
    ErrorKind.SERVER: (500, "server_error", "server_error"),
}
"""Status, type and code."""
_AZURE_ERRORS: Mapping[ErrorKind, Mapping[str, Json]] = {
    # The gateway in front of Azure has its own errors, whose codes are HTTP statuses as strings.
    ErrorKind.UNAUTHORIZED: {"code": "401", "message": "Access denied due to invalid subscription key."},
    ErrorKind.FORBIDDEN: {"code": "403", "message": "Access denied due to Virtual Network/Firewall rules."},
    ErrorKind.NOT_FOUND: {"code": "404", "message": "Resource not found"},
    ErrorKind.NO_MODEL: {
        "code": "DeploymentNotFound",
        "message": "The API deployment for this resource does not exist.",
    },
    ErrorKind.PROMPT_BLOCKED: {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"violence": {"filtered": True, "severity": "high"}},
        },
    },
}
_SCHEMA_MESSAGES = {
    "object_must_be_closed": "'additionalProperties' is required to be supplied and to be false.",
    "all_properties_required": (
        "'required' is required to be supplied and to be an array including every key in properties. "
        "Missing '{detail}'."
    ),
    "keyword_not_supported": "'{detail}' is not permitted.",
    "keyword_beside_ref": "$ref cannot have keywords {{'{detail}'}}.",
    "type_missing": "schema must have a 'type' key.",
    "array_needs_items": "array schema missing items.",
    "object_needs_properties": "object schema missing properties.",
    "format_not_supported": "'{detail}' is not a valid format.",
    "ref_undefined": "reference to component '{detail}' which was not found in the schema.",
}
AZURE_QUERY = "api-version="
"""The query parameter that only Azure URLs have."""


def check_min_budget(param: str, budget: int | None, minimum: int) -> PlannedError | None:
    """Return the error of a budget below the minimum."""
    if budget is None or budget >= minimum:
        return None
    message = (
        f"Invalid '{param}': integer below minimum value. Expected a value >= {minimum}, but got {budget} instead."
    )
    return PlannedError(ErrorKind.BAD_REQUEST, message, param=param, code="integer_below_min_value")


def write_error(planned_error: PlannedError, request: ReceivedRequest) -> ErrorResponse:
    """Return the error response."""
    status, kind, code = _ERROR_CODES[planned_error.kind]
    is_stated = planned_error.retry_after is not None  # a wait that is stated in words is waited for, too
    wait = f" Please try again in {get_retry_seconds(planned_error.retry_after):g}s." if is_stated else ""
    error = {
        "message": planned_error.message or _ERROR_MESSAGES[planned_error.kind].format(model=request.model, wait=wait),
        "type": kind,
        "param": planned_error.param,
        "code": planned_error.code or code,
    }
    if request.is_azure and planned_error.kind in _AZURE_ERRORS:
        error = {**_AZURE_ERRORS[planned_error.kind]}
    headers = {"x-request-id": f"req_{ID_PLACEHOLDER}", **make_retry_headers(planned_error.retry_after)}
    return ErrorResponse(planned_error.status or status, {"error": error}, headers)


def describe_violation(schema: RequestSchema, violation: SchemaViolation) -> str:
    """Return OpenAI's message about a schema that breaks a rule."""
    subject = f"function '{schema.name}'" if schema.is_tool else f"response_format '{schema.name}'"
    if violation.rule == "root_must_be_an_object":
        kind = as_mapping(schema.schema).get("type")
        return (
            f"Invalid schema for {subject}: schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
        )
    message = _SCHEMA_MESSAGES.get(violation.rule, f"{violation.rule.replace('_', ' ')} ({{detail}}).").format(
        detail=violation.detail
    )
    path = ", ".join(f"'{step}'" for step in violation.pointer.split("/")[1:])
    comma = "," if violation.pointer.count("/") == 1 else ""
    return f"Invalid schema for {subject}: In context=({path}{comma}), {message}"
