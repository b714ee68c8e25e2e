"""Every fault on every wire in every library: what it cost by the server's count, and what the caller was told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.faults import FAULTS, script
from benchmarks.libraries import WIRES, Lost, Runner, rows
from benchmarks.truth import Outcome, Verdict, judged
from emitter.testing import simulator

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.faults import Fault
    from benchmarks.libraries import Library
    from emitter.testing import Behaviour, ReceivedRequest, Simulator

_WORKERS = 6
"""Most of the time is spent waiting for back-off."""
_PATIENCE = 90.0


@dataclass(frozen=True, slots=True)
class Cell:
    """One call: ``calls`` and ``tokens`` (in and out) are the server's count, ``retries`` None is the default."""

    library: str
    retries: int | None
    wire: str
    fault: str
    outcome: str
    truth: bool
    calls: int
    tokens: int
    seconds: float
    raised: str


def measured(libraries: Iterable[tuple[Library, int | None]] | None = None) -> list[Cell]:
    """Run the matrix with these libraries and numbers of retries, or with what is installed."""
    measured_rows = rows() if libraries is None else libraries
    with ThreadPoolExecutor(_WORKERS) as pool:
        runs = [pool.submit(_run, each, retries, wire, FAULTS) for each, retries in measured_rows for wire in WIRES]
        return [cell for run in runs for cell in run.result()]


def plain(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the cells as JSON."""
    return [asdict(each) for each in cells]


class _Standing:
    """What the vendor answers when no script is left."""

    def __init__(self) -> None:
        self.behaviour: Behaviour = FAULTS[0].then

    def __call__(self, _: ReceivedRequest) -> Behaviour:
        return self.behaviour


def _run(library: Library, retries: int | None, wire: str, faults: Sequence[Fault]) -> list[Cell]:
    standing = _Standing()
    with simulator(seed=7, answers=standing) as vendor, Runner(library) as runner:
        cells = []
        for fault in (FAULTS[0], *faults):  # the first one warms up
            vendor.reset()
            standing.behaviour = fault.then
            vendor.script(*script(fault, wire))
            cells.append(_cell(runner, vendor, (retries, wire), fault))
        return cells[1:]


def _cell(runner: Runner, vendor: Simulator, setting: tuple[int | None, str], fault: Fault) -> Cell:
    retries, wire = setting
    seconds = _PATIENCE
    try:
        answer = runner.ask("once", _PATIENCE, wire=wire, url=vendor.url, retries=retries)
        verdict, seconds = judged(answer, fault.cause), answer["seconds"]
    except Lost:
        verdict = Verdict(Outcome.LOST, truth=False)
    bill = vendor.billed
    return Cell(
        *(runner.library.name, retries, wire, fault.name),
        *(verdict.outcome.value, verdict.truth),
        *(len(vendor.calls), bill.input + bill.output, round(seconds, 2), verdict.raised),
    )
