"""A store in one file, for the processes of one machine: SQLite in WAL mode.

Beside the file stand SQLite's own ``-wal`` and ``-shm``, and ``-once``, the locks of envelopes that are being
handled: they are not held by a transaction, so a handler may take its time, and may itself use the store.
"""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING, Self

from emitter.errors import InputError
from emitter.store import claims
from emitter.store.database import Database
from emitter.store.log import Entry, Fresh, Kept
from emitter.store.text import documents_of, entry_of, following, key, numbered, text_of, texts_of
from emitter.store.turns import LONG, seconds

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from emitter.events import RunEvent
    from emitter.store.claims import Claims
    from emitter.wire import Json

_OPENING = 0
"""The byte whose lock is held while a new file is made a store: no envelope's."""
_FIND = "SELECT entry, checksum FROM entries WHERE run_id = ? AND correlation_id = ?"
_KEEP = "INSERT INTO entries VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
_FORGET = "DELETE FROM entries WHERE run_id = ? AND correlation_id = ?"
_NEXT = "SELECT coalesce(max(sequence) + 1, 0) FROM events WHERE run_id = ?"
_APPEND = "INSERT INTO events VALUES (?, ?, ?, ?)"
_EVENTS = "SELECT sequence, document, checksum FROM events WHERE run_id = ? AND sequence >= ? ORDER BY sequence"


class SqliteStore:
    """Keeps all in a file, made where there is none; what a call wrote is on the disk when it returns.

    ``timeout`` is how many seconds a caller waits for others: those that write, and the one that handles the
    same envelope. Threads and processes may share the file, a forked child the store as well; close it, or use
    it as a context manager.
    A file that is created is readable by its owner alone. Raises ``InputError`` for a file that is no store or
    cannot be one, and ``StoreAltered`` where a value that is read is not the one that was written.
    """

    __slots__ = ("_claims", "_database", "_open", "_timeout")

    def __init__(self, path: str | Path, *, timeout: float = LONG) -> None:
        place = _place(path)
        self._timeout = seconds(timeout)
        self._database = Database(place, self._timeout)
        try:
            self._claims = _begun(self._database, self._timeout)
        except BaseException:
            self._database.close()
            raise
        self._open = True

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Return what is remembered under a correlation id."""
        return self._find(key(run_id), key(correlation_id))

    def once(self, run_id: str, correlation_id: str, make: Callable[[], Fresh]) -> Kept:
        """Return what is remembered, or what ``make`` returns, which is called once in all; see ``Store``.

        Others wait with the same envelope only. What ``make`` itself adds to the store is there at once.
        """
        run, correlation = key(run_id), key(correlation_id)
        known = self._find(run, correlation)
        if known is None:
            with self._claims.held(claims.byte_of(run, correlation), self._timeout):
                known = self._find(run, correlation)  # another may have handled it while this one waited
                if known is None:
                    return self._kept(run, correlation, make())
        return Kept(known, (), first=False)

    def forget(self, run_id: str, correlation_id: str) -> None:
        """Delete what is remembered under a correlation id, and overwrite it in the file and its ``-wal``.

        The ``-wal`` keeps a copy until the next checkpoint where another connection is reading it at this moment.
        """
        with self._database.writing() as connection:
            connection.execute(_FORGET, (key(run_id), key(correlation_id)))
        with self._database.lent() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def append(self, run_id: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        """Add events to the run's log, and return them with their numbers."""
        with self._database.writing() as connection:
            return _added(connection, key(run_id), events)

    def events(self, run_id: str, after: int = -1) -> tuple[Mapping[str, Json], ...]:
        """Return the run's log as RunEventDocs, those after sequence ``after``."""
        with self._database.lent() as connection:
            run, first = key(run_id), following(after)
            rows = connection.execute(_EVENTS, (run, first)).fetchall()
        # The beginning of a log may be pruned; what follows has no gaps.
        if any(sequence != number for number, (sequence, _, _) in enumerate(rows, rows[0][0] if rows else 0)):
            raise self._database.damaged()
        return documents_of(self._checked(text, written, run, sequence) for sequence, text, written in rows)

    def close(self) -> None:
        """Close the files; calls that are under way come to their end."""
        if self._open:
            self._open = False
            self._database.close()
            claims.close(self._claims)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _find(self, run: str, correlation: str) -> Entry | None:
        with self._database.lent() as connection:
            row = connection.execute(_FIND, (run, correlation)).fetchone()
        return None if row is None else entry_of(self._checked(*row, run, correlation))

    def _kept(self, run: str, correlation: str, fresh: Fresh) -> Kept:
        text = text_of(fresh.entry)
        with self._database.writing() as connection:
            # Only where somebody took the file of locks away has another kept it meanwhile, whose word then counts.
            row = (run, correlation, text, checksum(text, run, correlation))
            first = connection.execute(_KEEP, row).rowcount == 1
            events = _added(connection, run, fresh.events) if first else ()
            kept = connection.execute(_FIND, (run, correlation)).fetchone()
        return Kept(entry_of(self._checked(*kept, run, correlation)), events, first)

    def _checked(self, text: object, written: object, *names: object) -> str:
        """Return the text of a row; raises ``StoreAltered`` where it is not what was written there."""
        if not isinstance(text, str) or written != checksum(text, *names):
            raise self._database.damaged()
        return text


def _place(path: str | Path) -> str:
    place = os.fspath(path)
    if place in {"", ":memory:"}:
        raise InputError("SqliteStore keeps a file.", hint="Use MemoryStore() for a store without one.")
    return os.path.realpath(place)


def _begun(database: Database, timeout: float) -> Claims:
    """Make a new file a store, and return its file of locks; of many at once one makes it."""
    new = database.is_new()
    locks = claims.opened(f"{database.place}-once")
    try:
        if new:
            with locks.held(_OPENING, timeout):
                if database.is_new():
                    database.begin()
    except BaseException:
        claims.close(locks)
        raise
    return locks


def checksum(text: str, *names: object) -> int:
    """Return the checksum of a row: of its text and of where it stands. It finds accidents, not forgeries."""
    return zlib.crc32("\n".join([*map(str, names), text]).encode())


def _added(connection: sqlite3.Connection, run: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
    (first,) = connection.execute(_NEXT, (run,)).fetchone()
    added = numbered(events, first)
    for event, text in zip(added, texts_of(added), strict=True):
        connection.execute(_APPEND, (run, event.sequence, text, checksum(text, run, event.sequence)))
    return added
