"""Keep SDK clients open between emissions, so that connections and credentials are set up once.

``emit()`` and the other functions share ``DEFAULT_POOL``. An ``Emitter`` has a pool of its own.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections import OrderedDict
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from emitter.adapters.clients import client_settings, create_client
from emitter.adapters.transport import async_half
from emitter.errors import InputError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import AsyncGenerator, Generator

    from emitter.adapters.clients import ClientSettings
    from emitter.profiles.model import ClientConfig, Profile

_MAX_IDLE_CLIENTS = 16
"""The maximum number of unused clients that stay open. The least recently used one is closed first."""


class _ClientKey(NamedTuple):
    """The configuration of an SDK client. Clients with equal keys are interchangeable."""

    config: ClientConfig
    settings: ClientSettings


@dataclass(slots=True)
class _PooledClient:
    sdk: Any
    users: int = 0
    closer: AsyncGenerator[None] | None = None


_Clients = OrderedDict[_ClientKey, _PooledClient]


class ClientPool:
    """SDK clients by address and credentials, safe across threads, event loops and forks.

    An async client belongs to the event loop that created it: its connections cannot be used from another. The pool
    keeps one per loop, and closes it when ``asyncio.run()`` shuts the loop down. A forked child never uses or closes
    the connections of its parent.
    """

    def __init__(self, *, api_key: str | None = None) -> None:
        self.api_key = api_key
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._closed = False
        self._sync = _Clients()
        self._async: WeakKeyDictionary[AbstractEventLoop, _Clients] = WeakKeyDictionary()

    @contextmanager
    def borrow(self, profile: Profile, base_url: str | None) -> Generator[object]:
        """Yield a sync client. Raises ``MissingExtra`` or ``MissingKey`` if none can be created."""
        key = self._key(profile, base_url)
        with self._lock:
            clients = self._open(self._sync)
            client = clients.get(key) or _PooledClient(self._create(profile, base_url, asynchronous=False))
            _take(clients, key, client)
        try:
            yield client.sdk
        finally:
            with self._lock:
                idle = _give_back(clients, client)
            for each in idle:
                each.sdk.close()

    @asynccontextmanager
    async def aborrow(self, profile: Profile, base_url: str | None) -> AsyncGenerator[object]:
        """Yield an async client of the running event loop."""
        from emitter.adapters.event_loops import (  # noqa: PLC0415  only async clients need it
            drop_connections_of_closed_loops,
        )

        key = self._key(profile, base_url)
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._async:  # a client keeps its loop, also one that was closed without a shutdown
                drop_connections_of_closed_loops()
                for closed in [each for each in self._async if each.is_closed()]:
                    del self._async[closed]
            clients = self._open(self._async.setdefault(loop, _Clients()))
            client = clients.get(key) or _PooledClient(self._create(profile, base_url, asynchronous=True))
            _take(clients, key, client)
        try:
            if client.closer is None:
                client.closer = _close_with_loop(clients, key, client.sdk)
                await anext(client.closer)  # from now on the loop closes it when it shuts down
            yield async_half(client.sdk)
        finally:
            with self._lock:
                idle = _give_back(clients, client)
            for each in idle:
                await _aclose(each)

    def close(self) -> None:
        """Close the sync clients. Async clients are closed by ``aclose()`` or with their event loop."""
        if self._pid != os.getpid():
            return
        with self._lock:
            self._closed = True
            clients, self._sync = self._sync, _Clients()
        for each in clients.values():
            each.sdk.close()

    async def aclose(self) -> None:
        """Close every client that the running event loop can close."""
        self.close()
        for each in list(self._async.pop(asyncio.get_running_loop(), _Clients()).values()):
            await _aclose(each)

    def _key(self, profile: Profile, base_url: str | None) -> _ClientKey:
        if self._pid != os.getpid():  # a forked child must not share sockets with its parent
            self._reset()
        settings = client_settings(profile, base_url=base_url, api_key=self.api_key)
        return _ClientKey(profile.client, settings)

    def _open(self, clients: _Clients) -> _Clients:
        if self._closed:
            raise InputError("This Emitter is closed.", hint="Create a new one.")
        return clients

    def _create(self, profile: Profile, base_url: str | None, *, asynchronous: bool) -> object:
        return create_client(profile, asynchronous=asynchronous, base_url=base_url, api_key=self.api_key)


DEFAULT_POOL = ClientPool()
"""The clients that functions such as ``emit()`` use when no ``client=`` is passed."""
atexit.register(DEFAULT_POOL.close)


def _take(clients: _Clients, key: _ClientKey, client: _PooledClient) -> None:
    clients[key] = client
    clients.move_to_end(key)
    client.users += 1


def _give_back(clients: _Clients, client: _PooledClient) -> list[_PooledClient]:
    """Release a client. Return the idle clients above the maximum, which the caller must close."""
    client.users -= 1
    idle = [key for key, each in clients.items() if not each.users]
    return [clients.pop(key) for key in idle[: max(0, len(idle) - _MAX_IDLE_CLIENTS)]]


async def _close_with_loop(clients: _Clients, key: _ClientKey, sdk: object) -> AsyncGenerator[None]:
    """Wait suspended until the event loop shuts down its async generators, then close the client."""
    try:
        yield
    finally:
        clients.pop(key, None)
        await _close_sdk(sdk)


async def _aclose(client: _PooledClient) -> None:
    if client.closer is None:
        await _close_sdk(client.sdk)
    else:
        await client.closer.aclose()


async def _close_sdk(sdk: object) -> None:
    used = async_half(sdk)
    closing = getattr(used, "aclose", None) or cast("Any", used).close
    with suppress(RuntimeError):  # raised for connections of an event loop that is closed already
        await closing()
