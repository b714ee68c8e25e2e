"""Asking through the vendors' own SDKs, over a real server on loopback that answers from a script."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator

from emitter import Emission, EmissionError, aemit, emit
from emitter.adapters.clients import create_client
from emitter.bulk.runner import close_client
from emitter.profiles import find_profile
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.loopback import serving

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.events import Event
    from tests.loopback import Loopback
    from tests.scenarios.vendors import Response, Vendor

WIRES = tuple(SCENARIO_MODELS)
every_wire = pytest.mark.parametrize("wire", WIRES)
every_world = pytest.mark.parametrize("world", ["sync", "async"])

TASK = "From Acme: 12 euros for two boxes, to be paid by the last of January."
ODD = "quxillious"
"""Stands in answers that do not hold, and must stand in nothing that is reported or sent afterwards."""


class Invoice(BaseModel):
    """What is to be paid, to whom, and when."""

    model_config = ConfigDict(extra="forbid")

    vendor: str
    total: Annotated[int, Field(ge=0)]
    due: dt.date

    @field_validator("vendor")
    @classmethod
    def _is_known(cls, vendor: str) -> str:
        if vendor != "Acme":
            raise ValueError(f"{vendor} is nobody we buy from")
        return vendor


HELD: dict[str, Any] = {"vendor": "Acme", "total": 12, "due": "2027-01-31"}
INVOICE = Invoice(vendor="Acme", total=12, due=dt.date(2027, 1, 31))

FORM: dict[str, Any] = {
    "title": "Invoice",
    "type": "object",
    "properties": {
        "vendor": {"type": "string"},
        "total": {"type": "integer", "minimum": 0},
        "due": {"type": "string", "format": "date"},
    },
    "required": ["vendor", "total", "due"],
    "additionalProperties": False,
}


@dataclass
class Asked:
    """What came of asking, and what reached the server."""

    result: Emission[Any] | EmissionError
    bodies: list[Any]

    @property
    def value(self) -> Any:
        """The value of an emission that came to one."""
        assert isinstance(self.result, Emission), self.result
        return self.result.value

    @property
    def error(self) -> EmissionError:
        """The error of an emission that came to none."""
        assert isinstance(self.result, EmissionError), self.result
        return self.result

    @property
    def trace(self) -> Any:
        """Its attempts, usage and events."""
        return self.result.trace

    @property
    def events(self) -> list[Event]:
        """The events that were reported."""
        return [each.event for each in self.trace.events]

    @property
    def reported(self) -> str:
        """Everything that went out or was reported, but for the value: where nothing of a bad answer may stand."""
        return json.dumps([self.bodies, [each.to_json() for each in self.trace.events]]) + repr(self.trace.attempts)


def said(document: Any) -> Callable[[Vendor], Response]:
    """Return a clean answer that holds a document."""
    return lambda vendor: vendor.whole(json.dumps(document), 40)


def ask(wire: str, script: list[Callable[[Vendor], Response]], schema: object = Invoice, **more: Any) -> Asked:
    """Emit with a vendor that answers from the script, in the world that is named."""
    world, situation = more.pop("world", "sync"), more.pop("situation", TASK)
    model = more.pop("model", SCENARIO_MODELS[wire])
    left = iter(script)

    def answer(vendor: Vendor) -> Response:
        return next(left)(vendor)

    with serving(answer) as server:
        arguments: dict[str, Any] = {"model": model, "wire": wire, **more}
        try:
            result = _emit(server, schema, situation, arguments, asynchronous=world == "async")
        except EmissionError as error:
            result = error
    return Asked(result, [each.body for each in server.requests])


def _emit(
    server: Loopback, schema: object, situation: Any, arguments: dict[str, Any], *, asynchronous: bool
) -> Emission[Any] | EmissionError:
    facts, _ = find_profile(arguments["model"])
    url = f"{server.url}/v1" if facts.client.sdk.value == "openai" else server.url
    client: Any = create_client(facts, asynchronous=asynchronous, base_url=url, api_key="k")
    if not asynchronous:
        with ExitStack() as stack:
            stack.callback(client.close)
            return emit(schema, situation, client=client, **arguments)

    async def run() -> Emission[Any]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(close_client, client)
            return await aemit(schema, situation, client=client, **arguments)

    return asyncio.run(run())


def system(body: Any) -> str:
    """Return the system prompt of a request, whatever the wire."""
    if "systemInstruction" in body:
        return body["systemInstruction"]["parts"][0]["text"]
    if isinstance(body.get("system"), list):
        return body["system"][0]["text"]
    plain = body.get("instructions") or body.get("system") or body.get("system_instruction")
    return plain or body["messages"][0]["content"]
