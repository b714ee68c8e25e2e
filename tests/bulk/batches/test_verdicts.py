"""By batches, an emission comes to what the single call comes to: verdicts, remedies, events and usage."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from emitter.attempts import Verdict, total_usage
from emitter.client.execution import aexecute
from emitter.errors import EmissionError
from emitter.policy import Policy
from emitter.testing import Cut, Text
from tests.bulk.asking import asked_of, task
from tests.bulk.batches.asking import MODELS, POLICY, Setting, Time, client_at, planned, ran, settings_of, vendor

if TYPE_CHECKING:
    from emitter.events import RunEvent
    from emitter.testing import Behaviour
    from emitter.testing import ReceivedRequest as Request

every_wire = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())

MARKS = {
    "clean": ("", [Verdict.COMPLETE], 1),
    "cut": ("cut", [Verdict.TRUNCATED, Verdict.COMPLETE], 2),
    "violated": ("violate", [Verdict.VIOLATED, Verdict.COMPLETE], 2),
    "refused": ("refuse", [Verdict.REFUSED], 1),
    "hopeless": ("hopeless", [Verdict.MALFORMED] * 3, 3),
    "failed": ("fail", [Verdict.FAULTED, Verdict.COMPLETE], 2),
}
TASKS = [task(n, mark) for n, (mark, _, _) in enumerate(MARKS.values())]


@every_wire
def test_each_verdict_has_its_remedy_in_the_next_batch(model: str) -> None:
    """Six emissions in one batch; whose remedy is a further call lie in the next, and no other is sent again."""
    with vendor() as (running, desk):
        came = ran(running.url, TASKS, Setting(model=model))

        for place, (_, verdicts, paid) in enumerate(MARKS.values()):
            assert [each.verdict for each in came.outcome(f"k{place}").attempts] == verdicts
            assert asked_of(running)[place] == paid
        assert [len(each.jobs) for each in desk.batches.stored.values()] == [6, 4, 1]
        assert total_usage(tuple(a for k in came.items for a in came.outcome(k).attempts)) == running.billed
    values = [came.outcome(f"k{place}").value for place in (0, 1, 2, 5)]
    assert [each.n for each in values] == [0, 1, 2, 5]
    assert came.outcome("k1").attempts[1].budget == 2 * came.outcome("k1").attempts[0].budget
    assert came.outcome("k2").attempts[1].corrected


def reported(events: tuple[RunEvent, ...]) -> list[dict[str, Any]]:
    """Return what is reported, without what differs from run to run."""
    return [{**each.to_json(), "eventId": "", "timestamp": ""} for each in events]


def alone(url: str, situation: str, setting: Setting) -> tuple[list[dict[str, Any]], Any]:
    """Make the same emission as a single call; return its events and what it came to."""

    async def single() -> tuple[list[dict[str, Any]], Any]:
        async with client_at(setting.model, url) as client:
            settings = settings_of(setting, client, Time())
            asked = next(planned(settings, [situation]))
            try:
                done = await aexecute(asked.plan)
            except EmissionError as error:
                return reported(error.trace.events), error.code  # type: ignore[arg-type]
            return reported(done.trace.events), done.value

    return asyncio.run(single())


@every_wire
@pytest.mark.parametrize("mark", [each[0] for each in MARKS.values()], ids=MARKS.keys())
def test_events_are_those_of_the_single_call(mark: str, model: str) -> None:
    """In their order and to the letter, but for times and ids of their own."""
    setting = Setting(model=model, more={"run_id": "a-run"})
    with vendor() as (running, _):
        came = ran(running.url, [task(7, mark)], setting)
    with vendor() as (running, _):
        events, result = alone(running.url, task(7, mark), setting)

    outcome = came.outcome("k0")
    assert reported(came.items["k0"].events) == events
    assert result == (outcome.failure.code if outcome.failure else outcome.value)


def test_the_two_calls_in_plain_words_lie_in_batches_too() -> None:
    """What a policy allows beyond the attempts goes the same way."""

    def words_first(asked: Request) -> Behaviour:
        return (
            Text({"n": 3})
            if "Here is an answer" in str(asked.body) or asked.repeat_count > 2
            else Text("Three, I say.")
        )

    setting = Setting(policy=replace(POLICY, nl_to_format=True, max_attempts=1))
    with vendor(words_first) as (running, desk):
        came = ran(running.url, [task(3)], setting)
        batches = len(desk.batches.stored)

    assert any(each.type == "envelope.nlToFormat.engaged" for each in came.items["k0"].events)
    assert batches == len(came.outcome("k0").attempts) == 2


def test_limits_of_all_calls_hold() -> None:
    """A budget that leaves nothing for the second call ends the emission, as it ends the single call."""
    setting = Setting(policy=Policy(output_tokens=64, max_total_tokens=700))
    with vendor(Cut(answer=Text({"n": 1}))) as (running, _):
        came = ran(running.url, [task(1, "x" * 100)], setting)
        assert running.billed.total <= 700

    failure = came.outcome("k0").failure
    assert failure is not None
    assert failure.code == "token_limit_reached"


def test_a_sink_that_raises_loses_no_item() -> None:
    """Neither its own, whose answer was paid for, nor another one."""

    def on_event(event: RunEvent) -> None:
        if event.node_id == "bad":
            raise KeyError("a bug")

    with vendor() as (running, _):
        good = ran(running.url, [task(0)], Setting(more={"on_event": on_event}))
        with pytest.warns(RuntimeWarning, match="^on_event raised KeyError"):
            bad = ran(running.url, [task(0)], Setting(more={"on_event": on_event, "node_id": "bad"}))

    assert good.outcome("k0").value.n == bad.outcome("k0").value.n == 0
