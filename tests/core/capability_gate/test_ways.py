"""How a fallback is reached: what leads to one vendor is never handed to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter import emit
from emitter.events import LogAppended
from emitter.testing import Simulator, simulator
from tests.core.capability_gate.functions import (
    DOCUMENT,
    KEYS,
    LONG,
    SCHEMA,
    SHORT,
    SITUATION,
    answered,
    every_function,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_client_of_the_same_vendor_serves_the_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key is looked for in the environment where the caller's client leads to the vendor."""
    for each in KEYS:
        monkeypatch.delenv(each, raising=False)
    with simulator(answers=answered) as vendor:
        client = vendor.client(SHORT)
        more: Any = {"requires": ["long-context"], "fallback": ["openai/gpt-6-sol"], "client": client}
        emission = emit(SCHEMA, SITUATION, model=SHORT, **more)
        assert [call.model for call in vendor.calls] == ["gpt-6-sol"]
    assert emission.value == DOCUMENT
    assert emission.events[0].event.fallback_model == "gpt-6-sol"


@pytest.mark.parametrize("fallback", [LONG, "google/gemini-3.8-flash", "azure-openai/gpt-4.1"])
def test_a_client_is_not_used_for_another_vendor(
    vendor: Simulator, fallback: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is made from the environment, also where the SDK is the same."""
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with simulator() as elsewhere:
        client = elsewhere.client(SHORT)
        emit(SCHEMA, SITUATION, model=SHORT, client=client, requires=["long-context"], fallback=[fallback])
        assert elsewhere.calls == ()
    assert [call.model for call in vendor.calls] == [fallback.partition("/")[2]]


@every_function
def test_an_address_is_not_used_for_another_vendor(vendor: Simulator, function: Callable[..., Any]) -> None:
    """The fallback's key never reaches the server that was named for the model."""
    with simulator() as elsewhere:
        address = elsewhere.base_url(SHORT)
        function(model=SHORT, base_url=address, wire="openai-chat", requires=["long-context"], fallback=[LONG])
        assert elsewhere.calls == ()
    assert len(vendor.calls) == 1


@pytest.mark.parametrize(
    ("fallback", "sent"),
    [(LONG, False), ("openai/gpt-6-sol", True), ("azure-openai/gpt-4.1", False)],
    ids=["another wire", "the same vendor", "another vendor's other wire"],
)
def test_options_are_those_of_a_wire(vendor: Simulator, fallback: str, *, sent: bool) -> None:
    """What is meant for one request body does not go into another, and that is reported."""
    options = {"metadata": {"team": "legal"}}
    more: Any = {"requires": ["long-context"], "fallback": [fallback], "extra_body": options}
    emission = emit(SCHEMA, SITUATION, model=SHORT, **more)
    assert ("metadata" in vendor.calls[0].body) is sent
    second = emission.events[1].event
    assert isinstance(second, LogAppended)
    assert ("ignored" in second.message) is not sent


def test_options_go_with_the_wire_to_another_vendor(vendor: Simulator) -> None:
    """Azure speaks the wire that was named, so the body's own keys are sent there."""
    more: Any = {"wire": "openai-chat", "extra_body": {"metadata": {"team": "legal"}}}
    emit(SCHEMA, SITUATION, model=SHORT, requires=["long-context"], fallback=["azure-openai/gpt-4.1"], **more)
    assert vendor.calls[0].body["metadata"] == {"team": "legal"}
