"""The limits of all calls together: tokens and money."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.core.state import LimitBreach, Spending, cap_budget
from emitter.errors import InputError
from emitter.events import CapBreached, NodeFailed, RetryExhausted
from emitter.messages import Usage
from emitter.policy import Policy, Prices
from tests.core import asks
from tests.core.asks import FIRST, INPUT, SPENT, Writer, ask
from tests.core.driving import by_hand

if TYPE_CHECKING:
    from emitter.messages import CallResult

PRICES = Prices(input=1_000_000, output=2_000_000)
"""One a token in, two a token out."""


def test_the_first_budget_is_what_the_limit_leaves_beside_the_input() -> None:
    """The call is made with a smaller budget, and still goes out."""
    ran = by_hand([asks.WHOLE], Policy(max_total_tokens=INPUT + 40))

    assert [each.max_output_tokens for each in ran.requests] == [40]
    assert ran.outcome.failure is None


def test_a_limit_that_leaves_room_changes_nothing() -> None:
    """Ample limits leave every budget as it is."""
    ran = by_hand([asks.CUT, asks.WHOLE], Policy(max_total_tokens=10_000, max_cost=1e6, prices=PRICES))

    assert [each.max_output_tokens for each in ran.requests] == [FIRST, 2 * FIRST]


SPENT_ONE = SPENT.total

STOPPED: dict[str, tuple[Policy, list[CallResult], str, tuple[str, float, float]]] = {
    "tokens-before-the-first-call": (
        Policy(max_total_tokens=INPUT),
        [],
        "token_limit_reached",
        ("budget-tokens", INPUT, INPUT + 1),
    ),
    "cost-before-the-first-call": (
        Policy(max_cost=INPUT + 1, prices=PRICES),
        [],
        "cost_limit_reached",
        ("budget-cost", INPUT + 1, INPUT + 2),
    ),
    "tokens-before-a-correction": (
        Policy(max_total_tokens=SPENT_ONE + SPENT.input, output_tokens=1),
        [asks.WRONG_TYPE],
        "token_limit_reached",
        ("budget-tokens", SPENT_ONE + SPENT.input, SPENT_ONE + SPENT.input + 1),
    ),
    "tokens-too-few-to-raise-a-budget-that-was-cut": (
        Policy(max_total_tokens=SPENT_ONE + SPENT.input + FIRST),
        [asks.CUT],
        "token_limit_reached",
        ("budget-tokens", SPENT_ONE + SPENT.input + FIRST, SPENT_ONE + SPENT.input + FIRST + 1),
    ),
}


@pytest.mark.parametrize("name", STOPPED)
def test_a_limit_stops_before_it_is_passed(name: str) -> None:
    """No call is made that could pass the limit; the end is reported in order with what the call would have come to."""
    policy, script, code, breached = STOPPED[name]
    ran = by_hand(script, policy)

    assert len(ran.requests) == len(script)
    assert ran.outcome.failure is not None
    assert ran.outcome.failure.code == code
    assert CapBreached(*breached) in ran.events
    assert isinstance(ran.events[-1], NodeFailed)
    assert any(isinstance(each, RetryExhausted) for each in ran.events) == bool(script)


def test_a_fault_that_cost_nothing_leaves_the_limit_as_it_was() -> None:
    """After a fault the same request is sent again, within the same limit."""
    ran = by_hand([asks.OVERLOADED, asks.WHOLE], Policy(max_total_tokens=INPUT + 1))

    assert [each.max_output_tokens for each in ran.requests] == [1, 1]


def test_what_a_request_puts_in_is_only_counted_where_it_matters() -> None:
    """Without limits nothing is counted, and with them not once the vendor has said it."""
    writer = Writer()
    asked = ask(writer=writer)
    by_hand([asks.WRONG_TYPE, asks.WHOLE], Policy(), asked)
    assert not writer.counted

    by_hand([asks.WRONG_TYPE, asks.WHOLE], Policy(max_total_tokens=10_000), asked)
    assert len(writer.counted) == 1


@given(
    st.integers(1, 10**9),
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
    st.integers(1, 10**6),
    st.builds(Prices, st.floats(0.01, 1e4), st.floats(0, 1e4)),
)
def test_no_call_can_pass_a_limit(limit: int, inputs: tuple[int, int], budget: int, prices: Prices) -> None:
    """Whatever was spent, a call with all of its budget used stays within both limits."""
    policy = Policy(max_total_tokens=limit, max_cost=limit / 100, prices=prices)
    spent, coming = inputs
    found = cap_budget(
        asks.request(max_output_tokens=budget),
        Spending(Usage(spent, 0), prices.cost_of(Usage(spent, 0))),
        Usage(coming, 1),
        policy,
    )

    if isinstance(found, LimitBreach):
        assert found.observed > found.limit
        return
    after = Usage(spent + coming, found.max_output_tokens)
    assert 1 <= found.max_output_tokens <= budget
    assert after.total <= limit
    assert prices.cost_of(after) <= limit / 100 * (1 + 1e-9)


def test_prices_are_per_million_and_know_the_cache() -> None:
    """Cached parts of the input have prices of their own, or that of the input."""
    usage = Usage(input=1_000_000, output=500_000, cache_read=200_000, cache_write=100_000)

    assert Prices(3, 15).cost_of(usage) == Decimal("10.5")
    assert Prices(3, 15, cache_read=0.3, cache_write=3.75).cost_of(usage) == Decimal("10.035")


BAD: dict[str, tuple[type, dict[str, Any], str]] = {
    "prices-as-a-dict": (Policy, {"max_cost": 1.0, "prices": {"input": 1}}, "in US dollars per million tokens"),
    "no-tokens": (Policy, {"max_total_tokens": 0}, "must be 1 or more"),
    "half-a-token": (Policy, {"max_total_tokens": 1.5}, "whole number"),
    "negative-cost": (Policy, {"max_cost": -1, "prices": PRICES}, "must be 0 or more"),
    "negative-price": (Prices, {"input": -1, "output": 1}, "Prices.input"),
    "endless-price": (Prices, {"input": 1, "output": math.inf}, "Prices.output"),
    "price-as-text": (Prices, {"input": "1", "output": 1}, "must be a number"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_limits_are_refused_when_they_are_made(name: str) -> None:
    """A limit that means nothing is an input error that names itself."""
    kind, arguments, said = BAD[name]
    with pytest.raises(InputError, match=said):
        kind(**arguments)
