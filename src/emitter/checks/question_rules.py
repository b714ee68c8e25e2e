"""Rules for the question: a neutral stem, options that answer it, balanced talk of losses (sections 5.5, 5.6)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from emitter.checks.english import (
    VERBS,
    Phrases,
    TextClause,
    content_stems,
    split_clauses,
    split_words,
    strip_ending,
    word_set,
)
from emitter.checks.synopsis import is_question, strip_leading_links

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from emitter.models import Question

AUXILIARIES = word_set("is are was were am do does did have has had can could will would shall should may might must")
_PRONOUNS = word_set("i you he she it we they that this there")
_POLAR = AUXILIARIES | VERBS
"""What a question that yes or no would answer begins with: "is it released?", and shorter, "release it?"."""
_TAGS = Phrases.from_lines(
    "right|correct|no|yes|agreed|ok|yeah|true|deal",
    "|".join(sorted(AUXILIARIES)) + " [not] " + "|".join(sorted(_PRONOUNS)) + " [not] [think|agree|say]",
)
_AGREES = Phrases.from_lines(
    "do|would|will|can you [also] agree|concur that",
    "do|would|will|can you [also] agree|concur with me|us|it|this",
    "are you [quite|really] sure|certain",
    "as i|we [have] [already] recommended|suggested|advised|proposed|recommend|suggest|advise|propose",
    "you are|will [surely] fine|ok|happy|good|comfortable with",
    "can|may|shall|could i|we [safely] assume|presume|conclude|agree",
    "i|we assume|presume",
    "i trust|gather you|that|it|we",
    "i|we take it",
    "unless you object|disagree",
    "are|is we [all] agreed|good|set",
)
_CONFIRMS = Phrases.from_lines("confirm|approve|accept|agree|authorise|authorize")
_LEANS = Phrases.from_lines(
    "i|we [would|do|strongly|therefore|still|also] "
    "recommend|suggest|advise|favour|favor|prefer|lean|think|believe|feel",
    "i|we am|are leaning|inclined",
    "i|we would [strongly|rather|personally] go|choose|pick|take|opt|say",
    "my|our .. preference|recommendation|view|advice|opinion|favourite|favorite|lean|suggestion is|was|would",
    "given|per|following|since|with my|our [own|clear] preference|recommendation|view|advice|opinion|suggestion",
    "if you ask me|us",
    "in my|our [humble|honest] view|opinion|judgment|judgement",
)
_ASKED_LEAN = word_set("do did should shall can could would")
_PRESUPPOSES = word_set("obviously surely undoubtedly evidently plainly")
_SOFTER = word_set("clearly simply just naturally certainly definitely merely seriously")
_JUST_NOW = word_set("came come went got now before after over under as in below above enough begun")
_PRESUPPOSING = Phrases.from_lines(
    "of course",
    "no|without doubt",
    "obvious|clear choice|answer|solution|move|way|winner",
    "only sensible|reasonable|responsible|sane",
    "really want|need|any|necessary|going",
    "i|we|you finally",
)
_DETERMINERS = word_set("a an the this that any some for by with of in from no its our their such as")
_EVALUATES = Phrases.from_lines(
    "what justifies|excuses",
    "no brainer",
    "of a lifetime",
    "i|we|everyone|everybody all agree|know",
    "everyone|everybody [else] agrees|knows",
    "everyone|everybody else is|does|has|would",
    "everyone|everybody is moving|switching|leaving|doing",
    "why not|wait|risk|bother|delay|keep|gamble|would|stay|stick|settle|continue|hesitate|take|put",
    "is it [not] fair|safe|reasonable|right to say|assume|conclude",
    "is there [a|any|much] point|sense in|to",
    "we be sensible|wise|smart|prudent|responsible|reasonable|realistic",
    "makes|make no|little sense",
    "any [good] reason|point|need [to|why] not|delay|wait|keep|hold",
    "reason not to",
    "what .. to lose",
    "would [not] it [not] be [far|much] better|wiser|safer|smarter|fairer|easier|simpler",
    "is it [not] [far|much] better|wiser|safer|smarter|fairer|easier|simpler",
    "better|wiser|safer|smarter|fairer .. than",
    "is|are|be .. a waste of",
    "accept|run the risk of",
)
_CLAIMS = _AGREES | _EVALUATES
_VALUES = Phrases.from_lines(
    "sensible|wise|wiser|prudent|smart|logical|responsible answer|choice|thing|move|option|course|call|step|one",
    "right thing",
)
_DISMISSES = word_set("""
    needless needlessly pointless reckless foolish irresponsible senseless careless shaky exhausting silly absurd
    ridiculous disastrous inflated overpriced outdated outmoded bloated unfair unreasonable excessive wasteful hopeless
    unreliable crumbling clumsy exorbitant unjustified useless dubious shoddy flimsy generous superb outstanding
    unbeatable golden fantastic wonderful brilliant
""")
_WANTS = "want|willing|prepared|ready|like|afford"
_LOSES = "risk|lose|endanger|jeopardise|jeopardize|gamble|suffer|expose|throw|waste|miss|forgo|regret|harm|ruin|damage"
_DARES = Phrases.from_lines(
    f"do|are|would|can|is you|we|i [really|seriously] {_WANTS} .. to {_LOSES}",
    f"do|are|would|can|is you|we|i [really|seriously] {_WANTS} .. to be liable|responsible|blamed|exposed|sued",
    f"do|are|would|can|is you|we|i [really|seriously] {_WANTS} to put .. at risk",
    "would|should|do|can|shall we|you|i endanger|jeopardise|jeopardize|gamble|ruin|risk",
)


def is_leading(stem: str) -> bool:
    """Return whether a stem leads by how it is put."""
    parts = split_clauses(stem)
    if any(_has_leading_phrase(each.words) for each in parts) or is_pressuring(parts, is_question=is_question(stem)):
        return True
    return (
        _is_pressing_question(parts)
        if is_question(stem)
        else any(_CONFIRMS.startswith(strip_leading_links(each.words)) for each in parts[:1])
    )


def is_yes_no_question(stem: str) -> bool:
    """Return whether a stem can be answered with yes or no."""
    parts = [strip_leading_links(each.words) for each in split_clauses(stem)]
    asked = any(each and each[0] in _POLAR for each in (*parts[:1], *parts[-1:]))
    return asked and is_question(stem) and not any("or" in each for each in parts)


def _has_leading_phrase(words: Sequence[str]) -> bool:
    leans = _LEANS.contains(words) and not _asked_for_lean(words)
    return leans or _CLAIMS.contains(words) or _presupposes(words)


def _is_pressing_question(parts: Sequence[TextClause]) -> bool:
    """Return whether a question has a tag, is a negative one, or is put so that yes or no is absurd."""
    tagged = any(each.mark == "," and _TAGS.fullmatch(each.words) for each in parts[-1:])
    return tagged or any(_negative(each.words) or _values(strip_leading_links(each.words)) for each in parts)


def _negative(words: Sequence[str]) -> bool:
    asked = strip_leading_links(words)
    if not asked or asked[0] not in AUXILIARIES or "or" in asked[:3]:
        return False
    return asked[1:2] == ("not",) or (asked[2:3] == ("not",) and asked[1] in _PRONOUNS)


def _values(words: Sequence[str]) -> bool:
    """Return whether a yes-or-no question praises one side, or runs the other down."""
    if not words or words[0] not in AUXILIARIES:
        return False
    rather = "rather" in words[:4] and "or" not in words
    return rather or not _DISMISSES.isdisjoint(words) or _VALUES.contains(words) or _DARES.startswith(words)


def _presupposes(words: Sequence[str]) -> bool:
    if not _PRESUPPOSES.isdisjoint(words) or _PRESUPPOSING.contains(words):
        return True
    return any(word in _SOFTER and not _attributive(words, place) for place, word in enumerate(words))


def _attributive(words: Sequence[str], place: int) -> bool:
    """Return whether an adverb belongs to the word behind it, inside a noun's phrase: "the clearly marked parcel"."""
    before = words[place - 1] if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if words[place] == "just":
        return before in _DETERMINERS or after in _JUST_NOW or after.endswith("ed")
    return after.endswith(("ed", "en", "ing")) and before not in AUXILIARIES | _PRONOUNS


def _asked_for_lean(words: Sequence[str]) -> bool:
    """Return whether the lean is the question's own matter: "which plan do we recommend?"."""
    return any(
        word in _ASKED_LEAN and words[place + 1 : place + 2] in (("we",), ("i",)) for place, word in enumerate(words)
    )


_ASKS = word_set("is are was do does did can could will would shall should may might must have has")
_US = word_set("we i there")
_CONCLUDES = word_set("so then")
_NO_ACTS = word_set("do have be need")
_PARAGON = (
    "responsible|reasonable|sensible|careful|prudent|good|decent|serious|sane|rational|caring|conscientious|cautious|"
    "experienced|competent"
)
_REASONS = Phrases.from_lines(
    "since|because",
    "given|considering|seeing|now that",
    "as the|we|you|they|most|all|our|your|experts|it",
    "with ... so|already|still",
    "before it is too",
)
_ELLIPSIS = Phrases.from_lines(
    "ready|keen|eager|excited|happy|glad|delighted to|for|with",
    "are|would you [be] [now] ready|keen|eager|excited|happy|glad|delighted to|for|with|if",
)
"""What takes consent for a mood; without an "or" behind it."""
_RHETORIC = Phrases.from_lines(
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


def is_pressuring(parts: Sequence[TextClause], *, is_question: bool) -> bool:
    """Return whether a stem of these clauses argues or presses; ``asked`` tells whether it ends as a question."""
    if any(_RHETORIC.contains(each.words) or _is_idle_why(each.words) for each in parts):
        return True
    return is_question and not any("or" in each.words for each in parts) and (_moods(parts) or _argues(parts))


def _is_idle_why(words: Sequence[str]) -> bool:
    """Return whether a clause asks why one would do a thing, which nobody asks who would: "why pay more?"."""
    return words[:1] == ("why",) and any(each in VERBS and each not in _NO_ACTS for each in words[1:2])


def _moods(parts: Sequence[TextClause]) -> bool:
    return any(_ELLIPSIS.startswith(each.words) for each in parts[:1])


def _argues(parts: Sequence[TextClause]) -> bool:
    """Return whether a reason stands before a proposal: a question to which we, or I, would say yes or no."""
    for last in (each.words for each in parts[1:][-1:]):
        concludes = last[0] in _CONCLUDES
        proposed = [word in known for word, known in zip(last[concludes:], (_ASKS, _US), strict=False)]
        if proposed == [True, True]:
            return concludes or any(_REASONS.startswith(each.words) for each in parts[:-1])
    return False


_GIVES_A_CHOICE = frozenset({"whether", "or"})
_CIRCUMSTANCE = Phrases.from_lines("when|who", "how soon|fast|quickly|early|long|many|much")
_NEGATIONS = frozenset({"no", "not"})
_LIGHT = word_set("take make do get go keep give let put use have leave set stay hold")
_BEFORE_NOUNS = word_set("the a an this that our your its their of on in for with by next last no")


def names_recommended(question: Question) -> bool:
    """Return whether the stem holds the recommended option and no other."""
    asked = split_words(question.stem)
    if not _GIVES_A_CHOICE.isdisjoint(asked) or is_yes_no_question(question.stem):
        return False
    own = _own([content_stems(each.label) for each in question.options])
    said = content_stems(question.stem)
    if any(said & each for place, each in enumerate(own) if place != question.recommended_idx):
        return False
    recommended = own[question.recommended_idx]
    return _holds(asked, split_words(question.recommended.label), recommended) or (
        _settled(asked) and bool(said & recommended)
    )


def _own(labels: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return of each label what no other has."""
    return [
        each.difference(_NEGATIONS, *(other for at, other in enumerate(labels) if at != place))
        for place, each in enumerate(labels)
    ]


def _settled(asked: Sequence[str]) -> bool:
    """Return whether a stem asks for a circumstance, which takes it for granted that something is done."""
    return "if" not in asked and _CIRCUMSTANCE.contains(asked)


def _holds(asked: Sequence[str], label: Sequence[str], own: frozenset[str]) -> bool:
    verb = label[0] if label and label[0] in VERBS else ""
    if verb and verb not in _LIGHT and strip_ending(verb) in own and _as_verb(asked, verb):
        return True
    said = {strip_ending(word) for word in asked}
    heavy = own - {strip_ending(verb)} if verb in _LIGHT else own
    return bool(heavy) and heavy <= said and heavy != frozenset({strip_ending(verb)})


def _as_verb(asked: Sequence[str], verb: str) -> bool:
    """Return whether a verb stands in a stem other than as a noun: "the release" is the matter, not the answer."""
    return any(
        strip_ending(word) == strip_ending(verb) and place > 0 and asked[place - 1] not in _BEFORE_NOUNS
        for place, word in enumerate(asked)
    )


_LONGEST = 12
"""A label of more words is no hatch: it says more than that."""
_ABOUT = word_set("""
    discuss discussing discussion talk talking chat dialogue deliberate deliberation conversation question questions
    decide deciding decision undecided unsure clarify clarification elaborate explain specify info information
    details context idea ideas suggestion suggestions think thinking preference opinion reframe rephrase framing
    premise listed above clarifying disagree options choices alternative alternatives comment comments feedback else
    custom pros cons revisit reconsider reconsidering rethink rethinking reframed rephrased ponder judgment judgement
    objection objections
""")
"""Words about the question, the answers and the talk on them, one of which a hatch has."""
_BESIDE = word_set("""
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
_HATCHES = Phrases.from_lines(
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
_WANTS_FIRST = Phrases.from_lines(
    "let me think|consult|ask|check|talk|speak|discuss|consider|sleep|look|see|decide|choose|answer|explain|write|type|"
    "propose|suggest|say|know",
    "i|we [would|first|still] [first] like|want|need|prefer|have to [first] "
    "hear|know|see|discuss|talk|ask|think|understand|consider|wait|consult|check|read|review|speak|reflect|decide",
)
_ASKS_FIRST = Phrases.from_lines(
    "before i|we [can|will|have] [to] choose|decide|answer|pick|commit|say|vote|agree|judge|settle|select",
    "before choosing|deciding|answering|picking|committing|voting|agreeing|judging",
    "tell|show|explain|walk|help|convince|remind|give|send|teach me|us [to] [some|the|a|more|through|about|why|how|"
    "what|first|understand|decide|choose] [more] more|why|how|what|first|understand|decide|choose|through|options|"
    "numbers|arguments|reasons|details|evidence|background|explanation",
    "i|we need|want|require|have|would|like [like] [to] [know|see|hear|have|get|understand|ask] [some] [more] "
    "more|information|info|details|clarification|context|answers|time|guidance|clarity",
)
_LABEL = re.compile(r"[-+\u2212]?\d+(?:[.,:/]\d+)*|[^\W_]+|[^\w\s.,;:!?…\"'\u201c\u201d\u2018\u2019()\[\]{}-]")


def is_hatch_label(label: str) -> bool:
    """Return whether a label only opens one of the hatches, or puts the decision off, instead of answering."""
    shortened = label[: _LONGEST * 32]
    spoken = split_words(_SPECIFY.sub("", shortened))
    if not 0 < len(spoken) <= _LONGEST:
        return False
    asks = _ASKS_FIRST.contains(spoken) or _WANTS_FIRST.startswith(spoken)
    return asks or _HATCHES.fullmatch(spoken) or _is_about_asking(spoken) or _is_blank(shortened)


def _is_blank(label: str) -> bool:
    """Return whether a label leaves a blank to be filled in: "custom dosage …", "another date (please state)"."""
    open_ended = _BLANK.fullmatch(label) or _OWN.fullmatch(label)
    return open_ended is not None or (_SPECIFY.search(label) is not None and _OTHER.match(label) is not None)


def _is_about_asking(spoken: list[str]) -> bool:
    """Return whether no word of a label is of the matter that is decided, and one of them of the deciding."""
    rest = _ABOUT | _BESIDE
    alone = len(spoken) == 1 and spoken[0] in {"else", "listed", "above", "options", "details", "choices"}
    return not _ABOUT.isdisjoint(spoken) and rest.issuperset(spoken) and not alone


def find_duplicate_labels(labels: Iterable[str]) -> Iterator[int]:
    """Yield the places of the labels that read as an earlier one, but for case and punctuation."""
    earlier: set[str] = set()
    for place, label in enumerate(labels):
        read = " ".join(_LABEL.findall(label.casefold())) or label.strip()
        if read in earlier:
            yield place
        earlier.add(read)


LOSS_WORDS = word_set("""
    lose loses losing lost loss losses risk risks risking risky riskier danger dangers dangerous endanger endangers
    endangering catastrophe catastrophic disaster disastrous regret regrets suffer suffers suffering ruin ruins
    ruinous harm harms harmful harming damage damages damaging irreversible irreparable jeopardise jeopardize
    jeopardy threat threatens threaten expose exposes exposing liable liability panic reckless fatal gamble gambles
    gambling crippling devastating severe severely hurt hurts fear afraid worst collapse destroy destroys peril
    perilous
""")
_AVOIDS = word_set("avoid avoids avoiding prevent preventing stop spare")


def mentions_loss(text: str) -> bool:
    """Return whether a text has a word of loss or fear."""
    return not LOSS_WORDS.isdisjoint(split_words(text))


def is_loss_one_sided(question: Question) -> bool:
    """Return whether every option but the recommended one is framed as a loss, and that one is not."""
    others = [each for place, each in enumerate(question.options) if place != question.recommended_idx]
    return not mentions_loss(question.recommended.reasoning) and all(mentions_loss(each.reasoning) for each in others)


def is_loss_framed(question: Question) -> bool:
    """Return whether a stem that presses one way speaks of a loss that no option's label has as its matter."""
    asked = split_words(question.stem)
    afraid = LOSS_WORDS.intersection(asked)
    pressing = is_yes_no_question(question.stem) or not _AVOIDS.isdisjoint(asked)
    return (
        bool(afraid)
        and pressing
        and afraid.isdisjoint(word for each in question.options for word in split_words(each.label))
    )
