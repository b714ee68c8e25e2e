"""Locks by key among the processes of one machine: each is a byte of a file, which none reads or writes.

The system drops a lock with the process that holds it, however that ends, so nothing is left to clean up. A process
has the file open once for all of its stores, since closing it anywhere would drop all of the process's locks.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.errors import InputError, StoreFailed
from emitter.files import open_private
from emitter.store import forks
from emitter.store.turns import Turns, closed, kept_waiting

if TYPE_CHECKING:
    from collections.abc import Generator

_SHORTEST, _LONGEST = 0.001, 0.05
"""Seconds between two looks at a lock that another process holds: the system tells nobody when it is dropped."""

if sys.platform == "win32":
    import msvcrt

    _seeking = threading.Lock()

    def _change(file: int, at: int, mode: int) -> None:
        with _seeking:
            os.lseek(file, at, os.SEEK_SET)
            msvcrt.locking(file, mode, 1)

    def _take(file: int, at: int) -> None:
        _change(file, at, msvcrt.LK_NBLCK)

    def _drop(file: int, at: int) -> None:
        _change(file, at, msvcrt.LK_UNLCK)

else:
    import fcntl

    def _take(file: int, at: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)

    def _drop(file: int, at: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, at)


def byte_of(run_id: str, correlation_id: str) -> int:
    """Return the byte that stands for an envelope, from 1 on."""
    digest = hashlib.sha256(f"{run_id}\n{correlation_id}".encode()).digest()
    return 1 + int.from_bytes(digest[:8], "big") // 4


@dataclass(slots=True, eq=False)
class Claims:
    """The open file of locks, shared by all stores of this process that keep to it."""

    place: str
    file: int
    users: int = 0
    turns: Turns = field(default_factory=Turns)

    @contextmanager
    def held(self, at: int, timeout: float) -> Generator[None]:
        """Hold the lock of a byte; raises ``StoreFailed`` after ``timeout`` seconds, or where the system fails."""
        _FILES.use(self)
        try:
            with self.turns.turn(at, timeout):
                self._wait(at, timeout)
                try:
                    yield
                finally:
                    _drop(self.file, at)
        finally:
            _FILES.leave(self)

    def _wait(self, at: int, timeout: float) -> None:
        end, pause = time.monotonic() + timeout, _SHORTEST
        while not self._took(at):
            if time.monotonic() > end:
                raise kept_waiting(timeout)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)

    def _took(self, at: int) -> bool:
        try:
            _take(self.file, at)
        except (BlockingIOError, PermissionError):  # which of them it is depends on the system
            return False
        except OSError as error:
            raise StoreFailed(f"{self.place} cannot be locked: {error.strerror}.") from error
        return True


class _Files:
    """The files that this process has open."""

    __slots__ = ("__weakref__", "_guard", "_open")

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._open: dict[str, Claims] = {}

    def opened(self, place: str) -> Claims:
        """Return the file, one user more."""
        with self._guard:
            claims = self._open.get(place) or self._new(place)
            claims.users += 1
        return claims

    def use(self, claims: Claims) -> None:
        """Count one user more of an open file; raises ``InputError`` where its last has left."""
        with self._guard:
            if not claims.users:
                raise closed()
            claims.users += 1

    def leave(self, claims: Claims) -> None:
        """Count one user less, and close the file after its last."""
        with self._guard:
            claims.users -= 1
            if not claims.users:
                del self._open[claims.place]
                os.close(claims.file)

    def forking(self) -> None:
        """Do nothing: the files can be shared, and the system gives no child its parent's locks."""

    def forked(self, *, child: bool) -> None:
        """Begin in a child with a guard that nobody holds."""
        if child:
            self._guard = threading.Lock()

    def _new(self, place: str) -> Claims:
        try:
            file = open_private(place, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise InputError(
                f"{place} cannot be opened: {error.strerror}.", hint="It keeps a store's writers apart: see its folder."
            ) from error
        claims = self._open[place] = Claims(place, file)
        return claims


_FILES = _Files()
forks.hold(_FILES)
opened, close = _FILES.opened, _FILES.leave
