"""What the tests put into stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.events import Level, LogAppended, RunEvent
from emitter.store import Entry, Fresh

if TYPE_CHECKING:
    from collections.abc import Mapping

KIND = "vendor.acme.note"


def event(name: str, run: str = "run", **fields: Any) -> RunEvent:
    """Return an event with an id, as it is before a store numbers it."""
    told = LogAppended(Level.INFO, "noted", fields)
    return RunEvent(told, name, run, "node", "2026-05-18T10:00:00.000Z", 77, "cause")


def events(*names: str, run: str = "run") -> tuple[RunEvent, ...]:
    """Return events with these ids."""
    return tuple(event(name, run) for name in names)


def entry(note: object = "a note") -> Entry:
    """Return an entry whose envelope holds a note."""
    return Entry(KIND, {"status": "accepted"}, {"payload": {"note": note}})


def fresh(note: object = "a note", *names: str) -> Fresh:
    """Return an entry with a note, and events with these ids."""
    return Fresh(entry(note), events(*names))


def never() -> Fresh:
    """Be a handler that must not run."""
    raise AssertionError("the handler ran again")


def ids(documents: tuple[Mapping[str, Any], ...]) -> list[str]:
    """Return the ids of events as a store gives them back, having seen that no number is left out."""
    assert [each["sequence"] for each in documents] == list(range(len(documents)))
    return [each["eventId"] for each in documents]
