"""Anthropic Messages from the vendor's side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.profile.model import WireName
from emitter.testing.asked import Asked
from emitter.testing.draft import Ending, Failure, Trouble
from emitter.testing.wires.anthropic_errors import complaint, denial
from emitter.testing.wires.reading import AROUND_MESSAGE, Surface, missing, positive, spoken, written
from emitter.testing.wires.writing import MARK, Event, arguments, dumped, named
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.testing.wires.writing import Said
    from emitter.wire import Json

__all__ = ["complaint", "denial", "read", "stream", "surfaces", "whole"]

_STOPS = {
    Ending.WHOLE: "end_turn",
    Ending.CUT: "max_tokens",
    Ending.REFUSED: "refusal",
    Ending.FILTERED: "refusal",
    Ending.PAUSED: "pause_turn",
    Ending.NONE: None,
}
_FILTER = "bio"
_SIGNATURE = "c2lnbmF0dXJl"


def read(path: str, body: Mapping[str, Json]) -> Asked | Failure:
    """Return what a request asks for, or what is wrong with it."""
    fault = _fault(body)
    if fault:
        return fault
    format_, tool = _format(body), _forced(body)
    messages = sequence(body["messages"])
    return Asked(
        wire=WireName.ANTHROPIC,
        path=path,
        model=str(body["model"]),
        body=body,
        streamed=body.get("stream") is True,
        schema=tool.get("input_schema") if tool else format_.get("schema"),
        tool=tool.get("name") if tool else None,
        budget=positive(body["max_tokens"]),
        input_tokens=spoken(body.get("system"), messages)
        + written(format_.get("schema"), *sequence(body.get("tools")))
        + AROUND_MESSAGE * len(messages),
    )


def _fault(body: Mapping[str, Json]) -> Failure | None:
    for name in ("model", "max_tokens", "messages"):
        if body.get(name) is None:
            return missing(name, f"{name}: Field required")
    budget = positive(body["max_tokens"])
    if budget is None:
        return Failure(Trouble.BAD_REQUEST, "max_tokens: Input should be a valid integer")
    if budget < 1:
        return Failure(Trouble.BAD_REQUEST, "max_tokens: Input should be greater than or equal to 1")
    if not sequence(body["messages"]):
        return Failure(Trouble.BAD_REQUEST, "messages: at least one message is required")
    return None


def _format(body: Mapping[str, Json]) -> Mapping[str, Any]:
    return mapping(mapping(body.get("output_config")).get("format")) or mapping(body.get("output_format"))


def _forced(body: Mapping[str, Json]) -> Mapping[str, Any] | None:
    choice, tools = mapping(body.get("tool_choice")), list(map(mapping, sequence(body.get("tools"))))
    wanted = choice.get("name") if choice.get("type") == "tool" else None
    forced = [each for each in tools if choice.get("type") == "any" or (wanted and each.get("name") == wanted)]
    return forced[0] if forced else None


def surfaces(asked: Asked) -> Iterator[Surface]:
    """Yield the schemas of a request; tools are held to a few rules even where they are not strict."""
    if _format(asked.body):
        yield Surface(_format(asked.body).get("schema"), "anthropic", "", "output_config.format.schema")
    for index, tool in enumerate(map(mapping, sequence(asked.body.get("tools")))):
        if "input_schema" in tool:
            dialect = "anthropic-tool" if tool.get("strict") else "anthropic-loose-tool"
            at = f"tools.{index}.custom"
            yield Surface(tool["input_schema"], dialect, str(tool.get("name")), at, tool=True)


def whole(said: Said) -> Json:
    """Return the body of the unary form."""
    return {**_message(said, list(_content(said))), **_end(said), "usage": _usage(said, said.usage.output)}


def _message(said: Said, content: list[Json]) -> dict[str, Json]:
    return {
        "model": said.asked.model,
        "id": f"msg_{MARK}",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
    }


def _end(said: Said) -> dict[str, Json]:
    ending, details = said.draft.ending, None
    stop = _STOPS[ending] if isinstance(ending, Ending) else ending
    if stop == "refusal":
        category = said.draft.category or _FILTER
        told = "This request was stopped by a safety system."
        details = {"type": "refusal", "category": category, "explanation": told}
    if said.called and ending is Ending.WHOLE:
        stop = "tool_use"
    return {"stop_reason": stop, "stop_sequence": None, "stop_details": details}


def _usage(said: Said, output: int) -> dict[str, Json]:
    return {
        "input_tokens": said.usage.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": min(said.usage.thinking, output)},
        "service_tier": "standard",
    }


def _content(said: Said) -> Iterator[dict[str, Json]]:
    if said.draft.thinking:
        yield {"type": "thinking", "thinking": "", "signature": _SIGNATURE}
    if said.called:
        for index, each in enumerate(said.calls()):
            yield {**_call(said, index), "input": arguments(each) or {}}
    elif said.draft.text:
        yield {"type": "text", "text": said.draft.text}


def _call(said: Said, index: int) -> dict[str, Json]:
    return {"type": "tool_use", "id": f"toolu_{MARK}{index}", "name": said.asked.tool, "input": {}}


def stream(said: Said) -> Iterator[Event]:
    """Yield the events of the streamed form."""
    start = {**_message(said, []), "usage": _usage(said, 1)}
    yield Event(named("message_start", {"type": "message_start", "message": start}))
    yield from _blocks(said)
    if said.draft.failing:
        yield Event(named("error", denial(said.draft.failing, said.asked).body))
    elif said.draft.ending is not Ending.NONE:
        end = {"type": "message_delta", "delta": _end(said), "usage": _usage(said, said.usage.output)}
        yield Event(named("message_delta", end))
        yield Event(named("message_stop", {"type": "message_stop"}))


def _blocks(said: Said) -> Iterator[Event]:
    index = 0
    if said.draft.thinking:
        yield _start(0, {"type": "thinking", "thinking": "", "signature": ""})
        yield Event(named("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": _signed()}))
        yield _stop(0)
        index = 1
    if said.called:
        for number, each in enumerate(said.calls()):
            kind = "input_json_delta", "partial_json"
            yield from _block(said, index + number, _call(said, number), kind, each)
    elif said.draft.text:
        yield from _block(said, index, {"type": "text", "text": ""}, ("text_delta", "text"), said.draft.text)


def _signed() -> dict[str, Json]:
    return {"type": "signature_delta", "signature": _SIGNATURE}


def _start(index: int, block: dict[str, Json]) -> Event:
    payload = {"type": "content_block_start", "index": index, "content_block": block}
    ping = named("ping", {"type": "ping"}) if index == 0 else ""
    return Event(named("content_block_start", payload) + ping)


def _stop(index: int) -> Event:
    return Event(named("content_block_stop", {"type": "content_block_stop", "index": index}))


def _block(said: Said, index: int, block: dict[str, Json], kind: tuple[str, str], text: str) -> Iterator[Event]:
    """Yield a block; its deltas are written by hand, because there may be very many."""
    yield _start(index, block)
    before = f'event: content_block_delta\ndata: {{"type":"content_block_delta","index":{index},"delta":{{"type":'
    for each in said.pieces(text):
        yield Event(f'{before}"{kind[0]}","{kind[1]}":{dumped(each)}}}}}\n\n', len(each))
    if not said.broken_off:
        yield _stop(index)
