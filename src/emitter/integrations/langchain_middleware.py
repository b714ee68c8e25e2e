"""Approvals for tools that a LangChain agent has already, as a middleware that guards them by name.

A call that waits interrupts the graph, as in ``emitter.integrations.langchain``. An approved call goes on to the
agent's other middleware and to the tool, which gets the approved arguments, and what LangChain injects.

Source: langchain.agents.middleware and langgraph.prebuilt.tool_node as installed, langchain 1.4.7 and langgraph 1.2.22
(2026-11-23).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from emitter.authority import Effects, Result
from emitter.errors import MissingExtra
from emitter.integrations.approvals import NamedTools, Rejected, Waiting
from emitter.integrations.langchain import get_call_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from langchain.agents.middleware import ToolCallRequest

    from emitter.authority import Authority, GuardOptions
    from emitter.integrations.approvals import ExistingTool, RunTool

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import ToolMessage
    from langgraph.types import Command, interrupt
except ImportError as error:
    raise MissingExtra("Approvals by a middleware need langchain.", extra="langchain") from error


class GuardMiddleware(AgentMiddleware[Any, Any, Any]):
    """Guards tools of an agent by name: ``create_agent(..., middleware=[GuardMiddleware(authority, {...})])``.

    A call that waits for approval interrupts the graph, with its decision as the interrupt's value. Invoke the graph
    again once the decision is resolved: the approved call is made, once. Otherwise the agent reads a ``ToolMessage``
    with the status ``error`` and the person's words. If the agent has no tool with one of the names, no tool runs.

    Args:
        authority: Approves the calls and keeps the receipts. The graph needs a checkpointer, and a ``thread_id``.
        tools: The options of ``Authority.guard`` for each tool, by its name.
    """

    def __init__(self, authority: Authority, tools: Mapping[str, GuardOptions]) -> None:
        super().__init__()
        self._tools = NamedTools(authority, {name: {"describe": _describe, **how} for name, how in tools.items()})

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Make an approved call once, in a thread of its own."""
        tool = self._find(request)
        if tool is None:
            return handler(request)

        async def run(arguments: dict[str, Any]) -> Any:
            return await asyncio.to_thread(handler, _with_arguments(request, arguments))

        return asyncio.run(_make_call(tool, request, run))  # LangGraph runs tools in threads without an event loop

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
        """Return the guarded tool of a call, or None if its name is not among those that are guarded."""
        self._tools.check_present([tool.name for tool in request.runtime.tools])
        tool = request.tool
        if tool is None or tool.name not in self._tools.options:
            return None
        function = getattr(tool, "func", None) or getattr(tool, "coroutine", None) or tool
        try:
            parameters: dict[str, Any] = tool.args
        except KeyError:  # its schema leaves out that it has none
            parameters = {}
        return self._tools.guard(
            tool.name, description=tool.description, parameters=parameters, implementation=function
        )


async def _make_call(tool: ExistingTool, request: ToolCallRequest, run: RunTool) -> Any:
    call = request.tool_call
    call_id = get_call_id(call["id"])
    while isinstance(outcome := await tool.make_call(call_id, call["args"], run), Waiting):
        interrupt(outcome.to_json())
    if isinstance(outcome, Rejected):
        return ToolMessage(outcome.message, name=call["name"], status="error", tool_call_id=call["id"])
    return _restore(outcome.value, request)


def _with_arguments(request: ToolCallRequest, arguments: dict[str, Any]) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": arguments})


def _restore(value: Any, request: ToolCallRequest) -> Any:
    """Return the result of a call: as it is, or the message that was retained of it."""
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
