"""Answer one HTTP request: choose a behaviour, compose the response within the token budget and log the call.

An error in the request itself comes first, then the script, then the default answers.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from emitter.messages import Usage
from emitter.profiles.model import WireFormat
from emitter.testing.background_responses import BackgroundResponses
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
from emitter.testing.wires import (
    BAD_KEY,
    WIRES,
    ParsedRequest,
    detect_wire,
    make_unknown_path_request,
    parse_raw_request,
    read_api_key,
)
from emitter.testing.wires.bedrock_converse import KEEPALIVE
from emitter.testing.wires.common import ID_PLACEHOLDER, ErrorResponse, PreparedAnswer, dump_compact
from emitter.testing.wires.google import SSE_QUERY

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from emitter.messages import Json
    from emitter.testing.plans import PlannedOutcome, ReceivedRequest
    from emitter.testing.prompt_caches import PromptCaches

AnswerSource: TypeAlias = "Behaviour | Mapping[Behaviour, float] | Callable[[ReceivedRequest], Behaviour]"
_CACHE_SIZE = 512
"""Number of cached requests and responses."""
_MAX_CACHED_BYTES = 1 << 16
"""Longer bodies and texts are not cached."""
_CachedT = TypeVar("_CachedT")


class _LruCache(OrderedDict["Hashable", _CachedT]):
    """Keeps the most recently used entries."""

    def get_or_make(self, key: Hashable, make: Callable[[], _CachedT]) -> _CachedT:
        """Return the cached value, or make and cache it."""
        if key in self:
            self.move_to_end(key)
            return self[key]
        value = self[key] = make()
        if len(self) > _CACHE_SIZE:
            self.popitem(last=False)
        return value


@dataclass(frozen=True, slots=True)
class RawRequest:
    """One HTTP request with its body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


COMPLETE_TRANSMISSION = Transmission()


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedResponse:
    """One HTTP response.

    Attributes:
        usage: The billed usage of a complete response.
        transmission: How the response is sent.
        text: The text of the answer.
        event_offsets: The byte offsets at which the events of a stream end.
        text_offsets: The characters of ``text`` sent up to each of them.
        keepalive: Bytes that a client ignores in the middle of the body.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    usage: Usage
    transmission: Transmission = COMPLETE_TRANSMISSION
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
        return replace(self, headers=headers, body=self.body.replace(_ID_PLACEHOLDER_BYTES, response_id.encode()))

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
        keep_events_whole = self.is_stream and transmission.outcome is TransmissionOutcome.TRICKLED
        if not keep_events_whole:
            return limit
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


class SimulatorHandler:
    """Answers requests. ``seed`` decides everything that is random."""

    def __init__(
        self,
        answers: AnswerSource,
        call_log: CallLog,
        *,
        seed: int,
        check_schemas: bool,
        prompt_caches: PromptCaches | None = None,
    ) -> None:
        self._answers = answers
        self._call_log = call_log
        self._seed = seed
        self._check_schemas = check_schemas
        self._prompt_caches = prompt_caches
        self._parse_cache = _LruCache[ParsedRequest]()
        self._response_cache = _LruCache[SimulatedResponse]()
        self._repeat_counts = Counter[bytes]()
        self.script = deque[Behaviour]()
        self.background = BackgroundResponses()

    def reset(self) -> None:
        """Clear the script, the repetition counts and the background responses."""
        self.script.clear()
        self.background.clear()
        self._repeat_counts.clear()

    def handle(self, request: RawRequest) -> tuple[SimulatedResponse, SimulatedCall]:
        """Answer a request and log the call. A look at a background response is no call."""
        polled = self.background.poll(request)
        if polled is not None:
            return polled, make_free_call(request.path, polled.status)
        digest = hashlib.blake2b(request.path.encode() + b"\n" + request.body, digest_size=12).digest()
        repeat_count = self._repeat_counts[digest]
        self._repeat_counts[digest] += 1
        seed = f"{self._seed}:{digest.hex()}:{repeat_count}"
        parsed = self._parse(request, digest)
        behaviour, response = self._compose(parsed, digest, repeat_count, seed)
        response = response.with_id(hashlib.blake2b(seed.encode(), digest_size=12).hexdigest())
        if parsed.request.body.get("background") is True and parsed.error is None and response.status < FIRST_ERROR:
            response = self.background.start(response)
        delivered = response.delivered_bytes
        call = SimulatedCall(
            wire=parsed.wire if parsed.is_known_path else None,
            path=request.path,
            model=parsed.request.model,
            body=parsed.body,
            streamed=parsed.request.streamed,
            behaviour=behaviour,
            status=None if delivered is None else response.status,
            usage=response.compute_usage(delivered),
        )
        self._call_log.append(call)
        return response, call

    def _parse(self, request: RawRequest, digest: bytes) -> ParsedRequest:
        if request.method != "POST":
            return make_unknown_path_request(request.path, detect_wire(request.headers))
        parsed = self._parse_cached(request, digest)
        if not parsed.is_known_path:
            return make_unknown_path_request(request.path, detect_wire(request.headers))
        if read_api_key(request.headers) == BAD_KEY:
            return replace(parsed, error=PlannedError(ErrorKind.UNAUTHORIZED))
        return parsed

    def _parse_cached(self, request: RawRequest, digest: bytes) -> ParsedRequest:
        def read() -> ParsedRequest:
            return parse_raw_request(request.path, request.body, check_schemas=self._check_schemas)

        return read() if len(request.body) > _MAX_CACHED_BYTES else self._parse_cache.get_or_make(digest, read)

    def _compose(
        self, parsed: ParsedRequest, digest: bytes, repeat_count: int, seed: str
    ) -> tuple[Behaviour | None, SimulatedResponse]:
        if parsed.error is not None:
            return None, compose_error(parsed.error, parsed.request)
        request = replace(parsed.request, repeat_count=repeat_count, seed=seed)
        error = None if self._prompt_caches is None else self._prompt_caches.find_error(request)
        if error is not None:
            return None, compose_error(error, request)
        behaviour = self._choose_behaviour(request)
        plan = behaviour.plan(request)
        if not isinstance(plan, PlannedResponse):
            return behaviour, compose_response(plan, request)
        cached = NOTHING_CACHED if self._prompt_caches is None else self._prompt_caches.serve(request)

        def compose() -> SimulatedResponse:
            return compose_response(plan, request, cached)

        if len(plan.text) > _MAX_CACHED_BYTES:
            return behaviour, compose()
        return behaviour, self._response_cache.get_or_make((digest, plan, cached), compose)

    def _choose_behaviour(self, request: ReceivedRequest) -> Behaviour:
        """Return the next behaviour of the script, or the default one."""
        if self.script:
            return self.script.popleft()
        answers = self._answers
        if isinstance(answers, Mapping):
            mixture = cast("Mapping[Behaviour, float]", answers)
            rng = Random(f"{request.seed}:which")  # noqa: S311  not for secrets
            return rng.choices(list(mixture), list(mixture.values()))[0]
        return answers(request) if callable(answers) else answers


_JSON_TYPES = {WireFormat.GOOGLE: "application/json; charset=UTF-8"}
_SSE_TYPES = {
    WireFormat.GOOGLE: "text/event-stream",
    WireFormat.BEDROCK_CONVERSE: "application/vnd.amazon.eventstream",
}
_KEEPALIVES = {WireFormat.GOOGLE: b"\n\n", WireFormat.BEDROCK_CONVERSE: KEEPALIVE}
"""Bytes that stream readers skip. google-genai parses every line that is not empty, so a comment would fail."""
_REQUEST_ID_HEADERS = {WireFormat.ANTHROPIC: "request-id", WireFormat.BEDROCK_CONVERSE: "x-amzn-requestid"}
FIRST_ERROR = 400
"""The lowest HTTP status that is an error."""


def compose_response(
    plan: PlannedOutcome, request: ReceivedRequest, cached: CachedTokens = NOTHING_CACHED
) -> SimulatedResponse:
    """Return the HTTP response for a plan."""
    match plan:
        case PlannedError():
            return compose_error(plan, request)
        case RawResponse():
            return SimulatedResponse(200, {"content-type": plan.content_type}, plan.body, NO_USAGE)
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


_ID_PLACEHOLDER_BYTES = ID_PLACEHOLDER.encode()
NO_USAGE = Usage()


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
