"""A TCP proxy that counts the connections it accepts."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Generator


class CountingProxy:
    """Forwards bytes to ``target``; ``connections`` counts the clients that connected."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        assert parts.hostname
        assert parts.port
        self.connections = 0
        self._target = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """The address to send to instead."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                server = socket.create_connection(self._target)
                self._sockets += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=_forward, args=(source, target), daemon=True).start()

    def close(self) -> None:
        """Stop accepting and cut what is open."""
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


def _forward(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def counting_proxy(target: str) -> Generator[CountingProxy]:
    """Yield a proxy, and close it."""
    proxy = CountingProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
