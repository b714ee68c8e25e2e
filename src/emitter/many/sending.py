"""Sending for all emissions of a run: through one client, and through the gate of its vendor."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.adapters.client import make
from emitter.door.exchange import Line, Whole
from emitter.door.perform import recorder
from emitter.drive import AsyncDrive, ended
from emitter.emission import emission
from emitter.wire import Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from emitter.door.plan import Plan
    from emitter.door.settings import Settings
    from emitter.events import RunEvent
    from emitter.many.limit import Turn
    from emitter.many.tally import Tally
    from emitter.profile import Profile
    from emitter.progress import Progress
    from emitter.steps import Outcome
    from emitter.wire import Answer, Request, Usage

_GOOGLE_HTTP = "_async_httpx_client"
_CROWDED = "Other calls to the vendor left no time for this one."


@dataclass(frozen=True, slots=True)
class Ended:
    """An emission that is over: what it came to, and what was told of it."""

    outcome: Outcome
    events: tuple[RunEvent, ...]


@dataclass(slots=True)
class Sent:
    """One emission on its way; ``ended`` once it is over, also where it was cancelled."""

    plan: Plan
    settings: Settings
    turn: Turn
    tally: Tally
    ended: Ended | None = None
    calls: int = 0

    def called(self) -> None:
        """Count a call."""
        self.calls += 1
        self.tally.called(self.calls)

    async def run(self, client: object) -> Ended:
        """Drive the emission to its outcome."""
        tell = recorder(self.plan, self.settings)
        line = Line(self.plan, client, self.settings.clock, max_bytes=self.settings.policy.max_response_bytes)
        steps = emission(self.plan.ask, self.settings.policy)

        def send(request: Request, timeout: float) -> _Gated:
            return _Gated(line, request, timeout, self)

        drive = AsyncDrive(steps, send, tell, self.settings.limits())
        try:
            await self.turn.take()
            async for _ in drive:
                pass
        finally:
            self.turn.give()
            if drive.outcome is not None:
                self.ended = Ended(drive.outcome, tuple(tell.told))
                self.tally.spent(drive.outcome)
        return Ended(ended(drive), tuple(tell.told))


class _Gated:
    """A request that waits for its turn, then comes whole."""

    answer: Answer

    def __init__(self, line: Line, request: Request, timeout: float, sent: Sent) -> None:
        self._line, self._request, self._timeout, self._sent = line, request, timeout, sent
        self._whole: Whole | None = None

    async def __aiter__(self) -> AsyncGenerator[Progress]:
        """Send, when it may be; there is nothing to tell on the way."""
        clock, bounded = self._line.clock, self._sent.settings.policy.deadline is not None
        began = clock.monotonic()
        try:
            async with asyncio.timeout(self._timeout if bounded else None):
                await self._sent.turn.take()
        except TimeoutError:
            self.answer = Fault(FaultKind.TIMEOUT, _CROWDED)
            return
        left = self._timeout - (clock.monotonic() - began) if bounded else self._timeout
        answer: Answer | None = None
        try:
            self._whole = whole = Whole(self._line, self._request, left)
            self._sent.called()
            async with aclosing(whole.__aiter__()) as telling:
                async for each in telling:
                    yield each
            self.answer = answer = whole.answer
        finally:
            self._sent.turn.give(answer)

    def so_far(self) -> Usage | None:
        """Return what an answer that was left unread has cost."""
        return self._whole.so_far() if self._whole else None


@asynccontextmanager
async def shared(profile: Profile, settings: Settings, in_flight: int) -> AsyncGenerator[object]:
    """Yield the client that all emissions are sent through: the caller's, or one that is made and closed here."""
    if settings.client is not None:
        yield getattr(settings.client, "aio", settings.client)
        return
    from emitter.many.pools import Pooled  # noqa: PLC0415  it loads httpx2, as every SDK does

    async with AsyncExitStack() as stack:
        http = Pooled(in_flight)
        stack.push_async_callback(http.aclose)
        made = make(profile, asynchronous=True, base_url=settings.base_url, http_client=http)
        stack.push_async_callback(closed, made)
        yield getattr(made, "aio", made)


async def release(client: object) -> None:
    """Close the connections that the caller's client holds in this event loop, and leave the client open.

    The loop ends after this, and connections of a loop that ended cannot be used again.
    """
    google = getattr(getattr(client, "aio", client), "_api_client", None)
    http: Any = getattr(client if google is None else google, "_client" if google is None else _GOOGLE_HTTP, None)
    of_loop = getattr(http, "_loop_clients", {}).pop(asyncio.get_running_loop(), None)  # google's has one for each loop
    for each in (of_loop, getattr(http, "_transport", None), *getattr(http, "_mounts", {}).values()):
        if each is not None:
            await each.aclose()


async def closed(client: object) -> None:
    """Close a client, if there is one."""
    if client is not None:
        used: Any = getattr(client, "aio", client)
        await (used.aclose if hasattr(used, "aclose") else used.close)()
