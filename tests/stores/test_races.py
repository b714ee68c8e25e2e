"""Many processes at one place: they open it at once, and each envelope is handled by one of them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from emitter.errors import StoreFailed
from tests.stores.making import events, fresh, ids, never

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.stores import NewEntry
    from tests.stores.conftest import Home
    from tests.stores.workers import Workers

LOADED = """
import sys
from emitter.stores import protocol
before = set(sys.modules)
protocol.encode_key("run")
print(set(sys.modules) - before)
"""
_PROCESSES = 4
_ROUNDS = 25


def test_of_many_processes_one_handles(home: Home, workers: Workers, tmp_path: Path) -> None:
    """From a place that is not there yet on, all of them want the same envelopes, and write in the same log."""
    start = tmp_path / "start"
    racing = [
        workers.start("race", kind=home.kind, address=home.address, start=str(start), rounds=_ROUNDS)
        for _ in range(_PROCESSES)
    ]
    start.touch()
    reported = [line for each in racing for line in each.done()]
    kept = [line[1:] for line in reported if line[0] == "kept"]
    handled = Counter(line[1] for line in reported if line[0] == "handled")

    assert handled == dict.fromkeys(range(_ROUNDS), 1)
    for number in range(_ROUNDS):
        of_it = [each[1:] for each in kept if each[0] == number]
        assert sorted((first, reported) for first, _, reported in of_it) == [(False, 0)] * (_PROCESSES - 1) + [
            (True, 1)
        ]
        assert all(note == of_it[0][1] for _, note, _ in of_it)
    names = ids(home.again().events("run"))
    assert len(set(names)) == len(names) == _ROUNDS * (1 + _PROCESSES)


def test_a_process_waits_no_longer_than_it_wants(home: Home, workers: Workers) -> None:
    """It is reported so; meanwhile all else goes on."""
    other = workers.start("hang", kind=home.kind, address=home.address)
    other.until(1)
    store = home.again(timeout=0.05)
    with pytest.raises(StoreFailed, match=r"after 0\.05 s"):
        store.get_or_create("run", "c", never)
    assert store.find("run", "c") is None
    store.append("run", events("a"))
    assert store.get_or_create("run", "d", lambda: fresh("d", "b")).created
    other.kill()
    assert home.again().get_or_create("run", "c", lambda: fresh("c", "c")).created
    assert ids(store.events("run")) == ["a", "b", "c"]


def test_another_process_waits_for_this_one(home: Home, workers: Workers) -> None:
    """Also while another store of this process is opened and closed, and then finds what was kept."""
    here = home.again()

    def get_or_create(timeout: float) -> list[object]:
        arguments = {"note": "theirs", "timeout": timeout}
        (reported,) = workers.start("get_or_create", kind=home.kind, address=home.address, **arguments).done()
        return reported

    def handle() -> NewEntry:
        home.again().close()
        assert get_or_create(timeout=0.05) == ["StoreFailed"]
        return fresh("ours", "ours")

    assert here.get_or_create("run", "c", handle).created
    assert get_or_create(timeout=20) == [False, "ours"]
    assert ids(here.events("run")) == ["ours"]


def test_a_forked_process_goes_on(home: Home, workers: Workers) -> None:
    """Parent and child use the store that was opened before, and neither harms the other."""
    reported = workers.start("both", kind=home.kind, address=home.address).done()
    found = {each[0]: each[1:] for each in reported}
    assert found.pop("status") == [0]
    assert sorted(first for first, _ in found.values()) == [False, True]
    assert found["parent"][1] == found["child"][1]
    winner = found["parent"][1]["payload"]["note"]
    names = ids(home.again().events("run"))
    assert (names[0], names[-1]) == ("before", "after")
    assert sorted(names[1:-1]) == sorted(["parent", "child", f"{winner}'s"])


def test_a_fork_leaves_behind_what_threads_hold(home: Home, workers: Workers) -> None:
    """The child waits for its parent's handler, as any process does, not for a thread that it has not."""
    reported = workers.start("meanwhile", kind=home.kind, address=home.address).done()
    assert sorted(reported, key=str) == [["child waits"], ["status", 0], [False, "parent"], [True, "parent"]]


def test_a_fork_amid_the_writing_of_threads(home: Home, workers: Workers) -> None:
    """Neither the children nor the threads are stopped by it, and nothing is lost."""
    ((ended, written),) = workers.start("often", kind=home.kind, address=home.address, children=8).done()
    assert ended == [0] * 8
    names = ids(home.again().events("run"))
    assert len(set(names)) == len(names) == written + 8 + 2


def test_a_key_loads_no_module() -> None:
    """A child that is forked while a thread loads one waits for ever for it."""
    reported = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert reported.stdout == "set()\n"


def test_after_a_failure_another_process_handles(home: Home, workers: Workers) -> None:
    """It need not wait until the process ends whose handler failed."""
    store = home.again()

    def fail() -> NewEntry:
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        store.get_or_create("run", "c", fail)
    arguments = {"kind": home.kind, "address": home.address, "note": "theirs", "timeout": 5}
    assert workers.start("get_or_create", **arguments).done() == [[True, "theirs"]]
