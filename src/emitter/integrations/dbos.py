"""Emissions, decisions and guarded acts as steps of DBOS workflows. Needs the extra ``dbos``.

DBOS replays the results of steps that ended, and runs a step again that a crash interrupted. These functions make that
second run harmless: an emission is claimed in a store before it is sent, a decision is in the ledger under the id of
its step, and a guarded act is done once under that id.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from emitter.arguments import check_type
from emitter.authority import GuardedTool
from emitter.authority.context import checking_caller
from emitter.bulk import Job, aemit_many
from emitter.decisions.ledger import Ledger, ResolvedDecision
from emitter.decisions.ledger_waiting import Waiters
from emitter.errors import (
    AlreadyResolved,
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
from emitter.threads import run_blocking

try:
    DBOS: Any = import_module("dbos").DBOS
    _WorkflowCancelled: Any = import_module("dbos").error.DBOSWorkflowCancelledError
except ImportError as error:
    raise MissingExtra("DBOS is not installed.", hint="Run: pip install 'llm-emitter[dbos]'") from error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence

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
    workflow and the number of the step, so a resumed workflow waits for the same decision. If the workflow is cancelled
    or reaches its timeout, the decision is withdrawn.

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
        async with _watching_workflow(ledger, partial(_withdraw, ledger, key)) as workflow:
            await ledger.outages.outlast(open_decision, poll)
            if not isinstance(await workflow.wait(ledger, key, poll), ResolvedDecision):
                raise DecisionExpired(f"The decision {key} expired or was withdrawn without an answer.")
        return key

    decision_id = await _run_step("emitter.ask", wait)
    resolved = await ledger.outages.outlast(partial(ledger.find, decision_id), poll)
    return cast("ResolvedDecision", resolved)


async def act(tool: GuardedTool[..., Any], /, *args: Any, poll: float = _POLL, **arguments: Any) -> Any:
    """Call a guarded tool as a step: wait for its approval, make the call once, and return its result.

    If the workflow is cancelled, reaches its timeout or ends otherwise before the call begins, the call is not made:
    its question is withdrawn, or its approval revoked.

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
        async with _watching_workflow(tool.ledger, partial(tool.call_off, key, *args, **arguments)) as workflow:
            while True:
                try:
                    with checking_caller(workflow.check):
                        return await _make_call(partial(tool.call, key, *args, **arguments))
                except StoreFailed as error:  # the call goes on from where it was left, and is not made twice
                    delay = await tool.ledger.outages.pause(error, delay)
                except ApprovalPending as waiting:
                    await workflow.wait(tool.ledger, waiting.decision_id, poll)
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


_WAITING: Final[Counter[str]] = Counter()
"""The workflows whose steps wait here, with the number of those steps."""
_ACTIVE: Final = ("PENDING", "ENQUEUED", "DELAYED")
"""The states of workflows that go on. One in another state makes no further call."""


def _list_active() -> tuple[str, ...]:
    """Return which of the waiting workflows go on. Their steps share one look at the workflows' database."""
    if not _WAITING:
        return ()
    options = {"workflow_ids": [*_WAITING], "status": [*_ACTIVE], "load_input": False, "load_output": False}
    # In a context of its own: in that of a workflow, DBOS would record the query as a step.
    try:
        found = Context().run(partial(DBOS.list_workflows, **options))
    except Exception as error:
        raise StoreFailed("The workflows of DBOS cannot be read.") from error
    return tuple(each.workflow_id for each in found if not _is_overdue(each))


def _is_overdue(status: Any) -> bool:
    """Return whether a workflow has passed its deadline. DBOS cancels it a moment later."""
    deadline = status.workflow_deadline_epoch_ms
    return deadline is not None and time.time() * 1000 >= deadline


_ENDS: Final = Waiters(_list_active)
_CLEANUPS: Final[set[asyncio.Task[None]]] = set()


class _Workflow:
    """The workflow of a step, which may be cancelled, time out or end while the step waits for a person."""

    def __init__(self, workflow_id: str, withdraw: Callable[[], Awaitable[object]]) -> None:
        self._id = workflow_id
        self.withdraw = withdraw

    def check(self) -> None:
        """Raise an exception that DBOS does not keep as the step's result if the workflow has ended."""
        if self._id not in _list_active():
            raise _WorkflowCancelled(f"Workflow {self._id} was cancelled or has ended. The step does nothing more.")

    async def wait(self, ledger: Ledger, decision_id: str, poll: float) -> Any:
        """Wait until a decision is closed, and return it. If the workflow ends before, raise what ``check`` raises."""
        answer = asyncio.ensure_future(ledger.wait(decision_id, poll=poll))
        end = asyncio.ensure_future(self.wait_for_end(poll))
        try:
            await asyncio.wait([answer, end], return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                end.result()
                await run_blocking(self.check)
            return await answer
        finally:
            for task in (answer, end):
                task.cancel()
            await asyncio.gather(answer, end, return_exceptions=True)

    async def wait_for_end(self, poll: float) -> None:
        """Wait until the workflow has ended."""
        await _ENDS.wait(self._id, poll)

    async def withdraw_at_end(self) -> None:
        """Withdraw what a step asked that was cancelled in its workflow, unless the workflow repeats the step."""
        _WAITING[self._id] += 1
        try:
            await self.wait_for_end(_POLL)
            await self.withdraw()
        finally:
            _forget(self._id)


@asynccontextmanager
async def _watching_workflow(ledger: Ledger, withdraw: Callable[[], object]) -> AsyncGenerator[_Workflow]:
    """Watch the workflow of a step, and withdraw what the step asked once nobody repeats it."""
    workflow_id = DBOS.workflow_id
    workflow = _Workflow(workflow_id, partial(ledger.outages.outlast, withdraw, _POLL))
    _WAITING[workflow_id] += 1
    try:
        yield workflow
    except _WorkflowCancelled:
        await workflow.withdraw()
        raise
    except asyncio.CancelledError:
        # By a time limit within the workflow, or with the process, after which the workflow is resumed and asks again.
        task = asyncio.create_task(workflow.withdraw_at_end())
        _CLEANUPS.add(task)
        task.add_done_callback(_CLEANUPS.discard)
        raise
    finally:
        _forget(workflow_id)


def _forget(workflow_id: str) -> None:
    _WAITING[workflow_id] -= 1
    if not _WAITING[workflow_id]:
        del _WAITING[workflow_id]


def _withdraw(ledger: Ledger, decision_id: str) -> None:
    with suppress(AlreadyResolved):
        ledger.withdraw(decision_id, channel="dbos")


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
