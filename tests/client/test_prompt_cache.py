"""What all emissions of a form begin with is marked for the vendor's cache, and stays the same in every call."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Policy, aemit, emit, stream
from emitter.errors import EmissionError, InputError
from emitter.messages import Usage
from emitter.policy import Prices
from emitter.prices import ListedPrices
from emitter.testing import PromptCaches, Text, simulator
from tests.wires import MODELS, every_model

if TYPE_CHECKING:
    from emitter.testing import Simulator

INVOICE: dict[str, Any] = {
    "title": "Invoice",
    "type": "object",
    "properties": {"total": {"type": "number", "minimum": 0}},
    "required": ["total"],
}
RULES = "\n".join(f"Rule {number}: an amount of kind {number} is written in euros." for number in range(300))
EXAMPLES = [{"total": 12.5}]
OWED, WRONG = Text({"total": 1}), Text({"total": -1})
MARKED = {name: MODELS[name] for name in ("responses", "chat", "anthropic", "converse")}
every_marked_model = pytest.mark.parametrize(("model", "options"), MARKED.values(), ids=MARKED.keys())


def ask(vendor: Simulator, model: str, prompt: Any = "What is owed?", **options: Any) -> Usage:
    """Emit an invoice and return the usage."""
    shared = {"instructions": RULES, "model": model, "client": vendor.client(model)}
    return emit(INVOICE, prompt, **{**shared, **options}).usage


def sent(model: str, prompt: Any = "What is owed?", **options: Any) -> dict[str, Any]:
    """Return the body of a request."""
    with simulator(answers=OWED) as vendor:
        ask(vendor, model, prompt, **options)
        return vendor.calls[-1].body


MARK = {"prompt_cache_breakpoint": {"mode": "explicit"}}
SYSTEMS: dict[str, tuple[str, dict[str, Any], Any, Any]] = {
    "anthropic": (
        "anthropic/claude-sonnet-5-5",
        {},
        True,
        [{"type": "text", "text": "…", "cache_control": {"type": "ephemeral"}}],
    ),
    "anthropic, long": (
        "anthropic/claude-sonnet-5-5",
        {},
        "long",
        [{"type": "text", "text": "…", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    ),
    "anthropic, by default": ("anthropic/claude-sonnet-5-5", {}, None, "…"),
    "anthropic, off": ("anthropic/claude-sonnet-5-5", {}, False, "…"),
    "anthropic, too short": ("anthropic/claude-haiku-4-5", {"instructions": "Be brief."}, True, "…"),
    "converse": (
        "bedrock/eu.anthropic.claude-sonnet-5-5-v1:0",
        {},
        True,
        [{"text": "…"}, {"cachePoint": {"type": "default"}}],
    ),
    "converse, long": (
        "bedrock/eu.anthropic.claude-sonnet-5-5-v1:0",
        {},
        "long",
        [{"text": "…"}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
    ),
    "converse, by default": ("bedrock/eu.anthropic.claude-sonnet-5-5-v1:0", {}, None, [{"text": "…"}]),
    "converse, by default where writing costs nothing": (
        "bedrock/amazon.nova-lite-v1:0",
        {},
        None,
        [{"text": "…"}, {"cachePoint": {"type": "default"}}],
    ),
    "converse, off": ("bedrock/amazon.nova-lite-v1:0", {}, False, [{"text": "…"}]),
    "converse, a model that is not known to cache": (
        "bedrock/us.anthropic.claude-3-haiku-20240307-v1:0",
        {},
        True,
        [{"text": "…"}],
    ),
    "responses": ("openai/gpt-6-sol", {}, True, [{"type": "input_text", "text": "…", **MARK}]),
    "responses, by default": ("openai/gpt-6-sol", {}, None, "…"),
    "responses, too short": ("openai/gpt-6-sol", {"instructions": "Be brief."}, True, "…"),
    "responses, before marks": ("openai/gpt-4o", {}, True, "…"),
    "chat": ("openai/gpt-6-sol", {"wire": "openai-chat"}, True, [{"type": "text", "text": "…", **MARK}]),
    "google": ("google/gemini-3.8-flash", {}, True, [{"text": "…"}]),
}


def system_of(body: dict[str, Any]) -> Any:
    """Return the system prompt of a body, wherever it stands, with an ellipsis for each text."""
    turns = body.get("messages") or body.get("input") or [{}]
    first = turns[0].get("content") if turns[0].get("role") in ("system", "developer") else None
    google = body.get("systemInstruction", {}).get("parts")
    system = body.get("system") or body.get("instructions") or google or first
    if isinstance(system, str):
        return "…"
    return [{**part, "text": "…"} if "text" in part else part for part in system]


@pytest.mark.parametrize(("model", "options", "setting", "system"), SYSTEMS.values(), ids=SYSTEMS.keys())
def test_the_mark_stands_behind_the_system_prompt(
    model: str, options: dict[str, Any], setting: Any, system: Any
) -> None:
    """Each vendor's own mark is set where it can work, and by default only where it costs nothing."""
    assert system_of(sent(model, cache_prompt=setting, **options)) == system


PARAMETERS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "marked": ("openai/gpt-6-sol", True, {"prompt_cache_options": {"mode": "explicit"}}),
    "marked, long": ("openai/gpt-6-sol", "long", {"prompt_cache_options": {"mode": "explicit", "ttl": "12h"}}),
    "marked, off": ("openai/gpt-6-sol", False, {"prompt_cache_options": {"mode": "explicit"}}),
    "automatic": ("openai/gpt-5.4", True, {}),
    "automatic, long": ("openai/gpt-5.4", "long", {"prompt_cache_retention": "24h"}),
    "automatic, long, with one lifetime": ("openai/gpt-4o", "long", {}),
    "automatic, off": ("openai/gpt-5.4", False, {}),
}


@pytest.mark.parametrize("wire", ["openai-responses", "openai-chat"])
@pytest.mark.parametrize(("model", "setting", "parameters"), PARAMETERS.values(), ids=PARAMETERS.keys())
def test_openai_is_told_how_to_cache(model: str, setting: Any, parameters: dict[str, Any], wire: str) -> None:
    """Models with marks have options, earlier ones a retention; a key groups the requests of a form."""
    body = sent(model, cache_prompt=setting, wire=wire)
    found = {name: value for name, value in body.items() if name.startswith("prompt_cache")}
    key = found.pop("prompt_cache_key", None)

    assert found == parameters
    assert (key is not None) is bool(setting)


def test_a_key_belongs_to_a_form() -> None:
    """The prompt does not change it, the instructions and the schema do; the caller's own goes before it."""

    def key(**options: Any) -> str:
        return sent("openai/gpt-6-sol", cache_prompt=True, **options)["prompt_cache_key"]

    assert key() == key(prompt="And now?")
    assert key() != key(instructions=RULES + " Be brief.")
    assert key() != key(examples=EXAMPLES)
    assert len(key()) <= 64
    assert key(extra_body={"prompt_cache_key": "mine"}) == "mine"


@pytest.mark.parametrize("model", ["azure/gpt-6-sol", "groq/openai/gpt-oss-120b", "deepseek/deepseek-chat"])
def test_nothing_is_asked_of_a_cache_that_is_not_known(model: str) -> None:
    """Servers that are only compatible may refuse a field that they do not know."""
    plain, asked = sent(model), sent(model, cache_prompt=True)

    assert plain == asked


@every_model
def test_what_varies_stands_last(model: str, options: dict[str, Any]) -> None:
    """The system texts of a conversation follow the form, its rules and its examples, behind the mark."""
    turns = [{"role": "system", "content": "You speak for Acme."}, {"role": "user", "content": "What is owed?"}]
    body = sent(model, turns, examples=EXAMPLES, cache_prompt=True, **options)
    system = [value for key, value in body.items() if key.startswith(("system", "instructions"))]
    text = str([*system, body.get("messages"), body.get("input"), body.get("contents")])

    places = [text.index(words) for words in ("Rule 299", "12.5", "You speak for Acme", "What is owed?")]
    assert places == sorted(places)
    marks = [text.index(name) for name in ("cache_control", "cachePoint", "prompt_cache_breakpoint") if name in text]
    assert all(places[1] < mark < places[2] for mark in marks)
    assert len(marks) == ("google" not in model)


def without_budget(body: dict[str, Any]) -> list[str]:
    """Return the pieces of a body in the vendor's order: everything but the turns, and each turn."""
    turns = next(key for key in ("messages", "input", "contents") if key in body)
    rest = {key: value for key, value in body.items() if key not in (turns, "max_output_tokens", "max_tokens")}
    return [str(rest), *map(str, body[turns])]


@every_model
def test_a_correction_keeps_the_prefix(model: str, options: dict[str, Any]) -> None:
    """The whole of the first request is the beginning of every further one."""
    with simulator(answers=OWED, prompt_caches=PromptCaches()) as vendor:
        vendor.script(WRONG, WRONG)
        ask(vendor, model, cache_prompt=True, policy=Policy(max_attempts=3), **options)
        first, *others = (without_budget(call.body) for call in vendor.calls)
        usages = [call.usage for call in vendor.calls]

    assert len(others) == 2
    for other in others:
        assert other[: len(first)] == first
        assert len(other) == len(first) + 1
    assert usages[0].cache_read == 0
    assert all(usage.cache_read > usage.input * 0.9 for usage in usages[1:])


@every_marked_model
def test_the_usage_counts_what_is_read_and_written(model: str, options: dict[str, Any]) -> None:
    """The first emission writes and the next ones read, whatever client asks, and the vendor bills the same."""
    caches = PromptCaches()
    shared = {"instructions": RULES, "model": model, "cache_prompt": True, **options}

    async def ask_async() -> Usage:
        async with simulator(answers=OWED, prompt_caches=caches) as vendor:
            return (await aemit(INVOICE, "third", client=vendor.client(model, asynchronous=True), **shared)).usage

    with simulator(answers=OWED, prompt_caches=caches) as vendor:
        first = ask(vendor, model, "first", cache_prompt=True, **options)
        second = stream(INVOICE, "second", client=vendor.client(model), **shared).result().usage
        assert vendor.billed == first + second
    third = asyncio.run(ask_async())

    assert first.cache_write > 0 == first.cache_read
    assert [usage.cache_read for usage in (second, third)] == [first.cache_write] * 2
    assert [usage.cache_write for usage in (second, third)] == [0, 0]


@every_marked_model
def test_caching_pays_from_the_second_emission_on(model: str, options: dict[str, Any]) -> None:
    """A single one costs more, which is why it is not the default; two cost less."""
    pytest.importorskip("genai_prices")

    def cost(count: int, setting: Any) -> Decimal:
        with simulator(answers=OWED, prompt_caches=PromptCaches()) as vendor:
            shared = {"instructions": RULES, "model": model, "client": vendor.client(model), **options}
            emissions = [emit(INVOICE, f"{number}?", **shared, cache_prompt=setting) for number in range(count)]
        return sum(emission.cost for emission in emissions if emission.cost is not None)

    assert cost(1, True) > cost(1, False)
    assert cost(2, True) < cost(2, False)


LIMITED: dict[str, tuple[str, Any]] = {
    "marked": ("anthropic/claude-sonnet-5-5", True),
    "marked for an hour": ("anthropic/claude-sonnet-5-5", "long"),
    "by the vendor itself": ("openai/gpt-6-sol", None),
}


@pytest.mark.parametrize(("model", "setting"), LIMITED.values(), ids=LIMITED.keys())
def test_a_limit_on_the_cost_counts_what_is_written(model: str, setting: Any) -> None:
    """The output budget leaves room for writing the whole prompt, at the price of its lifetime."""
    pytest.importorskip("genai_prices")
    policy = Policy(max_attempts=1, max_cost=0.06, output_tokens=20_000)
    with simulator(answers=Text("on and on " * 30_000), prompt_caches=PromptCaches()) as vendor:
        with pytest.raises(EmissionError) as raised:
            ask(vendor, model, cache_prompt=setting, policy=policy)
        [call] = vendor.calls

    assert call.usage.cache_write > 3_000
    assert call.usage.output > 1_000
    assert raised.value.cost is not None
    assert 0.05 < raised.value.cost <= Decimal("0.06")


def test_an_hour_costs_more_than_five_minutes() -> None:
    """Tokens that are kept for an hour have a price of their own, in the list and in your own prices."""
    pytest.importorskip("genai_prices")
    listed = ListedPrices("anthropic", "claude-sonnet-5-5")
    short, long = (
        Usage(input=1_000_000, cache_write=1_000_000),
        Usage(1_000_000, 0, 0, 1_000_000, cache_write_1h=1_000_000),
    )

    assert listed.cost_of(short) * 2 > listed.cost_of(long) > listed.cost_of(short)
    assert Prices(2, 10, cache_write=2.5, cache_write_1h=4).cost_of(long) == listed.cost_of(long)
    assert Prices(2, 10, cache_write=2.5).cost_of(long) == listed.cost_of(short)
    assert (short + long).cache_write_1h == 1_000_000


def test_another_word_is_refused() -> None:
    """The error says what there is."""
    with pytest.raises(
        InputError, match='cache_prompt is "5m"; it must be True, False or "long"'.replace('"5m"', "'5m'")
    ):
        emit(INVOICE, "What is owed?", model="openai/gpt-6-sol", client=object(), cache_prompt="5m")  # type: ignore[call-overload]
