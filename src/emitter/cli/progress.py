"""Progress on a terminal, for work of more than a second. Nothing is drawn where nobody looks."""

from __future__ import annotations

import sys
import time

_PATIENCE = 1.0
_PERIOD = 0.1


class Progress:
    """A counter on standard error that appears after a second."""

    def __init__(self, total: int, what: str) -> None:
        self._total, self._what, self._done = total, what, 0
        self._shown = False
        self._next = time.monotonic() + _PATIENCE

    def step(self) -> None:
        """Count one."""
        self._done += 1
        if time.monotonic() >= self._next and sys.stderr.isatty() and not sys.stdout.isatty():
            self._next = time.monotonic() + _PERIOD
            self._shown = True
            sys.stderr.write(f"\r{self._done} of {self._total} {self._what}")
            sys.stderr.flush()

    def say(self, sentence: str) -> None:
        """Write a line of its own."""
        self.end()
        sys.stderr.write(f"emitter: {sentence}\n")

    def end(self) -> None:
        """Clear the counter."""
        if self._shown:
            sys.stderr.write("\r\033[K")
            self._shown = False
