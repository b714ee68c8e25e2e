"""Schedule emissions in batches: submit requests, poll the vendor, collect results, and submit retries.

Each emission is the same generator that a single call drives, so its verdicts, retries and events are the same.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emitter.adapters.clients import find_credentials
from emitter.bulk.batches.emissions import BatchBuilder, BatchedEmission, BatchStatus, PollInterval, parse_position
from emitter.bulk.batches.exchanges import BatchRequestFailed
from emitter.bulk.batches.vendor_api import SubmittedBatch, UnconfirmedBatch
from emitter.client.transport import redact_credentials
from emitter.clock import retry_delay
from emitter.deadline import Deadline
from emitter.messages import ExpectedAnswer, Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from emitter.bulk.batches.emissions import (
        Batch,
        BatchEmissionRequest,
        FinishedBatchEmission,
        PendingBatch,
        StatusCallback,
    )
    from emitter.bulk.batches.journal import BatchEntry, BatchJournal
    from emitter.bulk.batches.vendor_api import (
        BatchConnection,
        BatchItemResult,
        BatchVendor,
        RejectedRequest,
        VendorBatchStatus,
    )
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
    """The fault for which its submission was not confirmed."""
    failed_searches: int = 0
    read_count: int = 0
    unusable_results: int = 0
    """Results that are unreadable, unexpected or duplicate."""
    _accepted_positions: set[int] = field(default_factory=set[int])

    def restart_reading(self) -> None:
        """Start reading the results from the beginning."""
        self.unusable_results = 0
        self._accepted_positions.clear()

    def expect(self, custom_id: str) -> ExpectedAnswer:
        """Return what the answer to a request must match."""
        tools = self.entry.tools
        position = parse_position(custom_id, self.entry.tag, len(tools))
        return ExpectedAnswer(None if position is None else tools[position])

    async def accept_result(self, result: BatchItemResult) -> list[BatchedEmission]:
        """Keep a result and continue the emission that waits for it. Only the first result of a request counts.

        A request of a batch that we cancelled ourselves stays unanswered and is sent again.
        """
        position = parse_position(result.custom_id, self.entry.tag, len(self.entry.emission_keys))
        if position is None or position in self._accepted_positions or result.answer is None:
            self.unusable_results += 1
            return []
        self._accepted_positions.add(position)
        was_cancelled = isinstance(result.answer, Fault) and result.answer.kind is FaultKind.CANCELLED
        if position not in self.entry.unanswered or (was_cancelled and self.entry.cancelled):
            return []
        return await self.record_answer(position, result.answer)

    async def record_answer(self, position: int, answer: CallResult) -> list[BatchedEmission]:
        """Write the answer to a request, and continue its emission, if one waits for it."""
        await self.journal.record_answer(self.entry.tag, position, answer)
        emission = self.waiting.pop(position, None)
        if emission is None:
            return []
        await emission.advance(answer)
        return [emission]

    async def close(self) -> list[BatchedEmission]:
        """Write that the batch has no more results, and return the emissions that still wait."""
        await self.journal.record_close(self.entry.tag)
        emissions = list(self.waiting.values())
        self.waiting.clear()
        return emissions


_CAPACITY_KINDS = frozenset({FaultKind.RATE_LIMIT, FaultKind.OVERLOADED})
"""Faults of a vendor that has too many of our batches. They are not retried before one of the batches has ended."""


@dataclass(frozen=True, slots=True)
class BatchContext:
    """The vendor, connection, journal and options of a run of batches."""

    vendor: BatchVendor
    connection: BatchConnection
    journal: BatchJournal
    options: Batch
    clock: Clock
    on_status: StatusCallback


_UNCERTAIN_KINDS = frozenset(
    {FaultKind.TIMEOUT, FaultKind.CONNECTION, FaultKind.SERVER, FaultKind.PROTOCOL, FaultKind.CLIENT}
)
"""After these faults the batch may exist, and submitting it again might pay for it twice."""
_UNCONFIRMED_NOTICE = (
    "The submission of a batch was not confirmed. The vendor is searched for it before it is submitted again."
)


_MAX_READS = 2
"""Complete reads of the results before a missing request counts as lost, since a download may end early."""
_MAX_SEARCHES = 2
"""Searches for a batch before it counts as never created, since a list may lag behind."""
_CLOCK_SKEW = dt.timedelta(minutes=15)
"""The most that the vendor's clock may be behind ours."""
_UNUSABLE_NOTICE = "{} results of batch {} are unreadable, unexpected or duplicate, and were ignored."


_LEFT_RUNNING_NOTICE = "{} continue at the vendor; a run with the same journal collects them."
_CANCELLED_NOTICE = "{} were cancelled; a run with the same journal collects the finished results."
_LOST_NOTICE = "{} continue at the vendor, and no run can collect them, since there is no journal."


class BatchScheduler:
    """One run: its batches, and its emissions in progress."""

    def __init__(self, context: BatchContext) -> None:
        self._context = context
        self._batches = {
            tag: VendorBatch(entry, context.journal) for tag, entry in context.journal.open_batches.items()
        }
        self._pending: deque[BatchedEmission] = deque()
        self._status = BatchStatus()
        self._at_capacity = False
        """True if the vendor accepts no further batch before one of ours has ended."""
        self._poll_interval = PollInterval(context.options.poll, context.options.max_poll)
        self._builder = BatchBuilder(context.vendor, context.connection, context.options)
        self._delayed: list[tuple[BatchedEmission, float]] = []
        """Emissions that wait, each until a time of the monotonic clock."""
        self._finished: deque[BatchedEmission] = deque()
        self._deadline = context.connection.deadline
        self._positions = {
            batch.entry.emission_keys[position]: (batch, position)
            for batch in self._batches.values()
            for position in batch.entry.unanswered
        }

    @property
    def _awaited_batches(self) -> list[VendorBatch]:
        """The batches that emissions of this run wait for."""
        return [batch for batch in self._batches.values() if batch.waiting]

    def _enqueue(self, *emissions: BatchedEmission) -> None:
        """Put emissions into the queue for their state: finished, delayed, or pending."""
        for emission in emissions:
            if emission.result is not None:
                self._finished.append(emission)
            elif emission.next_wait is not None:
                seconds = retry_delay(emission.next_wait, self._context.clock)
                self._delayed.append((emission, self._context.clock.monotonic() + seconds))
            else:
                self._pending.append(emission)

    async def iter_finished(self) -> AsyncGenerator[FinishedBatchEmission]:
        """Yield the finished emissions. A failed one is started again by the next run."""
        while self._finished:
            emission = self._finished.popleft()
            yield emission.finish()
            # After the yield, so that the run has recorded the failure. If the process dies in between, the next run
            # replays the same answers and fails again, without paying for them.
            if emission.failed_permanently:
                await self._context.journal.forget(emission.key)

    async def _resume_due(self) -> float:
        """Resume waiting emissions that are due, expire overdue ones, and return the longest wait in seconds."""
        now, delayed = self._context.clock.monotonic(), self._delayed
        self._delayed = []
        for emission, resume_at in delayed:
            if emission.deadline.remaining() <= resume_at - now:
                await emission.expire()
            elif resume_at <= now:
                await emission.resume()
            else:
                self._delayed.append((emission, resume_at))
                continue
            self._enqueue(emission)
        return max((resume_at - now for _, resume_at in self._delayed), default=0.0)

    async def _expire_overdue(self) -> None:
        """Expire overdue emissions. Their batches continue at the vendor, and another run can collect them."""
        for batch in self._awaited_batches:
            for position, emission in list(batch.waiting.items()):
                if emission.deadline.has_passed:
                    await emission.expire()
                    self._enqueue(batch.waiting.pop(position))
        pending, self._pending = self._pending, deque()
        for emission in pending:
            if emission.deadline.has_passed:
                await emission.expire()
            self._enqueue(emission)

    async def _requeue_rejected(self, emissions: list[BatchedEmission], fault: Fault) -> None:
        """Continue emissions whose batch was rejected: later if the vendor is at capacity, else with the fault."""
        if fault.kind in _CAPACITY_KINDS and self._awaited_batches:
            self._at_capacity = True
            self._pending.extendleft(reversed(emissions))
            return
        await self._fail(emissions, fault)

    async def _fail(self, emissions: list[BatchedEmission], fault: Fault) -> None:
        for emission in emissions:
            await emission.advance(fault, by_vendor=False)
        self._enqueue(*emissions)

    def _get_next_deadline(self) -> float:
        """Return the seconds until the first deadline of the waiting emissions. They are infinite without one."""
        waiting = (emission for batch in self._awaited_batches for emission in batch.waiting.values())
        return min((emission.deadline.remaining() for emission in waiting), default=math.inf)

    def _report_status(self, notice: str | None = None) -> None:
        """Report the state of the batches."""
        batches = self._awaited_batches
        statuses = [batch.status for batch in batches if batch.status is not None]
        self._context.on_status(
            replace(
                self._status,
                batches=len(batches),
                in_progress=sum(len(batch.entry.emission_keys) for batch in batches),
                done=sum(status.done for status in statuses),
                failed=sum(status.failed for status in statuses),
                notice=notice,
            )
        )

    async def run(self, source: AsyncIterator[BatchEmissionRequest]) -> AsyncGenerator[FinishedBatchEmission]:
        """Yield the outcome of each emission of ``source`` as it ends.

        The whole source is read and started first. Its exceptions and ``JournalFailed`` end the run. Batches in
        progress then continue at the vendor, unless ``Batch.cancel`` is set.
        """
        try:
            async with aclosing(self._run(source)) as running:
                async for finished in running:
                    yield finished
        finally:
            await self._close()

    async def _run(self, source: AsyncIterator[BatchEmissionRequest]) -> AsyncGenerator[FinishedBatchEmission]:
        if self._context.journal.notice is not None:
            self._report_status(self._context.journal.notice)
        async for request in source:
            await self._start(request)
            await self._submit(flush=False)
            async with aclosing(self.iter_finished()) as ended:
                async for finished in ended:
                    yield finished
        has_earlier = bool(self._awaited_batches)
        while self._pending or self._delayed or self._finished or self._awaited_batches or self._builder.has_requests:
            await self._submit_pending()
            async with aclosing(self.iter_finished()) as ended:
                async for finished in ended:
                    yield finished
            await self._sleep(skip=has_earlier)
            has_earlier = False
            async with aclosing(self._poll_all()) as ended:
                async for finished in ended:
                    yield finished

    async def _start(self, request: BatchEmissionRequest) -> None:
        """Start an emission, and continue it with the answers in the journal."""
        emission = BatchedEmission(request, self._deadline)
        await emission.replay(await self._context.journal.answers(request.key))
        batch, position = self._positions.pop(request.key, (None, 0))
        if batch is not None and emission.next_call is not None:
            batch.waiting[position] = emission
        else:
            self._enqueue(emission)

    async def _poll_all(self) -> AsyncGenerator[FinishedBatchEmission]:
        """Poll every batch, and yield the emissions that have ended."""
        self._at_capacity = False
        await self._expire_overdue()
        for batch in self._awaited_batches:
            async with aclosing(self._poll_batch(batch)) as polling:
                async for _ in polling:
                    async with aclosing(self.iter_finished()) as ended:
                        async for finished in ended:
                            yield finished
        self._report_status()

    async def _submit_pending(self) -> None:
        """Submit all pending calls. Waits for delayed emissions only if there is nothing else to do."""
        seconds = await self._resume_due()
        if seconds > 0 and not (self._pending or self._awaited_batches or self._builder.has_requests):
            await self._context.clock.async_sleep(seconds)
            await self._resume_due()
        await self._submit(flush=True)

    async def _sleep(self, *, skip: bool) -> None:
        """Wait before the next poll, but not beyond a deadline. Batches of an earlier run are polled at once."""
        if skip or not self._awaited_batches:
            return
        seconds = min(self._poll_interval.next_delay(), self._get_next_deadline())
        await self._context.clock.async_sleep(max(0.0, seconds))

    async def _close(self) -> None:
        """Report the batches that are left at the vendor, or cancel them."""
        batches = self._awaited_batches
        if not batches:
            return
        if self._context.options.cancel:
            for batch in batches:
                await self._cancel(batch)
        names = ", ".join(batch.entry.batch_id or f"the batch {batch.entry.tag}" for batch in batches)
        notice = _CANCELLED_NOTICE if self._context.options.cancel else _LEFT_RUNNING_NOTICE
        self._report_status((notice if self._context.journal.is_persistent else _LOST_NOTICE).format(names))

    async def _cancel(self, vendor_batch: VendorBatch) -> None:
        batch_id = vendor_batch.entry.batch_id
        if batch_id is None:
            return
        context = self._context
        await context.journal.record_cancel(vendor_batch.entry.tag)
        # The deadline of the run has passed, if it is the reason.
        connection = replace(context.connection, deadline=Deadline(None, context.clock.monotonic))
        try:
            await context.vendor.cancel(connection, batch_id)
        except BatchRequestFailed as failed:  # the batch continues, and is in the journal
            self._report_status(f"Batch {batch_id} could not be cancelled: {failed.fault.message}")

    async def _submit(self, *, flush: bool) -> None:
        """Submit the full batches, and with ``flush`` also the last, incomplete one."""
        while self._pending and not self._at_capacity:
            emission = self._pending.popleft()
            batch = await self._builder.add(emission)
            if emission.next_call is None:
                self._enqueue(emission)
            if batch is not None:
                await self._send(batch)
        batch = self._builder.flush() if flush else None
        if batch is None:
            return
        if self._at_capacity:
            self._pending.extendleft(reversed(batch.emissions))
        else:
            await self._send(batch)

    async def _send(self, pending: PendingBatch) -> None:
        context, keys = self._context, [emission.key for emission in pending.emissions]
        # The intent is written before the request: if the process dies before the id is written, the next run finds
        # the batch by its tag, and does not pay for it twice.
        entry = await context.journal.record_intent(pending.tag, keys, dt.datetime.now(dt.UTC), pending.tools)
        vendor_batch = VendorBatch(entry, context.journal, dict(enumerate(pending.emissions)))
        try:
            batch_id = await context.vendor.submit(context.connection, pending.tag, pending.requests)
        except BatchRequestFailed as failed:
            if failed.fault.kind not in _UNCERTAIN_KINDS:
                await context.journal.record_close(pending.tag)
                await self._requeue_rejected(pending.emissions, failed.fault)
                return
            vendor_batch.fault = failed.fault
        else:
            await context.journal.record_submission(pending.tag, batch_id)
        self._batches[pending.tag] = vendor_batch
        self._count(pending)
        self._poll_interval.reset()
        self._report_status(None if entry.batch_id else _UNCONFIRMED_NOTICE)

    def _count(self, pending: PendingBatch) -> None:
        status, retries = self._status, 0
        for emission in pending.emissions:
            emission.calls += 1
            retries += emission.next_call is not None and emission.is_retry
        self._status = replace(
            status, submitted=status.submitted + len(pending.emissions), retries=status.retries + retries
        )

    async def _poll_batch(self, vendor_batch: VendorBatch) -> AsyncGenerator[None]:
        """Poll a batch and collect it if it has ended. Yields after each emission that went on."""
        try:
            async with aclosing(self._update(vendor_batch)) as polling:
                async for _ in polling:
                    yield
        except BatchRequestFailed as failed:
            if not failed.fault.kind.is_transient:
                await self._fail_waiting(vendor_batch, failed.fault)

    async def _update(self, vendor_batch: VendorBatch) -> AsyncGenerator[None]:
        entry = vendor_batch.entry
        if entry.batch_id is None:
            await self._find_unconfirmed(vendor_batch)
            return
        submitted = SubmittedBatch(entry.batch_id, len(entry.emission_keys), vendor_batch.expect)
        context, previous = self._context, vendor_batch.status
        vendor_batch.status = status = await context.vendor.get_status(context.connection, submitted)
        if previous is None or (previous.done, previous.failed, previous.has_ended) != (
            status.done,
            status.failed,
            status.has_ended,
        ):
            self._poll_interval.reset()
        if status.invalid:
            await self._handle_rejection(vendor_batch, status.invalid)
            yield
        elif status.has_ended:
            async with aclosing(self._collect(vendor_batch, submitted, status)) as collecting:
                async for _ in collecting:
                    yield

    async def _find_unconfirmed(self, vendor_batch: VendorBatch) -> None:
        """Search for an unconfirmed batch. Its calls are pending again only if it does not exist."""
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
            await context.journal.record_submission(entry.tag, match.batch_id)
        elif not any(candidate.is_ours is None for candidate in candidates):
            vendor_batch.failed_searches += 1
            if vendor_batch.failed_searches >= _MAX_SEARCHES:
                await self._requeue_lost(vendor_batch)

    async def _requeue_lost(self, vendor_batch: VendorBatch) -> None:
        del self._batches[vendor_batch.entry.tag]
        emissions = await vendor_batch.close()
        if vendor_batch.fault is None:
            self._enqueue(*emissions)
        else:
            await self._fail(emissions, vendor_batch.fault)

    async def _handle_rejection(self, vendor_batch: VendorBatch, invalid: tuple[RejectedRequest, ...]) -> None:
        """Continue after a rejected batch: requests at fault with their fault, the others as pending again."""
        size = len(vendor_batch.entry.emission_keys)
        del self._batches[vendor_batch.entry.tag]
        faults = [
            (rejected.request_index, rejected.fault)
            for rejected in invalid
            if rejected.request_index is not None and 0 <= rejected.request_index < size
        ]
        for position, fault in faults:
            if position in vendor_batch.entry.unanswered:
                self._enqueue(*await vendor_batch.record_answer(position, fault))
        emissions = await vendor_batch.close()
        if faults:
            self._enqueue(*emissions)
        else:
            await self._requeue_rejected(emissions, invalid[0].fault)

    async def _collect(
        self, vendor_batch: VendorBatch, submitted: SubmittedBatch, final_status: VendorBatchStatus
    ) -> AsyncGenerator[None]:
        context = self._context
        vendor_batch.restart_reading()
        # An error in the results may repeat a credential, which must not get into the journal.
        credentials = find_credentials(context.connection.profile, context.connection.client)
        async with aclosing(context.vendor.iter_results(context.connection, submitted, final_status)) as results:
            async for result in results:
                answer = result.answer and redact_credentials(result.answer, credentials)
                for emission in await vendor_batch.accept_result(replace(result, answer=answer)):
                    self._enqueue(emission)
                    yield
        vendor_batch.read_count += 1
        if vendor_batch.entry.unanswered and vendor_batch.read_count < _MAX_READS and not vendor_batch.entry.cancelled:
            return
        if vendor_batch.unusable_results:
            self._report_status(_UNUSABLE_NOTICE.format(vendor_batch.unusable_results, submitted.batch_id))
        await self._finish(vendor_batch, final_status.missing_fault)
        yield

    async def _finish(self, vendor_batch: VendorBatch, missing_fault: Fault | None) -> None:
        """Close a batch. A request without a result failed, or is pending again if we cancelled the batch."""
        if missing_fault is not None and not vendor_batch.entry.cancelled:
            for position in sorted(vendor_batch.entry.unanswered):
                self._enqueue(*await vendor_batch.record_answer(position, missing_fault))
        del self._batches[vendor_batch.entry.tag]
        self._enqueue(*await vendor_batch.close())
        self._poll_interval.reset()

    async def _fail_waiting(self, vendor_batch: VendorBatch, fault: Fault) -> None:
        """End the emissions of a batch that cannot be polled. The journal keeps the batch for another run."""
        emissions = list(vendor_batch.waiting.values())
        vendor_batch.waiting.clear()
        await self._fail(emissions, fault)
