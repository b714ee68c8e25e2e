"""Many trials at once: each case in a process of its own, so that one that hangs or dies takes nothing with it.

The processes are forked from one that has loaded everything already, which makes a new one cheap.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from benchmarks.trial import Result, subject, tried

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.connection import Connection

    from tests.schema.proof.corpora import Case

Pair = tuple[str, str]
"""A vendor and a helper."""


@dataclass(frozen=True, slots=True)
class Task:
    """A case, and the vendors and helpers that are still to be tried on it."""

    case: Case
    pairs: tuple[Pair, ...]
    samples: int


def results(tasks: Iterable[Task], jobs: int, patience: float) -> Iterator[list[Result]]:
    """Yield what is known of each task, a part at a time; ``patience`` is seconds for each pair."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.trial"])
    waiting, busy = deque(tasks), list[_Run]()
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                busy.append(_Run(context, waiting.popleft(), patience))
            soonest = max(0.0, min(each.deadline for each in busy) - time.monotonic())
            wait([each.connection for each in busy], timeout=soonest)
            for run in list(busy):
                found, left = run.news()
                yield found
                if run.over:
                    busy.remove(run)
                    waiting.extendleft([left] if left else [])
    finally:
        for each in busy:
            each.stop()


class _Run:
    """A process at work on one task."""

    def __init__(self, context: Any, task: Task, patience: float) -> None:
        self.connection, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(theirs, task), daemon=True)
        self._process.start()
        theirs.close()
        self._left = list(task.pairs)
        self._task, self._patience = task, patience
        self.deadline = time.monotonic() + 2 * patience  # the first one waits for the process, too
        self.over = False

    def news(self) -> tuple[list[Result], Task | None]:
        """Return what has come, and what another process has to go on with once this one is over."""
        if not self.connection.poll():
            late = time.monotonic() >= self.deadline
            return self._lost("timeout", f"longer than {self._patience:g} s") if late else ([], None)
        try:
            found: Result | None = self.connection.recv()
        except (EOFError, OSError):
            return self._lost("crashed", "the process died")
        self.deadline = time.monotonic() + self._patience
        if found is not None:
            self._left.remove((found.vendor, found.helper))
        if found is None or not self._left:
            self.stop()
        return [found] if found else [], None

    def _lost(self, end: str, reason: str) -> tuple[list[Result], Task | None]:
        self.stop()
        (vendor, helper), *rest = self._left
        left = Task(self._task.case, tuple(rest), self._task.samples) if rest else None
        return [Result(self._task.case.name, vendor, helper, end, reason)], left

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.over = True
        self._process.kill()
        self._process.join()
        self.connection.close()


def _work(connection: Connection, task: Task) -> None:
    given = subject(task.case)
    for vendor, helper in task.pairs if given else ():
        connection.send(tried(given, vendor, helper, task.samples))  # type: ignore[arg-type]
    connection.send(None)
