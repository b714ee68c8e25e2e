"""Wait for decisions in an event loop, with one query of the store for all of them.

A process has no notification when another process answers, so the store is polled. All waits of an event loop on one
ledger share one task, which reads the new events of the ledger's log in a thread. A thousand waits cost one query.

A wait may last for days, in which a database restarts. A look that fails is repeated, at growing intervals, and the
first one of an outage is warned of.
"""

from __future__ import annotations

import asyncio
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from emitter.errors import EmitterError, NewerRecord, StoreAltered, StoreFailed
from emitter.problems import warn_of_problem
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")


def in_thread(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Return the async version of a method, which runs it in a thread."""

    @wraps(method)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await run_blocking(method, self, *args, **kwargs)

    run.__name__, run.__qualname__ = f"a{method.__name__}", f"Ledger.a{method.__name__}"
    run.__doc__ = f"Async version of ``{method.__name__}``, which runs in a thread."
    return run


MIN_DELAY: Final = 0.01
MAX_DELAY: Final = 30.0
"""The shortest and the longest interval between two looks at a store that is away, in seconds."""


class Outages:
    """The outages of a store. Of each, one warning is issued, however many tasks wait for its end."""

    __slots__ = ("_is_away",)

    def __init__(self) -> None:
        self._is_away = False

    async def outlast(self, use: Callable[[], T], poll: float) -> T:
        """Return what ``use`` returns, which runs in a thread. While it raises ``StoreFailed``, it is repeated.

        It must be a reading, or a writing that has the same effect when it is repeated. The first interval is ``poll``
        seconds, and each one is twice as long as the last.

        Raises:
            StoreAltered: The store can be read, and what it returns was not written by emitter.
        """
        delay = max(poll, MIN_DELAY)
        while True:
            try:
                result = await run_blocking(use)
            except StoreFailed as error:
                delay = await self.pause(error, delay)
            else:
                self.end()
                return result

    async def pause(self, error: StoreFailed, delay: float) -> float:
        """Wait for ``delay`` seconds after a failure, and return the delay after the next one.

        Raises:
            StoreAltered: That is the failure, so waiting does not help.
            NewerRecord: Likewise.
        """
        if isinstance(error, StoreAltered | NewerRecord):
            raise error
        if not self._is_away:
            self._is_away = True
            warn_of_problem(f"Waiting for a store that cannot be used now. {error.args[0]} Waits go on when it can.")
        await asyncio.sleep(delay)
        return min(2 * delay, MAX_DELAY)

    def end(self) -> None:
        """Note that the store can be used, so that the next outage is warned of."""
        self._is_away = False


class Waiters:
    """The waits for one ledger's decisions, in every event loop.

    Args:
        open_references: Returns the references of the open decisions. It is called in a thread.
    """

    def __init__(self, open_references: Callable[[], tuple[str, ...]]) -> None:
        self._open_references = open_references
        self.outages = Outages()
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopWaiters] = WeakKeyDictionary()

    async def wait(self, reference: str, poll: float) -> None:
        """Wait until a decision is closed, polling the store every ``poll`` seconds or more often."""
        loop = asyncio.get_running_loop()
        if loop not in self._loops:
            self._loops[loop] = _LoopWaiters(self._open_references, self.outages)
        await self._loops[loop].wait(reference, poll)


class _LoopWaiters:
    """The waits of one event loop. Its task runs while a decision is waited for."""

    def __init__(self, open_references: Callable[[], tuple[str, ...]], outages: Outages) -> None:
        self._open_references = open_references
        self._outages = outages
        self._waits: dict[asyncio.Future[None], tuple[str, float]] = {}
        self._task: asyncio.Task[None] | None = None

    async def wait(self, reference: str, poll: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waits[future] = reference, poll
        if self._task is None:
            self._task = asyncio.create_task(self._poll())
        try:
            await future
        finally:
            del self._waits[future]
            if not self._waits:
                self._stop()

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _poll(self) -> None:
        """Poll the store until no wait is left. What it raises, other than for an outage, is raised in every wait."""
        while self._waits:
            waiting = {future: reference for future, (reference, _) in self._waits.items()}
            poll = min(poll for _, poll in self._waits.values())
            try:
                still_open = frozenset(await self._outages.outlast(self._open_references, poll))
            except EmitterError as error:
                for future in waiting:
                    _end(future, error)
                continue
            for future, reference in waiting.items():
                if reference not in still_open:
                    _end(future)
            await asyncio.sleep(min((poll for _, poll in self._waits.values()), default=0))


def _end(future: asyncio.Future[None], error: EmitterError | None = None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
