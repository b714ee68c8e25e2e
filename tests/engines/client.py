"""Ask the engines that are installed here, or in the environment of ``make engines``, in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv/engines/bin/python"
"""The environment of ``make engines``."""
_WORKER = Path(__file__).with_name("worker.py")


class Answer(NamedTuple):
    """What an engine says of a schema: why it refuses it, or which documents it would let a model write."""

    refused: str | None
    accepts: tuple[bool, ...]


class Engines:
    """A process with the engines."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.versions: dict[str, str] = json.loads(self._read())

    def ask(self, engine: str, schema: Any, documents: list[str]) -> Answer:
        """Return what an engine says of documents of a schema."""
        assert self._process.stdin is not None
        request = {"engine": engine, "schema": schema, "documents": documents}
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        answer = json.loads(self._read())
        return Answer(answer.get("refused"), tuple(answer.get("accepts", ())))

    def _read(self) -> str:
        assert self._process.stdout is not None
        while not (line := self._process.stdout.readline()).startswith("{"):  # an engine may print what it likes
            if not line:
                raise RuntimeError("the process with the engines has ended")
        return line


def interpreter() -> str:
    """Return the interpreter with the most engines."""
    return str(PYTHON) if PYTHON.exists() else sys.executable


@cache
def versions() -> dict[str, str]:
    """Return the engines that are installed."""
    with running() as engines:
        return engines.versions


@contextmanager
def running() -> Iterator[Engines]:
    """Start the process, and end it."""
    with subprocess.Popen(
        [interpreter(), str(_WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield Engines(process)
        finally:
            process.kill()
