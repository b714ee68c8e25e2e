"""The workers of a run: each takes a situation, sees it to its end, and takes the next.

Rule: a situation is taken only while fewer than ``window`` were taken and not yet handed out. So neither a
consumer that is slow nor, in order, an emission that is slow lets results pile up.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic

from emitter.many.item import Item, R

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from emitter.conversation import Situation
    from emitter.many.job import Job
    from emitter.many.work import Begun, Desk

WINDOW = 4
"""So many situations for each that may be in flight are taken and not yet handed out."""


class Crew(Generic[R]):
    """Workers at a desk; ``tell`` is called after each item."""

    def __init__(self, desk: Desk[R], source: AsyncIterator[Situation | Job], tell: Callable[[Item[R]], None]) -> None:
        self._desk, self._source, self._tell = desk, source, tell
        self._taken = self._handed = 0
        self._over = False
        self._error: BaseException | None = None
        self._fatal = self._leaving = False
        self._taking = asyncio.Lock()
        self._finished: asyncio.Queue[Item[R] | None] = asyncio.Queue()

    async def items(self, in_flight: int, *, ordered: bool) -> AsyncGenerator[Item[R]]:
        """Yield what comes, in the order of the situations or as it is finished.

        What went wrong with the situations themselves, the journal or the report is raised once all that was begun
        has been handed out.
        """
        room = asyncio.Semaphore(WINDOW * in_flight)
        workers = [asyncio.create_task(self._work(room)) for _ in range(in_flight)]
        for each in workers:
            each.add_done_callback(self._fell)
        try:
            waiting: dict[int, Item[R]] = {}
            while not self._fatal and not (self._over and self._handed == self._taken):
                item = await self._finished.get()
                if item is None:
                    continue
                waiting[item.index if ordered else self._handed] = item
                while self._handed in waiting:
                    self._handed += 1
                    yield waiting.pop(self._handed - 1)
                    room.release()
        finally:
            self._leaving = True
            await _ended(workers)
        if self._error is not None:
            raise self._error

    async def _work(self, room: asyncio.Semaphore) -> None:
        while True:
            await room.acquire()
            async with self._taking:
                begun = await self._next()
            if begun is None:
                return
            item = await self._desk.item(begun)
            self._finished.put_nowait(item)
            self._report(item)

    async def _next(self) -> Begun[R] | None:
        """Take the next situation, where there is one and nothing forbids it."""
        if self._over:
            return None
        try:
            situation = await anext(self._source)
        except StopAsyncIteration:
            self._end(None)
            return None
        except Exception as error:  # noqa: BLE001  it is raised at the end, when what was begun is handed out
            self._end(error)
            return None
        self._taken += 1
        return self._desk.begin(self._taken - 1, situation)

    def _report(self, item: Item[R]) -> None:
        if self._desk.unwritten is not None:
            self._end(self._desk.unwritten)
        try:
            self._tell(item)
        except Exception as error:  # noqa: BLE001  the caller's report; what was paid for comes first
            self._end(error)

    def _end(self, error: BaseException | None) -> None:
        """Begin nothing more."""
        self._over = True
        self._error = self._error or error
        self._finished.put_nowait(None)

    def _fell(self, worker: asyncio.Task[None]) -> None:
        """End all, where a worker ended in what is no failure of one emission."""
        error = asyncio.CancelledError() if worker.cancelled() else worker.exception()
        if error is not None and not self._leaving:
            self._fatal = True
            self._end(error)


async def _ended(workers: list[asyncio.Task[None]]) -> None:
    """Leave no worker behind, however often the caller is cancelled meanwhile."""
    cancelled: asyncio.CancelledError | None = None
    for each in workers:
        each.cancel()
    while left := [each for each in workers if not each.done()]:
        try:
            await asyncio.wait(left)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
