"""The simulated vendor as an ASGI application.

It sends each response as planned: slowed down, stalled, trickled or cut.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from emitter.testing.handler import RawRequest
from emitter.testing.plans import TransmissionOutcome

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, MutableMapping

    from emitter.messages import Usage
    from emitter.testing.handler import CallLog, SimulatedResponse, SimulatorHandler

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

_SLICE_BYTES = 1 << 16
_TRICKLE_SECONDS = 0.02
"""Seconds between two trickled bytes."""


class ResponseSpeed:
    """The speed of the vendor: seconds before the first byte, then tokens per second (None: no delay)."""

    def __init__(self, latency: float, tokens_per_second: float | None) -> None:
        self.latency = latency
        self.tokens_per_second = tokens_per_second

    def get_seconds(self, tokens: float) -> float:
        """Return the time in which the vendor writes this many tokens."""
        return tokens / self.tokens_per_second if self.tokens_per_second else 0.0


class SimulatorApp:
    """Serves all requests. An exception in a behaviour is kept in ``errors`` and answered with a 500."""

    def __init__(self, handler: SimulatorHandler, call_log: CallLog, speed: ResponseSpeed) -> None:
        self._handler = handler
        self._call_log = call_log
        self._speed = speed
        self.errors: list[Exception] = []

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        body = await _read_body(receive)
        if body is None:
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = scope["query_string"].decode("latin-1")
        path = f"{scope['path']}?{query}" if query else scope["path"]
        try:
            response, call = self._handler.handle(RawRequest(scope["method"], path, headers, body))
        except Exception as error:  # noqa: BLE001  raised again when the simulator closes
            self.errors.append(error)
            await _send_error(send, error)
            return
        client = _ClientConnection(receive, send, scope["state"]["transport"])
        usage = await _deliver(response, client, self._speed)
        if usage is not None:
            self._call_log.update_usage(call, usage)


async def _read_body(receive: Receive) -> bytes | None:
    """Return the body, or None if the client disconnects before its end."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def _send_error(send: Send, error: Exception) -> None:
    body = f"The simulator's behaviour raised {type(error).__name__}: {error}".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@dataclass(slots=True)
class _ClientConnection:
    """The client's side of a connection."""

    receive: Receive
    send: Send
    transport: asyncio.Transport
    sent: int = 0

    async def start(self, response: SimulatedResponse, *, with_length: bool) -> None:
        """Send the status and the headers."""
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers.items()]
        if with_length:
            headers.append((b"content-length", str(len(response.body)).encode()))
        await self.send({"type": "http.response.start", "status": response.status, "headers": headers})

    async def write(self, data: bytes, *, more: bool) -> None:
        """Send a part of the body."""
        await self.send({"type": "http.response.body", "body": data, "more_body": more})
        self.sent += len(data)

    async def wait_for_disconnect(self, seconds: float | None) -> bool:
        """Wait at most ``seconds`` (None: for ever), and return whether the client disconnected."""
        try:
            async with asyncio.timeout(seconds):
                while (await self.receive())["type"] != "http.disconnect":
                    pass
        except TimeoutError:
            return False
        return True


async def _deliver(response: SimulatedResponse, client: _ClientConnection, speed: ResponseSpeed) -> Usage | None:
    """Send a response as planned. Return the changed usage if the client disconnects before the end."""
    delay = speed.latency + (0.0 if response.is_stream else speed.get_seconds(response.usage.output))
    if delay and await client.wait_for_disconnect(delay):
        return response.compute_usage(None)
    limit, outcome = response.delivered_bytes, response.transmission.outcome
    if limit is not None:
        await client.start(response, with_length=not response.is_stream and outcome is not TransmissionOutcome.TRICKLED)
        is_complete = outcome is TransmissionOutcome.DELIVERED
        if not await _send_body(response, limit, client, speed, is_complete=is_complete):
            return response.compute_usage(client.sent)
    await _fail_delivery(outcome, client, response.keepalive)
    return None


async def _fail_delivery(outcome: TransmissionOutcome, client: _ClientConnection, keepalive: bytes) -> None:
    """Fail in the planned way after the last byte."""
    match outcome:
        case TransmissionOutcome.DELIVERED:
            pass
        case TransmissionOutcome.DISCONNECTED:
            client.transport.close()
            await client.wait_for_disconnect(None)
        case TransmissionOutcome.STALLED:
            await client.wait_for_disconnect(None)
        case TransmissionOutcome.TRICKLED:
            while not await client.wait_for_disconnect(_TRICKLE_SECONDS):
                await client.send({"type": "http.response.body", "body": keepalive, "more_body": True})
        case _ as never:
            assert_never(never)


async def _send_body(
    response: SimulatedResponse, limit: int, client: _ClientConnection, speed: ResponseSpeed, *, is_complete: bool
) -> bool:
    """Send the body up to ``limit`` bytes, and return whether the client stayed connected."""
    for data, delay in _iter_slices(response, limit, speed):
        if (delay and await client.wait_for_disconnect(delay)) or client.transport.is_closing():
            return False
        is_last = client.sent + len(data) >= limit
        await client.write(data, more=not (is_complete and is_last))
    return True


def _iter_slices(response: SimulatedResponse, limit: int, speed: ResponseSpeed) -> Iterator[tuple[bytes, float]]:
    """Yield what to send and the wait before it: single events if there is a token rate, else slices of 64 KiB."""
    body, output = response.body, response.usage.output
    if not (speed.tokens_per_second and response.is_stream):
        yield from (
            (body[start : min(start + _SLICE_BYTES, limit)], 0.0) for start in range(0, max(1, limit), _SLICE_BYTES)
        )
        return
    event_start, text_start, length = 0, 0, max(1, len(response.text))
    for event_end, text_end in zip(response.event_offsets, response.text_offsets, strict=True):
        yield body[event_start : min(event_end, limit)], speed.get_seconds(output * (text_end - text_start) / length)
        event_start, text_start = event_end, text_end
        if event_end >= limit:
            return
