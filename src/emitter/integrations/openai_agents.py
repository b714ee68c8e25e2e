"""Approvals for the OpenAI Agents SDK.

A call that waits is an interruption of the run. Once its decision is resolved, pass the run's state to
``apply_answers``, and run the agent with it again, in this or another process. ``RunState.approve`` is never consent:
the guarded tool looks in the ledger itself.

Source: agents.tool and agents.run_state as installed, openai-agents 0.24.0 (2026-11-23).
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from pydantic import ValidationError

from emitter.authority.guard.call_ids import make_call_id
from emitter.errors import ApprovalPending, InputError, MissingExtra, StoreAltered
from emitter.integrations.approvals import (
    Rejected,
    Waiting,
    amake_call,
    apropose,
    get_function,
    guard_existing,
)
from emitter.stores import Entry, NewEntry
from emitter.telemetry.sinks import generate_id
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeAlias, Unpack

    from agents.tool_context import ToolContext

    from emitter.authority import Authority, GuardedTool, GuardOptions
    from emitter.authority.guard.call_ids import CallId
    from emitter.integrations.approvals import CallOutcome
    from emitter.stores import Store

    FindObstacle: TypeAlias = Callable[[str, CallId], Awaitable[Waiting | Rejected | None]]
    Obstacle: TypeAlias = Callable[["RunContextWrapper[Any]", str, str], Awaitable[Waiting | Rejected | None]]
    MakeCall: TypeAlias = Callable[[ToolContext[Any], str, CallId], Awaitable[CallOutcome]]

try:
    from agents import Agent, FunctionTool, RunContextWrapper, RunState
    from agents.function_schema import FuncSchema, function_schema
    from agents.run_context import _ApprovalRecord  # pyright: ignore[reportPrivateUsage]
    from agents.tool import maybe_invoke_function_tool_failure_error_function, set_function_tool_failure_error_function
except ImportError as error:
    raise MissingExtra("Approvals in the OpenAI Agents SDK need openai-agents.", extra="openai-agents") from error


@dataclass
class GuardedFunctionTool(FunctionTool):
    """A ``FunctionTool`` whose calls are approved in the ledger. ``as_tool`` and ``guard_tool`` make one."""

    obstacle: Obstacle = field(kw_only=True)
    """Opens the decision about a call with these arguments and id, and returns why it cannot be made now, or None."""


def as_tool(tool: GuardedTool[..., Any], *, strict_json_schema: bool = True) -> GuardedFunctionTool:
    """Return a guarded tool as a ``FunctionTool`` whose calls need approval.

    A call that waits for approval is among ``result.interruptions``. Once decisions are resolved, pass
    ``result.to_state()`` to ``apply_answers``, and run the agent again.

    Args:
        tool: The result of ``Authority.guard``.
        strict_json_schema: Whether the vendor enforces the parameters' schema, as in ``function_tool``.
    """
    schema = function_schema(get_function(tool), name_override=tool.name, strict_json_schema=strict_json_schema)
    members = {
        "name": tool.name,
        "description": schema.description or "",
        "params_json_schema": schema.params_json_schema,
        "strict_json_schema": strict_json_schema,
    }

    async def find_obstacle(arguments: str, call_id: CallId) -> Waiting | Rejected | None:
        return await apropose(tool, call_id, _bind(schema, None, arguments))

    async def make_call(context: ToolContext[Any], arguments: str, call_id: CallId) -> CallOutcome:
        return await amake_call(tool, call_id, _bind(schema, context, arguments))

    return _build_tool(members, find_obstacle, make_call)


def guard_tool(authority: Authority, tool: FunctionTool, **options: Unpack[GuardOptions]) -> GuardedFunctionTool:
    """Return a tool that you have already with its calls guarded. An approved call runs it with its own settings.

    Use it as a tool of ``as_tool``. The tool's own ``needs_approval`` no longer counts.

    Args:
        authority: Approves the calls and keeps the receipts.
        tool: The result of ``function_tool``, or any other ``FunctionTool``.
        options: The options of ``Authority.guard``.

    Raises:
        InputError: The tool is another agent.
    """
    if getattr(tool, "_is_agent_tool", False):
        raise InputError(f"{tool.name} is an agent, which may act in many ways.", hint="Guard the agent's own tools.")
    existing = guard_existing(
        authority,
        options,
        name=tool.name,
        description=tool.description,
        parameters=tool.params_json_schema.get("properties", {}),
        implementation=getattr(tool, "__wrapped__", tool),
    )
    # Without its error function the tool raises, so that the receipt says that the call failed.
    raising = set_function_tool_failure_error_function(copy.copy(tool), None)

    async def find_obstacle(arguments: str, call_id: CallId) -> Waiting | Rejected | None:
        return await existing.find_obstacle(call_id, _load_object(arguments))

    async def make_call(context: ToolContext[Any], arguments: str, call_id: CallId) -> CallOutcome:
        raised: list[Exception] = []

        async def run(approved: dict[str, Any]) -> Any:
            try:
                return await raising.on_invoke_tool(context, json.dumps(approved))
            except Exception as error:
                raised.append(error)
                raise

        try:
            return await existing.make_call(call_id, _load_object(arguments), run)
        except Exception as error:
            # Errors of the guard itself are not for the tool's own error function.
            message = await _explain_failure(tool, context, error) if error in raised else None
            if message is None:
                raise
            return Rejected(message)

    members = {each.name: getattr(tool, each.name) for each in fields(FunctionTool) if each.init}
    return _build_tool(members, find_obstacle, make_call)


async def _explain_failure(tool: FunctionTool, context: ToolContext[Any], error: Exception) -> str | None:
    """Return the text of the tool's own error function, or None if it has none."""
    arguments: Any = {"function_tool": tool, "context": context, "error": error}
    return await maybe_invoke_function_tool_failure_error_function(**arguments)


def _build_tool(members: Mapping[str, Any], find_obstacle: FindObstacle, make_call: MakeCall) -> GuardedFunctionTool:
    """Return the tool of the SDK. A call with invalid arguments is not held up: the model reads the error."""

    async def obstacle(context: RunContextWrapper[Any], arguments: str, tool_call_id: str) -> Waiting | Rejected | None:
        try:
            return await find_obstacle(arguments, _find_call_id(context, tool_call_id))
        except _InvalidArguments:
            return None

    async def needs_approval(context: RunContextWrapper[Any], arguments: dict[str, Any], tool_call_id: str) -> bool:
        return isinstance(await obstacle(context, json.dumps(arguments), tool_call_id), Waiting)

    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        try:
            outcome = await make_call(context, arguments, _find_call_id(context, context.tool_call_id))
        except _InvalidArguments as error:
            return f"The call was not made, because its arguments are invalid: {error}"
        if isinstance(outcome, Waiting):
            raise _not_approved_in_ledger(outcome)
        return outcome.message if isinstance(outcome, Rejected) else outcome.value

    guards: dict[str, Any] = {"on_invoke_tool": invoke, "needs_approval": needs_approval, "obstacle": obstacle}
    return GuardedFunctionTool(**{**members, **guards})


_RUN_KEY: Final = "emitter.run"


def _find_call_id(context: RunContextWrapper[Any], tool_call_id: str) -> CallId:
    """Return the id of a call. The SDK itself refuses a run whose model uses the id of a call again for another one.

    A run has no id that its saved state keeps. So one is made with its first guarded call, and kept in the approvals of
    the state, as that of a tool that does not exist.
    """
    approvals = context._approvals  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  has no public name
    record = approvals.setdefault(_RUN_KEY, _ApprovalRecord(approved=[generate_id()]))
    run_ids = record.approved
    run_id = run_ids[0] if isinstance(run_ids, list) and run_ids else None
    return make_call_id(("openai-agents",), run_id, tool_call_id)


async def apply_answers(state: RunState[Any, Any]) -> None:
    """Approve and reject the interruptions of a run as the ledger says. Calls that wait stay as they are.

    A call that was not approved is rejected with the person's words. Interruptions of other tools are left to you.

    Args:
        state: The state of an interrupted run, from ``result.to_state()`` or ``RunState.from_string``.
    """
    context = state._context  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  has no public name
    for item in state.get_interruptions():
        tool = next((each for each in item.agent.tools if each.name == item.tool_name), None)
        if not isinstance(tool, GuardedFunctionTool) or item.call_id is None or context is None:
            continue
        match await tool.obstacle(context, item.arguments or "", item.call_id):
            case None:
                state.approve(item)
            case Rejected(message=message):
                state.reject(item, rejection_message=message)
            case Waiting():
                pass


async def save_state(store: Store, run_id: str, state: RunState[Any, Any]) -> None:
    """Save the state of an interrupted run in a store, in place of the state that was saved before.

    A process that is killed leaves either the old state or the new one. One process at a time may run an agent under an
    id.

    Args:
        store: Where to save it, such as the store of the authority. It then holds the conversation.
        run_id: An id of yours for the run.
        state: ``result.to_state()``.
    """
    text = state.to_string()

    def save() -> None:
        latest = _find_latest(store, run_id)
        version, slot = (latest.version + 1, 1 - latest.slot) if latest else (0, 0)
        store.forget(_state_id(run_id), str(slot))
        entry = Entry("openai-agents.run-state", {"version": version}, {"state": text})
        store.get_or_create(_state_id(run_id), str(slot), lambda: NewEntry(entry))

    await run_blocking(save)


async def load_state(store: Store, run_id: str, agent: Agent[Any], **options: Any) -> RunState[Any, Agent[Any]] | None:
    """Return the state that was saved last under an id, or None.

    Args:
        store: Where it was saved.
        run_id: The id of the run.
        agent: The agent with which the run began, with the same tools.
        options: Those of ``RunState.from_string``, such as ``context_override``.
    """
    latest = await run_blocking(_find_latest, store, run_id)
    return None if latest is None else await RunState.from_string(agent, latest.state, **options)


def delete_state(store: Store, run_id: str) -> None:
    """Delete the saved state of a run that you no longer need. Its decisions and receipts stay."""
    for slot in _SLOTS:
        store.forget(_state_id(run_id), str(slot))


_SLOTS: Final = (0, 1)
"""A state is written to one slot while the other slot still has the previous state."""


class _SavedState(NamedTuple):
    """A saved state, with the number of saves before it and its slot."""

    version: int
    slot: int
    state: str


def _state_id(run_id: str) -> str:
    return f"emitter.openai-agents.{run_id}"


def _find_latest(store: Store, run_id: str) -> _SavedState | None:
    entries = ((slot, store.find(_state_id(run_id), str(slot))) for slot in _SLOTS)
    return max((_read_state(slot, entry) for slot, entry in entries if entry is not None), default=None)


def _read_state(slot: int, entry: Entry) -> _SavedState:
    match entry.outcome.get("version"), entry.envelope.get("state"):
        case int(version), str(state):
            return _SavedState(version, slot, state)
        case _:
            raise StoreAltered("The saved state is not what was written.")


class _InvalidArguments(Exception):
    """The model's arguments do not fit the tool's parameters."""


def _bind(schema: FuncSchema, context: RunContextWrapper[Any] | None, arguments: str) -> dict[str, Any]:
    try:
        parsed = schema.params_pydantic_model.model_validate_json(arguments or "{}")
    except ValidationError as error:
        raise _InvalidArguments(str(error)) from None
    args, kwargs = schema.to_call_args(parsed)
    return schema.signature.bind(*([context] if schema.takes_context else []), *args, **kwargs).arguments


def _load_object(arguments: str) -> dict[str, Any]:
    try:
        parsed = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise _InvalidArguments(str(error)) from None
    if not isinstance(parsed, dict):
        raise _InvalidArguments("they are not a JSON object")
    return cast("dict[str, Any]", parsed)


def _not_approved_in_ledger(waiting: Waiting) -> ApprovalPending:
    return ApprovalPending(
        f"The call was approved in the run's state, but decision {waiting.pending.decision_id} is still open.",
        decision_id=waiting.pending.decision_id,
        call_id=waiting.call_id,
        hint="Resolve the decision in the ledger, and pass the state of the interrupted run to apply_answers().",
    )
