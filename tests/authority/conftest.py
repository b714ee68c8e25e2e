"""Stores of every kind in which authority is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.stores import MemoryStore, SqliteStore, SqlStore
from tests.stores.postgres import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from emitter.stores import Store
    from tests.stores.postgres import Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Run a PostgreSQL server; skip where there is none."""
    with running() as server:
        yield server


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return an empty store of each kind."""
    match request.param:
        case "memory":
            yield MemoryStore()
        case "sqlite":
            with SqliteStore(tmp_path / "any.db", timeout=20) as file:
                yield file
        case _:
            server: Postgres = request.getfixturevalue("postgres")
            with SqlStore(server.empty(), timeout=20) as database:
                yield database
