"""The places where stores keep things."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from emitter.stores import MemoryStore
from tests.stores.jobs import opened
from tests.stores.postgres import running
from tests.stores.workers import working

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.stores.postgres import Postgres
    from tests.stores.workers import Workers


@dataclass
class Home:
    """A place that holds nothing at first, and the stores that were opened on it."""

    kind: str
    address: str
    closing: ExitStack = field(default_factory=ExitStack)

    def again(self, **settings: float) -> Any:
        """Return a store on what is there, as another process would open it."""
        return self.closing.enter_context(opened(self.kind, self.address, **settings))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Run a PostgreSQL server."""
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    """Run the program that starts processes."""
    if not hasattr(os, "fork"):
        pytest.skip("this system forks no processes")
    with working(tmp_path_factory.mktemp("workers")) as crew:
        yield crew


@pytest.fixture(params=["sqlite", "postgres"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    """Return a place that outlives a process."""
    place = Home(request.param, _address(request, tmp_path))
    with place.closing:
        yield place


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store_for(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Return what makes stores of a kind."""
    if request.param == "memory":
        yield MemoryStore
        return
    place = Home(request.param, _address(request, tmp_path))
    with place.closing:
        yield place.again


@pytest.fixture
def store(store_for: Callable[..., Any]) -> Any:
    """Return a store of each kind that holds nothing."""
    return store_for(timeout=20)


def _address(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param.startswith("sqlite"):
        return str(folder / "store.db")
    return request.getfixturevalue("postgres").empty()
