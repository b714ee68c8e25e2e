"""Approvals for LangChain agents and LangGraph graphs.

``as_tool`` makes a guarded tool a LangChain tool. ``GuardMiddleware`` guards tools that an agent has already, by name:
an approved call goes on to the agent's other middleware and to the tool, which gets the approved arguments and what
LangChain injects.

A call that waits interrupts the graph. Once its decision is resolved, invoke the graph again with ``None`` or any
``Command(resume=...)``, in this or another process: a resume value is never consent, and a replayed call returns its
retained result.

Source: langgraph.types.interrupt, langgraph.prebuilt.tool_node, langchain_core.tools and langchain.agents.middleware as
installed, langgraph 1.2.22, langchain-core 1.7.2 and langchain 1.4.7 (2026-11-23).
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from emitter.arguments import is_async
from emitter.authority import Effects, Result
from emitter.authority.guard.call_ids import digest_history, make_call_id, scope_prefix
from emitter.errors import MissingExtra
from emitter.integrations.approvals import (
    NamedTools,
    Rejected,
    Waiting,
    amake_call,
    get_function,
    make_call,
)
from emitter.messages import as_mapping
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from langchain.agents.middleware import ToolCallRequest

    from emitter.authority import Authority, GuardedTool, GuardOptions
    from emitter.authority.guard.call_ids import CallId
    from emitter.integrations.approvals import ExistingTool, Returned, RunTool

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
    from langchain_core.tools import InjectedToolCallId, StructuredTool, create_schema_from_function
    from langgraph.config import get_config
    from langgraph.prebuilt import ToolRuntime
    from langgraph.types import Command, interrupt
    from pydantic import create_model
except ImportError as error:
    raise MissingExtra("Approvals in LangChain need langchain and langgraph.", extra="langchain") from error

_SCOPE: Final = "langgraph"
"""The beginning of the ids of calls."""
_ID: Final = "emitter_tool_call_id"
"""The argument in which LangChain passes the id of the model's tool call. The model does not see it."""
_RUNTIME: Final = "emitter_runtime"
"""The argument in which a ``ToolNode`` passes the state of the graph. A node of your own passes none."""


def as_tool(tool: GuardedTool[..., Any]) -> StructuredTool:
    """Return a guarded tool as a LangChain tool, for ``create_agent``, a ``ToolNode`` or a node of your own.

    A call that waits for approval interrupts the graph, with its decision as the interrupt's value. Invoke the graph
    again once the decision is resolved: the approved call is made, once. Otherwise the agent reads a ``ToolMessage``
    with the status ``error`` and the person's words.

    Args:
        tool: The result of ``Authority.guard``. The graph needs a checkpointer, and a ``thread_id`` in its config.
    """
    function = get_function(tool)
    added: dict[str, Any] = {_ID: (Annotated[str, InjectedToolCallId], ...), _RUNTIME: (ToolRuntime | None, None)}
    schema: Any = create_schema_from_function(tool.name, function)

    def identify(arguments: dict[str, Any]) -> tuple[str, CallId]:
        tool_call_id, runtime = arguments.pop(_ID), arguments.pop(_RUNTIME, None)
        call = ToolCall(id=tool_call_id, name=tool.name, args=arguments)
        return tool_call_id, _get_call_id(call, None if runtime is None else runtime.state)

    def run(**arguments: Any) -> Any:
        tool_call_id, call_id = identify(arguments)
        while isinstance(outcome := make_call(tool, call_id, arguments), Waiting):
            interrupt(outcome.to_json())
        return _to_output(outcome, tool_call_id)

    async def arun(**arguments: Any) -> Any:
        tool_call_id, call_id = identify(arguments)
        while isinstance(outcome := await amake_call(tool, call_id, arguments), Waiting):
            interrupt(outcome.to_json())
        return _to_output(outcome, tool_call_id)

    return StructuredTool(
        name=tool.name,
        description=(function.__doc__ or tool.name).strip(),
        args_schema=create_model(tool.name, __base__=schema, **added),
        func=None if is_async(function) else run,
        coroutine=arun,
    )


def _get_call_id(call: ToolCall, state: Any) -> CallId:
    """Return the id of a tool call in the graph that runs here, or raise ``InputError`` if it has none.

    The digest of the messages before the call tells apart the messages of a thread, and is the same in a replay, whose
    tasks and checkpoints have new ids. A task stands for its message if the state has none.
    """
    config: Any = get_config()
    configurable: dict[str, Any] = config.get("configurable") or {}
    outer, _, task = str(configurable.get("checkpoint_ns") or "").rpartition("|")
    found, position = _find_message(state, call), "0"
    if found is not None:
        before, message = found
        task = digest_history([_describe_message(each) for each in before])
        position = _find_position(message.tool_calls, call, config["metadata"].get("langgraph_path"), task)
    message_id = f"{outer}|{task}" if task else None
    return make_call_id((_SCOPE, configurable.get("thread_id")), message_id, call["id"], position=position)


def _find_message(state: Any, call: ToolCall) -> tuple[list[Any], AIMessage] | None:
    """Return the message that makes a call, and those before it, from the state of a graph."""
    members: Mapping[str, Any] = as_mapping(state) or getattr(state, "__dict__", {})
    lists = [cast("list[Any]", state), *members.values()]
    for each in lists:
        listed = cast("list[Any]", each if isinstance(each, list) else [])
        for index in range(len(listed) - 1, -1, -1):
            message = listed[index]
            if isinstance(message, AIMessage) and any(each["id"] == call["id"] for each in message.tool_calls):
                return listed[:index], message
    return None


def _describe_message(message: Any) -> Any:
    """Return what stays the same of a message if a graph is replayed. A message that a person sent again is another."""
    match message:
        case AIMessage():
            calls = [[call["id"], call["name"], call["args"]] for call in message.tool_calls]
            return [message.type, message.text, calls]
        case ToolMessage():
            return [message.type, message.tool_call_id]
        case HumanMessage():
            return [message.type, message.id, message.text]
        case _:
            return None


def _find_position(calls: list[ToolCall], call: ToolCall, path: Any, digest: str) -> str:
    """Return what tells a call from the others of its message, also if several have one id."""
    same = [index for index, each in enumerate(calls) if (each["id"], each["name"]) == (call["id"], call["name"])]
    if len(same) == 1:
        return str(same[0])
    if path and path[0] == "__pregel_push":  # a task for each call
        return f"task {path[1]}"
    equal = [index for index in same if calls[index]["args"].items() <= call["args"].items()]
    arguments = digest_history(call["args"])
    if len(equal) < 2:  # noqa: PLR2004
        return arguments
    # Calls that do not differ in anything are made in one task, all of them each time.
    with _REPEATS_LOCK:
        repeat = next(_count_repeats(str(call["id"]), digest, arguments))
    return f"{arguments} {repeat % len(equal)}"


_REPEATS_LOCK: Final = threading.Lock()


@lru_cache(maxsize=1024)
def _count_repeats(*_: str) -> Iterator[int]:
    return itertools.count()


def _to_output(outcome: Returned | Rejected, tool_call_id: str) -> Any:
    if isinstance(outcome, Rejected):
        return ToolMessage(outcome.message, status="error", tool_call_id=tool_call_id)
    return outcome.value


def withdraw_thread(authority: Authority, thread_id: str) -> tuple[str, ...]:
    """Withdraw the questions of a thread whose calls wait, and return their ids.

    Call it before you invoke a graph with new input instead of resuming it, because LangGraph then drops the calls that
    wait. ``GuardMiddleware`` does so for an agent of ``create_agent``, also for tools of ``as_tool``.

    Args:
        authority: The authority of the guarded tools.
        thread_id: The ``thread_id`` of the graph's config.
    """
    return authority.withdraw_questions(scope_prefix(_SCOPE, thread_id))


class GuardMiddleware(AgentMiddleware[Any, Any, Any]):
    """Guards tools of an agent by name: ``create_agent(..., middleware=[GuardMiddleware(authority, {...})])``.

    A call that waits for approval interrupts the graph, with its decision as the interrupt's value. Invoke the graph
    again once the decision is resolved: the approved call is made, once. Otherwise the agent reads a ``ToolMessage``
    with the status ``error`` and the person's words. If the agent has no tool with one of the names, no tool runs.

    If the thread gets new input instead of being resumed, its waiting calls are dropped, and their questions are
    withdrawn.

    Args:
        authority: Approves the calls and keeps the receipts. The graph needs a checkpointer, and a ``thread_id``.
        tools: The options of ``Authority.guard`` for each tool, by its name.
    """

    def __init__(self, authority: Authority, tools: Mapping[str, GuardOptions]) -> None:
        super().__init__()
        self._authority = authority
        self._tools = NamedTools(
            authority, {name: {"describe": _describe, **options} for name, options in tools.items()}
        )

    def before_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002  the hook's parameters
        """Withdraw what the thread asked before this input. It is not called when a graph is resumed."""
        self._withdraw_dropped(get_config())

    async def abefore_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002  the hook's parameters
        """Withdraw what the thread asked before this input."""
        await run_blocking(self._withdraw_dropped, get_config())

    def _withdraw_dropped(self, config: Any) -> None:
        configurable: dict[str, Any] = config.get("configurable") or {}
        thread_id = configurable.get("thread_id")
        # An agent within another graph begins while other calls of the thread wait.
        is_outermost = "|" not in str(configurable.get("checkpoint_ns") or "")
        if is_outermost and isinstance(thread_id, str) and thread_id:
            withdraw_thread(self._authority, thread_id)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Make an approved call once, in a thread of its own."""
        tool = self._find(request)
        if tool is None:
            return handler(request)

        async def run(arguments: dict[str, Any]) -> Any:
            return await asyncio.to_thread(handler, _with_arguments(request, arguments))

        # LangGraph runs sync tools in threads, which have no event loop.
        return asyncio.run(_make_call(tool, request, run))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Make an approved call once."""
        tool = self._find(request)
        if tool is None:
            return await handler(request)

        async def run(arguments: dict[str, Any]) -> Any:
            return await handler(_with_arguments(request, arguments))

        return await _make_call(tool, request, run)

    def _find(self, request: Any) -> ExistingTool | None:
        """Return the guarded tool of a call, or None if the tool is not guarded."""
        self._tools.check_present([tool.name for tool in request.runtime.tools])
        tool = request.tool
        if tool is None or tool.name not in self._tools.options:
            return None
        function = getattr(tool, "func", None) or getattr(tool, "coroutine", None) or tool
        try:
            parameters: dict[str, Any] = tool.args
        except KeyError:  # the schema of a tool without parameters may lack "properties"
            parameters = {}
        return self._tools.guard(
            tool.name, description=tool.description, parameters=parameters, implementation=function
        )


async def _make_call(tool: ExistingTool, request: ToolCallRequest, run: RunTool) -> Any:
    call = request.tool_call
    call_id = _get_call_id(call, request.state)
    while isinstance(outcome := await tool.make_call(call_id, call["args"], run), Waiting):
        interrupt(outcome.to_json())
    if isinstance(outcome, Rejected):
        return ToolMessage(outcome.message, name=call["name"], status="error", tool_call_id=call["id"])
    return _restore(outcome.value, request)


def _with_arguments(request: ToolCallRequest, arguments: dict[str, Any]) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": arguments})


def _restore(value: Any, request: ToolCallRequest) -> Any:
    """Return the result of a call, or the message that was retained from an earlier one."""
    match value:
        case _ if isinstance(value, ToolMessage | Command):
            return cast("Any", value)
        case {"type": "tool"}:
            return ToolMessage.model_validate(value)
        case [*results] if all(isinstance(each, ToolMessage | Command) for each in results):
            return results
        case _:
            call = request.tool_call
            words = "The call was made before. What it changed in the graph is not repeated."
            return ToolMessage(words, name=call["name"], tool_call_id=call["id"])


def _describe(value: Any) -> Effects:
    """Return the effects for the receipt: a failure if LangChain turned an exception into a message."""
    is_failed = isinstance(value, ToolMessage) and value.status == "error"
    return Effects(Result.FAILURE, error="ToolMessage") if is_failed else Effects()
