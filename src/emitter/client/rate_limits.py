"""Stay within a vendor's limits on requests and tokens per minute, across all emissions of a process.

``RateLimit`` states the limits, and ``WindowLimiter`` keeps them in a sliding window. It never sleeps itself, so it
serves threads and event loops alike. A limiter of your own, for example for several machines, is a ``RateLimiter``.
"""

from __future__ import annotations

import math
import re
import threading
import warnings
from collections import deque
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol, cast

from emitter.adapters.clients import client_settings
from emitter.arguments import known_arguments
from emitter.errors import EmitterError, InputError
from emitter.messages import Fault, FaultKind
from emitter.outside_values import parse_date, parse_float

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Hashable, Iterator, Mapping

    from emitter.client.prepared import PreparedEmission
    from emitter.client.transport import CallFactory, CallT
    from emitter.clock import Clock
    from emitter.deadline import Deadline
    from emitter.messages import CallResult, ModelRequest, Usage
    from emitter.profiles.tables import RateLimitHeaders
    from emitter.streaming import StreamEvent

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


class RateLimitedCall:
    """A request that is sent after it has waited for its rate limit.

    ``on_wait`` is called with the change in the number of waiting calls: 1, and later -1.
    """

    def __init__(
        self, limiter: RateLimiter, send: Callable[[Deadline], Any], size: CallSize, on_wait: Callable[[int], object]
    ) -> None:  # fmt: skip
        self._limiter, self._send, self._size, self._on_wait = limiter, send, size, on_wait
        self._call: Any = None
        self._fault: CallResult | None = None

    @property
    def answer(self) -> CallResult:
        """The complete answer."""
        return self._fault or self._call.answer

    def usage_so_far(self) -> Usage | None:
        """Return the usage of an answer that was not read to its end."""
        return self._call.usage_so_far() if self._call else None

    def __iter__(self) -> Iterator[StreamEvent]:
        """Wait, send the request and yield progress events."""
        size = self._size
        with self._limiting():
            ticket = self._limiter.reserve(size.input_tokens, size.max_output_tokens)
            with self._waiting(ticket):
                while (delay := self._next_delay(ticket)) > 0:
                    size.clock.sleep(min(delay, _LONGEST_WAIT))
        if self._fault is None:
            with self._observing(ticket) as call:
                yield from call

    async def __aiter__(self) -> AsyncGenerator[StreamEvent]:
        """Async version of ``__iter__``."""
        size = self._size
        with self._limiting():
            ticket = await self._limiter.areserve(size.input_tokens, size.max_output_tokens)
            with self._waiting(ticket):
                while (delay := self._next_delay(ticket)) > 0:
                    await size.clock.async_sleep(min(delay, _LONGEST_WAIT))
        if self._fault is None:
            with self._observing(ticket) as call:
                async with aclosing(call.__aiter__()) as progress:
                    async for event in progress:
                        yield event

    @contextmanager
    def _limiting(self) -> Generator[None]:
        """Make a failure of a limiter of the caller's a fault. A store that it uses raises its own error."""
        try:
            yield
        except EmitterError:
            raise
        except Exception as error:  # noqa: BLE001  the caller's limiter may raise anything
            from emitter.adapters.failures import caller_fault  # noqa: PLC0415  few limiters fail

            self._fault = caller_fault(error)

    def _next_delay(self, ticket: Ticket) -> float:
        """Return the seconds to wait. 0 means that the call may start, or that the deadline leaves no time to wait."""
        delay = self._limiter.delay(ticket)
        remaining = self._size.deadline.timeout()
        if remaining is not None and delay > 0 and delay >= remaining:
            message = _NO_TIME.format(delay, remaining)
            self._fault = Fault(FaultKind.RATE_LIMIT, message, retry_after=min(delay, remaining))
            self._limiter.release(ticket)
            return 0.0
        return delay

    @contextmanager
    def _waiting(self, ticket: Ticket) -> Generator[None]:
        """Report a wait. A call that is cancelled while it waits gives up its place."""
        is_waiting = self._limiter.delay(ticket) > 0
        self._on_wait(int(is_waiting))
        try:
            yield
        except BaseException:
            self._limiter.release(ticket)
            raise
        finally:
            self._on_wait(-int(is_waiting))

    @contextmanager
    def _observing(self, ticket: Ticket) -> Generator[Any]:
        self._call = call = self._send(self._size.deadline)
        try:
            yield call
        finally:
            try:
                self._limiter.observe(ticket, getattr(call, "answer", None), call.response_headers)
            except Exception as error:  # noqa: BLE001  the answer was paid for
                message = f"RateLimiter.observe raised {type(error).__name__}. The emission continues."
                warnings.warn(message, RuntimeWarning, stacklevel=2)


@dataclass(frozen=True, slots=True)
class CallSize:
    """The expected size of a call, the deadline of its emission, and the clock that waits."""

    input_tokens: int
    max_output_tokens: int
    deadline: Deadline
    clock: Clock


def _ignore(_: int) -> None:
    pass


def limit_calls(make_call: CallFactory[CallT], on_wait: Callable[[int], object] = _ignore) -> CallFactory[CallT]:
    """Return a factory whose calls wait for the rate limit of their model, if it has one."""

    def make_limited(prepared: PreparedEmission, client: object, request: ModelRequest, deadline: Deadline) -> CallT:
        limiter = find_limiter(prepared)
        if limiter is None:
            return make_call(prepared, client, request, deadline)
        input_tokens = prepared.emission.writer.count_tokens(request)
        size = CallSize(input_tokens, request.max_output_tokens, deadline, prepared.settings.clock)
        send = partial(make_call, prepared, client, request)
        return cast("CallT", RateLimitedCall(limiter, send, size, on_wait))

    return make_limited
