"""Google generateContent from the vendor's side."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from emitter.profile.model import WireName
from emitter.testing.asked import Asked
from emitter.testing.draft import Ending, Failure, Trouble
from emitter.testing.wires.google_errors import complaint, denial
from emitter.testing.wires.reading import AROUND_MESSAGE, Surface, positive, spoken, written
from emitter.testing.wires.writing import MARK, Event, arguments, unnamed
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.testing.wires.writing import Said
    from emitter.wire import Json

__all__ = ["complaint", "denial", "read", "stream", "surfaces", "whole"]

_MODEL = re.compile(r"models/([^/:]+):")
_STREAM = ":streamGenerateContent"
SSE = "alt=sse"
"""What asks for a stream of events."""
_FINISH = {
    Ending.WHOLE: "STOP",
    Ending.CUT: "MAX_TOKENS",
    Ending.REFUSED: "PROHIBITED_CONTENT",
    Ending.FILTERED: "SAFETY",
    Ending.PAUSED: "CONTINUATION",
    Ending.NONE: None,
}
_CAPITAL = re.compile("[A-Z]")


def _field(table: Mapping[str, Any], name: str) -> Json:
    """Return a field by its JSON name, or by the protobuf name that the SDK leaves deep in a request."""
    return table.get(name, table.get(_CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)))


def read(path: str, body: Mapping[str, Json]) -> Asked | Failure:
    """Return what a request asks for, or what is wrong with it."""
    contents, config = sequence(body.get("contents")), mapping(_field(body, "generationConfig"))
    budget = positive(_field(config, "maxOutputTokens"))
    if not contents:
        return Failure(Trouble.BAD_REQUEST, "* GenerateContentRequest.contents: contents is not specified")
    if budget is not None and budget < 1:
        return Failure(
            Trouble.BAD_REQUEST, "* GenerateContentRequest.generation_config.max_output_tokens: must be positive"
        )
    function, model = _forced(body), _MODEL.search(path)
    schema = _schema(function, "parametersJsonSchema", "parameters") if function else _response_schema(config)
    return Asked(
        wire=WireName.GOOGLE,
        path=path,
        model=model[1] if model else "",
        body=body,
        streamed=_STREAM in path,
        schema=schema,
        tool=function.get("name") if function else None,
        budget=budget,
        input_tokens=spoken(_field(body, "systemInstruction"), contents)
        + written(_schema(config, "responseJsonSchema", "responseSchema"), *sequence(body.get("tools")))
        + AROUND_MESSAGE * len(contents),
    )


def _schema(table: Mapping[str, Any], *names: str) -> Json:
    return next((held for each in names if (held := _field(table, each)) is not None), None)


def _response_schema(config: Mapping[str, Any]) -> Json:
    schema = _schema(config, "responseJsonSchema", "responseSchema")
    if schema is None and _field(config, "responseMimeType") == "application/json":
        return {"type": "object"}
    return schema


def _functions(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for outer, tool in enumerate(map(mapping, sequence(body.get("tools")))):
        for inner, function in enumerate(map(mapping, sequence(_field(tool, "functionDeclarations")))):
            yield f"tools[{outer}].function_declarations[{inner}]", function


def _forced(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    calling = mapping(_field(mapping(_field(body, "toolConfig")), "functionCallingConfig"))
    if str(calling.get("mode")).upper() != "ANY":
        return None
    allowed = sequence(_field(calling, "allowedFunctionNames"))
    forced = [each for _, each in _functions(body) if not allowed or each.get("name") in allowed]
    return forced[0] if forced else None


def surfaces(asked: Asked) -> Iterator[Surface]:
    """Yield the schemas of a request."""
    config = mapping(_field(asked.body, "generationConfig"))
    tables = [("generation_config", config, "response_json_schema", "response_schema")]
    tables += [(at, each, "parameters_json_schema", "parameters") for at, each in _functions(asked.body)]
    for at, table, *names in tables:
        for name, dialect in zip(names, ("google", "google-openapi"), strict=True):
            schema = _schema(table, _camel(name))
            if schema is not None:
                yield Surface(schema, dialect, str(table.get("name", "")), f"{at}.{name}", tool=table is not config)


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda found: found[1].upper(), name)


def whole(said: Said) -> Json:
    """Return the body of the unary form."""
    return _chunk(said, list(_parts(said)), _usage(said), finish=_finish(said))


def _chunk(said: Said, parts: list[Json], usage: dict[str, Json], *, finish: str | None) -> dict[str, Json]:
    content: dict[str, Json] = {"parts": parts, "role": "model"} if parts else {}
    stop = {"finishReason": finish} if finish is not None else {}
    return {
        "candidates": [{"content": content, **stop, "index": 0}],
        "usageMetadata": usage,
        "modelVersion": said.asked.model,
        "responseId": MARK,
    }


def _parts(said: Said) -> Iterator[dict[str, Json]]:
    """Yield the parts; a call whose arguments are no object is left out, as the vendor does."""
    if said.draft.ending is Ending.REFUSED:
        return
    if not said.called:
        yield from ({"text": each} for each in [said.draft.text] if each)
        return
    for each in said.calls():
        given = arguments(each)
        if given is not None:
            yield {"functionCall": {"name": said.asked.tool, "args": given}}


def _finish(said: Said) -> str | None:
    ending = said.draft.ending
    if not isinstance(ending, Ending):
        return ending
    if said.called and ending is Ending.WHOLE and not list(_parts(said)):
        return "MALFORMED_FUNCTION_CALL"
    return _FINISH[ending]


def _usage(said: Said) -> dict[str, Json]:
    usage = said.usage
    thinking: dict[str, Json] = {"thoughtsTokenCount": usage.thinking} if usage.thinking else {}
    return {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.thinking,
        "totalTokenCount": usage.input + usage.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
        **thinking,
    }


def stream(said: Said) -> Iterator[Event]:
    """Yield the parts of the streamed form: events, or the members of an array where those are not asked for."""
    if SSE in said.asked.path:
        yield from _events(said)
        return
    before = "["
    for each in _events(said):
        yield Event(before + each.text.removeprefix("data: ").strip(), each.said)
        before = ",\r\n"
    if not said.broken_off:
        yield Event("]")


def _events(said: Said) -> Iterator[Event]:
    """Yield the events: the last piece of text comes with the reason for the end."""
    begun: dict[str, Json] = {"promptTokenCount": said.usage.input, "totalTokenCount": said.usage.input}
    sent = [_called(said)] if said.called else [([each], len(each["text"])) for each in _texts(said)]
    ended = not said.broken_off
    for parts, length in sent[:-1] if ended else sent:
        yield Event(unnamed(_chunk(said, list(parts), begun, finish=None)), length)
    if said.draft.failing:
        yield Event(unnamed(_failed(said, said.draft.failing)))
    elif ended:
        parts, length = sent[-1] if sent else ([], 0)
        yield Event(unnamed(_chunk(said, list(parts), _usage(said), finish=_finish(said))), length)


def _failed(said: Said, failure: Failure) -> Json:
    """Return the error; a block is none, and says what the answer had cost until then."""
    body = denial(failure, said.asked).body
    return {**mapping(body), "usageMetadata": _usage(said)} if failure.trouble is Trouble.PROMPT_BLOCKED else body


def _called(said: Said) -> tuple[list[dict[str, Json]], int]:
    return list(_parts(said)), len(said.draft.text)


def _texts(said: Said) -> list[dict[str, str]]:
    refused = said.draft.ending is Ending.REFUSED
    return [] if refused else [{"text": each} for each in said.pieces(said.draft.text)]
