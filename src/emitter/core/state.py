"""The state of one emission, and the token and cost limits that remain."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from emitter.attempts import Attempt
from emitter.core.verdicts import DOUBTFUL, RETRACTED
from emitter.messages import JUDGE_ROUTE, ModelRequest, Usage, with_output_budget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.attempts import Verdict
    from emitter.core.effects import AnswerJudge, EmissionRequest
    from emitter.core.verdicts import ClassifiedAnswer, FallbackReason
    from emitter.events import Event
    from emitter.policy import Policy, PriceTable


def led_to_document_request(attempt: Attempt) -> bool:
    """Return whether the next request after this attempt asked for the document alone."""
    return DOUBTFUL in attempt.violations or RETRACTED in attempt.violations


@dataclass(slots=True)
class EmissionState:
    """The state of one emission. ``emission_request`` is the request for the model in use."""

    emission_request: EmissionRequest
    policy: Policy
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    flagged: ClassifiedAnswer | None = None
    """A valid answer that was sent back once. It stands if the correction fails."""
    cause: Exception | None = None
    """The SDK's exception from the last call that reached the SDK. A deadline that passes later does not replace it."""
    first: EmissionRequest | None = None
    """The request for the first model, if another model is in use."""
    position: int = 0
    """The number of the alternative in use, from 1; 0 is the first model."""
    first_attempt: int = 0
    """The index of the first attempt of the model in use."""
    notices: tuple[Event, ...] = ()
    """Events that report the change to this model. They are yielded before its first call."""

    @property
    def models(self) -> EmissionRequest:
        """The request for the first model, with its alternatives."""
        return self.first or self.emission_request

    def later_models(self, reason: FallbackReason | None) -> tuple[int, ...]:
        """Return the indices of the alternatives that may still be asked after this failure."""
        alternatives = self.models.alternatives
        return tuple(
            index for index in range(self.position, len(alternatives)) if reason in alternatives[index].asked_after
        )

    def take_notices(self) -> tuple[Event, ...]:
        """Return the notices that have not been reported, and clear them."""
        notices, self.notices = self.notices, ()
        return notices

    def spent_cost(self) -> Decimal:
        """Return the cost of all calls, each at the prices of its model."""
        first = self.models
        models = (first, *first.alternatives, first.judge or first)
        spent = [(self._prices(models[attempt.route]), attempt.usage) for attempt in self.attempts]
        costs = [prices.cost_of(usage) for prices, usage in spent if prices is not None and usage is not None]
        return sum(costs, Decimal(0))

    def _prices(self, used: EmissionRequest | AnswerJudge) -> PriceTable | None:
        return used.prices or self.policy.prices

    @property
    def answer_attempts(self) -> list[Attempt]:
        """The calls that asked for the answer, without the calls to its judge."""
        return self._select_answer_attempts(self.attempts)

    def _select_answer_attempts(self, attempts: list[Attempt]) -> list[Attempt]:
        # A judge's own emission has its own state, in which the judge's calls are the answer attempts.
        is_judge = self.emission_request.request.route == JUDGE_ROUTE
        return [attempt for attempt in attempts if attempt.by_judge == is_judge]

    @property
    def model_attempts(self) -> list[Attempt]:
        """The answer attempts of the model in use."""
        return self._select_answer_attempts(self.attempts[self.first_attempt :])

    @property
    def fault_count(self) -> int:
        """The number of calls that failed."""
        return sum(not attempt.is_counted for attempt in self.answer_attempts)

    @property
    def answered_verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts on the calls that count towards the policy's attempts."""
        return tuple(attempt.verdict for attempt in self.answer_attempts if attempt.is_counted)

    @property
    def document_requested(self) -> bool:
        """True if the model was asked for the document alone."""
        return any(map(led_to_document_request, self.model_attempts))


class Spending(NamedTuple):
    """The usage of all calls so far, and its cost."""

    usage: Usage
    cost: Decimal


@dataclass(frozen=True, slots=True)
class LimitBreach:
    """A limit that the next call would exceed. ``kind`` is OpenWOP's name for it."""

    code: str
    kind: str
    limit: float
    observed: float

    def __str__(self) -> str:
        unit = "$" if self.kind == _COST_LIMIT else ""
        limit, observed = (f"{unit}{Decimal(f'{amount:.9g}'):f}" for amount in (self.limit, self.observed))
        return f"{_SETTING_NAMES[self.kind]} is {limit}; another call would come to {observed}"


_TOKEN_LIMIT, _COST_LIMIT = "budget-tokens", "budget-cost"
_SETTING_NAMES = {_TOKEN_LIMIT: "Policy.max_total_tokens", _COST_LIMIT: "Policy.max_cost"}
_UNBOUNDED = 1 << 62
_BREACH_CODES = {_TOKEN_LIMIT: "token_limit_reached", _COST_LIMIT: "cost_limit_reached"}


def cap_budget(request: ModelRequest, spent: Spending, expected: Usage, policy: Policy) -> ModelRequest | LimitBreach:
    """Lower the request's output budget to the limits, or return the limit that leaves too little for a call.

    ``expected`` is the next call's input and the smallest output worth a call.
    """
    budget = request.max_output_tokens
    for room, breach in _remaining_room(spent, expected, policy):
        if room < expected.output:
            return breach
        budget = min(budget, room)
    return request if budget == request.max_output_tokens else with_output_budget(request, budget)


def _remaining_room(spent: Spending, expected: Usage, policy: Policy) -> Iterator[tuple[int, LimitBreach]]:
    """Yield the output tokens that each limit allows, and the breach to report if they are too few."""
    if policy.max_total_tokens is not None:
        room = policy.max_total_tokens - spent.usage.total - expected.input
        yield room, _make_breach(_TOKEN_LIMIT, policy.max_total_tokens, (spent.usage + expected).total)
    if policy.max_cost is not None and policy.prices is not None:
        cost_of = policy.prices.cost_of
        prompt = cost_of(replace(expected, output=0))
        # A price may depend on the length of the prompt, so a token costs the difference that it makes to this call.
        token_cost = cost_of(replace(expected, output=1)) - prompt
        remaining = Decimal(str(policy.max_cost)) - spent.cost - prompt
        room = (
            min(math.floor(remaining / token_cost), _UNBOUNDED) if token_cost else _UNBOUNDED if remaining >= 0 else -1
        )
        yield room, _make_breach(_COST_LIMIT, float(policy.max_cost), float(spent.cost + cost_of(expected)))


def _make_breach(kind: str, limit: float, observed: float) -> LimitBreach:
    return LimitBreach(_BREACH_CODES[kind], kind, limit, observed)
