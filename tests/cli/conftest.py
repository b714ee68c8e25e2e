"""The command line in this process, with standard input of our own."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from emitter.cli import main
from emitter.testing import simulator
from tests.cli.jobs import answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.testing import Simulator


@dataclass(frozen=True)
class Ran:
    """What a command line came to."""

    status: int
    out: str
    err: str


class Run(Protocol):
    """Runs a command line on an input."""

    def __call__(self, arguments: Sequence[str], stdin: bytes = b"") -> Ran:
        """Return what came of it."""
        ...


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command line."""

    def runs(arguments: Sequence[str], stdin: bytes = b"") -> Ran:
        text_input: Any = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", text_input)
        status = main(arguments)
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err)

    return runs


@pytest.fixture
def vendor() -> Iterator[Simulator]:
    """Run a vendor that answers with invoices."""
    with simulator(answers=answer) as running:
        yield running
