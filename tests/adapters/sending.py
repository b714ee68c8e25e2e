"""Sending a request through the real SDKs to a function that stands for the vendor."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import httpx2

from emitter import profiles as profile
from emitter.adapters.clients import create_client
from emitter.adapters.transport import async_half
from emitter.client.routing import ModelTarget
from emitter.client.transport import CallInterrupted, VendorCall
from emitter.clock import Clock
from emitter.deadline import Deadline
from emitter.interpreter import arun_steps, run_steps
from emitter.messages import Fault, Message, ModelRequest, OutputFormat, OutputMode, Role
from emitter.policy import Policy
from emitter.profiles import WireFormat
from tests.adapters.bodies import VENDORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.client.prepared import PreparedEmission
from emitter.messages import CallResult

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


def request(mode: OutputMode = OutputMode.JSON_SCHEMA, **more: Any) -> ModelRequest:
    """Return a request in an output mode."""
    return ModelRequest("m-1", "be brief", TURNS, OutputFormat("decide", SCHEMA, mode), 64, **more)


@dataclass
class Vendor:
    """Answers every request alike, and keeps what came."""

    reply: Callable[[httpx2.Request], httpx2.Response]
    seen: list[httpx2.Request] = field(default_factory=list[httpx2.Request])

    def __call__(self, sent: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        self.seen.append(sent)
        return self.reply(sent)

    def http_client(self, world: str, wire: WireFormat | None = None) -> Any:
        """Return an HTTP client that reaches nobody else."""
        return http_kind(world, wire)(transport=httpx2.MockTransport(self))

    @property
    def body(self) -> Any:
        """The body of the only request."""
        [only] = self.seen
        return json.loads(only.content)


def http_kind(world: str, wire: WireFormat | None = None) -> Any:
    """Return the class of HTTP clients that a wire sends through; boto3 blocks in both worlds."""
    return httpx2.Client if world == "sync" or wire is WireFormat.BEDROCK_CONVERSE else httpx2.AsyncClient


def saying(text: str, status: int = 200, **headers: str) -> Vendor:
    """Return a vendor that always says the same."""
    named = {"content-type": "application/json"} | {key.replace("_", "-"): value for key, value in headers.items()}
    return Vendor(lambda _: httpx2.Response(status, text=text, headers=named))


@dataclass(frozen=True)
class Line:
    """A profile's wire in one of the two worlds, and the client it is reached through, if one is brought."""

    vendor: str
    wire: WireFormat
    world: str = "sync"


def send(line: Line, vendor: Vendor, asked: ModelRequest, client: object = None) -> CallResult:
    """Send a request and return its answer."""
    facts = profile.load_profile(line.vendor)
    settings = SimpleNamespace(clock=Clock(), policy=Policy(max_response_bytes=MAX_BYTES))
    deadline = Deadline(TIMEOUT, lambda: 0.0)
    plan = cast(
        "PreparedEmission", SimpleNamespace(target=ModelTarget(facts, line.wire, asked.model), settings=settings)
    )
    http = vendor.http_client(line.world, line.wire)
    asynchronous = line.world == "async"
    used = client or create_client(facts, asynchronous=asynchronous, base_url=URL, api_key="key", http_client=http)
    try:
        if not asynchronous:
            return run_steps(VendorCall(plan, used, asked, deadline).send())
        return asyncio.run(arun_steps(VendorCall(plan, async_half(used), asked, deadline).send()))
    except CallInterrupted as interrupted:
        raise interrupted.__cause__ or interrupted from None


def fault(wire: WireFormat, world: str, server: Vendor) -> Fault:
    """Return the fault that a call ends in, which must have been sent once."""
    found = send(Line(VENDORS[wire], wire, world), server, request())
    assert isinstance(found, Fault)
    assert len(server.seen) == 1, "an SDK sent again by itself"
    return found
