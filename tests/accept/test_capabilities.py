"""The capability document says what a host is set to do, in a form that the protocol's own schema takes."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from emitter import Policy, prompt
from emitter.accept import STANDARD, Limits, Rules, Strictness, register_kind
from emitter.accept.capabilities import (
    PROTOCOL_VERSION,
    Configured,
    Directive,
    Implementation,
    capabilities,
    told_of,
    usable_providers,
)
from emitter.accept.catalogue import A2UI_KIND, Catalogue, Posture, media_kinds
from emitter.errors import InputError
from emitter.kinds.turn import SCHEMA
from emitter.kinds.universal import UNIVERSAL
from tests.accept.envelopes import CATALOGUE, NOTE
from tests.kinds.openwop import errors, needs_schemas

EVERYTHING = Configured(
    Rules(
        catalogue=CATALOGUE.with_kinds(*media_kinds(1024), A2UI_KIND),
        limits=Limits(8, 2, 1),
        strictness=Strictness.STRICT,
    ),
    contracts=True,
    posture=Posture.WARN,
    policy=Policy(max_attempts=16, truncation_multiplier=4.5, nl_to_format=True),
    reasoning=Directive.ADVISORY,
    providers=("anthropic", "my-own-server", "anthropic"),
    model_capabilities=("structured-output", "x-host-acme-maps", "structured-output"),
    substitution=True,
    secret_scopes=("run", "tenant"),
    implementation=Implementation("acme-host", "3.1", "Acme"),
)
HOSTS: list[tuple[str, Configured]] = [
    ("as it comes", Configured()),
    ("with everything", EVERYTHING),
    ("that emits nothing", Configured(policy=None)),
    ("that takes nothing", Configured(Rules(envelopes=False))),
    ("of the universal kinds alone", Configured(Rules(catalogue=Catalogue()))),
    ("that never asks twice", Configured(policy=Policy(max_attempts=1))),
    ("that allows nothing", Configured(Rules(limits=Limits(0, 0, 0)), model_capabilities=())),
]


@needs_schemas
@pytest.mark.parametrize("configured", [each for _, each in HOSTS], ids=[name for name, _ in HOSTS])
def test_the_protocols_schema_takes_it(configured: Configured) -> None:
    """Whatever a host is set to do."""
    document = capabilities(configured)

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
    assert errors({**capabilities(Configured()), **change}, "capabilities.schema.json")


def test_everything() -> None:
    """Each setting is said where the protocol looks for it."""
    document = capabilities(EVERYTHING)

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
    configured = Configured(Rules(limits=Limits(schema_rounds=rounds)), policy=Policy(max_attempts=attempts))
    told = capabilities(configured)["envelopes"]["reliability"]

    assert told["maxRetryAttempts"] == said
    assert ("envelope.retry.attempted" in told["events"]) is (said > 1)


def test_what_is_not_set_is_left_out() -> None:
    """A host as it comes claims what the library does by itself, and nothing else."""
    document = capabilities(Configured())

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
    document = capabilities(Configured(policy=None))

    assert document["envelopes"] == {"tierOneSubsetCompliance": "off"}
    assert "providerUsage" not in document


@pytest.mark.parametrize(
    ("rules", "universal"),
    [(Rules(), True), (Rules(catalogue=Catalogue()), True), (Rules(envelopes=False), False)],
    ids=["standard", "the four alone", "no envelopes"],
)
def test_the_universal_four_are_listed_with_any_other(rules: Rules, universal: bool) -> None:
    """RFC 0094: all of them where any kind is taken, and with a version each; else none."""
    document = capabilities(Configured(rules))

    assert (set(UNIVERSAL) <= set(document["supportedEnvelopes"])) is universal
    assert set(document["schemaVersions"]) <= set(document["supportedEnvelopes"])
    assert bool(document["supportedEnvelopes"]) is ("aiEnvelope" in document) is universal


def test_a_kind_without_a_version() -> None:
    """It is listed, and no version of it is made up."""
    catalogue = register_kind("vendor.acme.loose", {"type": "object"}, version=None, into=STANDARD)
    document = capabilities(Configured(Rules(catalogue=catalogue)))

    assert "vendor.acme.loose" in document["supportedEnvelopes"]
    assert "vendor.acme.loose" not in document["schemaVersions"]


@pytest.mark.parametrize(("attempts", "in_words"), [(1, False), (2, False), (16, True), (1, True)])
def test_the_reliability_events_are_listed_truthfully(attempts: int, in_words: bool) -> None:
    """The two that must be are; a retry where one may be made, two steps where they are allowed."""
    listed = told_of(Policy(max_attempts=attempts, nl_to_format=in_words))

    assert {"envelope.retry.exhausted", "envelope.refusal"} <= set(listed)
    assert ("envelope.retry.attempted" in listed) is (attempts > 1)
    assert ("envelope.nlToFormat.engaged" in listed) is in_words


@pytest.mark.parametrize(
    ("rules", "posture", "said"),
    [
        (Rules(), Posture.OFF, "off"),
        (Rules(), Posture.WARN, "warn"),
        (Rules(), Posture.STRICT, "warn"),
        (Rules(envelopes=False), Posture.STRICT, "strict"),
    ],
    ids=["off", "warn", "strict with the universal four", "strict with no kinds"],
)
def test_strict_is_said_only_where_every_schema_holds(rules: Rules, posture: Posture, said: str) -> None:
    """The universal kinds' own schemas leave the portable subset, so that no host that serves them is strict."""
    document = capabilities(Configured(rules, posture=posture))

    assert document["envelopes"]["tierOneSubsetCompliance"] == said


def test_the_inline_cap_is_the_one_that_is_held_to() -> None:
    """It is read off the kinds, so that it cannot differ from what they refuse; without media none is said."""
    small, none = (Rules(catalogue=each) for each in (STANDARD.with_kinds(*media_kinds(0)), STANDARD))

    assert capabilities(Configured(small))["aiProviders"] == {"maxInlineMediaBytes": 0}
    assert "aiProviders" not in capabilities(Configured(none))


def test_our_prompts_ask_for_reasoning_firmly() -> None:
    """Why the default is ``mandatory``: it is an instruction, it comes first, and the form requires the field."""
    asked = prompt.load().templates["ask"].template

    assert "First write `reasoning`" in asked
    assert SCHEMA["required"][0] == "reasoning"
    assert Configured().reasoning is Directive.MANDATORY


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_capabilities": ("Long Context",)}, "'Long Context' is no capability"),
        ({"model_capabilities": ("",)}, "is no capability"),
        ({"substitution": True}, "no model_capabilities"),
        ({"secret_scopes": ("everywhere",)}, "'everywhere' is no scope"),
    ],
)
def test_what_no_document_may_say(change: dict[str, Any], message: str) -> None:
    """It is refused with what to do, rather than told to every client."""
    with pytest.raises(InputError, match=message):
        capabilities(Configured(**change))


def test_a_vendor_is_usable_with_sdk_key_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what a client would be made of; none is made."""
    for name in [each for each in os.environ if each.endswith(("_API_KEY", "_BASE_URL", "_ENDPOINT"))]:
        monkeypatch.delenv(name)
    before = usable_providers()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-made-up")
    with_key = usable_providers()
    monkeypatch.setitem(sys.modules, "anthropic", None)

    assert not {"anthropic", "openai", "google", "azure-openai"} & set(before)
    assert set(with_key) - set(before) == {"anthropic"}
    assert usable_providers() == before
