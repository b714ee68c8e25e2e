"""One async client, ``AsyncEmitter`` or set of shared clients in several event loops: each answer is paid for once."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import httpx2
import openai
import pytest
from pydantic import BaseModel

from emitter import AsyncEmitter, aemit, aemit_many, astream, emit_many
from emitter.adapters.event_loops import transport_for_loop
from emitter.testing import Text, simulator
from tests.client.proxy import CountingProxy, counting_proxy
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from emitter.testing import Simulator

MODELS = {
    "openai": "openai/gpt-6-sol",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "google": "google/gemini-3.8-flash",
}

OK = 200


class Invoice(BaseModel):
    """What is asked for."""

    vendor: str


class _Wrapper(httpx2.AsyncBaseTransport):
    """A transport that counts the requests, and sends them through another one."""

    def __init__(self) -> None:
        self.inner = httpx2.AsyncHTTPTransport()
        self.requests = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        self.requests += 1
        return await self.inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.inner.aclose()


@pytest.fixture(scope="module")
def server() -> Iterator[Simulator]:
    """Run a simulated vendor."""
    with simulator(answers=Text({"vendor": "Acme"})) as made:
        yield made


@pytest.fixture
def vendor(server: Simulator, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """Return the simulated vendor as if it were new. The environment points to it."""
    server.reset()
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    return server


def _with_client(vendor: Simulator, model: str, **http: Any) -> Callable[[], Awaitable[int]]:
    client = vendor.client(model, asynchronous=True, **http)

    async def ask() -> int:
        return (await aemit(Invoice, "From Acme.", model=model, client=client)).usage.total

    return ask


def _with_pool(_vendor: Simulator, model: str) -> Callable[[], Awaitable[int]]:
    async def ask() -> int:
        return (await aemit(Invoice, "From Acme.", model=model)).usage.total

    return ask


def _with_emitter(_vendor: Simulator, model: str) -> Callable[[], Awaitable[int]]:
    emitter = AsyncEmitter(model)

    async def ask() -> int:
        return (await emitter.emit(Invoice, "From Acme.")).usage.total

    return ask


def _with_stream(vendor: Simulator, model: str) -> Callable[[], Awaitable[int]]:
    client = vendor.client(model, asynchronous=True, timeout=30)

    async def ask() -> int:
        async with astream(Invoice, "From Acme.", model=model, client=client) as events:
            async for _ in events:
                pass
            return (await events.result()).usage.total

    return ask


def _with_many(vendor: Simulator, model: str) -> Callable[[], Awaitable[int]]:
    client = vendor.client(model, asynchronous=True, timeout=30)

    async def ask() -> int:
        run = aemit_many(Invoice, ["From Acme."] * 3, model=model, client=client)
        assert all(result.error is None for result in await run.results())
        return run.usage.total

    return ask


USERS: dict[str, Callable[[Simulator, str], Callable[[], Awaitable[int]]]] = {
    "client": lambda vendor, model: _with_client(vendor, model, timeout=30),
    "wrapped": lambda vendor, model: _with_client(vendor, model, transport=_Wrapper()),
    "default": _with_pool,
    "emitter": _with_emitter,
    "stream": _with_stream,
    "many": _with_many,
}


def _one_run_for_each(ask: Callable[[], Any]) -> list[int]:
    return [asyncio.run(ask()) for _ in range(4)]


def _closed_without_shutdown(ask: Callable[[], Any]) -> list[int]:
    found: list[int] = []
    for _ in range(3):
        with closing(asyncio.new_event_loop()) as loop:
            found.append(loop.run_until_complete(ask()))
    return [*found, asyncio.run(ask())]


def _taking_turns(ask: Callable[[], Any]) -> list[int]:
    loops = [asyncio.Runner() for _ in range(3)]
    found = [loop.run(ask()) for _ in range(3) for loop in loops]
    for loop in loops:
        loop.close()
    return found


def _at_the_same_time(ask: Callable[[], Any]) -> list[int]:
    barrier = threading.Barrier(3)

    async def work() -> list[int]:
        found: list[int] = []
        for _ in range(3):
            await asyncio.to_thread(barrier.wait)
            found += await asyncio.gather(*(ask() for _ in range(3)))
        return found

    with ThreadPoolExecutor(3) as threads:
        return [total for found in threads.map(lambda _: asyncio.run(work()), range(3)) for total in found]


WAYS = {
    "runs": _one_run_for_each,
    "closed": _closed_without_shutdown,
    "turns": _taking_turns,
    "threads": _at_the_same_time,
}


@pytest.mark.parametrize(("user", "way", "sdk"), covering(USERS, WAYS, MODELS))
def test_several_loops(vendor: Simulator, user: str, way: str, sdk: str) -> None:
    """As many calls as emissions, and every token is reported."""
    totals = WAYS[way](USERS[user](vendor, MODELS[sdk]))

    assert len(vendor.calls) == len(totals) * (3 if user == "many" else 1)
    assert vendor.billed.total == sum(totals)


def test_a_wrapper_is_the_same_object_to_all_loops(vendor: Simulator) -> None:
    """What a transport counts is counted for all loops, also while they run at the same time."""
    wrapper = _Wrapper()
    totals = _at_the_same_time(_with_client(vendor, MODELS["openai"], transport=wrapper))
    assert wrapper.requests == len(vendor.calls) == len(totals)


@pytest.fixture
def proxy(vendor: Simulator) -> Iterator[CountingProxy]:
    """Count the connections to the vendor."""
    with counting_proxy(vendor.url) as made:
        yield made


def _client(proxy: CountingProxy) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="k", base_url=f"{proxy.url}/v1", http_client=httpx2.AsyncClient())


def test_the_connections_of_a_running_loop_stay_open(vendor: Simulator, proxy: CountingProxy) -> None:
    """Neither a loop in another thread nor a run of many emissions closes or uses them."""
    client = _client(proxy)

    async def emit_twice() -> None:
        for _ in range(2):
            await _emit(client)

    async def main() -> None:
        await _emit(client)
        await asyncio.to_thread(lambda: asyncio.run(emit_twice()))
        run = emit_many(Invoice, ["1", "2"], model=MODELS["openai"], client=client, in_flight=1)
        await asyncio.to_thread(run.results)
        await _emit(client)

    asyncio.run(main())
    assert len(vendor.calls) == 6
    assert proxy.connections == 3


def test_connections_that_the_caller_opened_before(vendor: Simulator, proxy: CountingProxy) -> None:
    """A client that was used in a loop that is closed now has connections that no other loop can use."""
    client = _client(proxy)

    async def use() -> None:
        await client._client.get(f"{proxy.url}/v1/models")

    with closing(asyncio.new_event_loop()) as loop:
        loop.run_until_complete(use())
    for _ in range(2):
        asyncio.run(_emit(client))
    assert len([call for call in vendor.calls if call.status == OK]) == 2
    assert proxy.connections == 3


async def _emit(client: object) -> None:
    emission = await aemit(Invoice, "From Acme.", model=MODELS["openai"], client=client)
    assert len(emission.attempts) == 1


class _Unhashable(httpx2.MockTransport):
    """A transport that cannot be the key of a mapping, such as a dataclass."""

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("kind", [httpx2.MockTransport, _Unhashable])
def test_a_transport_without_connections_is_used_as_it_is(kind: type[httpx2.MockTransport]) -> None:
    """Only the pools of the HTTP libraries belong to a loop."""
    transport = kind(lambda _: httpx2.Response(200))

    async def find() -> object:
        return transport_for_loop(transport)

    assert asyncio.run(find()) is transport
