"""OpenAI Chat Completions, as OpenAI, Azure and every compatible server speak it.

Source: developers.openai.com/api/reference/resources/chat; openai 3.52.0, types/chat.
"""

from __future__ import annotations

import json
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
    first_of,
    is_error,
    items,
    reasons,
    text,
    with_usage,
)
from emitter.adapters.body import Owned, merged
from emitter.adapters.sdk import post, post_for_stream
from emitter.wire import OutputMode, Usage, mapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.adapters.answer import Tables
    from emitter.profile.model import Wire
    from emitter.wire import Answer, Json, OutputFormat, Request

PATH = "/chat/completions"

OWNED: Mapping[str, Owned] = MappingProxyType(
    {
        "model": Owned.MODEL,
        "messages": Owned.PROMPT,
        "max_tokens": Owned.BUDGET,
        "max_completion_tokens": Owned.BUDGET,
        "response_format": Owned.FORM,
        "tools": Owned.TOOLS,
        "tool_choice": Owned.TOOLS,
        "parallel_tool_calls": Owned.TOOLS,
        "functions": Owned.TOOLS,
        "function_call": Owned.TOOLS,
        "stream": Owned.STREAM,
        "stream_options.include_usage": Owned.STREAM,
    }
)
"""What options may not set; other names of the same things among them."""

_VISIBLE = (None, "text", "output_text")


def encode(request: Request, wire: Wire) -> dict[str, Json]:
    """Return the request body."""
    turns = [{"role": each.role.value, "content": each.text} for each in request.turns()]
    body: dict[str, Json] = {
        "model": request.model,
        "messages": [{"role": "system", "content": request.system}, *turns],
        wire.tokens.parameter: request.budget,
        **_output(request.output),
    }
    return merged(body, wire.output.options, request.options)


def _output(output: OutputFormat) -> dict[str, Json]:
    match output.mode:
        case OutputMode.JSON_SCHEMA:
            named = {"name": output.name, "schema": output.schema, "strict": output.strict}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case OutputMode.JSON_OBJECT:
            return {"response_format": {"type": "json_object"}}
        case OutputMode.TEXT:
            return {}
        case OutputMode.TOOL:
            function = {"name": output.name, "parameters": output.schema, "strict": output.strict}
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": output.name}},
                "parallel_tool_calls": False,
            }


def decode(body: Mapping[str, Json], tables: Tables) -> Answer:
    """Return what a response body says."""
    choices, usage = items(body.get("choices")), _usage(body.get("usage"))
    error = broken(*choices, *(mapping(each.get("message")) for each in choices))
    if error or is_error(body, "choices"):
        return with_usage(error_answer(200, error or body, tables), usage)
    return answer([_candidate(each) for each in choices], tables, usage)


def _candidate(choice: Mapping[str, Any]) -> Candidate:
    message = mapping(choice.get("message"))
    return Candidate(
        raw_stops=("refusal",) if _refuses(message) else _stops(choice),
        text=_content(message.get("content")),
        arguments=_arguments(message),
    )


def _stops(choice: Mapping[str, Any]) -> tuple[str, ...]:
    return reasons(choice.get("finish_reason"), mapping(choice.get("finish_details")).get("type"))


def _refuses(message: Mapping[str, Any]) -> bool:
    """Tell whether a message or a part of it refuses: whatever fills the field, and a part whatever it says."""
    content = message.get("content")
    parts = items(content) or [mapping(content)]
    return bool(message.get("refusal")) or any(part.get("type") == "refusal" or part.get("refusal") for part in parts)


def _content(content: Json) -> str:
    """Return the visible text; some servers send a list of parts, thinking among them."""
    if isinstance(content, str):
        return content
    return "".join(text(part.get("text")) for part in items(content) if part.get("type") in _VISIBLE)


def _arguments(message: Mapping[str, Any]) -> tuple[Json, ...]:
    called = [*items(message.get("tool_calls")), {"function": message.get("function_call")}]
    return tuple(_given(call) for call in called if _named(call))


def _named(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is called: a function, or a custom tool, whose input is free text."""
    return mapping(call.get("function")) or mapping(call.get("custom"))


def _given(call: Mapping[str, Any]) -> Json:
    named = _named(call)
    given = named.get("arguments", named.get("input"))
    return "" if given is None else given


def _usage(usage: Json) -> Usage | None:
    table = mapping(usage)
    if not table:
        return None
    return Usage(
        input=count(table.get("prompt_tokens")),
        output=count(table.get("completion_tokens")),
        cache_read=count(mapping(table.get("prompt_tokens_details")).get("cached_tokens")),
        thinking=count(mapping(table.get("completion_tokens_details")).get("reasoning_tokens")),
    )


@dataclass(slots=True)
class _Call:
    """A called tool so far."""

    index: Json
    id: Json
    parts: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Choice:
    """A choice so far."""

    reasons: list[str] = field(default_factory=list[str])
    content: list[str] = field(default_factory=list[str])
    refused: bool = False
    calls: list[_Call] = field(default_factory=list[_Call])
    error: Json = None


def assemble(events: Sequence[Json]) -> Assembled:
    """Return the body that the chunks amount to.

    Of several finish reasons all that differ are kept, so that none is glossed over.
    """
    choices: dict[int, _Choice] = {}
    body: dict[str, Json] = {"usage": None}
    for event in map(mapping, events):
        if is_error(event, "choices", "usage"):
            body["error"] = event.get("error") or event
        body["usage"] = event.get("usage") or body["usage"]
        for choice in items(event.get("choices")):
            _fold(choices.setdefault(count(choice.get("index")), _Choice()), choice)
    body["choices"] = [_closed(choices[index]) for index in sorted(choices)]
    stopped = bool(choices) and all(each.reasons for each in choices.values())
    return Assembled(body, ended=stopped or "error" in body)


def _fold(into: _Choice, choice: Mapping[str, Any]) -> None:
    delta = mapping(choice.get("delta")) or mapping(choice.get("message"))
    into.content.append(_content(delta.get("content")))
    into.refused = into.refused or _refuses(delta)
    into.error = choice.get("error") or delta.get("error") or into.error
    into.reasons.extend(filter(None, _stops(choice)))
    for call in items(delta.get("tool_calls")):
        _fold_call(into.calls, call)
    if delta.get("function_call"):
        _fold_call(into.calls, {"index": "function_call", "function": delta["function_call"]})


def _fold_call(calls: list[_Call], call: Mapping[str, Any]) -> None:
    """Add to the call that a delta continues.

    Servers leave out the index, or say 0 for every call: then a name with a new id, or with none, begins a
    new one.
    """
    index, mark, given = call.get("index"), call.get("id"), _given(call)
    place = index if index is not None or not calls else calls[-1].index
    continued = next((each for each in reversed(calls) if each.index == place), None)
    if continued is None or (_named(call).get("name") and (mark != continued.id if mark else index is None)):
        continued = _Call(place, mark)
        calls.append(continued)
    continued.parts.append(json.dumps(given) if isinstance(given, dict) else text(given))


def _closed(choice: _Choice) -> dict[str, Any]:
    calls = [{"function": {"arguments": "".join(each.parts)}} for each in choice.calls]
    message = {"content": "".join(choice.content), "refusal": choice.refused, "tool_calls": calls}
    return {"message": message, "finish_reason": tuple(choice.reasons), "error": choice.error}


def written(event: Mapping[str, Json], mode: OutputMode, memory: dict[str, Json]) -> str:
    """Return what a chunk adds to the first choice: its content, or the arguments of its first call."""
    first = first_of(event.get("choices"))
    delta = mapping(first.get("delta")) or mapping(first.get("message"))
    if mode is not OutputMode.TOOL:
        return _content(delta.get("content"))
    called = [*items(delta.get("tool_calls")), {"function": delta.get("function_call")}]
    own = [each for each in called if _named(each) and not count(each.get("index"))]
    memory["calls"] = count(memory.get("calls")) + sum(bool(_named(each).get("name")) for each in own)
    return "".join(text(_given(each)) for each in own) if memory["calls"] <= 1 else ""


def call(client: object, body: Mapping[str, Json], timeout: float) -> object:
    """Send through an ``openai`` client of any flavour."""
    return post(client, PATH, body, timeout)


def streamed(body: Mapping[str, Json], wire: Wire) -> dict[str, Json]:
    """Return the body of a request for a stream."""
    usage: dict[str, Json] = {"stream_options": {"include_usage": True}} if wire.output.stream_usage else {}
    return {**body, "stream": True, **usage}


def stream(client: object, body: Mapping[str, Json], timeout: float) -> object:
    """Send for a stream through an ``openai`` client of any flavour."""
    return post_for_stream(client, PATH, body, timeout)
