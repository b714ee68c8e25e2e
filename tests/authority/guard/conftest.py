"""Where guarded calls are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.stores import MemoryStore, SqliteStore
from tests.authority.guard.forms import Office

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from emitter.stores import Store


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return a store of each kind that holds nothing."""
    if request.param == "memory":
        yield MemoryStore()
        return
    with SqliteStore(tmp_path / "store.db", timeout=20) as made:
        yield made


@pytest.fixture
def office() -> Office:
    """Return one in which nothing was done."""
    return Office()
