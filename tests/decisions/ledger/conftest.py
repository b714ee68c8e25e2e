"""Places that a ledger outlives its process in, and one that it does not."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions.ledger import Ledger
from emitter.stores import MemoryStore, SqliteStore
from tests.decisions.ledger.asking import Hand, Told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


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
) -> Iterator[Callable[..., Ledger]]:
    """Return what opens a ledger on what is there, as after a restart."""
    memory = MemoryStore()
    with ExitStack() as closing:

        def opened(**settings: Any) -> Ledger:
            file = tmp_path / "ledger.db"
            store = memory if request.param == "memory" else closing.enter_context(SqliteStore(file, timeout=20))
            return Ledger(store, **{"clock": clock, "on_event": reported, **settings})

        yield opened


@pytest.fixture
def ledger(clock: Hand, reported: Told) -> Ledger:
    """Return a ledger in memory, in which nothing stands."""
    return Ledger(clock=clock, on_event=reported)
