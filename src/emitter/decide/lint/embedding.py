"""Whether the stem embeds the recommendation: section 5.5.

Of each option's label the content words count that no other label has. A stem embeds the recommended option when it
has that label's own verb, as a verb, or all of its own words, and none of any other option's. A yes-or-no stem names
one option by its form, and one that gives a choice ("whether", "or") names more than one; neither is counted here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.decide.lint.leading import polar
from emitter.decide.lint.overlap import content, stem
from emitter.decide.lint.phrases import Phrases, lexicon
from emitter.decide.lint.text import words
from emitter.decide.lint.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.kinds import Question

_GIVES_A_CHOICE = frozenset({"whether", "or"})
_CIRCUMSTANCE = Phrases.of("when|who", "how soon|fast|quickly|early|long|many|much")
_NEGATIONS = frozenset({"no", "not"})
_LIGHT = lexicon("take make do get go keep give let put use have leave set stay hold")
_BEFORE_NOUNS = lexicon("the a an this that our your its their of on in for with by next last no")


def embeds(question: Question) -> bool:
    """Say whether the stem holds the recommended option and no other."""
    asked = words(question.stem)
    if not _GIVES_A_CHOICE.isdisjoint(asked) or polar(question.stem):
        return False
    own = _own([content(each.label) for each in question.options])
    said = content(question.stem)
    if any(said & each for place, each in enumerate(own) if place != question.recommended_idx):
        return False
    recommended = own[question.recommended_idx]
    return _holds(asked, words(question.recommended.label), recommended) or (
        _settled(asked) and bool(said & recommended)
    )


def _own(labels: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return of each label what no other has."""
    return [
        each.difference(_NEGATIONS, *(other for at, other in enumerate(labels) if at != place))
        for place, each in enumerate(labels)
    ]


def _settled(asked: Sequence[str]) -> bool:
    """Say whether a stem asks for a circumstance, which takes it for granted that something is done."""
    return "if" not in asked and _CIRCUMSTANCE.within(asked)


def _holds(asked: Sequence[str], label: Sequence[str], own: frozenset[str]) -> bool:
    verb = label[0] if label and label[0] in VERBS else ""
    if verb and verb not in _LIGHT and stem(verb) in own and _as_verb(asked, verb):
        return True
    said = {stem(word) for word in asked}
    heavy = own - {stem(verb)} if verb in _LIGHT else own
    return bool(heavy) and heavy <= said and heavy != frozenset({stem(verb)})


def _as_verb(asked: Sequence[str], verb: str) -> bool:
    """Say whether a verb stands in a stem other than as a noun: "the release" is the matter, not the answer."""
    return any(
        stem(word) == stem(verb) and place > 0 and asked[place - 1] not in _BEFORE_NOUNS
        for place, word in enumerate(asked)
    )
