"""Whatever is done to a ledger, in any order: at most one resolution, of the right envelope, in time, by somebody."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from emitter.decisions import (
    Act,
    Incorporate,
    Unresolved,
    UnresolvedReason,
    answer_in_words,
    digest,
    open_dialogue,
    select_option,
)
from emitter.decisions.decision_rates import DecisionRates
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, UnreadableAnswer
from emitter.errors import AlreadyResolved, BadResolution, DecisionExpired, UnknownDecision, WrongDigest
from emitter.stores import MemoryStore, SqliteStore
from tests.decisions.ledger.asking import Hand, Told, moment
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from emitter.models import BindingMoment

_IDS = st.sampled_from("abc")
_ENVELOPES = [moment(f"Number {number}?") for number in range(3)]
_ANSWERS: list[Callable[[Any], Any]] = [
    lambda asked: select_option(asked, 0),
    lambda asked: select_option(asked, 1),
    lambda asked: answer_in_words(asked, "Twice."),
    lambda asked: answer_in_words(asked, "Thrice."),
    lambda asked: open_dialogue(asked, "Why?"),
    open_dialogue,
]


@dataclass
class Wanted:
    """What ought to be known of a decision."""

    pending: PendingDecision
    answer: Any = None
    at: float = 0.0
    over: bool = False
    reported: set[tuple[UnresolvedReason, str]] = field(default_factory=set)


class Against(RuleBasedStateMachine):
    """A ledger, and what it ought to know."""

    def __init__(self, again: Callable[[], Any]) -> None:
        super().__init__()
        self.clock, self.reported = Hand(), Told()
        self.again = again
        self.decisions: dict[str, Wanted] = {}
        self.restart()

    @rule()
    def restart(self) -> None:
        """Open the ledger anew on what is there."""
        self.ledger = Ledger(self.again(), clock=self.clock, on_event=self.reported)

    @rule(seconds=st.sampled_from([0.5, 1, 5]))
    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.now += seconds

    @rule(name=_IDS, number=st.integers(0, 2), span=st.sampled_from([None, None, 1, 4]))
    def open(self, name: str, number: int, span: float | None) -> None:
        """Open a decision."""
        known = self.decisions.get(name)
        wrong = self._what_it_cannot_be(known, _ENVELOPES[number], span)
        if wrong is not None:
            with pytest.raises(wrong):
                self.ledger.open(_ENVELOPES[number], decision_id=name, expires_in=span)
            return
        pending = self.ledger.open(_ENVELOPES[number], decision_id=name, expires_in=span)
        if known is None:
            self.decisions[name] = Wanted(pending)
            assert (pending.opened_at, pending.moment) == (self.clock.now, _ENVELOPES[number])
        else:
            assert pending == known.pending

    @rule(name=_IDS, other=st.sampled_from([None] * 8 + _ENVELOPES), answer=st.sampled_from(_ANSWERS))
    def resolve(self, name: str, other: BindingMoment | None, answer: Callable[[Any], Any]) -> None:
        """Resolve a decision, now and then by what may be another envelope's answer."""
        known = self.decisions.get(name)
        given = answer(other or (_ENVELOPES[0] if known is None else known.pending.moment))
        wrong = self._what_is_wrong(known, given)
        if wrong is not None:
            with pytest.raises(wrong):
                self.ledger.resolve(name, given)
            return
        assert known is not None
        found = self.ledger.resolve(name, given)
        assert found.already_resolved == (known.answer is not None)
        assert found.resolution == given
        if known.answer is None:
            known.answer, known.at = given, self.clock.now
        assert found.resolved_at == known.at

    @rule(name=_IDS, reason=st.sampled_from(UnresolvedReason), channel=st.sampled_from(["", "web"]))
    def leave(self, name: str, reason: UnresolvedReason, channel: str) -> None:
        """Tell that nobody decided."""
        known = self.decisions.get(name)
        if known is None or known.answer is not None:
            with pytest.raises(UnknownDecision if known is None else AlreadyResolved):
                self.ledger.record_unresolved(name, reason, channel=channel)
            return
        over = known.pending.is_expired(self.clock.now)
        found = self.ledger.record_unresolved(name, reason, channel=channel)
        assert found == Unresolved(known.pending.digest, UnresolvedReason.TIMEOUT if over else reason)
        if not over:
            known.reported.add((reason, channel))

    @rule()
    def look(self) -> None:
        """See what is open, and the rates."""
        now, all_ = self.clock.now, list(self.decisions.values())
        is_open = [each.pending for each in all_ if each.answer is None and not each.pending.is_expired(now)]
        assert set(self.ledger.pending()) == set(is_open)
        assert self.ledger.refused_digests("agent") == self._vetoed()
        answers = [each.answer for each in all_ if each.answer is not None]
        left = [each for each in all_ if each.reported or (each.answer is None and each.pending.is_expired(now))]
        met = [each for each in all_ if each.answer is not None or each in left]
        assert self.ledger.rates() == DecisionRates(
            opened=len(all_),
            resolved=len(answers),
            free_texts=sum(type(each).__name__ == "FreeText" for each in answers),
            question_vetoes=sum(type(each).__name__ == "Dialogue" for each in answers),
            unanswered=len(left),
            settled=len(met),
        )

    @invariant()
    def it_is_found_as_it_stands(self) -> None:
        """Whatever is not resolved lets nobody act."""
        for name, known in self.decisions.items():
            found = self.ledger.find(name)
            if known.answer is None:
                assert found == known.pending
            else:
                assert isinstance(found, ResolvedDecision)
                assert isinstance(found.resolution, UnreadableAnswer) or found.resolution == known.answer
                self._lets_act_as_it_was_resolved(found, known.answer)

    @invariant()
    def each_end_is_told_once(self) -> None:
        """By one of the ledgers that there were."""
        ends = [
            each.causation_id
            for each, message, line in zip(
                self.reported.events, self.reported.messages(), self.reported.lines(), strict=True
            )
            if message == "decision.resolved" or line.get("expired")
        ]
        assert len(ends) == len(set(ends))
        assert {each.pending.reference for each in self.decisions.values() if each.answer is not None} <= set(ends)

    def _what_is_wrong(self, known: Wanted | None, given: Any) -> type[Exception] | None:
        if known is None:
            return UnknownDecision
        if known.pending.digest != given.digest:
            return WrongDigest
        if known.answer is not None:
            return None if known.answer == given else AlreadyResolved
        return DecisionExpired if known.pending.is_expired(self.clock.now) else None

    def _what_it_cannot_be(self, known: Wanted | None, asked: BindingMoment, span: float | None) -> Any:
        if known is None:
            return AlreadyResolved if digest(asked) in self._vetoed() else None
        ends = None if span is None else known.pending.opened_at + span
        return None if (known.pending.moment, known.pending.expires_at) == (asked, ends) else WrongDigest

    def _vetoed(self) -> set[str]:
        return {each.pending.digest for each in self.decisions.values() if type(each.answer).__name__ == "Dialogue"}

    def _lets_act_as_it_was_resolved(self, found: ResolvedDecision, answer: Any) -> None:
        if isinstance(found.resolution, UnreadableAnswer):
            with pytest.raises(BadResolution, match="not kept"):
                _ = found.continuation
            return
        acted = found.continuation
        assert isinstance(acted, Act) == hasattr(answer, "index")
        assert isinstance(acted, Incorporate) == hasattr(answer, "answer")


_SETTINGS = settings(max_examples=examples(30), stateful_step_count=40)


def test_in_memory() -> None:
    """A restart is another ledger on the same store."""

    def machine() -> Against:
        store = MemoryStore()
        return Against(lambda: store)

    run_state_machine_as_test(machine, settings=_SETTINGS)


def test_in_a_file(tmp_path: Path) -> None:
    """A restart opens the file again."""
    files = count()
    with ExitStack() as closing:

        def machine() -> Against:
            file = tmp_path / f"{next(files)}.db"
            return Against(lambda: closing.enter_context(SqliteStore(file)))

        run_state_machine_as_test(machine, settings=settings(_SETTINGS, max_examples=examples(10)))
