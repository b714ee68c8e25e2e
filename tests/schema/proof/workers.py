"""Many proofs at once, in processes of their own: one that hangs or dies is reported, and takes nothing with it."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from tests.schema.proof.laws import Subject, prove
from tests.schema.proof.verdict import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.connection import Connection

    from tests.schema.proof.corpora import Case

MEMORY = 4 << 30
"""Bytes that one process may take: what asks for more is a crash, and not the end of the machine."""

_STARTING = 30.0
"""Seconds that a new process may take before its first proof."""


@dataclass(frozen=True, slots=True)
class Task:
    """A case to be proved for some profiles, one after the other."""

    case: Case
    profiles: tuple[str, ...]
    samples: int


def proofs(tasks: Iterable[Task], jobs: int, patience: float) -> Iterator[Report]:
    """Yield the report of every case and profile, in whatever order; ``patience`` is seconds for each of them."""
    waiting, idle, busy = deque(tasks), list[_Worker](), list[_Worker]()
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                busy.append(idle.pop() if idle else _Worker(patience))
                busy[-1].give(waiting.popleft())
            for worker in _heard(busy):
                report = worker.hear()
                if report is not None:
                    yield report
                if worker.task is None or worker.gone:
                    busy.remove(worker)
                    idle.extend([] if worker.gone else [worker])
                    waiting.extendleft([worker.task] if worker.task else [])
    finally:
        for each in (*idle, *busy):
            each.stop()


def _heard(workers: list[_Worker]) -> list[_Worker]:
    """Return the workers who have said something, or should have by now."""
    soonest = min(each.deadline for each in workers)
    ready = wait([each.connection for each in workers], timeout=max(0.0, soonest - time.monotonic()))
    return [each for each in workers if each.connection in ready or time.monotonic() >= each.deadline]


class _Worker:
    """A process that proves; ``task`` is what is left of the task it was given, none when it has none left."""

    def __init__(self, patience: float) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._patience = patience
        self.task: Task | None = None
        self.gone = False
        self.deadline = time.monotonic() + _STARTING

    def give(self, task: Task) -> None:
        """Hand over a task."""
        self.task = task
        self.deadline = max(self.deadline, time.monotonic()) + self._patience
        self.connection.send(task)

    def hear(self) -> Report | None:
        """Return the next report, or the news that there will be none."""
        assert self.task is not None
        if not self.connection.poll():
            return self._lost("timeout", f"longer than {self._patience:g} s")
        try:
            report: Report = self.connection.recv()
        except (EOFError, OSError):
            return self._lost("total", "the process died")
        self._proceed()
        return report

    def _lost(self, law: str, reason: str) -> Report:
        assert self.task is not None
        report = Report(self.task.case.name, self.task.profiles[0])
        report.fail(law, reason)
        self.stop()
        self._proceed()
        return report

    def _proceed(self) -> None:
        assert self.task is not None
        left = self.task.profiles[1:]
        self.task = replace(self.task, profiles=left) if left else None
        self.deadline = time.monotonic() + self._patience

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.gone = True
        self._process.kill()
        self._process.join()
        self._process.close()
        self.connection.close()


def _serve(connection: Connection) -> None:
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            task: Task = connection.recv()
            subject = Subject(task.case)
            for profile in task.profiles:
                connection.send(prove(subject, profile, task.samples))
