"""The examples, killed between the answer and the act, and run again: the outbox holds what was approved, once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from emitter.authority import Authority
from emitter.authority.chain import verify_chain
from emitter.decisions import select_option
from emitter.decisions.ledger import Ledger
from emitter.stores import SqliteStore

ROOT = Path(__file__).parents[2]
APPROVED = ["to ada: Minutes", "to bob: Lunch at one?"]
"""Of three e-mails and a table to drop, the person approves one, changes one, and refuses two."""
EXAMPLES = {
    "langgraph_approval": "langgraph.checkpoint.sqlite",
    "pydantic_ai_approval": "pydantic_ai",
    "openai_agents_approval": "agents",
}
"""The examples, and what must be installed to run them."""

if not hasattr(signal, "SIGKILL"):
    pytest.skip("this system kills no processes", allow_module_level=True)


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program of Python, and end whatever it has started once it is killed."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            [sys.executable, *command],
            stdout=out,
            stderr=err,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        status = process.wait(timeout=600)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, status, out.read(), err.read())


def outbox(folder: Path) -> list[str]:
    """Return what was done."""
    file = folder / "outbox"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


@pytest.mark.parametrize("example", EXAMPLES)
def test_killed_between_the_answer_and_the_act(example: str, tmp_path: Path) -> None:
    """The agent's process ends while its calls wait; another takes an answer; the next is killed; one more ends it."""
    pytest.importorskip(EXAMPLES[example])
    program = ROOT / "examples" / f"{example}.py"
    assert run(program, tmp_path, "--away").returncode == 0
    with SqliteStore(tmp_path / "agent.db") as store:
        ledger = Ledger(store)
        assert len(ledger.pending()) == 4
        (ada,) = (each for each in ledger.pending() if '"ada"' in each.moment.findings[0])
        ledger.resolve(ada.decision_id, select_option(ada.moment, 0))
    kill_and_end(program, tmp_path, "--away")


def test_claude_killed_between_the_answer_and_the_act(tmp_path: Path) -> None:
    """Its calls wait one after the other, so the person answers in the process that is killed."""
    pytest.importorskip("claude_agent_sdk")
    kill_and_end(ROOT / "examples" / "claude_agent_approval.py", tmp_path)


def kill_and_end(program: Path, tmp_path: Path, *arguments: str) -> None:
    """Run an example that is killed before its first act, and once more until its end."""
    killed = run(Path(__file__).with_name("dying.py"), program, tmp_path, *arguments)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert outbox(tmp_path) == []

    ended = run(program, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "Done." in ended.stdout
    assert sorted(outbox(tmp_path)) == APPROVED
    with SqliteStore(tmp_path / "agent.db") as store:
        authority = Authority(store)
        assert (authority.ledger.pending(), authority.unfinished_actions()) == ((), ())
        assert len(authority.receipts()) == len(APPROVED)
        assert all(list(verify_chain(authority.lines(each))) for each in authority.workflows())
