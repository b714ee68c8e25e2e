"""Shared by the integrations: make a tool call through its guarded tool, and phrase the answer for the agent."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from emitter.authority.context import checking_caller
from emitter.decisions import Act, Hold, Incorporate, Reopen
from emitter.decisions.ledger_entries import PendingDecision, UnreadableAnswer, pending_of
from emitter.decisions.resolution import ResolutionOutcome
from emitter.errors import (
    AlreadyResolved,
    AlreadyUsed,
    ApprovalPending,
    AuthorityError,
    CallerGone,
    ConfirmExpired,
    ConfirmRevoked,
    InputError,
    NotApproved,
    OtherCall,
    StoreFailed,
    Unfinished,
    UnknownDecision,
    WorkflowStopped,
)
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from emitter.authority import Authority, GuardedTool, GuardOptions
    from emitter.authority.guard.call_ids import CallId
    from emitter.decisions.ledger import Ledger
    from emitter.decisions.ledger_entries import ResolvedDecision
    from emitter.messages import Json

_NOTHING_DONE: Final = "The call was not approved, and nothing was done."
_NO_REPEAT: Final = "Do not make the same call again."


@dataclass(frozen=True, slots=True)
class Returned:
    """The call was approved and made, now or earlier, and its tool returned ``value``."""

    value: Any


@dataclass(frozen=True, slots=True)
class Waiting:
    """The call waits for the decision of its principal."""

    tool: str
    call_id: str
    pending: PendingDecision
    ledger: Ledger
    """The ledger in which the decision is resolved or withdrawn."""

    def to_json(self) -> dict[str, Json]:
        """Return what a client needs to show the decision. Nothing in it can approve the call."""
        return {
            "type": "binding_moment",
            "tool": self.tool,
            "call_id": self.call_id,
            "decision_id": self.pending.decision_id,
            "digest": self.pending.digest,
            "binding_moment": self.pending.moment.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Rejected:
    """The call was not made. The agent reads ``message``."""

    message: str


CallOutcome: TypeAlias = Returned | Waiting | Rejected


def get_function(tool: GuardedTool[..., Any]) -> Callable[..., Any]:
    """Return the function inside a guarded tool, from which a framework reads parameters and documentation."""
    function: Callable[..., Any] = tool.__dict__["__wrapped__"]
    return function


def choose_id(tool: GuardedTool[..., Any], call_id: CallId | str, arguments: Mapping[str, Any]) -> str:
    """Return the id under which a call is made. A string is an id of the application's own."""
    if isinstance(call_id, str):
        return call_id
    return tool.call_ids.choose(call_id, lambda earlier: tool.continues(earlier, **arguments))


def make_call(tool: GuardedTool[..., Any], call_id: CallId | str, arguments: Mapping[str, Any]) -> CallOutcome:
    """Make a call if it is approved, or say why it is not made."""
    chosen = choose_id(tool, call_id, arguments)
    try:
        return Returned(tool.call(chosen, **arguments))
    except AuthorityError as error:
        return _explain_error(tool, chosen, error)


async def amake_call(
    tool: GuardedTool[..., Any], call_id: CallId | str, arguments: Mapping[str, Any], *context: Any
) -> CallOutcome:
    """Make a call of a sync or async tool. A sync tool runs in a thread.

    If this task is cancelled, a call in the thread that has not begun does not begin any more.
    """
    chosen = await run_blocking(choose_id, tool, call_id, arguments)
    caller = _Caller()
    try:
        with checking_caller(caller.check):
            value: Any = await asyncio.to_thread(tool.call, chosen, *context, **arguments)
            return Returned(await value if inspect.isawaitable(value) else value)
    except asyncio.CancelledError:
        caller.is_gone = True
        raise
    except AuthorityError as error:
        return await run_blocking(_explain_error, tool, chosen, error)


@dataclass(slots=True)
class _Caller:
    """The task that waits for a call."""

    is_gone: bool = False

    def check(self) -> None:
        """Raise ``CallerGone`` if the task was cancelled."""
        if self.is_gone:
            raise CallerGone("The call was cancelled before it began. Nothing was done.")


def withdraw_questions(ledger: Ledger, decision_ids: Iterable[str]) -> None:
    """Withdraw decisions that nobody acts on any more. Those that were answered stay as they are."""
    for decision_id in decision_ids:
        with suppress(AlreadyResolved, UnknownDecision, StoreFailed):
            ledger.withdraw(decision_id)


async def apropose(
    tool: GuardedTool[..., Any], call_id: CallId | str, arguments: Mapping[str, Any]
) -> Waiting | Rejected | None:
    """Open the decision about a call, and return why the call cannot be made now, or None if it may be tried.

    A tool that asks its principal itself may always be tried.
    """
    if tool.asks:
        return None
    chosen = await run_blocking(choose_id, tool, call_id, arguments)
    try:
        proposed: Any = await asyncio.to_thread(tool.propose, chosen, **arguments)
        decision = await proposed if inspect.isawaitable(proposed) else proposed
    except AuthorityError as error:
        return await run_blocking(_explain_error, tool, chosen, error)
    if isinstance(decision, PendingDecision) and not decision.expiry_recorded:
        return Waiting(tool.name, chosen, decision, tool.ledger)
    return None if is_approved(decision) else Rejected(explain_answer(decision))


def _explain_error(tool: GuardedTool[..., Any], call_id: str, error: AuthorityError) -> Waiting | Rejected:
    match error:
        case ApprovalPending() if error.call_id != call_id:
            raise error  # the tool itself made another guarded call
        case ApprovalPending():
            decision = tool.ledger.find(error.decision_id)
            return Waiting(tool.name, call_id, pending_of(decision), tool.ledger)
        case NotApproved() if error.decision_id:
            return Rejected(explain_answer(tool.ledger.find(error.decision_id)))
        case _:
            return Rejected(_explain_to_agent(error))


_ASK_AGAIN: Final = "If the call is still needed, make it again as a new tool call: the person is then asked again."


_EXPLANATIONS: Final[Mapping[type[AuthorityError], str]] = {
    ConfirmExpired: f"The person's approval expired before the call was made, and nothing was done. {_ASK_AGAIN}",
    ConfirmRevoked: f"The approval of this call was taken back, and nothing was done. {_NO_REPEAT}",
    WorkflowStopped: f"This work was stopped, and nothing was done. {_NO_REPEAT}",
    Unfinished: (
        "This call began before, and it is not known whether it took effect. It was not made again. "
        f"{_NO_REPEAT} Say that a person has to find out what happened."
    ),
}
"""The texts of these errors for an agent. Their own messages are for programmers."""


def _explain_to_agent(error: AuthorityError) -> str:
    """Return what an agent reads of an error. Hints are for programmers."""
    reason = Exception.__str__(error)
    match error:
        case OtherCall():
            name = error.pointer.removeprefix("/parameters/")
            changed = "" if name == error.pointer else f" Its argument {name!r} was another one."
            return f"{reason}{changed} Nothing was done. {_ASK_AGAIN}"
        case AlreadyUsed(is_done=True):
            return f"This call was made before, and succeeded. Its result was not kept. {_NO_REPEAT}"
        case AlreadyUsed():
            return f"{reason} {_ASK_AGAIN}"
        case _:
            return _EXPLANATIONS.get(type(error)) or f"{reason} The call was not made."


def explain_answer(decision: PendingDecision | ResolvedDecision) -> str:
    """Return what an agent reads about a call that its principal did not approve, with the principal's words."""
    if isinstance(decision, PendingDecision):
        return f"{_NOTHING_DONE} Nobody answered while the question was open."
    if isinstance(decision.resolution, UnreadableAnswer):
        forbidden = "" if decision.resolution.outcome is ResolutionOutcome.FREE_TEXT else f" {_NO_REPEAT}"
        return f"{_NOTHING_DONE} The person's words cannot be read here: ask them.{forbidden}"
    match decision.continuation:
        case Act(option=option):
            return f"{_NOTHING_DONE} The person chose: {option.label}"
        case Incorporate(answer=answer):
            return f"{_NOTHING_DONE} The person answered: {answer}"
        case Reopen(objection=objection):
            return f"{_NOTHING_DONE} The person refused the question: {objection or 'no reason given'}\n{_NO_REPEAT}"
        case Hold():
            return f"{_NOTHING_DONE} Nobody decided."


def is_approved(decision: PendingDecision | ResolvedDecision) -> bool:
    """Return whether the principal chose the option that makes the call. Only the guarded tool itself acts on it."""
    return not isinstance(decision, PendingDecision) and decision.action is not None


RunTool: TypeAlias = Callable[["dict[str, Any]"], Awaitable[Any]]
"""Runs a framework's tool with the approved arguments, in the context that the framework gave it."""


@dataclass(frozen=True, slots=True)
class ExistingTool:
    """A tool that its framework runs, guarded by its name. ``guard_existing`` makes one."""

    guarded: GuardedTool[..., Any]
    parameters: frozenset[str]

    async def make_call(self, call_id: CallId | str, arguments: Mapping[str, Any], run: RunTool) -> CallOutcome:
        """Make a call if it is approved, or say why it is not made."""
        return self._find_unknown(arguments) or await amake_call(self.guarded, call_id, arguments, run)

    async def find_obstacle(self, call_id: CallId | str, arguments: Mapping[str, Any]) -> Waiting | Rejected | None:
        """Open the decision about a call, and return why it cannot be made now, or None."""
        return self._find_unknown(arguments) or await apropose(self.guarded, call_id, arguments)

    def _find_unknown(self, arguments: Mapping[str, Any]) -> Rejected | None:
        unknown = sorted(arguments.keys() - self.parameters)
        if not unknown:
            return None
        return Rejected(f"The call was not made: {self.guarded.name} has no parameter {unknown[0]!r}.")


def guard_existing(  # noqa: PLR0913  what a tool is
    authority: Authority,
    options: GuardOptions,
    *,
    name: str,
    description: str,
    parameters: Collection[str],
    implementation: object,
) -> ExistingTool:
    """Guard a tool that its framework runs.

    Args:
        authority: Approves the calls and keeps the receipts.
        options: The options of ``Authority.guard``.
        name: The tool's name.
        description: Its first line is shown to the principal.
        parameters: The names of its arguments.
        implementation: The function behind the tool, or the tool itself. An approval binds its module and name.
    """

    async def run_tool(run: RunTool | None = None, /, **arguments: Any) -> Any:
        if run is None:
            raise InputError(f"{name} can only be called by its agent framework.")
        return await run(arguments)

    named = implementation if hasattr(implementation, "__qualname__") else type(implementation)
    run_tool.__module__, run_tool.__qualname__ = named.__module__, str(getattr(named, "__qualname__"))  # noqa: B009
    run_tool.__doc__ = description
    # "run" is the framework's function, not an argument of the model, so it is no part of what is approved.
    settings = {**options, "name": name, "parameters": parameters, "exclude": [*options.get("exclude", ()), "run"]}
    return ExistingTool(authority.guard(run_tool, **cast("GuardOptions", settings)), frozenset(parameters))


@dataclass(frozen=True, slots=True)
class NamedTools:
    """The guarded tools of an agent, by their names, with the options of each."""

    authority: Authority
    options: Mapping[str, GuardOptions]
    _guarded: dict[tuple[str, ...], ExistingTool] = field(default_factory=dict[tuple[str, ...], ExistingTool])

    def check_present(self, names: Collection[str]) -> None:
        """Raise ``InputError`` if there is no tool with a name, so that a typo leaves no tool unguarded."""
        missing = sorted(self.options.keys() - set(names))
        if missing:
            raise InputError(
                f"There is no tool {missing[0]!r} to guard.", hint=f"The tools are {', '.join(sorted(names))}."
            )

    def guard(
        self, name: str, *, description: str, parameters: Collection[str], implementation: object
    ) -> ExistingTool:
        """Return a tool, guarded once as long as its parameters stay the same."""
        key = (name, *sorted(parameters))
        if key not in self._guarded:
            existing = guard_existing(
                self.authority,
                self.options[name],
                name=name,
                description=description,
                parameters=parameters,
                implementation=implementation,
            )
            self._guarded.setdefault(key, existing)
        return self._guarded[key]
