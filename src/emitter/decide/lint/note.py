"""Whether a calibration note is there for its own sake: section 5.9, as a warning.

The note is a costly signal that takes back an earlier framing; one that is empty, a formula, or speaks of nothing
earlier is ritual.
"""

from __future__ import annotations

from emitter.decide.lint.phrases import Phrases, lexicon
from emitter.decide.lint.sentences import shown
from emitter.decide.lint.text import words

_FORMULAS = Phrases.of(
    "as always|usual|ever",
    "always",
    "please [always] note|remember|keep|be|verify|check",
    "i am [just|only] an|a ai|assistant|language|model",
    "no [calibration|further|prior|earlier|additional|special] "
    "note|notes|calibration|change|changes|framing|adjustment|comment",
    "none|nil|na|null|nothing|empty|unknown|tbd|ok",
    "n a",
    "not applicable|available|needed|required",
    "to the best of my knowledge",
    "in|with all honesty",
)
_EARLIER = Phrases.of(
    "earlier|previous|previously|prior|before|initial|initially|original|originally|first|last|yesterday|ago|until|past",
    "said|told|called|wrote|described|framed|estimated|reported|understated|underestimated|underplayed|downplayed|"
    "assumed|thought|rated|put|gave|judged|presented|was|were|had",
    "so far",
    "now reads|read|looks",
)
_ENGLISH = lexicon("the a is of to and this that i my we for with it be in not are")


def ritual(note: str) -> bool:
    """Say whether a note takes nothing back."""
    said = words(note)
    if not shown(note) or _FORMULAS.begin(said):
        return True
    return not _ENGLISH.isdisjoint(said) and not _EARLIER.within(said)
