"""A server of raw sockets, with no web framework between a test and the bytes on the wire.

It answers with scripts: lists of bytes, with pauses between them, and how the connection ends.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_NO_LINGER = struct.pack("ii", 1, 0)
_SMALL_BUFFER = 1 << 14


@dataclass(frozen=True)
class Script:
    """What is sent on a connection, and whether it ends with a reset instead of an orderly close.

    A number among the pieces is a pause in seconds.
    """

    pieces: Iterable[bytes | float]
    reset: bool = False


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    method: str
    path: str
    head: bytes
    body: bytes

    @property
    def host(self) -> str:
        """The value of the header Host."""
        lines = self.head.decode("latin-1").split("\r\n")
        return next((line.split(":", 1)[1].strip() for line in lines if line.lower().startswith("host:")), "")


@dataclass
class HostileVendor:
    """A running server. ``pause`` is how long it waits before it reads the next piece of a request's body.

    Without ``answer`` it takes what comes and closes the connection, whatever protocol it is.
    """

    answer: Callable[[Received], Script] | None
    listening: socket.socket
    pause: float = 0.0
    came: list[bytes] = field(default_factory=list[bytes])

    @property
    def authority(self) -> str:
        """The host and the port where it listens."""
        host, port = self.listening.getsockname()[:2]
        return f"{host}:{port}"

    @property
    def url(self) -> str:
        """The address where it listens."""
        return f"http://{self.authority}"

    @property
    def alias(self) -> str:
        """The same server under the name of another origin."""
        return f"http://localhost:{self.listening.getsockname()[1]}"

    def serve(self) -> None:
        """Take connections until the socket is closed."""
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self._handle, args=(connection,), daemon=True).start()

    def _handle(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.answer is None:
                self.came.append(connection.recv(1 << 12))
                return
            script = self.answer(self._receive(connection))
            for piece in script.pieces:
                if isinstance(piece, bytes):
                    connection.sendall(piece)
                else:
                    time.sleep(piece)
            if script.reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            else:
                connection.shutdown(socket.SHUT_WR)

    def _receive(self, connection: socket.socket) -> Received:
        """Read one request to its end."""
        data = b""
        while b"\r\n\r\n" not in data:
            data += _read(connection)
        head, _, begun = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        length, body = int(headers.get("content-length", "0")), bytearray(begun)
        if "100-continue" in headers.get("expect", ""):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(body) < length:
            if self.pause:
                time.sleep(self.pause)
            body += _read(connection)
        method, path = lines[0].split(" ")[:2]
        return Received(method, path, head, bytes(body))


def _read(connection: socket.socket) -> bytes:
    data = connection.recv(1 << 16)
    if not data:
        raise ConnectionError("the client closed the connection")
    return data


@contextmanager
def hostile(answer: Callable[[Received], Script] | None, pause: float = 0.0) -> Iterator[HostileVendor]:
    """Serve until the block ends."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    if pause:  # otherwise the system takes megabytes for a server that does not read them
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
    vendor = HostileVendor(answer, listening, pause)
    thread = threading.Thread(target=vendor.serve, daemon=True)
    thread.start()
    try:
        yield vendor
    finally:
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


def http(
    body: bytes = b"", *, status: str = "200 OK", kind: str = "application/json", headers: Sequence[str] = ()
) -> bytes:
    """Return a response with a right length."""
    about = [f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"]
    lines = [f"HTTP/1.1 {status}", *about, *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def raw(body: bytes, *headers: str, kind: str = "application/json", status: str = "200 OK") -> bytes:
    """Return a response with these headers alone; without a length, its end is the connection's."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def chunked(body: bytes, size: int = 64, *, end: bytes = b"0\r\n\r\n") -> bytes:
    """Return a body in chunks."""
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + end
