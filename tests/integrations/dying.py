"""Run an example, and kill its process between an answer and its act: ``dying.py EXAMPLE ARGUMENTS``.

The first approved act is confirmed, and the process dies before its intent is written.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys

from emitter.authority import execution


def die(*_: object) -> None:
    """Die like a process whose machine lost its power."""
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    execution.execute_confirmed = die  # type: ignore[assignment]  # it comes to nothing
    del sys.argv[0]
    sys.path[0] = os.path.dirname(sys.argv[0])  # noqa: PTH120  as Python does for a program
    runpy.run_path(sys.argv[0], run_name="__main__")
