"""Anthropic Messages, as the Anthropic API, Bedrock, Vertex and Foundry speak it.

Source: platform.claude.com/docs/en/api/messages; anthropic 2.11.0, types.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emitter.adapters.answer import (
    Assembled,
    Candidate,
    answer,
    broken,
    count,
    error_answer,
    is_error,
    items,
    reasons,
    text,
    with_usage,
)
from emitter.adapters.body import Owned, merged
from emitter.adapters.sdk import post, post_for_stream
from emitter.wire import OutputMode, Usage, mapping
from emitter.wire.strict import NotJsonError, loads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.adapters.answer import Tables
    from emitter.profile.model import Wire
    from emitter.wire import Answer, Json, OutputFormat, Request

PATH = "/v1/messages"

_CUT = "no stop reason"
"""What stands for the stop of a message that broke off before another one began."""

OWNED: Mapping[str, Owned] = MappingProxyType(
    {
        "model": Owned.MODEL,
        "messages": Owned.PROMPT,
        "system": Owned.INSTRUCTIONS,
        "max_tokens": Owned.BUDGET,
        "output_config.format": Owned.FORM,
        "output_format": Owned.FORM,
        "tools": Owned.TOOLS,
        "tool_choice": Owned.TOOLS,
        "stream": Owned.STREAM,
    }
)
"""What options may not set; other names of the same things among them."""


def encode(request: Request, wire: Wire) -> dict[str, Json]:
    """Return the request body."""
    body: dict[str, Json] = {
        "model": request.model,
        "system": request.system,
        "messages": [{"role": each.role.value, "content": each.text} for each in request.turns()],
        wire.tokens.parameter: request.budget,
        **_output(request.output),
    }
    return merged(body, wire.output.options, request.options)


def _output(output: OutputFormat) -> dict[str, Json]:
    match output.mode:
        case OutputMode.JSON_SCHEMA:
            return {"output_config": {"format": {"type": "json_schema", "schema": output.schema}}}
        case OutputMode.TOOL:
            tool: dict[str, Json] = {"name": output.name, "input_schema": output.schema}
            choice = {"type": "tool", "name": output.name, "disable_parallel_tool_use": True}
            strict = {"strict": True} if output.strict else {}
            return {"tools": [{**tool, **strict}], "tool_choice": choice}
        case OutputMode.JSON_OBJECT | OutputMode.TEXT:
            return {}


def decode(body: Mapping[str, Json], tables: Tables) -> Answer:
    """Return what a response body says."""
    usage = _usage(body.get("usage"))
    error = broken(*_blocks(body.get("content")))
    if error or is_error(body, "content", "stop_reason"):
        return with_usage(error_answer(200, error or body, tables), usage)
    blocks, details = _blocks(body.get("content")), mapping(body.get("stop_details"))
    refused = "refusal" in (details.get("type"), *(block.get("type") for block in blocks))
    candidate = Candidate(
        raw_stops=("refusal",) if refused else reasons(body.get("stop_reason")),
        text="".join(text(block.get("text")) for block in blocks if block.get("type") == "text"),
        arguments=tuple(block["input"] for block in blocks if _is_call(block)),
        refused_as=text(details.get("category")) or None,
    )
    return answer([candidate], tables, usage)


def _blocks(content: Json) -> list[Mapping[str, Any]]:
    """Return the content's blocks; a bare text, as requests may have it, is one."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else items(content)


def _is_call(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "tool_use" and "input" in block


def _usage(usage: Json) -> Usage | None:
    table = mapping(usage)
    if not table:
        return None
    read, written = (count(table.get(f"cache_{each}_input_tokens")) for each in ("read", "creation"))
    return Usage(
        input=count(table.get("input_tokens")) + read + written,
        output=count(table.get("output_tokens")),
        cache_read=read,
        cache_write=written,
        thinking=count(mapping(table.get("output_tokens_details")).get("thinking_tokens")),
    )


@dataclass(slots=True)
class _Stream:
    """A stream so far: its message, what was said of the end of it and of those before it, and whether it ended."""

    message: dict[str, Any] = field(default_factory=dict[str, Any])
    blocks: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    stops: list[Json] = field(default_factory=list["Json"])
    refusal: Json = None
    closed: bool = False

    def told(self, of: Mapping[str, Any]) -> None:
        """Keep what a message, or a change of it, says of its end; a refusal is never taken back."""
        self.stops.append(of.get("stop_reason"))
        details = of.get("stop_details")
        self.refusal = details if mapping(details).get("type") == "refusal" else self.refusal


def assemble(events: Sequence[Json]) -> Assembled:
    """Return the message that the events amount to.

    A second ``message_start`` begins a new message; how the one before it stopped is kept, and that it did not.
    """
    stream = _Stream()
    for event in map(mapping, events):
        part = event if is_error(event, "type") else broken(mapping(event.get("delta")))
        if part:
            error = {"type": "error", "error": part.get("error") or part}
            return Assembled({**stream.message, **error}, ended=True)
        _fold(stream, event)
    content = [_closed(stream.blocks[index]) for index in sorted(stream.blocks)]
    body = {
        **stream.message,
        "stop_reason": reasons(*stream.stops),
        "stop_details": stream.refusal or stream.message.get("stop_details"),
        "content": content or stream.message.get("content"),
    }
    return Assembled(body, ended=stream.closed and bool(stream.message.get("stop_reason")))


def _fold(stream: _Stream, event: Mapping[str, Any]) -> None:
    match event.get("type"):
        case "message_start":
            if stream.blocks and not stream.message.get("stop_reason"):
                stream.stops.append(_CUT)
            stream.message, stream.blocks, stream.closed = dict(mapping(event.get("message"))), {}, False
            stream.told(stream.message)
        case "content_block_start":
            stream.blocks[count(event.get("index"))] = {**mapping(event.get("content_block")), "deltas": []}
        case "content_block_delta":
            block = stream.blocks.setdefault(count(event.get("index")), {"type": "text", "deltas": []})
            block["deltas"].append(mapping(event.get("delta")))
        case "message_delta":
            _close(stream.message, event)
            stream.told(mapping(event.get("delta")))
            stream.closed = True
        case "message_stop":
            stream.closed = True
        case _:
            pass


def _close(message: dict[str, Any], event: Mapping[str, Any]) -> None:
    for key, value in mapping(event.get("delta")).items():
        message[key] = message.get(key) if value is None else value
    latest = {key: value for key, value in mapping(event.get("usage")).items() if value is not None}
    message["usage"] = {**mapping(message.get("usage")), **latest}


def _closed(block: Mapping[str, Any]) -> dict[str, Any]:
    written = "".join(text(each.get("text")) for each in block["deltas"])
    arguments = "".join(text(each.get("partial_json")) for each in block["deltas"])
    closed = {key: value for key, value in block.items() if key != "deltas"}
    if closed.get("type") == "text":
        return {**closed, "text": text(closed.get("text")) + written}
    return {**closed, "input": _loaded(arguments)} if arguments else closed


def _loaded(arguments: str) -> Json:
    """Return the arguments as the unary form has them; what is not strict JSON stays text."""
    try:
        return loads(arguments)
    except NotJsonError:
        return arguments


def written(event: Mapping[str, Json], mode: OutputMode, memory: dict[str, Json]) -> str:
    """Return what an event adds to the first message: to its text blocks, or to the arguments of its first call."""
    block, delta = mapping(event.get("content_block")), mapping(event.get("delta"))
    index = f"block {event.get('index')}"
    match event.get("type"):
        case "message_start":
            memory["messages"] = count(memory.get("messages")) + 1
        case "content_block_start":
            memory[index] = block.get("type")
            if mode is OutputMode.TOOL and memory[index] == "tool_use":
                memory.setdefault("call", index)
            return text(block.get("text")) if mode is not OutputMode.TOOL and memory[index] == "text" else ""
        case "content_block_delta" if count(memory.get("messages")) <= 1:
            if mode is OutputMode.TOOL:
                return text(delta.get("partial_json")) if memory.get("call") == index else ""
            return text(delta.get("text")) if memory.get(index, "text") == "text" else ""
        case _:
            pass
    return ""


def call(client: object, body: Mapping[str, Json], timeout: float) -> object:
    """Send through an ``anthropic`` client of any flavour."""
    return post(client, PATH, body, timeout)


def streamed(body: Mapping[str, Json], wire: Wire) -> dict[str, Json]:  # noqa: ARG001  another wire needs it
    """Return the body of a request for a stream."""
    return {**body, "stream": True}


def stream(client: object, body: Mapping[str, Json], timeout: float) -> object:
    """Send for a stream through an ``anthropic`` client of any flavour."""
    return post_for_stream(client, PATH, body, timeout)
