"""The batch endpoints of OpenAI, Anthropic and Google as a server.

Sources: openai 3.52.0, ``types/batch.py``, ``types/file_object.py``; anthropic 2.11.0,
``types/messages/message_batch.py``, ``message_batch_individual_response.py``; google-genai 3.4.0, ``batches.py``.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from emitter.messages import as_list, as_mapping
from emitter.profiles.model import WireFormat
from emitter.testing.batches import (
    BatchJob,
    BatchStore,
    count_results,
    interrupt_response,
    make_json_response,
    parse_json_object,
    write_json_lines,
)
from emitter.testing.handler import (
    FIRST_ERROR,
    NO_USAGE,
    SimulatedCall,
    SimulatedResponse,
    SimulatorHandler,
)
from emitter.testing.wires import detect_wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json
    from emitter.testing.batches import BatchScript, FinishedJob, StoredBatch
    from emitter.testing.handler import AnswerSource, CallLog, RawRequest

_OPENAI_BATCH_PATH = re.compile(r"/v1/batches/(?P<batch>[^/]+?)(?P<cancel>/cancel)?")
_OPENAI_CONTENT_PATH = re.compile(r"/v1/files/(?P<kind>output|error)-(?P<batch>[^/]+)/content")
_OPENAI_UPLOAD_PART = re.compile(rb'filename="[^"]*"(?:\r\n[^\r\n]+)*\r\n\r\n(?P<content>.*?)\r\n--', re.DOTALL)
_OPENAI_ERROR_TYPES = {400: "invalid_request_error", 401: "invalid_request_error", 429: "rate_limit_exceeded"}


def handle_openai_batches(request: RawRequest, store: BatchStore) -> SimulatedResponse | None:
    """Answer a request about batches or files, or return None for any other request."""
    path, _, query = request.path.partition("?")
    match request.method, path:
        case "POST", "/v1/files":
            return _upload_openai_file(request, store)
        case "POST", "/v1/batches":
            return _create_openai_batch(request, store)
        case "GET", "/v1/batches":
            return _list_openai_batches(store, parse_qs(query).get("after", [""])[0])
        case _:
            return _handle_one_openai_batch(path, store)


def _upload_openai_file(request: RawRequest, store: BatchStore) -> SimulatedResponse:
    part = _OPENAI_UPLOAD_PART.search(request.body)
    file_id = f"file-{len(store.files) + 1:08d}"
    store.files[file_id] = part["content"] if part else b""
    size = len(store.files[file_id])
    fields = {"filename": "batch.jsonl", "purpose": "batch", "created_at": 0, "status": "processed"}
    return make_json_response({"id": file_id, "object": "file", "bytes": size, **fields})


def _create_openai_batch(request: RawRequest, store: BatchStore) -> SimulatedResponse:
    script, body = store.next_script(), parse_json_object(request.body)
    if script.reject_status is not None:
        kind = _OPENAI_ERROR_TYPES.get(script.reject_status, "server_error")
        error = {"message": "Not now.", "type": kind, "code": kind, "param": None}
        return make_json_response({"error": error}, script.reject_status, retry_after=script.retry_after)
    rows = [parse_json_object(line) for line in store.files[str(body["input_file_id"])].splitlines()]
    jobs = [BatchJob(str(row["custom_id"]), str(row["url"]), row["body"]) for row in rows]
    batch = store.create("batch_{}", jobs, request, script)
    batch.extra_fields = {
        name: body.get(name) for name in ("metadata", "endpoint", "input_file_id", "completion_window")
    }
    return _confirm(_make_openai_batch(batch), script)


def _list_openai_batches(store: BatchStore, after_id: str) -> SimulatedResponse:
    page, has_more = _get_page(store.list_batches("batch_"), after_id)
    data = [_make_openai_batch(batch) for batch in page]
    return make_json_response({"object": "list", "data": data, "has_more": has_more})


def _confirm(body: dict[str, Json], script: BatchScript) -> SimulatedResponse:
    response = make_json_response(body)
    return interrupt_response(response, before=True) if script.drop_confirmation else response


def _get_page(batches: list[StoredBatch], after_id: str) -> tuple[list[StoredBatch], bool]:
    """Return a page of one batch, so that clients must ask for more, and whether more follow."""
    start = next((index + 1 for index, batch in enumerate(batches) if batch.batch_id == after_id), 0)
    return batches[start : start + 1], len(batches) > start + 1


def _handle_one_openai_batch(path: str, store: BatchStore) -> SimulatedResponse | None:
    match, content_match = _OPENAI_BATCH_PATH.fullmatch(path), _OPENAI_CONTENT_PATH.fullmatch(path)
    if content_match and content_match["batch"] in store.stored:
        batch = store.stored[content_match["batch"]]
        body = write_json_lines(
            [
                (_make_openai_result_line(job), job.garbled)
                for job in batch.results or []
                if _get_openai_file_kind(job) == content_match["kind"]
            ]
        )
        return interrupt_response(SimulatedResponse(200, {"content-type": "application/binary"}, body, NO_USAGE), batch)
    if match is None:
        return None
    if match["batch"] not in store.stored:
        error = {"message": f"No batch found with id '{match['batch']}'.", "type": "invalid_request_error"}
        return make_json_response({"error": {**error, "param": None, "code": None}}, 404)
    batch = store.stored[match["batch"]]
    batch.cancelled = batch.cancelled or bool(match["cancel"] and batch.results is None)
    return make_json_response(_make_openai_batch(batch if match["cancel"] else store.poll(batch)))


def _make_openai_batch(batch: StoredBatch) -> dict[str, Json]:
    succeeded, failed = count_results(batch)
    has_results = batch.results is not None and not batch.failed
    files = {_get_openai_file_kind(job) for job in batch.results or []} if has_results else set[str]()
    return {
        "id": batch.batch_id,
        "object": "batch",
        **batch.extra_fields,
        "status": _get_openai_status(batch),
        "created_at": int(batch.created_at),
        "errors": _make_openai_errors(batch) if batch.failed else None,
        "output_file_id": f"output-{batch.batch_id}" if "output" in files else None,
        "error_file_id": f"error-{batch.batch_id}" if "error" in files else None,
        "request_counts": {"total": len(batch.jobs), "completed": succeeded, "failed": failed},
    }


def _get_openai_status(batch: StoredBatch) -> str:
    if batch.results is None:
        return "cancelling" if batch.cancelled else "in_progress"
    if batch.failed:
        return "failed"
    if batch.cancelled:
        return "cancelled"
    return "expired" if batch.script.expired else "completed"


def _make_openai_errors(batch: StoredBatch) -> dict[str, Json]:
    line = None if batch.script.invalid_at is None else batch.script.invalid_at + 1
    error = {"code": batch.script.invalid_code, "message": "It does not hold.", "param": None, "line": line}
    return {"object": "list", "data": [error]}


def _get_openai_file_kind(job: FinishedJob) -> str:
    return "output" if job.response is not None and job.response.status < FIRST_ERROR else "error"


def _make_openai_result_line(job: FinishedJob) -> dict[str, Any]:
    common = {"id": f"batch_req_{job.job_id}", "custom_id": job.job_id}
    if job.response is None:
        return {**common, "response": None, "error": {"code": f"batch_{job.reason}", "message": "It was not run."}}
    request_id = job.response.headers.get("x-request-id")
    body = as_mapping(job.body) or json.dumps(job.body)
    return {
        **common,
        "response": {"status_code": job.response.status, "request_id": request_id, "body": body},
        "error": None,
    }


_ANTHROPIC_BATCHES_PATH = "/v1/messages/batches"
_ANTHROPIC_BATCH_PATH = re.compile(rf"{_ANTHROPIC_BATCHES_PATH}/(?P<batch>[^/]+?)(?P<action>/cancel|/results)?")
_ANTHROPIC_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_ANTHROPIC_RESULT_TYPES = {"expired": "expired", "cancelled": "canceled"}
_ANTHROPIC_COUNT_NAMES = ("succeeded", "errored", "canceled", "expired")


def handle_anthropic_batches(request: RawRequest, store: BatchStore) -> SimulatedResponse | None:
    """Answer a request about batches, or return None for any other request."""
    path, _, query = request.path.partition("?")
    match request.method, path:
        case "POST", "/v1/messages/batches":
            return _create_anthropic_batch(request, store)
        case "GET", "/v1/messages/batches":
            return _list_anthropic_batches(store, parse_qs(query).get("after_id", [""])[0])
        case _:
            return _handle_one_anthropic_batch(path, store)


def _make_anthropic_error(status: int, message: str, retry_after: float | None = None) -> SimulatedResponse:
    error = {"type": _ANTHROPIC_ERROR_TYPES.get(status, "api_error"), "message": message}
    return make_json_response(
        {"type": "error", "error": error, "request_id": "req_batches"}, status, retry_after=retry_after
    )


def _create_anthropic_batch(request: RawRequest, store: BatchStore) -> SimulatedResponse:
    script = store.next_script()
    if script.reject_status is not None:
        return _make_anthropic_error(script.reject_status, "Not now.", script.retry_after)
    if script.invalid_code is not None:
        return _make_anthropic_error(400, "requests: it does not hold")
    rows = [as_mapping(row) for row in as_list(parse_json_object(request.body).get("requests"))]
    jobs = [BatchJob(str(row["custom_id"]), "/v1/messages", row["params"]) for row in rows]
    batch = store.create("msgbatch_{}", jobs, request, script)
    return _confirm(_make_anthropic_batch(batch), script)


def _list_anthropic_batches(store: BatchStore, after_id: str) -> SimulatedResponse:
    page, has_more = _get_page(store.list_batches("msgbatch_"), after_id)
    data = [_make_anthropic_batch(store.poll(batch)) for batch in page]  # a list counts as a poll
    return make_json_response({"data": data, "has_more": has_more})


def _handle_one_anthropic_batch(path: str, store: BatchStore) -> SimulatedResponse | None:
    match = _ANTHROPIC_BATCH_PATH.fullmatch(path)
    if match is None:
        return None
    batch = store.stored.get(match["batch"])
    if batch is None:
        return make_json_response(
            {"type": "error", "error": {"type": "not_found_error", "message": "No such batch."}}, 404
        )
    match match["action"]:
        case "/results":
            body = write_json_lines([(_make_anthropic_result_line(job), job.garbled) for job in batch.results or []])
            return interrupt_response(
                SimulatedResponse(200, {"content-type": "application/x-jsonl"}, body, NO_USAGE), batch
            )
        case "/cancel":
            batch.cancelled = batch.results is None
            return make_json_response(_make_anthropic_batch(batch))
        case _:
            return make_json_response(_make_anthropic_batch(store.poll(batch)))


def _make_anthropic_batch(batch: StoredBatch) -> dict[str, Json]:
    ended = batch.results is not None
    kinds = [str(_make_anthropic_result(job)["type"]) for job in batch.results or []]
    counts: dict[str, Json] = {name: kinds.count(name) for name in _ANTHROPIC_COUNT_NAMES}
    created_at = dt.datetime.fromtimestamp(batch.created_at, dt.UTC).isoformat()
    status = "canceling" if batch.cancelled else "in_progress"
    return {
        "id": batch.batch_id,
        "type": "message_batch",
        "processing_status": "ended" if ended else status,
        "request_counts": {"processing": 0 if ended else len(batch.jobs), **counts},
        "created_at": created_at,
        "expires_at": created_at,
        "results_url": f"https://api.anthropic.com{_ANTHROPIC_BATCHES_PATH}/{batch.batch_id}/results"
        if ended
        else None,
    }


def _make_anthropic_result_line(job: FinishedJob) -> dict[str, Json]:
    return {"custom_id": job.job_id, "result": _make_anthropic_result(job)}


def _make_anthropic_result(job: FinishedJob) -> dict[str, Json]:
    if job.response is None:
        return {"type": _ANTHROPIC_RESULT_TYPES[job.reason]}
    if job.response.status < FIRST_ERROR and as_mapping(job.body):
        return {"type": "succeeded", "message": job.body}
    fallback = {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}
    return {"type": "errored", "error": as_mapping(job.body) or fallback}


_GOOGLE_CREATE_PATH = re.compile(r"/v1(beta)?/(?P<model>models/[^/:]+):batchGenerateContent")
_GOOGLE_BATCH_PATH = re.compile(r"/v1(beta)?/(?P<batch>batches/[^/:]+)(?P<cancel>:cancel)?")
_GOOGLE_LIST_PATH = re.compile(r"/v1(beta)?/batches")
_GOOGLE_STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
_GOOGLE_RPC_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14, 504: 4}
_GOOGLE_NOT_RUN_CODES = {"expired": 4, "cancelled": 1}


def handle_google_batches(request: RawRequest, store: BatchStore) -> SimulatedResponse | None:
    """Answer a request about batches, or return None for any other request."""
    path = request.path.partition("?")[0]
    create_match, batch_match = _GOOGLE_CREATE_PATH.fullmatch(path), _GOOGLE_BATCH_PATH.fullmatch(path)
    if request.method == "POST" and create_match:
        return _create_google_batch(request, store, create_match["model"])
    if request.method == "GET" and _GOOGLE_LIST_PATH.fullmatch(path):
        batches = store.list_batches("batches/")
        return make_json_response({"operations": [_make_google_operation(batch) for batch in batches]})
    if batch_match is None:
        return None
    if batch_match["batch"] not in store.stored:
        return _make_google_error(404, "Requested entity was not found.")
    batch = store.stored[batch_match["batch"]]
    if batch_match["cancel"]:
        batch.cancelled = batch.results is None
        return make_json_response({})
    return interrupt_response(
        make_json_response(_make_google_operation(store.poll(batch))), batch if batch.results is not None else None
    )


def _make_google_error(status: int, message: str, retry_after: float | None = None) -> SimulatedResponse:
    error = {"code": status, "message": message, "status": _GOOGLE_STATUS_NAMES.get(status, "INTERNAL")}
    return make_json_response({"error": error}, status, retry_after=retry_after)


def _create_google_batch(request: RawRequest, store: BatchStore, model: str) -> SimulatedResponse:
    script, fields = store.next_script(), as_mapping(parse_json_object(request.body).get("batch"))
    if script.reject_status is not None:
        return _make_google_error(script.reject_status, "Not now.", script.retry_after)
    rows = [as_mapping(row) for row in as_list(_get_google_requests(fields))]
    path = request.path.partition(":")[0] + ":generateContent"
    jobs = [BatchJob(str(as_mapping(row.get("metadata"))["key"]), path, _get_google_body(row)) for row in rows]
    batch = store.create("batches/{}", jobs, request, script)
    batch.extra_fields = {"displayName": fields.get("displayName"), "model": model}
    return _confirm(_make_google_operation(batch), script)


def _get_google_requests(batch: Mapping[str, Any]) -> Json:
    return as_mapping(as_mapping(batch.get("inputConfig")).get("requests")).get("requests")


def _get_google_body(row: Mapping[str, Any]) -> dict[str, Json]:
    return {key: value for key, value in as_mapping(row.get("request")).items() if key != "model"}


def _make_google_operation(batch: StoredBatch) -> dict[str, Json]:
    created_at = dt.datetime.fromtimestamp(batch.created_at, dt.UTC).isoformat().replace("+00:00", "Z")
    metadata: dict[str, Json] = {
        **batch.extra_fields,
        "state": f"BATCH_STATE_{_get_google_state(batch)}",
        "createTime": created_at,
    }
    if batch.results:
        rows = [_make_google_result(job) for job in batch.results if not job.garbled]
        metadata["output"] = {"inlinedResponses": {"inlinedResponses": rows}}
    return {"name": batch.batch_id, "metadata": metadata, "done": batch.results is not None}


def _get_google_state(batch: StoredBatch) -> str:
    if batch.results is None:
        return "RUNNING"
    if batch.failed:
        return "FAILED"
    return "CANCELLED" if batch.cancelled else "SUCCEEDED"


def _make_google_result(job: FinishedJob) -> dict[str, Json]:
    metadata = {"metadata": {"key": job.job_id}}
    if job.response is None:
        return {**metadata, "error": {"code": _GOOGLE_NOT_RUN_CODES[job.reason], "message": "It was not run."}}
    if job.response.status < FIRST_ERROR and as_mapping(job.body):
        return {**metadata, "response": job.body}
    message = str(as_mapping(as_mapping(job.body).get("error")).get("message") or "Internal error.")
    return {**metadata, "error": {"code": _GOOGLE_RPC_CODES.get(job.response.status, 13), "message": message}}


_BATCH_HANDLERS = {
    WireFormat.OPENAI_RESPONSES: handle_openai_batches,
    WireFormat.ANTHROPIC: handle_anthropic_batches,
    WireFormat.GOOGLE: handle_google_batches,
}


class BatchSimulatorHandler(SimulatorHandler):
    """Answers requests about batches, and all others as ``SimulatorHandler`` does."""

    def __init__(self, answers: AnswerSource, call_log: CallLog, *, seed: int, check_schemas: bool) -> None:
        super().__init__(answers, call_log, seed=seed, check_schemas=check_schemas)
        self.batches = BatchStore(super().handle)

    def reset(self) -> None:
        """Clear the script, the repetition counts and the batches."""
        super().reset()
        self.batches.reset()

    def handle(self, request: RawRequest) -> tuple[SimulatedResponse, SimulatedCall]:
        """Answer a request. Requests about batches cost nothing and are not logged."""
        handle_batches = _BATCH_HANDLERS.get(detect_wire(request.headers))
        response = handle_batches(request, self.batches) if handle_batches else None
        if response is None:
            return super().handle(request)
        self.batches.requests.append(f"{request.method} {request.path}")
        call = SimulatedCall(
            None, request.path, "", None, streamed=False, behaviour=None, status=response.status, usage=NO_USAGE
        )
        return response, call
