"""The threads of a run, in which its journal or store is read and written, end with it and not with its object."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from emitter import aemit_many, emit_many
from emitter.bulk.batches import Batch
from emitter.stores import SqliteStore
from emitter.threads import run_blocking, thread_scope
from tests.bulk.asking import MODEL, Numbered, task
from tests.bulk.batches.asking import Time
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytest.importorskip("openai")


_EARLIER = set[threading.Thread]()


@pytest.fixture(autouse=True)
def _earlier() -> None:
    """Leave out the threads of earlier tests, whose loops were not collected yet."""
    _EARLIER.clear()
    _EARLIER.update(threading.enumerate())


def names() -> list[str]:
    """Return the names of the threads that write a journal or a store, or that run a loop of a run."""
    added = (each.name for each in threading.enumerate() if each not in _EARLIER)
    return [name for name in added if name.startswith(("emitter_", "emitter.many"))]


class StopError(Exception):
    """What the caller raises to leave a run."""


KEPT: dict[str, Callable[[Path], dict[str, Any]]] = {
    "journal": lambda folder: {"journal": folder / "journal"},
    "store": lambda folder: {"store": SqliteStore(folder / "store.db")},
}


def _all(run: Any) -> None:
    run.results()


def _leave(run: Any) -> None:
    with suppress(StopError), run:
        for _ in run:
            raise StopError


def _close(run: Any) -> None:
    next(iter(run))
    run.close()


async def _aall(run: Any) -> None:
    await run.results()


async def _aleave(run: Any) -> None:
    with suppress(StopError):
        async with run:
            async for _ in run:
                raise StopError


async def _aclose(run: Any) -> None:
    await anext(aiter(run))
    await run.aclose()


async def _acancel(run: Any) -> None:
    async def read() -> None:
        async for _ in run:
            reading.cancel()

    reading = asyncio.ensure_future(read())
    with suppress(asyncio.CancelledError):
        await reading
    await run.aclose()


async def _atimeout(run: Any) -> None:
    async def first() -> None:
        async for _ in run:
            raise TimeoutError

    with suppress(TimeoutError):
        async with asyncio.timeout(30):
            await first()
    await run.aclose()


SYNC: dict[str, Callable[[Any], None]] = {"all": _all, "leave": _leave, "close": _close}
ASYNC: dict[str, Callable[[Any], Any]] = {
    "all": _aall,
    "leave": _aleave,
    "close": _aclose,
    "cancel": _acancel,
    "timeout": _atimeout,
}


def _break() -> Iterator[str]:
    yield from map(task, range(8))
    raise StopError


INPUTS: dict[str, Callable[[], Any]] = {
    "success": lambda: map(task, range(12)),
    "failure": lambda: (task(number, "refuse") for number in range(12)),
    "inputs that raise": _break,
}


async def _arun(way: str, inputs: str, kept: dict[str, Any]) -> tuple[list[str], object]:
    run = aemit_many(Numbered, INPUTS[inputs](), model=MODEL, in_flight=3, **kept)
    with suppress(StopError):
        await ASYNC[way](run)
    return names(), run


@pytest.mark.usefixtures("vendor")
@pytest.mark.parametrize(("way", "inputs", "kept"), covering(SYNC, INPUTS, KEPT))
def test_a_run(way: str, inputs: str, kept: str, tmp_path: Path) -> None:
    """None is left when the call returns, although the run is still there."""
    run = emit_many(Numbered, INPUTS[inputs](), model=MODEL, in_flight=3, **KEPT[kept](tmp_path))
    with suppress(StopError):
        SYNC[way](run)
    assert names() == []
    assert run.stats.done


@pytest.mark.usefixtures("vendor")
@pytest.mark.parametrize(("way", "inputs", "kept"), covering(ASYNC, INPUTS, KEPT))
def test_an_async_run(way: str, inputs: str, kept: str, tmp_path: Path) -> None:
    """None is left in the loop, which goes on."""
    left, _run = asyncio.run(_arun(way, inputs, KEPT[kept](tmp_path)))
    assert left == []


@pytest.mark.usefixtures("vendor")
def test_a_batch(tmp_path: Path) -> None:
    """Its journal is written in threads, too."""
    run = emit_many(
        Numbered, map(task, range(3)), model=MODEL, batch=Batch(), journal=tmp_path / "journal", clock=Time().clock()
    )
    assert len(run.results()) == 3
    assert names() == []


def test_scopes_within_a_loop() -> None:
    """The threads end with the last one. A call that began before is completed, and a later one has new threads."""
    begun, may_end = threading.Event(), threading.Event()

    def call() -> str:
        begun.set()
        may_end.wait()
        return threading.current_thread().name

    async def main() -> None:
        with thread_scope():
            with thread_scope():
                await run_blocking(int)
            assert names() == ["emitter_0"]
        assert names() == []
        other = asyncio.ensure_future(run_blocking(call))
        with thread_scope():
            await asyncio.to_thread(begun.wait)
        may_end.set()
        assert await other == "emitter_0"
        with thread_scope():
            assert await run_blocking(int) == 0
        assert [each for each in names() if each != "emitter_0"] == []

    asyncio.run(main())
