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
    """Lower the effort, or ask to begin at once if the model has none."""
    if classification.verdict in state.previous_verdicts:
        return None
    effort = writer.taken_settings(state.request).get("reasoning_effort")
    if effort is None:
        return writer.instruct(state.request, "begin")
    return replace(state.request, options=merge_layers(state.request.options, effort.write("low")))


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
    ],
)
def test_a_remedy_has_the_settings_of_the_model_at_hand(model: str, path: tuple[str, ...]) -> None:
    """It writes the vendor's own field."""
    with simulator() as vendor:
        vendor.script(STALLED, WHOLE)
        emission = emit(SCHEMA, "How many?", model=model, client=vendor.client(model), reasoning_effort="high")
        first, second = (call.body for call in vendor.calls)

    assert [_at(body, path) for body in (first, second)] == ["high", "low"]
    [retry] = [each.event for each in emission.events if isinstance(each.event, RetryAttempted)]
    assert retry.previous_error == "the model thought for too long"


def test_a_remedy_adds_a_prompt() -> None:
    """Where the model has no such setting."""
    model = "openai/gpt-4.1"
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
