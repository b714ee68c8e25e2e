"""Gemini Batch, with inline requests and responses.

Only public calls of the SDK are used, which converts the requests as it does for a single call.

Source: google-genai 3.4.0, ``batches.py`` and ``types.py``; ai.google.dev/gemini-api/docs/batch-api.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from emitter.adapters.http_response import parse_response
from emitter.bulk.batches.vendor_api import (
    CANCELLED,
    EXPIRED,
    HTTP_OK,
    HTTP_SERVER_ERROR,
    MISSING_RESULT,
    PAGE_SIZE,
    BatchItemResult,
    CandidateBatch,
    PackedRequest,
    RejectedRequest,
    VendorBatchStatus,
)
from emitter.errors import InputError
from emitter.messages import Fault, FaultKind, as_mapping

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.bulk.batches.vendor_api import BatchConnection, UnconfirmedBatch
    from emitter.messages import CallResult, Json
    from emitter.profiles import WireFormat

_METADATA_KEY = "key"
_FINAL_STATES = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"})
_STATE_FAULTS = {
    "FAILED": Fault(FaultKind.SERVER, "The batch failed as a whole."),
    "EXPIRED": EXPIRED,
    "CANCELLED": CANCELLED,
}
_RPC_CANCELLED = 1
_STATUSES = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 13: 500, 14: 503, 16: 401}
"""The HTTP status of each google.rpc.Code."""
_STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_HTTP_FIRST_ERROR = 400
_NO_INLINE_BATCHES = "client= has no batches with inline requests."


def pack_request(custom_id: str, body: Mapping[str, Json], wire: WireFormat) -> PackedRequest:  # noqa: ARG001  other vendors need it
    """Return the request in the form that the SDK takes."""
    payload = {"contents": body["contents"], "config": body["config"], "metadata": {_METADATA_KEY: custom_id}}
    return PackedRequest((body["model"], payload), len(json.dumps(payload, default=repr).encode()))


async def submit(connection: BatchConnection, tag: str, requests: Sequence[PackedRequest]) -> str:
    """Create the batch and return its name."""
    model = requests[0].payload[0]
    inlined = [request.payload[1] for request in requests]
    config = {"display_name": tag, "http_options": _http_options(connection)}
    try:
        batch = await connection.client.batches.create(model=model, src=inlined, config=config)
    except json.JSONDecodeError:  # a ValueError as well: the response is unreadable, and the batch may exist
        raise
    except ValueError as error:  # the SDK's error for inline requests at Vertex AI
        raise InputError(_NO_INLINE_BATCHES, hint="Pass a client of the Gemini Developer API.") from error
    if batch.name is None:
        raise json.JSONDecodeError("the response has no name", "", 0)
    return str(batch.name)


async def get_status(connection: BatchConnection, batch_id: str) -> VendorBatchStatus:
    """Return the state of the batch."""
    job = await connection.client.batches.get(name=batch_id, config={"http_options": _http_options(connection)})
    state = _get_state(job)
    answers = list((job.dest and job.dest.inlined_responses) or [])
    failed = sum(answer.error is not None for answer in answers)
    fault = _STATE_FAULTS.get(state)
    invalid = (RejectedRequest(fault),) if fault is not None and state == "FAILED" and not answers else ()
    return VendorBatchStatus(
        state in _FINAL_STATES, len(answers) - failed, failed, fault or MISSING_RESULT, invalid, answers
    )


def _get_state(job: Any) -> str:
    return str(getattr(job.state, "value", job.state)).removeprefix("JOB_STATE_")


async def iter_results(
    connection: BatchConnection,
    batch_id: str,  # noqa: ARG001  other vendors need it
    status: VendorBatchStatus,
) -> AsyncGenerator[BatchItemResult]:
    """Yield the outcome of each request."""
    for response in status.result_source:
        custom_id = as_mapping(response.metadata).get(_METADATA_KEY)
        is_readable = isinstance(custom_id, str)
        yield BatchItemResult(custom_id, _to_answer(connection, response)) if is_readable else BatchItemResult(None)


def _to_answer(connection: BatchConnection, inline: Any) -> CallResult:
    """Return the answer in an inline response."""
    if inline.response is None:
        error = as_mapping(_to_dict(inline.error))
        if error.get("code") == _RPC_CANCELLED:
            return CANCELLED
        status, body = _to_error_response(error)
        return parse_response(connection.profile, connection.wire, status, {}, json.dumps(body))
    return parse_response(connection.profile, connection.wire, HTTP_OK, {}, json.dumps(_to_dict(inline.response)))


def _to_dict(model: Any) -> Json:
    if model is None:
        return None
    return model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"sdk_http_response", "parsed"})


def _to_error_response(error: Mapping[str, Any]) -> tuple[int, Json]:
    """Return the status and body that the error has outside of batches, where its code is an HTTP status."""
    code = int(error.get("code") or 0)
    status = code if code >= _HTTP_FIRST_ERROR else _STATUSES.get(code, HTTP_SERVER_ERROR)
    names = {"status": _STATUS_NAMES[status]} if status in _STATUS_NAMES else {}
    return status, {"error": {**error, "code": status, **names}}


async def find_candidates(connection: BatchConnection, unconfirmed: UnconfirmedBatch) -> list[CandidateBatch]:
    """Return the batch with the tag as its name, if there is one."""
    config = {"page_size": PAGE_SIZE, "http_options": _http_options(connection)}
    candidates: list[CandidateBatch] = []
    async for job in await connection.client.batches.list(config=config):
        if job.display_name == unconfirmed.tag:
            candidates.append(CandidateBatch(str(job.name), is_ours=True))
        if candidates or (job.create_time is not None and job.create_time < unconfirmed.submitted_at):
            break
    return candidates


async def cancel(connection: BatchConnection, batch_id: str) -> None:
    """Cancel the batch."""
    await connection.client.batches.cancel(name=batch_id, config={"http_options": _http_options(connection)})


def _http_options(connection: BatchConnection) -> dict[str, Json]:
    """Return the timeout in milliseconds, and a single attempt, since a retry could pay for a batch twice."""
    return {"timeout": max(1, int(connection.timeout * 1000)), "retry_options": {"attempts": 1}}
