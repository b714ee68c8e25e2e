"""Gemini Batch, with the requests and their answers in the batch itself.

Source: google-genai 3.4.0, ``batches.py`` and ``types.py``; ai.google.dev/gemini-api/docs/batch-api. Only public
calls of the SDK are used: it puts the requests into the vendor's form as it does for a single call.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from emitter.adapters.response import read
from emitter.batch.vendor.shapes import Candidate, Invalid, Look, Packed, Result
from emitter.errors import InputError
from emitter.wire import Fault, FaultKind, mapping

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.batch.vendor.shapes import Channel, Intent
    from emitter.profile import WireName
    from emitter.wire import Answer, Json

__all__ = ["cancel", "candidates", "look", "packed", "results", "submit"]

_KEY = "key"
_ENDED = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"})
_NOTHING = {
    "FAILED": Fault(FaultKind.SERVER, "The batch failed as a whole."),
    "EXPIRED": Fault(FaultKind.TIMEOUT, "The batch expired before the vendor came to this request."),
    "CANCELLED": Fault(FaultKind.CANCELLED, "The batch was cancelled before the vendor came to this request."),
}
_LOST = Fault(FaultKind.PROTOCOL, "The results of the batch do not hold this request.")
_CANCELLED = 1
_STATUSES = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 13: 500, 14: 503, 16: 401}
"""The HTTP status of each google.rpc.Code."""
_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_FIRST_ERROR, _GOOD, _SERVER = 400, 200, 500
_VERTEX = "This client has no batches with the requests in them."


def packed(ident: str, body: Mapping[str, Json], wire: WireName) -> Packed:  # noqa: ARG001  another vendor needs it
    """Return the request as the SDK takes it."""
    payload = {"contents": body["contents"], "config": body["config"], "metadata": {_KEY: ident}}
    return Packed((body["model"], payload), len(json.dumps(payload, default=repr).encode()))


async def submit(channel: Channel, tag: str, requests: Sequence[Packed]) -> str:
    """Make the batch; return its name."""
    model = requests[0].payload[0]
    inlined = [each.payload[1] for each in requests]
    config = {"display_name": tag, "http_options": _options(channel)}
    try:
        made = await channel.client.batches.create(model=model, src=inlined, config=config)
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise InputError(_VERTEX, hint="Use a client of the Gemini Developer API.") from error
    if made.name is None:
        raise json.JSONDecodeError("there is no name", "", 0)
    return str(made.name)


async def look(channel: Channel, batch: str) -> Look:
    """Return how the batch stands."""
    job = await channel.client.batches.get(name=batch, config={"http_options": _options(channel)})
    state = _state(job)
    answers = list((job.dest and job.dest.inlined_responses) or [])
    failed = sum(each.error is not None for each in answers)
    nothing = _NOTHING.get(state)
    invalid = (Invalid(nothing),) if nothing is not None and state == "FAILED" and not answers else ()
    return Look(state in _ENDED, len(answers) - failed, failed, nothing or _LOST, invalid, answers)


def _state(job: Any) -> str:
    return str(getattr(job.state, "value", job.state)).removeprefix("JOB_STATE_")


async def results(channel: Channel, batch: str, ended: Look) -> AsyncGenerator[Result]:  # noqa: ARG001  others need it
    """Yield what each request came to."""
    for each in ended.held:
        ident = mapping(each.metadata).get(_KEY)
        yield Result(ident, _answer(channel, each)) if isinstance(ident, str) else Result(None)


def _answer(channel: Channel, found: Any) -> Answer:
    """Return what an inlined response says; the SDK hands it over as an object of its own."""
    if found.response is None:
        error = mapping(_plain(found.error))
        if error.get("code") == _CANCELLED:
            return _NOTHING["CANCELLED"]
        status, body = _denied(error)
        return read(channel.profile, channel.wire, status, {}, json.dumps(body))
    return read(channel.profile, channel.wire, _GOOD, {}, json.dumps(_plain(found.response)))


def _plain(model: Any) -> Json:
    if model is None:
        return None
    return model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"sdk_http_response", "parsed"})


def _denied(error: Mapping[str, Any]) -> tuple[int, Json]:
    code = int(error.get("code") or 0)
    status = code if code >= _FIRST_ERROR else _STATUSES.get(code, _SERVER)
    named = {"status": _NAMES[status]} if status in _NAMES else {}
    return status, {"error": {**error, "code": status, **named}}


async def candidates(channel: Channel, intent: Intent) -> list[Candidate]:
    """Return the batch that carries the tag as its name, if there is one."""
    config = {"page_size": 100, "http_options": _options(channel)}
    found: list[Candidate] = []
    async for job in await channel.client.batches.list(config=config):
        if job.display_name == intent.tag:
            found.append(Candidate(str(job.name), ours=True))
        if found or (job.create_time is not None and job.create_time < intent.at):
            break
    return found


async def cancel(channel: Channel, batch: str) -> None:
    """Have the vendor begin no more of it."""
    await channel.client.batches.cancel(name=batch, config={"http_options": _options(channel)})


def _options(channel: Channel) -> dict[str, Json]:
    """Return a deadline in milliseconds, and no sending again: that could be paid for twice."""
    return {"timeout": max(1, int(channel.timeout * 1000)), "retry_options": {"attempts": 1}}
