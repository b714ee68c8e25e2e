"""A store in one SQLite file (WAL mode), for the processes of one machine.

Next to the file, SQLite keeps ``-wal`` and ``-shm``, and emitter keeps ``-once``, the locks of the envelopes in
progress. No transaction is open while a handler runs, so it may take long and may use the store itself.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from emitter.errors import InputError, StoreAltered, StoreFailed
from emitter.files import check_path, create_private, is_file
from emitter.stores.jobs import JobTable, SqlDialect
from emitter.stores.locks import (
    DEFAULT_TIMEOUT,
    check_timeout,
    close_file_locks,
    closed_error,
    lock_offset,
    open_file_locks,
    register_fork_handler,
)
from emitter.stores.protocol import (
    Entry,
    NewEntry,
    ScannedEntry,
    StoredEntry,
    decode_key,
    encode_key,
    next_sequence,
    number_events,
    parse_entry,
    parse_events,
    serialize_entry,
    serialize_events,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from types import TracebackType

    from emitter.events import RunEvent
    from emitter.messages import Json
    from emitter.stores.locks import FileLocks

_CREATION_LOCK_OFFSET = 0
"""The byte that is locked while a new file is initialised; no envelope maps to it."""
_SELECT_ENTRY = "SELECT entry, checksum FROM entries WHERE run_id = ? AND correlation_id = ?"
_SCAN_ENTRIES = (
    "SELECT position, correlation_id, entry, checksum FROM entries "
    "WHERE run_id = ? AND position > ? ORDER BY position LIMIT ?"
)
_INSERT_ENTRY = (
    "INSERT INTO entries (run_id, correlation_id, entry, checksum) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_DELETE_ENTRY = "DELETE FROM entries WHERE run_id = ? AND correlation_id = ?"
_NEXT_SEQUENCE = "SELECT coalesce(max(sequence) + 1, 0) FROM events WHERE run_id = ?"
_INSERT_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?)"
_SELECT_EVENTS = "SELECT sequence, document, checksum FROM events WHERE run_id = ? AND sequence >= ? ORDER BY sequence"
_SELECT_NODE_EVENTS = (
    "SELECT sequence, document, checksum FROM events "
    "WHERE run_id = ? AND node_id = ? AND sequence >= ? ORDER BY sequence"
)


class SqliteStore:
    """A store in an SQLite file, for threads, processes and forked children of one machine.

    The file is created if needed, readable by its owner alone. A write is on the disk when the call returns. Close the
    store, or use it as a context manager.

    Args:
        path: The file.
        timeout: How many seconds a call waits for other writers, or for another call that handles the same envelope.

    Raises:
        InputError: The file cannot be opened, or is not a store.
        StoreAltered: A value that is read is not the one that was written.
    """

    __slots__ = ("_database", "_jobs", "_locks", "_open", "_timeout")

    def __init__(self, path: str | Path, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        self._timeout = check_timeout(timeout)
        self._database = SqliteDatabase(_resolve_path(path), self._timeout)
        try:
            self._locks = _create_if_new(self._database, self._timeout)
        except BaseException:
            self._database.close()
            raise
        self._open = True
        self._jobs: JobTable | None = None

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Return the entry of a correlation id, or None."""
        return self._find(encode_key(run_id), encode_key(correlation_id))

    def get_or_create(self, run_id: str, correlation_id: str, make: Callable[[], NewEntry]) -> StoredEntry:
        """Return the entry, or store the result of ``make``, which runs once. See ``Store``.

        Only calls for the same envelope wait. Events that ``make`` itself appends are stored at once.
        """
        run, correlation = encode_key(run_id), encode_key(correlation_id)
        entry = self._find(run, correlation)
        if entry is None:
            with self._locks.hold(lock_offset(run, correlation), self._timeout):
                entry = self._find(run, correlation)  # another process may have stored it meanwhile
                if entry is None:
                    return self._insert(run, correlation, make())
        return StoredEntry(entry, (), created=False)

    def forget(self, run_id: str, correlation_id: str) -> None:
        """Delete the entry of a correlation id, and overwrite it in the file and its ``-wal``.

        If another connection is reading the ``-wal`` now, a copy stays there until the next checkpoint.
        """
        with self._database.transaction() as connection:
            connection.execute(_DELETE_ENTRY, (encode_key(run_id), encode_key(correlation_id)))
        with self._database.connection() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def entries(self, run_id: str, after: int = -1, *, limit: int | None = None) -> tuple[ScannedEntry, ...]:
        """Return the entries of a run that were stored after a position, oldest first. See ``ScanningStore``."""
        run = encode_key(run_id)
        with self._database.connection() as connection:
            rows = connection.execute(_SCAN_ENTRIES, (run, after, -1 if limit is None else limit)).fetchall()
        return tuple(
            ScannedEntry(position, decode_key(name), parse_entry(self._verify_row(text, checksum, run, name)))
            for position, name, text, checksum in rows
        )

    def append(self, run_id: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        """Append events to the run's log and return them numbered."""
        with self._database.transaction() as connection:
            return _insert_events(connection, encode_key(run_id), events)

    def events(self, run_id: str, after: int = -1, *, node_id: str | None = None) -> tuple[Mapping[str, Json], ...]:
        """Return the events of the run's log after sequence ``after``, or of one node, as RunEventDocs."""
        run, first = encode_key(run_id), next_sequence(after)
        with self._database.connection() as connection:
            if node_id is None:
                rows = connection.execute(_SELECT_EVENTS, (run, first)).fetchall()
                # The beginning of a log may be pruned, but the rest has no gaps.
                if any(sequence != number for number, (sequence, _, _) in enumerate(rows, rows[0][0] if rows else 0)):
                    raise self._database.damaged_error()
            else:
                rows = connection.execute(_SELECT_NODE_EVENTS, (run, encode_key(node_id), first)).fetchall()
        return parse_events(self._verify_row(text, checksum, run, sequence) for sequence, text, checksum in rows)

    @property
    def jobs(self) -> JobTable:
        """The jobs and limits that the processes of this machine share."""
        if self._jobs is None:
            self._jobs = JobTable(self._database)
        return self._jobs

    def close(self) -> None:
        """Close the files. Calls in progress finish first."""
        if self._open:
            self._open = False
            self._database.close()
            close_file_locks(self._locks)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _find(self, run: str, correlation: str) -> Entry | None:
        with self._database.connection() as connection:
            row = connection.execute(_SELECT_ENTRY, (run, correlation)).fetchone()
        return None if row is None else parse_entry(self._verify_row(*row, run, correlation))

    def _insert(self, run: str, correlation: str, new_entry: NewEntry) -> StoredEntry:
        text = serialize_entry(new_entry.entry)
        with self._database.transaction() as connection:
            # A conflict is only possible if the lock file was deleted. The entry that is stored counts then.
            row = (run, correlation, text, row_checksum(text, run, correlation))
            created = connection.execute(_INSERT_ENTRY, row).rowcount == 1
            events = _insert_events(connection, run, new_entry.events) if created else ()
            stored = connection.execute(_SELECT_ENTRY, (run, correlation)).fetchone()
        return StoredEntry(parse_entry(self._verify_row(*stored, run, correlation)), events, created)

    def _verify_row(self, text: object, stored_checksum: object, *names: object) -> str:
        """Return the text of a row. Raises ``StoreAltered`` if its checksum is wrong."""
        if not isinstance(text, str) or stored_checksum != row_checksum(text, *names):
            raise self._database.damaged_error()
        return text


_DIALECT = SqlDialect(
    now="((julianday('now') - 2440587.5) * 86400.0)",
    each_key="json_each(:keys) AS k",
    lock_claims="",
    lock_row="",
    number="REAL",
    lock_creation="SELECT 1",
)


def _resolve_path(path: str | Path) -> str:
    if path in ("", ":memory:"):
        raise InputError("SqliteStore needs the path of a file.", hint="Use MemoryStore() for a store in memory.")
    return os.path.realpath(check_path("path", path))


def _create_if_new(database: SqliteDatabase, timeout: float) -> FileLocks:
    """Initialise a new file or migrate an older one, in one process only, and return its lock file."""
    version = database.format_version()
    locks = open_file_locks(f"{database.path}-once")
    try:
        if version != _FORMAT_VERSION:
            with locks.hold(_CREATION_LOCK_OFFSET, timeout):
                database.create_or_migrate()
    except BaseException:
        close_file_locks(locks)
        raise
    return locks


def row_checksum(text: str, *names: object) -> int:
    """Return the checksum of a row: its text and its key. It detects accidents, not forgeries."""
    return zlib.crc32("\n".join([*map(str, names), text]).encode())


def _insert_events(connection: sqlite3.Connection, run: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
    (first,) = connection.execute(_NEXT_SEQUENCE, (run,)).fetchone()
    added = number_events(events, first)
    for event, text in zip(added, serialize_events(added), strict=True):
        checksum = row_checksum(text, run, event.sequence)
        connection.execute(_INSERT_EVENT, (run, event.sequence, encode_key(event.node_id), text, checksum))
    return added


_APPLICATION_ID = 0x656D6974
"""Marks a file as a store of this library: ``emit`` in ASCII."""
_FORMAT_VERSION = 4
_HEADER_QUERY = (
    "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
    "FROM pragma_application_id, pragma_user_version"
)
_EMPTY_HEADER = (0, 0, 0)
_ENTRIES = (
    # With AUTOINCREMENT, the position of a deleted row is not used again.
    """CREATE TABLE entries (
        position INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, correlation_id TEXT, entry TEXT, checksum INTEGER,
        UNIQUE (run_id, correlation_id))""",
    "CREATE INDEX entries_of_run ON entries (run_id, position)",
)
_MIGRATIONS = {
    3: (
        "ALTER TABLE entries RENAME TO entries_3",
        *_ENTRIES,
        """INSERT INTO entries (run_id, correlation_id, entry, checksum)
        SELECT run_id, correlation_id, entry, checksum FROM entries_3 ORDER BY rowid""",
        "DROP TABLE entries_3",
        "PRAGMA user_version = 4",
    ),
}
"""The statements that raise a file of an older format to the next one."""
_TABLES = (
    *_ENTRIES,
    """CREATE TABLE events (
        run_id TEXT, sequence INTEGER, node_id TEXT, document TEXT, checksum INTEGER,
        PRIMARY KEY (run_id, sequence))""",
    "CREATE INDEX events_of_node ON events (run_id, node_id, sequence)",
    f"PRAGMA application_id = {_APPLICATION_ID}",
    f"PRAGMA user_version = {_FORMAT_VERSION}",
)
_SETTINGS = (
    # Each commit waits for the disk, unlike with NORMAL: after a lost commit a handler would run again.
    "PRAGMA synchronous = FULL",
    # Without it, macOS reports a write as done while it is in the disk's cache. No effect elsewhere.
    "PRAGMA fullfsync = ON",
    # Detect a damaged page when it is read.
    "PRAGMA cell_size_check = ON",
    # Overwrite deleted rows with zeros, so that a principal's words do not stay in unused pages.
    "PRAGMA secure_delete = ON",
)
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT})
_CANNOT_OPEN = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})

_NEWER_FILE_HINT = "Update emitter in every process that uses the file."
_OTHER_FILE_HINT = "Pass the path of another file, or of one that does not exist yet."
_PERMISSIONS_HINT = "Check the permissions of the file and of its folder: SQLite writes to both."


class SqliteDatabase:
    """The connections to a file, opened as threads need them, and closed with it. ``timeout`` is in seconds."""

    __slots__ = ("__weakref__", "_closed", "_condition", "_idle", "_in_use", "_timeout", "_write_lock", "path")

    dialect = _DIALECT

    def __init__(self, path: str, timeout: float) -> None:
        self.path = path
        self._timeout = timeout
        self._closed = False
        self._idle: list[sqlite3.Connection] = []
        self._write_lock = threading.Lock()
        self._condition = threading.Condition()
        self._in_use = 0
        register_fork_handler(self)
        weakref.finalize(self, _close_all, self._idle)

    def format_version(self) -> int:
        """Return the format of the file, 0 if it is empty. Raises ``InputError`` if it is another kind of file."""
        application, version, _ = header = self._read_header()
        if header == _EMPTY_HEADER:
            return 0
        if application != _APPLICATION_ID:
            raise self.unusable_error("is the database of another program")
        if version > _FORMAT_VERSION:
            raise self.unusable_error(
                f"was written by a newer release: it has format {version}, and this release reads up to format "
                f"{_FORMAT_VERSION}",
                _NEWER_FILE_HINT,
            )
        if version != _FORMAT_VERSION and version not in _MIGRATIONS:
            raise self.unusable_error(f"has format {version}, and this release reads format {_FORMAT_VERSION}")
        return version

    def create_or_migrate(self) -> None:
        """Create the tables in a new file, or raise an older file to this release's format."""
        version = self.format_version()
        if not version:
            self._create_tables()
        while 0 < version < _FORMAT_VERSION:
            with self.transaction() as connection:
                for statement in _MIGRATIONS[version]:
                    connection.execute(statement)
            version = self.format_version()

    def _create_tables(self) -> None:
        with self.connection() as connection:
            if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
                raise self.unusable_error("is on a file system where processes cannot share memory")
        with self.transaction() as connection:
            for statement in _TABLES:
                connection.execute(statement)

    @contextmanager
    def connection(self) -> Generator[sqlite3.Connection]:
        """Check a connection out. Errors of SQLite become ``StoreFailed``, and an open transaction is rolled back."""
        with self._translate_errors(), self._track_use():
            connection = self._take_connection()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self._idle.append(connection)
            if self._closed:
                self._close_idle()

    @contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
        """Check a connection out in a write transaction, which is committed at the end of the block."""
        # SQLite's waiters poll at growing intervals, and some starve: of 8 threads that write continuously, some
        # waited 0.4 s there, and at most 0.02 s with this lock.
        if not self._write_lock.acquire(timeout=self._timeout):
            raise self._busy_error()
        try:
            with self.connection() as connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
        finally:
            self._write_lock.release()

    def close(self) -> None:
        """Close idle connections now, and the others when they are returned."""
        self._closed = True
        self._close_idle()

    def before_fork(self) -> None:
        """Wait for the connections in use, close all of them, and open none until the fork is over.

        SQLite records in its process which locks it holds. A child with these records but without the locks would write
        where other processes have cleaned up.
        """
        self._condition.acquire()
        self._condition.wait_for(lambda: not self._in_use, self._timeout)
        self._close_idle()

    def after_fork(self, *, child: bool) -> None:
        """Allow connections again, except in a child that was forked while one was in use."""
        if not child:
            self._condition.release()
            return
        self._condition = threading.Condition()
        self._write_lock = threading.Lock()
        self._closed = self._closed or self._in_use > 0

    def unusable_error(self, reason: str, hint: str = _OTHER_FILE_HINT) -> InputError:
        """Return the error for a file that cannot be used as a store."""
        return InputError(f"The store {self.path} {reason}.", hint=hint)

    def damaged_error(self) -> StoreAltered:
        """Return the error for a file whose content is not what was written."""
        return StoreAltered(
            f"The store {self.path} is damaged: its content is not what was written.",
            hint="Find out what changed it. A backup lacks everything that was recorded after it was made.",
        )

    def _read_header(self) -> tuple[int, int, int]:
        try:
            with self.connection() as connection:
                header: tuple[int, int, int] = connection.execute(_HEADER_QUERY).fetchone()
        except StoreFailed as error:
            if _sqlite_code(error.__cause__) in _CANNOT_OPEN:
                may_be_store = is_file(Path(self.path)) and _sqlite_code(error.__cause__) != sqlite3.SQLITE_NOTADB
                hint = _PERMISSIONS_HINT if may_be_store else _OTHER_FILE_HINT
                raise self.unusable_error(f"cannot be opened: {error.__cause__}", hint) from error
            raise
        return header

    def _take_connection(self) -> sqlite3.Connection:
        if self._closed:
            raise closed_error()
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        with suppress(OSError):  # SQLite reports the error better
            create_private(self.path)
        connection = sqlite3.connect(self.path, timeout=self._timeout, isolation_level=None, check_same_thread=False)
        try:
            connection.text_factory = _decode_text
            for setting in _SETTINGS:
                connection.execute(setting)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _track_use(self) -> Generator[None]:
        with self._condition:
            self._in_use += 1
        try:
            yield
        finally:
            with self._condition:
                self._in_use -= 1
                self._condition.notify_all()

    def _close_idle(self) -> None:
        _close_all(self._idle)

    @contextmanager
    def _translate_errors(self) -> Generator[None]:
        try:
            yield
        except UnicodeDecodeError as error:  # the damage may be in SQLite's own names
            raise self.damaged_error() from error
        except sqlite3.Error as error:
            if _sqlite_code(error) in _BUSY:
                raise self._busy_error() from error
            if _sqlite_code(error) in _DAMAGED:
                raise self.damaged_error() from error
            raise StoreFailed(
                f"The store {self.path} cannot be used: {error}.",
                hint="Check the free disk space and the file's permissions.",
            ) from error

    def _busy_error(self) -> StoreFailed:
        return StoreFailed(
            f"The store {self.path} was still locked by other writers after {self._timeout:g} s.",
            hint="Raise timeout=, or find the process that keeps a transaction open.",
        )


def _close_all(connections: list[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()


def _decode_text(text: bytes) -> str | bytes:
    """Decode a text. Bytes that are not UTF-8 are returned as they are, which no checksum accepts."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


def _sqlite_code(error: BaseException | None) -> int:
    """Return the primary result code of an error, without the extended bits."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
