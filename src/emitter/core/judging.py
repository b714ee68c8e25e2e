"""Ask another model to judge a valid answer, within the same emission.

The judge's calls pass through the same driver. Its tokens count against the emission's limits, and its attempts and
usage are on the trace. If it gives no usable answer, its fallback decides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from emitter.attempts import Verdict, total_usage
from emitter.core.effects import AcceptedAnswer, Effect, EffectResult, EmissionOutcome, Sleep, Submit
from emitter.core.verdicts import FAULT_CODES, ClassifiedAnswer
from emitter.events import JUDGE_FAILED, Level, LogAppended, ProviderUsage
from emitter.messages import CallResult, Fault, FaultKind, ModelRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from emitter.core.effects import AnswerJudge, EffectGenerator, EmissionRequest
    from emitter.core.state import EmissionState
    from emitter.policy import Policy
    from emitter.schema.results import ParseResult

Judgment: TypeAlias = "Generator[Effect, EffectResult, tuple[CallResult, ClassifiedAnswer]]"
"""The effects of judging an answer. They return the answer and its classification."""
_MAX_ATTEMPTS = 2
_CANCELLED = Fault(FaultKind.CANCELLED, "The caller stopped while the answer was judged.")


def judge_answer(
    judge: AnswerJudge,
    state: EmissionState,
    answer: CallResult,
    classification: ClassifiedAnswer,
    run: Callable[[EmissionRequest, Policy], EffectGenerator],
) -> Judgment:
    """Return a valid answer with the judge's findings. ``run`` runs an emission."""
    judgment, position = None, len(state.attempts) - 1
    request = judge.request(classification.value)
    policy = None if request is None else _remaining_policy(state)
    if request is not None:
        outcome = None if policy is None else (yield from _run_nested(state, run(request, policy)))
        code = "no_budget" if outcome is None else outcome.failure.code if outcome.failure else None
        if code == FAULT_CODES[FaultKind.CANCELLED]:
            return _CANCELLED, ClassifiedAnswer(Verdict.FAULTED)
        if code is not None:
            yield LogAppended(Level.WARN, JUDGE_FAILED, {"model": request.request.model, "code": code})
        judgment = outcome.value if outcome is not None and code is None else None
    review = judge.review(classification.value, classification.document, judgment)
    return answer, _add_findings(state, position, classification, review)


def _add_findings(
    state: EmissionState, position: int, classification: ClassifiedAnswer, review: ParseResult[Any]
) -> ClassifiedAnswer:
    corrections = (*classification.violations, *review.corrections) if state.flagged is None else ()
    verdict = Verdict.FLAGGED if corrections else Verdict.COMPLETE
    state.attempts[position] = replace(state.attempts[position], verdict=verdict, violations=corrections)
    findings = (*classification.findings, *review.findings)
    return replace(classification, verdict=verdict, violations=corrections, findings=findings)


def _remaining_policy(state: EmissionState) -> Policy | None:
    """Return a policy with the remaining limits for the judge's emission, or None if a limit is used up."""
    policy, spent = state.policy, total_usage(tuple(state.attempts))
    tokens = None if policy.max_total_tokens is None else policy.max_total_tokens - spent.total
    cost = None
    if policy.max_cost is not None and policy.prices is not None:
        cost = float(policy.max_cost) - float(state.spent_cost())
    if (tokens is not None and tokens <= 0) or (cost is not None and cost <= 0):
        return None
    return replace(policy, max_attempts=_MAX_ATTEMPTS, nl_to_format=False, max_total_tokens=tokens, max_cost=cost)


def _run_nested(state: EmissionState, steps: EffectGenerator) -> Generator[Effect, EffectResult, EmissionOutcome]:
    """Run the judge's emission. Only its usage and log events are passed on.

    Its restarts and terminal events are dropped, because they would describe the answer that is being judged. Its own
    answer goes to no host.
    """
    earlier_count = len(state.attempts)
    answer: EffectResult = None
    while True:
        try:
            effect = steps.send(answer)
        except StopIteration as end:
            outcome: EmissionOutcome = end.value
            state.attempts.extend(
                replace(attempt, number=earlier_count + attempt.number) for attempt in outcome.attempts
            )
            return outcome
        answer = None
        if isinstance(effect, ModelRequest | Sleep | ProviderUsage | LogAppended):
            answer = yield effect
        elif isinstance(effect, Submit):
            answer = AcceptedAnswer(effect.value, effect.document)
