"""The state of a decision in one sentence, for surfaces that show decisions which are closed or half approved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, UnreadableAnswer
from emitter.decisions.resolution import Dialogue, FreeText, ResolutionOutcome, Selected
from emitter.render.safe_text import to_single_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.decisions.ledger_entries import Approval


def format_state(decision: PendingDecision | ResolvedDecision, approvals: Sequence[Approval] = ()) -> str:
    """Return the state of a decision as a sentence, without the principal's words.

    ``approvals`` are the first approvals of a decision that is open.
    """
    if isinstance(decision, ResolvedDecision):
        return _format_answer(decision)
    if decision.expiry_recorded:
        reason = "The agent withdrew this decision" if decision.withdrawn else "This decision expired"
        return f"{reason}. Nobody answered it, and nothing was approved."
    if not decision.four_eyes:
        return "This decision waits for an answer."
    names = (f"{to_single_line(each.principal)} approved option {each.index + 1}." for each in approvals)
    return " ".join(("Two people must approve an option that does something; one can refuse.", *names))


def describe_answer(decision: ResolvedDecision) -> str:
    """Return whose answer counts, and what it was, as a sentence without the principal's words."""
    who = to_single_line(decision.principal) or "Somebody"
    match decision.resolution:
        case Selected(index=index):
            label = to_single_line(decision.pending.moment.question.options[index].label)
            return f"{who} answered: {label.rstrip('.')}."
        case UnreadableAnswer(outcome=outcome):
            return f"{who} {_ACTS[outcome]}."
        case FreeText() | Dialogue():
            return f"{who} {_ACTS[ResolutionOutcome.of_resolution(decision.resolution)]}."
        case _ as never:
            assert_never(never)


def _format_answer(decision: ResolvedDecision) -> str:
    by = f" by {to_single_line(decision.principal)}" if decision.principal else ""
    first = decision.first_approval
    after = "" if first is None else f", after {to_single_line(first.principal)} had approved it"
    return f"This decision was answered{by}{after}: {_format_resolution(decision)}."


def _format_resolution(decision: ResolvedDecision) -> str:
    match decision.resolution:
        case Selected(index=index):
            label = to_single_line(decision.pending.moment.question.options[index].label)
            return f"option {index + 1}, {label}"
        case UnreadableAnswer(outcome=outcome):
            return _OUTCOMES[outcome]
        case FreeText() | Dialogue():
            return _OUTCOMES[ResolutionOutcome.of_resolution(decision.resolution)]
        case _ as never:
            assert_never(never)


_OUTCOMES: Final = {
    ResolutionOutcome.SELECTED: "one of the options",
    ResolutionOutcome.FREE_TEXT: "in other words than the options",
    ResolutionOutcome.DIALOGUE: "the question was sent back, to talk first",
}
_ACTS: Final = {
    ResolutionOutcome.SELECTED: "chose one of the options",
    ResolutionOutcome.FREE_TEXT: "answered in other words than the options",
    ResolutionOutcome.DIALOGUE: "sent the question back, to talk first",
}
