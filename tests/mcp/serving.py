"""``emitter mcp`` as its own process, over HTTP, until a block ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = [sys.executable, "-m", "emitter", "mcp"]


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """Serve on a free port of this machine; yield the address, and end the server as a person would."""
    with subprocess.Popen(
        [*COMMAND, "--http", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=600)
    assert process.returncode == 0, told
    assert "Traceback" not in told
