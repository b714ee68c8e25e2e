"""Approvals for tools that Claude Code has already: ``Bash``, ``Write``, and those of any MCP server.

Hooks guard them by name. An approved call is allowed once its intent is written, and its receipt is written when
Claude Code reports its result. ``resume`` continues a session whose call was deferred.

Source: claude_agent_sdk as installed, 0.2.187, with its Claude Code 2.1.330, driven against a local endpoint
(2026-11-23). A hook that raises lets the tool run unless ``on_failure`` is ``block``. Of several hooks that return an
input, the last one counts, and PostToolUse reports it. A resumed session begins in its first directory.
"""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING, Any, Final

from claude_agent_sdk import HookMatcher
from pydantic_core import to_json

from emitter.integrations.approvals import NamedTools, Rejected, Returned, Waiting, make_call_id
from emitter.integrations.claude_agent import HOOK_SECONDS, CallGate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from claude_agent_sdk import HookContext, HookInput, HookJSONOutput
    from claude_agent_sdk.types import HookEvent

    from emitter.authority import Authority, GuardOptions
    from emitter.integrations.approvals import CallOutcome, ExistingTool

_LOGGER: Final = logging.getLogger("emitter")
_NOT_ASKED: Final = "The call was not made, because it could not be put to a person."


_SHELLS: Final = frozenset({"Bash", "PowerShell"})
"""Tools whose calls depend on the session's directory. Claude Code makes the paths of the others absolute."""


class InputChanged(Exception):
    """Another hook changed the input after the approval, and the tool ran with that. The receipt names it."""


class ToolFailed(Exception):
    """Claude Code reported that a tool failed. The receipt names it."""


class GuardHooks:
    """Guards tools of Claude Code by name: ``ClaudeAgentOptions(hooks=GuardHooks(authority, {"Bash": {}}).hooks)``.

    A call that waits for approval is deferred, and the run ends with ``ResultMessage.deferred_tool_use``. Call
    ``resume`` once the decision is resolved: the approved call is made, once. Otherwise Claude reads why it was denied,
    with the person's words. If the question cannot be asked, the call is denied.

    Args:
        authority: Approves the calls and keeps the receipts.
        tools: The options of ``Authority.guard`` for each tool, by the name that Claude calls it by, such as ``Bash``
            or ``mcp__github__merge``. A name of no tool guards nothing.
    """

    def __init__(self, authority: Authority, tools: Mapping[str, GuardOptions]) -> None:
        self._tools = NamedTools(authority, tools)
        self._gate = CallGate()
        self._running = dict[str, _RunningCall]()

    @property
    def hooks(self) -> dict[HookEvent, list[HookMatcher]]:
        """The hooks before and after each call of these tools."""
        names = "|".join(map(re.escape, self._tools.options))
        return {
            "PreToolUse": [HookMatcher(names, [self._before_call], HOOK_SECONDS, "block")],
            "PostToolUse": [HookMatcher(names, [self._after_call], HOOK_SECONDS)],
            "PostToolUseFailure": [HookMatcher(names, [self._after_call], HOOK_SECONDS)],
        }

    async def _before_call(self, hook_input: HookInput, tool_use_id: str | None, _: HookContext) -> HookJSONOutput:
        call: Any = hook_input
        if call["tool_name"] not in self._tools.options:
            return {}
        call_id = make_call_id("claude-agent", call["session_id"], tool_use_id)
        try:
            outcome = await self._start(call_id, call)
        except Exception as error:
            _LOGGER.exception("A call of Claude Code's %s was denied.", call["tool_name"])
            outcome = Rejected(f"{_NOT_ASKED} {type(error).__name__}: {error}")
        return await self._gate.answer(call, call_id, outcome)

    async def _start(self, call_id: str, call: Mapping[str, Any]) -> Waiting | Rejected | Mapping[str, Any]:
        """Return the input with which Claude Code is to make a call now, or why it is not to make it."""
        name, arguments = call["tool_name"], dict(call["tool_input"])
        if name in _SHELLS:
            arguments["cwd"] = call["cwd"]
        tool = self._tools.guard(
            name, description=f"{name} of Claude Code.", parameters=arguments, implementation=_implementation(name)
        )
        obstacle = await tool.find_obstacle(call_id, arguments)
        if obstacle is not None:
            return obstacle
        running = _RunningCall(tool, call_id, arguments, call["tool_input"])
        outcome = await running.start()
        if outcome is None:
            self._running[call_id] = running
            return running.approved
        return _already_made(outcome) if isinstance(outcome, Returned) else outcome

    async def _after_call(self, hook_input: HookInput, tool_use_id: str | None, _: HookContext) -> HookJSONOutput:
        call: Any = hook_input
        running = self._running.pop(make_call_id("claude-agent", call["session_id"], tool_use_id), None)
        if running is not None:
            await running.finish(call)
        return {}


class _RunningCall:
    """An approved call, from its intent to its receipt. Claude Code makes it in between."""

    def __init__(
        self, tool: ExistingTool, call_id: str, arguments: Mapping[str, Any], tool_input: Mapping[str, Any]
    ) -> None:
        self.approved = self._tool_input = tool_input
        self._begun = asyncio.Event()
        self._result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._task = asyncio.ensure_future(tool.make_call(call_id, arguments, self._run))

    async def _run(self, arguments: dict[str, Any]) -> Any:
        self.approved = {name: value for name, value in arguments.items() if name in self._tool_input}
        self._begun.set()
        return await self._result

    async def start(self) -> CallOutcome | None:
        """Wait until the intent is written, and return None; or return why the call is not made now."""
        begun = asyncio.ensure_future(self._begun.wait())
        await asyncio.wait([begun, self._task], return_when=asyncio.FIRST_COMPLETED)
        begun.cancel()
        return None if self._begun.is_set() else await self._task

    async def finish(self, call: Mapping[str, Any]) -> None:
        """Write the receipt, with the result or the failure that Claude Code reported."""
        if call["tool_input"] != self.approved:
            _LOGGER.error("Another hook changed an approved call of Claude Code's %s.", call["tool_name"])
            self._result.set_exception(InputChanged())
        elif call["hook_event_name"] == "PostToolUse":
            self._result.set_result(call["tool_response"])
        else:
            self._result.set_exception(ToolFailed(call["error"]))
        try:
            await self._task
        except (InputChanged, ToolFailed):
            pass  # Claude reads it from Claude Code
        except Exception:
            _LOGGER.exception("The receipt of a call of Claude Code could not be written.")


def _implementation(name: str) -> type:
    """Return what an approval binds: Claude Code's tool of this name."""
    return type(name, (), {"__module__": "claude_code"})


def _already_made(outcome: Returned) -> Rejected:
    value = outcome.value if isinstance(outcome.value, str) else to_json(outcome.value).decode()
    return Rejected(f"This call was made before, and is not made again. It returned: {value}")
