"""The library against the simulator: it comes through what goes wrong, and both keep the same books."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from emitter import Emission, EmissionError, Policy, aemit_binding_moment, emit_binding_moment
from emitter.clock import Clock
from emitter.profiles.model import WireFormat
from emitter.testing import Cut, Overloaded, Simulator, Text, Violating, simulator
from tests.scenarios.answers import BOUND
from tests.testing.asking import every_wire

SITUATION = "The tests are green and the release branch is cut. Shall we publish?"
VENDORS = {
    WireFormat.OPENAI_RESPONSES: "openai/gpt-6-sol",
    WireFormat.OPENAI_CHAT: "openai/gpt-6-sol",
    WireFormat.ANTHROPIC: "anthropic/claude-sonnet-5-5",
    WireFormat.GOOGLE: "google/gemini-3.8-flash",
    WireFormat.GEMINI_INTERACTIONS: "google/gemini-3.8-flash",
    WireFormat.BEDROCK_CONVERSE: "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}


async def _at_once(_: float) -> None:
    """Wait for nothing."""


CLOCK = Clock(sleep=lambda _: None, async_sleep=_at_once)


@every_wire
@pytest.mark.parametrize("world", ["sync", "async"])
def test_an_emission_comes_through_what_goes_wrong(wire: WireFormat, world: str) -> None:
    """Overload, a cut answer, a broken one: the library gets there, and its bill is the vendor's."""
    bound, model = Text(BOUND), VENDORS[wire]
    trouble = (Overloaded(503, retry_after=0), Cut(at_tokens=30, answer=bound), Violating({"turn": 1}), bound)
    arguments: dict[str, Any] = {"model": model, "wire": wire.value, "policy": Policy(max_attempts=5), "clock": CLOCK}

    async def awaited(vendor: Simulator) -> Emission[Any]:
        async with vendor:
            vendor.script(*trouble)
            client = vendor.client(model, asynchronous=True)
            return await aemit_binding_moment(SITUATION, client=client, **arguments)

    vendor = simulator()
    if world == "async":
        emission = asyncio.run(awaited(vendor))
    else:
        with vendor:
            vendor.script(*trouble)
            emission = emit_binding_moment(SITUATION, client=vendor.client(model), **arguments)

    assert [call.behaviour for call in vendor.calls] == list(trouble)
    assert [call.status for call in vendor.calls] == [503, 200, 200, 200]
    assert (emission.usage.input, emission.usage.output) == (vendor.billed.input, vendor.billed.output)


@every_wire
def test_an_emission_raises_its_budget_until_the_answer_fits(wire: WireFormat) -> None:
    """With an answer that is whole from some budget on, the library gets it by asking for more."""
    model, policy = VENDORS[wire], Policy(max_attempts=4, output_tokens=64)
    with simulator(answers=Cut(complete_at_tokens=256, answer=Text("x"))) as vendor, pytest.raises(EmissionError):
        emit_binding_moment(SITUATION, client=vendor.client(model), model=model, wire=wire.value, policy=policy)

    assert [call.status for call in vendor.calls[:3]] == [200, 200, 200]
    stops = [call.usage.output for call in vendor.calls]
    assert stops[:2] == [64, 128]
