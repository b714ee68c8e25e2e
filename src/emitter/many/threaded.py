"""A run under way in the blocking world: the async one, in a loop and a thread of its own."""

from __future__ import annotations

import asyncio
import contextvars
import math
import threading
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic

from emitter.errors import InputError
from emitter.many.crew import WINDOW
from emitter.many.item import Item, R
from emitter.many.run import AsyncRun, Counted
from emitter.many.sending import release

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterator
    from types import TracebackType
    from typing import Self

    from emitter.conversation import Situation
    from emitter.many.job import Job
    from emitter.many.run import How
    from emitter.many.work import Work


class Run(Counted, Generic[R]):
    """Many emissions under way: an iterator of ``Item``.

    It has a loop and a thread of its own, so that it works beside a loop that runs, as in a notebook. Situations
    are read in the caller's thread, each as it is needed. Leaving its ``with`` block, and ``close``, end all that
    is under way; what that had cost is in ``usage`` and in the journal.
    """

    def __init__(self, work: Work[R], source: Iterator[Situation | Job], total: int | None, how: How) -> None:
        feed: asyncio.Queue[_Fed] = asyncio.Queue()
        run = AsyncRun(work, _fed(feed), total, how)
        self._tally = run.tally
        window = math.inf if how.batch is not None else WINDOW * how.in_flight  # a batch wants all of them
        self._running = _relayed(run, feed, source, window, work.settings.client)

    def __iter__(self) -> Iterator[Item[R]]:
        return self._running

    def __next__(self) -> Item[R]:
        return next(self._running)

    def results(self) -> list[Item[R]]:
        """Return all that is left, in the order of the situations."""
        return sorted(self._running, key=lambda each: each.index)

    def close(self) -> None:
        """Leave: what is under way is cancelled, and nothing more is sent.

        It is for the thread that reads the run; raises ``InputError`` in another while that one waits.
        """
        try:
            self._running.close()
        except ValueError as error:  # the generator's own word for being at work
            raise InputError(
                "The run is being read in another thread.", hint="Close it there, or leave the loop that reads it."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class _Fed:
    """A situation on its way to the loop; ``last`` says that none follows."""

    situation: Any = None
    last: bool = False


@dataclass(frozen=True, slots=True)
class _Over:
    """The run is over; ``error`` is what it ended in."""

    error: BaseException | None


async def _fed(feed: asyncio.Queue[_Fed]) -> AsyncGenerator[Situation | Job]:
    while not (fed := await feed.get()).last:
        yield fed.situation


class _Thread(Generic[R]):
    """A loop in a thread, and the ways in and out."""

    def __init__(self, run: AsyncRun[R], feed: asyncio.Queue[_Fed], client: object) -> None:
        self._run, self._feed, self._client = run, feed, client
        self._out: SimpleQueue[Item[R] | _Over] = SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        within = contextvars.copy_context()
        self._thread = threading.Thread(target=within.run, args=(self._main,), name="emitter.many", daemon=True)
        self._thread.start()

    def put(self, fed: _Fed) -> None:
        """Hand a situation in."""
        self._in_loop(lambda: self._feed.put_nowait(fed))

    def ready(self) -> bool:
        """Tell whether something has come out."""
        return not self._out.empty()

    def get(self) -> Item[R] | _Over:
        """Wait for what comes out next."""
        return self._out.get()

    def stop(self) -> None:
        """Cancel what is under way, and wait until the thread is over."""
        self._in_loop(self._cancel)
        self._thread.join()

    def _in_loop(self, act: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the run is over, and _Over has come out
            self._loop.call_soon_threadsafe(act)

    def _cancel(self) -> None:
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    def _main(self) -> None:
        error: BaseException | None = None
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._relay())
        except BaseException as raised:  # noqa: BLE001  it rises in the thread that asked
            error = raised
        self._out.put(_Over(error))

    async def _relay(self) -> None:
        self._task = asyncio.current_task()
        try:
            async with self._run:
                while not self._stopped and (item := await anext(self._run, None)) is not None:
                    self._out.put(item)
        finally:
            await release(self._client)


def _relayed(
    run: AsyncRun[R], feed: asyncio.Queue[_Fed], source: Iterator[Situation | Job], window: float, client: object
) -> Generator[Item[R]]:
    """Feed situations in, while there is room, and yield what comes out."""
    thread, left = _Thread(run, feed, client), _Left(source)
    ahead = 0
    try:
        while True:
            while ahead < window and left:
                ahead += left.hand(thread)
                if thread.ready():
                    break
            came = thread.get()
            if isinstance(came, _Over):
                break
            ahead -= 1
            yield came
    finally:
        thread.stop()
    for error in (came.error, left.error):
        if error is not None:
            raise error


class _Left:
    """The situations that are not read yet; ``error`` is what reading them ended in."""

    def __init__(self, source: Iterator[Situation | Job]) -> None:
        self.error: Exception | None = None
        self._source = source
        self._over = False

    def __bool__(self) -> bool:
        return not self._over

    def hand(self, thread: _Thread[Any]) -> int:
        """Hand the next one in, or say that there is none; return how many were."""
        try:
            fed = _Fed(next(self._source))
        except StopIteration:
            self._over, fed = True, _Fed(last=True)
        except Exception as error:  # noqa: BLE001  it is raised when what was begun is handed out
            self._over, self.error, fed = True, error, _Fed(last=True)
        thread.put(fed)
        return not fed.last
