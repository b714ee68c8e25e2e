"""What is said of knowing and deciding: that it is unclear, needs more, cannot be done, is for others, or later."""

from __future__ import annotations

from emitter.decide.lint.cues.answers import IS
from emitter.decide.lint.phrases import Phrases

_MORE = "more|further|additional|better|fuller|closer|broader|wider|longer|deeper"
_WORK = (
    "information|data|analysis|review|research|investigation|evaluation|input|time|testing|tests|discussion|study|"
    "evidence|context|detail|details|clarification|consultation|look|thought|deliberation|facts|figures|"
    "digging|thinking|reflection|clarity|insight|guidance|homework|work"
)
_OPEN = "unclear|uncertain|unknown|undecided|debatable|questionable|undetermined|unresolved|inconclusive|doubtful"
_MATTER = "it|this|that|picture|evidence|question|decision|choice|answer|outcome|matter|issue|recommendation|verdict"
_ASKS = "whether|if|which|what|how|who|when|where"
_ANSWER = "recommendation|decision|position|call|answer|view|choice|verdict|judgment|judgement|conclusion"

PUTS_OFF = Phrases.of(
    "keep|keeping|stay an|your|our open mind",
    "i|we leave|leaving ... question|choice|decision|matter|point|issue|reading|answer|interpretation ... open",
    "defer|postpone|delay|suspend|reserve|withhold|adjourn [the|a|an|any|our|this] [final] "
    "decision|deciding|judgment|judgement|verdict|choice",
    "hold|holding off [on] [the|a|an|any] deciding|decision|verdict|judgment|judgement|answer|choosing",
)
UNCLEAR = Phrases.of(
    f"{_OPEN} {_ASKS}",
    f"{_ASKS} ... {IS} [still|yet|far|as] [from|yet|very|quite] {_OPEN}|open|another",
    f"{_ASKS} ... {IS} [still|yet] [not|being|to|under] assessed|clear|certain|review",
    f"{_MATTER} {IS} [still|very|far|quite|too] [from] {_OPEN}|tbd|open",
    "still being assessed|evaluated|investigated|considered|discussed|debated|reviewed|decided|weighed",
    "still under review|discussion|consideration|evaluation|debate",
    f"{IS} not [yet|entirely|at] [all|so|that] clear|obvious|settled|decided|determined",
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
    f"{_MATTER} {IS} [a|very|somewhat|rather] [very|somewhat|rather] tricky|complicated|complex|nuanced|mixed|tough|"
    "difficult|subtle|murky|divided|ambiguous",
    f"this|that one {IS} tricky|complicated|tough|difficult",
    "a|too close call|one|thing|race|contest|to",
    "neck and neck",
    "point|points|pull|pulls|cut|cuts|lean|leans [in] both|different|opposite|two|several directions|ways",
    "mixed feelings|evidence|picture|views",
    f"team|board|committee|opinion|opinions|views|experts|evidence {IS} [evenly|deeply] split|divided|mixed",
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
MORE_WORK = Phrases.of(
    f"{_MORE} {_WORK} [on|about|into] .. {IS}|would|will|may|might [be] needed|required|warranted|necessary|helpful|"
    "useful|recommended|advisable|advised|essential|help|called",
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
CANNOT = Phrases.of(
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
CONSULT = Phrases.of(
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
WEIGH = Phrases.of(
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
