"""A principal assigns an open decision to the one who should answer it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import select_option
from emitter.decisions.ledger import Ledger, ResolvedDecision
from emitter.decisions.ledger_entries import MAX_ASSIGNMENTS, Assignment, assignment_key
from emitter.decisions.ledger_log import LEDGER_RUN_ID
from emitter.errors import (
    AlreadyResolved,
    BadResolution,
    DecisionExpired,
    EmitterError,
    InputError,
    StoreAltered,
    UnknownDecision,
)
from emitter.stores import Entry, MemoryStore, NewEntry
from tests.decisions.ledger.asking import Hand, Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable


def assignee(ledger: Ledger, decision_id: str) -> str:
    """Return who should answer, as ``find`` says."""
    found = ledger.find(decision_id)
    return (found.pending if isinstance(found, ResolvedDecision) else found).assignee


def test_every_process_reads_the_latest_assignee(again: Callable[..., Ledger], clock: Hand, reported: Told) -> None:
    """And who assigned it, in order. Assigning it to the same one again changes nothing."""
    ledger, other = again(), again()
    decision_id = ledger.open(moment()).decision_id
    assert assignee(ledger, decision_id) == ""

    ledger.assign(decision_id, "bob", principal="alice", channel="web")
    assert [each.assignee for each in other.pending()] == ["bob"]
    clock.now += 1
    for _ in range(2):
        assert other.assign(decision_id, "carol", principal="bob").assignee == "carol"

    assert assignee(again(), decision_id) == "carol"
    assert [each.assignee for each in ledger.pending()] == ["carol"]
    assert again().assignments(decision_id) == (
        Assignment("bob", "alice", clock.now - 1, "web"),
        Assignment("carol", "bob", clock.now),
    )
    assert reported.messages().count("decision.assigned") == 2
    assert "bob" not in json.dumps(reported.lines("decision.assigned"))


def test_anybody_can_be_asked_again(ledger: Ledger) -> None:
    """The empty name takes the assignment back, and the answer keeps the last one."""
    pending = ledger.open(moment())
    for name in ("bob", "", "carol"):
        assert ledger.assign(pending.decision_id, name, principal="alice").assignee == name
    ledger.resolve(pending.decision_id, select_option(pending.moment, 0), principal="dan")

    assert assignee(ledger, pending.decision_id) == "carol"


def test_of_two_who_assign_at_once_the_later_counts(ledger: Ledger) -> None:
    """Both are on record."""
    decision_id = ledger.open(moment()).decision_id
    names = [f"person {number}" for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: ledger.assign(decision_id, name, principal="alice"), names))
    found = [each.assignee for each in ledger.assignments(decision_id)]

    assert sorted(found) == sorted(names)
    assert assignee(ledger, decision_id) == found[-1]


def resolved(ledger: Ledger, _: Hand) -> str:
    """Return a decision that was answered."""
    pending = ledger.open(moment())
    ledger.resolve(pending.decision_id, select_option(pending.moment, 0))
    return pending.decision_id


def expired(ledger: Ledger, clock: Hand) -> str:
    """Return a decision whose time is over."""
    decision_id = ledger.open(moment(), expires_in=60).decision_id
    clock.now += 60
    return decision_id


def often(ledger: Ledger, _: Hand) -> str:
    """Return a decision that was assigned as often as can be."""
    decision_id = ledger.open(moment()).decision_id
    for number in range(MAX_ASSIGNMENTS):
        ledger.assign(decision_id, f"person {number}", principal="alice")
    return decision_id


REFUSED: dict[str, tuple[Callable[[Ledger, Hand], str], dict[str, Any], type[EmitterError]]] = {
    "resolved": (resolved, {}, AlreadyResolved),
    "expired": (expired, {}, DecisionExpired),
    "too often": (often, {}, BadResolution),
    "unknown": (lambda *_: "unknown", {}, UnknownDecision),
    "no name": (lambda ledger, _: ledger.open(moment()).decision_id, {"assignee": 7}, InputError),
    "too long a name": (lambda ledger, _: ledger.open(moment()).decision_id, {"assignee": "x" * 999}, InputError),
    "nobody who assigns": (lambda ledger, _: ledger.open(moment()).decision_id, {"principal": ""}, InputError),
}


@pytest.mark.parametrize(("make", "change", "error"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_assigned_is_refused(
    ledger: Ledger,
    clock: Hand,
    make: Callable[[Ledger, Hand], str],
    change: dict[str, Any],
    error: type[EmitterError],
) -> None:
    """And nothing changes."""
    decision_id = make(ledger, clock)
    arguments = {"assignee": "bob", "principal": "alice", **change}

    with pytest.raises(error):
        ledger.assign(decision_id, arguments.pop("assignee"), **arguments)


def test_an_assignment_that_was_changed_is_reported(reported: Told) -> None:
    """It is no decision that can be relied on; the others are listed."""
    store = MemoryStore()
    ledger = Ledger(store, on_event=reported)
    good, bad = ledger.open(moment("Ship?")), ledger.open(moment("Wait?"))
    ledger.assign(bad.decision_id, "bob", principal="alice")
    key = assignment_key(bad.reference, 1)
    store.forget(LEDGER_RUN_ID, key)
    store.get_or_create(LEDGER_RUN_ID, key, lambda: NewEntry(Entry("other", {}, {})))

    assert ledger.pending() == (good,)
    assert reported.messages().count("decision.unreadable") == 1
    with pytest.raises(StoreAltered):
        ledger.find(bad.decision_id)
