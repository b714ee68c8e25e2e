"""A binding moment as plain text: all eight slots, the recommended option marked in words.

Source: draft-morrison-binding-moment-envelope-00, section 8.1. The model's text stands on lines of ours and
cannot start one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.kinds import ClarificationRequest, Deliberation, ErrorReport
from emitter.render.line import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.kinds import BindingMoment, Question


def binding_moment(moment: BindingMoment) -> str:
    """Return the decision as text."""
    return "\n".join(_moment_lines(moment))


def withheld(reason: Deliberation | ClarificationRequest | ErrorReport) -> str:
    """Return the agent's veto as text."""
    return "\n".join(_withheld_lines(reason))


def _moment_lines(moment: BindingMoment) -> Iterator[str]:
    if moment.meta is not None and moment.meta.calibration_note is not None:
        yield from ("", f"(A note first: {line(moment.meta.calibration_note)})")
    yield from ("", line(moment.synopsis), "", "What it rests on")
    yield from (f"  - {line(each)}" for each in moment.findings)
    yield from ("", "What to do")
    yield from (f"  - {line(each)}" for each in moment.recommendations)
    yield from ("", line(moment.offer), "", line(moment.question.stem))
    yield from _option_lines(moment.question)


def _option_lines(question: Question) -> Iterator[str]:
    for index, each in enumerate(question.options):
        mark = "  (recommended)" if index == question.recommended_idx else ""
        yield f"  {index + 1}. {line(each.label)}{mark}"
        yield f"     {line(each.reasoning)}"
    if question.hatches.free_text:
        yield "  a. Answer in your own words"
    if question.hatches.dialogue:
        yield "  d. This is the wrong question: talk first"


def _withheld_lines(reason: Deliberation | ClarificationRequest | ErrorReport) -> Iterator[str]:
    match reason:
        case Deliberation(state=state, missing=missing, permission=permission):
            yield from ("", "Not yet: the agent holds no position it can commit to.", "", line(state))
            yield from (f"  - missing: {line(each)}" for each in missing)
            yield from ("", line(permission))
        case ClarificationRequest(questions=questions):
            yield from ("", "The agent has questions first.")
            yield from (f"  - {line(each.question)}" for each in questions)
        case ErrorReport(code=code, message=message):
            yield from ("", f"The agent cannot do this ({line(code)}): {line(message)}")
