"""What came of a decision, in one sentence for the person who answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from emitter.decide import Dialogue, FreeText, Selected, Unanswered, Unresolved
from emitter.render.layout import layout
from emitter.render.line import line

if TYPE_CHECKING:
    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment

_NOBODY = {
    Unanswered.TIMEOUT: "Nobody answered in time",
    Unanswered.CANCELLED: "You left without an answer",
    Unanswered.DECLINED: "You declined to answer",
    Unanswered.DROPPED: "Nobody could answer here",
}


def sentence(moment: BindingMoment, resolution: Resolution | Unresolved) -> str:
    """Return what was chosen, said or left open, on one line."""
    match resolution:
        case Selected(index=index):
            chosen = layout(moment).choices[index]
            return f"You chose {chosen.key}: {chosen.label}"
        case FreeText(answer=answer):
            return f"You answered: {line(answer)}"
        case Dialogue(objection=objection):
            said = line(objection)
            return f"You sent the question back: {said}" if said else "You sent the question back."
        case Unresolved(reason=reason):
            return f"{_NOBODY[reason]}; nothing is decided."
        case _:
            assert_never(resolution)


def open_for(seconds: float) -> str:
    """Return how long the decision is open, and what silence is."""
    return f"Open for {seconds:g} seconds; after that, nobody has decided."
