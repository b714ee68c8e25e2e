"""Check a decision that follows a refused question.

The principal refused the question, so the draft forbids to ask it again, and demands that the next decision take up
the objection. A question repeated word for word, and a withdrawn veto, are errors. Other wordings are compared by their
words, which can be wrong, so those findings never reject an answer. Whether the objection was taken up is left to the
principal: the words of a good answer are often others than those of the objection.

Source: draft-morrison-binding-moment-envelope-00, section 6.2. The measure of similarity is emitter's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.checks.text import MARK, normalize_text, split_tokens, word_set
from emitter.findings import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.decisions.resolution import Reopen
    from emitter.models import BindingMoment, Question

_QUESTION: Final = "/question"
REPEATED: Final = Finding(
    _QUESTION,
    "question-repeated",
    Severity.ERROR,
    "The question differs from the one that the principal refused (section 6.2)",
)
REWORDED: Final = Finding(
    _QUESTION,
    "question-reworded",
    Severity.RETRY,
    "The question differs from the one that the principal refused in more than its wording or the order of its options "
    "(section 6.2)",
)
SIMILAR: Final = Finding(
    _QUESTION,
    "question-similar",
    Severity.WARNING,
    "The question does not resemble one that the principal refused (section 6.2)",
)
WITHDRAWN: Final = Finding(
    "/question/hatches/dialogue",
    "veto-withdrawn",
    Severity.ERROR,
    "The dialogue hatch is open, since the principal has used it (section 6.2)",
)


def check_reopened(reopenings: Sequence[Reopen], moment: BindingMoment) -> tuple[Finding, ...]:
    """Return the findings about an envelope that follows these refusals, at most one per rule."""
    return tuple(_find(reopenings, moment)) if reopenings else ()


def _find(reopenings: Sequence[Reopen], moment: BindingMoment) -> Iterator[Finding]:
    key, words = question_key(moment.question), question_words(moment)
    refused = [question_words(reopen.moment) for reopen in reopenings]
    if any(question_key(reopen.moment.question) == key for reopen in reopenings):
        yield REPEATED
    elif any(is_reworded(each, words) for each in refused):
        yield REWORDED
    elif any(compare_questions(each, words) >= SIMILARITY_THRESHOLD for each in refused):
        yield SIMILAR
    if not moment.question.hatches.dialogue:
        yield WITHDRAWN


SIMILARITY_THRESHOLD: Final = 0.7
"""The similarity at which two questions count as similar."""
_STEM_WEIGHT: Final = 0.6
"""The weight of the stems' words; the rest is the labels'."""
_PREFIX: Final = 5
"""The letters of a word that are compared, so that its endings make no difference."""
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
"""Runs of the scripts that write no spaces; they are compared by pairs of characters."""
_FUNCTION_WORDS: Final = word_set(
    "a an the this that these those it its we us our you your i me my he she they them their is are was were be been "
    "am do does did have has had will would shall should can could may might must let want need get go proceed and or "
    "but if then so as at by for from in into of on onto out over to up with about what which who whom whose how when "
    "where why whether please just also now only still again once more there here q ?"
)
_NEGATIONS: Final = word_set("not no never without nicht kein keine ohne ne pas sans sin non")


def question_key(question: Question) -> tuple[str, tuple[str, ...]]:
    """Return a key that equal questions share: the stem, and the labels in any order."""
    labels = sorted(normalize_text(option.label) for option in question.options)
    return normalize_text(question.stem), tuple(labels)


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The words of a question's stem and labels, and the numbers and negations among them."""

    stem: frozenset[str]
    labels: frozenset[str]
    numbers: frozenset[str]
    is_negated: bool


def question_words(moment: BindingMoment) -> QuestionWords:
    """Return the words of an envelope's question."""
    question = moment.question
    stem = split_tokens(question.stem)
    labels = [token for option in question.options for token in split_tokens(option.label)]
    return QuestionWords(
        content_words(stem),
        content_words(labels),
        frozenset(token for token in (*stem, *labels) if any(map(str.isdigit, token))),
        sum(token in _NEGATIONS for token in stem) % 2 == 1,  # two negations cancel out
    )


def content_words(tokens: list[str]) -> frozenset[str]:
    """Return the beginnings of the content words."""
    words = set[str]()
    for token in tokens:
        if token in _FUNCTION_WORDS or token in {MARK, ","}:
            continue
        run = _UNSPACED.search(token)
        if run is None:
            words.add(token if token[0].isdigit() else token[:_PREFIX])
        else:
            words.update(token[index : index + 2] for index in range(max(1, len(token) - 1)))
    return frozenset(words)


def is_reworded(one: QuestionWords, other: QuestionWords) -> bool:
    """Return whether two questions have the same content words and options, in any order; one may add options."""
    same_stem = one.stem == other.stem and one.is_negated == other.is_negated
    return same_stem and one.numbers == other.numbers and (one.labels <= other.labels or other.labels <= one.labels)


def compare_questions(one: QuestionWords, other: QuestionWords) -> float:
    """Return how similar two questions are, from 0 to 1. Questions with different numbers are not similar."""
    if one.numbers != other.numbers or one.is_negated != other.is_negated:
        return 0.0
    return _STEM_WEIGHT * _dice(one.stem, other.stem) + (1 - _STEM_WEIGHT) * _dice(one.labels, other.labels)


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    total = len(one) + len(other)
    return 2 * len(one & other) / total if total else 1.0
