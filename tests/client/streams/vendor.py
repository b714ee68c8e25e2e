"""A vendor whose answers come piece by piece, and asking it through the vendors' own SDKs."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

from emitter import EmissionError, astream, astream_binding_moment, stream, stream_binding_moment
from emitter.adapters.clients import create_client
from emitter.clock import Clock
from emitter.profiles import WireFormat, find_profile
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.adapters.sending import http_kind
from tests.adapters.streams import STREAMS, Frame

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

    from emitter.streaming import StreamEvent

URL = "http://vendor.invalid/v1"
WIRES = tuple(SCENARIO_MODELS)
WORLDS = ("sync", "async")
EVENTS = {"content-type": "text/event-stream"}
STALL = b"never"
"""A piece for which an async client waits for ever, and a thread for longer than its test."""
_STALLED_SECONDS = 5
JSON = {"content-type": "application/json"}


class Coming(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that comes piece by piece; an exception among the pieces is raised in its place."""

    def __init__(self, pieces: Sequence[bytes | BaseException], before: Callable[[], None] = lambda: None) -> None:
        self._pieces, self._before = pieces, before
        self.closed = False
        self.given = 0

    def __iter__(self) -> Iterator[bytes]:
        for each in self._pieces:
            if each is STALL:
                threading.Event().wait(_STALLED_SECONDS)
            yield self._piece(each)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for each in self._pieces:
            await (asyncio.Event().wait() if each is STALL else asyncio.sleep(0))
            yield self._piece(each)

    def _piece(self, each: bytes | BaseException) -> bytes:
        self._before()
        if isinstance(each, BaseException):
            raise each
        self.given += 1
        return each

    def close(self) -> None:
        """Note that the connection was given back."""
        self.closed = True

    async def aclose(self) -> None:
        """Note that the connection was given back."""
        self.closed = True


@dataclass(frozen=True)
class Answer:
    """One HTTP response."""

    pieces: Sequence[bytes | BaseException]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: EVENTS)


def whole(body: str, status: int = 200, headers: Mapping[str, str] = JSON) -> Answer:
    """Return an answer that comes in one piece."""
    return Answer([body.encode()], status, headers)


def events_of(wire: str, body: dict[str, Any], size: int = 7) -> str:
    """Return the stream that a unary body would have been, in deltas of a size."""
    made = STREAMS[WireFormat(wire)](body, lambda text: [text[at : at + size] for at in range(0, len(text), size)])
    return Frame(done=wire == "openai-chat").write(list(made))


def streamed(wire: str, body: dict[str, Any], size: int = 7, **headers: str) -> Answer:
    """Return the stream that a unary body would have been, an event in each piece."""
    pieces = [f"{each}\n\n".encode() for each in events_of(wire, body, size).split("\n\n") if each]
    return Answer(pieces, headers={**EVENTS, **headers})


class Vendor:
    """Answers from a script, and keeps what came and what became of its answers."""

    def __init__(self, script: Sequence[Answer], before: Callable[[], None] = lambda: None) -> None:
        self._left = iter(script)
        self._before = before
        self.seen: list[Any] = []
        self.sent: list[Coming] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        self.seen.append(json.loads(request.content))
        answer = next(self._left)
        self.sent.append(Coming(answer.pieces, self._before))
        return httpx2.Response(answer.status, headers=dict(answer.headers), stream=self.sent[-1])

    def client(self, wire: str, world: str) -> object:
        """Return the vendor's own SDK client."""
        facts, _ = find_profile(SCENARIO_MODELS[wire])
        http = http_kind(world, WireFormat(wire))(transport=httpx2.MockTransport(self))
        return create_client(facts, asynchronous=world == "async", base_url=URL, api_key="k", http_client=http)


class Waits:
    """A clock that moves only when it is told to, and notes what was waited."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def clock(self) -> Clock:
        """Return it as a driver's clock."""

        async def asleep(seconds: float) -> None:
            self.sleep(seconds)

        return Clock(monotonic=lambda: self.now, sleep=self.sleep, async_sleep=asleep)

    def sleep(self, seconds: float) -> None:
        """Pass the time."""
        self.waits.append(seconds)
        self.now += seconds


@dataclass
class Told:
    """What came of a stream: what was reported, its result or error, its trace, and the vendor's side of it."""

    reported: list[StreamEvent]
    result: Any
    trace: Any
    vendor: Vendor

    @property
    def attempts(self) -> Any:
        """Every call."""
        return self.trace.attempts

    @property
    def events(self) -> list[Any]:
        """Every event, without its id and time."""
        return [each.event for each in self.trace.events]


def opened(wire: str, world: str, vendor: Vendor, schema: Any = None, **more: Any) -> Any:
    """Return the stream of a document under a schema, or of a decision."""
    settings = {"model": SCENARIO_MODELS[wire], "wire": wire, "client": vendor.client(wire, world), **more}
    settings.setdefault("clock", Waits().clock())
    situation = settings.pop("situation", "Now?")
    if schema is None:
        return (astream_binding_moment if world == "async" else stream_binding_moment)(situation, **settings)
    return (astream if world == "async" else stream)(schema, situation, **settings)


def ask(wire: str, world: str, script: Sequence[Answer] | Vendor, schema: Any = None, **more: Any) -> Told:
    """Read a stream to its end."""
    vendor = script if isinstance(script, Vendor) else Vendor(script)
    running = opened(wire, world, vendor, schema, **more)
    reported: list[StreamEvent] = []
    try:
        if world == "async":
            result = asyncio.run(_aread(running, reported))
        else:
            reported.extend(running)
            result = running.result()
    except EmissionError as error:
        result = error
    assert result.trace == running.trace
    return Told(reported, result, running.trace, vendor)


async def _aread(running: Any, reported: list[StreamEvent]) -> Any:
    async for each in running:
        reported.append(each)  # noqa: PERF401  what was reported before an error counts
    return await running.result()
