"""Stores and files that note every call made in an event loop's own thread, and take their time."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from emitter.stores import MemoryStore
from emitter.stores.jobs import JobTable
from emitter.stores.sqlite import SqliteDatabase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from emitter.events import RunEvent
    from emitter.messages import Json
    from emitter.stores import Entry, NewEntry, StoredEntry
    from emitter.stores.jobs import SqlDialect


@dataclass
class Watch:
    """The calls that were made, and those of them that an event loop had to wait for."""

    delay: float = 0.0
    calls: list[str] = field(default_factory=list[str])
    in_loop: list[str] = field(default_factory=list[str])

    def note(self, name: str) -> None:
        """Note a call, and take as long as a database does."""
        self.calls.append(name)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            time.sleep(self.delay)
        else:
            self.in_loop.append(name)
            time.sleep(self.delay)

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is noted."""

        def call(*args: Any, **kwargs: Any) -> Any:
            self.note(name)
            return function(*args, **kwargs)

        return call


class WatchedStore:
    """A store that is not in memory as far as the library knows."""

    def __init__(self, watch: Watch, folder: Path | None = None) -> None:
        self._watch, self._folder, self._store = watch, folder, MemoryStore()

    @property
    def jobs(self) -> JobTable:
        """The shared jobs, in a file."""
        assert self._folder is not None
        return JobTable(_WatchedDatabase(self._watch, self._folder / "jobs.db"))

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Return an entry."""
        self._watch.note("find")
        return self._store.find(run_id, correlation_id)

    def get_or_create(self, run_id: str, correlation_id: str, make: Callable[[], NewEntry]) -> StoredEntry:
        """Return an entry, or store it."""
        self._watch.note("get_or_create")
        return self._store.get_or_create(run_id, correlation_id, make)

    def forget(self, run_id: str, correlation_id: str) -> None:
        """Delete an entry."""
        self._watch.note("forget")
        self._store.forget(run_id, correlation_id)

    def append(self, run_id: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        """Append events."""
        self._watch.note("append")
        return self._store.append(run_id, events)

    def events(self, run_id: str, after: int = -1, *, node_id: str | None = None) -> tuple[Mapping[str, Json], ...]:
        """Return events."""
        self._watch.note("events")
        return self._store.events(run_id, after, node_id=node_id)


class _WatchedDatabase:
    def __init__(self, watch: Watch, path: Path) -> None:
        self._watch, self._database = watch, SqliteDatabase(str(path), 20.0)

    @property
    def dialect(self) -> SqlDialect:
        return self._database.dialect

    def transaction(self) -> AbstractContextManager[Any]:
        self._watch.note("transaction")
        return self._database.transaction()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


class Stall(NamedTuple):
    """What held up an event loop, in seconds.

    Attributes:
        waited: The longest time until it came round. On a busy machine, it has the time of other processes.
        computed: The longest processor time until it came round, in which all tasks that were ready computed.
        step: The longest processor time that one task took without giving way.
    """

    waited: float = 0.0
    computed: float = 0.0
    step: float = 0.0


@contextmanager
def stalls() -> Iterator[list[Stall]]:
    """Yield a list that gets the longest stall of the running event loop at the end."""
    found: list[Stall] = []
    with _timed_steps() as steps:
        task = asyncio.ensure_future(_beat(found, steps))
        try:
            yield found
        finally:
            task.cancel()


async def _beat(found: list[Stall], steps: list[float]) -> None:
    waited = computed = 0.0
    try:
        while True:
            started, used = time.perf_counter(), time.thread_time()
            await asyncio.sleep(_BEAT)
            waited = max(waited, time.perf_counter() - started - _BEAT)
            computed = max(computed, time.thread_time() - used)
    finally:
        found.append(Stall(waited, computed, max(steps)))


@contextmanager
def _timed_steps() -> Iterator[list[float]]:
    """Yield a list that gets the processor time of each callback of an event loop."""
    steps: list[float] = []
    run: Any = getattr(asyncio.Handle, "_run")  # noqa: B009  asyncio has no public way to time a callback

    def timed(handle: asyncio.Handle) -> None:
        used = time.thread_time()
        run(handle)
        steps.append(time.thread_time() - used)

    setattr(asyncio.Handle, "_run", timed)  # noqa: B010
    try:
        yield steps
    finally:
        setattr(asyncio.Handle, "_run", run)  # noqa: B010


_BEAT = 0.002
