"""Gemini's batches from the vendor's side.

Source: google-genai 3.4.0, ``batches.py``; ai.google.dev/gemini-api/docs/batch-api.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

from emitter.testing.batches.store import Order, cut, loaded, said
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.testing.batches.store import Batches, Done, Held
    from emitter.testing.desk import Request
    from emitter.testing.response import Response
    from emitter.wire import Json

_MAKE = re.compile(r"/v1(beta)?/(?P<model>models/[^/:]+):batchGenerateContent")
_ONE = re.compile(r"/v1(beta)?/(?P<batch>batches/[^/:]+)(?P<cancel>:cancel)?")
_ALL = re.compile(r"/v1(beta)?/batches")
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14, 504: 4}
_NOT_RUN = {"expired": 4, "cancelled": 1}
_FIRST_ERROR = 400


def handle(request: Request, batches: Batches) -> Response | None:
    """Answer a request about batches; None: it is about something else."""
    path = request.path.partition("?")[0]
    made, one = _MAKE.fullmatch(path), _ONE.fullmatch(path)
    if request.method == "POST" and made:
        return _made(request, batches, made["model"])
    if request.method == "GET" and _ALL.fullmatch(path):
        known = batches.listed("batches/")
        return said({"operations": [_operation(each) for each in known]})
    if one is None:
        return None
    if one["batch"] not in batches.held:
        return _denied(404, "Requested entity was not found.")
    held = batches.held[one["batch"]]
    if one["cancel"]:
        held.cancelled = held.done is None
        return said({})
    return cut(said(_operation(batches.looked(held))), held if held.done is not None else None)


def _denied(status: int, message: str, after: float | None = None) -> Response:
    error = {"code": status, "message": message, "status": _STATUSES.get(status, "INTERNAL")}
    return said({"error": error}, status, after=after)


def _made(request: Request, batches: Batches, model: str) -> Response:
    course, batch = batches.course(), mapping(loaded(request.raw).get("batch"))
    if course.refused is not None:
        return _denied(course.refused, "Not now.", course.retry_after)
    rows = [mapping(each) for each in sequence(_requests(batch))]
    path = request.path.partition(":")[0] + ":generateContent"
    orders = [Order(str(mapping(each.get("metadata"))["key"]), path, _body(each)) for each in rows]
    held = batches.make("batches/{}", orders, request, course)
    held.about = {"displayName": batch.get("displayName"), "model": model}
    response = said(_operation(held))
    return cut(response, before=True) if course.unconfirmed else response


def _requests(batch: Mapping[str, Any]) -> Json:
    return mapping(mapping(batch.get("inputConfig")).get("requests")).get("requests")


def _body(row: Mapping[str, Any]) -> dict[str, Json]:
    return {key: value for key, value in mapping(row.get("request")).items() if key != "model"}


def _operation(held: Held) -> dict[str, Json]:
    made = dt.datetime.fromtimestamp(held.made, dt.UTC).isoformat().replace("+00:00", "Z")
    metadata: dict[str, Json] = {**held.about, "state": f"BATCH_STATE_{_state(held)}", "createTime": made}
    if held.done:
        rows = [_row(each) for each in held.done if not each.garbled]
        metadata["output"] = {"inlinedResponses": {"inlinedResponses": rows}}
    return {"name": held.ident, "metadata": metadata, "done": held.done is not None}


def _state(held: Held) -> str:
    if held.done is None:
        return "RUNNING"
    if held.failed:
        return "FAILED"
    return "CANCELLED" if held.cancelled else "SUCCEEDED"


def _row(done: Done) -> dict[str, Json]:
    metadata = {"metadata": {"key": done.ident}}
    if done.response is None:
        return {**metadata, "error": {"code": _NOT_RUN[done.reason], "message": "It was not run."}}
    if done.response.status < _FIRST_ERROR and mapping(done.body):
        return {**metadata, "response": done.body}
    message = str(mapping(mapping(done.body).get("error")).get("message") or "Internal error.")
    return {**metadata, "error": {"code": _CODES.get(done.response.status, 13), "message": message}}
