"""Definitive classification: a verdict of which a subject is pronounced, by the text itself and without doubt.

"The lesion is benign" is one; "a benign lesion", "the lesion may be benign", "whether it is benign" and "is it
benign?" are none. The list of verdicts, and where the line runs, are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.authority.narrative.hedging import ADVERBS, hedges
from emitter.authority.narrative.reading import LABELS
from emitter.authority.narrative.verdicts import (
    ALONE,
    BEHIND,
    CONDITIONS,
    COPULAS,
    DOUBTS,
    FOUND,
    FURTHER,
    HARD_S,
    ILL,
    MAYBE,
    NO_VERDICT,
    OPENS,
    PARTLY,
    RELATIVES,
    SUBJECTS,
    TESTED_AS,
    TESTS,
    VERDICTS,
    WHEN,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.authority.narrative.reading import Clause, Sentence

_TAKES_BACK = RELATIVES | ADVERBS | MAYBE
_OPENS_IN_DOUBT = ADVERBS | PARTLY
_NEAR = 3
_FAR = 30
"""So far back a verdict is looked at for what takes it out of doubt or puts it there."""
_FURTHER = 10
_SHORT = 4
"""So many words at most has an adverbial that a sentence begins with: "in some cases, ..."."""
_LEADS_IN = ADVERBS | {"in", "for", "at", "with", "under", "as"}
_DEFINED = frozenset({"a", "an", "any"})
_DEFINITION = 10


def verdicts(sentence: Sentence) -> Iterator[Clause]:
    """Yield the clauses of a sentence that pronounce a verdict."""
    if sentence.asks:
        return
    doubtful = waiting = False
    for each in sentence.clauses:
        if not doubtful and (
            _pronounces(each.words) or _alone(each, sentence) or (waiting and ALONE.begin(each.words))
        ):
            yield each
        waiting = waiting or (each.words[-1] in COPULAS and len(each.words) > 1)
        doubtful = _leads_in(each.words)


def _leads_in(words: Sequence[str]) -> bool:
    """Say whether a clause leads up to what is said with a hedge: "in some cases, ..."."""
    return len(words) <= _SHORT and words[0] in _LEADS_IN and hedges(words)


def _pronounces(words: Sequence[str]) -> bool:
    return any(
        _found(words, at) and _asserted(words, at) and not _defines(words, at) for at in range(1, len(words))
    ) or (
        len(words) > 1 and words[0] in {"qualifies", "constitutes", "violates", "complies", "meets", "passes", "fails"}
    )


def _found(words: Sequence[str], at: int) -> bool:
    word = words[at]
    return (
        (word in FOUND.beginnings and FOUND.begin(words, at) and not NO_VERDICT.begin(words, at))
        or (word in COPULAS and _further(words, at))
        or (word in ILL.beginnings and words[at - 1] in SUBJECTS and ILL.begin(words, at))
        or (
            word in TESTED_AS.beginnings
            and bool(TESTS & set(words[max(0, at - _FAR) : at]))
            and TESTED_AS.begin(words, at)
        )
        or (word == "'s" and _is_contracted(words, at))
    )


def _further(words: Sequence[str], at: int) -> bool:
    """Say whether a verdict is added to something else that is said of a subject: "is old and unsafe"."""
    return any(
        words[place] in FURTHER
        and ALONE.begin(words, place + 1)
        and (
            place + 2 == len(words)
            or BEHIND.intersection(words[place + 2 : place + 4])
            or words[place + 1] not in VERDICTS
        )
        for place in range(at + 2, min(at + _FURTHER, len(words) - 1))
    )


def _is_contracted(words: Sequence[str], at: int) -> bool:
    """Say whether "'s" is the verb of a verdict, not the ending of an owner: "the product's safe to use"."""
    following = [word for word in words[at + 1 : at + 4] if word not in {"not", "now", "perfectly", "completely"}]
    return following[:1] != [] and following[0] in VERDICTS and (len(following) == 1 or following[1] in HARD_S)


def _asserted(words: Sequence[str], at: int) -> bool:
    """Say whether the text itself says what begins at a place, and says it as a fact."""
    before = words[max(0, at - _FAR) : at]
    if before[-1] in _TAKES_BACK and at > 1:
        return False
    if words[0] in _OPENS_IN_DOUBT or (words[0] == "not" and at > 1):
        return False
    if OPENS & set(before) or CONDITIONS & set(before[-_NEAR:]):
        return False
    return not DOUBTS.within(before)


def _defines(words: Sequence[str], at: int) -> bool:
    return words[0] in _DEFINED and bool(WHEN & set(words[at + 2 : at + _DEFINITION]))


def _alone(clause: Clause, sentence: Sentence) -> bool:
    last = clause is sentence.clauses[-1] or clause.mark == "|"
    return last and (len(sentence.clauses) == 1 or clause.mark in LABELS) and ALONE.fill(clause.words)
