"""A task that is cancelled at any point of its act: nothing is begun after it, and nothing is lost that was begun."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, Effects
from emitter.errors import AlreadyUsed, Unfinished
from emitter.stores import MemoryStore
from tests.authority.execution.making import granted, refused, types, work
from tests.authority.execution.watching import Watching

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from emitter.stores import NewEntry, StoredEntry


class Slow(MemoryStore):
    """A store in which the keeping of one line waits for the test, once it has told that it does."""

    __slots__ = ("given_up", "goes_on", "held", "waits")

    def __init__(self, held: int) -> None:
        super().__init__()
        self.held, self.waits, self.goes_on = held, threading.Event(), threading.Event()
        self.given_up: asyncio.Timeout | None = None

    async def is_waiting(self) -> None:
        """Wait until the line is to be kept."""
        assert await asyncio.to_thread(self.waits.wait, 20)

    def get_or_create(self, run_id: str, correlation_id: str, make: Callable[[], NewEntry]) -> StoredEntry:
        """Keep something."""
        if (run_id, correlation_id) == ("emitter.authority:w", str(self.held)):
            self.waits.set()
            assert self.goes_on.wait(20)
        return super().get_or_create(run_id, correlation_id, make)


@pytest.mark.parametrize(("held", "result"), [(1, "failure"), (2, "success")], ids=["intent", "receipt"])
def test_cancelled_while_it_is_written(held: int, result: str) -> None:
    """What is being written is written; before the tool, that is not called, after it, its receipt is there."""
    store, watching, called = Slow(held), Watching(), list[int]()
    authority = Authority(store, hooks=[watching])
    confirm_id = granted(authority).confirm_id

    async def main() -> None:
        task = asyncio.create_task(authority.aexecute(confirm_id, work(tool=lambda: called.append(1))))
        await store.is_waiting()
        task.cancel()
        await asyncio.sleep(0)
        store.goes_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert types(authority) == ["CONFIRM", "INTENT", "RECEIPT"]
    assert [each.result.value for each in authority.receipts()] == [result]
    assert called == [1] * (held - 1)
    assert watching.names().count("emit_receipt") == int(held == 1)
    if held == 1:
        with refused(authority, AlreadyUsed):
            authority.execute(confirm_id, work(tool=pytest.fail))


def test_cancelled_before_it_begins(authority: Authority) -> None:
    """Nothing is written, and nothing is spent: the act may begin later on."""
    confirm_id = granted(authority, limits={"max_side_effects": 1}).confirm_id

    async def main() -> None:
        task = asyncio.create_task(authority.aexecute(confirm_id, work(tool=pytest.fail)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert types(authority) == ["CONFIRM"]
    assert authority.execute(confirm_id, work()) == "done"


def test_cancelled_in_a_hook_before_it(authority: Authority) -> None:
    """So it is where a hook is waited for."""
    confirm_id = granted(authority).confirm_id

    async def main(authority: Authority) -> None:
        reached = asyncio.Event()

        class Slowly:
            async def before_execute(self, _: Any) -> None:
                reached.set()
                await asyncio.Event().wait()

        authority = Authority(authority._context.journal._store, hooks=[Slowly()])
        task = asyncio.create_task(authority.aexecute(confirm_id, work(tool=pytest.fail)))
        await asyncio.wait_for(reached.wait(), 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main(authority))
    assert types(authority) == ["CONFIRM"]


def test_cancelled_in_the_tool(authority: Authority) -> None:
    """Nobody knows how far it came: it is listed, never repeated, and settled by whoever finds out."""
    confirm_id = granted(authority).confirm_id

    async def main() -> None:
        reached = asyncio.Event()

        async def tool() -> None:
            reached.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(authority.aexecute(confirm_id, work(tool=tool)))
        await asyncio.wait_for(reached.wait(), 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(Unfinished):
            await authority.aexecute(confirm_id, work(tool=pytest.fail))
        await authority.aresolve_unfinished("w", "i", Effects())

    asyncio.run(main())
    assert types(authority) == ["CONFIRM", "INTENT", "RECEIPT"]


@pytest.mark.parametrize("held", [1, 2])
def test_a_timeout_is_a_timeout(held: int) -> None:
    """The cancellation that is put off is the same one: whoever gave up on the act goes on, and is not cancelled."""
    store = Slow(held)
    authority = Authority(store)
    confirm_id = granted(authority).confirm_id

    async def main() -> int | None:
        freeing = asyncio.create_task(_freed(store))
        with pytest.raises(TimeoutError):
            await _given_up(authority.aexecute(confirm_id, work()), store)
        await freeing
        task = asyncio.current_task()
        return task.cancelling() if task is not None else None

    assert asyncio.run(main()) == 0
    assert types(authority) == ["CONFIRM", "INTENT", "RECEIPT"]


async def _given_up(doing: Awaitable[Any], store: Slow) -> None:
    """Wait for an act until its line is to be kept, and no longer."""
    async with asyncio.timeout(None) as giving_up:
        store.given_up = giving_up
        await doing
        await asyncio.sleep(0)


async def _freed(store: Slow) -> None:
    """Have the time be over while the line is being kept."""
    await store.is_waiting()
    assert store.given_up is not None
    store.given_up.reschedule(asyncio.get_running_loop().time())
    await asyncio.sleep(0)
    assert store.given_up.expired()
    store.goes_on.set()
