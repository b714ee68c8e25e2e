"""A store on PostgreSQL, for processes on several machines. Needs the extra ``sql``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from emitter.errors import MissingExtra
from emitter.stores.jobs import JobTable
from emitter.stores.locks import DEFAULT_TIMEOUT, KeyLocks, check_timeout
from emitter.stores.protocol import (
    Entry,
    NewEntry,
    ScannedEntry,
    StoredEntry,
    decode_key,
    encode_key,
    next_sequence,
    parse_entry,
    parse_events,
    serialize_entry,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from sqlalchemy import URL, Engine

    from emitter.events import RunEvent
    from emitter.messages import Json
    from emitter.stores.postgresql import PostgresDatabase


class SqlStore:
    """A store in the ``emitter_*`` tables of a PostgreSQL database, created if needed.

    A handler holds one connection while it runs. Close the store, or use it as a context manager.

    Args:
        server: A URL such as ``postgresql://user:password@host/database``, or an SQLAlchemy engine. You close an engine
            of your own, and renew it after a fork.
        timeout: How many seconds a call waits for other calls.

    Raises:
        MissingExtra: SQLAlchemy or the driver is not installed.
        InputError: It is another kind of database.
        StoreFailed: The server cannot be reached.
    """

    __slots__ = ("_database", "_jobs", "_key_locks", "_timeout")

    def __init__(self, server: str | URL | Engine, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        self._timeout = check_timeout(timeout)
        self._key_locks = KeyLocks()
        self._database = _open_database(server, self._timeout)
        self._jobs: JobTable | None = None

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Return the entry of a correlation id, or None."""
        return self._find(encode_key(run_id), encode_key(correlation_id))

    def get_or_create(self, run_id: str, correlation_id: str, make: Callable[[], NewEntry]) -> StoredEntry:
        """Return the entry, or store the result of ``make``, which runs once. See ``Store``.

        Only calls for the same envelope wait. Events that ``make`` itself appends are stored at once.
        """
        run, correlation = encode_key(run_id), encode_key(correlation_id)
        # The threads of this process wait for each other here, so that only one connection waits in the database.
        with self._key_locks.hold((run, correlation), self._timeout):
            # Another process's claim may end without an entry, because its handler failed: then try to claim again.
            while (entry := self._find(run, correlation)) is None:
                with self._database.claim(run, correlation) as claim:
                    if claim is not None:
                        new = make()
                        text = serialize_entry(new.entry)
                        return StoredEntry(parse_entry(text), claim.save(text, new.events), created=True)
        return StoredEntry(entry, (), created=False)

    def forget(self, run_id: str, correlation_id: str) -> None:
        """Delete the entry of a correlation id. PostgreSQL overwrites the row when it vacuums."""
        self._database.forget(encode_key(run_id), encode_key(correlation_id))

    def entries(self, run_id: str, after: int = -1, *, limit: int | None = None) -> tuple[ScannedEntry, ...]:
        """Return the entries of a run that were stored after a position, oldest first. See ``ScanningStore``."""
        rows = self._database.scan(encode_key(run_id), after, limit)
        return tuple(ScannedEntry(position, decode_key(name), parse_entry(text)) for position, name, text in rows)

    def append(self, run_id: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        """Append events to the run's log and return them numbered."""
        return self._database.append(encode_key(run_id), events)

    def events(self, run_id: str, after: int = -1, *, node_id: str | None = None) -> tuple[Mapping[str, Json], ...]:
        """Return the events of the run's log after sequence ``after``, or of one node, as RunEventDocs."""
        node = None if node_id is None else encode_key(node_id)
        return parse_events(self._database.read_events(encode_key(run_id), next_sequence(after), node))

    @property
    def jobs(self) -> JobTable:
        """The jobs and limits that all processes share."""
        if self._jobs is None:
            self._jobs = JobTable(self._database)
        return self._jobs

    def close(self) -> None:
        """Close the connections, unless the engine is yours. Calls in progress finish first."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _find(self, run: str, correlation: str) -> Entry | None:
        text = self._database.find(run, correlation)
        return None if text is None else parse_entry(text)


def _open_database(address: str | URL | Engine, timeout: float) -> PostgresDatabase:
    try:
        from emitter.stores.postgresql import PostgresDatabase  # noqa: PLC0415  SQLAlchemy is an extra

        database = PostgresDatabase(address, timeout)
    except ImportError as error:
        raise MissingExtra("SQLAlchemy, or the driver for PostgreSQL, is not installed.", extra="sql") from error
    try:
        database.create_tables()
    except BaseException:
        database.close()
        raise
    return database
