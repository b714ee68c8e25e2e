"""Approvals for pydantic-ai agents.

A call that waits ends the run with ``DeferredToolRequests``. Once its decision is resolved, run the agent again with
the message history and ``build_results(...)``, in this or another process. To wait within the run instead, use
``wait_for_answers``. ``ToolApproved`` is never consent: the guarded tool looks in the ledger itself.

Source: pydantic_ai.toolsets, .tools and .capabilities as installed, pydantic-ai-slim 2.68.0 (2026-11-23).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.errors import InputError, MissingExtra, UnknownDecision
from emitter.integrations.approvals import (
    NamedTools,
    Rejected,
    Returned,
    Waiting,
    amake_call,
    explain_answer,
    get_function,
    is_approved,
    make_call_id,
    withdraw_questions,
)
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pydantic_ai import DeferredToolRequests
    from pydantic_ai.toolsets import AbstractToolset

    from emitter.authority import Authority, GuardedTool, GuardOptions
    from emitter.decisions.ledger import Ledger
    from emitter.integrations.approvals import CallOutcome

try:
    from pydantic_ai import ApprovalRequired, DeferredToolResults, FunctionToolset, RunContext, ToolDenied, ToolReturn
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.tools import AgentDepsT
    from pydantic_ai.toolsets import ToolsetTool, WrapperToolset
except ImportError as error:
    raise MissingExtra("Approvals in pydantic-ai need pydantic-ai-slim.", extra="pydantic-ai") from error


@dataclass
class GuardedToolset(WrapperToolset[AgentDepsT]):
    """A toolset whose calls run through guarded tools. ``as_toolset`` makes one."""

    guarded: Mapping[str, GuardedTool[..., Any]] = field(default_factory=dict[str, "GuardedTool[..., Any]"])

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],  # noqa: ARG002  the wrapped toolset's, which is not run
    ) -> Any:
        """Make an approved call once; otherwise require approval, or fail with the person's words."""
        return _to_result(await amake_call(self.guarded[name], _call_id(ctx), tool_args))


@dataclass
class _GuardedByName(WrapperToolset[AgentDepsT]):
    """A toolset with some guarded tools. ``guard_toolset`` makes one."""

    named: NamedTools = field(kw_only=True)

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """Return the tools. A guarded tool needs only the ledger's approval, not the framework's."""
        tools = await super().get_tools(ctx)
        self.named.check_present(tools)
        for name in self.named.options:
            if tools[name].tool_def.kind == "external":
                raise InputError(f"The tool {name!r} is executed elsewhere, so it cannot be guarded here.")
            tools[name] = replace(tools[name], tool_def=replace(tools[name].tool_def, kind="function"))
        return tools

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        """Make an approved call of a guarded tool once; otherwise require approval, or fail with the person's words."""
        if name not in self.named.options:
            return await super().call_tool(name, tool_args, ctx, tool)

        async def run(arguments: dict[str, Any]) -> Any:
            return await self.wrapped.call_tool(name, arguments, replace(ctx, tool_call_approved=True), tool)

        existing = self.named.guard(
            name,
            description=tool.tool_def.description or name,
            parameters=tool.tool_def.parameters_json_schema.get("properties", {}),
            implementation=_find_function(tool.toolset, name),
        )
        return _to_result(await existing.make_call(_call_id(ctx), tool_args, run))


def _find_function(toolset: AbstractToolset[Any], name: str) -> object:
    """Return the function behind a tool, or its toolset if there is none."""
    tool = toolset.tools.get(name) if isinstance(toolset, FunctionToolset) else None
    return toolset if tool is None else tool.function


def _call_id(ctx: RunContext[Any]) -> str:
    return make_call_id("pydantic-ai", ctx.conversation_id, ctx.tool_call_id)


def _to_result(outcome: CallOutcome) -> Any:
    """Return the result of a call, or raise the framework's exception if there is none."""
    match outcome:
        case Returned(value={"kind": "tool-return", **members}):  # retained
            return ToolReturn(**cast("dict[str, Any]", members))
        case Returned(value=value):
            return value
        case Waiting() as waiting:
            raise ApprovalRequired(metadata=waiting.to_json())
        case Rejected(message=message):
            raise ToolFailed(message)


def as_toolset(*tools: GuardedTool[..., Any]) -> GuardedToolset[Any]:
    """Return guarded tools as a toolset for ``Agent(toolsets=[...])``.

    A call that waits for approval ends the run with ``DeferredToolRequests``, which the agent needs among its output
    types. Its decision is in ``DeferredToolRequests.metadata``.

    Args:
        tools: Results of ``Authority.guard``.
    """
    functions = FunctionToolset[Any]()
    for tool in tools:
        functions.add_function(get_function(tool), name=tool.name)
    return GuardedToolset(functions, {tool.name: tool for tool in tools})


def guard_toolset(
    authority: Authority, toolset: AbstractToolset[AgentDepsT], tools: Mapping[str, GuardOptions]
) -> WrapperToolset[AgentDepsT]:
    """Return a toolset with some of its tools guarded, which runs their approved calls itself.

    A call that waits for approval ends the run with ``DeferredToolRequests``, as in ``as_toolset``.

    Args:
        authority: Approves the calls and keeps the receipts.
        toolset: Any toolset, such as a ``FunctionToolset`` or the toolset of an MCP server.
        tools: The options of ``Authority.guard`` for each tool, by its name. If the toolset has no tool with one of
            the names, the run fails.
    """
    return _GuardedByName(toolset, named=NamedTools(authority, tools))


def wait_for_answers(
    ledger: Ledger, *, poll: float = 0.5
) -> Callable[[RunContext[Any], DeferredToolRequests], Awaitable[DeferredToolResults]]:
    """Return a handler for ``HandleDeferredToolCalls``, which waits until the decisions of a run's calls are closed.

    The run goes on by itself once the person has answered, on any surface. If it is cancelled, the questions are
    withdrawn. Calls of other tools are left to you.

    Args:
        ledger: The ledger of the guarded tools, ``Authority.ledger``.
        poll: Seconds between two queries of the store.
    """

    async def handle(_: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults:
        build = partial(build_results, ledger, requests)
        try:
            ids = (await ledger.outages.outlast(build, poll)).approvals
            await asyncio.gather(*(ledger.wait(_decision_id(requests, each), poll=poll) for each in ids))
            return await ledger.outages.outlast(build, poll)
        except asyncio.CancelledError:  # the history of this run is lost, so nobody can continue it
            calls = [call.tool_call_id for call in requests.approvals if call.tool_call_id in requests.metadata]
            await run_blocking(withdraw_questions, ledger, [_decision_id(requests, each) for each in calls])
            raise

    return handle


def build_results(ledger: Ledger, requests: DeferredToolRequests) -> DeferredToolResults:
    """Return what the ledger says about deferred calls, for ``Agent.run(deferred_tool_results=...)``.

    A call that was not approved becomes a ``ToolDenied`` with the person's words. Any other call of a guarded tool is
    let through to it: it makes the call if it is approved, and requires approval again if it still waits. Calls of
    other tools are left to you.

    Args:
        ledger: The ledger of the guarded tools, ``Authority.ledger``.
        requests: The output of the agent's run.
    """
    results = DeferredToolResults()
    for call in requests.approvals:
        try:
            decision = ledger.find(_decision_id(requests, call.tool_call_id))
        except UnknownDecision:
            continue
        closed = isinstance(decision, ResolvedDecision) or decision.expiry_recorded
        is_denied = closed and not is_approved(decision)
        results.approvals[call.tool_call_id] = ToolDenied(explain_answer(decision)) if is_denied else True
    return results


def _decision_id(requests: DeferredToolRequests, tool_call_id: str) -> str:
    return str(requests.metadata.get(tool_call_id, {}).get("decision_id"))
