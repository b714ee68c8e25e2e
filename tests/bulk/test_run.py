"""Many emissions: what comes out, in which order, and what is not read ahead."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import tenacity
from pydantic import ValidationInfo, field_validator

from emitter.attempts import Verdict
from emitter.bulk import Job, aemit_binding_moments, aemit_many, emit_binding_moments, emit_many
from emitter.client.result import Emission, Withheld
from emitter.clock import Clock
from emitter.errors import (
    AuthenticationError,
    CheckFailed,
    EmissionError,
    EmitterError,
    InputError,
    Invalid,
    MissingKey,
    QuotaExhausted,
    Refused,
)
from emitter.events import EnvelopeRefusal, NodeCompleted
from emitter.messages import Usage
from emitter.policy import Policy, Prices
from emitter.prompts import Material
from emitter.telemetry import on
from emitter.testing import Quota, Text, Unauthorized
from tests.bulk.asking import MODEL, Numbered, asked_of, number_in, task
from tests.scenarios.answers import BOUND, DELIBERATION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from emitter.bulk import JobResult, RunProgress
    from emitter.testing import Behaviour, Simulator

both_worlds = pytest.mark.parametrize("world", ["sync", "async"])


def emitted(
    world: str, situations: Any, schema: Any = Numbered, *, reported: Any = None, **more: Any
) -> list[JobResult[Any]]:
    """Emit in either world, and return the items as they came; ``reported`` gets their values."""
    arguments: dict[str, Any] = {"model": MODEL, **more}
    items: list[JobResult[Any]] = []

    def take(item: JobResult[Any]) -> None:
        items.append(item)
        if reported is not None:
            reported.append(item.value.n)

    async def collect() -> None:
        async with aemit_many(schema, situations, **arguments) as run:
            async for each in run:
                take(each)

    if world == "async":
        asyncio.run(collect())
    else:
        with emit_many(schema, situations, **arguments) as run:
            for each in run:
                take(each)
    return items


@both_worlds
@pytest.mark.parametrize("in_flight", [1, 3, 50])
def test_each_situation_has_its_own_answer_in_its_place(world: str, in_flight: int, vendor: Simulator) -> None:
    """More situations than may be in flight, and fewer; each is asked for once."""
    items = emitted(world, (task(n) for n in range(20)), in_flight=in_flight)

    assert [each.index for each in items] == list(range(20))
    assert [each.value.n for each in items] == list(range(20))
    assert asked_of(vendor) == dict.fromkeys(range(20), 1)


@both_worlds
def test_no_situation_at_all_is_no_item(world: str, vendor: Simulator) -> None:
    """An empty run ends."""
    assert emitted(world, []) == []
    assert vendor.calls == ()


@both_worlds
@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (task(1, "refuse"), Refused),
        (task(1, "malformed"), Invalid),
        (" ", InputError),
        ({"role": "user"}, InputError),
        (7, InputError),
        (task(1, "check"), CheckFailed),
    ],
    ids=["refused", "malformed", "empty", "one-object", "no-text", "check-raised"],
)
def test_one_failure_loses_no_other(world: str, bad: Any, error: type[Exception], vendor: Simulator) -> None:
    """The item holds what the single call would have raised, and raises it when it is asked."""

    def check(value: Numbered) -> None:
        if value.n == 1:
            raise KeyError("a bug")

    items = emitted(world, [task(0), bad, task(2)], checks=[check] if error is CheckFailed else [])

    assert [each.index for each in items] == [0, 1, 2]
    assert [items[0].value.n, items[2].value.n] == [0, 2]
    assert isinstance(items[1].error, error)
    with pytest.raises(error):
        _ = items[1].result
    with pytest.raises(error):
        _ = items[1].value
    assert len(vendor.calls) >= 2


@both_worlds
def test_an_error_has_its_trace_and_each_emission_a_node_of_its_own(world: str, vendor: Simulator) -> None:
    """Attempts, usage and events are those of the one emission; events can be told apart in one sink."""
    reported: list[Any] = []
    items = emitted(world, [task(0), task(1, "refuse")], on_event=reported.append)

    error = items[1].error
    assert isinstance(error, Refused)
    assert [each.verdict for each in error.trace.attempts] == [Verdict.REFUSED]  # type: ignore[attr-defined]
    assert {each.node_id for each in error.trace.events} == {"emit.1"}  # type: ignore[attr-defined]
    assert {each.node_id for each in reported} == {"emit.0", "emit.1"}
    assert any(isinstance(each.event, EnvelopeRefusal) and each.node_id == "emit.1" for each in reported)
    assert items[0].result.envelope.node_id == "emit.0"
    assert vendor.billed.total > 0


@both_worlds
def test_a_rejected_key_stops_the_run(world: str, vendor: Simulator) -> None:
    """Only the calls in flight are made; each of the other results has the same error and no call."""
    vendor.script(*[Unauthorized()] * 40)
    errors = [item.error for item in emitted(world, map(task, range(40)), in_flight=2)]

    assert len(vendor.calls) <= 4
    assert all(isinstance(error, AuthenticationError) for error in errors)
    unsent = [error for error in errors if "was not sent" in str(error)]
    assert len(unsent) == 40 - len(vendor.calls)
    assert not any(error.trace.attempts for error in unsent if isinstance(error, AuthenticationError))


def test_a_rejected_key_after_an_answer_stops_nothing(vendor: Simulator) -> None:
    """The key works, so the error may belong to one job."""
    vendor.script(Text({"number": 0}), Unauthorized(), Text({"number": 2}))
    items = emitted("sync", map(task, range(3)), dict[str, int], in_flight=1)

    assert len(vendor.calls) == 3
    assert [item.error is None for item in items] == [True, False, True]


@pytest.mark.parametrize(
    ("fault", "error"), [(Unauthorized(), AuthenticationError), (Quota(), QuotaExhausted)], ids=["key", "quota"]
)
@pytest.mark.parametrize(("in_flight", "sent"), [(1, 8), (12, 12)])
def test_an_account_that_is_rejected_in_mid_run_stops_it(
    fault: Behaviour, error: type[EmissionError], in_flight: int, sent: int, vendor: Simulator
) -> None:
    """After as many jobs in a row as are in flight, and at least eight."""
    vendor.script(*[Text({"n": 0})] * 20, *[fault] * 80)
    answers = threading.Semaphore(0)

    def tasks() -> Iterator[str]:
        yield from map(task, range(20))
        for _ in range(20):  # an answer that came after a rejection would begin the row anew
            assert answers.acquire(timeout=60)
        yield from map(task, range(20, 100))

    items = emitted("sync", tasks(), in_flight=in_flight, on_event=on(NodeCompleted, lambda _: answers.release()))
    unsent = [item.error for item in items if "was not sent" in str(item.error)]

    assert [item.error is None for item in items].count(True) == 20
    assert 20 + sent <= len(vendor.calls) < 20 + sent + in_flight
    assert len(unsent) == 100 - len(vendor.calls)
    assert all(isinstance(each, error) and not each.trace.attempts for each in unsent)


def test_an_answer_between_rejections_goes_on(vendor: Simulator) -> None:
    """The account works for other jobs."""
    vendor.script(*[Text({"n": 0}), *[Unauthorized()] * 7] * 4)
    emitted("sync", map(task, range(32)), in_flight=1)

    assert len(vendor.calls) == 32


def test_a_run_that_is_stopped_finishes_what_was_begun(vendor: Simulator) -> None:
    """The inputs that were read ahead are not sent."""
    with emit_many(Numbered, map(task, range(40)), model=MODEL, in_flight=4, ordered=False) as run:
        next(run)
        run.stop()
        rest = run.results()

    assert 1 + len(rest) == len(vendor.calls) <= 1 + 4 * 4
    assert all(item.error is None for item in rest)


def test_an_async_run_that_is_stopped_finishes_what_was_begun(vendor: Simulator) -> None:
    """As the blocking one."""

    async def collect() -> int:
        async with aemit_many(Numbered, map(task, range(40)), model=MODEL, in_flight=4, ordered=False) as run:
            await anext(run)
            run.stop()
            return 1 + len(await run.results())

    assert asyncio.run(collect()) == len(vendor.calls) <= 1 + 4 * 4


@both_worlds
def test_what_reading_the_situations_raises_comes_last(world: str, vendor: Simulator) -> None:
    """What was begun before is handed out first."""

    def situations() -> Iterator[str]:
        yield task(0)
        yield task(1)
        raise LookupError("the file is gone")

    got: list[int] = []
    with pytest.raises(LookupError, match="the file is gone"):
        emitted(world, situations(), reported=got)
    assert got == [0, 1]
    assert len(vendor.calls) == 2


class Held:
    """Time in which each wait lasts until it is ended."""

    def __init__(self) -> None:
        self.over = asyncio.Event()

    async def asleep(self, _: float) -> None:
        """Wait."""
        await self.over.wait()

    def clock(self) -> Clock:
        """Return this time as a clock."""
        return Clock(async_sleep=self.asleep, wait=tenacity.wait_none())


@pytest.mark.usefixtures("vendor")
def test_as_completed_hands_out_what_is_finished() -> None:
    """A situation that takes long holds no other."""

    async def collect() -> list[int]:
        held, got = Held(), list[int]()
        situations = [task(0, "busy"), task(1), task(2), task(3)]
        run = aemit_many(Numbered, situations, model=MODEL, in_flight=2, ordered=False, clock=held.clock())
        async with run:
            async for each in run:
                assert each.value.n == each.index
                got.append(each.index)
                if len(got) == 3:
                    held.over.set()
        return got

    assert asyncio.run(collect()) == [1, 2, 3, 0]


@pytest.mark.usefixtures("vendor")
@pytest.mark.parametrize("in_flight", [2, 5])
def test_no_more_is_read_than_the_window_holds(in_flight: int) -> None:
    """In order, one that takes long holds the others back once four times as many as may be in flight are begun."""
    window = 4 * in_flight

    async def collect() -> list[int]:
        held, taken, got = Held(), 0, list[int]()

        def situations() -> Iterator[str]:
            nonlocal taken
            for n in range(3 * window):
                taken += 1
                if taken == window:
                    held.over.set()
                yield task(n, "" if n else "busy")

        run = aemit_many(Numbered, situations(), model=MODEL, in_flight=in_flight, clock=held.clock())
        async with run:
            async for each in run:
                got.append(each.value.n)
                if len(got) == 1:
                    assert taken == window
                assert taken - len(got) < window
        return got

    assert asyncio.run(collect()) == list(range(3 * window))


@pytest.mark.usefixtures("vendor")
@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "as-completed"])
def test_a_consumer_that_is_slow_is_waited_for(ordered: bool) -> None:
    """However long it takes, no more than the window is begun beyond what it was handed."""

    async def collect() -> list[int]:
        taken, finished, got = 0, 0, list[int]()

        def situations() -> Iterator[str]:
            nonlocal taken
            for n in range(40):
                taken += 1
                yield task(n)

        def report(at: RunProgress) -> None:
            nonlocal finished
            finished = at.done

        run = aemit_many(Numbered, situations(), model=MODEL, in_flight=2, ordered=ordered, progress=report)
        async with run:
            async for each in run:
                while finished < taken or taken < min(40, len(got) + 8):  # noqa: ASYNC110  these are the run's counts
                    await asyncio.sleep(0)
                assert taken == min(40, len(got) + 8)
                got.append(each.value.n)
        return sorted(got)

    assert asyncio.run(collect()) == list(range(40))


@pytest.mark.usefixtures("vendor")
def test_the_blocking_run_reads_no_further_either_and_in_the_callers_thread() -> None:
    """A generator that is bound to its thread works, and a consumer that is slow is waited for."""
    taken, here = list[int](), threading.get_ident()

    def situations() -> Iterator[str]:
        for n in range(60):
            assert threading.get_ident() == here
            taken.append(n)
            yield task(n)

    with emit_many(Numbered, situations(), model=MODEL, in_flight=2) as run:
        for got, each in enumerate(run):
            assert each.value.n == got
            assert len(taken) - got <= 8
    assert len(taken) == 60


def test_an_async_iterable_is_read_as_it_comes(vendor: Simulator) -> None:
    """Situations may be awaited."""

    async def situations() -> AsyncIterator[str]:
        for n in range(5):
            await asyncio.sleep(0)
            yield task(n)

    async def collect() -> list[JobResult[Any]]:
        return await aemit_many(Numbered, situations(), model=MODEL, in_flight=3, ordered=False).results()

    items = asyncio.run(collect())
    assert [each.value.n for each in items] == [0, 1, 2, 3, 4]
    assert len(vendor.calls) == 5


@both_worlds
def test_a_job_has_a_key_and_materials_of_its_own(world: str, vendor: Simulator) -> None:
    """The materials of all are shown with each, those of a job with that one."""
    job = Job(task(1), key="one", materials=[Material("BLUE PAPER")])
    items = emitted(world, [task(0), job], materials=["RED PAPER"])

    assert [(each.key, each.input) for each in items] == [(None, task(0)), ("one", job)]
    bodies = {number_in(each.body): str(each.body) for each in vendor.calls}
    assert ["RED PAPER" in bodies[n] for n in (0, 1)] == [True, True]
    assert ["BLUE PAPER" in bodies[n] for n in (0, 1)] == [False, True]


class Allowed(Numbered):
    """A number that the context allows."""

    @field_validator("n")
    @classmethod
    def is_allowed(cls, n: int, info: ValidationInfo) -> int:
        """Reject any other number."""
        if n not in info.context["allowed"]:
            raise ValueError("n is not allowed")
        return n


@pytest.mark.usefixtures("vendor")
@both_worlds
def test_a_job_has_a_validation_context_of_its_own(world: str) -> None:
    """It replaces the run's, which the other jobs keep."""
    jobs = [task(0), Job(task(1), context={"allowed": [1]}), Job(task(2), context={"allowed": [7]})]
    items = emitted(world, jobs, Allowed, context={"allowed": [0]}, policy=Policy(max_attempts=1))

    assert [each.outcome.value.n for each in items[:2] if isinstance(each.outcome, Emission)] == [0, 1]
    assert isinstance(items[2].error, Invalid)


@pytest.mark.parametrize(
    ("run", "job", "reported"),
    [
        (partial(emit_many, Numbered), Job("?", actions={"x": None}), "Job.after and Job.actions are for decisions."),
        (emit_binding_moments, Job("?", context={"a": 1}), "Job.context is for a type of your own."),
    ],
    ids=["actions-of-a-document", "context-of-a-decision"],
)
def test_a_job_with_another_form_s_option_is_not_sent(
    run: Callable[..., Any], job: Job, reported: str, vendor: Simulator
) -> None:
    """The result is the error; the other jobs go on."""
    (item,) = run([job], model=MODEL).results()

    assert isinstance(item.error, InputError)
    assert reported in str(item.error)
    assert not vendor.calls


@both_worlds
def test_decisions_come_as_they_do_alone(world: str, vendor: Simulator) -> None:
    """A binding moment is a result, and so is one that was withheld."""
    vendor.script(Text(BOUND), Text(DELIBERATION))
    arguments: dict[str, Any] = {"model": MODEL, "in_flight": 1, "decision_class": "consent"}
    if world == "sync":
        items = emit_binding_moments([task(0), task(1)], **arguments).results()
    else:

        async def collect() -> list[Any]:
            return await aemit_binding_moments([task(0), task(1)], **arguments).results()

        items = asyncio.run(collect())

    bound, withheld = (each.result for each in items)
    assert isinstance(bound, Emission)
    assert bound.envelope.type == "vendor.emitter.binding-moment"
    assert isinstance(withheld, Withheld)


def test_a_job_knows_what_it_cost_in_whichever_run(vendor: Simulator, tmp_path: Path) -> None:
    """A failed one too; one that was not sent costs nothing."""
    jobs = [task(0), task(1, "refuse"), ""]
    given: dict[str, Any] = {"policy": Policy(prices=Prices(input=1, output=4)), "journal": tmp_path / "run"}
    run = emit_many(Numbered, jobs, model=MODEL, **given)
    items = run.results()
    again = emit_many(Numbered, jobs, model=MODEL, **given).results()
    calls = len(vendor.calls)

    assert [each.cost for each in again] == [each.cost for each in items]
    assert [bool(each.cost) for each in items] == [True, True, False]
    assert sum(each.cost or 0 for each in items) == run.cost
    assert calls == 2


@pytest.mark.usefixtures("vendor")
def test_what_a_run_cost_is_counted() -> None:
    """Calls, retries, verdicts and tokens of all, also of those that failed."""
    marks = ["", "busy", "malformed", "refuse"]
    clock = Clock(wait=tenacity.wait_none())
    situations = [task(n, mark) for n, mark in enumerate(marks)]
    run = emit_many(Numbered, situations, model=MODEL, clock=clock, policy=Policy(max_attempts=2))
    traces = [(each.error or each.result).trace for each in run]  # type: ignore[union-attr]

    assert run.calls == 1 + 2 + 2 + 1
    assert run.usage == sum((each.usage for each in traces), Usage())
    assert run.stats.verdicts == {
        Verdict.COMPLETE: 2,
        Verdict.FAULTED: 1,
        Verdict.MALFORMED: 2,
        Verdict.REFUSED: 1,
    }
    assert (run.stats.done, run.stats.failed, run.stats.retries) == (4, 2, 2)
    assert f"done=4, failed=2, unknown=0, replayed=0, calls={run.calls}" in repr(run.stats)
    assert f"cost={run.cost}" in repr(run.stats)
    assert repr(run.stats).endswith("resent_keys=[], notices=[])")


@both_worlds
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"inputs": "one text"}, "inputs is of type str"),
        ({"inputs": {"role": "user"}}, "inputs is of type dict"),
        ({"inputs": 7}, "inputs is of type int"),
        ({"inputs": Job("one")}, "inputs is of type Job"),
        ({"in_flight": 0}, "in_flight is 0"),
        ({"in_flight": True}, "in_flight is True"),
        ({"in_flight": 2.5}, "in_flight is 2.5"),
        ({"progress": "yes"}, "progress is 'yes'"),
        ({"model": "nobody/x"}, "nobody"),
        ({"wire": "smoke"}, "has no wire 'smoke'"),
        ({"materials": "one"}, "materials must be a list"),
        ({"schema": 7}, "schema"),
    ],
    ids=lambda each: repr(each) if isinstance(each, dict) else "",
)
def test_what_could_never_be_asked_is_refused_at_once(world: str, wrong: dict[str, Any], said: str) -> None:
    """Nothing is read or sent, and the error is not one of each item."""
    given: dict[str, Any] = {"schema": Numbered, "inputs": [task(0)], "model": MODEL, **wrong}
    make: Any = emit_many if world == "sync" else aemit_many

    with pytest.raises(EmitterError, match=said):
        make(given.pop("schema"), given.pop("inputs"), **given)


@pytest.mark.parametrize(
    ("job", "said"),
    [({"key": ""}, "Job.key is ''"), ({"key": 7}, "Job.key is 7"), ({"materials": "one"}, "Job.materials must be")],
    ids=["empty", "number", "materials"],
)
def test_a_job_that_cannot_be_kept_apart_is_refused(job: dict[str, Any], said: str) -> None:
    """A key is a text, materials are a list."""
    with pytest.raises(InputError, match=said):
        Job("task", **job)


def test_an_async_iterable_is_refused_where_nothing_can_await_it() -> None:
    """The hint names the other call."""

    async def situations() -> AsyncIterator[str]:
        yield ""

    with pytest.raises(InputError, match="async iterable"):
        emit_many(Numbered, situations(), model=MODEL)  # type: ignore[call-overload]


@both_worlds
def test_no_key_is_said_once(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What every emission would fail on is no item."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with pytest.raises(MissingKey):
        emitted(world, [task(0), task(1)])


@both_worlds
def test_a_sync_client_is_refused(world: str, vendor: Simulator) -> None:
    """All are sent from one loop, so the client is an async one, in the blocking call too."""
    with pytest.raises(InputError, match=r"client= is an openai.OpenAI, which blocks.*Pass client=openai.AsyncOpenAI"):
        emitted(world, [task(0)], client=vendor.client(MODEL))


@pytest.mark.parametrize("model", ["openai/gpt-6-sol", "anthropic/claude-sonnet-5-5", "google/gemini-3.8-flash"])
def test_a_client_of_the_callers_is_used_and_left_open(model: str, vendor: Simulator) -> None:
    """On every SDK, in the async world."""

    async def collect() -> list[Any]:
        async with vendor.client(model, asynchronous=True) as client:
            first = await aemit_many(Numbered, [task(0)], model=model, client=client).results()
            second = await aemit_many(Numbered, [task(1)], model=model, client=client).results()
        return first + second

    assert [each.value.n for each in asyncio.run(collect())] == [0, 1]


@pytest.mark.parametrize("model", ["openai/gpt-6-sol", "anthropic/claude-sonnet-5-5", "google/gemini-3.8-flash"])
def test_the_blocking_run_leaves_the_client_open(model: str, vendor: Simulator) -> None:
    """It is used again, by another blocking run and in a loop of the caller's own."""
    client = vendor.client(model, asynchronous=True)

    async def collect() -> list[Any]:
        async with client:
            return await aemit_many(Numbered, [task(2)], model=model, client=client).results()

    first = emit_many(Numbered, [task(0)], model=model, client=client).results()
    second = emit_many(Numbered, [task(1)], model=model, client=client).results()
    assert [each.value.n for each in (*first, *second, *asyncio.run(collect()))] == [0, 1, 2]
