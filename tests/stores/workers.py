"""Processes that use a store while a test does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_PATIENCE = 60.0
_numbers = count()


@dataclass(frozen=True)
class Worker:
    """A process, and the file of what it tells."""

    crew: Workers
    pid: int
    out: Path

    def reported(self) -> list[list[Any]]:
        """Return what it has reported until now."""
        lines = self.out.read_bytes().splitlines() if self.out.exists() else []
        return [json.loads(line) for line in lines]

    def until(self, count: int) -> None:
        """Wait until it has reported so much."""
        end = time.monotonic() + _PATIENCE
        while len(self.reported()) < count:
            assert time.monotonic() < end, "it has told nothing more"
            time.sleep(0.001)

    def kill(self) -> list[list[Any]]:
        """Kill it without warning, and return what it has reported."""
        os.kill(self.pid, signal.SIGKILL)
        assert self.ended() == -signal.SIGKILL
        return self.reported()

    def ended(self) -> int:
        """Wait for its end, and return how it ended: a status, or a signal below 0."""
        return self.crew.ask({"wait": self.pid})

    def done(self) -> list[list[Any]]:
        """Wait until it is done, and return what it has reported."""
        assert self.ended() == 0
        return self.reported()


@dataclass(frozen=True)
class Workers:
    """The program that starts them."""

    program: subprocess.Popen[bytes]
    folder: Path

    def start(self, job: str, **arguments: Any) -> Worker:
        """Start a process that does one of ``tests.stores.jobs`` or ``tests.stores.forking``."""
        out = self.folder / f"told-{next(_numbers)}"
        return Worker(self, self.ask({"job": job, "out": str(out), "arguments": arguments}), out)

    def ask(self, line: dict[str, Any]) -> int:
        """Tell the program something, and return its answer."""
        assert self.program.stdin is not None
        assert self.program.stdout is not None
        self.program.stdin.write(json.dumps(line).encode() + b"\n")
        self.program.stdin.flush()
        return int(self.program.stdout.readline())


@contextmanager
def working(folder: Path) -> Iterator[Workers]:
    """Run the program; what it started and was not waited for is killed at the end."""
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.stores.spawning"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])},
        start_new_session=True,
    ) as program:
        try:
            yield Workers(program, folder)
        finally:
            os.killpg(program.pid, signal.SIGKILL)
