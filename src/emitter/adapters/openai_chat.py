"""OpenAI Chat Completions, as OpenAI, Azure and every compatible server speak it.

Source: developers.openai.com/api/reference/resources/chat; openai 3.52.0, types/chat.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from emitter.adapters.answer import Assembled, Candidate, answer, count, error_answer, items, text
from emitter.adapters.body import merged
from emitter.adapters.sdk import post
from emitter.wire import OutputMode, Usage, mapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.adapters.answer import Tables
    from emitter.profile.model import Wire
    from emitter.wire import Answer, Json, OutputFormat, Request

PATH = "/chat/completions"


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
        case OutputMode.TOOL:
            function = {"name": output.name, "parameters": output.schema, "strict": output.strict}
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": output.name}},
                "parallel_tool_calls": False,
            }


def decode(body: Mapping[str, Json], tables: Tables) -> Answer:
    """Return what a response body says."""
    choices = items(body.get("choices"))
    if not choices and body.get("error"):
        return error_answer(None, body, tables)
    return answer([_candidate(each) for each in choices], tables, _usage(body.get("usage")))


def _candidate(choice: Mapping[str, Any]) -> Candidate:
    message = mapping(choice.get("message"))
    refusal = text(message.get("refusal"))
    stop = text(choice.get("finish_reason")) or text(mapping(choice.get("finish_details")).get("type"))
    return Candidate(
        raw_stop="refusal" if refusal else stop,
        text=_content(message.get("content")),
        arguments=_arguments(message),
    )


def _content(content: Json) -> str:
    """Return the visible text; some servers send a list of parts, thinking among them."""
    if isinstance(content, str):
        return content
    return "".join(text(part.get("text")) for part in items(content) if part.get("type") == "text")


def _arguments(message: Mapping[str, Any]) -> tuple[Json, ...]:
    functions = [mapping(call.get("function")) for call in items(message.get("tool_calls"))]
    functions.append(mapping(message.get("function_call")))
    return tuple(function["arguments"] for function in functions if "arguments" in function)


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


def assemble(events: Sequence[Json]) -> Assembled:
    """Return the body that the chunks amount to."""
    choices: dict[int, dict[str, Any]] = {}
    usage: Json = None
    for event in map(mapping, events):
        if event.get("error"):
            return Assembled({"error": event["error"]}, ended=True)
        usage = event.get("usage") or usage
        for choice in items(event.get("choices")):
            _fold(choices.setdefault(count(choice.get("index")), _empty()), choice)
    ended = bool(choices) and all(each["finish_reason"] or each["finish_details"] for each in choices.values())
    return Assembled({"choices": [_closed(choices[index]) for index in sorted(choices)], "usage": usage}, ended)


def _empty() -> dict[str, Any]:
    return {"finish_reason": None, "finish_details": None, "content": [], "refusal": [], "calls": {}}


def _fold(into: dict[str, Any], choice: Mapping[str, Any]) -> None:
    delta = mapping(choice.get("delta"))
    into["content"].append(_content(delta.get("content")))
    into["refusal"].append(text(delta.get("refusal")))
    into["finish_reason"] = choice.get("finish_reason") or into["finish_reason"]
    into["finish_details"] = choice.get("finish_details") or into["finish_details"]
    calls: dict[Any, list[str]] = into["calls"]
    for call in items(delta.get("tool_calls")):
        key = call.get("index", len(calls))
        calls.setdefault(key, []).append(_argument_text(mapping(call.get("function"))))
    if delta.get("function_call"):
        calls.setdefault("function_call", []).append(_argument_text(mapping(delta["function_call"])))


def _argument_text(function: Mapping[str, Any]) -> str:
    arguments = function.get("arguments")
    return json.dumps(arguments) if isinstance(arguments, dict) else text(arguments)


def _closed(folded: Mapping[str, Any]) -> dict[str, Any]:
    calls = [{"function": {"arguments": "".join(parts)}} for parts in folded["calls"].values()]
    message = {
        "content": "".join(folded["content"]),
        "refusal": "".join(folded["refusal"]) or None,
        "tool_calls": calls,
    }
    return {
        "message": message,
        "finish_reason": folded["finish_reason"],
        "finish_details": folded["finish_details"],
    }


def call(client: object, body: Mapping[str, Json], timeout: float) -> object:
    """Send through an ``openai`` client of any flavour."""
    return post(client, PATH, body, timeout)
