"""Compare two questions by their words, to find a refused question that is asked again.

The comparison uses stems, synonyms and options, in any order. It compares words and not meanings, so a question in
entirely different words counts as another question.

Source: draft-morrison-binding-moment-envelope-00, section 6.2. The measure is this library's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import TYPE_CHECKING, Final

from emitter.checks.similarity_lexicon import ENGLISH, FOREIGN, NEGATORS, OBJECTION_WORDS
from emitter.checks.text_features import (
    OBJECTING_STEMS,
    TextFeatures,
    all_stems,
    content_stems,
    extract_features,
    has_pronoun,
    name_stems,
    split_question_clauses,
    stem_word,
    strip_asides,
    tokenize,
    unspaced_runs,
)
from emitter.visible_text import visible_text

if TYPE_CHECKING:
    from emitter.models import BindingMoment

SAME_QUESTION_THRESHOLD: Final = 0.8
"""From here on two questions are the same."""
_STEM_WEIGHT: Final = 0.7
"""How much of the likeness is the stem's; the rest is the options'."""
_REPLACED_WORD_COST: Final = 2.5
"""What a word costs that stands in the place of another, in shared words."""
_ADDED_WORD_COST: Final = 0.5
"""What a word costs that one of the two has beside the other's."""
_ANSWER_CONCEPTS: Final = frozenset({stem_word("approve")})
"""The idea that is of the answer and not of what is asked about."""
_SAME_LABEL_THRESHOLD: Final = 0.9
"""From here on labels are the same, and their stems the same decision whichever way they are turned."""
_MAX_CLAUSES: Final = 4
"""Clauses of a stem that are compared: those that share most with the other question."""
_MIN_OWN_WORDS: Final = 2
"""Words that a clause has beside the labels', where it is compared with a clause."""
_CONTRARY_FACTOR: Final = 0.5
"""What is left of the likeness of questions that differ in a number, a name, or by being each other's contrary."""
_QUOTES: Final = re.compile(r"(?<!\w)[\"'`“”„‟«»‹›‘’‚]+|[\"'`“”„‟«»‹›‘’‚]+(?!\w)")  # noqa: RUF001
"""Quotation marks at the edge of a word; an apostrophe within one is its own."""
_ASTERISK_EMPHASIS: Final = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]{1,200})(?<=[^\s*])\1(?![\w*])")
"""What stands between asterisks, which Markdown emphasizes; one alone may be a wildcard."""
_CLOSING: Final = re.compile(r"[.,;:!?…]+(?=\s|$)")


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """The features of a question: its stem, its labels, and the words of both."""

    stem: TextFeatures
    labels: tuple[TextFeatures, ...]
    clauses: tuple[tuple[TextFeatures, bool], ...] = ()
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


def extract_question(moment: BindingMoment) -> QuestionFeatures:
    """Return the features of an envelope's question."""
    question = moment.question
    labels = tuple(extract_features(each.label) for each in question.options)
    text = strip_asides(question.stem)
    return QuestionFeatures(extract_features(text), labels, _clauses(text))


def compare_questions(one: BindingMoment, other: BindingMoment) -> float:
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
    return question_similarity(extract_question(one), extract_question(other))


def normalize_wording(text: str) -> str:
    """Return a text in a form that is equal for texts that differ in presentation only.

    Case, white space, invisible and look-alike characters, Markdown emphasis, quotation marks around words, and
    punctuation after them are ignored. Everything else counts, such as the dot of ``.env`` or ``1.5``.
    """
    plain = _QUOTES.sub(" ", _ASTERISK_EMPHASIS.sub(r"\2", visible_text(text).casefold()))
    return " ".join(_CLOSING.sub("", plain).split())


def question_similarity(one: QuestionFeatures, other: QuestionFeatures) -> float:
    """Return the similarity of two questions, from 0 to 1; see ``compare_questions``."""
    options = _option_similarity(one.labels, other.labels)
    ones, others = _variants(one, other), _variants(other, one)
    like = max(_compare_variants(each, other, options) for each in ones)
    like = max(like, *(_compare_variants(one, each, options) for each in others))
    for each, its in product(filter(_has_own, ones[1:]), filter(_has_own, others[1:])):
        like = max(like, _compare_variants(each, its, options))
    return like * _CONTRARY_FACTOR if _is_contrary(one, other) else like


def _clauses(text: str) -> tuple[tuple[TextFeatures, bool], ...]:
    """Return the clauses of a stem, each with whether it stands for what another one names."""
    told = ((extract_features(each), has_pronoun(each)) for each in split_question_clauses(text))
    return tuple((each, recalls) for each, recalls in told if each.words)


def _variants(one: QuestionFeatures, other: QuestionFeatures) -> list[QuestionFeatures]:
    """Return a question, and what it asks by each of the clauses that may ask the same as the other."""
    likely = sorted(one.clauses, key=lambda each: -len(each[0].words & other.stem.words))[:_MAX_CLAUSES]
    whole, none = one.stem.words, frozenset[str]()
    return [one, *(replace(one, stem=each, recalled=whole if recalls else none) for each, recalls in likely)]


def _has_own(one: QuestionFeatures) -> bool:
    return len(one.stem.words.difference(*(each.words for each in one.labels))) >= _MIN_OWN_WORDS


def _compare_variants(one: QuestionFeatures, other: QuestionFeatures, options: float) -> float:
    """Return how far two readings are the same, apart from what must be exact in all of both questions."""
    stems = _stem_similarity(one, other)
    like = options if stems is None else _STEM_WEIGHT * stems + (1 - _STEM_WEIGHT) * options
    narrowed = one.stem.scope - other.scope or other.stem.scope - one.scope or _is_narrower(one, other)
    return like * _CONTRARY_FACTOR if narrowed or _opposed(one, other, options) else like


def _is_narrower(one: QuestionFeatures, other: QuestionFeatures) -> bool:
    """Return whether one of the two is about a part of what the other is about, or the later one adds terms to it."""
    lost, new = one.stem.words - other.words, other.stem.words - one.words
    if not lost and any(each <= new for each in other.stem.adjuncts):
        return True
    return (len(new) > len(lost) and _is_part_of(other, new, one)) or (
        len(lost) > len(new) and _is_part_of(one, lost, other)
    )


def _is_part_of(longer: QuestionFeatures, rest: frozenset[str], known: QuestionFeatures) -> bool:
    return any(word in rest and of in known.stem.words for word, of in longer.stem.heads)


def _opposed(one: QuestionFeatures, other: QuestionFeatures, options: float) -> bool:
    """Return whether two readings are each other's contrary, and not the same choice asked the other way round."""
    if not one.stem.opposes(other.stem):
        return False
    if options < _SAME_LABEL_THRESHOLD or one.stem.has_inner_negation != other.stem.has_inner_negation:
        return True
    flipped = one.stem.flipped(other.stem) - _ANSWER_CONCEPTS
    return not all(_offers_both(one, idea) and _offers_both(other, idea) for idea in flipped)


def _offers_both(one: QuestionFeatures, idea: str) -> bool:
    sides = frozenset[tuple[str, bool]]().union(*(each.sides for each in one.labels))
    return {(idea, True), (idea, False)} <= sides


def _stem_similarity(one: QuestionFeatures, other: QuestionFeatures) -> float | None:
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
    whole = shared + _REPLACED_WORD_COST * (replaced + narrowing) + _ADDED_WORD_COST * (more - narrowing)
    return shared / whole if whole else None


def _option_similarity(ones: tuple[TextFeatures, ...], others: tuple[TextFeatures, ...]) -> float:
    """Return how far the labels say the same, matched as well as they can be."""
    few, many = sorted((ones, others), key=len)
    best = max(sum(map(_label_similarity, few, chosen)) for chosen in permutations(many, len(few)))
    return best / max(len(few), sum(map(_is_answer, many)))


def _is_answer(label: TextFeatures) -> bool:
    """Return whether a label says more than that one is not sure yet, or that it is something else."""
    return not label.words <= OBJECTING_STEMS


def _label_similarity(one: TextFeatures, other: TextFeatures) -> float:
    """Return how far two labels say the same: the mean of Dice's coefficient and of the overlap of the shorter."""
    if one.opposes(other) or (one.exact - other.words and other.exact - one.words):
        return 0.0
    if not one.words or not other.words:
        return float(one.words == other.words)
    shared, sizes = len(one.words & other.words), (len(one.words), len(other.words))
    return (2 * shared / sum(sizes) + shared / min(sizes)) / 2


def _is_contrary(one: QuestionFeatures, other: QuestionFeatures) -> bool:
    """Return whether something that must be exact is another, or the one leads where the other comes from."""
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


_MIN_NEW_STEMS: Final = 2
"""Stems that an objection brings up at least, where it names nothing; one alone may be a mere exclamation."""
_AMBIGUOUS: Final = FOREIGN | frozenset({"to", "do", "i", "on", "at", "for", "so", "we", "no", "was", "am"})
"""Little words that are of English and of another language too."""
_ENGLISH: Final = (ENGLISH | {"not", "never", "cannot", "nothing", "neither", "nor"}) - _AMBIGUOUS
_FOREIGN: Final = (FOREIGN | NEGATORS) - ENGLISH - {"not", "never", "cannot", "no"}
_SIGNIFICANT_PIECE: Final = re.compile("[^\u3040-\u309f]{2}")
"""Two signs that are no hiragana, which are mostly the endings and little words of Japanese."""
_PIECE_SIZE: Final = 2


@dataclass(frozen=True, slots=True)
class _LanguageProfile:
    """The words of a text by which its language is told, and whether it has any without spaces between words."""

    english: frozenset[str]
    foreign: frozenset[str]
    wordless: bool


def new_terms(objection: str, refused_text: str) -> frozenset[str]:
    """Return the stems that an objection adds to the text of the refused envelope, or none.

    Words that describe the question as such ("wrong", "too early") do not count. The result is empty if only one stem
    is left that is no name, number or identifier, or if the two texts are in different languages.
    """
    # In capitals throughout, a capital marks no name.
    plain = objection.casefold() if objection.isupper() else objection
    new = content_stems(plain) - all_stems(refused_text) - OBJECTING_STEMS
    new = frozenset(each for each in new if _is_significant(each))
    enough = len(new) >= _MIN_NEW_STEMS or not new.isdisjoint(name_stems(plain))
    return new if enough and _is_of_one_language(plain, refused_text) else frozenset()


def _is_significant(piece: str) -> bool:
    return next(unspaced_runs(piece), None) is None or _SIGNIFICANT_PIECE.search(piece) is not None


def _is_of_one_language(objection: str, vetoed: str) -> bool:
    """Return whether two texts are in one language, by their little words, or by their script where there are none.

    Where one text has more little words of English than of others, and the other has not, they are in two languages.
    Other languages are told apart by whether the objection shares a word with the envelope.
    """
    one, other = _profile_language(objection, _ENGLISH | OBJECTION_WORDS), _profile_language(vetoed, _ENGLISH)
    if one.wordless or other.wordless:
        return one.wordless and other.wordless
    if _is_english(one) and _is_english(other):
        return True
    return _is_english(one) == _is_english(other) and _shares_word(objection, vetoed)


def _profile_language(text: str, english: frozenset[str]) -> _LanguageProfile:
    words = _words(text)
    return _LanguageProfile(words & english, words & _FOREIGN, next(unspaced_runs(text), None) is not None)


def _is_english(tongue: _LanguageProfile) -> bool:
    return len(tongue.english) > len(tongue.foreign)


def _shares_word(one: str, other: str) -> bool:
    """Return whether two texts have a word in common: a little one, or a stem."""
    return not (_words(one) | content_stems(one)).isdisjoint(_words(other) | content_stems(other))


def _words(text: str) -> frozenset[str]:
    return frozenset(each.text for each in tokenize(text, _PIECE_SIZE))
