"""OpenAI Responses, as OpenAI and Azure speak it.

Source: developers.openai.com/api/reference/resources/responses; openai 3.52.0, types/responses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.adapters.answer import (
    Assembled,
    Candidate,
    answer,
    count,
    error_answer,
    items,
    meaning,
    text,
    with_usage,
)
from emitter.adapters.body import merged
from emitter.adapters.sdk import post
from emitter.wire import OutputMode, Stop, Usage, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from emitter.adapters.answer import Tables
    from emitter.profile.model import Wire
    from emitter.wire import Answer, Json, OutputFormat, Request

PATH = "/responses"

_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_FINAL_PHASES = (None, "final_answer")


def encode(request: Request, wire: Wire) -> dict[str, Json]:
    """Return the request body; nothing is stored at the vendor."""
    body: dict[str, Json] = {
        "model": request.model,
        "instructions": request.system,
        "input": [{"role": each.role.value, "content": each.text} for each in request.turns()],
        wire.tokens.parameter: request.budget,
        **_output(request.output),
    }
    return merged(body, wire.output.options, request.options)


def _output(output: OutputFormat) -> dict[str, Json]:
    match output.mode:
        case OutputMode.JSON_SCHEMA:
            named = {"name": output.name, "schema": output.schema, "strict": output.strict}
            return {"text": {"format": {"type": "json_schema", **named}}}
        case OutputMode.JSON_OBJECT:
            return {"text": {"format": {"type": "json_object"}}}
        case OutputMode.TOOL:
            function = {"name": output.name, "parameters": output.schema, "strict": output.strict}
            return {
                "tools": [{"type": "function", **function}],
                "tool_choice": {"type": "function", "name": output.name},
                "parallel_tool_calls": False,
            }


def decode(body: Mapping[str, Json], tables: Tables) -> Answer:
    """Return what a response body says."""
    if body.get("error") and "status" not in body:
        return error_answer(None, body, tables)
    raw, usage = _raw_stop(body), _usage(body.get("usage"))
    if meaning(raw, tables.stops) is Stop.FAULTED:
        return with_usage(error_answer(None, body, tables), usage)
    output = items(body.get("output"))
    parts = list(_parts(output))
    refused = any(part.get("type") == "refusal" for part in parts)
    candidate = Candidate(
        raw_stop="refusal" if refused else raw,
        text="".join(text(part.get("text")) for part in parts if part.get("type") == "output_text"),
        arguments=tuple(each["arguments"] for each in output if _is_call(each)),
    )
    return answer([candidate], tables, usage)


def _raw_stop(body: Mapping[str, Any]) -> str:
    status = text(body.get("status"))
    reason = mapping(body.get("incomplete_details")).get("reason")
    code = mapping(body.get("error")).get("code")
    detail = text(reason) or text(code)
    return f"{status}:{detail}" if detail else status


def _is_call(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "function_call" and "arguments" in item


def _parts(output: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the content parts of the final answer; commentary between tool calls is not part of it."""
    for item in output:
        if item.get("type") == "message" and item.get("phase") in _FINAL_PHASES:
            yield from items(item.get("content"))


def _usage(usage: Json) -> Usage | None:
    table = mapping(usage)
    if not table:
        return None
    cached = mapping(table.get("input_tokens_details"))
    return Usage(
        input=count(table.get("input_tokens")),
        output=count(table.get("output_tokens")),
        cache_read=count(cached.get("cached_tokens")),
        cache_write=count(cached.get("cache_write_tokens")),
        thinking=count(mapping(table.get("output_tokens_details")).get("reasoning_tokens")),
    )


def assemble(events: Sequence[Json]) -> Assembled:
    """Return the response of the terminal event; its items are taken from the stream where it has none."""
    done: list[Json] = []
    last: Mapping[str, Any] = {}
    error: Json = None
    for event in map(mapping, events):
        kind = event.get("type")
        if kind == "response.output_item.done":
            done.append(event.get("item"))
        if kind == "error" or (kind is None and event.get("error")):
            error = event.get("error") or event
        if "response" in event:
            last = mapping(event["response"])
        if kind in _TERMINAL:
            return Assembled({**last, "output": last.get("output") or done}, ended=True)
    if error is not None:
        return Assembled({"error": error}, ended=True)
    return Assembled({**last, "output": last.get("output") or done}, ended=False)


def call(client: object, body: Mapping[str, Json], timeout: float) -> object:
    """Send through an ``openai`` client of any flavour."""
    return post(client, PATH, body, timeout)
