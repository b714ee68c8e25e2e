"""Asking the simulated vendor in one of four ways through its own SDK, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tenacity import wait_incrementing

from emitter import (
    EmissionError,
    Policy,
    aemit,
    aemit_binding_moment,
    astream,
    astream_binding_moment,
    emit,
    emit_binding_moment,
    stream,
    stream_binding_moment,
)
from emitter.client import refusals, thinking
from emitter.clock import Clock
from tests.faults.model import Invoice, Lost
from tests.faults.row import FIRST, WIRES, Cell, Row

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from emitter.messages import Usage
    from emitter.streaming import StreamEvent
    from emitter.testing import Simulator
    from emitter.testing.responses import SimulatedCall

SITUATION = "The tests are green and the release branch is cut. Shall we publish?"
FUNCTIONS: dict[tuple[str, str], Any] = {
    ("moment", "sync"): emit_binding_moment,
    ("moment", "async"): aemit_binding_moment,
    ("moment", "stream"): stream_binding_moment,
    ("moment", "astream"): astream_binding_moment,
    ("form", "sync"): emit,
    ("form", "async"): aemit,
    ("form", "stream"): stream,
    ("form", "astream"): astream,
}


class Waits:
    """A clock that runs as clocks do, but notes every wait instead of waiting; the backoff is 1, 2, 3, ... seconds."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def clock(self) -> Clock:
        """Return it as a driver's clock."""

        async def asleep(seconds: float) -> None:
            self.waited.append(seconds)

        return Clock(sleep=self.waited.append, async_sleep=asleep, wait=wait_incrementing(1, 1))


@dataclass(frozen=True)
class Found:
    """What came of a cell: the result or the error, what was reported on the way, the waits, and the server's side."""

    result: Any
    reported: Sequence[StreamEvent]
    waited: Sequence[float]
    calls: Sequence[SimulatedCall]
    billed: Usage


class Asking:
    """One simulator, one client of each SDK and world, and one event loop, for all cells of a module."""

    def __init__(self, vendor: Simulator, runner: asyncio.Runner) -> None:
        self.vendor, self.runner = vendor, runner
        self._clients: dict[tuple[str, bool], object] = {}
        self._retired: list[object] = []

    def client(self, wire: str, *, awaited: bool) -> object:
        """Return the client of a wire's SDK; it is made once."""
        model = WIRES[wire]
        if (model, awaited) not in self._clients:
            self._clients[model, awaited] = self.vendor.client(model, asynchronous=awaited)
        return self._clients[model, awaited]

    def disconnect(self, cell: Cell) -> None:
        """Use new connections. On one that served another call, a lost request would be sent again in silence."""
        client = self._clients.pop((WIRES[cell.wire], cell.awaited), None)
        self._retired.append(client)

    def arguments(self, cell: Cell, policy: Policy, **more: Any) -> dict[str, Any]:
        """Return what every function takes."""
        limited = policy if policy.output_tokens else replace(policy, output_tokens=FIRST)
        client = self.client(cell.wire, awaited=cell.awaited)
        return {"model": WIRES[cell.wire], "wire": cell.wire, "client": client, "policy": limited, **more}

    def opened(self, cell: Cell, arguments: dict[str, Any], situation: str = SITUATION) -> Any:
        """Return the call's value, awaitable or stream."""
        given = (situation,) if cell.asks == "moment" else (Invoice, situation)
        return FUNCTIONS[cell.asks, cell.way](*given, **arguments)

    def outcome(
        self, cell: Cell, arguments: dict[str, Any], situation: str = SITUATION
    ) -> tuple[Any, list[StreamEvent]]:
        """Ask, and read to the end; an emission's error is an outcome, too."""
        if cell.awaited:
            return self.runner.run(self.aoutcome(cell, arguments, situation))
        reported: list[StreamEvent] = []
        try:
            opened = self.opened(cell, arguments, situation)
            if not cell.streamed:
                return opened, reported
            reported.extend(opened)
            return opened.result(), reported
        except EmissionError as error:
            return error, reported

    async def aoutcome(self, cell: Cell, arguments: dict[str, Any], situation: str = SITUATION) -> tuple[Any, Any]:
        """Do as ``outcome`` does, without blocking."""
        reported: list[StreamEvent] = []
        try:
            opened = self.opened(cell, arguments, situation)
            if not cell.streamed:
                return await opened, reported
            async for each in opened:
                reported.append(each)  # noqa: PERF401  what was reported before an error counts
            return await opened.result(), reported
        except EmissionError as error:
            return error, reported

    def ask(self, cell: Cell, row: Row) -> Found:
        """Play a row on a wire in a way."""
        self.vendor.reset()
        refusals._REMEMBERED.clear()
        thinking._SEEN.clear()
        self.vendor.script(*row.script)
        if any(isinstance(each, Lost) for each in row.script):
            self.disconnect(cell)
        waits = Waits()
        arguments = self.arguments(cell, row.policy, clock=waits.clock())
        result, reported = self.outcome(cell, arguments)
        return Found(result, reported, waits.waited, self.vendor.calls, self.vendor.billed)
