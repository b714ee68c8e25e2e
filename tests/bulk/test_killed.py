"""A run that is killed goes on without paying again for what was done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emitter.bulk import emit_many
from emitter.testing import Stalled
from tests.bulk.asking import MODEL, Numbered, answered, asked_of, number_in, serving, task
from tests.launching import KILL, launch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import Behaviour, ReceivedRequest, Simulator

COUNT = 40
_IN_FLIGHT = 4
_BEYOND = 6


@dataclass
class Killing:
    """A vendor that falls silent a little after the item at which the run is killed, so that none outruns it."""

    vendor: Simulator
    silent_from: int = COUNT

    def after(self, items: int, journal: Path) -> None:
        """Run in a process of its own, and kill it without warning once it was handed so many items."""
        root = Path(__file__).parents[2]
        command = launch("tests.bulk.paying", str(journal), str(COUNT))
        self.silent_from = items + _BEYOND
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, cwd=root, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        ) as child:
            assert child.stdout is not None
            for _ in range(items):
                assert child.stdout.readline()
            child.send_signal(KILL)
            child.wait()  # before its output is closed, which would end it in another way
        assert child.returncode == -signal.SIGKILL
        self.silent_from = COUNT


@pytest.fixture
def killing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Killing]:
    """Run the vendor."""

    def answers(asked: ReceivedRequest) -> Behaviour:
        return Stalled() if number_in(asked.body) >= made.silent_from else answered(asked)

    with serving(answers, monkeypatch) as vendor:
        made = Killing(vendor)
        yield made


@pytest.mark.parametrize("items", [1, 23])
def test_a_killed_run_goes_on(items: int, tmp_path: Path, killing: Killing) -> None:
    """What stands in the journal was asked for once, whatever was killed; the rest is asked for then."""
    journal = tmp_path / "run.jsonl"
    killing.after(items, journal)
    written = sum(b'"events"' in line for line in journal.read_bytes().splitlines(keepends=True)[1:])
    assert items <= written <= items + _BEYOND

    run = emit_many(Numbered, map(task, range(COUNT)), model=MODEL, journal=journal, in_flight=_IN_FLIGHT)
    found = run.results()

    assert [each.value.n for each in found] == list(range(COUNT))
    assert sum(each.replayed for each in found) == written
    assert run.calls == COUNT - written
    assert len(run.stats.resent_keys) <= _IN_FLIGHT
    paid = asked_of(killing.vendor)
    assert all(paid[each.index] == 1 for each in found if each.replayed)
    assert paid.total() <= COUNT + _IN_FLIGHT


def test_killed_again_and_again_it_comes_to_its_end(tmp_path: Path, killing: Killing) -> None:
    """Each start pays at most for what was under way when the one before was killed."""
    journal = tmp_path / "run.jsonl"
    for items in (2, 17):
        killing.after(items, journal)
    found = emit_many(Numbered, map(task, range(COUNT)), model=MODEL, journal=journal).results()

    assert [each.value.n for each in found] == list(range(COUNT))
    assert asked_of(killing.vendor).total() <= COUNT + 2 * _IN_FLIGHT
