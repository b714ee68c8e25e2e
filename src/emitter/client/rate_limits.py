"""Stay within a vendor's limits on requests and tokens per minute, across all emissions of a process.

``RateLimit`` states the limits, and ``WindowLimiter`` keeps them in a sliding window. It never sleeps itself, so it
serves threads and event loops alike. A limiter of your own, for example for several machines, is a ``RateLimiter``.
"""

from __future__ import annotations

import math
import re
import threading
from collections import deque
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol

from emitter.adapters.clients import client_settings
from emitter.arguments import known_arguments
from emitter.clock import sleep_step
from emitter.errors import EmitterError, InputError
from emitter.interpreter import CallStep
from emitter.messages import Fault, FaultKind
from emitter.outside_values import parse_date, parse_float

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from emitter.client.prepared import PreparedEmission
    from emitter.client.transport import PassOn, VendorCall
    from emitter.deadline import Deadline
    from emitter.interpreter import Steps
    from emitter.messages import CallResult
    from emitter.profiles.tables import RateLimitHeaders

_WINDOW = 60.0
_MARGIN = 0.5
"""Seconds that are added to the window, because the delay between sending a request and its arrival varies."""


_SHORTEST_WAIT, _LONGEST_WAIT = 0.05, 1.0
"""Seconds after which a waiting call asks its limiter again."""


class RateLimiter(Protocol):
    """Decides when calls may start. Its methods are called from any thread and event loop."""

    def reserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Put a call with this input and output budget into the queue."""
        ...

    async def areserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Async version of ``reserve``."""
        ...

    def delay(self, ticket: Ticket) -> float:
        """Return 0 if the call may start now, else the minimum number of seconds until it may."""
        ...

    def release(self, ticket: Ticket) -> None:
        """Remove a call that is not made from the queue."""
        ...

    def observe(self, ticket: Ticket, answer: CallResult | None, headers: Mapping[str, str]) -> None:
        """Record the answer of a call and the headers of its response. The answer of an abandoned call is None."""
        ...


@known_arguments(rpm="requests_per_minute", tpm="tokens_per_minute")
@dataclass(frozen=True, slots=True)
class RateLimit:
    """The limits of a model at a vendor, shared by all emissions of the process with the same key and address.

    Args:
        requests_per_minute: The maximum number of calls in any minute. None means no limit.
        tokens_per_minute: The maximum number of tokens in any minute. None means no limit.
        limiter: A limiter of your own, used instead of the process-wide limiter.

    If emissions pass different limits, those of the latest emission apply.
    """

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    limiter: RateLimiter | None = None

    def __post_init__(self) -> None:
        for item in fields(self)[:2]:
            value: object = getattr(self, item.name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InputError(f"RateLimit.{item.name} is {value!r}; it must be a whole number of at least 1.")


@dataclass(slots=True, eq=False)
class Ticket:
    """A call's place in the queue, and then in the window, where ``tokens`` count from ``start``."""

    input_tokens: int
    max_output_tokens: int
    start: float | None = None
    tokens: int = 0


class WindowLimiter:
    """Keeps two limits in a sliding window of a minute, in the order of arrival. Safe across threads.

    If the vendor counts output budgets, a call counts as the larger of its prompt and its budget. Otherwise it counts
    as its prompt plus the mean output so far, until its usage is known.
    """

    def __init__(self, limit: RateLimit, clock: Callable[[], float], headers: RateLimitHeaders | None = None) -> None:
        self.requests, self.tokens = limit.requests_per_minute, limit.tokens_per_minute
        self._clock, self._headers = clock, headers
        self._lock = threading.Lock()
        self._queue: deque[Ticket] = deque()
        self._window: deque[Ticket] = deque()
        self._window_tokens = self._outputs = self._answers = 0
        self._paused_until = -math.inf

    def update(self, limit: RateLimit) -> None:
        """Apply these limits from now on."""
        self.requests, self.tokens = limit.requests_per_minute, limit.tokens_per_minute

    def reserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Put a call with this input and output budget into the queue."""
        ticket = Ticket(input_tokens, max_output_tokens)
        with self._lock:
            self._queue.append(ticket)
        return ticket

    async def areserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Async version of ``reserve``."""
        return self.reserve(input_tokens, max_output_tokens)

    def delay(self, ticket: Ticket) -> float:
        """Return 0 if the call may start now, else the minimum number of seconds until it may."""
        with self._lock:
            now = self._clock()
            if ticket.start is not None:
                return 0.0
            if self._paused_until > now:
                return self._paused_until - now
            self._forget(now)
            tokens = self._expected_tokens(ticket)
            has_room = self._has_room(tokens)
            if has_room and self._queue[0] is ticket:
                self._queue.popleft()
                self._window.append(ticket)
                self._window_tokens += tokens
                ticket.start, ticket.tokens = now, tokens
                return 0.0
            if has_room or not self._window:  # an earlier call in the queue is about to start
                return _SHORTEST_WAIT
            return max((self._window[0].start or 0.0) + _WINDOW + _MARGIN - now, _SHORTEST_WAIT)

    def release(self, ticket: Ticket) -> None:
        """Remove a call that is not made from the queue or the window."""
        with self._lock:
            if ticket in self._queue:
                self._queue.remove(ticket)
            if ticket in self._window:
                self._window.remove(ticket)
                self._window_tokens -= ticket.tokens

    def observe(self, ticket: Ticket, answer: CallResult | None, headers: Mapping[str, str]) -> None:
        """Correct the tokens of a call, and pause if the vendor asks for it."""
        usage = None if answer is None else answer.usage
        with self._lock:
            if usage is not None:
                self._outputs, self._answers = self._outputs + usage.output, self._answers + 1
                if not self._counts_budget and ticket in self._window:
                    self._window_tokens += usage.total - ticket.tokens
                    ticket.tokens = usage.total
            wait = requested_wait(self._headers, answer, headers)
            if wait > 0:
                self._paused_until = max(self._paused_until, self._clock() + wait)

    @property
    def _counts_budget(self) -> bool:
        return self._headers is not None and self._headers.counts_budget

    def _expected_tokens(self, ticket: Ticket) -> int:
        if self._counts_budget:
            expected = max(ticket.input_tokens, ticket.max_output_tokens)
        else:
            typical = self._outputs / self._answers if self._answers else math.inf
            expected = ticket.input_tokens + math.ceil(min(ticket.max_output_tokens, typical))
        return expected

    def _has_room(self, tokens: int) -> bool:
        """Return whether a call fits. A call that exceeds the whole limit may start in an empty window."""
        if self.requests is not None and len(self._window) >= self.requests:
            return False
        return not self._window or self.tokens is None or self._window_tokens + tokens <= self.tokens

    def _forget(self, now: float) -> None:
        """Remove the calls that are older than the window."""
        while self._window and (self._window[0].start or 0.0) + _WINDOW + _MARGIN <= now:
            self._window_tokens -= self._window.popleft().tokens


def requested_wait(facts: RateLimitHeaders | None, answer: CallResult | None, headers: Mapping[str, str]) -> float:
    """Return the seconds that the vendor asks to wait, by ``retry-after`` or by headers that report an empty quota."""
    if isinstance(answer, Fault) and answer.kind is FaultKind.RATE_LIMIT and answer.retry_after is not None:
        return answer.retry_after
    if facts is None or not headers:
        return 0.0
    pairs = ((facts.remaining_requests, facts.reset_requests), (facts.remaining_tokens, facts.reset_tokens))
    waits = [parse_reset(headers.get(reset, "")) for remaining, reset in pairs if headers.get(remaining) == "0"]
    return min(max(waits, default=0.0), _WINDOW + _MARGIN)


_DURATION = re.compile(r"(?:(?P<h>[\d.]+)h)?(?:(?P<m>[\d.]+)m(?!s))?(?:(?P<s>[\d.]+)s)?(?:(?P<ms>[\d.]+)ms)?")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def parse_reset(text: str) -> float:
    """Return the seconds until a reset: ``1m2.5s``, ``6ms``, a number of seconds or an RFC 3339 time; 0 if unknown."""
    if match := _DURATION.fullmatch(text):
        parts = match.groupdict(default="0").items()
        return sum((parse_float(value) or 0.0) * _SECONDS[unit] for unit, value in parts)
    if "T" in text and (date := parse_date(text)):
        return max(0.0, (date - datetime.now(UTC)).total_seconds())
    return max(0.0, parse_float(text) or 0.0)


@dataclass(slots=True)
class _Limiters:
    """The limiters of the process."""

    by_key: dict[Hashable, WindowLimiter] = field(default_factory=dict["Hashable", WindowLimiter])
    lock: threading.Lock = field(default_factory=threading.Lock)


_LIMITERS = _Limiters()


def find_limiter(prepared: PreparedEmission) -> RateLimiter | None:
    """Return the limiter of an emission's model. Emissions with the same key and address share it."""
    limit = prepared.settings.rate_limit
    if limit is None or limit.limiter is not None:
        return None if limit is None else limit.limiter
    key = (*get_account(prepared), prepared.target.model)
    with _LIMITERS.lock:
        if key not in _LIMITERS.by_key:
            clock = prepared.settings.clock.monotonic
            _LIMITERS.by_key[key] = WindowLimiter(limit, clock, prepared.profile.rate_limits)
        limiter = _LIMITERS.by_key[key]
    limiter.update(limit)
    return limiter


def get_account(prepared: PreparedEmission) -> tuple[Hashable, ...]:
    """Return the identity of an account: the vendor, the address, a digest of the key, and the clock."""
    settings, profile = prepared.settings, prepared.profile
    client = settings.client
    if client is None:
        found = client_settings(profile, base_url=settings.base_url, api_key=settings.pool.api_key)
        address, secret = found.base_url, found.api_key
    else:
        address, secret = str(getattr(client, "base_url", "")), str(getattr(client, "api_key", None) or id(client))
    digest = blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return profile.name, address, digest, settings.clock.monotonic


_NO_TIME = "The rate limit requires a wait of {:.1f} s, but the deadline leaves {:.1f} s."


def _ignore(_: int) -> None:
    pass


def limit_calls(pass_on: PassOn, on_wait: Callable[[int], object] = _ignore) -> PassOn:
    """Return a function that sends each call after it has waited for the rate limit of its model, if it has one.

    ``on_wait`` is called with the change in the number of waiting calls: 1, and later -1.
    """

    def limited(call: VendorCall) -> Steps[CallResult]:
        limiter = find_limiter(call.prepared)
        return pass_on(call) if limiter is None else _send_limited(limiter, call, pass_on, on_wait)

    return limited


def _send_limited(
    limiter: RateLimiter, call: VendorCall, pass_on: PassOn, on_wait: Callable[[int], object]
) -> Steps[CallResult]:
    ticket = yield from _get_ticket(limiter, call, on_wait)
    if isinstance(ticket, Fault):
        return ticket
    answer: CallResult | None = None
    try:
        answer = result = yield from pass_on(call)
    finally:
        try:
            limiter.observe(ticket, answer, call.response_headers)
        except Exception as error:  # noqa: BLE001  the answer was paid for
            from emitter.problems import warn_of_problem  # noqa: PLC0415  few limiters fail

            warn_of_problem(f"RateLimiter.observe raised {type(error).__name__}. The emission continues.")
    return result


def _get_ticket(limiter: RateLimiter, call: VendorCall, on_wait: Callable[[int], object]) -> Steps[Ticket | Fault]:
    """Wait until a call may start, and return its ticket.

    A failure of a limiter of the caller's is a fault. A store that it uses raises its own error.
    """
    size = call.prepared.emission.writer.count_tokens(call.request), call.request.max_output_tokens
    try:
        ticket: Ticket = yield CallStep(partial(limiter.reserve, *size), partial(limiter.areserve, *size))
        fault = yield from _wait_for_turn(limiter, ticket, call, on_wait)
    except EmitterError:
        raise
    except Exception as error:  # noqa: BLE001  the caller's limiter may raise anything
        from emitter.adapters.failures import caller_fault  # noqa: PLC0415  few limiters fail

        return caller_fault(error)
    return fault or ticket


def _wait_for_turn(
    limiter: RateLimiter, ticket: Ticket, call: VendorCall, on_wait: Callable[[int], object]
) -> Steps[Fault | None]:
    """Wait until a call may start, or return a fault if the deadline leaves no time to wait."""
    clock, fault = call.prepared.settings.clock, None
    is_waiting = limiter.delay(ticket) > 0
    on_wait(int(is_waiting))
    try:
        while fault is None and (delay := limiter.delay(ticket)) > 0:
            fault = _no_time(delay, call.deadline)
            if fault is None:
                yield sleep_step(clock, min(delay, _LONGEST_WAIT))
    except BaseException:  # a call that is cancelled while it waits gives up its place
        limiter.release(ticket)
        raise
    finally:
        on_wait(-int(is_waiting))
    if fault is not None:
        limiter.release(ticket)
    return fault


def _no_time(delay: float, deadline: Deadline) -> Fault | None:
    remaining = deadline.timeout()
    if remaining is None or delay < remaining:
        return None
    return Fault(FaultKind.RATE_LIMIT, _NO_TIME.format(delay, remaining), retry_after=min(delay, remaining))
