"""Wait for decisions in an event loop, with one query of the store for all of them.

A process has no notification when another process answers, so the store is polled. All waits of an event loop on one
ledger share one task, which reads the new events of the ledger's log in a thread. A thousand waits cost one query.
"""

from __future__ import annotations

import asyncio
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from emitter.errors import StoreFailed
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


def in_thread(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Return the async version of a method, which runs it in a thread."""

    @wraps(method)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await run_blocking(method, self, *args, **kwargs)

    run.__name__, run.__qualname__ = f"a{method.__name__}", f"Ledger.a{method.__name__}"
    run.__doc__ = f"Async version of ``{method.__name__}``, which runs in a thread."
    return run


class Waiters:
    """The waits for one ledger's decisions, in every event loop.

    Args:
        open_references: Returns the references of the open decisions. It is called in a thread.
    """

    def __init__(self, open_references: Callable[[], tuple[str, ...]]) -> None:
        self._open_references = open_references
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopWaiters] = WeakKeyDictionary()

    async def wait(self, reference: str, poll: float) -> None:
        """Wait until a decision is closed, polling the store every ``poll`` seconds or more often."""
        loop = asyncio.get_running_loop()
        if loop not in self._loops:
            self._loops[loop] = _LoopWaiters(self._open_references)
        await self._loops[loop].wait(reference, poll)


class _LoopWaiters:
    """The waits of one event loop. Its task runs while a decision is waited for."""

    def __init__(self, open_references: Callable[[], tuple[str, ...]]) -> None:
        self._open_references = open_references
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
        """Poll the store until no wait is left. A failure of the store is raised in every wait."""
        while self._waits:
            waiting = {future: reference for future, (reference, _) in self._waits.items()}
            try:
                still_open = frozenset(await run_blocking(self._open_references))
            except StoreFailed as error:
                for future in waiting:
                    _end(future, error)
                continue
            for future, reference in waiting.items():
                if reference not in still_open:
                    _end(future)
            await asyncio.sleep(min((poll for _, poll in self._waits.values()), default=0))


def _end(future: asyncio.Future[None], error: StoreFailed | None = None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
