"""The simulated vendor on the command line."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import openai
import pytest

from emitter import emit, emit_binding_moment
from emitter.cli import BAD_USAGE, SUCCESS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

MODEL = "openai/gpt-6-sol"
SIMULATE = [sys.executable, "-m", "emitter", "simulate", "--seed", "3"]


def test_it_serves_until_it_is_interrupted() -> None:
    """The variables that it prints lead an SDK to it; Ctrl-C ends it with what it would bill."""
    with subprocess.Popen(SIMULATE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        said = dict(serving.stdout.readline().removeprefix("export ").strip().split("=", 1) for _ in range(8))
        with openai.OpenAI(base_url=said["OPENAI_BASE_URL"], api_key=said["OPENAI_API_KEY"]) as client:
            spent = emit_binding_moment("Shall we ship?", model=MODEL, client=client).usage
        serving.send_signal(signal.SIGINT)
        _, reported = serving.communicate(timeout=600)

    assert serving.returncode == SUCCESS
    assert f"would bill {spent.input} tokens in, {spent.output} out" in reported
    assert "Traceback" not in reported


@pytest.mark.parametrize("given", ['{"n": 7}', "@answer.json"])
def test_an_answer_of_ones_own(given: str, tmp_path: Path) -> None:
    """A JSON document, or a file."""
    (tmp_path / "answer.json").write_text('{"n": 7}')
    command = [*SIMULATE, "--answer", given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as serving:
        assert serving.stdout is not None
        said = dict(serving.stdout.readline().removeprefix("export ").strip().split("=", 1) for _ in range(8))
        with openai.OpenAI(base_url=said["OPENAI_BASE_URL"], api_key=said["OPENAI_API_KEY"]) as client:
            value = emit(dict[str, int], "Which number?", model=MODEL, client=client).value
        serving.send_signal(signal.SIGINT)
        serving.communicate(timeout=600)

    assert value == {"n": 7}


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["--answer", "sulk"], "Use cut, decoded"),
        (["--answer", "cut=often"], "name=weight"),
        (["--answer", "@absent.json"], "absent.json"),
        (["--answer", "cut=-1"], "weight"),
        (["--tokens-per-second", "0"], "tokens_per_second"),
        (["--port", "99999"], "port"),
    ],
    ids=["unknown", "no-number", "no-file", "negative", "no-pace", "no-port"],
)
def test_bad_usage_is_reported(run: Run, arguments: list[str], reported: str) -> None:
    """What cannot be simulated is said in a sentence."""
    ran = run(["simulate", *arguments])

    assert ran.status == BAD_USAGE
    assert reported in ran.err
