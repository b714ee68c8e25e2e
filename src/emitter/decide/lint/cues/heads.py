"""What defers where a clause begins with it, and what only seems to."""

from __future__ import annotations

from emitter.decide.lint.phrases import Phrases
from emitter.decide.lint.verbs import UNSETTLED, VERBS

_FEELS = "think|believe|feel|guess|suppose|suspect|imagine|lean|wonder|tend"
_DO = "|".join(sorted(VERBS | UNSETTLED))

HEADS = Phrases.of(
    f"i|we [do|still|personally|also] {_FEELS}",
    f"i|we would [personally|tentatively] say|{_FEELS}",
    "i|we am|are [currently|still|somewhat|mildly] inclined|leaning|tempted|torn|tending",
    "my|our [own|gut|first|initial|current] sense|instinct|gut|feeling|hunch|inclination|impression|guess|leaning",
    "leaning|inclined [slightly] towards|toward|to",
    "it|this seems|feels to me",
    "perhaps|maybe|possibly|conceivably",
    "i|we|you|one could|might [also|perhaps|possibly|instead|simply|just|either|then|always|well] "
    f"want|wish|like|try|find|{_DO}",
    "i|we|you may [also|perhaps|possibly|instead] want|wish|like|try|find|consider|prefer",
    "i|we may [also|perhaps|possibly|instead] release|hold|approve|decline|accept|reject|go|take|choose",
    "or i|we|you can|could|might|may",
    "i|we|you can|could|might|may .. or",
    "none at|yet|so|for",
    "no [firm|clear|final|definite] recommendation|decision|conclusion|preference|opinion|view",
    "here is|are what|a|an|the|some|my|our",
    "below is|are",
    "summary|overview of|on",
    "to be decided|determined|confirmed",
    "tbd|undecided|unclear|inconclusive|uncertain|unsure|unknown",
)

ALONE = Phrases.of(
    "advise",
    "advise me|us|on",
    "your turn|move|pick|call|choice|decision",
    "[any] thoughts|ideas|preferences|preference",
    "[it|this] [is] [a] [bit|mixture|mix] of both",
    "yes and no",
    "we|i will|shall see",
)
"""A whole clause that answers nothing."""

MULLS = Phrases.of(
    "consider",
    "weigh|balance [up] [the|a|an|all] [relative|possible|various] cost|costs|risk|risks|benefit|benefits|options|pros|"
    "trade|tradeoffs|merits|speed|arguments",
    "think about|carefully|through|over|hard",
    "discuss|debate|ponder|deliberate",
    "decide [on] [this|it|that] whether|if|which|what|how|when|between|later|once|after|together|for|based",
    "review|explore|reflect [on] whether|if|which|what|how|between",
    "pick|choose either|whichever|whatever",
)
"""An order to think, which defers unless an order to act follows."""

SETTLED = Phrases.of(
    "consider it|this|that|them|the|him|her|yourself|us|me .. approved|closed|done|settled|"
    "declined|accepted|rejected|granted|refused|sold|signed|authorised|authorized|warned|cleared|exempt|hired|"
    "cancelled|"
    "canceled|void|booked|paid|released|finished|agreed|resolved|decided|denied|final",
)
"""What looks like a consideration and settles something."""

LOOSE = Phrases.of(
    "options|choices|alternatives|possibilities|contenders|interchangeable|conceivable|undecided|unsure|unclear",
    "legitimate|defensible|viable|valid|reasonable|real option|choice|alternative|choices|options",
    "decide|deciding|decision|decisions|doubt|doubtful|tricky|debatable|premature",
    "gray|grey area",
    "question|choice|matter remains|remain|is|would|will|can|could|that|of|about|on",
    "whether|preference|preferences|opinion|opinions|feelings|minds|hunch",
    "advantages|disadvantages|merits|benefits|drawbacks|upsides|downsides|rewards|pros|cons|strengths|weaknesses",
    "under|for|into consideration|discussion|review",
    "consider|considered|considering|weigh|weighing|discuss|discussed|discussing|clarity|clarify|revisit|reconsider",
    "can|could|may|might be .. or",
    "all|both|each|any .. is|are|has|have|would [a|some|its|their|also] solid|good|something|merit|fine|suitable|work|"
    "great|attractive|sound|strong|appealing|decent|contenders|candidates",
    "would be good|nice|helpful|useful|great|lovely|wise",
)
"""What a sentence is about that states no position to be seen and may defer: deciding, and what there is to choose."""
