"""The time by which an emission, and each of its calls, has to end.

``Deadline`` is made once for an emission, narrowed for each call, and handed down to the code that waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.messages import Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import Callable

_PASSED_MESSAGE = "The deadline of {} seconds passed before an answer was accepted."
_TOO_LITTLE_TIME_MESSAGE = "The deadline of {} seconds leaves no time for another call."
TIMEOUT_MESSAGE = "The vendor did not finish its answer in time."


class Stopwatch:
    """Measures the time of an emission, without the time that others take while it is stopped."""

    __slots__ = ("_clock", "_started_at", "_stopped_at")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started_at = clock()
        self._stopped_at: float | None = None

    @property
    def is_running(self) -> bool:
        """False while the stopwatch is stopped."""
        return self._stopped_at is None

    def elapsed(self) -> float:
        """Return the seconds that were measured so far."""
        return (self._clock() if self._stopped_at is None else self._stopped_at) - self._started_at

    def stop(self) -> None:
        """Stop, for example while the consumer of a stream handles an event."""
        self._stopped_at = self._clock()

    def start(self) -> None:
        """Continue."""
        if self._stopped_at is not None:
            self._started_at += self._clock() - self._stopped_at
            self._stopped_at = None


@dataclass(frozen=True, slots=True)
class Deadline:
    """The reading of a stopwatch at which an emission or a call has to end; infinite if there is no limit."""

    ends_at: float
    stopwatch: Stopwatch

    @classmethod
    def after(cls, seconds: float | None, clock: Callable[[], float]) -> Deadline:
        """Return the deadline of an emission that begins now. None means no limit."""
        return cls(math.inf if seconds is None else seconds, Stopwatch(clock))

    def narrow(self, seconds: float | None) -> Deadline:
        """Return the deadline of a part that begins now and may take this long."""
        if seconds is None:
            return self
        return Deadline(min(self.ends_at, self.stopwatch.elapsed() + seconds), self.stopwatch)

    def remaining(self) -> float:
        """Return the seconds that are left. They are infinite without a limit, and negative after the deadline."""
        return self.ends_at - self.stopwatch.elapsed()

    def timeout(self) -> float | None:
        """Return the seconds after which a wait has to end, or None if the wait does not count or has no limit."""
        remaining = self.remaining()
        return max(remaining, 0.0) if self.stopwatch.is_running and remaining < math.inf else None

    @property
    def expired(self) -> bool:
        """True once the deadline has passed."""
        return self.remaining() <= 0

    def check(self, seconds: float = 0.0) -> Fault | None:
        """Return a fault if the deadline passes within ``seconds``."""
        remaining = self.remaining()
        if remaining > seconds:
            return None
        message = _TOO_LITTLE_TIME_MESSAGE if remaining > 0 else _PASSED_MESSAGE
        return Fault(FaultKind.DEADLINE, message.format(self.ends_at))
