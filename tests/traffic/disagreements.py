"""Where our verdict is not the one the catalogue's stop word suggests, and why ours is right."""

from __future__ import annotations

_TOO_LONG = "the error says that the prompt is too long for the window: no fault that passes"
_BLOCKED = "the error says that the prompt was blocked: a refusal under an error's status"
_CUT = "the stream ends without a finish reason: it was cut"
_BROKEN = "the recording is no JSON: nothing of it may be believed"

DISAGREEMENTS: dict[str, tuple[str, str]] = {
    "anthropic/messages_http400_none_json_891b311d.json": ("overflowed", _TOO_LONG),
    "anthropic/messages_http400_none_json_a22c588d.json": ("overflowed", _TOO_LONG),
    "azure-openai/chat-completions_error-in-200_none_json_b2c1dc01.json": ("refused", _BLOCKED),
    "azure-openai/chat-completions_http400_json-schema-strict_json_f93c0c55.json": ("refused", _BLOCKED),
    "azure-openai/responses_http400_json-schema-strict_json_6eecfb43.json": ("refused", _BLOCKED),
    "google/generatecontent_http400_none_json_40403ced.json": ("overflowed", _TOO_LONG),
    "google/generatecontent_http400_none_json_f49805d2.json": ("overflowed", _TOO_LONG),
    "google/generatecontent_none_none_json_571339b8.json": ("faulted", f"{_BROKEN} (a comma too many)"),
    "google/streamgeneratecont_none_unknown_sse_3a7ca132.json": ("faulted", _CUT),
    "google/streamgeneratecont_none_unknown_sse_6c0d26d0.json": ("faulted", _CUT),
    "google/streamgeneratecont_none_unknown_sse_9db2479b.json": ("faulted", _CUT),
    "google/streamgeneratecont_none_unknown_sse_a0394a4f.json": (
        "complete",
        "the last chunk says STOP; its events stand without blank lines between them, which the script missed",
    ),
    "openai/chat-completions_none_none_json_4e77e69b.json": (
        "truncated",
        "it says so in the form of 2023, finish_details of type max_tokens",
    ),
    "openai/chat-completions_none_none_json_fa8e4958.json": ("faulted", f"{_BROKEN} (it stops before its end)"),
    "openai/chat-completions_none_tools-auto_sse_965cdd43.json": ("faulted", _CUT),
    "openai/chat-completions_none_tools-auto_sse_f719cd26.json": ("faulted", _CUT),
    "openai/responses_completed_unknown_json_987cf4cb.json": (
        "paused",
        "the call in it is still in progress, though the response is completed",
    ),
    "openai/responses_http400_none_json_5d9accba.json": ("overflowed", _TOO_LONG),
    "openai/responses_none_unknown_sse_beac89e4.json": ("faulted", f"{_BROKEN} (two of its events are not closed)"),
}
"""By file: our verdict, and the reason."""
