"""The workflows that have a record, in the order in which they began; the store's log of events tells of each as well.

A list is no chain: a row of it that is taken out, or edited, would hide a workflow, and with it what has no receipt.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from emitter.authority import telling
from emitter.errors import EmitterError, Tampered
from emitter.store import Entry, Fresh

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.store import Store
    from emitter.wire import Json

INDEX: Final = "emitter.authority"
"""The run whose log names the workflows, and under which is kept what concerns no single one."""


class Listing:
    """The list in a store; what was read of it stands, and is not read again."""

    __slots__ = ("_clock", "_count", "_guard", "_names", "_noted", "_store")

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self.begin_anew()

    def begin_anew(self) -> None:
        """Leave what was read, and who reads it, to the parent of a child that was forked."""
        self._guard = threading.Lock()
        self._names = dict[str, None]()
        self._count = 0
        self._noted = -1

    def names(self) -> tuple[str, ...]:
        """Return the workflows; raises ``Tampered`` where the log tells of one that is not listed."""
        with self._guard:
            self._read()
            while events := log_of(self._store, INDEX, self._noted):
                self._read()  # another may have been listed meanwhile
                for event in events:
                    self._check(event)
            return tuple(self._names)

    def put(self, workflow_id: str) -> None:
        """Have a workflow listed, before its first line stands."""
        told = telling.stamped(telling.opened(), INDEX, self._clock(), workflow_id)
        fresh = Fresh(Entry("workflow", {"workflow_id": workflow_id}, {}), (told,))
        while workflow_id not in self.names():
            self._store.once(INDEX, _nth(self._count), lambda: fresh)

    def _read(self) -> None:
        while (entry := self._store.find(INDEX, _nth(self._count))) is not None:
            name = entry.outcome.get("workflow_id")
            if not isinstance(name, str):
                raise _amiss()
            self._names[name] = None
            self._count += 1

    def _check(self, event: Mapping[str, Json]) -> None:
        if telling.is_opened(event) and event.get("causationId") not in self._names:
            raise _amiss()
        self._noted = max(self._noted + 1, event["sequence"])  # whatever it says, the next one is another


def log_of(store: Store, run: str, after: int = -1) -> tuple[Mapping[str, Json], ...]:
    """Return a run's events, those after a number; raises ``Tampered`` where one of them is none."""
    try:
        events = store.events(run, after)
    except EmitterError:
        raise
    except (ValueError, RecursionError):
        raise _no_log() from None
    if not all(isinstance(each, Mapping) and type(each.get("sequence")) is int for each in events):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _no_log()
    return events


def _no_log() -> Tampered:
    place = "the store's log"
    return Tampered(f"{place} is nothing that this library wrote.", place=place)


def _nth(number: int) -> str:
    return f"workflow:{number}"


def _amiss() -> Tampered:
    place = "the list of workflows"
    return Tampered(f"{place} is not what was written: the store's log tells of others.", place=place)
