"""A PostgreSQL server: connecting to it, and telling its failures in this library's words; needs SQLAlchemy."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import URL, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from emitter.errors import InputError, StoreFailed
from emitter.store import forks, tables
from emitter.store.turns import closed, kept_waiting

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from sqlalchemy import Connection, Dialect

    from emitter.events import RunEvent

_DRIVER = "postgresql+psycopg"
_NO_LOCK = "55P03"
"""SQLSTATE ``lock_not_available``: what a wait for others ends with."""
_CONNECTING = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""Seconds, and looks: how soon a server that does not answer is given up, since the driver's default is never."""


class Server:
    """A server that was asked for by its address, or through an engine of the caller's, which stays the caller's."""

    __slots__ = ("__weakref__", "_closed", "_engine", "_own", "_reading", "_timeout")

    def __init__(self, given: str | URL | Engine, timeout: float) -> None:
        self._own = not isinstance(given, Engine)
        engine = given if isinstance(given, Engine) else _engine(given, timeout)
        _check(engine.dialect)
        # The claims of handlers rest on what this level, the server's default, says of concurrent inserts.
        self._engine = engine.execution_options(isolation_level="READ COMMITTED")
        self._reading = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._timeout = timeout
        self._closed = False
        forks.hold(self)

    def find(self, run: str, correlation: str) -> str | None:
        """Return an entry's text."""
        with self._connected(self._reading) as connection, self.told():
            return tables.find(connection, run, correlation)

    @contextmanager
    def claimed(self, run: str, correlation: str) -> Generator[Claim | None]:
        """Hold an entry that is to be made, or None where another has made it; wait while another makes it."""
        with self._connected(self._engine) as connection:
            with self.told():
                tables.settle(connection, self._timeout)
                mine = tables.claim(connection, run, correlation)
            yield Claim(self, connection, run, correlation) if mine else None

    def forget(self, run: str, correlation: str) -> None:
        """Delete an entry."""
        with self._connected(self._engine) as connection, self.told():
            tables.settle(connection, self._timeout)
            tables.forget(connection, run, correlation)
            connection.commit()

    def add(self, run: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        """Add events to a run's log, and return them with their numbers."""
        with self._connected(self._engine) as connection, self.told():
            tables.settle(connection, self._timeout)
            added = tables.add(connection, run, events)
            connection.commit()
        return added

    def read(self, run: str, first: int) -> Sequence[str]:
        """Return the texts of a run's events from a number on."""
        with self._connected(self._reading) as connection, self.told():
            return tables.read(connection, run, first)

    @contextmanager
    def told(self) -> Generator[None]:
        """Raise ``StoreFailed`` for the driver's and SQLAlchemy's errors, without their texts, which quote rows."""
        try:
            yield
        except SQLAlchemyError as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise self._failed(cause) from cause

    def close(self) -> None:
        """Close the connections, unless the engine is the caller's."""
        self._closed = True
        if self._own:
            self._engine.dispose()

    def forking(self) -> None:
        """Do nothing: a connection may be held for long."""

    def forked(self, *, child: bool) -> None:
        """Leave the connections to the parent; an engine of the caller's is the caller's to renew."""
        if child and self._own:
            self._engine.dispose(close=False)

    def make(self) -> None:
        """Make the tables that are not there yet."""
        with self._connected(self._engine) as connection, self.told():
            tables.make(connection)
            connection.commit()

    @contextmanager
    def _connected(self, engine: Engine) -> Generator[Connection]:
        """Lend a connection; what was not committed at the end is dropped."""
        if self._closed:
            raise closed()
        with self.told():
            connection = engine.connect()
        try:
            yield connection
        finally:
            # A lost connection cannot be rolled back, nor need it be; what was raised before matters more.
            with suppress(SQLAlchemyError):
                connection.close()

    def _failed(self, cause: BaseException | None) -> StoreFailed:
        if getattr(cause, "sqlstate", None) == _NO_LOCK:
            return kept_waiting(self._timeout)
        return StoreFailed(
            f"The store on PostgreSQL cannot be used: {type(cause).__name__}.",
            hint="The driver's own words are this error's cause.",
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """An entry that this process makes, in a transaction that is open until it is kept."""

    server: Server
    connection: Connection
    run: str
    correlation: str

    def keep(self, text: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        """Write the entry's text and add the events, both or none; return the events with their numbers."""
        with self.server.told():
            tables.keep(self.connection, self.run, self.correlation, text)
            added = tables.add(self.connection, self.run, events)
            self.connection.commit()
        return added


def _engine(given: str | URL, timeout: float) -> Engine:
    try:
        url = make_url(given)
        if url.drivername == "postgresql":  # SQLAlchemy 2.0 takes it for psycopg2, which the extra does not bring
            url = url.set(drivername=_DRIVER)
        _check(url.get_dialect())
    except (ArgumentError, NoSuchModuleError) as error:
        raise _unfit() from error
    return create_engine(
        url,
        connect_args={} if url.drivername != _DRIVER else {k: v for k, v in _CONNECTING.items() if k not in url.query},
        hide_parameters=True,
        pool_pre_ping=True,
        pool_timeout=timeout,
        # A handler that uses the store needs a second connection: with a limit, first ones alone could reach it.
        max_overflow=-1,
    )


def _check(dialect: Dialect | type[Dialect]) -> None:
    if dialect.name != "postgresql" or dialect.is_async:
        raise _unfit()


def _unfit() -> InputError:
    return InputError(
        "SqlStore needs the URL of a PostgreSQL database, or an Engine for one.",
        hint="Write postgresql://user:password@host/database; for a file use SqliteStore(path).",
    )
