"""The response object of OpenAI Responses, whole or as it stands at the beginning of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.testing.draft import Ending
from emitter.testing.wires.writing import CREATED, MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing.wires.writing import Said
    from emitter.wire import Json

BEGUN = "in_progress"

_INCOMPLETE = {
    Ending.CUT: "max_output_tokens",
    Ending.FILTERED: "content_filter",
    Ending.PAUSED: "max_messages",
}
_ECHOED = ("instructions", "max_output_tokens", "metadata", "reasoning", "store", "temperature", "text")


def whole(said: Said) -> Json:
    """Return the body of the unary form."""
    return response(said, status(said), list(output(said)))


def status(said: Said) -> str | None:
    """Return the vendor's word for the ending."""
    match said.draft.ending:
        case Ending.WHOLE | Ending.REFUSED:
            return "completed"
        case Ending.NONE:
            return None
        case Ending.CUT | Ending.FILTERED | Ending.PAUSED:
            return "incomplete"
        case word:
            return word


def response(said: Said, now: str | None, items: list[Json]) -> dict[str, Json]:
    """Return the response object with a status and the items written so far."""
    body, ending = said.asked.body, said.draft.ending
    begun = now == BEGUN
    reason = _INCOMPLETE.get(ending) if isinstance(ending, Ending) and not begun else None
    return {
        "id": f"resp_{MARK}",
        "object": "response",
        "created_at": CREATED,
        "status": now,
        "background": False,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        **{key: body.get(key) for key in _ECHOED},
        "model": said.asked.model,
        "output": items,
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": None,
        "service_tier": "default",
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "truncation": "disabled",
        "usage": None if begun else _usage(said),
        "user": None,
    }


def _usage(said: Said) -> dict[str, Json]:
    usage = said.usage
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.thinking},
        "total_tokens": usage.input + usage.output,
    }


def output(said: Said) -> Iterator[dict[str, Json]]:
    """Yield the items of a finished response."""
    if said.draft.thinking:
        yield reasoning()
    if said.called:
        yield from (call(said, index, each, item_status(said)) for index, each in enumerate(said.calls()))
    elif said.draft.text or said.draft.ending is Ending.WHOLE:
        yield message([part(said, said.draft.text)], item_status(said))


def item_status(said: Said) -> str:
    """Return the status of the last item."""
    return {"incomplete": "incomplete", None: BEGUN}.get(status(said), "completed")


def reasoning() -> dict[str, Json]:
    """Return the item that stands for thinking."""
    return {"id": f"rs_{MARK}", "type": "reasoning", "summary": []}


def call(said: Said, index: int, arguments: str, now: str) -> dict[str, Json]:
    """Return an item that calls the forced function."""
    return {
        "id": f"fc_{MARK}{index}",
        "type": "function_call",
        "status": now,
        "arguments": arguments,
        "call_id": f"call_{MARK}{index}",
        "name": said.asked.tool,
    }


def message(content: list[Json], now: str) -> dict[str, Json]:
    """Return an item that says something."""
    return {"id": f"msg_{MARK}", "type": "message", "status": now, "content": content, "role": "assistant"}


def part(said: Said, text: str) -> dict[str, Json]:
    """Return what is said, as text or as a refusal."""
    if said.draft.ending is Ending.REFUSED:
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
