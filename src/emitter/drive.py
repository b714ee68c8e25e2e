"""The drivers: they do what an emission asks for. Nothing else in the library waits or reads a clock.

``run`` and ``arun`` are twins and the only ones; what they share stands below them.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, assert_never

from emitter.steps import Call, Outcome, Steps, Tell, Wait
from emitter.wire import Answer, Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenacity.wait import WaitBaseT

    from emitter.events import Event
    from emitter.wire import Request

Send: TypeAlias = "Callable[[Request, float], Answer]"
"""Sends a request within so many seconds."""
AsyncSend: TypeAlias = "Callable[[Request, float], Awaitable[Answer]]"

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


def run(steps: Steps, send: Send, tell: Callable[[Event], None], limits: Limits) -> Outcome:
    """Drive an emission to its outcome."""
    watch, answer = _Watch(limits), None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        answer = None
        match step:
            case Call(request):
                answer = watch.late() or send(request, watch.timeout())
            case Wait():
                seconds = watch.seconds(step)
                answer = watch.late(seconds)
                if answer is None:
                    limits.clock.sleep(seconds)
            case Tell(event):
                tell(event)
            case _:
                assert_never(step)


async def arun(steps: Steps, send: AsyncSend, tell: Callable[[Event], None], limits: Limits) -> Outcome:
    """Drive an emission to its outcome, without blocking."""
    watch, answer = _Watch(limits), None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        answer = None
        match step:
            case Call(request):
                answer = watch.late() or await send(request, watch.timeout())
            case Wait():
                seconds = watch.seconds(step)
                answer = watch.late(seconds)
                if answer is None:
                    await limits.clock.asleep(seconds)
            case Tell(event):
                tell(event)
            case _:
                assert_never(step)


class _Watch:
    """How much time is left."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._began = limits.clock.monotonic()

    def _left(self) -> float | None:
        deadline = self._limits.deadline
        return None if deadline is None else deadline - (self._limits.clock.monotonic() - self._began)

    def timeout(self) -> float:
        """Return the seconds that the next call may take."""
        left = self._left()
        return self._limits.timeout if left is None else min(self._limits.timeout, left)

    def late(self, ahead: float = 0.0) -> Answer | None:
        """Return the deadline's fault if it passes within ``ahead`` seconds."""
        left = self._left()
        if left is None or left > ahead:
            return None
        return Fault(FaultKind.DEADLINE, f"The deadline of {self._limits.deadline} seconds leaves no time to go on.")

    def seconds(self, step: Wait) -> float:
        """Return how long to wait: what the strategy says, and no less than the vendor asked for."""
        from tenacity import RetryCallState, Retrying, wait_random_exponential  # noqa: PLC0415  39 ms, only on faults

        strategy = self._limits.clock.wait or wait_random_exponential(_FIRST_WAIT, _LONGEST_WAIT)
        state = RetryCallState(Retrying(), None, (), {})
        state.attempt_number = step.nth
        return max(step.at_least, strategy(state))
