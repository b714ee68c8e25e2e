"""Batches of a simulated vendor: their contents, how often they are polled, and their failures.

``vendor.batches.script(BatchScript(...))`` sets the course of the next batches.
"""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from emitter.messages import as_mapping
from emitter.testing.handler import FIRST_ERROR, NO_USAGE, RawRequest, SimulatedResponse
from emitter.testing.plans import Transmission, TransmissionOutcome
from emitter.testing.wires.common import dump_compact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.messages import Json
    from emitter.testing.handler import SimulatedCall


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
        """Run the requests, or the first half of them if the batch was cancelled."""
        script, limit = batch.script, len(batch.jobs) // 2 if batch.cancelled else len(batch.jobs)
        results = [self._run_job(batch, index, job, limit) for index, job in enumerate(batch.jobs)]
        results += [results[index] for index in script.duplicated]
        if script.add_unknown_result:
            results.append(FinishedJob("nobody-asked-for-this", None, "expired"))
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
    """Return a response that is cut off: as often as the batch's script says, or ``before`` its headers."""
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
