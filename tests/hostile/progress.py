"""End a process in which nothing goes on any more, and name the runs that are under way.

A run that never ends would otherwise be waited for without a word: by a pool of threads, by an event loop or by the
process that waits for this one.
"""

from __future__ import annotations

import faulthandler
import os
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOST = 240.0
"""How many seconds a run, or the time between two runs, may take: more than any timeout of a call."""


@dataclass
class Progress:
    """The runs under way and when they began, when one began or ended at last, and how many have ended."""

    most: float = _MOST
    report: Callable[[int], None] | None = None
    """Called every few seconds with the number of runs that have ended."""
    ended: int = 0
    runs: dict[int, tuple[str, float]] = field(default_factory=dict[int, tuple[str, float]])
    lock: threading.Lock = field(default_factory=threading.Lock)
    changed: float = field(default_factory=time.monotonic)

    @contextmanager
    def under_way(self, run: object) -> Iterator[None]:
        """Note a run while the block lasts."""
        with self.lock:
            self.changed = began = time.monotonic()
            self.runs[id(run)] = str(run), began
        try:
            yield
        finally:
            with self.lock:
                self.changed = time.monotonic()
                self.ended += 1
                del self.runs[id(run)]

    @contextmanager
    def watched(self) -> Iterator[None]:
        """End the process with status 1 if a run lasts too long in the block, or none begins or ends."""
        ended = threading.Event()
        self.changed = time.monotonic()
        threading.Thread(target=self._watch, args=(ended,), daemon=True).start()
        try:
            yield
        finally:
            ended.set()

    def _watch(self, ended: threading.Event) -> None:
        while not ended.wait(min(self.most / 4, 5.0)):
            with self.lock:
                runs, last = list(self.runs.values()), self.changed
            if self.report is not None:
                self.report(self.ended)
            oldest = time.monotonic() - self.most
            late = [name for name, began in runs if began < oldest]
            if late or last < oldest:
                names = late or ["what follows the last run"]
                os.write(2, "".join(f"{name} has not ended after {self.most:g} seconds\n" for name in names).encode())
                faulthandler.dump_traceback(2)
                os._exit(1)
