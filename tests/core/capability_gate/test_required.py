"""What may be required, and what is said of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from emitter import emit
from emitter.client.settings import Settings
from emitter.errors import CapabilityNotProvided, UnknownModel
from emitter.policy import DEFAULT_POLICY
from emitter.profiles.tables import Capability
from emitter.testing import Text
from tests.core.capability_gate.functions import DOCUMENT, LONG, SCHEMA, SHORT, SITUATION, every_function

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.events import RunEvent
    from emitter.testing import Simulator


@pytest.mark.parametrize("keyed", [True, False], ids=["substituted", "refused"])
def test_model_capability_substituted_no_credential_disclosure(
    vendor: Simulator, monkeypatch: pytest.MonkeyPatch, *, keyed: bool
) -> None:
    """Neither an event nor an error holds a key, or the name of the variable it would stand in."""
    monkeypatch.setenv("OPENAI_API_KEY", "secret-canary-openai")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-canary-anthropic")
    if not keyed:
        monkeypatch.delenv("ANTHROPIC_API_KEY")
    seen: list[RunEvent] = []
    more: Any = {"requires": ["long-context"], "fallback": [LONG], "on_event": seen.append}
    try:
        emit(SCHEMA, SITUATION, model=SHORT, **more)
        said = ""
    except CapabilityNotProvided as error:
        said = f"{error} {error!r}"
    reported = said + json.dumps([each.to_json() for each in seen])
    assert seen
    assert bool(said) is not keyed
    assert "canary" not in reported
    assert "API_KEY" not in reported
    assert len(vendor.calls) == keyed


ODD: dict[str, tuple[Any, str]] = {
    "one text": ("long-context", "must be a list"),
    "no list": (7, "must be a list"),
    "capitals": (["Long-Context"], "is not a capability"),
    "a digit first": (["9lives"], "is not a capability"),
    "nothing": ([""], "is not a capability"),
    "a line break behind": (["long-context\n"], "is not a capability"),
    "no text": ([7], "is not a capability"),
    "twice": (["reasoning", "reasoning"], "twice"),
    "33 of them": ([f"c{n}" for n in range(33)], "at most 32"),
}


@every_function
@pytest.mark.parametrize(("given", "reported"), ODD.values(), ids=ODD)
def test_node_module_required_capabilities_shape(function: Callable[..., Any], given: Any, reported: str) -> None:
    """What no node may require is refused as the caller's mistake, at every function."""
    with pytest.raises(ValueError, match=reported):
        function(model=SHORT, requires=given)


@pytest.mark.parametrize(
    "given",
    [[], (), {"structured-output"}, iter(["structured-output"]), [Capability.STRUCTURED_OUTPUT]],
    ids=["an empty list", "an empty tuple", "a set", "an iterator", "a member of the enum"],
)
def test_what_may_be_required(vendor: Simulator, given: Any) -> None:
    """Any iterable of names."""
    assert emit(SCHEMA, SITUATION, model=SHORT, requires=given).value == DOCUMENT
    assert len(vendor.calls) == 1


def test_settings_keep_what_is_required_as_plain_names(vendor: Simulator) -> None:  # noqa: ARG001
    """Whatever it was given as, so that a copy of them asks for the same."""
    required = iter([Capability.LONG_CONTEXT])
    settings = Settings(SHORT, None, (), DEFAULT_POLICY, None, requires=required, fallback=[LONG])
    kept = tuple(replace(settings, node_id="n").requires)
    assert [(type(each), each) for each in kept] == [(str, "long-context")]


def test_32_may_be_required(vendor: Simulator) -> None:
    """Names that nobody knows are provided by nobody."""
    required = [f"x-host-acme-{n}" for n in "abcdefghijklmnopqrstuvwxyz"] + [f"z-{n}" for n in "abcdef"]
    with pytest.raises(CapabilityNotProvided) as caught:
        emit(SCHEMA, SITUATION, model=LONG, requires=required)
    assert caught.value.trace.events[0].event.missing_capabilities == tuple(required)
    assert vendor.calls == ()


@pytest.mark.parametrize("fallback", ["no-such-model", "nobody/gpt-4o", "openai/", ""])
def test_a_fallback_that_is_no_model_is_refused(fallback: str) -> None:
    """Also where it would not be needed: the mistake is there all the same."""
    with pytest.raises(UnknownModel):
        emit(SCHEMA, SITUATION, model=SHORT, fallback=[fallback])


def test_a_fallback_without_requirements_is_never_asked(vendor: Simulator) -> None:
    """It stands in for a capability, not for a failure."""
    vendor.script(Text(DOCUMENT))
    assert emit(SCHEMA, SITUATION, model=SHORT, fallback=[LONG]).value == DOCUMENT
    assert [call.model for call in vendor.calls] == ["gpt-4o"]
