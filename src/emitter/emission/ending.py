"""How an emission ends: with an envelope that the host took, or with a failure, told in OpenWOP's order."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emitter.emission.told import because, said
from emitter.events import CapBreached, NodeFailed, RetryExhausted
from emitter.judge import Verdict
from emitter.remedy import FAULT_CODES, REMEDIES, Code, reason
from emitter.steps import Failure, Outcome, Steps, Tell

NO_DETAILS: Mapping[str, Json] = MappingProxyType({})

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.emission.run import Run
    from emitter.judge import Judgement
    from emitter.limits import Reached
    from emitter.steps import Taken
    from emitter.wire import Fault, Json


def on_answer(run: Run, judgement: Judgement) -> Steps:
    """End with an answer that holds, if the host takes it."""
    return (yield from on_taken(run, run.ask.take(judgement.value, judgement.document)))


def on_taken(run: Run, taken: Taken) -> Steps:
    """End with what the host made of it."""
    for event in taken.events:
        yield Tell(event)
    if taken.failure is None:
        return Outcome(tuple(run.attempts), taken.value, taken.document, envelope=taken.envelope)
    if taken.discarded or any(isinstance(each.event, NodeFailed) for each in taken.events):
        return Outcome(tuple(run.attempts), failure=taken.failure)
    return (yield from _end(run, taken.failure))


def on_fault(run: Run, fault: Fault) -> Steps:
    """End because no answer came."""
    return (yield from _end(run, Failure(Verdict.FAULTED, FAULT_CODES[fault.kind], fault.message, run.cause)))


def on_verdict(run: Run, judgement: Judgement, counted: int) -> Steps:
    """End because no further call may help; ``counted`` answered calls were attempts at the form."""
    row = REMEDIES[judgement.verdict]
    code, told = row.code or Code.INVALID, reason(judgement)
    if code is not Code.REFUSAL and told is not None:
        yield Tell(RetryExhausted(counted, told, said(judgement)))
        # the ceiling is on retries, so the first call is not one of them
        yield Tell(CapBreached("schema", counted - 1, counted))
    why = f"{because(run.ask, run.attempts[-1], judgement)} (calls made: {len(run.attempts)})."
    cause = judgement.raised.error if judgement.raised else run.cause
    details = {"totalAttempts": counted} if code is not Code.REFUSAL else {}
    return (yield from _end(run, Failure(judgement.verdict, code.value, why, cause), details))


def on_limit(run: Run, reached: Reached, judgement: Judgement | None) -> Steps:
    """End because a limit of all calls together forbids the next one; ``judgement`` is that on the last answer."""
    told = reason(judgement) if judgement is not None else None
    if judgement is not None and told is not None:
        yield Tell(RetryExhausted(len(run.earlier), told, said(judgement)))
    yield Tell(CapBreached(reached.kind, reached.limit, reached.observed))
    verdict = Verdict.FAULTED if judgement is None else judgement.verdict
    why = f"{reached} (calls made: {len(run.attempts)})."
    return (yield from _end(run, Failure(verdict, reached.code, why, run.cause)))


def _end(run: Run, failure: Failure, details: Mapping[str, Json] = NO_DETAILS) -> Steps:
    yield Tell(NodeFailed(failure.code, failure.message, len(run.attempts), dict(details)))
    return Outcome(tuple(run.attempts), failure=failure)
