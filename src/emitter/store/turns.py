"""Locks by key within a process: whoever shares a key goes one after the other, and nobody else waits."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.errors import InputError, StoreFailed
from emitter.store import forks

if TYPE_CHECKING:
    from collections.abc import Generator, Hashable

LONG = 60.0
"""Seconds that a store waits for others where it is told nothing else."""
_LONGEST = 86_400.0


def seconds(timeout: float) -> float:
    """Return how long to wait; raises ``InputError`` for what is no time."""
    if 0 < timeout <= _LONGEST:
        return float(timeout)
    raise InputError(f"timeout= is a number of seconds, more than 0 and at most {_LONGEST:.0f}.")


def kept_waiting(timeout: float) -> StoreFailed:
    """Return the error that says that another holds what this caller needs."""
    return StoreFailed(
        f"Another was still handling the same envelope after {timeout:g} s.",
        hint="Wait longer with timeout=, and see that a handler neither hangs nor waits for itself elsewhere.",
    )


def closed() -> InputError:
    """Return the error that says that a store was closed."""
    return InputError("The store is closed.", hint="Open it again, or close it later.")


@dataclass(slots=True)
class _Turn:
    """A lock, the thread that has it, and how many have or want it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    thread: int | None = None
    wanted: int = 0


@dataclass(slots=True, weakref_slot=True, eq=False)
class Turns:
    """The locks, each of them there only while somebody has or wants it; a forked child begins without any."""

    _guard: threading.Lock = field(default_factory=threading.Lock, init=False)
    _turns: dict[Hashable, _Turn] = field(default_factory=dict["Hashable", _Turn], init=False)

    def __post_init__(self) -> None:
        forks.hold(self)

    @contextmanager
    def turn(self, key: Hashable, timeout: float) -> Generator[None]:
        """Hold a key's lock; raises ``StoreFailed`` after so many seconds, ``InputError`` where this thread has it."""
        turn = self._wanted(key)
        try:
            if not turn.lock.acquire(timeout=timeout):
                raise kept_waiting(timeout)
            turn.thread = threading.get_ident()
            try:
                yield
            finally:
                turn.thread = None
                turn.lock.release()
        finally:
            self._let_go(key, turn)

    def forking(self) -> None:
        """Do nothing: who holds a lock may hold it for long."""

    def forked(self, *, child: bool) -> None:
        """Leave the locks to the parent, whose threads hold them."""
        if child:
            self._guard = threading.Lock()
            self._turns = {}

    def _wanted(self, key: Hashable) -> _Turn:
        with self._guard:
            turn = self._turns.setdefault(key, _Turn())
            if turn.thread == threading.get_ident():
                raise InputError(
                    "A handler asked for the envelope that it is handling.",
                    hint="Handle another one within it, or ask for this one when its handler is done.",
                )
            turn.wanted += 1
        return turn

    def _let_go(self, key: Hashable, turn: _Turn) -> None:
        with self._guard:
            turn.wanted -= 1
            if not turn.wanted and self._turns.get(key) is turn:  # it is not where the handler itself has forked
                del self._turns[key]
