"""How the form is reported: by the vendor's own mode, or in words where the vendor cannot hold the model to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emitter import prompts as prompt
from emitter.client import form_plan, prompt_writer
from emitter.client.routing import ModelTarget
from emitter.core.emission import run_emission
from emitter.events import Level, LogAppended
from emitter.messages import ModelRequest, OutputFormat, OutputMode
from emitter.policy import Policy
from emitter.profiles import find_profile, load_profile
from emitter.schema import Loss, LossReason, compile_schema
from emitter.schema.outline import write_outline
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.core import asks
from tests.forms.document.asking import FORM

PROMPTS = prompt.load()
COMPILED = compile_schema(FORM, "openai")
LOOSE = replace(COMPILED, schema=FORM, enforced=False)
LIST = {"$ref": "#/$defs/all", "$defs": {"all": {"type": "array"}, "one": {"type": "object"}}}


def output(wire: str, compiled: Any, model: str = "") -> OutputFormat:
    """Return the format that a plan would ask for."""
    facts, named = find_profile(SCENARIO_MODELS[wire])
    name = next(each for each in facts.wires if each.value == wire)
    return form_plan.output_spec("Invoice", compiled, PROMPTS, ModelTarget(facts, name, model or named))[0]


MODES = [
    ("openai-responses", "", LOOSE, OutputMode.JSON_OBJECT),
    ("openai-chat", "", LOOSE, OutputMode.JSON_OBJECT),
    ("google", "", LOOSE, OutputMode.JSON_OBJECT),
    ("anthropic", "", LOOSE, OutputMode.TEXT),
    ("openai-chat", "gpt-4", LOOSE, OutputMode.TEXT),
    ("openai-chat", "", replace(LOOSE, original=LIST), OutputMode.TEXT),
    ("openai-chat", "", replace(LOOSE, original={**LIST, "$ref": "#/$defs/one"}), OutputMode.JSON_OBJECT),
    ("openai-chat", "", replace(LOOSE, original={}), OutputMode.TEXT),
    ("openai-chat", "", COMPILED, OutputMode.JSON_SCHEMA),
    ("openai-chat", "gpt-4", COMPILED, OutputMode.TOOL),
]


@pytest.mark.parametrize(("wire", "model", "compiled", "mode"), MODES)
def test_a_schema_that_nobody_can_enforce_is_not_sent_as_one(
    wire: str, model: str, compiled: Any, mode: OutputMode
) -> None:
    """A JSON object is asked for where wire and model have that and every document is one, else plain text."""
    assert output(wire, compiled, model).mode is mode


def form(compiled: Any, mode: OutputMode, *, shown: bool = True) -> str:
    """Return what the system prompt says of the form."""
    return prompt_writer.join_parts(
        *prompt_writer.render_form(PROMPTS, compiled, OutputFormat("x", compiled.schema, mode), is_schema_shown=shown)
    )


@pytest.mark.parametrize("mode", [OutputMode.JSON_OBJECT, OutputMode.TEXT])
def test_it_stands_in_the_system_prompt_instead(mode: OutputMode) -> None:
    """The outline of the caller's own schema, whole: so no rule of it has to be listed apart."""
    losing = replace(LOOSE, losses=(Loss("/properties/due", "format", '"date"'),))

    assert form(losing, mode) == prompt.render_outline(PROMPTS, write_outline(FORM) or "")


@pytest.mark.parametrize("mode", OutputMode)
@pytest.mark.parametrize("shown", [True, False])
def test_a_compiled_schema_is_described_unless_the_server_shows_it(mode: OutputMode, *, shown: bool) -> None:
    """The outline in the prompt is that of the compiled form, since that is what is decoded."""
    outline = prompt.render_outline(PROMPTS, write_outline(COMPILED.schema) or "")

    assert (outline in form(COMPILED, mode, shown=shown)) is not shown


SHOWN = {
    **dict.fromkeys(("openai", "azure-openai", "anthropic", "google", "bedrock", "mistral"), True),
    **dict.fromkeys(("openai-compatible", "vllm", "llama-cpp", "ollama", "deepseek", "groq", "openrouter"), False),
}


@pytest.mark.parametrize(("name", "shown"), SHOWN.items(), ids=SHOWN.keys())
def test_the_model_reads_names_and_descriptions_once(name: str, *, shown: bool) -> None:
    """They are in the schema that the server shows, or in the prompt."""
    facts = load_profile(name)
    model = "openai/gpt-6" if name == "openrouter" else "a-model"
    for wire in facts.wires:
        compiled = compile_schema({**FORM, "description": "K7 is for rent."}, facts)
        output, parts = form_plan.output_spec("Invoice", compiled, PROMPTS, ModelTarget(facts, wire, model))
        text = prompt_writer.join_parts(*parts)

        assert text.count("K7 is for rent") == (0 if output.mode in facts.wires[wire].output.shown else 1)
        assert (OutputMode.JSON_SCHEMA in facts.wires[wire].output.shown) is shown


LOSSES = {
    LossReason.UNSUPPORTED: True,
    LossReason.DEGRADED: True,
    LossReason.INSIDE: False,
    LossReason.OPEN: False,
    LossReason.CLOSED: False,
    LossReason.WIDENED: False,
    LossReason.CONTRADICTORY: False,
}


@pytest.mark.parametrize(("why", "listed"), LOSSES.items(), ids=str)
def test_rules_are_listed_where_the_descriptions_do_not_hold_them(why: LossReason, listed: bool) -> None:
    """What is told where it stands is not told twice."""
    losing = replace(COMPILED, losses=(Loss("/properties/due", "format", '"date"', why),))

    assert ("/properties/due: format" in form(losing, OutputMode.JSON_SCHEMA)) is listed
    assert set(LOSSES) == set(LossReason)


def test_the_list_of_rules_is_bounded() -> None:
    """Neither their number nor a long value can swell the prompt."""
    many = tuple(Loss(f"/properties/{nth}", "maximum", "1") for nth in range(1000))
    long = (Loss("/properties/x", "enum", "x" * 10_000),)

    assert form(replace(COMPILED, losses=long), OutputMode.JSON_SCHEMA) == ""
    assert (
        form(replace(COMPILED, losses=many), OutputMode.JSON_SCHEMA).count("- /properties/")
        == prompt_writer.MAX_LISTED_RULES
    )


def test_what_a_schemas_size_cost_is_reported_once_and_first() -> None:
    """A warning before the first call, with the places in the schema and no values."""
    lost = tuple(Loss(f"/properties/{nth}", "enum", '["a"]', LossReason.DEGRADED) for nth in range(20))
    ask = asks.ask()
    degraded = replace(asks.COMPILED, losses=(*lost, Loss("", "minimum", "0")))
    ask = replace(ask, contract=replace(ask.contract, compiled=degraded))
    steps = list(emission_until_call(ask))

    assert steps[0] == LogAppended(
        Level.WARN,
        "the schema is too large for the vendor, so these are checked here only",
        {"count": 20, "first": [f"/properties/{nth}: enum" for nth in range(8)]},
    )
    assert [each.message for each in steps[1:]] == ["calling"]
    assert [each.message for each in emission_until_call(asks.ask())] == ["calling"]


def emission_until_call(ask: Any) -> list[Any]:
    """Return the events that are reported before anything is sent."""
    reported: list[Any] = []
    for step in run_emission(ask, Policy()):
        if isinstance(step, ModelRequest):
            return reported
        reported.append(step)
    raise AssertionError("an emission sends something")


def test_every_wires_profile_has_a_mode_for_what_nobody_enforces() -> None:
    """Text is always left, so no vendor is without one."""
    for wire in SCENARIO_MODELS:
        assert output(wire, LOOSE).mode in {OutputMode.JSON_OBJECT, OutputMode.TEXT}
        assert load_profile("openai").default_wire.value in SCENARIO_MODELS
