"""Slots of a shared limit: no minute has more calls than it allows, and waiting calls use nearly all of it."""

from __future__ import annotations

import random  # noqa: TC003  hypothesis reads the annotation
from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.stores.jobs import LimitState, SlotRequest, take_slots

MINUTE = 60.0


def starts_of(requests: list[SlotRequest], state: LimitState | None = None, now: float = 1e9) -> list[float]:
    """Return the start times of all calls that are asked for at one time."""
    state, starts = state or LimitState(), []
    for request in requests:
        state, slots = take_slots(state, request, now)
        starts += [now + slots.delay + number * slots.interval for number in range(request.calls)]
    return starts


@given(st.integers(1, 5_000), st.lists(st.integers(1, 40), min_size=1, max_size=60), st.floats(0, 30), st.randoms())
def test_no_minute_has_more_requests_than_allowed(
    limit: int, blocks: list[int], pause: float, draw: random.Random
) -> None:
    """Whatever the blocks, their times and the pauses between."""
    state, now, starts = LimitState(), 1e9, []
    for calls in blocks:
        asked = SlotRequest(calls, requests_per_minute=limit, pause=pause if draw.random() < 0.1 else 0.0)
        state, slots = take_slots(state, asked, now)
        starts += [now + slots.delay + number * slots.interval for number in range(calls)]
        now += min(draw.expovariate(1.0), 3600.0)  # a billion years later, a second is less than a float can tell
    assert starts == sorted(starts)
    assert all(bisect_left(starts, start + MINUTE) - number <= limit for number, start in enumerate(starts))


@given(st.integers(100, 1_000_000), st.integers(1, 40), st.data())
def test_no_minute_has_more_tokens_than_allowed(limit: int, count: int, data: st.DataObject) -> None:
    """For calls of up to a quarter of the limit."""
    size = data.draw(st.integers(1, limit // 4))
    starts = starts_of([SlotRequest(1, size, tokens_per_minute=limit)] * count)
    assert all((bisect_left(starts, start + MINUTE) - n) * size <= limit for n, start in enumerate(starts))


@pytest.mark.parametrize("limit", [60, 600, 6_000])
def test_waiting_calls_use_nearly_all_of_it(limit: int) -> None:
    """At least nine tenths in the first ten minutes."""
    starts = starts_of([SlotRequest(5, requests_per_minute=limit)] * (limit * 3))
    assert bisect_left(starts, starts[0] + 10 * MINUTE) >= 0.9 * 10 * limit


def test_a_pause_holds_for_all() -> None:
    """What one process is reported by the vendor, the next request of any process obeys."""
    state, _ = take_slots(LimitState(), SlotRequest(1, requests_per_minute=600, pause=7.0), 100.0)
    assert take_slots(state, SlotRequest(1, requests_per_minute=600), 101.0)[1].delay == pytest.approx(6.0)


def test_tokens_that_were_not_used_are_given_back() -> None:
    """A negative amount moves the next start forward, but not before now."""
    state, _ = take_slots(LimitState(), SlotRequest(1, 6_000, tokens_per_minute=6_000), 100.0)
    late = take_slots(state, SlotRequest(1, 10, tokens_per_minute=6_000), 100.0)[1].delay
    soon = take_slots(state, SlotRequest(1, 10 - 5_000, tokens_per_minute=6_000), 100.0)[0]
    assert late > 30
    assert take_slots(soon, SlotRequest(1, 10, tokens_per_minute=6_000), 100.0)[1].delay < late - 30
    assert take_slots(LimitState(), SlotRequest(1, -(10**6), tokens_per_minute=60), 100.0)[1].delay == 0
