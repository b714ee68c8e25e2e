"""The drivers: waits, deadlines, and what may not be swallowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tenacity

from emitter.clock import Clock
from emitter.core.emission import run_emission
from emitter.deadline import Deadline
from emitter.errors import InputError
from emitter.policy import Policy
from tests.core import asks
from tests.core.driving import driven, run_of
from tests.core.exchanges import Scripted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.core.effects import EmissionOutcome
    from emitter.messages import CallResult, ModelRequest


class Time:
    """A clock that only moves when somebody waits or a call takes its time."""

    def __init__(self, seconds_per_call: float = 0.0) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self.timeouts: list[float] = []
        self._per_call = seconds_per_call

    def sleep(self, seconds: float) -> None:
        """Pass the time."""
        self.waits.append(seconds)
        self.now += seconds

    def clock(self, **changes: object) -> Clock:
        """Return this time as a driver's clock."""

        async def asleep(seconds: float) -> None:
            self.sleep(seconds)

        return Clock(monotonic=lambda: self.now, sleep=self.sleep, async_sleep=asleep, **changes)  # type: ignore[arg-type]

    def answer(self, left: Iterator[CallResult], timeout: float) -> CallResult:
        """Take as long as a call takes, and answer."""
        self.timeouts.append(timeout)
        self.now += self._per_call
        return next(left)


def drive(
    world: str, time: Time, script: list[CallResult], policy: Policy, clock: Clock | None = None
) -> EmissionOutcome:
    """Drive a script in either world."""
    left, steps = iter(script), run_emission(asks.ask(), policy)

    def send(_: ModelRequest, deadline: Deadline) -> CallResult:
        return time.answer(left, deadline.narrow(policy.timeout).remaining())

    return driven(world, run_of(steps, policy, clock or time.clock()), Scripted(send))


both_worlds = pytest.mark.parametrize("world", ["sync", "async"])


@both_worlds
def test_waits_are_full_jitter_that_doubles(world: str) -> None:
    """Without Retry-After the wait is somewhere between nothing and 0.5 * 2**n seconds."""
    fault = asks.OVERLOADED.__class__(asks.OVERLOADED.kind, "", 529)
    time = Time()
    drive(world, time, [fault] * 4 + [asks.WHOLE], Policy(timeout=1.0))

    assert len(time.waits) == 4
    assert all(0 <= wait <= 0.5 * 2**nth for nth, wait in enumerate(time.waits))


@both_worlds
def test_a_strategy_of_your_own_is_used(world: str) -> None:
    """Any tenacity wait does, and the vendor's Retry-After is the least."""
    time = Time()
    clock = time.clock(wait=tenacity.wait_fixed(5) + tenacity.wait_fixed(1))
    drive(world, time, [asks.OVERLOADED, asks.WHOLE], Policy(timeout=1.0), clock)

    assert time.waits == [6.0]


@both_worlds
def test_a_call_gets_no_more_time_than_is_left(world: str) -> None:
    """The timeout of a call shrinks with the deadline."""
    time = Time(seconds_per_call=4.0)
    drive(world, time, [asks.CUT, asks.WRONG_TYPE, asks.WHOLE], Policy(timeout=5.0, deadline=10.0))

    assert time.timeouts == [5.0, 5.0, 2.0]


def test_a_paused_deadline_does_not_pass() -> None:
    """Its parts are paused by themselves, and a wait that does not count has no limit."""
    time = Time()
    deadline = Deadline(10, lambda: time.now)
    part = deadline.narrow(4)
    time.now = 1
    part.pause()
    time.now = 7
    assert (part.remaining(), part.timeout(), deadline.remaining()) == (3, None, 3)
    part.resume()
    time.now = 9
    assert (part.remaining(), part.timeout(), deadline.narrow(4).remaining()) == (1, 1, 1)
    time.now = 11
    assert (part.has_passed, part.timeout(), deadline.timeout()) == (True, 0, 0)


@pytest.mark.parametrize("seconds", [None, float("inf")])
def test_a_deadline_without_a_limit(seconds: float | None) -> None:
    """It limits no wait, and its calls have their own limit, which is one that sockets take."""
    deadline = Deadline(seconds, lambda: 5.0)
    assert (deadline.timeout(), deadline.has_passed, deadline.check(1e9)) == (None, False, None)
    assert (deadline.narrow(7).remaining(), deadline.narrow(seconds).remaining()) == (7, 604_800)


@both_worlds
def test_no_call_begins_after_the_deadline(world: str) -> None:
    """When time is up the emission ends with its own code, and nothing more is sent."""
    time = Time(seconds_per_call=6.0)
    outcome = drive(world, time, [asks.CUT, asks.WRONG_TYPE, asks.WHOLE], Policy(timeout=60.0, deadline=10.0))

    assert outcome.failure is not None
    assert outcome.failure.code == "deadline_exceeded"
    assert len(time.timeouts) == 2


@both_worlds
def test_no_wait_oversleeps_the_deadline(world: str) -> None:
    """A wait that would end after the deadline is not begun."""
    time = Time()
    outcome = drive(world, time, [asks.OVERLOADED, asks.WHOLE], Policy(timeout=60.0, deadline=1.5))

    assert outcome.failure is not None
    assert outcome.failure.code == "deadline_exceeded"
    assert time.waits == []


@both_worlds
@pytest.mark.parametrize("error", [ValueError("a bug"), StopIteration("a bug")], ids=["value", "stop-iteration"])
def test_a_programmers_error_rises(world: str, error: Exception) -> None:
    """What is not the vendor's is never taken for an end or a fault."""

    class Broken(Time):
        def answer(self, left: Iterator[CallResult], timeout: float) -> CallResult:  # noqa: ARG002  the shape is the base's
            raise error

    time = Broken()
    with pytest.raises((ValueError, StopIteration, RuntimeError), match=r"a bug|StopIteration"):
        drive(world, time, [], Policy(timeout=1.0))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("max_attempts", 0),
        ("max_attempts", 17),
        ("output_tokens", 0),
        ("output_tokens", -1),
        ("max_output_tokens", 0),
        ("truncation_multiplier", 0.5),
        ("truncation_multiplier", 9),
        ("max_faults", -1),
        ("timeout", 0),
        ("deadline", 0),
        ("deadline", float("nan")),
        ("timeout", float("nan")),
        ("truncation_multiplier", float("nan")),
    ],
)
def test_a_policy_that_cannot_be_kept_is_refused(setting: str, value: float) -> None:
    """The error names the setting, its value and what it may be."""
    with pytest.raises(InputError, match=f"Policy.{setting} is {value!r}; it must be"):
        Policy(**{setting: value})  # type: ignore[arg-type]
