"""One emission: ask until the answer holds, is refused, or may not be asked for again.

Rule: this file performs nothing. It is a generator that yields what it wants done and is sent what came of
it; ``emitter.drive`` does it. The order of events is OpenWOP's (RFC 0032, RFC 0033): what happened, then
what follows from it, the terminal ones last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.events import (
    CapBreached,
    EnvelopeRefusal,
    EnvelopeTruncated,
    Event,
    Level,
    LogAppended,
    NodeFailed,
    ProviderUsage,
    RecoveryApplied,
    RetryAttempted,
    RetryExhausted,
)
from emitter.judge import Judgement, Verdict, judge
from emitter.recover import Path
from emitter.remedy import FAULT_CODES, REMEDIES, Code, Policy, Situation, following, reason
from emitter.steps import Ask, Attempt, Call, Failure, Outcome, Step, Steps, Tell, Wait
from emitter.wire import Answer, Fault, Reply, Request, Usage

if TYPE_CHECKING:
    from collections.abc import Generator

    from emitter.schema import Loss

_SENTENCES = {
    Verdict.OVERFLOWED: "The prompt and its answer do not fit the model's context window",
    Verdict.REFUSED: "The model or a safety system refused",
}
_SHOWN = 8
"""So many of the keywords that a schema's size cost are named in its event."""


@dataclass(slots=True)
class _Run:
    """The memory of one emission, private to its generator."""

    ask: Ask
    policy: Policy
    attempts: list[Attempt] = field(default_factory=list[Attempt])

    @property
    def faults(self) -> int:
        return sum(each.verdict is Verdict.FAULTED for each in self.attempts)

    @property
    def earlier(self) -> tuple[Verdict, ...]:
        answered = [each.verdict for each in self.attempts if each.verdict is not Verdict.FAULTED]
        return tuple(answered)


def emission(ask: Ask, policy: Policy) -> Steps:
    """Ask until the answer holds, is refused, or may not be asked for again."""
    run, request = _Run(ask, policy), ask.request
    if ask.contract.compiled.degraded:
        yield Tell(_degraded(ask.contract.compiled.degraded))
    while True:
        earlier = run.earlier
        answer, judgement = yield from _call(run, request)
        if judgement.verdict is Verdict.COMPLETE:
            return Outcome(tuple(run.attempts), judgement.value, judgement.document)
        if isinstance(answer, Fault):
            fault = yield from _back_off(run, answer)
            if fault is not None:
                return (yield from _fail_on_fault(run, fault))
            continue
        again = following(judgement, Situation(request, earlier, ask.ceiling), policy, ask.write)
        if again is None:
            return (yield from _fail(run, judgement))
        yield Tell(_retry(run, judgement))
        request = again


def _degraded(losses: tuple[Loss, ...]) -> LogAppended:
    """Say what the schema's size took from the vendor's hold on the model; the names are the schema's own."""
    fields = {"count": len(losses), "first": [f"{each.pointer or '/'}: {each.keyword}" for each in losses[:_SHOWN]]}
    return LogAppended(Level.WARN, "the schema is too large for the vendor, so these are checked here only", fields)


def _call(run: _Run, request: Request) -> Generator[Step, Answer | None, tuple[Answer, Judgement]]:
    """Send, judge, and tell what happened."""
    number = len(run.attempts) + 1
    yield Tell(LogAppended(Level.DEBUG, "calling", {"attempt": number, "budget": request.budget}))
    answer = yield Call(request, number)
    if answer is None:
        raise TypeError("the driver must send the answer to a Call")
    judgement = judge(answer, run.ask.contract)
    run.attempts.append(_attempt(number, request, answer, judgement))
    for event in _happened(run.ask, answer, judgement):
        yield Tell(event)
    return answer, judgement


def _attempt(number: int, request: Request, answer: Answer, judgement: Judgement) -> Attempt:
    reply = answer if isinstance(answer, Reply) else None
    return Attempt(
        number=number,
        verdict=judgement.verdict,
        budget=request.budget,
        corrected=request.correction is not None,
        stop=reply.raw_stop if reply else "",
        usage=answer.usage,
        violations=judgement.violations,
        fault=answer if isinstance(answer, Fault) else None,
        request_id=reply.request_id if reply else None,
    )


def _happened(ask: Ask, answer: Answer, judgement: Judgement) -> list[Event]:
    """Return the events that say what one call was."""
    model = ask.request.model
    events: list[Event] = []
    if answer.usage is not None:
        events.append(_usage(ask.provider, model, answer.usage))
    if isinstance(answer, Reply) and judgement.verdict is Verdict.REFUSED:
        events.append(EnvelopeRefusal(ask.provider, model, answer.refused_as))
    if isinstance(answer, Reply) and judgement.verdict in {Verdict.TRUNCATED, Verdict.OVERFLOWED}:
        events.append(_truncated(ask.provider, model, answer, judgement.verdict))
    found = judgement.recovered
    if found is not None and found.path is not Path.DIRECT:
        events.append(RecoveryApplied(found.path.value, found.byte_offset))
    return events


def _usage(provider: str, model: str, usage: Usage) -> ProviderUsage:
    return ProviderUsage(provider, model, usage.input, usage.output, usage.cache_read, usage.cache_write)


def _truncated(provider: str, model: str, reply: Reply, verdict: Verdict) -> EnvelopeTruncated:
    return EnvelopeTruncated(
        provider=provider,
        model=model,
        stop_reason="max_tokens" if verdict is Verdict.TRUNCATED else "unknown",
        partial_payload_available=bool(reply.text or reply.arguments),
        output_token_count=reply.usage.output if reply.usage else None,
    )


def _retry(run: _Run, judgement: Judgement) -> RetryAttempted:
    why = reason(judgement)
    if why is None:
        raise TypeError(f"no reason stands in the table for {judgement.verdict}")
    return RetryAttempted(len(run.earlier) + 1, why, _said(judgement))


def _said(judgement: Judgement) -> str | None:
    """Return the validator's output in one line; nothing of the answer is in it."""
    if judgement.verdict is Verdict.MALFORMED:
        return "the answer holds no single JSON document"
    return "; ".join(str(each) for each in judgement.violations) or None


def _back_off(run: _Run, fault: Fault) -> Generator[Step, Answer | None, Fault | None]:
    """Wait if the fault may pass; return the fault that ends the emission otherwise."""
    asked = fault.retry_after or 0.0
    policy = run.policy
    if not fault.kind.transient or run.faults > policy.max_faults or asked > policy.max_retry_after:
        return fault
    fields = {"fault": fault.kind.value, "status": fault.status, "code": fault.code}
    yield Tell(LogAppended(Level.WARN, f"call failed, will be sent again: {fault.message}", fields))
    stopped = yield Wait(run.faults, asked)
    return stopped if isinstance(stopped, Fault) else None


def _fail_on_fault(run: _Run, fault: Fault) -> Steps:
    failure = Failure(Verdict.FAULTED, FAULT_CODES[fault.kind], fault.message)
    return (yield from _end(run, failure))


def _fail(run: _Run, judgement: Judgement) -> Steps:
    """Tell that no further call will be made, and why."""
    row = REMEDIES[judgement.verdict]
    code, told = row.code or Code.INVALID, reason(judgement)
    calls = len(run.attempts)
    answered = len(run.earlier)
    if code is not Code.REFUSAL and told is not None:
        yield Tell(RetryExhausted(answered, told, _said(judgement)))
        yield Tell(CapBreached("schema", answered, answered + 1))
    because = f"{_because(run, judgement)} (calls made: {calls})."
    cause = judgement.raised.error if judgement.raised else None
    failure = Failure(judgement.verdict, code.value, because, cause)
    return (yield from _end(run, failure))


def _because(run: _Run, judgement: Judgement) -> str:
    """Say in words of ours why no further call may help; the vendor's stop word is the only one of others."""
    last, said = run.attempts[-1], _said(judgement)
    match judgement.verdict:
        case Verdict.TRUNCATED if last.budget >= run.ask.ceiling:
            return f"The answer was cut at {last.budget} tokens, the ceiling of policy or model"
        case Verdict.TRUNCATED:
            return f"The answer was cut at {last.budget} tokens, and Policy.max_attempts allows no further call"
        case Verdict.UNCHECKED if judgement.raised is not None:
            return f"{judgement.raised.by} raised {type(judgement.raised.error).__name__}"
        case Verdict.OVERFLOWED | Verdict.REFUSED:
            return _SENTENCES[judgement.verdict]
        case Verdict.PAUSED | Verdict.UNKNOWN:
            return (
                f"The vendor stopped with {last.stop[:60]!r}, which is no clean end, twice or on the last call allowed"
            )
        case _:
            return f"No answer satisfied the required form: {said}"


def _end(run: _Run, failure: Failure) -> Steps:
    yield Tell(NodeFailed(failure.code, failure.message, len(run.attempts)))
    return Outcome(tuple(run.attempts), failure=failure)
