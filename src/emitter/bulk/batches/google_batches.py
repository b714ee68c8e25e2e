"""Gemini Batch, with inline requests and responses.

The SDK encodes the requests as it does for a single call. Responses are read here.

Source: google-genai 3.4.0, ``batches.py`` and ``types.py``; ai.google.dev/gemini-api/docs/batch-api.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from emitter.adapters.http_response import ResponseHead, decode_response, read_object
from emitter.adapters.response_decoding import as_count, as_objects, as_string, make_protocol_fault
from emitter.adapters.transport import HttpRequest, google_options
from emitter.bulk.batches.exchanges import (
    ENDLESS_LIST,
    MAX_PAGES,
    PAGE_SIZE,
    BatchRequestFailed,
    check_batch,
    exchange,
    require_id,
    send,
)
from emitter.bulk.batches.row_splitters import ArraySplitter
from emitter.bulk.batches.rows import iter_rows, read_result
from emitter.bulk.batches.vendor_api import (
    CANCELLED,
    EXPIRED,
    HTTP_OK,
    HTTP_SERVER_ERROR,
    MISSING_RESULT,
    BatchItemResult,
    CandidateBatch,
    PackedRequest,
    RejectedRequest,
    VendorBatchStatus,
)
from emitter.messages import Fault, FaultKind, as_mapping
from emitter.outside_values import parse_date

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.adapters.transport import GoogleClientView
    from emitter.bulk.batches.row_splitters import Row
    from emitter.bulk.batches.vendor_api import BatchConnection, SubmittedBatch, UnconfirmedBatch
    from emitter.messages import CallResult, ExpectedAnswer, Json
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
_ERROR_STATUSES = range(400, 600)


def pack_request(custom_id: str, body: Mapping[str, Json], wire: WireFormat) -> PackedRequest:  # noqa: ARG001  other vendors need it
    """Return the request in the form that the SDK takes."""
    payload = {"contents": body["contents"], "config": body["config"], "metadata": {_METADATA_KEY: custom_id}}
    return PackedRequest((body["model"], payload), len(json.dumps(payload, default=repr).encode()))


async def submit(connection: BatchConnection, tag: str, requests: Sequence[PackedRequest]) -> str:
    """Create the batch and return its name."""
    deadline = connection.deadline.narrow(connection.policy.timeout)
    arguments = {
        "model": requests[0].payload[0],
        "src": [request.payload[1] for request in requests],
        "config": {"display_name": tag, "http_options": google_options(deadline.remaining())},
    }
    async with exchange(connection, connection.policy.max_response_bytes) as client:
        async with asyncio.timeout(deadline.timeout()):
            response = await cast("GoogleClientView", client).create_batch(arguments)
        batch = read_object(response)
    return require_id(batch, "name")


async def get_status(connection: BatchConnection, batch: SubmittedBatch) -> VendorBatchStatus:
    """Return the state of the batch."""
    splitter, count = _make_splitter(connection), 0
    async with aclosing(_iter_rows(connection, batch, splitter)) as rows:
        async for _ in rows:
            count += 1
    check_batch(splitter.document, batch, "name")
    metadata = as_mapping(splitter.document.get("metadata"))
    state = as_string(metadata.get("state")).removeprefix("BATCH_STATE_")
    fault = _STATE_FAULTS.get(state)
    invalid = (RejectedRequest(fault),) if fault is not None and state == "FAILED" and not count else ()
    return VendorBatchStatus(state in _FINAL_STATES, count, 0, fault or MISSING_RESULT, invalid)


def _make_splitter(connection: BatchConnection) -> ArraySplitter:
    """Return a splitter of the results in the state of a batch. The operation has a copy of them."""
    results = ("inlinedResponses", "inlinedResponses")
    return ArraySplitter(connection.policy.max_response_bytes, ("metadata", "output", *results), ("response", *results))


def _iter_rows(connection: BatchConnection, batch: SubmittedBatch, splitter: ArraySplitter) -> AsyncGenerator[Row]:
    return iter_rows(connection, HttpRequest("get", _path(batch.batch_id), is_streamed=True), splitter, batch.size)


def _path(batch_id: str) -> str:
    """Return the path of a batch, whose name is ``batches/ID``."""
    return f"batches/{quote(batch_id.removeprefix('batches/'), safe='')}"


async def iter_results(
    connection: BatchConnection,
    batch: SubmittedBatch,
    status: VendorBatchStatus,  # noqa: ARG001  other vendors need it
) -> AsyncGenerator[BatchItemResult]:
    """Yield the outcome of each request."""
    async with aclosing(_iter_rows(connection, batch, _make_splitter(connection))) as rows:
        async for row in rows:
            yield read_result(row, ("metadata", _METADATA_KEY), partial(_decode_row, connection), batch)


def _decode_row(connection: BatchConnection, row: Mapping[str, Any], expected: ExpectedAnswer) -> CallResult:
    """Return the outcome in a row. It is a success only by its response, without an error beside it."""
    response, error = row.get("response"), row.get("error")
    if isinstance(error, dict) and response is None:
        members = as_mapping(error)
        if members.get("code") == _RPC_CANCELLED:
            return CANCELLED
        status, body = _to_error_response(members)
        return decode_response(connection.profile, connection.wire, ResponseHead(status), body, expected=expected)
    if isinstance(response, dict) and error is None:
        return decode_response(connection.profile, connection.wire, ResponseHead(HTTP_OK), response, expected=expected)
    return make_protocol_fault("the result is neither a response nor an error")


def _to_error_response(error: Mapping[str, Any]) -> tuple[int, Json]:
    """Return the status and body that the error has outside of batches, where its code is an HTTP status."""
    code = as_count(error.get("code"))
    status = code if code in _ERROR_STATUSES else _STATUSES.get(code, HTTP_SERVER_ERROR)
    names = {"status": _STATUS_NAMES[status]} if status in _STATUS_NAMES else {}
    return status, {"error": {**error, "code": status, **names}}


async def find_candidates(connection: BatchConnection, unconfirmed: UnconfirmedBatch) -> list[CandidateBatch]:
    """Return the batch with the tag as its name, if there is one."""
    params: dict[str, str | int] = {"pageSize": PAGE_SIZE}
    for _ in range(MAX_PAGES):
        page = await send(connection, HttpRequest("get", "batches", params=params))
        for batch in as_objects(page.get("operations")):
            metadata = as_mapping(batch.get("metadata"))
            if metadata.get("displayName") == unconfirmed.tag:
                return [CandidateBatch(require_id(batch, "name"), is_ours=True)]
            created_at = parse_date(metadata.get("createTime"))
            if created_at is not None and created_at < unconfirmed.submitted_at:
                return []
        token = page.get("nextPageToken")
        if not isinstance(token, str) or not token:
            return []
        params["pageToken"] = token
    raise BatchRequestFailed(ENDLESS_LIST)


async def cancel(connection: BatchConnection, batch_id: str) -> None:
    """Cancel the batch."""
    await send(connection, HttpRequest("post", f"{_path(batch_id)}:cancel"))
