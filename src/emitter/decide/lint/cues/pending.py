"""What says of the matter that it is open, or only that something is possible, needed first, or worth a thought."""

from __future__ import annotations

from emitter.decide.lint.phrases import Phrases

_MATTER = (
    "question|matter|issue|decision|choice|future|fate|outcome|verdict|answer|recommendation|conclusion|whether|"
    "judgment|judgement|dispute|debate|direction"
)
_OPEN = (
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

PENDING = Phrases.of(
    f"{_MATTER} ... is|are|remains|remain|stays|seems|looks|appears|was [still|very|quite|wide|as|yet|far|not|"
    f"too] {_OPEN}",
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
    f"{_MATTER} .. pending|outstanding|needed|required|awaited|due|open|tbd",
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
