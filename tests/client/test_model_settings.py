"""Model settings: the field that each is written to, what a model does not take, and the budget that follows."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import pytest
from google.genai import types as google
from openai.types.chat import completion_create_params
from openai.types.responses.service_tier import ServiceTier
from openai.types.shared.reasoning_effort import ReasoningEffort

from emitter import Emitter, emit, emit_many
from emitter.client import options
from emitter.client.model_settings import build_parameters
from emitter.client.routing import resolve_model
from emitter.errors import InputError
from emitter.profiles import WireFormat, load_profile
from emitter.profiles.tables import SETTING_NAMES
from emitter.testing import simulator
from tests.core.capability_gate.functions import SCHEMA, SITUATION, every_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.testing import Simulator

SAFETY = {"HARM_CATEGORY_HARASSMENT": "BLOCK_ONLY_HIGH"}
WRITTEN: dict[str, tuple[str, str | None, dict[str, Any], dict[str, Any]]] = {
    "openai: numbers": ("openai/gpt-4o", None, {"temperature": 0.5, "top_p": 1}, {"temperature": 0.5, "top_p": 1}),
    "openai: effort": ("openai/gpt-6-sol", None, {"reasoning_effort": "low"}, {"reasoning": {"effort": "low"}}),
    "openai: no thinking": (
        "openai/gpt-5.2",
        None,
        {"temperature": 0, "reasoning_effort": "none"},
        {"temperature": 0, "reasoning": {"effort": "none"}},
    ),
    "openai: not thinking by itself": ("openai/gpt-5.2", None, {"temperature": 0}, {"temperature": 0}),
    "openai: the default of a model that thinks": ("openai/gpt-5", None, {"temperature": 1}, {"temperature": 1}),
    "chat: all": (
        "openai/gpt-4o",
        "openai-chat",
        {"seed": 7, "stop": "END", "service_tier": "flex"},
        {"seed": 7, "stop": ["END"], "service_tier": "flex"},
    ),
    "chat: effort": ("openai/o3", "openai-chat", {"reasoning_effort": "high"}, {"reasoning_effort": "high"}),
    "anthropic: all": (
        "anthropic/claude-sonnet-4-6",
        None,
        {"temperature": 0.2, "reasoning_effort": "max", "stop": ["a", "b"], "service_tier": "standard_only"},
        {
            "temperature": 0.2,
            "output_config": {"effort": "max"},
            "stop_sequences": ["a", "b"],
            "service_tier": "standard_only",
        },
    ),
    "google: all": (
        "google/gemini-3.8-flash",
        None,
        {"seed": 7, "reasoning_effort": "low", "safety": SAFETY, "stop": ("a",), "service_tier": "flex"},
        {
            "seed": 7,
            "thinking_config": {"thinking_level": "low"},
            "safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}],
            "stop_sequences": ["a"],
            "service_tier": "flex",
        },
    ),
    "mistral: another name": ("mistral/m", None, {"seed": 7}, {"random_seed": 7}),
    "a server's list without a limit": ("vllm/m", None, {"stop": "END"}, {"stop": ["END"]}),
}


def written(model: str, wire: str | None, settings: dict[str, Any], extra_body: dict[str, Any] | None = None) -> Any:
    """Return the fields that settings add to a request."""
    return build_parameters(settings, extra_body or {}, resolve_model(model, None, wire))


def refusal(model: str, wire: str | None, settings: dict[str, Any], *, is_fallback: bool = False) -> str:
    """Return what is said of settings that a model does not take."""
    with pytest.raises(InputError) as caught:
        build_parameters(settings, {}, resolve_model(model, None, wire), is_fallback=is_fallback)
    return str(caught.value)


@pytest.mark.parametrize(("model", "wire", "settings", "body"), WRITTEN.values(), ids=WRITTEN)
def test_a_setting_is_written_to_the_vendors_field(
    model: str, wire: str | None, settings: dict[str, Any], body: dict[str, Any]
) -> None:
    """Under the vendor's name, at its place, in its form."""
    assert written(model, wire, settings) == body


def test_settings_and_extra_body_share_an_object() -> None:
    """A setting and a raw field may stand in the same object of the body."""
    extra = {"reasoning": {"summary": "auto"}}
    assert written("openai/gpt-6-sol", None, {"reasoning_effort": "low"}, extra) == {
        "reasoning": {"effort": "low", "summary": "auto"}
    }


REFUSED: dict[str, tuple[str, str | None, dict[str, Any], str]] = {
    "a wire without it": ("openai/gpt-4o", None, {"seed": 1}, r"openai/gpt-4o takes no seed over openai-responses"),
    "another wire": ("openai/gpt-4o", None, {"seed": 1}, r"Or pass wire='openai-chat'"),
    "what it takes": ("openai/gpt-4o", None, {"seed": 1}, r"It takes temperature from 0 to 2; top_p from 0 to 1; serv"),
    "a model without it": ("openai/gpt-4.1", None, {"reasoning_effort": "low"}, r"takes no reasoning_effort"),
    "a vendor without it": ("anthropic/claude-opus-4-6", None, {"seed": 1}, r"takes no seed over anthropic"),
    "another vendor's": ("openai/gpt-4o", None, {"safety": SAFETY}, r"takes no safety"),
    "an effort that a model lacks": (
        "anthropic/claude-opus-4-6",
        None,
        {"reasoning_effort": "xhigh"},
        r"takes reasoning_effort low, medium, high, max, not 'xhigh'",
    ),
    "above the range": ("google/gemini-2.5-pro", None, {"temperature": 2.5}, r"temperature from 0 to 2, not 2.5"),
    "a vendor's own range": ("anthropic/claude-opus-4-6", None, {"temperature": 1.5}, r"temperature from 0 to 1"),
    "the default alone": (
        "anthropic/claude-opus-5",
        None,
        {"temperature": 0},
        r"takes temperature=1 only, not 0\. Leave out temperature\.",
    ),
    "while it thinks": ("openai/gpt-5.5", None, {"temperature": 0}, r"temperature=1 only while it thinks"),
    "what it takes while it does not think": (
        "openai/gpt-5.5",
        None,
        {"seed": 1},
        r"It takes temperature from 0 to 2 while it does not think; top_p from 0 to 1 while it does not think; reason",
    ),
    "told to think": (
        "openai/gpt-5.2",
        None,
        {"top_p": 0.5, "reasoning_effort": "low"},
        r"top_p=1 only while it thinks",
    ),
    "too many": ("google/gemini-2.5-pro", None, {"stop": list("abcdef")}, r"stop of at most 5 texts"),
    "not a number": ("openai/gpt-4o", None, {"temperature": "0"}, r"temperature is '0'; it must be a number"),
    "a truth value": ("openai/gpt-4o", None, {"temperature": True}, r"it must be a number"),
    "not whole": ("google/gemini-2.5-pro", None, {"seed": 1.5}, r"seed is 1.5; it must be a whole number"),
    "not a text": ("openai/gpt-4o", None, {"service_tier": 1}, r"service_tier is 1; it must be a text"),
    "an empty stop": ("anthropic/claude-opus-4-6", None, {"stop": [""]}, r"it must be a text, or a list of texts"),
    "an unknown tier": ("openai/gpt-4o", None, {"service_tier": "turbo"}, r"service_tier auto, default, flex"),
    "an unknown category": ("google/gemini-2.5-pro", None, {"safety": {"HARM": "OFF"}}, r"takes safety of HARM_CATE"),
    "an unknown threshold": (
        "google/gemini-2.5-pro",
        None,
        {"safety": {"HARM_CATEGORY_HARASSMENT": "SOME"}},
        r"as BLOCK_LOW_AND_ABOVE",
    ),
    "safety as a list": ("google/gemini-2.5-pro", None, {"safety": [SAFETY]}, r"a mapping of categories"),
}


@every_function
def test_a_setting_that_is_not_taken_is_refused_before_the_call(
    vendor: Simulator, function: Callable[..., Any]
) -> None:
    """By every function, and nothing is sent."""
    with pytest.raises(InputError, match="takes no seed"):
        function(model="openai/gpt-4o", seed=1)
    assert vendor.calls == ()


@pytest.mark.parametrize(("model", "wire", "settings", "message"), REFUSED.values(), ids=REFUSED)
def test_what_a_model_does_not_take(model: str, wire: str | None, settings: dict[str, Any], message: str) -> None:
    """The error names the setting and what the model takes."""
    assert re.search(message, refusal(model, wire, settings))


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("openai/gpt-4o", {"seed": 1}),
        ("anthropic/claude-opus-5", {"temperature": 0}),
        ("anthropic/claude-opus-4-6", {"reasoning_effort": "xhigh"}),
        ("openai/gpt-5.5", {"temperature": 0}),
    ],
    ids=["none", "default only", "another value", "while it thinks"],
)
def test_the_settings_of_a_fallback_are_named_for_a_fallback_alone(model: str, settings: dict[str, Any]) -> None:
    """Where no other model was named first, there is nothing to pass a Fallback for."""
    hint = f"For this fallback, pass Fallback(..., settings={{{next(iter(settings))!r}: None}})."
    assert refusal(model, None, settings, is_fallback=True).endswith(hint)
    assert "allback" not in refusal(model, None, settings)


@pytest.mark.parametrize(
    ("model", "settings", "extra"),
    [
        ("openai/gpt-4o", {"temperature": 0}, {"temperature": 1}),
        ("openai/gpt-6-sol", {"reasoning_effort": "low"}, {"reasoning": {"effort": "high"}}),
        ("google/gemini-3.8-flash", {"reasoning_effort": "low"}, {"thinkingConfig": {"thinkingLevel": "HIGH"}}),
        ("google/gemini-3.8-flash", {"stop": "a"}, {"stopSequences": ["b"]}),
    ],
    ids=["flat", "nested", "camel case inside", "camel case"],
)
def test_a_field_is_set_once(model: str, settings: dict[str, Any], extra: dict[str, Any]) -> None:
    """A setting and extra_body must not set the same field."""
    with pytest.raises(InputError, match="extra_body= both set"):
        written(model, None, settings, extra)


def _literals(annotation: Any) -> set[str]:
    parts = get_args(annotation)
    if not parts:
        return {annotation} if isinstance(annotation, str) else set()
    return set().union(*map(_literals, parts))


_CHAT_TIERS: Any = get_type_hints(completion_create_params.CompletionCreateParamsBase)["service_tier"]
_UNSPECIFIED = ("UNSPECIFIED", "unspecified")


def _members(enum: Any) -> set[str]:
    return {each.value for each in enum if not each.value.endswith(_UNSPECIFIED)}


VALUES: dict[str, tuple[str, WireFormat, str, set[str]]] = {
    "openai effort": ("openai", WireFormat.OPENAI_RESPONSES, "reasoning_effort", _literals(ReasoningEffort)),
    "chat effort": ("openai", WireFormat.OPENAI_CHAT, "reasoning_effort", _literals(ReasoningEffort)),
    "openai tier": ("openai", WireFormat.OPENAI_RESPONSES, "service_tier", _literals(ServiceTier)),
    "chat tier": ("openai", WireFormat.OPENAI_CHAT, "service_tier", _literals(_CHAT_TIERS)),
    "google effort": (
        "google",
        WireFormat.GOOGLE,
        "reasoning_effort",
        {each.lower() for each in _members(google.ThinkingLevel)},
    ),
    "google tier": ("google", WireFormat.GOOGLE, "service_tier", _members(google.ServiceTier)),
    "google thresholds": ("google", WireFormat.GOOGLE, "safety", _members(google.HarmBlockThreshold)),
}


@pytest.mark.parametrize(("profile", "wire", "setting", "known"), VALUES.values(), ids=VALUES)
def test_values_are_those_of_the_sdk(profile: str, wire: WireFormat, setting: str, known: set[str]) -> None:
    """The profile and the SDK's own types name the same words, both ways."""
    parameters = load_profile(profile).wires[wire].parameters
    assert parameters is not None
    assert set(parameters.accepted[setting].values) == known


def test_categories_are_those_of_the_sdk() -> None:
    """Google's harm categories, both ways."""
    parameters = load_profile("google").wires[WireFormat.GOOGLE].parameters
    assert parameters is not None
    assert set(parameters.accepted["safety"].names) == _members(google.HarmCategory)


def test_every_effort_has_an_allowance() -> None:
    """A word that a wire takes says how much of the output budget thinking may need."""
    for profile in map(load_profile, ("openai", "anthropic", "google", "openai-compatible")):
        for wire in profile.wires.values():
            assert wire.parameters is not None
            assert wire.thinking is not None
            efforts = wire.parameters.accepted["reasoning_effort"].values
            assert set(efforts) <= set(wire.thinking.allowances), profile.name


def test_every_setting_is_an_option() -> None:
    """The settings of the profiles and the arguments of the functions are the same."""
    arguments = set(options.ModelSettings.__annotations__) - {"extra_headers", "extra_body"}
    assert arguments == set(SETTING_NAMES)
    assert "reasoning_effort" in inspect.signature(emit).parameters
    assert "temperature: How random" in (inspect.getdoc(Emitter.__init__) or "")


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Run a vendor that the environment leads to."""
    with simulator() as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


def test_the_output_budget_follows_the_effort(vendor: Simulator) -> None:
    """More thinking gets more room, and a correction keeps it."""
    for effort in ("none", "low", "high"):
        emit(SCHEMA, SITUATION, model="openai/gpt-6-sol", reasoning_effort=effort)
    budgets = [call.body["max_output_tokens"] for call in vendor.calls]
    assert budgets == [512, 512 + 2048, 512 + 16384]


def test_settings_of_a_client_and_of_a_call(vendor: Simulator) -> None:
    """A call's own setting replaces the client's."""
    with Emitter("openai/gpt-4o", temperature=0.2, top_p=0.5) as emitter:
        emitter.emit(SCHEMA, SITUATION)
        emitter.emit(SCHEMA, SITUATION, temperature=0.9)
    sent = [(call.body["temperature"], call.body["top_p"]) for call in vendor.calls]
    assert sent == [(0.2, 0.5), (0.9, 0.5)]


def test_a_client_checks_its_settings_at_once() -> None:
    """Not only when it is used."""
    with pytest.raises(InputError, match="takes no seed"):
        Emitter("openai/gpt-4o", seed=1)


def test_headers_are_not_sent_with_a_batch(vendor: Simulator) -> None:
    """A batch is a file of bodies, so headers would be lost."""
    with pytest.raises(InputError, match="extra_headers= cannot be sent with a batch"):
        emit_many(SCHEMA, [SITUATION], model="openai/gpt-4o", batch=True, extra_headers={"X-Team": "legal"})
    assert vendor.calls == ()


@pytest.mark.parametrize("name", ["Authorization", "x-api-key", "X-Goog-Api-Key", "Content-Type", "host"])
def test_headers_of_the_client_may_not_be_set(name: str) -> None:
    """Credentials and the framing of the request are the client's."""
    with pytest.raises(InputError, match=f"may not set {name}"):
        emit(SCHEMA, SITUATION, model="openai/gpt-4o", extra_headers={name: "x"})


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"X Team": "a"}, "not the name of a header"),
        ({"X-Team": "a\r\nHost: b"}, "not a line of ASCII text"),
        ({"X-Team": "ä"}, "not a line of ASCII text"),
        ([("X-Team", "a")], "extra_headers"),
    ],
    ids=["a blank", "a line break", "not ASCII", "no mapping"],
)
def test_headers_that_cannot_be_sent_are_refused(headers: Any, message: str) -> None:
    """Before the request, whatever the SDK would make of them."""
    with pytest.raises(InputError, match=message):
        emit(SCHEMA, SITUATION, model="openai/gpt-4o", extra_headers=headers)
