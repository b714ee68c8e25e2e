"""Run one emission as a generator of effects.

The generator performs no I/O: it yields effects, and ``emitter.client.execution`` performs them. It retries until an
answer is accepted, refused or out of attempts, within the token and cost limits of the policy. If the policy allows,
it then asks for prose and converts the prose to the schema. Events follow OpenWOP's order (RFC 0032, RFC 0033):
an event comes before its consequences, terminal events last.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from emitter import recover
from emitter.attempts import Attempt, Verdict, total_usage
from emitter.core.effects import (
    AcceptedAnswer,
    Effect,
    EffectGenerator,
    EffectResult,
    EmissionOutcome,
    EmissionRequest,
    HostRefusal,
    Recall,
    Reserve,
    Restart,
    Sleep,
    Submit,
)
from emitter.core.failures import (
    end_with_failure,
    end_with_fault,
    end_with_limit,
    end_with_verdict,
    retry_event,
)
from emitter.core.state import (
    EmissionState,
    LimitBreach,
    Spending,
    cap_budget,
    led_to_document_request,
    lower_budget,
    lowered_event,
    refused_cut,
    stated_limits,
)
from emitter.core.verdicts import (
    RETRACTED,
    VERDICT_BY_STOP,
    ClassifiedAnswer,
    FallbackReason,
    RetryState,
    classify,
    find_fallback_reason,
    is_doubtful,
    next_request,
)
from emitter.events import (
    CALLING,
    CHECK_FINDING,
    FALLBACK_NOTICE,
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
)
from emitter.findings import as_warnings
from emitter.messages import (
    CallResult,
    Fault,
    FaultKind,
    ModelRequest,
    ModelResponse,
    with_output_budget,
)
from emitter.policy import CeilingOwner
from emitter.recover.answer import RecoveryPath

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from emitter.core.verdicts import DocumentContract
    from emitter.findings import Finding
    from emitter.policy import Policy
    from emitter.redaction.secret_registry import Secrets
    from emitter.schema import Loss


def run_emission(emission_request: EmissionRequest, policy: Policy) -> EffectGenerator:
    """Run an emission until an answer is accepted, refused or out of attempts."""
    state, request = EmissionState(emission_request, policy), emission_request
    may_end_early = request.has_host or request.obstacle is not None
    if may_end_early or request.initial_events or request.contract.compiled.degraded:
        return _begin(state)
    return _run_attempts(state)


def _begin(state: EmissionState) -> EffectGenerator:
    """Ask the host, report what is known before the first call, and run the attempts."""
    request = state.emission_request
    if request.has_host or request.obstacle is not None:
        early = yield from _end_before_call(state)
        if early is not None:
            return early
    yield from request.initial_events
    if request.contract.compiled.degraded:
        yield degraded_event(request.contract.compiled.degraded)
    return (yield from _run_attempts(state))


def _end_before_call(state: EmissionState) -> Generator[Effect, EffectResult, EmissionOutcome | None]:
    """End with an answer that was accepted before, or because no model can be asked or no answer can be accepted."""
    request = state.emission_request
    accepted = (yield Recall()) if request.has_host else None
    if isinstance(accepted, AcceptedAnswer):  # it needs no model
        return EmissionOutcome((), accepted.value, accepted.document, envelope=accepted.envelope)
    if request.obstacle is not None:
        yield from request.obstacle.events
        return EmissionOutcome(failure=request.obstacle.failure)
    refusal = yield Reserve()
    return (yield from _end_with_refusal(state, refusal)) if isinstance(refusal, HostRefusal) else None


def _run_attempts(state: EmissionState) -> EffectGenerator:
    request = state.emission_request.request
    classification: ClassifiedAnswer | None = None
    while True:
        fitted = fit_to_limits(state, request)
        if isinstance(fitted, LimitBreach):
            return (yield from _end_at_limit(state, fitted, classification))
        if state.attempts:
            yield from _report_retry(state, classification)
        send_request = send if state.emission_request.judge is None else _send_and_judge
        answer, current = yield from send_request(state, fitted, can_flag=state.flagged is None)
        accepted = _accepted_answer(state, answer, current)
        if accepted is not None:
            return (yield from end_with_answer(state, accepted))
        if isinstance(answer, ModelResponse):
            classification = current
        following = yield from _choose_next(state, (answer, current), request, fitted)
        if isinstance(following, EmissionOutcome):
            return following
        request = following


def _choose_next(
    state: EmissionState, result: tuple[CallResult, ClassifiedAnswer], request: ModelRequest, fitted: ModelRequest
) -> _NextRequest:
    """Return the request that follows a call without an accepted answer, or the outcome of the emission.

    ``fitted`` is the ``request`` as it was sent.
    """
    answer, classification = result
    lowered = yield from _lower_budget(state, answer, fitted)
    if lowered is not None:
        return lowered
    if refused_cut(state) is not None:
        return (yield from _request_after_refused_cut(state, answer, fitted))
    if isinstance(answer, Fault):
        return (yield from _request_after_fault(state, answer, request))
    return (yield from _request_after_answer(state, answer, classification, fitted))


def _send_and_judge(
    state: EmissionState, request: ModelRequest, *, can_flag: bool
) -> Generator[Effect, EffectResult, tuple[CallResult, ClassifiedAnswer]]:
    """Send one request and classify the answer. A valid answer is also passed to the judge."""
    answer, classification = yield from send(state, request, can_flag=can_flag)
    judge = state.emission_request.judge
    if judge is None or classification.verdict not in _VALID_VERDICTS or is_doubtful(classification):
        return answer, classification
    from emitter.core.judging import judge_answer  # noqa: PLC0415  few emissions have a judge

    return (yield from judge_answer(judge, state, answer, classification, run_emission))


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
    """Return the answer to accept, if any.

    If the correction of a flagged answer fails, the flagged answer is accepted, so that findings alone never end in an
    error. It is not accepted if the caller cancelled the emission, or if the caller's own code raised. An answer that
    was flagged for the words around it is accepted only if a limit leaves no room for the correction: a call that fails
    is sent again, and another answer replaces it.
    """
    if classification.verdict is Verdict.COMPLETE:
        return classification
    if classification.verdict is Verdict.FLAGGED:
        state.flagged = classification
        return None
    if state.flagged is not None and is_doubtful(state.flagged):
        state.flagged = None if isinstance(answer, ModelResponse) else state.flagged
        return None
    cancelled = isinstance(answer, Fault) and answer.kind is FaultKind.CANCELLED
    return None if cancelled or classification.verdict is Verdict.UNCHECKED else state.flagged


_NextRequest: TypeAlias = "Generator[Effect, EffectResult, ModelRequest | EmissionOutcome]"
"""Effects that return the request to send next, or the outcome of the emission."""


def _report_retry(
    state: EmissionState, classification: ClassifiedAnswer | None
) -> Generator[Effect, EffectResult, None]:
    """Report a change of model and the rejection of the last answer."""
    yield from state.take_notices()
    if classification is not None and state.answer_attempts[-1].verdict in _RETRIED_VERDICTS:
        yield retry_event(len(state.answered_verdicts) + 1, classification)


def _lower_budget(
    state: EmissionState, answer: CallResult, request: ModelRequest
) -> Generator[Effect, EffectResult, ModelRequest | None]:
    """Return the request with the output budget that the vendor names in its refusal, if another call can help."""
    limits = stated_limits(answer)
    lowered = None if limits is None else lower_budget(state, answer, request)
    if limits is None or lowered is None or not _is_call_left(state, answer):
        return None
    budget, first = lowered.max_output_tokens, state.emission_request.request
    state.emission_request = replace(
        state.emission_request,
        request=with_output_budget(first, budget),
        max_budget=budget,
        ceiling=CeilingOwner.VENDOR,
    )
    yield lowered_event(request.max_output_tokens, budget, limits, Level.WARN)
    return lowered


def _is_call_left(state: EmissionState, answer: CallResult) -> bool:
    """Return whether the same model may be called again, so that a call is left for each later model."""
    verdict = state.model_attempts[-1].verdict
    reserved = len(state.later_models(find_fallback_reason(answer, verdict)))
    return len(state.answered_verdicts) + reserved < state.policy.max_attempts


def _lower_effort(
    state: EmissionState, answer: CallResult, request: ModelRequest
) -> Generator[Effect, EffectResult, ModelRequest | None]:
    """Return the request with less effort after a cut whose budget cannot be raised, if another call can help."""
    if not _is_call_left(state, answer):
        return None
    from emitter.core.effort import lower_effort  # noqa: PLC0415  few answers are cut at the largest budget

    return (yield from lower_effort(state, refused_cut(state) or state.model_attempts[-1], request))


def _request_after_refused_cut(state: EmissionState, answer: CallResult, request: ModelRequest) -> _NextRequest:
    """Return the request after a cut whose larger budget was refused: with less effort, or to the next model."""
    lowered = (yield from _lower_effort(state, answer, request)) if state.policy.lower_effort else None
    if lowered is not None:
        budget = lowered.max_output_tokens
        state.emission_request = replace(state.emission_request, max_budget=budget, ceiling=CeilingOwner.VENDOR)
        return lowered
    is_call_left = len(state.answered_verdicts) < state.policy.max_attempts
    if is_call_left and switch_model(state, FallbackReason.TRUNCATED):
        return state.emission_request.request
    return (yield from end_with_verdict(state, ClassifiedAnswer(Verdict.TRUNCATED), len(state.answered_verdicts)))


def _request_after_fault(state: EmissionState, fault: Fault, request: ModelRequest) -> _NextRequest:
    """Return the request in another form, the request to the next model, or the same request after a wait."""
    if fault.kind.is_about_form and _is_call_left(state, fault):
        from emitter.core.adaptation import adapt_request  # noqa: PLC0415  few servers refuse a form

        adapted = yield from adapt_request(state, fault, request)
        if adapted is not None:
            return adapted
    if switch_model(state, find_fallback_reason(fault, Verdict.FAULTED)):
        return state.emission_request.request
    terminal = yield from back_off(state, fault)
    return request if terminal is None else (yield from end_with_fault(state, terminal))


def _request_after_answer(
    state: EmissionState, answer: ModelResponse, classification: ClassifiedAnswer, request: ModelRequest
) -> _NextRequest:
    """Return the request that remedies a rejected answer, or the request to the next model."""
    if not request.output.is_described:
        from emitter.core.adaptation import describe_schema, is_schema_ignored  # noqa: PLC0415  few servers ignore it

        if is_schema_ignored(answer, classification, request.output):
            request = yield from describe_schema(state, request)
    reason = find_fallback_reason(answer, classification.verdict)
    retry_state = _retry_state(state, request, reason)
    retry = next_request(classification, retry_state, state.policy, state.emission_request.writer)
    if retry is None and state.policy.lower_effort and classification.verdict is Verdict.TRUNCATED:
        retry = yield from _lower_effort(state, answer, request)
    if retry is not None:
        return retry
    if len(state.answered_verdicts) < state.policy.max_attempts and switch_model(state, reason):
        return state.emission_request.request
    return (yield from _end_without_answer(state, answer, classification))


_RETRIED_VERDICTS = frozenset(Verdict) - {Verdict.FAULTED, Verdict.REFUSED}
"""Verdicts after which another call is a retry in OpenWOP's sense. After a refusal, only another model is asked."""


def _retry_state(state: EmissionState, request: ModelRequest, reason: FallbackReason | None) -> RetryState:
    """Return the state in which the remedy is chosen, which leaves out the last attempt."""
    earlier = state.model_attempts[:-1]
    verdicts = tuple(attempt.verdict for attempt in earlier if attempt.is_counted)
    return RetryState(
        request=request,
        previous_verdicts=verdicts,
        max_budget=state.emission_request.largest_budget(request.max_output_tokens),
        document_requested=any(map(led_to_document_request, earlier)),
        other_calls=len(state.answered_verdicts) - 1 - len(verdicts) + len(state.later_models(reason)),
    )


def switch_model(state: EmissionState, reason: FallbackReason | None) -> bool:
    """Switch to the next model that may be asked after this failure. Return False if there is none."""
    later = state.later_models(reason)
    if reason is None or not later:
        return False
    failed, last = state.emission_request, refused_cut(state) or state.model_attempts[-1]
    index = later[0]
    used = state.models.alternatives[index]
    if last.verdict is Verdict.TRUNCATED:
        budget = math.ceil(last.budget * state.policy.truncation_multiplier)
        budget = min(max(budget, used.request.max_output_tokens), used.largest_budget(last.budget))
        used = replace(used, request=with_output_budget(used.request, budget))
    state.first = state.models
    state.emission_request, state.position, state.first_attempt = used, index + 1, len(state.attempts)
    failure = {} if last.fault is None else {"fault": last.fault.kind.value, "status": last.fault.status}
    state.notices = (
        LogAppended(Level.WARN, FALLBACK_NOTICE, {"reason": reason.value, **failure}),
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


def send(
    state: EmissionState,
    request: ModelRequest,
    classify_answer: Callable[[CallResult, DocumentContract], ClassifiedAnswer] | None = None,
    *,
    can_flag: bool = False,
) -> Generator[Effect, EffectResult, tuple[CallResult, ClassifiedAnswer]]:
    """Send one request and classify the answer, by default with ``classify``."""
    number = len(state.attempts) + 1
    provider = state.emission_request.provider
    fields = {"attempt": number, "budget": request.max_output_tokens, "provider": provider, "model": request.model}
    yield LogAppended(Level.DEBUG, CALLING, fields)
    if state.attempts:
        yield Restart(number, state.answer_attempts[-1].verdict)
    answer = yield request
    if not isinstance(answer, ModelResponse | Fault):
        raise TypeError("The driver must send an answer to a request.")
    report = answer.report
    if report is not None or isinstance(answer, ModelResponse):
        state.cause = report.cause if report is not None else None
    if report is not None:  # the traceback of an exception on the trace would keep the whole call alive
        answer = replace(answer, report=replace(report, cause=None))
    contract = state.emission_request.contract
    can_doubt = state.policy.max_attempts > 1 if number == 1 else _can_doubt(state)
    classification = (
        classify(answer, contract, request, can_doubt=can_doubt, can_flag=can_flag)
        if classify_answer is None
        else classify_answer(answer, contract)
    )
    if state.emission_request.keep_response and isinstance(answer, ModelResponse):
        classification = replace(classification, answer=_redact_response(answer, contract.secrets))
    if isinstance(answer, ModelResponse) and answer.is_grounded:
        classification = replace(classification, is_grounded=True)
    state.attempts.append(_make_attempt(state, request, answer, classification))
    yield from call_events(state.emission_request, answer, classification)
    return answer, classification


def _can_doubt(state: EmissionState) -> bool:
    """Return whether the model may be asked once more, for the document alone."""
    return len(state.answered_verdicts) + 1 < state.policy.max_attempts and not state.document_requested


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
        mode=request.output.mode,
        lowered_effort=request.lowered_effort,
        response=classification.answer,
    )


def back_off(state: EmissionState, fault: Fault) -> Generator[Effect, EffectResult, Fault | None]:
    """Wait if the fault is transient. Otherwise return the fault that ends the emission."""
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
    """Lower the request's output budget to the limits, or return the limit that leaves too little for a call."""
    if state.policy.max_total_tokens is None and state.policy.max_cost is None:
        return request
    attempts = state.model_attempts
    # The vendor's own count is better than an estimate, so the largest count of an earlier call is used.
    input_counts = [attempt.usage.input for attempt in attempts if attempt.usage is not None]
    writer = state.emission_request.writer
    input_tokens = max(input_counts) if input_counts else writer.count_tokens(request)
    expected = replace(writer.expect_input(request, input_tokens), output=state.emission_request.min_output_tokens)
    spent = Spending(total_usage(tuple(state.attempts)), state.spent_cost())
    policy = replace(state.policy, prices=state.emission_request.prices or state.policy.prices)
    fitted = cap_budget(request, spent, expected, policy)
    last = attempts[-1] if attempts else None
    if (
        isinstance(fitted, ModelRequest)
        and last
        and last.verdict is Verdict.TRUNCATED
        and last.lowered_effort == fitted.lowered_effort
        and fitted.max_output_tokens <= last.budget
    ):
        # The same budget would be cut off again, so the limit must allow at least one token more.
        return cap_budget(request, spent, replace(expected, output=last.budget + 1), policy)
    return fitted


def end_with_answer(state: EmissionState, classification: ClassifiedAnswer) -> EffectGenerator:
    """End with a valid answer, if the host accepts it."""
    for finding in classification.findings:
        yield finding_event(finding)
    route = state.emission_request.request.route
    result = yield Submit(classification.value, classification.document, route, classification.is_grounded)
    if isinstance(result, HostRefusal):
        return (yield from _end_with_refusal(state, result))
    if not isinstance(result, AcceptedAnswer):
        raise TypeError("The driver must send the host's answer to a submission.")
    yield from result.events
    findings = as_warnings(classification.findings) if classification.findings else ()
    return EmissionOutcome(
        tuple(state.attempts),
        result.value,
        result.document,
        envelope=result.envelope,
        findings=findings,
        response=classification.answer,
    )


def _redact_response(response: ModelResponse, secrets: Secrets) -> ModelResponse:
    """Return the answer without registered secrets."""
    text, arguments = secrets.redact_text(response.text).value, secrets.redact_json(list(response.arguments)).value
    return replace(response, text=text, arguments=tuple(arguments))


def _end_with_refusal(state: EmissionState, refusal: HostRefusal) -> EffectGenerator:
    """End with the host's refusal."""
    yield from refusal.events
    is_reported = any(isinstance(recorded.event, NodeFailed) for recorded in refusal.events)
    if not (refusal.was_discarded or is_reported):
        return (yield from end_with_failure(state, refusal.failure))
    return EmissionOutcome(tuple(state.attempts), failure=refusal.failure)


_DOCUMENT_START = re.compile(r"\s*(?:[{\[]|```)")
_CURABLE_VERDICTS = frozenset({Verdict.VIOLATED, Verdict.MALFORMED})


def can_fall_back(state: EmissionState, classification: ClassifiedAnswer) -> bool:
    """Return whether the two-step fallback may be used."""
    curable = classification.verdict in _CURABLE_VERDICTS and RETRACTED not in classification.violations
    return state.policy.nl_to_format and curable


def emit_in_two_steps(
    state: EmissionState, last_answer: CallResult, classification: ClassifiedAnswer
) -> EffectGenerator:
    """Ask for prose and convert it to the schema. A last answer in prose serves as the first step."""
    request, writer = state.emission_request.request, state.emission_request.writer
    counted = len(state.answered_verdicts)
    prose = _prose_text(last_answer, classification)
    yield NlToFormatEngaged(state.emission_request.kind, 2 if prose is None else 1)
    if prose is None:
        described = yield from _send_until_answered(state, writer.describe(request), _classify_prose_answer)
        if isinstance(described, EmissionOutcome):
            return described
        answer, classification = described
        if classification.verdict is not Verdict.COMPLETE or not isinstance(answer, ModelResponse):
            return (yield from end_with_verdict(state, classification, counted))
        prose = recover.strip_thinking(answer.text)
    converted = yield from _send_until_answered(state, writer.convert(request, prose), None)
    if isinstance(converted, EmissionOutcome):
        return converted
    _, current = converted
    if current.verdict is Verdict.COMPLETE:
        is_grounded = current.is_grounded or classification.is_grounded
        return (yield from end_with_answer(state, replace(current, is_grounded=is_grounded)))
    return (yield from end_with_verdict(state, current, counted))


def _prose_text(answer: CallResult, classification: ClassifiedAnswer) -> str | None:
    """Return the text of an answer in prose, or None for a broken document or a refusal."""
    if classification.verdict is not Verdict.MALFORMED or not isinstance(answer, ModelResponse):
        return None
    text = recover.strip_thinking(answer.text)
    is_prose = (
        text.strip()
        and not answer.arguments
        and not _DOCUMENT_START.match(text)
        and recover.classify_prose(text) is not recover.Stance.RETRACTED
    )
    return text if is_prose else None


def _classify_prose_answer(answer: CallResult, contract: DocumentContract) -> ClassifiedAnswer:  # noqa: ARG001  prose has no schema
    if isinstance(answer, Fault):
        return ClassifiedAnswer(Verdict.FAULTED)
    verdict = VERDICT_BY_STOP[answer.stop]
    prose = recover.strip_thinking(answer.text)
    is_unusable = verdict is Verdict.COMPLETE and (
        not prose.strip() or recover.classify_prose(prose) is recover.Stance.RETRACTED
    )
    return ClassifiedAnswer(Verdict.MALFORMED if is_unusable else verdict)


def _send_until_answered(
    state: EmissionState,
    request: ModelRequest,
    classify_answer: Callable[[CallResult, DocumentContract], ClassifiedAnswer] | None,
) -> Generator[Effect, EffectResult, tuple[CallResult, ClassifiedAnswer] | EmissionOutcome]:
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


_TRUNCATED_VERDICTS = (Verdict.TRUNCATED, Verdict.LOOPED, Verdict.OVERFLOWED)
_MAX_LISTED_LOSSES = 8
"""The maximum number of keywords in the event."""


def degraded_event(losses: tuple[Loss, ...]) -> LogAppended:
    """Return the event for rules that exceed the vendor's limits and are checked only locally."""
    fields = {
        "count": len(losses),
        "first": [f"{loss.pointer or '/'}: {loss.keyword}" for loss in losses[:_MAX_LISTED_LOSSES]],
    }
    return LogAppended(Level.WARN, "the schema is too large for the vendor, so these are checked here only", fields)


def finding_event(finding: Finding) -> LogAppended:
    """Return the event for a finding about an accepted answer."""
    fields = {"pointer": finding.pointer, "rule": finding.rule, "expected": finding.message}
    return LogAppended(Level.WARN, CHECK_FINDING, fields)


def resend_event(fault: Fault) -> LogAppended:
    """Return the event for a failed call that will be sent again."""
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
        stop_reason="unknown" if verdict is Verdict.OVERFLOWED else "max_tokens",
        partial_payload_available=bool(reply.text or reply.arguments),
        output_token_count=reply.usage.output if reply.usage else None,
    )
