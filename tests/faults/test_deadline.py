"""A deadline ends a call wherever the vendor stops or slows down, in every way to ask, and leaves nothing behind.

The server writes raw bytes, and each of its trickles would go on for ever. What a test asserts is how the call ended.
That it ended at all is seen by a limit of many seconds, so that a busy machine changes nothing.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from emitter import EmissionError, Policy, aemit, astream, emit, stream
from emitter.adapters.clients import create_client
from emitter.bulk.runner import close_client
from emitter.errors import DeadlineReached
from emitter.media import Image
from emitter.messages import FaultKind
from emitter.profiles import find_profile
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.scenarios.vendors import VENDORS
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.profiles.model import Profile

WAYS = ("emit", "aemit", "stream", "astream")
BACKGROUND = ("emit in the background", "aemit in the background")
"""Further ways, on the one wire that has them."""
FORM: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
DOCUMENT = {"a": "some words"}
DEADLINE = 0.2
"""Seconds. A cell whose call did not come as far as its part in this time is tried with more."""
HANG = 60.0
"""Seconds after which a call counts as never ending."""
IMAGE = Image(b"\x89PNG\r\n\x1a\n" + os.urandom(3_000_000), media_type="image/png")
"""More than the buffers of two sockets hold."""


@dataclass(frozen=True)
class Part:
    """A part of an exchange that takes for ever: ``begin`` is sent, then ``drop`` again and again."""

    begin: bytes = b""
    drop: Callable[[int], bytes] = lambda _: b""
    slow_upload: bool = False


def _head(*lines: str, status: str = "200 OK") -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status}", "Content-Type: application/json", *lines, "", "")).encode()


CHUNKED, LONG = "Transfer-Encoding: chunked", "Content-Length: 1000000"
PARTS: dict[str, Callable[[bytes], Part]] = {
    "upload": lambda _: Part(slow_upload=True),
    "silence": lambda _: Part(),
    "head": lambda _: Part(b"HTTP/1.1 200 OK\r\n", b"X-%d: y\r\n".__mod__),
    "informational responses": lambda _: Part(drop=lambda _: b"HTTP/1.1 100 Continue\r\n\r\n"),
    "chunk extensions": lambda _: Part(_head(CHUNKED) + b"5;", lambda _: b"x"),
    "body": lambda body: Part(_head(LONG) + body, lambda _: b" "),
    "chunks": lambda body: Part(_head(CHUNKED) + b"%x\r\n%b\r\n" % (len(body), body), lambda _: b"1\r\n \r\n"),
    "body without a length": lambda body: Part(_head("Connection: close") + body, lambda _: b" "),
    "trailers": lambda body: Part(_head(CHUNKED) + b"%x\r\n%b\r\n0\r\n" % (len(body), body), b"X-%d: y\r\n".__mod__),
    "error body": lambda _: Part(_head(LONG, status="500 Internal Server Error") + b'{"error"', lambda _: b" "),
}


@dataclass
class Exchange:
    """What a server does with the first request to its path. It answers each other request at once."""

    part: Part
    answer: bytes
    reached: threading.Event = field(default_factory=threading.Event)
    """The part has begun."""
    returned: threading.Event = field(default_factory=threading.Event)
    """The call has ended, so that the server may read what is left in the buffers of an upload."""
    ended: threading.Event = field(default_factory=threading.Event)
    """The client has left."""


class SlowServer:
    """A server of raw sockets that is slow in a part of its own for each address."""

    def __init__(self) -> None:
        self.exchanges: dict[str, Exchange] = {}
        self.closed = threading.Event()
        self._listening = socket.socket()
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._listening.bind(("127.0.0.1", 0))
        self._listening.listen(256)
        threading.Thread(target=self._accept, daemon=True).start()

    def add(self, wire: str, part: str) -> tuple[str, Exchange]:
        """Return an address for one call on a wire, and what will come of it."""
        body = json.dumps(VENDORS[wire].whole(json.dumps(DOCUMENT), 40).body).encode()
        name = f"x{len(self.exchanges)}"
        self.exchanges[name] = exchange = Exchange(PARTS[part](body), _head(f"Content-Length: {len(body)}") + body)
        host, port = self._listening.getsockname()
        return f"http://{host}:{port}/{name}", exchange

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while head := _read_head(connection):
                exchange = self.exchanges[head.split(b" ")[1].split(b"/")[1].decode()]
                size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                if exchange.reached.is_set():
                    _read(connection, size)
                    connection.sendall(exchange.answer)
                    continue
                try:
                    self._be_slow(connection, exchange, size)
                finally:
                    exchange.ended.set()

    def _be_slow(self, connection: socket.socket, exchange: Exchange, size: int) -> None:
        part = exchange.part
        if not part.slow_upload:
            _read(connection, size)
        connection.sendall(part.begin)
        exchange.reached.set()
        connection.settimeout(0.02)
        for number in count():
            connection.sendall(part.drop(number))
            if exchange.returned.is_set():
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            with suppress(TimeoutError):
                if not connection.recv(1 << 22 if exchange.returned.is_set() else 64):
                    return
            if self.closed.is_set():
                return

    def close(self) -> None:
        """End all trickles."""
        self.closed.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


def _read_head(connection: socket.socket) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            return b""
        head += byte
    return head


def _read(connection: socket.socket, size: int) -> None:
    while size > 0:
        piece = connection.recv(min(size, 1 << 16))
        if not piece:
            raise ConnectionError
        size -= len(piece)


@pytest.fixture(scope="module")
def server() -> Iterator[SlowServer]:
    """Yield a server."""
    serving = SlowServer()
    yield serving
    serving.close()


class Asking:
    """A client of one address, and a call of it in one of the four ways."""

    def __init__(self, wire: str, way: str, url: str) -> None:
        self.way, _, rest = way.partition(" ")
        self.is_async, self.is_background = way.startswith("a"), bool(rest)
        self.model, self.wire = SCENARIO_MODELS[wire], wire
        profile: Profile = find_profile(self.model)[0]
        self.client: Any = create_client(profile, asynchronous=self.is_async, base_url=url, api_key="a-key-to-send")

    def arguments(self, policy: Policy, *, large: bool) -> dict[str, Any]:
        """Return the arguments of a call."""
        materials = [IMAGE] if large else []
        sent = {"model": self.model, "wire": self.wire, "client": self.client, "policy": policy, "materials": materials}
        return {**sent, "background": True} if self.is_background else sent

    def call(self, policy: Policy, *, large: bool = False) -> Any:
        """Return the value, or the error of the emission."""
        arguments = self.arguments(policy, large=large)
        try:
            if self.way == "emit":
                return emit(FORM, "Now?", **arguments).value
            with stream(FORM, "Now?", **arguments) as progress:
                return progress.result().value
        except EmissionError as error:
            return error

    async def acall(self, policy: Policy, *, large: bool = False) -> Any:
        """Async version of ``call``."""
        arguments = self.arguments(policy, large=large)
        try:
            if self.way == "aemit":
                return (await aemit(FORM, "Now?", **arguments)).value
            async with astream(FORM, "Now?", **arguments) as progress:
                return (await progress.result()).value
        except EmissionError as error:
            return error


def outcomes_of(asking: Asking, exchange: Exchange, seconds: float) -> list[Any]:
    """Return the outcome of a call with a deadline and, if it came as far as its part, of a second call.

    A call that does not end fails the test.
    """
    outcomes: list[Any] = []
    first, second, large = Policy(deadline=seconds), Policy(timeout=HANG), exchange.part.slow_upload

    async def run() -> None:
        outcomes.append(await asking.acall(first, large=large))
        if exchange.reached.is_set():
            outcomes.append(await asking.acall(second))
        await close_client(asking.client)

    def play() -> None:
        if asking.is_async:
            asyncio.run(run())
            return
        outcomes.append(asking.call(first, large=large))
        if exchange.reached.is_set():
            outcomes.append(asking.call(second))
        asking.client.close()

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    thread.join(HANG)
    assert not thread.is_alive(), "the call does not end"
    return outcomes


CELLS = [*covering(PARTS, WAYS, SCENARIO_MODELS), *covering(PARTS, BACKGROUND, ["openai-responses"])]


@pytest.mark.parametrize(("part", "way", "wire"), CELLS)
def test_a_call_ends_at_its_deadline(server: SlowServer, part: str, way: str, wire: str) -> None:
    """The outcome is a timeout, the connection is closed, and the client can be used again."""
    seconds = DEADLINE
    while True:
        url, exchange = server.add(wire, part)
        outcomes = outcomes_of(Asking(wire, way, url), exchange, seconds)
        exchange.returned.set()
        if len(outcomes) > 1 or seconds > HANG:
            break
        seconds *= 4

    failed, value = outcomes
    assert isinstance(failed, DeadlineReached)
    kind = FaultKind.SERVER if part == "error body" else FaultKind.TIMEOUT  # the status of an error is in its head
    assert [attempt.fault and attempt.fault.kind for attempt in failed.attempts] == [kind]
    assert exchange.ended.wait(HANG), "the connection is left open"
    assert value == DOCUMENT
    for thread in threading.enumerate():
        if thread.name == "emitter-bedrock":
            thread.join(HANG)
            assert not thread.is_alive()
