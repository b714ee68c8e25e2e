"""The tables of a store on PostgreSQL, and what is asked of them; needs SQLAlchemy.

Whoever inserts an envelope's row holds it until the end of the transaction: the same insert by others waits, and
does nothing once the first is committed, or goes on where it was not. A run's row is the counter of its log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column, MetaData, Table, Text, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql

from emitter.store.text import numbered, texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from emitter.events import RunEvent

_METADATA = MetaData()
_ENTRIES = Table(
    "emitter_entries",
    _METADATA,
    Column("run_id", Text, primary_key=True),
    Column("correlation_id", Text, primary_key=True),
    Column("entry", Text, nullable=False),
)
_EVENTS = Table(
    "emitter_events",
    _METADATA,
    Column("run_id", Text, primary_key=True),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("document", Text, nullable=False),
)
_RUNS = Table(
    "emitter_runs",
    _METADATA,
    Column("run_id", Text, primary_key=True),
    Column("length", BigInteger, nullable=False),
)
_MAKING = 0x656D697474657200
"""The advisory lock that is held while the tables are made: ``emitter`` in ASCII."""
_KEEPALIVE = {"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3"}
"""How soon the server lets go of what a machine holds that has lost its power: after a minute."""

_ENTRY = (_ENTRIES.c.run_id == bindparam("run")) & (_ENTRIES.c.correlation_id == bindparam("correlation"))
_FIND = select(_ENTRIES.c.entry).where(_ENTRY)
_CLAIM = (
    postgresql.insert(_ENTRIES)
    .values(run_id=bindparam("run"), correlation_id=bindparam("correlation"), entry="")
    .on_conflict_do_nothing()
    .returning(_ENTRIES.c.run_id)
)
_KEEP = update(_ENTRIES).where(_ENTRY).values(entry=bindparam("text"))
_FORGET = delete(_ENTRIES).where(_ENTRY)
_LENGTHEN = postgresql.insert(_RUNS).values(run_id=bindparam("run"), length=bindparam("more"))
_COUNT = _LENGTHEN.on_conflict_do_update(
    index_elements=[_RUNS.c.run_id], set_={"length": _RUNS.c.length + _LENGTHEN.excluded.length}
).returning(_RUNS.c.length)
_READ = (
    select(_EVENTS.c.document)
    .where((_EVENTS.c.run_id == bindparam("run")) & (_EVENTS.c.sequence >= bindparam("first")))
    .order_by(_EVENTS.c.sequence)
)


def make(connection: Connection) -> None:
    """Make the tables that are not there yet; of many at once one makes them."""
    connection.execute(select(func.pg_advisory_xact_lock(_MAKING)))
    _METADATA.create_all(connection)


def settle(connection: Connection, timeout: float) -> None:
    """Set, until the end of the transaction, how long it waits for others, and that a handler may take its time."""
    settings = {
        "lock_timeout": f"{max(1, round(timeout * 1000))}",
        "idle_in_transaction_session_timeout": "0",
        **_KEEPALIVE,
    }
    connection.execute(select(*(func.set_config(name, value, True) for name, value in settings.items())))


def find(connection: Connection, run: str, correlation: str) -> str | None:
    """Return an entry's text."""
    return connection.execute(_FIND, {"run": run, "correlation": correlation}).scalar()


def claim(connection: Connection, run: str, correlation: str) -> bool:
    """Return whether the entry is this transaction's to make; wait while another makes it."""
    return connection.execute(_CLAIM, {"run": run, "correlation": correlation}).first() is not None


def keep(connection: Connection, run: str, correlation: str, text: str) -> None:
    """Write the text of an entry that was claimed."""
    connection.execute(_KEEP, {"run": run, "correlation": correlation, "text": text})


def forget(connection: Connection, run: str, correlation: str) -> None:
    """Delete an entry."""
    connection.execute(_FORGET, {"run": run, "correlation": correlation})


def add(connection: Connection, run: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
    """Add events to a run's log, and return them with their numbers; others add to it after this transaction."""
    if not events:
        return ()
    length = connection.execute(_COUNT, {"run": run, "more": len(events)}).scalar_one()
    added = numbered(events, length - len(events))
    rows = [
        {"run_id": run, "sequence": event.sequence, "document": text}
        for event, text in zip(added, texts_of(added), strict=True)
    ]
    connection.execute(insert(_EVENTS), rows)
    return added


def read(connection: Connection, run: str, first: int) -> Sequence[str]:
    """Return the texts of a run's events from a number on."""
    return connection.execute(_READ, {"run": run, "first": first}).scalars().all()
