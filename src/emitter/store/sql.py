"""A store on PostgreSQL, for hosts of several machines; needs the extra ``sql``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from emitter.errors import MissingExtra
from emitter.store.log import Entry, Fresh, Kept
from emitter.store.text import documents_of, entry_of, following, key, text_of
from emitter.store.turns import LONG, Turns, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from sqlalchemy import URL, Engine

    from emitter.events import RunEvent
    from emitter.store.server import Server
    from emitter.wire import Json


class SqlStore:
    """Keeps all in tables ``emitter_*`` of a PostgreSQL database, made where there are none.

    ``server`` is a URL, as ``postgresql://user:password@host/database``, or an SQLAlchemy engine, which stays
    the caller's to close and to renew after a fork. ``timeout`` is how many seconds a caller waits for others.
    While a handler runs, its envelope's claim holds a connection. Close the store, or use it as a context
    manager. Raises ``MissingExtra``, ``InputError`` for another database, ``StoreFailed`` where none answers.
    """

    __slots__ = ("_server", "_timeout", "_turns")

    def __init__(self, server: str | URL | Engine, *, timeout: float = LONG) -> None:
        self._timeout = seconds(timeout)
        self._turns = Turns()
        self._server = _connected(server, self._timeout)

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Return what is remembered under a correlation id."""
        return self._find(key(run_id), key(correlation_id))

    def once(self, run_id: str, correlation_id: str, make: Callable[[], Fresh]) -> Kept:
        """Return what is remembered, or what ``make`` returns, which is called once in all; see ``Store``.

        Others wait with the same envelope only. What ``make`` itself adds to the store is there at once.
        """
        run, correlation = key(run_id), key(correlation_id)
        with self._turns.turn((run, correlation), self._timeout):  # so that one connection a process waits, not many
            while (known := self._find(run, correlation)) is None:
                with self._server.claimed(run, correlation) as claim:
                    if claim is not None:
                        fresh = make()
                        text = text_of(fresh.entry)
                        return Kept(entry_of(text), claim.keep(text, fresh.events), first=True)
        return Kept(known, (), first=False)

    def forget(self, run_id: str, correlation_id: str) -> None:
        """Delete what is remembered under a correlation id; PostgreSQL overwrites the row when it vacuums."""
        self._server.forget(key(run_id), key(correlation_id))

    def append(self, run_id: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        """Add events to the run's log, and return them with their numbers."""
        return self._server.add(key(run_id), events)

    def events(self, run_id: str, after: int = -1) -> tuple[Mapping[str, Json], ...]:
        """Return the run's log as RunEventDocs, those after sequence ``after``."""
        return documents_of(self._server.read(key(run_id), following(after)))

    def close(self) -> None:
        """Close the connections, unless the engine is the caller's; calls that are under way come to their end."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _find(self, run: str, correlation: str) -> Entry | None:
        text = self._server.find(run, correlation)
        return None if text is None else entry_of(text)


def _connected(given: str | URL | Engine, timeout: float) -> Server:
    try:
        from emitter.store.server import Server  # noqa: PLC0415  SQLAlchemy is an extra

        server = Server(given, timeout)
    except ImportError as error:
        raise MissingExtra(
            "SQLAlchemy, or the driver for PostgreSQL, is not installed.", hint="Run: pip install 'emitter[sql]'"
        ) from error
    try:
        server.make()
    except BaseException:
        server.close()
        raise
    return server
