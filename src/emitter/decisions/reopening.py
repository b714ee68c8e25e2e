"""Rules for asking again after the principal refused a question.

``find_reopen_violations`` checks a new envelope against the refused ones: it must ask another question, take up the
objection and keep the dialogue hatch open.

Source: draft-morrison-binding-moment-envelope-00, section 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from emitter.checks.similarity import (
    SAME_QUESTION_THRESHOLD,
    extract_question,
    new_terms,
    question_similarity,
)
from emitter.checks.text_features import all_stems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.decisions.resolution import Reopen
    from emitter.models import BindingMoment


class ReopenRule(str, Enum):
    """The rules for a new envelope, by id."""

    REPEATED = "question-repeated"
    IGNORED = "objection-ignored"
    WITHDRAWN = "veto-withdrawn"


@dataclass(frozen=True, slots=True)
class ReopenViolation:
    """A rule that a new envelope breaks, with the draft's section.

    ``slot`` is a JSON pointer into the envelope, or empty for all of it. ``expected`` is our own sentence, without a
    word of the envelope or the objection.
    """

    slot: str
    rule: ReopenRule
    section: str
    expected: str


WITHDRAWN_VIOLATION: Final = ReopenViolation(
    "/question/hatches/dialogue", ReopenRule.WITHDRAWN, "6.2", "true, since the principal has used this veto"
)
IGNORED_VIOLATION: Final = ReopenViolation(
    "", ReopenRule.IGNORED, "6.2", "a decision that takes up, by name, what the principal objected to the question"
)
REPEATED_VIOLATION: Final = ReopenViolation(
    "/question",
    ReopenRule.REPEATED,
    "6.2",
    "another question than the one the principal refused, in more than its wording, its options or their order",
)


def find_reopen_violations(reopenings: Sequence[Reopen], moment: BindingMoment) -> tuple[ReopenViolation, ...]:
    """Check an envelope that follows refused questions, and return the rules it breaks, each once.

    ``question-repeated``: it asks a refused question again (see ``question_similarity``). ``veto-withdrawn``: it closes
    the dialogue hatch. ``objection-ignored``: an objection brought up something new, and none of it is in the envelope.

    New terms of an objection are stems that the refused envelope does not contain and that do not merely describe the
    question ("wrong question"): at least two of them, or a name or number, in the envelope's language. With fewer the
    last rule does not apply. The terms are looked for in the synopsis, findings, recommendations and the question with
    its options, not in the offer and ``meta``.

    Args:
        reopenings: The vetoes that stand.
        moment: The new envelope.
    """
    if not reopenings:
        return ()
    question, text = extract_question(moment), all_stems("\n".join(_decision_texts(moment)))
    violations: list[ReopenViolation] = []
    if any(
        question_similarity(extract_question(reopen.moment), question) >= SAME_QUESTION_THRESHOLD
        for reopen in reopenings
    ):
        violations.append(REPEATED_VIOLATION)
    if any(_ignores_objection(reopen, text) for reopen in reopenings):
        violations.append(IGNORED_VIOLATION)
    if not moment.question.hatches.dialogue:
        violations.append(WITHDRAWN_VIOLATION)
    return tuple(violations)


def _ignores_objection(reopen: Reopen, text: frozenset[str]) -> bool:
    terms = new_terms(reopen.objection, _whole_text(reopen.moment))
    return bool(terms) and terms.isdisjoint(text)


def _decision_texts(moment: BindingMoment) -> Iterator[str]:
    """Yield the texts that the principal decides by: the briefing and the question."""
    question = moment.question
    yield from (moment.synopsis, *moment.findings, *moment.recommendations, question.stem)
    for option in question.options:
        yield from (option.label, option.reasoning)


def _whole_text(moment: BindingMoment) -> str:
    """Return all texts of an envelope, each on its own line."""
    meta = moment.meta
    notes = () if meta is None else (meta.decision_class or "", meta.calibration_note or "")
    return "\n".join((*_decision_texts(moment), moment.offer, *notes))
