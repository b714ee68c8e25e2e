"""``emitter mcp`` as its own process, over HTTP, until a block ends."""

from __future__ import annotations

import signal
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.launching import launch

if TYPE_CHECKING:
    from collections.abc import Iterator


def command(*arguments: str) -> list[str]:
    """Return the command that serves over standard input and output."""
    return launch("emitter", "mcp", *arguments)


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """Serve on a free port of this machine; yield the address, and end the server as a person would."""
    with subprocess.Popen(
        command("--http", *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            _, reported = process.communicate(timeout=600)
    assert process.returncode == 0, reported
    assert "Traceback" not in reported
