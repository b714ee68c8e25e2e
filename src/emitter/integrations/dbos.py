"""Emissions, decisions and guarded acts as steps of DBOS workflows. Needs the extra ``dbos``.

DBOS replays the results of steps that ended, and runs a step again that a crash interrupted. These functions make that
second run harmless: an emission is claimed in a store before it is sent, a decision is in the ledger under the id of
its step, and a guarded act is done once under that id.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from emitter.arguments import check_type
from emitter.authority import GuardedTool
from emitter.bulk import Job, aemit_many
from emitter.decisions.ledger import Ledger, ResolvedDecision
from emitter.errors import (
    AlreadyUsed,
    ApprovalPending,
    DecisionExpired,
    InputError,
    MissingExtra,
    StoreFailed,
    Unfinished,
    UnknownOutcome,
)
from emitter.stores import MemoryStore

try:
    DBOS: Any = import_module("dbos").DBOS
except ImportError as error:
    raise MissingExtra("DBOS is not installed.", hint="Run: pip install 'llm-emitter[dbos]'") from error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from emitter.bulk.claims import JobStore
    from emitter.client.result import Emission
    from emitter.conversation import Messages
    from emitter.models import BindingMoment

T = TypeVar("T")

_LOGGER: Final = logging.getLogger("emitter")

_POLL = 1.0
"""Seconds between two queries of the ledger."""


async def aemit(
    form: type[T], messages: Messages, *, model: str, store: JobStore, orphans: str = "list", **options: Any
) -> Emission[T]:
    """Emit a typed object as a step of the current workflow.

    A finished step is replayed by DBOS. A step that was interrupted finds its outcome in the store, if there is one.

    Args:
        form: The type of the object, as for ``emit``. Its module must be importable where the workflow is resumed.
        messages: A prompt or messages.
        model: The provider and model name.
        store: A ``SqlStore`` or ``SqliteStore`` that all workers open, also for the ``rate_limit`` that they share.
        orphans: For an emission that was claimed by a process that died: ``"list"`` raises ``UnknownOutcome``, and
            ``"resend"`` sends it again. DBOS keeps what a step raised: to send a listed one again, fork the workflow
            from its step (``DBOS.fork_workflow``).
        **options: Options of ``aemit_many``, such as ``rate_limit``, ``policy`` and ``lease``.

    Raises:
        UnknownOutcome: The emission was sent by a process that died, and its outcome is unknown.
        EmissionError: As for ``emit``.
    """
    if store is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise InputError("store is None.", hint="Pass a SqlStore or SqliteStore that all workers open.")

    async def send() -> Emission[T]:
        many: Any = aemit_many
        run = many(form, [Job(messages, key=_step_key())], model=model, store=store, orphans=orphans, **options)
        (result,) = await run.results()
        try:
            return cast("Emission[T]", result.result)
        except UnknownOutcome as error:
            error.hint = (
                "Look it up at the vendor. To send it again, fork the workflow: "
                f"DBOS.fork_workflow({DBOS.workflow_id!r}, {DBOS.step_id})."
            )
            raise

    return await _run_step("emitter.emit", send)


async def ask(  # noqa: PLR0913  most have a default
    moment: BindingMoment,
    *,
    ledger: Ledger,
    agent: str = "agent",
    actions: Sequence[str | None] = (),
    expires_in: float | None = None,
    after: Iterable[str] = (),
    poll: float = _POLL,
) -> ResolvedDecision:
    """Open a decision, and wait until it is answered: on the page, by command or by code, in any process.

    The answer is in the ledger alone; the workflow's database keeps the id of the decision. It is the id of the
    workflow and the number of the step, so a resumed workflow waits for the same decision.

    Args:
        moment: The envelope.
        ledger: A ledger on a store that the answering process opens, too.
        agent: The agent that asks.
        actions: For each option, the digest of what it does, or None.
        expires_in: For how many seconds the decision is open, or None.
        after: Ids of refused decisions whose objection this envelope takes up: see ``Ledger.open``.
        poll: Seconds between two queries of the ledger.

    Raises:
        DecisionExpired: Nobody answered in time, or the decision was withdrawn.
        AlreadyResolved: The principal refused this question before.
    """
    check_type("ledger", ledger, Ledger)
    _check_durable("ledger", ledger)

    async def wait() -> str:
        key = _step_key()
        open_decision = partial(
            ledger.open, moment, agent=agent, decision_id=key, expires_in=expires_in, actions=actions, after=after
        )
        await ledger.outages.outlast(open_decision, poll)
        if not isinstance(await ledger.wait(key, poll=poll), ResolvedDecision):
            raise DecisionExpired(f"The decision {key} expired or was withdrawn without an answer.")
        return key

    decision_id = await _run_step("emitter.ask", wait)
    resolved = await ledger.outages.outlast(partial(ledger.find, decision_id), poll)
    return cast("ResolvedDecision", resolved)


async def act(tool: GuardedTool[..., Any], /, *args: Any, poll: float = _POLL, **arguments: Any) -> Any:
    """Call a guarded tool as a step: wait for its approval, make the call once, and return its result.

    If a process died while it made the call, whether it was made is unknown. The step then waits until somebody settles
    it, with ``emitter settle`` or ``Authority.resolve_unfinished``; the logger ``emitter`` has its ids.

    Args:
        tool: The result of ``Authority.guard`` without ``ask``, so that the answer may come from any process.
        *args: The tool's arguments.
        poll: Seconds between two queries of the ledger.
        **arguments: The tool's arguments by name.

    Returns:
        The tool's result, as JSON after a restart; None if the call was made and its result is not known.

    Raises:
        NotApproved: The principal did not approve it.
        AlreadyUsed: The call failed before the restart, as its receipt says.
    """
    check_type("tool", tool, GuardedTool)
    if tool.asks:
        raise InputError("The tool asks its principal itself, in this process.", hint="Guard it without ask=.")
    _check_durable("tool", tool.ledger)

    async def call() -> Any:
        key, is_logged, delay = _step_key(), False, poll
        while True:
            try:
                return await _make_call(partial(tool.call, key, *args, **arguments))
            except StoreFailed as error:  # the call goes on from where it was left, and is not made twice
                delay = await tool.ledger.outages.pause(error, delay)
            except ApprovalPending as waiting:
                await tool.ledger.wait(waiting.decision_id, poll=poll)
            except Unfinished as error:
                if not is_logged:
                    _LOGGER.warning("A workflow waits until a call is settled. %s", error)
                is_logged = True
                await asyncio.sleep(poll)

    return await _run_step("emitter.act", call)


async def _make_call(call: Callable[[], Any]) -> Any:
    """Return the result of a guarded call, or None if it was made before and its result is not known."""
    try:
        result = await asyncio.to_thread(call)
        return await cast("Awaitable[Any]", result) if asyncio.iscoroutine(result) else result
    except AlreadyUsed as error:
        if not error.is_done:
            raise
        return None


def _check_durable(name: str, ledger: Ledger) -> None:
    """Reject a ledger in memory: a resumed workflow would ask again and act again."""
    if isinstance(ledger.store, MemoryStore):
        raise InputError(f"The store of {name} is in memory.", hint="Pass a SqlStore or SqliteStore, which is kept.")


def _step_key() -> str:
    return f"{DBOS.workflow_id}/{DBOS.step_id}"


async def _run_step(name: str, step: Callable[[], Awaitable[T]]) -> T:
    if DBOS.workflow_id is None:
        raise InputError("There is no DBOS workflow.", hint="Call this in a function with @DBOS.workflow().")
    return cast("T", await DBOS.run_step_async({"name": name}, step))
