"""Anthropic's message batches from the vendor's side.

Source: anthropic 2.11.0, ``types/messages/message_batch.py`` and ``message_batch_individual_response.py``.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from emitter.testing.batches.store import Order, cut, lines, loaded, said
from emitter.testing.ledger import NOTHING
from emitter.testing.response import Response
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from emitter.testing.batches.store import Batches, Done, Held
    from emitter.testing.desk import Request
    from emitter.wire import Json

_PATH = "/v1/messages/batches"
_ONE = re.compile(rf"{_PATH}/(?P<batch>[^/]+?)(?P<what>/cancel|/results)?")
_KINDS = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
_REASONS = {"expired": "expired", "cancelled": "canceled"}
_COUNTS = {"succeeded": "succeeded", "errored": "errored", "canceled": "canceled", "expired": "expired"}
_FIRST_ERROR = 400


def handle(request: Request, batches: Batches) -> Response | None:
    """Answer a request about batches; None: it is about something else."""
    path, _, query = request.path.partition("?")
    match request.method, path:
        case "POST", "/v1/messages/batches":
            return _made(request, batches)
        case "GET", "/v1/messages/batches":
            return _listed(batches, parse_qs(query).get("after_id", [""])[0])
        case _:
            return _of_one(path, batches)


def _denied(status: int, message: str, after: float | None = None) -> Response:
    error = {"type": _KINDS.get(status, "api_error"), "message": message}
    return said({"type": "error", "error": error, "request_id": "req_batches"}, status, after=after)


def _made(request: Request, batches: Batches) -> Response:
    course = batches.course()
    if course.refused is not None:
        return _denied(course.refused, "Not now.", course.retry_after)
    if course.invalid is not None:
        return _denied(400, "requests: it does not hold")
    rows = [mapping(each) for each in sequence(loaded(request.raw).get("requests"))]
    orders = [Order(str(each["custom_id"]), "/v1/messages", each["params"]) for each in rows]
    held = batches.make("msgbatch_{}", orders, request, course)
    response = said(_batch(held))
    return cut(response, before=True) if course.unconfirmed else response


def _listed(batches: Batches, after: str) -> Response:
    known = batches.listed("msgbatch_")
    begin = next((at + 1 for at, each in enumerate(known) if each.ident == after), 0)
    page = known[begin : begin + 1]  # small pages, so that a client has to ask for more
    # Time passes for a batch that is only listed, too.
    return said({"data": [_batch(batches.looked(each)) for each in page], "has_more": len(known) > begin + 1})


def _of_one(path: str, batches: Batches) -> Response | None:
    found = _ONE.fullmatch(path)
    if found is None:
        return None
    held = batches.held.get(found["batch"])
    if held is None:
        return said({"type": "error", "error": {"type": "not_found_error", "message": "No such batch."}}, 404)
    match found["what"]:
        case "/results":
            body = lines([(_line(each), each.garbled) for each in held.done or []])
            return cut(Response(200, {"content-type": "application/x-jsonl"}, body, NOTHING), held)
        case "/cancel":
            held.cancelled = held.done is None
            return said(_batch(held))
        case _:
            return said(_batch(batches.looked(held)))


def _batch(held: Held) -> dict[str, Json]:
    ended = held.done is not None
    kinds = [str(_result(each)["type"]) for each in held.done or []]
    tallies: dict[str, Json] = {name: kinds.count(kind) for name, kind in _COUNTS.items()}
    made = dt.datetime.fromtimestamp(held.made, dt.UTC).isoformat()
    going = "canceling" if held.cancelled else "in_progress"
    return {
        "id": held.ident,
        "type": "message_batch",
        "processing_status": "ended" if ended else going,
        "request_counts": {"processing": 0 if ended else len(held.orders), **tallies},
        "created_at": made,
        "expires_at": made,
        "results_url": f"https://api.anthropic.com{_PATH}/{held.ident}/results" if ended else None,
    }


def _line(done: Done) -> dict[str, Json]:
    return {"custom_id": done.ident, "result": _result(done)}


def _result(done: Done) -> dict[str, Json]:
    if done.response is None:
        return {"type": _REASONS[done.reason]}
    if done.response.status < _FIRST_ERROR and mapping(done.body):
        return {"type": "succeeded", "message": done.body}
    unknown = {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}
    return {"type": "errored", "error": mapping(done.body) or unknown}
