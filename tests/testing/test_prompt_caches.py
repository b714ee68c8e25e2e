"""The simulated prompt caches follow the vendors' published rules, and the profiles agree with them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from emitter.messages import Usage
from emitter.profiles import WireFormat, load_profile
from emitter.testing import PromptCaches, Text, simulator
from tests.testing.asking import PROFILES, Question, address, body, headers, http, understood

if TYPE_CHECKING:
    from emitter.testing import Simulator

ANTHROPIC, CONVERSE = WireFormat.ANTHROPIC, WireFormat.BEDROCK_CONVERSE
RESPONSES, GOOGLE = WireFormat.OPENAI_RESPONSES, WireFormat.GOOGLE
LONG, SHORT = "A rule of the house. " * 300, "A rule of the house. " * 60
MARK = {"cache_control": {"type": "ephemeral"}}
BREAKPOINT = {"prompt_cache_breakpoint": {"mode": "explicit"}}


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: float = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def ask(vendor: Simulator, wire: WireFormat, model: str, **members: Any) -> Usage:
    """Send a request with these members in its body and return the usage that the library reads."""
    asked = Question(model=model)
    sent = {**body(wire, asked), **members}
    response = http().post(address(vendor, wire, asked), json=sent, headers=headers(wire, asked.key))
    answer: Any = understood(wire, response)
    assert response.status_code == 200, response.text
    return answer.usage


def turn(*texts: str, **mark: Any) -> list[dict[str, Any]]:
    """Return the turns of Anthropic; the last text has the mark."""
    *others, last = [{"type": "text", "text": text} for text in texts]
    return [{"role": "user", "content": [*others, {**last, **mark}]}]


def cached(usage: Usage) -> tuple[bool, bool]:
    """Return whether tokens were read and written."""
    return usage.cache_read > 0, usage.cache_write > 0


SONNET, HAIKU = "claude-sonnet-5-5", "claude-haiku-4-5"


def test_a_marked_prefix_is_read_until_its_lifetime_ends() -> None:
    """Every hit renews it; after five minutes without one it is written again."""
    clock = Clock()
    system = [{"type": "text", "text": LONG, **MARK}]
    seen: list[tuple[bool, bool]] = []
    with simulator(answers=Text("{}"), prompt_caches=PromptCaches(clock)) as vendor:
        for minute in (0, 4, 8, 14):
            clock.now = minute * 60
            seen.append(cached(ask(vendor, ANTHROPIC, SONNET, system=system)))

    assert seen == [(False, True), (True, False), (True, False), (False, True)]


def test_an_hour_is_an_hour() -> None:
    """A longer lifetime is billed as such, and lasts."""
    clock = Clock()
    system = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    with simulator(answers=Text("{}"), prompt_caches=PromptCaches(clock)) as vendor:
        first = ask(vendor, ANTHROPIC, SONNET, system=system)
        clock.now = 3_500
        second = ask(vendor, ANTHROPIC, SONNET, system=system)

    assert first.cache_write_1h == first.cache_write > 1_000
    assert second.cache_read == first.cache_write
    assert second.input == first.input


PREFIXES: dict[str, tuple[WireFormat, str, dict[str, Any], dict[str, Any], tuple[bool, bool]]] = {
    "the same": (
        ANTHROPIC,
        SONNET,
        {"system": [{"type": "text", "text": LONG, **MARK}]},
        {"system": [{"type": "text", "text": LONG, **MARK}]},
        (True, False),
    ),
    "another beginning": (
        ANTHROPIC,
        SONNET,
        {"system": [{"type": "text", "text": LONG, **MARK}]},
        {"system": [{"type": "text", "text": f"No. {LONG}", **MARK}]},
        (False, True),
    ),
    "another schema before it": (
        ANTHROPIC,
        SONNET,
        {"system": [{"type": "text", "text": LONG, **MARK}]},
        {"system": [{"type": "text", "text": LONG, **MARK}], "output_config": {}},
        (False, True),
    ),
    "no mark": (ANTHROPIC, SONNET, {"system": LONG}, {"system": LONG}, (False, False)),
    "too short for the model": (
        ANTHROPIC,
        HAIKU,
        {"system": [{"type": "text", "text": SHORT * 2, **MARK}]},
        {"system": [{"type": "text", "text": SHORT * 2, **MARK}]},
        (False, False),
    ),
    "a longer prefix than before": (
        ANTHROPIC,
        SONNET,
        {"messages": turn(LONG, **MARK)},
        {"messages": turn(LONG, LONG, **MARK)},
        (True, True),
    ),
    "more than twenty blocks behind the last entry": (
        ANTHROPIC,
        SONNET,
        {"messages": turn(LONG, **MARK)},
        {"messages": turn(LONG, *["and"] * 21, **MARK)},
        (False, True),
    ),
    "converse": (
        CONVERSE,
        "amazon.nova-lite-v1:0",
        {"system": [{"text": LONG}, {"cachePoint": {"type": "default"}}]},
        {"system": [{"text": LONG}, {"cachePoint": {"type": "default"}}, {"text": "and"}]},
        (True, False),
    ),
    "openai marks the last message by itself": (
        RESPONSES,
        "gpt-6-sol",
        {"instructions": LONG, "input": [{"role": "user", "content": "one"}]},
        {"instructions": LONG, "input": [{"role": "user", "content": "two"}]},
        (False, True),
    ),
    "openai finds it again in the next turn": (
        RESPONSES,
        "gpt-6-sol",
        {"instructions": LONG, "input": [{"role": "user", "content": "one"}]},
        {"instructions": LONG, "input": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]},
        (True, True),
    ),
    "openai, no marks and none of its own": (
        RESPONSES,
        "gpt-6-sol",
        {"instructions": LONG, "prompt_cache_options": {"mode": "explicit"}},
        {"instructions": LONG, "prompt_cache_options": {"mode": "explicit"}},
        (False, False),
    ),
    "openai before marks": (
        RESPONSES,
        "gpt-5.4",
        {"instructions": LONG, "input": [{"role": "user", "content": "one"}]},
        {"instructions": LONG, "input": [{"role": "user", "content": "two"}]},
        (True, False),
    ),
    "google": (
        GOOGLE,
        "gemini-2.5-flash",
        {"systemInstruction": {"parts": [{"text": LONG}]}, "contents": [{"parts": [{"text": "one"}]}]},
        {"systemInstruction": {"parts": [{"text": LONG}]}, "contents": [{"parts": [{"text": "two"}]}]},
        (True, False),
    ),
    "google, too short for the model": (
        GOOGLE,
        "gemini-3.8-flash",
        {"systemInstruction": {"parts": [{"text": SHORT}]}},
        {"systemInstruction": {"parts": [{"text": SHORT}]}},
        (False, False),
    ),
}


@pytest.mark.parametrize(("wire", "model", "before", "after", "seen"), PREFIXES.values(), ids=PREFIXES.keys())
def test_what_a_second_request_reads_and_writes(
    wire: WireFormat, model: str, before: dict[str, Any], after: dict[str, Any], seen: tuple[bool, bool]
) -> None:
    """A prefix is read if it is the same, long enough, and marked where the vendor wants a mark."""
    with simulator(answers=Text("{}"), prompt_caches=PromptCaches()) as vendor:
        ask(vendor, wire, model, **before)
        usage = ask(vendor, wire, model, **after)

    assert cached(usage) == seen
    assert usage.cache_read + usage.cache_write <= usage.input


def test_a_cache_belongs_to_a_model() -> None:
    """Another model of the vendor writes its own."""
    system = [{"type": "text", "text": LONG, **MARK}]
    with simulator(answers=Text("{}"), prompt_caches=PromptCaches()) as vendor:
        ask(vendor, ANTHROPIC, SONNET, system=system)
        assert cached(ask(vendor, ANTHROPIC, "claude-sonnet-4-6", system=system)) == (False, True)


def test_automatic_caches_are_read_in_steps() -> None:
    """OpenAI reads 1,024 tokens and then 128 at a time."""
    with simulator(answers=Text("{}"), prompt_caches=PromptCaches()) as vendor:
        for word in ("one", "two"):
            usage = ask(vendor, RESPONSES, "gpt-5.4", instructions=LONG, input=[{"role": "user", "content": word}])

    assert usage.cache_read > 1_024
    assert (usage.cache_read - 1_024) % 128 == 0


def test_a_fifth_mark_is_refused() -> None:
    """In the vendor's words."""
    content = [{"type": "text", "text": "a", **MARK}] * 5
    asked = Question(model=SONNET)
    sent = {**body(ANTHROPIC, asked), "messages": [{"role": "user", "content": content}]}
    with simulator(answers=Text("{}"), prompt_caches=PromptCaches()) as vendor:
        response = http().post(address(vendor, ANTHROPIC, asked), json=sent, headers=headers(ANTHROPIC, asked.key))

    assert response.status_code == 400
    assert "A maximum of 4 blocks with cache_control may be provided. Found 5." in response.text


def test_an_error_writes_nothing() -> None:
    """Only an answer leaves an entry behind."""
    from emitter.testing import Overloaded  # noqa: PLC0415  only here

    system = [{"type": "text", "text": LONG, **MARK}]
    asked = Question(model=SONNET)
    with simulator(answers=Text("{}"), prompt_caches=PromptCaches()) as vendor:
        vendor.script(Overloaded())
        sent = json.dumps({**body(ANTHROPIC, asked), "system": system})
        http().post(address(vendor, ANTHROPIC, asked), content=sent, headers=headers(ANTHROPIC, asked.key))
        assert cached(ask(vendor, ANTHROPIC, SONNET, system=system)) == (False, True)


def test_without_caches_nothing_is_cached() -> None:
    """The default: the usage of a request does not depend on those before it."""
    system = [{"type": "text", "text": LONG, **MARK}]
    with simulator(answers=Text("{}")) as vendor:
        usages = [ask(vendor, ANTHROPIC, SONNET, system=system) for _ in range(2)]

    assert usages == [Usage(usages[0].input, usages[0].output)] * 2


BOUNDS = [
    (ANTHROPIC, SONNET),
    (ANTHROPIC, HAIKU),
    (ANTHROPIC, "claude-opus-5"),
    (ANTHROPIC, "claude-opus-4-6"),
    (ANTHROPIC, "claude-3-5-haiku-20241022"),
    (CONVERSE, "eu.anthropic.claude-sonnet-5-5-v1:0"),
    (CONVERSE, "us.anthropic.claude-haiku-4-5-20251001-v1:0"),
    (CONVERSE, "us.amazon.nova-pro-v1:0"),
    (CONVERSE, "amazon.titan-text-express-v1"),
    (RESPONSES, "gpt-6-sol"),
    (RESPONSES, "gpt-5.4"),
    (GOOGLE, "gemini-3.8-flash"),
    (GOOGLE, "gemini-2.5-flash"),
]


@pytest.mark.parametrize(("wire", "model"), BOUNDS, ids=[f"{wire.value} {model}" for wire, model in BOUNDS])
def test_the_profile_knows_the_same_minimum(wire: WireFormat, model: str) -> None:
    """The two were written apart from each other."""
    from emitter.testing.plans import ReceivedRequest  # noqa: PLC0415  only here
    from emitter.testing.prompt_caches import find_rules  # noqa: PLC0415  only here

    request = ReceivedRequest(wire, "", model, {}, streamed=False, schema=None, tool=None, budget=None, input_tokens=0)
    rules, facts = find_rules(request), load_profile(PROFILES[wire]).prompt_caching(model)

    assert (rules is None) is (facts is None)
    if rules is not None and facts is not None:
        assert rules.minimum == facts.minimum
        assert rules.is_marked is (facts.marks > 0)
        assert rules.marks_last is facts.exclusive
        assert not facts.lifetimes or facts.lifetimes[0] == rules.lifetime
