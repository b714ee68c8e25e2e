"""OpenAI's batches from the vendor's side.

Source: openai 3.52.0, ``types/batch.py``, ``types/file_object.py``; developers.openai.com/api/docs/guides/batch.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from emitter.testing.batches.store import Order, counts, cut, lines, loaded, said
from emitter.testing.ledger import NOTHING
from emitter.testing.response import Response
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.testing.batches.store import Batches, Done, Held
    from emitter.testing.desk import Request
    from emitter.wire import Json

_BATCH = re.compile(r"/v1/batches/(?P<batch>[^/]+?)(?P<cancel>/cancel)?")
_CONTENT = re.compile(r"/v1/files/(?P<kind>output|error)-(?P<batch>[^/]+)/content")
_PART = re.compile(rb'filename="[^"]*"(?:\r\n[^\r\n]+)*\r\n\r\n(?P<content>.*?)\r\n--', re.DOTALL)
_FIRST_ERROR = 400
_KINDS = {400: "invalid_request_error", 401: "invalid_request_error", 429: "rate_limit_exceeded"}


def handle(request: Request, batches: Batches) -> Response | None:
    """Answer a request about batches or files; None: it is about something else."""
    path, _, query = request.path.partition("?")
    match request.method, path:
        case "POST", "/v1/files":
            return _uploaded(request, batches)
        case "POST", "/v1/batches":
            return _made(request, batches)
        case "GET", "/v1/batches":
            return _listed(batches, parse_qs(query).get("after", [""])[0])
        case _:
            return _of_one(path, batches)


def _uploaded(request: Request, batches: Batches) -> Response:
    part = _PART.search(request.raw)
    ident = f"file-{len(batches.files) + 1:08d}"
    batches.files[ident] = part["content"] if part else b""
    size = len(batches.files[ident])
    about = {"filename": "batch.jsonl", "purpose": "batch", "created_at": 0, "status": "processed"}
    return said({"id": ident, "object": "file", "bytes": size, **about})


def _made(request: Request, batches: Batches) -> Response:
    course, body = batches.course(), loaded(request.raw)
    if course.refused is not None:
        kind = _KINDS.get(course.refused, "server_error")
        error = {"message": "Not now.", "type": kind, "code": kind, "param": None}
        return said({"error": error}, course.refused, after=course.retry_after)
    rows = [loaded(line) for line in batches.files[str(body["input_file_id"])].splitlines()]
    orders = [Order(str(each["custom_id"]), str(each["url"]), each["body"]) for each in rows]
    held = batches.make("batch_{}", orders, request, course)
    held.about = {each: body.get(each) for each in ("metadata", "endpoint", "input_file_id", "completion_window")}
    response = said(_batch(held))
    return cut(response, before=True) if course.unconfirmed else response


def _listed(batches: Batches, after: str) -> Response:
    known = batches.listed("batch_")
    begin = next((at + 1 for at, each in enumerate(known) if each.ident == after), 0)
    page = known[begin : begin + 1]  # small pages, so that a client has to ask for more
    return said({"object": "list", "data": [_batch(each) for each in page], "has_more": len(known) > begin + 1})


def _of_one(path: str, batches: Batches) -> Response | None:
    batch, content = _BATCH.fullmatch(path), _CONTENT.fullmatch(path)
    if content and content["batch"] in batches.held:
        held = batches.held[content["batch"]]
        body = lines([(_line(each), each.garbled) for each in held.done or [] if _kind(each) == content["kind"]])
        return cut(Response(200, {"content-type": "application/binary"}, body, NOTHING), held)
    if batch is None:
        return None
    if batch["batch"] not in batches.held:
        error = {"message": f"No batch found with id '{batch['batch']}'.", "type": "invalid_request_error"}
        return said({"error": {**error, "param": None, "code": None}}, 404)
    held = batches.held[batch["batch"]]
    held.cancelled = held.cancelled or bool(batch["cancel"] and held.done is None)
    return said(_batch(held if batch["cancel"] else batches.looked(held)))


def _batch(held: Held) -> dict[str, Json]:
    done, failed = counts(held)
    ended = held.done is not None and not held.failed
    files = {_kind(each) for each in held.done or []} if ended else set[str]()
    return {
        "id": held.ident,
        "object": "batch",
        **held.about,
        "status": _status(held),
        "created_at": int(held.made),
        "errors": _errors(held) if held.failed else None,
        "output_file_id": f"output-{held.ident}" if "output" in files else None,
        "error_file_id": f"error-{held.ident}" if "error" in files else None,
        "request_counts": {"total": len(held.orders), "completed": done, "failed": failed},
    }


def _status(held: Held) -> str:
    if held.done is None:
        return "cancelling" if held.cancelled else "in_progress"
    if held.failed:
        return "failed"
    if held.cancelled:
        return "cancelled"
    return "expired" if held.course.expired else "completed"


def _errors(held: Held) -> dict[str, Json]:
    line = None if held.course.invalid_at is None else held.course.invalid_at + 1
    error = {"code": held.course.invalid, "message": "It does not hold.", "param": None, "line": line}
    return {"object": "list", "data": [error]}


def _kind(done: Done) -> str:
    return "output" if done.response is not None and done.response.status < _FIRST_ERROR else "error"


def _line(done: Done) -> dict[str, Any]:
    common = {"id": f"batch_req_{done.ident}", "custom_id": done.ident}
    if done.response is None:
        return {**common, "response": None, "error": {"code": f"batch_{done.reason}", "message": "It was not run."}}
    named = done.response.headers.get("x-request-id")
    body = mapping(done.body) or json.dumps(done.body)
    return {
        **common,
        "response": {"status_code": done.response.status, "request_id": named, "body": body},
        "error": None,
    }
