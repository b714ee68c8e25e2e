"""What a good answer of each wire is, whole and streamed, and how a wire spells a call, a candidate and a role.

A text has one value that is right, ``DOCUMENT``, and one that is only there to be refused, ``DECOY``.
"""

from __future__ import annotations

import json
import struct
from functools import cache
from typing import TYPE_CHECKING, Any
from zlib import crc32

from emitter.profiles.model import WireFormat
from tests.adapters.streams import STREAMS, Frame
from tests.scenarios.vendors import VENDORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

WIRES = ("openai-responses", "openai-chat", "anthropic", "google", "gemini-interactions", "bedrock-converse")
SSE_WIRES = WIRES[:-1]
"""The wires whose streams are server-sent events."""
RIGHT, WRONG = "the right value", "the decoy value"
DOCUMENT: dict[str, Any] = {"a": RIGHT, "n": 7}
DECOY: dict[str, Any] = {"a": WRONG, "n": 7}
TEXT, DECOY_TEXT = json.dumps(DOCUMENT), json.dumps(DECOY)
INPUT, OUTPUT = 1480, 40
"""What the vendors say of the cost."""
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["a", "n"],
    "additionalProperties": False,
}
STREAM_KINDS = {"bedrock-converse": "application/vnd.amazon.eventstream"}
Event = tuple[str, Any]
Path = tuple[Any, ...]


def decoyed(data: bytes) -> bytes:
    """Return what holds right values with wrong ones in their places."""
    return data.replace(RIGHT.encode(), WRONG.encode())


def stream_kind(wire: str) -> str:
    """Return the content type of a wire's streams."""
    return STREAM_KINDS.get(wire, "text/event-stream")


# --- changes of JSON values ---

ABSENT = object()
"""In the place of a value: the member is left out."""


class Twice(dict[str, Any]):
    """An object that is written with one more member, whose key may be one that it has."""

    def __init__(self, members: Mapping[str, Any], extra: tuple[str, Any], *, first: bool) -> None:
        super().__init__(members)
        self.extra, self.first = extra, first

    def items(self) -> Any:
        """Return the members as they are written."""
        pairs = list(super().items())
        return [self.extra, *pairs] if self.first else [*pairs, self.extra]


def copied(value: Any) -> Any:
    """Return a JSON value that shares nothing with another."""
    return json.loads(json.dumps(value))


def paths(value: Any, at: Path = ()) -> Iterator[Path]:
    """Yield the path of every member."""
    pairs: Iterable[tuple[Any, Any]] = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in pairs:
        yield (*at, key)
        yield from paths(inner, (*at, key))


def inside(value: Any, path: Path) -> Any:
    """Return what is at a path."""
    for key in path:
        value = value[key]
    return value


def changed(body: Any, path: Path, value: Any) -> Any:
    """Return a copy with another value at a path, or without the member if it is ``ABSENT``."""
    made = copied(body)
    inner = inside(made, path[:-1])
    if value is ABSENT:
        inner.pop(path[-1], None)
    else:
        inner[path[-1]] = value
    return made


def doubled(body: Any, path: Path, value: Any, *, first: bool) -> Any:
    """Return a copy in which a member stands twice, once with another value."""
    if not path[:-1]:
        return Twice(copied(body), (path[-1], value), first=first)
    return changed(body, path[:-1], Twice(inside(copied(body), path[:-1]), (path[-1], value), first=first))


def replaced(value: Any, old: tuple[str, Any], new: Any) -> Any:
    """Return a value in which each member with this key and this value has another value, or is left out."""
    if isinstance(value, list):
        return [replaced(each, old, new) for each in value]
    if not isinstance(value, dict):
        return value
    pairs = ((key, new if (key, inner) == old else replaced(inner, old, new)) for key, inner in value.items())
    return {key: inner for key, inner in pairs if inner is not ABSENT}


# --- good answers ---

_IDS = {"google": {"responseId": "resp_1"}}


@cache
def _unary(wire: str, text: str) -> str:
    return json.dumps({**_IDS.get(wire, {}), **VENDORS[wire].whole(text, OUTPUT).body})


def unary(wire: str, text: str = TEXT) -> dict[str, Any]:
    """Return the body of a good unary answer."""
    body: dict[str, Any] = json.loads(_unary(wire, text))
    return body


def halves(text: str) -> list[str]:
    """Return a text in two pieces, of which the first ends inside a string."""
    return [text[:12], text[12:]] if text else []


@cache
def _events(wire: str, text: str) -> str:
    return json.dumps(streamed(wire, unary(wire, text)))


def events(wire: str, text: str = TEXT) -> list[Event]:
    """Return the events of a good stream."""
    return [(name, payload) for name, payload in json.loads(_events(wire, text))]


def streamed(wire: str, body: Any, cut: Callable[[str], list[str]] = halves) -> list[Event]:
    """Return a body as the events that it would be, with the ids that the vendors give to each of them."""
    return [(name, _identified(wire, payload, body)) for name, payload in STREAMS[WireFormat(wire)](body, cut)]


def _identified(wire: str, payload: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    if wire == "openai-chat":
        return {"id": body.get("id"), "object": "chat.completion.chunk", **payload}
    if wire == "google":
        return {**payload, "responseId": body.get("responseId")}
    if wire == "openai-responses" and "output_index" in payload and "item" not in payload:
        item = body["output"][payload["output_index"]]
        return {**payload, **({"item_id": item["id"]} if "id" in item else {})}
    if payload.get("event_type") == "interaction.created":
        return {**payload, "interaction": {"id": body.get("id"), **payload["interaction"]}}
    return payload


# --- streams as they are written ---

_STRING = 7


def frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Return a frame of an Amazon event stream."""
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    block = b"".join(
        bytes([len(name)]) + name + struct.pack("!BH", _STRING, len(value)) + value for name, value in pairs
    )
    prelude = struct.pack("!II", 16 + len(block) + len(payload), len(block))
    begun = prelude + struct.pack("!I", crc32(prelude)) + block + payload
    return begun + struct.pack("!I", crc32(begun))


def event_frame(name: str, payload: bytes) -> bytes:
    """Return the frame of an event."""
    return frame({":event-type": name, ":content-type": "application/json", ":message-type": "event"}, payload)


def written(made: Sequence[Event], wire: str, **how: Any) -> bytes:
    """Return events as they are written down, with the end that the wire has."""
    if wire in SSE_WIRES:
        return Frame(done=wire == "openai-chat", **how).write(list(made)).encode()
    return b"".join(written_one(event, wire) for event in made)


def written_one(event: Event, wire: str) -> bytes:
    """Return one event as it is written down."""
    if wire in SSE_WIRES:
        return Frame(done=False).write([event]).encode()
    # A member beside the event's own is Bedrock's only as its own event.
    return b"".join(event_frame(name, json.dumps(payload).encode()) for name, payload in event[1].items())


def pieces(wire: str) -> list[bytes]:
    """Return the pieces of a good stream, each with one event."""
    done = [b"data: [DONE]\n\n"] if wire == "openai-chat" else []
    return [*(written_one(event, wire) for event in events(wire)), *done]


# --- the spelling of each wire ---

STOPS = ("finish_reason", "finishReason", "stop_reason", "stopReason", "status")
CLEAN = ("completed", "stop", "end_turn", "STOP")
CONTENT: dict[str, Path] = {
    "openai-responses": ("output",),
    "anthropic": ("content",),
    "google": ("candidates", 0, "content", "parts"),
    "gemini-interactions": ("steps",),
    "bedrock-converse": ("output", "message", "content"),
}
"""Where the parts of an answer stand. Chat completions have their calls elsewhere."""
CALL_STOPS = {
    "openai-chat": "tool_calls",
    "anthropic": "tool_use",
    "gemini-interactions": "requires_action",
    "bedrock-converse": "tool_use",
}
"""The stop reasons of answers that end in a call, where the wire has one."""
ROLES: dict[str, tuple[str, str]] = {
    "openai-responses": ("role", "assistant"),
    "openai-chat": ("role", "assistant"),
    "anthropic": ("role", "assistant"),
    "google": ("role", "model"),
    "gemini-interactions": ("type", "model_output"),
    "bedrock-converse": ("role", "assistant"),
}
"""The member that says who speaks, and what it says of the model."""


def stop_path(wire: str) -> Path:
    """Return where a unary answer says how it ended."""
    return next(path for path in paths(unary(wire)) if path[-1] in STOPS)


def stop_place(made: Sequence[Event]) -> int:
    """Return the place of the event that says how a stream ended."""
    found = [
        place
        for place, (_, payload) in enumerate(made)
        if any(path[-1] in STOPS and inside(payload, path) in CLEAN for path in paths(payload))
        and "item" not in payload
    ]
    return found[-1]


def call(wire: str, name: Any, document: Any) -> dict[str, Any]:
    """Return a call of a tool as a wire spells it."""
    text = json.dumps(document)
    match wire:
        case "openai-chat":
            return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": text}}
        case "openai-responses":
            own = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed"}
            return {**own, "name": name, "arguments": text}
        case "anthropic":
            return {"type": "tool_use", "id": "toolu_1", "name": name, "input": document}
        case "google":
            return {"functionCall": {"name": name, "args": document}}
        case "gemini-interactions":
            return {"type": "function_call", "id": "fc_1", "name": name, "arguments": document}
        case _:
            return {"toolUse": {"toolUseId": "tooluse_1", "name": name, "input": document}}


def with_calls(wire: str, body: Any, calls: Sequence[Any], *, first: bool = False) -> Any:
    """Return a body with calls before or behind its text."""
    if wire == "openai-chat":
        return changed(body, ("choices", 0, "message", "tool_calls"), list(calls))
    path = CONTENT[wire]
    said = inside(body, path)
    return changed(body, path, [*calls, *said] if first else [*said, *calls])


def without_text(wire: str, body: Any) -> Any:
    """Return a body without its text."""
    if wire == "openai-chat":
        return changed(body, ("choices", 0, "message", "content"), None)
    return changed(body, CONTENT[wire], [])


def stopped(wire: str, body: Any, stop: str) -> Any:
    """Return a body with another stop reason."""
    return changed(body, stop_path(wire), stop)
