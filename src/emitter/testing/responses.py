"""The requests and responses of a simulated vendor, and the log of its calls.

A planned response becomes an HTTP response within the token budget of the request.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, replace
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING

from emitter.messages import Usage
from emitter.profiles.model import WireFormat
from emitter.testing.plans import (
    Behaviour,
    EndReason,
    ErrorKind,
    PlannedError,
    PlannedResponse,
    RawResponse,
    Transmission,
    TransmissionOutcome,
    count_tokens,
    truncate_to_tokens,
)
from emitter.testing.prompt_caches import NOTHING_CACHED, CachedTokens
from emitter.testing.wires import WIRES
from emitter.testing.wires.bedrock_converse import KEEPALIVE
from emitter.testing.wires.common import ID_PLACEHOLDER, ErrorResponse, PreparedAnswer, dump_compact
from emitter.testing.wires.google import SSE_QUERY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json
    from emitter.testing.plans import PlannedOutcome, ReceivedRequest

NO_USAGE = Usage()
_COMPLETE = Transmission()
FIRST_ERROR = 400
"""The lowest HTTP status that is an error."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """One HTTP request with its body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedResponse:
    """One HTTP response.

    Attributes:
        usage: The billed usage of a complete response.
        transmission: How the response is sent.
        text: The text of the answer.
        event_offsets: The byte offsets at which the events of a stream end.
        text_offsets: The characters of ``text`` sent up to each of them.
        keepalive: Bytes that clients ignore in the middle of the body.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    usage: Usage
    transmission: Transmission = _COMPLETE
    text: str = ""
    event_offsets: tuple[int, ...] = ()
    text_offsets: tuple[int, ...] = ()
    keepalive: bytes = b" "

    @property
    def is_stream(self) -> bool:
        """True if the body is a stream of events."""
        return bool(self.event_offsets)

    def with_id(self, response_id: str) -> SimulatedResponse:
        """Return the response with this id."""
        headers = {name: value.replace(ID_PLACEHOLDER, response_id) for name, value in self.headers.items()}
        return replace(self, headers=headers, body=self.body.replace(ID_PLACEHOLDER.encode(), response_id.encode()))

    @property
    def delivered_bytes(self) -> int | None:
        """The number of bytes of the body that are sent, or None if not even the headers are."""
        transmission = self.transmission
        if transmission.outcome is TransmissionOutcome.DELIVERED:
            return len(self.body)
        if transmission.after_bytes is None:
            return None
        maximum = self.event_offsets[-2] if len(self.event_offsets) > 1 else max(0, len(self.body) - 1)
        limit = min(transmission.after_bytes, maximum)
        if not (self.is_stream and transmission.outcome is TransmissionOutcome.TRICKLED):
            return limit
        # Keepalives follow, and a client ignores them only between two events.
        return max((offset for offset in self.event_offsets if offset <= limit), default=0)

    def compute_usage(self, sent_bytes: int | None) -> Usage:
        """Return the billed usage if this many bytes arrive.

        A response that is not streamed is complete before its first byte is sent, a stream only as far as it was sent.
        """
        if sent_bytes is None:
            return Usage(input=self.usage.input)
        if not self.is_stream or sent_bytes >= len(self.body):
            return self.usage
        events = bisect_right(self.event_offsets, sent_bytes)
        sent = self.text_offsets[events - 1] if events else 0
        if sent >= len(self.text):
            return self.usage
        return replace(self.usage, output=min(self.usage.output, self.usage.thinking + count_tokens(self.text[:sent])))


_JSON_TYPES = {WireFormat.GOOGLE: "application/json; charset=UTF-8"}
_SSE_TYPES = {
    WireFormat.GOOGLE: "text/event-stream",
    WireFormat.BEDROCK_CONVERSE: "application/vnd.amazon.eventstream",
}
_KEEPALIVES = {WireFormat.GOOGLE: b"\n\n", WireFormat.BEDROCK_CONVERSE: KEEPALIVE}
"""Bytes that stream readers skip. google-genai parses every line that is not empty, so a comment would fail."""
_REQUEST_ID_HEADERS = {WireFormat.ANTHROPIC: "request-id", WireFormat.BEDROCK_CONVERSE: "x-amzn-requestid"}


def compose_response(
    plan: PlannedOutcome, request: ReceivedRequest, cached: CachedTokens = NOTHING_CACHED
) -> SimulatedResponse:
    """Return the HTTP response for a plan."""
    match plan:
        case PlannedError():
            return compose_error(plan, request)
        case RawResponse():
            return SimulatedResponse(plan.status, {"content-type": plan.content_type}, plan.body, NO_USAGE)
        case PlannedResponse():
            return _compose_answer(apply_budget(plan, request.budget), request, cached)


def apply_budget(plan: PlannedResponse, budget: int | None) -> PlannedResponse:
    """Truncate the plan to the budget, thinking before text, and set its billed tokens."""
    if budget is not None and plan.thinking_tokens >= budget:
        return replace(plan, text="", thinking_tokens=budget, output_tokens=budget, end_reason=EndReason.TRUNCATED)
    output = plan.thinking_tokens + count_tokens(plan.text)
    if budget is not None and output > budget:
        text = truncate_to_tokens(plan.text, budget - plan.thinking_tokens)
        return replace(plan, text=text, output_tokens=budget, end_reason=EndReason.TRUNCATED)
    return plan if plan.output_tokens is not None else replace(plan, output_tokens=output)


def compose_error(error: PlannedError, request: ReceivedRequest) -> SimulatedResponse:
    """Return an error response. Where a blocked prompt is a normal answer, its prompt is billed."""
    if error.kind is ErrorKind.BAD_SCHEMA and error.param is None:
        path = next((schema.path for schema in WIRES[request.wire].iter_schemas(request)), "schema")
        error = replace(error, param=path, message=f"{path}: {error.message}")
    response = WIRES[request.wire].write_error(error, request)
    if response.status < FIRST_ERROR:
        return _compose_single_body(response.body, request, Usage(input=request.input_tokens))
    return SimulatedResponse(
        response.status, _make_headers(request, _JSON_TYPES, response), dump_compact(response.body).encode(), NO_USAGE
    )


def _compose_answer(plan: PlannedResponse, request: ReceivedRequest, cached: CachedTokens) -> SimulatedResponse:
    usage = Usage(input=request.input_tokens, output=plan.output_tokens or 0, thinking=plan.thinking_tokens)
    usage = cached.add_to(usage)
    answer = PreparedAnswer(request, plan, usage)
    if request.streamed:
        return _compose_stream(answer)
    if plan.error:
        return replace(compose_error(plan.error, request), status=200)
    body = dump_compact(WIRES[request.wire].write_response(answer)).encode()
    return SimulatedResponse(200, _make_headers(request, _JSON_TYPES), body, usage, plan.transmission, plan.text)


def _compose_single_body(body: Json, request: ReceivedRequest, usage: Usage) -> SimulatedResponse:
    """Return a body without events; in a stream it is the only event."""
    text = dump_compact(body)
    if not request.streamed:
        return SimulatedResponse(200, _make_headers(request, _JSON_TYPES), text.encode(), usage)
    data = f"data: {text}\n\n".encode()
    return SimulatedResponse(
        200, _make_headers(request, _SSE_TYPES), data, usage, event_offsets=(len(data),), text_offsets=(0,)
    )


def _compose_stream(answer: PreparedAnswer) -> SimulatedResponse:
    request, plan = answer.request, answer.plan
    events = list(WIRES[request.wire].write_stream(answer))
    parts = [event.data for event in events]
    is_array = request.wire is WireFormat.GOOGLE and SSE_QUERY not in request.path
    return SimulatedResponse(
        200,
        _make_headers(request, _JSON_TYPES if is_array else _SSE_TYPES),
        b"".join(parts),
        answer.usage,
        plan.transmission,
        plan.text,
        event_offsets=tuple(accumulate(map(len, parts))),
        text_offsets=tuple(accumulate(event.text_length for event in events)),
        keepalive=_KEEPALIVES.get(request.wire, b":\n\n"),
    )


def _make_headers(
    request: ReceivedRequest, content_types: dict[WireFormat, str], error: ErrorResponse | None = None
) -> dict[str, str]:
    default = "application/json" if content_types is _JSON_TYPES else "text/event-stream; charset=utf-8"
    headers = {"content-type": content_types.get(request.wire, default)}
    if error is not None:
        return {**headers, **error.headers}
    return {**headers, _REQUEST_ID_HEADERS.get(request.wire, "x-request-id"): f"req_{ID_PLACEHOLDER}"}


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedCall:
    """One request that arrived, and its outcome.

    Attributes:
        wire: The API, or None if the path belongs to no vendor.
        path: The path with its query.
        model: The model's name.
        body: The parsed body, or None if it is not JSON.
        streamed: Whether the answer was streamed.
        behaviour: The behaviour that answered, or None if the request itself was invalid.
        status: The HTTP status, or None if no headers were sent.
        usage: The usage that the vendor would bill.
    """

    wire: WireFormat | None
    path: str
    model: str
    body: Json
    streamed: bool
    behaviour: Behaviour | None
    status: int | None
    usage: Usage


def make_free_call(path: str, status: int) -> SimulatedCall:
    """Return a request that costs nothing, such as one about a batch."""
    return SimulatedCall(None, path, "", None, streamed=False, behaviour=None, status=status, usage=NO_USAGE)


class CallLog:
    """The last ``keep`` calls in order of arrival (None: all), and the usage of all calls."""

    def __init__(self, keep: int | None) -> None:
        self._lock = Lock()
        self._calls: deque[SimulatedCall] = deque(maxlen=keep)
        self._billed_usage = NO_USAGE

    def append(self, call: SimulatedCall) -> None:
        """Add a call and its usage."""
        with self._lock:
            self._calls.append(call)
            self._billed_usage += call.usage

    def update_usage(self, call: SimulatedCall, usage: Usage) -> None:
        """Change the usage of a call whose client disconnected."""
        with self._lock:
            before = call.usage
            if call in self._calls:
                self._calls[self._calls.index(call)] = replace(call, usage=usage)
            self._billed_usage += Usage(
                usage.input - before.input,
                usage.output - before.output,
                usage.cache_read - before.cache_read,
                usage.cache_write - before.cache_write,
                usage.thinking - before.thinking,
                cache_write_1h=usage.cache_write_1h - before.cache_write_1h,
            )

    @property
    def calls(self) -> tuple[SimulatedCall, ...]:
        """The logged calls, in order of arrival."""
        with self._lock:
            return tuple(self._calls)

    @property
    def billed(self) -> Usage:
        """The usage of all calls, including those no longer in the log."""
        with self._lock:
            return self._billed_usage

    def clear(self) -> None:
        """Remove all calls and their usage."""
        with self._lock:
            self._calls.clear()
            self._billed_usage = NO_USAGE
