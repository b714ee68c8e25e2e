"""What an error says beside its status: how long to wait, its own code, or that it is an answer after all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emitter.messages import FaultKind, ModelResponse, StopReason
from emitter.profiles import WireFormat
from tests.adapters.sending import Line, fault, request, saying, send

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")

WORLDS = pytest.mark.parametrize("world", ["sync", "async"])
WIRES = pytest.mark.parametrize("wire", WireFormat)

DATE, LATER = "Sat, 21 Nov 2026 04:00:00 GMT", "Sat, 21 Nov 2026 04:00:30 GMT"
WAITS = {
    "seconds": ({"retry_after": "5"}, 5.0),
    "fraction": ({"retry_after": "0.5"}, 0.5),
    "milliseconds": ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
    "date": ({"retry_after": LATER, "date": DATE}, 30.0),
    "date-passed": ({"retry_after": DATE, "date": LATER}, 0.0),
    "date-alone-passed": ({"retry_after": "Sat, 01 Jan 2000 00:00:00 GMT"}, 0.0),
    "date-beside-nonsense": ({"retry_after": "Sat, 01 Jan 2000 00:00:00 GMT", "date": "today"}, 0.0),
    "zone-unknown": ({"retry_after": "Sat, 21 Nov 2026 04:00:30 -0000", "date": DATE}, 30.0),
    "long": ({"retry_after": "9" * 5000}, None),
    "nonsense": ({"retry_after": "soon"}, None),
    "endless": ({"retry_after": "inf"}, None),
    "negative": ({"retry_after": "-5"}, None),
    "none": ({}, None),
}


@WORLDS
@WIRES
@pytest.mark.parametrize("name", WAITS)
def test_how_long_to_wait(wire: WireFormat, world: str, name: str) -> None:
    """What the vendor asks for is reported in seconds; a date counts from the response's own."""
    headers, seconds = WAITS[name]
    assert fault(wire, world, saying('{"error": {"message": "x"}}', 429, **headers)).retry_after == seconds


@WORLDS
@WIRES
def test_a_date_far_ahead_is_a_long_wait(wire: WireFormat, world: str) -> None:
    """A date counts from the moment the response came where the response has none of its own."""
    asked = "Fri, 31 Dec 9999 23:59:59 GMT"
    found = fault(wire, world, saying('{"error": {"message": "x"}}', 429, retry_after=asked)).retry_after
    assert found is not None
    assert found > 365 * 24 * 3600


@WORLDS
def test_how_long_google_asks_to_wait(world: str) -> None:
    """Google tells it in the body, in its details of type RetryInfo."""
    details = [
        {"@type": "type.googleapis.com/google.rpc.Help"},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"},
    ]
    error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x", "details": details}
    found = fault(WireFormat.GOOGLE, world, saying(json.dumps({"error": error}), 429))
    assert (found.kind, found.code, found.retry_after) == (FaultKind.RATE_LIMIT, "RESOURCE_EXHAUSTED", 17.5)


CODES: dict[str, tuple[WireFormat, int, dict[str, Any], FaultKind, str]] = {
    "openai-key": (
        WireFormat.OPENAI_CHAT,
        401,
        {"message": "x", "code": "invalid_api_key", "type": "invalid_request_error"},
        FaultKind.AUTHENTICATION,
        "invalid_api_key",
    ),
    "openai-dry": (
        WireFormat.OPENAI_RESPONSES,
        429,
        {"message": "x", "code": "insufficient_quota", "type": "insufficient_quota"},
        FaultKind.QUOTA,
        "insufficient_quota",
    ),
    "openai-schema": (
        WireFormat.OPENAI_RESPONSES,
        400,
        {"message": "Invalid schema for response_format 'x'", "code": "invalid_json_schema"},
        FaultKind.SCHEMA_REJECTED,
        "invalid_json_schema",
    ),
    "anthropic-busy": (
        WireFormat.ANTHROPIC,
        529,
        {"type": "overloaded_error", "message": "Overloaded"},
        FaultKind.OVERLOADED,
        "overloaded_error",
    ),
    "anthropic-spent": (
        WireFormat.ANTHROPIC,
        429,
        {"type": "rate_limit_error", "message": "x", "details": {"error_code": "enforced_spend_limit_reached"}},
        FaultKind.QUOTA,
        "enforced_spend_limit_reached",
    ),
    "google-key": (
        WireFormat.GOOGLE,
        400,
        {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid. Please pass a valid API key."},
        FaultKind.AUTHENTICATION,
        "INVALID_ARGUMENT",
    ),
}


@WORLDS
@pytest.mark.parametrize("name", CODES)
def test_the_vendors_own_code(name: str, world: str) -> None:
    """The error's own code beats its status, and is kept."""
    wire, status, error, kind, code = CODES[name]
    found = fault(wire, world, saying(json.dumps({"type": "error", "error": error}), status))
    assert (found.kind, found.status, found.code) == (kind, status, code)


STOPS: dict[str, tuple[str, WireFormat, dict[str, Any], StopReason]] = {
    "openai-flagged": (
        "openai",
        WireFormat.OPENAI_RESPONSES,
        {"code": "invalid_prompt", "message": "Your prompt was flagged as violating our usage policy."},
        StopReason.REFUSED,
    ),
    "azure-filtered": (
        "azure-openai",
        WireFormat.OPENAI_CHAT,
        {"code": "content_filter", "message": "The response was filtered"},
        StopReason.REFUSED,
    ),
    "anthropic-filtered": (
        "anthropic",
        WireFormat.ANTHROPIC,
        {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"},
        StopReason.REFUSED,
    ),
    "openai-too-long": (
        "openai",
        WireFormat.OPENAI_CHAT,
        {"code": "context_length_exceeded", "message": "x"},
        StopReason.OVERFLOWED,
    ),
    "anthropic-too-long": (
        "anthropic",
        WireFormat.ANTHROPIC,
        {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"},
        StopReason.OVERFLOWED,
    ),
    "google-too-long": (
        "google",
        WireFormat.GOOGLE,
        {
            "code": 400,
            "status": "INVALID_ARGUMENT",
            "message": "The input token count (9) exceeds the maximum number of tokens allowed (8).",
        },
        StopReason.OVERFLOWED,
    ),
}


@WORLDS
@pytest.mark.parametrize("name", STOPS)
def test_an_error_that_is_an_answer(name: str, world: str) -> None:
    """A blocked prompt is a refusal and a prompt too long an overflow, though HTTP calls both a bad request."""
    vendor, wire, error, stop = STOPS[name]
    found = send(Line(vendor, wire, world), saying(json.dumps({"error": error}), 400, request_id="r"), request())
    assert isinstance(found, ModelResponse)
    assert found.stop is stop
    assert (found.refused_as is not None) == (stop is StopReason.REFUSED)


STATED_WAITS = {
    "Please try again in 7m12.5s. Visit the page": 432.5,
    "Please try again in 1h2m3s": 3723.0,
    "Please retry in 8.5s.": 8.5,
    "Please try again in 250ms": 0.25,
    "Please retry after 6 seconds.": 6.0,
    "retry after 2 minutes": 120.0,
    "try again in 20s": 20.0,
    "Please wait for 3 sec": 3.0,
    "Please try again later": None,
    "Try again in a moment": None,
    "retry 5 times": None,
}


@pytest.mark.parametrize("message", STATED_WAITS)
def test_a_wait_in_words(message: str) -> None:
    """It counts where no header says otherwise."""
    body = json.dumps({"error": {"message": f"Too many requests. {message}"}})
    assert fault(WireFormat.OPENAI_CHAT, "sync", saying(body, 429)).retry_after == STATED_WAITS[message]
    assert fault(WireFormat.OPENAI_CHAT, "sync", saying(body, 429, retry_after="1")).retry_after == 1.0
