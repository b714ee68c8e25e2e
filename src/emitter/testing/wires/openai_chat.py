"""OpenAI Chat Completions from the vendor's side, as Azure and compatible servers speak it, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.profile.model import WireName
from emitter.testing.asked import Asked
from emitter.testing.draft import Ending, Failure
from emitter.testing.wires import openai_errors
from emitter.testing.wires.openai_errors import AZURE, complaint, denial
from emitter.testing.wires.reading import AROUND_MESSAGE, Surface, missing, positive, spoken, written
from emitter.testing.wires.writing import CREATED, MARK, Event, dumped, unnamed
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.testing.wires.writing import Said
    from emitter.wire import Json

__all__ = ["complaint", "denial", "read", "stream", "surfaces", "whole"]

_BUDGETS = ("max_completion_tokens", "max_tokens")
_FINISH = {
    Ending.WHOLE: "stop",
    Ending.REFUSED: "stop",
    Ending.CUT: "length",
    Ending.FILTERED: "content_filter",
    Ending.PAUSED: None,
    Ending.NONE: None,
}
_FIRST = {"index": 0, "logprobs": None}


def read(path: str, body: Mapping[str, Json]) -> Asked | Failure:
    """Return what a request asks for, or what is wrong with it."""
    fault = _fault(body)
    if fault:
        return fault
    format_, tool = mapping(body.get("response_format")), _forced(body)
    held = mapping(format_.get("json_schema"))
    schema = tool.get("parameters") if tool else held.get("schema")
    if schema is None and format_.get("type") == "json_object":
        schema = {"type": "object"}
    messages = sequence(body["messages"])
    options = mapping(body.get("stream_options"))
    return Asked(
        wire=WireName.OPENAI_CHAT,
        path=path,
        model=str(body["model"]),
        body=body,
        streamed=body.get("stream") is True,
        schema=schema,
        tool=tool.get("name") if tool else None,
        budget=_budget(body)[1],
        input_tokens=spoken(messages)
        + written(held.get("schema"), *sequence(body.get("tools")))
        + AROUND_MESSAGE * len(messages),
        usage=options.get("include_usage") is True,
        azure=AZURE in path,
    )


def _budget(body: Mapping[str, Json]) -> tuple[str, int | None]:
    return next(((each, given) for each in _BUDGETS if (given := positive(body.get(each))) is not None), ("", None))


def _fault(body: Mapping[str, Json]) -> Failure | None:
    for name in ("model", "messages"):
        if not body.get(name):
            return missing(name, f"Missing required parameter: '{name}'.")
    format_ = mapping(body.get("response_format"))
    if format_.get("type") == "json_schema" and not mapping(format_.get("json_schema")).get("name"):
        name = "response_format.json_schema.name"
        return missing(name, f"Missing required parameter: '{name}'.")
    return openai_errors.too_few(*_budget(body), 1)


def _forced(body: Mapping[str, Json]) -> Mapping[str, Any] | None:
    functions = [mapping(mapping(each).get("function")) for each in sequence(body.get("tools"))]
    choice = body.get("tool_choice")
    wanted = mapping(mapping(choice).get("function")).get("name")
    forced = [each for each in functions if choice == "required" or (wanted and each.get("name") == wanted)]
    return forced[0] if forced else None


def surfaces(asked: Asked) -> Iterator[Surface]:
    """Yield the strict schemas of a request."""
    dialect = "azure-openai" if asked.azure else "openai"
    held = mapping(mapping(asked.body.get("response_format")).get("json_schema"))
    if held.get("strict"):
        yield Surface(held.get("schema"), dialect, str(held["name"]), "response_format")
    for index, each in enumerate(sequence(asked.body.get("tools"))):
        function = mapping(mapping(each).get("function"))
        if function.get("strict"):
            at = f"tools[{index}].function.parameters"
            yield Surface(function.get("parameters"), dialect, str(function.get("name")), at, tool=True)


def whole(said: Said) -> Json:
    """Return the body of the unary form."""
    choice = {**_FIRST, "message": {"role": "assistant", **_message(said)}, "finish_reason": _finish(said)}
    return {**_shell(said, "chat.completion"), "choices": [choice], "usage": _usage(said)}


def _shell(said: Said, kind: str) -> dict[str, Json]:
    return {
        "id": f"chatcmpl-{MARK}",
        "object": kind,
        "created": CREATED,
        "model": said.asked.model,
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
    }


def _message(said: Said) -> dict[str, Json]:
    text = said.draft.text
    if said.draft.ending is Ending.REFUSED:
        return {"content": None, "refusal": text}
    if said.called:
        calls = [_call(said, index, each) for index, each in enumerate(said.calls())]
        return {"content": None, "refusal": None, "tool_calls": calls}
    return {"content": None if said.draft.ending is Ending.FILTERED and not text else text, "refusal": None}


def _call(said: Said, index: int, arguments: str) -> dict[str, Json]:
    function = {"name": said.asked.tool, "arguments": arguments}
    return {"id": f"call_{MARK}{index}", "type": "function", "function": function}


def _finish(said: Said) -> str | None:
    ending = said.draft.ending
    if not isinstance(ending, Ending):
        return ending
    # A function that is forced by its name ends in "stop", one that was only required in "tool_calls".
    required = said.called and said.asked.body.get("tool_choice") == "required"
    return "tool_calls" if required and ending is Ending.WHOLE else _FINISH[ending]


def _usage(said: Said) -> dict[str, Json]:
    usage = said.usage
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.thinking, "audio_tokens": 0},
    }


def stream(said: Said) -> Iterator[Event]:
    """Yield the events of the streamed form."""
    shell = _shell(said, "chat.completion.chunk")
    usage: dict[str, Json] = {"usage": None} if said.asked.usage else {}

    def chunk(delta: dict[str, Json], finish: str | None = None) -> str:
        return unnamed({**shell, "choices": [{**_FIRST, "delta": delta, "finish_reason": finish}], **usage})

    yield Event(chunk({"role": "assistant", "content": None if said.called else "", "refusal": None}))
    yield from _deltas(said, chunk)
    if said.draft.failing:
        yield Event(unnamed(denial(said.draft.failing, said.asked).body))
    elif said.draft.ending is not Ending.NONE:
        yield Event(chunk({}, _finish(said)))
        if said.asked.usage:
            yield Event(unnamed({**shell, "choices": [], "usage": _usage(said)}))
        yield Event("data: [DONE]\n\n")


def _deltas(said: Said, chunk: Any) -> Iterator[Event]:
    if said.called:
        for index, arguments in enumerate(said.calls()):
            yield Event(chunk({"tool_calls": [{"index": index, **_call(said, index, "")}]}))
            form = chunk({"tool_calls": [{"index": index, "function": {"arguments": MARK}}]})
            yield from _filled(form, said.pieces(arguments))
    else:
        key = "refusal" if said.draft.ending is Ending.REFUSED else "content"
        yield from _filled(chunk({key: MARK}), said.pieces(said.draft.text))


def _filled(form: str, pieces: Iterator[str]) -> Iterator[Event]:
    """Yield the same chunk for each piece; filled in by hand, because there may be very many."""
    before, _, after = form.rpartition(f'"{MARK}"')
    for each in pieces:
        yield Event(f"{before}{dumped(each)}{after}", len(each))
