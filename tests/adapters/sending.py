"""Sending a request through the real SDKs to a function that stands for the vendor."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import httpx2

from emitter import profile
from emitter.adapters.client import make
from emitter.clock import Clock
from emitter.door.exchange import Line as Through
from emitter.door.exchange import Whole
from emitter.door.session import asession, session
from emitter.wire import Fault, Message, OutputFormat, OutputMode, Request, Role
from tests.adapters.bodies import VENDORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.door.plan import Plan
    from emitter.profile import WireName
    from emitter.wire import Answer

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
TURNS = (Message(Role.USER, "one"), Message(Role.ASSISTANT, "two"), Message(Role.USER, "thrée"))
TIMEOUT = 7.0
MAX_BYTES = 1 << 20
URL = "http://vendor.test/base"


def request(mode: OutputMode = OutputMode.JSON_SCHEMA, **more: Any) -> Request:
    """Return a request in an output mode."""
    return Request("m-1", "be brief", TURNS, OutputFormat("decide", SCHEMA, mode), 64, **more)


@dataclass
class Vendor:
    """Answers every request alike, and keeps what came."""

    reply: Callable[[httpx2.Request], httpx2.Response]
    seen: list[httpx2.Request] = field(default_factory=list[httpx2.Request])

    def __call__(self, sent: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        self.seen.append(sent)
        return self.reply(sent)

    def http_client(self, world: str) -> Any:
        """Return an HTTP client that reaches nobody else."""
        kind: Any = httpx2.Client if world == "sync" else httpx2.AsyncClient
        return kind(transport=httpx2.MockTransport(self))

    @property
    def body(self) -> Any:
        """The body of the only request."""
        [only] = self.seen
        return json.loads(only.content)


def saying(text: str, status: int = 200, **headers: str) -> Vendor:
    """Return a vendor that always says the same."""
    named = {"content-type": "application/json"} | {key.replace("_", "-"): value for key, value in headers.items()}
    return Vendor(lambda _: httpx2.Response(status, text=text, headers=named))


@dataclass(frozen=True)
class Line:
    """A profile's wire in one of the two worlds, and the client it is reached through, if one is brought."""

    vendor: str
    wire: WireName
    world: str = "sync"


def send(line: Line, vendor: Vendor, asked: Request, client: object = None) -> Answer:
    """Send a request and return its answer."""
    facts = profile.load(line.vendor)
    plan = cast("Plan", SimpleNamespace(profile=facts, wire=line.wire))
    http = vendor.http_client(line.world)
    asynchronous = line.world == "async"
    used = client or make(facts, asynchronous=asynchronous, base_url=URL, api_key="key", http_client=http)
    if not asynchronous:
        with session(facts, used, None) as through:
            exchange = Whole(Through(plan, through, Clock(), max_bytes=MAX_BYTES), asked, TIMEOUT)
            list(exchange)
            return exchange.answer

    async def run() -> Answer:
        async with asession(facts, used, None) as through:
            exchange = Whole(Through(plan, through, Clock(), max_bytes=MAX_BYTES), asked, TIMEOUT)
            async for _ in exchange:
                pass
            return exchange.answer

    return asyncio.run(run())


def fault(wire: WireName, world: str, server: Vendor) -> Fault:
    """Return the fault that a call ends in, which must have been sent once."""
    found = send(Line(VENDORS[wire], wire, world), server, request())
    assert isinstance(found, Fault)
    assert len(server.seen) == 1, "an SDK sent again by itself"
    return found
