"""Google's Interactions as a server: parse requests and write responses, streams and errors.

The shape of a refusal is our assumption, because none is recorded: a step with an error that names the policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.messages import as_list, as_mapping
from emitter.profiles.model import WireFormat
from emitter.testing.plans import EndReason, ErrorKind, PlannedError, ReceivedRequest
from emitter.testing.wires import google
from emitter.testing.wires.common import (
    ID_PLACEHOLDER,
    ErrorResponse,
    RequestSchema,
    SentEvent,
    count_input_tokens,
    format_named_event,
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
PATH_SUFFIXES: tuple[str, ...] = ("/interactions",)
MAX_BUDGET_MESSAGE: str = google.MAX_BUDGET_MESSAGE
_STATUSES = {
    EndReason.COMPLETE: "completed",
    EndReason.TRUNCATED: "incomplete",
    EndReason.REFUSED: "failed",
    EndReason.FILTERED: "failed",
    EndReason.PAUSED: "requires_continuation",
    EndReason.MISSING: None,
}
_BLOCKED = {"code": 3, "message": "The response was blocked by the Generative AI Prohibited Use Policy."}
_TIME = "2026-11-23T00:00:00Z"
_SIGNATURE = "c2lnbmF0dXJl"


def parse_request(path: str, body: Mapping[str, Json]) -> ReceivedRequest | PlannedError:
    """Parse a request, or return the error that it causes."""
    for name in ("model", "input"):
        if not body.get(name):
            return PlannedError(ErrorKind.BAD_REQUEST, f"'{name}' is required.")
    config, format_ = as_mapping(body.get("generation_config")), as_mapping(body.get("response_format"))
    budget, tool = parse_budget(config.get("max_output_tokens")), _get_forced_tool(body)
    if budget is not None and budget < 1:
        return PlannedError(ErrorKind.BAD_REQUEST, "max_output_tokens must be positive.")
    return ReceivedRequest(
        wire=WireFormat.GEMINI_INTERACTIONS,
        path=path,
        model=str(body["model"]),
        body=body,
        streamed=body.get("stream") is True,
        schema=tool.get("parameters") if tool else format_.get("schema"),
        tool=tool.get("name") if tool else None,
        budget=budget,
        input_tokens=count_input_tokens(
            as_list(body["input"]) or [body["input"]],
            [format_.get("schema"), *as_list(body.get("tools"))],
            system=body.get("system_instruction"),
        ),
    )


def _get_forced_tool(body: Mapping[str, Json]) -> Mapping[str, Any] | None:
    choice = as_mapping(body.get("generation_config")).get("tool_choice")
    allowed = as_mapping(as_mapping(choice).get("allowed_tools"))
    names = as_list(allowed.get("tools")) if allowed.get("mode") == "any" else []
    functions = [tool for tool in map(as_mapping, as_list(body.get("tools"))) if tool.get("type") == "function"]
    return next((tool for tool in functions if choice == "any" or tool.get("name") in names), None)


def iter_schemas(request: ReceivedRequest) -> Iterator[RequestSchema]:
    """Yield the schemas of a request."""
    format_ = as_mapping(request.body.get("response_format"))
    if "schema" in format_:
        yield RequestSchema(format_["schema"], "google", "", "response_format.schema")
    for index, tool in enumerate(map(as_mapping, as_list(request.body.get("tools")))):
        if "parameters" in tool:
            path = f"tools[{index}].parameters"
            yield RequestSchema(tool["parameters"], "google", str(tool.get("name")), path, is_tool=True)


def write_response(answer: PreparedAnswer) -> Json:
    """Return the body of a response that is not streamed."""
    return {**_make_interaction(answer), "usage": _make_usage(answer), "steps": list(_iter_steps(answer))}


def _make_interaction(answer: PreparedAnswer) -> dict[str, Json]:
    return {
        "id": f"v1_{ID_PLACEHOLDER}",
        "status": _get_status(answer),
        "created": _TIME,
        "updated": _TIME,
        "service_tier": "standard",
        "object": "interaction",
        "model": answer.request.model,
    }


def _get_status(answer: PreparedAnswer) -> str | None:
    if answer.is_tool_call and answer.plan.end_reason is EndReason.COMPLETE:
        return "requires_action"
    return answer.get_end_word(_STATUSES)


def _make_usage(answer: PreparedAnswer) -> dict[str, Json]:
    usage = answer.usage
    return {
        "total_tokens": usage.input + usage.output,
        "total_input_tokens": usage.input,
        "total_cached_tokens": usage.cache_read,
        "total_output_tokens": usage.output - usage.thinking,
        "total_tool_use_tokens": 0,
        "total_thought_tokens": usage.thinking,
    }


def _iter_steps(answer: PreparedAnswer) -> Iterator[dict[str, Json]]:
    if answer.plan.thinking_tokens:
        yield {"type": "thought", "signature": _SIGNATURE}
    if answer.is_tool_call:
        for index, arguments in enumerate(answer.split_calls()):
            yield {**_make_call(answer, index), "arguments": parse_arguments(arguments) or {}}
        return
    error = {"error": _BLOCKED} if _is_blocked(answer) else {}
    if answer.plan.text or error:
        yield {"type": "model_output", "content": [{"type": "text", "text": answer.plan.text}], **error}


def _is_blocked(answer: PreparedAnswer) -> bool:
    return answer.plan.end_reason in (EndReason.REFUSED, EndReason.FILTERED)


def _make_call(answer: PreparedAnswer, index: int) -> dict[str, Json]:
    return {"type": "function_call", "id": f"fc_{ID_PLACEHOLDER}{index}", "name": answer.request.tool, "arguments": {}}


def write_stream(answer: PreparedAnswer) -> Iterator[SentEvent]:
    """Yield the events of a streamed response."""
    yield _make_event("interaction.created", interaction={**_make_interaction(answer), "status": "in_progress"})
    yield from _iter_step_events(answer)
    if answer.plan.error:
        yield _make_event("error", **as_mapping(write_error(answer.plan.error, answer.request).body))
    elif answer.plan.end_reason is not EndReason.MISSING:
        interaction = {**_make_interaction(answer), "usage": _make_usage(answer)}
        yield _make_event("interaction.completed", interaction=interaction)
        yield SentEvent("event: done\ndata: [DONE]\n\n")


def _make_event(kind: str, *, text_length: int = 0, **payload: Json) -> SentEvent:
    return SentEvent(format_named_event(kind, {"event_type": kind, **payload}), text_length)


def _iter_step_events(answer: PreparedAnswer) -> Iterator[SentEvent]:
    index = 0
    if answer.plan.thinking_tokens:
        yield _make_event("step.start", index=0, step={"type": "thought"})
        yield _make_event("step.delta", index=0, delta={"type": "thought_signature", "signature": _SIGNATURE})
        yield _make_event("step.stop", index=0)
        index = 1
    if answer.is_tool_call:
        for number, arguments in enumerate(answer.split_calls()):
            yield _make_event("step.start", index=index + number, step=_make_call(answer, number))
            yield from _iter_deltas(answer, index + number, arguments)
    elif answer.plan.text or _is_blocked(answer):
        error = {"error": _BLOCKED} if _is_blocked(answer) else {}
        yield _make_event("step.start", index=index, step={"type": "model_output", **error})
        yield from _iter_deltas(answer, index, answer.plan.text)


def _iter_deltas(answer: PreparedAnswer, index: int, text: str) -> Iterator[SentEvent]:
    kind, key = ("arguments_delta", "arguments") if answer.is_tool_call else ("text", "text")
    for chunk in answer.iter_chunks(text):
        yield _make_event("step.delta", text_length=len(chunk), index=index, delta={"type": kind, key: chunk})
    if not answer.is_interrupted:
        yield _make_event("step.stop", index=index)


_INVALID = "invalid_request"
_ERRORS: Mapping[ErrorKind, tuple[int, str, str]] = {
    ErrorKind.BAD_REQUEST: (400, _INVALID, "The request body is not valid JSON."),
    ErrorKind.BAD_SCHEMA: (400, _INVALID, "response_format.schema: invalid schema"),
    # As at generateContent, an invalid key is an invalid request.
    ErrorKind.UNAUTHORIZED: (400, _INVALID, "API key not valid. Please pass a valid API key."),
    ErrorKind.FORBIDDEN: (403, "permission_denied", "The caller does not have permission."),
    ErrorKind.NOT_FOUND: (404, "not_found", "Requested entity was not found."),
    ErrorKind.NO_MODEL: (404, "not_found", "Model '{model}' was not found."),
    ErrorKind.RATE_LIMITED: (429, "too_many_requests", "Resource has been exhausted (e.g. check quota)."),
    ErrorKind.OVERLOADED: (503, "unavailable", "The model is overloaded. Please try again later."),
    ErrorKind.QUOTA: (
        429,
        "too_many_requests",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    ErrorKind.OVERFLOWED: (
        400,
        _INVALID,
        "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit}).",
    ),
    ErrorKind.PROMPT_BLOCKED: (400, _INVALID, "The prompt was blocked by the Generative AI Prohibited Use Policy."),
    ErrorKind.SERVER: (500, "internal", "An internal error has occurred. Please retry."),
}


def write_error(planned_error: PlannedError, request: ReceivedRequest) -> ErrorResponse:
    """Return the error response."""
    status, code, message = _ERRORS[planned_error.kind]
    limit = load_limits(PROFILE, request.model).context
    text = planned_error.message or message.format(
        model=request.model, limit=limit, tokens=max(request.input_tokens, limit + 1)
    )
    headers = make_retry_headers(planned_error.retry_after)
    return ErrorResponse(planned_error.status or status, {"error": {"message": text, "code": code}}, headers)


def describe_violation(schema: RequestSchema, violation: SchemaViolation) -> str:
    """Return Google's message about a schema that breaks a rule."""
    return google.describe_violation(schema, violation)
