"""Workflows of DBOS in a process of its own, which is killed and started again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from dbos import DBOS, SetWorkflowID

from emitter.authority import Authority
from emitter.decisions.ledger import Ledger
from emitter.errors import AlreadyUsed
from emitter.integrations.dbos import act, aemit, ask
from emitter.stores import SqliteStore
from emitter.testing.sample_moments import ORDINARY_MOMENTS
from tests.bulk.asking import MODEL, Numbered, task

FOLDER = Path(sys.argv[1]) if __name__ == "__main__" else Path()


def opened() -> SqliteStore:
    """Return the store of the library."""
    return SqliteStore(FOLDER / "store.db")


@DBOS.workflow()
async def count(start: int) -> int:
    """Emit three numbers, one after the other."""
    with opened() as store:
        return sum(
            [
                (await aemit(Numbered, task(n), model=MODEL, store=store, lease=1)).value.n
                for n in range(start, start + 3)
            ]
        )


def pay(to: str) -> str:
    """Pay somebody."""
    with (FOLDER / "paid").open("a") as file:
        file.write(f"{to}\n")
    return f"paid {to}"


@DBOS.workflow()
async def decide(agent: str) -> list[str]:
    """Ask, and act on the answer, which asks for approval of the act."""
    with opened() as store:
        answer = await ask(next(iter(ORDINARY_MOMENTS.values())), agent=agent, ledger=Ledger(store), poll=0.05)
        authority = Authority(store, actor="bookkeeper")
        done = await act(
            authority.guard(pay, target=lambda call: call["to"], workflow_id="payments"), "plumber", poll=0.05
        )
        return [type(answer.resolution).__name__, done]


def pay_and_die(to: str) -> str:
    """Pay somebody, and end the process at the first time."""
    done = pay(to)
    os.kill(os.getpid(), signal.SIGKILL)
    return done


@DBOS.workflow()
async def die(to: str) -> str:
    """Act, in a process that dies amid it."""
    with opened() as store:
        tool = Authority(store, actor="bookkeeper").guard(
            pay_and_die, target=lambda call: call["to"], workflow_id="pay"
        )
        try:
            return f"paid: {await act(tool, to, poll=0.05)}"
        except AlreadyUsed:
            return "AlreadyUsed"


async def main(flow: str, key: str, argument: str) -> None:
    """Start the workflow, or wait for the one that DBOS recovers."""
    DBOS.launch()
    if flow == "fork":
        handle: Any = await DBOS.fork_workflow_async("count-1", int(argument))
        print("result", await handle.get_result(), flush=True)  # noqa: T201
        return
    with SetWorkflowID(key):
        function, value = {"count": (count, int), "decide": (decide, eval), "die": (die, eval)}[flow]
        handle = await DBOS.start_workflow_async(function, value(argument))
    print("result", await handle.get_result(), flush=True)  # noqa: T201


if __name__ == "__main__":
    DBOS(
        config={"name": "emitter-tests", "system_database_url": f"sqlite:///{FOLDER / 'dbos.db'}", "log_level": "ERROR"}
    )
    asyncio.run(main(*sys.argv[2:]))
