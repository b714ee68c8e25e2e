"""Places where authority is kept, and processes that share them."""

from __future__ import annotations

import json
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.stores import MemoryStore, SqliteStore
from tests.decisions.ledger.asking import Hand, Told
from tests.launching import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ROOT = Path(__file__).parents[3]


@pytest.fixture
def clock() -> Hand:
    """Return a clock that stands still."""
    return Hand()


@pytest.fixture
def reported() -> Told:
    """Return a sink that keeps what it is reported."""
    return Told()


@pytest.fixture(params=["memory", "sqlite"])
def again(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Hand, reported: Told
) -> Iterator[Callable[..., Authority]]:
    """Return what opens an authority on what is there, as another process would."""
    memory = MemoryStore()
    with ExitStack() as closing:

        def opened(**settings: Any) -> Authority:
            file = tmp_path / "authority.db"
            store = memory if request.param == "memory" else closing.enter_context(SqliteStore(file, timeout=20))
            return Authority(store, **{"clock": clock, "on_event": reported, **settings})

        yield opened


@pytest.fixture
def authority(clock: Hand, reported: Told) -> Authority:
    """Return an authority in memory, in which nothing stands."""
    return Authority(clock=clock, on_event=reported)


@pytest.fixture
def told_by() -> Callable[..., list[list[Any]]]:
    """Return what runs ``tests.authority.execution.process``, and returns what its processes reported."""

    def run(*arguments: object) -> list[list[Any]]:
        command = launch("tests.authority.execution.process", *map(str, arguments))
        done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run
