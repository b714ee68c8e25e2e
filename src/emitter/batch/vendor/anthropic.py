"""Anthropic Message Batches.

Source: anthropic 2.11.0, ``resources/messages/batches.py`` (paths) and ``types/messages`` (statuses, results);
platform.claude.com/docs/en/build-with-claude/batch-processing.
"""

from __future__ import annotations

import datetime as dt
import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from emitter.adapters.answer import count
from emitter.adapters.response import read
from emitter.batch.vendor.calling import get, id_of, lines, post, post_bytes
from emitter.batch.vendor.shapes import Candidate, Look, Packed, Result
from emitter.wire import Fault, FaultKind, mapping, sequence

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.batch.vendor.shapes import Channel, Intent
    from emitter.profile import WireName
    from emitter.wire import Answer, Json

__all__ = ["cancel", "candidates", "look", "packed", "results", "submit"]

_PATH = "/v1/messages/batches"
_AROUND = (b'{"requests":[', b",", b"]}")
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
"""The status that each kind of error has outside of batches (platform.claude.com/docs/en/api/errors)."""
_NOT_RUN = {
    "expired": Fault(FaultKind.TIMEOUT, "The batch expired before the vendor came to this request."),
    "canceled": Fault(FaultKind.CANCELLED, "The batch was cancelled before the vendor came to this request."),
}
_LOST = Fault(FaultKind.PROTOCOL, "The results of the batch do not hold this request.")
_PAGE = 100
_GOOD, _SERVER = 200, 500


def packed(ident: str, body: Mapping[str, Json], wire: WireName) -> Packed:  # noqa: ARG001  another vendor needs it
    """Return the request as a member of the batch."""
    payload = json.dumps({"custom_id": ident, "params": body}).encode()
    return Packed(payload, len(payload) + 1)


async def submit(channel: Channel, tag: str, requests: Sequence[Packed]) -> str:  # noqa: ARG001  it is in every id
    """Make the batch; return its id."""
    begin, between, end = _AROUND
    content = begin + between.join(each.payload for each in requests) + end
    return id_of(await post_bytes(channel, _PATH, content))


async def look(channel: Channel, batch: str) -> Look:
    """Return how the batch stands."""
    found = await get(channel, f"{_PATH}/{batch}")
    counts = mapping(found.get("request_counts"))
    failed = sum(count(counts.get(each)) for each in ("errored", "canceled", "expired"))
    return Look(found.get("processing_status") == "ended", count(counts.get("succeeded")), failed, _LOST)


async def results(channel: Channel, batch: str, ended: Look) -> AsyncGenerator[Result]:  # noqa: ARG001  others need it
    """Yield what each request came to."""
    async with aclosing(lines(channel, f"{_PATH}/{batch}/results")) as coming:
        async for line in coming:
            yield _result(channel, line or {})


def _result(channel: Channel, line: Mapping[str, Any]) -> Result:
    named = line.get("custom_id")
    return Result(named, _answer(channel, mapping(line.get("result")))) if isinstance(named, str) else Result(None)


def _answer(channel: Channel, result: Mapping[str, Any]) -> Answer:
    kind = result.get("type")
    if kind in _NOT_RUN:
        return _NOT_RUN[str(kind)]
    body, status = result.get("message"), _GOOD
    if kind != "succeeded":
        body = mapping(result.get("error"))
        status = _STATUSES.get(str(mapping(body.get("error")).get("type")), _SERVER)
    return read(channel.profile, channel.wire, status, {}, json.dumps(body))


async def candidates(channel: Channel, intent: Intent) -> list[Candidate]:
    """Return the batches that may be it: as large, and made since.

    A batch has no name here; only the ids in its results tell whose it is.
    """
    after: dict[str, Json] = {}
    found: list[Candidate] = []
    while True:
        page = await get(channel, _PATH, {"limit": _PAGE, **after})
        batches = [mapping(each) for each in sequence(page.get("data"))]
        recent = [each for each in batches if _made(each) >= intent.at]
        found += [await _candidate(channel, each, intent) for each in recent if _size(each) == intent.size]
        if len(recent) < len(batches) or not page.get("has_more") or not batches:
            return found
        after = {"after_id": batches[-1]["id"]}


async def _candidate(channel: Channel, batch: Mapping[str, Any], intent: Intent) -> Candidate:
    found = str(batch["id"])
    if batch.get("processing_status") != "ended":
        return Candidate(found, ours=None)
    async with aclosing(lines(channel, f"{_PATH}/{found}/results")) as coming:
        first = await anext(coming, None)
    return Candidate(found, ours=str((first or {}).get("custom_id")).startswith(f"{intent.tag}-"))


def _made(batch: Mapping[str, Any]) -> dt.datetime:
    try:
        return dt.datetime.fromisoformat(str(batch.get("created_at")))
    except ValueError:
        return dt.datetime.max.replace(tzinfo=dt.UTC)


def _size(batch: Mapping[str, Any]) -> int:
    return sum(count(each) for each in mapping(batch.get("request_counts")).values())


async def cancel(channel: Channel, batch: str) -> None:
    """Have the vendor begin no more of it."""
    await post(channel, f"{_PATH}/{batch}/cancel")
