"""The first budget and the window, as a plan settles them from profile, policy and schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from emitter import profiles as profile
from emitter.client.execution import execute
from emitter.client.request import prepare_emission
from emitter.client.settings import Settings
from emitter.errors import PromptTooLong
from emitter.forms.form import OutputForm
from emitter.policy import Policy
from emitter.profiles import WireFormat
from emitter.schema.results import ParseResult

YES_NO = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
ESSAY = {**YES_NO, "properties": {"ok": {"type": "string"}}}
LIST = {**YES_NO, "properties": {"ok": {"type": "array", "maxItems": 500, "items": {"enum": ["left", "right"]}}}}
UNSENT: dict[str, Any] = {"client": None, "materials": (), "on_event": None}


@dataclass(frozen=True)
class Case:
    """What is asked of whom, and what may be spent."""

    model: str
    schema: dict[str, Any]
    policy: Policy = field(default_factory=Policy)
    options: dict[str, Any] = field(default_factory=dict)
    wire: str | None = None

    def planned(self, situation: str = "Shall we?") -> tuple[int, int]:
        """Return the first budget and the ceiling."""
        wanted = OutputForm(
            "vendor.emitter.document", "node", "answer", self.schema, lambda _: "Decide.", ParseResult, NOBODY
        )
        settings = Settings(model=self.model, policy=self.policy, extra_body=self.options, wire=self.wire, **UNSENT)
        prepared = prepare_emission(wanted, situation, settings)
        if prepared.emission.obstacle is not None:
            execute(prepared)
        return prepared.emission.request.max_output_tokens, prepared.emission.max_budget


class Nobody:
    """Puts any value into a kind, and takes none out again."""

    def to_payload(self, value: Any, _: Any) -> tuple[str, Any]:
        """Return the value as it is."""
        return "a.kind", value

    def from_envelope(self, *_: Any) -> None:
        """Return nothing."""


NOBODY = Nobody()
OWN = Policy(output_tokens=1024)


@pytest.mark.parametrize(
    ("case", "first", "ceiling"),
    [
        pytest.param(Case("openai/gpt-4o", YES_NO), 512, 16_384, id="yes or no, no thinking"),
        pytest.param(Case("openai/gpt-6-sol", YES_NO), 4608, 128_000, id="yes or no, a model that thinks"),
        pytest.param(
            Case("openai/gpt-6-sol", YES_NO, options={"reasoning": {"effort": "none"}}), 512, 128_000, id="told not to"
        ),
        pytest.param(
            Case("openai/gpt-6-sol", YES_NO, options={"reasoning_effort": "low"}, wire="openai-chat"),
            2560,
            128_000,
            id="told to think little, on the other wire",
        ),
        pytest.param(Case("openai/gpt-4o", ESSAY), 2048, 16_384, id="free text"),
        pytest.param(Case("openai/gpt-4o", LIST), 4512, 16_384, id="long bounded list"),
        pytest.param(Case("anthropic/claude-sonnet-4-6", YES_NO), 512, 128_000, id="a model that thinks when asked"),
        pytest.param(
            Case(
                "anthropic/claude-sonnet-4-6", YES_NO, options={"thinking": {"type": "enabled", "budget_tokens": 6400}}
            ),
            6912,
            128_000,
            id="asked, with a number",
        ),
        pytest.param(
            Case("anthropic/claude-opus-4-8", YES_NO, options={"thinking": {"type": "adaptive"}}),
            16_896,
            128_000,
            id="asked, as it sees fit",
        ),
        pytest.param(Case("google/gemini-3.8-flash", YES_NO), 4608, 65_535, id="Gemini thinks unasked"),
        pytest.param(
            Case("google/gemini-3.8-flash", YES_NO, options={"thinking_config": {"thinking_budget": 0}}),
            512,
            65_535,
            id="unless told not to",
        ),
        pytest.param(
            Case("google/gemini-3.8-flash", YES_NO, options={"thinking_config": {"thinking_level": "LOW"}}),
            2560,
            65_535,
            id="a word in capitals",
        ),
        pytest.param(Case("openai/gpt-6-sol", LIST, OWN), 1024, 128_000, id="the caller's own"),
        pytest.param(Case("openai/gpt-4o", LIST, Policy(max_output_tokens=700)), 700, 700, id="the caller's ceiling"),
        pytest.param(Case("openai/gpt-4o", YES_NO, Policy(output_tokens=3)), 16, 16_384, id="the vendor's minimum"),
        pytest.param(
            Case("openai/gpt-4o", YES_NO, Policy(output_tokens=40_000, max_output_tokens=60_000)),
            16_384,
            16_384,
            id="a stated limit binds",
        ),
        pytest.param(
            Case("vllm/qwen", YES_NO, Policy(output_tokens=40_000)), 40_000, 40_000, id="an assumed one yields at once"
        ),
        pytest.param(
            Case("openrouter/moonshotai/kimi", YES_NO, Policy(max_output_tokens=60_000)),
            2560,
            60_000,
            id="an assumed one yields after cuts",
        ),
        pytest.param(
            Case("vllm/qwen", YES_NO, Policy(output_tokens=40_000, max_output_tokens=30_000)),
            30_000,
            30_000,
            id="the caller's two limits",
        ),
        pytest.param(Case("vllm/qwen", YES_NO), 2560, 8192, id="an assumption holds if nobody says otherwise"),
    ],
)
def test_the_first_budget_of_a_plan(case: Case, first: int, ceiling: int) -> None:
    """Schema, model, wire, options and policy together settle the budget."""
    assert case.planned() == (first, ceiling)


def test_a_prompt_that_fills_a_small_window_leaves_what_fits() -> None:
    """Of a window of 8,192 tokens a prompt of some 3,000 words leaves less than the caller's ceiling."""
    first, ceiling = Case("openai/gpt-4", ESSAY, OWN).planned("word " * 3000)
    assert first == 1024
    assert 1024 <= ceiling <= 8192 - 3000


def test_a_prompt_without_room_is_refused_before_anything_is_sent() -> None:
    """A million words are more than GPT-4 reads."""
    with pytest.raises(PromptTooLong, match=r"openai/gpt-4 holds 8,192\. Shorten") as caught:
        Case("openai/gpt-4", YES_NO).planned("word " * 1_000_000)
    assert caught.value.code == "envelope_truncation_unrecoverable"
    assert not caught.value.trace.attempts
    events: Any = caught.value.trace.events
    assert [each.type for each in events] == ["node.failed"]


@pytest.mark.parametrize("model", ["openai-compatible/mine", "openai/some-future-model", "anthropic/claude-sonnet-4-5"])
def test_nothing_is_refused_for_a_window_that_may_be_larger(model: str) -> None:
    """An operator's setting, a beta or our ignorance may make the window larger than we know."""
    first, _ = Case(model, YES_NO).planned("word " * 1_000_000)
    assert first >= 512


@pytest.mark.parametrize("name", profile.profile_names())
def test_every_wire_says_what_thinking_takes(name: str) -> None:
    """No wire leaves open whether thinking counts, and every word that a model thinks with is known to it."""
    loaded = profile.load_profile(name)
    for each in loaded.wires.values():
        assert each.thinking is not None
        assert {row.effort for row in loaded.thinkers} - {"none"} <= each.thinking.allowances.keys()


@pytest.mark.parametrize(
    ("name", "model", "options", "tokens"),
    [
        ("openai", "gpt-5-mini", {}, 4096),
        ("openai", "gpt-5.4", {}, 0),
        ("openai", "gpt-5.2-chat-latest", {}, 0),
        ("openai", "gpt-5.6-sol", {}, 4096),
        ("openai", "o4-mini", {}, 4096),
        ("openai", "gpt-4o", {"reasoning": "nonsense"}, 0),
        ("openai", "gpt-5", {"reasoning": {"effort": "banana"}}, 4096),
        ("anthropic", "claude-3-5-haiku-20241022", {}, 0),
        ("anthropic", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", {}, 0),
        ("anthropic", "claude-opus-4-1-20250805", {}, 0),
        ("openai", "gpt-6.9-nova", {}, 4096),
        ("openai", "gpt-5-pro", {}, 16384),
        ("openai", "gpt-4o", {}, 0),
        ("openai", "my-fine-tuned", {}, 4096),
        ("azure-openai", "gpt-35-turbo", {}, 0),
        ("anthropic", "claude-opus-5-5", {}, 4096),
        ("anthropic", "us.anthropic.claude-opus-5-5-v1:0", {}, 4096),
        ("anthropic", "claude-haiku-5-5", {}, 4096),
        ("anthropic", "claude-sonnet-5-5", {}, 16384),
        ("anthropic", "claude-fable-5-1", {}, 16384),
        ("anthropic", "claude-opus-5", {}, 16384),
        ("anthropic", "claude-unheard-of", {}, 16384),
        ("anthropic", "claude-sonnet-4@20250514", {}, 0),
        ("anthropic", "claude-opus-5", {"output_config": {"effort": "low"}}, 2048),
        ("anthropic", "claude-opus-5", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}, 65536),
        ("anthropic", "claude-opus-5", {"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}}, 0),
        ("anthropic", "claude-opus-4-8", {"thinking": {"type": "adaptive"}}, 16384),
        ("google", "gemini-3.1-pro-preview", {}, 16384),
        ("google", "gemini-3.8-flash", {}, 4096),
        ("google", "gemini-3.5-flash-lite", {}, 1024),
        ("google", "gemini-4-argon", {}, 16384),
        ("google", "gemini-2.0-flash", {}, 0),
        ("google", "gemma-3-27b-it", {}, 0),
        ("deepseek", "deepseek-flash", {}, 16384),
        ("deepseek", "deepseek-v4-pro", {"thinking": {"type": "disabled"}}, 0),
        ("deepseek", "deepseek-v4-pro", {"reasoning_effort": "max"}, 65536),
        ("anthropic", "claude-sonnet-5", {"thinking": {"type": "disabled"}}, 0),
        ("google", "gemini-2.5-flash-lite", {}, 0),
        ("google", "gemini-2.5-pro", {}, 4096),
        ("google", "gemini-2.5-pro", {"thinking_config": {"thinking_budget": -1}}, 4096),
    ],
)
def test_a_model_thinks_as_its_row_says(name: str, model: str, options: dict[str, Any], tokens: int) -> None:
    """Unasked by the table of thinkers, asked by the caller's options, and a word nobody knows changes nothing."""
    loaded = profile.load_profile(name)
    assert loaded.thinking_tokens(loaded.default_wire, model, options) == tokens


@pytest.mark.parametrize(
    ("name", "model", "encoding"),
    [
        ("openai", "gpt-6-sol", "o200k_base"),
        ("openai", "gpt-4.1-mini", "o200k_base"),
        ("openai", "gpt-4o-mini", "o200k_base"),
        ("openai", "gpt-4-turbo", "cl100k_base"),
        ("openai", "gpt-4", "cl100k_base"),
        ("openai", "gpt-3.5-turbo", "cl100k_base"),
        ("azure-openai", "gpt-35-turbo", "cl100k_base"),
        ("anthropic", "claude-opus-5-5", None),
        ("google", "gemini-3.8-flash", None),
    ],
)
def test_a_model_has_its_encoding(name: str, model: str, encoding: str | None) -> None:
    """OpenAI publishes how its models count, the others do not."""
    assert profile.load_profile(name).token_encoding(model) == encoding


def test_a_wire_is_looked_up_by_its_name() -> None:
    """Every wire of a vendor has facts of its own."""
    loaded = profile.load_profile("openai")
    assert loaded.thinking_tokens(WireFormat.OPENAI_CHAT, "gpt-5", {"reasoning": {"effort": "none"}}) == 4096
