"""What an option may not be: a hatch in disguise (sections 5.6 and 5.8), or the twin of another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from emitter.decide.lint.phrases import Phrases, lexicon
from emitter.decide.lint.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONGEST = 12
"""A label of more words is no hatch: it says more than that."""

_ABOUT = lexicon("""
    discuss discussing discussion talk talking chat dialogue deliberate deliberation conversation question questions
    decide deciding decision undecided unsure clarify clarification elaborate explain specify info information
    details context idea ideas suggestion suggestions think thinking preference opinion reframe rephrase framing
    premise listed above clarifying disagree options choices alternative alternatives comment comments feedback else
    custom pros cons revisit reconsider reconsidering rethink rethinking reframed rephrased ponder judgment judgement
    objection objections
""")
"""Words about the question, the answers and the talk on them, one of which a hatch has."""

_BESIDE = lexicon("""
    i me my we us our you your it this that these those the a an some any no not do does did am is are be can could
    may would will shall let like want need prefer rather have has got give ask asking tell say write type enter
    provide propose suggest submit state send get take make step back come go return revisit reconsider reject defer
    postpone delay answer answers response reply text value amount own words other another different something
    anything none neither nothing more further additional first again later now instead before after about over
    through with to of on for in at and or together please still yet just maybe perhaps time help hold off wait
    pause stop open reopen continue resume start skip here which what whatever how why one agent assistant ai really
    sure know wrong bad free form choice option choose pick deciding answering choosing depth detail bit moment
    put date ready point stage problem issue matter topic thing subject whole two three both add leave see show view
    hear learn challenge dispute someone somebody person human day days minute minutes few everything anyone time until
    keep follow next week month today tomorrow soon later another new fresh round hear out off up yours mine
""")
"""What else a hatch may say; any other word makes a label say something of the matter."""

_HATCHES = Phrases.of(
    "[i] [want|prefer|have|need] something|anything else|different|other [entirely|altogether|instead]",
    "[an|the] other|others [option|answer|choice|response|reason]",
    "[a|an|some] another|different|my|your|own [own|different] answer|response|option|choice|amount|value|words",
    "[let] [me] [i] [want|will|prefer] [to] write|type|enter|provide|give|submit|suggest|propose|say|state "
    "[it|in] [in] [a|an|my|your|the] [another|other|different|own|new] "
    "own|answer|response|amount|value|words|text|something|another",
    "[i] [want|have] [to] ask something|first",
    "[please] tell|give|show|send me|us [some] more",
    "[this|it] [is] [the|a] wrong|bad|different question",
    "free|open [text|form|ended] [text|form|answer|response|reply|ended]",
    "none|neither|not|nothing [one] of|any [of] the|these|those|them|this "
    "[two|three|four|both|options|choices|answers|ones|above|listed] [options|choices|answers|above] "
    "[works|work|fits|fit|applies|apply|suits|suit] [for] [me|us]",
    "none|nothing applies|apply|fits|fit|works|work",
    "not applicable",
    "[no] [i] [am] not sure|certain [yet]",
    "[i] [really] do not know|care|mind [yet]",
    "[maybe|perhaps] later",
    "maybe|perhaps",
    "ask|remind [me|us] [again] [later|tomorrow|next|on|soon|in|about] [this|it|week|month|time] [later|tomorrow]",
    "[i] [will] answer|choose|come|get|go|circle [this|back] [back] [to] [this|it|you|that] later|again|tomorrow",
    "let me|us get back [to] [you|this|it]",
    "[let] [us|me] [i] [need|want] [to] take|step [a] [step] back",
    "[i|we] [would] rather|prefer [to] not [to] [answer|say|choose]",
    "[i|we] need|want more time",
    "skip|pass [on] this|the question|one",
    "choose|decide|pick for me|us",
    "leave|keep it|this|that|the [question|matter|decision] open [for] [now|later]",
    "my own proposal|suggestion|plan|idea|version|wording|terms|figure|number|date|price|solution",
    "[let] [the] you|agent|assistant|ai decide|choose|pick [for] [me]",
    "up to you",
    "[it|this] [is] your call|choice|decision|pick",
    "[you] surprise me",
    "[do] what|whatever you think [is] best",
    "dealer choice",
    "[let] [me|us] sleep on it|this",
    "[let] [me|us] think|consider [about|it|this|that] [it|this|that] [over|first|more]",
    "[i] [am] not [yet] ready [yet|to] [choose|decide|answer|say]",
    "[i] can not say|choose|decide|tell|answer|judge [yet]",
    "[i] have|see|want no [strong] opinion|view|preference",
    "go|going|get back to [the] drawing|start|you|me|this|it [board|later]",
    "park|shelve|table|defer|postpone|delay|skip|pause it|this|that [question|decision|one|for] [now]",
    "start [all] over|afresh [again|with] [a|another] [new|different] [question]",
    "let me|us check|ask|see|talk|confirm first|around|with|to [someone|somebody|others|first|it|this]",
    "you tell me",
    "whatever|whichever [option|one] you think|prefer|like|want|recommend|say [is] [best|right]",
    "reject|revisit|reconsider|dispute|challenge|change [the|this] question",
)
_SPECIFY = re.compile(
    r"(?<=\w)\s*(?:[(\[,:;\u2013\u2014/-]\s*(?:please )?|\bplease )"
    r"(?:specify|describe|explain|tell|state|name|fill in|say|give|enter|write|type|indicate|add|list)\b.{0,40}\Z",
    re.IGNORECASE,
)
"""The request for one's own words behind a label: "other (please specify)"."""
_OTHER = re.compile(
    r"\s*(?:an? |some |any |my |enter |type |choose )?(?:other|another|different|custom|alternative|own)\b",
    re.IGNORECASE,
)
_BLANK = re.compile(_OTHER.pattern + r"[^.:_\u2026]{0,40}(?:\.{3}|\u2026|:|:?\s*[_.]{2,})\s*", re.IGNORECASE)
_OWN = re.compile(
    r"\s*(?:suggest|enter|specify|type)\s(?:an? |my |your |some )?"
    r"(?:different|another|other|own|custom)\s\w+\s*\.?",
    re.IGNORECASE,
)
_WANTS_FIRST = Phrases.of(
    "let me think|consult|ask|check|talk|speak|discuss|consider|sleep|look|see|decide|choose|answer|explain|write|type|"
    "propose|suggest|say|know",
    "i|we [would|first|still] [first] like|want|need|prefer|have to [first] "
    "hear|know|see|discuss|talk|ask|think|understand|consider|wait|consult|check|read|review|speak|reflect|decide",
)
_ASKS_FIRST = Phrases.of(
    "before i|we [can|will|have] [to] choose|decide|answer|pick|commit|say|vote|agree|judge|settle|select",
    "before choosing|deciding|answering|picking|committing|voting|agreeing|judging",
    "tell|show|explain|walk|help|convince|remind|give|send|teach me|us [to] [some|the|a|more|through|about|why|how|"
    "what|first|understand|decide|choose] [more] more|why|how|what|first|understand|decide|choose|through|options|"
    "numbers|arguments|reasons|details|evidence|background|explanation",
    "i|we need|want|require|have|would|like [like] [to] [know|see|hear|have|get|understand|ask] [some] [more] "
    "more|information|info|details|clarification|context|answers|time|guidance|clarity",
)
_LABEL = re.compile(r"[-+\u2212]?\d+(?:[.,:/]\d+)*|[^\W_]+|[^\w\s.,;:!?…\"'\u201c\u201d\u2018\u2019()\[\]{}-]")


def hatch(label: str) -> bool:
    """Say whether a label only opens one of the hatches, or puts the decision off, instead of answering."""
    shortened = label[: _LONGEST * 32]
    spoken = words(_SPECIFY.sub("", shortened))
    if not 0 < len(spoken) <= _LONGEST:
        return False
    asks = _ASKS_FIRST.within(spoken) or _WANTS_FIRST.begin(spoken)
    return asks or _HATCHES.fill(spoken) or _is_about_asking(spoken) or _is_blank(shortened)


def _is_blank(label: str) -> bool:
    """Say whether a label leaves a blank to be filled in: "custom dosage …", "another date (please state)"."""
    open_ended = _BLANK.fullmatch(label) or _OWN.fullmatch(label)
    return open_ended is not None or (_SPECIFY.search(label) is not None and _OTHER.match(label) is not None)


def _is_about_asking(spoken: list[str]) -> bool:
    """Say whether no word of a label is of the matter that is decided, and one of them of the deciding."""
    rest = _ABOUT | _BESIDE
    alone = len(spoken) == 1 and spoken[0] in {"else", "listed", "above", "options", "details", "choices"}
    return not _ABOUT.isdisjoint(spoken) and rest.issuperset(spoken) and not alone


def twins(labels: Iterable[str]) -> Iterator[int]:
    """Yield the places of the labels that read as an earlier one, but for case and punctuation."""
    earlier: set[str] = set()
    for place, label in enumerate(labels):
        read = " ".join(_LABEL.findall(label.casefold())) or label.strip()
        if read in earlier:
            yield place
        earlier.add(read)
