"""Turning what a vendor is about to answer into bytes, within the request's budget."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from emitter.profile.model import WireName
from emitter.testing.counting import tokens, within
from emitter.testing.draft import Draft, Ending, Failure, Raw, Trouble
from emitter.testing.ledger import NOTHING
from emitter.testing.requests import WIRES
from emitter.testing.response import Response
from emitter.testing.wires.google import SSE
from emitter.testing.wires.writing import MARK, Denial, Said, dumped
from emitter.wire import Usage

if TYPE_CHECKING:
    from emitter.testing.asked import Asked
    from emitter.testing.draft import Planned
    from emitter.wire import Json

_JSON = {WireName.GOOGLE: "application/json; charset=UTF-8"}
_SSE = {WireName.GOOGLE: "text/event-stream"}
_FILLERS = {WireName.GOOGLE: b"\n\n"}
"""What a stream's reader skips, where that is no comment: google-genai takes every line for JSON but empty ones."""
_REQUEST_IDS = {WireName.ANTHROPIC: "request-id"}
_FIRST_ERROR = 400


def composed(planned: Planned, asked: Asked) -> Response:
    """Return the response that a plan comes to."""
    match planned:
        case Failure():
            return denied(planned, asked)
        case Raw():
            return Response(200, {"content-type": planned.content_type}, planned.body, NOTHING)
        case Draft():
            return _answered(limited(planned, asked.budget), asked)


def limited(draft: Draft, budget: int | None) -> Draft:
    """Return the draft as far as its budget goes, and what it costs: thinking first, then text."""
    if budget is not None and draft.thinking >= budget:
        return replace(draft, text="", thinking=budget, output=budget, ending=Ending.CUT)
    output = draft.thinking + tokens(draft.text)
    if budget is not None and output > budget:
        text = within(draft.text, budget - draft.thinking)
        return replace(draft, text=text, output=budget, ending=Ending.CUT)
    return draft if draft.output is not None else replace(draft, output=output)


def denied(failure: Failure, asked: Asked) -> Response:
    """Return an error response; a blocked prompt is billed where the vendor answers it as a call like others."""
    if failure.trouble is Trouble.BAD_SCHEMA and failure.param is None:
        at = next((each.at for each in WIRES[asked.wire].surfaces(asked)), "schema")
        failure = replace(failure, param=at, message=f"{at}: {failure.message}")
    denial = WIRES[asked.wire].denial(failure, asked)
    if denial.status < _FIRST_ERROR:
        return _good(denial.body, asked, Usage(input=asked.input_tokens))
    return Response(denial.status, _headers(asked, _JSON, denial), dumped(denial.body).encode(), NOTHING)


def _answered(draft: Draft, asked: Asked) -> Response:
    usage = Usage(input=asked.input_tokens, output=draft.output or 0, thinking=draft.thinking)
    said = Said(asked, draft, usage)
    if asked.streamed:
        return _streamed(said)
    if draft.failing:
        return replace(denied(draft.failing, asked), status=200)
    body = dumped(WIRES[asked.wire].whole(said)).encode()
    return Response(200, _headers(asked, _JSON), body, usage, draft.delivery, draft.text)


def _good(body: Json, asked: Asked, usage: Usage) -> Response:
    """Return a body without events; in a stream it is the only one."""
    written = dumped(body)
    if not asked.streamed:
        return Response(200, _headers(asked, _JSON), written.encode(), usage)
    data = f"data: {written}\n\n".encode()
    return Response(200, _headers(asked, _SSE), data, usage, ends=(len(data),), said=(0,))


def _streamed(said: Said) -> Response:
    asked, draft = said.asked, said.draft
    events = list(WIRES[asked.wire].stream(said))
    parts = [each.text.encode() for each in events]
    array = asked.wire is WireName.GOOGLE and SSE not in asked.path
    return Response(
        200,
        _headers(asked, _JSON if array else _SSE),
        b"".join(parts),
        said.usage,
        draft.delivery,
        draft.text,
        ends=tuple(accumulate(map(len, parts))),
        said=tuple(accumulate(each.said for each in events)),
        filler=_FILLERS.get(asked.wire, b":\n\n"),
    )


def _headers(asked: Asked, kinds: dict[WireName, str], denial: Denial | None = None) -> dict[str, str]:
    usual = "application/json" if kinds is _JSON else "text/event-stream; charset=utf-8"
    content = {"content-type": kinds.get(asked.wire, usual)}
    if denial is not None:
        return {**content, **denial.headers}
    return {**content, _REQUEST_IDS.get(asked.wire, "x-request-id"): f"req_{MARK}"}
