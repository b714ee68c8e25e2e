"""Approvals for pydantic-ai agents.

A call that waits ends the run with ``DeferredToolRequests``. Once its decision is resolved, run the agent again with
the message history and ``build_results(...)``, in this or another process. ``ToolApproved`` is never consent: the
guarded tool looks in the ledger itself.

Source: pydantic_ai.toolsets and pydantic_ai.tools as installed, pydantic-ai-slim 2.68.0 (2026-11-23).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.errors import MissingExtra, UnknownDecision
from emitter.integrations.approvals import (
    Rejected,
    Returned,
    Waiting,
    amake_call,
    explain_answer,
    get_function,
    is_approved,
    make_call_id,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai import DeferredToolRequests

    from emitter.authority import GuardedTool
    from emitter.decisions.ledger import Ledger

try:
    from pydantic_ai import ApprovalRequired, DeferredToolResults, FunctionToolset, RunContext, ToolDenied
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
        call_id = make_call_id("pydantic-ai", ctx.conversation_id, ctx.tool_call_id)
        match await amake_call(self.guarded[name], call_id, tool_args):
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


def build_results(ledger: Ledger, requests: DeferredToolRequests) -> DeferredToolResults:
    """Return what the ledger says about deferred calls, for ``Agent.run(deferred_tool_results=...)``.

    A call that was not approved becomes a ``ToolDenied`` with the person's words. Any other call is let through to its
    guarded tool, which makes it if it is approved and requires approval again if it still waits.

    Args:
        ledger: The ledger of the guarded tools, ``Authority.ledger``.
        requests: The output of the agent's run.
    """
    denied = {call.tool_call_id: _find_denial(ledger, requests, call.tool_call_id) for call in requests.approvals}
    return DeferredToolResults(approvals={name: denial or True for name, denial in denied.items()})


def _find_denial(ledger: Ledger, requests: DeferredToolRequests, tool_call_id: str) -> ToolDenied | None:
    try:
        decision = ledger.find(str(requests.metadata.get(tool_call_id, {}).get("decision_id")))
    except UnknownDecision:
        return None
    closed = isinstance(decision, ResolvedDecision) or decision.expiry_recorded
    return ToolDenied(explain_answer(decision)) if closed and not is_approved(decision) else None
