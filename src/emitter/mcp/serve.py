"""A server's two transports: standard input and output for a host that starts it, HTTP for clients of this machine.

HTTP is served on loopback alone, and the SDK refuses requests that name another host (DNS rebinding). There is no
other authentication: whoever may open a connection on this machine may call the tools.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from emitter.errors import InputError
from emitter.mcp import sdk

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

LOOPBACK: Final = "127.0.0.1"
_PATH: Final = "/mcp"
_LAST_PORT: Final = 65535
_GRACE: Final = 1
"""Seconds that open streams have to end when the server does."""


async def serve_stdio(server: Any) -> None:
    """Serve one client over standard input and output, until it closes them."""
    with nullcontext() if sdk.MODERN else redirect_stdout(_another_stdout()):
        await server.run_stdio_async()


def _another_stdout() -> TextIO:
    """Return a stream for the 1.30 line, which closes the one it serves on."""
    return os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")


async def serve_http(server: Any, port: int, listening: Callable[[str], object]) -> None:
    """Serve on a port of this machine until interrupted; 0 is any free one.

    ``listening`` is called with the address. Raises ``InputError`` where the port cannot be had.
    """
    with _bound(port) as bound:
        config = uvicorn.Config(
            sdk.http_app(server), log_level="error", access_log=False, timeout_graceful_shutdown=_GRACE
        )
        listening(f"http://{LOOPBACK}:{bound.getsockname()[1]}{_PATH}")
        await uvicorn.Server(config).serve(sockets=[bound])


def _bound(port: int) -> socket.socket:
    if not 0 <= port <= _LAST_PORT:
        raise InputError(f"There is no port {port}.", hint=f"A port is a number from 0 to {_LAST_PORT}.")
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise InputError(f"The server cannot listen at {LOOPBACK}, port {port}: {error.strerror}.") from error
