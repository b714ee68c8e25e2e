"""Parse HTTP responses and streams into a ``ModelResponse`` or a ``Fault``.

Live calls, replayed cassettes and recorded traffic are all parsed here.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from emitter.adapters import ADAPTERS
from emitter.adapters.response_decoding import (
    ANOTHER_DOCUMENT,
    AssembledBody,
    as_objects,
    as_printable_line,
    decoding_tables,
    extract_error,
    make_protocol_fault,
    parse_arguments,
    parse_error,
    reject_foreign,
    with_usage,
)
from emitter.adapters.sse import JSON_DECODER, LEADING_BLANK, SseDecoder, is_event_stream
from emitter.adapters.transport import ResponseRejected
from emitter.messages import (
    NO_FIELDS,
    ExpectedAnswer,
    Fault,
    ModelResponse,
    ProviderErrorDetails,
    StopReason,
    as_mapping,
)
from emitter.outside_values import parse_float, parse_http_date
from emitter.strict_json import DuplicateKeyError, json_equal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.response_decoding import DecodingTables
    from emitter.messages import CallResult, Json, Usage
    from emitter.profiles.model import Profile, WireFormat

_FIRST_SUCCESS, _LAST_SUCCESS = 200, 299
_REQUEST_IDS = ("x-request-id", "request-id", "x-goog-request-id", "apim-request-id", "x-amzn-requestid")
EVENT_NOT_JSON = "an event of the stream is not JSON"


@dataclass(frozen=True, slots=True)
class _UnreadableBody:
    """A body that is not JSON, the problem, and the events before it."""

    problem: str
    events: tuple[Json, ...] = ()


class ResponseHead(NamedTuple):
    """The status and the headers of an HTTP response."""

    status: int
    headers: Mapping[str, str] = NO_FIELDS


def parse_response(
    profile: Profile, wire: WireFormat, head: ResponseHead, text: str, *, expected: ExpectedAnswer | None
) -> CallResult:
    """Return the result of a complete HTTP response.

    ``expected`` is None for a recording, whose request is not known. It may hold several answers one after another.
    """
    result = decode_response(profile, wire, head, parse_body(text), expected=expected)
    if isinstance(result, Fault) and result.report is None and not _is_success(head.status):
        line = as_printable_line(text)
        result = replace(result, report=ProviderErrorDetails(line) if line and not line.startswith("<") else None)
    return result


def decode_response(
    profile: Profile, wire: WireFormat, head: ResponseHead, body: Json, *, expected: ExpectedAnswer | None
) -> CallResult:
    """Return the result of a complete HTTP response whose body is parsed already, such as one in a batch's results."""
    tables = decoding_tables(profile, wire)
    if not _is_success(head.status):
        result = parse_error(head.status, body, tables)
    elif isinstance(body, dict):
        result = ADAPTERS[wire].decode(cast("dict[str, Json]", body), tables, expected)
    else:
        result = _decode_body(wire, body, tables, expected)
    return _with_headers(result, head, body)


def _is_success(status: int) -> bool:
    return _FIRST_SUCCESS <= status <= _LAST_SUCCESS


def _with_headers(result: CallResult, head: ResponseHead, body: Json) -> CallResult:
    """Return the result with the facts of its HTTP response."""
    lower = {name.lower(): value for name, value in head.headers.items()}
    request_id = None
    for name in _REQUEST_IDS:
        request_id = request_id or lower.get(name)
    if isinstance(result, ModelResponse):
        object.__setattr__(
            result, "request_id", request_id
        )  # a copy would take as long as the decoding of small bodies
        return result
    wait, request_id = _retry_after(lower, body), request_id or result.request_id
    wait = result.retry_after if wait is None else wait
    return replace(result, status=result.status or head.status, retry_after=wait, request_id=request_id)


def parse_sdk_response(profile: Profile, wire: WireFormat, response: object, expected: ExpectedAnswer) -> CallResult:
    """Return the result of a response that an SDK client returned.

    JSON is UTF-8, whatever the headers say (RFC 8259, section 8.1). A body that is not UTF-8 is a fault.
    """
    raw = cast("Any", response)
    if isinstance(raw, str):
        return make_protocol_fault("the body is not JSON")
    head = ResponseHead(raw.status_code, raw.headers)
    try:
        text = raw.content.decode()
    except UnicodeDecodeError:
        result = parse_response(profile, wire, head, raw.content.decode("utf-8", "replace"), expected=expected)
        return _with_headers(with_usage(make_protocol_fault("the body is not UTF-8"), result.usage), head, None)
    return parse_response(profile, wire, head, text, expected=expected)


def read_object(response: object) -> Mapping[str, Json]:
    """Return the JSON object of a response that is no model's answer, such as the state of a batch.

    Raises:
        ResponseRejected: The body is not a JSON object.
    """
    content = getattr(response, "content", b"")
    try:
        body = parse_body(content.decode())
    except UnicodeDecodeError:
        raise ResponseRejected(make_protocol_fault("the body is not UTF-8")) from None
    if not isinstance(body, dict):
        problem = body.problem if isinstance(body, _UnreadableBody) else "the body is not a JSON object"
        raise ResponseRejected(make_protocol_fault(problem))
    return cast("dict[str, Json]", body)


def parse_body(text: str) -> Json:
    """Return the JSON of a body, the events of a stream as a list, or an ``_UnreadableBody``.

    A byte order mark is ignored, as RFC 8259 (section 8.1) allows.
    """
    # almost every body is an object, so its first character says enough
    if not text.startswith("{") and is_event_stream(text):
        decoder = SseDecoder()
        events = [*decoder.feed(text), *decoder.end()]
        return _UnreadableBody(EVENT_NOT_JSON, tuple(events)) if decoder.is_broken else events
    try:
        return JSON_DECODER.decode(text.removeprefix("\ufeff"))
    except DuplicateKeyError:
        return _UnreadableBody("the body names a member twice, with different values")
    except (ValueError, RecursionError):
        return _UnreadableBody("the body is not JSON" if text.strip() else "the body is empty")


def _decode_body(wire: WireFormat, body: Json, tables: DecodingTables, expected: ExpectedAnswer | None) -> CallResult:
    if isinstance(body, _UnreadableBody):
        usage = _decode_events(wire, list(body.events), tables, None).usage if body.events else None
        return with_usage(make_protocol_fault(body.problem), usage)
    if isinstance(body, list):
        return _decode_events(wire, cast("list[Json]", body), tables, expected)
    return _decode_object(wire, body, tables, expected)


def _decode_events(
    wire: WireFormat, events: list[Json], tables: DecodingTables, expected: ExpectedAnswer | None
) -> CallResult:
    """Return the result of a stream that arrived in one piece."""
    assembler = ADAPTERS[wire].StreamAssembler(expected)
    reported = "".join([assembler.add(as_mapping(event)) for event in events])
    result = _decode_stream(wire, assembler.body(), tables, expected, reported)
    return result if all(isinstance(event, dict) for event in events) else _reject_event(result)


def _decode_stream(
    wire: WireFormat, assembled: AssembledBody, tables: DecodingTables, expected: ExpectedAnswer | None, reported: str
) -> CallResult:
    """Return the result of a stream. Its document must be the one that its events ``reported``."""
    result = _decode_object(wire, assembled.body, tables, expected)
    if not assembled.is_complete:
        return with_usage(make_protocol_fault("the stream ended without its last event"), result.usage)
    if not isinstance(result, ModelResponse):
        return result
    if assembled.is_grounded:
        result = replace(result, is_grounded=True)
    is_other = expected is not None and result.stop is StopReason.COMPLETE and not _begins_with(result, reported)
    return reject_foreign(result, assembled.problem or (ANOTHER_DOCUMENT if is_other else None))


def _begins_with(response: ModelResponse, reported: str) -> bool:
    """Return whether the document begins with a text, or is the same JSON.

    The arguments of a call are a text in the events of a stream, and an object in some vendors' responses.
    """
    if response.document_text.startswith(reported):
        return True
    return bool(response.arguments) and json_equal(parse_arguments(reported), response.arguments[0])


def _reject_event(result: CallResult) -> CallResult:
    """Return the fault of a stream with an event that is not an object."""
    return with_usage(make_protocol_fault("an event of the stream is not a JSON object"), result.usage)


def _decode_object(wire: WireFormat, body: Json, tables: DecodingTables, expected: ExpectedAnswer | None) -> CallResult:
    if not isinstance(body, dict):
        return make_protocol_fault("the body is not a JSON object")
    return ADAPTERS[wire].decode(cast("dict[str, Json]", body), tables, expected)


def _retry_after(headers: Mapping[str, str], body: Json) -> float | None:
    """Return the wait that the provider asks for, in seconds.

    Sources: RFC 9110, section 10.2.3; ``retry-after-ms`` of openai 3.52.0 and anthropic 2.11.0; google.rpc.RetryInfo.
    """
    milliseconds = _parse_seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _parse_seconds(value)
    wait = seconds if seconds is not None else _seconds_until(value, headers.get("date"))
    if wait is not None:
        return wait
    delays = [detail.get("retryDelay") for detail in as_objects(extract_error(body).get("details"))]
    return next((_parse_seconds(delay.removesuffix("s")) for delay in delays if isinstance(delay, str)), None)


def _parse_seconds(text: str | None) -> float | None:
    seconds = parse_float(text)
    return seconds if seconds is not None and seconds >= 0 else None


def _seconds_until(retry_at: str, now: str | None) -> float | None:
    """Return the seconds between the response's own date and ``retry_at``, without reading a clock."""
    end, start = parse_http_date(retry_at), parse_http_date(now)
    return None if end is None or start is None else max(0.0, (end - start).total_seconds())


_SUCCESS = 200
_SURROGATE = re.compile("[\udc80-\udcff]")


class StreamAccumulator:
    """The state of one stream.

    ``text_pieces`` holds the text of the document so far. At the end, ``unreported`` is the text that ``feed`` has not
    returned.
    """

    def __init__(self, profile: Profile, wire: WireFormat, expected: ExpectedAnswer) -> None:
        self._profile, self._wire, self._expected = profile, wire, expected
        self._tables = decoding_tables(profile, wire)
        self._adapter = ADAPTERS[wire]
        # Events are folded as they arrive: keeping them would take up to twenty times the memory of the response.
        self._assembler = self._adapter.StreamAssembler(expected)
        self._errors: list[Json] = []
        self._all_objects = True
        self._final_usage: tuple[Usage | None, bool] | None = None
        # Bytes that are not UTF-8 become lone surrogates, so that the usage at the end can still be read.
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._is_utf8 = True
        self._decoder = SseDecoder()
        self._beginning: list[str] = []
        self._is_event_stream: bool | None = None
        self._fed = 0
        self.text_pieces: list[str] = []
        self.unreported = ""

    def feed(self, piece: bytes) -> str:
        """Return the text that the piece adds to the document."""
        text = self._add_text(self._decode(piece))
        self._fed += len(text)
        return text

    def _decode(self, piece: bytes, *, final: bool = False) -> str:
        """Return the characters that this piece completes, and note bytes that are not UTF-8."""
        text = self._utf8.decode(piece, final)
        self._is_utf8 = self._is_utf8 and (text.isascii() or not _SURROGATE.search(text))
        return text

    def _add_text(self, text: str) -> str:
        if self._is_event_stream is None:
            beginning = "".join([*self._beginning, text]).lstrip(LEADING_BLANK)
            self._is_event_stream, self._beginning, text = is_event_stream(beginning), [], beginning
        if not self._is_event_stream:
            self._beginning.append(text)
            return ""
        return self._add_events(self._decoder.feed(text))

    def _add_events(self, events: list[Json]) -> str:
        written: list[str] = []
        for event in events:
            table = as_mapping(event)
            self._all_objects = self._all_objects and isinstance(event, dict)
            if _is_error_event(table):
                self._errors = [*self._errors[:1], event]
            else:
                written.append(self._assembler.add(table))
        text = "".join(written)
        if not self._is_utf8:
            return ""
        if text:
            self.text_pieces.append(text)
        return text

    def finish(self, headers: Mapping[str, str]) -> CallResult:
        """Return the result of the finished stream; ``headers`` are those of its response."""
        head = ResponseHead(_SUCCESS, headers)
        self._add_text(self._decode(b"", final=True))
        if self._is_event_stream:
            self._add_events(self._decoder.end())
        if self._decoder.is_broken or not self._is_utf8:
            problem = EVENT_NOT_JSON if self._is_utf8 else "the body is not UTF-8"
            return replace(make_protocol_fault(problem), status=_SUCCESS, usage=self.usage())
        if not self._is_event_stream:
            text = "".join(self._beginning)
            result = parse_response(self._profile, self._wire, head, text, expected=self._expected)
            self.unreported = result.document_text if isinstance(result, ModelResponse) else ""
            return result
        self._final_usage = self.usage_and_completion()
        for event in self._errors:
            self._assembler.add(as_mapping(event))
        reported = "".join(self.text_pieces)
        result = _decode_stream(self._wire, self._assembler.body(), self._tables, self._expected, reported)
        result = result if self._all_objects else _reject_event(result)
        if isinstance(result, ModelResponse):
            document = result.document_text
            self.unreported = (document if document.startswith(reported) else reported)[self._fed :]
        error = next((event for event in self._errors if as_mapping(event).get("error")), None)
        return _with_headers(result, head, error)

    @property
    def is_event_stream(self) -> bool:
        """True for an event stream, False for a JSON document with a success status."""
        return bool(self._is_event_stream)

    def usage(self) -> Usage | None:
        """Return the usage reported so far, or None."""
        return self.usage_and_completion()[0]

    def usage_and_completion(self) -> tuple[Usage | None, bool]:
        """Return the usage reported so far, and whether the answer is complete, apart from error events."""
        if self._final_usage is not None:
            return self._final_usage
        try:
            assembled = self._assembler.body()
            usage = self._adapter.decode(as_mapping(assembled.body), self._tables, None).usage
        except Exception:  # noqa: BLE001  odd events that break decoding may break this, too
            return None, False
        return usage, assembled.is_complete


def _is_error_event(event: Mapping[str, Any]) -> bool:
    """Return whether an event is an error, which ends the stream but not the answer in it."""
    return bool(event.get("error")) or event.get("type") == "error"
