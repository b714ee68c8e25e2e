"""Anthropic Message Batches.

Source: anthropic 2.11.0, ``resources/messages/batches.py`` (paths) and ``types/messages`` (statuses, results);
platform.claude.com/docs/en/build-with-claude/batch-processing.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from emitter.adapters.http_response import ResponseHead, decode_response
from emitter.adapters.response_decoding import as_count, as_string, make_protocol_fault
from emitter.adapters.transport import HttpRequest
from emitter.bulk.batches.exchanges import check_batch, iter_recent_batches, require_id, send
from emitter.bulk.batches.row_splitters import LineSplitter
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
    SubmittedBatch,
    VendorBatchStatus,
)
from emitter.messages import as_mapping

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.bulk.batches.vendor_api import BatchConnection, UnconfirmedBatch
    from emitter.messages import CallResult, ExpectedAnswer, Json
    from emitter.profiles import WireFormat

_PATH = "/v1/messages/batches"
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP status that each kind of error has outside of batches (platform.claude.com/docs/en/api/errors).

The adapter classifies errors by the status, which results in a batch do not have.
"""
_RESULT_FAULTS = {"expired": EXPIRED, "canceled": CANCELLED}


def pack_request(custom_id: str, body: Mapping[str, Json], wire: WireFormat) -> PackedRequest:  # noqa: ARG001  other vendors need it
    """Return the request as a member of the batch."""
    payload = json.dumps({"custom_id": custom_id, "params": body}).encode()
    return PackedRequest(payload, len(payload) + 1)


async def submit(connection: BatchConnection, tag: str, requests: Sequence[PackedRequest]) -> str:  # noqa: ARG001  the tag is in every custom id
    """Create the batch and return its id."""
    content = b'{"requests":[' + b",".join(request.payload for request in requests) + b"]}"
    return require_id(await send(connection, HttpRequest("post", _PATH, content)))


async def get_status(connection: BatchConnection, batch: SubmittedBatch) -> VendorBatchStatus:
    """Return the state of the batch."""
    state = await send(connection, HttpRequest("get", f"{_PATH}/{quote(batch.batch_id, safe='')}"))
    check_batch(state, batch)
    counts = as_mapping(state.get("request_counts"))
    failed = sum(as_count(counts.get(name)) for name in ("errored", "canceled", "expired"))
    return VendorBatchStatus(
        state.get("processing_status") == "ended", as_count(counts.get("succeeded")), failed, MISSING_RESULT
    )


async def iter_results(
    connection: BatchConnection,
    batch: SubmittedBatch,
    status: VendorBatchStatus,  # noqa: ARG001  other vendors need it
) -> AsyncGenerator[BatchItemResult]:
    """Yield the outcome of each request."""
    path = f"{_PATH}/{quote(batch.batch_id, safe='')}/results"
    request = HttpRequest("get", path, headers={"Accept": "application/binary"}, is_streamed=True)
    splitter = LineSplitter(connection.policy.max_response_bytes)
    async with aclosing(iter_rows(connection, request, splitter, batch.size)) as rows:
        async for row in rows:
            yield read_result(row, ("custom_id",), partial(_decode_line, connection), batch)


def _decode_line(connection: BatchConnection, line: Mapping[str, Any], expected: ExpectedAnswer) -> CallResult:
    """Return the outcome in a line. It is a success only by its type, with a message and without an error."""
    result = as_mapping(line.get("result"))
    kind, message, error = as_string(result.get("type")), result.get("message"), result.get("error")
    if kind in _RESULT_FAULTS:
        return _RESULT_FAULTS[kind]
    if kind == "errored" and isinstance(error, dict):
        status = _STATUSES.get(as_string(as_mapping(as_mapping(error).get("error")).get("type")), HTTP_SERVER_ERROR)
        return decode_response(
            connection.profile, connection.wire, ResponseHead(status), as_mapping(error), expected=expected
        )
    if kind == "succeeded" and isinstance(message, dict) and error is None:
        return decode_response(connection.profile, connection.wire, ResponseHead(HTTP_OK), message, expected=expected)
    return make_protocol_fault("the result is neither a message nor an error")


async def find_candidates(connection: BatchConnection, unconfirmed: UnconfirmedBatch) -> list[CandidateBatch]:
    """Return recent batches of the same size.

    Message Batches have neither a name nor metadata: only the custom ids in its results show whose a batch is.
    """
    async with aclosing(iter_recent_batches(connection, _PATH, "after_id", unconfirmed.submitted_at)) as batches:
        return [
            await _to_candidate(connection, batch, unconfirmed)
            async for batch in batches
            if sum(map(as_count, as_mapping(batch.get("request_counts")).values())) == unconfirmed.size
        ]


async def _to_candidate(
    connection: BatchConnection, batch: Mapping[str, Any], unconfirmed: UnconfirmedBatch
) -> CandidateBatch:
    batch_id = require_id(batch)
    if batch.get("processing_status") != "ended":
        return CandidateBatch(batch_id, is_ours=None)
    submitted = SubmittedBatch(batch_id, unconfirmed.size)
    results = iter_results(connection, submitted, VendorBatchStatus(has_ended=True))
    async with aclosing(results):
        custom_id = await anext((result.custom_id async for result in results if result.custom_id), "")
    return CandidateBatch(batch_id, is_ours=custom_id.startswith(f"{unconfirmed.tag}-"))


async def cancel(connection: BatchConnection, batch_id: str) -> None:
    """Cancel the batch."""
    await send(connection, HttpRequest("post", f"{_PATH}/{quote(batch_id, safe='')}/cancel"))
