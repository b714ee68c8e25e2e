"""An emission that is cancelled while a call of the host's store is in progress."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from emitter import aemit, astream
from emitter.host import Acceptor, HostConfig
from emitter.testing import Text, simulator
from tests.event_loop.watching import Watch, WatchedStore
from tests.event_loop.ways import MODEL, Invoice

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from emitter.testing import Simulator

TERMINAL = {"node.completed", "node.failed"}


@pytest.fixture(scope="module")
def vendor() -> Iterator[Simulator]:
    """Run a simulated vendor."""
    with simulator(answers=Text({"vendor": "Acme"})) as running:
        yield running


class Interrupting(Watch):
    """Cancels a task while a call of the store is in progress, by the number of the call."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number
        self.task: asyncio.Task[Any] | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    def note(self, name: str) -> None:
        """Cancel the task at the call, and go on once it is cancelled."""
        super().note(name)
        if len(self.calls) == self._number and self.loop is not None and self.task is not None:
            cancelled, task = threading.Event(), self.task
            self.loop.call_soon_threadsafe(lambda: (task.cancel(), cancelled.set()))
            assert cancelled.wait(60)


async def _emit(**options: Any) -> str:
    return (await aemit(Invoice, "From Acme.", **options)).value.vendor


async def _stream(**options: Any) -> str:
    async with astream(Invoice, "From Acme.", **options) as events:
        return (await events.result()).value.vendor


@pytest.mark.parametrize("emit", [_emit, _stream], ids=["aemit", "astream"])
@pytest.mark.parametrize("number", range(1, 9))
def test_nothing_is_lost_and_nothing_is_done_twice(
    vendor: Simulator, number: int, emit: Callable[..., Awaitable[str]]
) -> None:
    """The run's log has one end, and the same emission, run again, does what is left to do."""
    watch = Interrupting(number)
    store = WatchedStore(watch)
    vendor.reset()

    async def run(watch: Interrupting) -> object:
        async with vendor.client(MODEL, asynchronous=True) as client:
            host = Acceptor(HostConfig(), store=store)
            watch.loop = asyncio.get_running_loop()
            watch.task = asyncio.ensure_future(emit(model=MODEL, client=client, host=host, run_id="r"))
            (ended,) = await asyncio.gather(watch.task, return_exceptions=True)
            watch.loop = None
            return ended

    ended = asyncio.run(run(watch))
    calls = len(vendor.calls)
    types = [str(event["type"]) for event in store.events("r")]
    ends = [name for name in types if name in TERMINAL]

    assert isinstance(ended, asyncio.CancelledError)
    assert (len(ends), types[-1]) == (1, ends[0])
    assert watch.in_loop == []

    assert asyncio.run(run(Interrupting(0))) == "Acme"
    was_accepted = ends == ["node.completed"]
    assert len(vendor.calls) == (calls if was_accepted else calls + 1)
