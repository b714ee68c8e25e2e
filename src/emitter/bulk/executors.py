"""The two ways to execute the jobs of a run: a pool of workers, or the vendor's batch interface.

A worker starts a job only while fewer than ``WINDOW`` jobs per concurrent call are started and not yet returned, so
results do not pile up behind a slow consumer or a slow emission.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from emitter.bulk.batches import Batch, get_batch_vendor
from emitter.bulk.batches.emissions import BatchEmissionRequest
from emitter.bulk.batches.journal import open_batch_journal, open_shared_batch_journal
from emitter.bulk.batches.scheduler import BatchContext, BatchScheduler
from emitter.bulk.batches.vendor_api import BatchConnection
from emitter.bulk.claims import StoreJournal
from emitter.bulk.jobs import JobResult, R
from emitter.bulk.journal import RunJournal
from emitter.deadline import Deadline
from emitter.errors import InputError
from emitter.stores.jobs import ClaimStatus

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
    from contextlib import AbstractContextManager
    from os import PathLike

    from emitter.bulk.batches.emissions import BatchStatus, FinishedBatchEmission
    from emitter.bulk.batches.journal import BatchJournal
    from emitter.bulk.claims import JobJournal
    from emitter.bulk.jobs import Job
    from emitter.bulk.progress import ProgressCallback
    from emitter.bulk.runner import JobRunner, RunPlan, StartedJob
    from emitter.conversation import Messages

OnResult: TypeAlias = "Callable[[JobResult[R]], Awaitable[None]]"
"""Called with each result of a run."""
WINDOW = 4
"""Jobs per concurrent call that may be started and not yet returned."""


class WorkerPool(Generic[R]):
    """Workers that run jobs. ``on_result`` is called after each result.

    ``kept`` receives the results that are finished, but cannot be yielded, because the run ends early.
    """

    def __init__(
        self,
        runner: JobRunner[R],
        source: AsyncIterator[Messages | Job],
        on_result: OnResult[R],
        kept: deque[JobResult[R]],
    ) -> None:
        self._runner, self._source, self._on_result, self._kept = runner, source, on_result, kept
        self._started = self._returned = 0
        self._exhausted = False
        self._error: BaseException | None = None
        self._crashed = self._closing = False
        self._source_lock = asyncio.Lock()
        self._finished: asyncio.Queue[JobResult[R] | None] = asyncio.Queue()

    async def run(self, in_flight: int, *, ordered: bool, tasks: int | None = None) -> AsyncGenerator[JobResult[R]]:
        """Yield the results, in the order of the inputs or as they finish.

        With more workers (``tasks``) than calls in flight, some can wait for the jobs of other processes. Exceptions of
        the source, the journal or the callback are raised after the results of all started jobs.
        """
        slots = asyncio.Semaphore(WINDOW * in_flight)  # released when a result is returned, not when it is ready
        workers = [asyncio.create_task(self._work(slots)) for _ in range(tasks or in_flight)]
        for worker in workers:
            worker.add_done_callback(self._on_worker_done)
        results: dict[int, JobResult[R]] = {}
        try:
            while not self._crashed and not (self._exhausted and self._returned == self._started):
                result = await self._finished.get()
                if result is None:
                    continue
                # Without an order, each result takes the next position and is returned at once.
                results[result.index if ordered else self._returned] = result
                while self._returned in results:
                    self._returned += 1
                    yield results.pop(self._returned - 1)
                    slots.release()
        finally:
            await self._end(workers, results)
        if self._error is not None:
            raise self._error

    async def _end(self, workers: list[asyncio.Task[None]], results: dict[int, JobResult[R]]) -> None:
        """Cancel the workers, and keep the results that were not yielded."""
        self._closing = True
        try:
            await _cancel_workers(workers)
        finally:
            self._kept.extend(results.values())
            while not self._finished.empty():
                self._kept.extend(filter(None, (self._finished.get_nowait(),)))

    async def _work(self, slots: asyncio.Semaphore) -> None:
        while True:
            await slots.acquire()
            async with self._source_lock:
                started = await self._start_next()
            if started is None:
                return
            result = started if isinstance(started, JobResult) else await self._runner.run(started)
            self._finished.put_nowait(result)
            await self._notify(result)

    async def _start_next(self) -> StartedJob[R] | JobResult[R] | None:
        """Start the next job, or return None at the end."""
        if self._exhausted:
            return None
        try:
            item = await anext(self._source)
        except StopAsyncIteration:
            self._stop(None)
            return None
        except Exception as error:  # noqa: BLE001  it is raised after the last result
            self._stop(error)
            return None
        self._started += 1
        return self._runner.start(self._started - 1, item)

    async def _notify(self, result: JobResult[R]) -> None:
        if self._runner.journal_error is not None:
            self._stop(self._runner.journal_error)
        try:
            await self._on_result(result)
        except Exception as error:  # noqa: BLE001  raised after the results that were paid for
            self._stop(error)

    def _stop(self, error: BaseException | None) -> None:
        """Start no more jobs."""
        self._exhausted = True
        self._error = self._error or error
        self._finished.put_nowait(None)

    def _on_worker_done(self, worker: asyncio.Task[None]) -> None:
        """End the run if a worker itself failed."""
        error = asyncio.CancelledError() if worker.cancelled() else worker.exception()
        if error is not None and not self._closing:
            self._crashed = True
            self._stop(error)


async def _cancel_workers(workers: list[asyncio.Task[None]]) -> None:
    """Cancel all workers and wait for them, even if the caller is cancelled meanwhile.

    Otherwise a worker could still write to a journal that its caller has closed.
    """
    cancelled: asyncio.CancelledError | None = None
    for worker in workers:
        worker.cancel()
    while running := [worker for worker in workers if not worker.done()]:
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


BATCH_JOURNAL_SUFFIX = ".batches"
"""Appended to the name of the run's journal for the journal of its batches."""


def parse_batch(value: object) -> Batch | None:
    """Return the batch options, or None. Raises ``InputError`` for another value."""
    if isinstance(value, Batch):
        return value
    if isinstance(value, bool):
        return Batch() if value else None
    raise InputError(f"batch is {value!r}; it must be True, False or a Batch.")


def create_batch_journal(
    path: str | PathLike[str] | None, run_plan: RunPlan[Any], run_journal: JobJournal | None
) -> AbstractContextManager[BatchJournal]:
    """Return the journal of batches beside the run's journal, or in its store."""
    secrets = run_plan.settings.host.config.secrets
    if isinstance(run_journal, StoreJournal):
        return open_shared_batch_journal(run_journal.jobs, run_journal.run, run_journal.holder, secrets)
    batch_path = None if path is None else os.fspath(path) + BATCH_JOURNAL_SUFFIX
    return open_batch_journal(batch_path, run_plan.fingerprint.to_json(), secrets)


def create_batch_context(
    runner: JobRunner[Any], journal: BatchJournal, options: Batch, report: ProgressCallback
) -> BatchContext:
    """Return the context of the batches of a run."""
    probe, settings = runner.run_plan.probe, runner.run_plan.settings
    deadline = Deadline(options.timeout, settings.clock.monotonic)
    connection = BatchConnection(runner.client, probe.profile, probe.wire, settings.policy, deadline)

    def on_status(status: BatchStatus) -> None:
        stats, in_progress = runner.stats, status.in_progress
        stats.calls, stats.retries = status.submitted, status.retries
        notice = None if status.notice in stats.notices else status.notice
        if notice is not None:
            stats.notices.append(notice)
        report(replace(stats.snapshot(runner.limiter, notice), in_flight=in_progress, limit=in_progress))

    return BatchContext(get_batch_vendor(probe.profile), connection, journal, options, settings.clock, on_status)


class BatchExecutor(Generic[R]):
    """Runs the jobs through batches. ``on_result`` is called after each result.

    ``kept`` receives the results that are finished, but cannot be yielded, because the run ends early.
    """

    def __init__(
        self,
        runner: JobRunner[R],
        source: AsyncIterator[Messages | Job],
        on_result: OnResult[R],
        kept: deque[JobResult[R]],
    ) -> None:
        self._runner, self._source, self._on_result, self._kept = runner, source, on_result, kept
        self._started: dict[str, StartedJob[R]] = {}
        self._ready: deque[JobResult[R]] = deque()
        self._due: deque[JobResult[R]] = deque()
        self._waiting: dict[int, JobResult[R]] = {}
        self._returned = 0
        self._error: Exception | None = None

    async def run(self, context: BatchContext, *, ordered: bool) -> AsyncGenerator[JobResult[R]]:
        """Yield the results, in the order of the inputs or as they finish."""
        scheduler = BatchScheduler(context)
        try:
            async with aclosing(scheduler.run(self._iter_requests())) as running:
                async for finished in running:
                    self._ready.append(await self._finish(finished))
                    await self._order_results(ordered=ordered)
                    while self._due:
                        yield self._due.popleft()
            await self._order_results(ordered=ordered)
            while self._due:
                yield self._due.popleft()
        finally:
            self._kept.extend((*self._due, *self._waiting.values(), *self._ready))
            async for finished in scheduler.iter_finished():
                self._kept.append(await self._finish(finished))
        error = self._error or self._runner.journal_error
        if error is not None:
            raise error

    async def _iter_requests(self) -> AsyncGenerator[BatchEmissionRequest]:
        """Start every job; results from the journal and failed preparations are ready at once."""
        index = 0
        while (item := await self._next_input()) is not None:
            started = self._runner.start(index, item)
            index += 1
            result = started if isinstance(started, JobResult) else await self._replay(started)
            if result is not None:
                self._ready.append(result)
            elif not isinstance(started, JobResult):
                key = started.key if self._runner.journal is not None and started.key else str(started.index)
                self._started[key] = started
                yield BatchEmissionRequest(key, started.plan, started.settings)

    async def _replay(self, started: StartedJob[R]) -> JobResult[R] | None:
        """Return the recorded result of a job, or None if it must be sent."""
        journal, key = self._runner.journal, started.key
        if journal is None or key is None:
            return None
        # A file has one run at a time, and the journal of batches records which jobs were sent, so nothing is claimed.
        if isinstance(journal, RunJournal):
            return self._runner.replay(started, await journal.find(key))
        claim = await journal.claim(key)
        replayed = self._runner.replay(started, claim.entry)
        if replayed is None and claim.status is ClaimStatus.DONE:
            await journal.claim(key, anew=True)
        return replayed

    async def _next_input(self) -> Messages | Job | None:
        try:
            return await anext(self._source)
        except StopAsyncIteration:
            return None
        except Exception as error:  # noqa: BLE001  it is raised after the last result
            self._error = error
            return None

    async def _finish(self, finished: FinishedBatchEmission) -> JobResult[R]:
        return await self._runner.finish(self._started.pop(finished.key), finished.outcome, finished.events)

    async def _order_results(self, *, ordered: bool) -> None:
        """Find the results whose turn has come."""
        while self._ready:
            result = self._ready.popleft()
            self._waiting[result.index if ordered else self._returned + len(self._waiting)] = result
            await self._on_result(result)
            while self._returned in self._waiting:
                self._returned += 1
                self._due.append(self._waiting.pop(self._returned - 1))
