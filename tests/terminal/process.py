"""A command in a process of its own, at a terminal that it controls: as in a window, or over SSH."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import termios
import time
from typing import TYPE_CHECKING

import pyte

from tests.launching import launch
from tests.terminal.window import Glass

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

PATIENCE = 20.0
"""Seconds until a screen is given up on; none of them is waited for where all is well."""


class Process:
    """``emitter`` at a terminal; ``stdin`` and ``stdout`` may go elsewhere."""

    def __init__(
        self, *arguments: str, columns: int = 80, rows: int = 30, stdin: bytes | None = None, piped: bool = False
    ) -> None:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (rows, columns))
        self._glass = Glass(columns, rows)
        self._stream = pyte.ByteStream(self._glass)
        self.transcript = b""
        self._process = subprocess.Popen(
            launch("tests.terminal.controlled", *arguments),
            stdin=slave if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE if piped else slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        if self._process.stdin is not None and stdin is not None:
            self._process.stdin.write(stdin)
            self._process.stdin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        os.close(self._master)

    def type(self, keys: str) -> Self:
        """Press keys."""
        os.write(self._master, keys.encode())
        return self

    def until(self, words: str) -> Self:
        """Wait until ``words`` stand on the screen."""
        return self._wait(lambda: words in self.text(), f"{words!r} did not come")

    def resize(self, columns: int, rows: int) -> Self:
        """Make the window another size; the system tells the process."""
        self._glass.resize(rows, columns)
        self._glass.erase_in_display(2)
        termios.tcsetwinsize(self._master, (rows, columns))
        return self

    def text(self) -> str:
        """Return what stands on the screen."""
        return "\n".join(each.rstrip() for each in self._glass.display)

    def ends(self) -> tuple[int, str]:
        """Return the exit status, and what went to standard output where that is a pipe."""
        self._wait(lambda: self._process.poll() is not None, "it did not end")
        while self._read(0):
            pass
        out = self._process.stdout.read().decode() if self._process.stdout is not None else ""
        return self._process.returncode, out

    def _wait(self, done: Callable[[], bool], otherwise: str) -> Self:
        limit = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < limit, f"{otherwise}:\n{self.text()}"
            has_ended = self._process.poll() is not None
            if not self._read(0.05) and has_ended:
                assert done(), f"{otherwise} before the process ended:\n{self.text()}"
        return self

    def _read(self, patience: float) -> bool:
        if not select.select([self._master], [], [], patience)[0]:
            return False
        try:
            part = os.read(self._master, 65536)
        except OSError:  # the other end is closed
            return False
        self.transcript += part
        self._stream.feed(part)
        return bool(part)
