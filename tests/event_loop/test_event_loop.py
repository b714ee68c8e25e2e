"""No store, journal or file is used in the thread of an event loop, whatever async function is called."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

import pytest

import emitter
from emitter.authority import Authority
from emitter.bulk.journal import JsonlFile
from emitter.decisions.ledger import Ledger
from emitter.telemetry import sinks
from emitter.testing import simulator
from tests.event_loop.watching import Watch
from tests.event_loop.ways import WAYS, World, answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Return a world whose store and files are watched."""
    watch = Watch()
    for owner, name in ((JsonlFile, "append"), (JsonlFile, "read_at"), (JsonlFile, "load"), (sinks, "_append")):
        kind: Any = owner
        monkeypatch.setattr(kind, name, watch.around(name, getattr(kind, name)))
    with simulator(answers=answer) as vendor:
        yield World(vendor, tmp_path, watch)


@pytest.mark.parametrize("name", WAYS)
def test_an_event_loop_waits_for_no_store_and_no_file(name: str, world: World) -> None:
    """The calls are made in other threads."""
    asyncio.run(world.try_out(WAYS[name]))

    assert world.watch.calls
    assert world.watch.in_loop == []


def test_every_async_function_is_tried() -> None:
    """Each async function of the package, and each async method of what has a store, is in the table."""
    tried = {word.strip(",") for name in WAYS for word in name.replace(".", " ").split()}
    functions = {
        name
        for name in emitter.__all__
        if inspect.iscoroutinefunction(getattr(emitter, name)) or name.startswith(("aemit", "astream"))
    }
    methods = {
        name
        for kind in (Authority, Ledger)
        for name, each in vars(kind).items()
        if inspect.iscoroutinefunction(each) and not name.startswith("_")
    }
    assert functions | methods <= tried
