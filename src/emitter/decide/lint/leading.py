"""Whether the stem leads: section 5.5, by the surface of the question.

The signs are those of leading survey questions: a tag, a negative interrogative, an adverb that presupposes the answer,
the first person's lean, consent taken for granted, and an evaluation of one side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.decide.lint.phrases import Phrases, lexicon
from emitter.decide.lint.position import without_leads
from emitter.decide.lint.pressing import presses
from emitter.decide.lint.synopsis import asks
from emitter.decide.lint.text import Clause, clauses
from emitter.decide.lint.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Sequence

AUXILIARIES = lexicon("is are was were am do does did have has had can could will would shall should may might must")
_PRONOUNS = lexicon("i you he she it we they that this there")
_POLAR = AUXILIARIES | VERBS
"""What a question that yes or no would answer begins with: "is it released?", and shorter, "release it?"."""
_TAGS = Phrases.of(
    "right|correct|no|yes|agreed|ok|yeah|true|deal",
    "|".join(sorted(AUXILIARIES)) + " [not] " + "|".join(sorted(_PRONOUNS)) + " [not] [think|agree|say]",
)
_AGREES = Phrases.of(
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
_CONFIRMS = Phrases.of("confirm|approve|accept|agree|authorise|authorize")
_LEANS = Phrases.of(
    "i|we [would|do|strongly|therefore|still|also] "
    "recommend|suggest|advise|favour|favor|prefer|lean|think|believe|feel",
    "i|we am|are leaning|inclined",
    "i|we would [strongly|rather|personally] go|choose|pick|take|opt|say",
    "my|our .. preference|recommendation|view|advice|opinion|favourite|favorite|lean|suggestion is|was|would",
    "given|per|following|since|with my|our [own|clear] preference|recommendation|view|advice|opinion|suggestion",
    "if you ask me|us",
    "in my|our [humble|honest] view|opinion|judgment|judgement",
)
_ASKED_LEAN = lexicon("do did should shall can could would")
_PRESUPPOSES = lexicon("obviously surely undoubtedly evidently plainly")
_SOFTER = lexicon("clearly simply just naturally certainly definitely merely seriously")
_JUST_NOW = lexicon("came come went got now before after over under as in below above enough begun")
_PRESUPPOSING = Phrases.of(
    "of course",
    "no|without doubt",
    "obvious|clear choice|answer|solution|move|way|winner",
    "only sensible|reasonable|responsible|sane",
    "really want|need|any|necessary|going",
    "i|we|you finally",
)
_DETERMINERS = lexicon("a an the this that any some for by with of in from no its our their such as")
_EVALUATES = Phrases.of(
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
_VALUES = Phrases.of(
    "sensible|wise|wiser|prudent|smart|logical|responsible answer|choice|thing|move|option|course|call|step|one",
    "right thing",
)
_DISMISSES = lexicon("""
    needless needlessly pointless reckless foolish irresponsible senseless careless shaky exhausting silly absurd
    ridiculous disastrous inflated overpriced outdated outmoded bloated unfair unreasonable excessive wasteful hopeless
    unreliable crumbling clumsy exorbitant unjustified useless dubious shoddy flimsy generous superb outstanding
    unbeatable golden fantastic wonderful brilliant
""")
_WANTS = "want|willing|prepared|ready|like|afford"
_LOSES = "risk|lose|endanger|jeopardise|jeopardize|gamble|suffer|expose|throw|waste|miss|forgo|regret|harm|ruin|damage"
_DARES = Phrases.of(
    f"do|are|would|can|is you|we|i [really|seriously] {_WANTS} .. to {_LOSES}",
    f"do|are|would|can|is you|we|i [really|seriously] {_WANTS} .. to be liable|responsible|blamed|exposed|sued",
    f"do|are|would|can|is you|we|i [really|seriously] {_WANTS} to put .. at risk",
    "would|should|do|can|shall we|you|i endanger|jeopardise|jeopardize|gamble|ruin|risk",
)


def leads(stem: str) -> bool:
    """Say whether a stem leads by how it is put."""
    parts = clauses(stem)
    if any(_leads(each.words) for each in parts) or presses(parts, asked=asks(stem)):
        return True
    return _presses(parts) if asks(stem) else any(_CONFIRMS.begin(without_leads(each.words)) for each in parts[:1])


def polar(stem: str) -> bool:
    """Say whether a stem can be answered with yes or no."""
    parts = [without_leads(each.words) for each in clauses(stem)]
    asked = any(each and each[0] in _POLAR for each in (*parts[:1], *parts[-1:]))
    return asked and asks(stem) and not any("or" in each for each in parts)


def _leads(words: Sequence[str]) -> bool:
    leans = _LEANS.within(words) and not _asked_for_lean(words)
    return leans or _CLAIMS.within(words) or _presupposes(words)


def _presses(parts: Sequence[Clause]) -> bool:
    """Say whether a question has a tag, is a negative one, or is put so that yes or no is absurd."""
    tagged = any(each.mark == "," and _TAGS.fill(each.words) for each in parts[-1:])
    return tagged or any(_negative(each.words) or _values(without_leads(each.words)) for each in parts)


def _negative(words: Sequence[str]) -> bool:
    asked = without_leads(words)
    if not asked or asked[0] not in AUXILIARIES or "or" in asked[:3]:
        return False
    return asked[1:2] == ("not",) or (asked[2:3] == ("not",) and asked[1] in _PRONOUNS)


def _values(words: Sequence[str]) -> bool:
    """Say whether a yes-or-no question praises one side, or runs the other down."""
    if not words or words[0] not in AUXILIARIES:
        return False
    rather = "rather" in words[:4] and "or" not in words
    return rather or not _DISMISSES.isdisjoint(words) or _VALUES.within(words) or _DARES.begin(words)


def _presupposes(words: Sequence[str]) -> bool:
    if not _PRESUPPOSES.isdisjoint(words) or _PRESUPPOSING.within(words):
        return True
    return any(word in _SOFTER and not _attributive(words, place) for place, word in enumerate(words))


def _attributive(words: Sequence[str], place: int) -> bool:
    """Say whether an adverb belongs to the word behind it, inside a noun's phrase: "the clearly marked parcel"."""
    before = words[place - 1] if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if words[place] == "just":
        return before in _DETERMINERS or after in _JUST_NOW or after.endswith("ed")
    return after.endswith(("ed", "en", "ing")) and before not in AUXILIARIES | _PRONOUNS


def _asked_for_lean(words: Sequence[str]) -> bool:
    """Say whether the lean is the question's own matter: "which plan do we recommend?"."""
    return any(
        word in _ASKED_LEAN and words[place + 1 : place + 2] in (("we",), ("i",)) for place, word in enumerate(words)
    )
