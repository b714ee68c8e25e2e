"""The clock of a driver, and its retry delays."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from emitter.interpreter import CallStep

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenacity.wait import WaitBaseT

    from emitter.core.effects import Sleep

_INITIAL_BACKOFF = 0.5
_MAX_BACKOFF = 30.0


@dataclass(frozen=True, slots=True)
class Clock:
    """The functions that a driver uses for time. Tests pass their own.

    ``monotonic`` returns seconds, and ``sleep`` and ``async_sleep`` wait for seconds. ``wait`` is the tenacity strategy
    for retries after faults; the default is full jitter up to ``0.5 * 2**n`` seconds, at most 30.
    """

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    async_sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    wait: WaitBaseT | None = None


DEFAULT_CLOCK = Clock()
"""The system's clock."""


def sleep_step(clock: Clock, seconds: float) -> CallStep:
    """Return the step of an operation that waits."""
    return CallStep(partial(clock.sleep, seconds), partial(clock.async_sleep, seconds))


def retry_delay(step: Sleep, clock: Clock) -> float:
    """Return the seconds to wait before a retry: the strategy's delay, or the vendor's minimum if that is longer."""
    from tenacity import RetryCallState, Retrying, wait_random_exponential  # noqa: PLC0415  39 ms, only on faults

    strategy = clock.wait or wait_random_exponential(_INITIAL_BACKOFF, _MAX_BACKOFF)
    # The emission runs its own loop and uses only tenacity's strategy, which reads the attempt from this state.
    state = RetryCallState(Retrying(), None, (), {})
    state.attempt_number = step.retry_number
    return max(step.min_seconds, strategy(state))
