"""Run one emission as a generator of effects.

The generator performs no I/O: it yields effects, and ``emitter.client.execution`` carries them out. It retries until an
answer is accepted, refused or out of attempts, within the token and cost limits of the policy. If the policy allows,
it then asks in plain words and converts the words to the schema. Events follow OpenWOP's order (RFC 0032, RFC 0033):
an event comes before its consequences, terminal events last.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from emitter import recover
from emitter.attempts import Attempt, Verdict, total_usage
from emitter.core.effects import (
    Effect,
    EffectGenerator,
    EmissionFailure,
    EmissionOutcome,
    EmissionRequest,
    Restart,
    Sleep,
)
from emitter.core.verdicts import (
    DOUBTFUL,
    FAULT_CODES,
    REMEDIES,
    RETRACTED,
    VERDICT_BY_STOP,
    ClassifiedAnswer,
    RetryState,
    classify,
    find_fallback_reason,
    next_request,
    retry_reason,
)
from emitter.events import (
    CALLING,
    CHECK_FINDING,
    FALLBACK_NOTICE,
    CapBreached,
    EnvelopeRefusal,
    EnvelopeTruncated,
    Event,
    Level,
    LogAppended,
    ModelCapabilitySubstituted,
    NlToFormatEngaged,
    NodeFailed,
    ProviderUsage,
    RecoveryApplied,
    RetryAttempted,
    RetryExhausted,
)
from emitter.findings import as_warnings
from emitter.messages import (
    JUDGE_ROUTE,
    CallResult,
    Fault,
    FaultKind,
    ModelRequest,
    ModelResponse,
    Usage,
    with_output_budget,
)
from emitter.recover.answer import RecoveryPath

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping

    from emitter.core.fallback import FallbackReason
    from emitter.core.judging import AnswerJudge
    from emitter.core.verdicts import DocumentContract
    from emitter.events import RunEvent
    from emitter.findings import Finding
    from emitter.messages import Json
    from emitter.policy import Policy, PriceTable
    from emitter.redaction.secret_registry import Secrets
    from emitter.schema import Loss


def run_emission(emission_request: EmissionRequest, policy: Policy) -> EffectGenerator:
    """Run an emission until an answer is accepted, refused or out of attempts."""
    state = EmissionState(emission_request, policy)
    accepted = emission_request.find_accepted()
    if accepted is not None:
        return accepted
    refusal = emission_request.check_capacity()
    if refusal is not None:
        return (yield from end_with_submission(state, refusal))
    yield from _report(emission_request.initial_events)
    if emission_request.contract.compiled.degraded:
        yield degraded_event(emission_request.contract.compiled.degraded)
    return (yield from _request_until_done(state))


def _report(events: Iterable[Event | RunEvent]) -> Generator[Effect, CallResult | None, None]:
    """Yield events. An emission that is cancelled meanwhile is sent a fault, which no other iterator takes."""
    for event in events:  # noqa: UP028  see above
        yield event


def _request_until_done(state: EmissionState) -> EffectGenerator:
    request = state.emission_request.request
    classification: ClassifiedAnswer | None = None
    while True:
        fitted = fit_to_limits(state, request)
        if isinstance(fitted, LimitBreach):
            return (yield from _end_at_limit(state, fitted, classification))
        if state.attempts:
            yield from _report_retry(state, classification)
        answer, current = yield from _send_and_judge(state, fitted)
        accepted = _accepted_answer(state, answer, current)
        if accepted is not None:
            return (yield from end_with_answer(state, accepted))
        if isinstance(answer, Fault):
            following = yield from _request_after_fault(state, answer, request)
        else:
            classification = current
            following = yield from _request_after_answer(state, answer, current, fitted)
        if isinstance(following, EmissionOutcome):
            return following
        request = following


def _send_and_judge(
    state: EmissionState, request: ModelRequest
) -> Generator[Effect, CallResult | None, tuple[CallResult, ClassifiedAnswer]]:
    """Send one request and classify the answer. If it is valid, the judge, if there is one, is asked about it."""
    answer, classification = yield from send(state, request, can_flag=state.flagged is None)
    judge = state.emission_request.judge
    if judge is None or classification.verdict not in _VALID_VERDICTS:
        return answer, classification
    return (yield from judge.judge_answer(state, answer, classification, run_emission))


def _end_at_limit(
    state: EmissionState, breach: LimitBreach, classification: ClassifiedAnswer | None
) -> EffectGenerator:
    """Accept a flagged answer whose correction does not fit the limits, and fail otherwise."""
    if state.flagged is not None:
        return (yield from end_with_answer(state, state.flagged))
    return (yield from end_with_limit(state, breach, classification))


_VALID_VERDICTS = frozenset({Verdict.COMPLETE, Verdict.FLAGGED})


def _accepted_answer(
    state: EmissionState, answer: CallResult, classification: ClassifiedAnswer
) -> ClassifiedAnswer | None:
    """Return the answer to accept, if any: a flagged one stands if its correction fails.

    So findings alone never end in an error. The flagged answer does not stand if the caller cancelled the emission, or
    if the caller's own code raised.
    """
    if classification.verdict is Verdict.COMPLETE:
        return classification
    if classification.verdict is Verdict.FLAGGED:
        state.flagged = classification
        return None
    cancelled = isinstance(answer, Fault) and answer.kind is FaultKind.CANCELLED
    return None if cancelled or classification.verdict is Verdict.UNCHECKED else state.flagged


_NextRequest: TypeAlias = "Generator[Effect, CallResult | None, ModelRequest | EmissionOutcome]"
"""Returns the request to send next, or the outcome of the emission."""


def _report_retry(
    state: EmissionState, classification: ClassifiedAnswer | None
) -> Generator[Effect, CallResult | None, None]:
    """Report a change of the model, and that the last answer was rejected."""
    yield from _report(state.take_notices())
    if classification is not None and state.own_attempts[-1].verdict in _RETRIED_VERDICTS:
        yield retry_event(len(state.answered_verdicts) + 1, classification)


def _request_after_fault(state: EmissionState, fault: Fault, request: ModelRequest) -> _NextRequest:
    """Ask the next model at once, or the same one after a wait."""
    if switch_model(state, find_fallback_reason(fault, Verdict.FAULTED)):
        return state.emission_request.request
    terminal = yield from back_off(state, fault)
    return request if terminal is None else (yield from end_with_fault(state, terminal))


def _request_after_answer(
    state: EmissionState, answer: ModelResponse, classification: ClassifiedAnswer, request: ModelRequest
) -> _NextRequest:
    """Apply the remedy for a rejected answer, or ask the next model."""
    reason = find_fallback_reason(answer, classification.verdict)
    retry_state = _retry_state(state, request, reason)
    retry = next_request(classification, retry_state, state.policy, state.emission_request.writer)
    if retry is not None:
        return retry
    if len(state.answered_verdicts) < state.policy.max_attempts and switch_model(state, reason):
        return state.emission_request.request
    return (yield from _end_without_answer(state, answer, classification))


_RETRIED_VERDICTS = frozenset(Verdict) - {Verdict.FAULTED, Verdict.REFUSED}
"""A further call after these is one of OpenWOP's retries. After a refusal, only another model is asked."""


def _retry_state(state: EmissionState, request: ModelRequest, reason: FallbackReason | None) -> RetryState:
    """Return the state of the model before the last attempt, in which the remedy is chosen."""
    earlier = state.model_attempts[:-1]
    verdicts = tuple(attempt.verdict for attempt in earlier if attempt.verdict is not Verdict.FAULTED)
    return RetryState(
        request=request,
        previous_verdicts=verdicts,
        max_budget=state.emission_request.max_budget,
        document_requested=any(map(_asked_for_document, earlier)),
        other_calls=len(state.answered_verdicts) - 1 - len(verdicts) + len(state.later_models(reason)),
    )


def switch_model(state: EmissionState, reason: FallbackReason | None) -> bool:
    """Go over to the next model that may be asked after this failure; return False if there is none."""
    later = state.later_models(reason)
    if reason is None or not later:
        return False
    failed, last = state.emission_request, state.model_attempts[-1]
    index = later[0]
    used = state.models.alternatives[index]
    if last.verdict is Verdict.TRUNCATED:
        budget = math.ceil(last.budget * state.policy.truncation_multiplier)
        budget = min(max(budget, used.request.max_output_tokens), used.max_budget)
        used = replace(used, request=with_output_budget(used.request, budget))
    state.first = state.models
    state.emission_request, state.position, state.first_attempt = used, index + 1, len(state.attempts)
    state.notices = (
        LogAppended(Level.WARN, FALLBACK_NOTICE, {"reason": reason.value}),
        ModelCapabilitySubstituted(failed.provider, failed.request.model, used.provider, used.request.model, ()),
        *used.initial_events,
    )
    return True


def _end_without_answer(state: EmissionState, answer: CallResult, classification: ClassifiedAnswer) -> EffectGenerator:
    """Accept a flagged answer, use the two-step fallback if the policy allows it, and fail otherwise."""
    if classification.verdict is Verdict.FLAGGED:
        return (yield from end_with_answer(state, classification))
    if can_fall_back(state, classification):
        return (yield from emit_in_two_steps(state, answer, classification))
    return (yield from end_with_verdict(state, classification, len(state.answered_verdicts)))


def _asked_for_document(attempt: Attempt) -> bool:
    return DOUBTFUL in attempt.violations or RETRACTED in attempt.violations


@dataclass(slots=True)
class EmissionState:
    """The state of one emission. ``emission_request`` is that of the model in use."""

    emission_request: EmissionRequest
    policy: Policy
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    flagged: ClassifiedAnswer | None = None
    """A valid answer that was sent back once. It stands if the correction fails."""
    cause: Exception | None = None
    """The SDK's exception of the last call; a deadline that passes later does not replace it."""
    first: EmissionRequest | None = None
    """The request of the first model, if another one is in use."""
    position: int = 0
    """The number of the alternative in use, from 1; 0 is the first model."""
    first_attempt: int = 0
    """The index of the first attempt of the model in use."""
    notices: tuple[Event, ...] = ()
    """Report the change of the model before its first call."""

    @property
    def models(self) -> EmissionRequest:
        """The request of the first model, with its alternatives."""
        return self.first or self.emission_request

    def later_models(self, reason: FallbackReason | None) -> tuple[int, ...]:
        """Return the indices of the alternatives that may still be asked after this failure."""
        alternatives = self.models.alternatives
        return tuple(
            index for index in range(self.position, len(alternatives)) if reason in alternatives[index].asked_after
        )

    def take_notices(self) -> tuple[Event, ...]:
        """Return the notices that were not reported yet."""
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
    def own_attempts(self) -> list[Attempt]:
        """The calls that asked for the answer, without those to its judge."""
        return self._own(self.attempts)

    def _own(self, attempts: list[Attempt]) -> list[Attempt]:
        is_judge = self.emission_request.request.route == JUDGE_ROUTE
        return [attempt for attempt in attempts if attempt.by_judge == is_judge]

    @property
    def model_attempts(self) -> list[Attempt]:
        """Those of them to the model in use."""
        return self._own(self.attempts[self.first_attempt :])

    @property
    def fault_count(self) -> int:
        """The number of calls that failed."""
        return sum(attempt.verdict is Verdict.FAULTED for attempt in self.own_attempts)

    @property
    def answered_verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts on the calls that were answered."""
        return tuple(attempt.verdict for attempt in self.own_attempts if attempt.verdict is not Verdict.FAULTED)

    @property
    def document_requested(self) -> bool:
        """Whether the model was asked for the document alone."""
        return any(map(_asked_for_document, self.model_attempts))


def send(
    state: EmissionState,
    request: ModelRequest,
    classify_answer: Callable[[CallResult, DocumentContract], ClassifiedAnswer] | None = None,
    *,
    can_flag: bool = False,
) -> Generator[Effect, CallResult | None, tuple[CallResult, ClassifiedAnswer]]:
    """Send one request and classify the answer, by default with ``classify``."""
    number = len(state.attempts) + 1
    yield LogAppended(Level.DEBUG, CALLING, {"attempt": number, "budget": request.max_output_tokens})
    if state.attempts:
        yield Restart(number, state.own_attempts[-1].verdict)
    answer = yield request
    if answer is None:
        raise TypeError("The driver must send an answer to a request.")
    report = answer.report
    if report is not None or isinstance(answer, ModelResponse):
        state.cause = report.cause if report is not None else None
    if report is not None:  # what is kept of a call holds no exception
        answer = replace(answer, report=replace(report, cause=None))
    contract = state.emission_request.contract
    classification = (
        classify(answer, contract, already_corrected=number > 1 and state.document_requested, can_flag=can_flag)
        if classify_answer is None
        else classify_answer(answer, contract)
    )
    if state.emission_request.keep_response and isinstance(answer, ModelResponse):
        classification = replace(classification, answer=answer)
    state.attempts.append(_make_attempt(state, request, answer, classification))
    yield from _report(call_events(state.emission_request, answer, classification))
    return answer, classification


def _make_attempt(
    state: EmissionState, request: ModelRequest, answer: CallResult, classification: ClassifiedAnswer
) -> Attempt:
    reply = answer if isinstance(answer, ModelResponse) else None
    fault = None if isinstance(answer, ModelResponse) else replace(answer, report=None)
    return Attempt(
        number=len(state.attempts) + 1,
        verdict=classification.verdict,
        budget=request.max_output_tokens,
        corrected=request.correction is not None,
        stop=reply.raw_stop if reply else "",
        usage=answer.usage,
        violations=classification.violations,
        fault=fault,
        request_id=answer.request_id,
        report=answer.report,
        model=f"{state.emission_request.provider}/{request.model}",
        route=request.route,
    )


def back_off(state: EmissionState, fault: Fault) -> Generator[Effect, CallResult | None, Fault | None]:
    """Wait if the fault is transient; otherwise return the fault that ends the emission."""
    delay = fault.retry_after or 0.0
    policy = state.policy
    if not fault.kind.is_transient or state.fault_count > policy.max_faults:
        return fault
    if delay > policy.max_retry_after:
        reason = f"It asks for a wait of {delay:g} s, and Policy.max_retry_after is {policy.max_retry_after:g} s."
        return replace(fault, message=f"{fault.message} {reason}")
    yield resend_event(fault)
    response = yield Sleep(state.fault_count, delay)
    return response if isinstance(response, Fault) else None


def fit_to_limits(state: EmissionState, request: ModelRequest) -> ModelRequest | LimitBreach:
    """Lower the request's output budget to what the limits allow, or return the limit that allows too little."""
    if state.policy.max_total_tokens is None and state.policy.max_cost is None:
        return request
    own_attempts = state.model_attempts
    input_counts = [attempt.usage.input for attempt in own_attempts if attempt.usage is not None]
    writer = state.emission_request.writer
    input_tokens = max(input_counts) if input_counts else writer.count_tokens(request)
    expected = replace(writer.expect_input(request, input_tokens), output=state.emission_request.min_output_tokens)
    spent = Spending(total_usage(tuple(state.attempts)), state.spent_cost())
    policy = replace(state.policy, prices=state.emission_request.prices or state.policy.prices)
    fitted = cap_budget(request, spent, expected, policy)
    last = own_attempts[-1] if own_attempts else None
    if (
        isinstance(fitted, ModelRequest)
        and last
        and last.verdict is Verdict.TRUNCATED
        and fitted.max_output_tokens <= last.budget
    ):
        return cap_budget(request, spent, replace(expected, output=last.budget + 1), policy)
    return fitted


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
    """Lower the request's output budget to what the limits allow, or return the limit that allows too little.

    ``expected`` is the next call's input and the smallest output worth a call.
    """
    budget = request.max_output_tokens
    for room, reached in _remaining_room(spent, expected, policy):
        if room < expected.output:
            return reached
        budget = min(budget, room)
    return request if budget == request.max_output_tokens else with_output_budget(request, budget)


def _remaining_room(spent: Spending, expected: Usage, policy: Policy) -> Iterator[tuple[int, LimitBreach]]:
    """Yield for each limit the output tokens it allows, and the breach to report if they are too few."""
    if policy.max_total_tokens is not None:
        room = policy.max_total_tokens - spent.usage.total - expected.input
        yield room, _make_breach(_TOKEN_LIMIT, policy.max_total_tokens, (spent.usage + expected).total)
    if policy.max_cost is not None and policy.prices is not None:
        cost_of = policy.prices.cost_of
        prompt = cost_of(replace(expected, output=0))
        left, one = Decimal(str(policy.max_cost)) - spent.cost - prompt, cost_of(replace(expected, output=1)) - prompt
        room = min(math.floor(left / one), _UNBOUNDED) if one else _UNBOUNDED if left >= 0 else -1
        yield room, _make_breach(_COST_LIMIT, float(policy.max_cost), float(spent.cost + cost_of(expected)))


def _make_breach(kind: str, limit: float, observed: float) -> LimitBreach:
    return LimitBreach(_BREACH_CODES[kind], kind, limit, observed)


_NO_DETAILS: Mapping[str, Json] = MappingProxyType({})


def end_with_answer(state: EmissionState, classification: ClassifiedAnswer) -> EffectGenerator:
    """End with a valid answer, if the host accepts it."""
    for finding in classification.findings:
        yield finding_event(finding)
    result = state.emission_request.submit(classification.value, classification.document)
    if result.failure is None and (classification.findings or classification.answer is not None):
        response = classification.answer
        if response is not None:
            response = _redact_response(response, state.emission_request.contract.secrets)
        result = replace(result, findings=as_warnings(classification.findings), response=response)
    return (yield from end_with_submission(state, result))


def _redact_response(response: ModelResponse, secrets: Secrets) -> ModelResponse:
    """Return the answer without registered secrets."""
    text, arguments = secrets.redact_text(response.text).value, secrets.redact_json(list(response.arguments)).value
    return replace(response, text=text, arguments=tuple(arguments))


def end_with_submission(state: EmissionState, result: EmissionOutcome) -> EffectGenerator:
    """End with what the host returned."""
    yield from _report(result.events)
    if result.failure is not None and not result.was_discarded:
        is_reported = any(isinstance(recorded.event, NodeFailed) for recorded in result.events)
        if not is_reported:
            return (yield from _end_with_failure(state, result.failure))
    return replace(result, attempts=tuple(state.attempts), events=())


def end_with_fault(state: EmissionState, fault: Fault) -> EffectGenerator:
    """End without an answer."""
    return (
        yield from _end_with_failure(
            state, EmissionFailure(Verdict.FAULTED, FAULT_CODES[fault.kind], fault.message, state.cause)
        )
    )


def end_with_verdict(state: EmissionState, classification: ClassifiedAnswer, attempt_count: int) -> EffectGenerator:
    """End because no further call can help. ``attempt_count`` counts answered calls in the structured mode."""
    refused = classification.verdict is Verdict.REFUSED
    code, retried_for = REMEDIES[classification.verdict].failure.code, retry_reason(classification)
    if not refused and retried_for is not None:
        yield RetryExhausted(attempt_count, retried_for, describe_violations(classification))
        # the ceiling is on retries, so the first call is not one of them
        yield CapBreached("schema", attempt_count - 1, attempt_count)
    reason = failure_message(state.emission_request, state.own_attempts[-1], classification)
    message = f"{reason} (calls made: {len(state.attempts)})."
    cause = classification.raised.error if classification.raised else state.cause
    details = {} if refused else {"totalAttempts": attempt_count}
    return (yield from _end_with_failure(state, EmissionFailure(classification.verdict, code, message, cause), details))


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
    return (yield from _end_with_failure(state, EmissionFailure(verdict, breach.code, message, state.cause)))


def _end_with_failure(
    state: EmissionState, failure: EmissionFailure, details: Mapping[str, Json] = _NO_DETAILS
) -> EffectGenerator:
    yield NodeFailed(failure.code, failure.message, len(state.attempts), dict(details))
    return EmissionOutcome(tuple(state.attempts), failure=failure)


_DOCUMENT_START = re.compile(r"\s*(?:[{\[]|```)")
_CURABLE_VERDICTS = frozenset({Verdict.VIOLATED, Verdict.MALFORMED})


def can_fall_back(state: EmissionState, classification: ClassifiedAnswer) -> bool:
    """Return whether the two-step fallback may be used."""
    curable = classification.verdict in _CURABLE_VERDICTS and RETRACTED not in classification.violations
    return state.policy.nl_to_format and curable


def emit_in_two_steps(
    state: EmissionState, last_answer: CallResult, classification: ClassifiedAnswer
) -> EffectGenerator:
    """Ask in plain words and convert them to the schema. An answer in plain words serves as the first step."""
    request, writer = state.emission_request.request, state.emission_request.writer
    counted = len(state.answered_verdicts)
    words = _plain_words(last_answer, classification)
    yield NlToFormatEngaged(state.emission_request.kind, 2 if words is None else 1)
    if words is None:
        described = yield from _send_until_answered(state, writer.describe(request), _classify_words)
        if isinstance(described, EmissionOutcome):
            return described
        answer, current = described
        if current.verdict is not Verdict.COMPLETE or not isinstance(answer, ModelResponse):
            return (yield from end_with_verdict(state, current, counted))
        words = recover.strip_thinking(answer.text)
    converted = yield from _send_until_answered(state, writer.convert(request, words), None)
    if isinstance(converted, EmissionOutcome):
        return converted
    _, current = converted
    if current.verdict is Verdict.COMPLETE:
        return (yield from end_with_answer(state, current))
    return (yield from end_with_verdict(state, current, counted))


def _plain_words(answer: CallResult, classification: ClassifiedAnswer) -> str | None:
    """Return the text of an answer in plain words; None for a broken document or a refusal."""
    if classification.verdict is not Verdict.MALFORMED or not isinstance(answer, ModelResponse):
        return None
    text = recover.strip_thinking(answer.text)
    fit = (
        text.strip()
        and not answer.arguments
        and not _DOCUMENT_START.match(text)
        and recover.classify_prose(text) is not recover.Stance.RETRACTED
    )
    return text if fit else None


def _classify_words(answer: CallResult, contract: DocumentContract) -> ClassifiedAnswer:  # noqa: ARG001  words have no form to hold to
    if isinstance(answer, Fault):
        return ClassifiedAnswer(Verdict.FAULTED)
    verdict = VERDICT_BY_STOP[answer.stop]
    words = recover.strip_thinking(answer.text)
    unfit = verdict is Verdict.COMPLETE and (
        not words.strip() or recover.classify_prose(words) is recover.Stance.RETRACTED
    )
    return ClassifiedAnswer(Verdict.MALFORMED if unfit else verdict)


def _send_until_answered(
    state: EmissionState,
    request: ModelRequest,
    classify_answer: Callable[[CallResult, DocumentContract], ClassifiedAnswer] | None,
) -> Generator[Effect, CallResult | None, tuple[CallResult, ClassifiedAnswer] | EmissionOutcome]:
    """Send until an answer arrives, or return the outcome of the emission."""
    while True:
        fitted = fit_to_limits(state, request)
        if isinstance(fitted, LimitBreach):
            return (yield from end_with_limit(state, fitted, None))
        answer, classification = yield from send(state, fitted, classify_answer)
        if not isinstance(answer, Fault):
            return answer, classification
        fault = yield from back_off(state, answer)
        if fault is not None:
            return (yield from end_with_fault(state, fault))


_TRUNCATED_VERDICTS = (Verdict.TRUNCATED, Verdict.OVERFLOWED)
_MAX_LISTED_LOSSES = 8
"""The most keywords that the event names."""


def degraded_event(losses: tuple[Loss, ...]) -> LogAppended:
    """Report the rules that do not fit the vendor's limits and are checked here only."""
    fields = {
        "count": len(losses),
        "first": [f"{loss.pointer or '/'}: {loss.keyword}" for loss in losses[:_MAX_LISTED_LOSSES]],
    }
    return LogAppended(Level.WARN, "the schema is too large for the vendor, so these are checked here only", fields)


def finding_event(finding: Finding) -> LogAppended:
    """Report what a check found in an accepted answer."""
    fields = {"pointer": finding.pointer, "rule": finding.rule, "expected": finding.message}
    return LogAppended(Level.WARN, CHECK_FINDING, fields)


def resend_event(fault: Fault) -> LogAppended:
    """Report a failed call that will be sent again."""
    fields = {"fault": fault.kind.value, "status": fault.status, "code": fault.code}
    return LogAppended(Level.WARN, f"call failed, will be sent again: {fault.message}", fields)


def call_events(emission_request: EmissionRequest, answer: CallResult, classification: ClassifiedAnswer) -> list[Event]:
    """Return the events of one call."""
    model = emission_request.request.model
    events: list[Event] = []
    if answer.usage is not None:
        usage = answer.usage
        events.append(
            ProviderUsage(
                emission_request.provider, model, usage.input, usage.output, usage.cache_read, usage.cache_write
            )
        )
    if isinstance(answer, ModelResponse) and classification.verdict is Verdict.REFUSED:
        events.append(EnvelopeRefusal(emission_request.provider, model, answer.refused_as))
    if isinstance(answer, ModelResponse) and classification.verdict in _TRUNCATED_VERDICTS:
        events.append(_truncated_event(emission_request.provider, model, answer, classification.verdict))
    recovered = classification.recovered
    if recovered is not None and recovered.path is not RecoveryPath.DIRECT:
        events.append(RecoveryApplied(recovered.path.value, recovered.byte_offset))
    return events


def _truncated_event(provider: str, model: str, reply: ModelResponse, verdict: Verdict) -> EnvelopeTruncated:
    return EnvelopeTruncated(
        provider=provider,
        model=model,
        stop_reason="max_tokens" if verdict is Verdict.TRUNCATED else "unknown",
        partial_payload_available=bool(reply.text or reply.arguments),
        output_token_count=reply.usage.output if reply.usage else None,
    )


def retry_event(attempt: int, classification: ClassifiedAnswer) -> RetryAttempted:
    """Report that the answer was rejected and another call follows."""
    cause = retry_reason(classification)
    if cause is None:
        raise TypeError(f"REMEDIES has no reason for {classification.verdict}")
    return RetryAttempted(attempt, cause, describe_violations(classification))


def describe_violations(classification: ClassifiedAnswer) -> str | None:
    """Return the violations on one line, without any text of the answer."""
    violations = "; ".join(str(violation) for violation in classification.violations)
    return violations or REMEDIES[classification.verdict].grounds


def failure_message(emission_request: EmissionRequest, last: Attempt, classification: ClassifiedAnswer) -> str:
    """Explain why no further call can help, without any text of the model."""
    return REMEDIES[classification.verdict].message.format(
        stop=last.stop[:60],
        budget=last.budget,
        limit=_CEILING if last.budget >= emission_request.max_budget else _NO_FURTHER_CALL,
        violations=describe_violations(classification),
        raised=classification.raised,
    )


_CEILING = "the ceiling of policy or model"
_NO_FURTHER_CALL = "and no further call is allowed (Policy.max_attempts, or the host's limits.schemaRounds)"
