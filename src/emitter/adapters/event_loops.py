"""Send through an async HTTP client from several event loops.

A connection belongs to the event loop that opened it, but the connection pool of an HTTP client does not know loops.
With a client that a module creates and one ``asyncio.run()`` for each request, it would send on connections of a loop
that is closed. So each loop has connections of its own:

- A loop uses the pool of the client itself. Its connections are closed when ``asyncio.run()`` shuts the loop down, and
  those of a loop that was closed otherwise are dropped before the next loop uses the pool.
- While a loop may still use the pool, every other loop gets a pool of the same configuration.

Sources: ``_async/connection_pool.py`` and ``_backends/anyio.py`` in httpcore2 2.16.2 and httpcore 1.0.9;
``_backends/_asyncio.py`` and ``streams/tls.py`` in anyio 4.16.0.
"""

from __future__ import annotations

import copy
import threading
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet, ref

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import AsyncGenerator

_MAX_DEPTH = 5
"""The transports inside each other that are searched for pools."""
_WAY_TO_SOCKET = ("_connection", "_network_stream", "_stream", "transport_stream")
"""The attributes that lead from a connection to the stream of its socket."""


def transport_for_loop(transport: Any) -> Any:
    """Return a transport of an ``httpx2.AsyncClient`` as the running event loop may use it.

    It is the transport itself, or a view of it with other connection pools. A transport without pools of a known kind,
    or one that is not hashable, is returned as it is.
    """
    import asyncio  # noqa: PLC0415  light commands load the adapters without it

    loop = asyncio.get_running_loop()
    try:
        users = _USERS.get(transport)
    except TypeError:  # its class has no hash or no weak references, so nobody can remember its loop
        return transport
    if users is not None and users.owner is not None and users.owner() is loop:
        return transport
    with _LOCK:
        return _bind(transport, loop)


class _Users:
    """The loop that uses a transport itself, and the views of the other loops."""

    def __init__(self) -> None:
        self.owner: ref[AbstractEventLoop] | None = None
        self.views: WeakKeyDictionary[AbstractEventLoop, Any] = WeakKeyDictionary()


_USERS: WeakKeyDictionary[Any, _Users] = WeakKeyDictionary()
_LOCK = threading.Lock()


def _bind(transport: Any, loop: AbstractEventLoop) -> Any:
    pools = _find_pools(transport)
    if not pools:
        return transport
    users = _USERS.setdefault(transport, _Users())
    if loop in users.views:
        return users.views[loop]
    for closed in [each for each in users.views if each.is_closed()]:
        del users.views[closed]
    owner = None if users.owner is None else users.owner()
    if owner is None or owner.is_closed():
        for pool in pools:
            _drop_dead_connections(pool, owner)
        if all(_is_free(pool, loop) for pool in pools):
            users.owner = ref(loop)
            _close_at_shutdown(loop, pools)
            return transport
    users.views[loop] = view = _make_view(transport)
    _close_at_shutdown(loop, _find_pools(view))
    return view


def _find_pools(transport: Any, depth: int = _MAX_DEPTH) -> list[Any]:
    """Return the connection pools of a transport and of the transports that it wraps."""
    if _is_pool(transport):
        return [transport]
    return [pool for each in _parts(transport, depth).values() for pool in _find_pools(each, depth - 1)]


def _is_pool(value: object) -> bool:
    return hasattr(value, "create_connection") and hasattr(value, "_connections") and hasattr(value, "_requests")


def _parts(transport: Any, depth: int) -> dict[str, Any]:
    """Return the pools and transports that are attributes of a transport."""
    names = [*getattr(transport, "__dict__", ()), *getattr(transport.__class__, "__slots__", ())] if depth else ()
    values = {name: getattr(transport, name, None) for name in names}
    return {name: each for name, each in values.items() if hasattr(each, "handle_async_request")}


def _make_view(transport: Any, depth: int = _MAX_DEPTH) -> Any:
    """Return an object that shares the attributes of a transport, but has connection pools of its own."""
    if _is_pool(transport):
        pool = copy.copy(transport)
        pool._connections, pool._requests = [], []  # noqa: SLF001
        return pool
    parts = {name: each for name, each in _parts(transport, depth).items() if _find_pools(each, depth - 1)}
    view: Any = object.__new__(_view_type(transport.__class__, tuple(parts)))
    object.__setattr__(view, "__dict__", transport.__dict__)
    for name, each in parts.items():
        object.__setattr__(view, name, _make_view(each, depth - 1))
    return view


@lru_cache(maxsize=64)
def _view_type(original: type, names: tuple[str, ...]) -> Any:
    """Return a subclass whose objects have attributes of their own in place of those in their shared ``__dict__``."""
    own = type(original.__name__, (), {"__slots__": names, "__del__": _leave_open})
    return type(original.__name__, (own, original), {"__module__": original.__module__})


def _leave_open(_view: object) -> None:
    """Leave the resources of a deleted view open, because they belong to the original."""


def _is_free(pool: Any, loop: AbstractEventLoop) -> bool:
    """Return whether no other loop uses a pool. A request may still wait for its connection."""
    in_use = [request.connection and _loop_of(request.connection) for request in pool._requests]  # noqa: SLF001
    idle = [_loop_of(connection) for connection in pool._connections]  # noqa: SLF001
    return all(each is loop for each in in_use) and all(each in (loop, None) for each in idle)


def _drop_dead_connections(pool: Any, owner: AbstractEventLoop | None) -> None:
    """Remove the connections of closed loops. ``owner`` is the closed loop that used the pool, if it is known."""
    for connection in list(pool._connections):  # noqa: SLF001
        loop = _loop_of(connection) or owner
        if loop is not None and loop.is_closed():
            with suppress(ValueError):  # another thread has removed it
                pool._connections.remove(connection)  # noqa: SLF001
            pool._requests = [each for each in pool._requests if each.connection is not connection]  # noqa: SLF001
            _close_socket(connection)


def _loop_of(connection: Any) -> AbstractEventLoop | None:
    """Return the loop of a connection, or None if it is not connected or not one of ``asyncio``."""
    stream = _socket_stream(connection)
    event = getattr(getattr(stream, "_protocol", None), "read_event", None)
    # The transports of uvloop do not show their loop.
    return getattr(getattr(stream, "_transport", None), "_loop", None) or getattr(event, "_loop", None)


def _socket_stream(connection: Any) -> Any:
    """Return the stream over the socket of a connection, inside TLS and proxies."""
    stream, inner = None, connection
    while inner is not None:
        stream = inner
        inner = next((each for name in _WAY_TO_SOCKET if (each := getattr(stream, name, None)) is not None), None)
    return stream


def _close_socket(connection: Any) -> None:
    """Close the socket of a connection without its loop, which is closed."""
    transport = getattr(_socket_stream(connection), "_transport", None)
    socket = getattr(transport, "_sock", None)
    if transport is not None and socket is not None:
        with suppress(AttributeError, OSError):
            transport._sock = None  # noqa: SLF001  so that it does not warn of an open socket
            socket.close()


_SHUTDOWNS: WeakKeyDictionary[AbstractEventLoop, tuple[AsyncGenerator[None], WeakSet[Any]]] = WeakKeyDictionary()
"""For each loop, a generator that closes the connections of the loop in its pools."""


def drop_connections_of_closed_loops() -> None:
    """Drop the connections of loops that were closed without a shutdown, before their clients are deleted."""
    for closed in [each for each in _SHUTDOWNS if each.is_closed()]:
        _, pools = _SHUTDOWNS.pop(closed)  # its generator would keep the loop
        for pool in list(pools):
            _drop_dead_connections(pool, None)


def _close_at_shutdown(loop: AbstractEventLoop, pools: list[Any]) -> None:
    """Close the connections of the running loop when it shuts its async generators down."""
    if loop not in _SHUTDOWNS:
        drop_connections_of_closed_loops()
        used: WeakSet[Any] = WeakSet()
        generator = _close_connections(used)
        with suppress(StopIteration):  # raised at the yield
            generator.__anext__().__await__().send(None)  # from now on the loop knows the generator
        _SHUTDOWNS[loop] = generator, used
    _SHUTDOWNS[loop][1].update(pools)


async def _close_connections(pools: WeakSet[Any]) -> AsyncGenerator[None]:
    import asyncio  # noqa: PLC0415  light commands load the adapters without it

    try:
        yield
    finally:
        loop = asyncio.get_running_loop()
        for pool in list(pools):
            for connection in [each for each in pool._connections if _loop_of(each) is loop]:  # noqa: SLF001
                pool._connections.remove(connection)  # noqa: SLF001
                with suppress(Exception):
                    await connection.aclose()
