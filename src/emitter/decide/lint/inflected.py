"""Whether a word is a decision's verb in another form: "sells", "selling", "sold"."""

from __future__ import annotations

from emitter.decide.lint.phrases import lexicon
from emitter.decide.lint.verbs import UNSETTLED, VERBS

ACTS = VERBS - UNSETTLED
"""The verbs that change something."""
_STRONG = lexicon("""
    begun bound bought brought built borne carved caught cut dealt drawn dug driven fallen flown forbidden forgiven
    found frozen given gone ground grown held hidden hired kept laid led left lent let lit lost made meant met paid
    put quit read rebuilt repaid run rung said sent set shrunk shut sold spent split spun stopped struck stuck sung
    swapped taken taught told torn thrown tied undone upheld withdrawn withheld won wound written
""")
_Y = "y"


def gerund(word: str) -> bool:
    """Say whether a word is a verb's form in "-ing"."""
    return word.endswith("ing") and _base(word[:-3])


def participle(word: str) -> bool:
    """Say whether a word is a verb's past participle."""
    regular = word.endswith("ed") and (_base(word[:-2]) or (word.endswith("ied") and word[:-3] + _Y in ACTS))
    return word in _STRONG or regular


def _base(stem: str) -> bool:
    """Say whether a verb is left without its ending: with an "e" put back, or a doubled letter made one."""
    return stem in ACTS or stem + "e" in ACTS or (stem[-1:] == stem[-2:-1] and stem[:-1] in ACTS)
