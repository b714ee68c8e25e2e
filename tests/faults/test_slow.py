"""The rows that wait for real, such as a vendor that falls silent: all their cells wait at the same time."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, product
from typing import TYPE_CHECKING

import pytest

from emitter import Policy
from emitter.messages import Usage
from emitter.testing import simulator
from tests.faults.asking import SITUATION, Asking, Found, Waits
from tests.faults.checking import check
from tests.faults.known_bugs import marks
from tests.faults.model import WHOLE
from tests.faults.row import WAYS, WIRES, Cell
from tests.faults.table_network import SLOW

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from emitter.testing import Behaviour, ReceivedRequest
    from emitter.testing.responses import SimulatedCall

CELLS = [Cell(fault, wire, way) for fault in SLOW for wire in WIRES for way in WAYS]
PLAYED = [cell for cell in CELLS if cell.way not in SLOW[cell.fault].on(cell.wire, cell.way).without]


def situation(cell: Cell) -> str:
    """Return a situation that tells the cell's requests from all others."""
    return f"[{cell}] {SITUATION}"


def is_of(cell: Cell, body: Any) -> bool:
    """Tell whether a request is one of the cell's."""
    return f"[{cell}]" in json.dumps(body)


class Scripts:
    """Answers each cell's requests by its own row, and whoever is of none at once."""

    def __init__(self) -> None:
        self._answered = Counter[Cell]()

    def __call__(self, asked: ReceivedRequest) -> Behaviour:
        """Return the next of the cell's script, or its last again."""
        cell = next((each for each in PLAYED if is_of(each, asked.body)), None)
        if cell is None:
            return WHOLE
        *_, nth = islice(SLOW[cell.fault].script, self._answered[cell] + 1)
        self._answered[cell] += 1
        return nth


def arguments(asking: Asking, cell: Cell, waits: Waits) -> dict[str, Any]:
    """Return what the cell's function takes."""
    return asking.arguments(cell, SLOW[cell.fault].policy, clock=waits.clock())


async def all_awaited(asking: Asking, cells: dict[Cell, Waits]) -> list[Any]:
    """Play cells in one loop."""
    waiting = (asking.aoutcome(cell, arguments(asking, cell, waits), situation(cell)) for cell, waits in cells.items())
    return list(await asyncio.gather(*waiting))


def played(asking: Asking) -> dict[Cell, Found]:
    """Play every cell: the blocking ones in threads, the others in the loop."""
    waits = {cell: Waits() for cell in PLAYED}
    awaited = {cell: waits[cell] for cell in PLAYED if cell.awaited}
    blocking = [cell for cell in PLAYED if not cell.awaited]
    for wire, way in product(WIRES, WAYS):  # what is loaded and connected before does not count as waiting
        cell = Cell("clean", wire, way)
        asking.outcome(cell, asking.arguments(cell, Policy()))
    with ThreadPoolExecutor(len(blocking)) as pool:
        begun = [
            pool.submit(asking.outcome, cell, arguments(asking, cell, waits[cell]), situation(cell))
            for cell in blocking
        ]
        outcomes = dict(zip(awaited, asking.runner.run(all_awaited(asking, awaited)), strict=True))
        outcomes |= dict(zip(blocking, (each.result() for each in begun), strict=True))
    calls = asking.vendor.calls
    return {cell: found(cell, outcome, waits[cell], calls) for cell, outcome in outcomes.items()}


def found(cell: Cell, outcome: tuple[Any, Any], waits: Waits, calls: tuple[SimulatedCall, ...]) -> Found:
    """Return what came of a cell, with its own part of the vendor's books."""
    own = [each for each in calls if is_of(cell, each.body)]
    return Found(*outcome, waits.waited, own, sum((each.usage for each in own), Usage()))


@pytest.fixture(scope="module")
def results() -> Iterator[dict[Cell, Found]]:
    """Yield what came of every cell."""
    with asyncio.Runner() as runner:
        vendor = simulator(answers=Scripts())
        runner.run(vendor.__aenter__())
        try:
            yield played(Asking(vendor, runner))
        finally:
            runner.run(vendor.__aexit__(None, None, None))


def params() -> list[object]:
    """Return every cell; one that is not played, or known to be red, says why."""
    return [pytest.param(each, marks=marks(each, SLOW[each.fault]), id=str(each)) for each in CELLS]


@pytest.mark.parametrize("cell", params())
def test_slow_fault(cell: Cell, results: dict[Cell, Found]) -> None:
    """The outcome, every verdict and event, every request and every token are as the row says."""
    check(cell, SLOW[cell.fault].on(cell.wire, cell.way), results[cell])
