"""A uvicorn server in a thread. It starts and stops at once, can abort connections and does not configure logging.

This module imports uvicorn, so ``emitter.testing.simulation`` imports it only when a server starts.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.testing.simulation import SimulatorApp

_TIMEOUT_SECONDS = 10.0
"""Seconds in which the server must start, and stop."""
_SHUTDOWN_SECONDS = 1.0
"""Seconds in which requests must notice that their connections are closed."""
_KEEP_ALIVE_SECONDS = 3600
"""Seconds until an idle connection is closed. With uvicorn's default of 5, a client on a busy machine may reuse a
connection while it is closed, lose the request and send it again."""
_log = logging.getLogger("emitter.testing")
_log.addHandler(logging.NullHandler())


class SimulatorServer:
    """A uvicorn server in its own thread, running until ``stop`` is called."""

    def __init__(self, application: SimulatorApp, host: str, port: int) -> None:
        self._application = application
        self._socket = _bind_socket(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._stop: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="emitter.testing", daemon=True)
        self._thread.start()
        self._started.wait(_TIMEOUT_SECONDS)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._socket.close()
            self._started.set()

    async def _serve(self) -> None:
        stop = asyncio.Event()
        self._stop = asyncio.get_running_loop(), stop
        config = _QuietConfig(
            self._application,
            http=_AbortableProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=True,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        )
        await _StoppableServer(config, stop, self._started.set).serve(sockets=[self._socket])

    def stop(self) -> None:
        """Close every connection and wait for the thread to end."""
        if self._stop is not None and self._thread.is_alive():
            loop, stop = self._stop
            loop.call_soon_threadsafe(stop.set)
        self._thread.join(_TIMEOUT_SECONDS)


def _bind_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio disables Nagle's algorithm only if the protocol is given; it delays small answers by 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except (OSError, OverflowError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or "a port is a number from 0 to 65535"
        raise InputError(f"The simulator cannot listen at {host}, port {port}: {reason}.") from error
    return bound


class _QuietConfig(uvicorn.Config):
    def configure_logging(self) -> None:
        """Leave logging as it is, because it belongs to the tests."""


class _AbortableProtocol(H11Protocol):
    """Passes the transport to the application, which may abort it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}
        self.logger, self.access_log = _log, False


class _StoppableServer(uvicorn.Server):
    """Waits for an event. uvicorn itself polls ten times a second, which would delay every start and stop."""

    def __init__(self, config: uvicorn.Config, stop: asyncio.Event, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._stop = stop
        self._on_started = started

    async def main_loop(self) -> None:
        self._on_started()
        await self._stop.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            transport: Any = connection.transport
            transport.abort()
        if self.server_state.tasks:
            await asyncio.wait(self.server_state.tasks, timeout=_SHUTDOWN_SECONDS)
        for bound in sockets or []:
            bound.close()
