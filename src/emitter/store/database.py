"""An SQLite file: opening and checking it, and lending its connections to one thread at a time."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from emitter.errors import InputError, StoreAltered, StoreFailed
from emitter.files import create_private
from emitter.store import forks
from emitter.store.turns import closed

if TYPE_CHECKING:
    from collections.abc import Generator

_APPLICATION = 0x656D6974
"""What says that a file is a store of this library: ``emit`` in ASCII."""
_FORMAT = 2
_HEAD = (
    "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
    "FROM pragma_application_id, pragma_user_version"
)
_NEW = (0, 0, 0)
_TABLES = (
    """CREATE TABLE entries (
        run_id TEXT, correlation_id TEXT, entry TEXT, checksum INTEGER, PRIMARY KEY (run_id, correlation_id))""",
    """CREATE TABLE events (
        run_id TEXT, sequence INTEGER, document TEXT, checksum INTEGER, PRIMARY KEY (run_id, sequence))""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_FORMAT}",
)
_SETTINGS = (
    # Each commit waits for the disk (NORMAL would not): a commit lost with the power is a handler that runs again.
    "PRAGMA synchronous = FULL",
    # macOS calls a write done that the disk still caches, unless told otherwise; elsewhere this does nothing.
    "PRAGMA fullfsync = ON",
    # Find a damaged page when it is read.
    "PRAGMA cell_size_check = ON",
    # Deleted rows are overwritten with zeros, so that a principal's words do not stay in unused parts of the file.
    "PRAGMA secure_delete = ON",
)
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT})
_UNFIT = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})


class Database:
    """The connections to a file, opened as threads need them; ``timeout`` is in seconds."""

    __slots__ = ("__weakref__", "_closed", "_gate", "_idle", "_lent", "_queue", "_timeout", "place")

    def __init__(self, place: str, timeout: float) -> None:
        self.place = place
        self._timeout = timeout
        self._closed = False
        self._idle: list[sqlite3.Connection] = []
        self._queue = threading.Lock()
        self._gate = threading.Condition()
        self._lent = 0
        forks.hold(self)

    def is_new(self) -> bool:
        """Return whether the file holds nothing yet; raises ``InputError`` for one of another form."""
        head = self._head()
        if head[:2] == (_APPLICATION, _FORMAT):
            return False
        if head == _NEW:
            return True
        if head[0] == _APPLICATION:
            raise self.bad(f"is of format {head[1]}; this release reads {_FORMAT}")
        raise self.bad("is the database of something else")

    def begin(self) -> None:
        """Make a new file a store."""
        with self.lent() as connection:
            if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
                raise self.bad("is where processes cannot share memory")
        with self.writing() as connection:
            for statement in _TABLES:
                connection.execute(statement)

    @contextmanager
    def lent(self) -> Generator[sqlite3.Connection]:
        """Lend a connection; raises ``StoreFailed`` for SQLite's errors, and drops what was not committed."""
        with self._told(), self._counted():
            connection = self._taken()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self._idle.append(connection)
            if self._closed:
                self._empty()

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """Lend a connection within a transaction, which is committed at the end; others' writes wait for it."""
        # SQLite's own waiters look again at ever longer intervals, and some starve: 8 threads that write without a
        # break waited up to 0.4 s there, and up to 0.02 s where they queue here.
        if not self._queue.acquire(timeout=self._timeout):
            raise self._busy()
        try:
            with self.lent() as connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
        finally:
            self._queue.release()

    def close(self) -> None:
        """Close the connections: at once the idle ones, the others when they are given back."""
        self._closed = True
        self._empty()

    def forking(self) -> None:
        """Close the connections, once those that are in use were given back; lend none until the fork is over.

        SQLite notes in its process which locks that holds: a child with such notes, but without the locks, would
        believe itself safe, and write where others have cleaned up.
        """
        self._gate.acquire()
        self._gate.wait_for(lambda: not self._lent, self._timeout)
        self._empty()

    def forked(self, *, child: bool) -> None:
        """Lend connections again; in a child that came to be amid a use, never."""
        if not child:
            self._gate.release()
            return
        self._gate = threading.Condition()
        self._queue = threading.Lock()
        self._closed = self._closed or self._lent > 0

    def bad(self, what: str) -> InputError:
        """Return the error that says ``what`` is wrong with the file."""
        return InputError(f"The store {self.place} {what}.", hint="Name another file, or one that is not there yet.")

    def damaged(self) -> StoreAltered:
        """Return the error that says the file no longer holds what was written into it."""
        return StoreAltered(
            f"The store {self.place} is damaged: what it holds is not what was written into it.",
            hint="Restore it from a backup, or name another file.",
        )

    def _head(self) -> tuple[int, int, int]:
        try:
            with self.lent() as connection:
                head: tuple[int, int, int] = connection.execute(_HEAD).fetchone()
        except StoreFailed as error:
            if _code(error.__cause__) in _UNFIT:
                raise self.bad(f"cannot be opened: {error.__cause__}") from error
            raise
        return head

    def _taken(self) -> sqlite3.Connection:
        if self._closed:
            raise closed()
        try:
            return self._idle.pop()
        except IndexError:
            return self._connected()

    def _connected(self) -> sqlite3.Connection:
        with suppress(OSError):  # SQLite says it better
            create_private(self.place)
        connection = sqlite3.connect(self.place, timeout=self._timeout, isolation_level=None, check_same_thread=False)
        try:
            connection.text_factory = _decode
            for setting in _SETTINGS:
                connection.execute(setting)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _counted(self) -> Generator[None]:
        with self._gate:
            self._lent += 1
        try:
            yield
        finally:
            with self._gate:
                self._lent -= 1
                self._gate.notify_all()

    def _empty(self) -> None:
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _told(self) -> Generator[None]:
        try:
            yield
        except UnicodeDecodeError as error:  # SQLite's own messages and names may be what is damaged
            raise self.damaged() from error
        except sqlite3.Error as error:
            if _code(error) in _BUSY:
                raise self._busy() from error
            if _code(error) in _DAMAGED:
                raise self.damaged() from error
            raise StoreFailed(
                f"The store {self.place} cannot be used: {error}.", hint="See its disk's room and the file's rights."
            ) from error

    def _busy(self) -> StoreFailed:
        return StoreFailed(
            f"The store {self.place} was still being written by others after {self._timeout:g} s.",
            hint="Wait longer with timeout=, or see which process keeps a transaction open.",
        )


def _decode(text: bytes) -> str | bytes:
    """Return a text, or its bytes where they are not UTF-8, which no reader takes for what was written."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


def _code(error: BaseException | None) -> int:
    """Return SQLite's own code of an error, without what only some of its releases add."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
