"""What hands the decision to the principal, or to somebody else, without the words of deciding that say so outright."""

from __future__ import annotations

from emitter.decide.lint.phrases import Phrases

_VIEW = (
    "steer|guidance|input|view|views|opinion|opinions|thoughts|direction|directions|advice|instruction|instructions|"
    "feedback|decision|blessing|preference|preferences|verdict|answer|judgment|judgement|say|word|call"
)
_JUDGES = "pick|choose|decide|compare|judge|weigh|select|settle|determine"
_MATTER = "decision|question|choice|call|matter|judgment|judgement|answer|ball|verdict|say"

HANDS = Phrases.of(
    f"is|are|be|remains ... for ... to say|answer|rule|resolve|{_JUDGES}",
    "is|are|be|remains [not|really|ultimately|entirely|alone] mine|ours|yours|hers|his|theirs [alone] to "
    "make|take|give|call|say|choose|decide|settle",
    "is|are not [really] my|our place|call|decision|job|role|business",
    "is|are not for me|us",
    f"{_MATTER} ... is|sits|lies|rests|stays|belongs|remains with|to|in",
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
