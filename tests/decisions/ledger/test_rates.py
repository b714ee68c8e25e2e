"""Rates by agent and class, added up from the log, and the warnings when one comes to its threshold."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import UnresolvedReason, answer_in_words, open_dialogue, select_option
from emitter.decisions.decision_rates import DEFAULT_THRESHOLDS, DecisionMeasure, DecisionRates, RateThresholds
from emitter.decisions.ledger import Ledger
from emitter.errors import InputError
from emitter.events import Level, LogAppended, NodeFailed, RunEvent
from emitter.stores import MemoryStore
from tests.decisions.ledger.asking import Hand, Reading, Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FEW = RateThresholds(minimum=4, question_vetoes=0.5, calibration_notes=0.5, suppressed_hatches=0.5, unanswered=0.5)
ONLY_VETOES = RateThresholds(4, 0.5, None, None, None)


NUMBERS = count()
"""No question is put twice: one that was refused may not be."""


def decide(ledger: Ledger, answers: str, agent: str = "ada", kind: str = "consent") -> None:
    """Open a decision a letter, and end it so: s(elected), t(ext), d(ialogue), u(nanswered), n(ote) or h(atch)."""
    for each in answers:
        meta = {"decision_class": kind, **({"calibration_note": "I was wrong."} if each == "n" else {})}
        stem = f"Number {next(NUMBERS)}?"
        asked = moment(stem, meta=meta, free_text=each != "h")
        name = ledger.open(asked, agent=agent).decision_id
        if each == "u":
            ledger.record_unresolved(name, UnresolvedReason.TIMEOUT)
        elif each == "d":
            ledger.resolve(name, open_dialogue(asked))
        elif each == "t":
            ledger.resolve(name, answer_in_words(asked, "Twice."))
        else:
            ledger.resolve(name, select_option(asked, 0))


def warned(events: Iterable[RunEvent]) -> list[tuple[Any, ...]]:
    """Return who and what was warned of: agent, class, measure, count and of how many."""
    lines = [each.event for each in events if getattr(each.event, "message", "") == "decision.rate_exceeded"]
    reported: list[Any] = [each.to_json()["payload"] for each in events if each.event in lines]
    assert all(each["level"] == Level.WARN.value for each in reported)
    names = ("agent", "decisionClass", "measure", "count", "of")
    return [tuple(each["fields"].get(name) for name in names) for each in reported]


def test_rates_are_added_up(again: Callable[..., Ledger]) -> None:
    """By agent and by class, and the same after a restart."""
    decide(again(), "sstdun")
    decide(again(), "sdh", kind="recompute")
    decide(again(), "dd", agent="bob")
    for ledger in (again(), again()):
        assert ledger.rates("ada", "consent") == DecisionRates(
            opened=6, resolved=5, free_texts=1, question_vetoes=1, calibration_notes=1, unanswered=1, settled=6
        )
        assert ledger.rates("ada", "recompute") == DecisionRates(
            3, 3, question_vetoes=1, suppressed_hatches=1, settled=3
        )
        assert ledger.rates(decision_class="consent").question_vetoes == 3
        assert ledger.rates("ada").opened == 9
        assert ledger.rates() == DecisionRates(11, 10, 1, 4, 1, 1, 1, 11)
        assert ledger.rates("eve") == ledger.rates("ada", "") == DecisionRates()


def test_rates_are_shares() -> None:
    """Of the decisions that a measure can be seen of; of none, 0."""
    rates = DecisionRates(
        opened=10, resolved=8, question_vetoes=2, calibration_notes=1, suppressed_hatches=3, unanswered=4, settled=10
    )
    shares = tuple(rates.rate(measure) for measure in DecisionMeasure)
    assert shares == (0.25, 0.1, 0.3, 0.4)
    assert [rates.rate(each) for each in DecisionMeasure] == list(shares)
    assert [DecisionRates().rate(each) for each in DecisionMeasure] == [0.0] * 4


def test_a_decision_without_a_class_is_counted(ledger: Ledger) -> None:
    """As one of the class without a name."""
    ledger.open(moment())
    ledger.open(moment(meta={"calibration_note": "I was wrong."}))
    assert ledger.rates("agent", "") == ledger.rates() == DecisionRates(opened=2, calibration_notes=1)


def test_a_decision_that_nobody_answers_is_counted_once(ledger: Ledger, clock: Hand) -> None:
    """However often it is reported, when it expires at last; and when it is answered later, it was unanswered too."""
    asked = moment()
    ledger.open(asked, decision_id="d", expires_in=60)
    for reason in UnresolvedReason:
        ledger.record_unresolved("d", reason)
    assert ledger.rates().unanswered == 1
    clock.now += 60
    assert ledger.rates() == DecisionRates(opened=1, unanswered=1, settled=1)
    ledger.open(asked, decision_id="e")
    ledger.record_unresolved("e", UnresolvedReason.DECLINED)
    ledger.resolve("e", select_option(asked, 0))
    ledger.open(asked, decision_id="f", expires_in=60)
    clock.now += 60
    assert ledger.rates() == DecisionRates(opened=3, resolved=1, unanswered=3, settled=3)


@pytest.mark.parametrize(
    ("answers", "measure"),
    [
        ("ssdd", DecisionMeasure.QUESTION_VETOES),
        ("ssnn", DecisionMeasure.CALIBRATION_NOTES),
        ("sshh", DecisionMeasure.SUPPRESSED_HATCHES),
        ("ssuu", DecisionMeasure.UNANSWERED),
    ],
)
def test_a_rate_that_comes_to_its_threshold_is_reported(
    again: Callable[..., Ledger], reported: Told, answers: str, measure: Any
) -> None:
    """Once, with whose it is, of which class, the count, the rate and the threshold; not before there were enough."""
    ledger = again(thresholds=FEW)
    decide(ledger, answers[:3])
    assert warned(reported.events) == []
    decide(ledger, answers[3:])
    assert warned(reported.events) == [("ada", "consent", measure.value, 2, 4)]
    (line,) = reported.lines("decision.rate_exceeded")
    assert (line["rate"], line["threshold"]) == (0.5, 0.5)
    decide(ledger, answers[3])
    assert len(warned(reported.events)) == 1


def test_a_rate_is_reported_again_after_it_fell_below(again: Callable[..., Ledger], reported: Told) -> None:
    """One warning each time that it comes up to the threshold."""
    ledger = again(thresholds=ONLY_VETOES)
    decide(ledger, "ssdddd")
    assert len(warned(reported.events)) == 1
    decide(ledger, "sss")  # 4 of 9
    assert len(warned(reported.events)) == 1
    decide(ledger, "d")  # 5 of 10
    assert [each[3:] for each in warned(reported.events)] == [(2, 4), (5, 10)]


def test_a_warning_is_reported_once_among_all_processes(again: Callable[..., Ledger], reported: Told) -> None:
    """Also after a restart, and by processes that read the log side by side."""
    ledgers = [again(thresholds=ONLY_VETOES) for _ in range(3)]
    for ledger in ledgers:
        decide(ledger, "dd")
    for ledger in (*ledgers, again(thresholds=ONLY_VETOES)):
        ledger.rates()
    assert warned(reported.events) == [("ada", "consent", "question_vetoes", 4, 4)]


def test_each_agent_and_class_has_rates_of_its_own(again: Callable[..., Ledger], reported: Told) -> None:
    """What one does is not laid at another's door."""
    ledger = again(thresholds=ONLY_VETOES)
    decide(ledger, "ssss", agent="bob")
    decide(ledger, "ssssss", kind="recompute")
    decide(ledger, "ddd")
    assert warned(reported.events) == []
    decide(ledger, "d")
    assert warned(reported.events) == [("ada", "consent", "question_vetoes", 4, 4)]


def test_nobody_hides_behind_many_classes(again: Callable[..., Ledger], reported: Told) -> None:
    """An agent that gives each decision a class of its own is reported for all of them together."""
    ledger = again(thresholds=ONLY_VETOES)
    for number in range(6):
        decide(ledger, "d", kind=f"class {number}")
    assert warned(reported.events) == [("ada", None, "question_vetoes", 4, 4)]


def test_the_defaults() -> None:
    """They are part of what is promised."""
    assert RateThresholds(20, 0.3, 0.2, 0.1, 0.5) == DEFAULT_THRESHOLDS


@pytest.mark.parametrize(
    "settings",
    [
        *({"minimum": 0}, {"minimum": 1.5}, {"minimum": True}, {"question_vetoes": 0}, {"calibration_notes": 1.01}),
        *({"suppressed_hatches": "0.1"}, {"unanswered": float("nan")}, {"unanswered": True}),
    ],
    ids=str,
)
def test_what_is_no_threshold(settings: Any) -> None:
    """It is reported so."""
    with pytest.raises(InputError):
        RateThresholds(**settings)


def test_the_log_is_read_once() -> None:
    """Each line by each process that did not write it; of a warning that stands there, nobody asks again."""
    store, own, read = Reading(), list[Any](), 0
    ledger, writer = Ledger(store, on_event=own.append), Ledger(store)
    for _ in range(20):
        decide(writer, "sd")
        store.read.clear()
        ledger.rates()
        ledger.pending()
        read += sum(store.read)
    lines = len(store.events("emitter.ledger"))
    assert read == lines - len(own) > 60
    store.read.clear()
    store.asked.clear()
    assert Ledger(store).rates() == ledger.rates()
    assert (sum(store.read), store.asked) == (lines, [])


def test_lines_of_others_change_nothing() -> None:
    """Whoever else writes into the log, the ledger's own lines count."""
    store = MemoryStore()
    ledger = Ledger(store)
    decide(ledger, "s")
    for event in (LogAppended(Level.INFO, "decision.other", {"agent": "ada"}), NodeFailed("c", "m")):
        store.append("emitter.ledger", [RunEvent(event, "e", "emitter.ledger", "n", "t", 0, "c")])
    decide(ledger, "s")
    assert ledger.rates() == Ledger(store).rates() == DecisionRates(opened=2, resolved=2, settled=2)
