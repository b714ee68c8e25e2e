"""The words of every server on every server: calls, tokens, verdicts and the text of the error, as one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from emitter import EmissionError, Policy, emit
from emitter.client.result import Emission
from emitter.clock import Clock
from emitter.errors import BadRequest, PromptTooLong, QuotaExhausted, Refused
from emitter.events import BUDGET_LOWERED, Level, LogAppended
from emitter.messages import Usage
from emitter.profiles import find_profile
from emitter.testing import Text, VendorWords, simulator
from emitter.testing.dialects import load_dialects
from tests.work import FULL, covering

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import Simulator

DIALECTS = load_dialects()
MODELS = (
    "openai-compatible/m",
    "vllm/m",
    "ollama/m",
    "llama-cpp/m",
    "groq/openai/gpt-oss-20b",
    "openrouter/deepseek/deepseek-v4",
    "deepseek/deepseek-v4-pro",
    "mistral/mistral-large-2512",
    "xai/grok-4.3",
    "moonshot/kimi-k2.6",
    "zai/glm-5",
    "cerebras/gpt-oss-120b",
    "cohere/command-a-03-2025",
    "huggingface/openai/gpt-oss-120b",
    "openai/gpt-6-sol",
    "anthropic/claude-opus-5",
    "google/gemini-3.5-flash",
)
"""A server of unknown make, the named ones, and the vendors' own addresses, behind which a gateway may stand."""
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
ANSWER = Text({"n": 3})
FIRST, LIMIT = 3000, 2000
POLICY = Policy(output_tokens=FIRST, max_output_tokens=4 * FIRST)
FAST = Clock(sleep=lambda _: None)


@dataclass(frozen=True)
class Row:
    """What follows from a kind of dialect.

    Attributes:
        limit: The server's limit, 0 for one that nothing fits.
        verdicts: The verdict of each call.
        error: The exception, or None if the last call is answered.
        text: What the exception says.
    """

    verdicts: str
    error: type[EmissionError] | None = None
    text: str = ""
    limit: int = LIMIT


TABLE = {
    "window": Row("overflowed complete"),
    "output": Row("faulted complete"),
    "credit": Row("faulted complete"),
    "rate": Row("faulted complete"),
    "cut": Row("truncated complete", limit=FIRST + 1),
    "mode": Row("faulted complete"),
    "stream": Row("faulted complete"),
    "busy": Row("faulted faulted complete"),
    "prompt": Row("overflowed", PromptTooLong, "Shorten the prompt", limit=1),
    "quota": Row("faulted", QuotaExhausted, "Add credit or raise the limit"),
    "day": Row("faulted", QuotaExhausted, "Add credit or raise the limit"),
    "filter": Row("refused", Refused, "A refusal is never re-sent"),
    "schema": Row("faulted", BadRequest, "the schema"),
    "media": Row("faulted", BadRequest, "an image or file"),
}
"""By kind of dialect."""
BUT = {
    "openai-request-too-large": Row("faulted", PromptTooLong, "Shorten the prompt", limit=1),
    "bare-output": Row("faulted", BadRequest, "Policy(output_tokens=..., max_output_tokens=...)"),
}
"""Dialects that differ from their kind."""
SCHEMALESS = Row("complete")
"""What follows where the first request has no schema, so that no schema is refused."""


@pytest.fixture(scope="module")
def vendor() -> Iterator[Simulator]:
    """Return one server for all cells."""
    with simulator(answers=ANSWER) as running:
        yield running


GRID = {*covering(MODELS, DIALECTS, strength=2 if FULL else 1), *((MODELS[0], name) for name in DIALECTS)}


CELLS = [
    (model, name)
    for model, name in sorted(GRID)
    # Google has no response_format: for it, these words are about the schema.
    if not (model.startswith("google/") and DIALECTS[name].kind.value == "mode")
]


@pytest.mark.parametrize(("model", "name"), CELLS)
def test_every_dialect_on_every_server(model: str, name: str, vendor: Simulator) -> None:
    """Calls, tokens, verdicts and the text of the error follow from what is said, not from who says it."""
    row = expected(model, name)
    words = VendorWords(name, row.limit, answer=ANSWER)
    vendor.reset()
    vendor.script(*([words] * (2 if DIALECTS[name].kind == "busy" else 4)))

    result = ask(model, vendor.client(model))

    assert " ".join(attempt.verdict.value for attempt in result.attempts) == row.verdicts
    assert len(vendor.calls) == len(row.verdicts.split())
    billed = sum((call.usage for call in vendor.calls), Usage()).total
    assert result.usage.estimated or result.usage.total == billed
    assert type(result) is (row.error or Emission)
    assert row.text in str(result)
    if DIALECTS[name].figures and row.verdicts.endswith("complete"):
        assert fits(name, result, vendor)
    if row.error is not None and DIALECTS[name].figures:
        assert "The vendor names its limits: " in str(result)
        assert "output_tokens" not in str(result)


def expected(model: str, name: str) -> Row:
    """Return the row of a cell."""
    kind, (profile, bare) = DIALECTS[name].kind.value, find_profile(model)
    modes = [mode.value for mode in profile.output_modes(profile.default_wire, bare)]
    if kind in {"mode", "schema"} and modes[0] == "json_object":
        return SCHEMALESS
    if kind == "mode" and "tool" in modes and "json_object" not in modes:  # and then the prompt alone
        return Row("faulted faulted complete")
    return BUT.get(name) or TABLE[kind]


LIMITING = [(model, name) for model, name in CELLS if DIALECTS[name].figures and DIALECTS[name].kind != "prompt"]
"""The cells whose server names a limit that leaves room for an answer."""


@pytest.mark.parametrize(("model", "name"), LIMITING)
def test_a_limit_is_refused_once(model: str, name: str, vendor: Simulator) -> None:
    """The next emission asks for the budget that the server named, and reports it; so does any that a caller sets."""
    vendor.reset()
    vendor.script(*[VendorWords(name, LIMIT, answer=ANSWER)] * 4)
    client = vendor.client(model)

    first, second = ask(model, client), ask(model, client)
    larger = ask(model, client, Policy(output_tokens=2 * FIRST, max_output_tokens=4 * FIRST))

    assert [len(each.attempts) for each in (first, second, larger)] == [2, 1, 1]
    assert fits(name, second, vendor)
    (reported,) = (event for event in events(second) if event.message == BUDGET_LOWERED)
    assert reported.level is Level.INFO
    assert (reported.fields["refused"], reported.fields["budget"]) == (FIRST, second.attempts[0].budget)
    assert f"{LIMIT:,}" in str(reported.fields["limits"])


def events(result: Emission[Any] | EmissionError) -> list[LogAppended]:
    """Return the log lines of an emission."""
    return [each.event for each in result.trace.events if isinstance(each.event, LogAppended)]


def ask(model: str, client: object, policy: Policy = POLICY) -> Emission[Any] | EmissionError:
    """Return the emission or its exception."""
    try:
        return emit(FORM, "How many?", model=model, client=client, policy=policy, clock=FAST)
    except EmissionError as error:
        return error


def fits(name: str, result: Emission[Any] | EmissionError, vendor: Simulator) -> bool:
    """Return whether the second request has as much output as the limit allows, and no more."""
    budget, prompt = result.attempts[-1].budget, vendor.calls[-1].usage.input
    limit = LIMIT if DIALECTS[name].kind.value in {"output", "credit"} else LIMIT - prompt
    return limit - _ESTIMATED * prompt <= budget <= LIMIT


_ESTIMATED = 1.5
"""How much too large an estimated prompt may be, as a share of it."""
