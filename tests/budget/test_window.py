"""Whether prompt and answer fit the window."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.budget import (
    ContextWindow,
    ContextWindowExceededError,
    TokenBudget,
    estimate_max_tokens,
    estimate_min_tokens,
    fit_to_window,
)


def window(context: int, *, typical: int = 50, words: bool = False) -> ContextWindow:
    """Return a window; with ``words`` the tokenizer is at hand, and makes a token of each word."""
    return ContextWindow(
        "a/model", context, context, typical, lambda: (lambda text: len(text.split())) if words else None
    )


TEN = "a b c d e f g h i j"


@pytest.mark.parametrize(
    ("spending", "context", "words", "left"),
    [
        pytest.param(TokenBudget(500, 900), 10_000, False, (500, 900), id="ample"),
        pytest.param(TokenBudget(500, 900), 510, True, (500, 500), id="just fits, and cannot be raised"),
        pytest.param(TokenBudget(500, 900), 509, True, (499, 499), id="one token too many, by the true count"),
        pytest.param(TokenBudget(500, 900), 60, True, (50, 50), id="a typical answer just fits, by the true count"),
        pytest.param(
            TokenBudget(500, 900), 120, False, (50, 110), id="by the estimate alone, down to a typical answer"
        ),
        pytest.param(TokenBudget(500, 900), 60, False, (50, 50), id="by the estimate alone, perhaps too long"),
        pytest.param(TokenBudget(500, 900, is_explicit=True), 520, False, (500, 510), id="the caller's own stays"),
        pytest.param(
            TokenBudget(500, 900, is_explicit=True), 120, False, (110, 110), id="the caller's own, certainly too large"
        ),
        pytest.param(
            TokenBudget(5, 5, is_explicit=True), 15, False, (5, 5), id="the caller's own below a typical answer"
        ),
    ],
)
def test_a_budget_is_made_to_fit(spending: TokenBudget, context: int, words: bool, left: tuple[int, int]) -> None:
    """The first budget shrinks to the window, the ceiling to what can ever fit."""
    found = fit_to_window(spending, [TEN], window(context, words=words))
    assert (found.initial, found.ceiling) == left


@pytest.mark.parametrize("words", [True, False], ids=["counted", "estimated"])
def test_a_prompt_that_leaves_no_room_is_refused(*, words: bool) -> None:
    """The message names prompt, answer and window."""
    with pytest.raises(ContextWindowExceededError, match=r"at least 10 tokens .* needs 50, .* a/model holds 59\."):
        fit_to_window(TokenBudget(500, 900), [TEN], window(59, words=words))


@pytest.mark.parametrize("words", [True, False], ids=["counted", "estimated"])
def test_a_prompt_above_the_largest_input_is_refused(*, words: bool) -> None:
    """A window with room to spare does not help where the input has a limit of its own."""
    narrow = replace(window(100_000, words=words), longest_prompt=9)
    with pytest.raises(ContextWindowExceededError, match=r"at least 10 tokens, but a/model reads at most 9\."):
        fit_to_window(TokenBudget(500, 900), [TEN], narrow)


def test_the_largest_input_leaves_the_budget_alone() -> None:
    """A prompt that it allows shrinks no budget."""
    narrow = replace(window(100_000, words=True), longest_prompt=10)
    assert fit_to_window(TokenBudget(500, 900), [TEN], narrow) == TokenBudget(500, 900)


def test_a_huge_prompt_is_refused() -> None:
    """Two million words fit no window of a million."""
    with pytest.raises(ContextWindowExceededError, match="2,000,000"):
        fit_to_window(TokenBudget(500, 900), ["word " * 2_000_000], window(1_050_000))


def test_what_only_the_estimate_finds_too_long_is_sent() -> None:
    """Text without words may have far fewer tokens than estimated; the vendor will say."""
    text = "x" * 4000
    assert estimate_max_tokens(text) > 1000
    assert fit_to_window(TokenBudget(500, 900), [text], window(1000)).initial == 50


@pytest.mark.parametrize("text", ["", "a few words", "x" * 100])
def test_an_ordinary_prompt_is_not_counted(text: str) -> None:
    """Where four bytes for each character fit, no tokenizer is asked for."""

    def never() -> None:
        raise AssertionError

    spending = TokenBudget(500, 900)
    assert fit_to_window(spending, [text], ContextWindow("a/model", 2000, 2000, 50, never)) is spending


@given(
    text=st.text(max_size=300),
    budget=st.integers(1, 900),
    more=st.integers(0, 900),
    context=st.integers(1, 1500),
    firm=st.booleans(),
)
def test_whatever_is_returned_can_be_sent(text: str, budget: int, more: int, context: int, *, firm: bool) -> None:
    """A budget only shrinks, never below a typical answer, and with the least prompt fits the window."""
    try:
        found = fit_to_window(TokenBudget(budget, budget + more, firm), [text], window(context, typical=30))
    except ContextWindowExceededError:
        assert estimate_min_tokens(text) + min(30, budget) > context
        return
    assert min(30, budget) <= found.initial <= budget
    assert found.initial <= found.ceiling <= budget + more
    assert estimate_min_tokens(text) + found.initial <= context or len(text) * 4 + budget <= context
