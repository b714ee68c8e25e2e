"""Adapters for the providers' wire formats.

Each wire format has one module: ``encode`` builds the request body, ``decode`` reads the response body,
``StreamAssembler`` folds the events of a stream into the body of a unary response, and ``send`` calls the provider's
own client. Facts about providers come from ``providers/*.toml``.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from emitter.adapters import (
    anthropic_messages,
    bedrock_converse,
    gemini_interactions,
    google_generate_content,
    openai_chat,
    openai_responses,
)
from emitter.adapters.response_decoding import as_objects, as_string
from emitter.messages import as_mapping
from emitter.profiles.model import WireFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.adapters.request_options import ReservedOption
    from emitter.adapters.response_decoding import AssembledBody, DecodingTables
    from emitter.adapters.transport import LimitedClient
    from emitter.messages import CallResult, ExpectedAnswer, Json, ModelRequest
    from emitter.profiles.model import WireProfile


class StreamAssembler(Protocol):
    """Folds the events of one stream into the body of a unary response."""

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event. Return the text that it adds to the document, which is the arguments of the expected tool.

        Without an expected tool it is the text of the answer.
        """
        ...

    def body(self) -> AssembledBody:
        """Return the body so far."""
        ...


class Adapter(Protocol):
    """The functions that the module of a wire format provides."""

    RESERVED_OPTIONS: Mapping[str, ReservedOption]
    """The request fields that ``extra_body`` may not set, and what to use instead."""

    @property
    def StreamAssembler(self) -> Callable[[ExpectedAnswer | None], StreamAssembler]:  # noqa: N802  a class of the module
        """Begin to fold a stream."""
        ...

    def encode(self, request: ModelRequest, wire: WireProfile) -> dict[str, Json]:
        """Return the request body."""
        ...

    def decode(self, body: Mapping[str, Json], tables: DecodingTables, expected: ExpectedAnswer | None) -> CallResult:
        """Return the response or fault that a response body describes.

        ``expected`` is None for a recording, whose request is not known.
        """
        ...

    def send(
        self, client: LimitedClient, body: Mapping[str, Json], timeout: float, headers: Mapping[str, str] = ...
    ) -> object:
        """Send through the client; return its response, or an awaitable of it from an async client."""
        ...

    def with_stream(self, body: Mapping[str, Json], wire: WireProfile) -> dict[str, Json]:
        """Return the body of a streaming request."""
        ...

    def open_stream(
        self, client: LimitedClient, body: Mapping[str, Json], timeout: float, headers: Mapping[str, str] = ...
    ) -> object:
        """Send a streaming request; return the unread ``httpx2`` response, or an awaitable of it."""
        ...


ADAPTERS: Mapping[WireFormat, Adapter] = MappingProxyType(
    {
        WireFormat.OPENAI_RESPONSES: openai_responses,
        WireFormat.OPENAI_CHAT: openai_chat,
        WireFormat.ANTHROPIC: anthropic_messages,
        WireFormat.GOOGLE: google_generate_content,
        WireFormat.BEDROCK_CONVERSE: bedrock_converse,
        WireFormat.GEMINI_INTERACTIONS: gemini_interactions,
    }
)
"""The adapter of every ``WireFormat``."""
_ENDPOINT_PATTERNS = (
    (re.compile(r"(^|[./_-])chat[./_]completions([./](create|stream|parse))?$"), WireFormat.OPENAI_CHAT),
    # A stored response is read or cancelled under its id. Counting and compacting are other endpoints.
    (re.compile(r"(^|[./_-])responses([./](?!compact|input_)[^/]+(/cancel)?)?$"), WireFormat.OPENAI_RESPONSES),
    # Threads have messages, too.
    (
        re.compile(r"(^|/v\d\w*/|/anthropic/|(?<!threads)[._-])messages([./](create|stream|parse))?$"),
        WireFormat.ANTHROPIC,
    ),
    (re.compile(r"^anthropic-on-|/anthropic/.*:(stream)?rawpredict$"), WireFormat.ANTHROPIC),
    (re.compile(r"/model/[^/]*anthropic[^/]*/invoke(-with-response-stream)?$"), WireFormat.ANTHROPIC),
    (re.compile(r"(^|[./_-])converse([._-]?stream)?$"), WireFormat.BEDROCK_CONVERSE),
    (re.compile(r"(^|[./_-])interactions([./](create|stream))?$"), WireFormat.GEMINI_INTERACTIONS),
    (re.compile(r"(^|[.:/])(stream)?_?generate_?content(_?stream)?$"), WireFormat.GOOGLE),
)
"""The wire format of an endpoint's name or path in lower case."""
_BODY_KEYS = (
    ("choices", WireFormat.OPENAI_CHAT),
    ("candidates", WireFormat.GOOGLE),
    ("promptFeedback", WireFormat.GOOGLE),
    ("prompt_feedback", WireFormat.GOOGLE),
    ("stop_reason", WireFormat.ANTHROPIC),
    ("stopReason", WireFormat.BEDROCK_CONVERSE),
    ("messageStart", WireFormat.BEDROCK_CONVERSE),
)
"""Keys that only the bodies or chunks of one wire format have."""


def detect_wire(name: str, path: str) -> WireFormat | None:
    """Return the wire format of an endpoint by its name or else its path, or None if it is unknown."""
    return _match_endpoint(name) or _match_endpoint(path.partition("?")[0].rstrip("/"))


def detect_wire_of_body(body: Json) -> WireFormat | None:
    """Return the wire format of a response body or a list of stream events, or None if it is unknown."""
    return next(filter(None, map(_match_body, as_objects(body) or [as_mapping(body)])), None)


def _match_endpoint(name: str) -> WireFormat | None:
    return next((wire for pattern, wire in _ENDPOINT_PATTERNS if pattern.search(name.lower())), None)


def _match_body(body: Mapping[str, Any]) -> WireFormat | None:
    kind = as_string(body.get("type"))
    if kind.startswith("response.") or body.get("object") == "response":
        return WireFormat.OPENAI_RESPONSES
    if body.get("object") == "interaction" or as_string(body.get("event_type")).startswith(("interaction.", "step.")):
        return WireFormat.GEMINI_INTERACTIONS
    if kind in {"message_start", "error"}:
        return WireFormat.ANTHROPIC
    if "status" in as_mapping(body.get("error")):
        return WireFormat.GOOGLE
    return next((wire for key, wire in _BODY_KEYS if key in body), None)
