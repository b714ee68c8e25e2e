"""Locks by key for threads and processes, and handlers that keep stores safe across ``fork``.

``KeyLocks`` serialises the threads of one process. ``FileLocks`` serialises the processes of one machine by locking
bytes of a file; the operating system releases them when the process ends.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
import weakref
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from emitter.errors import InputError, StoreFailed
from emitter.files import open_private

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable


class ForkAware(Protocol):
    """An object with locks or connections that must be handled when the process forks.

    It may also have a method ``before_fork()``, which the forking thread calls.
    """

    def after_fork(self, *, child: bool) -> None:
        """Continue after a fork, in the parent or in the child, which has only this thread."""
        ...


_registered: weakref.WeakSet[ForkAware] = weakref.WeakSet()
_notified: list[ForkAware] = []
_guard = threading.RLock()
"""Held during a fork, so that no handler registers in the middle of one."""


def register_fork_handler(handler: ForkAware) -> None:
    """Call the handler around forks until it is garbage collected."""
    with _guard:
        _registered.add(handler)


def _before_fork() -> None:
    _guard.acquire()
    _notified[:] = _registered
    for handler in _notified:
        prepare: Callable[[], None] | None = getattr(handler, "before_fork", None)
        if prepare is not None:
            prepare()


def _after_fork(*, child: bool) -> None:
    for handler in _notified:
        handler.after_fork(child=child)
    _notified.clear()
    _guard.release()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=lambda: _after_fork(child=False),
        after_in_child=lambda: _after_fork(child=True),
    )

DEFAULT_TIMEOUT = 60.0
"""Seconds that a store waits for a lock by default."""
_MAX_TIMEOUT = 86_400.0


def check_timeout(timeout: float) -> float:
    """Return a lock timeout in seconds. Raises ``InputError`` if it is out of range."""
    if 0 < timeout <= _MAX_TIMEOUT:
        return float(timeout)
    raise InputError(f"timeout= is {timeout!r}; it must be above 0 and at most {_MAX_TIMEOUT:.0f} seconds.")


def lock_timeout_error(timeout: float) -> StoreFailed:
    """Return the error for an envelope that another thread or process is still handling."""
    return StoreFailed(
        f"Another thread or process was still handling the same envelope after {timeout:g} s.",
        hint="Raise timeout=, or check that no handler hangs or waits for its own envelope.",
    )


def closed_error() -> InputError:
    """Return the error for a store that is closed."""
    return InputError("The store is closed.", hint="Open a new one, or close it later.")


@dataclass(slots=True)
class _KeyLock:
    """A lock, the thread that holds it, and how many threads hold or wait for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    thread: int | None = None
    users: int = 0


@dataclass(slots=True, weakref_slot=True, eq=False)
class KeyLocks:
    """Locks by key. A lock exists only while a thread uses it; a forked child starts without any."""

    _guard: threading.Lock = field(default_factory=threading.Lock, init=False)
    _locks: dict[Hashable, _KeyLock] = field(default_factory=dict["Hashable", _KeyLock], init=False)

    def __post_init__(self) -> None:
        register_fork_handler(self)

    @contextmanager
    def hold(self, key: Hashable, timeout: float) -> Generator[None]:
        """Hold the lock of a key.

        Raises ``StoreFailed`` after ``timeout`` seconds, and ``InputError`` if this thread already holds it.
        """
        lock = self._acquire_reference(key)
        try:
            if not lock.lock.acquire(timeout=timeout):
                raise lock_timeout_error(timeout)
            lock.thread = threading.get_ident()
            try:
                yield
            finally:
                lock.thread = None
                lock.lock.release()
        finally:
            self._release_reference(key, lock)

    def after_fork(self, *, child: bool) -> None:
        """Drop the locks in a child: the threads that hold them, maybe for long, are in the parent."""
        if child:
            self._guard = threading.Lock()
            self._locks = {}

    def _acquire_reference(self, key: Hashable) -> _KeyLock:
        with self._guard:
            lock = self._locks.setdefault(key, _KeyLock())
            if lock.thread == threading.get_ident():
                raise InputError(
                    "A handler requested the envelope that it is handling.",
                    hint="Request another envelope, or request this one after its handler has returned.",
                )
            lock.users += 1
        return lock

    def _release_reference(self, key: Hashable, lock: _KeyLock) -> None:
        with self._guard:
            lock.users -= 1
            if not lock.users and self._locks.get(key) is lock:  # a handler that forked has replaced the table
                del self._locks[key]


_MIN_POLL, _MAX_POLL = 0.001, 0.05
"""Seconds between attempts to take a lock that another process holds: there is no notification of its release."""
if sys.platform == "win32":
    import msvcrt

    _seeking = threading.Lock()

    def _change(file: int, offset: int, mode: int) -> None:
        with _seeking:
            os.lseek(file, offset, os.SEEK_SET)
            msvcrt.locking(file, mode, 1)

    def _lock_byte(file: int, offset: int) -> None:
        _change(file, offset, msvcrt.LK_NBLCK)

    def _unlock_byte(file: int, offset: int) -> None:
        _change(file, offset, msvcrt.LK_UNLCK)

else:
    import fcntl

    def _lock_byte(file: int, offset: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)

    def _unlock_byte(file: int, offset: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, offset)


def lock_offset(run_id: str, correlation_id: str) -> int:
    """Return the byte that is locked for an envelope. Byte 0 is never returned."""
    digest = hashlib.sha256(f"{run_id}\n{correlation_id}".encode()).digest()
    return 1 + int.from_bytes(digest[:8], "big") // 4


@dataclass(slots=True, eq=False)
class FileLocks:
    """An open lock file, shared by all stores of this process that use it."""

    path: str
    file: int
    users: int = 0
    thread_locks: KeyLocks = field(default_factory=KeyLocks)

    @contextmanager
    def hold(self, offset: int, timeout: float) -> Generator[None]:
        """Hold the lock of a byte. Raises ``StoreFailed`` after ``timeout`` seconds or on a system error."""
        _LOCK_FILES.acquire(self)
        try:
            with self.thread_locks.hold(offset, timeout):
                self._acquire(offset, timeout)
                try:
                    yield
                finally:
                    _unlock_byte(self.file, offset)
        finally:
            _LOCK_FILES.release(self)

    def _acquire(self, offset: int, timeout: float) -> None:
        deadline, pause = time.monotonic() + timeout, _MIN_POLL
        while not self._try_acquire(offset):
            if time.monotonic() > deadline:
                raise lock_timeout_error(timeout)
            time.sleep(pause)
            pause = min(2 * pause, _MAX_POLL)

    def _try_acquire(self, offset: int) -> bool:
        try:
            _lock_byte(self.file, offset)
        except (BlockingIOError, PermissionError):  # POSIX allows either; Windows raises the second
            return False
        except OSError as error:
            raise StoreFailed(f"The lock file {self.path} cannot be locked: {error.strerror}.") from error
        return True


class _OpenLockFiles:
    """The lock files that this process has open."""

    __slots__ = ("__weakref__", "_guard", "_open")

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._open: dict[str, FileLocks] = {}

    def open(self, path: str) -> FileLocks:
        """Open a lock file, or return the one that is open, and count a user."""
        with self._guard:
            locks = self._open.get(path) or self._create(path)
            locks.users += 1
        return locks

    def acquire(self, locks: FileLocks) -> None:
        """Count another user of an open file. Raises ``InputError`` if it is closed."""
        with self._guard:
            if not locks.users:
                raise closed_error()
            locks.users += 1

    def release(self, locks: FileLocks) -> None:
        """Discount a user, and close the file after the last one."""
        # Closing any descriptor of a file drops all POSIX locks that the process holds on it. So the process shares one
        # descriptor for each lock file, and closes it only when no store and no call uses it.
        with self._guard:
            locks.users -= 1
            if not locks.users:
                del self._open[locks.path]
                os.close(locks.file)

    def after_fork(self, *, child: bool) -> None:
        """Replace the guard in a child, since another thread may have held it.

        The files can be shared, since a child does not inherit its parent's locks.
        """
        if child:
            self._guard = threading.Lock()

    def _create(self, path: str) -> FileLocks:
        try:
            file = open_private(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise InputError(
                f"{path} cannot be opened: {error.strerror}.",
                hint="A store needs this lock file beside it. Check the folder's permissions.",
            ) from error
        locks = self._open[path] = FileLocks(path, file)
        return locks


_LOCK_FILES = _OpenLockFiles()
register_fork_handler(_LOCK_FILES)
open_file_locks, close_file_locks = _LOCK_FILES.open, _LOCK_FILES.release
