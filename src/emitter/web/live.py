"""Tell open pages that the ledger changed, by server-sent events.

One task of each process asks the store for news, for any number of readers, so pages learn of every change in any
process. An event has the number of the latest change and nothing else; the page then loads itself again.

Source: the HTML standard, section 9.2 (server-sent events).
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from emitter.errors import MissingExtra, StoreFailed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from emitter.decisions.ledger import Ledger

try:
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import StreamingResponse
except ImportError as error:
    raise MissingExtra("The inbox needs starlette.", extra="web") from error
_HEARTBEAT_SECONDS: Final = 15.0
"""Seconds without news after which a comment is sent, so that proxies keep the connection."""
_STREAM_SECONDS: Final = 900.0
"""Seconds after which a stream ends. The browser connects again, and is authenticated again."""


class Changes:
    """The changes of a ledger, for the readers of one process."""

    def __init__(self, ledger: Ledger, poll_seconds: float) -> None:
        self._ledger = ledger
        self._poll_seconds = poll_seconds
        self._readers = 0
        self._sequence = -1
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def follow(self, after: int) -> AsyncGenerator[int | None]:
        """Yield the number of the latest change whenever it is above ``after``, and None as a heartbeat."""
        with self._polling():
            while True:
                changed = self._changed
                if self._sequence > after:
                    after = self._sequence
                    yield after
                    continue
                with suppress(TimeoutError):
                    async with asyncio.timeout(_HEARTBEAT_SECONDS):
                        await changed.wait()
                        continue
                yield None

    async def refresh(self) -> None:
        """Ask the store for news."""
        with suppress(StoreFailed):
            sequence = await run_in_threadpool(self._ledger.last_sequence)
            if sequence != self._sequence:
                self._sequence = sequence
                self._changed.set()
                self._changed = asyncio.Event()

    @contextmanager
    def _polling(self) -> Generator[None]:
        """Ask the store for news as long as there are readers."""
        self._readers += 1
        if self._task is None:
            self._changed = asyncio.Event()
            self._task = asyncio.create_task(self._poll())
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers:
                self._stop_polling()

    def _stop_polling(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _poll(self) -> None:
        while True:
            await self.refresh()
            await asyncio.sleep(self._poll_seconds)


def event_stream(changes: Changes, after: int) -> StreamingResponse:
    """Return a stream with an event ``changed`` for each change after ``after``, which nginx does not buffer."""
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_write_events(changes, after), media_type="text/event-stream", headers=headers)


async def _write_events(changes: Changes, after: int) -> AsyncGenerator[str]:
    yield ": connected\n\n"
    now = asyncio.get_running_loop().time
    end = now() + _STREAM_SECONDS
    async for sequence in changes.follow(after):
        yield ": nothing new\n\n" if sequence is None else f"id: {sequence}\nevent: changed\ndata: {sequence}\n\n"
        if now() > end:
            return
