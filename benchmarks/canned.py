"""A server that gives one answer to every request, as fast as Python can: under load nothing else should be slow."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from multiprocessing.connection import Connection
    from typing import Self

_HEAD_ENDS = b"\r\n\r\n"
_LENGTH = b"content-length:"


class Canned:
    """Serves while its ``with`` block runs, from a thread; ``latency`` is in seconds."""

    def __init__(self, body: bytes, latency: float) -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self._answer = head.encode() + body
        self._latency = latency
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.url = ""
        self.served = 0

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await self._loop.create_server(lambda: _Connection(self), "127.0.0.1", 0, backlog=1024)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._started.set()
        await self._stop.wait()
        server.close()

    def answer(self, transport: asyncio.Transport) -> None:
        """Answer one request, after the latency."""
        self.served += 1
        self._loop.call_later(self._latency, transport.write, self._answer)

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()


@contextmanager
def serving(bodies: list[bytes]) -> Generator[list[str]]:
    """Yield the addresses of servers, one for each body, in a process of their own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve_until_closed, args=(theirs, bodies), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        ours.close()
        process.join()


def _serve_until_closed(connection: Connection, bodies: list[bytes]) -> None:
    with ExitStack() as stack:
        connection.send([stack.enter_context(Canned(body, 0)).url for body in bodies])
        with suppress(EOFError):
            connection.recv()


class _Connection(asyncio.Protocol):
    """Reads requests by their length, and nothing else of them."""

    def __init__(self, server: Canned) -> None:
        self._server = server
        self._heard = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  of TCP it is one
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._heard += data
        while True:
            head, ends, rest = self._heard.partition(_HEAD_ENDS)
            length = _length(head)
            if not ends or len(rest) < length:
                return
            self._heard = rest[length:]
            self._server.answer(self._transport)


def _length(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    return next((int(each[len(_LENGTH) :]) for each in lines if each.startswith(_LENGTH)), 0)
