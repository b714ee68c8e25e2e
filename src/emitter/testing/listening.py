"""uvicorn, so that it begins and ends at once, lets a connection be cut, and leaves the process's logging alone."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

    from emitter.testing.serving import Application

_GRACE = 1.0
"""Seconds that requests have to notice that their connections are cut."""
_KEEP_ALIVE = 3600
"""Seconds that an idle connection stays open. uvicorn's default of 5 races with a client that reuses one on a busy
machine: the request is lost, and the client sends it again."""
_log = logging.getLogger("emitter.testing")
_log.addHandler(logging.NullHandler())


async def listen(application: Application, listening: socket, stop: asyncio.Event, started: Callable[[], None]) -> None:
    """Serve on a bound socket until ``stop`` is set; ``started`` is called when requests are taken."""
    config = _Config(
        application,
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=True,
        timeout_keep_alive=_KEEP_ALIVE,
    )
    await _Server(config, stop, started).serve(sockets=[listening])


class _Config(uvicorn.Config):
    def configure_logging(self) -> None:
        """Leave the process's logging as it is."""


class _Protocol(H11Protocol):
    """Hands the connection to the application, which may have to cut it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}
        self.logger, self.access_log = _log, False


class _Server(uvicorn.Server):
    """Waits to be stopped instead of asking itself ten times a second."""

    def __init__(self, config: uvicorn.Config, stop: asyncio.Event, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._stop = stop
        self._tell = started

    async def main_loop(self) -> None:
        self._tell()
        await self._stop.wait()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            transport: Any = connection.transport
            transport.abort()
        if self.server_state.tasks:
            await asyncio.wait(self.server_state.tasks, timeout=_GRACE)
        for each in sockets or []:
            each.close()
