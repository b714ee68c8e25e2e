"""``Run`` and ``AsyncRun``: iterators over the results of a bulk run.

``Run`` drives an ``AsyncRun`` on an event loop in its own thread.
"""

from __future__ import annotations

import asyncio
import contextvars
import math
import threading
from collections import deque
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic
from weakref import WeakKeyDictionary

from emitter.bulk import executors, journal, progress
from emitter.bulk.batches import get_batch_vendor
from emitter.bulk.claims import NO_STORE, open_store_journal
from emitter.bulk.executors import WINDOW, WorkerPool
from emitter.bulk.jobs import JobResult, R
from emitter.bulk.limiter import get_limiter
from emitter.bulk.progress import RunStats
from emitter.bulk.runner import JobRunner, open_client
from emitter.client.execution import aexecute, execute, require_usable_client, require_usable_clients
from emitter.client.rate_limits import RateLimit
from emitter.client.request import warn_unknown_models
from emitter.client.shared_limits import SharedLimiter
from emitter.errors import InputError
from emitter.events import Level, LogAppended
from emitter.files import check_path
from emitter.interpreter import arun_steps
from emitter.threads import blocking_context, thread_scope

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
    from decimal import Decimal
    from os import PathLike
    from types import TracebackType
    from typing import Self

    from emitter.bulk.batches.emissions import Batch
    from emitter.bulk.claims import ClaimOptions, JobJournal
    from emitter.bulk.jobs import Job
    from emitter.bulk.limiter import AdaptiveLimiter
    from emitter.bulk.progress import ProgressCallback
    from emitter.bulk.runner import RunPlan
    from emitter.conversation import Messages
    from emitter.messages import Usage
    from emitter.stores.jobs import JobTable

_STALE_NOTICE = (
    "The job with the key {!r} has changed since its answer was written to the journal. Its earlier answer is "
    "returned, as for every changed job (JobResult.stale). Give a changed job a new key to ask again."
)
_RESENT_NOTICE = (
    "The job with the key {!r} was sent again: an earlier run may have sent it, and its outcome was not recorded. "
    'The statistics at the end of the run list all such jobs. Pass orphans="list" to send none of them.'
)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The validated options of a bulk run; see ``BulkOptions``."""

    in_flight: int
    ordered: bool
    journal: str | PathLike[str] | None
    progress: ProgressCallback | bool | None
    batch: Batch | None = None
    claims: ClaimOptions = NO_STORE

    def __post_init__(self) -> None:
        if self.claims.store is not None and self.journal is not None:
            raise InputError(
                "store= cannot be combined with journal=.", hint="A store is a journal for several processes."
            )
        if self.journal is not None:
            check_path("journal", self.journal)
        in_flight: Any = self.in_flight
        if isinstance(in_flight, bool) or not isinstance(in_flight, int) or in_flight < 1:
            raise InputError(f"in_flight is {in_flight!r}; it must be an int of at least 1.")
        progress.validate_progress(self.progress)


@dataclass(frozen=True, slots=True)
class _Running(Generic[R]):
    """The results of a run, and what both of its interfaces share.

    Attributes:
        iterator: Yields the results. Nothing starts before.
        kept: Finished results that are not in the iterator any more, and that the caller has not received.
        stopped: Set if no more jobs are to begin.
    """

    stats: RunStats
    iterator: AsyncGenerator[JobResult[R]]
    kept: deque[JobResult[R]]
    stopped: threading.Event


def _prepare_run(
    run_plan: RunPlan[R], source: AsyncIterator[Messages | Job], total: int | None, options: RunOptions
) -> _Running[R]:
    """Return a run that has not started. Raises ``InputError`` if its settings never work."""
    settings, probe = run_plan.settings, run_plan.probe
    require_usable_client(settings.client, probe.profile, probe.request.model, asynchronous=True)
    require_usable_clients(probe, asynchronous=True)
    warn_unknown_models(probe)
    if options.batch is not None:
        get_batch_vendor(probe.profile)
        if probe.alternatives:
            raise InputError(
                "A batch cannot continue with another model after a failure.", hint="Leave out batch= or fallback=."
            )
        if settings.extra_headers:
            raise InputError("extra_headers= cannot be sent with a batch.", hint="Leave out batch= or extra_headers=.")
    stats, kept, stopped = RunStats(total, probe.price_table()), deque[JobResult[R]](), threading.Event()
    iterator = _iter_results(run_plan, _iter_until(stopped, source), options, stats, kept)
    return _Running(stats, iterator, kept, stopped)


class RunCounters(Generic[R]):
    """The common part of a ``Run`` and an ``AsyncRun``: its statistics, at any time, and its end."""

    _running: _Running[R]

    @property
    def stats(self) -> RunStats:
        """All statistics: results, calls, retries, tokens, verdicts and notices; see ``RunStats``."""
        return self._running.stats

    @property
    def usage(self) -> Usage:
        """The tokens of all calls of this run, including those of failed and cancelled emissions."""
        return self.stats.usage

    @property
    def cost(self) -> Decimal | None:
        """The cost of all calls of this run in US dollars, or None if the model has no price; see ``stats``."""
        return self.stats.cost

    @property
    def calls(self) -> int:
        """The number of calls that this run has sent."""
        return self.stats.calls

    def stop(self) -> None:
        """Begin no more jobs. Those that were begun are finished, and their results still follow.

        Any thread and any signal handler may call it. A batch that was submitted is not affected.
        """
        self._running.stopped.set()

    @property
    def is_stopped(self) -> bool:
        """True after ``stop``."""
        return self._running.stopped.is_set()


class AsyncRun(RunCounters[R]):
    """An async iterator over the ``JobResult`` of a bulk run.

    Nothing starts before the first iteration. Leaving the ``async with`` block, ``aclose``, or cancelling the task that
    iterates ends all emissions in progress. Their cost so far is in ``usage`` and in the journal.

    Whatever ends the run, the results that were finished and that you have not received stay on it: iterate it again,
    or call ``results``. Results that you have received are not kept.
    """

    def __init__(
        self, run_plan: RunPlan[R], source: AsyncIterator[Messages | Job], total: int | None, options: RunOptions
    ) -> None:
        self._running = _prepare_run(run_plan, source, total, options)

    def __aiter__(self) -> AsyncIterator[JobResult[R]]:
        return self

    async def __anext__(self) -> JobResult[R]:
        try:
            return await anext(self._running.iterator)
        except StopAsyncIteration:
            if not self._running.kept:
                raise
            return self._running.kept.popleft()

    async def results(self) -> list[JobResult[R]]:
        """Return the remaining results, in the order of the inputs.

        If an exception interrupts it, such as a cancellation, call it again for the results that were finished.
        """
        kept = self._running.kept
        async with aclosing(self._running.iterator) as iterator:
            async for result in iterator:
                kept.append(result)
        return _take_results(kept)

    async def aclose(self) -> None:
        """Cancel the emissions in progress, and send nothing more."""
        await self._running.iterator.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


async def _iter_until(
    stopped: threading.Event, source: AsyncIterator[Messages | Job]
) -> AsyncGenerator[Messages | Job]:
    # Inputs that were read ahead are dropped, because their jobs have not begun.
    async for item in source:
        if stopped.is_set():
            return
        yield item


def _take_results(kept: deque[JobResult[R]]) -> list[JobResult[R]]:
    """Return the results, in the order of the inputs, and keep none of them."""
    results = [kept.popleft() for _ in range(len(kept))]
    return sorted(results, key=lambda result: result.index)


async def _iter_results(
    run_plan: RunPlan[R],
    source: AsyncIterator[Messages | Job],
    options: RunOptions,
    stats: RunStats,
    kept: deque[JobResult[R]],
) -> AsyncGenerator[JobResult[R]]:
    settings, probe = run_plan.settings, run_plan.probe
    async with AsyncExitStack() as stack:
        stack.enter_context(thread_scope())
        run_plan, run_journal = await _open_journal(stack, run_plan, options)
        report = stack.enter_context(progress.open_progress(options.progress))
        client = await stack.enter_async_context(open_client(probe.profile, settings, options.in_flight))
        limiter = get_limiter(client, options.in_flight, settings.clock, settings.policy.max_retry_after)
        notify = partial(_send_notice, run_plan, stats=stats, report=report, limiter=limiter)
        if run_journal is not None and run_journal.notice is not None:
            await notify(run_journal.notice)

        async def on_result(result: JobResult[R]) -> None:
            stats.add_result(result.error, replayed=result.replayed)
            for notice in _get_notices(result, stats):
                await notify(notice)
            report(stats.snapshot(limiter))

        runner = JobRunner(run_plan, limiter, client, stats, run_journal, partial(notify, _WAITING_NOTICE))
        if options.batch is not None:
            opening = executors.create_batch_journal(options.journal, run_plan, run_journal)
            batch_journal = await stack.enter_async_context(blocking_context(opening))
            context = executors.create_batch_context(runner, batch_journal, options.batch, report)
            results = executors.BatchExecutor(runner, source, on_result, kept).run(context, ordered=options.ordered)
        else:
            # With a store, some workers wait for jobs that other processes have, so there are more of them than calls.
            tasks = options.in_flight * (1 if options.claims.store is None else WINDOW)
            results = WorkerPool(runner, source, on_result, kept).run(
                options.in_flight, ordered=options.ordered, tasks=tasks
            )
        closing_results = await stack.enter_async_context(aclosing(results))
        async for result in closing_results:
            yield result


def _get_notices(result: JobResult[Any], stats: RunStats) -> Iterator[str]:
    """Yield the notice of the first stale and of the first resent job."""
    if result.stale and result.key in stats.stale_keys[:1]:
        yield _STALE_NOTICE.format(result.key)
    if result.key in stats.resent_keys[:1]:
        yield _RESENT_NOTICE.format(result.key)


_WAITING_NOTICE = (
    "Other processes have jobs of this run, and their outcomes are awaited. If such a process has died, its jobs are "
    "free when its lease in the store ends: 60 seconds after it died, unless it passed another lease=."
)
_LIMITERS: WeakKeyDictionary[JobTable, dict[tuple[str, RateLimit], SharedLimiter]] = WeakKeyDictionary()
"""The shared limiters of this process, which all runs over a store use."""


async def _open_journal(
    stack: AsyncExitStack, run_plan: RunPlan[R], options: RunOptions
) -> tuple[RunPlan[R], JobJournal | None]:
    """Open the journal or store of a run. Processes that share a store also share the rate limit."""
    if run_plan.probe.emission.obstacle is not None:
        await aexecute(run_plan.probe)  # raises its error, since no job could be sent
    claims, limit = options.claims, run_plan.settings.rate_limit
    if claims.store is None:
        if options.journal is None:
            return run_plan, None
        opened = journal.open_journal(options.journal, run_plan.fingerprint, resend=claims.resend)
        return run_plan, await stack.enter_async_context(blocking_context(opened))
    opening = open_store_journal(claims, run_plan.fingerprint, batched=options.batch is not None)
    shared = await stack.enter_async_context(opening)
    if limit is not None and limit.limiter is None:
        limiter = SharedLimiter.for_emission(limit, claims.jobs.lease_slots, run_plan.probe)
        limiter = _LIMITERS.setdefault(claims.jobs, {}).setdefault((limiter.name, limit), limiter)
        settings = replace(run_plan.settings, rate_limit=RateLimit(limiter=limiter))
        run_plan = replace(run_plan, settings=settings)
    return run_plan, shared


async def _send_notice(
    run_plan: RunPlan[R], notice: str, stats: RunStats, report: ProgressCallback, limiter: AdaptiveLimiter
) -> None:
    """Add a notice to the run's statistics, the sink and the progress bar."""
    stats.notices.append(notice)
    await arun_steps(run_plan.probe.make_recorder().record(LogAppended(Level.WARN, notice)))
    report(stats.snapshot(limiter, notice))


class Run(RunCounters[R]):
    """An iterator over the ``JobResult`` of a bulk run.

    It runs an event loop in its own thread, so it also works next to a running loop, such as in a notebook. The inputs
    are read in your thread, as they are needed. Leaving the ``with`` block or ``close`` ends all emissions in progress.
    Their cost so far is in ``usage`` and in the journal.

    Whatever ends the run, also ``KeyboardInterrupt``, the results that were finished and that you have not received
    stay on it: iterate it again, or call ``results``. Results that you have received are not kept.
    """

    def __init__(
        self, run_plan: RunPlan[R], source: Iterator[Messages | Job], total: int | None, options: RunOptions
    ) -> None:
        if run_plan.probe.emission.obstacle is not None:
            execute(run_plan.probe)  # raises its error, since no job could be sent
        feed: asyncio.Queue[Messages | Job | _End] = asyncio.Queue()
        self._running = running = _prepare_run(run_plan, _iter_inputs(feed), total, options)
        window = math.inf if options.batch is not None else WINDOW * options.in_flight  # a batch needs all of them
        self._collected: list[JobResult[R]] = []
        """The results that an interrupted ``results`` has collected."""
        self._iterator = _relay_results(_LoopThread(running, feed), source, window)

    def __iter__(self) -> Iterator[JobResult[R]]:
        return self

    def __next__(self) -> JobResult[R]:
        try:
            return next(self._iterator)
        except StopIteration:
            self._running.kept.extendleft(reversed(self._collected))
            self._collected.clear()
            if not self._running.kept:
                raise
            return self._running.kept.popleft()

    def results(self) -> list[JobResult[R]]:
        """Return the remaining results, in the order of the inputs.

        If an exception interrupts it, such as ``KeyboardInterrupt``, call it again for the results that were finished.
        """
        self._collected.extend(self._iterator)  # no signal is handled between a result and its place in the list
        self._running.kept.extend(self._collected)
        self._collected.clear()
        return _take_results(self._running.kept)

    def close(self) -> None:
        """Cancel the emissions in progress, and send nothing more.

        Call it in the thread that iterates the run.

        Raises:
            InputError: Another thread is waiting for the next result.
        """
        try:
            self._iterator.close()
        except ValueError as error:  # the generator is running
            raise InputError(
                "Another thread is iterating the run.", hint="Close the run there, or leave the loop that iterates it."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class _End:
    """The end of the inputs or of the results, and the exception that caused it."""

    error: BaseException | None = None


async def _iter_inputs(feed: asyncio.Queue[Messages | Job | _End]) -> AsyncGenerator[Messages | Job]:
    while not isinstance(item := await feed.get(), _End):
        yield item


_THREAD_NAME = "emitter.many"


class _LoopThread(Generic[R]):
    """An event loop in a thread, with a queue of inputs and one of results.

    A result stays among those that the run keeps until the caller's thread takes it. If a signal interrupts that
    thread while it waits, the result is not lost.
    """

    def __init__(self, running: _Running[R], feed: asyncio.Queue[Messages | Job | _End]) -> None:
        self._running, self._feed, self.results = running, feed, running.kept
        self._ready: SimpleQueue[_End | None] = SimpleQueue()
        """None for each result, and the end of the run."""
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    def start(self) -> None:
        """Start the thread."""
        self._loop = asyncio.new_event_loop()
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._main,), name=_THREAD_NAME, daemon=True)
        self._thread.start()

    @property
    def is_stopped(self) -> bool:
        """True if the run begins no more jobs."""
        return self._running.stopped.is_set()

    def put(self, item: Messages | Job | _End) -> None:
        """Pass an input to the loop."""
        self._call_in_loop(lambda: self._feed.put_nowait(item))

    def wait(self) -> _End | None:
        """Wait until there is a result, or return the end of the run."""
        return self._ready.get()

    def stop(self) -> None:
        """Cancel the emissions in progress, and wait until the thread has ended.

        A forgotten run is collected in any thread. The thread of a run waits for none, neither for itself nor for
        another one, which may wait for it.
        """
        self._call_in_loop(self._cancel)
        if threading.current_thread().name != _THREAD_NAME:
            self._thread.join()

    def _call_in_loop(self, callback: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the run has ended
            self._loop.call_soon_threadsafe(callback)

    def _cancel(self) -> None:
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    def _main(self) -> None:
        error: BaseException | None = None
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._relay())
        except BaseException as raised:  # noqa: BLE001  it is raised in the calling thread
            error = raised
        self._ready.put(_End(error))

    async def _relay(self) -> None:
        self._task = asyncio.current_task()
        async with aclosing(self._running.iterator) as results:
            while not self._stopped and (item := await anext(results, None)) is not None:
                self.results.append(item)
                self._ready.put(None)


def _relay_results(thread: _LoopThread[R], source: Iterator[Messages | Job], window: float) -> Generator[JobResult[R]]:
    """Feed inputs in while there is room, and yield the results."""
    ahead, end_of_inputs = 0, None
    thread.start()
    try:
        while True:
            if end_of_inputs is None:
                count, end_of_inputs = _feed(thread, source, window - ahead)
                ahead += count
            end = thread.wait()
            if end is not None:
                break
            ahead -= 1
            yield thread.results.popleft()
    finally:
        thread.stop()
    while thread.results:  # left by a run that failed
        yield thread.results.popleft()
    error = end.error or (end_of_inputs and end_of_inputs.error)
    if error:
        raise error


def _feed(thread: _LoopThread[R], source: Iterator[Messages | Job], room: float) -> tuple[int, _End | None]:
    """Pass inputs on until a result is ready. Return their number, and their end if it was reached."""
    count = 0
    while count < room:
        item = _End() if thread.is_stopped else _read_input(source)
        thread.put(item)
        if isinstance(item, _End):
            return count, item
        count += 1
        if thread.results:
            break
    return count, None


def _read_input(source: Iterator[Messages | Job]) -> Messages | Job | _End:
    try:
        return next(source)
    except StopIteration:
        return _End()
    except Exception as error:  # noqa: BLE001  it is raised after the last result
        return _End(error)
