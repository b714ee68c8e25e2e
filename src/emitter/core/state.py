"""The state of one emission, the token and cost limits that remain, and the limits that a provider names.

If a provider names the limit for which it refuses a request, the request is sent once more with the largest output
budget that it leaves, if that is enough for an answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from emitter.attempts import Attempt, Verdict
from emitter.core.verdicts import DOUBTFUL, RETRACTED
from emitter.events import BUDGET_LOWERED, Level, LogAppended
from emitter.messages import JUDGE_ROUTE, FaultKind, ModelRequest, StatedLimits, Usage, with_output_budget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.core.effects import AnswerJudge, EmissionRequest
    from emitter.core.verdicts import ClassifiedAnswer, FallbackReason, RequestWriter
    from emitter.events import Event
    from emitter.messages import CallResult
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


_ESTIMATE_MARGIN = 1.25
"""An estimated prompt counts with this factor: a budget that is a little too small is better than another refusal."""
_BUDGET_REFUSALS = frozenset({FaultKind.BUDGET_REFUSED, FaultKind.BAD_REQUEST, FaultKind.TOO_LARGE, FaultKind.QUOTA})
"""The faults that a larger output budget can cause in a request that was accepted with a smaller one."""


def stated_limits(result: CallResult | Attempt) -> StatedLimits | None:
    """Return the limits that an error names, or None."""
    return None if result.report is None else result.report.limits


def lower_budget(state: EmissionState, result: CallResult, request: ModelRequest) -> ModelRequest | None:
    """Return the refused request with the largest budget that the limits allow, or None if another call cannot help.

    A request is lowered once, so the budget that an error names is not asked for again. After a cut, the budget must be
    larger than that of the cut answer.
    """
    limits, earlier = stated_limits(result), state.model_attempts[-2:-1]
    if limits is None or any(stated_limits(attempt) for attempt in earlier):
        return None
    emission = state.emission_request
    budget = allowed_budget(emission.writer, limits, request)
    if budget is None and emission.stated_budget is not None and _is_allowed(emission.writer, limits, request):
        budget = request.max_output_tokens  # a batch's journal has the refusal of the budget before it was lowered
    cut = refused_cut(state)
    smallest = emission.smallest_answer if cut is None else cut.budget + 1
    return with_output_budget(request, budget) if budget is not None and budget >= smallest else None


def allowed_budget(writer: RequestWriter, limits: StatedLimits, request: ModelRequest) -> int | None:
    """Return the largest output budget under the limits, or None if it is not smaller than that of the request."""
    budget = largest_budget(writer, limits, request)
    return budget if budget is not None and budget < request.max_output_tokens else None


def _is_allowed(writer: RequestWriter, limits: StatedLimits, request: ModelRequest) -> bool:
    budget = largest_budget(writer, limits, request)
    return budget is not None and budget >= request.max_output_tokens


def largest_budget(writer: RequestWriter, limits: StatedLimits, request: ModelRequest) -> int | None:
    """Return the largest output budget under the limits, or None if they name none or the prompt is too long."""
    prompt = _prompt_tokens(writer, limits, request)
    if limits.longest_prompt is not None and prompt > limits.longest_prompt:
        return None
    budget = limits.largest_budget(prompt)
    return budget if budget is not None and budget > 0 else None


def _prompt_tokens(writer: RequestWriter, limits: StatedLimits, request: ModelRequest) -> int:
    """Return the tokens of the prompt: as the error counts them, or else an estimate that is rather too large."""
    counted = limits.prompt_tokens(request.max_output_tokens)
    if counted is not None:
        return counted
    estimated = math.ceil(writer.count_tokens(request) * _ESTIMATE_MARGIN)
    return max(estimated, limits.least_prompt or 0)


def refused_cut(state: EmissionState) -> Attempt | None:
    """Return the cut answer after which the last call asked for a larger budget and was refused."""
    *earlier, last = state.model_attempts
    is_refused = last.verdict is Verdict.OVERFLOWED or (last.fault is not None and last.fault.kind in _BUDGET_REFUSALS)
    answers = [attempt for attempt in earlier if attempt.verdict not in (Verdict.FAULTED, Verdict.OVERFLOWED)]
    cut = answers[-1] if answers else None
    is_raised = cut is not None and cut.verdict is Verdict.TRUNCATED and last.budget > cut.budget
    return cut if is_refused and is_raised else None


def lowered_event(refused: int, budget: int, limits: StatedLimits, level: Level) -> LogAppended:
    """Return the event that reports the output budget in use instead of one that exceeds the vendor's limits."""
    return LogAppended(level, BUDGET_LOWERED, {"refused": refused, "budget": budget, "limits": describe_limits(limits)})


def describe_limits(limits: StatedLimits) -> str:
    """Return the limits in words, such as "the context window has 4,096 tokens"."""
    words = (
        (limits.output, "the largest output budget has {:,} tokens"),
        (limits.credit, "the account can pay for {:,} output tokens"),
        (limits.window, "the prompt and the output budget may have {:,} tokens together"),
        (limits.rate, "a minute allows {:,} tokens of prompt and output budget"),
        (limits.longest_prompt, "a prompt may have {:,} tokens"),
        (limits.prompt, "the prompt has {:,}"),
        (limits.least_prompt, "the prompt has at least {:,}"),
        (limits.requested if limits.prompt is None else None, "the request came to {:,}"),
    )
    return ", and ".join(text.format(figure) for figure, text in words if figure is not None)
