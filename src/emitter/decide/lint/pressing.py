"""Whether a stem argues or presses instead of asking: section 5.5, by rhetoric that is no part of leading's signs.

An argument stands before the question ("… so shall we sell?"), an idiom takes a side ("put up with"), the question has
no answer but one ("why pay more?"), or an example is held up ("as any careful owner would").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.decide.lint.phrases import Phrases, lexicon
from emitter.decide.lint.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.decide.lint.text import Clause

_ASKS = lexicon("is are was do does did can could will would shall should may might must have has")
_US = lexicon("we i there")
_CONCLUDES = lexicon("so then")
_NO_ACTS = lexicon("do have be need")
_PARAGON = (
    "responsible|reasonable|sensible|careful|prudent|good|decent|serious|sane|rational|caring|conscientious|cautious|"
    "experienced|competent"
)
_REASONS = Phrases.of(
    "since|because",
    "given|considering|seeing|now that",
    "as the|we|you|they|most|all|our|your|experts|it",
    "with ... so|already|still",
    "before it is too",
)
_ELLIPSIS = Phrases.of(
    "ready|keen|eager|excited|happy|glad|delighted to|for|with",
    "are|would you [be] [now] ready|keen|eager|excited|happy|glad|delighted to|for|with|if",
)
"""What takes consent for a mood; without an "or" behind it."""
_RHETORIC = Phrases.of(
    "get|gets|getting away with",
    "put|putting up with",
    "put|putting|leave|leaving ... behind us|you|me",
    "miss|missing out",
    "throw|throwing away|good",
    "hold|holding|held us|you|them back",
    "let|letting .. slip|down",
    "cling|clinging to|on",
    "tear|tearing .. away|apart",
    "turn|turning your|our|their back",
    "drag|dragging .. feet|on",
    "take|taking advantage of",
    "make the most of",
    "seize|grab|snap the|this|up",
    "cut your|our losses",
    "spare|save yourself|ourselves",
    "once and for",
    "peace of mind",
    "how much longer",
    "how long|often can|must|will we|you|i|they go|tolerate|ignore|afford|put|accept|let",
    "in your|their|his|her|our right mind",
    "worth risking|losing|sacrificing|gambling|jeopardising|jeopardizing|endangering|wasting",
    "decent|honourable|honorable|honest|kind|grown thing|up",
    "safe than sorry",
    "too late",
    "as|like any|every|most|all|others|everybody|everyone .. would|does|do|should|did|has|have",
    f"any|a|every|the {_PARAGON} .. would|do|choose|say",
    f"would|should a|any|every|the {_PARAGON} .. do|choose|say|pick",
    "something|anything|one you|we|i [can|could|would] [really|ever|honestly] "
    "justify|live|defend|explain|regret|stomach|tolerate",
    "is|was there any|a [good|real|single|sound|sensible|compelling] "
    "reason|point|sense|excuse|justification to|in|for|not|why|against",
    "who would|could [possibly|ever|really] [not] want|object|refuse|say|turn|risk|mind|argue",
    "how can|could we|you|i|anyone|anybody [ever|possibly|still] [not] justify|refuse|ignore|afford|explain|turn|"
    "defend",
    "are we|you supposed|expected|meant to",
    "what is|are stopping|holding|preventing|keeping",
    "what .. wrong|harm with|in",
    "shall|can|may|should i|we [just] go ahead",
)


def presses(parts: Sequence[Clause], *, asked: bool) -> bool:
    """Say whether a stem of these clauses argues or presses; ``asked`` tells whether it ends as a question."""
    if any(_RHETORIC.within(each.words) or _is_idle_why(each.words) for each in parts):
        return True
    return asked and not any("or" in each.words for each in parts) and (_moods(parts) or _argues(parts))


def _is_idle_why(words: Sequence[str]) -> bool:
    """Say whether a clause asks why one would do a thing, which nobody asks who would: "why pay more?"."""
    return words[:1] == ("why",) and any(each in VERBS and each not in _NO_ACTS for each in words[1:2])


def _moods(parts: Sequence[Clause]) -> bool:
    return any(_ELLIPSIS.begin(each.words) for each in parts[:1])


def _argues(parts: Sequence[Clause]) -> bool:
    """Say whether a reason stands before a proposal: a question to which we, or I, would say yes or no."""
    for last in (each.words for each in parts[1:][-1:]):
        concludes = last[0] in _CONCLUDES
        proposed = [word in known for word, known in zip(last[concludes:], (_ASKS, _US), strict=False)]
        if proposed == [True, True]:
            return concludes or any(_REASONS.begin(each.words) for each in parts[:-1])
    return False
