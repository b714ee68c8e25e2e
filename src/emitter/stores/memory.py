"""A store in the memory of one process."""

from __future__ import annotations

import threading
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from emitter.stores.locks import DEFAULT_TIMEOUT, KeyLocks, check_timeout
from emitter.stores.protocol import (
    Entry,
    NewEntry,
    ScannedEntry,
    StoredEntry,
    next_sequence,
    number_events,
    parse_entry,
    parse_events,
    serialize_entry,
    serialize_events,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.events import RunEvent
    from emitter.messages import Json


class MemoryStore:
    """A store in memory. Entries are kept as JSON text, so callers cannot change them.

    Args:
        timeout: How many seconds a call waits for another one that handles the same envelope.
    """

    __slots__ = ("_entries", "_key_locks", "_lock", "_logs", "_nodes", "_orders", "_timeout")

    def __init__(self, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        self._timeout = check_timeout(timeout)
        self._key_locks = KeyLocks()
        self._lock = threading.Lock()
        self._entries: dict[tuple[str, str], str] = {}
        self._orders: defaultdict[str, list[str | None]] = defaultdict(list)  # the ids of a run's entries by position
        self._logs: defaultdict[str, list[str]] = defaultdict(list)
        self._nodes: defaultdict[tuple[str, str], list[int]] = defaultdict(list)  # the sequences of a node's events

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Return the entry of a correlation id, or None."""
        text = self._entries.get((run_id, correlation_id))
        return None if text is None else parse_entry(text)

    def get_or_create(self, run_id: str, correlation_id: str, make: Callable[[], NewEntry]) -> StoredEntry:
        """Return the entry, or store the result of ``make``, which runs once. See ``Store``."""
        with self._key_locks.hold((run_id, correlation_id), self._timeout):
            entry = self.find(run_id, correlation_id)
            if entry is not None:
                return StoredEntry(entry, (), created=False)
            new = make()
            text = serialize_entry(new.entry)
            with self._lock:
                events = self._append(run_id, new.events)
                self._entries[run_id, correlation_id] = text
                self._orders[run_id].append(correlation_id)
            return StoredEntry(parse_entry(text), events, created=True)

    def forget(self, run_id: str, correlation_id: str) -> None:
        """Delete the entry of a correlation id, if there is one."""
        with self._lock:
            if self._entries.pop((run_id, correlation_id), None) is not None:
                order = self._orders[run_id]
                order[order.index(correlation_id)] = None

    def entries(self, run_id: str, after: int = -1, *, limit: int | None = None) -> tuple[ScannedEntry, ...]:
        """Return the entries of a run that were stored after a position, oldest first. See ``ScanningStore``."""
        with self._lock:
            order = self._orders.get(run_id, ())
            first = min(max(after + 1, 0), len(order))
            kept = ((number, name) for number, name in enumerate(order[first:], first) if name is not None)
            rows = [(number, name, self._entries[run_id, name]) for number, name in islice(kept, limit)]
        return tuple(ScannedEntry(number, name, parse_entry(text)) for number, name, text in rows)

    def append(self, run_id: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        """Append events to the run's log and return them numbered."""
        with self._lock:
            return self._append(run_id, events)

    def events(self, run_id: str, after: int = -1, *, node_id: str | None = None) -> tuple[Mapping[str, Json], ...]:
        """Return the events of the run's log after sequence ``after``, or of one node, as RunEventDocs."""
        first = next_sequence(after)
        with self._lock:
            log: Sequence[str] = self._logs.get(run_id, ())
            if node_id is None:
                texts = log[first:]
            else:
                texts = [log[number] for number in self._nodes.get((run_id, node_id), ()) if number >= first]
        return parse_events(texts)

    def _append(self, run_id: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        log = self._logs[run_id]
        added = number_events(events, len(log))
        log.extend(serialize_events(added))
        for event in added:
            self._nodes[run_id, event.node_id].append(event.sequence)
        return added


def works_in_memory(store: object) -> bool:
    """Return whether a store's calls never wait for a file or a network. A subclass may wait for anything."""
    return type(store) is MemoryStore
