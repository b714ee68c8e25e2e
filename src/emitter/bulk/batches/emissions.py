"""The options of a batch run, its status, and the state of each emission in it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from emitter.client.execution import EmissionRun
from emitter.core.effects import EmissionOutcome, SendRequest, Sleep
from emitter.core.verdicts import Verdict
from emitter.errors import InputError
from emitter.messages import Fault, FaultKind

if TYPE_CHECKING:
    from emitter.client.request import PreparedEmission
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
            batch goes on at the vendor, and another run with the same journal can collect it.
        cancel: Whether leaving the run cancels its batches. Otherwise they go on.
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
"""Called after each change. Its return value is ignored."""


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
    "The deadline of {:g} seconds passed before the batch was answered; the batch goes on at the vendor."
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

    def __init__(self, requested: BatchEmissionRequest, started: float) -> None:
        emission_request = requested.plan.emission_request
        request = emission_request.request
        # Thousands of emissions have equal system prompts. Interning keeps one copy.
        judge = emission_request.judge and emission_request.judge.offline()  # a batch reaches one vendor only
        emission_request = replace(
            emission_request, request=replace(request, system=sys.intern(request.system)), judge=judge
        )
        self.key = requested.key
        self.next_call: SendRequest | None = None
        self.next_wait: Sleep | None = None
        self.result: EmissionOutcome | Exception | None = None
        self.calls = 0
        self.answered_by_vendor = True
        """Whether the last answer came from the vendor."""
        self._policy, self._started = requested.settings.policy, started
        self._run = EmissionRun.start(replace(requested.plan, emission_request=emission_request))
        self.advance(None)

    def advance(self, answer: CallResult | None, *, by_vendor: bool = True) -> None:
        """Continue with an answer until the next call, wait, or end."""
        self.next_call, self.next_wait, self.answered_by_vendor = None, None, by_vendor
        try:
            effect = self._run.advance(answer)
        except Exception as error:  # noqa: BLE001  a sink or check raised; one failure must not lose the others
            self.result = error
            return
        match effect:
            case SendRequest():
                self.next_call = effect
            case Sleep():
                self.next_wait = effect
            case None:
                self.result = self._run.outcome
            case _:
                assert_never(effect)

    def replay(self, answers: list[CallResult]) -> None:
        """Continue with known answers, without waiting."""
        for answer in answers:
            if self.result is None:
                self.advance(answer)
            self.resume()

    def resume(self) -> None:
        """Continue after a wait."""
        if self.next_wait is not None:
            self.advance(None)

    def get_time_left(self, now: float, run_time_left: float | None) -> float | None:
        """Return the seconds until the earlier deadline: its own or that of the run."""
        time_left = None if self._policy.deadline is None else self._started + self._policy.deadline - now
        return min((seconds for seconds in (time_left, run_time_left) if seconds is not None), default=None)

    def expire(self, now: float) -> None:
        """End the emission because its deadline has passed."""
        self.advance(Fault(FaultKind.DEADLINE, _DEADLINE_MESSAGE.format(now - self._started)), by_vendor=False)

    @property
    def failed_permanently(self) -> bool:
        """Whether the vendor's answers led to a failure that is not a refusal."""
        outcome = self.result
        if not isinstance(outcome, EmissionOutcome) or outcome.failure is None or not self.answered_by_vendor:
            return False
        return outcome.failure.verdict is not Verdict.REFUSED

    def finish(self) -> FinishedBatchEmission:
        """Return the outcome."""
        if self.result is None:
            raise RuntimeError("The emission has not ended.")
        return FinishedBatchEmission(self.key, self.result, tuple(self._run.record.events), self.calls)
