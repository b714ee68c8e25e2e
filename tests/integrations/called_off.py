"""Calls that are called off before or after their answer: acts that were made, and what became of the question.

``python -m tests.integrations.called_off`` prints the table.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbos import DBOS, SetWorkflowID, SetWorkflowTimeout

from emitter.answers import AnswerRecorder
from emitter.authority import Authority
from emitter.decisions import select_option
from emitter.decisions.ledger_entries import pending_of
from emitter.decisions.principals import Principal
from emitter.integrations.dbos import act
from emitter.stores import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

POLL = 0.05


@dataclass
class Trial:
    """One workflow that is called off, and its acts.

    ``call_off`` runs between the answer and the act, if it is set.
    """

    authority: Authority
    paid: list[str] = field(default_factory=list[str])
    call_off: Callable[[], object] | None = None
    decision_id: str = ""

    async def find_open(self) -> str:
        """Wait for the question, and return its id."""
        while not (waiting := self.authority.ledger.pending()):  # noqa: ASYNC110  of the store
            await asyncio.sleep(POLL)
        self.decision_id = waiting[0].decision_id
        return self.decision_id

    async def wait_until_closed(self) -> None:
        """Wait until the question is closed."""
        await asyncio.wait_for(self.authority.ledger.wait(self.decision_id, poll=POLL), 30)

    async def wait_until_revoked(self) -> None:
        """Wait until the approval is revoked."""
        while not any(line["record"]["type"] == "REVOKE" for line in self.authority.lines("payments")):  # noqa: ASYNC110
            await asyncio.sleep(POLL)

    def answer(self) -> str:
        """Approve the call, and return what the person reads."""
        ledger = self.authority.ledger
        pending = pending_of(ledger.find(self.decision_id))
        answers = AnswerRecorder(ledger, "test")
        return answers.record(pending, Principal("ada"), lambda: select_option(pending.moment, 0)).text


TRIALS: dict[str, Trial] = {}


class CallOffBetween:
    """A hook that calls off the call after the answer, right before it would begin."""

    def __init__(self) -> None:
        self.trial: Trial | None = None

    def before_execute(self, _: object) -> None:
        """Call it off, once."""
        assert self.trial is not None
        call_off, self.trial.call_off = self.trial.call_off, None
        if call_off is not None:
            call_off()


def make_trial(folder: Path, name: str) -> Trial:
    """Return a trial with a store of its own."""
    hook = CallOffBetween()
    trial = hook.trial = TRIALS[name] = Trial(Authority(SqliteStore(folder / f"{name}.db"), hooks=[hook]))
    return trial


def make_tool(name: str) -> Any:
    """Return the guarded tool of a trial."""
    trial = TRIALS[name]

    def pay(to: str) -> str:
        """Pay somebody."""
        trial.paid.append(to)
        return f"paid {to}"

    return trial.authority.guard(pay, workflow_id="payments")


@DBOS.workflow()
async def settle(name: str, mode: str) -> str:
    """Act once it is approved. In the mode "left" the workflow gives up, and in "failed" something else fails."""
    call = act(make_tool(name), "ada", poll=POLL)
    if mode == "left":
        try:
            return str(await asyncio.wait_for(call, 0.5))
        except TimeoutError:
            return "gave up"
    if mode == "failed":
        await asyncio.gather(call, _fail())
    return str(await call)


async def _fail() -> None:
    await asyncio.sleep(0.5)
    raise ValueError


async def cancel(name: str) -> None:
    """Cancel the workflow."""
    await DBOS.cancel_workflow_async(name)


async def nothing(_: str) -> None:
    """Leave it to the workflow."""


DBOS_EVENTS: dict[str, tuple[str, float | None, Callable[[str], Awaitable[None]]]] = {
    "cancelled": ("", None, cancel),
    "timed out": ("", 0.5, nothing),
    "gave up within the workflow": ("left", None, nothing),
    "failed elsewhere": ("failed", None, nothing),
}


async def run_dbos(folder: Path, event: str, moment: str) -> dict[str, Any]:
    """Call off a DBOS workflow before or after the answer."""
    name = f"{event}-{moment}".replace(" ", "-")
    trial, (mode, limit, call_off) = make_trial(folder, name), DBOS_EVENTS[event]
    loop = asyncio.get_running_loop()
    if moment == "after":

        def call_off_now() -> None:
            asyncio.run_coroutine_threadsafe(_call_off_and_end(name, call_off), loop).result(30)

        trial.call_off = call_off_now
    with SetWorkflowID(name), SetWorkflowTimeout(limit):
        handle = await DBOS.start_workflow_async(settle, name, mode)
    await trial.find_open()
    if moment == "before":
        await call_off(name)
        await trial.wait_until_closed()
    told = trial.answer()
    await asyncio.wait_for(_ended(name), 30)
    if moment == "after":
        await asyncio.wait_for(trial.wait_until_revoked(), 30)
    del handle
    return {"acts": len(trial.paid), "told": told, "open": len(trial.authority.ledger.pending())}


async def _call_off_and_end(name: str, call_off: Callable[[str], Awaitable[None]]) -> None:
    await call_off(name)
    await _ended(name)


async def _ended(name: str) -> None:
    while (status := await DBOS.get_workflow_status_async(name)) is None or status.status == "PENDING":  # noqa: ASYNC110
        await asyncio.sleep(POLL)


async def main(folder: Path) -> None:
    """Try every event at every moment, and print the results as lines of JSON."""
    url = f"sqlite:///{folder / 'dbos.db'}"
    DBOS(config={"name": "emitter-tests", "system_database_url": url, "log_level": "CRITICAL"})
    DBOS.launch()
    for event in DBOS_EVENTS:
        for moment in ("before", "after"):
            row = {"framework": "DBOS", "event": event, "moment": moment, **await run_dbos(folder, event, moment)}
            print(json.dumps(row), flush=True)  # noqa: T201


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else temporary)))
