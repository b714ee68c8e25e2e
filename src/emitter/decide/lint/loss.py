"""One-sided loss framing: fear on every option but the recommended one, or in a stem that names one side (5.5, 5.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.decide.lint.fears import FEARS
from emitter.decide.lint.leading import polar
from emitter.decide.lint.phrases import lexicon
from emitter.decide.lint.text import words

if TYPE_CHECKING:
    from emitter.kinds import Question

_AVOIDS = lexicon("avoid avoids avoiding prevent preventing stop spare")


def fears(text: str) -> bool:
    """Say whether a text has a word of loss or fear."""
    return not FEARS.isdisjoint(words(text))


def one_sided(question: Question) -> bool:
    """Say whether every option but the recommended one is framed as a loss, and that one is not."""
    others = [each for place, each in enumerate(question.options) if place != question.recommended_idx]
    return not fears(question.recommended.reasoning) and all(fears(each.reasoning) for each in others)


def slanted(question: Question) -> bool:
    """Say whether a stem that presses one way speaks of a loss that no option's label has as its matter."""
    asked = words(question.stem)
    afraid = FEARS.intersection(asked)
    pressing = polar(question.stem) or not _AVOIDS.isdisjoint(asked)
    return (
        bool(afraid) and pressing and afraid.isdisjoint(word for each in question.options for word in words(each.label))
    )
