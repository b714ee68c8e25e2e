"""Time, as emissions need it: what it is, how long a call may take, and how long to wait before a re-send."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenacity.wait import WaitBaseT

    from emitter.steps import Wait

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0


@dataclass(slots=True)
class Clock:
    """Time, as a driver needs it; tests hand in their own.

    ``monotonic`` returns seconds, ``sleep`` and ``asleep`` wait so many, ``wait`` is the tenacity strategy
    for re-sends after faults (full jitter up to ``0.5 * 2**n`` seconds, at most 30, where None).
    """

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    asleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    wait: WaitBaseT | None = None


@dataclass(slots=True)
class Limits:
    """Seconds: ``timeout`` for one call, ``deadline`` for everything (None for no limit)."""

    timeout: float
    deadline: float | None = None
    clock: Clock = field(default_factory=Clock)


def pause(step: Wait, clock: Clock) -> float:
    """Return how many seconds to wait: what the strategy says, and no less than the vendor asked for."""
    from tenacity import RetryCallState, Retrying, wait_random_exponential  # noqa: PLC0415  39 ms, only on faults

    strategy = clock.wait or wait_random_exponential(_FIRST_WAIT, _LONGEST_WAIT)
    state = RetryCallState(Retrying(), None, (), {})
    state.attempt_number = step.nth
    return max(step.at_least, strategy(state))
