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
from typing import TYPE_CHECKING, Any, Final, cast

from emitter.authority.guard.call_ids import digest_history, make_call_id
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
    withdraw_questions,
)
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pydantic_ai import DeferredToolRequests
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart
    from pydantic_ai.toolsets import AbstractToolset

    from emitter.authority import Authority, GuardedTool, GuardOptions
    from emitter.authority.guard.call_ids import CallId
    from emitter.decisions.ledger import Ledger
    from emitter.integrations.approvals import CallOutcome

try:
    from pydantic_ai import ApprovalRequired, DeferredToolResults, FunctionToolset, RunContext, ToolDenied, ToolReturn
    from pydantic_ai.exceptions import ToolFailed, UserError
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
    from pydantic_ai.tools import AgentDepsT
    from pydantic_ai.toolsets import ToolsetTool, WrapperToolset
except ImportError as error:
    raise MissingExtra("Approvals in pydantic-ai need pydantic-ai-slim.", extra="pydantic-ai") from error


_CONVERSATION: Final = "conversation_id"
"""The member of a deferred call's metadata that keeps its conversation, which some formats of a history lose."""


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
        guarded = self.guarded[name]
        return _to_result(await amake_call(guarded, await run_blocking(_find_call_id, guarded, ctx), tool_args), ctx)


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
        call_id = await run_blocking(_find_call_id, existing.guarded, ctx)
        return _to_result(await existing.make_call(call_id, tool_args, run), ctx)


def _find_function(toolset: AbstractToolset[Any], name: str) -> object:
    """Return the function behind a tool, or its toolset if there is none."""
    tool = toolset.tools.get(name) if isinstance(toolset, FunctionToolset) else None
    return toolset if tool is None else tool.function


def _find_call_id(tool: GuardedTool[..., Any], ctx: RunContext[Any]) -> CallId:
    """Return the id of the call that runs.

    It is made of the conversation, what was said before, the call's id, and how many runs were at this place before:
    the same history may be run twice. A resumed history has the id of the run that made the call, unless it went
    through a front end, which returns neither the ids of runs nor that of the conversation.
    """
    scope = ("pydantic-ai", _find_conversation(ctx))
    found = _find_message(ctx)
    if found is None:
        return make_call_id(scope, "-", ctx.tool_call_id)
    before, message = found
    digest = digest_history([_describe_part(part) for each in before for part in each.parts])
    uses = tool.call_ids.count_uses(make_call_id(scope, digest, ctx.tool_call_id).value, message.run_id)
    if uses < 0 and ctx.tool_call_approved and message.conversation_id is None:
        raise InputError(
            "The message history has lost the id of its conversation, so the approved call cannot be found.",
            hint="Pass conversation_id= to both runs, or the results of build_results() with the history.",
        )
    return make_call_id(scope, digest, ctx.tool_call_id, position=max(uses, 0))


def _find_conversation(ctx: RunContext[Any]) -> str | None:
    """Return the id of the conversation in which the call was made first, as ``build_results`` passes it on."""
    match ctx.tool_call_metadata:
        case {"conversation_id": str(conversation)}:
            return conversation
        case _:
            return ctx.conversation_id


def _find_message(ctx: RunContext[Any]) -> tuple[Sequence[ModelMessage], ModelResponse] | None:
    """Return the messages before the one that makes the call, and that one. A durable engine may pass none."""
    try:
        messages = ctx.messages
    except UserError:
        return None
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, ModelResponse) and any(
            isinstance(part, ToolCallPart) and part.tool_call_id == ctx.tool_call_id for part in message.parts
        ):
            return messages[:index], message
    return None


def _describe_part(part: ModelRequestPart | ModelResponsePart) -> Any:
    """Return what stays the same of a part in every format of a history."""
    match part:
        case ToolCallPart():
            return [part.part_kind, part.tool_call_id, part.tool_name, part.args_as_dict()]
        case ToolReturnPart():
            return [part.part_kind, part.tool_call_id]
        case TextPart():
            return [part.part_kind, part.content]
        case UserPromptPart(content=str(text)):
            return [part.part_kind, text]
        case UserPromptPart(content=content):
            return [part.part_kind, "".join(each for each in content if isinstance(each, str))]
        case _:
            return None


def _to_result(outcome: CallOutcome, ctx: RunContext[Any]) -> Any:
    """Return the result of a call, or raise the framework's exception if there is none."""
    match outcome:
        case Returned(value={"kind": "tool-return", **members}):  # retained
            return ToolReturn(**cast("dict[str, Any]", members))
        case Returned(value=value):
            return value
        case Waiting() as waiting:
            raise ApprovalRequired(metadata={**waiting.to_json(), _CONVERSATION: _find_conversation(ctx)})
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
        results.metadata[call.tool_call_id] = {_CONVERSATION: requests.metadata[call.tool_call_id].get(_CONVERSATION)}
        results.approvals[call.tool_call_id] = ToolDenied(explain_answer(decision)) if is_denied else True
    return results


def _decision_id(requests: DeferredToolRequests, tool_call_id: str) -> str:
    return str(requests.metadata.get(tool_call_id, {}).get("decision_id"))
