"""Runs of several processes over one store: each job is sent once, and what a killed process leaves is found."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.bulk import Job, aemit_many, emit_many
from emitter.bulk.runner import EmissionSender
from emitter.client.rate_limits import RateLimit
from emitter.clock import Clock
from emitter.errors import InputError, StoreFailed, UnknownOutcome
from emitter.messages import Usage
from emitter.policy import Policy
from emitter.stores import MemoryStore
from emitter.testing import Stalled
from tests.bulk.asking import MODEL, Numbered, answered, asked_of, number_in, serving, task
from tests.launching import KILL, launch
from tests.stores.conftest import home, postgres  # noqa: F401  fixtures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import Behaviour, ReceivedRequest, Simulator
    from tests.stores.conftest import Home

COUNT = 40
IN_FLIGHT = 4


def run_of(store: Any, situations: Any, **more: Any) -> Any:
    """Begin a run over a store."""
    return emit_many(Numbered, situations, store=store, **{"model": MODEL, "in_flight": IN_FLIGHT, **more})


def test_a_job_is_sent_by_one_of_two_runs(home: Home, vendor: Simulator) -> None:  # noqa: F811
    """Both return all results, and each was paid for once."""
    found: list[list[Any]] = []
    threads = [
        threading.Thread(target=lambda: found.append(run_of(home.again(), map(task, range(COUNT))).results()))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [[each.value.n for each in results] for results in found] == [list(range(COUNT))] * 2
    assert asked_of(vendor) == Counter(range(COUNT))
    replayed = [each for results in found for each in results if each.replayed]
    assert len(replayed) == COUNT
    again = run_of(home.again(), map(task, range(COUNT)))
    again.results()
    assert (again.usage, again.stats.replayed_usage) == (Usage(), vendor.billed)


def test_other_requests_are_other_jobs(home: Home, vendor: Simulator) -> None:  # noqa: F811
    """What is asked, and the caller's run id, keep runs apart; failures are sent again, refusals are not."""
    jobs = [task(0), task(1, "malformed"), task(2, "refuse")]
    store = home.again()
    for _ in range(2):
        run_of(store, jobs, policy=Policy(max_attempts=1)).results()
    assert asked_of(vendor) == {0: 1, 1: 2, 2: 1}
    run_of(store, jobs, policy=Policy(max_attempts=1), run_id="another").results()
    notices: list[list[str]] = []
    for _ in range(2):
        changed = run_of(store, jobs, policy=Policy(max_attempts=1), instructions="Be brief.")
        changed.results()
        notices.append(changed.stats.notices)
    assert ["nothing is read from them" in notice for notice in notices[0]] == [True]
    assert notices[1] == []
    assert asked_of(vendor) == {0: 3, 1: 5, 2: 3}


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Run a vendor that answers no task from ``silent.start`` on."""

    class Silent:
        start = COUNT
        vendor: Simulator

    def answers(asked: ReceivedRequest) -> Behaviour:
        return Stalled() if number_in(asked.body) >= Silent.start else answered(asked)

    with serving(answers, monkeypatch) as Silent.vendor:
        yield Silent


def kill_when_silent(home: Home, silent: Any, *limit: str, sent: int = IN_FLIGHT) -> set[int]:  # noqa: F811
    """Run in a process of its own, and kill it when it only waits. Return the numbers of the unanswered tasks."""
    command = launch("tests.bulk.sharing", home.kind, home.address, str(COUNT), *limit)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, cwd=Path(__file__).parents[2], env=environment) as child:
        while len(waiting := {each for each in asked_of(silent.vendor) if each >= silent.start}) < sent:
            assert child.poll() is None
            time.sleep(0.01)
        child.send_signal(KILL)
        child.wait()
    return waiting


def test_what_a_killed_process_sent_is_listed_and_then_sent_by_choice(home: Home, silent: Any) -> None:  # noqa: F811
    """With ``list``, nothing is paid twice, and the listed jobs are those that the process had in flight."""
    silent.start = 10
    waiting = kill_when_silent(home, silent)
    silent.start = COUNT

    listed = run_of(home.again(), map(task, range(COUNT)), orphans="list").results()
    unknown = [each for each in listed if isinstance(each.error, UnknownOutcome)]
    assert waiting <= {each.index for each in unknown}
    assert all("store.jobs.resend()" in str(each.error) for each in unknown)
    assert all(each.value.n == each.index for each in listed if each.error is None)
    assert set(asked_of(silent.vendor).values()) == {1}
    orphans = home.again().jobs.orphans()
    assert {each.key for each in orphans} == {each.key for each in unknown}

    home.again().jobs.resend(orphans[0])
    after = run_of(home.again(), map(task, range(COUNT)), orphans="list").results()
    assert sum(each.error is not None for each in after) == len(unknown) - 1

    run = run_of(home.again(), map(task, range(COUNT)))
    assert [each.value.n for each in run] == list(range(COUNT))
    assert len(run.stats.resent_keys) == len(unknown) - 1


def test_a_job_that_waited_for_a_rate_limit_was_not_sent(home: Home, silent: Any) -> None:  # noqa: F811
    """Of a killed process, only the jobs are in doubt whose calls had left."""
    silent.start = 0
    sent = kill_when_silent(home, silent, "1", sent=1)
    assert asked_of(silent.vendor) == Counter(sent)

    silent.start = COUNT
    listed = run_of(home.again(), map(task, range(COUNT)), orphans="list").results()
    assert {each.index for each in listed if isinstance(each.error, UnknownOutcome)} == sent
    assert asked_of(silent.vendor) == Counter(range(COUNT))


@pytest.mark.parametrize("orphans", ["list", "resend"])
def test_a_process_that_lost_a_waiting_job_does_not_send_it(
    home: Home,  # noqa: F811
    vendor: Simulator,
    monkeypatch: pytest.MonkeyPatch,
    orphans: str,
) -> None:
    """The lease ends while the job waits, and another process sends it; this one returns the other's answer."""
    store = home.again()
    send = type(store.jobs).send

    def lose(table: Any, run: str, keys: Any, holder: str) -> Any:
        monkeypatch.setattr(type(store.jobs), "send", send)
        table.leave(holder)
        again = run_of(home.again(), [task(0)], rate_limit=RateLimit(600), orphans="list").results()
        assert again[0].value.n == 0
        table.renew(holder, 60)
        return send(table, run, keys, holder)

    monkeypatch.setattr(type(store.jobs), "send", lose)
    (result,) = run_of(store, [task(0)], rate_limit=RateLimit(600), orphans=orphans).results()
    assert (result.value.n, result.replayed) == (0, True)
    assert asked_of(vendor) == {0: 1}


def test_a_run_that_is_left_gives_its_jobs_up(home: Home, silent: Any) -> None:  # noqa: F811
    """What was not sent is free. A call that was cut off may have been answered, so its job is orphaned."""
    silent.start = 2

    async def leave() -> None:
        run = aemit_many(Numbered, map(task, range(COUNT)), store=home.again(), model=MODEL, in_flight=IN_FLIGHT)
        async with run:
            await anext(run)
            await anext(run)
            while len(silent.vendor.calls) < 2 + IN_FLIGHT:  # noqa: ASYNC110  the calls arrive in another thread
                await asyncio.sleep(0.01)

    asyncio.run(leave())
    silent.start = COUNT
    assert len(home.again().jobs.orphans()) == IN_FLIGHT
    again = run_of(home.again(), map(task, range(COUNT)), orphans="list").results()
    assert sum(isinstance(each.error, UnknownOutcome) for each in again) == IN_FLIGHT
    assert asked_of(silent.vendor) == Counter(range(COUNT))
    run = run_of(home.again(), map(task, range(COUNT)))
    assert [each.value.n for each in run] == list(range(COUNT))
    assert len(run.stats.resent_keys) == IN_FLIGHT


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"store": MemoryStore()}, "processes cannot share"),
        ({"orphans": "forget"}, '"resend" or "list"'),
        ({"lease": 0.1}, "from 1 to 86400"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    """Before anything is sent."""
    with pytest.raises(InputError, match=message):
        emit_many(Numbered, [], model=MODEL, **options)


def test_a_store_takes_the_place_of_a_journal(home: Home) -> None:  # noqa: F811
    """Two records of one run could differ."""
    with pytest.raises(InputError, match="cannot be combined"):
        run_of(home.again(), [], journal="run.jsonl")


def test_nothing_is_sent_without_a_claim(home: Home, vendor: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """A store that fails ends the run before the call."""
    store = home.again()

    def fail(*_: Any, **__: Any) -> Any:
        raise StoreFailed("gone")

    run = run_of(store, map(task, range(3)))
    monkeypatch.setattr(type(store.jobs), "claim", fail)
    with pytest.raises(StoreFailed, match="gone"):
        run.results()
    assert not vendor.calls


def test_a_run_that_fails_does_not_wait_for_the_jobs_of_others(
    home: Home,  # noqa: F811
    vendor: Simulator,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two runs that cannot keep their outcomes would wait for each other, since both renew their leases."""
    store = home.again()
    jobs = [Job(task(n), key=f"row-{n}") for n in range(3)]
    claims = type(store.jobs).claim

    def claim(table: Any, run: str, keys: Any, holder: str, **options: Any) -> Any:
        table.renew("another", 3600)
        claims(table, run, ["row-2"], "another")
        return claims(table, run, keys, holder, **options)

    def fail(*_: Any, **__: Any) -> Any:
        raise StoreFailed("gone")

    monkeypatch.setattr(type(store.jobs), "claim", claim)
    monkeypatch.setattr(type(store.jobs), "finish", fail)

    async def run() -> None:
        await aemit_many(Numbered, jobs, model=MODEL, store=store, in_flight=1).results()

    with pytest.raises(StoreFailed, match="gone"):
        asyncio.run(asyncio.wait_for(run(), 30))


def test_a_long_wait_for_another_process_is_announced_once(
    home: Home,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The other has its answer when this one has waited three times more."""
    asked, answer, waits = threading.Event(), threading.Event(), Counter[str]()

    def answers(request: ReceivedRequest) -> Behaviour:
        asked.set()
        answer.wait(60)
        return answered(request)

    async def sleep(_: float) -> None:
        waits["announced"] += bool(run.stats.notices)
        if waits["announced"] == 3:
            answer.set()
        await asyncio.sleep(0.01)

    with serving(answers, monkeypatch):
        other = threading.Thread(target=run_of(home.again(), [task(0)]).results)
        other.start()
        assert asked.wait(60)
        run = run_of(home.again(), [task(0)], clock=Clock(async_sleep=sleep))
        (result,) = run.results()
        other.join()

    assert result.value.n == 0
    assert [notice.partition(",")[0] for notice in run.stats.notices] == ["Other processes have jobs of this run"]


def test_a_job_that_an_error_ends_after_its_call_is_orphaned(
    home: Home,  # noqa: F811
    vendor: Simulator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Other processes do not wait for a claim that its holder has given up."""
    sent = EmissionSender.send

    async def fail(sender: EmissionSender, client: object) -> Any:
        finished = await sent(sender, client)
        if "stalled" in str(sender.plan.request):
            return finished
        sender.finished = None
        raise RuntimeError("a bug")

    monkeypatch.setattr(EmissionSender, "send", fail)
    run = run_of(home.again(), [task(0), task(1, "stalled")])
    assert isinstance(next(run).error, RuntimeError)
    (orphan,) = home.again().jobs.orphans()
    monkeypatch.undo()
    run.close()

    with serving(answered, monkeypatch) as again:
        (result,) = run_of(home.again(), [task(0)], orphans="list").results()
        assert isinstance(result.error, UnknownOutcome)
        home.again().jobs.resend(orphan)
        (result,) = run_of(home.again(), [task(0)], orphans="list").results()
    assert result.value.n == 0
    assert (asked_of(vendor)[0], asked_of(again)) == (
        1,
        Counter([0]),
    )  # whether the other was sent before close() is open


def test_leases_that_have_ended_are_forgotten(home: Home) -> None:  # noqa: F811
    """Their claims stay orphaned."""
    jobs = home.again().jobs
    jobs.renew("dead", 0)
    jobs.renew("alive", 3600)
    jobs.claim("run", ["a"], "dead")
    jobs.renew("another", 3600)
    jobs.leave("another")

    with jobs._database.transaction() as transaction:
        assert list(map(tuple, transaction.execute("SELECT holder FROM emitter_holders", {}))) == [("alive",)]
    assert [orphan.key for orphan in jobs.orphans()] == ["a"]
