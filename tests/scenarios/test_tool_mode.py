"""Models without a JSON Schema mode are asked by one forced strict tool, chosen by their profile."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest

from emitter import Emission, aemit_binding_moment, emit_binding_moment
from emitter.adapters.clients import create_client
from emitter.profiles import find_profile
from tests.scenarios.answers import BOUND
from tests.scenarios.vendors import VENDORS

URL = "https://vendor.invalid/v1"
ASKED = {
    "openai-responses": "openai/gpt-4o-2024-05-13",
    "openai-chat": "openai/gpt-4o-2024-05-13",
    "anthropic": "anthropic/claude-sonnet-4-20250514",
}
every_wire = pytest.mark.parametrize("wire", ASKED)


@every_wire
@pytest.mark.parametrize("world", ["sync", "async"])
def test_a_called_tool_is_a_decision(wire: str, world: str) -> None:
    """The arguments of the tool are the document, and the call was forced."""
    bodies: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        bodies.append(request.content.decode())
        return httpx2.Response(200, json=VENDORS[wire].called(BOUND, 600).body)

    decision = _emit(wire, world, httpx2.MockTransport(answer))

    assert isinstance(decision, Emission)
    assert decision.value.synopsis == BOUND["turn"]["synopsis"]
    assert [each.type for each in decision.events] == ["log.appended", "provider.usage", "node.completed"]
    body = json.loads(bodies[0])
    assert "binding_turn" in json.dumps(body["tools"])
    assert "binding_turn" in json.dumps(body["tool_choice"])


def _emit(wire: str, world: str, transport: httpx2.MockTransport) -> object:
    facts, _ = find_profile(ASKED[wire])
    asynchronous = world == "async"
    http = (httpx2.AsyncClient if asynchronous else httpx2.Client)(transport=transport)
    client = create_client(facts, asynchronous=asynchronous, base_url=URL, api_key="no-key", http_client=http)
    if asynchronous:
        return asyncio.run(aemit_binding_moment("Now?", model=ASKED[wire], wire=wire, client=client))
    return emit_binding_moment("Now?", model=ASKED[wire], wire=wire, client=client)
