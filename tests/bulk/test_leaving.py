"""Leaving a run before its end: no task, no connection and no thread is left, and what was paid for is known."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from emitter.bulk import aemit_many, emit_many
from emitter.bulk.journal import decode_entry, decode_line
from emitter.messages import FaultKind
from emitter.testing import Malformed, Stalled, Text
from tests.bulk.asking import MODEL, Numbered, number_in, task

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from emitter.events import RunEvent
    from emitter.testing import Simulator


@dataclass
class Silent:
    """A server that takes requests and never answers; it knows its connections."""

    url: str = ""
    opened: int = 0
    closed: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read to the end of the connection."""
        await self._count(opened=1)
        while await reader.read(1 << 16):
            pass
        writer.close()
        await self._count(closed=1)

    async def until(self, **wanted: int) -> None:
        """Wait until so many connections were opened, or closed."""
        async with self.changed:
            await self.changed.wait_for(lambda: all(getattr(self, each) >= wanted[each] for each in wanted))

    async def _count(self, *, opened: int = 0, closed: int = 0) -> None:
        async with self.changed:
            self.opened, self.closed = self.opened + opened, self.closed + closed
            self.changed.notify_all()


@asynccontextmanager
async def silent(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Silent]:
    """Serve silence in this loop."""
    made = Silent()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    monkeypatch.setenv("OPENAI_API_KEY", "no-key")
    async with server:
        made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield made


@pytest.mark.parametrize("within", [True, False], ids=["in-a-block", "bare"])
def test_a_cancelled_run_leaves_no_task_and_no_connection(within: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that it had opened is closed, and nothing was opened beyond what may be in flight."""

    async def consume(url: str) -> None:
        run = aemit_many(Numbered, map(task, range(50)), model=MODEL, base_url=url, in_flight=5)
        async with run if within else nullcontext():
            await anext(run)

    async def main() -> None:
        async with silent(monkeypatch) as server:
            consumer = asyncio.create_task(consume(server.url))
            await server.until(opened=5)
            consumer.cancel()
            await asyncio.wait([consumer])
            assert consumer.cancelled()
            await server.until(closed=5)
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert server.opened == 5

    asyncio.run(main())


@pytest.mark.usefixtures("vendor")
@pytest.mark.parametrize("way", ["break", "aclose", "forgotten"])
def test_a_run_that_is_left_between_two_items_ends(way: str) -> None:
    """Also where nobody closed it: its workers are gone once it is."""

    async def main() -> None:
        run = aemit_many(Numbered, map(task, range(500)), model=MODEL, in_flight=4)
        if way == "break":
            async with run:
                async for each in run:
                    assert each.value.n == 0
                    break
        elif way == "aclose":
            await anext(run)
            await run.aclose()
        else:
            await anext(run)
            del run
            gc.collect()
            for _ in range(100):
                await asyncio.sleep(0)
                if asyncio.all_tasks() == {asyncio.current_task()}:
                    break
                await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()}, timeout=0.05)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_what_a_cancelled_emission_had_cost_is_known(vendor: Simulator, tmp_path: Path) -> None:
    """The tokens of its calls are in the run and in the journal, and it is asked for again."""
    vendor.script(Malformed(), Stalled(answer=Text({"n": 0})))
    place = tmp_path / "run.jsonl"

    async def left() -> Any:
        run = aemit_many(Numbered, [task(0)], model=MODEL, journal=place)
        consumer = asyncio.ensure_future(anext(run))
        while len(vendor.calls) < 2:  # noqa: ASYNC110  the vendor lives in another thread
            await asyncio.sleep(0.005)
        consumer.cancel()
        await asyncio.wait([consumer])
        return run

    first = asyncio.run(left())
    answered = vendor.calls[0].usage
    assert 0 < first.usage.total - answered.total < 2 * answered.input  # the second call, without an answer
    assert first.usage.estimated
    assert first.calls == 2
    recorded = [members for line in place.read_bytes().splitlines() if "attempts" in (members := decode_line(line))]
    assert [decode_entry(each).outcome.usage for each in recorded] == [first.usage]

    second = emit_many(Numbered, [task(0)], model=MODEL, journal=place)
    assert [each.value.n for each in second] == [0]
    assert second.usage.total == vendor.calls[2].usage.total


def threads() -> set[str]:
    """Return the names of the threads that are a run's."""
    return {each.name for each in threading.enumerate() if each.name == "emitter.many"}


@pytest.mark.usefixtures("vendor")
@pytest.mark.parametrize("way", ["with", "close", "break", "end", "never-begun"])
def test_no_thread_is_left(way: str) -> None:
    """Whether the blocking run came to its end or was left."""
    run = emit_many(Numbered, map(task, range(8 if way == "end" else 500)), model=MODEL, in_flight=4)
    if way == "with":
        with run:
            assert next(run).value.n == 0
            assert threads()
    elif way == "close":
        next(run)
        run.close()
    elif way == "break":
        for each in run:
            assert each.value.n == 0
            break
        del run
    elif way == "end":
        assert len(run.results()) == 8
    assert threads() == set()


@pytest.mark.usefixtures("vendor")
def test_a_forgotten_run_may_be_collected_in_its_own_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector runs in any thread. One that waited for itself to end would raise where nobody sees it."""
    unseen: list[Any] = []
    loops: list[asyncio.AbstractEventLoop] = []
    monkeypatch.setattr(sys, "unraisablehook", unseen.append)

    def on_event(_: RunEvent) -> None:
        loops.append(asyncio.get_running_loop())

    def forget() -> None:
        tasks = [task(0), *(task(n, "stalled") for n in range(1, 9))]
        run = emit_many(Numbered, tasks, model=MODEL, in_flight=2, on_event=on_event)
        assert next(run).value.n == 0
        cycle: list[Any] = [run]
        cycle.append(cycle)

    gc.disable()
    try:
        forget()
        running = [each for each in threading.enumerate() if each.name == "emitter.many"]
        loops[0].call_soon_threadsafe(gc.collect)
        for each in running:
            each.join(30)
    finally:
        gc.enable()
    assert running
    assert threads() == set()
    assert unseen == []


def test_an_interrupt_in_the_callers_thread_ends_the_run(vendor: Simulator) -> None:
    """KeyboardInterrupt, whatever raises it, leaves nothing behind."""

    def situations() -> Iterator[str]:
        yield task(0, "stalled")
        yield task(1, "stalled")
        while len(vendor.calls) < 2:
            pass
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(emit_many(Numbered, situations(), model=MODEL))
    assert threads() == set()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_what_is_no_failure_of_one_emission_ends_all(error: type[BaseException], vendor: Simulator) -> None:
    """An interrupt out of a check, say."""

    def check(value: Numbered) -> None:
        if value.n == 2:
            raise error

    with pytest.raises(error):
        list(emit_many(Numbered, map(task, range(100)), model=MODEL, in_flight=2, checks=[check]))
    assert threads() == set()
    assert len(vendor.calls) < 100
    assert all(number_in(each.body) < 100 for each in vendor.calls)


@pytest.mark.usefixtures("vendor")
def test_the_blocking_run_works_beside_a_running_loop() -> None:
    """As in a notebook, where a loop is always running."""

    async def cell() -> list[int]:
        return [each.value.n for each in emit_many(Numbered, map(task, range(6)), model=MODEL)]

    assert asyncio.run(cell()) == list(range(6))


def test_cancelled_is_a_fault_of_its_own() -> None:
    """It is not one that is worth a retry."""
    assert not FaultKind.CANCELLED.is_transient
