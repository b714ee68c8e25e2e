"""Leaving a stream ends its request, and what it had cost is in the trace."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter import InputError, Invalid, Policy
from emitter.attempts import Verdict
from emitter.messages import FaultKind
from emitter.streaming import FieldComplete
from tests.client.streams.vendor import STALL, WIRES, WORLDS, Answer, Vendor, ask, opened, streamed
from tests.scenarios.vendors import VENDORS

if TYPE_CHECKING:
    from emitter.events import RunEvent

every_wire = pytest.mark.parametrize("wire", WIRES)
every_world = pytest.mark.parametrize("world", WORLDS)

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["a", "n"],
    "additionalProperties": False,
}
DOCUMENT = {"a": "some words", "n": 7}


def vendor(wire: str) -> Vendor:
    """Return a vendor that answers once."""
    return Vendor([streamed(wire, VENDORS[wire].whole(json.dumps(DOCUMENT), 40).body, 3)])


def left(running: Any, server: Vendor) -> None:
    """Check what is left of a stream that was left after its first slot."""
    [attempt] = running.trace.attempts
    assert attempt.verdict is Verdict.FAULTED
    assert attempt.fault.kind is FaultKind.CANCELLED
    assert attempt.usage.estimated
    assert attempt.usage.input > 0
    assert attempt.usage.output > 0
    assert running.trace.usage == attempt.usage
    assert [each.type for each in running.trace.events] == ["log.appended", "provider.usage", "node.failed"]
    assert len(server.seen) == 1
    assert server.sent[0].closed
    assert server.sent[0].given < len(server.sent[0]._pieces)


class Gone(Exception):
    """What a consumer raises."""


def _raising(running: Any, error: BaseException) -> None:
    with running:
        for _ in running:
            raise error


async def _araising(running: Any, error: BaseException) -> None:
    async with running:
        async for _ in running:
            raise error


def consume(running: Any, way: str) -> None:
    """Read up to the first slot, and leave."""
    match way:
        case "close":
            next(running)
            running.close()
        case "with":
            with running:
                next(running)
        case "break":
            with running:
                for _ in running:
                    break
        case "interrupt":
            with pytest.raises(KeyboardInterrupt):
                _raising(running, KeyboardInterrupt())
        case _:
            with pytest.raises(Gone):
                _raising(running, Gone())


async def aconsume(running: Any, way: str) -> None:
    """Read up to the first slot, and leave."""
    match way:
        case "close":
            await anext(running)
            await running.aclose()
        case "with":
            async with running:
                await anext(running)
        case "break":
            async with running:
                async for _ in running:
                    break
        case _:
            with pytest.raises(Gone):
                await _araising(running, Gone())


@every_wire
@pytest.mark.parametrize("way", ["close", "with", "break", "interrupt", "raise"])
def test_leaving(wire: str, way: str) -> None:
    """However the consumer leaves, the response is closed and nothing more is sent."""
    server = vendor(wire)
    running = opened(wire, "sync", server, FORM)
    consume(running, way)

    left(running, server)
    with pytest.raises(InputError, match="closed before its end"):
        running.result()
    assert list(running) == []


@every_wire
@pytest.mark.parametrize("way", ["close", "with", "break", "raise"])
def test_leaving_without_blocking(wire: str, way: str) -> None:
    """However the consumer leaves, the response is closed and nothing more is sent."""
    server = vendor(wire)
    running = opened(wire, "async", server, FORM)

    async def run() -> None:
        await aconsume(running, way)
        with pytest.raises(InputError, match="closed before its end"):
            await running.result()
        assert [each async for each in running] == []

    asyncio.run(run())
    left(running, server)


@every_wire
@pytest.mark.parametrize("where", ["waiting", "consuming"])
def test_a_cancelled_task(wire: str, where: str) -> None:
    """A task that is cancelled, while it waits for the vendor or elsewhere, tells all the same what was spent."""
    pieces = streamed(wire, VENDORS[wire].whole(json.dumps(DOCUMENT), 40).body, 3).pieces
    half = len(pieces) * 2 // 3
    stalled = Answer([*pieces[:half], STALL, *pieces[half:]])
    server = Vendor([stalled]) if where == "waiting" else vendor(wire)

    async def run() -> Any:
        began = asyncio.Event()
        running = opened(wire, "async", server, FORM)

        async def read() -> None:
            async for _ in running:
                began.set()
                await (asyncio.sleep(0) if where == "waiting" else asyncio.Event().wait())

        task = asyncio.create_task(read())
        await began.wait()
        for _ in range(99):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await running.aclose()
        with pytest.raises(InputError, match="closed before its end"):
            await running.result()
        return running

    left(asyncio.run(run()), server)


@every_wire
def test_an_interrupt_while_waiting(wire: str) -> None:
    """Ctrl-C in the middle of a read ends the request, too."""
    pieces = streamed(wire, VENDORS[wire].whole(json.dumps(DOCUMENT), 40).body, 3)
    cut = Answer([*pieces.pieces[: len(pieces.pieces) // 2], KeyboardInterrupt(), *pieces.pieces])
    server = Vendor([cut])
    running = opened(wire, "sync", server, FORM)

    with pytest.raises(KeyboardInterrupt):
        list(running)
    assert running.trace.attempts[0].fault.kind is FaultKind.CANCELLED
    assert server.sent[0].closed
    with pytest.raises(InputError, match="closed before its end"):
        running.result()


@every_wire
def test_a_stream_that_nobody_keeps(wire: str) -> None:
    """One that is collected closes its response and warns of nothing."""
    server = vendor(wire)
    reported: list[RunEvent] = []
    running = opened(wire, "sync", server, FORM, on_event=reported.append)
    next(running)
    del running

    assert server.sent[0].closed
    assert [each.type for each in reported] == ["log.appended", "provider.usage", "node.failed"]


@every_wire
def test_an_async_stream_that_nobody_keeps(wire: str) -> None:
    """The event loop closes it."""
    gc.freeze()  # or the collection below would look through all that the tests have imported

    async def run() -> Vendor:
        server = vendor(wire)
        running = opened(wire, "async", server, FORM)
        await anext(running)
        del running
        gc.collect()
        for _ in range(20):
            await asyncio.sleep(0)
        return server

    assert asyncio.run(run()).sent[0].closed


@every_world
def test_one_that_was_never_begun(world: str) -> None:
    """Nothing is sent, nothing was spent, and there is no result."""
    server = vendor("openai-chat")
    running = opened("openai-chat", world, server, FORM)

    async def run() -> None:
        await running.aclose()
        with pytest.raises(InputError, match="closed before its end"):
            await running.result()

    if world == "async":
        asyncio.run(run())
    else:
        running.close()
        with pytest.raises(InputError, match="closed before its end"):
            running.result()
    assert running.trace.attempts == ()
    assert server.seen == []


@every_world
def test_the_result_may_be_asked_for_twice(world: str) -> None:
    """Without iterating, again, and after closing: it is the same."""
    running = opened("openai-chat", world, vendor("openai-chat"), FORM)

    async def run() -> list[Any]:
        results = [await running.result(), await running.result()]
        await running.aclose()
        return [*results, await running.result()]

    if world == "async":
        first, second, third = asyncio.run(run())
    else:
        first, second = running.result(), running.result()
        running.close()
        third = running.result()
    assert first is second is third
    assert first.value == DOCUMENT


@every_world
def test_an_error_is_raised_again_by_result(world: str) -> None:
    """Iterating raises it once, result each time; iterating again tells nothing."""
    bad = streamed("openai-chat", VENDORS["openai-chat"].whole("No.", 3).body)
    running = opened("openai-chat", world, Vendor([bad]), FORM, policy=Policy(max_attempts=1))

    async def run() -> None:
        with pytest.raises(Invalid):
            _ = [each async for each in running]
        for _ in range(2):
            with pytest.raises(Invalid):
                await running.result()
        assert [each async for each in running] == []

    if world == "async":
        asyncio.run(run())
        return
    with pytest.raises(Invalid):
        list(running)
    for _ in range(2):
        with pytest.raises(Invalid):
            running.result()
    assert list(running) == []


@every_world
def test_reading_on_after_the_result(world: str) -> None:
    """A part may be iterated, and the rest read by result."""
    running = opened("openai-chat", world, vendor("openai-chat"), FORM)

    async def run() -> tuple[Any, Any]:
        return await anext(running), await running.result()

    first, result = asyncio.run(run()) if world == "async" else (next(running), running.result())
    assert first == FieldComplete("/a", "some words")
    assert result.value == DOCUMENT


class Broken(Exception):
    """What a sink raises."""


@every_world
@every_wire
@pytest.mark.parametrize("at", ["log.appended", "provider.usage"])
def test_a_sink_that_raises(at: str, wire: str, world: str) -> None:
    """The answer that was paid for is returned, with a warning."""

    def on_event(event: RunEvent) -> None:
        if event.type == at:
            raise Broken(event.type)

    server = vendor(wire)
    with pytest.warns(RuntimeWarning, match="^on_event raised Broken") as warned:
        result = ask(wire, world, server, FORM, on_event=on_event).result

    assert result.value == DOCUMENT
    assert len(warned) == 1
    assert all(each.closed for each in server.sent)
