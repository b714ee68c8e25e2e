"""Rules for asking again after the principal refused a question.

Source: draft-morrison-binding-moment-envelope-00, section 6.2. The draft forbids the same question and a choice that
does not take up the objection. A question repeated word for word, and a veto that is taken away, are errors. Whether
other words ask the same, and whether an objection is taken up, can only be guessed: those findings refuse nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.checks.similarity import (
    SIMILARITY_THRESHOLD,
    compare_questions,
    is_reworded,
    question_key,
    question_words,
    takes_up,
)
from emitter.findings import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.decisions.resolution import Reopen
    from emitter.models import BindingMoment

_QUESTION: Final = "/question"
REPEATED: Final = Finding(
    _QUESTION,
    "question-repeated",
    Severity.ERROR,
    "The question is another one than the principal refused (section 6.2)",
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
IGNORED: Final = Finding(
    "", "objection-ignored", Severity.WARNING, "The decision takes up what the principal objected (section 6.2)"
)
WITHDRAWN: Final = Finding(
    "/question/hatches/dialogue",
    "veto-withdrawn",
    Severity.ERROR,
    "The dialogue hatch is open, since the principal has used it (section 6.2)",
)


def check_reopened(reopenings: Sequence[Reopen], moment: BindingMoment) -> tuple[Finding, ...]:
    """Return what is found in a new envelope that follows these refusals, each rule once."""
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
    text = _decision_text(moment)
    if not all(takes_up(reopen.objection, _decision_text(reopen.moment), text) for reopen in reopenings):
        yield IGNORED
    if not moment.question.hatches.dialogue:
        yield WITHDRAWN


def _decision_text(moment: BindingMoment) -> str:
    """Return the texts that the principal decides by, each on its own line."""
    question = moment.question
    options = (text for option in question.options for text in (option.label, option.reasoning))
    return "\n".join((moment.synopsis, *moment.findings, *moment.recommendations, question.stem, *options))
