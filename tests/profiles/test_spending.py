"""What thinking takes of a budget, as the tables say it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from pydantic import ValidationError

from emitter import profiles as profile
from emitter.profiles.tables import ThinkingBudget

FACTS: dict[str, Any] = {
    "source": "page",
    "verified": dt.date(2026, 1, 1),
    "counted": True,
    "tokens": ["think.tokens"],
    "effort": ["think.effort", "effort"],
    "allowances": {"none": 0, "low": 10, "high": 99},
}


@pytest.mark.parametrize(
    ("options", "unasked", "tokens"),
    [
        pytest.param({}, None, 0, id="a model that does not think"),
        pytest.param({}, "low", 10, id="a model that does"),
        pytest.param({}, "banana", 0, id="unasked by a word without an allowance"),
        pytest.param({"think": {"effort": "HIGH"}}, None, 99, id="a word in capitals"),
        pytest.param({"effort": "none"}, "high", 0, id="told not to, by the second path"),
        pytest.param({"think": {"effort": "low"}, "effort": "high"}, None, 10, id="the first path wins"),
        pytest.param({"think": {"effort": "high"}, "effort": "none"}, "high", 0, id="told not to, beside an effort"),
        pytest.param({"think": {"effort": "banana"}, "effort": "high"}, None, 99, id="an unknown word is passed over"),
        pytest.param({"think": {"tokens": 7, "effort": "high"}}, "low", 7, id="a number wins over a word"),
        pytest.param({"think": {"tokens": 0}}, "low", 0, id="no tokens"),
        pytest.param({"think": {"tokens": -1}}, "low", 10, id="as many as it likes"),
        pytest.param({"think": {"tokens": True}}, "low", 10, id="a truth value is no number"),
        pytest.param({"think": "hard"}, "low", 10, id="no table where one should be"),
    ],
)
def test_an_allowance(options: dict[str, Any], unasked: str | None, tokens: int) -> None:
    """A number, else a word, else what the model does unasked."""
    assert ThinkingBudget.model_validate(FACTS).reserved_tokens(options, unasked) == tokens


def test_thinking_beside_the_budget_takes_nothing_of_it() -> None:
    """Where a vendor does not count thinking, no room is kept for it."""
    assert ThinkingBudget.model_validate({**FACTS, "counted": False}).reserved_tokens({"effort": "high"}, "high") == 0


@pytest.mark.parametrize(
    "wrong",
    [{"effort": ["think..effort"]}, {"tokens": ["a b"]}, {"allowances": {"low": -1}}, {"source": ""}],
    ids=["empty key", "blank in a path", "negative allowance", "no source"],
)
def test_a_table_that_does_not_hold_does_not_load(wrong: dict[str, Any]) -> None:
    """A path is keys joined by dots, an allowance is not negative, and each fact has its source."""
    with pytest.raises(ValidationError):
        ThinkingBudget.model_validate({**FACTS, **wrong})


def test_tables_are_inherited() -> None:
    """Azure's models think and count as OpenAI's do."""
    own, parent = profile.load_profile("azure-openai"), profile.load_profile("openai")
    assert own.thinkers == parent.thinkers
    assert own.encodings == parent.encodings


@pytest.mark.parametrize("name", profile.profile_names())
def test_a_window_that_we_guess_holds_nobody(name: str) -> None:
    """The row for models that we do not know refuses nothing."""
    assert profile.load_profile(name).model_limits("nobody-knows-this-one").elastic
