"""A call that is interrupted was paid for: its tokens are in every total, whatever interrupted it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, cast

import httpx2
import pytest

from emitter import aemit, aemit_many, astream, emit, emit_many, stream
from emitter.client.background import Background
from emitter.clock import Clock
from emitter.events import ProviderUsage
from emitter.stores import MemoryStore
from emitter.telemetry import to_all, to_otel
from emitter.testing import Stalled, Text, simulator
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from emitter.events import RunEvent
    from emitter.messages import Usage
    from emitter.telemetry.sinks import Sink

openai = pytest.importorskip("openai")
metrics = pytest.importorskip("opentelemetry.sdk.metrics")
exports = pytest.importorskip("opentelemetry.sdk.metrics.export")
traces = pytest.importorskip("opentelemetry.sdk.trace")

MODEL = "openai/gpt-6-sol"
FORM = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


class OddError(BaseException):
    """What a library raises that does not want to be handled, such as a timeout of gevent."""


class Interrupting(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Sends the request, and is interrupted while it waits for the answer."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.sent = error, 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send."""
        for _ in cast("httpx2.SyncByteStream", request.stream):
            pass
        self.sent += 1
        raise self.error

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send."""
        async for _ in cast("httpx2.AsyncByteStream", request.stream):
            pass
        self.sent += 1
        raise self.error


class Totals:
    """The places where the tokens of calls are counted."""

    def __init__(self) -> None:
        self.events: list[RunEvent] = []
        self._reader = exports.InMemoryMetricReader()
        provider = metrics.MeterProvider([self._reader])
        self.sink: Sink = to_all(self.events.append, to_otel(traces.TracerProvider(), provider))

    def of_events(self) -> int:
        """Return the tokens in events."""
        usages = [each.event for each in self.events if isinstance(each.event, ProviderUsage)]
        return sum(each.input_tokens + each.output_tokens for each in usages)

    def of_metrics(self) -> int:
        """Return the tokens in metrics."""
        data = self._reader.get_metrics_data()
        found = [] if data is None else data.resource_metrics[0].scope_metrics[0].metrics
        points = [
            point for each in found if each.name == "gen_ai.client.token.usage" for point in each.data.data_points
        ]
        return sum(point.sum for point in points)


def _stream(**options: Any) -> object:
    with stream(FORM, "How many?", model=MODEL, **options) as events:
        list(events)
    return None


async def _astream(**options: Any) -> None:
    async with astream(FORM, "How many?", model=MODEL, **options) as events:
        async for _ in events:
            pass


async def _aemit(**options: Any) -> object:
    return await aemit(FORM, "How many?", model=MODEL, **options)


WAYS: dict[str, Callable[..., Any]] = {
    "emit": lambda **options: emit(FORM, "How many?", model=MODEL, **options),
    "stream": _stream,
    "background": lambda **options: emit(FORM, "How many?", model=MODEL, background=True, **options),
    "background with a store": lambda **options: emit(
        FORM, "How many?", model=MODEL, background=Background(MemoryStore(), "a"), **options
    ),
    "aemit": _aemit,
    "astream": _astream,
    "abackground": lambda **options: _aemit(background=True, **options),
}
INTERRUPTIONS: dict[str, Callable[[], BaseException]] = {
    "ctrl-c": KeyboardInterrupt,
    "a signal handler that exits": SystemExit,
    "cancelled": asyncio.CancelledError,
    "odd": OddError,
}


async def _arun(way: str, transport: Interrupting, sink: Sink) -> None:
    async with openai.AsyncOpenAI(api_key="k", http_client=httpx2.AsyncClient(transport=transport)) as client:
        try:
            await WAYS[way](client=client, on_event=sink)
        except BaseException as error:  # noqa: BLE001  a loop treats some of them in its own way
            assert error is transport.error  # noqa: PT017  as above
        else:
            pytest.fail("It was interrupted.")


@pytest.mark.parametrize(("way", "cause"), covering(WAYS, INTERRUPTIONS))
def test_a_call(way: str, cause: str) -> None:
    """Its tokens are estimated, and the interruption is raised as it is."""
    transport, totals = Interrupting(INTERRUPTIONS[cause]()), Totals()
    if way.startswith("a"):
        asyncio.run(_arun(way, transport, totals.sink))
    else:
        with openai.OpenAI(api_key="k", http_client=httpx2.Client(transport=transport)) as client:
            with pytest.raises(type(transport.error)) as caught:
                WAYS[way](client=client, on_event=totals.sink)
            assert caught.value is transport.error
    assert transport.sent == 1
    assert totals.of_events() == totals.of_metrics() > 100
    assert totals.events[-1].type == "node.failed"


async def _acancel(vendor: Any, totals: Totals, options: dict[str, Any]) -> Usage:
    async with vendor.client(MODEL, asynchronous=True) as client:
        run = aemit_many(FORM, ["How many?", "Why?"], model=MODEL, client=client, on_event=totals.sink, **options)
        task = asyncio.ensure_future(run.results())
        while len(vendor.calls) < 2:  # noqa: ASYNC110  the server, in a thread of its own, tells nobody
            await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.wait([task])
        return run.usage


def _interrupt(vendor: Any, totals: Totals, options: dict[str, Any]) -> Usage:
    def inputs() -> Iterator[str]:
        yield from ("How many?", "Why?")
        while len(vendor.calls) < 2:
            time.sleep(0.005)
        raise KeyboardInterrupt

    client = vendor.client(MODEL, asynchronous=True)
    run = emit_many(FORM, inputs(), model=MODEL, client=client, on_event=totals.sink, **options)
    with pytest.raises(KeyboardInterrupt):
        run.results()
    asyncio.run(client.close())
    return run.usage


@pytest.mark.parametrize("journal", [False, True], ids=["no journal", "journal"])
@pytest.mark.parametrize("way", ["emit_many", "aemit_many"])
def test_a_run(way: str, journal: bool, tmp_path: Path) -> None:
    """The run's total has the calls that were in progress."""
    totals, options = Totals(), {"journal": tmp_path / "journal"} if journal else {}
    with simulator(answers=Stalled(answer=Text({"a": "x"}))) as vendor:
        if way == "aemit_many":
            usage = asyncio.run(_acancel(vendor, totals, options))
        else:
            usage = _interrupt(vendor, totals, options)
    assert usage.total == totals.of_events() == totals.of_metrics() > 200


@pytest.mark.parametrize(
    ("background", "is_counted"),
    [(True, True), (Background(MemoryStore(), "report-7"), False)],
    ids=["without a store", "stored"],
)
def test_an_answer_that_is_written_in_the_background(background: Any, is_counted: bool) -> None:
    """It is lost without a store. With one, the next call gets and counts it."""

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    totals, clock = Totals(), Clock(sleep=stop)
    with (
        simulator(answers=Text({"a": "x"})) as vendor,
        vendor.client(MODEL) as client,
        pytest.raises(KeyboardInterrupt),
    ):
        emit(FORM, "How many?", model=MODEL, client=client, background=background, clock=clock, on_event=totals.sink)
    assert (totals.of_events() > 100) is is_counted
    assert totals.of_metrics() == totals.of_events()
