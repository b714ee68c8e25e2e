"""What the catalogue's guess amounts to, and where it is wrong."""

from __future__ import annotations

from typing import Any

_WORDS = {
    "complete": "1 STOP completed end_turn function_call stop stop_sequence tool_calls tool_use requires_action",
    "truncated": "2 MAX_TOKENS incomplete:max_output_tokens length max_tokens",
    "refused": "MODEL_ARMOR RECITATION SAFETY content_filter incomplete:content_filter refusal promptBlocked",
    "paused": "compaction in_progress pause_turn queued",
    "faulted": "error-in-200 failed http_error",
}
_MEANT = {word: verdict for verdict, words in _WORDS.items() for word in words.split()}
_WORST_FIRST = ("refused", "faulted", "truncated", "unknown", "paused", "complete")


def guess(exchange: dict[str, Any]) -> str:
    """Return the verdict that the catalogue's stop word would have."""
    catalogue = exchange["catalogue"]
    if catalogue.get("refusal"):
        return "refused"
    words = [each.removesuffix(":None") for each in str(catalogue["stop"]).split("|")]
    if exchange["endpoint"] == "interactions":  # its streams tell each status on the way
        words = [words[-1].replace("incomplete", "max_tokens")]
    meant = {_MEANT.get(word, _MEANT.get(word.partition(":")[0], "unknown")) for word in words}
    return min(meant, key=_WORST_FIRST.index)
