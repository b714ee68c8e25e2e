"""OpenAI Batch: upload a JSON Lines file, and download the files of results and errors.

Source: openai 3.52.0, ``resources/batches.py`` and ``resources/files.py`` (paths and limits),
``types/batch.py`` (statuses); developers.openai.com/api/docs/guides/batch (the lines of the files).
"""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from emitter.adapters.http_response import ResponseHead, decode_response, parse_response
from emitter.adapters.response_decoding import as_count, as_string, make_protocol_fault, with_usage
from emitter.adapters.transport import HttpRequest, Upload
from emitter.bulk.batches.exchanges import check_batch, iter_recent_batches, require_id, send
from emitter.bulk.batches.row_splitters import LineSplitter
from emitter.bulk.batches.rows import iter_rows, read_result
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
)
from emitter.messages import ExpectedAnswer, Fault, FaultKind, as_list, as_mapping
from emitter.profiles import WireFormat

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.bulk.batches.vendor_api import BatchConnection, SubmittedBatch, UnconfirmedBatch
    from emitter.messages import CallResult, Json

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
_HTTP_STATUSES = range(100, 600)
_DOWNLOAD_HEADERS = {"Accept": "application/binary"}
_STATUS_FAULTS = {"expired": EXPIRED, "cancelled": CANCELLED}


def pack_request(custom_id: str, body: Mapping[str, Json], wire: WireFormat) -> PackedRequest:
    """Return the request as a line of the input file."""
    line = {"custom_id": custom_id, "method": "POST", "url": _ENDPOINTS[wire], "body": body}
    payload = json.dumps(line).encode() + b"\n"
    return PackedRequest(payload, len(payload))


async def submit(connection: BatchConnection, tag: str, requests: Sequence[PackedRequest]) -> str:
    """Upload the input file, create the batch, and return its id."""
    content = b"".join(request.payload for request in requests)
    file = Upload(f"emitter-{tag}.jsonl", content, "application/jsonl", {"purpose": "batch"})
    body: dict[str, Json] = {
        "input_file_id": require_id(await send(connection, HttpRequest("post", "/files", file))),
        "endpoint": _ENDPOINTS[connection.wire],
        "completion_window": "24h",
        "metadata": {_METADATA_KEY: tag},
    }
    return require_id(await send(connection, HttpRequest("post", "/batches", body)))


async def get_status(connection: BatchConnection, batch: SubmittedBatch) -> VendorBatchStatus:
    """Return the state of the batch."""
    state = await send(connection, HttpRequest("get", f"/batches/{quote(batch.batch_id, safe='')}"))
    check_batch(state, batch)
    status, counts = as_string(state.get("status")), as_mapping(state.get("request_counts"))
    files = tuple(require_id(state, name) for name in ("output_file_id", "error_file_id") if state.get(name))
    # A batch fails as a whole if its input file is invalid, or if it exceeds the queue limit of the organization.
    invalid = _get_rejections(connection, state) if status == "failed" else ()
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
    body: Json = {"error": {**error, "type": "invalid_request_error"}}
    profile, wire = connection.profile, connection.wire
    answer = decode_response(profile, wire, ResponseHead(_HTTP_BAD_REQUEST), body, expected=ExpectedAnswer())
    code = answer.code if isinstance(answer, Fault) else answer.refused_as
    kind = answer.kind if isinstance(answer, Fault) else FaultKind.BAD_REQUEST
    message = f"{problem} ({code})." if code else f"{problem}."
    if code in _FAULT_KINDS:
        return Fault(_FAULT_KINDS[code], message, code=code, report=answer.report)
    return Fault(kind, message, _HTTP_BAD_REQUEST, code, report=answer.report)


async def iter_results(
    connection: BatchConnection,
    batch: SubmittedBatch,
    status: VendorBatchStatus,
) -> AsyncGenerator[BatchItemResult]:
    """Yield the outcome of each request: first those in the output file, then those in the error file."""
    for file in status.result_source:
        path = f"/files/{quote(file, safe='')}/content"
        request = HttpRequest("get", path, headers=_DOWNLOAD_HEADERS, is_streamed=True)
        splitter = LineSplitter(connection.policy.max_response_bytes)
        async with aclosing(iter_rows(connection, request, splitter, batch.size)) as rows:
            async for row in rows:
                yield read_result(row, ("custom_id",), partial(_decode_line, connection), batch)


def _decode_line(connection: BatchConnection, line: Mapping[str, Any], expected: ExpectedAnswer) -> CallResult:
    """Return the outcome in a line. It is a success only by its status, without an error beside its response."""
    response, error = line.get("response"), line.get("error")
    if not response and isinstance(error, dict):
        return _to_fault(connection, cast("Mapping[str, Any]", error), "The vendor did not run this request")
    result, problem = as_mapping(response), None
    status, request_id, body = (result.get(name) for name in ("status_code", "request_id", "body"))
    headers = {"x-request-id": request_id} if isinstance(request_id, str) else {}
    if type(status) is not int or status not in _HTTP_STATUSES:
        status, problem = HTTP_OK, "the result has no HTTP status"
    elif error is not None:
        status, problem = HTTP_OK, "the result has an error beside its response"
    profile, wire = connection.profile, connection.wire
    if isinstance(body, str) and status >= _HTTP_BAD_REQUEST:
        answer = parse_response(profile, wire, ResponseHead(status, headers), body, expected=expected)
    else:
        members = as_mapping(body) if isinstance(body, dict) else None
        answer = decode_response(profile, wire, ResponseHead(status, headers), members, expected=expected)
    if problem is None:
        return answer
    return replace(with_usage(make_protocol_fault(problem), answer.usage), request_id=answer.request_id)


async def find_candidates(connection: BatchConnection, unconfirmed: UnconfirmedBatch) -> list[CandidateBatch]:
    """Return the batch with the tag, if there is one."""
    async with aclosing(iter_recent_batches(connection, "/batches", "after", unconfirmed.submitted_at)) as batches:
        async for batch in batches:
            if as_mapping(batch.get("metadata")).get(_METADATA_KEY) == unconfirmed.tag:
                return [CandidateBatch(require_id(batch), is_ours=True)]
    return []


async def cancel(connection: BatchConnection, batch_id: str) -> None:
    """Cancel the batch."""
    await send(connection, HttpRequest("post", f"/batches/{quote(batch_id, safe='')}/cancel"))
