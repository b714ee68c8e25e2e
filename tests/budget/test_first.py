"""The first output budget, by its rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.budget import AnswerLength, BudgetBounds, initial_budget

WIDE = BudgetBounds(1, 128_000)


@pytest.mark.parametrize(
    ("span", "thinking", "allowed", "asked", "budget"),
    [
        pytest.param(AnswerLength(8, 8), 0, WIDE, None, 512, id="yes or no: the smallest"),
        pytest.param(AnswerLength(8, 8), 4096, WIDE, None, 4608, id="yes or no with thinking: beside it"),
        pytest.param(AnswerLength(300, 9000), 0, WIDE, None, 9000, id="bounded: the worst"),
        pytest.param(AnswerLength(300, 10**9), 0, WIDE, None, 128_000, id="bounded beyond the ceiling: the ceiling"),
        pytest.param(AnswerLength(60, 60, is_bounded=False), 0, WIDE, None, 2048, id="free text: what an essay takes"),
        pytest.param(
            AnswerLength(3000, 3000, is_bounded=False), 0, WIDE, None, 6000, id="much free text: twice the typical"
        ),
        pytest.param(AnswerLength(60, 9000, is_bounded=False), 0, WIDE, None, 9000, id="free text beside a long list"),
        pytest.param(AnswerLength(8, 8), 4096, WIDE, 1024, 1024, id="the caller's own: exactly"),
        pytest.param(AnswerLength(8, 8), 0, BudgetBounds(16, 128_000), 1, 16, id="the caller's own below the minimum"),
        pytest.param(AnswerLength(8, 8), 0, BudgetBounds(1, 200), 1024, 200, id="the caller's own above the ceiling"),
        pytest.param(AnswerLength(8, 8), 0, BudgetBounds(1, 200), None, 200, id="a low ceiling wins over the smallest"),
        pytest.param(
            AnswerLength(8, 8), 0, BudgetBounds(16, 3), None, 16, id="the vendor's minimum wins over a ceiling"
        ),
    ],
)
def test_the_first_budget(
    span: AnswerLength, thinking: int, allowed: BudgetBounds, asked: int | None, budget: int
) -> None:
    """One row for each rule."""
    assert initial_budget(span, thinking, allowed, requested=asked) == budget


SPANS = st.builds(
    lambda typical, more, bounded: AnswerLength(typical, typical + more, bounded),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.booleans(),
)
ALLOWED = st.builds(lambda low, more: BudgetBounds(low, low + more), st.integers(1, 64), st.integers(0, 10**6))


@given(SPANS, st.integers(0, 10**5), ALLOWED, st.none() | st.integers(1, 10**7))
def test_a_budget_lies_within_what_is_allowed(
    span: AnswerLength, thinking: int, allowed: BudgetBounds, asked: int | None
) -> None:
    """No rule passes the vendor's minimum or the ceiling, nor falls below a typical answer that they allow."""
    budget = initial_budget(span, thinking, allowed, requested=asked)
    assert allowed.minimum <= budget <= allowed.ceiling
    assert asked is not None or budget >= min(span.typical + thinking, allowed.ceiling)


@given(SPANS, SPANS, ALLOWED)
def test_a_budget_grows_with_the_answer(one: AnswerLength, more: AnswerLength, allowed: BudgetBounds) -> None:
    """What takes more never gets less."""
    assert initial_budget(one, 0, allowed) <= initial_budget(one + more, 0, allowed)
