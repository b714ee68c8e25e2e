"""Whether a sentence only sets answers side by side, by its form: "renting costs less and buying lasts longer".

These are forms, not phrases, and a form alone is a weak sign: who asks looks for a position beside it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from emitter.decide.lint.inflected import ACTS, gerund, participle
from emitter.decide.lint.phrases import Phrases, lexicon
from emitter.decide.lint.position import without_leads
from emitter.decide.lint.verbs import SUBORDINATE, UNSETTLED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.decide.lint.text import Clause

_JOINS = lexicon("and but while whereas")
_CONCEDES = SUBORDINATE - {"while", "whereas"}
_FINITE = lexicon("is are was were would will could might may can has have does do seems looks means")
_PRONOUNS = lexicon("it this that they there we i he she which who so")
_COMPARES = lexicon(
    "cheaper faster safer slower quicker easier simpler riskier stronger weaker closer warmer colder quieter louder "
    "larger smaller longer shorter lighter heavier newer older higher lower harder stricter earlier later more less "
    "fewer dearer nearer fairer kinder cleaner tougher milder roomier greener sturdier"
)
_KINDS = {"is": "be", "are": "be", "has": "have", "have": "have", "offers": "offer", "offer": "offer", "would": "would"}
_SOME = Phrases.of("some|others", "half of|the", "one|the side|camp|group|other", "two|three [of]")
_YIELDS = lexicon(
    "costs saves takes brings gives keeps buys adds reduces risks avoids spares leaves lets allows makes lowers raises "
    "requires needs preserves protects cuts gains loses offers helps frees delays lasts feels sounds involves carries "
    "wins earns limits ties spreads exposes improves"
)
"""What a doing brings or takes."""
_ADVERBS = lexicon("also simply just instead then well possibly perhaps always equally either still even easily both")
_NONE = lexicon("no not nothing none nobody neither nor never hardly")
_TO_DO = Phrases.of(
    "whether",
    "what|how|when|where|who|whom|which to",
    "how|which much|many|long|soon|one|option|of .. to",
    "what|which .. should",
)
_KNOWN = lexicon("settled clear decided simple obvious plain irrelevant immaterial easy fixed agreed moot")
_OR = lexicon("or versus vs")
_LONGEST_TITLE = 12
_OTHERWISE = lexicon("no or maybe")
_LONG = 4
"""A word of fewer letters says little."""
_COLONS = frozenset({":", "\u2014", "\u2013", "-"})


def contrasts(parts: Sequence[Clause]) -> bool:
    """Say whether two segments of a sentence praise different answers, by a comparison or as two doings."""
    said = [each for part in parts if _CONCEDES.isdisjoint(part.words[:1]) for each in _segments(part.words)]
    return sum(map(_compares, said)) > 1 or sum(map(_tells_of_doing, said)) > 1


def parallels(parts: Sequence[Clause]) -> bool:
    """Say whether two segments tell something alike of two subjects: "oak is warm, pine is cheap"."""
    said = [without_leads(each) for part in parts for each in _segments(part.words)]
    told = [each for each in map(_predicate, said) if each]
    some = sum(_SOME.begin(each) for each in said)
    return len(told) > len(set(told)) or some > 1


def _predicate(words: Sequence[str]) -> str:
    """Return what kind of thing a segment says of a subject of its own; nothing where it says that it is done."""
    place = next((place for place, word in enumerate(words) if word in _KINDS), 0)
    if place == 0 or words[0] in _PRONOUNS | SUBORDINATE or any(map(participle, words[place + 1 : place + 2])):
        return ""
    return _KINDS[words[place]]


def poses(parts: Sequence[Clause]) -> bool:
    """Say whether a sentence has the question for its subject ("whether to sell is …"), or answers for its title."""
    if not parts[1:]:
        return any(_asks_what(each.words) for each in parts)
    title, answer = parts[0].words, parts[1].words
    named = parts[1].mark in _COLONS and len(title) <= _LONGEST_TITLE and _FINITE.isdisjoint(title)
    if answer[0] == "yes":
        return named and (answer[1:2] == ("or",) or any(each.words[0] in _OTHERWISE for each in parts[2:3]))
    return named and not _OR.isdisjoint(title) and (not _OR.isdisjoint(answer) or _new(title, answer))


def lists(parts: Sequence[Clause]) -> bool:
    """Say whether doings are listed under a title for one of them to be chosen: "the contract: renew or drop"."""
    titled = any(each.mark in _COLONS for each in parts[1:2]) and _FINITE.isdisjoint(parts[0].words)
    return titled and any(_of_two(each.words) for each in parts[1:])


def _of_two(words: Sequence[str]) -> bool:
    """Say whether two doings are named of which one is to be done: "renegotiate or drop"."""
    return any(one == "or" and other in ACTS for one, other in pairwise(words))


def _asks_what(words: Sequence[str]) -> bool:
    """Say whether a clause has a question for its subject, of which it is not said that the answer is known."""
    told = words[0] == "whether" or not _FINITE.isdisjoint(words[2:])
    return told and _TO_DO.begin(words) and _KNOWN.isdisjoint(words)


def _new(title: Sequence[str], answer: Sequence[str]) -> bool:
    """Say whether what follows a title takes up none of its words, as an answer would."""
    return {each for each in title if len(each) >= _LONG}.isdisjoint(answer)


def only_possible(words: Sequence[str]) -> bool:
    """Say whether a clause tells only that something could be done: "the test might be skipped"."""
    for place, word in enumerate(words):
        if word in {"could", "might"}:
            following = [each for each in words[place + 1 : place + 5] if each not in _ADVERBS]
            return _NONE.isdisjoint(words) and _is_act(following)
    return False


def _is_act(following: Sequence[str]) -> bool:
    passive = following[:1] == ["be"] and any(map(participle, following[1:2]))
    return passive or any(each in ACTS or (each in UNSETTLED and each != "be") for each in following[:1])


def _segments(words: Sequence[str]) -> Iterator[Sequence[str]]:
    start = 0
    for place, word in enumerate(words):
        if word in _JOINS:
            yield words[start:place]
            start = place + 1
    yield words[start:]


def _compares(words: Sequence[str]) -> bool:
    """Say whether a segment has a subject of its own, and says that it is more or less than another."""
    said = without_leads(words)
    about = next((place for place, word in enumerate(said) if word in _FINITE), 0)
    return about > 0 and said[0] not in _PRONOUNS and not _COMPARES.isdisjoint(said[about + 1 : about + 4])


def _tells_of_doing(words: Sequence[str]) -> bool:
    """Say whether a segment's subject is a doing, of which something is said: "waiting costs a week"."""
    said = without_leads(words)
    told = next((place for place, word in enumerate(said) if word in _FINITE or word in _YIELDS), 0)
    return any(map(gerund, said[:1])) and told > 0 and not any(map(participle, said[told + 1 : told + 2]))
