"""Use the limits that a provider names when it refuses a request.

The request is sent once more with the largest output budget that they leave, if that is enough for an answer.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from emitter.attempts import Attempt, Verdict
from emitter.messages import FaultKind, StatedLimits, with_output_budget

if TYPE_CHECKING:
    from emitter.core.state import EmissionState
    from emitter.messages import CallResult, ModelRequest

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
    budget = allowed_budget(state, limits, request)
    cut = refused_cut(state)
    smallest = state.emission_request.smallest_answer if cut is None else cut.budget + 1
    return with_output_budget(request, budget) if budget is not None and budget >= smallest else None


def allowed_budget(state: EmissionState, limits: StatedLimits, request: ModelRequest) -> int | None:
    """Return the largest output budget under the limits, or None if it is not smaller than that of the request."""
    prompt = prompt_tokens(state, limits, request)
    if limits.longest_prompt is not None and prompt > limits.longest_prompt:
        return None
    budget = limits.largest_budget(prompt)
    return budget if budget is not None and 0 < budget < request.max_output_tokens else None


def prompt_tokens(state: EmissionState, limits: StatedLimits, request: ModelRequest) -> int:
    """Return the tokens of the prompt: as the error counts them, or else an estimate that is rather too large."""
    counted = limits.prompt_tokens(request.max_output_tokens)
    if counted is not None:
        return counted
    estimated = math.ceil(state.emission_request.writer.count_tokens(request) * _ESTIMATE_MARGIN)
    return max(estimated, limits.least_prompt or 0)


def refused_cut(state: EmissionState) -> Attempt | None:
    """Return the cut answer after which the last call asked for a larger budget and was refused."""
    *earlier, last = state.model_attempts
    is_refused = last.verdict is Verdict.OVERFLOWED or (last.fault is not None and last.fault.kind in _BUDGET_REFUSALS)
    answers = [attempt for attempt in earlier if attempt.verdict not in (Verdict.FAULTED, Verdict.OVERFLOWED)]
    cut = answers[-1] if answers else None
    is_raised = cut is not None and cut.verdict is Verdict.TRUNCATED and last.budget > cut.budget
    return cut if is_refused and is_raised else None


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
