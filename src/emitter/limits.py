"""The limits of all calls together: how much output the next one may have, or which limit forbids it.

Rule: a call is made only where its input and at least the smallest output fit, so that no limit is ever passed by
more than a vendor counts otherwise than we do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emitter.wire import Usage, with_budget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.policy import Policy
    from emitter.wire import Request


@dataclass(frozen=True, slots=True)
class Reached:
    """A limit that the next call would pass; ``kind`` is OpenWOP's word for it, ``observed`` what it would come to."""

    code: str
    kind: str
    limit: float
    observed: float

    def __str__(self) -> str:
        return f"{_NAMES[self.kind]} is {self.limit:g}; another call would come to {self.observed:g}"


_TOKENS, _COST = "budget-tokens", "budget-cost"
_NAMES = {_TOKENS: "Policy.max_total_tokens", _COST: "Policy.max_cost"}
_UNBOUNDED = 1 << 62
_CODES = {_TOKENS: "token_limit_reached", _COST: "cost_limit_reached"}


def limited(policy: Policy) -> bool:
    """Tell whether anything has to be counted before a call."""
    return policy.max_total_tokens is not None or policy.max_cost is not None


def held(request: Request, spent: Usage, expected: Usage, policy: Policy) -> Request | Reached:
    """Return the request with no more budget than the limits leave, or the limit that leaves too little.

    ``spent`` is what all calls have cost so far; ``expected`` is the next call's input, and the least output
    that is worth asking for.
    """
    budget = request.budget
    for room, reached in _rooms(spent, expected, policy):
        if room < expected.output:
            return reached
        budget = min(budget, room)
    return request if budget == request.budget else with_budget(request, budget)


def _rooms(spent: Usage, expected: Usage, policy: Policy) -> Iterator[tuple[int, Reached]]:
    """Yield for each limit the output tokens that it leaves, and what to say if those are too few."""
    least = spent + expected
    if policy.max_total_tokens is not None:
        room = policy.max_total_tokens - spent.total - expected.input
        yield room, _reached(_TOKENS, policy.max_total_tokens, least.total)
    if policy.max_cost is not None and policy.prices is not None:
        prices = policy.prices
        left = policy.max_cost - prices.of(spent) - prices.of(replace(expected, output=0))
        one = prices.of(Usage(output=1))
        room = math.floor(min(left / one, _UNBOUNDED)) if one else _UNBOUNDED if left >= 0 else -1
        yield room, _reached(_COST, policy.max_cost, prices.of(least))


def _reached(kind: str, limit: float, observed: float) -> Reached:
    return Reached(_CODES[kind], kind, limit, observed)
