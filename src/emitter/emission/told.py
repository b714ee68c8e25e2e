"""What is told of calls: events, and sentences of ours. Nothing here is a word of the model's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.events import (
    REMARK,
    EnvelopeRefusal,
    EnvelopeTruncated,
    Event,
    Level,
    LogAppended,
    ProviderUsage,
    RecoveryApplied,
    RetryAttempted,
)
from emitter.judge import Judgement, Verdict
from emitter.recover import Path
from emitter.remedy import reason
from emitter.wire import Reply

if TYPE_CHECKING:
    from emitter.schema import Loss, Violation
    from emitter.steps import Ask, Attempt
    from emitter.wire import Answer, Fault, Usage

_SENTENCES = {
    Verdict.OVERFLOWED: "The prompt and its answer do not fit the model's context window",
    Verdict.REFUSED: "The model or a safety system refused",
}
_CUT = (Verdict.TRUNCATED, Verdict.OVERFLOWED)
_SHOWN = 8
"""So many of the keywords that a schema's size cost are named in its event."""


def degraded(losses: tuple[Loss, ...]) -> LogAppended:
    """Say what the schema's size took from the vendor's hold on the model; the names are the schema's own."""
    fields = {"count": len(losses), "first": [f"{each.pointer or '/'}: {each.keyword}" for each in losses[:_SHOWN]]}
    return LogAppended(Level.WARN, "the schema is too large for the vendor, so these are checked here only", fields)


def remarked(remark: Violation) -> LogAppended:
    """Say what the content discipline has to say of an answer that stands."""
    fields = {"pointer": remark.pointer, "rule": remark.rule, "expected": remark.expected}
    return LogAppended(Level.WARN, REMARK, fields)


def resent(fault: Fault) -> LogAppended:
    """Say that a call came to nothing and will be sent again."""
    fields = {"fault": fault.kind.value, "status": fault.status, "code": fault.code}
    return LogAppended(Level.WARN, f"call failed, will be sent again: {fault.message}", fields)


def happened(ask: Ask, answer: Answer, judgement: Judgement) -> list[Event]:
    """Return the events that say what one call was."""
    model = ask.request.model
    events: list[Event] = []
    if answer.usage is not None:
        events.append(_usage(ask.provider, model, answer.usage))
    if isinstance(answer, Reply) and judgement.verdict is Verdict.REFUSED:
        events.append(EnvelopeRefusal(ask.provider, model, answer.refused_as))
    if isinstance(answer, Reply) and judgement.verdict in _CUT:
        events.append(_truncated(ask.provider, model, answer, judgement.verdict))
    found = judgement.recovered
    if found is not None and found.path is not Path.DIRECT:
        events.append(RecoveryApplied(found.path.value, found.byte_offset))
    events.extend(map(remarked, judgement.remarks))
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


def retried(attempt: int, judgement: Judgement) -> RetryAttempted:
    """Say that the answer did not do, and that a further call is about to be made."""
    why = reason(judgement)
    if why is None:
        raise TypeError(f"no reason stands in the table for {judgement.verdict}")
    return RetryAttempted(attempt, why, said(judgement))


def said(judgement: Judgement) -> str | None:
    """Return the validator's output in one line; nothing of the answer is in it."""
    if judgement.verdict is Verdict.MALFORMED and not judgement.violations:
        return "the answer holds no single JSON document"
    return "; ".join(str(each) for each in judgement.violations) or None


def because(ask: Ask, last: Attempt, judgement: Judgement) -> str:
    """Say in words of ours why no further call may help; the vendor's stop word is the only one of others."""
    match judgement.verdict:
        case Verdict.TRUNCATED if last.budget >= ask.ceiling:
            return f"The answer was cut at {last.budget} tokens, the ceiling of policy or model"
        case Verdict.TRUNCATED:
            return (
                f"The answer was cut at {last.budget} tokens, and no further call is allowed "
                "(Policy.max_attempts, or the host's limits.schemaRounds)"
            )
        case Verdict.UNCHECKED if judgement.raised is not None:
            return f"{judgement.raised.by} raised {type(judgement.raised.error).__name__}"
        case Verdict.OVERFLOWED | Verdict.REFUSED:
            return _SENTENCES[judgement.verdict]
        case Verdict.PAUSED | Verdict.UNKNOWN:
            return (
                f"The vendor stopped with {last.stop[:60]!r}, which is no clean end, twice or on the last call allowed"
            )
        case _:
            return f"No answer satisfied the required form: {said(judgement)}"
