"""Anthropic Message Batches.

Source: anthropic 2.11.0, ``resources/messages/batches.py`` (paths) and ``types/messages`` (statuses, results);
platform.claude.com/docs/en/build-with-claude/batch-processing.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from emitter.adapters.http_response import parse_response
from emitter.adapters.response_decoding import as_count
from emitter.bulk.batches.vendor_api import (
    CANCELLED,
    EXPIRED,
    HTTP_OK,
    HTTP_SERVER_ERROR,
    MISSING_RESULT,
    BatchItemResult,
    CandidateBatch,
    PackedRequest,
    VendorBatchStatus,
    get_json,
    iter_json_lines,
    iter_recent_batches,
    post_bytes,
    post_json,
    require_id,
)
from emitter.messages import as_mapping

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.bulk.batches.vendor_api import BatchConnection, UnconfirmedBatch
    from emitter.messages import CallResult, Json
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
    return require_id(await post_bytes(connection, _PATH, content))


async def get_status(connection: BatchConnection, batch_id: str) -> VendorBatchStatus:
    """Return the state of the batch."""
    batch = await get_json(connection, f"{_PATH}/{batch_id}")
    counts = as_mapping(batch.get("request_counts"))
    failed = sum(as_count(counts.get(name)) for name in ("errored", "canceled", "expired"))
    return VendorBatchStatus(
        batch.get("processing_status") == "ended", as_count(counts.get("succeeded")), failed, MISSING_RESULT
    )


async def iter_results(
    connection: BatchConnection,
    batch_id: str,
    status: VendorBatchStatus,  # noqa: ARG001  other vendors need it
) -> AsyncGenerator[BatchItemResult]:
    """Yield the outcome of each request."""
    async with aclosing(iter_json_lines(connection, f"{_PATH}/{batch_id}/results")) as lines:
        async for line in lines:
            yield _to_result(connection, line or {})


def _to_result(connection: BatchConnection, line: Mapping[str, Any]) -> BatchItemResult:
    custom_id = line.get("custom_id")
    if not isinstance(custom_id, str):
        return BatchItemResult(None)
    return BatchItemResult(custom_id, _to_answer(connection, as_mapping(line.get("result"))))


def _to_answer(connection: BatchConnection, result: Mapping[str, Any]) -> CallResult:
    kind = result.get("type")
    if kind in _RESULT_FAULTS:
        return _RESULT_FAULTS[str(kind)]
    body, status = result.get("message"), HTTP_OK
    if kind != "succeeded":
        body = as_mapping(result.get("error"))
        status = _STATUSES.get(str(as_mapping(body.get("error")).get("type")), HTTP_SERVER_ERROR)
    return parse_response(connection.profile, connection.wire, status, {}, json.dumps(body))


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
    batch_id = str(batch["id"])
    if batch.get("processing_status") != "ended":
        return CandidateBatch(batch_id, is_ours=None)
    async with aclosing(iter_json_lines(connection, f"{_PATH}/{batch_id}/results")) as lines:
        first_result = await anext(lines, None)
    return CandidateBatch(
        batch_id, is_ours=str((first_result or {}).get("custom_id")).startswith(f"{unconfirmed.tag}-")
    )


async def cancel(connection: BatchConnection, batch_id: str) -> None:
    """Cancel the batch."""
    await post_json(connection, f"{_PATH}/{batch_id}/cancel")
