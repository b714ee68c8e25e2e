"""What sets several answers side by side: all would do, each has a case, nothing tells them apart."""

from __future__ import annotations

from emitter.decide.lint.phrases import Phrases

_WOULD = "would|could|might|may"
_FINE = (
    "fine|ok|good|workable|viable|feasible|suitable|acceptable|adequate|sufficient|possible|lovely|great|reasonable|"
    "sensible|right|appropriate|defensible|attractive|tempting|legitimate|worthwhile|enough|doable|nice|sound"
)
_SEVERAL = "two|three|four|five|several|many|various|multiple|different|competing|rival|alternative|both|other"
_WAYS = (
    "paths|routes|ways|options|roads|courses|possibilities|readings|answers|alternatives|choices|approaches|directions|"
    "avenues|scenarios|schools|camps|views|positions|models"
)

EVEN = Phrases.of(
    f"both|either|any|all|each .. {_WOULD} do|work|serve|suffice|pass|help|suit",
    f"both|either|any|all|each .. {_WOULD}|can|will|should be [a|an] [perfectly|quite|equally|very] {_FINE}",
    "both|either|any|all|each .. is|are|seem|seems|look|looks|sound|sounds [a|an] [perfectly|quite|equally|very] "
    f"{_FINE}",
    "either .. goes|works|fits|suits|does|serves|looks|seems|matches|sells",
    "i|we [can|do|could] see merit|merits|appeal|value|sense|virtue|advantages|strengths|points in|on|to",
    "lot|much|something|plenty|little to recommend|commend|offer|speak",
    "not without [its|their|some|certain] attractions|appeal|merit|merits|advantages|charm|charms|risks|risk|drawbacks|"
    "problems|benefits|virtues",
    "coin flip|toss|throw",
    "flip|flipping|toss|tossing of|a [the] coin",
    "grounds|reasons|arguments|reason for|to ... and|or|but [as] [many|some|also|equally] [grounds|reasons|arguments] "
    "for|to|against",
    "see|sees|answer|answers|read|reads|judge|judges|view|views|value|weigh|interpret ... differently",
    "teachers|parents|partners|doctors|members|staff|colleagues|reviewers|family|residents|users|judges|engineers|"
    "trustees|directors|councillors|lawyers|neighbours|nurses|developers|they|we|opinion|camp "
    "is|are|remain [evenly|deeply|sharply] split|divided|torn",
    "comfortable|happy|fine|ok|content|good|ease with .. or|either|both",
    "interchangeable|indistinguishable|equivalent|comparable",
    "is|are|seem|look|be|appear|remain equally|similarly|comparably|equal",
    "equally strong|good|convincing|plausible|persuasive|valid|likely|attractive|qualified|suitable|sound",
    "bit|mix|mixture|little of both|each|either",
    "somewhere in|between between|the",
    "six of one",
    "nothing|little|much|not|hardly|barely [much|anything] in it",
    "little|nothing|hardly|not|barely [much|anything] to choose|separate|distinguish|pick [between|them|the|from]",
    "little|nothing|hardly|not [much|anything] between them|the",
    "no wrong|bad|losing choice|answer|option|decision|one",
    "go wrong with|either|whichever",
    "on both|either|each sides|side",
    "both sides|camps|views have|make|has [a|some] [good|strong|valid|fair|real] "
    "point|points|case|cases|argument|arguments|reasons",
    "cut|cuts|go|goes|going|went both|either ways|way",
    "both|either ways|way|directions|direction are|is|seem|possible|open|conceivable",
    "case|cases|argument|arguments|point|points ... can|could|may|might [also|equally|easily] be made|found|put|"
    "advanced "
    "for|that|either|both|on|to|against",
    "case|argument|arguments|point|points exists|exist|is|are|lie [on|for|to] both|either|each",
    "has|have|holds|hold|offers|offer merit|merits|appeal|promise|attractions|potential|pluses|minuses",
    "has|have|holds|hold [a] lot|something|much|little|plenty going|speaking",
    "has|have|with its|their|both [own] pluses|minuses|points|virtues|attractions|pitfalls|problems|limits|costs|price",
    f"{_SEVERAL} [possible|plausible|good|real|equal] {_WAYS} "
    "are|remain|exist|lie|present|come|open|suggest|compete|emerge|seem|stand|would|could",
    "back and forth",
    "i|we am|are|feel|remain [still|rather|genuinely] torn|divided|wavering|hesitating|undecided|hovering|vacillating",
    "pull|pulls|pulled|point|points|pointing both|different|two|opposite|several|various|other ways|directions|way",
    "one [option|choice|plan] is [just|about|every] [bit] as .. as",
    "as good|strong|safe|cheap|valid|sound|likely|reasonable as the|each|any other",
    "swings and",
    "in favour|favor|support of each|both|either",
    "find|finds|is|are|seems|seem .. neither .. nor",
    "can|could|may|might [well|reasonably|honestly] differ|disagree",
    "trade off|offs between",
    "tradeoff|tradeoffs|tension|balance between",
    "but|yet|and so is|are|does|do|has|have|would|could",
    "nothing|little|much|something|neither speaks|speak [clearly|strongly] for|against|in",
    "carry|carries|has|have|bring|brings|come|comes [with] its|their own "
    "cost|costs|risk|risks|price|problems|difficulties|logic|limits|dangers",
    "would|could|can ... at the|some price|cost|expense",
)

ECHOES = Phrases.of(
    "[but|and|yet] so does|do|would|could|might|is|are|has|have|can",
    "as would|does|do|could|might|has|have",
    "but|and then again",
    "then again",
)
"""How a second answer is given the same as the first."""
