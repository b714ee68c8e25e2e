"""A server that writes bytes of a script at its own pace, and a network that leads each address to it, without TLS."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpcore2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


@dataclass
class RawServer:
    """The running server. As an ``httpcore2`` backend it notes the addresses that a client connects to."""

    port: int
    requests: list[bytes] = field(default_factory=list[bytes])
    connected: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    names: list[str | None] = field(default_factory=list["str | None"])
    written: int = 0

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **_: Any) -> Any:
        """Connect to the server, whatever the address."""
        self.connected.append((host, port))
        return PlainStream(httpcore2.SyncBackend().connect_tcp("127.0.0.1", self.port, timeout), self)


@dataclass
class PlainStream:
    """A stream that says that it is inside TLS."""

    stream: Any
    server: RawServer

    def start_tls(self, _: object, server_hostname: str | None = None, timeout: float | None = None) -> Any:  # noqa: ARG002  httpcore2's name
        """Note the name, and go on without TLS."""
        self.server.names.append(server_hostname)
        return self

    def __getattr__(self, name: str) -> Any:
        """Do everything else as the stream."""
        return getattr(self.stream, name)


@contextmanager
def raw_server(script: Callable[[], Iterable[bytes | float]]) -> Iterator[RawServer]:
    """Write ``script()`` to each client that has sent a request, until the block ends."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = RawServer(listener.getsockname()[1])
        thread = threading.Thread(target=_accept, args=(listener, server, script, ended), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            ended.set()
            with suppress(OSError):  # accept() does not wake up when its socket is closed
                socket.create_connection(listener.getsockname(), 1).close()
            thread.join()


def _accept(listener: socket.socket, server: RawServer, script: Any, ended: threading.Event) -> None:
    while not ended.is_set():
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.settimeout(20)
            if request := connection.recv(65536):
                server.requests.append(request)
                _write(connection, server, script(), ended)


def _write(
    connection: socket.socket, server: RawServer, pieces: Iterable[bytes | float], ended: threading.Event
) -> None:
    for piece in pieces:
        if isinstance(piece, bytes):
            connection.sendall(piece)
            server.written += len(piece)
        elif ended.wait(piece):
            return
