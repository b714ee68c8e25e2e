"""uvicorn, so that it leaves the process's signals and logging alone and writes no address down."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from emitter.errors import MissingExtra

try:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError as error:
    raise MissingExtra("The local page needs uvicorn.", hint="Run: pip install 'emitter[web]'") from error

if TYPE_CHECKING:
    import socket
    from collections.abc import Generator

    from starlette.types import ASGIApp

_GRACE = 0.5
"""Seconds that a request has to end when the server does; then its connection is cut."""
_LONGEST = 5
"""Seconds after which uvicorn itself would cancel a request, and write a traceback about it."""


def server(application: ASGIApp) -> uvicorn.Server:
    """Return a server that ends when its ``should_exit`` is set."""
    config = _Config(
        application,
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_LONGEST,
    )
    return _Server(config)


class _Config(uvicorn.Config):
    def configure_logging(self) -> None:
        """Leave the process's logging as it is."""


class _Protocol(H11Protocol):
    """Writes no request down: a link is a secret."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.access_log = False


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals to the program: an interrupt ends its event loop, and this server with it."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End as usual, save that nobody holds the server up who does not finish what they began."""
        cutting = asyncio.get_running_loop().call_later(_GRACE, self._cut)
        await super().shutdown(sockets)
        cutting.cancel()

    def _cut(self) -> None:
        for connection in list(self.server_state.connections):
            transport: Any = connection.transport
            transport.abort()
