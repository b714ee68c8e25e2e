"""A plain ASGI application that sends what the desk decides, in the way it is to travel."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from emitter.testing.desk import Request
from emitter.testing.draft import Trip

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, MutableMapping

    from emitter.testing.desk import Desk
    from emitter.testing.ledger import Ledger
    from emitter.testing.response import Response
    from emitter.wire import Usage

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

_SLICE = 1 << 16
_DRIP = 0.02
"""Seconds between two bytes that trickle."""


class Pace:
    """How fast the vendor is: seconds before the first byte, tokens a second after it (None: at once)."""

    def __init__(self, latency: float, tokens_per_second: float | None) -> None:
        self.latency = latency
        self.tokens_per_second = tokens_per_second

    def seconds(self, tokens: float) -> float:
        """Return how long it takes to write some tokens."""
        return tokens / self.tokens_per_second if self.tokens_per_second else 0.0


class Application:
    """Serves every request; an exception of a behaviour is kept in ``raised`` and answered with a 500."""

    def __init__(self, desk: Desk, ledger: Ledger, pace: Pace) -> None:
        self._desk = desk
        self._ledger = ledger
        self._pace = pace
        self.raised: list[Exception] = []

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        raw = await _body(receive)
        if raw is None:
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = scope["query_string"].decode("latin-1")
        path = f"{scope['path']}?{query}" if query else scope["path"]
        try:
            handled = self._desk.handle(Request(scope["method"], path, headers, raw))
        except Exception as error:  # noqa: BLE001  it is raised again when the simulator closes
            self.raised.append(error)
            await _sent_error(send, error)
            return
        client = _Client(receive, send, scope["state"]["transport"])
        usage = await _delivered(handled.response, client, self._pace)
        if usage is not None:
            self._ledger.correct(handled.entry, usage)


async def _body(receive: Receive) -> bytes | None:
    """Return the request's body, or None where the client went before its end."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def _sent_error(send: Send, error: Exception) -> None:
    body = f"The simulator's behaviour raised {type(error).__name__}: {error}".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@dataclass(slots=True)
class _Client:
    """The other end of a connection."""

    receive: Receive
    send: Send
    transport: asyncio.Transport
    sent: int = 0

    async def start(self, response: Response, *, sized: bool) -> None:
        """Send status and headers."""
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers.items()]
        if sized:
            headers.append((b"content-length", str(len(response.body)).encode()))
        await self.send({"type": "http.response.start", "status": response.status, "headers": headers})

    async def write(self, data: bytes, *, more: bool) -> None:
        """Send a part of the body."""
        await self.send({"type": "http.response.body", "body": data, "more_body": more})
        self.sent += len(data)

    async def gone(self, within: float | None) -> bool:
        """Wait so many seconds; tell at once when the client has gone. None: wait until it has."""
        try:
            async with asyncio.timeout(within):
                while (await self.receive())["type"] != "http.disconnect":
                    pass
        except TimeoutError:
            return False
        return True


async def _delivered(response: Response, client: _Client, pace: Pace) -> Usage | None:
    """Send a response as it is to travel; return another bill where the client went in the middle."""
    before = pace.latency + (0.0 if response.streamed else pace.seconds(response.usage.output))
    if before and await client.gone(before):
        return response.billed(None)
    reach, trip = response.reach, response.delivery.trip
    if reach is not None:
        await client.start(response, sized=not response.streamed and trip is not Trip.TRICKLES)
        whole = trip is Trip.ARRIVES
        if not await _written(response, reach, client, pace, ends=whole):
            return response.billed(client.sent)
    await _lost(trip, client, response.filler)
    return None


async def _lost(trip: Trip, client: _Client, filler: bytes) -> None:
    """Let the rest of an answer go wrong, if it is to."""
    match trip:
        case Trip.ARRIVES:
            pass
        case Trip.CUT_OFF:
            client.transport.close()
            await client.gone(None)
        case Trip.FALLS_SILENT:
            await client.gone(None)
        case Trip.TRICKLES:
            while not await client.gone(_DRIP):
                await client.send({"type": "http.response.body", "body": filler, "more_body": True})
        case _ as never:
            assert_never(never)


async def _written(response: Response, reach: int, client: _Client, pace: Pace, *, ends: bool) -> bool:
    """Send so much of the body; tell whether the client stayed."""
    for data, wait in _slices(response, reach, pace):
        if (wait and await client.gone(wait)) or client.transport.is_closing():
            return False
        last = client.sent + len(data) >= reach
        await client.write(data, more=not (ends and last))
    return True


def _slices(response: Response, reach: int, pace: Pace) -> Iterator[tuple[bytes, float]]:
    """Yield what to send and how long to wait before: events one by one where the vendor takes its time."""
    body, output = response.body, response.usage.output
    if not (pace.tokens_per_second and response.streamed):
        yield from ((body[at : min(at + _SLICE, reach)], 0.0) for at in range(0, max(1, reach), _SLICE))
        return
    begin, before, length = 0, 0, max(1, len(response.text))
    for end, said in zip(response.ends, response.said, strict=True):
        yield body[begin : min(end, reach)], pace.seconds(output * (said - before) / length)
        begin, before = end, said
        if end >= reach:
            return
