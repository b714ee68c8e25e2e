"""A network between the client and the simulated vendor that changes single responses."""

from __future__ import annotations

import asyncio
import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

OTHER_ORIGIN = "other-origin.test"
STEPS: dict[str, dict[str, str]] = {
    "openai": {
        "upload": "POST /v1/files",
        "create": "POST /v1/batches",
        "get": "GET /v1/batches/[^/?]+",
        "content": "GET /v1/files/[^/]+/content",
        "list": r"GET /v1/batches\?.*",
        "cancel": "POST /v1/batches/[^/]+/cancel",
    },
    "anthropic": {
        "create": "POST /v1/messages/batches",
        "get": "GET /v1/messages/batches/[^/?]+",
        "content": "GET /v1/messages/batches/[^/]+/results",
        "list": r"GET /v1/messages/batches\?.*",
        "cancel": "POST /v1/messages/batches/[^/]+/cancel",
    },
    "google": {
        "create": "POST /v1/models/[^/]+:batchGenerateContent",
        "get": "GET /v1/batches/[^/?]+",
        "list": r"GET /v1/batches\?.*",
        "cancel": "POST /v1/batches/[^/]+:cancel",
    },
}
"""The requests of each vendor's batches."""
RESULTS = {"openai": "content", "anthropic": "content", "google": "get"}
"""The request whose response has the results."""


@dataclass(eq=False)
class Network(httpx2.AsyncBaseTransport):
    """Passes requests on, and changes the responses to those that match ``step``, ``most`` of them."""

    step: str
    change: Callable[[httpx2.Response], httpx2.Response]
    most: float = math.inf
    changed: int = 0
    sent: list[httpx2.Request] = field(default_factory=list[httpx2.Request])
    elsewhere: list[httpx2.Request] = field(default_factory=list[httpx2.Request])
    """The requests to another origin."""

    def __post_init__(self) -> None:
        self._inner = httpx2.AsyncHTTPTransport(verify=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Pass a request on."""
        if request.url.host == OTHER_ORIGIN:
            self.elsewhere.append(request)
            return httpx2.Response(400)
        self.sent.append(request)
        response = await self._inner.handle_async_request(request)
        if self.changed >= self.most or not re.fullmatch(
            self.step, f"{request.method} {request.url.raw_path.decode()}"
        ):
            return response
        await response.aread()
        self.changed += 1
        return self.change(response)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


def redirecting(status: int) -> Callable[[httpx2.Response], httpx2.Response]:
    """Return a change that redirects to another origin."""
    location = {"location": f"https://{OTHER_ORIGIN}/v1/taken"}
    return lambda _: httpx2.Response(status, headers=location)


def with_first_row(vendor: str, change: Callable[[bytes], bytes]) -> Callable[[httpx2.Response], httpx2.Response]:
    """Return a change of the first row of the results."""

    def changed(response: httpx2.Response) -> httpx2.Response:
        body = response.content
        if vendor == "google":
            document: Any = json.loads(body)
            if "output" not in document["metadata"]:
                return response
            rows = document["metadata"]["output"]["inlinedResponses"]["inlinedResponses"]
            rows = [json.dumps(each).encode() for each in rows]
            document["metadata"]["output"]["inlinedResponses"]["inlinedResponses"] = ["@rows@"]
            whole = json.dumps(document).encode().replace(b'"@rows@"', b",".join([change(rows[0]), *rows[1:]]))
        else:
            first, _, rest = body.partition(b"\n")
            whole = change(first) + b"\n" + rest
        return httpx2.Response(200, content=whole)

    return changed


VALUES: tuple[Any, ...] = (None, True, -1, 0.5, 10**30, "", "x", [], [1], [[]], {}, {"a": 1})


def variants(value: Any) -> Iterator[Any]:
    """Yield a value with each of its parts replaced by each odd value, and with each of its members left out."""
    yield from VALUES
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    for key, each in items:
        for part in variants(each):
            yield {**value, key: part} if isinstance(value, dict) else [*value[:key], part, *value[key + 1 :]]
        if isinstance(value, dict):
            yield {name: other for name, other in items if name != key}


def edited(edit: Callable[[dict[str, Any]], Any]) -> Callable[[bytes], bytes]:
    """Return a change of a row's members."""

    def changed(row: bytes) -> bytes:
        members = json.loads(row)
        edit(members)
        return json.dumps(members).encode()

    return changed


@dataclass
class Pieces(httpx2.AsyncByteStream):
    """The body of a response in small pieces, with ``pause`` seconds before each of them."""

    body: bytes
    size: int = 4_096
    pause: float = 0.0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.body), self.size):
            await asyncio.sleep(self.pause)
            yield self.body[start : start + self.size]
