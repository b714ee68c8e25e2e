"""Approvals for the Claude Agent SDK.

``GuardedTools`` makes guarded tools the tools of an in-process MCP server, so that the guarded function itself runs.
``GuardHooks`` guards tools that Claude Code has already, by name: ``Bash``, ``Write``, and those of any MCP server. An
approved call of these is allowed once its intent is written, and its receipt is written when Claude Code reports its
result.

A PreToolUse hook defers a call that waits: the run ends with ``ResultMessage.deferred_tool_use``. Once the decision is
resolved, ``resume`` continues the session, in this or another process.

Claude Code keeps one deferred call of a session, the last one, and drops the others from the conversation. The hook
withdraws their questions, and the model makes the calls again if it still wants them.

Source: claude_agent_sdk as installed, 0.2.187, with its Claude Code 2.1.330, driven against a local endpoint
(2026-11-23). A hook that raises lets the tool run unless ``on_failure`` is ``block``. Of several hooks that return an
input, the last one counts, and PostToolUse reports it. A resumed session begins in its first directory.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import logging
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from emitter.authority.guard.call_ids import make_call_id
from emitter.errors import AlreadyResolved, InputError, MissingExtra
from emitter.integrations.approvals import (
    NamedTools,
    Rejected,
    Returned,
    Waiting,
    amake_call,
    apropose,
    choose_id,
    get_function,
)
from emitter.messages import as_mapping
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from claude_agent_sdk import ClaudeAgentOptions, HookContext, HookInput, HookJSONOutput, McpServerConfig, Message
    from claude_agent_sdk.types import HookEvent

    from emitter.authority import Authority, GuardedTool, GuardOptions
    from emitter.authority.guard.call_ids import CallId
    from emitter.integrations.approvals import CallOutcome, ExistingTool

try:
    from claude_agent_sdk import HookMatcher, ResultMessage, SdkMcpTool, create_sdk_mcp_server, query
except ImportError as error:
    raise MissingExtra("Approvals in the Claude Agent SDK need claude-agent-sdk.", extra="claude-agent") from error

_LOGGER: Final = logging.getLogger("emitter")
_NOT_ASKED: Final = "The call was not made, because it could not be put to a person."


_SHELLS: Final = frozenset({"Bash", "PowerShell"})
"""Tools whose calls depend on the session's directory. Claude Code makes the paths of the others absolute."""
_CALL_ID: Final = "emitter_call_id"
"""The argument in which the hook passes the id of the call to the tool. The hook overwrites what the model wrote."""
_NO_HOOK: Final = "Nothing was done: the hooks of this server's GuardedTools are missing from ClaudeAgentOptions."
_STILL_WAITS: Final = "Nothing was done: this call waits for a person."
_MAX_SESSIONS: Final = 1000
"""The sessions whose uses of ids are counted. A session that is waited for has them in its transcript."""
HOOK_SECONDS: Final = 60.0
"""The seconds that Claude Code waits for the hook, which only reads the store."""
START_SECONDS: Final = 60.0
"""The seconds that a resumed session may take until it makes its deferred call. Without a limit, Claude Code waits
for ever."""


class GuardedTools:
    """Guarded tools as an MCP server for ``ClaudeAgentOptions``, with the hook that defers calls that wait.

    Pass both ``mcp_servers`` and ``hooks`` to the options. Without the hook, the tools refuse every call.

    Args:
        name: The name of the server. Claude sees its tools as ``mcp__name__tool``.
        tools: Results of ``Authority.guard``.
    """

    def __init__(self, name: str, *tools: GuardedTool[..., Any]) -> None:
        self._name = name
        self._tools = {f"mcp__{name}__{tool.name}": _Tool(tool) for tool in tools}
        self._gate = CallGate()

    @property
    def mcp_servers(self) -> dict[str, McpServerConfig]:
        """The server, by its name."""
        tools = [tool.to_sdk() for tool in self._tools.values()]
        return {self._name: create_sdk_mcp_server(self._name, tools=tools)}

    @property
    def hooks(self) -> dict[HookEvent, list[HookMatcher]]:
        """The hook that defers calls that wait, and denies those that were not approved."""
        return {"PreToolUse": [HookMatcher(f"mcp__{self._name}__.*", [self._before_call], HOOK_SECONDS)]}

    async def _before_call(self, hook_input: HookInput, tool_use_id: str | None, _: HookContext) -> HookJSONOutput:
        call: Any = hook_input
        tool = self._tools.get(call["tool_name"])
        if tool is None:
            return {}
        call_id = await self._gate.identify(call, tool_use_id)
        outcome = await tool.find_obstacle(call_id, call["tool_input"])
        allowed = {**call["tool_input"], _CALL_ID: outcome} if isinstance(outcome, str) else outcome
        return await self._gate.answer(call, call_id, allowed)


class CallGate:
    """Allows, denies or defers the calls that Claude Code asks about.

    Claude Code keeps one deferred call of a session. The decision about a call that it drops is withdrawn, since an
    answer would have no effect.
    """

    def __init__(self) -> None:
        self._deferred = dict[str, Waiting]()
        self._uses = dict[str, tuple[str, Counter[str]]]()

    async def identify(self, hook_input: Mapping[str, Any], tool_use_id: str | None) -> CallId:
        """Return the id of a call: its prompt, its own id, and how often the prompt used that id before.

        A call that was deferred comes back without its prompt, which is in the session's transcript.
        """
        session, prompt = hook_input["session_id"], hook_input.get("prompt_id")
        if prompt is None:
            prompt, count = await run_blocking(_find_use, Path(hook_input.get("transcript_path", "")), tool_use_id)
        else:
            uses = self._count_uses(session, prompt)
            count = uses[str(tool_use_id)]
            uses[str(tool_use_id)] += 1
        return make_call_id(("claude-agent", session), prompt, tool_use_id, position=count)

    def _count_uses(self, session: str, prompt: str) -> Counter[str]:
        """Return how often each id was used in the prompt that a session processes."""
        current, uses = self._uses.pop(session, ("", Counter[str]()))
        self._uses[session] = prompt, (uses if current == prompt else Counter())
        if len(self._uses) > _MAX_SESSIONS:
            del self._uses[next(iter(self._uses))]
        return self._uses[session][1]

    async def answer(
        self,
        hook_input: Mapping[str, Any],
        call_id: CallId,
        outcome: Waiting | Rejected | Mapping[str, Any],
    ) -> HookJSONOutput:
        """Return the hook's output for a call: allowed with its arguments, denied in words, or deferred."""
        session = hook_input["session_id"]
        dropped = self._deferred.pop(session, None)
        if dropped is not None and dropped.call_id not in {call_id.value, call_id.earlier}:
            with suppress(AlreadyResolved):
                await dropped.ledger.awithdraw(dropped.pending.decision_id)
        match outcome:
            case Waiting():
                self._deferred[session] = outcome
                return _answer("defer")
            case Rejected(message=words):
                return _answer("deny", permissionDecisionReason=words)
            case arguments:
                return _answer("allow", updatedInput=dict(arguments))


def _find_use(transcript: Path, tool_use_id: str | None) -> tuple[str, int]:
    """Return the prompt in which the transcript last has a call, and how many calls have its id there before."""
    prompt, uses, found = "-", 0, ("-", 0)
    for line in transcript.read_text(encoding="utf-8").splitlines() if transcript.is_file() else ():
        entry = as_mapping(json.loads(line))
        if entry.get("type") == "user" and entry.get("promptId") not in {None, prompt}:
            prompt, uses = str(entry["promptId"]), 0
        content: Any = as_mapping(entry.get("message")).get("content")
        blocks = cast("list[Any]", content) if isinstance(content, list) else []
        for block in map(as_mapping, blocks):
            if block.get("type") == "tool_use" and block.get("id") == tool_use_id:
                found, uses = (prompt, uses), uses + 1
    return found


def _answer(decision: Literal["allow", "deny", "defer"], **more: Any) -> HookJSONOutput:
    output: Any = {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}
    return {"hookSpecificOutput": output}


async def resume(options: ClaudeAgentOptions, session_id: str) -> AsyncIterator[Message]:
    """Continue a session whose call was deferred, and yield its messages.

    Resume it once the decision is resolved. It continues without a prompt, because a prompt makes Claude Code drop a
    call that still waits.

    Args:
        options: The options of the session, with the ``GuardedTools`` of the same tools.
        session_id: The id of the session, ``ResultMessage.session_id``.

    Raises:
        InputError: The session has no deferred call, or it was made already.
    """
    ended = asyncio.Event()

    async def no_prompt() -> AsyncIterator[dict[str, Any]]:
        # The stream must stay open, and yield nothing, until the session has ended.
        await ended.wait()
        none: tuple[dict[str, Any], ...] = ()
        for prompt in none:
            yield prompt

    async def note_call(*_: object) -> HookJSONOutput:
        limit.reschedule(None)
        return {}

    before = (options.hooks or {}).get("PreToolUse", [])
    hooks: Any = {**(options.hooks or {}), "PreToolUse": [*before, HookMatcher(None, [note_call])]}
    messages = query(prompt=no_prompt(), options=replace(options, resume=session_id, hooks=hooks))
    try:
        async with asyncio.timeout(START_SECONDS) as limit:
            message: Message | None = await anext(messages)
    except TimeoutError:
        raise InputError(
            f"Session {session_id} has no deferred call: Claude Code made none within {START_SECONDS:.0f} seconds.",
            hint="Resume a session whose last result has deferred_tool_use. Continue any other with query().",
        ) from None
    while message is not None:
        if isinstance(message, ResultMessage):
            ended.set()
        yield message
        message = await anext(messages, None)


class _Tool:
    """A guarded tool with the schema of its arguments."""

    def __init__(self, tool: GuardedTool[..., Any]) -> None:
        function = get_function(tool)

        @functools.wraps(function)
        def bind(*args: Any, **kwargs: Any) -> dict[str, Any]:
            return inspect.signature(function).bind(*args, **kwargs).arguments

        arguments: Any = bind  # pydantic validates a call's arguments before it makes the call
        self._tool = tool
        self._arguments: TypeAdapter[Any] = TypeAdapter(arguments)

    def to_sdk(self) -> SdkMcpTool[Any]:
        """Return the tool of the SDK."""
        schema = {**self._arguments.json_schema(), "additionalProperties": True}  # for the call's id
        description = (get_function(self._tool).__doc__ or self._tool.name).strip()
        return SdkMcpTool(self._tool.name, description, schema, self._handle)

    async def find_obstacle(self, call_id: CallId, tool_input: Mapping[str, Any]) -> Waiting | Rejected | str:
        """Open the decision about a call, and return why it cannot be made now, or the id under which it is made."""
        try:
            arguments = self._arguments.validate_python(dict(tool_input))
        except ValidationError as error:
            return Rejected(f"The call was not made, because its arguments are invalid: {error}")
        obstacle = await apropose(self._tool, call_id, arguments)
        chosen: str = await run_blocking(choose_id, self._tool, call_id, arguments)
        return chosen if obstacle is None else obstacle

    async def _handle(self, tool_input: dict[str, Any]) -> dict[str, Any]:
        chosen = tool_input.pop(_CALL_ID, None)
        if not isinstance(chosen, str):
            return _content(_NO_HOOK, is_error=True)
        outcome = await amake_call(self._tool, chosen, self._arguments.validate_python(tool_input))
        if isinstance(outcome, Waiting):
            return _content(_STILL_WAITS, is_error=True)
        if isinstance(outcome, Rejected):
            return _content(outcome.message, is_error=True)
        return _content(_to_text(outcome.value))


def _content(text: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "is_error": is_error}


class InputChanged(Exception):
    """Another hook changed the input after the approval, and the tool ran with it. The receipt names this error."""


class ToolFailed(Exception):
    """Claude Code reported that a tool failed. The receipt names this error."""


class GuardHooks:
    """Guards tools of Claude Code by name: ``ClaudeAgentOptions(hooks=GuardHooks(authority, {"Bash": {}}).hooks)``.

    A call that waits for approval is deferred, and the run ends with ``ResultMessage.deferred_tool_use``. Call
    ``resume`` once the decision is resolved: the approved call is made, once. Otherwise Claude reads why it was denied,
    with the person's words. If the question cannot be asked, the call is denied.

    Args:
        authority: Approves the calls and keeps the receipts.
        tools: The options of ``Authority.guard`` for each tool, by the name that Claude calls it by, such as ``Bash``
            or ``mcp__github__merge``. A name that no tool has guards nothing.
    """

    def __init__(self, authority: Authority, tools: Mapping[str, GuardOptions]) -> None:
        self._tools = NamedTools(authority, tools)
        self._gate = CallGate()
        self._running = dict[tuple[str, str | None], _RunningCall]()

    @property
    def hooks(self) -> dict[HookEvent, list[HookMatcher]]:
        """The hooks before and after each call of these tools."""
        names = "|".join(map(re.escape, self._tools.options))
        # With "block", Claude Code does not make the call if the hook fails or is too slow.
        return {
            "PreToolUse": [HookMatcher(names, [self._before_call], HOOK_SECONDS, "block")],
            "PostToolUse": [HookMatcher(names, [self._after_call], HOOK_SECONDS)],
            "PostToolUseFailure": [HookMatcher(names, [self._after_call], HOOK_SECONDS)],
        }

    async def _before_call(self, hook_input: HookInput, tool_use_id: str | None, _: HookContext) -> HookJSONOutput:
        call: Any = hook_input
        if call["tool_name"] not in self._tools.options:
            return {}
        call_id = await self._gate.identify(call, tool_use_id)
        try:
            outcome = await self._start(call_id, call, tool_use_id)
        except Exception as error:
            _LOGGER.exception("A call of Claude Code's %s was denied.", call["tool_name"])
            outcome = Rejected(f"{_NOT_ASKED} {type(error).__name__}: {error}")
        return await self._gate.answer(call, call_id, outcome)

    async def _start(
        self, call_id: CallId, call: Mapping[str, Any], tool_use_id: str | None
    ) -> Waiting | Rejected | Mapping[str, Any]:
        """Return the input of a call that Claude Code may make now, or why it may not."""
        name, arguments = call["tool_name"], dict(call["tool_input"])
        if name in _SHELLS:
            arguments["cwd"] = call["cwd"]
        implementation = type(name, (), {"__module__": "claude_code"})  # what an approval binds, in place of a function
        tool = self._tools.guard(
            name, description=f"{name} of Claude Code.", parameters=arguments, implementation=implementation
        )
        obstacle = await tool.find_obstacle(call_id, arguments)
        if obstacle is not None:
            return obstacle
        running = _RunningCall(tool, call_id, arguments, call["tool_input"])
        outcome = await running.start()
        if outcome is None:
            self._running[call["session_id"], tool_use_id] = running
            return running.approved
        if isinstance(outcome, Returned):
            value = _to_text(outcome.value)
            return Rejected(f"This call was made before, and is not made again. It returned: {value}")
        return outcome

    async def _after_call(self, hook_input: HookInput, tool_use_id: str | None, _: HookContext) -> HookJSONOutput:
        call: Any = hook_input
        running = self._running.pop((call["session_id"], tool_use_id), None)
        if running is not None:
            await running.finish(call)
        return {}


class _RunningCall:
    """An approved call, from its intent to its receipt. Claude Code makes it in between."""

    def __init__(
        self, tool: ExistingTool, call_id: CallId, arguments: Mapping[str, Any], tool_input: Mapping[str, Any]
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


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value).decode()
