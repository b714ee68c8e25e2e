"""The examples, killed between the answer and the act, and run again: the outbox holds what was approved, once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

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
    "ag_ui_approval": "ag_ui",
}
"""The examples, and what must be installed to run them."""

if not hasattr(os, "fork"):
    pytest.skip("this system forks no processes", allow_module_level=True)


class Example:
    """An example, whose processes share their imports and what is in their folder."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "output"
        self._process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("dying.py"), ROOT / "examples" / f"{name}.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def run(self, *arguments: str, dies: bool = False) -> int:
        """Run it in a process of its own, and return its status."""
        job = {"arguments": [str(self.folder), *arguments], "output": str(self.output), "dies": dies}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(job), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)


def outbox(folder: Path) -> list[str]:
    """Return what was done."""
    file = folder / "outbox"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


@pytest.mark.parametrize("name", EXAMPLES)
def test_killed_between_the_answer_and_the_act(name: str, tmp_path: Path) -> None:
    """The agent's process ends while its calls wait; another takes an answer; the next is killed; one more ends it."""
    pytest.importorskip(EXAMPLES[name])
    with Example(name, tmp_path) as example:
        assert example.run("--away") == 0, example.output.read_text()
        with SqliteStore(tmp_path / "agent.db") as store:
            ledger = Ledger(store)
            assert len(ledger.pending()) == 4
            (ada,) = (each for each in ledger.pending() if '"ada"' in each.moment.findings[0])
            ledger.resolve(ada.decision_id, select_option(ada.moment, 0))
        kill_and_end(example, "--away")


def test_claude_killed_between_the_answer_and_the_act(tmp_path: Path) -> None:
    """Its calls wait one after the other, so the person answers in the process that is killed."""
    pytest.importorskip("claude_agent_sdk")
    with Example("claude_agent_approval", tmp_path) as example:
        kill_and_end(example)


def kill_and_end(example: Example, *arguments: str) -> None:
    """Run an example that is killed before its first act, once more until its end, and once too often."""
    assert example.run(*arguments, dies=True) == -signal.SIGKILL, example.output.read_text()
    assert outbox(example.folder) == []

    assert example.run() == 0, example.output.read_text()
    assert "Done." in example.output.read_text()
    assert example.run() == 0, example.output.read_text()
    assert sorted(outbox(example.folder)) == APPROVED
    with SqliteStore(example.folder / "agent.db") as store:
        authority = Authority(store)
        assert (authority.ledger.pending(), authority.unfinished_actions()) == ((), ())
        assert len(authority.receipts()) == len(APPROVED)
        assert all(list(verify_chain(authority.lines(each))) for each in authority.workflows())
