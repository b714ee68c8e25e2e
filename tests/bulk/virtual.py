"""An event loop whose time passes only while nothing is ready, and a vendor inside it."""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING, Any

import httpx2
import openai

from emitter.clock import Clock
from emitter.testing.handler import SimulatorHandler
from emitter.testing.responses import CallLog, RawRequest

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from emitter.testing import Behaviour

_PATIENCE = 30
LATENCY = 0.5
"""Seconds that every answer takes."""


class _Selector(selectors.DefaultSelector):
    """Lets the time of its loop pass instead of waiting."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> Any:
        """Return what is ready now; without anything, it is later."""
        if timeout is None:  # a thread is at work, or nothing will ever be ready
            return super().select(_PATIENCE)
        ready = super().select(0)
        if not ready:
            self.loop.now += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which an hour takes no time."""

    def __init__(self) -> None:
        self.now = 0.0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        """Return the seconds since the start."""
        return self.now

    def clock(self) -> Clock:
        """Return the clock of this loop."""
        return Clock(self.time, _never, asyncio.sleep)


def _never(_: float) -> None:
    raise AssertionError("blocked")


def run_virtual(loop: VirtualLoop, main: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a loop, and close it."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(main)


class VirtualVendor:
    """Answers in a loop's own time, without a socket."""

    def __init__(self, behaviour: Behaviour, latency: float = LATENCY) -> None:
        self.log = CallLog(None)
        self._handler = SimulatorHandler(behaviour, self.log, seed=1, check_schemas=False)
        self._latency = latency

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        raw = RawRequest("POST", request.url.path, dict(request.headers), request.content)
        response, _ = self._handler.handle(raw)
        await asyncio.sleep(self._latency)
        return httpx2.Response(response.status, headers=dict(response.headers), content=response.body)

    def client(self) -> Any:
        """Return a client that reaches this vendor alone."""
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer))
        client: Any = openai.AsyncOpenAI(api_key="key", base_url="http://vendor.test/v1", http_client=http)
        client._platform = "Linux"
        return client

    @property
    def refused(self) -> int:
        """The calls that were answered with 429."""
        return sum(call.status == 429 for call in self.log.calls)
