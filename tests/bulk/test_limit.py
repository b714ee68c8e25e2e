"""How many calls a vendor is sent at once: cut when it has too many, raised when it copes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import tenacity
from hypothesis import given
from hypothesis import strategies as st

from emitter.bulk import aemit_many
from emitter.bulk.limiter import AdaptiveLimiter, Permit, get_limiter
from emitter.clock import Clock
from emitter.events import RetryAttempted
from emitter.messages import Fault, FaultKind, ModelResponse, StopReason
from emitter.policy import Policy
from emitter.testing import Overloaded, Text, simulator
from tests.bulk.asking import MODEL, Numbered, number_in, task

if TYPE_CHECKING:
    from emitter.events import RunEvent
    from emitter.messages import CallResult
    from emitter.testing import Behaviour, ReceivedRequest, Simulator

GOOD = ModelResponse(StopReason.COMPLETE, "stop")
BUSY = Fault(FaultKind.OVERLOADED, "", 529)
SLOW_DOWN = Fault(FaultKind.RATE_LIMIT, "", 429, retry_after=5.0)
BROKEN = Fault(FaultKind.SERVER, "", 500)
CUT_OFF = Fault(FaultKind.CONNECTION, "")


class Time:
    """A clock that moves when somebody waits."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waits: list[float] = []

    async def asleep(self, seconds: float) -> None:
        """Pass the time, once all the others have had their turn."""
        self.waits.append(seconds)
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)

    def clock(self) -> Clock:
        """Return this time as a clock."""
        return Clock(monotonic=lambda: self.now, async_sleep=self.asleep, wait=tenacity.wait_none())


def after(most: int, rounds: list[list[CallResult | None]]) -> list[int]:
    """Return the limit after each round of calls that were under way together."""

    async def run() -> list[int]:
        gate, limits = AdaptiveLimiter(most, Time().clock(), max_pause=60), list[int]()
        for answers in rounds:
            tickets = [await gate.acquire() for _ in answers]
            for ticket, answer in zip(tickets, answers, strict=True):
                gate.release(ticket, answer)
            limits.append(gate.limit)
        assert gate.in_flight == 0
        return limits

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("most", "rounds", "limits"),
    [
        (8, [[GOOD] * 8], [8]),
        (8, [[BUSY] + [GOOD] * 7], [5]),
        (8, [[BUSY] * 8], [4]),
        (8, [[BUSY] * 8, [BUSY] * 4, [BUSY] * 2, [BUSY]], [4, 2, 1, 1]),
        (8, [[BUSY] * 8, [GOOD] * 4, [GOOD] * 4], [4, 4, 5]),
        (8, [[BROKEN, CUT_OFF, None]], [8]),
        (200, [[BUSY] * 10], [5]),
        (1, [[BUSY], [GOOD]], [1, 1]),
    ],
    ids=[
        "never-above-the-most",
        "one-of-eight",
        "once-for-a-round",
        "down-to-one",
        "one-more-a-round",
        "other-faults",
        "half-of-what-was-under-way",
        "one",
    ],
)
def test_the_limit_follows_the_vendor(most: int, rounds: list[list[CallResult | None]], limits: list[int]) -> None:
    """It is halved once for the calls of a round, and grows by about one for as many good answers."""
    assert after(most, rounds) == limits


@given(st.integers(1, 20), st.lists(st.sampled_from([GOOD, BUSY, BROKEN, SLOW_DOWN, None]), max_size=60))
def test_the_limit_stays_in_its_bounds(most: int, answers: list[CallResult | None]) -> None:
    """It is at least one and at most what was asked for, and no more calls are under way than it allows at entry."""

    async def run() -> None:
        gate = AdaptiveLimiter(most, Time().clock(), max_pause=60)

        async def call(answer: CallResult | None) -> None:
            turn = Permit(gate)
            await turn.acquire()
            assert gate.in_flight <= gate.limit
            await asyncio.sleep(0)
            turn.release(answer)
            assert 1 <= gate.limit <= most

        async with asyncio.TaskGroup() as group:
            for each in answers:
                group.create_task(call(each))
        assert gate.in_flight == 0

    asyncio.run(run())


def test_while_the_vendor_asks_for_a_pause_nothing_is_let_through() -> None:
    """The pause is everybody's, and one that is longer than the patience is nobody's."""

    async def run() -> None:
        time = Time()
        gate = AdaptiveLimiter(4, time.clock(), max_pause=60)
        gate.release(await gate.acquire(), SLOW_DOWN)
        gate.release(await gate.acquire(), Fault(FaultKind.RATE_LIMIT, "", 429, retry_after=61.0))
        assert (time.waits, time.now) == ([5.0], 105.0)
        gate.release(await gate.acquire(), GOOD)
        assert time.now == 105.0

    asyncio.run(run())


def test_who_is_cancelled_while_waiting_passes_the_turn_on() -> None:
    """No place is lost: the next one enters."""

    async def run() -> None:
        gate = AdaptiveLimiter(1, Time().clock())
        ticket = await gate.acquire()
        first, second = asyncio.create_task(gate.acquire()), asyncio.create_task(gate.acquire())
        await asyncio.sleep(0)
        gate.release(ticket, GOOD)  # wakes the first, which is cancelled before it runs
        first.cancel()
        assert await asyncio.wait_for(second, 5) == 0
        assert first.cancelled()
        assert gate.in_flight == 1

    asyncio.run(run())


def test_who_calls_through_one_client_shares_its_gate() -> None:
    """A wider one widens it for both; another client, or another loop, has its own."""

    class Client:
        pass

    one, other, clock = Client(), Client(), Clock()

    async def run() -> AdaptiveLimiter:
        gate = get_limiter(one, 4, clock, 60)
        assert get_limiter(one, 8, clock, 60) is gate
        assert (gate.maximum, gate.limit) == (8, 8)
        assert get_limiter(other, 4, clock, 60) is not gate
        return gate

    assert asyncio.run(run()) is not asyncio.run(run())


def test_a_run_slows_down_and_nothing_is_lost() -> None:
    """A vendor that takes two at once is never asked for more than it says for long, and all are answered."""
    limits: list[int] = []
    time = Time()

    def answers(asked: ReceivedRequest) -> Behaviour:
        n = number_in(asked.body)
        return Overloaded(retry_after=3) if n < 8 and not asked.repeat_count else Text({"n": n})

    async def run(url: str) -> list[Any]:
        many = aemit_many(
            Numbered,
            map(task, range(40)),
            model=MODEL,
            base_url=url,
            in_flight=8,
            clock=time.clock(),
            progress=lambda at: limits.append(at.limit),
        )
        return await many.results()

    with simulator(answers=answers) as vendor, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "no-key")
        items = asyncio.run(run(vendor.base_url(MODEL)))

    assert [each.value.n for each in items] == list(range(40))
    assert min(limits) <= 4
    assert limits[-1] > min(limits)
    assert 3.0 in time.waits


def test_a_deadline_is_kept_while_others_are_waited_for(vendor: Simulator) -> None:
    """A second call that the others leave no time for is not made, and the emission ends as one that is late."""
    clock = Clock(wait=tenacity.wait_none())

    async def run() -> Any:
        async with vendor.client(MODEL, asynchronous=True) as client:

            def crowd(reported: RunEvent) -> None:
                if isinstance(reported.event, RetryAttempted):
                    get_limiter(client, 1, clock, 60).in_flight += 1  # somebody else's call, which does not end

            many = aemit_many(
                Numbered,
                [task(0, "malformed")],
                model=MODEL,
                client=client,
                in_flight=1,
                on_event=crowd,
                policy=Policy(deadline=0.5),
                clock=clock,
            )
            return (await many.results())[0], many.calls

    item, calls = asyncio.run(run())
    assert getattr(item.error, "code", None) == "deadline_exceeded"
    assert (calls, len(vendor.calls)) == (1, 1)
