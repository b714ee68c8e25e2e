"""Google's errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.testing.draft import Trouble
from emitter.testing.wires.reading import limits
from emitter.testing.wires.waiting import seconds, waiting
from emitter.testing.wires.writing import MARK, Denial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.testing.asked import Asked
    from emitter.testing.draft import Failure
    from emitter.testing.rules.reading import Breach
    from emitter.testing.wires.reading import Surface
    from emitter.wire import Json

_INVALID = "INVALID_ARGUMENT"
_TYPES = "type.googleapis.com/google.rpc"

_KINDS: Mapping[Trouble, tuple[int, str]] = {
    Trouble.BAD_REQUEST: (400, _INVALID),
    Trouble.BAD_SCHEMA: (400, _INVALID),
    Trouble.UNAUTHORIZED: (400, _INVALID),
    Trouble.FORBIDDEN: (403, "PERMISSION_DENIED"),
    Trouble.NOT_FOUND: (404, "NOT_FOUND"),
    Trouble.NO_MODEL: (404, "NOT_FOUND"),
    Trouble.RATE_LIMITED: (429, "RESOURCE_EXHAUSTED"),
    Trouble.OVERLOADED: (503, "UNAVAILABLE"),
    Trouble.QUOTA: (429, "RESOURCE_EXHAUSTED"),
    Trouble.OVERFLOWED: (400, _INVALID),
    Trouble.SERVER: (500, "INTERNAL"),
}
"""Code and status."""
_MESSAGES: Mapping[Trouble, str] = {
    Trouble.BAD_REQUEST: "Invalid JSON payload received.",
    Trouble.BAD_SCHEMA: "Request contains an invalid response_json_schema.",
    Trouble.UNAUTHORIZED: "API key not valid. Please pass a valid API key.",
    Trouble.FORBIDDEN: (
        "Requests to this API generativelanguage.googleapis.com method "
        "google.ai.generativelanguage.v1beta.GenerativeService.{method} are blocked."
    ),
    Trouble.NOT_FOUND: "Requested entity was not found.",
    Trouble.NO_MODEL: "models/{model} is not found for API version v1, or is not supported for generateContent.",
    Trouble.RATE_LIMITED: "Resource has been exhausted (e.g. check quota). Please retry in {wait}.",
    Trouble.OVERLOADED: "The model is overloaded. Please try again later.",
    Trouble.QUOTA: "You exceeded your current quota, please check your plan and billing details.",
    Trouble.OVERFLOWED: "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({most}).",
    Trouble.SERVER: "An internal error has occurred. Please retry.",
}
_REASONS = {Trouble.UNAUTHORIZED: "API_KEY_INVALID", Trouble.FORBIDDEN: "API_KEY_SERVICE_BLOCKED"}


def denial(failure: Failure, asked: Asked) -> Denial:
    """Return the error response; a blocked prompt is none: it is an answer without candidates."""
    headers = waiting(failure.retry_after)
    if failure.trouble is Trouble.PROMPT_BLOCKED:
        return Denial(200, _blocked(asked), headers)
    status, kind = _KINDS[failure.trouble]
    wait = seconds(failure.retry_after)
    most = limits("google", asked.model).context
    told = failure.message or _MESSAGES[failure.trouble].format(
        model=asked.model,
        wait=f"{wait:g}s",
        most=most,
        tokens=max(asked.input_tokens, most + 1),
        method="StreamGenerateContent" if asked.streamed else "GenerateContent",
    )
    code = failure.status or status
    error: dict[str, Json] = {"code": code, "message": told, "status": kind}
    if failure.trouble in _REASONS:
        error["details"] = [
            {"@type": f"{_TYPES}.ErrorInfo", "reason": _REASONS[failure.trouble], "domain": "googleapis.com"}
        ]
    if failure.trouble is Trouble.RATE_LIMITED:
        error["details"] = [{"@type": f"{_TYPES}.RetryInfo", "retryDelay": f"{wait:g}s"}]
    return Denial(code, {"error": error}, headers)


def _blocked(asked: Asked) -> dict[str, Json]:
    return {
        "promptFeedback": {"blockReason": "SAFETY"},
        "usageMetadata": {"promptTokenCount": asked.input_tokens, "totalTokenCount": asked.input_tokens},
        "modelVersion": asked.model,
        "responseId": MARK,
    }


def complaint(surface: Surface, breach: Breach) -> str:
    """Return what the vendor says of a schema."""
    path = surface.at + breach.pointer.replace("/", ".")
    if breach.rule == "keyword_not_supported":
        return f"Invalid JSON payload received. Unknown name \"{breach.told}\" at '{path}': Cannot find field."
    if breach.rule == "ref_undefined":
        return f"reference to undefined schema at {path}"
    return f"* GenerateContentRequest.{path}: {breach.rule.replace('_', ' ')} {breach.told}".rstrip()
