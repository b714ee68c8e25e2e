"""``model-capability-*``: who is asked, who instead, and when nobody is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from emitter import InputError, emit
from emitter.profiles.tables import Capability
from tests.models.openwop import errors, needs_schemas
from tests.openwop.__main__ import arguments
from tests.openwop.host import Host
from tests.openwop.seams import NODES
from tests.openwop.serving import advertised

if TYPE_CHECKING:
    from tests.openwop.asking import Seam

STRANGER = {"activeProvider": "nobodys-vendor", "activeModel": "nobodys-model"}
KNOWN = {"activeProvider": "anthropic", "activeModel": "claude-opus-4-7"}
ABLE = {"provider": "anthropic", "model": "claude-opus-4-7"}


def decided(seam: Seam, required: list[str], *, fallback: Any = None, **more: Any) -> dict[str, Any]:
    """Return who is asked."""
    module = {"requiredModelCapabilities": required, **({} if fallback is None else {"fallbackModel": fallback})}
    body = {"module": module, **STRANGER, "substitutionSupported": True, "nodeId": "scribe-node", **more}
    return seam.post("evaluate-model-capability-gate", {"supportedProviders": ["anthropic"], **body}).body


def test_model_capability_substituted__what_is_provided_is_asked(seam: Seam) -> None:
    """Nothing is reported it."""
    found = decided(seam, ["structured-output", "function-calling"], **KNOWN)

    assert (found["outcome"]["route"], found["event"]) == ("dispatch", None)


def test_model_capability_substituted__the_declared_fallback_is_asked_instead(seam: Seam) -> None:
    """And that is reported, with both models and what the first lacks."""
    found = decided(seam, ["structured-output", "long-context"], fallback=ABLE)

    payload = found["event"]["payload"]
    assert found["outcome"]["route"] == "substitute"
    assert found["event"]["type"] == "model.capability.substituted"
    assert (payload["nodeId"], payload["originalProvider"]) == ("scribe-node", "nobodys-vendor")
    assert (payload["fallbackProvider"], payload["fallbackModel"]) == tuple(ABLE.values())
    assert payload["missingCapabilities"] == ["long-context", "structured-output"]


@pytest.mark.parametrize("named", ["anthropic", "anthropic/claude-3-5-sonnet"])
def test_model_capability_substituted__a_hosts_own_facts_come_first(seam: Seam, named: str) -> None:
    """The suite asks for a model that the library's facts give no structured output: the host may say otherwise."""
    older = {"activeProvider": "anthropic", "activeModel": "claude-3-5-sonnet"}
    required = ["structured-output", "function-calling"]
    before = decided(seam, required, **older)["outcome"]["route"]
    seam.post("model-facts", {"model": named, "provides": required})
    after = decided(seam, required, **older)

    assert before == "refuse"
    assert (after["outcome"]["route"], after["event"]) == ("dispatch", None)


def test_model_capability_substituted__the_facts_may_be_given_where_the_host_is_served() -> None:
    """On the command line, for a suite that knows no seam for them; they outlast a reset."""
    port, facts = arguments(["8080", "anthropic/claude-3-5-sonnet=structured-output,function-calling"])
    host = Host(facts=facts)
    host.facts.clear()
    host.reset()

    assert port == 8080
    assert host.facts == {"anthropic/claude-3-5-sonnet": frozenset({"structured-output", "function-calling"})}


@needs_schemas
def test_model_capability_substituted__its_events_hold_to_their_schemas(seam: Seam) -> None:
    """Both of them."""
    for fallback, name in ((ABLE, "modelCapabilitySubstituted"), (None, "modelCapabilityInsufficient")):
        event = decided(seam, ["structured-output"], fallback=fallback)["event"]
        assert errors(event["payload"], f"run-event-payloads.schema.json#/$defs/{name}") == []


def test_model_capability_substituted__what_is_advertised_is_of_the_vocabulary() -> None:
    """Reserved names, or a host's own."""
    reported = advertised()["modelCapabilities"]
    reserved = {each.value for each in Capability}

    assert reported["supported"] is True
    assert isinstance(reported["substitutionSupported"], bool)
    assert all(each in reserved or each.startswith("x-host-") for each in reported["advertised"])


REFUSALS: dict[str, tuple[dict[str, Any], bool]] = {
    "none-declared": ({}, False),
    "host-substitutes-none": ({"fallback": ABLE, "substitutionSupported": False}, False),
    "unauthenticated": ({"fallback": ABLE, "supportedProviders": ["openai"]}, True),
    "lacks-it-too": (
        {"fallback": {"provider": "nobodys-other", "model": "m"}, "supportedProviders": ["nobodys-other"]},
        True,
    ),
}


@pytest.mark.parametrize(("given", "attempted"), REFUSALS.values(), ids=REFUSALS)
def test_model_capability_insufficient__nobody_is_asked(seam: Seam, given: dict[str, Any], attempted: bool) -> None:
    """It is told whether a fallback was tried; one of a fallback's own is not."""
    found = decided(seam, ["structured-output"], **given)

    payload = found["event"]["payload"]
    assert (found["outcome"]["route"], found["outcome"]["code"]) == ("refuse", "capability_not_provided")
    assert found["event"]["type"] == "model.capability.insufficient"
    assert payload["fallbackAttempted"] is found["outcome"]["fallbackAttempted"] is attempted
    assert (payload["nodeId"], payload["provider"]) == ("scribe-node", "nobodys-vendor")
    assert payload["missingCapabilities"] == ["structured-output"]


def test_node_module_required_capabilities_shape__our_nodes_name_what_they_require(seam: Seam) -> None:
    """Each a reserved name or a host's own; without a fallback there is no member for one."""
    nodes = seam.get("/v1/host/sample/node-catalog").body["nodes"]
    reserved = {each.value for each in Capability}

    assert nodes == NODES
    assert any(each["typeId"].startswith("core.ai.") for each in nodes)
    for each in nodes:
        assert each["requiredModelCapabilities"]
        assert all(
            re.fullmatch("x-host-[a-z0-9-]+", name) or name in reserved for name in each["requiredModelCapabilities"]
        )
        assert "fallbackModel" not in each


@pytest.mark.parametrize(
    "required",
    [["Structured Output"], ["structured-output"] * 2, [f"x-host-acme-{number}" for number in range(33)], "reasoning"],
    ids=["no-name", "twice", "33", "no-list"],
)
def test_node_module_required_capabilities_shape__what_no_node_may_require_is_refused(required: Any) -> None:
    """Names, no two alike, at most 32: before anybody is asked."""
    with pytest.raises(InputError, match="requires"):
        emit({"type": "object"}, "Say it.", model="openai/gpt-6-sol", requires=required)
