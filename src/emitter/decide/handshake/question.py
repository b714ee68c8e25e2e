"""Whether two envelopes ask the same question: by stem and options, whatever the briefing and the order.

Source: draft-morrison-binding-moment-envelope-00, section 6.2: after a question-space veto the agent "SHALL NOT
respond by re-emitting the same question". The measure is this library's own. It compares words, not meanings: a
question in wholly other words passes for another one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import TYPE_CHECKING, Final

from emitter.decide.handshake.said import Said, said
from emitter.decide.handshake.scope import clauses, refers, without_asides
from emitter.decide.handshake.stem import OBJECTING_STEMS, stem
from emitter.decide.seen import seen

if TYPE_CHECKING:
    from emitter.kinds import BindingMoment

SAME: Final = 0.8
"""From here on two questions are the same."""
_STEM: Final = 0.7
"""How much of the likeness is the stem's; the rest is the options'."""
_OTHER_WORD: Final = 2.5
"""What a word costs that stands in the place of another, in shared words."""
_MORE_WORDS: Final = 0.5
"""What a word costs that one of the two has beside the other's."""
_DECIDING: Final = frozenset({stem("approve")})
"""The idea that is of the answer and not of what is asked about."""
_ALIKE: Final = 0.9
"""From here on labels are the same, and their stems the same decision whichever way they are turned."""
_CLAUSES: Final = 4
"""Clauses of a stem that are compared: those that share most with the other question."""
_OWN: Final = 2
"""Words that a clause has beside the labels', where it is compared with a clause."""
_CONTRARY: Final = 0.5
"""What is left of the likeness of questions that differ in a number, a name, or by being each other's contrary."""


_QUOTES: Final = re.compile(r"(?<!\w)[\"'`“”„‟«»‹›‘’‚]+|[\"'`“”„‟«»‹›‘’‚]+(?!\w)")  # noqa: RUF001
"""Quotation marks at the edge of a word; an apostrophe within one is its own."""
_STARRED: Final = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]{1,200})(?<=[^\s*])\1(?![\w*])")
"""What stands between asterisks, which Markdown emphasizes; one alone may be a wildcard."""
_CLOSING: Final = re.compile(r"[.,;:!?…]+(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read: what its stem says, what each label does, and the words of all of them."""

    stem: Said
    labels: tuple[Said, ...]
    clauses: tuple[tuple[Said, bool], ...] = ()
    recalled: frozenset[str] = frozenset()

    @property
    def words(self) -> frozenset[str]:
        """The words of stem and labels, and those that a word of the stem stands for."""
        return self.stem.words.union(self.recalled, *(each.words for each in self.labels))

    @property
    def exact(self) -> frozenset[str]:
        """The exact words of the labels."""
        return frozenset[str]().union(*(each.exact for each in self.labels))

    @property
    def scope(self) -> frozenset[str]:
        """The narrowing words of stem and labels."""
        return self.stem.scope.union(*(each.scope for each in self.labels))


def asked(moment: BindingMoment) -> Asked:
    """Return the question of an envelope, read."""
    question = moment.question
    labels = tuple(said(each.label) for each in question.options)
    text = without_asides(question.stem)
    return Asked(said(text), labels, _clauses(text))


def same_question(one: BindingMoment, other: BindingMoment) -> float:
    """Return how far ``other`` asks again what ``one`` asked, from 0 to 1; from ``SAME`` on it is the same question.

    Stems and labels are compared by the stems of their words and by tables of English synonyms, forms and verbs with a
    particle, as they are read: without what nobody sees, case, accents, punctuation and little words; labels are
    matched in whichever order fits best, and one more that only says "not sure" does not count. A word that replaces
    another counts more against likeness than one that is added or left out.

    Half of the likeness is left where the stems differ in a number, a name, a negation or an opposite, in a narrowing
    word or in which way they lead, where one is about a part of what the other is about ("the summary of the survey",
    "the bridge railings"), where ``other`` says all that ``one`` does and adds behind a preposition where, when, how or
    for whom, or where no option shares the other's numbers and names; two names may change places that both questions
    hold. What ``other`` leaves out makes it wider and not another one: so far it matters which of the two came first.
    An addition that speaks of the talk or of reasons ("in my view", "to avoid a delay") is none, and where ``other``
    says nothing in its stem ("How should we proceed?"), the options alone count. A negation, or an
    opposite that is of the answer, does not count where the labels are the same.

    A clause of the stem that asks what the other one asks makes it the same question, unless it stands under a
    condition; it, this and they stand in it for what the other clauses name. Briefing, reasonings,
    ``recommended_idx``, hatches and ``meta`` do not count.
    """
    return likeness(asked(one), asked(other))


def wording(text: str) -> str:
    """Return a text as it reads word for word, so that two that differ in nothing but dress are equal.

    Case, white space, invisible and look-alike characters, Markdown's emphasis, quotation marks around words, and
    punctuation after them do not count. Everything else does, such as the dot of ``.env`` or of ``1.5``.
    """
    plain = _QUOTES.sub(" ", _STARRED.sub(r"\2", seen(text).casefold()))
    return " ".join(_CLOSING.sub("", plain).split())


def likeness(one: Asked, other: Asked) -> float:
    """Return how far two questions are the same; see ``same_question``."""
    options = _options(one.labels, other.labels)
    ones, others = _readings(one, other), _readings(other, one)
    like = max(_read(each, other, options) for each in ones)
    like = max(like, *(_read(one, each, options) for each in others))
    for each, its in product(filter(_has_own, ones[1:]), filter(_has_own, others[1:])):
        like = max(like, _read(each, its, options))
    return like * _CONTRARY if _contrary(one, other) else like


def _clauses(text: str) -> tuple[tuple[Said, bool], ...]:
    """Return the clauses of a stem, each with whether it stands for what another one names."""
    told = ((said(each), refers(each)) for each in clauses(text))
    return tuple((each, recalls) for each, recalls in told if each.words)


def _readings(one: Asked, other: Asked) -> list[Asked]:
    """Return a question, and what it asks by each of the clauses that may ask the same as the other."""
    likely = sorted(one.clauses, key=lambda each: -len(each[0].words & other.stem.words))[:_CLAUSES]
    whole, none = one.stem.words, frozenset[str]()
    return [one, *(replace(one, stem=each, recalled=whole if recalls else none) for each, recalls in likely)]


def _has_own(one: Asked) -> bool:
    return len(one.stem.words.difference(*(each.words for each in one.labels))) >= _OWN


def _read(one: Asked, other: Asked, options: float) -> float:
    """Return how far two readings are the same, apart from what must be exact in all of both questions."""
    stems = _stems(one, other)
    like = options if stems is None else _STEM * stems + (1 - _STEM) * options
    narrowed = one.stem.scope - other.scope or other.stem.scope - one.scope or _narrows(one, other)
    return like * _CONTRARY if narrowed or _opposed(one, other, options) else like


def _narrows(one: Asked, other: Asked) -> bool:
    """Tell whether one of the two is about a part of what the other is about, or the later one adds terms to it."""
    lost, new = one.stem.words - other.words, other.stem.words - one.words
    if not lost and any(each <= new for each in other.stem.adjuncts):
        return True
    return (len(new) > len(lost) and _of(other, new, one)) or (len(lost) > len(new) and _of(one, lost, other))


def _of(longer: Asked, rest: frozenset[str], known: Asked) -> bool:
    return any(word in rest and of in known.stem.words for word, of in longer.stem.heads)


def _opposed(one: Asked, other: Asked, options: float) -> bool:
    """Tell whether two readings are each other's contrary, and not the same choice asked the other way round."""
    if not one.stem.opposes(other.stem):
        return False
    if options < _ALIKE or one.stem.inner != other.stem.inner:
        return True
    flipped = one.stem.flipped(other.stem) - _DECIDING
    return not all(_offers_both(one, idea) and _offers_both(other, idea) for idea in flipped)


def _offers_both(one: Asked, idea: str) -> bool:
    sides = frozenset[tuple[str, bool]]().union(*(each.sides for each in one.labels))
    return {(idea, True), (idea, False)} <= sides


def _stems(one: Asked, other: Asked) -> float | None:
    """Return how far the stems say the same, or None where neither says anything that the other does not know.

    One that comes later and says nothing ("How should we proceed?") leaves its options to say what is asked.
    """
    if not other.stem.words:
        return None
    lost, new = one.stem.words - other.words, other.stem.words - one.words
    shared = (len(one.stem.words) - len(lost) + len(other.stem.words) - len(new)) / 2
    replaced, more = min(len(lost), len(new)), abs(len(lost) - len(new))
    longer, rest, known = (one, lost, other) if len(lost) > len(new) else (other, new, one)
    says_which = {word for word, of in longer.stem.narrowing if word in rest and of in known.stem.words}
    narrowing = min(more, len(says_which | _numbers(rest)))
    whole = shared + _OTHER_WORD * (replaced + narrowing) + _MORE_WORDS * (more - narrowing)
    return shared / whole if whole else None


def _options(ones: tuple[Said, ...], others: tuple[Said, ...]) -> float:
    """Return how far the labels say the same, matched as well as they can be."""
    few, many = sorted((ones, others), key=len)
    best = max(sum(map(_label, few, chosen)) for chosen in permutations(many, len(few)))
    return best / max(len(few), sum(map(_answers, many)))


def _answers(label: Said) -> bool:
    """Tell whether a label says more than that one is not sure yet, or that it is something else."""
    return not label.words <= OBJECTING_STEMS


def _label(one: Said, other: Said) -> float:
    """Return how far two labels say the same: the mean of Dice's coefficient and of the overlap of the shorter."""
    if one.opposes(other) or (one.exact - other.words and other.exact - one.words):
        return 0.0
    if not one.words or not other.words:
        return float(one.words == other.words)
    shared, sizes = len(one.words & other.words), (len(one.words), len(other.words))
    return (2 * shared / sum(sizes) + shared / min(sizes)) / 2


def _contrary(one: Asked, other: Asked) -> bool:
    """Tell whether something that must be exact is another, or the one leads where the other comes from."""
    if one.stem.reverses(other.stem):
        return True
    moved, came = one.stem.exact - other.stem.words, other.stem.exact - one.stem.words
    lost, new = moved - other.words, came - one.words
    if moved and came and (lost or new):
        return True
    missing, added = one.exact - other.words, other.exact - one.words
    if (_numbers(lost) and _numbers(added)) or (_numbers(new) and _numbers(missing)):
        return True
    return any(kind(missing) and kind(added) and not kind(one.exact) & kind(other.exact) for kind in (_numbers, _names))


def _numbers(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(map(str.isdigit, word)))


def _names(words: frozenset[str]) -> frozenset[str]:
    return words - _numbers(words)
