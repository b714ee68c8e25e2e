"""Find definitive classifications, imperatives and duties in a sentence.

Source: RFC-0011. The rules that recognize them are ours.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from emitter.authority.narrative.grammar import ADVERBS, contains_hedge
from emitter.authority.narrative.lexicon import (
    ADVERBIAL,
    ALONE,
    ARTICLES,
    ASKS,
    BEFORE,
    BEHIND,
    CONDITIONS,
    COPULAS,
    DOUBTS,
    DUTIES,
    FINITE,
    FOLLOWING,
    FOUND,
    FURTHER,
    GERUNDS,
    HARD_S,
    HAVES,
    ILL,
    INTRODUCES,
    KNOWN,
    MAYBE,
    MODALS,
    NEEDS,
    NO_VERDICT,
    NOT_ORDERS,
    NOUNS,
    OPENS,
    ORDERS,
    PARTLY,
    PLAINLY,
    RELATIVES,
    REQUIRED_LAST,
    SOFTENS,
    STATES,
    SUBJECTS,
    TELLS,
    TESTED_AS,
    TESTS,
    VERBS_IN_LY,
    VERDICTS,
    WHEN,
    WHO_ASKS,
)
from emitter.authority.narrative.text import LABELS
from emitter.checks.english import DETERMINERS, SUBORDINATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.authority.narrative.text import Clause, Sentence

_TAKES_BACK = RELATIVES | ADVERBS | MAYBE
_OPENS_IN_DOUBT = ADVERBS | PARTLY
_VERDICT_DISTANCE = 3
_FAR = 30
"""So far back a verdict is looked at for what takes it out of doubt or puts it there."""
_FURTHER = 10
_SHORT = 4
"""So many words at most has an adverbial that a sentence begins with: "in some cases, ..."."""
_LEADS_IN = ADVERBS | {"in", "for", "at", "with", "under", "as"}
_DEFINED = frozenset({"a", "an", "any"})
_DEFINITION = 10


def find_verdicts(sentence: Sentence) -> Iterator[Clause]:
    """Yield the clauses of a sentence that pronounce a verdict."""
    if sentence.asks:
        return
    doubtful = waiting = False
    for each in sentence.clauses:
        if not doubtful and (
            _pronounces(each.words) or _alone(each, sentence) or (waiting and ALONE.startswith(each.words))
        ):
            yield each
        waiting = waiting or (each.words[-1] in COPULAS and len(each.words) > 1)
        doubtful = _leads_in(each.words)


def _leads_in(words: Sequence[str]) -> bool:
    """Say whether a clause leads up to what is said with a hedge: "in some cases, ..."."""
    return len(words) <= _SHORT and words[0] in _LEADS_IN and contains_hedge(words)


def _pronounces(words: Sequence[str]) -> bool:
    return any(
        _found(words, at) and _asserted(words, at) and not _defines(words, at) for at in range(1, len(words))
    ) or (
        len(words) > 1 and words[0] in {"qualifies", "constitutes", "violates", "complies", "meets", "passes", "fails"}
    )


def _found(words: Sequence[str], at: int) -> bool:
    word = words[at]
    return (
        (word in FOUND.beginnings and FOUND.startswith(words, at) and not NO_VERDICT.startswith(words, at))
        or (word in COPULAS and _further(words, at))
        or (word in ILL.beginnings and words[at - 1] in SUBJECTS and ILL.startswith(words, at))
        or (
            word in TESTED_AS.beginnings
            and bool(TESTS & set(words[max(0, at - _FAR) : at]))
            and TESTED_AS.startswith(words, at)
        )
        or (word == "'s" and _is_contracted(words, at))
    )


def _further(words: Sequence[str], at: int) -> bool:
    """Say whether a verdict is added to something else that is said of a subject: "is old and unsafe"."""
    return any(
        words[place] in FURTHER
        and ALONE.startswith(words, place + 1)
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
    if OPENS & set(before) or CONDITIONS & set(before[-_VERDICT_DISTANCE:]):
        return False
    return not DOUBTS.contains(before)


def _defines(words: Sequence[str], at: int) -> bool:
    return words[0] in _DEFINED and bool(WHEN & set(words[at + 2 : at + _DEFINITION]))


def _alone(clause: Clause, sentence: Sentence) -> bool:
    last = clause is sentence.clauses[-1] or clause.mark == "|"
    return last and (len(sentence.clauses) == 1 or clause.mark in LABELS) and ALONE.fullmatch(clause.words)


_FIRST = frozenset({"", ".", "!", "?", ":", "(", "[", "\u201c", '"', "\u2013", "\u2014", "-"})
"""The marks after which an order may stand as a sentence of its own does."""
_LINKS = frozenset({"so", "then", "please"})
_LINKED = ORDERS - FINITE
_NO_LINK = frozenset({"and", "or", "do", "did", "does"})
_DONE = frozenset({"taken", "done", "made", "cut", "put", "sent", "built", "seen", "drawn", "written", "paid"})
_BEFORE_NOUNS = INTRODUCES | DETERMINERS
_VERBS_ONLY = KNOWN - NOUNS
_ACTS = KNOWN | STATES
_OBJECTS = DETERMINERS - {"that"}
_NO_VERB_AFTER = FOLLOWING | ASKS | {"that"}
_NEEDS = NEEDS | HAVES
_ARTICLES = frozenset({"a", "an", "the", "no", "that", "our", "we", "i"})
_FEW = 7
_DUTY_DISTANCE = 5
_ASKED = 4
_IF = 2
_NOT_DUTIES = frozenset({"do", "say", "admit", "been"})


def find_orders(sentence: Sentence) -> Iterator[Clause]:
    """Yield the clauses of a sentence that are orders."""
    if sentence.asks:
        return
    led = False
    for each in sentence.clauses:
        if _is_order(each, led=led, last=each is sentence.clauses[-1]):
            yield each
        led = each.words[0] in INTRODUCES or each.words[0].endswith("ly")


def find_duties(sentence: Sentence) -> Iterator[Clause]:
    """Yield the clauses of a sentence that state a duty."""
    if not sentence.asks:
        yield from (each for each in sentence.clauses if _states(each.words))


def _is_order(clause: Clause, *, led: bool, last: bool) -> bool:
    words = _without_leads(clause.words)
    if not words or TELLS.startswith(words):
        return False
    if PLAINLY.startswith(words):
        return True
    if clause.mark in _FIRST:
        return (_begins(words) and (len(words) > 1 or last or words[0] not in NOUNS)) or _joined(words)
    return (led or clause.words[0] in {"so", "then"}) and _begins(words)


def _without_leads(words: Sequence[str]) -> Sequence[str]:
    for place, word in enumerate(words):
        if word == "please" or word in VERBS_IN_LY or not (word in BEFORE or word.endswith("ly")):
            return words[place:]
    return ()


def _begins(words: Sequence[str]) -> bool:
    """Say whether some words begin with a verb that tells to act."""
    verb, following = words[0], "".join(words[1:2])
    if verb == "have":
        return following in DETERMINERS and any(_is_done(word) for word in words[3:_FEW])
    if verb in NOT_ORDERS or following in FINITE:
        return False
    if verb in _VERBS_ONLY:
        return not _is_subject(words)
    if verb in KNOWN:
        return following in FOLLOWING or _goes_on(words)
    return following in _OBJECTS and not verb.endswith(("ing", "ly", "ed", "s")) and _takes(words)


def _is_done(word: str) -> bool:
    return word.endswith("ed") or word in _DONE or word in KNOWN


def _takes(words: Sequence[str]) -> bool:
    """Say whether a word before an object is a verb of it, not a noun before its clause: "money a tenant pays"."""
    return words[1] not in _ARTICLES or (len(words) <= _FEW and not "".join(words[3:4]).endswith("s"))


def _goes_on(words: Sequence[str]) -> bool:
    """Say whether what follows a verb makes it an order, though it is a noun as well: "wait 30 minutes"."""
    following = "".join(words[1:2])
    if words[0] in GERUNDS and following.endswith("ing"):
        return True
    if words[0] in ORDERS and (following.endswith("ly") or following in ADVERBIAL):
        return True
    return following != "that" and not _has_verb(words)


def _has_verb(words: Sequence[str]) -> bool:
    """Say whether another word may be the verb of a clause; where none is, the first one is, and orders."""
    many = False
    for before, word in pairwise(words):
        if word in SUBORDINATE or word == "that":
            return False
        if before not in _BEFORE_NOUNS and (_is_finite(word) or (many and word in _ACTS)):
            return True
        many = many or word.endswith("s")
    return False


def _is_finite(word: str) -> bool:
    if word in FINITE or word.endswith("ed"):
        return True
    return word.endswith("s") and (word[:-1] in _ACTS or word[:-2] in _ACTS)


def _is_subject(words: Sequence[str]) -> bool:
    """Say whether what looks like a verb is a noun, with its own verb soon after: "rest is what helps"."""
    for word in words[1:_DUTY_DISTANCE]:
        if word in _NO_VERB_AFTER:
            return False
        if word in FINITE:
            return True
    return False


def _joined(words: Sequence[str]) -> bool:
    """Say whether an order follows a link in the same clause: "it hurts, and call", "works so stop"."""
    return any(
        words[place] in _LINKS and words[place + 1] in _LINKED and words[place - 1] not in _NO_LINK
        for place in range(1, len(words) - 1)
    )


def _states(words: Sequence[str]) -> bool:
    if words[-1] in REQUIRED_LAST and len(words) > 1 and {"is", "are"} & set(words[-3:-1]):
        return True
    return any(_obliges(words, at) and not _asked(words, at) for at in range(len(words)))


def _obliges(words: Sequence[str], at: int) -> bool:
    word, before, after = words[at], words[max(0, at - 1) : at], words[at + 1 : at + 2]
    if word in MODALS:
        return bool(before) and before[0] not in ARTICLES and after[:1] != ("have",) and after[:1] != ("of",)
    if word in _NEEDS:
        return _needs(words, at)
    return word in DUTIES.beginnings and DUTIES.startswith(words, at)


def _needs(words: Sequence[str], at: int) -> bool:
    if at == 0 or words[at - 1] in ARTICLES or SOFTENS & set(words[max(0, at - 2) : at]):
        return False
    if words[at + 1 : at + 2] == ("not",):
        return words[at] == "need"
    return words[at + 1 : at + 2] == ("to",) and words[at + 2 : at + 3] != () and words[at + 2] not in _NOT_DUTIES


def _asked(words: Sequence[str], at: int) -> bool:
    """Say whether a duty is asked about: "whether patients should fast", "if one must"."""
    near = words[max(0, at - _ASKED) : at]
    who = any(one in WHO_ASKS and other == "who" for one, other in pairwise(near))
    return who or bool(ASKS & set(near)) or "if" in near[-_IF:]
