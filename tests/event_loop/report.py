"""Print how long an event loop stands still while its tasks use a store that is far away.

``python -m tests.event_loop.report`` runs each async function many times at once over a store that takes 100
milliseconds for each call. It ends with 1 if the loop itself called the store, or if a task computed for 20
milliseconds or more without giving way.

The longest stall is the time in which the loop did not come round. All tasks begin in the same moment, so it has what
all of them compute, in this library, in the SDK and in its HTTP client; on a busy machine, it has the time of other
processes, too.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from emitter import aemit, aemit_many
from emitter.authority import Authority
from emitter.bulk.journal import JsonlFile
from emitter.decisions import select_option
from emitter.decisions.ledger import Ledger
from emitter.host import Acceptor, HostConfig
from emitter.testing import simulator
from emitter.testing.sample_moments import VALID_MOMENT
from tests.authority.execution.making import granted, work
from tests.event_loop.watching import Stall, Watch, WatchedStore, stalls
from tests.event_loop.ways import MODEL, Invoice, answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from emitter.testing import Simulator

_LIMIT = 0.020


class Measured:
    """The functions, each for one of many tasks."""

    def __init__(self, vendor: Simulator, folder: Path, tasks: int, watch: Watch) -> None:
        self.folder, self.tasks, self.watch = folder, tasks, watch
        self.store = WatchedStore(watch, folder)
        self.client = vendor.client(MODEL, asynchronous=True)
        self.host = Acceptor(HostConfig(), store=self.store)
        self.authority = Authority(self.store)
        self.confirms: list[str] = []

    @property
    def functions(self) -> dict[str, Callable[[], Awaitable[object]]]:
        """The functions by name."""
        return {
            "aemit with a host": partial(self._at_once, self._emit),
            "aemit_many with a host and a journal": partial(self._many, journal=self.folder / "run.jsonl"),
            "aemit_many with a host and a store": partial(self._many, store=self.store),
            "Authority.aexecute": partial(self._at_once, self._execute),
            "a guarded tool": partial(self._at_once, self._guard),
            "Ledger.aopen and aresolve": partial(self._at_once, self._resolve),
        }

    async def _at_once(self, function: Callable[[int], Awaitable[object]]) -> None:
        await asyncio.gather(*map(function, range(self.tasks)))

    async def _emit(self, number: int) -> None:
        await aemit(Invoice, "From Acme.", model=MODEL, client=self.client, host=self.host, run_id=f"r{number}")

    async def _many(self, **options: Any) -> None:
        inputs = [f"From Acme {number}." for number in range(self.tasks)]
        options |= {"model": MODEL, "client": self.client, "host": self.host, "in_flight": self.tasks}
        await aemit_many(Invoice, inputs, progress=False, **options).results()

    async def warm_up(self) -> None:
        """Load what the first call loads."""
        delay, self.watch.delay = self.watch.delay, 0.0
        await self._emit(-1)
        await self._guard(-1)
        await self._resolve(-1)
        await self._execute(-1)
        await self._many()
        self.watch.delay = delay

    def prepare(self) -> None:
        """Grant what is executed."""
        names = (f"w{number}" for number in (*range(self.tasks), -1))
        self.confirms = [granted(self.authority, scope={"workflow_id": name}).confirm_id for name in names]

    async def _execute(self, number: int) -> None:
        await self.authority.aexecute(self.confirms[number], work(_request(number), self._tool))

    async def _tool(self) -> str:
        await asyncio.sleep(0)
        return "done"

    async def _guard(self, number: int) -> None:
        async def send(to: str) -> str:
            return to

        async def ask(pending: Any) -> Any:
            await asyncio.sleep(0)
            return select_option(pending.moment, 0)

        await self.authority.guard(send, ask=ask, workflow_id=f"g{number}")(f"mom {number}")

    async def _resolve(self, number: int) -> None:
        ledger = Ledger(self.store)
        pending = await ledger.aopen(VALID_MOMENT, decision_id=f"d{number}")
        await ledger.aresolve(pending.decision_id, select_option(pending.moment, 0))


def _request(number: int) -> Any:
    from tests.authority.execution.making import act  # noqa: PLC0415

    return act(f"i{number}", workflow_id=f"w{number}")


class Figures(NamedTuple):
    """What was measured of a function."""

    name: str
    seconds: float
    calls: int
    stall: Stall


async def measure(measured: Measured) -> list[Figures]:
    """Return the figures of each function."""
    found: list[Figures] = []
    await measured.warm_up()
    for name, function in measured.functions.items():
        gc.collect()
        gc.freeze()  # a collection of the objects of the earlier functions would count as a stall of this one
        before, started = len(measured.watch.calls), time.perf_counter()
        with stalls() as longest:
            await asyncio.sleep(0.05)
            await function()
        await asyncio.sleep(0)
        found.append(Figures(name, time.perf_counter() - started, len(measured.watch.calls) - before, longest[0]))
    await measured.client.close()
    return found


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.event_loop.report", description=__doc__)
    parser.add_argument("--tasks", type=int, default=50, help="tasks at once (default: %(default)s)")
    parser.add_argument("--delay", type=float, default=0.1, help="seconds of a call (default: %(default)s)")
    chosen = parser.parse_args()
    watch = Watch()
    for name in ("append", "read_at"):
        setattr(JsonlFile, name, watch.around(name, getattr(JsonlFile, name)))
    with simulator(answers=answer) as vendor, tempfile.TemporaryDirectory() as folder:
        measured = Measured(vendor, Path(folder), chosen.tasks, watch)
        measured.prepare()
        watch.delay = chosen.delay
        figures = asyncio.run(measure(measured))
    sys.stdout.write(f"{chosen.tasks} tasks at once, a store and a journal of {chosen.delay * 1000:.0f} ms\n")
    sys.stdout.write(f"{'':40}{'seconds':>9}{'calls':>8}{'longest stall':>15}{'computed':>12}{'one task':>12}\n")
    for each in figures:
        stall = f"{each.stall.waited * 1000:>12.1f} ms{each.stall.computed * 1000:>9.1f} ms"
        stall += f"{each.stall.step * 1000:>9.1f} ms"
        sys.stdout.write(f"{each.name:40}{each.seconds:>9.2f}{each.calls:>8}{stall}\n")
    sys.stdout.write(f"calls in the event loop's thread: {len(watch.in_loop)}\n")
    return int(bool(watch.in_loop) or any(each.stall.step >= _LIMIT for each in figures))


if __name__ == "__main__":
    sys.exit(main())
