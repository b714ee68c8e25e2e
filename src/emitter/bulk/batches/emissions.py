"""The options and the status of a batch run, its emissions, and the batches that their requests are packed into."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from emitter.adapters import ADAPTERS
from emitter.attempts import Verdict
from emitter.client.execution import EmissionRun
from emitter.client.transport import complete_usage
from emitter.core.effects import EmissionOutcome, Restart, Sleep
from emitter.deadline import Deadline
from emitter.errors import InputError
from emitter.interpreter import arun_steps
from emitter.messages import ExpectedAnswer, Fault, FaultKind, ModelRequest
from emitter.outside_values import parse_int
from emitter.telemetry.sinks import generate_id

if TYPE_CHECKING:
    from emitter.bulk.batches.vendor_api import BatchConnection, BatchVendor, PackedRequest
    from emitter.client.prepared import PreparedEmission
    from emitter.client.settings import Settings
    from emitter.events import RunEvent
    from emitter.messages import CallResult

_INTEGER_OPTIONS = frozenset({"max_requests", "max_bytes"})


@dataclass(frozen=True, slots=True)
class Batch:
    """Options for a run through the vendor's batch interface.

    Attributes:
        poll: Seconds between two status requests at first. The interval grows by half while nothing changes.
        max_poll: The largest interval, in seconds.
        timeout: How many seconds the run may take, or None. Unanswered emissions end in ``DeadlineReached``; their
            batch continues at the vendor, and another run with the same journal can collect it.
        cancel: True cancels the batches when the run is left. Otherwise they continue.
        max_requests: The largest number of requests in a batch, if the vendor allows more.
        max_bytes: The largest size of a batch, if the vendor allows more. A batch is built in memory.
    """

    poll: float = 30.0
    max_poll: float = 300.0
    timeout: float | None = None
    cancel: bool = False
    max_requests: int | None = None
    max_bytes: int = 50_000_000

    def __post_init__(self) -> None:
        for option in fields(self):
            _validate_option(option.name, getattr(self, option.name))
        if self.max_poll < self.poll:
            raise InputError(f"Batch.max_poll is {self.max_poll!r}; it must be at least Batch.poll, {self.poll!r}.")


def _validate_option(name: str, value: Any) -> None:
    if name == "cancel":
        if not isinstance(value, bool):
            raise InputError(f"Batch.cancel is {value!r}; it must be True or False.")
        return
    if value is None and name in ("timeout", "max_requests"):
        return
    kinds = int if name in _INTEGER_OPTIONS else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value < math.inf:
        kind = "whole number" if name in _INTEGER_OPTIONS else "number"
        raise InputError(f"Batch.{name} is {value!r}; it must be a {kind} above 0.")


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """The state of the batches of a run.

    Attributes:
        submitted: Requests that this run has submitted.
        retries: Submitted requests that were not the first of their emission.
        batches: Open batches.
        in_progress: Requests in the open batches.
        done: Requests in the open batches that have an answer.
        failed: Requests in the open batches that have failed.
        notice: A message worth reading, or None.
    """

    submitted: int = 0
    retries: int = 0
    batches: int = 0
    in_progress: int = 0
    done: int = 0
    failed: int = 0
    notice: str | None = None


StatusCallback: TypeAlias = Callable[[BatchStatus], object]
"""Called after each change. The return value is ignored."""


class PollInterval:
    """Seconds until the next status request, growing while nothing changes."""

    _BACKOFF = 1.5

    def __init__(self, first: float, maximum: float) -> None:
        self._first, self._maximum = first, maximum
        self._next = first

    def next_delay(self) -> float:
        """Return the current delay and increase it."""
        seconds, self._next = self._next, min(self._maximum, self._next * self._BACKOFF)
        return seconds

    def reset(self) -> None:
        """Start again with the first delay, since something has changed."""
        self._next = self._first


_DEADLINE_MESSAGE = (
    "The deadline of {:g} seconds passed before the batch was answered; the batch continues at the vendor."
)


@dataclass(frozen=True, slots=True)
class BatchEmissionRequest:
    """An emission to run, and its unique ``key`` in the journal."""

    key: str
    plan: PreparedEmission
    settings: Settings


@dataclass(frozen=True, slots=True)
class FinishedBatchEmission:
    """A finished emission: its outcome or exception, and its events.

    ``calls`` were submitted in this run. Zero means that all answers were in the journal.
    """

    key: str
    outcome: EmissionOutcome | Exception
    events: tuple[RunEvent, ...]
    calls: int


class BatchedEmission:
    """An emission in progress, which has a next call, waits, or is finished."""

    def __init__(self, requested: BatchEmissionRequest, run_deadline: Deadline) -> None:
        emission = requested.plan.emission
        # Thousands of emissions have equal system prompts. Interning keeps one copy. A judge that calls a model runs
        # offline, because a batch goes to one vendor only. No batch is streamed, so a server that requires it is not
        # asked for a stream.
        request = replace(emission.request, system=sys.intern(emission.request.system), is_streamed=True)
        judge = emission.judge and emission.judge.offline()
        self.key = requested.key
        self.next_call: ModelRequest | None = None
        self.next_wait: Sleep | None = None
        self.result: EmissionOutcome | Exception | None = None
        self.calls = 0
        self.is_retry = False
        """True once a call was made, so that the next one is a retry."""
        self.answered_by_vendor = True
        """True if the last answer came from the vendor."""
        plan = replace(requested.plan, emission=replace(emission, request=request, judge=judge))
        self._profile = plan.target.profile
        self._run = EmissionRun.start(plan)
        self.deadline = min(self._run.deadline, run_deadline, key=Deadline.remaining)

    async def advance(self, answer: CallResult | None, *, by_vendor: bool = True) -> None:
        """Begin, or continue with an answer, or with None after a wait, until the next call, wait, or end."""
        if answer is not None and self.next_call is not None:
            answer = complete_usage(answer, self.next_call, self._profile)
        self.next_call, self.next_wait, self.answered_by_vendor = None, None, by_vendor
        try:
            effect = await arun_steps(self._run.advance(answer))
            if isinstance(effect, Restart):
                self.is_retry, effect = True, await arun_steps(self._run.advance(None))
        except Exception as error:  # noqa: BLE001  a sink or check raised; one failure must not lose the others
            self.result = error
            return
        match effect:
            case ModelRequest():
                self.next_call = effect
            case Sleep():
                self.next_wait = effect
            case None:
                self.result = self._run.outcome
            case Restart():
                raise TypeError("A restart is followed by its request.")
            case _:
                assert_never(effect)

    async def replay(self, answers: list[CallResult]) -> None:
        """Begin with the answers of an earlier run, without waiting between them."""
        await self.advance(None)
        for answer in answers:
            if self.result is None:
                await self.advance(answer)
            await self.resume()

    async def resume(self) -> None:
        """Continue after a wait."""
        if self.next_wait is not None:
            await self.advance(None)

    async def expire(self) -> None:
        """End the emission because its deadline has passed."""
        await self.advance(Fault(FaultKind.DEADLINE, _DEADLINE_MESSAGE.format(self.deadline.seconds)), by_vendor=False)

    @property
    def failed_permanently(self) -> bool:
        """True if the vendor's answers led to a failure that is not a refusal."""
        outcome = self.result
        if not isinstance(outcome, EmissionOutcome) or outcome.failure is None or not self.answered_by_vendor:
            return False
        return outcome.failure.verdict is not Verdict.REFUSED

    def finish(self) -> FinishedBatchEmission:
        """Return the outcome."""
        if self.result is None:
            raise RuntimeError("The emission has not ended.")
        return FinishedBatchEmission(self.key, self.result, tuple(self._run.recorder.events), self.calls)


_TAG_LENGTH = 16
_OVERHEAD = 64
"""The most bytes around the requests of a batch, such as the brackets of an array."""


class PendingBatch:
    """A batch that is being filled. The ids of its requests start with its ``tag``."""

    def __init__(self) -> None:
        self.tag = generate_id()[:_TAG_LENGTH]
        self.size = _OVERHEAD
        self.emissions: list[BatchedEmission] = []
        self.requests: list[PackedRequest] = []
        self.tools: list[str | None] = []

    def add(self, emission: BatchedEmission, request: PackedRequest) -> None:
        """Add a request."""
        self.emissions.append(emission)
        self.requests.append(request)
        self.tools.append(None if emission.next_call is None else ExpectedAnswer.of(emission.next_call).tool_name)
        self.size += request.size

    def next_id(self) -> str:
        """Return the id of the next request: the tag and its position."""
        return f"{self.tag}-{len(self.requests)}"


def parse_position(custom_id: str | None, tag: str, size: int) -> int | None:
    """Return the position in an id of a batch of ``size`` requests, or None if it belongs to another batch."""
    position = parse_int((custom_id or "").rpartition("-")[2], maximum=size - 1)
    return position if custom_id == f"{tag}-{position}" else None


class BatchBuilder:
    """Fills one batch after the other."""

    def __init__(self, vendor: BatchVendor, connection: BatchConnection, options: Batch) -> None:
        limits = connection.profile.batches
        if limits is None:
            raise RuntimeError("The profile has no batch limits.")
        self._vendor, self._connection = vendor, connection
        self._max_requests = min(limits.requests, options.max_requests or limits.requests)
        self._max_size = min(limits.bytes, options.max_bytes)
        self._pending = PendingBatch()

    @property
    def has_requests(self) -> bool:
        """True if the current batch has requests."""
        return bool(self._pending.requests)

    async def add(self, emission: BatchedEmission) -> PendingBatch | None:
        """Add the next call of an emission. Returns the previous batch if the call did not fit.

        An emission whose request is too large for any batch continues with that fault.
        """
        if emission.next_call is None:
            raise RuntimeError("The emission has no next call.")
        profile, wire = self._connection.profile, self._connection.wire
        body = ADAPTERS[wire].encode(emission.next_call, profile.wires[wire])
        request = self._vendor.pack_request(self._pending.next_id(), body, wire)
        if request.size + _OVERHEAD > self._max_size:
            message = f"The request has {request.size} bytes, and a batch may have {self._max_size}."
            await emission.advance(Fault(FaultKind.TOO_LARGE, message), by_vendor=False)
            return None
        full = None
        is_full = len(self._pending.requests) >= self._max_requests
        if self._pending.requests and (is_full or self._pending.size + request.size > self._max_size):
            full = self.flush()
            # The id has the tag of the batch, so the request is packed again for the next one.
            request = self._vendor.pack_request(self._pending.next_id(), body, wire)
        self._pending.add(emission, request)
        return full

    def flush(self) -> PendingBatch | None:
        """Return the current batch, or None if it is empty, and start the next one."""
        batch, self._pending = self._pending, PendingBatch()
        return batch if batch.requests else None
