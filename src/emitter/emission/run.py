"""The memory of one emission, and one call of it: send, judge, and tell what happened."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emitter.emission.told import happened, resent
from emitter.events import CALLING, Level, LogAppended
from emitter.judge import DOUBTED, RETRACTED, Judgement, Verdict, judge
from emitter.limits import Reached, held, limited
from emitter.steps import Ask, Attempt, Call, Step, Tell, Wait, total_usage
from emitter.wire import Answer, Fault, Reply, Request, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from emitter.judge import Contract
    from emitter.policy import Policy


@dataclass(slots=True)
class Run:
    """What one emission has done so far."""

    ask: Ask
    policy: Policy
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    cause: Exception | None = None
    """What the vendor's SDK raised on the last call; a deadline that passes afterwards does not hide it."""

    @property
    def faults(self) -> int:
        """How many calls came to nothing."""
        return sum(each.verdict is Verdict.FAULTED for each in self.attempts)

    @property
    def earlier(self) -> tuple[Verdict, ...]:
        """The verdicts on the calls that were answered."""
        return tuple(each.verdict for each in self.attempts if each.verdict is not Verdict.FAULTED)

    @property
    def asked(self) -> bool:
        """Whether the model was asked for its document alone."""
        return any(not {DOUBTED, RETRACTED}.isdisjoint(each.violations) for each in self.attempts)


def call(
    run: Run, request: Request, weigh: Callable[[Answer, Contract], Judgement] | None = None
) -> Generator[Step, Answer | None, tuple[Answer, Judgement]]:
    """Send once; ``weigh`` says what the answer is worth, the judge where there is none."""
    number = len(run.attempts) + 1
    yield Tell(LogAppended(Level.DEBUG, CALLING, {"attempt": number, "budget": request.budget}))
    answer = yield Call(request, number, run.attempts[-1].verdict if run.attempts else None)
    if answer is None:
        raise TypeError("the driver must send the answer to a Call")
    answer = run.ask.hush(answer)
    report = answer.report
    if report is not None or isinstance(answer, Reply):
        run.cause = report.cause if report is not None else None
    if report is not None:  # what is kept of a call holds no exception
        answer = replace(answer, report=replace(report, cause=None))
    contract = run.ask.contract
    judgement = judge(answer, contract, asked=run.asked) if weigh is None else weigh(answer, contract)
    run.attempts.append(_attempt(number, request, answer, judgement))
    for event in happened(run.ask, answer, judgement):
        yield Tell(event)
    return answer, judgement


def _attempt(number: int, request: Request, answer: Answer, judgement: Judgement) -> Attempt:
    reply = answer if isinstance(answer, Reply) else None
    fault = None if isinstance(answer, Reply) else replace(answer, report=None)
    return Attempt(
        number=number,
        verdict=judgement.verdict,
        budget=request.budget,
        corrected=request.correction is not None,
        stop=reply.raw_stop if reply else "",
        usage=answer.usage,
        violations=judgement.violations,
        fault=fault,
        request_id=answer.request_id,
        report=answer.report,
    )


def back_off(run: Run, fault: Fault) -> Generator[Step, Answer | None, Fault | None]:
    """Wait if the fault may pass; return the fault that ends the emission otherwise."""
    asked = fault.retry_after or 0.0
    policy = run.policy
    if not fault.kind.transient or run.faults > policy.max_faults:
        return fault
    if asked > policy.max_retry_after:
        longer = f"It asks for a wait of {asked:g} s, and Policy.max_retry_after is {policy.max_retry_after:g} s."
        return replace(fault, message=f"{fault.message} {longer}")
    yield Tell(resent(fault))
    stopped = yield Wait(run.faults, asked)
    return stopped if isinstance(stopped, Fault) else None


def affordable(run: Run, request: Request) -> Request | Reached:
    """Return the request with the budget that the limits of all calls leave it, or the limit that leaves too little."""
    if not limited(run.policy):
        return request
    known = [each.usage.input for each in run.attempts if each.usage is not None]
    expected = Usage(input=max(known) if known else run.ask.count(request), output=run.ask.least)
    found = held(request, total_usage(tuple(run.attempts)), expected, run.policy)
    last = run.attempts[-1] if run.attempts else None
    if isinstance(found, Request) and last and last.verdict is Verdict.TRUNCATED and found.budget <= last.budget:
        return held(request, total_usage(tuple(run.attempts)), Usage(expected.input, last.budget + 1), run.policy)
    return found
