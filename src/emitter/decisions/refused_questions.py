"""Compare a question with those that principals refused: word for word, and by the words that they share.

Source: draft-morrison-binding-moment-envelope-00, section 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.checks.text import normalize_text
from emitter.decisions import ledger_log
from emitter.decisions.reopening import SIMILARITY_THRESHOLD, compare_questions, question_words
from emitter.errors import AlreadyResolved
from emitter.events import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.decisions.ledger_log import LedgerLog
    from emitter.decisions.reopening import QuestionWords

MAX_REMEMBERED_REFUSALS: Final = 256
"""The number of latest vetoes that are remembered."""
MAX_COMPARED_REFUSALS: Final = 64
"""The number of vetoes that are compared for similarity."""
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
            (normalize_text(option.label), action or "")
            for option, action in zip(question.options, digests, strict=True)
        )
        return normalize_text(question.stem), tuple(sorted(options))

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


class Refusals:
    """The vetoes of a ledger that still count, of all agents. Each is loaded once."""

    __slots__ = ("_known", "_load", "_load_pending", "_log")

    def __init__(
        self,
        log: LedgerLog,
        load: Callable[[str], RefusedQuestion | None],
        load_pending: Callable[[str], PendingDecision | None],
    ) -> None:
        self._log = log
        self._load = load
        self._load_pending = load_pending
        self._known: dict[str, RefusedQuestion | None] = {}

    def reject_repetition(self, requested: PendingDecision, revisited: frozenset[str]) -> None:
        """Raise ``AlreadyResolved`` for a refused question or subject, unless its objection is taken up."""
        refused_digests, about, latest = self._log.read(
            lambda index: (
                index.refused_digests(requested.agent),
                index.refused_about(requested.subject) if requested.subject else (),
                index.refused_decisions(),
            ),
            refresh=False,
        )
        refusal = refused_digests.get(requested.digest)
        question = DecisionQuestion(requested)
        if refusal is None and about and about[0] not in revisited:
            refusal = about[0]
        repeated = [
            *filter(None, map(self._load_pending, about)),
            *(refused.pending for refused in self._load_latest(latest) if refused.is_repeated_by(question)),
        ]
        if refusal is None and repeated:
            is_changed = all(refused.digest != requested.digest for refused in repeated)
            is_revisited = is_changed and repeated[0].reference in revisited
            if not is_revisited or not requested.moment.question.hatches.dialogue:
                refusal = repeated[0].reference
        if refusal is None:
            return
        event = ledger_log.make_decision_event(Level.WARN, ledger_log.REASKED_MESSAGE, requested, reference=refusal)
        self._log.record_event(f"reasked:{requested.reference}", event, requested.reference)
        refused_decision = self._load_pending(refusal)
        decision_id = "" if refused_decision is None else refused_decision.decision_id
        raise AlreadyResolved(
            f"The principal refused this very question, in the decision {decision_id!r}.",
            decision_id=decision_id,
            hint="Read their objection with find() and ask another question. To ask the same one again, change the "
            "envelope so that it takes the objection up, leave both hatches open, and name the decision in after=.",
        )

    def about(self, subject: str) -> tuple[str, ...]:
        """Return the references of the decisions about a subject that were refused, latest first."""
        return self._log.read(lambda index: index.refused_about(subject)) if subject else ()

    def warn_of_similarity(self, opened: PendingDecision, revisited: frozenset[str]) -> None:
        """Record the latest refused question that resembles a new one, unless its objection is taken up."""
        refusals = self._log.known(lambda index: index.refused_decisions())  # the log was read when it was opened
        for refused in self._similar_to(opened, self._load_latest(refusals)):
            if refused.reference not in revisited:
                event = ledger_log.make_decision_event(
                    Level.WARN, ledger_log.SIMILAR_MESSAGE, opened, reference=refused.reference
                )
                self._log.record_event(f"resembles:{opened.reference}", event, opened.reference)
                return

    def similar_to(self, pending: PendingDecision) -> Iterator[PendingDecision]:
        """Yield refused decisions whose question resembles this one, latest first."""
        refusals = self._log.read(lambda index: index.refused_decisions(), refresh=False)
        return self._similar_to(pending, self._load_latest(refusals))

    def _similar_to(self, pending: PendingDecision, refusals: list[RefusedQuestion]) -> Iterator[PendingDecision]:
        question = DecisionQuestion(pending)
        for refused in refusals[:MAX_COMPARED_REFUSALS]:
            if refused.is_similar_to(question) and refused.pending != pending:
                yield refused.pending

    def _load_latest(self, refusals: tuple[str, ...]) -> list[RefusedQuestion]:
        """Return the vetoes that still count, of these decisions, latest first."""
        latest = refusals[:MAX_REMEMBERED_REFUSALS]
        if not latest:
            return []
        now = self._log.now()
        self._known = {each: self._known[each] if each in self._known else self._load(each) for each in latest}
        return [refused for refused in self._known.values() if refused is not None and refused.is_remembered(now)]
