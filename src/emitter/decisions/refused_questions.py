"""Compare a question with those that principals refused: word for word, and by the words that they share.

Source: draft-morrison-binding-moment-envelope-00, section 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.checks.similarity import SIMILARITY_THRESHOLD, compare_questions, question_words
from emitter.checks.wording import normalize_wording

if TYPE_CHECKING:
    from emitter.checks.similarity import QuestionWords
    from emitter.decisions.ledger_entries import PendingDecision

MAX_REMEMBERED_REFUSALS: Final = 256
"""How many of the latest vetoes are remembered."""
MAX_COMPARED_REFUSALS: Final = 64
"""How many of them are compared for similarity."""
REFUSAL_LIFETIME: Final = 30 * 24 * 60 * 60.0
"""For how many seconds a veto counts against other envelopes and other agents."""
QuestionKey: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]
"""A question word for word: its stem, and its options in any order with their action digests."""


@dataclass(frozen=True)
class DecisionQuestion:
    """A decision and what its question says."""

    pending: PendingDecision

    @cached_property
    def key(self) -> QuestionKey:
        """The question word for word."""
        question, actions = self.pending.moment.question, self.pending.actions
        digests = actions or (None,) * len(question.options)
        options = (
            (normalize_wording(option.label), action or "")
            for option, action in zip(question.options, digests, strict=True)
        )
        return normalize_wording(question.stem), tuple(sorted(options))

    @cached_property
    def words(self) -> QuestionWords:
        """The words of the question, for comparison."""
        return question_words(self.pending.moment)

    @property
    def action_digests(self) -> frozenset[str]:
        """The action digests of the options."""
        return frozenset(filter(None, self.pending.actions))


@dataclass(frozen=True, slots=True)
class RefusedQuestion:
    """A decision whose question was refused, at a time in seconds since 1970."""

    question: DecisionQuestion
    refused_at: float

    @property
    def pending(self) -> PendingDecision:
        """The decision."""
        return self.question.pending

    def is_remembered(self, now: float) -> bool:
        """Return whether the veto still counts."""
        return now < self.refused_at + REFUSAL_LIFETIME

    def is_repeated_by(self, candidate: DecisionQuestion) -> bool:
        """Return whether a decision repeats the question word for word, about the same actions."""
        return self.question.key == candidate.key

    def is_similar_to(self, candidate: DecisionQuestion) -> bool:
        """Return whether a decision resembles the refused question, about the same actions."""
        return (
            self.question.action_digests == candidate.action_digests
            and compare_questions(self.question.words, candidate.words) >= SIMILARITY_THRESHOLD
        )
