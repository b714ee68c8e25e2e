"""How many calls a vendor is sent at once: fewer when it says it has too many, more again when it copes.

Additive increase, multiplicative decrease (Chiu and Jain, 1989), as TCP does it: a limit is halved at most once
for the calls that were under way together, and grows by one for as many good answers as it allows at once.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

from emitter.wire import Fault, FaultKind, Reply

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from emitter.clock import Clock
    from emitter.wire import Answer

_TOO_MUCH = frozenset({FaultKind.RATE_LIMIT, FaultKind.OVERLOADED})

Ticket: TypeAlias = int
"""Leave to call; it tells after which cut of the limit it was given."""


class Gate:
    """Lets calls to one vendor through.

    ``most`` bounds them; ``limit`` is what the vendor copes with at present. While the vendor asks for a pause
    that is no longer than ``patience`` seconds, no call is let through.
    """

    def __init__(self, most: int, clock: Clock, patience: float = math.inf) -> None:
        self.most = most
        self.running = 0
        self._clock, self._patience = clock, patience
        self._allowed = float(most)
        self._cuts = 0
        self._until = -math.inf
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """How many calls may be under way at present."""
        return int(self._allowed)

    async def enter(self) -> Ticket:
        """Wait until a call may be made."""
        while True:
            pause = self._until - self._clock.monotonic()
            if pause > 0:
                await self._clock.asleep(pause)
            elif self.running < self.limit:
                self.running += 1
                return self._cuts
            else:
                await self._woken()

    def leave(self, ticket: Ticket, answer: Answer | None) -> None:
        """Say that a call is over, and what it came to; None where it was given up."""
        if isinstance(answer, Reply):
            self._allowed = min(self.most, self._allowed + 1 / self._allowed)
        elif isinstance(answer, Fault):
            self._learn(ticket, answer)
        self.running -= 1
        self._wake()

    def widen(self, most: int) -> None:
        """Allow at least so many, for one more that shares the gate."""
        if most > self.most:
            self._allowed, self.most = self._allowed + most - self.most, most
            self._wake()

    def _learn(self, ticket: Ticket, fault: Fault) -> None:
        if fault.kind in _TOO_MUCH and ticket == self._cuts:
            self._allowed = max(1.0, min(self._allowed, self.running) / 2)
            self._cuts += 1
        if fault.retry_after is not None and fault.retry_after <= self._patience:
            self._until = max(self._until, self._clock.monotonic() + fault.retry_after)

    async def _woken(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._wake()  # the turn goes to the next
            raise

    def _wake(self) -> None:
        free = self.limit - self.running
        while free > 0 and self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1


class Turn:
    """The leave of one emission to call: taken before it begins, and again for each call after the first."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._ticket: Ticket | None = None

    async def take(self) -> None:
        """Wait until a call may be made; at once, where the leave was not used yet."""
        if self._ticket is None:
            self._ticket = await self._gate.enter()

    def give(self, answer: Answer | None = None) -> None:
        """Give the leave back, with what the call came to."""
        if self._ticket is not None:
            ticket, self._ticket = self._ticket, None
            self._gate.leave(ticket, answer)


_GATES: WeakKeyDictionary[AbstractEventLoop, WeakKeyDictionary[object, Gate]] = WeakKeyDictionary()


def gate_of(client: object, most: int, clock: Clock, patience: float) -> Gate:
    """Return the gate of a client in this loop, which all who call through the same client share."""
    gates = _GATES.setdefault(asyncio.get_running_loop(), WeakKeyDictionary())
    gate = gates.setdefault(client, Gate(most, clock, patience))
    gate.widen(most)
    return gate
