"""OpenWOP's own fixture of a node whose requirement no model meets, played through the public functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import CapabilityNotProvided
from tests.core.capability_gate.functions import every_function
from tests.models.openwop import errors, needs_schemas

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.events import RunEvent
    from emitter.testing import Simulator

NAME = "conformance-model-capability-insufficient"
FILE = Path(__file__).parents[3] / ".." / "shared" / "vectors" / "openwop-fixtures" / f"{NAME}.json"
MODULES = {"conformance.modelCapability.insufficient": ("nonexistent-capability-9b3f",)}
"""What the nodes' modules require, by their type."""

needs_fixture = pytest.mark.skipif(
    not FILE.is_file(), reason=f"../shared/vectors/openwop-fixtures/{NAME}.json is absent"
)


def node() -> dict[str, Any]:
    """Return the fixture's one node."""
    [only] = json.loads(FILE.read_text("utf-8"))["nodes"]
    return dict(only)


@needs_fixture
@every_function
def test_conformance_model_capability_insufficient(vendor: Simulator, function: Callable[..., Any]) -> None:
    """Exactly two events, in this order, and nothing that only a call could have reported."""
    seen: list[RunEvent] = []
    played = node()
    with pytest.raises(CapabilityNotProvided) as caught:
        function(
            model="anthropic/claude-sonnet-5-5",
            requires=MODULES[played["typeId"]],
            run_id="run-1",
            node_id=played["id"],
            on_event=seen.append,
        )
    assert [each.type for each in seen] == ["model.capability.insufficient", "node.failed"]
    assert caught.value.code == "capability_not_provided"
    assert vendor.calls == ()
    assert seen[0].to_json()["payload"] == {
        "nodeId": "insufficient-node",
        "provider": "anthropic",
        "model": "claude-sonnet-5-5",
        "missingCapabilities": ["nonexistent-capability-9b3f"],
        "fallbackAttempted": False,
    }


@needs_schemas
@needs_fixture
@every_function
def test_its_events_are_documents_of_the_protocol(vendor: Simulator, function: Callable[..., Any]) -> None:  # noqa: ARG001
    """Each event document satisfies ``run-event.schema.json``."""
    seen: list[RunEvent] = []
    with pytest.raises(CapabilityNotProvided):
        function(model="openai/gpt-6-sol", requires=MODULES[node()["typeId"]], on_event=seen.append)
    assert [errors(each.to_json(), "run-event.schema.json") for each in seen] == [[], []]
