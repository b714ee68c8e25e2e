"""From an HTTP response, however it came, to an answer.

The same road is taken by a live call, a replay and a recorded exchange that is only classified.
"""

from __future__ import annotations

import email.utils
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from emitter.adapters.adapter import ADAPTERS
from emitter.adapters.answer import (
    Tables,
    error_answer,
    error_of,
    items,
    protocol_fault,
    with_cause,
    with_status,
    with_usage,
    words,
)
from emitter.adapters.sdk import fault as fault_of
from emitter.adapters.sdk import unexpected
from emitter.adapters.sse import DECODER, Decoder, is_stream
from emitter.adapters.transport import ResponseRejected
from emitter.errors import EmitterError
from emitter.wire import Fault, Report, mapping
from emitter.wire.strict import RepeatedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.transport import Transfer
    from emitter.profile.model import Profile, WireName
    from emitter.wire import Answer, Json

E = TypeVar("E", bound=BaseException)

_FIRST_GOOD, _LAST_GOOD = 200, 299
_REQUEST_IDS = ("x-request-id", "request-id", "x-goog-request-id", "apim-request-id")


NOT_JSON = "an event of the stream is not JSON"


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A body that is no JSON, what it is instead, and the events before the one that is no JSON."""

    what: str
    events: tuple[Json, ...] = ()


def read(profile: Profile, wire: WireName, status: int, headers: Mapping[str, str], text: str) -> Answer:
    """Return the answer of a whole response."""
    tables = Tables(profile.wires[wire].stops, profile.faults)
    body = loaded(text)
    good = _FIRST_GOOD <= status <= _LAST_GOOD
    found = _read_body(wire, body, tables) if good else error_answer(status, body, tables)
    if not good and isinstance(found, Fault) and found.report is None and not text.lstrip().startswith("<"):
        found = replace(found, report=Report(words(text)) if words(text) else None)
    return _with_headers(found, status, headers, body)


def _with_headers(found: Answer, status: int, headers: Mapping[str, str], body: Json) -> Answer:
    lower = {name.lower(): value for name, value in headers.items()}
    wait = _retry_after(lower, body) if isinstance(found, Fault) else None
    return with_status(found, status, wait, next((lower[each] for each in _REQUEST_IDS if each in lower), None))


def of_events(profile: Profile, wire: WireName, headers: Mapping[str, str], events: list[Json]) -> Answer:
    """Return the answer of a stream that was read to its end, event by event."""
    found = _read_body(wire, events, Tables(profile.wires[wire].stops, profile.faults))
    error = next((each for each in events if mapping(each).get("error")), None)
    return _with_headers(found, 200, headers, error)


def of_sdk_response(profile: Profile, wire: WireName, response: object) -> Answer:
    """Return the answer in what a client's low-level call returned.

    JSON is UTF-8, whatever the headers say (RFC 8259, section 8.1). A body that is not UTF-8 is a fault.
    """
    raw = cast("Any", response)
    if isinstance(raw, str):
        return protocol_fault("the body is not JSON")
    text: str = raw.content.decode("utf-8", "replace")
    found = read(profile, wire, raw.status_code, raw.headers, text)
    if "\N{REPLACEMENT CHARACTER}" in text and not _is_utf8(raw.content):
        broken = with_usage(protocol_fault("the body is not UTF-8"), found.usage)
        return _with_headers(broken, raw.status_code, raw.headers, None)
    return found


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def of_failure(profile: Profile, wire: WireName, error: Exception, transfer: Transfer) -> Answer:
    """Return what a call came to that raised, whatever raised it; our own errors rise again.

    A response with the status of an error says most. Otherwise the exception is looked up, and one that nobody
    knows is a fault of the request where nothing was sent, and of the response where something was.
    """
    ours = _cause(error, EmitterError)
    if ours is not None:
        raise ours
    rejected = _cause(error, ResponseRejected)
    try:
        found = _of_transfer(profile, wire, transfer) or (rejected and rejected.fault)
        found = found or of_exception(profile, wire, error)
    except Exception:  # noqa: BLE001  what an error body holds may break its reading
        found = None
    return with_cause(found or unexpected(error, transfer.status, sent=transfer.sent), error)


def _of_transfer(profile: Profile, wire: WireName, transfer: Transfer) -> Answer | None:
    """Return what a response with the status of an error says, as far as its body came."""
    if transfer.status is None or not transfer.failed:
        return None
    return read(profile, wire, transfer.status, transfer.headers, transfer.error.decode("utf-8", "replace"))


def of_exception(profile: Profile, wire: WireName, error: Exception) -> Answer | None:
    """Return what an SDK's exception says, with the exception; None: it is not the vendor's, let it rise."""
    found = _of_exception(profile, wire, error)
    return None if found is None else with_cause(found, error)


def _of_exception(profile: Profile, wire: WireName, error: Exception) -> Answer | None:
    ours = _cause(error, EmitterError)
    if ours is not None:
        raise ours
    raw = cast("Any", error)
    response = getattr(raw, "response", None)
    told = (getattr(response, "status_code", None), getattr(raw, "status_code", None), getattr(raw, "code", None))
    status = next((each for each in told if isinstance(each, int)), None)
    if status is not None and (response is not None or hasattr(raw, "details")):
        return read(profile, wire, status, getattr(response, "headers", None) or {}, _text_of(response, raw))
    return fault_of(error)


def _cause(error: BaseException | None, kind: type[E]) -> E | None:
    """Return the exception of a kind that an SDK's exception wraps, or that it is itself."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__
    return error


def _text_of(response: Any, error: Any) -> str:
    """Return the error's body: google's exceptions hold it read, whatever became of the response."""
    details = getattr(error, "details", None)
    if isinstance(details, str):
        return details
    # Anthropic's are an object of the SDK's own, a part of the body only.
    return json.dumps(details) if isinstance(details, dict | list) else str(getattr(response, "text", ""))


def loaded(text: str) -> Json:
    """Return the body's JSON, the events of a stream as a list, or what it is where it cannot be read.

    A byte order mark before the document is ignored, as RFC 8259 (section 8.1) allows.
    """
    if is_stream(text):
        decoder = Decoder()
        events = [*decoder.feed(text), *decoder.end()]
        return _Unreadable(NOT_JSON, tuple(events)) if decoder.broken else events
    try:
        return DECODER.decode(text.removeprefix("\ufeff"))
    except RepeatedError:
        return _Unreadable("the body names a member twice, with different values")
    except (ValueError, RecursionError):
        return _Unreadable("the body is not JSON" if text.strip() else "the body is empty")


def _read_body(wire: WireName, body: Json, tables: Tables) -> Answer:
    adapter = ADAPTERS[wire]
    if isinstance(body, _Unreadable):
        usage = _decoded(wire, adapter.assemble(body.events).body, tables).usage if body.events else None
        return with_usage(protocol_fault(body.what), usage)
    if not isinstance(body, list):
        return _decoded(wire, body, tables)
    events = cast("list[Json]", body)
    assembled = adapter.assemble(events)
    found = _decoded(wire, assembled.body, tables)
    if not all(isinstance(each, dict) for each in events):
        return with_usage(protocol_fault("an event of the stream is not a JSON object"), found.usage)
    if assembled.ended:
        return found
    return with_usage(protocol_fault("the stream ended without its last event"), found.usage)


def _decoded(wire: WireName, body: Json, tables: Tables) -> Answer:
    if not isinstance(body, dict):
        return protocol_fault("the body is not a JSON object")
    return ADAPTERS[wire].decode(cast("dict[str, Json]", body), tables)


def _retry_after(headers: Mapping[str, str], body: Json) -> float | None:
    """Return the wait that the vendor asks for, in seconds.

    Sources: RFC 9110, section 10.2.3; ``retry-after-ms`` of openai 3.52.0 and anthropic 2.11.0;
    google.rpc.RetryInfo.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after", "")
    seconds = _number(asked)
    waits = seconds if seconds is not None else _until(asked, headers.get("date"))
    if waits is not None:
        return waits
    delays = [each.get("retryDelay") for each in items(error_of(body).get("details"))]
    return next((_number(each.removesuffix("s")) for each in delays if isinstance(each, str)), None)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < float("inf") else None


def _until(asked: str, now: str | None) -> float | None:
    """Return the seconds between the response's own date and the one asked for: no clock is read here."""
    try:
        dates = [email.utils.parsedate_to_datetime(each) for each in (asked, now or "")]
        return max(0.0, (dates[0] - dates[1]).total_seconds())
    except (ValueError, TypeError, OverflowError):  # no dates at all, or only one of them in a known time zone
        return None
