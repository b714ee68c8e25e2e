"""From an HTTP response, however it came, to an answer.

The same road is taken by a live call, a replay and a recorded exchange that is only classified.
"""

from __future__ import annotations

import email.utils
import json
from typing import TYPE_CHECKING, Any, cast

from emitter.adapters.adapter import ADAPTERS
from emitter.adapters.answer import Tables, error_answer, error_of, items, protocol_fault, with_status
from emitter.adapters.sdk import fault as fault_of
from emitter.adapters.sse import events, is_stream
from emitter.errors import EmitterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.profile.model import Profile, WireName
    from emitter.wire import Answer, Json

_FIRST_ERROR = 400
_REQUEST_IDS = ("x-request-id", "request-id", "x-goog-request-id", "apim-request-id")


def read(profile: Profile, wire: WireName, status: int, headers: Mapping[str, str], text: str) -> Answer:
    """Return the answer of a whole response."""
    lower = {name.lower(): value for name, value in headers.items()}
    tables = Tables(profile.wires[wire].stops, profile.faults)
    found = _read_error(status, text, tables) if status >= _FIRST_ERROR else _read_body(wire, text, tables)
    body = _loaded(text) if status >= _FIRST_ERROR else None
    request_id = next((lower[each] for each in _REQUEST_IDS if each in lower), None)
    return with_status(found, status, _retry_after(lower, body), request_id)


def of_sdk_response(profile: Profile, wire: WireName, response: object) -> Answer:
    """Return the answer in what a client's low-level call returned."""
    raw = cast("Any", response)
    carried = getattr(raw, "sdk_http_response", None)
    if carried is not None:
        return read(profile, wire, 200, carried.headers or {}, carried.body or "")
    if isinstance(raw, str):
        return protocol_fault("the body is not JSON")
    return read(profile, wire, raw.status_code, raw.headers, raw.text)


def of_exception(profile: Profile, wire: WireName, error: Exception) -> Answer | None:
    """Return what an SDK's exception says; None: it is not the vendor's, let it rise."""
    ours = _own_cause(error)
    if ours is not None:
        raise ours
    raw = cast("Any", error)
    response = getattr(raw, "response", None)
    status = getattr(response, "status_code", None) or getattr(raw, "status_code", None)
    if response is not None and isinstance(status, int):
        return read(profile, wire, status, response.headers, _text_of(response, raw))
    return fault_of(error)


def _own_cause(error: BaseException | None) -> EmitterError | None:
    """Return our own error if that is what an SDK's exception wraps: a replay's must not look like a fault."""
    while error is not None and not isinstance(error, EmitterError):
        error = error.__cause__
    return error


def _text_of(response: Any, error: Any) -> str:
    """Return the error's body; a streamed response may have been closed unread."""
    details = getattr(error, "details", None)
    if details is not None:
        return details if isinstance(details, str) else json.dumps(details)
    return cast("str", response.text)


def _read_error(status: int, text: str, tables: Tables) -> Answer:
    body = events(text) if is_stream(text) and _loaded(text) is None else _loaded(text)
    return error_answer(status, body, tables)


def _read_body(wire: WireName, text: str, tables: Tables) -> Answer:
    adapter = ADAPTERS[wire]
    try:
        body = events(text) if is_stream(text) else json.loads(text)
    except (ValueError, RecursionError):
        return protocol_fault("the body is empty" if not text.strip() else "the body is not JSON")
    if isinstance(body, list):
        assembled = adapter.assemble(cast("list[Json]", body))
        if not assembled.ended:
            return protocol_fault("the stream ended without its last event")
        body = assembled.body
    if not isinstance(body, dict):
        return protocol_fault("the body is not a JSON object")
    return adapter.decode(cast("dict[str, Json]", body), tables)


def _loaded(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _retry_after(headers: Mapping[str, str], body: Json) -> float | None:
    """Return the wait that the vendor asks for, in seconds.

    Sources: RFC 9110, section 10.2.3; ``retry-after-ms`` of openai 3.52.0 and anthropic 2.11.0;
    google.rpc.RetryInfo.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    if asked is not None:
        return _number(asked) if _number(asked) is not None else _until(asked, headers.get("date"))
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
    except ValueError:
        return None
    return max(0.0, (dates[0] - dates[1]).total_seconds())
