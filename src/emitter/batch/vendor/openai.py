"""OpenAI Batch: a file of JSON lines goes up, one of results and one of errors comes down.

Source: openai 3.52.0, ``resources/batches.py`` and ``resources/files.py`` (paths and limits), ``types/batch.py``
(statuses); developers.openai.com/api/docs/guides/batch (the lines of the files).
"""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from emitter.adapters.answer import count
from emitter.adapters.response import read
from emitter.batch.vendor.calling import get, id_of, lines, post
from emitter.batch.vendor.shapes import Candidate, Invalid, Look, Packed, Result
from emitter.profile import WireName
from emitter.wire import Fault, FaultKind, mapping, sequence

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.batch.vendor.shapes import Channel, Intent
    from emitter.wire import Json

__all__ = ["cancel", "candidates", "look", "packed", "results", "submit"]

_ENDPOINTS = {WireName.OPENAI_RESPONSES: "/v1/responses", WireName.OPENAI_CHAT: "/v1/chat/completions"}
_TAG = "emitter"
_ENDED = frozenset({"failed", "completed", "expired", "cancelled"})
_KINDS = {
    "batch_expired": FaultKind.TIMEOUT,
    "batch_cancelled": FaultKind.CANCELLED,
    "token_limit_exceeded": FaultKind.RATE_LIMIT,
}
"""What the codes mean that only batches have."""
_BAD_REQUEST, _GOOD = 400, 200
_MISSING = {
    "expired": Fault(FaultKind.TIMEOUT, "The batch expired before the vendor came to this request."),
    "cancelled": Fault(FaultKind.CANCELLED, "The batch was cancelled before the vendor came to this request."),
}
_LOST = Fault(FaultKind.PROTOCOL, "The results of the batch do not hold this request.")
_PAGE = 100


def packed(ident: str, body: Mapping[str, Json], wire: WireName) -> Packed:
    """Return the request as a line of the input file."""
    line = {"custom_id": ident, "method": "POST", "url": _ENDPOINTS[wire], "body": body}
    payload = json.dumps(line).encode() + b"\n"
    return Packed(payload, len(payload))


async def submit(channel: Channel, tag: str, requests: Sequence[Packed]) -> str:
    """Upload the input file and make the batch; return its id."""
    file = (f"emitter-{tag}.jsonl", b"".join(each.payload for each in requests), "application/jsonl")
    uploaded = await channel.client.files.create(file=file, purpose="batch", timeout=channel.timeout)
    body: dict[str, Json] = {
        "input_file_id": uploaded.id,
        "endpoint": _ENDPOINTS[channel.wire],
        "completion_window": "24h",
        "metadata": {_TAG: tag},
    }
    return id_of(await post(channel, "/batches", body))


async def look(channel: Channel, batch: str) -> Look:
    """Return how the batch stands."""
    found = await get(channel, f"/batches/{batch}")
    status, counts = str(found.get("status")), mapping(found.get("request_counts"))
    files = tuple(str(found[each]) for each in ("output_file_id", "error_file_id") if found.get(each))
    invalid = _invalid(channel, found) if status == "failed" else ()
    return Look(
        ended=status in _ENDED,
        done=count(counts.get("completed")),
        failed=count(counts.get("failed")),
        missing=_MISSING.get(status, _LOST),
        invalid=invalid,
        held=files,
    )


def _invalid(channel: Channel, found: Mapping[str, Any]) -> tuple[Invalid, ...]:
    errors = [mapping(each) for each in sequence(mapping(found.get("errors")).get("data"))] or [{}]
    return tuple(_one_invalid(channel, each) for each in errors)


def _one_invalid(channel: Channel, error: Mapping[str, Any]) -> Invalid:
    line = count(error.get("line"))
    return Invalid(_fault(channel, error, "The vendor did not take the batch"), line - 1 if line else None)


def _fault(channel: Channel, error: Mapping[str, Any], what: str) -> Fault:
    """Return the fault that an error object stands for, by the batches' own codes or else by those of all calls."""
    code = str(error.get("code") or "")
    if code in _KINDS:
        return Fault(_KINDS[code], f"{what} ({code}).", code=code)
    body = {"error": {"code": code or None, "message": error.get("message"), "type": "invalid_request_error"}}
    found = read(channel.profile, channel.wire, _BAD_REQUEST, {}, json.dumps(body))
    kind = found.kind if isinstance(found, Fault) else FaultKind.BAD_REQUEST
    return Fault(kind, f"{what} ({code})." if code else f"{what}.", _BAD_REQUEST, code or None)


async def results(channel: Channel, batch: str, ended: Look) -> AsyncGenerator[Result]:  # noqa: ARG001  others need it
    """Yield what each request came to: the answers, then the errors."""
    for file in ended.held:
        async with aclosing(lines(channel, f"/files/{file}/content")) as coming:
            async for line in coming:
                yield _result(channel, line)


def _result(channel: Channel, line: Mapping[str, Any] | None) -> Result:
    named = (line or {}).get("custom_id")
    if line is None or not isinstance(named, str):
        return Result(None)
    response = mapping(line.get("response"))
    if not response:
        return Result(named, _fault(channel, mapping(line.get("error")), "The vendor did not run this request"))
    request = response.get("request_id")
    headers = {"x-request-id": request} if isinstance(request, str) else {}
    status = count(response.get("status_code")) or _GOOD
    return Result(named, read(channel.profile, channel.wire, status, headers, json.dumps(response.get("body"))))


async def candidates(channel: Channel, intent: Intent) -> list[Candidate]:
    """Return the batch that carries the tag, if there is one."""
    after: dict[str, Json] = {}
    while True:
        page = await get(channel, "/batches", {"limit": _PAGE, **after})
        found = [mapping(each) for each in sequence(page.get("data"))]
        ours = [each for each in found if mapping(each.get("metadata")).get(_TAG) == intent.tag]
        old = any(count(each.get("created_at")) < intent.at.timestamp() for each in found)
        if ours or old or not page.get("has_more") or not found:
            return [Candidate(str(each["id"]), ours=True) for each in ours]
        after = {"after": found[-1]["id"]}


async def cancel(channel: Channel, batch: str) -> None:
    """Have the vendor begin no more of it."""
    await post(channel, f"/batches/{batch}/cancel")
