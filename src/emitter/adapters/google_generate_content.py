"""Adapter for Google generateContent, as served by the Gemini API and Vertex AI.

The SDK builds and sends the request. The response is read here, because the SDK's own parsing loses errors and stop
reasons.

Source: ai.google.dev/api/generate-content; google-genai 3.4.0, types.py.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from emitter.adapters.request_options import ReservedOption, merge_layers, to_snake_case
from emitter.adapters.response_decoding import (
    AssembledBody,
    StreamIdentity,
    as_count,
    as_objects,
    as_string,
    collect_stop_reasons,
    cover_total,
    find_error,
    find_foreign_choice,
    find_foreign_role,
    is_error_body,
    make_result,
    parse_error,
    read_index,
    reject_foreign,
    with_usage,
    worst_result,
    worst_stop_reason,
)
from emitter.errors import InputError
from emitter.grounding import counts_sources, is_grounded
from emitter.messages import NO_FIELDS, OutputMode, Role, StopReason, Usage, as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.response_decoding import DecodingTables, ToolCall
    from emitter.adapters.transport import GoogleClientView
    from emitter.messages import CallResult, ExpectedAnswer, Json, MediaPart, ModelRequest, OutputFormat
    from emitter.profiles.model import WireProfile

RESERVED_OPTIONS: Mapping[str, ReservedOption] = MappingProxyType(
    {
        "model": ReservedOption.MODEL,
        "contents": ReservedOption.PROMPT,
        "system_instruction": ReservedOption.INSTRUCTIONS,
        "max_output_tokens": ReservedOption.BUDGET,
        "response_mime_type": ReservedOption.SCHEMA,
        "response_schema": ReservedOption.SCHEMA,
        "response_json_schema": ReservedOption.SCHEMA,
        "tools": ReservedOption.TOOLS,
        "tool_config": ReservedOption.TOOLS,
        "automatic_function_calling": ReservedOption.TOOLS,
        "candidate_count": ReservedOption.ONE_ANSWER,
        "automatic_continuation": ReservedOption.WHOLE_ANSWER,
        "should_return_http_response": ReservedOption.WHOLE_ANSWER,
    }
)
"""The request fields that ``extra_body`` may not set, including other names of the same fields."""
_BLOCKED = "block:SAFETY"
_UNSPECIFIED_REASON = "FINISH_REASON_UNSPECIFIED"
_MEDIA_TYPES = {"audio/mpeg": "audio/mp3"}
"""The vendor's own names of media types."""
_ROLES = {Role.USER: "user", Role.ASSISTANT: "model"}


def encode(request: ModelRequest, wire: WireProfile) -> dict[str, Json]:
    """Return the arguments of ``generate_content`` as plain values."""
    config: dict[str, Json] = {
        "system_instruction": request.system,
        wire.tokens.parameter: request.max_output_tokens,
        **_output_parameters(request.output),
    }
    contents = [
        {"role": _ROLES[message.role], "parts": list(map(_part, message.parts or (message.text,)))}
        for message in request.all_messages()
    ]
    return {
        "model": request.model,
        "contents": contents,
        "config": merge_layers(config, wire.output.options, request.options),
    }


def _part(part: str | MediaPart) -> Json:
    if isinstance(part, str):
        return {"text": part}
    media_type = _MEDIA_TYPES.get(part.media_type, part.media_type)
    if part.data is not None:
        return {"inline_data": {"mime_type": media_type, "data": part.base64}}
    return {"file_data": {"mime_type": media_type, "file_uri": part.url or part.file_id}}


def _output_parameters(output: OutputFormat) -> dict[str, Json]:
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


def decode(body: Mapping[str, Json], tables: DecodingTables, expected: ExpectedAnswer | None) -> CallResult:
    """Return the response or fault that a response body describes."""
    response = _unwrap(body)
    candidates, usage = as_objects(response.get("candidates")), _parse_usage(_get_field(response, "usageMetadata"))
    error = find_error(body, *candidates)
    if error or is_error_body(response, "candidates"):
        return with_usage(parse_error(200, error or response, tables), usage)
    block_reason, results = _block_reason(response), list["CallResult"]()
    for candidate in candidates:
        text, calls = _text_and_calls(candidate)
        stops = _stop_reasons(candidate)
        if _has_blocked_rating(candidate) and worst_stop_reason(stops, tables.stops) is not StopReason.REFUSED:
            stops = (_BLOCKED,)
        grounded = is_grounded(candidate) or counts_sources(_get_field(response, "usageMetadata"))
        results.append(
            make_result(tables, usage, stops, text=text, calls=calls, expected=expected, is_grounded=grounded)
        )
    if block_reason:
        refused_as = f"prompt blocked: {block_reason}"
        results.append(make_result(tables, usage, (f"block:{block_reason}",), refused_as=refused_as))
    if not results:
        return make_result(tables, usage)
    contents = [as_mapping(candidate.get("content")) for candidate in candidates]
    foreign = find_foreign_choice(candidates, expected) or find_foreign_role(contents)
    return worst_result(results) if foreign is None else reject_foreign(worst_result(results), foreign)


def _unwrap(body: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the response inside the envelope that Code Assist puts around it."""
    return as_mapping(body.get("response")) or body


def _get_field(table: Mapping[str, Any], name: str) -> Json:
    """Return a field by its JSON name, or by the protobuf name that some clients keep."""
    value = table.get(name)
    return table.get(to_snake_case(name)) if value is None else value


def _block_reason(body: Mapping[str, Any]) -> str:
    feedback = as_mapping(_get_field(body, "promptFeedback"))
    reason = _get_field(feedback, "blockReason")
    return _enum_text(reason) or ("OTHER" if reason or _has_blocked_rating(feedback) else "")


def _has_blocked_rating(table: Mapping[str, Any]) -> bool:
    """Return whether a safety rating says that the prompt or the candidate was blocked."""
    ratings = _get_field(table, "safetyRatings")
    return bool(ratings) and any(rating.get("blocked") for rating in as_objects(ratings))


def _enum_text(value: Json) -> str:
    """Return an enum's name or number; protobuf writes 0 for an unset enum."""
    return str(value) if value and isinstance(value, str | int) else ""


def _stop_reasons(candidate: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the finish reasons under either name; some clients write the number of an enum."""
    reasons = (candidate.get("finishReason"), candidate.get("finish_reason"))
    return collect_stop_reasons(*(_enum_text(reason) if type(reason) is int else reason for reason in reasons))


def _text_and_calls(candidate: Mapping[str, Any]) -> tuple[str, list[ToolCall]]:
    """Return the visible text, and the name and arguments of each call."""
    parts = [part for part in as_objects(as_mapping(candidate.get("content")).get("parts")) if not part.get("thought")]
    calls = [as_mapping(_get_field(part, "functionCall")) for part in parts]
    text = "".join([as_string(part.get("text")) for part in parts])
    return text, [(call.get("name"), call.get("args") or {}) for call in calls if call]


def _parse_usage(usage: Json) -> Usage | None:
    table = as_mapping(usage)
    if not table:
        return None
    names = ("promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    prompt, tool_prompt, answer, thinking = (as_count(_get_field(table, name)) for name in names)
    usage = Usage(
        input=prompt + tool_prompt,
        output=answer + thinking,
        cache_read=as_count(_get_field(table, "cachedContentTokenCount")),
        thinking=thinking,
    )
    return cover_total(usage, as_count(_get_field(table, "totalTokenCount")))


@dataclass(slots=True)
class _StreamedCandidate:
    """The state of a streamed candidate."""

    parts: list[Json] = field(default_factory=list["Json"])
    reasons: list[str] = field(default_factory=list[str])
    is_blocked: bool = False


class StreamAssembler:
    """Folds the chunks of a stream into one body.

    If a candidate has several finish reasons, all are kept, so that an early STOP does not hide a late block.
    """

    def __init__(self, expected: ExpectedAnswer | None) -> None:
        self._expected = expected
        self._identity = StreamIdentity(expected)
        self._candidates: dict[int, _StreamedCandidate] = {}
        self._has_own_call = False
        self._body: dict[str, Any] = {"usageMetadata": {}}

    def add(self, event: Mapping[str, Any]) -> str:
        """Add a chunk. Return the text that it adds to the document. A call comes in one piece."""
        chunk = _unwrap(event)
        candidates = as_objects(chunk.get("candidates"))
        error = find_error(event, *candidates)
        if error or is_error_body(chunk, "candidates", "usageMetadata", "promptFeedback"):
            self._body["error"] = (error or chunk).get("error") or error or chunk
        self._body["usageMetadata"] |= as_mapping(_get_field(chunk, "usageMetadata"))
        if _block_reason(chunk):
            self._body["promptFeedback"] = {"blockReason": _block_reason(chunk)}
        written = ""
        for candidate in candidates:
            written += self._add_candidate(candidate, _get_field(chunk, "responseId"))
        return written

    def _add_candidate(self, candidate: Mapping[str, Any], response_id: Json) -> str:
        index, content = read_index(candidate.get("index")), as_mapping(candidate.get("content"))
        target = self._candidates.setdefault(index, _StreamedCandidate())
        text, calls = _text_and_calls(candidate)
        if text or calls:
            self._identity.check_piece(response_id, has_ended=bool(target.reasons))
        self._identity.check_role(content.get("role"))
        if not self._identity.is_grounded:
            self._identity.is_grounded = is_grounded(candidate)
        target.is_blocked = target.is_blocked or _has_blocked_rating(candidate)
        target.reasons.extend(reason for reason in _stop_reasons(candidate) if reason not in ("", _UNSPECIFIED_REASON))
        if self._identity.problem:
            return ""
        target.parts.extend(as_objects(content.get("parts")))
        if index != 0 or self._expected is None or self._expected.tool_name is None:
            return text if index == 0 else ""
        own = [arguments for name, arguments in calls if self._expected.is_own_call(name)]
        if not own or self._has_own_call:
            return ""
        self._has_own_call = True
        return json.dumps(own[0])

    def body(self) -> AssembledBody:
        """Return the body so far."""
        candidates = [
            {
                "index": index,
                "content": {"parts": candidate.parts},
                "finishReason": tuple(candidate.reasons),
                "safetyRatings": [{"blocked": candidate.is_blocked}],
            }
            for index, candidate in sorted(self._candidates.items())
        ]
        is_stopped = bool(candidates) and all(
            candidate.reasons or candidate.is_blocked for candidate in self._candidates.values()
        )
        is_complete = is_stopped or "promptFeedback" in self._body or "error" in self._body
        body, identity = {**self._body, "candidates": candidates}, self._identity
        return AssembledBody(body, is_complete, identity.problem, identity.is_grounded)


def send(client: object, body: Mapping[str, Json], timeout: float, headers: Mapping[str, str] = NO_FIELDS) -> object:
    """Send through a view of a ``google.genai`` client or of its ``aio`` half."""
    return cast("GoogleClientView", client).post(stream=False, **_call_arguments(body, timeout, headers))


def with_stream(body: Mapping[str, Json], wire: WireProfile) -> dict[str, Json]:  # noqa: ARG001  chat completions need it
    """Return the arguments unchanged: a stream has its own endpoint."""
    return dict(body)


def open_stream(
    client: object, body: Mapping[str, Json], timeout: float, headers: Mapping[str, str] = NO_FIELDS
) -> object:
    """Send a streaming request and return the unread response."""
    return cast("GoogleClientView", client).post(stream=True, **_call_arguments(body, timeout, headers))


def _call_arguments(body: Mapping[str, Json], timeout: float, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the SDK's arguments with a timeout and without the SDK's own retries and automatic function calls."""
    # In milliseconds. The SDK takes 0 for no limit.
    options: dict[str, Any] = {"timeout": max(1, int(timeout * 1000)), "retry_options": {"attempts": 1}}
    if headers:
        options["headers"] = dict(headers)
    config = {
        **cast("dict[str, Json]", body["config"]),
        "automatic_continuation": False,
        "automatic_function_calling": {"disable": True},
        "should_return_http_response": True,
        "http_options": options,
    }
    return {"model": body["model"], "contents": body["contents"], "config": _parse_config(config)}


def _parse_config(config: dict[str, Any]) -> object:
    """Return the SDK's config; raise ``InputError`` if it is not valid, which only ``extra_body`` can cause."""
    from google.genai.types import GenerateContentConfig  # noqa: PLC0415  the client has loaded it

    try:
        return GenerateContentConfig.model_validate(config)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        problems = "; ".join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in details)
        raise InputError(f"extra_body= does not match Google's GenerateContentConfig: {problems}.") from None
