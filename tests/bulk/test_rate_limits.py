"""Limits on requests and tokens per minute: 429s, distance from the optimum, deadlines, sharing and headers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter import Fallback, Policy, RateLimit, emit
from emitter.client.rate_limits import Ticket, WindowLimiter, parse_reset
from emitter.clock import Clock
from emitter.errors import DeadlineReached, InputError
from emitter.messages import Fault, FaultKind, ModelResponse, StopReason, Usage
from emitter.profiles import load_profile
from emitter.testing import Text, simulator
from tests.bulk.limited import JOBS, LIMITS, optimum, run_jobs
from tests.core.capability_gate.functions import DOCUMENT, SCHEMA, SITUATION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import CallResult

WINDOW = 60.5
"""A minute and the limiter's margin."""


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("deadline", [None, 10.0], ids=["no deadline", "a deadline"])
def test_a_known_limit_costs_no_429_and_little_time(limits: dict[str, int], deadline: float | None) -> None:
    """No call is refused, and the run takes at most a twentieth longer than the limits allow at best.

    An emission's deadline counts from its first call, so the wait for it is free.
    """
    limit = RateLimit(limits.get("requests"), limits.get("tokens"))
    kept = run_jobs(limits, limit, deadline)
    best = optimum(limits, kept.tokens / JOBS)
    assert (kept.refused, kept.failed) == (0, 0)
    assert kept.seconds <= 1.05 * best
    assert kept.waiting > 0


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_an_unknown_limit_costs_429s(limits: dict[str, int]) -> None:
    """So the vendor does count."""
    assert run_jobs(limits, None).refused > 0


def usage(tokens: int) -> ModelResponse:
    """Return an answer that used this many tokens."""
    return ModelResponse(StopReason.COMPLETE, "stop", usage=Usage(input=tokens, output=0))


@given(
    st.integers(1, 5),
    st.integers(10, 60),
    st.lists(st.tuples(st.floats(0, 30), st.integers(1, 40)), min_size=1, max_size=40),
)
def test_no_window_holds_more_than_the_limits(requests: int, tokens: int, calls: list[tuple[float, int]]) -> None:
    """Whenever calls arrive, no minute has more of them, or of their tokens, than allowed."""
    now = 0.0
    limiter = WindowLimiter(RateLimit(requests, tokens), lambda: now)
    started: list[tuple[float, int]] = []
    for pause, size in calls:
        now += pause
        ticket = limiter.reserve(size, 0)
        while (delay := limiter.delay(ticket)) > 0:
            now += delay
        limiter.observe(ticket, usage(size), {})
        started.append((now, size))
    for first, (begin, size) in enumerate(started):
        window = [each for each in started[first:] if each[0] < begin + 60]
        assert len(window) <= requests
        assert sum(each for _, each in window) <= tokens or len(window) == 1 or size > tokens


def test_calls_start_in_the_order_of_arrival() -> None:
    """A small call does not pass a large one."""
    now = 0.0
    limiter = WindowLimiter(RateLimit(tokens_per_minute=100), lambda: now)
    first, large, small = limiter.reserve(90, 0), limiter.reserve(50, 0), limiter.reserve(5, 0)
    assert limiter.delay(first) == 0
    assert limiter.delay(small) > 0
    assert limiter.delay(large) == pytest.approx(WINDOW)
    limiter.release(large)
    assert limiter.delay(small) == 0


def test_output_that_was_not_used_is_free_again() -> None:
    """A call counts with its budget until its usage is known, and the next ones with the output so far."""
    limiter = WindowLimiter(RateLimit(tokens_per_minute=1000), lambda: 0.0)
    first, second = limiter.reserve(10, 900), limiter.reserve(10, 900)
    assert (limiter.delay(first), limiter.delay(second) > 0) == (0, True)
    limiter.observe(first, ModelResponse(StopReason.COMPLETE, "stop", usage=Usage(10, 5)), {})
    assert limiter.delay(second) == 0


def test_a_vendor_that_counts_budgets_keeps_them() -> None:
    """There, unused output is not free again, and the larger of prompt and budget counts."""
    headers = load_profile("openai").rate_limits
    limiter = WindowLimiter(RateLimit(tokens_per_minute=1000), lambda: 0.0, headers)
    first, second = limiter.reserve(300, 900), limiter.reserve(10, 200)
    assert limiter.delay(first) == 0
    limiter.observe(first, ModelResponse(StopReason.COMPLETE, "stop", usage=Usage(300, 5)), {})
    assert limiter.delay(second) > 0


HEADERS: dict[str, tuple[str, dict[str, str], CallResult | None, float]] = {
    "openai: no requests left": (
        "openai",
        {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1.5s"},
        None,
        1.5,
    ),
    "openai: some left": (
        "openai",
        {"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "1.5s"},
        None,
        0,
    ),
    "groq: no tokens left": (
        "groq",
        {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6ms"},
        None,
        0.006,
    ),
    "a day's limit": (
        "groq",
        {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "3h2m"},
        None,
        WINDOW,
    ),
    "a vendor without": (
        "mistral",
        {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "9s"},
        None,
        0,
    ),
    "retry-after": ("mistral", {}, Fault(FaultKind.RATE_LIMIT, "429", 429, retry_after=7.0), 7.0),
    "another fault's wait": ("mistral", {}, Fault(FaultKind.SERVER, "500", 500, retry_after=7.0), 0),
}


@pytest.mark.parametrize(("vendor", "headers", "answer", "wait"), HEADERS.values(), ids=HEADERS)
def test_the_vendors_own_word_is_kept(
    vendor: str, headers: dict[str, str], answer: CallResult | None, wait: float
) -> None:
    """Every call waits until the reset that the headers name, also without limits of the caller's."""
    limiter = WindowLimiter(RateLimit(), lambda: 0.0, load_profile(vendor).rate_limits)
    limiter.observe(limiter.reserve(1, 1), answer, headers)
    assert limiter.delay(limiter.reserve(1, 1)) == pytest.approx(wait, abs=0.051 if wait == 0 else 1e-9)


RESETS = {"1m2.5s": 62.5, "6ms": 0.006, "2h": 7200.0, "0s": 0, "12": 12.0, "soon": 0, "": 0, "-3": 0, "nan": 0, "9T": 0}


@pytest.mark.parametrize(("text", "seconds"), RESETS.items(), ids=[text or "nothing" for text in RESETS])
def test_a_reset_in_each_form(text: str, seconds: float) -> None:
    """A duration, or a number of seconds; anything else asks for no wait."""
    assert parse_reset(text) == pytest.approx(seconds)


def test_a_reset_at_a_time() -> None:
    """Anthropic's form. One that has passed asks for no wait."""
    soon = datetime.now(UTC) + timedelta(seconds=30)
    assert 25 < parse_reset(soon.isoformat().replace("+00:00", "Z")) <= 30
    assert parse_reset("2025-08-21T12:40:59Z") == 0


class Waited:
    """A blocking clock of its own time."""

    def __init__(self) -> None:
        self.now, self.waits = 1000.0, list[float]()
        self.clock = Clock(self.read, self.sleep)

    def read(self) -> float:
        """Return the seconds."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.waits.append(seconds)
        self.now += seconds


def test_blocking_emissions_share_a_limit() -> None:
    """Single calls wait for it, whichever function makes them; another model has a limit of its own."""
    waited = Waited()
    with simulator(answers=Text(DOCUMENT)) as vendor:
        more: Any = {"client": vendor.client("openai/gpt-4o"), "rate_limit": RateLimit(1), "clock": waited.clock}
        emit(SCHEMA, SITUATION, model="openai/gpt-4o", **more)
        emit(SCHEMA, SITUATION, model="openai/gpt-6-sol", **more)
        assert waited.waits == []
        emit(SCHEMA, SITUATION, model="openai/gpt-4o", **more)
    assert sum(waited.waits) == pytest.approx(WINDOW)


def test_a_wait_counts_against_the_deadline() -> None:
    """A wait that would pass it is not begun, and nothing is sent."""
    waited = Waited()
    with simulator(answers=Text(DOCUMENT)) as vendor:
        more: Any = {"client": vendor.client("openai/gpt-4o"), "rate_limit": RateLimit(1), "clock": waited.clock}
        emit(SCHEMA, SITUATION, model="openai/gpt-4o", **more)
        with pytest.raises(DeadlineReached):
            emit(SCHEMA, SITUATION, model="openai/gpt-4o", policy=Policy(deadline=30), **more)
        assert len(vendor.calls) == 1
    assert waited.waits == []


def test_a_wait_that_passes_the_deadline_is_a_reason_for_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a rate limit like any other."""
    waited = Waited()
    with simulator(answers=Text(DOCUMENT)) as vendor:
        for name, value in vendor.environment().items():
            monkeypatch.setenv(name, value)
        more: Any = {"rate_limit": RateLimit(1), "clock": waited.clock, "policy": Policy(deadline=30)}
        fallback = Fallback("anthropic/claude-sonnet-5-5", on={"rate-limited"})
        for _ in range(2):
            emit(SCHEMA, SITUATION, model="openai/gpt-4o", fallback=[fallback], **more)
        assert [call.model for call in vendor.calls] == ["gpt-4o", "claude-sonnet-5-5"]


class Counting:
    """A limiter of the caller's own."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def reserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Note a reservation."""
        self.steps.append("reserve")
        return Ticket(input_tokens, max_output_tokens)

    async def areserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Note a reservation."""
        return self.reserve(input_tokens, max_output_tokens)

    def delay(self, _: Ticket) -> float:
        """Let every call start at once."""
        return 0.0

    def release(self, _: Ticket) -> None:
        """Note a call that was not made."""
        self.steps.append("release")

    def observe(self, _: Ticket, answer: CallResult | None, headers: Mapping[str, str]) -> None:
        """Note an answer."""
        self.steps.append(f"observe {type(answer).__name__} {'content-type' in headers}")


def test_a_limiter_of_ones_own() -> None:
    """It sees every call, with its answer and headers."""
    limiter = Counting()
    with simulator(answers=Text(DOCUMENT)) as vendor:
        client = vendor.client("openai/gpt-4o")
        emit(SCHEMA, SITUATION, model="openai/gpt-4o", client=client, rate_limit=RateLimit(limiter=limiter))
    assert limiter.steps == ["reserve", "observe ModelResponse True"]


@pytest.mark.parametrize(
    "limit", [{"requests_per_minute": 0}, {"tokens_per_minute": 1.5}, {"requests_per_minute": True}]
)
def test_a_limit_is_a_whole_number(limit: dict[str, Any]) -> None:
    """At least one."""
    with pytest.raises(InputError, match="must be a whole number of at least 1"):
        RateLimit(**limit)
