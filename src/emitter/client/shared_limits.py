"""A rate limit that several processes share. Each process leases start times for its waiting calls.

The shared state is a row of a database, an actor, or anything else that passes requests to ``take_slots``.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeAlias

from emitter.client.rate_limits import Ticket, get_account, requested_wait
from emitter.stores.jobs import SlotRequest, Slots

if TYPE_CHECKING:
    from typing import Self

    from emitter.client.prepared import PreparedEmission
    from emitter.client.rate_limits import RateLimit
    from emitter.messages import CallResult
    from emitter.profiles.tables import RateLimitHeaders

SlotServer: TypeAlias = Callable[[str, SlotRequest], Slots]
"""Leases slots under a name: ``store.jobs.lease_slots``, or the method of an actor. Called in a thread."""

_POLL = 0.02
"""Seconds between two checks of a call whose slot is being leased."""
_HORIZON = 1.0
"""Seconds of slots that a process leases ahead. A short horizon lets it notice a pause soon."""


class SharedLimiter:
    """Shares a ``RateLimit`` with other processes. Pass it as ``RateLimit(limiter=...)``.

    Args:
        limit: The limits of all processes together.
        server: Leases the slots, such as ``store.jobs.lease_slots`` of an ``SqlStore``.
        name: The limit's name. Processes with the same name share it.
        headers: The response headers by which the vendor asks to wait.
    """

    def __init__(
        self, limit: RateLimit, server: SlotServer, name: str, headers: RateLimitHeaders | None = None
    ) -> None:
        self.name = name
        self._limit, self._server, self._headers = limit, server, headers
        self._lock = threading.Lock()
        self._queue: deque[Ticket] = deque()
        self._errors: dict[Ticket, Exception] = {}
        self._leasing = False
        self._paused_until = -math.inf
        self._pause = 0.0
        """Seconds of a pause that have not been sent to the server yet."""
        self._correction = 0
        self._outputs = self._answers = 0

    @classmethod
    def for_emission(cls, limit: RateLimit, server: SlotServer, prepared: PreparedEmission) -> Self:
        """Return a limiter for all emissions with the key, address and model of this one."""
        *account, _ = get_account(prepared)
        text = "\n".join(map(str, (*account, prepared.target.model)))
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return cls(
            limit, server, f"{prepared.profile.name}/{prepared.target.model} {digest}", prepared.profile.rate_limits
        )

    def reserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Put a call with this input and output budget into the queue."""
        ticket = Ticket(input_tokens, max_output_tokens)
        with self._lock:
            ticket.tokens = self._expected_tokens(ticket)
            self._queue.append(ticket)
            if not self._leasing:
                self._leasing = True
                threading.Thread(target=self._lease, name="emitter.slots", daemon=True).start()
        return ticket

    async def areserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Async version of ``reserve``."""
        return self.reserve(input_tokens, max_output_tokens)

    def delay(self, ticket: Ticket) -> float:
        """Return 0 if the call may start now, else the minimum seconds until it may. Raises the server's errors."""
        with self._lock:
            error = self._errors.pop(ticket, None)
            if error is not None:
                raise error
            if ticket.start is None:
                return _POLL
            return max(0.0, ticket.start - time.monotonic(), self._paused_until - time.monotonic())

    def release(self, ticket: Ticket) -> None:
        """Remove a call that is not made from the queue. A slot that was leased for it is lost."""
        with self._lock:
            self._errors.pop(ticket, None)
            if ticket in self._queue:
                self._queue.remove(ticket)

    def observe(self, ticket: Ticket, answer: CallResult | None, headers: Mapping[str, str]) -> None:
        """Correct the tokens of a call, and pause all processes if the vendor asks for it."""
        usage = None if answer is None else answer.usage
        with self._lock:
            if usage is not None:
                self._outputs, self._answers = self._outputs + usage.output, self._answers + 1
                if not self._counts_budget:
                    self._correction += usage.total - ticket.tokens
            wait = requested_wait(self._headers, answer, headers)
            if wait > 0:
                self._paused_until = max(self._paused_until, time.monotonic() + wait)
                self._pause = max(self._pause, wait)

    @property
    def _counts_budget(self) -> bool:
        return self._headers is not None and self._headers.counts_budget

    def _expected_tokens(self, ticket: Ticket) -> int:
        if self._counts_budget:
            return max(ticket.input_tokens, ticket.max_output_tokens)
        typical = self._outputs / self._answers if self._answers else math.inf
        return ticket.input_tokens + math.ceil(min(ticket.max_output_tokens, typical))

    def _lease(self) -> None:
        """Lease slots for the calls in the queue, in a thread that ends when the queue is empty."""
        while True:
            with self._lock:
                if not self._queue:
                    self._leasing = False
                    return
                batch = [self._queue.popleft() for _ in range(min(len(self._queue), self._block_size))]
                request = self._make_request(batch)
            try:
                asked_at = time.monotonic()
                slots = self._server(self.name, request)
            except Exception as error:  # noqa: BLE001  the waiting calls raise it
                with self._lock:
                    self._errors |= dict.fromkeys(batch, error)
                continue
            with self._lock:
                for number, ticket in enumerate(batch):
                    ticket.start = asked_at + slots.delay + number * slots.interval
            ahead = slots.delay + len(batch) * slots.interval - _HORIZON
            if ahead > 0:
                time.sleep(ahead)

    @property
    def _block_size(self) -> int:
        """The number of calls that one lease covers, which is one second of calls."""
        per_minute = self._limit.requests_per_minute
        return 64 if per_minute is None else max(1, per_minute // 60)

    def _make_request(self, batch: list[Ticket]) -> SlotRequest:
        tokens, self._correction = sum(ticket.tokens for ticket in batch) + self._correction, 0
        pause, self._pause = self._pause, 0.0
        return SlotRequest(len(batch), tokens, self._limit.requests_per_minute, self._limit.tokens_per_minute, pause)
