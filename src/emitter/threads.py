"""Run blocking functions in threads, so that an event loop never waits for a store or a file.

Each event loop has a bounded pool of its own. The loop's default pool is not used: it has six threads on two cores, and
the caller's own code shares it.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator, Callable, Generator
    from contextlib import AbstractContextManager

T = TypeVar("T")

MAX_THREADS: Final = 64
"""The most blocking calls of one event loop at the same time. Further ones wait in a queue."""


class _Pool:
    """The threads of an event loop.

    They end with the last of its ``thread_scope``, and without one when the loop is garbage collected. A child process
    after a fork has another loop.
    """

    def __init__(self) -> None:
        self.executor = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="emitter")
        self.scopes = self.calls = 0

    def submit(self, loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> asyncio.Future[None]:
        """Call a function in a thread, with a copy of the context variables."""
        work = loop.run_in_executor(self.executor, copy_context().run, function)
        self.calls += 1
        work.add_done_callback(self._end_call)
        return work

    def _end_call(self, _: asyncio.Future[None]) -> None:
        self.calls -= 1


_POOLS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool] = WeakKeyDictionary()


def _get_pool(loop: asyncio.AbstractEventLoop) -> _Pool:
    pool = _POOLS.get(loop)
    if pool is None:
        pool = _POOLS[loop] = _Pool()
    return pool


@contextmanager
def thread_scope() -> Generator[None]:
    """End the threads of the running event loop when the last such context is left.

    Calls that are still in progress then, which other code of the loop has begun, are completed.
    """
    import asyncio  # noqa: PLC0415  light commands load this module without it

    loop = asyncio.get_running_loop()
    pool = _get_pool(loop)
    pool.scopes += 1
    try:
        yield
    finally:
        pool.scopes -= 1
        if not pool.scopes:
            del _POOLS[loop]  # a later call has new threads
            pool.executor.shutdown(wait=not pool.calls)  # idle threads end at once


async def run_blocking(function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """Call a function in a thread, with a copy of the context variables, and return its result.

    A call that has begun is never left alone: if the task is cancelled meanwhile, the call completes, and the
    cancellation is raised afterwards.
    """
    call = BlockingCall(lambda: function(*args, **kwargs))
    cancelled = await call.complete()
    if cancelled is not None:
        raise cancelled
    return cast("T", call.result())


class BlockingCall:
    """A call that runs in a thread from the beginning."""

    def __init__(self, function: Callable[[], Any]) -> None:
        import asyncio  # noqa: PLC0415  light commands load this module without it

        loop = asyncio.get_running_loop()
        self._function = function
        self._value: Any = None
        self._error: BaseException | None = None
        self._work = _get_pool(loop).submit(loop, self._call)

    def _call(self) -> None:
        # The outcome is kept here, because a future cannot hold every exception, such as StopIteration.
        try:
            self._value = self._function()
        except BaseException as error:  # noqa: BLE001  result() raises it
            self._error = error

    async def complete(self) -> asyncio.CancelledError | None:
        """Wait until the call has returned. Return the cancellation of this task that came meanwhile, if any."""
        import asyncio  # noqa: PLC0415  light commands load this module without it

        try:
            await asyncio.shield(self._work)
        except asyncio.CancelledError as error:
            with _anyio_shield():
                while not self._work.done():
                    with suppress(asyncio.CancelledError):
                        await asyncio.shield(self._work)
            return error
        return None

    def result(self) -> Any:
        """Return the result of a call that is complete, or raise its exception."""
        if self._error is not None:
            raise self._error
        return self._value


def _anyio_shield() -> AbstractContextManager[object]:
    """Return a context in which a cancelled scope of anyio does not cancel the task again and again, if it is used."""
    scope = getattr(sys.modules.get("anyio"), "CancelScope", None)
    return nullcontext() if scope is None else scope(shield=True)


@asynccontextmanager
async def blocking_context(context: AbstractContextManager[T]) -> AsyncGenerator[T]:
    """Enter and leave a context in threads. It cannot suppress an exception."""
    entering = BlockingCall(context.__enter__)
    cancelled = await entering.complete()
    value = entering.result()
    if cancelled is not None:
        await run_blocking(context.__exit__, type(cancelled), cancelled, cancelled.__traceback__)
        raise cancelled
    try:
        yield value
    except BaseException as error:
        await run_blocking(context.__exit__, type(error), error, error.__traceback__)
        raise
    else:
        await run_blocking(context.__exit__, None, None, None)
