"""Limit concurrent calls to a vendor, and adapt to its rate limits.

Additive increase, multiplicative decrease (Chiu and Jain, 1989), as in TCP: the limit is halved at most once for the
calls that were in flight together, and grows by one for as many successful responses as it allows at once.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

from emitter.messages import Fault, FaultKind, ModelResponse

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from emitter.clock import Clock
    from emitter.messages import CallResult

_OVERLOAD_KINDS = frozenset({FaultKind.RATE_LIMIT, FaultKind.OVERLOADED})
Ticket: TypeAlias = int
"""Permission for a call. The number counts the cuts of the limit before it."""


class AdaptiveLimiter:
    """Limits the calls to one vendor.

    ``maximum`` is the upper bound, and ``limit`` is what the vendor accepts now. While the vendor requests a pause of
    at most ``max_pause`` seconds, no call starts.
    """

    def __init__(self, maximum: int, clock: Clock, max_pause: float = math.inf) -> None:
        self.maximum = maximum
        self.in_flight = 0
        self._clock, self._max_pause = clock, max_pause
        self._limit = float(maximum)
        self._cuts = 0
        self._paused_until = -math.inf
        self._waiters: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """The number of calls that may be in flight now."""
        return int(self._limit)

    async def acquire(self) -> Ticket:
        """Wait until a call may start."""
        while True:
            pause = self._paused_until - self._clock.monotonic()
            if pause > 0:
                await self._clock.async_sleep(pause)
            elif self.in_flight < self.limit:
                self.in_flight += 1
                return self._cuts
            else:
                await self._wait()

    def release(self, ticket: Ticket, answer: CallResult | None) -> None:
        """Record the end of a call and its result, or None if it was abandoned."""
        if isinstance(answer, ModelResponse):
            self._limit = min(self.maximum, self._limit + 1 / self._limit)
        elif isinstance(answer, Fault):
            self._apply_fault(ticket, answer)
        self.in_flight -= 1
        self._wake_waiters()

    def raise_maximum(self, maximum: int) -> None:
        """Raise the upper bound for another user of this limiter."""
        if maximum > self.maximum:
            self._limit, self.maximum = self._limit + maximum - self.maximum, maximum
            self._wake_waiters()

    def _apply_fault(self, ticket: Ticket, fault: Fault) -> None:
        # Calls that were in flight together report the same overload, so only the first of them cuts the limit.
        if fault.kind in _OVERLOAD_KINDS and ticket == self._cuts:
            self._limit = max(1.0, min(self._limit, self.in_flight) / 2)
            self._cuts += 1
        if fault.retry_after is not None and fault.retry_after <= self._max_pause:
            self._paused_until = max(self._paused_until, self._clock.monotonic() + fault.retry_after)

    async def _wait(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._wake_waiters()  # this waiter was woken and leaves, so the next one takes its place
            raise

    def _wake_waiters(self) -> None:
        free = self.limit - self.in_flight
        while free > 0 and self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1


class Permit:
    """The permission of one emission, acquired before it starts and again for each further call."""

    def __init__(self, limiter: AdaptiveLimiter) -> None:
        self._limiter = limiter
        self._ticket: Ticket | None = None

    async def acquire(self) -> None:
        """Wait until a call may start. Returns at once if the permission is unused."""
        if self._ticket is None:
            self._ticket = await self._limiter.acquire()

    def release(self, answer: CallResult | None = None) -> None:
        """Return the permission with the result of the call."""
        if self._ticket is not None:
            ticket, self._ticket = self._ticket, None
            self._limiter.release(ticket, answer)


# A limiter holds futures of its event loop, so loops cannot share one.
_LIMITERS: WeakKeyDictionary[AbstractEventLoop, WeakKeyDictionary[object, AdaptiveLimiter]] = WeakKeyDictionary()


def get_limiter(client: object, maximum: int, clock: Clock, max_pause: float) -> AdaptiveLimiter:
    """Return the limiter of a client in this event loop, shared by all runs that use the client."""
    limiters = _LIMITERS.setdefault(asyncio.get_running_loop(), WeakKeyDictionary())
    limiter = limiters.setdefault(client, AdaptiveLimiter(maximum, clock, max_pause))
    limiter.raise_maximum(maximum)
    return limiter
