"""The batches of a simulated vendor, and the batch APIs of OpenAI, Anthropic and Google as a server.

``vendor.batches.script(BatchScript(...))`` sets the course of the next batches.

Sources: openai 3.52.0, ``types/batch.py``, ``types/file_object.py``; anthropic 2.11.0,
``types/messages/message_batch.py``, ``message_batch_individual_response.py``; google-genai 3.4.0, ``batches.py``.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qs

from emitter.messages import as_list, as_mapping
from emitter.profiles.model import WireFormat
from emitter.testing.plans import Transmission, TransmissionOutcome
from emitter.testing.responses import FIRST_ERROR, NO_USAGE, RawRequest, SimulatedResponse
from emitter.testing.wires.common import dump_compact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.messages import Json
    from emitter.testing.responses import SimulatedCall


@dataclass(frozen=True, slots=True)
class BatchScript:
    """The course of one batch.

    Attributes:
        reject_status: Reject the creation with this HTTP status.
        retry_after: The ``retry-after`` of that rejection, in seconds.
        drop_confirmation: Create the batch, then cut the connection before the response.
        invalid_code: Fail the whole batch after its creation, with this error code.
        invalid_at: The request that caused ``invalid_code``; only OpenAI reports it.
        expired: Indices of requests that are not run in time.
        missing: Indices of requests without a result.
        duplicated: Indices of requests with two results.
        garbled: Indices of requests whose result is not JSON.
        add_unknown_result: Add a result with an unknown id.
        reverse_results: Return the results in reverse order.
        cut_downloads: How many downloads of the results are cut off.
        short_downloads: How many downloads end early without an error.
        unlisted_count: How many lists do not have the batch yet.
    """

    reject_status: int | None = None
    retry_after: float | None = None
    drop_confirmation: bool = False
    invalid_code: str | None = None
    invalid_at: int | None = None
    expired: Sequence[int] = ()
    missing: Sequence[int] = ()
    duplicated: Sequence[int] = ()
    garbled: Sequence[int] = ()
    add_unknown_result: bool = False
    reverse_results: bool = False
    cut_downloads: int = 0
    short_downloads: int = 0
    unlisted_count: int = 0


@dataclass(frozen=True, slots=True)
class BatchJob:
    """One request of a batch, as a single call would send it. ``job_id`` is the client's id."""

    job_id: str
    path: str
    body: Json


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """The result of one request: the response of the single call, or the reason why it did not run."""

    job_id: str
    response: SimulatedResponse | None
    reason: str = ""
    garbled: bool = False

    @property
    def body(self) -> Json:
        """The JSON body of the response, or its text if it is not JSON."""
        body = self.response.body if self.response else b""
        try:
            return json.loads(body)
        except ValueError:
            return body.decode(errors="replace")


@dataclass(slots=True)
class StoredBatch:
    """A batch at the vendor. It ends after ``polls_left`` more polls."""

    batch_id: str
    jobs: list[BatchJob]
    headers: Mapping[str, str]
    script: BatchScript
    polls_left: int
    extra_fields: dict[str, Json] = field(default_factory=dict[str, "Json"])
    created_at: float = field(default_factory=time.time)
    cancelled: bool = False
    results: list[FinishedJob] | None = None
    cut_count: int = 0
    short_count: int = 0
    list_count: int = 0

    @property
    def failed(self) -> bool:
        """True if it ended as invalid, without running any request."""
        return self.results is not None and self.script.invalid_code is not None


class BatchStore:
    """All batches and uploaded files. A batch ends after ``polls``; ``requests`` lists the requests about batches."""

    def __init__(self, handle: Callable[[RawRequest], tuple[SimulatedResponse, SimulatedCall]], polls: int = 1) -> None:
        self.polls = polls
        self.stored: dict[str, StoredBatch] = {}
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        self._handle = handle
        self._script: deque[BatchScript] = deque()

    def script(self, *scripts: BatchScript) -> None:
        """Set the course of the next batches, in the order of their creation."""
        self._script.extend(scripts)

    @property
    def submitted(self) -> int:
        """The number of requests in all batches."""
        return sum(len(batch.jobs) for batch in self.stored.values())

    def reset(self) -> None:
        """Remove all batches and files, and clear the script."""
        self.stored.clear()
        self.files.clear()
        self.requests.clear()
        self._script.clear()

    def next_script(self) -> BatchScript:
        """Return the script of the next batch."""
        return self._script.popleft() if self._script else BatchScript()

    def create(self, name: str, jobs: list[BatchJob], request: RawRequest, script: BatchScript) -> StoredBatch:
        """Store a new batch."""
        batch_id = name.format(f"{len(self.stored) + 1:08d}")
        batch = self.stored[batch_id] = StoredBatch(batch_id, jobs, request.headers, script, self.polls)
        return batch

    def list_batches(self, prefix: str) -> list[StoredBatch]:
        """Return the listed batches whose ids have this prefix, the latest first."""
        batches = [batch for batch in reversed(self.stored.values()) if batch.batch_id.startswith(prefix)]
        for batch in batches:
            batch.list_count += 1
        return [batch for batch in batches if batch.list_count > batch.script.unlisted_count]

    def poll(self, batch: StoredBatch) -> StoredBatch:
        """Count a poll, and run the batch after the last one."""
        batch.polls_left -= 1
        if batch.results is None and (batch.polls_left <= 0 or batch.cancelled):
            batch.results = [] if batch.script.invalid_code else self._run(batch)
        return batch

    def _run(self, batch: StoredBatch) -> list[FinishedJob]:
        """Run the requests, or the first half of them if the batch was cancelled meanwhile."""
        script, limit = batch.script, len(batch.jobs) // 2 if batch.cancelled else len(batch.jobs)
        results = [self._run_job(batch, index, job, limit) for index, job in enumerate(batch.jobs)]
        results += [results[index] for index in script.duplicated]
        if script.add_unknown_result:
            results.append(FinishedJob("unknown-id", None, "expired"))
        results = [result for index, result in enumerate(results) if index not in script.missing]
        return results[::-1] if script.reverse_results else results

    def _run_job(self, batch: StoredBatch, index: int, job: BatchJob, limit: int) -> FinishedJob:
        if index in batch.script.expired:
            return FinishedJob(job.job_id, None, "expired")
        if index >= limit:
            return FinishedJob(job.job_id, None, "cancelled")
        body = json.dumps(job.body).encode()
        response, _ = self._handle(RawRequest("POST", job.path, batch.headers, body))
        return FinishedJob(job.job_id, response, garbled=index in batch.script.garbled)


def count_results(batch: StoredBatch) -> tuple[int, int]:
    """Return how many requests succeeded, and how many failed."""
    succeeded = sum(job.response is not None and job.response.status < FIRST_ERROR for job in batch.results or [])
    return succeeded, len(batch.results or []) - succeeded


def make_json_response(body: Json, status: int = 200, *, retry_after: float | None = None) -> SimulatedResponse:
    """Return a JSON response without usage."""
    headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    return SimulatedResponse(
        status, {"content-type": "application/json", **headers}, dump_compact(body).encode(), NO_USAGE
    )


def interrupt_response(
    response: SimulatedResponse, batch: StoredBatch | None = None, *, before: bool = False
) -> SimulatedResponse:
    """Return a response that is cut off: ``before`` its headers, or as often as the batch's script says."""
    if before:
        return replace(response, transmission=Transmission(TransmissionOutcome.DISCONNECTED, None))
    if batch is not None and batch.short_count < batch.script.short_downloads:
        batch.short_count += 1
        return replace(response, body=response.body[: response.body.find(b"\n") + 1])
    if batch is None or batch.cut_count >= batch.script.cut_downloads:
        return response
    batch.cut_count += 1
    return replace(response, transmission=Transmission(TransmissionOutcome.DISCONNECTED, len(response.body) // 2))


def write_json_lines(rows: Sequence[tuple[Json, bool]]) -> bytes:
    """Return rows as JSON lines. Garbled rows are not JSON."""
    return b"".join((b"<html>" if garbled else dump_compact(row).encode()) + b"\n" for row, garbled in rows)


def parse_json_object(raw: bytes) -> Mapping[str, Any]:
    """Return the JSON object in a body, or an empty one."""
    try:
        return as_mapping(json.loads(raw))
    except (ValueError, RecursionError):
        return {}


@dataclass(frozen=True, slots=True)
class _BatchRequest:
    """A request about batches, with the match of its path."""

    raw: RawRequest
    store: BatchStore
    path: re.Match[str]

    @property
    def batch(self) -> StoredBatch:
        return self.store.stored[self.path["batch"]]


class BatchApi:
    """A vendor's batch API. ``routes`` maps the pattern of a method and path to the action that answers it."""

    routes: ClassVar[Mapping[str, str]]
    id_format: ClassVar[str]
    cursor: ClassVar[str] = ""
    """The parameter that asks for the page after a batch."""
    results_type: ClassVar[str] = ""
    rejects_invalid: ClassVar[bool] = False
    """True if an invalid batch is rejected at its creation."""
    polls_listed: ClassVar[bool] = False
    """True if a list counts as a poll."""

    def handle(self, request: RawRequest, store: BatchStore) -> SimulatedResponse | None:
        """Answer a request about batches, or return None for any other request."""
        line = f"{request.method} {request.path.partition('?')[0]}"
        for pattern, action in self.routes.items():
            match = re.fullmatch(pattern, line)
            if match is None:
                continue
            if "batch" in match.re.groupindex and match["batch"] not in store.stored:
                return self._error(404, f"No batch found with id '{match['batch']}'.")
            answer: SimulatedResponse = getattr(self, f"_{action}")(_BatchRequest(request, store, match))
            return answer
        return None

    def _create(self, request: _BatchRequest) -> SimulatedResponse:
        script = request.store.next_script()
        if script.reject_status is not None:
            return self._error(script.reject_status, "The batch is rejected.", script.retry_after)
        if script.invalid_code is not None and self.rejects_invalid:
            return self._error(400, "requests: Invalid request.")
        jobs, extra_fields = self._parse(request, parse_json_object(request.raw.body))
        batch = request.store.create(self.id_format, jobs, request.raw, script)
        batch.extra_fields = extra_fields
        response = make_json_response(self._write(batch))
        return interrupt_response(response, before=True) if script.drop_confirmation else response

    def _list(self, request: _BatchRequest) -> SimulatedResponse:
        """Answer with a page of a single batch, so that clients must read several pages."""
        after_id = parse_qs(request.raw.path.partition("?")[2]).get(self.cursor, [""])[0]
        batches = request.store.list_batches(self.id_format.format(""))
        start = next((index + 1 for index, batch in enumerate(batches) if batch.batch_id == after_id), 0)
        page = [request.store.poll(batch) if self.polls_listed else batch for batch in batches[start : start + 1]]
        return make_json_response(
            {"object": "list", "data": [*map(self._write, page)], "has_more": len(batches) > start + 1}
        )

    def _get(self, request: _BatchRequest) -> SimulatedResponse:
        return make_json_response(self._write(request.store.poll(request.batch)))

    def _cancel(self, request: _BatchRequest) -> SimulatedResponse:
        batch = request.batch
        batch.cancelled = batch.cancelled or batch.results is None
        return make_json_response(self._write(batch))

    def _download(self, request: _BatchRequest) -> SimulatedResponse:
        kind = request.path.groupdict().get("kind")
        jobs = [job for job in request.batch.results or [] if kind in (None, _get_file_kind(job))]
        body = write_json_lines([(self._write_result(job), job.garbled) for job in jobs])
        return interrupt_response(
            SimulatedResponse(200, {"content-type": self.results_type}, body, NO_USAGE), request.batch
        )

    def _parse(self, request: _BatchRequest, body: Mapping[str, Any]) -> tuple[list[BatchJob], dict[str, Json]]:
        """Return the requests of a new batch, and the fields that its status repeats."""
        raise NotImplementedError

    def _write(self, batch: StoredBatch) -> dict[str, Json]:
        raise NotImplementedError

    def _write_result(self, job: FinishedJob) -> dict[str, Json]:
        raise NotImplementedError

    def _error(self, status: int, message: str, retry_after: float | None = None) -> SimulatedResponse:
        raise NotImplementedError


def _get_file_kind(job: FinishedJob) -> str:
    return "output" if job.response is not None and job.response.status < FIRST_ERROR else "error"


class OpenAIBatches(BatchApi):
    """Batches whose requests, results and errors are files."""

    routes: ClassVar[Mapping[str, str]] = {
        "POST /v1/files": "upload",
        r"GET /v1/files/(?P<kind>output|error)-(?P<batch>[^/]+)/content": "download",
        "POST /v1/batches": "create",
        "GET /v1/batches": "list",
        r"GET /v1/batches/(?P<batch>[^/]+)": "get",
        r"POST /v1/batches/(?P<batch>[^/]+)/cancel": "cancel",
    }
    id_format: ClassVar[str] = "batch_{}"
    cursor: ClassVar[str] = "after"
    results_type: ClassVar[str] = "application/binary"
    _UPLOAD_PART = re.compile(rb'filename="[^"]*"(?:\r\n[^\r\n]+)*\r\n\r\n(?P<content>.*?)\r\n--', re.DOTALL)
    _ERROR_TYPES: ClassVar[Mapping[int, str]] = {
        400: "invalid_request_error",
        401: "invalid_request_error",
        404: "invalid_request_error",
        429: "rate_limit_exceeded",
    }
    _FIELDS = ("metadata", "endpoint", "input_file_id", "completion_window")

    def _upload(self, request: _BatchRequest) -> SimulatedResponse:
        files, part = request.store.files, self._UPLOAD_PART.search(request.raw.body)
        file_id = f"file-{len(files) + 1:08d}"
        files[file_id] = part["content"] if part else b""
        fields = {"filename": "batch.jsonl", "purpose": "batch", "created_at": 0, "status": "processed"}
        return make_json_response({"id": file_id, "object": "file", "bytes": len(files[file_id]), **fields})

    def _parse(self, request: _BatchRequest, body: Mapping[str, Any]) -> tuple[list[BatchJob], dict[str, Json]]:
        lines = request.store.files[str(body["input_file_id"])].splitlines()
        jobs = [BatchJob(str(row["custom_id"]), str(row["url"]), row["body"]) for row in map(parse_json_object, lines)]
        return jobs, {name: body.get(name) for name in self._FIELDS}

    def _write(self, batch: StoredBatch) -> dict[str, Json]:
        succeeded, failed = count_results(batch)
        has_results = batch.results is not None and not batch.failed
        files = {_get_file_kind(job) for job in batch.results or []} if has_results else set[str]()
        line = None if batch.script.invalid_at is None else batch.script.invalid_at + 1
        error = {"code": batch.script.invalid_code, "message": "The line is invalid.", "param": None, "line": line}
        return {
            "id": batch.batch_id,
            "object": "batch",
            **batch.extra_fields,
            "status": self._get_status(batch),
            "created_at": int(batch.created_at),
            "errors": {"object": "list", "data": [error]} if batch.failed else None,
            "output_file_id": f"output-{batch.batch_id}" if "output" in files else None,
            "error_file_id": f"error-{batch.batch_id}" if "error" in files else None,
            "request_counts": {"total": len(batch.jobs), "completed": succeeded, "failed": failed},
        }

    def _get_status(self, batch: StoredBatch) -> str:
        if batch.results is None:
            return "cancelling" if batch.cancelled else "in_progress"
        if batch.failed:
            return "failed"
        if batch.cancelled:
            return "cancelled"
        return "expired" if batch.script.expired else "completed"

    def _write_result(self, job: FinishedJob) -> dict[str, Json]:
        response, error = None, None
        if job.response is None:
            error = {"code": f"batch_{job.reason}", "message": "The request was not run."}
        else:
            request_id, body = job.response.headers.get("x-request-id"), as_mapping(job.body) or json.dumps(job.body)
            response = {"status_code": job.response.status, "request_id": request_id, "body": body}
        return {"id": f"batch_req_{job.job_id}", "custom_id": job.job_id, "response": response, "error": error}

    def _error(self, status: int, message: str, retry_after: float | None = None) -> SimulatedResponse:
        kind = self._ERROR_TYPES.get(status, "server_error")
        error = {"message": message, "type": kind, "code": kind, "param": None}
        return make_json_response({"error": error}, status, retry_after=retry_after)


class AnthropicBatches(BatchApi):
    """Message batches, whose requests are one body and whose results are one file."""

    routes: ClassVar[Mapping[str, str]] = {
        "POST /v1/messages/batches": "create",
        "GET /v1/messages/batches": "list",
        r"GET /v1/messages/batches/(?P<batch>[^/]+)": "get",
        r"GET /v1/messages/batches/(?P<batch>[^/]+)/results": "download",
        r"POST /v1/messages/batches/(?P<batch>[^/]+)/cancel": "cancel",
    }
    id_format: ClassVar[str] = "msgbatch_{}"
    cursor: ClassVar[str] = "after_id"
    results_type: ClassVar[str] = "application/x-jsonl"
    rejects_invalid: ClassVar[bool] = True
    polls_listed: ClassVar[bool] = True
    _ERROR_TYPES: ClassVar[Mapping[int, str]] = {
        400: "invalid_request_error",
        401: "authentication_error",
        404: "not_found_error",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    _RESULT_TYPES: ClassVar[Mapping[str, str]] = {"expired": "expired", "cancelled": "canceled"}
    _COUNT_NAMES = ("succeeded", "errored", "canceled", "expired")

    def _parse(self, request: _BatchRequest, body: Mapping[str, Any]) -> tuple[list[BatchJob], dict[str, Json]]:  # noqa: ARG002
        rows = map(as_mapping, as_list(body.get("requests")))
        return [BatchJob(str(row["custom_id"]), "/v1/messages", row["params"]) for row in rows], {}

    def _write(self, batch: StoredBatch) -> dict[str, Json]:
        ended, base_url = batch.results is not None, "https://api.anthropic.com/v1/messages/batches"
        kinds = [str(self._make_result(job)["type"]) for job in batch.results or []]
        created_at = dt.datetime.fromtimestamp(batch.created_at, dt.UTC).isoformat()
        status = "canceling" if batch.cancelled else "in_progress"
        counts: dict[str, Json] = {name: kinds.count(name) for name in self._COUNT_NAMES}
        return {
            "id": batch.batch_id,
            "type": "message_batch",
            "processing_status": "ended" if ended else status,
            "request_counts": {"processing": 0 if ended else len(batch.jobs), **counts},
            "created_at": created_at,
            "expires_at": created_at,
            "results_url": f"{base_url}/{batch.batch_id}/results" if ended else None,
        }

    def _write_result(self, job: FinishedJob) -> dict[str, Json]:
        return {"custom_id": job.job_id, "result": self._make_result(job)}

    def _make_result(self, job: FinishedJob) -> dict[str, Json]:
        if job.response is None:
            return {"type": self._RESULT_TYPES[job.reason]}
        if job.response.status < FIRST_ERROR and as_mapping(job.body):
            return {"type": "succeeded", "message": job.body}
        fallback = {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}
        return {"type": "errored", "error": as_mapping(job.body) or fallback}

    def _error(self, status: int, message: str, retry_after: float | None = None) -> SimulatedResponse:
        error = {"type": self._ERROR_TYPES.get(status, "api_error"), "message": message}
        body = {"type": "error", "error": error, "request_id": "req_batches"}
        return make_json_response(body, status, retry_after=retry_after)


class GoogleBatches(BatchApi):
    """Batches with inline requests and responses."""

    routes: ClassVar[Mapping[str, str]] = {
        r"POST /v1(beta)?/(?P<model>models/[^/:]+):batchGenerateContent": "create",
        r"GET /v1(beta)?/batches": "list",
        r"GET /v1(beta)?/(?P<batch>batches/[^/:]+)": "get",
        r"POST /v1(beta)?/(?P<batch>batches/[^/:]+):cancel": "cancel",
    }
    id_format: ClassVar[str] = "batches/{}"
    _STATUS_NAMES: ClassVar[Mapping[int, str]] = {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        404: "NOT_FOUND",
        429: "RESOURCE_EXHAUSTED",
        503: "UNAVAILABLE",
    }
    _RPC_CODES: ClassVar[Mapping[int, int]] = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14, 504: 4}
    _NOT_RUN_CODES: ClassVar[Mapping[str, int]] = {"expired": 4, "cancelled": 1}

    def _list(self, request: _BatchRequest) -> SimulatedResponse:
        batches = request.store.list_batches(self.id_format.format(""))
        return make_json_response({"operations": [self._write(batch) for batch in batches]})

    def _get(self, request: _BatchRequest) -> SimulatedResponse:
        response, batch = super()._get(request), request.batch
        return interrupt_response(response, batch if batch.results is not None else None)

    def _cancel(self, request: _BatchRequest) -> SimulatedResponse:
        super()._cancel(request)
        return make_json_response({})

    def _parse(self, request: _BatchRequest, body: Mapping[str, Any]) -> tuple[list[BatchJob], dict[str, Json]]:
        fields = as_mapping(body.get("batch"))
        rows = as_list(as_mapping(as_mapping(fields.get("inputConfig")).get("requests")).get("requests"))
        path = request.raw.path.partition(":")[0] + ":generateContent"
        jobs = [self._parse_row(as_mapping(row), path) for row in rows]
        return jobs, {"displayName": fields.get("displayName"), "model": request.path["model"]}

    def _parse_row(self, row: Mapping[str, Any], path: str) -> BatchJob:
        body = {key: value for key, value in as_mapping(row.get("request")).items() if key != "model"}
        return BatchJob(str(as_mapping(row.get("metadata"))["key"]), path, body)

    def _write(self, batch: StoredBatch) -> dict[str, Json]:
        created_at = dt.datetime.fromtimestamp(batch.created_at, dt.UTC).isoformat().replace("+00:00", "Z")
        metadata: dict[str, Json] = {
            **batch.extra_fields,
            "state": f"BATCH_STATE_{self._get_state(batch)}",
            "createTime": created_at,
        }
        if batch.results:
            rows = [self._write_result(job) for job in batch.results if not job.garbled]
            metadata["output"] = {"inlinedResponses": {"inlinedResponses": rows}}
        return {"name": batch.batch_id, "metadata": metadata, "done": batch.results is not None}

    def _get_state(self, batch: StoredBatch) -> str:
        if batch.results is None:
            return "RUNNING"
        if batch.failed:
            return "FAILED"
        return "CANCELLED" if batch.cancelled else "SUCCEEDED"

    def _write_result(self, job: FinishedJob) -> dict[str, Json]:
        metadata = {"metadata": {"key": job.job_id}}
        if job.response is None:
            return {
                **metadata,
                "error": {"code": self._NOT_RUN_CODES[job.reason], "message": "The request was not run."},
            }
        if job.response.status < FIRST_ERROR and as_mapping(job.body):
            return {**metadata, "response": job.body}
        message = str(as_mapping(as_mapping(job.body).get("error")).get("message") or "Internal error.")
        return {**metadata, "error": {"code": self._RPC_CODES.get(job.response.status, 13), "message": message}}

    def _error(self, status: int, message: str, retry_after: float | None = None) -> SimulatedResponse:
        error = {"code": status, "message": message, "status": self._STATUS_NAMES.get(status, "INTERNAL")}
        return make_json_response({"error": error}, status, retry_after=retry_after)


BATCH_APIS: Mapping[WireFormat, BatchApi] = {
    WireFormat.OPENAI_RESPONSES: OpenAIBatches(),
    WireFormat.ANTHROPIC: AnthropicBatches(),
    WireFormat.GOOGLE: GoogleBatches(),
}
"""The batch API of each vendor, by the API that its clients call."""
