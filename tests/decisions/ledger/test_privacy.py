"""What the ledger keeps and tells, and above all what it does not (section 12 of the draft)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import (
    Act,
    Hold,
    UnresolvedReason,
    answer_in_words,
    continue_after,
    digest,
    open_dialogue,
    select_option,
)
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import ResolvedDecision, UnreadableAnswer
from emitter.decisions.resolution import ResolutionOutcome
from emitter.errors import BadResolution
from emitter.events import Level, RunEvent
from emitter.stores import SqliteStore
from tests.decisions.ledger.asking import START, Hand, Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from emitter.models import BindingMoment

WORDS = "Warn Zebedee"
NOTED = moment(
    synopsis="SYNOPSIS", findings=["FINDING"], meta={"decision_class": "consent", "calibration_note": "NOTE"}
)


def kept(store: Any) -> list[dict[str, Any]]:
    """Return what a store holds of how decisions ended, as JSON."""
    return [json.loads(text) for (_, name), text in store._entries.items() if name.startswith("closed:")]


@pytest.mark.parametrize("answer", [answer_in_words, open_dialogue])
def test_no_word_of_the_principal_is_on_the_disk_or_reported(tmp_path: Path, reported: Told, answer: Any) -> None:
    """With ``words=None``: neither in the file nor beside it, and in no event."""
    with SqliteStore(tmp_path / "ledger.db") as store:
        ledger = Ledger(store, on_event=reported, words=None)
        ledger.open(NOTED, decision_id="d-1234")
        ledger.resolve("d-1234", answer(NOTED, WORDS))
        ledger.resolve("d-1234", answer(NOTED, WORDS))
        files = list(tmp_path.iterdir())
        bytes_ = b"".join(each.read_bytes() for each in files)
    assert len(files) > 1
    for word in ("Zebedee", "Warn", WORDS):
        assert word.encode() not in bytes_
        assert word not in json.dumps([each.to_json() for each in reported.events])
    assert b"SYNOPSIS" in bytes_


def test_events_hold_no_word_of_the_envelope_and_no_id(ledger: Ledger, reported: Told, clock: Hand) -> None:
    """But for the class of the decision; they call the decision by what its id cannot be found by."""
    closed = moment(synopsis="SYNOPSIS", dialogue=False, meta={"decision_class": "consent", "calibration_note": "NOTE"})
    opened = ledger.open(closed, decision_id="d-1234", agent="ada", actions=["ACTION", "ACTION"], expires_in=60)
    ledger.record_unresolved("d-1234", UnresolvedReason.DROPPED)
    ledger.resolve("d-1234", select_option(closed, 0))
    ledger.open(NOTED, decision_id="d-5678", expires_in=60)
    clock.now += 60
    ledger.pending()
    text = json.dumps([each.to_json() for each in reported.events])
    assert "consent" in text
    assert [word for word in ("SYNOPSIS", "NOTE", "ACTION", "Do 0", "Should", "d-1234", "d-5678") if word in text] == []
    assert {each.causation_id for each in reported.events[:4]} == {opened.reference}


def test_a_class_is_the_agents_word_and_bounded(ledger: Ledger, reported: Told) -> None:
    """What cannot be seen is taken out of it before it is counted and reported, and it is cut."""
    wild = f"con\x1b[31m\u202esent\n{'x' * 900}"
    ledger.open(moment(meta={"decision_class": wild}))
    (line,) = reported.lines()
    assert line["decisionClass"] == f"con[31msent{'x' * 53}"
    assert ledger.rates(decision_class=wild).opened == 1


def test_equal_words_are_kept_unequally() -> None:
    """The salt is each decision's own, so that nobody sees that two were answered alike."""
    ledger = Ledger()
    for name in ("d", "e", "f"):
        ledger.open(NOTED, decision_id=name)
        ledger.resolve(name, open_dialogue(NOTED, "") if name == "f" else answer_in_words(NOTED, WORDS))
    entries = kept(ledger._log._store)
    assert len(entries) == 3
    for member in ("salt", "hash"):
        assert len({each["outcome"][member] for each in entries}) == 3
        assert all(len(bytes.fromhex(each["outcome"][member])) >= 16 for each in entries)


def test_what_is_kept_of_an_end() -> None:
    """Which of the three, of which envelope, when, by which channel; of an option its index, of words a salted hash."""
    ledger = Ledger(clock=Hand())
    about = {"digest": digest(NOTED), "resolvedAt": START, "channel": "web"}
    for name, answer in {"d": select_option(NOTED, 1), "e": answer_in_words(NOTED, WORDS)}.items():
        ledger.open(NOTED, decision_id=name)
        ledger.resolve(name, answer, channel="web")
    option, words = kept(ledger._log._store)
    assert option["outcome"] == {"outcome": "selected", "index": 1, **about}
    assert words["outcome"].keys() == {"outcome", "salt", "hash", *about}
    assert option["envelope"] == words["envelope"] == {}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(answer_in_words, ResolutionOutcome.FREE_TEXT), (open_dialogue, ResolutionOutcome.DIALOGUE)],
    ids=["answer", "objection"],
)
def test_another_process_learns_what_can_be_known(
    again: Callable[..., Ledger], answer: Any, outcome: ResolutionOutcome
) -> None:
    """Where words are not kept, they are found where the decision was resolved, and nowhere else."""
    here = again(words=None)
    pending = here.open(NOTED, decision_id="d")
    given = answer(NOTED, WORDS)
    first = here.resolve("d", given, channel="web")
    assert here.find("d") == ResolvedDecision(pending, given, first.resolved_at, "web", already_resolved=True)
    assert again().find("d") == ResolvedDecision(
        pending, UnreadableAnswer(digest(NOTED), outcome), first.resolved_at, "web", already_resolved=True
    )


def test_what_follows_on_words_that_are_not_at_hand(again: Callable[..., Ledger]) -> None:
    """Neither an answer nor an objection is made up, as if there were none; the error says what to do."""
    answers = {"d": open_dialogue(NOTED, WORDS), "e": answer_in_words(NOTED, WORDS), "f": select_option(NOTED, 1)}
    for name in answers:
        again().open(NOTED, decision_id=name)
    for name, answer in answers.items():
        again(words=None).resolve(name, answer)
    found: dict[str, Any] = {name: again().find(name) for name in "def"}
    for name, hint in {
        "d": r"refused the question.* not kept.* Reopen\(moment, words\)",
        "e": r"in their own words.* not kept.* Incorporate\(moment, words\)",
    }.items():
        with pytest.raises(BadResolution, match=hint):
            _ = found[name].continuation
        assert found[name].action is None
    assert found["f"].continuation == Act(NOTED, 1)


def test_words_are_remembered_for_the_latest_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a process that runs for long does not gather them."""
    monkeypatch.setattr("emitter.decisions.ledger_words._MAX_CACHED_WORDS", 2)
    ledger = Ledger(words=None)
    for name in "abc":
        asked = moment(name)
        ledger.open(asked, decision_id=name)
        ledger.resolve(name, open_dialogue(asked, name))
    found: list[Any] = [ledger.find(name) for name in "abc"]
    assert [type(each.resolution) for each in found] == [UnreadableAnswer, *[type(open_dialogue(NOTED))] * 2]


def opening(envelope: BindingMoment) -> list[tuple[Level, str, Any]]:
    """Return what is told when an envelope is opened: level, message, hatches."""
    reported = Told()
    Ledger(on_event=reported).open(envelope)
    levels = [
        each.event.level for each in reported.events if isinstance(each, RunEvent) and hasattr(each.event, "level")
    ]
    return [
        (level, message, fields["suppressedHatches"])
        for level, message, fields in zip(levels, reported.messages(), reported.lines(), strict=True)
    ]


@pytest.mark.parametrize(
    ("hatches", "closed"),
    [
        ({}, []),
        ({"free_text": False}, ["free_text"]),
        ({"dialogue": False}, ["dialogue"]),
        ({"free_text": False, "dialogue": False}, ["free_text", "dialogue"]),
    ],
    ids=["open", "answers", "question", "both"],
)
def test_a_closed_hatch_is_always_an_event(hatches: Any, closed: list[str]) -> None:
    """A warning of its own, with which of them it is; where both are open there is none."""
    line = (Level.INFO, "decision.opened", closed)
    assert opening(moment(**hatches)) == (
        [line, (Level.WARN, "decision.hatch_suppressed", closed)] if closed else [line]
    )


def test_what_is_reported_a_decision(ledger: Ledger, reported: Told, clock: Hand) -> None:
    """Each line stands in the ledger's own log as it was reported, with its time."""
    ledger.open(NOTED, decision_id="d", agent="ada", expires_in=60)
    clock.now += 1.5
    ledger.record_unresolved("d", UnresolvedReason.DECLINED, channel="mcp")
    ledger.resolve("d", open_dialogue(NOTED, WORDS), channel="web")
    about = {"agent": "ada", "decisionClass": "consent", "digest": digest(NOTED)}
    assert reported.lines() == [
        {**about, "calibrationNote": True, "suppressedHatches": [], "expiresAt": START + 60},
        {**about, "reason": "declined", "channel": "mcp"},
        {**about, "outcome": "dialogue", "channel": "web", "wordsUntil": START + 1.5 + 7 * 86_400},
    ]
    assert [each.timestamp for each in reported.events] == [
        "2027-01-15T08:00:00.000Z",
        *["2027-01-15T08:00:01.500Z"] * 2,
    ]
    assert [each.to_json() for each in reported.events] == list(ledger._log._store.events("emitter.ledger"))


def test_unresolved_is_held_still(ledger: Ledger) -> None:
    """What is handed back of it lets the agent do nothing."""
    ledger.open(NOTED, decision_id="d")
    assert continue_after(ledger.record_unresolved("d", UnresolvedReason.DROPPED), NOTED) == Hold(
        NOTED, UnresolvedReason.DROPPED
    )
