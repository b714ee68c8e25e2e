"""A server in a thread of its own: any number of them in one process, none of which outlives its block."""

from __future__ import annotations

import asyncio
import importlib
import socket
import threading
from typing import TYPE_CHECKING, Any

from emitter.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from emitter.testing.serving import Application

_PATIENCE = 10.0
"""Seconds within which a server has to begin, and to end."""


class Server:
    """A server that is running until it is stopped."""

    def __init__(self, application: Application, host: str, port: int) -> None:
        self._listening = _listening()
        self._application = application
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._stop: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="emitter.testing", daemon=True)
        self._thread.start()
        self._started.wait(_PATIENCE)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._socket.close()
            self._started.set()

    async def _serve(self) -> None:
        stop = asyncio.Event()
        self._stop = asyncio.get_running_loop(), stop
        await self._listening.listen(self._application, self._socket, stop, self._started.set)

    def stop(self) -> None:
        """Cut every connection, and wait until the thread is over."""
        if self._stop is not None and self._thread.is_alive():
            loop, stop = self._stop
            loop.call_soon_threadsafe(stop.set)
        self._thread.join(_PATIENCE)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By its protocol's name, or else asyncio leaves Nagle's algorithm on: 40 ms for a small answer.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        said = getattr(error, "strerror", None) or "a port is a number from 0 to 65535"
        raise InputError(f"The simulator cannot listen at {host}, port {port}: {said}.") from error
    return made


def _listening() -> Any:
    try:
        return importlib.import_module("emitter.testing.listening")
    except ImportError as error:
        raise MissingExtra("The simulator needs uvicorn.", hint="Run: pip install 'emitter[testing]'") from error
