"""A run that is interrupted: results that are finished were paid for, and stay on the run."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from emitter.bulk import aemit_many, emit_many
from emitter.bulk.batches import Batch
from emitter.bulk.executors import WINDOW
from emitter.bulk.jobs import JobResult
from emitter.clock import Clock
from emitter.errors import StoreFailed
from emitter.stores import SqliteStore
from tests.bulk.asking import MODEL, Numbered, asked_of, task
from tests.bulk.batches.asking import ANTHROPIC, GOOGLE, OPENAI
from tests.bulk.batches.asking import vendor as batch_vendor
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from pathlib import Path

    from emitter.testing import Simulator

JOBS, RECEIVED, IN_FLIGHT = 60, 5, 4


class StopReadingError(Exception):
    """What the caller's own code raises."""


class Interruption:
    """Interrupts a run when so many results were reported."""

    def __init__(self, after: int = 12) -> None:
        self.after, self.reported = after, 0
        self.interrupt: Callable[[], object] = lambda: None

    def __call__(self, stats: Any) -> None:
        """Look at the progress."""
        if stats.done >= self.after and self.reported < self.after:
            self.interrupt()
        self.reported = stats.done


def _read(error: BaseException) -> Iterator[str]:
    yield from map(task, range(JOBS // 2))
    raise error


async def _aread(error: BaseException) -> AsyncIterator[str]:
    for each in _read(error):
        yield each


def _raise(error: BaseException) -> Callable[[], object]:
    def interrupt() -> None:
        raise error

    return interrupt


def _check(vendor: Simulator, received: list[Any], left: list[Any], run: Any) -> None:
    """Check that every finished result was received or is left, once, and that none was paid for in vain."""
    indexes = [item.index for item in (*received, *left)]
    assert len(indexes) == len(set(indexes))
    assert len(indexes) >= run.stats.done
    assert [item.index for item in left] == sorted(item.index for item in left)
    finished = [item for item in (*received, *left) if item.error is None]
    paid = sum(item.result.usage.total for item in finished)
    # The calls that were sent and have no answer are estimated, and there are at most as many as were in flight.
    lost = run.usage.total - paid
    assert 0 <= lost <= IN_FLIGHT * 2 * max((item.result.usage.total for item in finished), default=0)
    assert run.usage.estimated is (lost > 0)
    assert set(asked_of(vendor)) >= {item.value.n for item in finished}


WAYS = ("results", "iteration", "block", "next")


def _use(way: str, run: Any, received: list[Any]) -> None:
    if way == "results":
        run.results()
    elif way == "block":
        with run:
            received.extend(run)
    elif way == "next":
        while True:
            received.append(next(run))
    else:
        received.extend(run)


CAUSES: dict[str, tuple[type[BaseException], bool]] = {
    "ctrl-c": (KeyboardInterrupt, True),
    "signal handler": (SystemExit, True),
    "interrupt while reading": (KeyboardInterrupt, False),
    "exit while reading": (SystemExit, False),
    "inputs": (StopReadingError, False),
    "progress": (StopReadingError, True),
}
"""What ends a run, and whether that is when results are reported."""


@pytest.fixture
def exit_signal() -> Iterator[None]:
    """Let a signal raise ``SystemExit``."""

    def leave(*_: object) -> None:
        raise SystemExit

    before = signal.signal(signal.SIGTERM, leave)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("exit_signal")
@pytest.mark.parametrize(("cause", "way", "ordered"), covering(CAUSES, WAYS, (True, False)))
def test_a_run(cause: str, way: str, ordered: bool, vendor: Simulator) -> None:
    """Whatever ends it, and however it is used."""
    kind, is_reported = CAUSES[cause]
    report, error = Interruption(), kind()
    sent = {"ctrl-c": signal.SIGINT, "signal handler": signal.SIGTERM}.get(cause)
    if is_reported:
        report.interrupt = _raise(error) if sent is None else lambda: os.kill(os.getpid(), sent)
    inputs = map(task, range(JOBS)) if is_reported else _read(error)
    run = emit_many(Numbered, inputs, model=MODEL, in_flight=IN_FLIGHT, ordered=ordered, progress=report)
    received: list[Any] = []

    with pytest.raises(kind):
        _use(way, run, received)
    left = run.results()

    _check(vendor, received, left, run)
    assert len(received) + len(left) >= 12
    assert run.results() == []
    assert list(run) == []


@pytest.mark.parametrize("ordered", [True, False])
def test_results_behind_a_slow_one(ordered: bool, vendor: Simulator) -> None:
    """With an order, results wait for those before them. They are finished all the same."""
    report = Interruption(15)
    report.interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
    inputs = (task(n, "stalled" if n == 0 else "") for n in range(JOBS))
    run = emit_many(Numbered, inputs, model=MODEL, in_flight=IN_FLIGHT, ordered=ordered, progress=report)
    with pytest.raises(KeyboardInterrupt):
        run.results()
    left = run.results()
    _check(vendor, [], left, run)
    assert {item.index for item in left} >= set(range(1, 16))


def test_a_block_that_is_left_by_an_exception(vendor: Simulator) -> None:
    """What the caller has received is not kept, and all else is."""
    received: list[Any] = []
    with (
        suppress(StopReadingError),
        emit_many(Numbered, map(task, range(JOBS)), model=MODEL, in_flight=IN_FLIGHT) as run,
    ):
        for item in run:
            received.append(item)
            if len(received) == RECEIVED:
                raise StopReadingError
    left = list(run)
    _check(vendor, received, left, run)
    assert len(received) == RECEIVED


async def _ause(way: str, run: Any, received: list[Any]) -> None:
    if way == "results":
        await run.results()
    elif way == "block":
        async with run:
            async for item in run:
                received.append(item)  # noqa: PERF401  an interrupted comprehension would be lost
    elif way == "next":
        while True:
            received.append(await anext(run))
    else:
        async for item in run:
            received.append(item)  # noqa: PERF401


@pytest.mark.parametrize(
    ("cause", "way", "ordered"), covering(("cancelled", "inputs", "progress"), WAYS, (True, False))
)
def test_an_async_run(cause: str, way: str, ordered: bool, vendor: Simulator) -> None:
    """Cancelling the task that iterates ends it, too."""

    async def main() -> None:
        report, error, received = Interruption(), StopReadingError(), list[Any]()
        inputs = _aread(error) if cause == "inputs" else map(task, range(JOBS))
        run = aemit_many(Numbered, inputs, model=MODEL, in_flight=IN_FLIGHT, ordered=ordered, progress=report)
        use = asyncio.create_task(_ause(way, run, received))
        if cause != "inputs":
            report.interrupt = use.cancel if cause == "cancelled" else _raise(error)
        with pytest.raises(asyncio.CancelledError if cause == "cancelled" else StopReadingError):
            await use
        left = await run.results()
        _check(vendor, received, left, run)
        assert len(received) + len(left) >= 12
        assert await run.results() == []

    asyncio.run(main())


def test_a_store_that_fails(vendor: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No further job is started, and the results so far stay."""
    store = SqliteStore(tmp_path / "store.db")
    finish, recorded = store.jobs.finish, list[object]()

    def fail(run: str, outcomes: Sequence[Any], holder: str) -> None:
        if len(recorded) >= 12:
            raise StoreFailed("The disk is full.")
        recorded.extend(outcomes)
        finish(run, outcomes, holder)

    monkeypatch.setattr(store.jobs, "finish", fail)
    run = emit_many(Numbered, map(task, range(JOBS)), model=MODEL, in_flight=IN_FLIGHT, store=store)
    with pytest.raises(StoreFailed):
        run.results()
    left = run.results()
    _check(vendor, [], left, run)
    assert len(left) > len(recorded) >= 12


BATCH_MODELS = (OPENAI, ANTHROPIC, GOOGLE)


@pytest.mark.parametrize(("model", "cause"), covering(BATCH_MODELS, ("ctrl-c", "progress")))
def test_batches(model: str, cause: str) -> None:
    """The rows of a batch that were read are finished."""

    async def pause(_seconds: float) -> None:
        await asyncio.sleep(0)

    with batch_vendor() as (server, _):
        report = Interruption(4)
        report.interrupt = (
            _raise(StopReadingError()) if cause == "progress" else lambda: os.kill(os.getpid(), signal.SIGINT)
        )
        run = emit_many(
            Numbered,
            map(task, range(10)),
            model=model,
            client=server.client(model, asynchronous=True),
            batch=Batch(),
            progress=report,
            clock=Clock(async_sleep=pause),
        )
        with pytest.raises(StopReadingError if cause == "progress" else KeyboardInterrupt):
            run.results()
        left = run.results()
        assert len(left) >= 4
        assert len(left) >= run.stats.done
        assert [item.value.n for item in left] == [item.index for item in left]


def test_memory_does_not_grow_while_the_caller_iterates(vendor: Simulator) -> None:
    """Results that were received are not kept."""
    assert vendor.url
    most, inputs = 0, [task(n, "flat") for n in range(100)]
    for item in emit_many(Numbered, iter(inputs), model=MODEL, in_flight=IN_FLIGHT):
        if item.index % 50 == 49:
            results = [each for each in gc.get_objects() if isinstance(each, JobResult) and each.input in inputs]
            most = max(most, len(results))
    assert 0 < most <= 4 * WINDOW + 1
