"""Parse a request to any of the simulated APIs and check it against the vendor's published limits."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from emitter.adapters import detect_wire as adapters_detect_wire
from emitter.profiles.model import WireFormat
from emitter.testing.media_rules import find_media_error
from emitter.testing.plans import ErrorKind, PlannedError, ReceivedRequest
from emitter.testing.wires import (
    anthropic,
    bedrock_converse,
    gemini_interactions,
    google,
    openai_chat,
    openai_responses,
)
from emitter.testing.wires.common import NO_SUCH_MODEL, load_limits
from emitter.testing.wires.openai_chat import AZURE_QUERY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json
    from emitter.testing.wires.common import WireSimulator

WIRES: Mapping[WireFormat, WireSimulator] = MappingProxyType(
    {
        WireFormat.OPENAI_RESPONSES: openai_responses,
        WireFormat.OPENAI_CHAT: openai_chat,
        WireFormat.ANTHROPIC: anthropic,
        WireFormat.GOOGLE: google,
        WireFormat.BEDROCK_CONVERSE: bedrock_converse,
        WireFormat.GEMINI_INTERACTIONS: gemini_interactions,
    }
)
"""The simulator of each API."""
BAD_KEY = "bad-key"
"""The one API key that every vendor rejects."""
_ANY_MODEL = "*"
_SIGNING_KEY = re.compile(r"^AWS4-HMAC-SHA256 Credential=([^/]+)/")


@dataclass(frozen=True, slots=True, eq=False)
class ParsedRequest:
    """A request as far as it could be parsed; ``request`` is almost empty if there is an ``error``.

    ``wire`` is the API whose format the response has. ``is_known_path`` tells whether the path belongs to that API.
    """

    wire: WireFormat
    is_known_path: bool
    body: Json
    request: ReceivedRequest
    error: PlannedError | None = None


def parse_raw_request(path: str, raw_body: bytes, *, check_schemas: bool) -> ParsedRequest:
    """Parse a POST request."""
    wire = adapters_detect_wire("", path)
    if wire is None or not path.partition("?")[0].endswith(WIRES[wire].PATH_SUFFIXES):
        return make_unknown_path_request(path, WireFormat.OPENAI_RESPONSES)
    body = _parse_json(raw_body)
    parsed: ReceivedRequest | PlannedError = PlannedError(ErrorKind.BAD_REQUEST)
    if isinstance(body, dict):
        parsed = WIRES[wire].parse_request(path, cast("dict[str, Json]", body))
    if isinstance(parsed, PlannedError):
        return ParsedRequest(wire, True, body, _make_empty_request(wire, path), parsed)
    return ParsedRequest(wire, True, body, parsed, _find_error(parsed, check_schemas=check_schemas))


def make_unknown_path_request(path: str, wire: WireFormat) -> ParsedRequest:
    """Return the request for a path that does not exist."""
    return ParsedRequest(wire, False, None, _make_empty_request(wire, path), PlannedError(ErrorKind.NOT_FOUND))


def detect_wire(headers: Mapping[str, str]) -> WireFormat:
    """Return the API of the client that sent a request, from its headers."""
    if "x-goog-api-key" in headers or "x-goog-api-client" in headers:
        return WireFormat.GOOGLE
    if "amz-sdk-invocation-id" in headers:
        return WireFormat.BEDROCK_CONVERSE
    if "anthropic-version" in headers or "x-api-key" in headers:
        return WireFormat.ANTHROPIC
    return WireFormat.OPENAI_RESPONSES


def read_api_key(headers: Mapping[str, str]) -> str:
    """Return the API key of a request, or the id of the key that it is signed with."""
    signature = _SIGNING_KEY.search(headers.get("authorization", ""))
    if signature:
        return signature[1]
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    return next((headers[name] for name in ("x-api-key", "x-goog-api-key", "api-key") if name in headers), bearer)


def _parse_json(raw: bytes) -> Json:
    try:
        return json.loads(raw, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        return None


def _reject_constant(word: str) -> None:
    """Reject ``NaN`` and ``Infinity``, which Python parses and JSON does not have."""
    raise ValueError(word)


def _make_empty_request(wire: WireFormat, path: str) -> ReceivedRequest:
    azure = AZURE_QUERY in path
    return ReceivedRequest(
        wire, path, "", {}, streamed=False, schema=None, tool=None, budget=None, input_tokens=0, is_azure=azure
    )


def _find_error(request: ReceivedRequest, *, check_schemas: bool) -> PlannedError | None:
    if request.model == NO_SUCH_MODEL:
        return PlannedError(ErrorKind.NO_MODEL)
    return (
        find_media_error(request)
        or _find_limit_error(request)
        or (_find_schema_error(request) if check_schemas else None)
    )


def _find_limit_error(request: ReceivedRequest) -> PlannedError | None:
    """Return the error of a request that exceeds the model's known limits."""
    wire = WIRES[request.wire]
    limits = load_limits(wire.PROFILE, request.model)
    if limits.match == _ANY_MODEL:
        return None
    if request.budget is not None and request.budget > limits.max_output:
        message = wire.MAX_BUDGET_MESSAGE.format(budget=request.budget, limit=limits.max_output)
        return PlannedError(ErrorKind.BAD_REQUEST, message)
    return PlannedError(ErrorKind.OVERFLOWED) if request.input_tokens > limits.longest_prompt else None


def _find_schema_error(request: ReceivedRequest) -> PlannedError | None:
    wire = WIRES[request.wire]
    for schema in wire.iter_schemas(request):
        violation = schema.find_violation()
        if violation is not None:
            code = "invalid_function_parameters" if schema.is_tool else None
            return PlannedError(
                ErrorKind.BAD_SCHEMA, wire.describe_violation(schema, violation), param=schema.path, code=code
            )
    return None
