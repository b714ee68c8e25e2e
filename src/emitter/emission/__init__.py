"""One emission: ask until the answer holds, is refused, or may not be asked for again.

Rule: nothing here performs anything. It is a generator that yields what it wants done and is sent what came of
it; ``emitter.drive`` does it. The order of events is OpenWOP's (RFC 0032, RFC 0033): what happened, then
what follows from it, the terminal ones last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.emission.ending import on_answer, on_fault, on_limit, on_taken, on_verdict
from emitter.emission.fallback import applies, two_steps
from emitter.emission.run import Run, affordable, back_off, call
from emitter.emission.told import degraded, retried
from emitter.judge import Judgement, Verdict
from emitter.limits import Reached
from emitter.remedy import Situation, following
from emitter.steps import Ask, Outcome, Steps, Tell
from emitter.wire import Fault

if TYPE_CHECKING:
    from collections.abc import Generator

    from emitter.policy import Policy
    from emitter.steps import Step
    from emitter.wire import Answer, Request


def emission(ask: Ask, policy: Policy) -> Steps:
    """Ask until the answer holds, is refused, or may not be asked for again."""
    known = ask.known()
    if known is None:
        return (yield from _sought(ask, policy))
    return Outcome((), known.value, known.document, envelope=known.envelope)


def _sought(ask: Ask, policy: Policy) -> Steps:
    """Ask a model, since nothing is known."""
    run, request = Run(ask, policy), ask.request
    judgement: Judgement | None = None
    full = ask.full()
    if full is not None:
        return (yield from on_taken(run, full))
    yield from _opened(ask)
    while True:
        earlier, before = run.earlier, run.asked
        asked = yield from _asked(run, request, judgement)
        if isinstance(asked, Outcome):
            return asked
        within, answer, found = asked
        if found.verdict is Verdict.COMPLETE:
            return (yield from on_answer(run, found))
        if isinstance(answer, Fault):
            fault = yield from back_off(run, answer)
            if fault is not None:
                return (yield from on_fault(run, fault))
            continue
        judgement = found
        again = following(judgement, Situation(within, earlier, ask.ceiling, before), policy, ask.write)
        if again is None:
            return (yield from _without(run, answer, judgement))
        request = again


def _opened(ask: Ask) -> Generator[Step, Answer | None]:
    """Tell what is to be known before the first call."""
    for event in ask.opening:
        yield Tell(event)
    if ask.contract.compiled.degraded:
        yield Tell(degraded(ask.contract.compiled.degraded))


def _asked(
    run: Run, request: Request, judgement: Judgement | None
) -> Generator[Step, Answer | None, tuple[Request, Answer, Judgement] | Outcome]:
    """Call once, within the limits; ``judgement`` is that on the answer before, which did not do."""
    within = affordable(run, request)
    if isinstance(within, Reached):
        return (yield from on_limit(run, within, judgement))
    if judgement is not None and run.attempts[-1].verdict is not Verdict.FAULTED:
        yield Tell(retried(len(run.earlier) + 1, judgement))
    answer, found = yield from call(run, within)
    return within, answer, found


def _without(run: Run, answer: Answer, judgement: Judgement) -> Steps:
    """Go on where no further attempt at the form may help: in two steps, where that is allowed, or not at all."""
    fallback = run.ask.fallback
    if fallback is not None and applies(run, judgement):
        return (yield from two_steps(run, answer, judgement, fallback))
    return (yield from on_verdict(run, judgement, len(run.earlier)))
