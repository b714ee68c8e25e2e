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
    custom
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
    "none|neither|not|nothing [one] of|any [of] the|these|those|them|this [options|choices|answers|ones|above|listed] "
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
    "[let] [the] you|agent|assistant|ai decide|choose|pick [for] [me]",
    "up to you",
    "you tell me",
    "whatever|whichever [option|one] you think|prefer|like|want|recommend|say [is] [best|right]",
    "reject|revisit|reconsider|dispute|challenge|change [the|this] question",
)
_SPECIFY = re.compile(
    r"(?<=\w)\s*(?:[(\[,:;\u2013\u2014/-]\s*(?:please )?|\bplease )"
    r"(?:specify|describe|explain|tell|state|name|fill in)\b.{0,40}\Z",
    re.IGNORECASE,
)
"""The request for one's own words behind a label: "other (please specify)"."""
_LABEL = re.compile(r"[-+\u2212]?\d+(?:[.,:/]\d+)*|[^\W_]+|[^\w\s.,;:!?…\"'\u201c\u201d\u2018\u2019()\[\]{}-]")


def hatch(label: str) -> bool:
    """Say whether a label only opens one of the hatches, or puts the decision off, instead of answering."""
    said = _SPECIFY.sub("", label[: _LONGEST * 32])
    spoken = words(said)
    return 0 < len(spoken) <= _LONGEST and (_HATCHES.fill(spoken) or _is_about_asking(spoken))


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
