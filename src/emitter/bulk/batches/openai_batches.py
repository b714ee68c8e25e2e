"""OpenAI Batch: upload a JSON Lines file, and download the files of results and errors.

Source: openai 3.52.0, ``resources/batches.py`` and ``resources/files.py`` (paths and limits),
``types/batch.py`` (statuses); developers.openai.com/api/docs/guides/batch (the lines of the files).
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
    MISSING_RESULT,
    BatchItemResult,
    CandidateBatch,
    PackedRequest,
    RejectedRequest,
    VendorBatchStatus,
    get_json,
    iter_json_lines,
    iter_recent_batches,
    post_json,
    require_id,
)
from emitter.messages import Fault, FaultKind, as_list, as_mapping
from emitter.profiles import WireFormat

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.bulk.batches.vendor_api import BatchConnection, UnconfirmedBatch
    from emitter.messages import Json

_ENDPOINTS = {WireFormat.OPENAI_RESPONSES: "/v1/responses", WireFormat.OPENAI_CHAT: "/v1/chat/completions"}
_METADATA_KEY = "emitter"
_FINAL_STATUSES = frozenset({"failed", "completed", "expired", "cancelled"})
_FAULT_KINDS = {
    "batch_expired": FaultKind.TIMEOUT,
    "batch_cancelled": FaultKind.CANCELLED,
    "token_limit_exceeded": FaultKind.RATE_LIMIT,
}
"""The kinds of faults whose codes only batches have."""
_HTTP_BAD_REQUEST = 400
_STATUS_FAULTS = {"expired": EXPIRED, "cancelled": CANCELLED}


def pack_request(custom_id: str, body: Mapping[str, Json], wire: WireFormat) -> PackedRequest:
    """Return the request as a line of the input file."""
    line = {"custom_id": custom_id, "method": "POST", "url": _ENDPOINTS[wire], "body": body}
    payload = json.dumps(line).encode() + b"\n"
    return PackedRequest(payload, len(payload))


async def submit(connection: BatchConnection, tag: str, requests: Sequence[PackedRequest]) -> str:
    """Upload the input file, create the batch, and return its id."""
    file = (f"emitter-{tag}.jsonl", b"".join(request.payload for request in requests), "application/jsonl")
    uploaded = await connection.client.files.create(file=file, purpose="batch", timeout=connection.timeout)
    body: dict[str, Json] = {
        "input_file_id": uploaded.id,
        "endpoint": _ENDPOINTS[connection.wire],
        "completion_window": "24h",
        "metadata": {_METADATA_KEY: tag},
    }
    return require_id(await post_json(connection, "/batches", body))


async def get_status(connection: BatchConnection, batch_id: str) -> VendorBatchStatus:
    """Return the state of the batch."""
    batch = await get_json(connection, f"/batches/{batch_id}")
    status, counts = str(batch.get("status")), as_mapping(batch.get("request_counts"))
    files = tuple(str(batch[name]) for name in ("output_file_id", "error_file_id") if batch.get(name))
    # A batch fails as a whole if its input file is invalid, or if it exceeds the queue limit of the organization.
    invalid = _get_rejections(connection, batch) if status == "failed" else ()
    return VendorBatchStatus(
        has_ended=status in _FINAL_STATUSES,
        done=as_count(counts.get("completed")),
        failed=as_count(counts.get("failed")),
        missing_fault=_STATUS_FAULTS.get(status, MISSING_RESULT),
        invalid=invalid,
        result_source=files,
    )


def _get_rejections(connection: BatchConnection, batch: Mapping[str, Any]) -> tuple[RejectedRequest, ...]:
    errors = [as_mapping(error) for error in as_list(as_mapping(batch.get("errors")).get("data"))] or [{}]
    return tuple(_to_rejection(connection, error) for error in errors)


def _to_rejection(connection: BatchConnection, error: Mapping[str, Any]) -> RejectedRequest:
    line = as_count(error.get("line"))
    return RejectedRequest(
        _to_fault(connection, error, "The vendor did not take the batch"), line - 1 if line else None
    )


def _to_fault(connection: BatchConnection, error: Mapping[str, Any], problem: str) -> Fault:
    """Return the fault of an error object, by its batch code or by the codes of single calls."""
    code = str(error.get("code") or "")
    if code in _FAULT_KINDS:
        return Fault(_FAULT_KINDS[code], f"{problem} ({code}).", code=code)
    body = {"error": {"code": code or None, "message": error.get("message"), "type": "invalid_request_error"}}
    answer = parse_response(connection.profile, connection.wire, _HTTP_BAD_REQUEST, {}, json.dumps(body))
    kind = answer.kind if isinstance(answer, Fault) else FaultKind.BAD_REQUEST
    return Fault(kind, f"{problem} ({code})." if code else f"{problem}.", _HTTP_BAD_REQUEST, code or None)


async def iter_results(
    connection: BatchConnection,
    batch_id: str,  # noqa: ARG001  other vendors need it
    status: VendorBatchStatus,
) -> AsyncGenerator[BatchItemResult]:
    """Yield the outcome of each request: first those in the output file, then those in the error file."""
    for file in status.result_source:
        async with aclosing(iter_json_lines(connection, f"/files/{file}/content")) as lines:
            async for line in lines:
                yield _to_result(connection, line)


def _to_result(connection: BatchConnection, line: Mapping[str, Any] | None) -> BatchItemResult:
    custom_id = (line or {}).get("custom_id")
    if line is None or not isinstance(custom_id, str):
        return BatchItemResult(None)
    response = as_mapping(line.get("response"))
    if not response:
        return BatchItemResult(
            custom_id, _to_fault(connection, as_mapping(line.get("error")), "The vendor did not run this request")
        )
    request_id = response.get("request_id")
    headers = {"x-request-id": request_id} if isinstance(request_id, str) else {}
    status = as_count(response.get("status_code")) or HTTP_OK
    body = json.dumps(response.get("body"))
    return BatchItemResult(custom_id, parse_response(connection.profile, connection.wire, status, headers, body))


async def find_candidates(connection: BatchConnection, unconfirmed: UnconfirmedBatch) -> list[CandidateBatch]:
    """Return the batch with the tag, if there is one."""
    async with aclosing(iter_recent_batches(connection, "/batches", "after", unconfirmed.submitted_at)) as batches:
        async for batch in batches:
            if as_mapping(batch.get("metadata")).get(_METADATA_KEY) == unconfirmed.tag:
                return [CandidateBatch(str(batch["id"]), is_ours=True)]
    return []


async def cancel(connection: BatchConnection, batch_id: str) -> None:
    """Cancel the batch."""
    await post_json(connection, f"/batches/{batch_id}/cancel")
