"""OpenAI Responses, as OpenAI and Azure speak it.

Source: developers.openai.com/api/reference/resources/responses; openai 3.52.0, types/responses.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emitter.adapters.answer import (
    Candidate,
    answer,
    broken,
    count,
    error_answer,
    is_error,
    items,
    meaning,
    reasons,
    text,
    with_usage,
)
from emitter.adapters.body import Owned, merged
from emitter.adapters.openai_responses_stream import assemble
from emitter.adapters.sdk import post, post_for_stream
from emitter.wire import OutputMode, Stop, Usage, mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.answer import Tables
    from emitter.profile.model import Wire
    from emitter.wire import Answer, Json, OutputFormat, Request

__all__ = ["OWNED", "assemble", "call", "decode", "encode", "stream", "streamed", "written"]

PATH = "/responses"

OWNED: Mapping[str, Owned] = MappingProxyType(
    {
        "model": Owned.MODEL,
        "input": Owned.PROMPT,
        "instructions": Owned.INSTRUCTIONS,
        "max_output_tokens": Owned.BUDGET,
        "text.format": Owned.FORM,
        "tools": Owned.TOOLS,
        "tool_choice": Owned.TOOLS,
        "parallel_tool_calls": Owned.TOOLS,
        "stream": Owned.STREAM,
        "background": Owned.WHOLE,
    }
)
"""What options may not set; other names of the same things among them."""

_FINAL_PHASES = (None, "final_answer")
_VISIBLE = ("output_text", "text")
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
"""Where each kind of called tool holds what it is called with."""
_ARGUMENTS = ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta")
_COMPLETED = "completed"
_SPOKEN = ("message", "error", *_CALLS)
"""The items that may hold no error beside an answer; a hosted tool's may, for the model goes on without it."""
_SAID = ("failed", "incomplete")
"""The statuses that say themselves why an error stands beside them."""


def encode(request: Request, wire: Wire) -> dict[str, Json]:
    """Return the request body."""
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
        case OutputMode.TEXT:
            return {}
        case OutputMode.TOOL:
            function = {"name": output.name, "parameters": output.schema, "strict": output.strict}
            return {
                "tools": [{"type": "function", **function}],
                "tool_choice": {"type": "function", "name": output.name},
                "parallel_tool_calls": False,
            }


def decode(body: Mapping[str, Json], tables: Tables) -> Answer:
    """Return what a response body says."""
    raws, usage = _stops(body), _usage(body.get("usage"))
    output = items(body.get("output"))
    unsaid = is_error(body, "status", "output") and not any(each.startswith(_SAID) for each in raws)
    error = broken(*(item for item in output if item.get("type") in _SPOKEN))
    if error or unsaid or meaning(raws, tables.stops) is Stop.FAULTED:
        return with_usage(error_answer(200, error or body, tables), usage)
    parts = (part for item in output for part in (item, *_content(item)))
    refused = any(part.get("type") == "refusal" or part.get("refusal") for part in parts)
    candidate = Candidate(
        raw_stops=("refusal",) if refused else raws,
        text="".join(_visible(item) for item in output),
        arguments=tuple(each[key] for each in output if (key := _CALLS.get(text(each.get("type")))) and key in each),
    )
    return answer([candidate], tables, usage)


def _stops(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return each status with its detail, and those of the items that hold the answer.

    A detail of being incomplete is believed, whatever the status. Where the response is completed, an item that is not
    is no answer.
    """
    cut = mapping(body.get("incomplete_details")).get("reason")
    code = text(mapping(body.get("error")).get("code"))
    said = reasons(body.get("status"))
    if cut:
        said = (*(each for each in said if each not in ("", "incomplete")), f"incomplete:{reasons(cut)[0]}")
    elif code:
        said = tuple(f"{each}:{code}" if each == "failed" else each for each in said)
    if said != (_COMPLETED,):
        return said
    held = (each.get("status") for each in items(body.get("output")) if each.get("type") in ("message", *_CALLS))
    return reasons(said, *(each for each in held if each != _COMPLETED))


def _content(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if item.get("type") != "message":
        return []
    content = item.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else items(content)


def _visible(item: Mapping[str, Any]) -> str:
    """Return the text of the final answer; commentary between tool calls is not part of it."""
    parts = _content(item) if item.get("phase") in _FINAL_PHASES else []
    return "".join(text(part.get("text")) for part in parts if part.get("type") in _VISIBLE)


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


def written(event: Mapping[str, Json], mode: OutputMode, memory: dict[str, Json]) -> str:
    """Return what an event adds to the final answer, or to the arguments of the first call."""
    kind, index = text(event.get("type")), count(event.get("output_index"))
    if mode is OutputMode.TOOL:
        first = kind in _ARGUMENTS and memory.setdefault("call", index) == index
        return text(event.get("delta")) if first else ""
    if kind == "response.output_item.added" and mapping(event.get("item")).get("phase") not in _FINAL_PHASES:
        memory[f"aside {index}"] = True
    final = kind == "response.output_text.delta" and f"aside {index}" not in memory
    return text(event.get("delta")) if final else ""


def call(client: object, body: Mapping[str, Json], timeout: float) -> object:
    """Send through an ``openai`` client of any flavour."""
    return post(client, PATH, body, timeout)


def streamed(body: Mapping[str, Json], wire: Wire) -> dict[str, Json]:  # noqa: ARG001  another wire needs it
    """Return the body of a request for a stream."""
    return {**body, "stream": True}


def stream(client: object, body: Mapping[str, Json], timeout: float) -> object:
    """Send for a stream through an ``openai`` client of any flavour."""
    return post_for_stream(client, PATH, body, timeout)
