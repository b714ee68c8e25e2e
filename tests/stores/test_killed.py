"""A process that is killed leaves each of its calls whole or not at all, and keeps nobody waiting."""

from __future__ import annotations

import random
import signal
import time
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from tests.stores.making import entry, fresh, ids
from tests.work import FULL

if TYPE_CHECKING:
    from tests.stores.conftest import Home
    from tests.stores.workers import Workers

_LINES = {"kept": 2, "appended": 2}
_ROUNDS = {"sqlite": 40, "postgres": 10} if FULL else {"sqlite": 15, "postgres": 5}


def look(store: Any, reported: list[list[Any]]) -> None:
    """See that what a process reported is there, and that nothing is there by halves."""
    names = ids(store.events("run"))
    assert len(set(names)) == len(names)
    numbered: dict[str, list[str]] = {}
    for name in names:
        envelope, _, number = name.partition("/")
        numbered.setdefault(envelope, []).append(number)
    assert all(each in (["0", "1"], ["0", "1", "2", "3"]) for each in numbered.values())
    for step, name in reported:
        known = store.find("run", name)
        assert known == (entry(name) if name in numbered else None)
        assert step == "handling" or len(numbered[name]) >= _LINES[step] * (1 + (step == "appended"))


def test_killed_at_any_time(home: Home, workers: Workers) -> None:
    """Again and again, at moments that were drawn, with the next at work at once."""
    drawn = random.Random(5)  # noqa: S311  it hides nothing
    reported: list[list[Any]] = []
    for number in range(_ROUNDS[home.kind]):
        worker = workers.start("write", kind=home.kind, address=home.address, name=f"w{number}")
        worker.until(drawn.randrange(1, 12))
        time.sleep(drawn.uniform(0, 0.01))
        reported += worker.kill()
        if number % 5 == 4:
            look(home.again(timeout=20), reported)
    assert len(reported) > _ROUNDS[home.kind]


def test_killed_at_each_statement(home: Home, workers: Workers) -> None:
    """From the first on that opens the place, until one is left alone since it came to its end before."""
    reported: list[list[Any]] = []
    for at in count(1):
        worker = workers.start("step", kind=home.kind, address=home.address, at=at, name=f"w{at}")
        ended = worker.ended()
        reported += worker.reported()
        look(home.again(timeout=20), reported)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
    assert at > 10
    assert [step for step, name in reported if name == f"w{at}"] == ["handling", "kept", "appended"]


def test_killed_while_it_handles(home: Home, workers: Workers) -> None:
    """Whoever waits for it handles the envelope then; nobody has to clean up."""
    store = home.again(timeout=20)
    handling = workers.start("hang", kind=home.kind, address=home.address)
    handling.until(1)
    waiting = workers.start("get_or_create", kind=home.kind, address=home.address, note="mine")
    handling.kill()
    assert waiting.done() == [[True, "mine"]]
    assert store.get_or_create("run", "c", lambda: pytest.fail("it was handled")).entry == entry("mine")
    assert store.get_or_create("run", "d", lambda: fresh("d", "d")).created
    assert ids(store.events("run")) == ["mine", "d"]
