"""What models provide: derived where a fact stands elsewhere, stated where none does, else not provided."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import pytest

from emitter import profiles as profile
from emitter.core import capability_gate
from emitter.errors import BadProfile
from emitter.profiles import WireFormat
from emitter.profiles.tables import Capability, is_capability_id
from tests.models.openwop import FOLDER, errors
from tests.profiles.test_loading import CHILD, WHOLE

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.profiles import Profile

S, D, L, R, F = "structured-output", "discriminator-enum", "long-context", "reasoning", "function-calling"
V, A, P = "vision-input", "audio-input", "x-host-emitter-document-input"


def of(name: str, model: str) -> set[str]:
    """Return what a model provides over the vendor's usual wire."""
    loaded = profile.load_profile(name)
    return set(capability_gate.model_capabilities(loaded, loaded.default_wire, model))


def sample(match: str, rest: str = "-") -> str:
    """Return a name that a row takes, with ``rest`` for what may be anything."""
    return re.sub(r"\[(.).*?\]", r"\1", match).replace("*", rest)


@pytest.mark.parametrize(
    ("name", "model", "provides"),
    [
        ("openai", "gpt-6-sol", {S, D, L, R, F, V, P}),
        ("openai", "gpt-5.4", {S, D, L, R, F, V, P}),  # thinks when asked
        ("openai", "gpt-5.2-chat-latest", {S, D, F, V, P}),  # never thinks
        ("openai", "gpt-4.1", {S, D, L, F, V, P}),
        ("openai", "gpt-4o", {S, D, F, V, P}),
        ("openai", "gpt-4-0613", {S, D, F}),  # by strict tools
        ("openai", "o3", {S, D, L, R, F, V, P}),
        ("azure-openai", "o3", {S, D, L, R, F, V}),
        ("azure-openai", "my-deployment", {S, D, F}),
        ("anthropic", "claude-opus-5", {S, D, L, R, F, V, P}),
        ("anthropic", "claude-opus-5-5", {S, D, L, R, V, P}),  # refuses a forced tool
        ("anthropic", "claude-sonnet-5-5", {S, D, L, R, V, P}),
        ("anthropic", "claude-opus-4-7", {S, D, L, R, F, V, P}),
        ("anthropic", "claude-haiku-4-5-20251001", {S, D, L, R, F, V, P}),
        ("anthropic", "claude-sonnet-4-20250514", {L, F, V, P}),  # no strict mode, and no thinking beside a forced tool
        ("anthropic", "claude-3-5-sonnet-20241022", {L, F, V, P}),
        ("anthropic", "us.anthropic.claude-haiku-4-5-20251001-v1:0", {S, D, L, R, F, V, P}),
        ("google", "gemini-3.8-flash", {S, D, L, R, F, V, A, P}),
        ("google", "gemini-2.5-flash-lite", {S, D, L, R, F, V, A, P}),
        ("google", "gemini-2.0-flash", {S, D, L, F, V, A, P}),
        ("deepseek", "deepseek-v4-pro", {L, R}),
        ("groq", "openai/gpt-oss-120b", {S, D, R, F}),
        ("groq", "qwen/qwen3-32b", {R}),
        ("groq", "llama-3.3-70b-versatile", set()),
        ("mistral", "mistral-large-latest", {S, D, F, V}),
        ("mistral", "mistral-large-2411", {S, D, F}),
        ("openai", "gpt-4-turbo-preview", {S, D, F}),  # text only
        ("vllm", "anything", {S, D, F}),
        ("llama-cpp", "anything", {S, D}),
        ("ollama", "anything", set()),
        ("plain", "anything", set()),
        ("tier1", "anything", set()),
        ("openai-compatible", "anything", set()),
    ],
)
def test_a_model_provides_what_its_facts_say(name: str, model: str, provides: set[str]) -> None:
    """The table of what the library can make use of, model by model."""
    assert of(name, model) == provides


@pytest.mark.parametrize(
    ("name", "model"),
    [("openai", "gpt-99"), ("anthropic", "claude-unheard-of"), ("google", "gemma-9"), ("deepseek", "x")],
)
def test_a_window_that_is_assumed_is_no_long_one(name: str, model: str) -> None:
    """What is supposed of strangers lets a request through; it is no fact to rely on."""
    loaded = profile.load_profile(name)
    assert (loaded.is_known_model(model), loaded.model_limits(model).elastic) == (False, True)
    assert L not in of(name, model)


def test_what_is_set_aside_for_strangers_makes_no_thinker() -> None:
    """A budget that is not used costs nothing; a capability that is not there costs an answer."""
    loaded = profile.load_profile("vllm")
    assert loaded.thinking_tokens(loaded.default_wire, "anything", {}) > 0
    assert R not in of("vllm", "anything")


@pytest.mark.parametrize("name", profile.profile_names())
def test_nobody_provides_what_no_adapter_carries_or_nobody_knows(name: str) -> None:
    """Images and sound in answers are not read, whatever the model could do with them."""
    offered = capability_gate.provider_capabilities(profile.load_profile(name))
    assert not offered & {"audio-output", "image-output", "nonexistent-capability-9b3f"}
    assert offered <= {each.value for each in Capability}


@pytest.mark.parametrize(
    ("name", "model", "wire", "takes"),
    [
        ("openai", "gpt-audio", "openai-chat", {A}),
        ("openai", "gpt-audio", "openai-responses", set()),
        ("openai", "gpt-4o", "openai-chat", {V, P}),
        ("openai", "gpt-99", "openai-responses", set()),  # sent, but not known to be taken
        ("openai", "gpt-3.5-turbo", "openai-chat", set()),
        ("azure-openai", "gpt-4o", "openai-chat", {V}),
        ("anthropic", "claude-3-haiku-20240307", "anthropic", {V}),
        ("groq", "meta-llama/llama-4-scout-17b-16e-instruct", "openai-chat", {V}),
        ("mistral", "mistral-medium-3.5", "openai-chat", {V}),
        ("openrouter", "openai/gpt-6-sol", "openai-chat", set()),
        ("vllm", "anything", "openai-chat", set()),
    ],
)
def test_media_that_a_model_is_known_to_take(name: str, model: str, wire: str, takes: set[str]) -> None:
    """The wire counts, and an assumption does not."""
    provided = capability_gate.model_capabilities(profile.load_profile(name), WireFormat(wire), model)
    assert provided & {V, A, P} == takes


@pytest.mark.parametrize("name", profile.profile_names())
def test_every_row_of_media_can_be_reached(name: str) -> None:
    """No row stands behind one that takes all its models; only the parent's last row may."""
    media = profile.load_profile(name).media
    for row in media:
        first = next(each for each in media if fnmatchcase(sample(row.match), each.match))
        assert first is row or row.match == "*", f"{row.match} stands behind {first.match}"


@pytest.mark.parametrize("name", profile.profile_names())
def test_every_row_of_capabilities_can_be_reached(name: str) -> None:
    """No row stands behind one that takes all its models."""
    loaded = profile.load_profile(name)
    for row in loaded.capabilities:
        first = next(each for each in loaded.capabilities if fnmatchcase(sample(row.match), each.match))
        assert first is row, f"{row.match} stands behind {first.match}"


@pytest.mark.parametrize("name", profile.profile_names())
def test_no_fact_is_stated_twice(name: str) -> None:
    """What follows from another table is not written down beside it."""
    loaded = profile.load_profile(name)
    bare = profile.Profile.model_validate({**loaded.model_dump(), "capabilities": ()})
    for row in loaded.capabilities:
        for wire in loaded.wires:
            assert not row.provides & capability_gate.model_capabilities(bare, wire, sample(row.match))


@pytest.mark.parametrize("name", profile.profile_names())
def test_a_vendor_offers_what_one_of_its_models_provides(name: str) -> None:
    """No more: each of them is provided by a model that a row names; and the table above is within it."""
    loaded = profile.load_profile(name)
    offered = capability_gate.provider_capabilities(loaded)
    rows = (*loaded.models, *loaded.thinkers, *loaded.capabilities)
    names = [sample(row.match, "x") for row in rows]
    found = set[str]().union(
        *(capability_gate.model_capabilities(loaded, wire, each) for wire in loaded.wires for each in names)
    )
    assert offered == found


def test_what_several_vendors_offer_is_advertised_together() -> None:
    """A union in a fixed order, which the capability document may hold."""
    vendors = [profile.load_profile(each) for each in ("llama-cpp", "deepseek")]
    assert capability_gate.advertised_capabilities(vendors) == (D, L, R, S)
    assert capability_gate.advertised_capabilities(reversed(vendors)) == (D, L, R, S)
    assert capability_gate.advertised_capabilities([]) == ()


@pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/schemas/openwop is absent")
def test_what_is_advertised_satisfies_the_protocols_schema() -> None:
    """``modelCapabilities`` of ``capabilities.schema.json``."""
    reported = capability_gate.advertised_capabilities(map(profile.load_profile, profile.profile_names()))
    block = {"supported": True, "advertised": list(reported), "substitutionSupported": True}
    assert errors(block, "capabilities.schema.json#/properties/modelCapabilities") == []


ROW = '\n[[capabilities]]\nmatch = "big*"\nsource = "page"\nverified = 2026-01-01\nprovides = {}\n'


def own(folder: Path, text: str) -> Profile:
    """Return a profile of one's own."""
    (folder / "own.toml").write_text(WHOLE + text)
    return profile.load_profile_from(folder, "own")


def test_a_profile_of_your_own_grants_what_its_operator_knows(tmp_path: Path) -> None:
    """Reserved names, and those of the host's own; only for the models that the row names."""
    loaded = own(tmp_path, ROW.format('["x-host-acme-legal", "vision-input"]'))
    granted = {"x-host-acme-legal", "vision-input"}
    assert capability_gate.model_capabilities(loaded, loaded.default_wire, "big-1") >= granted
    assert not capability_gate.model_capabilities(loaded, loaded.default_wire, "small") & granted
    assert capability_gate.provider_capabilities(loaded) >= granted


@pytest.mark.parametrize("given", ["telepathy", "x-host-acme", "x-acme-legal", "Reasoning", "reasoning\\n", ""])
def test_a_profile_states_no_capability_of_another_name(tmp_path: Path, given: str) -> None:
    """A slip of the pen is reported with the names that there are."""
    with pytest.raises(BadProfile, match=r"own\.toml: capabilities\.0\.provides") as caught:
        own(tmp_path, ROW.format(f'["{given}"]'))
    assert "function-calling" in str(caught.value)


def test_a_childs_capabilities_are_tried_before_its_parents(tmp_path: Path) -> None:
    """As with every list of rows: the first that matches speaks for a model."""
    (tmp_path / "parent.toml").write_text(WHOLE + ROW.format('["reasoning"]'))
    child = ROW.format("[]").replace("big*", "big-1*")
    (tmp_path / "child.toml").write_text(f'extends = "parent"\n{CHILD}{child}')
    loaded = profile.load_profile_from(tmp_path, "child")
    assert (loaded.stated_capabilities("big-1"), loaded.stated_capabilities("big-2")) == (frozenset(), {"reasoning"})


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("structured-output", True),
        ("nonexistent-capability-9b3f", True),
        ("x-host-acme-legal-review", True),
        ("a", True),
        ("", False),
        ("-a", False),
        ("9a", False),
        ("A", False),
        ("a_b", False),
        ("a b", False),
        ("a\n", False),
        ("ä", False),
    ],
)
def test_which_names_may_be_required(text: str, *, allowed: bool) -> None:
    """The pattern is that of RFC 0031: anything in it may be asked for, known or not."""
    assert is_capability_id(text) is allowed
