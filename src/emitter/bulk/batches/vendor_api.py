"""The interface of the vendors' batch modules, with the values and HTTP functions that they share.

Requests go through the low-level methods of the openai and anthropic clients, with the client's own credentials and
base URL. Retries are off: a batch that is submitted twice is paid for twice.
"""

from __future__ import annotations

import datetime as dt
import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from emitter.messages import Fault, FaultKind, as_list, as_mapping

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.messages import CallResult, Json
    from emitter.profiles import ProviderProfile, WireFormat


@dataclass(frozen=True, slots=True)
class BatchConnection:
    """The client, profile and wire format that requests go through, and the timeout of a request in seconds."""

    client: Any
    profile: ProviderProfile
    wire: WireFormat
    timeout: float


@dataclass(frozen=True, slots=True)
class PackedRequest:
    """A request in the form that a batch takes, and its size in bytes."""

    payload: Any
    size: int


@dataclass(frozen=True, slots=True)
class RejectedRequest:
    """A reason why the vendor rejected a whole batch. ``request_index`` is the invalid request, counted from 0."""

    fault: Fault
    request_index: int | None = None


@dataclass(frozen=True, slots=True)
class VendorBatchStatus:
    """The state of a batch.

    ``done`` and ``failed`` count requests, as far as the vendor reports them. At the end, ``missing_fault`` is the
    outcome of a request without a result, ``invalid`` has the reasons why the batch was rejected, and ``result_source``
    is what the vendor's module reads the results from.
    """

    has_ended: bool
    done: int = 0
    failed: int = 0
    missing_fault: Fault | None = None
    invalid: tuple[RejectedRequest, ...] = ()
    result_source: Any = None


@dataclass(frozen=True, slots=True)
class BatchItemResult:
    """The outcome of one request. ``custom_id`` is None if it is unreadable."""

    custom_id: str | None
    answer: CallResult | None = None


@dataclass(frozen=True, slots=True)
class CandidateBatch:
    """A batch whose submission may be the unconfirmed one. ``is_ours`` is None while that is unknown."""

    batch_id: str
    is_ours: bool | None


@dataclass(frozen=True, slots=True)
class UnconfirmedBatch:
    """A batch whose submission was not confirmed: its tag, its number of requests, and the time."""

    tag: str
    size: int
    submitted_at: dt.datetime


class BatchVendor(Protocol):
    """The functions of every vendor module. All of them raise what the SDK raises."""

    def pack_request(self, custom_id: str, body: Mapping[str, Json], wire: WireFormat) -> PackedRequest:
        """Return a request in the form that a batch takes."""
        ...

    async def submit(self, connection: BatchConnection, tag: str, requests: Sequence[PackedRequest]) -> str:
        """Create a batch that can be found by its tag, and return its id."""
        ...

    async def get_status(self, connection: BatchConnection, batch_id: str) -> VendorBatchStatus:
        """Return the state of a batch."""
        ...

    def iter_results(
        self, connection: BatchConnection, batch_id: str, status: VendorBatchStatus
    ) -> AsyncGenerator[BatchItemResult]:
        """Yield the outcomes of an ended batch, in any order."""
        ...

    async def find_candidates(self, connection: BatchConnection, unconfirmed: UnconfirmedBatch) -> list[CandidateBatch]:
        """Return the batches that may be the unconfirmed one."""
        ...

    async def cancel(self, connection: BatchConnection, batch_id: str) -> None:
        """Cancel a batch."""
        ...


HTTP_OK, HTTP_SERVER_ERROR = 200, 500
PAGE_SIZE = 100
EXPIRED = Fault(FaultKind.TIMEOUT, "The batch expired before the vendor processed this request.")
CANCELLED = Fault(FaultKind.CANCELLED, "The batch was cancelled before the vendor processed this request.")
MISSING_RESULT = Fault(FaultKind.PROTOCOL, "The results of the batch do not contain this request.")
_STREAM_HEADERS = {"X-Stainless-Raw-Response": "stream"}
"""Makes the SDKs return a response with an unread body (``_constants.RAW_RESPONSE_HEADER``)."""


async def get_json(
    connection: BatchConnection, path: str, params: Mapping[str, Json] | None = None
) -> Mapping[str, Any]:
    """Return the JSON object at a path. Raises what the SDK raises, and ``JSONDecodeError``."""
    options = {**_request_options(connection), "params": params or {}}
    return _parse_object(await connection.client.get(path, cast_to=_get_response_type(), options=options))


async def post_json(connection: BatchConnection, path: str, body: Json = None) -> Mapping[str, Any]:
    """Post JSON and return the JSON object of the response."""
    return _parse_object(
        await connection.client.post(
            path, cast_to=_get_response_type(), body=body, options=_request_options(connection)
        )
    )


async def post_bytes(connection: BatchConnection, path: str, content: bytes) -> Mapping[str, Any]:
    """Post encoded JSON and return the JSON object of the response."""
    options = {**_request_options(connection), "headers": {"Content-Type": "application/json"}}
    return _parse_object(
        await connection.client.post(path, cast_to=_get_response_type(), content=content, options=options)
    )


async def iter_json_lines(connection: BatchConnection, path: str) -> AsyncGenerator[Mapping[str, Any] | None]:
    """Yield the objects of a JSON Lines file as they arrive, and None for an invalid line."""
    options = {**_request_options(connection), "headers": {**_STREAM_HEADERS, "Accept": "application/binary"}}
    response = await connection.client.get(path, cast_to=_get_response_type(), options=options)
    async with aclosing(response):
        async for line in response.aiter_lines():
            if line.strip():
                yield _parse_line(line)


async def iter_recent_batches(
    connection: BatchConnection, path: str, cursor: str, since: dt.datetime
) -> AsyncGenerator[Mapping[str, Any]]:
    """Yield the vendor's batches that were created after ``since``. ``cursor`` names the parameter of a next page."""
    params: dict[str, Json] = {"limit": PAGE_SIZE}
    while True:
        page = await get_json(connection, path, params)
        batches = [as_mapping(batch) for batch in as_list(page.get("data"))]
        recent = [batch for batch in batches if _get_created_at(batch) >= since]
        for batch in recent:
            yield batch
        if len(recent) < len(batches) or not page.get("has_more") or not batches:
            return
        params[cursor] = batches[-1]["id"]


def _get_created_at(batch: Mapping[str, Any]) -> dt.datetime:
    created_at = batch.get("created_at")
    if isinstance(created_at, int):
        return dt.datetime.fromtimestamp(created_at, dt.UTC)
    try:
        return dt.datetime.fromisoformat(str(created_at))
    except ValueError:
        return dt.datetime.max.replace(tzinfo=dt.UTC)  # an unreadable time must not hide a batch


def require_id(response: Mapping[str, Any]) -> str:
    """Return the id in a response. Raises ``JSONDecodeError`` if there is none."""
    if not isinstance(response.get("id"), str):
        raise json.JSONDecodeError("the response has no id", "", 0)
    return str(response["id"])


def _request_options(connection: BatchConnection) -> dict[str, Any]:
    return {"timeout": connection.timeout, "max_retries": 0}


def _get_response_type() -> Any:
    import httpx2  # noqa: PLC0415  the SDK has loaded it already

    return httpx2.Response


def _parse_object(response: Any) -> Mapping[str, Any]:
    return as_mapping(json.loads(response.content))


def _parse_line(line: str) -> Mapping[str, Any] | None:
    try:
        return as_mapping(json.loads(line)) or None
    except (ValueError, RecursionError):
        return None
