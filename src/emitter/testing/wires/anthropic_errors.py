"""Anthropic's errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.testing.draft import Trouble
from emitter.testing.wires.reading import kind_at, limits
from emitter.testing.wires.waiting import waiting
from emitter.testing.wires.writing import MARK, Denial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.testing.asked import Asked
    from emitter.testing.draft import Failure
    from emitter.testing.rules.reading import Breach
    from emitter.testing.wires.reading import Surface

_INVALID = "invalid_request_error"

_ERRORS: Mapping[Trouble, tuple[int, str, str]] = {
    Trouble.BAD_REQUEST: (400, _INVALID, "The request body is not valid JSON"),
    Trouble.BAD_SCHEMA: (400, _INVALID, "output_config.format.schema: Invalid schema"),
    Trouble.UNAUTHORIZED: (401, "authentication_error", "invalid x-api-key"),
    Trouble.FORBIDDEN: (
        403,
        "permission_error",
        "Your API key does not have permission to use the specified resource.",
    ),
    Trouble.NOT_FOUND: (404, "not_found_error", "Not Found"),
    Trouble.NO_MODEL: (404, "not_found_error", "model: {model}"),
    Trouble.RATE_LIMITED: (429, "rate_limit_error", "This request would exceed the rate limit for your organization."),
    Trouble.OVERLOADED: (529, "overloaded_error", "Overloaded"),
    Trouble.QUOTA: (400, _INVALID, "Your credit balance is too low to access the Anthropic API."),
    Trouble.OVERFLOWED: (400, _INVALID, "prompt is too long: {tokens} tokens > {most} maximum"),
    Trouble.PROMPT_BLOCKED: (400, _INVALID, "Output blocked by content filtering policy"),
    Trouble.SERVER: (500, "api_error", "Internal server error"),
}
_SAID = {
    "empty_schema": "Empty schema ({{}}) that accepts any JSON value is not supported.",
    "type_missing": "Invalid schema: Schema type is missing",
    "object_must_be_closed": (
        "For 'object' type, 'additionalProperties: true' is not supported. Please set 'additionalProperties' to false"
    ),
    "keyword_not_supported": "For '{type}' type, property '{told}' is not supported",
    "keyword_of_another_type": "For '{type}' type, property '{told}' is not supported",
    "tool_root_must_be_an_object": "input_schema.type: Input should be 'object'",
    "tool_root_must_not_be_a_union": "input_schema does not support oneOf, allOf, or anyOf at the top level",
    "tool_property_key": "input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'",
}
_WHOLE = {
    "max_unions": "Schemas contains too many parameters with union types ({told} parameters with unions).",
    "max_optional_properties": "Schemas contains too many optional parameters ({told}).",
    "max_optional_of_one_object": "Schema is too complex for compilation. Try simplifying tool schemas.",
}


def denial(failure: Failure, asked: Asked) -> Denial:
    """Return the error response."""
    status, kind, message = _ERRORS[failure.trouble]
    if failure.trouble is Trouble.OVERFLOWED:
        most = limits("anthropic", asked.model).context
        message = message.format(tokens=max(asked.input_tokens, most + 1), most=most)
    told = failure.message or message.replace("{model}", asked.model)
    ident = f"req_{MARK}"
    body = {"type": "error", "error": {"type": kind, "message": told}, "request_id": ident}
    return Denial(failure.status or status, body, {"request-id": ident, **waiting(failure.retry_after)})


def complaint(surface: Surface, breach: Breach) -> str:
    """Return what the vendor says of a schema."""
    if breach.rule in _WHOLE:
        return _WHOLE[breach.rule].format(told=breach.told)
    form = _SAID.get(breach.rule, "Invalid schema: {rule} {told}")
    kind = kind_at(surface.schema, breach.pointer)
    said = form.format(told=breach.told, type=kind, rule=breach.rule.replace("_", " ")).rstrip()
    return f"{surface.at}{'.' if said.startswith('input_schema') else ': '}{said}"
