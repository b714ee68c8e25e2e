"""Google generateContent, as the Gemini API and Vertex AI speak it.

Source: ai.google.dev/api/generate-content; google-genai 3.4.0, types.py. Only public calls of the SDK are
used; ``should_return_http_response`` hands over the response as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from emitter.adapters.answer import Assembled, Candidate, answer, count, error_answer, items, text
from emitter.adapters.body import merged
from emitter.wire import OutputMode, Role, Usage, mapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.adapters.answer import Tables
    from emitter.profile.model import Wire
    from emitter.wire import Answer, Json, OutputFormat, Request

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
        case OutputMode.TOOL:
            function = {"name": output.name, "parameters_json_schema": output.schema}
            calling = {"mode": "ANY", "allowed_function_names": [output.name]}
            return {
                "tools": [{"function_declarations": [function]}],
                "tool_config": {"function_calling_config": calling},
            }


def decode(body: Mapping[str, Json], tables: Tables) -> Answer:
    """Return what a response body says."""
    candidates = items(body.get("candidates"))
    if not candidates and body.get("error"):
        return error_answer(None, body, tables)
    blocked = mapping(body.get("promptFeedback")).get("blockReason")
    found = [_candidate(each) for each in candidates]
    if blocked is not None:
        found.append(Candidate(f"block:{blocked}", refused_as=f"prompt blocked: {blocked}"))
    return answer(found, tables, _usage(body.get("usageMetadata")))


def _candidate(candidate: Mapping[str, Any]) -> Candidate:
    parts = items(mapping(candidate.get("content")).get("parts"))
    reason = candidate.get("finishReason")
    calls = [mapping(part["functionCall"]) for part in parts if "functionCall" in part]
    return Candidate(
        raw_stop="" if reason is None else str(reason),
        text="".join(text(part.get("text")) for part in parts if not part.get("thought")),
        arguments=tuple(each.get("args", {}) for each in calls),
    )


def _usage(usage: Json) -> Usage | None:
    table = mapping(usage)
    if not table:
        return None
    thinking = count(table.get("thoughtsTokenCount"))
    return Usage(
        input=count(table.get("promptTokenCount")) + count(table.get("toolUsePromptTokenCount")),
        output=count(table.get("candidatesTokenCount")) + thinking,
        cache_read=count(table.get("cachedContentTokenCount")),
        thinking=thinking,
    )


def assemble(events: Sequence[Json]) -> Assembled:
    """Return the body that the chunks amount to.

    Some servers name a reason in every chunk; all that differ are kept, joined by ``|``, so that a late
    block is not hidden by an early STOP.
    """
    candidates: dict[int, dict[str, Any]] = {}
    body: dict[str, Any] = {"usageMetadata": {}}
    for event in map(mapping, events):
        if event.get("error"):
            return Assembled({"error": event["error"]}, ended=True)
        body["usageMetadata"] |= mapping(event.get("usageMetadata"))
        if mapping(event.get("promptFeedback")).get("blockReason"):
            body["promptFeedback"] = event["promptFeedback"]
        for candidate in items(event.get("candidates")):
            empty: dict[str, Any] = {"parts": [], "reasons": []}
            _fold(candidates.setdefault(count(candidate.get("index")), empty), candidate)
    body["candidates"] = [_closed(candidates[index]) for index in sorted(candidates)]
    stopped = bool(candidates) and all(each["reasons"] for each in candidates.values())
    return Assembled(body, ended=stopped or "promptFeedback" in body)


def _fold(into: dict[str, Any], candidate: Mapping[str, Any]) -> None:
    into["parts"].extend(items(mapping(candidate.get("content")).get("parts")))
    reason = candidate.get("finishReason")
    if reason is not None and str(reason) not in into["reasons"]:
        into["reasons"].append(str(reason))


def _closed(folded: Mapping[str, Any]) -> dict[str, Any]:
    reasons = folded["reasons"]
    return {"content": {"parts": folded["parts"]}, "finishReason": "|".join(reasons) if reasons else None}


def call(client: object, body: Mapping[str, Json], timeout: float) -> object:
    """Send through a ``google.genai`` client, or through its ``aio`` half."""
    options = {"timeout": int(timeout * 1000), "retry_options": {"attempts": 1}}
    config = {
        **cast("dict[str, Json]", body["config"]),
        "automatic_continuation": False,
        "automatic_function_calling": {"disable": True},
        "should_return_http_response": True,
        "http_options": options,
    }
    models = cast("Any", client).models
    return models.generate_content(model=body["model"], contents=body["contents"], config=config)
