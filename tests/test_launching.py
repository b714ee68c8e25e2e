"""A program that is forked does what one in an interpreter of its own does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.launching import KILL, launch

if TYPE_CHECKING:
    from pathlib import Path

RUNS: dict[str, tuple[tuple[str, ...], str]] = {
    "success": (("lint-moment", "-", "--json"), '{"a": 1}'),
    "nothing": (("classify", "-"), ""),
    "bad usage": (("nonsense",), ""),
    "a file": (("recover", "answer.txt"), ""),
}


@pytest.mark.parametrize(("arguments", "text"), RUNS.values(), ids=RUNS)
def test_a_program_ends_as_in_an_interpreter_of_its_own(arguments: tuple[str, ...], text: str, tmp_path: Path) -> None:
    """With the same status, and the same words on both streams; it runs in the caller's folder."""
    (tmp_path / "answer.txt").write_text('```json\n{"é": 1}\n```')
    commands = [launch("emitter", *arguments), [sys.executable, "-m", "emitter", *arguments]]
    forked, started = (
        subprocess.run(command, input=text, capture_output=True, text=True, cwd=tmp_path, check=False)
        for command in commands
    )

    assert (forked.returncode, forked.stdout, forked.stderr) == (started.returncode, started.stdout, started.stderr)
    assert forked.stdout or forked.stderr


def test_a_program_has_the_environment_of_its_command() -> None:
    """The process that forks may have been started with another."""
    environment = {**os.environ, "EMITTER_PLAIN": "yes, really"}
    program = launch("tests.launched", "environment")
    assert "yes, really" in subprocess.run(program, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGINT, -signal.SIGINT), (KILL, -signal.SIGKILL)], ids=["interrupted", "killed"]
)
def test_a_program_ends_by_a_signal(sent: int, status: int) -> None:
    """The command ends once the program is gone, by the same signal."""
    with subprocess.Popen(launch("tests.launched", "waiting"), stdout=subprocess.PIPE, stderr=-1, text=True) as command:
        assert command.stdout is not None
        process = int(command.stdout.readline())
        command.send_signal(sent)
        assert command.wait(60) == status
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
