"""What a store must do: keep a run's events in order, and let each correlation id be handled once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.events import RunEvent
    from emitter.wire import Json


@dataclass(frozen=True, slots=True)
class Entry:
    """What is remembered of an accepted envelope: its kind, the outcome and the envelope, as JSON, redacted."""

    type: str
    outcome: Mapping[str, Json]
    envelope: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Fresh:
    """An entry that is to be remembered, and the events that tell of it, not yet numbered."""

    entry: Entry
    events: tuple[RunEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """What stands in the store now: ``events`` are numbered, and empty where somebody else was first."""

    entry: Entry
    events: tuple[RunEvent, ...]
    first: bool


class Store(Protocol):
    """An append-only log of each run's events, and a memory of the envelopes that were accepted.

    Every method may be called from many threads and processes at once; what it wrote is there when it returns,
    and a process that is killed leaves all of a call or none of it.
    """

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Return what is remembered under a correlation id."""
        ...

    def once(self, run_id: str, correlation_id: str, make: Callable[[], Fresh]) -> Kept:
        """Return what is remembered; where nothing is, call ``make``, once in all, and keep what it returns.

        Of many callers at the same time one runs ``make`` and the others wait for it. What ``make`` raises is
        raised, and nothing is kept, so that the next caller runs it.
        """
        ...

    def forget(self, run_id: str, correlation_id: str) -> None:
        """Delete what is remembered under a correlation id; do nothing where nothing is.

        The run's log stays. What was deleted may be remembered anew.
        """
        ...

    def append(self, run_id: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        """Add events to the run's log, in order, and return them with their ``sequence`` in the run."""
        ...

    def events(self, run_id: str, after: int = -1) -> tuple[Mapping[str, Json], ...]:
        """Return the run's log as RunEventDocs, those after sequence ``after``."""
        ...
