"""Approvals for the OpenAI Agents SDK.

A call that waits is an interruption of the run. Once its decision is resolved, pass the run's state to
``apply_answers``, and run the agent with it again, in this or another process. ``RunState.approve`` is never consent:
the guarded tool looks in the ledger itself.

Source: agents.tool and agents.run_state as installed, openai-agents 0.24.0 (2026-11-23).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from emitter.errors import ApprovalPending, MissingExtra
from emitter.integrations.approvals import (
    Rejected,
    Waiting,
    amake_call,
    apropose,
    get_function,
    make_call_id,
)

if TYPE_CHECKING:
    from agents.tool_context import ToolContext

    from emitter.authority import GuardedTool

try:
    from agents import FunctionTool, RunContextWrapper, RunState
    from agents.function_schema import FuncSchema, function_schema
except ImportError as error:
    raise MissingExtra("Approvals in the OpenAI Agents SDK need openai-agents.", extra="openai-agents") from error


@dataclass
class GuardedFunctionTool(FunctionTool):
    """A ``FunctionTool`` whose calls run through a guarded tool. ``as_tool`` makes one."""

    guarded: GuardedTool[..., Any] = field(kw_only=True)
    schema: FuncSchema = field(kw_only=True)

    async def find_obstacle(self, arguments: str, call_id: str) -> Waiting | Rejected | None:
        """Open the decision about a call, and return why it cannot be made now, or None."""
        try:
            bound = _bind(self.schema, None, arguments)
        except ValidationError:
            return None  # the model reads what is wrong with them
        return await apropose(self.guarded, make_call_id("openai-agents", call_id), bound)


def as_tool(tool: GuardedTool[..., Any], *, strict_json_schema: bool = True) -> GuardedFunctionTool:
    """Return a guarded tool as a ``FunctionTool`` whose calls need approval.

    A call that waits for approval is among ``result.interruptions``. Once decisions are resolved, pass
    ``result.to_state()`` to ``apply_answers``, and run the agent again.

    Args:
        tool: The result of ``Authority.guard``.
        strict_json_schema: Whether the vendor enforces the parameters' schema, as in ``function_tool``.
    """
    schema = function_schema(get_function(tool), name_override=tool.name, strict_json_schema=strict_json_schema)

    async def needs_approval(_: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
        return isinstance(await function_tool.find_obstacle(json.dumps(arguments), call_id), Waiting)

    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        try:
            bound = _bind(schema, context, arguments)
        except ValidationError as error:
            return f"The call was not made, because its arguments are invalid: {error}"
        outcome = await amake_call(tool, make_call_id("openai-agents", context.tool_call_id), bound)
        if isinstance(outcome, Waiting):
            raise _not_approved_in_ledger(outcome)
        return outcome.message if isinstance(outcome, Rejected) else outcome.value

    function_tool = GuardedFunctionTool(
        name=tool.name,
        description=schema.description or "",
        params_json_schema=schema.params_json_schema,
        on_invoke_tool=invoke,
        strict_json_schema=strict_json_schema,
        needs_approval=needs_approval,
        guarded=tool,
        schema=schema,
    )
    return function_tool


async def apply_answers(state: RunState[Any, Any]) -> None:
    """Approve and reject the interruptions of a run as the ledger says. Those that wait stay as they are.

    A call that was not approved is rejected with the person's words. Interruptions of other tools are left to you.

    Args:
        state: The state of an interrupted run, from ``result.to_state()`` or ``RunState.from_string``.
    """
    for item in state.get_interruptions():
        tool = next((each for each in item.agent.tools if each.name == item.tool_name), None)
        if not isinstance(tool, GuardedFunctionTool) or item.call_id is None:
            continue
        match await tool.find_obstacle(item.arguments or "", item.call_id):
            case None:
                state.approve(item)
            case Rejected(message=message):
                state.reject(item, rejection_message=message)
            case Waiting():
                pass


def _bind(schema: FuncSchema, context: RunContextWrapper[Any] | None, arguments: str) -> dict[str, Any]:
    parsed = schema.params_pydantic_model.model_validate_json(arguments or "{}")
    args, kwargs = schema.to_call_args(parsed)
    return schema.signature.bind(*([context] if schema.takes_context else []), *args, **kwargs).arguments


def _not_approved_in_ledger(waiting: Waiting) -> ApprovalPending:
    return ApprovalPending(
        f"The call was approved in the run's state, but decision {waiting.pending.decision_id} is still open.",
        decision_id=waiting.pending.decision_id,
        call_id=waiting.call_id,
        hint="Resolve the decision in the ledger, and pass the state of the interrupted run to apply_answers().",
    )
