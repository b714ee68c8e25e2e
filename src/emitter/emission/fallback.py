"""Natural language to form: the answer first in plain words, then these put into the form.

Only after the attempts are used up on answers that broke the form, only where the caller allows it, and with a
budget of its own: two calls, or one where the last answer was plain words already. Source: OpenWOP RFC 0032,
section F; Tam et al., arXiv 2408.02442.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from emitter.emission.ending import on_answer, on_fault, on_limit, on_verdict
from emitter.emission.run import affordable, back_off, call
from emitter.events import NlToFormatEngaged
from emitter.judge import BY_STOP, RETRACTED, Judgement, Verdict
from emitter.limits import Reached
from emitter.recover import Stance, stance, without_blocks
from emitter.steps import Outcome, Tell
from emitter.wire import Fault, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from emitter.emission.run import Run
    from emitter.judge import Contract
    from emitter.steps import Fallback, Step, Steps
    from emitter.wire import Answer, Request

_DOCUMENT = re.compile(r"\s*(?:[{\[]|```)")
_CURABLE = frozenset({Verdict.VIOLATED, Verdict.MALFORMED})


def applies(run: Run, judgement: Judgement) -> bool:
    """Tell whether the emission may seek the form in two steps."""
    curable = judgement.verdict in _CURABLE and RETRACTED not in judgement.violations
    return run.policy.nl_to_format and run.ask.fallback is not None and curable


def two_steps(run: Run, last: Answer, judgement: Judgement, fallback: Fallback) -> Steps:
    """Seek the form in two steps; an answer that is plain words already is the first of them."""
    counted, request = len(run.earlier), run.ask.request
    words = _words(last, judgement)
    yield Tell(NlToFormatEngaged(run.ask.kind, 2 if words is None else 1))
    if words is None:
        described = yield from _answered(run, fallback.describe(request), _by_stop)
        if isinstance(described, Outcome):
            return described
        answer, judged = described
        if judged.verdict is not Verdict.COMPLETE or not isinstance(answer, Reply):
            return (yield from on_verdict(run, judged, counted))
        words = without_blocks(answer.text)
    formed = yield from _answered(run, fallback.convert(request, words), None)
    if isinstance(formed, Outcome):
        return formed
    _, judged = formed
    if judged.verdict is Verdict.COMPLETE:
        return (yield from on_answer(run, judged))
    return (yield from on_verdict(run, judged, counted))


def _words(answer: Answer, judgement: Judgement) -> str | None:
    """Return an answer that is plain words; None for a broken document, and for words that refuse."""
    if judgement.verdict is not Verdict.MALFORMED or not isinstance(answer, Reply):
        return None
    text = without_blocks(answer.text)
    fit = text.strip() and not answer.arguments and not _DOCUMENT.match(text) and stance(text) is not Stance.RETRACTED
    return text if fit else None


def _by_stop(answer: Answer, contract: Contract) -> Judgement:  # noqa: ARG001  words have no form to hold to
    if isinstance(answer, Fault):
        return Judgement(Verdict.FAULTED)
    verdict = BY_STOP[answer.stop]
    words = without_blocks(answer.text)
    unfit = verdict is Verdict.COMPLETE and (not words.strip() or stance(words) is Stance.RETRACTED)
    return Judgement(Verdict.MALFORMED if unfit else verdict)


def _answered(
    run: Run, request: Request, weigh: Callable[[Answer, Contract], Judgement] | None
) -> Generator[Step, Answer | None, tuple[Answer, Judgement] | Outcome]:
    """Call until an answer comes, or return what the emission ends in."""
    while True:
        within = affordable(run, request)
        if isinstance(within, Reached):
            return (yield from on_limit(run, within, None))
        answer, judgement = yield from call(run, within, weigh)
        if not isinstance(answer, Fault):
            return answer, judgement
        fault = yield from back_off(run, answer)
        if fault is not None:
            return (yield from on_fault(run, fault))
