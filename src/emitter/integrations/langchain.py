"""Approvals for LangChain agents and LangGraph graphs.

A call that waits interrupts the graph. Once its decision is resolved, invoke the graph again with ``None`` or any
``Command(resume=...)``, in this or another process: a resume value is never consent, and a replayed call returns its
retained result.

Source: langgraph.types.interrupt and langchain_core.tools as installed, langgraph 1.2.22 and langchain-core 1.7.2
(2026-11-23).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from emitter.authority.guard.inspection import is_async
from emitter.errors import MissingExtra
from emitter.integrations.approvals import (
    Rejected,
    Waiting,
    amake_call,
    get_function,
    make_call,
    make_call_id,
)

if TYPE_CHECKING:
    from emitter.authority import GuardedTool
    from emitter.integrations.approvals import Returned

try:
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import InjectedToolCallId, StructuredTool, create_schema_from_function
    from langgraph.config import get_config
    from langgraph.types import interrupt
    from pydantic import create_model
except ImportError as error:
    raise MissingExtra("Approvals in LangChain need langgraph.", extra="langchain") from error

_ID: Final = "emitter_tool_call_id"
"""The argument in which LangChain passes the id of the model's tool call. The model does not see it."""


def as_tool(tool: GuardedTool[..., Any]) -> StructuredTool:
    """Return a guarded tool as a LangChain tool, for ``create_agent``, a ``ToolNode`` or a node of your own.

    A call that waits for approval interrupts the graph, with its decision as the interrupt's value. Invoke the graph
    again once the decision is resolved: the approved call is made, once. Otherwise the agent reads a ``ToolMessage``
    with the status ``error`` and the person's words.

    Args:
        tool: The result of ``Authority.guard``. The graph needs a checkpointer, and a ``thread_id`` in its config.
    """
    function = get_function(tool)
    tool_call_id: Any = (Annotated[str, InjectedToolCallId], ...)
    schema: Any = create_schema_from_function(tool.name, function)

    def run(**arguments: Any) -> Any:
        call_id = get_call_id(tool_call_id := arguments.pop(_ID))
        while isinstance(outcome := make_call(tool, call_id, arguments), Waiting):
            interrupt(outcome.to_json())
        return _to_output(outcome, tool_call_id)

    async def arun(**arguments: Any) -> Any:
        call_id = get_call_id(tool_call_id := arguments.pop(_ID))
        while isinstance(outcome := await amake_call(tool, call_id, arguments), Waiting):
            interrupt(outcome.to_json())
        return _to_output(outcome, tool_call_id)

    return StructuredTool(
        name=tool.name,
        description=(function.__doc__ or tool.name).strip(),
        args_schema=create_model(tool.name, __base__=schema, **{_ID: tool_call_id}),
        func=None if is_async(function) else run,
        coroutine=arun if is_async(function) else None,
    )


def get_call_id(tool_call_id: object) -> str:
    """Return the id of a tool call in the graph that runs here, or raise ``InputError`` if it has none."""
    configurable: dict[str, Any] = get_config().get("configurable") or {}
    return make_call_id("langgraph", configurable.get("thread_id"), tool_call_id)


def _to_output(outcome: Returned | Rejected, tool_call_id: str) -> Any:
    if isinstance(outcome, Rejected):
        return ToolMessage(outcome.message, status="error", tool_call_id=tool_call_id)
    return outcome.value
