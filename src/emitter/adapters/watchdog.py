"""End a blocking request at its deadline.

A blocking client has a timeout for each wait for the network, but none for their sum: a vendor that sends a byte a
second is never late. So one daemon thread watches the requests of all threads, and shuts down the socket that a thread
waits for once its deadline has passed. The thread continues with an error, which ``Watch`` replaces by
``TimeoutError``.

Neither ``httpx2`` nor ``urllib3`` has a public way to the socket of a request before its response begins. Its socket is
searched for only after the deadline, in the frames of the waiting thread, so that a request in time costs nothing.

Sources: ``_sync`` and ``_backends/sync.py`` in httpcore2 2.16.2; ``connection.py`` and ``util`` in urllib3 2.8.0;
``http/client.py``, ``socket.py`` and ``ssl.py`` in Python 3.11 to 3.13.
"""

from __future__ import annotations

import gc
import math
import os
import socket
import sys
import threading
import time
from contextlib import suppress
from itertools import dropwhile, takewhile
from typing import TYPE_CHECKING, Any, TypeVar, cast

from emitter.deadline import TIMEOUT_MESSAGE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterable, Iterator
    from types import FrameType, TracebackType

    from emitter.deadline import Deadline

ResultT = TypeVar("ResultT")
_RETRY_SECONDS = 0.05
"""The time after which an overdue thread is looked at again. It may not have waited for a socket, and a client tries
every address of a name."""
_PRECISION = 0.01
"""The seconds by which a deadline may be missed, so that almost equal ones do not wake the thread one by one."""
_OWN_PACKAGE = __name__.partition(".")[0]
_CLIENTS = frozenset({"httpcore2", "httpcore", "urllib3"})
_INNER_PACKAGES = _CLIENTS | {"botocore", "http", "socket", "ssl"}
"""The packages in which those clients wait for a socket. Other code that they call, such as a logging
handler, may have sockets of its own, which are not touched."""
_SOCKET_LOCALS = ("self", "conn", "sock", "stream")
_SOCKET_ATTRIBUTES = ("_network_stream", "_sock", "sock", "socket")


class Watch:
    """A blocking part of a request, which ends at a deadline. It can be entered again for the next part.

    Leaving it raises ``TimeoutError`` if the socket was shut down, because what the client returns then may look like a
    complete answer.
    """

    __slots__ = ("deadline", "has_ended", "thread_id", "was_cut")

    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline
        self.thread_id = 0
        self.has_ended = self.was_cut = False

    def __enter__(self) -> float:
        """Start to watch, and return the seconds that are left."""
        seconds = self.deadline.remaining()
        self.thread_id = threading.get_ident()
        due = time.monotonic() + seconds
        with _WATCHDOG.lock:
            _WATCHDOG.watches.add(self)
            if due + _PRECISION < _WATCHDOG.looks_at:
                _WATCHDOG.look_at(due)
        return seconds

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with _WATCHDOG.lock:
            _WATCHDOG.watches.discard(self)
        if self.was_cut and (error is None or isinstance(error, Exception)):
            raise TimeoutError(TIMEOUT_MESSAGE) from None

    def end(self) -> None:
        """End the part now, because nobody waits for it."""
        self.has_ended = True
        with _WATCHDOG.lock:
            _WATCHDOG.look_at(-math.inf)


class _Watchdog:
    """The watches that are open, and the thread that looks at them. ``lock`` guards both."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the watches and the thread. A forked child has neither."""
        self.lock = threading.RLock()  # a signal handler may send a request, too
        self.watches = set[Watch]()
        self.looks_at = math.inf
        """The time at which the thread looks at the watches again."""
        self._changed = threading.Condition(self.lock)
        self._thread: threading.Thread | None = None

    def look_at(self, due: float) -> None:
        """Look at the watches earlier than planned."""
        self.looks_at = due
        self._changed.notify()
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="emitter-watchdog", daemon=True)
            with suppress(RuntimeError):  # no thread can be started, for example while the interpreter shuts down
                thread.start()
                self._thread = thread

    def _run(self) -> None:
        with self.lock:
            while True:
                now = time.monotonic()
                if now >= self.looks_at:
                    self.looks_at = now + min(map(_check, tuple(self.watches)), default=math.inf)
                else:
                    self._changed.wait(min(self.looks_at - now, threading.TIMEOUT_MAX))


_WATCHDOG = _Watchdog()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_WATCHDOG.reset)


def was_cut() -> bool:
    """Return whether the request of this thread was ended at its deadline."""
    thread_id = threading.get_ident()
    with _WATCHDOG.lock:
        return any(watch.was_cut and watch.thread_id == thread_id for watch in _WATCHDOG.watches)


def send_in_time(send: Callable[[float], Any], deadline: Deadline) -> Any:
    """Call a function that sends a request with a timeout, and return its response, or raise ``TimeoutError``."""
    response: Any = None
    try:
        with Watch(deadline) as seconds:
            response = send(seconds)
    except TimeoutError:
        if response is not None:
            response.close()
        raise
    return response


async def asend_in_time(send: Callable[[float], Awaitable[Any]], deadline: Deadline) -> Any:
    """Async version of ``send_in_time``. The request is cancelled at the deadline."""
    return await _await_in_time(send(deadline.remaining()), deadline)


def iter_in_time(pieces: Iterable[bytes], deadline: Deadline) -> Generator[bytes]:
    """Yield the pieces of a response, and raise ``TimeoutError`` at the deadline."""
    watch, iterator = Watch(deadline), iter(pieces)
    while True:
        with watch:
            piece = next(iterator, None)
        if piece is None:
            return
        if deadline.has_passed:  # a transport without a socket cannot be woken
            raise TimeoutError(TIMEOUT_MESSAGE)
        yield piece


async def aiter_in_time(pieces: AsyncIterator[bytes], deadline: Deadline) -> AsyncGenerator[bytes]:
    """Async version of ``iter_in_time``."""
    while True:
        piece = await _await_in_time(anext(pieces, None), deadline)
        if piece is None:
            return
        if deadline.has_passed:
            raise TimeoutError(TIMEOUT_MESSAGE)
        yield piece


async def _await_in_time(part: Awaitable[ResultT], deadline: Deadline) -> ResultT:
    import asyncio  # noqa: PLC0415  light commands load the adapters without it

    scope = asyncio.timeout(deadline.timeout())
    try:
        async with scope:
            return await part
    except TimeoutError:
        if scope.expired():
            raise TimeoutError(TIMEOUT_MESSAGE) from None  # without the errors of the cancelled request
        raise


def _check(watch: Watch) -> float:
    """Shut down the socket of an overdue watch. Return the seconds after which the watch is looked at again."""
    with suppress(Exception):  # of the caller's clock or client, and it must not end this thread
        remaining = 0.0 if watch.has_ended else watch.deadline.remaining()
        if remaining > 0:
            return max(remaining, _PRECISION)
        waiting = _find_socket(_current_frames().get(watch.thread_id))
        if waiting is not None:
            watch.was_cut = True
            # The method of an SSLSocket would drop the TLS state that the thread is using.
            socket.socket.shutdown(waiting, socket.SHUT_RDWR)
    return _RETRY_SECONDS


def _current_frames() -> dict[int, FrameType]:
    """Return the innermost frame of each thread.

    Before Python 3.11.9, the garbage collector may run meanwhile, and the interpreter stops for ever if that frees a
    ``threading.local``: github.com/python/cpython/issues/106883.
    """
    is_collecting = sys.version_info < (3, 11, 9) and gc.isenabled()
    if is_collecting:
        gc.disable()
    try:
        frames: dict[int, FrameType] = cast("Any", sys)._current_frames()  # noqa: SLF001  documented in spite of its name
    finally:
        if is_collecting:
            gc.enable()
    return frames


def _find_socket(frame: FrameType | None) -> socket.socket | None:
    """Return the socket that a thread waits for inside an HTTP client, or None."""
    frames: list[FrameType] = []
    while frame is not None and package_of(frame) != _OWN_PACKAGE:
        frames.append(frame)
        frame = frame.f_back
    client = dropwhile(lambda each: package_of(each) not in _CLIENTS, reversed(frames))
    waiting = takewhile(lambda each: package_of(each) in _INNER_PACKAGES, client)
    return next((each for frame in waiting for each in _open_sockets(frame)), None)


def package_of(frame: FrameType) -> str:
    """Return the top-level package whose code a frame runs, or an empty string."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _open_sockets(frame: FrameType) -> Iterator[socket.socket]:
    """Yield the open sockets among the variables of a frame."""
    for name in _SOCKET_LOCALS:
        value: object = frame.f_locals.get(name)
        while value is not None and not isinstance(value, socket.socket):
            value = next(filter(None, (getattr(value, each, None) for each in _SOCKET_ATTRIBUTES)), None)
        # TLS takes the connection over from a plain socket, which has no file descriptor afterwards.
        if value is not None and value.fileno() >= 0:
            yield value
