"""``emit_many`` and ``aemit_many`` by batches: the same call, the same items."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from emitter.bulk import Job, aemit_binding_moments, aemit_many, emit_many
from emitter.bulk.batches import Batch
from emitter.clock import Clock
from emitter.errors import InputError, Refused
from tests.bulk.asking import Numbered, asked_of, task
from tests.bulk.batches.asking import MODELS, POLICY, Time, vendor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from emitter.bulk import JobResult

both_worlds = pytest.mark.parametrize("world", ["sync", "async"])
TASKS = [task(0, "cut"), task(1), task(2, "refuse"), " ", task(4, "violate")]


def emitted(world: str, situations: Any, schema: Any = Numbered, **more: Any) -> tuple[list[JobResult[Any]], Any]:
    """Emit in either world by batches; return the items as they came, and the run."""
    arguments: dict[str, Any] = {"model": MODELS["responses"], "batch": True, "policy": POLICY, **more}
    arguments.setdefault("clock", Time().clock())
    if world == "sync":
        with emit_many(schema, situations, **arguments) as run:
            return list(run), run

    async def collect() -> tuple[list[JobResult[Any]], Any]:
        async with aemit_many(schema, situations, **arguments) as run:
            return [each async for each in run], run

    return asyncio.run(collect())


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Serve a vendor that the environment leads to, and its desk."""
    with vendor() as (running, desk):
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running, desk


@both_worlds
@pytest.mark.parametrize("wire", ["responses", "anthropic", "google"])
def test_items_are_those_of_the_other_form(world: str, wire: str, served: Any) -> None:
    """In their order, each with its result or its error."""
    running, desk = served
    items, run = emitted(world, (each for each in TASKS), model=MODELS[wire])

    assert [each.index for each in items] == [0, 1, 2, 3, 4]
    assert [items[n].value.n for n in (0, 1, 4)] == [0, 1, 4]
    assert isinstance(items[2].error, Refused)
    assert isinstance(items[3].error, InputError)
    assert [len(each.jobs) for each in desk.batches.stored.values()] == [4, 2]
    assert run.usage == running.billed
    assert (run.calls, run.stats.retries, run.stats.failed) == (6, 2, 2)


@both_worlds
def test_as_they_end(world: str, served: Any) -> None:
    """Whose remedy lies in the second batch comes last."""
    items, _ = emitted(world, TASKS, ordered=False)

    assert {each.index for each in items[-2:]} == {0, 4}
    assert len(items) == 5
    assert served


@both_worlds
def test_a_journal_is_gone_on_with(world: str, served: Any, tmp_path: Path) -> None:
    """A second run asks for nothing that was answered, and the envelopes are the same."""
    running, _ = served
    jobs = [Job(each, key=f"key {n}") for n, each in enumerate([task(0, "cut"), task(1), task(2, "refuse")])]
    first, _ = emitted(world, jobs, journal=tmp_path / "journal")
    again, _ = emitted(world, jobs, journal=tmp_path / "journal")

    assert [each.replayed for each in again] == [True] * 3
    assert again[0].result.envelope == first[0].result.envelope
    assert asked_of(running) == {0: 2, 1: 1, 2: 1}
    assert (tmp_path / "journal.batches").exists()


def test_a_run_that_is_left_is_gone_on_with(served: Any, tmp_path: Path) -> None:
    """In the blocking world, where the loop runs in a thread of its own."""
    running, desk = served
    arguments: dict[str, Any] = {"model": MODELS["responses"], "policy": POLICY, "journal": tmp_path / "journal"}
    situations = [task(0), task(1, "cut"), task(2)]
    with emit_many(Numbered, situations, batch=True, clock=Time().clock(), **arguments) as run:
        next(run)
    items, _ = emitted("sync", situations, journal=tmp_path / "journal")

    assert [each.value.n for each in items] == [0, 1, 2]
    assert asked_of(running) == {0: 1, 1: 2, 2: 1}
    assert desk.batches.submitted == 4


@pytest.mark.filterwarnings("ignore::emitter.errors.UnknownModelWarning")
@pytest.mark.parametrize(
    ("more", "reported"),
    [
        ({"batch": 3}, "batch is 3"),
        ({"model": "mistral/large"}, "no batch interface"),
    ],
    ids=["batch", "vendor"],
)
def test_what_can_never_be_asked_is_refused_at_once(
    more: dict[str, Any], reported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is iterated."""
    monkeypatch.setenv("MISTRAL_API_KEY", "a-key")
    arguments: dict[str, Any] = {"model": MODELS["responses"], "batch": True, **more}
    with pytest.raises(InputError, match=reported):
        emit_many(Numbered, [task(0)], **arguments)


def test_progress_and_decisions(served: Any) -> None:
    """Decisions go by batches too; the report tells of requests that are under way."""
    reported: list[Any] = []

    async def collect() -> list[Any]:
        how: dict[str, Any] = {"model": MODELS["responses"], "batch": Batch(poll=1), "progress": reported.append}
        async with aemit_binding_moments([task(0)], clock=Clock(async_sleep=Time().clock().async_sleep), **how) as run:
            return [each async for each in run]

    items = asyncio.run(collect())

    assert len(items) == 1
    assert max(each.in_flight for each in reported) == 1
    assert reported[-1].in_flight == 0
    assert served


@both_worlds
def test_situations_that_fail_to_come(world: str, served: Any) -> None:
    """What was begun is handed out first."""

    def coming() -> Iterator[str]:
        yield task(0)
        raise OSError("the file is gone")

    got: list[Any] = []
    arguments: dict[str, Any] = {"model": MODELS["responses"], "batch": True, "clock": Time().clock()}

    async def collect() -> None:
        async with aemit_many(Numbered, coming(), **arguments) as run:
            got.extend([each async for each in run])

    with pytest.raises(OSError, match="gone"):  # noqa: PT012  what came before is looked at, too
        if world == "async":
            got.clear()
            asyncio.run(collect())
        else:
            with emit_many(Numbered, coming(), **arguments) as run:
                for each in run:
                    got.append(each)  # noqa: PERF402
    assert [each.value.n for each in got] == ([0] if world == "sync" else [])
    assert served
