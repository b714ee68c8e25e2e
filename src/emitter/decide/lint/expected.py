"""What the draft expects where a rule is broken: sentences of ours, the same for every envelope."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emitter.decide.lint.finding import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECTIONS = {
    "synopsis": "5.1",
    "findings": "5.2",
    "recommendations": "5.3",
    "offer": "5.4",
    "question/stem": "5.5",
    "question/options": "5.6",
    "meta": "5.9",
}

EXPECTED: Mapping[Rule, str] = MappingProxyType(
    {
        Rule.SLOT_BLANK: "Every required text says something that can be read.",
        Rule.SYNOPSIS_DEFERS: "The synopsis states the position as settled; if none is held, no decision is asked for.",
        Rule.SYNOPSIS_SENTENCE: "The synopsis is exactly one sentence.",
        Rule.SYNOPSIS_OPEN: "The synopsis says what would be done, not what there is to decide.",
        Rule.SYNOPSIS_MODAL: "The main clause of the synopsis states the position without doubting it.",
        Rule.FINDINGS_COUNT: "There are three to six findings.",
        Rule.FINDING_RESTATES: "Each finding adds an observation that the synopsis does not carry.",
        Rule.FINDING_REPEATS: "Each finding is told once.",
        Rule.RECOMMENDATIONS_COUNT: "There are two to four recommendations.",
        Rule.RECOMMENDATION_CONSIDERATION: "A recommendation is an action that would change something if taken.",
        Rule.STEM_SENTENCE: "The stem is exactly one sentence.",
        Rule.STEM_LEADS: "The stem is neutral: it takes no side, presses for no answer and presupposes none.",
        Rule.STEM_EMBEDS: "The stem names no option more than the others; the recommendation is carried by its mark.",
        Rule.STEM_YES_NO: "The stem is open to every option, which one that yes or no would answer is not.",
        Rule.OPTION_HATCH: "Every option answers the question; another answer, or more talk, is what a hatch is for.",
        Rule.OPTION_TWIN: "No two options read the same.",
        Rule.ONE_LINE: "A finding, and the reasoning of an option, is a single line.",
        Rule.LOSS_ONE_SIDED: "Losses are told of every option alike, the recommended one included.",
        Rule.NOTE_RITUAL: "The note is left out, unless something said earlier now reads as understated.",
    }
)


def section(slot: str) -> str:
    """Return the draft's section on a slot, given its JSON pointer."""
    return next(number for name, number in _SECTIONS.items() if slot.startswith(f"/{name}"))
