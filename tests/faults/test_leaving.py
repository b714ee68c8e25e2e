"""A consumer that leaves a stream, and a task that is cancelled amid a call: nothing more is sent, all is reported."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Policy
from emitter.attempts import Verdict
from emitter.clock import Clock
from emitter.events import ProviderUsage
from emitter.messages import FaultKind
from emitter.streaming import FieldComplete
from emitter.testing import Overloaded, TransmissionOutcome
from tests.faults.checking import SAYS_INPUT_FIRST, same_tokenizer
from tests.faults.model import Lost
from tests.faults.reading import worded
from tests.faults.row import WIRES, Cell

if TYPE_CHECKING:
    from emitter.events import RunEvent
    from emitter.testing import Behaviour
    from tests.faults.asking import Asking

SILENT = Lost(TransmissionOutcome.STALLED, midway=True)
LEFT = "call usage failed(cancelled)"
"""What is reported a stream that was left: the call, what it had cost, and the end."""

every_wire = pytest.mark.parametrize("wire", WIRES)


def opened(asking: Asking, cell: Cell, answer: Behaviour = SILENT, **more: Any) -> Any:
    """Open a cell against a vendor that answers as reported."""
    asking.vendor.reset()
    asking.vendor.script(answer)
    return asking.opened(cell, asking.arguments(cell, Policy(), **more))


async def until_asked(asking: Asking) -> None:
    """Wait until the server has seen the call."""
    async with asyncio.timeout(10):
        while not asking.vendor.calls:  # noqa: ASYNC110  the server, in a thread of its own, tells nobody
            await asyncio.sleep(0.005)


def check_left(asking: Asking, wire: str, stream: Any) -> None:
    """Check that a stream that was left sent one call, and that what had been read of it is in its trace."""
    (attempt,), (call,) = stream.trace.attempts, asking.vendor.calls
    assert worded(stream.trace.events) == LEFT
    assert (attempt.verdict, attempt.fault.kind) == (Verdict.FAULTED, FaultKind.CANCELLED)
    assert attempt.usage.estimated
    assert attempt.usage == stream.trace.usage
    assert attempt.usage.output > 0
    if wire in SAYS_INPUT_FIRST:
        assert attempt.usage.input == call.usage.input
    # Google's SDK hands over event by event, so what had come after the one that was read last is never seen here;
    # the other wires hand over bytes, all that was sent at once.
    if same_tokenizer(wire):
        assert attempt.usage.output <= call.usage.output
        assert wire == "google" or attempt.usage.output == call.usage.output


@every_wire
def test_leaving_a_stream(wire: str, asking: Asking) -> None:
    """The first slot is enough for this consumer."""
    with opened(asking, Cell("left", wire, "stream")) as stream:
        assert isinstance(next(stream), FieldComplete)

    check_left(asking, wire, stream)


@every_wire
def test_leaving_an_async_stream(wire: str, asking: Asking) -> None:
    """The first slot is enough for this consumer."""

    async def leave() -> Any:
        async with opened(asking, Cell("left", wire, "astream")) as stream:
            assert isinstance(await anext(stream), FieldComplete)
        return stream

    check_left(asking, wire, asking.runner.run(leave()))


@every_wire
@pytest.mark.parametrize("way", ["stream", "astream"])
def test_leaving_before_anything_was_read(wire: str, way: str, asking: Asking) -> None:
    """A stream that nobody reads asks for nothing."""
    stream = opened(asking, Cell("left", wire, way))
    if way == "astream":
        asking.runner.run(stream.aclose())
    else:
        stream.close()

    assert (asking.vendor.calls, stream.trace.attempts, stream.trace.events) == ((), (), ())


@every_wire
def test_a_stream_is_cancelled(wire: str, asking: Asking) -> None:
    """The task that reads it is cancelled while it waits for the rest."""

    async def read(stream: Any, begun: asyncio.Event) -> None:
        async for _ in stream:
            begun.set()

    async def cancel() -> Any:
        stream, begun = opened(asking, Cell("left", wire, "astream")), asyncio.Event()
        task = asyncio.create_task(read(stream, begun))
        async with asyncio.timeout(10):
            await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await stream.aclose()
        return stream

    check_left(asking, wire, asking.runner.run(cancel()))


@every_wire
def test_a_call_is_cancelled(wire: str, asking: Asking) -> None:
    """Nothing was heard of it, so its cost is estimated; nothing more is sent."""
    reported: list[RunEvent] = []

    async def cancel() -> None:
        call = opened(asking, Cell("left", wire, "async"), Lost(TransmissionOutcome.STALLED), on_event=reported.append)
        task = asyncio.create_task(call)
        await until_asked(asking)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asking.runner.run(cancel())

    assert worded(reported) == LEFT
    (usage,) = [each.event for each in reported if isinstance(each.event, ProviderUsage)]
    assert usage.input_tokens > 0
    assert len(asking.vendor.calls) == 1


@every_wire
def test_a_wait_is_cancelled(wire: str, asking: Asking) -> None:
    """A task that waits for the vendor to have time again sends nothing more."""
    waiting: list[float] = []

    async def asleep(seconds: float) -> None:
        waiting.append(seconds)
        asyncio.current_task().cancel()  # type: ignore[union-attr]  # a task runs it
        await asyncio.sleep(seconds)

    reported: list[RunEvent] = []

    async def wait() -> None:
        clock = Clock(async_sleep=asleep)
        busy = Overloaded(429, retry_after=30)
        call = opened(asking, Cell("left", wire, "async"), busy, on_event=reported.append, clock=clock)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(call)

    asking.runner.run(wait())

    assert worded(reported) == "call resent(rate_limit) failed(cancelled)"
    assert waiting == [30]
    assert len(asking.vendor.calls) == 1
