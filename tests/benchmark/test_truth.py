"""The rule by which a caller counts as told the truth."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.faults import Cause
from benchmarks.runners.task import STUB, WHOLE
from benchmarks.truth import Outcome, judged


def raised(name: str, text: str = "", package: str = "somelib") -> dict[str, str]:
    """Return what a runner tells of one exception."""
    return {"class": name, "package": package, "text": text}


VALUES = [
    pytest.param(WHOLE, Outcome.RIGHT, True, id="the whole answer"),
    pytest.param(STUB, Outcome.WRONG, False, id="half of it, valid in itself"),
    pytest.param(None, Outcome.NONE, False, id="None"),
    pytest.param({}, Outcome.WRONG, False, id="an empty document"),
]

ERRORS = [
    pytest.param([raised("Truncated")], Cause.CUT, True, id="the class names it"),
    pytest.param([raised("Error", "hit the length limit")], Cause.CUT, True, id="the message names it"),
    pytest.param([raised("Error"), raised("Refusal")], Cause.REFUSED, True, id="what it came from names it"),
    pytest.param([raised("ValidationError", "EOF while parsing")], Cause.CUT, False, id="a symptom"),
    pytest.param([raised("Error", "Message(refusal=None, content='x')")], Cause.REFUSED, False, id="an empty field"),
    pytest.param([raised("Error", "{'refusal': null}")], Cause.REFUSED, False, id="an empty field in JSON"),
    pytest.param([raised("Error", "refusal='no'")], Cause.REFUSED, True, id="a field that says it"),
    pytest.param([raised("Error", "anything")], Cause.NOTHING, False, id="an error where nothing was wrong"),
]


@pytest.mark.parametrize(("value", "outcome", "truth"), VALUES)
def test_a_value_is_right_or_it_is_not(value: Any, outcome: Outcome, truth: bool) -> None:
    """Only the whole answer is the truth."""
    verdict = judged({"value": value}, Cause.CUT)

    assert (verdict.outcome, verdict.truth) == (outcome, truth)


@pytest.mark.parametrize(("chain", "cause", "truth"), ERRORS)
def test_an_error_names_the_cause_or_does_not(chain: list[dict[str, str]], cause: Cause, truth: bool) -> None:
    """The words of the cause are looked for in the whole chain; what is merely dumped empty does not count."""
    assert judged({"raised": chain}, cause).truth is truth


@pytest.mark.parametrize(
    ("package", "outcome"), [("pydantic_core", Outcome.OTHER), ("builtins", Outcome.OTHER), ("openai", Outcome.TYPED)]
)
def test_an_error_is_typed_where_a_library_made_it(package: str, outcome: Outcome) -> None:
    """An exception of Python's or pydantic's own says what was stumbled over, not what the vendor did."""
    assert judged({"raised": [raised("Oops", package=package)]}, Cause.CUT).outcome is outcome
