"""Schedule emissions in batches: submit requests, poll the vendor, collect results, and submit retries.

Each emission is the same generator that a single call drives, so its verdicts, retries and events are the same.
"""

from __future__ import annotations

import datetime as dt
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emitter.adapters.clients import find_credentials, find_error_credentials
from emitter.adapters.http_response import parse_exception
from emitter.bulk.batches.emissions import BatchedEmission, BatchStatus, PollInterval
from emitter.bulk.batches.vendor_api import UnconfirmedBatch
from emitter.bulk.batches.vendors import BatchBuilder, parse_position
from emitter.client.transport import redact_credentials
from emitter.clock import retry_delay
from emitter.messages import Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator

    from emitter.bulk.batches.emissions import Batch, BatchEmissionRequest, FinishedBatchEmission, StatusCallback
    from emitter.bulk.batches.journal import BatchEntry, BatchJournal
    from emitter.bulk.batches.vendor_api import BatchConnection, BatchItemResult, RejectedRequest, VendorBatchStatus
    from emitter.bulk.batches.vendors import BatchVendor, PendingBatch
    from emitter.clock import Clock
    from emitter.messages import CallResult


@dataclass(slots=True)
class VendorBatch:
    """A batch at the vendor, and the emissions of this run that wait for it, by position.

    ``failed_searches`` counts searches for an unconfirmed batch, and ``read_count`` complete reads of the results.
    """

    entry: BatchEntry
    journal: BatchJournal
    waiting: dict[int, BatchedEmission] = field(default_factory=dict[int, "BatchedEmission"])
    status: VendorBatchStatus | None = None
    fault: Fault | None = None
    """Why its submission was not confirmed."""
    failed_searches: int = 0
    read_count: int = 0
    unusable_results: int = 0
    """Results that are unreadable, unexpected or duplicate."""
    _accepted_positions: set[int] = field(default_factory=set[int])

    def restart_reading(self) -> None:
        """Start reading the results from the beginning."""
        self.unusable_results = 0
        self._accepted_positions.clear()

    def accept_result(self, result: BatchItemResult) -> BatchedEmission | None:
        """Keep a result and continue the emission that waits for it. Only the first result of a request counts."""
        position = parse_position(result.custom_id, self.entry.tag, len(self.entry.emission_keys))
        if position is None or position in self._accepted_positions or result.answer is None:
            self.unusable_results += 1
            return None
        self._accepted_positions.add(position)
        if position not in self.entry.unanswered or self._was_cancelled_by_us(result.answer):
            return None
        return self.record_answer(position, result.answer)

    def _was_cancelled_by_us(self, answer: CallResult) -> bool:
        return self.entry.cancelled and isinstance(answer, Fault) and answer.kind is FaultKind.CANCELLED

    def record_answer(self, position: int, answer: CallResult) -> BatchedEmission | None:
        """Write the answer to a request, and continue its emission."""
        self.journal.record_answer(self.entry.tag, position, answer)
        emission = self.waiting.pop(position, None)
        if emission is not None:
            emission.advance(answer)
        return emission

    def close(self) -> list[BatchedEmission]:
        """Write that the batch has no more results, and return the emissions that still wait."""
        self.journal.record_close(self.entry.tag)
        emissions = list(self.waiting.values())
        self.waiting.clear()
        return emissions


CAPACITY_KINDS = frozenset({FaultKind.RATE_LIMIT, FaultKind.OVERLOADED})
"""Faults of a vendor that has too many of our batches."""


@dataclass(frozen=True, slots=True)
class BatchContext:
    """The vendor, connection, journal and options of a run of batches."""

    vendor: BatchVendor
    connection: BatchConnection
    journal: BatchJournal
    options: Batch
    clock: Clock
    on_status: StatusCallback


@dataclass(slots=True)
class _DelayedEmission:
    """An emission that waits until a time of the monotonic clock."""

    emission: BatchedEmission
    resume_at: float


@dataclass(slots=True)
class BatchScheduler:
    """The batches and emissions in progress."""

    context: BatchContext
    batches: dict[str, VendorBatch] = field(default_factory=dict[str, VendorBatch])
    pending: deque[BatchedEmission] = field(default_factory=deque["BatchedEmission"])
    status: BatchStatus = field(default_factory=BatchStatus)
    at_capacity: bool = False
    """Whether the vendor accepts no further batch before one of ours has ended."""
    poll_interval: PollInterval = field(init=False)
    _delayed: list[_DelayedEmission] = field(default_factory=list[_DelayedEmission])
    _finished: deque[BatchedEmission] = field(default_factory=deque["BatchedEmission"])
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.context.clock.monotonic()
        self.poll_interval = PollInterval(self.context.options.poll, self.context.options.max_poll)
        self.batches = {
            tag: VendorBatch(entry, self.context.journal) for tag, entry in self.context.journal.open_batches.items()
        }

    @property
    def is_busy(self) -> bool:
        """Whether any work is left."""
        return bool(self.pending or self._delayed or self._finished or self.awaited_batches)

    @property
    def awaited_batches(self) -> list[VendorBatch]:
        """The batches that emissions of this run wait for."""
        return [batch for batch in self.batches.values() if batch.waiting]

    def enqueue(self, *emissions: BatchedEmission) -> None:
        """Put emissions into the queue of their state."""
        for emission in emissions:
            if emission.result is not None:
                self._finished.append(emission)
            elif emission.next_wait is not None:
                seconds = retry_delay(emission.next_wait, self.context.clock)
                self._delayed.append(_DelayedEmission(emission, self.context.clock.monotonic() + seconds))
            else:
                self.pending.append(emission)

    def iter_finished(self) -> Iterator[FinishedBatchEmission]:
        """Yield the finished emissions. A failed one is started again by the next run."""
        while self._finished:
            emission = self._finished.popleft()
            yield emission.finish()
            if emission.failed_permanently:
                self.context.journal.forget(emission.key)

    def resume_due(self) -> float:
        """Resume waiting emissions that are due, expire overdue ones, and return the longest wait in seconds."""
        now, delayed = self.context.clock.monotonic(), self._delayed
        self._delayed = []
        for item in delayed:
            time_left = item.emission.get_time_left(now, self._get_time_left(now))
            if time_left is not None and time_left <= item.resume_at - now:
                item.emission.expire(now)
                self.enqueue(item.emission)
            elif item.resume_at <= now:
                item.emission.resume()
                self.enqueue(item.emission)
            else:
                self._delayed.append(item)
        return max((item.resume_at - now for item in self._delayed), default=0.0)

    def expire_overdue(self) -> None:
        """Expire overdue emissions. Their batches go on at the vendor."""
        now = self.context.clock.monotonic()
        for batch in self.awaited_batches:
            for position, emission in list(batch.waiting.items()):
                if self._is_overdue(emission, now):
                    emission.expire(now)
                    self.enqueue(batch.waiting.pop(position))
        pending, self.pending = self.pending, deque()
        for emission in pending:
            if self._is_overdue(emission, now):
                emission.expire(now)
            self.enqueue(emission)

    def requeue_rejected(self, emissions: list[BatchedEmission], fault: Fault) -> None:
        """Continue emissions whose batch was rejected: later if the vendor is at capacity, else with the fault."""
        if fault.kind in CAPACITY_KINDS and self.awaited_batches:
            self.at_capacity = True
            self.pending.extendleft(reversed(emissions))
            return
        for emission in emissions:
            emission.advance(fault, by_vendor=False)
        self.enqueue(*emissions)

    def get_next_deadline(self) -> float | None:
        """Return the seconds until the first deadline of the waiting emissions."""
        now = self.context.clock.monotonic()
        waiting = (emission for batch in self.awaited_batches for emission in batch.waiting.values())
        times_left = (emission.get_time_left(now, self._get_time_left(now)) for emission in waiting)
        return min((emission for emission in times_left if emission is not None), default=None)

    def _is_overdue(self, emission: BatchedEmission, now: float) -> bool:
        time_left = emission.get_time_left(now, self._get_time_left(now))
        return time_left is not None and time_left <= 0

    def _get_time_left(self, now: float) -> float | None:
        timeout = self.context.options.timeout
        return None if timeout is None else self._started + timeout - now

    def report_status(self, notice: str | None = None) -> None:
        """Report the state of the batches."""
        batches = self.awaited_batches
        statuses = [batch.status for batch in batches if batch.status is not None]
        self.context.on_status(
            replace(
                self.status,
                batches=len(batches),
                in_progress=sum(len(batch.entry.emission_keys) for batch in batches),
                done=sum(status.done for status in statuses),
                failed=sum(status.failed for status in statuses),
                notice=notice,
            )
        )


_UNCERTAIN_KINDS = frozenset({FaultKind.TIMEOUT, FaultKind.CONNECTION, FaultKind.SERVER, FaultKind.PROTOCOL})
"""After these faults the batch may exist nevertheless."""
_UNCONFIRMED_NOTICE = (
    "The submission of a batch was not confirmed. The vendor is searched for it before it is submitted again."
)


def get_fault(connection: BatchConnection, error: Exception) -> Fault:
    """Return the fault of an SDK exception. Any other exception is raised again."""
    answer = parse_exception(connection.profile, connection.wire, error)
    if answer is None:
        raise error
    answer = redact_credentials(
        answer, (*find_error_credentials(error), *find_credentials(connection.profile, connection.client))
    )
    return answer if isinstance(answer, Fault) else Fault(FaultKind.BAD_REQUEST, "The vendor rejected the batch.")


class BatchSubmitter:
    """Puts pending calls into batches and submits these."""

    def __init__(self, scheduler: BatchScheduler) -> None:
        self._scheduler, self._context = scheduler, scheduler.context
        self._builder = BatchBuilder(scheduler.context.vendor, scheduler.context.connection, scheduler.context.options)

    @property
    def has_requests(self) -> bool:
        """Whether a batch is being filled."""
        return self._builder.has_requests

    async def submit(self, *, flush: bool) -> None:
        """Submit the full batches, and with ``flush`` the remaining requests too."""
        scheduler = self._scheduler
        while scheduler.pending and not scheduler.at_capacity:
            emission = scheduler.pending.popleft()
            batch = self._builder.add(emission)
            if emission.next_call is None:
                scheduler.enqueue(emission)
            if batch is not None:
                await self._send(batch)
        batch = self._builder.flush() if flush else None
        if batch is None:
            return
        if scheduler.at_capacity:
            scheduler.pending.extendleft(reversed(batch.emissions))
        else:
            await self._send(batch)

    async def _send(self, pending: PendingBatch) -> None:
        context, keys = self._context, [emission.key for emission in pending.emissions]
        entry = context.journal.record_intent(pending.tag, keys, dt.datetime.now(dt.UTC))
        vendor_batch = VendorBatch(entry, context.journal, dict(enumerate(pending.emissions)))
        try:
            batch_id = await context.vendor.submit(context.connection, pending.tag, pending.requests)
        except Exception as error:  # noqa: BLE001  get_fault raises what is not an SDK error again
            fault = get_fault(context.connection, error)
            if fault.kind not in _UNCERTAIN_KINDS:
                context.journal.record_close(pending.tag)
                self._scheduler.requeue_rejected(pending.emissions, fault)
                return
            vendor_batch.fault = fault
        else:
            context.journal.record_submission(pending.tag, batch_id)
        self._scheduler.batches[pending.tag] = vendor_batch
        self._count(pending)
        self._scheduler.poll_interval.reset()
        self._scheduler.report_status(None if entry.batch_id else _UNCONFIRMED_NOTICE)

    def _count(self, pending: PendingBatch) -> None:
        scheduler = self._scheduler
        status, retries = scheduler.status, 0
        for emission in pending.emissions:
            emission.calls += 1
            retries += emission.next_call is not None and emission.next_call.number > 1
        scheduler.status = replace(
            status, submitted=status.submitted + len(pending.emissions), retries=status.retries + retries
        )


_MAX_READS = 2
"""Complete reads of the results before a missing request counts as lost."""
_MAX_SEARCHES = 2
"""Searches for a batch before it counts as never created, since a list may lag behind."""
_CLOCK_SKEW = dt.timedelta(minutes=15)
"""How far the vendor's clock may be behind ours."""
_UNUSABLE_NOTICE = "{} results of batch {} are unreadable, unexpected or duplicate, and were ignored."


class ResultCollector:
    """Polls the batches in progress, and collects the results of those that have ended."""

    def __init__(self, scheduler: BatchScheduler) -> None:
        self._scheduler, self._context = scheduler, scheduler.context

    async def poll(self, vendor_batch: VendorBatch) -> AsyncGenerator[None]:
        """Poll a batch and collect it if it has ended. Yields after each emission that went on."""
        try:
            async with aclosing(self._poll(vendor_batch)) as polling:
                async for _ in polling:
                    yield
        except Exception as error:  # noqa: BLE001  get_fault raises what is not an SDK error again
            fault = get_fault(self._context.connection, error)
            if not fault.kind.is_transient:
                self._fail_waiting(vendor_batch, fault)

    async def _poll(self, vendor_batch: VendorBatch) -> AsyncGenerator[None]:
        if vendor_batch.entry.batch_id is None:
            await self._find_unconfirmed(vendor_batch)
            return
        context, previous = self._context, vendor_batch.status
        vendor_batch.status = status = await context.vendor.get_status(context.connection, vendor_batch.entry.batch_id)
        if previous is None or (previous.done, previous.failed, previous.has_ended) != (
            status.done,
            status.failed,
            status.has_ended,
        ):
            self._scheduler.poll_interval.reset()
        if status.invalid:
            self._handle_rejection(vendor_batch, status.invalid)
            yield
        elif status.has_ended:
            async with aclosing(self._collect(vendor_batch, vendor_batch.entry.batch_id, status)) as collecting:
                async for _ in collecting:
                    yield

    async def _find_unconfirmed(self, vendor_batch: VendorBatch) -> None:
        """Search for an unconfirmed batch. Its calls are pending again only if there is none."""
        context, entry = self._context, vendor_batch.entry
        known_ids = {candidate.batch_id for candidate in context.journal.open_batches.values()}
        unconfirmed = UnconfirmedBatch(entry.tag, len(entry.emission_keys), entry.submitted_at - _CLOCK_SKEW)
        candidates = [
            candidate
            for candidate in await context.vendor.find_candidates(context.connection, unconfirmed)
            if candidate.batch_id not in known_ids
        ]
        match = next((candidate for candidate in candidates if candidate.is_ours), None)
        if match is not None:
            context.journal.record_submission(entry.tag, match.batch_id)
        elif not any(candidate.is_ours is None for candidate in candidates):
            vendor_batch.failed_searches += 1
            if vendor_batch.failed_searches >= _MAX_SEARCHES:
                self._requeue_lost(vendor_batch)

    def _requeue_lost(self, vendor_batch: VendorBatch) -> None:
        del self._scheduler.batches[vendor_batch.entry.tag]
        emissions = vendor_batch.close()
        if vendor_batch.fault is not None:
            for emission in emissions:
                emission.advance(vendor_batch.fault, by_vendor=False)
        self._scheduler.enqueue(*emissions)

    def _handle_rejection(self, vendor_batch: VendorBatch, invalid: tuple[RejectedRequest, ...]) -> None:
        """Continue after a rejected batch: requests at fault with their fault, the others as pending again."""
        scheduler, size = self._scheduler, len(vendor_batch.entry.emission_keys)
        del scheduler.batches[vendor_batch.entry.tag]
        faults = [
            (rejected.request_index, rejected.fault)
            for rejected in invalid
            if rejected.request_index is not None and 0 <= rejected.request_index < size
        ]
        for position, fault in faults:
            emission = (
                vendor_batch.record_answer(position, fault) if position in vendor_batch.entry.unanswered else None
            )
            scheduler.enqueue(*([emission] if emission else []))
        emissions = vendor_batch.close()
        if faults:
            scheduler.enqueue(*emissions)
        else:
            scheduler.requeue_rejected(emissions, invalid[0].fault)

    async def _collect(
        self, vendor_batch: VendorBatch, batch_id: str, final_status: VendorBatchStatus
    ) -> AsyncGenerator[None]:
        context = self._context
        vendor_batch.restart_reading()
        async with aclosing(context.vendor.iter_results(context.connection, batch_id, final_status)) as results:
            async for result in results:
                emission = vendor_batch.accept_result(result)
                if emission is not None:
                    self._scheduler.enqueue(emission)
                    yield
        vendor_batch.read_count += 1
        if vendor_batch.entry.unanswered and vendor_batch.read_count < _MAX_READS and not vendor_batch.entry.cancelled:
            return
        if vendor_batch.unusable_results:
            self._scheduler.report_status(_UNUSABLE_NOTICE.format(vendor_batch.unusable_results, batch_id))
        self._finish(vendor_batch, final_status.missing_fault)
        yield

    def _finish(self, vendor_batch: VendorBatch, missing_fault: Fault | None) -> None:
        """Close a batch. A request without a result failed, or is pending again if we cancelled the batch."""
        if missing_fault is not None and not vendor_batch.entry.cancelled:
            for position in sorted(vendor_batch.entry.unanswered):
                emission = vendor_batch.record_answer(position, missing_fault)
                self._scheduler.enqueue(*([emission] if emission else []))
        del self._scheduler.batches[vendor_batch.entry.tag]
        self._scheduler.enqueue(*vendor_batch.close())
        self._scheduler.poll_interval.reset()

    def _fail_waiting(self, vendor_batch: VendorBatch, fault: Fault) -> None:
        """End the emissions of a batch that cannot be polled. The journal keeps the batch for another run."""
        emissions = list(vendor_batch.waiting.values())
        vendor_batch.waiting.clear()
        for emission in emissions:
            emission.advance(fault, by_vendor=False)
        self._scheduler.enqueue(*emissions)


_LEFT_RUNNING_NOTICE = "{} go on at the vendor; a run with the same journal collects them."
_CANCELLED_NOTICE = "{} were cancelled; a run with the same journal collects the finished results."
_LOST_NOTICE = "{} go on at the vendor, and no run can collect them, since there is no journal."


async def run_batches(
    context: BatchContext, source: AsyncIterator[BatchEmissionRequest]
) -> AsyncGenerator[FinishedBatchEmission]:
    """Yield the outcome of each emission of ``source`` as it ends.

    The whole source is read and started first. Its exceptions and ``JournalFailed`` end the run. Batches in progress
    then go on at the vendor, unless ``Batch.cancel`` is set.
    """
    engine = BatchEngine(context)
    try:
        async with aclosing(engine.run(source)) as finished:
            async for emission in finished:
                yield emission
    finally:
        await engine.close()


class BatchEngine:
    """One run of batches."""

    def __init__(self, context: BatchContext) -> None:
        self._context = context
        self._scheduler = BatchScheduler(context)
        self._submitter, self._collector = BatchSubmitter(self._scheduler), ResultCollector(self._scheduler)
        self._positions = {
            batch.entry.emission_keys[position]: (batch, position)
            for batch in self._scheduler.batches.values()
            for position in batch.entry.unanswered
        }

    async def run(self, source: AsyncIterator[BatchEmissionRequest]) -> AsyncGenerator[FinishedBatchEmission]:
        """Yield the outcome of each emission."""
        scheduler = self._scheduler
        if self._context.journal.notice is not None:
            scheduler.report_status(self._context.journal.notice)
        async for request in source:
            self._start(request)
            await self._submitter.submit(flush=False)
            for finished in scheduler.iter_finished():
                yield finished
        has_earlier = bool(scheduler.awaited_batches)
        while scheduler.is_busy or self._submitter.has_requests:
            await self._submit()
            for finished in scheduler.iter_finished():
                yield finished
            await self._sleep(skip=has_earlier)
            has_earlier = False
            async for finished in self._poll_all():
                yield finished

    def _start(self, request: BatchEmissionRequest) -> None:
        """Start an emission, and continue it with the answers in the journal."""
        emission = BatchedEmission(request, self._context.clock.monotonic())
        emission.replay(self._context.journal.answers(request.key))
        batch, position = self._positions.pop(request.key, (None, 0))
        if batch is not None and emission.next_call is not None:
            batch.waiting[position] = emission
        else:
            self._scheduler.enqueue(emission)

    async def _poll_all(self) -> AsyncGenerator[FinishedBatchEmission]:
        """Poll every batch, and yield the emissions that have ended."""
        scheduler = self._scheduler
        scheduler.at_capacity = False
        scheduler.expire_overdue()
        for batch in scheduler.awaited_batches:
            async with aclosing(self._collector.poll(batch)) as polling:
                async for _ in polling:
                    for finished in scheduler.iter_finished():
                        yield finished
        scheduler.report_status()

    async def _submit(self) -> None:
        """Submit all pending calls. Waits for delayed emissions only if there is nothing else to do."""
        seconds = self._scheduler.resume_due()
        if seconds > 0 and not (
            self._scheduler.pending or self._scheduler.awaited_batches or self._submitter.has_requests
        ):
            await self._context.clock.async_sleep(seconds)
            self._scheduler.resume_due()
        await self._submitter.submit(flush=True)

    async def _sleep(self, *, skip: bool) -> None:
        """Wait before the next poll, but not for batches of an earlier run, nor beyond a deadline."""
        if skip or not self._scheduler.awaited_batches:
            return
        seconds, deadline = self._scheduler.poll_interval.next_delay(), self._scheduler.get_next_deadline()
        await self._context.clock.async_sleep(seconds if deadline is None else max(0.0, min(seconds, deadline)))

    async def close(self) -> None:
        """Report the batches that are left at the vendor, or cancel them."""
        batches = self._scheduler.awaited_batches
        if not batches:
            return
        if self._context.options.cancel:
            for batch in batches:
                await self._cancel(batch)
        names = ", ".join(batch.entry.batch_id or f"the batch {batch.entry.tag}" for batch in batches)
        notice = _CANCELLED_NOTICE if self._context.options.cancel else _LEFT_RUNNING_NOTICE
        self._scheduler.report_status((notice if self._context.journal.is_persistent else _LOST_NOTICE).format(names))

    async def _cancel(self, vendor_batch: VendorBatch) -> None:
        batch_id = vendor_batch.entry.batch_id
        if batch_id is None:
            return
        self._context.journal.record_cancel(vendor_batch.entry.tag)
        try:
            await self._context.vendor.cancel(self._context.connection, batch_id)
        except Exception as error:  # noqa: BLE001  the batch goes on, and is in the journal
            self._scheduler.report_status(
                f"Batch {batch_id} could not be cancelled: {get_fault(self._context.connection, error).message}"
            )
