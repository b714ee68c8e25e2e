"""A Responses stream folded into the body that the unary form would have had.

The terminal event holds the whole response. Where a proxy leaves its output empty, what was streamed before
stands in; a refusal that was streamed counts whatever the terminal event says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter.adapters.answer import Assembled, count, is_error, reasons, text
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.wire import Json

_TERMINAL = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_GOING_ON = ("queued", "in_progress")
_UNSAID = "no status"
"""What stands for the status that a terminal event should have had."""
_WRITTEN = {
    "response.output_text": ("output_text", "text"),
    "response.refusal": ("refusal", "refusal"),
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
}
"""What each kind of delta writes: the type of the part or call, and its key."""


@dataclass(slots=True)
class _Stream:
    """A stream so far: whole items, the pieces of unfinished ones, the latest response."""

    items: dict[int, Mapping[str, Any]] = field(default_factory=dict[int, "Mapping[str, Any]"])
    pieces: dict[tuple[int, int, str], list[str]] = field(default_factory=dict[tuple[int, int, str], list[str]])
    last: Mapping[str, Any] = field(default_factory=dict[str, Any])
    output: list[Json] = field(default_factory=list["Json"])
    statuses: list[Json] = field(default_factory=list["Json"])
    error: Json = None
    ended: bool = False


def assemble(events: Sequence[Json]) -> Assembled:
    """Return the response that the events amount to."""
    stream = _Stream()
    for event in map(mapping, events):
        kind = text(event.get("type"))
        if is_error(event, "type") or kind == "response.error":
            stream.error = event.get("error") or event
        elif "response" in event:
            stream.last = mapping(event["response"])
            _tell(stream, kind)
        elif kind in _TERMINAL:
            stream.statuses.append(_UNSAID)
        stream.ended = stream.ended or kind in _TERMINAL
        _fold(stream, kind, event)
    body = {**stream.last, "status": reasons(*stream.statuses), "output": _output(stream)}
    if stream.error is not None:
        body["error"] = body.get("error") or stream.error
    return Assembled(body, ended=stream.ended or stream.error is not None)


def _tell(stream: _Stream, kind: str) -> None:
    """Keep what an event says of the end: of several responses all are kept, so that none is glossed over.

    A terminal event says it twice, by its name and by the status of its response; both must be good.
    """
    status = stream.last.get("status")
    if kind in _TERMINAL:
        stream.statuses.extend((status or _UNSAID, kind.partition(".")[2]))
        stream.output.extend(sequence(stream.last.get("output")))
    elif status not in _GOING_ON:
        stream.statuses.append(status)


def _fold(stream: _Stream, kind: str, event: Mapping[str, Any]) -> None:
    index = count(event.get("output_index"))
    stem, _, step = kind.rpartition(".")
    if stem == "response.output_item":
        # Without an index of its own, as some proxies send it, a finished item follows those before it.
        place = index if "output_index" in event else len(stream.items)
        stream.items[place] = mapping(event.get("item"))
    if stem in _WRITTEN:
        piece = (index, count(event.get("content_index")), stem)
        if step == "done":
            stream.pieces[piece] = [text(event.get(_WRITTEN[stem][1]))]
        else:
            stream.pieces.setdefault(piece, []).append(text(event.get("delta")))


def _output(stream: _Stream) -> list[Json]:
    output = stream.output or _streamed(stream)
    refused = [_part(each, said) for each, said in stream.pieces.items() if each[2] == "response.refusal"]
    return [*output, {"type": "message", "content": refused}] if refused else output


def _streamed(stream: _Stream) -> list[Json]:
    begun = sorted({*stream.items, *(piece[0] for piece in stream.pieces)})
    return [_item(stream, index, stream.items.get(index, {})) for index in begun]


def _item(stream: _Stream, index: int, item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a streamed item, filled from its pieces where it came without its content."""
    parts = [_part(each, said) for each, said in sorted(stream.pieces.items()) if each[0] == index]
    if item.get("content") or not parts:
        return item
    if parts[0]["type"] in ("function_call", "custom_tool_call"):
        return {**item, **parts[0]}
    return {**item, "type": "message", "content": parts}


def _part(place: tuple[int, int, str], said: list[str]) -> dict[str, Any]:
    kind, key = _WRITTEN[place[2]]
    return {"type": kind, key: "".join(said)}
