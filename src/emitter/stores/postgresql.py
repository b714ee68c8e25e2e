"""The PostgreSQL connection, tables and statements behind ``SqlStore``. Needs SQLAlchemy.

A process claims an envelope by inserting its row, and holds the claim until its transaction ends. Another process that
inserts the same row waits, and inserts nothing once the first has committed. A run's row counts the events of its log.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Engine,
    Index,
    MetaData,
    Sequence,
    Table,
    Text,
    bindparam,
    create_engine,
    delete,
    func,
    insert,
    inspect,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from emitter.errors import InputError, StoreFailed
from emitter.stores.jobs import SqlDialect
from emitter.stores.locks import closed_error, lock_timeout_error, register_fork_handler
from emitter.stores.protocol import encode_key, number_events, serialize_events

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from collections.abc import Sequence as SequenceOf

    from sqlalchemy import Connection, Dialect, TextClause

    from emitter.events import RunEvent

_METADATA = MetaData()
_POSITIONS = Sequence("emitter_positions", metadata=_METADATA)
_ENTRIES = Table(
    "emitter_entries",
    _METADATA,
    Column("run_id", Text, primary_key=True),
    Column("correlation_id", Text, primary_key=True),
    Column("entry", Text, nullable=False),
    Column("position", BigInteger, server_default=_POSITIONS.next_value()),
    Index("emitter_entries_of_run", "run_id", "position"),
)
_EVENTS = Table(
    "emitter_events",
    _METADATA,
    Column("run_id", Text, primary_key=True),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("node_id", Text, nullable=False),
    Column("document", Text, nullable=False),
    Index("emitter_events_of_node", "run_id", "node_id", "sequence"),
)
_RUNS = Table(
    "emitter_runs",
    _METADATA,
    Column("run_id", Text, primary_key=True),
    Column("length", BigInteger, nullable=False),
)
_CREATION_LOCK = 0x656D697474657200
"""The advisory lock that is held while the tables are created: ``emitter`` in ASCII."""
_KEEPALIVE = {"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3"}
"""With these the server notices after a minute that a client machine is gone, and releases its locks."""
_IS_ENTRY = (_ENTRIES.c.run_id == bindparam("run")) & (_ENTRIES.c.correlation_id == bindparam("correlation"))
_SELECT_ENTRY = select(_ENTRIES.c.entry).where(_IS_ENTRY)
_INSERT_CLAIM = (
    postgresql.insert(_ENTRIES)
    .values(run_id=bindparam("run"), correlation_id=bindparam("correlation"), entry="")
    .on_conflict_do_nothing()
    .returning(_ENTRIES.c.run_id)
)
_UPDATE_ENTRY = update(_ENTRIES).where(_IS_ENTRY).values(entry=bindparam("text"), position=_POSITIONS.next_value())
_SCAN_ENTRIES = (
    select(_ENTRIES.c.position, _ENTRIES.c.correlation_id, _ENTRIES.c.entry)
    .where((_ENTRIES.c.run_id == bindparam("run")) & (_ENTRIES.c.position > bindparam("after")))
    .order_by(_ENTRIES.c.position)
)
_ADD_POSITIONS = (
    "CREATE SEQUENCE IF NOT EXISTS emitter_positions",
    "ALTER TABLE emitter_entries ADD COLUMN position BIGINT DEFAULT nextval('emitter_positions')",
    "CREATE INDEX emitter_entries_of_run ON emitter_entries (run_id, position)",
)
"""Adds the positions to a table that an older release created. They follow the order of the rows on the disk."""
_DELETE_ENTRY = delete(_ENTRIES).where(_IS_ENTRY)
_INSERT_RUN = postgresql.insert(_RUNS).values(run_id=bindparam("run"), length=bindparam("more"))
_ADD_TO_RUN = _INSERT_RUN.on_conflict_do_update(
    index_elements=[_RUNS.c.run_id], set_={"length": _RUNS.c.length + _INSERT_RUN.excluded.length}
).returning(_RUNS.c.length)
_SELECT_EVENTS = (
    select(_EVENTS.c.document)
    .where((_EVENTS.c.run_id == bindparam("run")) & (_EVENTS.c.sequence >= bindparam("first")))
    .order_by(_EVENTS.c.sequence)
)
_SELECT_NODE_EVENTS = _SELECT_EVENTS.where(_EVENTS.c.node_id == bindparam("node"))


def _configure(connection: Connection, timeout: float) -> None:
    """Set the transaction's lock timeout, and let it idle while a handler runs."""
    settings = {
        "lock_timeout": f"{max(1, round(timeout * 1000))}",
        "idle_in_transaction_session_timeout": "0",
        **_KEEPALIVE,
    }
    connection.execute(select(*(func.set_config(name, value, True) for name, value in settings.items())))


def _insert_events(connection: Connection, run: str, events: SequenceOf[RunEvent]) -> tuple[RunEvent, ...]:
    """Append events to a run's log and return them numbered. Other appends wait for this transaction."""
    length = connection.execute(_ADD_TO_RUN, {"run": run, "more": len(events)}).scalar_one()
    added = number_events(events, length - len(events))
    if not added:
        return ()
    rows = [
        {"run_id": run, "sequence": event.sequence, "node_id": encode_key(event.node_id), "document": text}
        for event, text in zip(added, serialize_events(added), strict=True)
    ]
    connection.execute(insert(_EVENTS), rows)
    return added


_DRIVER = "postgresql+psycopg"
_LOCK_NOT_AVAILABLE = "55P03"
"""SQLSTATE ``lock_not_available``, which ends a wait for a lock."""
_CONNECT_OPTIONS = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""Seconds and counts after which an unresponsive server is given up. The driver itself would wait forever."""


_DIALECT = SqlDialect(
    now="CAST(extract(epoch FROM clock_timestamp()) AS double precision)",
    each_key="json_array_elements_text(CAST(:keys AS json)) AS k(value)",
    lock_claims="FOR UPDATE SKIP LOCKED",
    lock_row="FOR UPDATE",
    number="DOUBLE PRECISION",
    lock_creation=f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})",
)


@cache
def _parse(statement: str) -> TextClause:
    return text(statement)


@dataclass(frozen=True, slots=True)
class JobTransaction:
    """A transaction of ``JobTable``."""

    connection: Connection

    def execute(self, statement: str, parameters: Mapping[str, Any]) -> SequenceOf[SequenceOf[Any]]:
        """Run a statement, and return its rows."""
        result = self.connection.execute(_parse(statement), parameters)
        return result.fetchall() if result.returns_rows else ()

    def executemany(self, statement: str, rows: SequenceOf[Mapping[str, Any]]) -> None:
        """Run a statement once for each row of parameters."""
        self.connection.execute(_parse(statement), rows)


class PostgresDatabase:
    """A server, by its URL or through the caller's engine, which the caller closes."""

    __slots__ = ("__weakref__", "_closed", "_engine", "_owns_engine", "_reading", "_timeout")

    dialect = _DIALECT

    def __init__(self, address: str | URL | Engine, timeout: float) -> None:
        self._owns_engine = not isinstance(address, Engine)
        engine = address if isinstance(address, Engine) else _create_engine(address, timeout)
        _check_dialect(engine.dialect)
        # Claims depend on how this level, the server's default, handles concurrent inserts.
        self._engine = engine.execution_options(isolation_level="READ COMMITTED")
        self._reading = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._timeout = timeout
        self._closed = False
        register_fork_handler(self)

    def find(self, run: str, correlation: str) -> str | None:
        """Return the text of an entry, or None."""
        with self._connect(self._reading) as connection, self.translate_errors():
            return connection.execute(_SELECT_ENTRY, {"run": run, "correlation": correlation}).scalar()

    def scan(self, run: str, after: int, limit: int | None) -> SequenceOf[tuple[int, str, str]]:
        """Return the position, the key and the text of a run's entries after a position."""
        query = _SCAN_ENTRIES if limit is None else _SCAN_ENTRIES.limit(limit)
        with self._connect(self._reading) as connection, self.translate_errors():
            return [tuple(row) for row in connection.execute(query, {"run": run, "after": after})]

    @contextmanager
    def claim(self, run: str, correlation: str) -> Generator[EntryClaim | None]:
        """Claim an entry that does not exist yet. Waits for other claims; yields None if another process created it."""
        with self._connect(self._engine) as connection:
            with self.translate_errors():
                _configure(connection, self._timeout)
                row = connection.execute(_INSERT_CLAIM, {"run": run, "correlation": correlation}).first()
            yield EntryClaim(self, connection, run, correlation) if row is not None else None

    def forget(self, run: str, correlation: str) -> None:
        """Delete an entry."""
        with self._connect(self._engine) as connection, self.translate_errors():
            _configure(connection, self._timeout)
            connection.execute(_DELETE_ENTRY, {"run": run, "correlation": correlation})
            connection.commit()

    def append(self, run: str, events: SequenceOf[RunEvent]) -> tuple[RunEvent, ...]:
        """Append events to a run's log and return them numbered."""
        with self._connect(self._engine) as connection, self.translate_errors():
            if not events:
                return ()
            _configure(connection, self._timeout)
            added = _insert_events(connection, run, events)
            connection.commit()
        return added

    def read_events(self, run: str, first: int, node: str | None = None) -> SequenceOf[str]:
        """Return the texts of a run's events, or of one node's, from sequence ``first`` on."""
        query = _SELECT_EVENTS if node is None else _SELECT_NODE_EVENTS
        with self._connect(self._reading) as connection, self.translate_errors():
            return connection.execute(query, {"run": run, "first": first, "node": node}).scalars().all()

    @contextmanager
    def translate_errors(self) -> Generator[None]:
        """Turn errors of SQLAlchemy and the driver into ``StoreFailed``, without their texts, which quote rows."""
        try:
            yield
        except SQLAlchemyError as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise self._store_error(cause) from cause

    def close(self) -> None:
        """Close the connections, unless the engine is the caller's."""
        self._closed = True
        if self._owns_engine:
            self._engine.dispose()

    def after_fork(self, *, child: bool) -> None:
        """Leave the connections to the parent. The caller renews an engine of their own."""
        if child and self._owns_engine:
            self._engine.dispose(close=False)

    @contextmanager
    def transaction(self) -> Generator[JobTransaction]:
        """Open a transaction, which is committed at the end of the block."""
        with self._connect(self._engine) as connection, self.translate_errors():
            _configure(connection, self._timeout)
            yield JobTransaction(connection)
            connection.commit()

    def create_tables(self) -> None:
        """Create the missing tables, or migrate those of an older release, in one process only."""
        with self._connect(self._engine) as connection, self.translate_errors():
            connection.execute(select(func.pg_advisory_xact_lock(_CREATION_LOCK)))
            tables = inspect(connection)
            is_older = tables.has_table(_ENTRIES.name) and "position" not in {
                column["name"] for column in tables.get_columns(_ENTRIES.name)
            }
            for statement in _ADD_POSITIONS if is_older else ():
                connection.execute(text(statement))
            _METADATA.create_all(connection)
            connection.commit()

    @contextmanager
    def _connect(self, engine: Engine) -> Generator[Connection]:
        """Check a connection out. An open transaction is rolled back at the end of the block."""
        if self._closed:
            raise closed_error()
        with self.translate_errors():
            connection = engine.connect()
        try:
            yield connection
        finally:
            # A lost connection cannot be rolled back, and must not hide an earlier exception.
            with suppress(SQLAlchemyError):
                connection.close()

    def _store_error(self, cause: BaseException | None) -> StoreFailed:
        code = getattr(cause, "sqlstate", None)
        if code == _LOCK_NOT_AVAILABLE:
            return lock_timeout_error(self._timeout)
        # Without a code no server was reached, and the driver's text quotes no rows.
        reason = f"SQLSTATE {code}" if code else str(cause).partition("\n")[0]
        return StoreFailed(f"The store on PostgreSQL cannot be used: {type(cause).__name__}, {reason}.")


@dataclass(frozen=True, slots=True)
class EntryClaim:
    """An entry that this process is creating, in a transaction that ends with ``save``."""

    server: PostgresDatabase
    connection: Connection
    run: str
    correlation: str

    def save(self, text: str, events: SequenceOf[RunEvent]) -> tuple[RunEvent, ...]:
        """Write the entry and append its events in one commit, and return the events numbered."""
        with self.server.translate_errors():
            members = {"run": self.run, "correlation": self.correlation, "text": text}
            # First the run's row, which other entries of the run wait for: so they are committed by their positions.
            added = _insert_events(self.connection, self.run, events)
            self.connection.execute(_UPDATE_ENTRY, members)
            self.connection.commit()
        return added


def _create_engine(address: str | URL, timeout: float) -> Engine:
    try:
        url = make_url(address)
        if url.drivername == "postgresql":  # SQLAlchemy 2.0 would use psycopg2, which the extra does not install
            url = url.set(drivername=_DRIVER)
        _check_dialect(url.get_dialect())
    except (ArgumentError, NoSuchModuleError) as error:
        raise _wrong_database_error() from error
    is_psycopg = url.drivername == _DRIVER
    connect_args = {name: value for name, value in _CONNECT_OPTIONS.items() if is_psycopg and name not in url.query}
    return create_engine(
        url,
        connect_args=connect_args,
        hide_parameters=True,
        pool_pre_ping=True,
        pool_timeout=timeout,
        # No limit: a handler that uses the store needs a second connection while holding its first.
        max_overflow=-1,
    )


def _check_dialect(dialect: Dialect | type[Dialect]) -> None:
    if dialect.name != "postgresql" or dialect.is_async:
        raise _wrong_database_error()


def _wrong_database_error() -> InputError:
    return InputError(
        "SqlStore needs the URL of a PostgreSQL database, or an Engine for one.",
        hint="Pass postgresql://user:password@host/database, or use SqliteStore(path) for a file.",
    )
