"""An async HTTP client that spreads requests over several connection pools.

A pool scans all of its connections for every request; with 200 in one pool, that takes more than a third of a call's
time. Import this module lazily, since it loads ``httpx2``.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx2

_POOL_SIZE = 16
"""Connections per pool."""


@dataclass(slots=True)
class _Pool:
    client: httpx2.AsyncClient
    size: int
    running: int = 0


class PooledAsyncClient(httpx2.AsyncClient):
    """Sends each request through the least loaded pool. ``connections`` limits all pools together."""

    def __init__(self, connections: int) -> None:
        ssl_context = httpx2.create_ssl_context()
        super().__init__(verify=ssl_context)
        count = -(-connections // _POOL_SIZE)
        sizes = [connections // count + (number < connections % count) for number in range(count)]
        self._pools = [_Pool(_create_client(ssl_context, size), size) for size in sizes]

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request."""
        pool = min(self._pools, key=lambda pool: pool.running / pool.size)
        pool.running += 1
        try:
            return await pool.client.send(request, **options)
        finally:
            pool.running -= 1

    async def aclose(self) -> None:
        """Close every pool."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(super().aclose)
            for pool in self._pools:
                stack.push_async_callback(pool.client.aclose)


def _create_client(ssl_context: Any, connections: int) -> httpx2.AsyncClient:
    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    return httpx2.AsyncClient(verify=ssl_context, limits=limits)
