"""An agent of the Claude Agent SDK: its real Claude Code, against the simulated vendor. It keeps one call at a time."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    PermissionResultAllow,
    ResultMessage,
    ToolResultBlock,
    create_sdk_mcp_server,
    query,
    tool,
)

from emitter.integrations.claude_agent import GuardedTools, GuardHooks, resume
from emitter.testing import RawResponse, simulator

sys.path.append(str(Path(__file__).parents[2] / "examples"))
import scripted_claude

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from emitter.authority import Authority
    from tests.integrations.agents import Job


class Driver:
    """Drives the agent."""

    def __init__(self, job: Job) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.answers = scripted_claude.ToolCalls(job.script, "office")
        self.options = ClaudeAgentOptions(**self.guard(job), tools=[], cwd=self.folder, model="claude-sonnet-5-5")
        self.session = self.first = ""
        self.read: dict[str, str] = {}

    def guard(self, job: Job) -> dict[str, Any]:
        """Return the options with the guarded tool."""
        guarded = GuardedTools("office", job.tool)
        return {"mcp_servers": guarded.mcp_servers, "hooks": guarded.hooks}

    def start(self) -> None:
        """Run until a call is deferred."""
        self._run(lambda options: query(prompt="Tidy up.", options=options))
        self.first = self.transcript.read_text()

    def resume(self) -> None:
        """Continue the session."""
        self._run(lambda options: resume(options, self.session))

    def forge(self) -> None:
        """Continue without the hook, as a client that permits every tool."""

        async def permit(*_: Any) -> PermissionResultAllow:
            return PermissionResultAllow(updated_input={"to": "ada", "subject": "Minutes", "emitter_call_id": "any"})

        self._run(lambda options: resume(replace(options, hooks=None, can_use_tool=permit), self.session))

    def edit(self, call_id: str, arguments: dict[str, Any]) -> None:
        """Rewrite the call in the transcript."""

        def rewrite(members: dict[str, Any]) -> dict[str, Any]:
            for name, of in (("input", "id"), ("toolInput", "toolUseID")):
                if name in members and str(members.get(of)).startswith(call_id):
                    return {**members, name: arguments}
            return members

        lines = [json.loads(line, object_hook=rewrite) for line in self.transcript.read_text().splitlines()]
        self.transcript.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    def replay(self) -> None:
        """Continue the session from its transcript as it was when the first call was deferred."""
        self.transcript.write_text(self.first)
        self.resume()

    @property
    def transcript(self) -> Path:
        """Where Claude Code keeps the session."""
        (file,) = self.folder.glob(f"claude/projects/*/{self.session}.jsonl")
        return file

    def _run(self, start: Callable[[ClaudeAgentOptions], AsyncIterator[Any]]) -> None:
        with simulator(answers=self.answers, check_schemas=False) as vendor:
            environment = scripted_claude.environment(vendor, self.folder)
            asyncio.run(self._watch(start(replace(self.options, env=environment))))

    async def _watch(self, messages: AsyncIterator[Any]) -> None:
        async for message in messages:
            if isinstance(message, ResultMessage):
                self.session = message.session_id
            for block in getattr(message, "content", ()):
                if isinstance(block, ToolResultBlock):
                    self.read[block.tool_use_id.partition("-")[0]] = scripted_claude.text({"content": block.content})


class DriverByName(Driver):
    """Drives an agent with the tool of an MCP server, guarded by its name."""

    def guard(self, job: Job) -> dict[str, Any]:
        """Return the options with the server, and the hooks that guard its tool."""

        @tool("send_email", "Send an e-mail.", dict.fromkeys(inspect.signature(job.function).parameters, str))
        async def send_email(arguments: dict[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": job.function(**arguments)}]}

        hooks = GuardHooks(job.authority, {f"mcp__office__{job.name}": job.options}).hooks
        return {"mcp_servers": {"office": create_sdk_mcp_server("office", tools=[send_email])}, "hooks": hooks}


class Conversation:
    """A session of the real Claude Code, against the simulated vendor."""

    def __init__(self, authority: Authority, remind: Callable[[str], str]) -> None:
        self.folder, self.session, self.steps = Path(tempfile.mkdtemp()), "", list[Any]()
        self.results: list[str] = []
        self.before = ""
        self.options = ClaudeAgentOptions(
            **self.guard(authority, remind), tools=[], cwd=self.folder, model="claude-sonnet-5-5"
        )

    def guard(self, authority: Authority, remind: Callable[[str], str]) -> dict[str, Any]:
        """Return the options with the guarded tool."""
        guarded = GuardedTools("office", authority.guard(remind))
        return {"mcp_servers": guarded.mcp_servers, "hooks": guarded.hooks}

    def say(self, text: str, *steps: Sequence[tuple[str, str]]) -> None:
        """Run until a call is deferred."""
        self.steps[:] = steps
        self._run(lambda options: query(prompt=text, options=options), resume=self.session or None)
        self.before = self.transcript.read_text()

    def resume(self) -> None:
        """Continue the session."""
        self._run(lambda options: resume(options, self.session))

    def replay(self) -> None:
        """Continue from the transcript as it was."""
        self.transcript.write_text(self.before)
        self.resume()

    @property
    def transcript(self) -> Path:
        """Where Claude Code keeps the session."""
        (file,) = self.folder.glob(f"claude/projects/*/{self.session}.jsonl")
        return file

    def plan(self, _: Any) -> Any:
        """Return the next message of the model."""
        step = self.steps.pop(0) if self.steps else []
        calls = [
            {"type": "tool_use", "id": name, "name": "mcp__office__remind", "input": {"who": who}} for name, who in step
        ]
        lines = [
            f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"
            for kind, data in scripted_claude.events(calls)
        ]
        return RawResponse("".join(lines).encode(), "text/event-stream")

    def _run(self, start: Any, **more: Any) -> None:
        with simulator(answers=self, check_schemas=False) as vendor:
            environment = scripted_claude.environment(vendor, self.folder)
            asyncio.run(self._watch(start(replace(self.options, env=environment, **more))))

    async def _watch(self, messages: Any) -> None:
        async for message in messages:
            if isinstance(message, ResultMessage):
                self.session = message.session_id
            blocks = [each for each in getattr(message, "content", ()) if isinstance(each, ToolResultBlock)]
            self.results += [scripted_claude.text({"content": each.content}) for each in blocks]


class ConversationByName(Conversation):
    """A session with the tool of an MCP server, guarded by its name."""

    def guard(self, authority: Authority, remind: Callable[[str], str]) -> dict[str, Any]:
        """Return the options with the server, and the hooks that guard its tool."""

        @tool("remind", "Remind somebody.", {"who": str})
        async def run(arguments: dict[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": remind(**arguments)}]}

        hooks = GuardHooks(authority, {"mcp__office__remind": {}}).hooks
        return {"mcp_servers": {"office": create_sdk_mcp_server("office", tools=[run])}, "hooks": hooks}
