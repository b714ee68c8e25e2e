"""Limits, output modes and subsets, looked up the way the rest of the library does."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from emitter import profiles as profile
from emitter.client.options import ReasoningEffort
from emitter.errors import UnknownModel
from emitter.messages import OutputMode
from emitter.profiles import WireFormat, find_profile, load_profile
from emitter.profiles.tables import OptionalProperties

MODEL_LISTS = {
    "openai": pytest.importorskip("openai.types.shared.chat_model").ChatModel,
    "anthropic": pytest.importorskip("anthropic.types.model").Model,
}


@pytest.mark.parametrize(
    ("name", "model", "context", "max_output"),
    [
        ("openai", "gpt-6-sol", 1_050_000, 128_000),
        ("openai", "gpt-5.5-2026-04-23", 1_050_000, 128_000),
        ("openai", "gpt-5.4-mini", 400_000, 128_000),
        ("openai", "gpt-5.2-chat-latest", 128_000, 16_384),
        ("openai", "gpt-5", 400_000, 128_000),
        ("openai", "gpt-5-pro", 400_000, 272_000),
        ("openai", "gpt-4.1-nano", 1_047_576, 32_768),
        ("openai", "ft:gpt-4.1-mini-2025-04-14:org::id", 1_047_576, 32_768),
        ("openai", "gpt-4o-2024-05-13", 128_000, 4_096),
        ("openai", "gpt-4o-mini", 128_000, 16_384),
        ("openai", "gpt-4-0613", 8_192, 8_192),
        ("openai", "o4-mini", 200_000, 100_000),
        ("openai", "gpt-6.9-nova", 1_050_000, 128_000),
        ("openai", "gpt-7-sol", 1_050_000, 128_000),
        ("openai", "something-else", 128_000, 16_384),
        ("azure-openai", "gpt-35-turbo", 16_385, 4_096),
        ("azure-openai", "gpt-4.1", 1_047_576, 32_768),
        ("anthropic", "claude-opus-5-5", 1_000_000, 128_000),
        ("anthropic", "claude-opus-6-1", 1_000_000, 128_000),
        ("anthropic", "claude-unheard-of", 200_000, 64_000),
        ("anthropic", "claude-sonnet-4-6", 1_000_000, 128_000),
        ("anthropic", "us.anthropic.claude-opus-5-5-v1:0", 1_000_000, 128_000),
        ("anthropic", "anthropic.claude-haiku-5-5", 1_000_000, 128_000),
        ("anthropic", "eu.anthropic.claude-opus-5", 1_000_000, 128_000),
        ("anthropic", "global.anthropic.claude-sonnet-5-v1:0", 1_000_000, 128_000),
        ("anthropic", "anthropic.claude-sonnet-6-20270101-v1:0", 1_000_000, 128_000),
        ("anthropic", "claude-haiku-4-5-20251001", 200_000, 64_000),
        ("anthropic", "claude-opus-4-1-20250805", 200_000, 32_000),
        ("anthropic", "claude-sonnet-4-20250514", 200_000, 64_000),
        ("anthropic", "claude-3-haiku-20240307", 200_000, 4_096),
        ("anthropic", "us.anthropic.claude-haiku-4-5-20251001-v1:0", 200_000, 64_000),
        ("google", "gemini-3.8-flash", 1_048_576, 65_535),
        ("google", "gemini-4-argon", 1_048_576, 65_535),
        ("google", "models/gemini-2.0-flash", 1_048_576, 8_192),
        ("google", "gemma-3-27b-it", 128_000, 8_192),
        ("groq", "openai/gpt-oss-120b", 131_072, 32_768),
        ("groq", "unheard-of", 131_072, 32_768),
        ("deepseek", "deepseek-v4-pro", 1_000_000, 384_000),
        ("deepseek", "deepseek-flash", 1_000_000, 384_000),
        ("deepseek", "unheard-of", 1_000_000, 65_536),
        ("mistral", "mistral-medium-3.5", 262_144, 256_000),
        ("mistral", "mistral-medium-3-5-2604", 262_144, 256_000),
        ("mistral", "mistral-large-4", 1_048_576, 256_000),
    ],
)
def test_a_model_has_its_limits(name: str, model: str, context: int, max_output: int) -> None:
    """The first row that matches speaks for a model."""
    limits = profile.load_profile(name).model_limits(model)
    assert (limits.context, limits.max_output) == (context, max_output)


@pytest.mark.parametrize(
    ("name", "model", "max_input"),
    [
        ("openai", "gpt-6.1-sol", 922_000),
        ("openai", "gpt-6.2-sol", 922_000),
        ("openai", "gpt-5.5", 922_000),
        ("openai", "gpt-5.4-nano", 272_000),
        ("openai", "gpt-5.1", 272_000),
        ("openai", "gpt-5-pro", 128_000),
        ("openai", "gpt-4.1", None),
        ("azure-openai", "gpt-5", 272_000),
        ("anthropic", "claude-opus-5-5", None),
        ("google", "gemini-3.8-flash", None),
    ],
)
def test_a_model_may_read_less_than_its_window_holds(name: str, model: str, max_input: int | None) -> None:
    """Where a vendor states the largest input apart, it is a limit of its own."""
    limits = profile.load_profile(name).model_limits(model)
    assert limits.max_input == max_input
    assert limits.longest_prompt == (max_input or limits.context)


@pytest.mark.parametrize("name", profile.profile_names())
def test_input_and_output_fill_the_window_at_most(name: str) -> None:
    """A largest input is below the window, and a row that states one states a window that holds it."""
    for row in profile.load_profile(name).models:
        assert row.max_input is None or row.max_input < row.context


@pytest.mark.parametrize(
    ("name", "model", "mode", "strict"),
    [
        ("openai", "gpt-6-sol", OutputMode.JSON_SCHEMA, True),
        ("openai", "gpt-4o-2024-05-13", OutputMode.TOOL, True),
        ("anthropic", "claude-sonnet-5-5", OutputMode.JSON_SCHEMA, True),
        ("anthropic", "claude-unheard-of", OutputMode.JSON_SCHEMA, True),
        ("anthropic", "us.anthropic.claude-opus-5-5-v1:0", OutputMode.JSON_SCHEMA, True),
        ("anthropic", "anthropic.claude-haiku-5-5", OutputMode.JSON_SCHEMA, True),
        ("anthropic", "anthropic.claude-opus-4-8-v1:0", OutputMode.JSON_SCHEMA, True),
        ("anthropic", "global.anthropic.claude-fable-5-1-v1:0", OutputMode.TEXT, False),
        ("anthropic", "claude-fable-5-1", OutputMode.JSON_SCHEMA, True),
        ("bedrock", "global.anthropic.claude-fable-5-1-v1:0", OutputMode.TEXT, False),
        ("bedrock", "anthropic.claude-opus-4-8-v1:0", OutputMode.JSON_SCHEMA, True),
        ("anthropic", "claude-sonnet-4-20250514", OutputMode.TOOL, False),
        ("anthropic", "claude-sonnet-4@20250514", OutputMode.TOOL, False),
        ("anthropic", "claude-haiku-4-5@20251001", OutputMode.TOOL, False),
        ("anthropic", "claude-haiku-4-5-20251001", OutputMode.JSON_SCHEMA, True),
        ("anthropic", "anthropic.claude-3-7-sonnet-20250219-v1:0", OutputMode.TOOL, False),
        ("anthropic", "us.anthropic.claude-3-7-sonnet-20250219-v1:0", OutputMode.TOOL, False),
        ("anthropic", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", OutputMode.JSON_SCHEMA, True),
        ("anthropic", "anthropic.claude-sonnet-4-20250514-v1:0", OutputMode.TOOL, False),
        ("google", "gemini-3.8-flash", OutputMode.JSON_SCHEMA, False),
        ("deepseek", "deepseek-v4-pro", OutputMode.JSON_OBJECT, False),
        ("groq", "openai/gpt-oss-20b", OutputMode.JSON_SCHEMA, True),
        ("groq", "llama-3.3-70b-versatile", OutputMode.JSON_OBJECT, False),
        ("mistral", "mistral-large-latest", OutputMode.JSON_SCHEMA, True),
        ("openai-compatible", "anything", OutputMode.JSON_SCHEMA, False),
    ],
)
def test_a_model_has_its_output_mode(name: str, model: str, mode: OutputMode, *, strict: bool) -> None:
    """A model that lacks the vendor's best mode takes the next one, and the flag it understands."""
    loaded = profile.load_profile(name)
    assert loaded.preferred_output_mode(loaded.default_wire, model) is mode
    assert loaded.sends_strict(loaded.default_wire, model) is strict


@pytest.mark.parametrize(
    ("model", "forced"),
    [
        ("claude-opus-5", True),
        ("claude-sonnet-5", True),
        ("claude-haiku-5-5", True),
        ("claude-opus-4-8", True),
        ("claude-opus-5-5", False),
        ("claude-opus-5-5-20260922", False),
        ("claude-sonnet-5-5", False),
        ("claude-fable-5-1", False),
        ("claude-mythos-5-2", False),
        ("claude-opus-5-9", False),
        ("claude-opus-6", False),
        ("claude-unheard-of", False),
        ("anthropic.claude-opus-5", True),
        ("us.anthropic.claude-haiku-5-5", True),
        ("us.anthropic.claude-opus-5-5-v1:0", False),
        ("anthropic.claude-fable-5-2", False),
        ("anthropic.claude-unheard-of-v1:0", False),
    ],
)
def test_a_tool_is_forced_only_where_it_is_known_to_be_taken(*, model: str, forced: bool) -> None:
    """The newer Claude models answer a forced tool with 400; a model that we do not know may too."""
    modes = profile.load_profile("anthropic").output_modes(WireFormat.ANTHROPIC, model)
    assert (OutputMode.TOOL in modes) is forced


@pytest.mark.parametrize("name", profile.profile_names())
def test_every_row_of_models_can_be_reached(name: str) -> None:
    """No row stands behind one that takes all its models."""
    loaded = profile.load_profile(name)
    for row in loaded.models:
        sample = re.sub(r"\[(.).*?\]", r"\1", row.match).replace("*", "-")
        first = loaded.model_limits(sample)
        assert first is row or row.match == "*", f"{row.match} stands behind {first.match}"


@pytest.mark.parametrize("name", profile.profile_names())
def test_a_first_budget_fits_every_model(name: str) -> None:
    """The least budget never exceeds what a model can write, nor that what it can hold."""
    loaded = profile.load_profile(name)
    for row in loaded.models:
        assert row.max_output <= row.context
        for wire in loaded.wires.values():
            assert wire.tokens.minimum <= row.max_output


@pytest.mark.parametrize("name", profile.profile_names())
def test_a_model_has_a_mode_of_its_wire(name: str) -> None:
    """A row that narrows the modes leaves one that the wire has."""
    loaded = profile.load_profile(name)
    for row in loaded.models:
        for wire in loaded.wires.values():
            assert row.modes is None or set(row.modes) & set(wire.output.modes)


@pytest.mark.parametrize("name", sorted(MODEL_LISTS))
def test_every_current_model_of_the_sdk_has_a_row_of_its_own(name: str) -> None:
    """No model that the vendor's package names falls through to the row for strangers."""
    retired_or_not_for_text = re.compile(r"gpt-audio|chatgpt-4o|codex-mini")
    loaded = profile.load_profile(name)
    strangers = {model for model in _strings(MODEL_LISTS[name]) if loaded.model_limits(model).match == "*"}
    assert {model for model in strangers if not retired_or_not_for_text.match(model)} == set()


def _strings(annotation: object) -> set[str]:
    """Return the strings of every ``Literal`` inside ``annotation``."""
    inner = getattr(annotation, "__args__", ())
    return {each for each in inner if isinstance(each, str)}.union(*(_strings(each) for each in inner))


@pytest.mark.parametrize(
    ("name", "taken", "refused"),
    [
        (
            "openai",
            "anyOf $ref $defs const enum pattern minimum maxItems title",
            "minLength maxLength uniqueItems default oneOf allOf not if patternProperties prefixItems",
        ),
        ("azure-openai", "anyOf $ref enum", "pattern format minimum maximum multipleOf minItems maxItems"),
        (
            "anthropic",
            "anyOf $ref const enum format minItems",
            "minimum maximum multipleOf minLength maxLength maxItems uniqueItems oneOf",
        ),
        (
            "google",
            "anyOf $ref enum minimum maximum minItems maxItems propertyOrdering",
            "minLength maxLength pattern const uniqueItems default multipleOf allOf",
        ),
        ("openai-compatible", "type properties required items enum anyOf", "minLength pattern oneOf allOf"),
    ],
)
def test_a_subset_takes_what_is_enforced_and_nothing_else(name: str, taken: str, refused: str) -> None:
    """The keywords that decide whether a request is accepted are pinned."""
    keywords = profile.load_profile(name).subset.keywords
    assert set(taken.split()) <= keywords
    assert not set(refused.split()) & keywords


@pytest.mark.parametrize("name", profile.profile_names())
def test_a_subset_holds_the_frame_of_every_schema(name: str) -> None:
    """Without these words no object can be described; formats are listed exactly where format is taken."""
    subset = profile.load_profile(name).subset
    frame = {
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "anyOf",
        "description",
    }
    assert frame <= subset.keywords
    assert bool(subset.formats) == ("format" in subset.keywords)
    assert subset.ordering is None or subset.ordering in subset.keywords


def test_optionals_are_written_as_each_vendor_wants() -> None:
    """Null unions for OpenAI, omission for Anthropic, whose limit of unions is the tighter one."""
    assert profile.load_profile("openai").subset.optionals is OptionalProperties.NULLABLE
    anthropic = profile.load_profile("anthropic").subset
    assert anthropic.optionals is OptionalProperties.OMIT
    assert (anthropic.limits.optional, anthropic.limits.unions) == (24, 16)


@pytest.mark.parametrize(
    ("name", "pattern", "taken"),
    [
        ("openai", r"^\d{3}-\d+$", True),
        ("openai", r"^(?=.*\d).+$", False),
        ("openai", r"(?<!a)b", False),
        ("anthropic", r"^[a-z]{2,10}(-\d+)?$", True),
        ("anthropic", r"\bword\b", False),
        ("anthropic", r"(a)\1", False),
        ("anthropic", r"^a{1,5000}$", False),
    ],
)
def test_a_pattern_outside_the_vendors_dialect_is_known(name: str, pattern: str, *, taken: bool) -> None:
    """What a vendor's regular expressions lack is reported by a pattern over patterns."""
    refuses = profile.load_profile(name).subset.pattern_refuses
    assert refuses is not None
    assert (re.search(refuses, pattern) is None) is taken


def test_options_that_every_request_carries() -> None:
    """Nothing is stored at OpenAI, and OpenRouter chooses no host that drops the schema."""
    openai = profile.load_profile("openai").wires[WireFormat.OPENAI_RESPONSES].output.options
    assert openai == {"store": False}
    openrouter = profile.load_profile("openrouter").wires[WireFormat.OPENAI_CHAT].output.options
    assert openrouter == {"provider": {"require_parameters": True}}


NAMED = {
    "openai:gpt-4o": ("openai", "gpt-4o"),
    "OpenAI/gpt-4o": ("openai", "gpt-4o"),
    " openai/gpt-4o ": ("openai", "gpt-4o"),
    "gpt-4o-mini": ("openai", "gpt-4o-mini"),
    "o3-mini": ("openai", "o3-mini"),
    "claude-opus-5": ("anthropic", "claude-opus-5"),
    "gemini-2.5-flash": ("google", "gemini-2.5-flash"),
    "models/gemini-2.5-flash": ("google", "models/gemini-2.5-flash"),
    "gemini/gemini-2.5-flash": ("google", "gemini-2.5-flash"),
    "azure/my-deployment": ("azure-openai", "my-deployment"),
    "groq/openai/gpt-oss-20b": ("groq", "openai/gpt-oss-20b"),
    "ollama:llama3:8b": ("ollama", "llama3:8b"),
    "ollama/llama3:8b": ("ollama", "llama3:8b"),
    "plain/m": ("plain", "m"),
}


@pytest.mark.parametrize(("model", "meant"), NAMED.items(), ids=NAMED)
def test_a_model_is_found_by_what_it_is_called_elsewhere(model: str, meant: tuple[str, str]) -> None:
    """A colon, another name of the vendor, or a name that one vendor alone has."""
    profile, name = find_profile(model)
    assert (profile.name, name) == meant


MEANT = {
    "opnai/gpt-4o": "Did you mean 'openai/gpt-4o'?",
    "acme/gpt-4o": "Did you mean 'openai/gpt-4o'?",
    "gtp-4o": "Did you mean 'openai/gpt-4o'?",
    "gemni-2.5-flash": "Did you mean 'google/gemini-2.5'?",
    "openai": "Did you mean 'openai/…'?",
    "openai/": "Did you mean 'openai/…'?",
    "cyberdyne/t-800": "hint: Write vendor/model; the vendors are anthropic",
    "": "hint: Write vendor/model",
}


@pytest.mark.parametrize(("model", "reported"), MEANT.items(), ids=MEANT)
def test_what_may_have_been_meant_is_asked(model: str, reported: str) -> None:
    """A name that is near, or nothing; what stands for no vendor is not listed among them."""
    with pytest.raises(UnknownModel) as raised:
        find_profile(model)
    assert reported in f"hint: {raised.value.hint}"
    assert "plain" not in raised.value.hint
    assert "tier1" not in raised.value.hint


@pytest.mark.parametrize(
    ("name", "model", "known"),
    [
        ("openai", "gpt-6-sol", True),
        ("openai", "gpt-99", False),
        ("google", "gemma", False),
        ("azure-openai", "my-deployment", False),
        ("ollama", "llama3:8b", True),
    ],
)
def test_a_model_that_no_row_names_is_unknown(name: str, model: str, known: bool) -> None:
    """Where rows name models; where a server sets the limits, there is none."""
    assert load_profile(name).is_known_model(model) is known


@pytest.mark.parametrize("name", profile.profile_names())
def test_efforts_rise(name: str) -> None:
    """A remedy that lowers the effort takes the word before the one in force."""
    facts = load_profile(name)
    words = [row.reasoning_effort for row in facts.parameters]
    parameters = [wire.parameters.reasoning_effort for wire in facts.wires.values() if wire.parameters]
    words.extend(each.values for each in parameters if each is not None)
    for each in words:
        assert list(each) == sorted(each, key=get_args(ReasoningEffort).index)
