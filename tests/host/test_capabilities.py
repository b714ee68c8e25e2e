"""The capability document says what a host is set to do, in a form that the protocol's own schema takes."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from emitter import Policy
from emitter import prompts as prompt
from emitter.errors import InputError
from emitter.host import STANDARD, HostConfig, HostLimits, Strictness, register_kind
from emitter.host.capabilities import (
    PROTOCOL_VERSION,
    CapabilitySettings,
    Implementation,
    ReasoningDirective,
    build_capabilities,
    list_reliability_events,
    list_usable_providers,
)
from emitter.host.kinds import A2UI_KIND, KindRegistry, media_kinds
from emitter.host.registry import Posture
from emitter.models.binding_moment import TURN_SCHEMA
from emitter.models.standard_kinds import UNIVERSAL_SCHEMAS
from tests.host.envelopes import CATALOGUE, NOTE
from tests.models.openwop import errors, needs_schemas

EVERYTHING = CapabilitySettings(
    HostConfig(
        registry=CATALOGUE.with_kinds(*media_kinds(1024), A2UI_KIND),
        limits=HostLimits(8, 2, 1),
        strictness=Strictness.STRICT,
    ),
    has_contracts=True,
    posture=Posture.WARN,
    policy=Policy(max_attempts=16, truncation_multiplier=4.5, nl_to_format=True),
    reasoning=ReasoningDirective.ADVISORY,
    providers=("anthropic", "my-own-server", "anthropic"),
    model_capabilities=("structured-output", "x-host-acme-maps", "structured-output"),
    substitution=True,
    secret_scopes=("run", "tenant"),
    implementation=Implementation("acme-host", "3.1", "Acme"),
)
HOSTS: list[tuple[str, CapabilitySettings]] = [
    ("as it comes", CapabilitySettings()),
    ("with everything", EVERYTHING),
    ("that emits nothing", CapabilitySettings(policy=None)),
    ("that takes nothing", CapabilitySettings(HostConfig(accepts_envelopes=False))),
    ("of the universal kinds alone", CapabilitySettings(HostConfig(registry=KindRegistry()))),
    ("that never asks twice", CapabilitySettings(policy=Policy(max_attempts=1))),
    ("that allows nothing", CapabilitySettings(HostConfig(limits=HostLimits(0, 0, 0)), model_capabilities=())),
]


@needs_schemas
@pytest.mark.parametrize("configured", [each for _, each in HOSTS], ids=[name for name, _ in HOSTS])
def test_the_protocols_schema_takes_it(configured: CapabilitySettings) -> None:
    """Whatever a host is set to do."""
    document = build_capabilities(configured)

    assert errors(document, "capabilities.schema.json") == []
    assert json.loads(json.dumps(document)) == document


@needs_schemas
@pytest.mark.parametrize(
    "change",
    [
        {"limits": {}},
        {"envelopes": {"reliability": {"supported": True, "maxRetryAttempts": 17}}},
        {"envelopes": {"reasoning": {}}},
        {"aiProviders": {"supported": "anthropic"}},
    ],
    ids=["limits", "too many attempts", "reasoning", "providers"],
)
def test_the_protocols_schema_is_read(change: dict[str, Any]) -> None:
    """A document that does not hold is found, so the test above means something."""
    assert errors({**build_capabilities(CapabilitySettings()), **change}, "capabilities.schema.json")


def test_everything() -> None:
    """Each setting is said where the protocol looks for it."""
    document = build_capabilities(EVERYTHING)

    assert document.pop("supportedEnvelopes")[-1] == "ui.a2ui-surface"
    assert document.pop("schemaVersions")[NOTE] == 2
    assert document == {
        "protocolVersion": "1.1",
        "implementation": {"name": "acme-host", "version": "3.1", "vendor": "Acme"},
        "limits": {"clarificationRounds": 1, "schemaRounds": 2, "envelopesPerTurn": 8},
        "envelopeStrictness": "strict",
        "envelopeContracts": {"advertised": True},
        "envelopes": {
            "reasoning": {"supported": True, "promptDirective": "advisory"},
            "tierOneSubsetCompliance": "warn",
            "reliability": {
                "supported": True,
                "events": [
                    "envelope.retry.attempted",
                    "envelope.retry.exhausted",
                    "envelope.refusal",
                    "envelope.truncated",
                    "envelope.nlToFormat.engaged",
                    "envelope.recovery.applied",
                ],
                "maxRetryAttempts": 3,
                "completion": {"distinguishesTruncation": True, "truncationBudgetMultiplier": 4.5},
            },
        },
        "aiEnvelope": {"schemaResponseCounterPolicy": "counted"},
        "modelCapabilities": {
            "supported": True,
            "advertised": ["structured-output", "x-host-acme-maps"],
            "substitutionSupported": True,
        },
        "providerUsage": {"supported": True},
        "aiProviders": {"supported": ["anthropic", "my-own-server"], "maxInlineMediaBytes": 1024},
        "secrets": {"supported": True, "scopes": ["run", "tenant"], "resolution": "host-managed"},
    }


@pytest.mark.parametrize(("attempts", "rounds", "said"), [(3, 3, 3), (8, 3, 4), (8, 0, 1), (2, 9, 2)])
def test_the_calls_of_an_emission_are_the_lesser_of_policy_and_rounds(attempts: int, rounds: int, said: int) -> None:
    """What is advertised is what emissions are held to: a first call, and a retry for each schema round."""
    configured = CapabilitySettings(
        HostConfig(limits=HostLimits(schema_rounds=rounds)), policy=Policy(max_attempts=attempts)
    )
    reported = build_capabilities(configured)["envelopes"]["reliability"]

    assert reported["maxRetryAttempts"] == said
    assert ("envelope.retry.attempted" in reported["events"]) is (said > 1)


def test_what_is_not_set_is_left_out() -> None:
    """A host as it comes claims what the library does by itself, and nothing else."""
    document = build_capabilities(CapabilitySettings())

    assert set(document) == {
        "protocolVersion",
        "implementation",
        "supportedEnvelopes",
        "schemaVersions",
        "limits",
        "envelopeStrictness",
        "envelopes",
        "aiEnvelope",
        "providerUsage",
        "secrets",
    }
    assert document["implementation"]["name"] == "emitter"
    assert document["secrets"] == {"supported": False}
    assert document["envelopes"]["tierOneSubsetCompliance"] == "off"
    assert document["protocolVersion"] == PROTOCOL_VERSION


def test_a_host_that_emits_nothing_says_nothing_of_emissions() -> None:
    """Neither of retries, nor of prompts, nor of what calls cost."""
    document = build_capabilities(CapabilitySettings(policy=None))

    assert document["envelopes"] == {"tierOneSubsetCompliance": "off"}
    assert "providerUsage" not in document


@pytest.mark.parametrize(
    ("rules", "universal"),
    [(HostConfig(), True), (HostConfig(registry=KindRegistry()), True), (HostConfig(accepts_envelopes=False), False)],
    ids=["standard", "the four alone", "no envelopes"],
)
def test_the_universal_four_are_listed_with_any_other(rules: HostConfig, universal: bool) -> None:
    """RFC 0094: all of them where any kind is taken, and with a version each; else none."""
    document = build_capabilities(CapabilitySettings(rules))

    assert (set(UNIVERSAL_SCHEMAS) <= set(document["supportedEnvelopes"])) is universal
    assert set(document["schemaVersions"]) <= set(document["supportedEnvelopes"])
    assert bool(document["supportedEnvelopes"]) is ("aiEnvelope" in document) is universal


def test_a_kind_without_a_version() -> None:
    """It is listed, and no version of it is made up."""
    catalogue = register_kind("vendor.acme.loose", {"type": "object"}, version=None, registry=STANDARD)
    document = build_capabilities(CapabilitySettings(HostConfig(registry=catalogue)))

    assert "vendor.acme.loose" in document["supportedEnvelopes"]
    assert "vendor.acme.loose" not in document["schemaVersions"]


@pytest.mark.parametrize(("attempts", "in_words"), [(1, False), (2, False), (16, True), (1, True)])
def test_the_reliability_events_are_listed_truthfully(attempts: int, in_words: bool) -> None:
    """The two that must be are; a retry where one may be made, two steps where they are allowed."""
    listed = list_reliability_events(Policy(max_attempts=attempts, nl_to_format=in_words))

    assert {"envelope.retry.exhausted", "envelope.refusal"} <= set(listed)
    assert ("envelope.retry.attempted" in listed) is (attempts > 1)
    assert ("envelope.nlToFormat.engaged" in listed) is in_words


@pytest.mark.parametrize(
    ("rules", "posture", "said"),
    [
        (HostConfig(), Posture.OFF, "off"),
        (HostConfig(), Posture.WARN, "warn"),
        (HostConfig(), Posture.STRICT, "warn"),
        (HostConfig(accepts_envelopes=False), Posture.STRICT, "strict"),
    ],
    ids=["off", "warn", "strict with the universal four", "strict with no kinds"],
)
def test_strict_is_said_only_where_every_schema_holds(rules: HostConfig, posture: Posture, said: str) -> None:
    """The universal kinds' own schemas leave the portable subset, so that no host that serves them is strict."""
    document = build_capabilities(CapabilitySettings(rules, posture=posture))

    assert document["envelopes"]["tierOneSubsetCompliance"] == said


def test_the_inline_cap_is_the_one_that_is_held_to() -> None:
    """It is read off the kinds, so that it cannot differ from what they refuse; without media none is said."""
    small, none = (HostConfig(registry=each) for each in (STANDARD.with_kinds(*media_kinds(0)), STANDARD))

    assert build_capabilities(CapabilitySettings(small))["aiProviders"] == {"maxInlineMediaBytes": 0}
    assert "aiProviders" not in build_capabilities(CapabilitySettings(none))


def test_our_prompts_ask_for_reasoning_firmly() -> None:
    """Why the default is ``mandatory``: it is an instruction, it comes first, and the form requires the field."""
    asked = prompt.load().templates["ask"].template

    assert "First write `reasoning`" in asked
    assert TURN_SCHEMA["required"][0] == "reasoning"
    assert CapabilitySettings().reasoning is ReasoningDirective.MANDATORY


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_capabilities": ("Long Context",)}, "'Long Context' is not a capability"),
        ({"model_capabilities": ("",)}, "is not a capability"),
        ({"substitution": True}, "needs model_capabilities"),
        ({"secret_scopes": ("everywhere",)}, "'everywhere' is not a secret scope"),
    ],
)
def test_what_no_document_may_say(change: dict[str, Any], message: str) -> None:
    """It is refused with what to do, rather than told to every client."""
    with pytest.raises(InputError, match=message):
        build_capabilities(CapabilitySettings(**change))


def test_a_vendor_is_usable_with_sdk_key_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what a client would be made of; none is made."""
    for name in [each for each in os.environ if each.endswith(("_API_KEY", "_BASE_URL", "_ENDPOINT"))]:
        monkeypatch.delenv(name)
    before = list_usable_providers()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-made-up")
    with_key = list_usable_providers()
    monkeypatch.setitem(sys.modules, "anthropic", None)

    assert not {"anthropic", "openai", "google", "azure-openai"} & set(before)
    assert set(with_key) - set(before) == {"anthropic"}
    assert list_usable_providers() == before
