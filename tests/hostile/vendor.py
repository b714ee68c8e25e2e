"""A server of raw sockets, with no web framework between a test and the bytes on the wire.

The path of a request names the shape that answers it, so that any number of requests may be under way at once.
Nothing here waits for the time to pass: a shape is a list of bytes to send, and how the connection ends.
"""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_NO_LINGER = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Script:
    """What is sent on a connection, and whether it ends with a reset instead of an orderly close."""

    pieces: Iterable[bytes]
    reset: bool = False


@dataclass
class HostileVendor:
    """A running server; ``answer`` returns the script for the path of a request."""

    answer: Callable[[str], Script]
    listening: socket.socket
    requests: list[str] = field(default_factory=list[str])

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self.listening.getsockname()[:2]
        return f"http://{host}:{port}"

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
            path = _request(connection)
            self.requests.append(path)
            script = self.answer(path)
            for piece in script.pieces:
                connection.sendall(piece)
            if script.reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            else:
                connection.shutdown(socket.SHUT_WR)


def _request(connection: socket.socket) -> str:
    """Read one request to its end, and return its path."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _received(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
    missing = int(headers.get("content-length", "0")) - len(body)
    while missing > 0:
        missing -= len(_received(connection))
    return lines[0].split(" ")[1]


def _received(connection: socket.socket) -> bytes:
    data = connection.recv(1 << 16)
    if not data:
        raise ConnectionError("the client went")
    return data


@contextmanager
def hostile(answer: Callable[[str], Script]) -> Iterator[HostileVendor]:
    """Serve until the block ends."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    vendor = HostileVendor(answer, listening)
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
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def raw(body: bytes, *headers: str, kind: str = "application/json") -> bytes:
    """Return a response with these headers alone; without a length, its end is the connection's."""
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def chunked(body: bytes, size: int = 64, *, end: bytes = b"0\r\n\r\n") -> bytes:
    """Return a body in chunks."""
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + end
