"""OpenAI's and Azure's errors, the same on both of their wires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.testing.draft import Failure, Trouble
from emitter.testing.wires.waiting import seconds, waiting
from emitter.testing.wires.writing import MARK, Denial
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.testing.asked import Asked
    from emitter.testing.rules.reading import Breach
    from emitter.testing.wires.reading import Surface
    from emitter.wire import Json

_INVALID = "invalid_request_error"

_MESSAGES: Mapping[Trouble, str] = {
    Trouble.BAD_REQUEST: "We could not parse the JSON body of your request.",
    Trouble.BAD_SCHEMA: "Invalid schema for response_format.",
    Trouble.UNAUTHORIZED: "Incorrect API key provided.",
    Trouble.FORBIDDEN: "Country, region, or territory not supported",
    Trouble.NOT_FOUND: "Invalid URL",
    Trouble.NO_MODEL: "The model `{model}` does not exist or you do not have access to it.",
    Trouble.RATE_LIMITED: "Rate limit reached for {model} on requests per min (RPM). Please try again in {wait}.",
    Trouble.OVERLOADED: "The engine is currently overloaded, please try again later.",
    Trouble.QUOTA: "You exceeded your current quota, please check your plan and billing details.",
    Trouble.OVERFLOWED: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    Trouble.PROMPT_BLOCKED: "Your prompt was flagged as potentially violating our usage policy.",
    Trouble.SERVER: "The server had an error while processing your request. Sorry about that!",
}
_KINDS: Mapping[Trouble, tuple[int, str, str | None]] = {
    Trouble.BAD_REQUEST: (400, _INVALID, None),
    Trouble.BAD_SCHEMA: (400, _INVALID, "invalid_json_schema"),
    Trouble.UNAUTHORIZED: (401, _INVALID, "invalid_api_key"),
    Trouble.FORBIDDEN: (403, "request_forbidden", "unsupported_country_region_territory"),
    Trouble.NOT_FOUND: (404, _INVALID, None),
    Trouble.NO_MODEL: (404, _INVALID, "model_not_found"),
    Trouble.RATE_LIMITED: (429, "requests", "rate_limit_exceeded"),
    Trouble.OVERLOADED: (503, "server_error", None),
    Trouble.QUOTA: (429, "insufficient_quota", "insufficient_quota"),
    Trouble.OVERFLOWED: (400, _INVALID, "context_length_exceeded"),
    Trouble.PROMPT_BLOCKED: (400, _INVALID, "invalid_prompt"),
    Trouble.SERVER: (500, "server_error", "server_error"),
}
"""Status, type and code."""
_AZURE: Mapping[Trouble, Mapping[str, Json]] = {
    Trouble.UNAUTHORIZED: {"code": "401", "message": "Access denied due to invalid subscription key."},
    Trouble.FORBIDDEN: {"code": "403", "message": "Access denied due to Virtual Network/Firewall rules."},
    Trouble.NOT_FOUND: {"code": "404", "message": "Resource not found"},
    Trouble.NO_MODEL: {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist."},
    Trouble.PROMPT_BLOCKED: {
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

_SAID = {
    "object_must_be_closed": "'additionalProperties' is required to be supplied and to be false.",
    "all_properties_required": (
        "'required' is required to be supplied and to be an array including every key in properties. Missing '{told}'."
    ),
    "keyword_not_supported": "'{told}' is not permitted.",
    "keyword_beside_ref": "$ref cannot have keywords {{'{told}'}}.",
    "type_missing": "schema must have a 'type' key.",
    "array_needs_items": "array schema missing items.",
    "object_needs_properties": "object schema missing properties.",
    "format_not_supported": "'{told}' is not a valid format.",
    "ref_undefined": "reference to component '{told}' which was not found in the schema.",
}


AZURE = "api-version="
"""What tells Azure's addresses from OpenAI's."""


def too_few(param: str, given: int | None, least: int) -> Failure | None:
    """Return the error of a budget below the least."""
    if given is None or given >= least:
        return None
    told = f"Invalid '{param}': integer below minimum value. Expected a value >= {least}, but got {given} instead."
    return Failure(Trouble.BAD_REQUEST, told, param=param, code="integer_below_min_value")


def denial(failure: Failure, asked: Asked) -> Denial:
    """Return the error response."""
    status, kind, code = _KINDS[failure.trouble]
    wait = seconds(failure.retry_after)
    error = {
        "message": failure.message or _MESSAGES[failure.trouble].format(model=asked.model, wait=f"{wait:g}s"),
        "type": kind,
        "param": failure.param,
        "code": failure.code or code,
    }
    if asked.azure and failure.trouble in _AZURE:
        error = {**_AZURE[failure.trouble]}
    headers = {"x-request-id": f"req_{MARK}", **waiting(failure.retry_after)}
    return Denial(failure.status or status, {"error": error}, headers)


def complaint(surface: Surface, breach: Breach) -> str:
    """Return what the vendor says of a schema."""
    subject = f"function '{surface.name}'" if surface.tool else f"response_format '{surface.name}'"
    if breach.rule == "root_must_be_an_object":
        kind = mapping(surface.schema).get("type")
        return (
            f"Invalid schema for {subject}: schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
        )
    said = _SAID.get(breach.rule, f"{breach.rule.replace('_', ' ')} ({{told}}).").format(told=breach.told)
    path = ", ".join(f"'{each}'" for each in breach.pointer.split("/")[1:])
    return f"Invalid schema for {subject}: In context=({path}{',' if breach.pointer.count('/') == 1 else ''}), {said}"
