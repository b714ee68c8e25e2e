"""End an emission with a failure: yield the terminal events and build the error message.

No message contains text written by the model.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from emitter.attempts import Verdict
from emitter.core.effects import EmissionFailure, EmissionOutcome
from emitter.core.state import allowed_budget, describe_limits, refused_cut, stated_limits
from emitter.core.verdicts import FAULTS, ONLY_THINKING, REMEDIES, retry_reason
from emitter.events import CapBreached, NodeFailed, RetryAttempted, RetryExhausted
from emitter.messages import FaultKind, with_output_budget
from emitter.policy import CeilingOwner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.attempts import Attempt
    from emitter.core.effects import EffectGenerator
    from emitter.core.state import EmissionState, LimitBreach
    from emitter.core.verdicts import ClassifiedAnswer
    from emitter.messages import Fault, Json, StatedLimits

_NO_DETAILS: Mapping[str, Json] = MappingProxyType({})


def end_with_fault(state: EmissionState, fault: Fault) -> EffectGenerator:
    """End with a fault of the last call."""
    failure = FAULTS[fault.kind]
    message, hint = _state_limits(state, fault.message, failure.hint)
    last = state.attempts[-1].fault if state.attempts else None
    if fault.kind is FaultKind.DEADLINE and last is not None and last.kind is not FaultKind.DEADLINE:
        message = f"{message} The last call failed: {last.message}"
    hint = (fault.report.hint if fault.report else None) or _mode_hint(state, fault) or hint
    ended = EmissionFailure(Verdict.FAULTED, failure.code, message, state.cause, hint=hint)
    return (yield from end_with_failure(state, ended))


def _mode_hint(state: EmissionState, fault: Fault) -> str | None:
    """Return what to do if the server refused an output mode and no call was left for another one."""
    emission = state.emission_request
    adapted = emission.writer.adapt(emission.request, fault.kind) if fault.kind is FaultKind.MODE_REFUSED else None
    return None if adapted is None else _MODE_HINT.format(adapted[0].output.mode.value)


_MODE_HINT = (
    'Allow more calls with Policy.max_attempts, which then ask in the output mode "{0}", or begin with it: '
    'profile=Profile.from_name(...).override(modes=["{0}"]).'
)


def end_with_verdict(state: EmissionState, classification: ClassifiedAnswer, attempt_count: int) -> EffectGenerator:
    """End because no further call can help. ``attempt_count`` counts answered calls in the structured mode."""
    refused = classification.verdict is Verdict.REFUSED
    failed, retried_for = REMEDIES[classification.verdict].failure, retry_reason(classification)
    if not refused and retried_for is not None:
        yield RetryExhausted(attempt_count, retried_for, describe_violations(classification))
        # OpenWOP's limit counts retries, so the first call is subtracted.
        yield CapBreached("schema", attempt_count - 1, attempt_count)
    reason = failure_message(state, classification)
    ignored = _IGNORED if state.emission_request.request.output.is_ignored and not refused else ""
    message, hint = _state_limits(
        state, f"{reason} (calls made: {len(state.attempts)}).{ignored}", failure_hint(state, classification)
    )
    cause = classification.raised.error if classification.raised else state.cause
    details = {} if refused else {"totalAttempts": attempt_count}
    ended = EmissionFailure(classification.verdict, failed.code, message, cause, hint=hint)
    return (yield from end_with_failure(state, ended, details))


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


def failure_message(state: EmissionState, classification: ClassifiedAnswer) -> str:
    """Return the reason why no further call can help, without text written by the model."""
    last = _last_attempt(state, classification.verdict)
    return REMEDIES[classification.verdict].message.format(
        stop=_describe_stop(classification.verdict, last.stop),
        budget=last.budget,
        thinking=" of thinking alone" if _is_only_thinking(last) else "",
        limit=_find_ceiling(state, last).limit,
        violations=describe_violations(classification),
        raised=classification.raised,
    )


def failure_hint(state: EmissionState, classification: ClassifiedAnswer) -> str | None:
    """Return what to do about a failure, if it depends on more than the exception."""
    last = _last_attempt(state, classification.verdict)
    if classification.verdict is Verdict.TRUNCATED:
        hint = _find_ceiling(state, last).hint
        return f"{_THINKING_HINT} {hint or ''}".strip() if _can_think_less(state, last) else hint
    if classification.verdict is Verdict.UNKNOWN:
        return _UNKNOWN_STOP_HINT.format(last.stop[:_MAX_STOP]) if last.stop else _NO_STOP_HINT
    return REMEDIES[classification.verdict].failure.hint


def _last_attempt(state: EmissionState, verdict: Verdict) -> Attempt:
    """Return the last attempt with a verdict. A refused request may follow it."""
    attempts = [attempt for attempt in state.answer_attempts if attempt.verdict is verdict]
    return (attempts or state.answer_attempts)[-1]


def _find_ceiling(state: EmissionState, last: Attempt) -> _Ceiling:
    """Return the limit that an answer was cut at."""
    if last is not state.answer_attempts[-1]:
        return _REFUSED
    is_at_ceiling = last.budget >= state.emission_request.max_budget
    return _CEILINGS[state.emission_request.ceiling] if is_at_ceiling else _NO_FURTHER_CALL


_IGNORED = " The server ignores the schema that it is sent."


def _is_only_thinking(attempt: Attempt) -> bool:
    return any(violation.rule == ONLY_THINKING.rule for violation in attempt.violations)


def _can_think_less(state: EmissionState, last: Attempt) -> bool:
    """Return whether an answer was cut while the model was thinking, and the model takes a lower effort."""
    request = state.emission_request.request
    return _is_only_thinking(last) and state.emission_request.writer.lower_effort(request) is not None


_THINKING_HINT = "Pass a lower reasoning_effort=, or allow one call with less by Policy(lower_effort=True)."


class _Ceiling(NamedTuple):
    """The words for a limit of the output budget, and what to do about it, if the exception does not say so."""

    limit: str
    hint: str | None = None


_CEILINGS = {
    CeilingOwner.POLICY: _Ceiling(
        "the limit of Policy.max_output_tokens", "Raise Policy.max_output_tokens, or ask for less at once."
    ),
    CeilingOwner.MODEL: _Ceiling(
        "the most that the model can write", "Ask for less at once, or choose a model that can write more."
    ),
    CeilingOwner.ASSUMPTION: _Ceiling(
        "the most that emitter assumes for this model",
        "Allow more with Policy(max_output_tokens=...), or state the server's limit: "
        "profile=Profile.from_name(...).override(max_output=...).",
    ),
    CeilingOwner.WINDOW: _Ceiling(
        "all that the prompt leaves of the context window",
        "Shorten the prompt or the material, or choose a model with a larger window.",
    ),
    CeilingOwner.VENDOR: _Ceiling(
        "the limit that the vendor named", "Ask for less at once, or choose a model that can write more."
    ),
}
_REFUSED = _Ceiling(
    "and the vendor refuses a larger budget", "Ask for less at once, or choose a model that can write more."
)
_UNKNOWN_STOP_HINT = (
    "If you know what the word means, say so: profile=Profile.from_name(...).override(stops={{{!r}: ...}}), with "
    '"complete" for a whole answer.'
)
_NO_STOP_HINT = (
    "If the server ends every answer so, accept it: profile=Profile.from_name(...).override(stops={'': 'complete'}). A "
    "cut answer then counts as whole if it is valid."
)
_MAX_STOP = 60


def _describe_stop(verdict: Verdict, stop: str) -> str:
    """Return the vendor's stop reason in words."""
    if not stop:
        return "without a stop reason"
    unknown = ", whose meaning is unknown" if verdict is Verdict.UNKNOWN else ""
    return f"with {stop[:_MAX_STOP]!r}{unknown}"


def _state_limits(state: EmissionState, message: str, hint: str | None) -> tuple[str, str | None]:
    """Return the message and hint of a failure with the limits that the last error named, if it did."""
    last = state.answer_attempts[-1]
    limits = stated_limits(last)
    if limits is not None:
        message = f"{message} The vendor names its limits: {describe_limits(limits)}."
    if refused_cut(state) is not None:
        return message, hint
    budget = None if limits is None else _budget_left(state, limits)
    if budget is not None:
        return message, f"Pass Policy(output_tokens={budget}, max_output_tokens={budget})."
    is_budget_refused = last.fault is not None and last.fault.kind is FaultKind.BUDGET_REFUSED
    return message, _BUDGET_HINT if is_budget_refused else hint


def _budget_left(state: EmissionState, limits: StatedLimits) -> int | None:
    """Return the budget that the limits leave for an answer, or None if they leave too little."""
    request = with_output_budget(state.emission_request.request, state.answer_attempts[-1].budget)
    budget = allowed_budget(state.emission_request.writer, limits, request)
    return None if budget is None or budget < state.emission_request.smallest_answer else budget


_BUDGET_HINT = (
    "Pass a smaller Policy(output_tokens=..., max_output_tokens=...), shorten the form, or choose another model."
)
_NO_FURTHER_CALL = _Ceiling("and no further call is allowed (Policy.max_attempts, or the host's limits.schemaRounds)")
