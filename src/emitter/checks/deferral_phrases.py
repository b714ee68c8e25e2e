"""English phrases of a synopsis that takes no position: it defers, hedges, hands the decision on or weighs evenly."""

from __future__ import annotations

from emitter.checks.english import UNDECIDED_VERBS, VERBS, Phrases

_FEELS = "think|believe|feel|guess|suppose|suspect|imagine|lean|wonder|tend"
_DO = "|".join(sorted(VERBS | UNDECIDED_VERBS))
DEFERRAL_OPENINGS = Phrases.from_lines(
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
WHOLE_DEFERRALS = Phrases.from_lines(
    "advise",
    "advise me|us|on",
    "your turn|move|pick|call|choice|decision",
    "[any] thoughts|ideas|preferences|preference",
    "[it|this] [is] [a] [bit|mixture|mix] of both",
    "yes and no",
    "we|i will|shall see",
)
"""A whole clause that answers nothing."""
MULLING_OPENINGS = Phrases.from_lines(
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
SETTLED_OPENINGS = Phrases.from_lines(
    "consider it|this|that|them|the|him|her|yourself|us|me .. approved|closed|done|settled|"
    "declined|accepted|rejected|granted|refused|sold|signed|authorised|authorized|warned|cleared|exempt|hired|"
    "cancelled|"
    "canceled|void|booked|paid|released|finished|agreed|resolved|decided|denied|final",
)
"""What looks like a consideration and settles something."""
LOOSE_OPENINGS = Phrases.from_lines(
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
IS_VARIANTS = "is|are|was|were|be|been|remains|remain|seems|seem|looks|look|appears|appear"
CHOICE_NOUNS = (
    "option|options|choice|choices|path|paths|approach|approaches|plan|plans|way|ways|answer|answers|course|route"
)
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
DEPENDS_PHRASES = Phrases.from_lines(
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
DELEGATING_PHRASES = Phrases.from_lines(
    "up to you",
    "up to your [own] judgment|judgement|discretion|preference|preferences|team|board|taste|comfort",
    "need|needs|require|requires|await|awaits your [own] decision|input|call|choice|judgment|judgement|view",
    "need|needs|require|requires [a|an] decision|call|choice|answer from|by you",
    f"it|that|this|decision|choice|call|answer|judgment|judgement|rest|pick|verdict {IS_VARIANTS} "
    "[really|entirely|ultimately|all|simply] yours",
    f"{IS_VARIANTS} .. your [own|personal] call|choice|decision|preference|discretion|judgment|judgement",
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
EITHER_PHRASES = Phrases.from_lines(
    f"either|both .. {_MIGHT}|can|would [well|probably|also] work|do|serve|succeed|suffice",
    f"{_MIGHT} both|either work",
    "either .. could|might|would|can be fine|ok|acceptable|suitable|reasonable|defensible",
    "any of the|these|them|those .. would|can|should|will|could|might do|work|serve|suffice|suit|pass",
    f"either [{CHOICE_NOUNS}] {IS_VARIANTS}",
    "either option|choice|path|approach|plan|answer|course [of] [action] is|would|could|can|will|seems|looks|works",
    f"any|either of the|these|those|them .. {IS_VARIANTS} fine|ok|suitable|acceptable|possible|reasonable|workable",
    f"both|all|each [{CHOICE_NOUNS}] {IS_VARIANTS} [equally|quite|perfectly] {_EVEN}",
    f"both|all|each {CHOICE_NOUNS} .. {_EVEN}|good|fine|valid",
    "both|all|each|equally .. merits|strengths|upsides|drawbacks|advantages|charm|charms",
    "make|makes|have .. fair|good|valid points",
    "something to be said",
    "on the other|one hand",
    f"{IS_VARIANTS} both|all|each|equally [equally] {_EVEN}|good|fine|valid|right|wise|possible|"
    "attractive|options|suitable",
    f"or .. {IS_VARIANTS} [both|equally] acceptable|fine|reasonable|defensible|ok|viable",
    f"{IS_VARIANTS} [both|equally] defensible",
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
TIE_PHRASES = Phrases.from_lines(
    "come|comes|came out even|equal|level|tied",
    "scores|score [exactly|about] the same",
    f"{IS_VARIANTS} [a|in|on] tie|toss|par",
    f"{IS_VARIANTS} tied on|in|with|at",
    "tie|ties on",
    "two|three|they|both|options|bids|candidates|routes|plans|windows tie",
    f"{IS_VARIANTS} equal|even|level on|in",
    "dead heat",
    "neither .. stands|sticks out",
    f"neither .. {IS_VARIANTS} [the|any|clearly|obviously] clearly|obviously|better|right|stronger|preferable|superior",
    f"neither .. nor .. {IS_VARIANTS} [clearly|obviously] clearly|obviously|right|better|best|wrong|superior|"
    "preferable",
    "nothing separates",
    "evenly split|balanced|matched",
)
MIGHT_PHRASES = Phrases.from_lines(
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
MENU_PHRASES = Phrases.from_lines(
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
VALUE_PHRASES = Phrases.from_lines(
    "if .. matters|matter",
    "if .. you|we [most|mainly] value|prefer|prioritise|prioritize|want|care|favour|favor|need",
    f"if {_VALUED} does|counts|wins|comes|is",
    "if .. is your|the|our [main|top|first] priority|goal|concern|aim",
)
"""A condition on what the principal prefers: two of them hand the decision back."""
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
EVENNESS_PHRASES = Phrases.from_lines(
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
ECHO_PHRASES = Phrases.from_lines(
    "[but|and|yet] so does|do|would|could|might|is|are|has|have|can",
    "as would|does|do|could|might|has|have",
    "but|and then again",
    "then again",
)
"""How a second answer is given the same as the first."""
_VIEW = (
    "steer|guidance|input|view|views|opinion|opinions|thoughts|direction|directions|advice|instruction|instructions|"
    "feedback|decision|blessing|preference|preferences|verdict|answer|judgment|judgement|say|word|call"
)
_JUDGES = "pick|choose|decide|compare|judge|weigh|select|settle|determine"
_HANDED_MATTER = "decision|question|choice|call|matter|judgment|judgement|answer|ball|verdict|say"
HANDOVER_PHRASES = Phrases.from_lines(
    f"is|are|be|remains ... for ... to say|answer|rule|resolve|{_JUDGES}",
    "is|are|be|remains [not|really|ultimately|entirely|alone] mine|ours|yours|hers|his|theirs [alone] to "
    "make|take|give|call|say|choose|decide|settle",
    "is|are not [really] my|our place|call|decision|job|role|business",
    "is|are not for me|us",
    f"{_HANDED_MATTER} ... is|sits|lies|rests|stays|belongs|remains with|to|in",
    "over to you",
    "you be the judge",
    "you|your .. know|knows .. best",
    "you [are] the|best [best] judge",
    "you can|may|could|might [then|now|still] pick|choose|decide|compare|judge|weigh|select",
    f"so [that] you|they|he|she|the|your|everyone .. can|could|may|might {_JUDGES}",
    f"for you|the|your|them .. to compare|consider|weigh|review|ponder|{_JUDGES}",
    "for your decision|review|consideration|judgment|judgement|choice|information|deliberation",
    "i|we will|would|can|shall [happily|gladly] go|follow|work|live|accept|respect|back|support|do [along] [with] "
    "your|whatever|whichever|either|any",
    "i|we am|are easy|neutral|indifferent|agnostic|flexible",
    f"i|we [would|will|do] [also|really|first|much] want|like|need|appreciate|welcome|value|await|seek|request|love "
    f"[for|to] [have] your|some|further|the|a|more .. {_VIEW}",
    "i|we would [first|also|really] want|like|need|prefer|have to [first] know|hear|understand|learn|ask",
    "i|we would [first|also|really] want|like|need|prefer|have to [first] see what|how|whether|if|which|more",
    "awaiting|awaits|seeking|requesting|wanting|needing|pending|requires|needs|welcomes your|further|some|the .. "
    f"{_VIEW}",
    f"your {_VIEW} is|are|would|will [be] [needed|required|welcome|sought|appreciated|awaited|wanted|requested]",
    "tell me|us how|which|what|whether|if|when|where|who|your",
    "whatever|whichever|however is|feels|seems|sits|suits|works right|best|easiest|better|more|most|for|with|you",
    "is|are|be the|a [single] deciding|decisive|determining factor|question|point|issue|consideration",
    "available|possible|ready|there|open if|should you want|wish|like|prefer|need",
    "risk|appetite|tolerance|priorities|preference|preferences|taste|comfort|values|needs|wishes ... "
    "will|would|should|must|can|determines|decides|dictates|determine|decide|dictate",
    f"will|would|should|must|may|can|has|have [to] [ultimately] {_JUDGES}|dictate|drive|guide|govern "
    "whether|which|what|how|if|who",
    "determines|decides|dictates|drives|governs whether|which|what|how|if|who",
    "should|must|ought|needs|could [to] [first|also] weigh|have in|a|its|their|his|her",
    "should|must|ought|needs|need [to] [first] be consulted|heard|involved",
    "a matter|question for|of ... temperament|taste|preference|appetite|character|priorities|nerve|style|opinion",
    "anyone|anybody|who knows",
    "thoughts [on|are|welcome|please]",
)
"""Of a clause that matches, nothing is decided unless another clause decides it."""
_MORE = "more|further|additional|better|fuller|closer|broader|wider|longer|deeper"
_WORK = (
    "information|data|analysis|review|research|investigation|evaluation|input|time|testing|tests|discussion|study|"
    "evidence|context|detail|details|clarification|consultation|look|thought|deliberation|facts|figures|"
    "digging|thinking|reflection|clarity|insight|guidance|homework|work"
)
_OPEN_ADJECTIVES = (
    "unclear|uncertain|unknown|undecided|debatable|questionable|undetermined|unresolved|inconclusive|doubtful"
)
_OPEN_MATTER = (
    "it|this|that|picture|evidence|question|decision|choice|answer|outcome|matter|issue|recommendation|verdict"
)
_ASKS = "whether|if|which|what|how|who|when|where"
_ANSWER = "recommendation|decision|position|call|answer|view|choice|verdict|judgment|judgement|conclusion"
POSTPONING_PHRASES = Phrases.from_lines(
    "keep|keeping|stay an|your|our open mind",
    "i|we leave|leaving ... question|choice|decision|matter|point|issue|reading|answer|interpretation ... open",
    "defer|postpone|delay|suspend|reserve|withhold|adjourn [the|a|an|any|our|this] [final] "
    "decision|deciding|judgment|judgement|verdict|choice",
    "hold|holding off [on] [the|a|an|any] deciding|decision|verdict|judgment|judgement|answer|choosing",
)
UNCLEAR_PHRASES = Phrases.from_lines(
    f"{_OPEN_ADJECTIVES} {_ASKS}",
    f"{_ASKS} ... {IS_VARIANTS} [still|yet|far|as] [from|yet|very|quite] {_OPEN_ADJECTIVES}|open|another",
    f"{_ASKS} ... {IS_VARIANTS} [still|yet] [not|being|to|under] assessed|clear|certain|review",
    f"{_OPEN_MATTER} {IS_VARIANTS} [still|very|far|quite|too] [from] {_OPEN_ADJECTIVES}|tbd|open",
    "still being assessed|evaluated|investigated|considered|discussed|debated|reviewed|decided|weighed",
    "still under review|discussion|consideration|evaluation|debate",
    f"{IS_VARIANTS} not [yet|entirely|at] [all|so|that] clear|obvious|settled|decided|determined",
    "hard|difficult|impossible|tough to say|tell|know|call|judge|decide|determine|choose",
    "too early|soon to say|tell|judge|know|decide|conclude|call|commit|recommend|determine|choose",
    "remains|remain|still|yet to be seen|determined|decided|confirmed",
    "an open question|issue|matter",
    "anyone|anybody guess",
    "no [single|one|very] clear|obvious|easy|simple|right|good|straightforward|definitive "
    "answer|winner|choice|way|path",
    "jury is [still] out",
    "not sure|certain|convinced [yet|if|whether|which|what|how|that|about]",
    f"i|we do not [yet|really] know {_ASKS}|enough|yet",
    "i|we do not [yet|really] have enough|sufficient",
    f"{_OPEN_MATTER} {IS_VARIANTS} [a|very|somewhat|rather] [very|somewhat|rather] tricky|complicated|complex|"
    "nuanced|mixed|tough|difficult|subtle|murky|divided|ambiguous",
    f"this|that one {IS_VARIANTS} tricky|complicated|tough|difficult",
    "a|too close call|one|thing|race|contest|to",
    "neck and neck",
    "point|points|pull|pulls|cut|cuts|lean|leans [in] both|different|opposite|two|several directions|ways",
    "mixed feelings|evidence|picture|views",
    f"team|board|committee|opinion|opinions|views|experts|evidence {IS_VARIANTS} [evenly|deeply] split|divided|mixed",
    "opinions|views|experts differ|diverge|vary|disagree",
    "not something|anything i|we can",
    f"question|matter of {_ASKS}|preference|taste|priorities|priority|risk|values|perspective",
    "too|very little is|was [yet] known",
    "not enough|much is|was [yet] known",
    "not|never rule out",
    "judgment|judgement call",
    "toss up",
    "dilemma|conundrum|quandary",
    "gray|grey area",
    "moving parts",
    "may|might or may|might not",
    "something to discuss|talk|consider|weigh|think|decide",
    "conceivable|thinkable|imaginable",
    "that is the question",
    f"{_ANSWER} .. premature",
    "decision should|must|can wait",
    "no clear cut",
    "not [so|that|entirely] straightforward|black",
    "no|not [a] [one] size fits|fit",
    "no right|wrong or|answer",
    f"question is [really] {_ASKS}",
    "time will tell",
)
MORE_WORK_PHRASES = Phrases.from_lines(
    f"{_MORE} {_WORK} [on|about|into] .. {IS_VARIANTS}|would|will|may|might [be] needed|required|warranted|"
    "necessary|helpful|useful|recommended|advisable|advised|essential|help|called",
    f"{_MORE} {_WORK} would|could|might",
    "more .. would give|help|provide|bring",
    "would be good|nice|helpful|useful|great|wise to understand|know|see|hear|learn|have|get|look|check",
    f"not enough|sufficient {_WORK}",
    f"insufficient|inadequate|lacking|limited {_WORK}",
    "would [also] benefit|help|profit [from|to] [hearing|know|knowing|have|having|see|seeing|get|getting]",
    "hesitate to",
    "i|we|you would then|need|have [to] know|see more",
    "need|needs|require|requires|want|wants|merit|merits|deserve|deserves|warrants|gather|await [some|a] "
    f"{_MORE} .. {_WORK}",
    f"needs|requires|merits|deserves|calls [for] [a|an|some] [{_MORE}] "
    "review|investigation|discussion|conversation|thought",
    "before [i|we|you|anyone|anybody] [can|could] [make|making|taking|reaching] [a|an|any] "
    "[firm|final] deciding|decide|decision|recommendation|recommending|recommend|position|committing|commit|"
    "commits|choosing|choose|settling|answering|answer|action|know|concluding|conclusion",
    f"without|pending|subject [to] {_MORE} {_WORK}",
    "would|will have|need|want|like to see|test|review|study|look|check|know|gather|learn .. before|first|more",
    "until i|we|you [have|can|had|learn] .. more|chance|think|know",
    "premature to",
    "closer look",
    "sleep on it|this|that",
    "need|needs|require|requires|await|awaits|lack|lacks [some|the|your] input|guidance|feedback|clarity|clarification",
    "should|must [not] decide|decided [on|about|later|when|once|before|after|next]",
)
INABILITY_PHRASES = Phrases.from_lines(
    f"i|we can|could not [yet|really|honestly] say|tell {_ASKS}|yet|with",
    "i|we can|could not [yet|really|honestly] decide|determine|judge",
    "i|we can|could not [yet|really|honestly] choose|pick|recommend between|one|either|any|among|a|yet",
    f"i|we can|could not [yet|really|honestly] make|give|take|reach|commit [to] a|any|one|this|that [firm|clear] "
    f"{_ANSWER}",
    "can|could not [yet] be decided|determined|settled",
    "or ruled out without",
    "unable|hesitant|reluctant|not|able [able] to [yet] recommend|say|decide|commit|choose|determine",
    "am|are|is|feel|feeling torn",
    "two minds",
    "suggest|recommend|advise thinking|considering|discussing|talking|reviewing|exploring|deliberating",
    f"unclear|uncertain|unsure|undecided|question {_ASKS}|that [one] to|we|i",
    f"not clear|sure|certain|know {_ASKS}|that [one] to|we|i",
    "on the fence",
    "am|are|is|remain|remains|still undecided",
    f"no [firm|clear|final|definite] {_ANSWER} can|could|at|yet",
    "decision|answer|recommendation|conclusion is not [yet] possible|available|ready",
    "not in a position to",
    "i|we am|are not the [right|best] one|person|party to",
    "do not see a|any clear|obvious|good|right way|answer|path|choice|winner",
    "would|could be [a|pure|mere] guess|guesswork|speculation",
    "i|we [do|still|slightly|would|personally|currently|tentatively] lean|leaning",
    "no [firm|clear|strong|particular|real|good|compelling|obvious] reason to prefer|choose|pick|favour|favor",
    "i|we have no [firm|clear|strong|particular|real] preference|opinion|view|position",
    "no [firm|clear|strong|particular|real] preference",
    "no strong feelings|feeling",
    "go either way",
    "keep .. options open",
    "i|we could be wrong",
    "i|we do not mind",
    "yes and no",
)
CONSULTING_PHRASES = Phrases.from_lines(
    "let us [first] gather|clarify|talk|discuss|revisit|think|see|reconsider|weigh|consider|decide|debate|explore",
    "let us [first] get [more|some] clarity|information|input|advice|details",
    "is a|the decision|question|matter|call|choice for",
    "is a [family|team|board|group|joint|personal] decision",
    "team|board|committee|group|management|someone|somebody|council|lawyer|doctor|physician|manager|they .. "
    "should|must|needs|has [to] decide|choose|judge|weigh|determine",
    "best determined|decided|judged|settled|left by|with",
    "best left to the|a|your|someone",
    "for .. to decide|judge|choose|determine",
    "have|has|need|needs to decide",
    "better|best placed|positioned|suited to decide|judge|say|answer|choose|determine|make",
    "for a decision",
    "i|we should|must|need [to] [first] discuss|talk|weigh|consider|think|revisit|gather|explore|reconsider|balance|"
    "debate|evaluate|assess",
    "i|we should|must|need [to] [first] see what|whether|how|if|which",
    "should|must|need|needs|ought|have|has [to] be [carefully|first|further] "
    "discussed|weighed|considered|balanced|debated|reconsidered|evaluated|cleared",
    "should|must|need be taken to",
    "calls for a conversation|discussion|talk|debate",
    "anybody|anyone|somebody|someone commits|decides",
    "will|would|should show|tell|reveal|clarify|say|indicate whether|which|how|what|if",
    "thought|discussion|reflection|deliberation|thinking should|must|ought|needs|need|has|have [to] go|be into|given",
)
WEIGHING_PHRASES = Phrases.from_lines(
    "pros and cons",
    "risks and rewards|benefits",
    "costs and benefits",
    "strengths and weaknesses",
    "advantages and disadvantages",
    "upsides and downsides",
    "is|are|has|have|involves|involve|be [a|some|clear|real|both] tradeoff|tradeoffs",
    "is|are|has|have|involves|involve|be [a|some|clear|real|both] trade off|offs",
    "arguments for and",
    "lot|much to think|consider|weigh|discuss|unpack",
)
_PENDING_MATTER = (
    "question|matter|issue|decision|choice|future|fate|outcome|verdict|answer|recommendation|conclusion|whether|"
    "judgment|judgement|dispute|debate|direction"
)
_PENDING_ADJECTIVES = (
    "open|uncertain|unsettled|unclear|unresolved|undecided|unknown|hanging|premature|pending|debatable|difficult|"
    "delicate|complicated|tricky|moot|complex|contested|controversial|disputed|hard|undetermined|unanswered|fraught|"
    "divided|murky|ambiguous|inconclusive"
)
_THINK = (
    "think|consider|weigh|discuss|reflect|talk|review|assess|evaluate|explore|understand|know|examine|compare|"
    "investigate|decide|hear|remember|debate|clarify|deliberate|consult|ask|look|study|revisit|reconsider|pause"
)
_WISE = (
    "wise|wiser|prudent|sensible|important|good|best|better|useful|helpful|worthwhile|advisable|necessary|vital|"
    "essential|crucial|tempting|interesting|premature|careful|idea"
)
_THOUGHT = (
    "thought|discussion|reflection|consideration|scrutiny|debate|look|conversation|analysis|exploration|"
    "deliberation|thinking|study|examination|assessment|input|clarification"
)
_COMMITS = "make|call|take|say|recommend|decide|judge|choose|commit|pick|advise|rule|tell|conclude|give|endorse|propose"
_KNOWN = "consensus|agreement|unanimity|verdict|majority|certainty|decision|conclusion|answer|winner|position|opinion"
PENDING_PHRASES = Phrases.from_lines(
    f"{_PENDING_MATTER} ... is|are|remains|remain|stays|seems|looks|appears|was [still|very|quite|wide|as|yet|far|not|"
    f"too] {_PENDING_ADJECTIVES}",
    "decision|choice|verdict|recommendation|answer|conclusion|judgment|judgement|commitment ... "
    "would|seems|might|may be premature|hasty|rash|early|guesswork",
    "might|may|could [well|also] be too|a early|soon|late|bit|little|touch",
    f"no [clear|firm|real|final|obvious|general] {_KNOWN} [on|about|as|yet|at|to] "
    "[has|have|is|was|exists|emerges|emerged|been|so|whether|which|what|how]",
    "i|we have not [yet|quite|fully|really] "
    "settled|decided|landed|formed|reached|made|concluded|come|chosen|resolved|worked|agreed|converged|finished|"
    "weighed|looked|finalised|finalized|ruled|got|gotten|heard|seen",
    "have|has|had yet to decide|settle|form|reach|make|be|conclude|choose|agree",
    "mind|minds is|are|not [not] [yet] made",
    "made up my|our|their|your mind|minds",
    "open for|to debate|discussion|question|interpretation|argument|doubt|suggestions|both|either",
    "raises|poses|throws|leaves|prompts|opens|raise|pose|leave .. questions|doubts",
    "i|we do not [really|quite|yet] think|feel|believe|see .. can|could|able|right|qualified|ready|placed|entitled|how",
    f"not [yet|really|quite] able|ready|prepared|willing|comfortable|confident|qualified|entitled [enough] "
    f"to {_COMMITS}",
    "can|could [well|easily] see it|both|either|merit|merits|arguments|reasons|why|a .. "
    "either|both|sides|going|for|in|case|ways",
    "hold|holding|held off|back on|with|an|a|any|my|our .. opinion|view|recommendation|position|verdict|"
    "conclusion|advice",
    "seems|looks|feels|sounds like [it|that|this] could|might|may",
    "may|might be in|on order|needed|required|called|due|the",
    "could|can|may|might .. either",
    f"{_PENDING_MATTER} .. pending|outstanding|needed|required|awaited|due|open|tbd",
    "no [real|great|immediate|particular] rush|hurry|need|urgency|pressure to decide|commit|choose|rule|settle|pick",
    "you|we|i|one [will|would|should|may|might] [also|first|probably|still] want|need|like|do|ought [well] to "
    f"{_THINK}",
    f"i|we [would|do] suggest|recommend|advise|propose [that] [we|you] {_THINK}",
    "head|heart|gut|instinct|instincts says|say|tells|tell|prefers|prefer|pulls",
    "not [yet|really] possible to say|tell|judge|decide|know|determine|choose|conclude|recommend|predict|rank",
    "no [very|particularly] strong|compelling|clear|decisive|convincing|overriding|conclusive "
    "argument|arguments|reason|reasons|case|evidence|grounds|view|feeling",
    "further|more|additional .. seems|seem|appears|appear|would|may|might|could called|needed|be|help|required|useful|"
    "advisable|worthwhile",
    "i|we might|could",
    "mileage may|might|will",
    "let us [just|first|simply] see|hear|wait|keep|stay|remain how|what|whether|if|and|an|open|until|where|which",
    "not [a|an|so|that|as|all|quite] clear|simple|straightforward|easy|obvious|black cut|case|choice|as|matter|"
    "one|call|and",
    "may|might [well|also|still|even] need|want|prefer|warrant|merit|require|deserve|benefit",
    f"{_WISE} [first] [to] [carefully|first] {_THINK} [carefully|about|whether|what|how|more|it|the|this|before|"
    "on|over|"
    "through|twice]",
    f"deserves|deserve|needs|need|merits|merit|requires|require|warrants|calls|demands .. {_THOUGHT}",
    "is|are|remains|remain|stays [still|very|all] on the table|cards",
    "not out of the question",
    "is|be|remains a|an|one [very|rather|truly|genuinely] "
    "hard|tough|tricky|difficult|delicate|open|fine|tight|agonising|thorny|vexed call|decision|choice|question|"
    "one|balance",
    "conflicting|contradictory|inconclusive|ambiguous evidence|signals|reports|results|advice|views|information|data|"
    "readings|figures|signs",
    "room for doubt|debate|argument|disagreement|discussion",
    "no telling|knowing|saying",
    "we|i will|shall see [then] whether|what|how|if|which|when|about",
    "we|i will|shall have to see",
    "i|we [still|do] wonder|waver|hesitate|vacillate|dither|struggle",
    "i|we am|are [still|currently|also] struggling|hesitating|wavering|wondering|debating|weighing|considering|"
    "thinking|"
    "unsure|deliberating|mulling|pondering|exploring|evaluating|assessing",
    "cannot|not [yet|really|honestly] say|tell|judge|know|decide|predict [for|with|anything|much|more|at|until|before]",
    "argument|arguments|case|reason|reasons [to] [be] [can|could|may|might] [also] for|against and|or",
    "food for",
    "not [yet|quite] off the table|cards",
    "there is|remains a|some [real|good|fair|small|serious|distinct] possibility|chance|prospect",
    "remains|remain|needs|still to be discussed|settled|agreed|resolved|clarified|worked|examined",
    "i|we [still|do] [not] lack|know|have enough|the|any|sufficient [of|the] "
    "context|data|information|knowledge|expertise|background|insight|facts|grounds|basis",
    "decide|choose|judge later|afterwards|then",
)
