"""A control: a process that sleeps and computes in turn, and counts the seconds that this machine granted it.

A run must end at its deadline, and on a busy machine it ends later without being at fault. So its time is also measured
by a process that nothing but the machine can delay: each of its turns takes as long as the shortest one did, unless
others have the processors. What a turn takes beyond twice as long is not counted. It shares no interpreter with
the run, so that a call that blocks or computes for seconds is late by this clock as well.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_GRAIN = 0.01
"""The seconds for which the process writes one byte."""
_PAUSE, _WORK = 0.004, 100_000
_SLACK = 2.0


class Control:
    """A running control. ``output`` is what it writes."""

    def __init__(self, output: IO[bytes]) -> None:
        self._descriptor, self._grains = output.fileno(), 0
        os.set_blocking(self._descriptor, False)

    def seconds(self) -> float:
        """Return how many seconds the control had since its start."""
        with suppress(BlockingIOError):
            while data := os.read(self._descriptor, 1 << 16):
                self._grains += len(data)
        return self._grains * _GRAIN


@contextmanager
def control() -> Iterator[Control]:
    """Run a control until the block ends, and wait until it has begun."""
    with subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            process.stdout.read(1)
            yield Control(process.stdout)
        finally:
            process.kill()


def granted(took: float, shortest: float) -> float:
    """Return how many seconds of a turn count, if the shortest one so far took so long."""
    return min(took, _SLACK * shortest)


def main() -> None:
    """Write a byte for each hundredth of a second, until nobody reads them."""
    shortest, seconds = math.inf, 0.0
    with suppress(BrokenPipeError):
        while True:
            began = time.monotonic()
            time.sleep(_PAUSE)
            sum(range(_WORK))
            took = time.monotonic() - began
            shortest = min(shortest, took)
            seconds += granted(took, shortest)
            whole = int(seconds / _GRAIN)
            os.write(1, b"." * whole)
            seconds -= whole * _GRAIN


if __name__ == "__main__":
    main()
