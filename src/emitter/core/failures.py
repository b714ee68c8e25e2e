"""End an emission with a failure: yield the terminal events and build the error message.

No message contains text written by the model.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from emitter.attempts import Verdict
from emitter.core.effects import EmissionFailure, EmissionOutcome
from emitter.core.verdicts import FAULT_CODES, REMEDIES, retry_reason
from emitter.events import CapBreached, NodeFailed, RetryAttempted, RetryExhausted
from emitter.policy import CeilingOwner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.attempts import Attempt
    from emitter.core.effects import EffectGenerator, EmissionRequest
    from emitter.core.state import EmissionState, LimitBreach
    from emitter.core.verdicts import ClassifiedAnswer
    from emitter.messages import Fault, Json

_NO_DETAILS: Mapping[str, Json] = MappingProxyType({})


def end_with_fault(state: EmissionState, fault: Fault) -> EffectGenerator:
    """End with a fault of the last call."""
    return (
        yield from end_with_failure(
            state, EmissionFailure(Verdict.FAULTED, FAULT_CODES[fault.kind], fault.message, state.cause)
        )
    )


def end_with_verdict(state: EmissionState, classification: ClassifiedAnswer, attempt_count: int) -> EffectGenerator:
    """End because no further call can help. ``attempt_count`` counts answered calls in the structured mode."""
    refused = classification.verdict is Verdict.REFUSED
    code, retried_for = REMEDIES[classification.verdict].failure.code, retry_reason(classification)
    if not refused and retried_for is not None:
        yield RetryExhausted(attempt_count, retried_for, describe_violations(classification))
        # OpenWOP's limit counts retries, so the first call is subtracted.
        yield CapBreached("schema", attempt_count - 1, attempt_count)
    reason = failure_message(state.emission_request, state.answer_attempts[-1], classification)
    message = f"{reason} (calls made: {len(state.attempts)})."
    cause = classification.raised.error if classification.raised else state.cause
    details = {} if refused else {"totalAttempts": attempt_count}
    hint = failure_hint(state.emission_request, state.answer_attempts[-1], classification)
    failure = EmissionFailure(classification.verdict, code, message, cause, hint=hint)
    return (yield from end_with_failure(state, failure, details))


def end_with_limit(
    state: EmissionState, breach: LimitBreach, classification: ClassifiedAnswer | None
) -> EffectGenerator:
    """End because the next call would exceed a limit. ``classification`` is that of the last answer."""
    retried_for = retry_reason(classification) if classification is not None else None
    if classification is not None and retried_for is not None:
        yield RetryExhausted(len(state.answered_verdicts), retried_for, describe_violations(classification))
    yield CapBreached(breach.kind, breach.limit, breach.observed)
    verdict = Verdict.FAULTED if classification is None else classification.verdict
    message = f"{breach} (calls made: {len(state.attempts)})."
    return (yield from end_with_failure(state, EmissionFailure(verdict, breach.code, message, state.cause)))


def end_with_failure(
    state: EmissionState, failure: EmissionFailure, details: Mapping[str, Json] = _NO_DETAILS
) -> EffectGenerator:
    """Report that the node failed, and end."""
    yield NodeFailed(failure.code, failure.message, len(state.attempts), dict(details))
    return EmissionOutcome(tuple(state.attempts), failure=failure)


def retry_event(attempt: int, classification: ClassifiedAnswer) -> RetryAttempted:
    """Return the event that reports a rejected answer before the next call."""
    cause = retry_reason(classification)
    if cause is None:
        raise TypeError(f"REMEDIES has no reason for {classification.verdict}")
    return RetryAttempted(attempt, cause, describe_violations(classification))


def describe_violations(classification: ClassifiedAnswer) -> str | None:
    """Return the violations on one line, without any text of the answer."""
    violations = "; ".join(str(violation) for violation in classification.violations)
    return violations or REMEDIES[classification.verdict].grounds


def failure_message(emission_request: EmissionRequest, last: Attempt, classification: ClassifiedAnswer) -> str:
    """Return the reason why no further call can help, without text written by the model."""
    return REMEDIES[classification.verdict].message.format(
        stop=last.stop[:_MAX_STOP],
        budget=last.budget,
        limit=_CEILINGS[emission_request.ceiling].limit if _is_at_ceiling(emission_request, last) else _NO_FURTHER_CALL,
        violations=describe_violations(classification),
        raised=classification.raised,
    )


def _is_at_ceiling(emission_request: EmissionRequest, last: Attempt) -> bool:
    return last.budget >= emission_request.max_budget


def failure_hint(emission_request: EmissionRequest, last: Attempt, classification: ClassifiedAnswer) -> str | None:
    """Return what to do about a failure, if it depends on more than the exception."""
    if classification.verdict is Verdict.TRUNCATED and _is_at_ceiling(emission_request, last):
        return _CEILINGS[emission_request.ceiling].hint
    if classification.verdict is Verdict.UNKNOWN:
        return _UNKNOWN_STOP_HINT.format(last.stop[:_MAX_STOP])
    return None


class _Ceiling(NamedTuple):
    """The words for a limit of the output budget, and what to do about it."""

    limit: str
    hint: str


_CEILINGS = {
    CeilingOwner.POLICY: _Ceiling(
        "the limit of Policy.max_output_tokens", "Raise Policy.max_output_tokens, or ask for less at once."
    ),
    CeilingOwner.MODEL: _Ceiling(
        "the most that the model can write", "Ask for less at once, or choose a model that can write more."
    ),
    CeilingOwner.ASSUMPTION: _Ceiling(
        "the most that emitter assumes for this model",
        "Allow more with Policy(max_output_tokens=...), or state the server's limit in a profile=.",
    ),
    CeilingOwner.WINDOW: _Ceiling(
        "all that the prompt leaves of the context window",
        "Shorten the prompt or the material, or choose a model with a larger window.",
    ),
}
_UNKNOWN_STOP_HINT = (
    "If you know what the word means, say so: profile=Profile.from_name(...).override(stops={{{!r}: ...}}), with "
    '"complete" for a whole answer.'
)
_MAX_STOP = 60
_NO_FURTHER_CALL = "and no further call is allowed (Policy.max_attempts, or the host's limits.schemaRounds)"
