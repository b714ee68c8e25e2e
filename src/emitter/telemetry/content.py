"""The content of calls, in the form of OpenTelemetry's GenAI conventions. It is exported only if you opt in.

Registered secrets are removed. Of images, documents and audio only the media type and a digest are kept, and of a
refusal nothing. This module does not import OpenTelemetry.

Source: the OpenTelemetry semantic conventions 1.37.0 (``gen-ai-input-messages.json``, ``gen-ai-output-messages.json``,
``gen-ai-system-instructions.json``), whose GenAI part is now in ``open-telemetry/semantic-conventions-genai``.
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from emitter.messages import ModelResponse, StopReason
from emitter.telemetry.attributes import limit_to_vocabulary, replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import CallResult, Json, MediaPart, Message, ModelRequest
    from emitter.redaction import Secrets

CAPTURE_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
DETAILS_EVENT: Final = "gen_ai.client.inference.operation.details"
_SYSTEM: Final = "gen_ai.system_instructions"
_INPUT: Final = "gen_ai.input.messages"
_OUTPUT: Final = "gen_ai.output.messages"
_FINISH_REASONS = {
    StopReason.COMPLETE: "stop",
    StopReason.TRUNCATED: "length",
    StopReason.LOOPED: "length",
    StopReason.OVERFLOWED: "length",
    StopReason.REFUSED: "content_filter",
    StopReason.FAULTED: "error",
}
"""The finish reason of the conventions for a stop reason. For any other, the vendor's own word is exported."""


class ContentCapture(NamedTuple):
    """The destinations of content: attributes of spans, events, both, or none."""

    in_spans: bool = False
    in_events: bool = False


_MODES = {
    "": ContentCapture(),
    "false": ContentCapture(),
    "no_content": ContentCapture(),
    "true": ContentCapture(in_spans=True),
    "span_only": ContentCapture(in_spans=True),
    "event_only": ContentCapture(in_events=True),
    "span_and_event": ContentCapture(in_spans=True, in_events=True),
}


def find_capture() -> ContentCapture:
    """Return the destinations that the environment selects."""
    value = os.environ.get(CAPTURE_VARIABLE, "").strip()
    capture = _MODES.get(value.lower())
    if capture is None:
        logging.getLogger("emitter.otel").warning(
            "%s is %r, which is not one of its values, so no content is exported", CAPTURE_VARIABLE, value
        )
    return capture or ContentCapture()


@dataclass(frozen=True, slots=True)
class CallContent:
    """The content of one call: its emission's ids, and the attributes of the conventions with their values."""

    run_id: str
    node_id: str
    correlation_id: str
    attributes: Mapping[str, Json]

    def as_texts(self) -> dict[str, str]:
        """Return the attributes as JSON text, for spans."""
        return {name: json.dumps(value, ensure_ascii=False) for name, value in self.attributes.items()}


def describe_call(request: ModelRequest, answer: CallResult, secrets: Secrets) -> dict[str, Json]:
    """Return the content of a call as attributes, without secrets."""
    attributes: dict[str, Json] = {
        _SYSTEM: [_text_part(request.system)],
        _INPUT: [_input_message(message) for message in request.all_messages()],
    }
    if isinstance(answer, ModelResponse):
        attributes[_OUTPUT] = [_output_message(answer, request.output.name)]
    return cast("dict[str, Json]", secrets.redact_json(attributes).value)


def _text_part(text: str) -> Json:
    return {"type": "text", "content": replace_surrogates(text)}


def _input_message(message: Message) -> Json:
    parts = message.parts or (message.text,)
    return {"role": message.role.value, "parts": [_input_part(part) for part in parts]}


def _input_part(part: str | MediaPart) -> Json:
    if isinstance(part, str):
        return _text_part(part)
    return {"type": part.medium.value, "mime_type": part.media_type, "digest": part.digest}


def _output_message(answer: ModelResponse, tool: str) -> Json:
    parts: list[Any] = [_text_part(answer.text)] if answer.text else []
    for index, arguments in enumerate(answer.arguments):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        parts.append({"type": "tool_call", "id": str(index), "name": tool, "arguments": replace_surrogates(text)})
    reason = _FINISH_REASONS.get(answer.stop) or limit_to_vocabulary(answer.raw_stop)
    # The conventions name a tool call apart, while some vendors report the usual stop reason for it.
    if answer.stop is StopReason.COMPLETE and answer.arguments:
        reason = "tool_call"
    return {"role": "assistant", "parts": parts, "finish_reason": reason}
