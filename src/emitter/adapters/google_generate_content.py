"""Google generateContent, as the Gemini API and Vertex AI speak it.

Source: ai.google.dev/api/generate-content; google-genai 3.4.0, types.py. The SDK builds and sends the request;
the response is read here, for the SDK's own reading of it loses errors and stop reasons.
"""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

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
from emitter.errors import InputError
from emitter.wire import OutputMode, Role, Usage, mapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.adapters.answer import Tables
    from emitter.adapters.transport import GoogleClient
    from emitter.profile.model import Wire
    from emitter.wire import Answer, Json, OutputFormat, Request

_CAPITAL = re.compile("[A-Z]")

OWNED: Mapping[str, Owned] = MappingProxyType(
    {
        "model": Owned.MODEL,
        "contents": Owned.PROMPT,
        "system_instruction": Owned.INSTRUCTIONS,
        "max_output_tokens": Owned.BUDGET,
        "response_mime_type": Owned.FORM,
        "response_schema": Owned.FORM,
        "response_json_schema": Owned.FORM,
        "tools": Owned.TOOLS,
        "tool_config": Owned.TOOLS,
        "automatic_function_calling": Owned.TOOLS,
        "automatic_continuation": Owned.WHOLE,
        "should_return_http_response": Owned.WHOLE,
    }
)
"""What options may not set; other names of the same things among them."""
_UNSPECIFIED = "FINISH_REASON_UNSPECIFIED"
_ROLES = {Role.USER: "user", Role.ASSISTANT: "model"}


def encode(request: Request, wire: Wire) -> dict[str, Json]:
    """Return the arguments of ``generate_content`` as plain values."""
    config: dict[str, Json] = {
        "system_instruction": request.system,
        wire.tokens.parameter: request.budget,
        **_output(request.output),
    }
    contents = [{"role": _ROLES[each.role], "parts": [{"text": each.text}]} for each in request.turns()]
    return {
        "model": request.model,
        "contents": contents,
        "config": merged(config, wire.output.options, request.options),
    }


def _output(output: OutputFormat) -> dict[str, Json]:
    match output.mode:
        case OutputMode.JSON_SCHEMA:
            return {"response_mime_type": "application/json", "response_json_schema": output.schema}
        case OutputMode.JSON_OBJECT:
            return {"response_mime_type": "application/json"}
        case OutputMode.TEXT:
            return {}
        case OutputMode.TOOL:
            function = {"name": output.name, "parameters_json_schema": output.schema}
            calling = {"mode": "ANY", "allowed_function_names": [output.name]}
            return {
                "tools": [{"function_declarations": [function]}],
                "tool_config": {"function_calling_config": calling},
            }


def decode(body: Mapping[str, Json], tables: Tables) -> Answer:
    """Return what a response body says."""
    whole = _unwrapped(body)
    usage = _usage(_field(whole, "usageMetadata"))
    error = broken(body, *items(whole.get("candidates")))
    if error or is_error(whole, "candidates"):
        return with_usage(error_answer(200, error or whole, tables), usage)
    blocked = _blocked(whole)
    found = [_candidate(each) for each in items(whole.get("candidates"))]
    if blocked:
        found.append(Candidate((f"block:{blocked}",), refused_as=f"prompt blocked: {blocked}"))
    return answer(found, tables, usage)


def _unwrapped(body: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what stands in the envelope that Code Assist puts around a response."""
    return mapping(body.get("response")) or body


def _field(table: Mapping[str, Any], name: str) -> Json:
    """Return a field by its JSON name, or by the protobuf name that some recorders and clients keep."""
    value = table.get(name)
    return table.get(_CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)) if value is None else value


def _blocked(body: Mapping[str, Any]) -> str:
    reason = _field(mapping(_field(body, "promptFeedback")), "blockReason")
    return _enum(reason) or ("OTHER" if reason else "")


def _enum(value: Json) -> str:
    """Return an enum's name or number; 0 is what protobuf writes for none."""
    return str(value) if value and isinstance(value, str | int) else ""


def _stops(candidate: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the finish reasons, by either name; some clients write an enum's number, of which 0 is none."""
    said = (candidate.get("finishReason"), candidate.get("finish_reason"))
    return reasons(*(_enum(each) if type(each) is int else each for each in said))


def _candidate(candidate: Mapping[str, Any]) -> Candidate:
    parts = [each for each in items(mapping(candidate.get("content")).get("parts")) if not each.get("thought")]
    calls = [mapping(_field(part, "functionCall")) for part in parts]
    return Candidate(
        raw_stops=_stops(candidate),
        text="".join(text(part.get("text")) for part in parts),
        arguments=tuple(each.get("args") or {} for each in calls if each),
    )


def _usage(usage: Json) -> Usage | None:
    table = mapping(usage)
    if not table:
        return None
    names = ("promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    prompt, tools, written, thinking = (count(_field(table, each)) for each in names)
    return Usage(
        input=prompt + tools,
        output=written + thinking,
        cache_read=count(_field(table, "cachedContentTokenCount")),
        thinking=thinking,
    )


def assemble(events: Sequence[Json]) -> Assembled:
    """Return the body that the chunks amount to.

    Some servers name a reason in every chunk; all that differ are kept, so that a late block is not hidden by an
    early STOP.
    """
    candidates: dict[int, dict[str, Any]] = {}
    body: dict[str, Any] = {"usageMetadata": {}}
    for outer in map(mapping, events):
        event = _unwrapped(outer)
        error = broken(outer, *items(event.get("candidates")))
        if error or is_error(event, "candidates", "usageMetadata", "promptFeedback"):
            body["error"] = (error or event).get("error") or error or event
        body["usageMetadata"] |= mapping(_field(event, "usageMetadata"))
        if _blocked(event):
            body["promptFeedback"] = {"blockReason": _blocked(event)}
        for candidate in items(event.get("candidates")):
            empty: dict[str, Any] = {"parts": [], "reasons": []}
            _fold(candidates.setdefault(count(candidate.get("index")), empty), candidate)
    body["candidates"] = [_closed(candidates[index]) for index in sorted(candidates)]
    stopped = bool(candidates) and all(each["reasons"] for each in candidates.values())
    return Assembled(body, ended=stopped or "promptFeedback" in body or "error" in body)


def _fold(into: dict[str, Any], candidate: Mapping[str, Any]) -> None:
    into["parts"].extend(items(mapping(candidate.get("content")).get("parts")))
    into["reasons"].extend(each for each in _stops(candidate) if each not in ("", _UNSPECIFIED))


def _closed(folded: Mapping[str, Any]) -> dict[str, Any]:
    return {"content": {"parts": folded["parts"]}, "finishReason": tuple(folded["reasons"])}


def written(event: Mapping[str, Json], mode: OutputMode, memory: dict[str, Json]) -> str:
    """Return what a chunk adds to the first candidate: text, or the arguments of its first call, which come whole."""
    found = _candidate(first_of(_unwrapped(event).get("candidates")))
    if mode is not OutputMode.TOOL:
        return found.text
    if not found.arguments or "call" in memory:
        return ""
    memory["call"] = True
    return json.dumps(found.arguments[0])


def call(client: object, body: Mapping[str, Json], timeout: float) -> object:
    """Send through a view of a ``google.genai`` client, or of its ``aio`` half."""
    return cast("GoogleClient", client).post(stream=False, **_arguments(body, timeout))


def streamed(body: Mapping[str, Json], wire: Wire) -> dict[str, Json]:  # noqa: ARG001  another wire needs it
    """Return the arguments as they are: a stream has an endpoint of its own."""
    return dict(body)


def stream(client: object, body: Mapping[str, Json], timeout: float) -> object:
    """Send for a stream; the response is handed over unread, as it came."""
    return cast("GoogleClient", client).post(stream=True, **_arguments(body, timeout))


def _arguments(body: Mapping[str, Json], timeout: float) -> dict[str, Any]:
    """Return what the SDK is called with: a deadline always, and nothing that it would do of its own accord."""
    # Milliseconds, and never 0, which the SDK takes for no limit at all.
    options = {"timeout": max(1, int(timeout * 1000)), "retry_options": {"attempts": 1}}
    config = {
        **cast("dict[str, Json]", body["config"]),
        "automatic_continuation": False,
        "automatic_function_calling": {"disable": True},
        "should_return_http_response": True,
        "http_options": options,
    }
    return {"model": body["model"], "contents": body["contents"], "config": _checked(config)}


def _checked(config: dict[str, Any]) -> dict[str, Any]:
    """Return the config; raises ``InputError`` for what the SDK would not take, which can only be of the options."""
    from google.genai.types import GenerateContentConfig  # noqa: PLC0415  the client has loaded it

    try:
        GenerateContentConfig.model_validate(config)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        told = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found)
        raise InputError(f"options= does not fit Google's GenerateContentConfig: {told}.") from None
    return config
