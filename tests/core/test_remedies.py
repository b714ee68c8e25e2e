"""A verdict with a remedy of its own needs one row, and one function that writes the next request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from emitter import EmissionError, emit
from emitter.adapters.request_options import merge_layers
from emitter.attempts import Verdict
from emitter.core.verdicts import REMEDIES, Failure
from emitter.events import NodeFailed, RetryAttempted
from emitter.testing import Text, UnknownStop, simulator

if TYPE_CHECKING:
    from emitter.core.effects import RequestWriter
    from emitter.core.verdicts import ClassifiedAnswer, RetryState
    from emitter.messages import ModelRequest
    from emitter.policy import Policy

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
WHOLE = Text({"a": 1})
STALLED = UnknownStop("stalled", WHOLE)


class Stalled(EmissionError):
    """The model stopped in the middle of its thinking."""


def think_less(
    classification: ClassifiedAnswer, state: RetryState, _policy: Policy, writer: RequestWriter
) -> ModelRequest | None:
    """Lower the effort by one step, or ask to begin at once if the request has none."""
    if classification.verdict in state.previous_verdicts:
        return None
    effort = writer.supported_settings(state.request).get("reasoning_effort")
    current = effort and effort.read(state.request.options)
    if effort is None or current not in effort.values:
        return writer.instruct(state.request, "begin")
    lower = effort.values[: effort.values.index(current)]
    if not lower:
        return None
    return replace(state.request, options=merge_layers(state.request.options, effort.write(lower[-1])))


@pytest.fixture(autouse=True)
def _row(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = replace(
        REMEDIES[Verdict.UNKNOWN],
        remedy=think_less,
        failure=Failure("thinking_stalled", Stalled, None),
        message="The model thought for too long ({stop})",
        grounds="the model thought for too long",
    )
    monkeypatch.setitem(REMEDIES, Verdict.UNKNOWN, rule)


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("openai/gpt-6-sol", ("reasoning", "effort")),
        ("openai-compatible/qwen-3", ("reasoning_effort",)),
        ("anthropic/claude-opus-5", ("output_config", "effort")),
        ("google/gemini-3.5-flash", ("generationConfig", "thinkingConfig", "thinking_level")),
    ],
)
def test_a_remedy_has_the_settings_of_the_model_at_hand(model: str, path: tuple[str, ...]) -> None:
    """It writes the vendor's own field."""
    with simulator() as vendor:
        vendor.script(STALLED, WHOLE)
        emission = emit(SCHEMA, "How many?", model=model, client=vendor.client(model), reasoning_effort="high")
        first, second = (call.body for call in vendor.calls)

    assert [_at(body, path).lower() for body in (first, second)] == ["high", "medium"]
    [retry] = [each.event for each in emission.events if isinstance(each.event, RetryAttempted)]
    assert retry.previous_error == "the model thought for too long"


@pytest.mark.parametrize(("effort", "calls"), [("minimal", 2), ("none", 1)])
def test_a_remedy_knows_the_setting_in_force(effort: str, calls: int) -> None:
    """Nothing is below the lowest effort, and the same request is not sent again."""
    model = "openai-compatible/qwen-3"
    with simulator(answers=STALLED) as vendor:
        with pytest.raises(Stalled):
            emit(SCHEMA, "How many?", model=model, client=vendor.client(model), reasoning_effort=effort)
        assert [call.body["reasoning_effort"] for call in vendor.calls] == [effort, "none"][:calls]


@pytest.mark.parametrize("model", ["openai/gpt-4.1", "openai/gpt-6-sol"])
def test_a_remedy_adds_a_prompt(model: str) -> None:
    """If the model has no such setting, or the caller left it to the vendor's default."""
    with simulator() as vendor:
        vendor.script(STALLED, WHOLE)
        emit(SCHEMA, "How many?", model=model, client=vendor.client(model))
        first, second = (call.body for call in vendor.calls)

    assert second["input"][:-1] == first["input"]


def test_a_failed_remedy_ends_with_the_exception_of_its_row() -> None:
    """Its code, its message and no other attempt."""
    model = "openai/gpt-6-sol"
    with simulator(answers=STALLED) as vendor:
        with pytest.raises(Stalled, match=r"thought for too long \(.*stalled.*\) \(calls made: 2\)") as raised:
            emit(SCHEMA, "How many?", model=model, client=vendor.client(model))
        assert len(vendor.calls) == 2

    last = raised.value.trace.events[-1].event
    assert isinstance(last, NodeFailed)
    assert raised.value.code == last.code == "thinking_stalled"


def _at(body: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        body = body[key]
    return body
