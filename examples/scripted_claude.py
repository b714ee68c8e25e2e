"""A simulated Anthropic API for Claude Code, whose model follows a script of tool calls."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.testing import RawResponse, ReceivedRequest, Simulator

if TYPE_CHECKING:
    from pathlib import Path

Script = Callable[[Mapping[str, str]], list[tuple[str, str, dict[str, Any]]]]


@dataclass(frozen=True)
class ToolCalls:
    """Answers with the calls that the script makes next, by the results that the conversation has.

    Without a server, the calls are those of Claude Code's own tools.
    """

    script: Script
    server: str | None = None

    def plan(self, request: ReceivedRequest) -> RawResponse:
        """Return a message in Anthropic's stream."""
        body: Any = request.body
        blocks = [block for message in body["messages"] for block in message["content"] if isinstance(block, dict)]
        read = {each["tool_use_id"].partition("-")[0]: text(each) for each in blocks if each["type"] == "tool_result"}
        calls = [
            {
                "type": "tool_use",
                "id": f"{name}-{uuid.uuid4().hex}",
                "name": tool if self.server is None else f"mcp__{self.server}__{tool}",
                "input": args,
            }
            for name, tool, args in self.script(read)
        ]
        lines = [f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n" for kind, data in events(calls)]
        return RawResponse("".join(lines).encode(), "text/event-stream")


def text(result: dict[str, Any]) -> str:
    """Return the text of a tool's result."""
    content = result.get("content", "")
    return content if isinstance(content, str) else "".join(each["text"] for each in content)


def events(calls: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events of a message that makes these calls, or says that all is done."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5"}
    yield "message_start", {"message": {**message, "content": [], "stop_reason": None, "usage": usage}}
    for index, block in enumerate(calls or [{"type": "text", "text": "Done."}]):
        is_call = block["type"] == "tool_use"
        start = {**block, "input": {}} if is_call else {**block, "text": ""}
        delta = (
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            if is_call
            else {"type": "text_delta", "text": block["text"]}
        )
        yield "content_block_start", {"index": index, "content_block": start}
        yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    yield "message_delta", {"delta": {"stop_reason": "tool_use" if calls else "end_turn"}, "usage": usage}
    yield "message_stop", {}


def environment(vendor: Simulator, folder: Path) -> dict[str, str]:
    """Return the variables with which Claude Code calls the simulated vendor, and nobody else."""
    return {
        "ANTHROPIC_BASE_URL": vendor.base_url("anthropic/claude-sonnet-5-5"),
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
