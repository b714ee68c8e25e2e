"""The time by which an emission, and each of its calls, has to end.

A ``Deadline`` is made once for an emission, narrowed for each call, and handed down to the code that waits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from emitter.messages import Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import Callable

_PASSED_MESSAGE = "The deadline of {} seconds passed before an answer was accepted."
_TOO_LITTLE_TIME_MESSAGE = "The deadline of {} seconds leaves no time for another call."
TIMEOUT_MESSAGE = "The vendor did not finish its answer in time."

_LONGEST_CALL = 7 * 24 * 3600.0
"""A timeout that every socket takes: infinite ones, and those above 24 days, are errors."""


class Deadline:
    """A number of seconds from now. Time passes only while the deadline is not paused.

    Args:
        seconds: The seconds that may pass. None means no limit.
        clock: Returns the time in seconds.
    """

    __slots__ = ("_clock", "_paused_at", "_started_at", "seconds")

    def __init__(self, seconds: float | None, clock: Callable[[], float]) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self._clock, self._started_at = clock, clock()
        self._paused_at: float | None = None

    def narrow(self, seconds: float | None) -> Deadline:
        """Return the deadline of a call that begins now. None means no limit of its own.

        Pausing it does not pause this deadline.
        """
        remaining = math.inf if self.seconds == math.inf else self.remaining()
        return Deadline(min(remaining, _LONGEST_CALL, math.inf if seconds is None else seconds), self._clock)

    def remaining(self) -> float:
        """Return the seconds that are left. They are infinite without a limit, and negative after the deadline."""
        now = self._clock() if self._paused_at is None else self._paused_at
        return self._started_at + self.seconds - now

    def timeout(self) -> float | None:
        """Return the seconds after which a wait has to end, or None if it has no limit or the deadline is paused."""
        remaining = self.remaining()
        return max(remaining, 0.0) if self._paused_at is None and remaining < math.inf else None

    def pause(self) -> None:
        """Let no time pass until ``resume()``, for example while the consumer of a stream has an event."""
        self._paused_at = self._clock()

    def resume(self) -> None:
        """Let time pass again."""
        if self._paused_at is not None:
            self._started_at += self._clock() - self._paused_at
            self._paused_at = None

    @property
    def has_passed(self) -> bool:
        """True if no time is left."""
        return self.remaining() <= 0

    def check(self, seconds: float = 0.0) -> Fault | None:
        """Return a fault if the deadline passes within ``seconds``."""
        if self.seconds == math.inf or (remaining := self.remaining()) > seconds:
            return None
        message = _TOO_LITTLE_TIME_MESSAGE if remaining > 0 else _PASSED_MESSAGE
        return Fault(FaultKind.DEADLINE, message.format(self.seconds))
