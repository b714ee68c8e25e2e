"""What the tests put into stores."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from emitter.events import Level, LogAppended, RunEvent
from emitter.stores import Entry, NewEntry
from emitter.stores.sqlite import row_checksum

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

KIND = "vendor.acme.note"


@contextmanager
def edited(place: str | Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a store's file, and then give each row the checksum that it must have.

    So edits what the store keeps whoever knows its format; an edit without the checksum is found by the store itself.
    """
    with closing(sqlite3.connect(place)) as connection, connection:
        yield connection
        for table, name, text in (("entries", "correlation_id", "entry"), ("events", "sequence", "document")):
            for run, at, found in connection.execute(f"SELECT run_id, {name}, {text} FROM {table}").fetchall():  # noqa: S608
                row = (row_checksum(found, run, at), run, at)
                connection.execute(f"UPDATE {table} SET checksum = ? WHERE run_id = ? AND {name} = ?", row)  # noqa: S608


def event(name: str, run: str = "run", node: str = "node", **fields: Any) -> RunEvent:
    """Return an event with an id, as it is before a store numbers it."""
    reported = LogAppended(Level.INFO, "noted", fields)
    return RunEvent(reported, name, run, node, "2026-05-18T10:00:00.000Z", 77, "cause")


def events(*names: str, run: str = "run") -> tuple[RunEvent, ...]:
    """Return events with these ids."""
    return tuple(event(name, run) for name in names)


def entry(note: object = "a note") -> Entry:
    """Return an entry whose envelope holds a note."""
    return Entry(KIND, {"status": "accepted"}, {"payload": {"note": note}})


def fresh(note: object = "a note", *names: str) -> NewEntry:
    """Return an entry with a note, and events with these ids."""
    return NewEntry(entry(note), events(*names))


def never() -> NewEntry:
    """Be a handler that must not run."""
    raise AssertionError("the handler ran again")


def ids(documents: tuple[Mapping[str, Any], ...]) -> list[str]:
    """Return the ids of events as a store gives them back, having seen that no number is left out."""
    assert [each["sequence"] for each in documents] == list(range(len(documents)))
    return [each["eventId"] for each in documents]
