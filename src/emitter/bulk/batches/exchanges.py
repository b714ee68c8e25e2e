"""Send requests about batches through the same functions as calls, and list a vendor's batches.

The client keeps its credentials and base URL. Retries are off: a batch that is submitted twice is paid for twice.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from emitter.adapters.clients import find_credentials, limit_client
from emitter.adapters.http_response import read_object
from emitter.adapters.response_decoding import make_protocol_fault
from emitter.adapters.transport import HttpRequest, HttpTransfer, send_request
from emitter.client.transport import read_failure, redact_credentials
from emitter.messages import Fault, FaultKind, as_list, as_mapping
from emitter.outside_values import date_from_timestamp, parse_date

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from emitter.adapters.transport import LimitedClient
    from emitter.bulk.batches.vendor_api import BatchConnection, SubmittedBatch
    from emitter.messages import CallResult

PAGE_SIZE = 100
MAX_PAGES = 100
ENDLESS_LIST = Fault(FaultKind.PROTOCOL, f"The vendor's list of batches does not end after {MAX_PAGES} pages.")


class BatchRequestFailed(Exception):
    """A request about a batch failed. ``fault`` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


async def send(connection: BatchConnection, request: HttpRequest) -> Mapping[str, Any]:
    """Send a request and return the JSON object of its response, or raise ``BatchRequestFailed``."""
    deadline = connection.deadline.narrow(connection.policy.timeout)
    async with exchange(connection, connection.policy.max_response_bytes) as client:
        async with asyncio.timeout(deadline.timeout()):
            response = await send_request(client, request, deadline.remaining())
        return read_object(response)


@asynccontextmanager
async def exchange(connection: BatchConnection, max_bytes: int) -> AsyncGenerator[LimitedClient]:
    """Yield a view of the client for one request, and raise its exceptions as ``BatchRequestFailed``.

    They are read like those of a single call. Errors of this library are raised as they are.
    """
    transfer = HttpTransfer(max_bytes)
    try:
        yield limit_client(connection.client, transfer)
    except Exception as error:
        answer = read_failure(connection.profile, connection.wire, error, transfer)
        answer = redact_credentials(answer, find_credentials(connection.profile, connection.client))
        raise BatchRequestFailed(_as_fault(answer)) from error


def _as_fault(answer: CallResult) -> Fault:
    """Return the fault that an error stands for. If it stands for a refusal, no single request was refused."""
    if isinstance(answer, Fault):
        return answer
    message = "The vendor rejected the batch."
    return Fault(FaultKind.BAD_REQUEST, message, request_id=answer.request_id, report=answer.report)


async def iter_recent_batches(
    connection: BatchConnection, path: str, cursor: str, since: dt.datetime
) -> AsyncGenerator[Mapping[str, Any]]:
    """Yield the vendor's batches that were created after ``since``. ``cursor`` names the parameter of a next page."""
    params: dict[str, str | int] = {"limit": PAGE_SIZE}
    for _ in range(MAX_PAGES):
        page = await send(connection, HttpRequest("get", path, params=params))
        batches = [as_mapping(batch) for batch in as_list(page.get("data"))]
        recent = [batch for batch in batches if _get_created_at(batch) >= since]
        for batch in recent:
            yield batch
        if len(recent) < len(batches) or not page.get("has_more") or not batches:
            return
        params[cursor] = require_id(batches[-1])
    raise BatchRequestFailed(ENDLESS_LIST)


def _get_created_at(batch: Mapping[str, Any]) -> dt.datetime:
    """Return when a batch was created. An unreadable time must not hide a batch."""
    created_at = batch.get("created_at")
    return date_from_timestamp(created_at) or parse_date(created_at) or dt.datetime.max.replace(tzinfo=dt.UTC)


_ID = re.compile(r"[!-~]{1,256}")


def require_id(response: Mapping[str, Any], member: str = "id") -> str:
    """Return the id in a response, or raise ``BatchRequestFailed``."""
    value = response.get(member)
    if not isinstance(value, str) or _ID.fullmatch(value) is None:
        raise BatchRequestFailed(make_protocol_fault(f"it has no {member}"))
    return value


def check_batch(state: Mapping[str, Any], batch: SubmittedBatch, member: str = "id") -> None:
    """Raise ``BatchRequestFailed`` if a state is that of another batch."""
    if require_id(state, member) != batch.batch_id:
        raise BatchRequestFailed(make_protocol_fault("it is about another batch"))
