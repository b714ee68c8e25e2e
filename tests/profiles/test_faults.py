"""The fault tables: what an error means, from what the vendors really sent."""

from __future__ import annotations

import pytest

from emitter import profiles as profile
from emitter.messages import FaultKind, StopReason

ERRORS = [
    # ------------------------------------------------------------------------------------------- context
    ("openai", (400, "context_length_exceeded", "invalid_request_error", "Your input exceeds"), "overflowed"),
    ("openai", (400, "", "", "This model's maximum context length is 8192 tokens. However"), "overflowed"),
    (
        "anthropic",
        (400, "", "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
        "overflowed",
    ),
    (
        "anthropic",
        (
            400,
            "",
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
        ),
        "overflowed",
    ),
    ("anthropic", (400, "", "", "Input is too long for requested model."), "overflowed"),
    (
        "google",
        (
            400,
            "400",
            "INVALID_ARGUMENT",
            "The input token count (1250060) exceeds the maximum number of tokens allowed (1048576).",
        ),
        "overflowed",
    ),
    (
        "vllm",
        (400, "400", "BadRequestError", "This model's maximum context length is 4096 tokens."),
        "overflowed",
    ),
    ("llama-cpp", (400, "400", "exceed_context_size_error", "request (9 tokens) exceeds"), "overflowed"),
    ("llama-cpp", (500, "500", "server_error", "Context size has been exceeded."), "overflowed"),
    ("ollama", (400, "", "", "prompt too long; exceeded max context length by 3 tokens"), "overflowed"),
    # ------------------------------------------------------------------------------------------ refusals
    ("openai", (400, "content_policy_violation", "", ""), "refused"),
    (
        "openai",
        (400, "invalid_prompt", "", "Your prompt was flagged as violating our usage policy."),
        "refused",
    ),
    ("openai", (None, "bio_policy", "", ""), "refused"),
    ("azure-openai", (400, "content_filter", "", ""), "refused"),
    ("azure-openai", (200, "", "400", "the prompt triggering Azure Content management policy."), "refused"),
    (
        "anthropic",
        (400, "", "invalid_request_error", "Output blocked by content filtering policy"),
        "refused",
    ),
    ("google", (400, "400", "INVALID_ARGUMENT", "violate Google's Responsible AI practices."), "refused"),
    ("openrouter", (403, "403", "", "Your input was flagged by moderation"), "refused"),
    ("openrouter", (200, "403", "", "Your input was flagged by moderation"), "refused"),
    # -------------------------------------------------------------------------------------------- schemas
    ("openai", (400, "invalid_json_schema", "invalid_request_error", ""), "schema_rejected"),
    ("openai", (400, "invalid_function_parameters", "", ""), "schema_rejected"),
    (
        "openai",
        (400, "", "invalid_request_error", "Invalid schema for response_format 'a': In"),
        "schema_rejected",
    ),
    ("azure-openai", (400, "", "", "Invalid schema for function 'a': In context=()"), "schema_rejected"),
    ("anthropic", (400, "", "", "Schema is too complex for compilation. Try"), "schema_rejected"),
    (
        "anthropic",
        (400, "", "", "Schemas contains too many optional parameters (25), which"),
        "schema_rejected",
    ),
    (
        "anthropic",
        (400, "", "", "Schemas contains too many parameters with union types (17"),
        "schema_rejected",
    ),
    ("anthropic", (400, "", "", "The compiled grammar is too large, which would"), "schema_rejected"),
    (
        "anthropic",
        (
            400,
            "",
            "invalid_request_error",
            "tools.0.custom: For 'object' type, property 'properties' is not supported",
        ),
        "schema_rejected",
    ),
    (
        "anthropic",
        (
            400,
            "",
            "invalid_request_error",
            "output_config.format.schema: For 'integer' type, property 'minimum' is not supported",
        ),
        "schema_rejected",
    ),
    (
        "google",
        (
            400,
            "400",
            "INVALID_ARGUMENT",
            "The specified schema produces a constraint that has too many states for serving.",
        ),
        "schema_rejected",
    ),
    (
        "google",
        (400, "400", "INVALID_ARGUMENT", "Unknown name at 'generation_config.response_schema'"),
        "schema_rejected",
    ),
    ("llama-cpp", (400, "400", "invalid_request_error", "Failed to parse grammar"), "schema_rejected"),
    # ---------------------------------------------------------------------------------------------- money
    ("openai", (429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota"), "quota"),
    ("openai", (None, "insufficient_quota", "", ""), "quota"),
    ("anthropic", (429, "enforced_spend_limit_reached", "rate_limit_error", ""), "quota"),
    ("anthropic", (403, "", "billing_error", ""), "quota"),
    (
        "anthropic",
        (400, "", "invalid_request_error", "Your credit balance is too low to access the"),
        "quota",
    ),
    ("google", (429, "429", "RESOURCE_EXHAUSTED", "please check your plan and billing details."), "quota"),
    ("google", (429, "429", "RESOURCE_EXHAUSTED", "limit: 0, model: a\nPlease retry in 8.5s."), "quota"),
    ("deepseek", (402, "", "", "Insufficient Balance"), "quota"),
    ("openrouter", (200, "402", "", ""), "quota"),
    # ------------------------------------------------------------------------------------- limits and load
    (
        "openai",
        (429, "rate_limit_exceeded", "requests", "Rate limit reached for gpt-6-luna in"),
        "rate_limit",
    ),
    ("openai", (429, "rate_limit_exceeded", "tokens", "Request too large for gpt-6-luna in"), "too_large"),
    ("azure-openai", (429, "RateLimitReached", "", ""), "rate_limit"),
    (
        "anthropic",
        (429, "", "rate_limit_error", "This request would exceed the rate limit for"),
        "rate_limit",
    ),
    (
        "google",
        (
            429,
            "429",
            "RESOURCE_EXHAUSTED",
            "check your plan and billing details.\n* metric: a, limit: 1000000\nPlease retry in 48.939s.",
        ),
        "rate_limit",
    ),
    (
        "google",
        (429, "429", "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
        "rate_limit",
    ),
    ("google", (503, "503", "UNAVAILABLE", "The model is overloaded."), "overloaded"),
    ("anthropic", (529, "", "overloaded_error", "Overloaded"), "overloaded"),
    ("groq", (413, "rate_limit_exceeded", "tokens", "Request too large for model `a` in"), "too_large"),
    ("groq", (498, "", "", ""), "overloaded"),
    # -------------------- errors in a stream, without a status of their own
    ("anthropic", (200, "", "overloaded_error", "Overloaded"), "overloaded"),
    ("anthropic", (None, "", "rate_limit_error", ""), "rate_limit"),
    ("anthropic", (None, "", "api_error", ""), "server"),
    ("anthropic", (None, "", "timeout_error", ""), "timeout"),
    ("anthropic", (200, "", "invalid_request_error", ""), "bad_request"),
    ("openai", (200, "", "server_error", "The server had an error"), "server"),
    ("openai", (None, "rate_limit_exceeded", "", ""), "rate_limit"),
    ("openai", (200, "", "model_error", "The model produced invalid content."), "server"),
    ("openai", (200, "", "invalid_request_error", ""), "bad_request"),
    ("google", (None, "503", "UNAVAILABLE", ""), "overloaded"),
    ("google", (None, "500", "INTERNAL", ""), "server"),
    ("openrouter", (200, "502", "", ""), "server"),
    # --------------------------------------------------------------------------------------- the request
    (
        "openai",
        (401, "invalid_api_key", "invalid_request_error", "Incorrect API key provided"),
        "authentication",
    ),
    ("openai", (400, "model_not_found", "invalid_request_error", ""), "not_found"),
    ("openai", (404, "", "invalid_request_error", "Model not found gpt-5-chat-latest"), "not_found"),
    ("openai", (400, "unsupported_parameter", "invalid_request_error", ""), "bad_request"),
    ("openai", (400, "invalid_prompt", "", "Messages must not be empty."), "bad_request"),
    ("azure-openai", (401, "401", "", "Access denied due to invalid subscription key"), "authentication"),
    ("azure-openai", (404, "404", "", "Resource not found"), "not_found"),
    ("anthropic", (404, "", "not_found_error", "model: claude-nobody"), "not_found"),
    ("anthropic", (400, "", "invalid_request_error", "temperature: range: 0..1"), "bad_request"),
    ("anthropic", (400, "", "invalid_request_error", "too many total text bytes: 10 > 9"), "too_large"),
    ("google", (400, "400", "INVALID_ARGUMENT", "API key not valid. Please pass a valid"), "authentication"),
    (
        "google",
        (400, "400", "FAILED_PRECONDITION", "User location is not supported for the API use."),
        "permission",
    ),
    ("google", (400, "400", "INVALID_ARGUMENT", "Request contains an invalid argument."), "bad_request"),
    # -------------------- the model's own failure, reported as a request's error
    ("groq", (400, "json_validate_failed", "invalid_request_error", "Failed to generate JSON."), "complete"),
]
"""Profile, then status, code, type and message of the error, then what it means."""


@pytest.mark.parametrize(("name", "error", "means"), ERRORS)
def test_an_error_has_its_meaning(name: str, error: tuple[int | None, str, str, str], means: str) -> None:
    """What decides about another call is read from code, type and message before the bare status."""
    assert profile.load_profile(name).faults.lookup(*error).value == means


@pytest.mark.parametrize("name", profile.profile_names())
@pytest.mark.parametrize(
    ("status", "means"),
    [
        (302, FaultKind.BAD_REQUEST),
        (400, FaultKind.BAD_REQUEST),
        (401, FaultKind.AUTHENTICATION),
        (402, FaultKind.QUOTA),
        (403, FaultKind.PERMISSION),
        (404, FaultKind.NOT_FOUND),
        (408, FaultKind.TIMEOUT),
        (409, FaultKind.SERVER),
        (413, FaultKind.TOO_LARGE),
        (418, FaultKind.BAD_REQUEST),
        (422, FaultKind.BAD_REQUEST),
        (429, FaultKind.RATE_LIMIT),
        (499, FaultKind.CONNECTION),
        (500, FaultKind.SERVER),
        (501, FaultKind.BAD_REQUEST),
        (503, FaultKind.OVERLOADED),
        (504, FaultKind.TIMEOUT),
        (520, FaultKind.SERVER),
        (529, FaultKind.OVERLOADED),
    ],
)
def test_a_bare_status_means_the_same_everywhere(name: str, status: int, means: FaultKind) -> None:
    """A proxy's page instead of the vendor's error body is still told apart by HTTP itself."""
    assert profile.load_profile(name).faults.lookup(status, "", "", "<html>") is means


@pytest.mark.parametrize("name", profile.profile_names())
def test_what_cannot_pass_is_never_asked_again(name: str) -> None:
    """Refusals and overflows are no transient faults, whatever status they came with."""
    means = {rule.means for rule in profile.load_profile(name).faults.rules}
    assert {StopReason.REFUSED, StopReason.OVERFLOWED} <= means
    assert not FaultKind.QUOTA.is_transient
    assert not FaultKind.SCHEMA_REJECTED.is_transient
