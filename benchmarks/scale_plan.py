"""What a shared store takes for 10⁶, 10⁸ and 10¹⁰ emissions a day, by simulation.

Run ``python -m benchmarks.scale_plan``. Emissions arrive at random at processes that claim and finish them as
``emitter.bulk.claims`` does: what waits in a process goes to its database together, in one transaction at a time for
claims and one for outcomes. A transaction takes the time that ``python -m benchmarks.claims`` measured for its size.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import count

DAY = 86_400
SECONDS = 20.0
"""Simulated seconds."""
CALL = 2.0
"""Seconds from a claim to its outcome: the vendor's call."""
CORES = 2
"""Transactions that a database works on at once."""
BYTES = 1_942
"""A finished row with its index."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of a transaction, and of each row in it."""

    fixed: float
    each: float

    def seconds(self, rows: int) -> float:
        """Return how long a transaction takes."""
        return (self.fixed + self.each * rows) / 1000


COSTS = {"claim": Cost(7.2, 0.08), "outcome": Cost(5.7, 0.33)}
"""From the rates of one row and of 256 in a transaction, on two cores with a load of 8."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Emissions a day, and what they run on."""

    emissions: int
    processes: int
    databases: int


PLANS = (
    Plan(10**6, 1, 1),
    Plan(10**8, 12, 1),
    Plan(10**8, 12, 4),
    Plan(10**10, 580, 20),
    Plan(10**10, 580, 40),
    Plan(10**10, 580, 80),
)


@dataclass
class Database:
    """One database with its share of the processes."""

    processes: int
    draw: random.Random
    events: list[tuple[float, int, str, int, int]] = field(default_factory=list)
    """When something is due, its number, what it is, the process, and the rows."""
    waiting: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    in_progress: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    queue: deque[tuple[str, int]] = field(default_factory=deque)
    busy: float = 0.0
    working: int = 0
    transactions: Counter[str] = field(default_factory=Counter)
    delays: list[float] = field(default_factory=list)
    numbers: count[int] = field(default_factory=count)

    def run(self, rate: float) -> None:
        """Simulate emissions that arrive at a rate a second."""
        for process in range(self.processes):
            self.plan(self.draw.expovariate(rate / self.processes), "arrival", process)
        while self.events and self.events[0][0] < SECONDS:
            now, _, kind, process, rows = heapq.heappop(self.events)
            if kind == "arrival":
                self.add(now, "claim", process)
                self.plan(now + self.draw.expovariate(rate / self.processes), "arrival", process)
            elif kind == "answered":
                self.add(now, "outcome", process)
            else:
                self.end(now, kind, process, rows)

    def plan(self, when: float, kind: str, process: int, rows: int = 0) -> None:
        """Add something that will happen."""
        heapq.heappush(self.events, (when, next(self.numbers), kind, process, rows))

    def add(self, now: float, kind: str, process: int) -> None:
        """Let a row wait for the transaction of its process."""
        self.waiting.setdefault((kind, process), []).append(now)
        self.begin(now, (kind, process))

    def begin(self, now: float, lane: tuple[str, int]) -> None:
        """Begin a transaction with everything that waits, or queue for the database."""
        if lane in self.in_progress or not self.waiting.get(lane):
            return
        if self.working == CORES:
            if lane not in self.queue:
                self.queue.append(lane)
            return
        rows = self.in_progress[lane] = self.waiting.pop(lane)
        took = COSTS[lane[0]].seconds(len(rows))
        self.working, self.busy = self.working + 1, self.busy + took
        self.plan(now + took, *lane, len(rows))

    def end(self, now: float, kind: str, process: int, rows: int) -> None:
        """Commit a transaction, and begin the next one."""
        self.working -= 1
        self.transactions[kind] += 1
        for since in self.in_progress.pop((kind, process)):
            self.delays.append(now - since)
        if kind == "claim":
            for _ in range(rows):
                self.plan(now + CALL, "answered", process)
        if self.queue:
            self.begin(now, self.queue.popleft())
        self.begin(now, (kind, process))


def describe(plan: Plan) -> str:
    """Return a row of the table."""
    rate = plan.emissions / DAY
    found = Database(max(1, plan.processes // plan.databases), random.Random(18))  # noqa: S311  the same each time
    found.run(rate / plan.databases)
    delays = sorted(found.delays)
    kept = len(delays) / (2 * SECONDS - CALL) * plan.databases / rate
    cells = [
        f"{plan.emissions:,}",
        f"{rate:,.0f}",
        f"{plan.processes}",
        f"{plan.databases}",
        f"{found.busy / SECONDS / CORES:.0%}",
        f"{len(delays) / max(1, found.transactions.total()):.1f}",
        f"{delays[len(delays) // 2] * 1000:,.0f} / {delays[len(delays) * 99 // 100] * 1000:,.0f}",
        "yes" if kept > 0.95 else f"no: {kept:.0%}",  # noqa: PLR2004  arrivals are random
        f"{plan.processes * 3 / plan.databases:,.0f}",
        f"{plan.emissions * BYTES / 10**9:,.0f}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    head = ("emissions a day", "a second", "processes", "databases", "busy", "rows a transaction")
    tail = ("wait in ms, median / 99 %", "keeps up", "connections of a database", "GB a day")
    print(f"| {' | '.join(head + tail)} |\n|{'---|' * len(head + tail)}")  # noqa: T201
    for each in PLANS:
        print(describe(each), flush=True)  # noqa: T201
