"""Every function checks what the model provides before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter import emit
from emitter.errors import CapabilityNotProvided, MissingKey
from emitter.events import ModelCapabilityInsufficient, NodeFailed, RunEvent
from tests.core.capability_gate.functions import (
    KEYS,
    LONG,
    SCHEMA,
    SHORT,
    SITUATION,
    SUBSTITUTED,
    every_function,
    types,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.testing import Simulator

MISSING, COST = SUBSTITUTED.type, "provider.usage"


@every_function
def test_a_model_that_provides_all_of_it_is_asked(vendor: Simulator, function: Callable[..., Any]) -> None:
    """Nothing is reported capabilities where nothing is lacking, and the fallback is left alone."""
    requires = ["structured-output", "function-calling"]
    emission = function(model=SHORT, requires=requires, fallback=["google/gemini-2.5-flash"])
    assert [call.model for call in vendor.calls] == ["gpt-4o"]
    assert not [each for each in types(emission.events) if each.startswith("model.")]


@every_function
def test_the_fallback_is_asked_instead(vendor: Simulator, function: Callable[..., Any]) -> None:
    """The substitution is the first event, once; all that follows is of the model that is asked."""
    seen: list[RunEvent] = []
    emission = function(model=SHORT, requires=["long-context"], fallback=[LONG], on_event=seen.append)
    assert [call.model for call in vendor.calls] == ["claude-sonnet-5-5"]
    assert emission.events[0].event == SUBSTITUTED
    assert [each.sequence for each in emission.events] == list(range(len(emission.events)))
    assert types(emission.events).count(SUBSTITUTED.type) == 1
    usage = next(each.event for each in emission.events if each.type == "provider.usage")
    assert (usage.provider, usage.model) == ("anthropic", "claude-sonnet-5-5")
    assert seen == list(emission.events)
    assert len({each.node_id for each in emission.events}) == 1


@every_function
def test_events_call_a_vendor_as_the_host_does(vendor: Simulator, function: Callable[..., Any]) -> None:
    """The one that lacks something, the one that is asked instead, and whom a call cost; who asks is not changed."""
    ids = {"openai": "our-proxy", "anthropic": "our-other"}
    emission = function(model=SHORT, requires=["long-context"], fallback=[LONG], provider_ids=ids)
    first, usage = (next(each.event for each in emission.events if each.type == kind) for kind in (MISSING, COST))
    assert (first.original_provider, first.fallback_provider, usage.provider) == ("our-proxy", "our-other", "our-other")
    assert [call.model for call in vendor.calls] == ["claude-sonnet-5-5"]


def test_an_insufficient_model_is_told_as_the_host_calls_it(vendor: Simulator) -> None:
    """Where nobody is asked, too, and in the words of the error."""
    with pytest.raises(CapabilityNotProvided, match="our-proxy/gpt-4o") as caught:
        emit(SCHEMA, SITUATION, model=SHORT, requires=["long-context"], provider_ids={"openai": "our-proxy"})
    reported = caught.value.trace.events[0].event
    assert isinstance(reported, ModelCapabilityInsufficient)
    assert reported.provider == "our-proxy"
    assert vendor.calls == ()


@every_function
def test_nobody_is_asked_where_nobody_provides_it(vendor: Simulator, function: Callable[..., Any]) -> None:
    """The function raises, with the trace: what was lacking, and that the node failed. No request is made."""
    seen: list[RunEvent] = []
    with pytest.raises(CapabilityNotProvided) as caught:
        function(model=SHORT, requires=["long-context"], on_event=seen.append)
    error = caught.value
    assert vendor.calls == ()
    assert error.code == "capability_not_provided"
    assert types(error.trace.events) == ["model.capability.insufficient", "node.failed"]
    assert list(error.trace.events) == seen
    assert error.trace.attempts == ()
    first, last = (each.event for each in seen)
    assert first == ModelCapabilityInsufficient("openai", "gpt-4o", ("long-context",), fallback_attempted=False)
    assert isinstance(last, NodeFailed)
    assert last.code == error.code


@every_function
def test_a_fallback_that_lacks_it_too_is_not_asked(vendor: Simulator, function: Callable[..., Any]) -> None:
    """There is no fallback of a fallback."""
    with pytest.raises(CapabilityNotProvided, match="provides all required capabilities") as caught:
        function(model=SHORT, requires=["long-context"], fallback=["openai/gpt-4-turbo"])
    assert vendor.calls == ()
    assert caught.value.trace.events[0].event.fallback_attempted is True


@every_function
def test_a_fallback_without_credentials_is_not_asked(
    vendor: Simulator, function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts as one that was tried; the key of another vendor is no key."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(CapabilityNotProvided, match="Set the key of the fallback") as caught:
        function(model=SHORT, requires=["long-context"], fallback=[LONG])
    assert vendor.calls == ()
    assert caught.value.trace.events[0].event.fallback_attempted is True


def test_a_key_that_is_missing_for_the_model_itself_is_no_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model that is named provides it, so its missing key is the caller's to mend."""
    for each in KEYS:
        monkeypatch.delenv(each, raising=False)
    with pytest.raises(MissingKey):
        emit(SCHEMA, SITUATION, model=LONG, requires=["long-context"], fallback=[SHORT])
