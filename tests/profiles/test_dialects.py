"""The words in which servers refuse a request mean the same on every profile, with the figures that they name."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter import profiles
from emitter.adapters.http_response import ResponseHead, parse_body, parse_response
from emitter.adapters.response_decoding import describe_error
from emitter.messages import ExpectedAnswer, Fault
from emitter.testing.dialects import Dialect, load_dialects

if TYPE_CHECKING:
    from emitter.messages import CallResult

DIALECTS = load_dialects()
WORDS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("other_words.toml").read_text("utf-8"))["words"]
NUMBERS = {"limit": 4096, "prompt": 350, "budget": 8192}
NAMED = [dialect for dialect in DIALECTS.values() if dialect.profile in profiles.profile_names()]
COMPATIBLE = [name for name in profiles.listed_profile_names() if "openai-chat" in profiles.load_profile(name).wires]


def read(profile: str, dialect: Dialect) -> CallResult:
    """Return what a provider's adapter makes of a dialect."""
    loaded, body = profiles.load_profile(profile), dialect.write_body(**NUMBERS)
    return parse_response(loaded, loaded.default_wire, ResponseHead(dialect.status), body, expected=ExpectedAnswer())


def meaning(result: CallResult) -> tuple[str, dict[str, int]]:
    """Return the meaning of a result and the figures in it."""
    limits = None if result.report is None else result.report.limits
    figures = {} if limits is None else asdict(limits)
    return (
        (result.kind if isinstance(result, Fault) else result.stop).value,
        {name: figure for name, figure in figures.items() if figure is not None},
    )


@pytest.mark.parametrize("dialect", NAMED, ids=lambda dialect: dialect.name)
def test_a_server_is_understood_in_its_own_words(dialect: Dialect) -> None:
    """Its own rules come first, and do not hide the words that it shares with others."""
    assert meaning(read(str(dialect.profile), dialect)) == (dialect.means, dialect.stated_figures(**NUMBERS))


@pytest.mark.parametrize("name", COMPATIBLE)
def test_every_compatible_server_may_use_the_words_of_another(name: str) -> None:
    """Nobody knows what stands behind a gateway or a base URL."""
    found = {dialect.name: meaning(read(name, dialect)) for dialect in DIALECTS.values()}
    assert found == {each.name: (each.means, each.stated_figures(**NUMBERS)) for each in DIALECTS.values()}


def test_every_shared_rule_has_a_source_and_is_spoken() -> None:
    """A rule that no sentence reaches is wrong, or hidden by an earlier one."""
    table = profiles.load_profile("openai-compatible").faults
    rules = [rule for rule in table.rules if rule.source]
    errors = [describe_error(each.status, parse_body(each.write_body(**NUMBERS))) for each in DIALECTS.values()]
    errors += [describe_error(each["status"], {"error": {"message": each["text"]}}) for each in WORDS]
    reached = [next((rule for rule in rules if rule.read(error)), None) for error in errors]
    assert len(rules) > 50
    assert [rule.message or rule.detail for rule in rules if rule not in reached] == []


def test_every_rule_about_words_of_a_shared_profile_has_a_source() -> None:
    """A sentence that nobody has seen is no fact."""
    rules = profiles.load_profile("openai-compatible").faults.rules
    assert [rule for rule in rules if rule.reads_words and not rule.source] == []


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)
def test_a_kind_has_one_meaning(dialect: Dialect) -> None:
    """What the simulated vendor says agrees with what it means."""
    assert dialect.source
    expected = {
        "window": {"overflowed"}, "prompt": {"overflowed", "too_large"}, "output": {"budget_refused"},
        "rate": {"too_large"}, "credit": {"quota"}, "cut": {"truncated"}, "quota": {"quota"}, "day": {"quota"},
        "busy": {"rate_limit", "overloaded"}, "filter": {"refused"}, "mode": {"mode_refused"},
        "stream": {"stream_required"}, "schema": {"schema_rejected"}, "media": {"bad_request"},
    }  # fmt: skip
    assert dialect.means in expected[dialect.kind.value]


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words["text"][:50])
def test_the_same_in_other_words(words: dict[str, Any]) -> None:
    """The rules read kinds of sentences, not the sentences of today."""
    loaded = profiles.load_profile("openai-compatible")
    body = json.dumps({"error": {"message": words["text"]}})
    result = parse_response(loaded, loaded.default_wire, ResponseHead(words["status"]), body, expected=ExpectedAnswer())
    means, figures = meaning(result)
    assert (means, figures) == (words["means"], words.get("figures", figures))


OTHERS = {
    "requests-a-minute": (
        429,
        "Rate limit reached for gpt-6 on requests per min (RPM): Limit 3. Try again in 20s.",
        "rate_limit",
    ),
    "azure-tier": (
        429,
        (
            "Requests have exceeded token rate limit of your current OpenAI S0 pricing tier. Ask us to increase the "
            "default rate limit."
        ),
        "rate_limit",
    ),
    "anthropic-minute": (
        429,
        (
            "This request would exceed your organization's rate limit of 50,000 input tokens per minute. Please reduce "
            "the prompt length or the maximum tokens requested, or try again later."
        ),
        "rate_limit",
    ),
    "temperature": (400, "temperature must be less than or equal to 2", "bad_request"),
    "content": (400, "Invalid value for 'content': expected a string", "bad_request"),
    "logprobs": (400, "top_logprobs is not supported with this model", "bad_request"),
    "model": (404, "The model `gpt-9` does not exist or you do not have access to it.", "not_found"),
    "key": (401, "Incorrect API key provided: sk-x", "authentication"),
    "server": (500, "The server had an error while processing your request", "server"),
    "unavailable": (503, "Service unavailable", "overloaded"),
    "unverified": (403, "Your organization must be verified to use this model", "permission"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_words_of_something_else_are_not_taken(name: str) -> None:
    """A rule about words reads no more than it means."""
    status, message, means = OTHERS[name]
    loaded, text = profiles.load_profile("openai-compatible"), f'{{"error": {{"message": "{message}"}}}}'
    result = parse_response(loaded, loaded.default_wire, ResponseHead(status), text, expected=ExpectedAnswer())
    assert meaning(result)[0] == means
