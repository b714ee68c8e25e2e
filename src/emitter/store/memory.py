"""A store in the memory of one process: gone with it, and otherwise held to the same rules as the others."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING

from emitter.store.log import Entry, Fresh, Kept
from emitter.store.text import documents_of, entry_of, following, numbered, text_of, texts_of
from emitter.store.turns import LONG, Turns, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.events import RunEvent
    from emitter.wire import Json


class MemoryStore:
    """Keeps all in memory, as text, so that nobody changes what is kept.

    ``timeout`` is how many seconds a caller waits for another that handles the same envelope.
    """

    __slots__ = ("_entries", "_lock", "_logs", "_timeout", "_turns")

    def __init__(self, *, timeout: float = LONG) -> None:
        self._timeout = seconds(timeout)
        self._turns = Turns()
        self._lock = threading.Lock()
        self._entries: dict[tuple[str, str], str] = {}
        self._logs: defaultdict[str, list[str]] = defaultdict(list)

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Return what is remembered under a correlation id."""
        text = self._entries.get((run_id, correlation_id))
        return None if text is None else entry_of(text)

    def once(self, run_id: str, correlation_id: str, make: Callable[[], Fresh]) -> Kept:
        """Return what is remembered, or what ``make`` returns, which is called once in all; see ``Store``."""
        with self._turns.turn((run_id, correlation_id), self._timeout):
            known = self.find(run_id, correlation_id)
            if known is not None:
                return Kept(known, (), first=False)
            fresh = make()
            text = text_of(fresh.entry)
            with self._lock:
                events = self._add(run_id, fresh.events)
                self._entries[run_id, correlation_id] = text
            return Kept(entry_of(text), events, first=True)

    def forget(self, run_id: str, correlation_id: str) -> None:
        """Delete what is remembered under a correlation id."""
        with self._lock:
            self._entries.pop((run_id, correlation_id), None)

    def append(self, run_id: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        """Add events to the run's log, and return them with their numbers."""
        with self._lock:
            return self._add(run_id, events)

    def events(self, run_id: str, after: int = -1) -> tuple[Mapping[str, Json], ...]:
        """Return the run's log as RunEventDocs, those after sequence ``after``."""
        with self._lock:
            texts = self._logs[run_id][following(after) :] if run_id in self._logs else []
        return documents_of(texts)

    def _add(self, run_id: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        log = self._logs[run_id]
        added = numbered(events, len(log))
        log.extend(texts_of(added))
        return added
