"""What is said of the answers: that they are the principal's to choose, that several will do, that one might."""

from __future__ import annotations

from emitter.decide.lint.phrases import Phrases

IS = "is|are|was|were|be|been|remains|remain|seems|seem|looks|look|appears|appear"
CHOICE = "option|options|choice|choices|path|paths|approach|approaches|plan|plans|way|ways|answer|answers|course|route"
_MANY = "two|three|four|several|many|multiple|various|some|different"
_MIGHT = "might|may|could"
_EVEN = "reasonable|viable|defensible|acceptable|plausible|sensible|workable|justifiable|equal|equally"
_GOOD = (
    "best|better|wise|wiser|prudent|worth|worthwhile|sensible|advisable|appropriate|right|good|reasonable|safer|"
    "preferable|safest|wisest|ideal|helpful|useful|beneficial|smart|justified|warranted|fine"
)
_VALUED = (
    "cost|price|money|speed|time|quality|comfort|safety|security|flexibility|simplicity|reliability|privacy|budget|"
    "convenience|looks|durability|space|quiet|independence|certainty"
)
_LIKES = "like|prefer|wish|want|choose|feel|think|find|decide|pick"
_SUITS = (
    "like|prefer|wish|want|choose|pick|favour|favor|fancy|comfortable|happy|happier|happiest|easier|easiest|confident"
)

DEPENDS = Phrases.of(
    "depends",
    "depend [largely|entirely|mostly] on|upon how|what|whether|who|which",
    "will|would depend",
    "depending on|upon",
    "hinges|hinge on|upon",
    "turns|rests on whether|how|what|which",
    "comes|come|boils|boil [all] down to",
    "contingent on|upon",
    "your [own|personal] priorities|preferences|appetite|circumstances|needs|values|goals|tolerance|mileage|situation",
    "matters|matter [most|more] to you",
)
YOURS = Phrases.of(
    "up to you",
    "up to your [own] judgment|judgement|discretion|preference|preferences|team|board|taste|comfort",
    "need|needs|require|requires|await|awaits your [own] decision|input|call|choice|judgment|judgement|view",
    "need|needs|require|requires [a|an] decision|call|choice|answer from|by you",
    f"it|that|this|decision|choice|call|answer|judgment|judgement|rest|pick|verdict {IS} "
    "[really|entirely|ultimately|all|simply] yours",
    f"{IS} .. your [own|personal] call|choice|decision|preference|discretion|judgment|judgement",
    "at|to your [own] discretion|judgment|judgement|preference",
    "you decide|choose [if|whether|which|what|when|how|between|we]",
    "let you choose|decide|pick|determine",
    "leave it|this|that|the .. to|with you",
    f"whichever|whatever|whenever|however [one|option] you [would] {_LIKES}",
    "whichever|whatever [one|option] suits|feels|works",
    f"whichever .. you [would|are|will|feel|find] [more|most] {_SUITS}",
    "as you see fit",
    "as|if you wish|prefer|like|please",
    "only you can|could|know",
    "ask yourself|yourselves",
    "rests|lies|lie|sits|remains with you",
    "in your hands|court",
    "you feel [most|more] comfortable|confident",
    "matter of [personal] preference|taste|judgment|judgement|opinion",
    "for you to decide|choose|judge|say|settle|weigh",
    "i|we [would] defer to you",
    "happy|fine|comfortable|ok|content [to|with] [go|do|with] either|both|any",
    "let me|us know [your|what|which|if|whether|how]",
)
EITHER = Phrases.of(
    f"either|both .. {_MIGHT}|can|would [well|probably|also] work|do|serve|succeed|suffice",
    f"{_MIGHT} both|either work",
    "either .. could|might|would|can be fine|ok|acceptable|suitable|reasonable|defensible",
    "any of the|these|them|those .. would|can|should|will|could|might do|work|serve|suffice|suit|pass",
    f"either [{CHOICE}] {IS}",
    "either option|choice|path|approach|plan|answer|course [of] [action] is|would|could|can|will|seems|looks|works",
    f"any|either of the|these|those|them .. {IS} fine|ok|suitable|acceptable|possible|reasonable|workable",
    f"both|all|each [{CHOICE}] {IS} [equally|quite|perfectly] {_EVEN}",
    f"both|all|each {CHOICE} .. {_EVEN}|good|fine|valid",
    "both|all|each|equally .. merits|strengths|upsides|drawbacks|advantages|charm|charms",
    "make|makes|have .. fair|good|valid points",
    "something to be said",
    "on the other|one hand",
    f"{IS} both|all|each|equally [equally] {_EVEN}|good|fine|valid|right|wise|possible|attractive|options|suitable",
    f"or .. {IS} [both|equally] acceptable|fine|reasonable|defensible|ok|viable",
    f"{IS} [both|equally] defensible",
    "there is [also] a [good|strong|reasonable] case for|to",
    "case can|could|may|might [also] be made for|that|against|either|both|on|to",
    "case for .. against|both|either",
    "arguments for|on .. against|both|each|either",
    "good|strong|valid arguments for|on",
    "could|might be argued|justified|defended",
    "arguably both|either",
    "has|have some|its|their [own] merit|merits|advantages|drawbacks|upsides|downsides|charm|charms|appeal",
    f"are [all|both|equally] {_EVEN}|legitimate|valid|solid|strong|real|good|fine "
    "options|choices|alternatives|contenders|candidates",
    "is [also|equally] a legitimate|defensible|valid|possible option|choice|alternative",
    "one|you can|could|might|may argue|justify|defend",
    "it|which does not [really] matter [much|greatly]",
    "makes|make no difference",
)
TIES = Phrases.of(
    "come|comes|came out even|equal|level|tied",
    "scores|score [exactly|about] the same",
    f"{IS} [a|in|on] tie|toss|par",
    f"{IS} tied on|in|with|at",
    "tie|ties on",
    "two|three|they|both|options|bids|candidates|routes|plans|windows tie",
    f"{IS} equal|even|level on|in",
    "dead heat",
    "neither .. stands|sticks out",
    f"neither .. {IS} [the|any|clearly|obviously] clearly|obviously|better|right|stronger|preferable|superior",
    f"neither .. nor .. {IS} [clearly|obviously] clearly|obviously|right|better|best|wrong|superior|preferable",
    "nothing separates",
    "evenly split|balanced|matched",
)
MIGHT = Phrases.of(
    f"{_MIGHT} [well|also|possibly|perhaps|then] be|make|prove [to|a|the|an|quite|more|most] {_GOOD}|sense|idea|option",
    f"{_MIGHT} [well|also] be [a|the|an] [good|right|best] idea|option|time|move|call|choice|step|thing|answer|way",
    f"would possibly|perhaps be {_GOOD}",
    "possibility|option would|could|might be",
    "is a|an possibility|option",
    "is one [possible] possibility|option|approach|way",
    "recommendation|answer|decision|verdict could|might|may be",
    "worth considering|discussing|exploring|thinking|looking|reconsidering|investigating|debating",
    "worth a [closer|second] look|try|thought|discussion|conversation",
)
MENU = Phrases.of(
    "one|another option|possibility|alternative is|would [be] to",
    "some would|might|may|could|argue|say|prefer",
    "the|our|your options|choices|alternatives are|include",
    f"there are a|{_MANY} [few|number|possible|different|good|many] [of] "
    "options|choices|paths|approaches|plans|ways|answers|possibilities|alternatives|arguments|factors|considerations|"
    "tradeoffs|viewpoints",
    "one of several|many|multiple [possible] options|measures|possibilities|ways|approaches",
    f"i|we|you have [{_MANY}] [possible|different|good] options|choices|alternatives|possibilities",
    "options|choices are to",
)
VALUES = Phrases.of(
    "if .. matters|matter",
    "if .. you|we [most|mainly] value|prefer|prioritise|prioritize|want|care|favour|favor|need",
    f"if {_VALUED} does|counts|wins|comes|is",
    "if .. is your|the|our [main|top|first] priority|goal|concern|aim",
)
"""A condition on what the principal prefers: two of them hand the decision back."""
