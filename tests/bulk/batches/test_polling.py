"""How often the vendor is asked, what is reported meanwhile, and what happens when time is up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from emitter.attempts import Verdict
from emitter.bulk.batches import Batch
from emitter.testing.batches import BatchScript
from tests.bulk.asking import asked_of, task
from tests.bulk.batches.asking import MODELS, POLICY, Setting, ran, vendor

if TYPE_CHECKING:
    from pathlib import Path

every_wire = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
TASKS = [task(n) for n in range(4)]


def test_looks_become_rarer_while_nothing_changes() -> None:
    """By half each time, up to the slowest; a change begins anew."""
    with vendor(polls=6) as (running, _):
        came = ran(running.url, [task(0, "cut")], Setting(how=Batch(poll=10, max_poll=30)))

    once = [10, 10, 15, 22.5, 30, 30]
    assert came.time.slept == [*once, *once]


@every_wire
def test_what_is_reported(model: str) -> None:
    """Each change: what was submitted and how far the vendor is; in the end nothing is open."""
    with vendor() as (running, _):
        came = ran(running.url, [*TASKS, task(4, "cut")], Setting(model=model))

    first, last = came.reported[0], came.reported[-1]
    assert (first.submitted, first.retries, first.batches, first.in_progress) == (5, 0, 1, 5)
    assert (last.submitted, last.retries, last.batches, last.in_progress) == (6, 1, 0, 0)
    assert came.notices == []


@every_wire
@pytest.mark.parametrize(
    "setting",
    [Setting(policy=replace(POLICY, deadline=50)), Setting(how=Batch(timeout=50))],
    ids=["deadline", "timeout"],
)
def test_when_time_is_up_the_batch_goes_on_and_another_run_collects_it(
    setting: Setting, model: str, tmp_path: Path
) -> None:
    """Each emission ends in the deadline's error; what was submitted is not paid for again."""
    setting = replace(setting, model=model, journal=tmp_path / "journal")
    with vendor(polls=5) as (running, desk):
        late = ran(running.url, TASKS, setting)
        assert late.time.now == pytest.approx(50)
        failures = [late.outcome(f"k{n}").failure for n in range(4)]
        assert {each.code for each in failures if each} == {"deadline_exceeded"}
        assert len([each for each in failures if each]) == 4

        came = ran(running.url, TASKS, replace(setting, policy=POLICY, how=Batch()))
        assert [came.outcome(f"k{n}").value.n for n in range(4)] == list(range(4))
        assert desk.batches.submitted == 4
        assert set(asked_of(running).values()) == {1}


@every_wire
def test_when_time_is_up_in_the_second_batch_the_first_is_not_asked_for_again(model: str, tmp_path: Path) -> None:
    """Both calls are paid for once, and the emission goes on with its second."""
    setting = Setting(model=model, journal=tmp_path / "journal", how=Batch(timeout=120))
    with vendor() as (running, _):
        late = ran(running.url, [task(0, "cut")], setting)
        assert [each.verdict for each in late.outcome("k0").attempts] == [Verdict.TRUNCATED, Verdict.FAULTED]
        came = ran(running.url, [task(0, "cut")], replace(setting, how=Batch()))
        assert asked_of(running) == {0: 2}

    assert [each.verdict for each in came.outcome("k0").attempts] == [Verdict.TRUNCATED, Verdict.COMPLETE]


@every_wire
def test_leaving_says_what_goes_on(model: str, tmp_path: Path) -> None:
    """With a journal another run collects it; without one nothing can."""
    tasks = [*TASKS, task(4, "cut")]
    with vendor() as (running, _):
        for journal, said in ((tmp_path / "journal", "a run with the same journal collects"), (None, "no journal")):
            setting = Setting(model=model, journal=journal, most=1, how=Batch(max_requests=2))
            came = ran(running.url, tasks, setting)
            assert said in came.notices[-1]


class Flaky(httpx2.AsyncHTTPTransport):
    """A way to the vendor on which some looks fail."""

    def __init__(self, *answers: int | None) -> None:
        super().__init__(verify=False)
        self.answers = list(answers)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; a look fails with the next status, or with the connection where that is None."""
        if request.method != "GET" or not self.answers:
            return await super().handle_async_request(request)
        status = self.answers.pop(0)
        if status is None:
            raise httpx2.ConnectError("no route")
        kind = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}.get(status, "api_error")
        body = {"type": "error", "error": {"message": "Not now.", "type": kind}}
        return httpx2.Response(status, json=body, request=request)


@every_wire
def test_looks_that_fail_in_passing_lose_nothing(model: str) -> None:
    """The vendor is asked again at the next look, however often."""
    with vendor() as (running, desk):
        setting = Setting(model=model, transport=Flaky(*[500, None, 429, 503] * 4))
        came = ran(running.url, TASKS, setting)
        assert desk.batches.submitted == 4

    assert {each.verdict for n in range(4) for each in came.outcome(f"k{n}").attempts} == {Verdict.COMPLETE}


@every_wire
@pytest.mark.parametrize("status", [401, 404])
def test_a_batch_that_may_not_be_looked_at_is_kept_for_another_run(status: int, model: str, tmp_path: Path) -> None:
    """Its emissions end, and the journal keeps what is open: a run with the right key collects it."""
    setting = Setting(model=model, journal=tmp_path / "journal")
    with vendor() as (running, desk):
        barred: dict[str, Any] = {"transport": Flaky(status)}
        first = ran(running.url, TASKS, replace(setting, **barred))
        assert all(first.outcome(f"k{n}").failure for n in range(4))

        came = ran(running.url, TASKS, setting)
        assert [came.outcome(f"k{n}").value.n for n in range(4)] == list(range(4))
        assert desk.batches.submitted == 4


@every_wire
def test_a_batch_that_somebody_else_cancelled_is_not_sent_again(model: str) -> None:
    """What was done is collected; for the rest, somebody did not want it."""
    with vendor(polls=3) as (running, desk):
        desk.batches.script(BatchScript())
        held = desk.batches.create

        def make(*arguments: Any) -> Any:
            made = held(*arguments)
            made.cancelled = True
            return made

        desk.batches.create = make  # type: ignore[method-assign]
        came = ran(running.url, TASKS, Setting(model=model))
        assert desk.batches.submitted == 4

    outcomes = [came.outcome(f"k{n}") for n in range(4)]
    assert [each.failure.code if each.failure else "done" for each in outcomes] == ["done"] * 2 + ["cancelled"] * 2
