"""The ledger's log in a store: what is added once is told once, and what it comes to is followed as it grows."""

from __future__ import annotations

import threading
import warnings
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from emitter.errors import StoreFailed
from emitter.ledger import records, telling
from emitter.ledger.book import Book
from emitter.ledger.telling import RUN
from emitter.store import Fresh, forks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emitter.events import LogAppended, RunEvent
    from emitter.ledger.rates import Rates, Thresholds
    from emitter.sinks import Sink
    from emitter.store import Entry, Kept, Store

Make: TypeAlias = "Callable[[float], tuple[Entry, Iterable[LogAppended]]]"
"""Makes, for a time in seconds since 1970, what is to be kept and the lines that tell of it."""


def closing(decision: str) -> str:
    """Return the one name under which a decision's end is kept, be it a resolution or that its time was over."""
    return f"closed:{decision}"


def deleted(name: str) -> str:
    """Return the name under which it is kept that words were deleted."""
    return f"deleted:{name}"


class Log:
    """The log, and what it comes to; ``clock`` returns seconds since 1970.

    A line stands in the store before the sink is told of it, by the one process that added it. What is kept stands,
    and what it is told to cannot take it away: what a sink raises is warned of.
    """

    __slots__ = ("__weakref__", "_book", "_clock", "_lock", "_sink", "_store", "_thresholds")

    def __init__(self, store: Store, clock: Callable[[], float], sink: Sink | None, thresholds: Thresholds) -> None:
        self._store = store
        self._clock = clock
        self._sink = sink
        self._thresholds = thresholds
        self._lock = threading.Lock()
        self._book = Book(thresholds)
        forks.hold(self)

    def find(self, name: str) -> Entry | None:
        """Return what was kept under a name."""
        return self._store.find(RUN, name)

    def once(self, name: str, make: Make, decision: str) -> Kept:
        """Return what is kept under a name; where nothing is, keep what ``make`` returns, and tell its lines."""
        kept = self.keep(name, make, decision)
        self.tell(kept)
        return kept

    def keep(self, name: str, make: Make, decision: str) -> Kept:
        """Return what is kept under a name, as ``once`` does, and tell nothing yet."""

        def fresh() -> Fresh:
            at = self._clock()
            entry, lines = make(at)
            return Fresh(entry, tuple(telling.stamped(each, at, decision) for each in lines))

        return self._store.once(RUN, name, fresh)

    def tell(self, kept: Kept) -> None:
        """Tell the lines of what was kept, and follow; neither raises, since what was kept stands."""
        self._tell(kept.events)
        try:
            self.follow()
        except StoreFailed as error:
            _warn("store", error)

    def follow(self) -> None:
        """Read what anybody added, close the decisions and delete the words whose time is over, and warn of rates."""
        told: list[RunEvent] = []
        try:
            with self._lock:
                self._read()
                self._expire(told)
                self._delete(told)
                self._warn(told)
        finally:
            self._tell(told)

    def open(self) -> tuple[str, ...]:
        """Return the decisions that are open, as of now, in the order in which they were opened."""
        self.follow()
        with self._lock:
            return tuple(self._book.open)

    def rates(self, agent: str | None, decision_class: str | None) -> Rates:
        """Return the rates as of now."""
        self.follow()
        with self._lock:
            return self._book.rates(agent, decision_class)

    def vetoed(self, agent: str) -> Mapping[str, str]:
        """Return the envelopes of an agent whose question was refused, as of now: see ``Book.vetoed``."""
        with self._lock:
            self._read()
            return self._book.vetoed(agent)

    def refusals(self) -> tuple[str, ...]:
        """Return the decisions whose question was refused, as of now, the latest first."""
        with self._lock:
            self._read()
            return self._book.refusals()

    def now(self) -> float:
        """Return the time, in seconds since 1970."""
        return self._clock()

    def write_words(self, name: str, entry: Entry) -> None:
        """Keep words under a name, in place of what a resolution that was broken off has left there."""
        if not self._store.once(RUN, name, lambda: Fresh(entry)).first:
            self._store.forget(RUN, name)
            self._store.once(RUN, name, lambda: Fresh(entry))

    def delete_words(self, name: str, decision: str) -> None:
        """Delete the words under a name from the store, and note that they were."""
        self._tell(self._deleted(name, decision))

    def forking(self) -> None:
        """Do nothing: who holds the lock waits for the store."""

    def forked(self, *, child: bool) -> None:
        """Begin anew in a child: a thread that is not there may have held the lock, amid its reading."""
        if child:
            self._lock = threading.Lock()
            self._book = Book(self._thresholds)

    def _read(self) -> None:
        self._book.add(self._store.events(RUN, self._book.last))

    def _expire(self, told: list[RunEvent]) -> None:
        while (decision := self._book.overdue(self._clock())) is not None:
            line = telling.expired(self._book.open[decision].about)
            told += self.keep(closing(decision), partial(_ended, line), decision).events
            self._read()
            self._book.open.pop(decision, None)

    def _delete(self, told: list[RunEvent]) -> None:
        for name, decision in self._book.words_due(self._clock()):
            told += self._deleted(name, decision)
            self._book.words_gone(name)

    def _deleted(self, name: str, decision: str) -> tuple[RunEvent, ...]:
        self._store.forget(RUN, name)
        return self.keep(deleted(name), partial(noted, telling.words_deleted(name)), decision).events

    def _warn(self, told: list[RunEvent]) -> None:
        for due in tuple(self._book.due.values()):
            told += self.keep(f"exceeded:{due.name}", partial(noted, due.told), due.decision).events
            self._book.due.pop(due.name, None)

    def _tell(self, events: Iterable[RunEvent]) -> None:
        if self._sink is None:
            return
        for event in events:
            try:
                self._sink(event)
            except Exception as error:  # noqa: BLE001  a sink is anybody's code
                _warn("sink", error)


def _warn(what: str, error: Exception) -> None:
    """Warn of what failed after something was kept; its own words may be anybody's, and are left out."""
    told = f"The ledger's {what} raised {type(error).__name__}; what was recorded stands."
    warnings.warn(told, RuntimeWarning, stacklevel=2)


def noted(line: LogAppended, _: float) -> tuple[Entry, tuple[LogAppended, ...]]:
    """Return what is kept of a line that is only to be told once."""
    return records.NOTED, (line,)


def _ended(line: LogAppended, at: float) -> tuple[Entry, tuple[LogAppended, ...]]:
    return records.expired(at), (line,)
