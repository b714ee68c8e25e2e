"""A decision is resolved once, by a resolution that its envelope takes, in its time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import (
    Act,
    Dialogue,
    FreeText,
    Incorporate,
    Reopen,
    Selected,
    Unresolved,
    UnresolvedReason,
    answer_in_words,
    digest,
    open_dialogue,
    select_option,
)
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.errors import (
    AlreadyResolved,
    BadResolution,
    DecisionExpired,
    HatchClosed,
    NoSuchOption,
    ResolutionError,
    UnknownDecision,
    WrongDigest,
)
from emitter.stores import MemoryStore
from tests.decisions.ledger.asking import START, Hand, Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.models import BindingMoment

ASKED = moment()
NAMED = digest(ASKED)
ANSWERS: dict[str, tuple[Any, Any]] = {
    "selected": (select_option(ASKED, 1), Act(ASKED, 1)),
    "free_text": (answer_in_words(ASKED, "Do it twice"), Incorporate(ASKED, "Do it twice")),
    "dialogue": (open_dialogue(ASKED, "Why at all?"), Reopen(ASKED, "Why at all?")),
    "dialogue without words": (open_dialogue(ASKED), Reopen(ASKED, "")),
}
BAD: dict[str, tuple[BindingMoment, Any, type[Exception]]] = {
    "another envelope's": (ASKED, select_option(moment("Another?"), 0), WrongDigest),
    "no such option": (ASKED, Selected(NAMED, 2), NoSuchOption),
    "an option below the first": (ASKED, Selected(NAMED, -1), NoSuchOption),
    "an option that is no number": (ASKED, Selected(NAMED, True), NoSuchOption),
    "a closed answer": (
        moment(free_text=False),
        FreeText(digest(moment(free_text=False)), "Do it"),
        HatchClosed,
    ),
    "a closed veto": (moment(dialogue=False), Dialogue(digest(moment(dialogue=False)), "No"), HatchClosed),
    "an answer without words": (ASKED, FreeText(NAMED, " \n"), BadResolution),
    "an answer that is no text": (ASKED, FreeText(NAMED, 7), BadResolution),  # type: ignore[arg-type]
    "the lack of an answer": (ASKED, Unresolved(NAMED, UnresolvedReason.TIMEOUT), BadResolution),
    "nothing": (ASKED, None, BadResolution),
}


@pytest.mark.parametrize(("answer", "allowed"), ANSWERS.values(), ids=ANSWERS)
def test_each_of_the_three_resolves(ledger: Ledger, clock: Hand, answer: Any, allowed: Any) -> None:
    """It is handed back with what the agent may do, its time and its channel."""
    pending = ledger.open(ASKED, decision_id="d")
    clock.now += 1
    found = ledger.resolve("d", answer, channel="web")
    assert found == ResolvedDecision(pending, answer, START + 1, "web", already_resolved=False)
    assert found.continuation == allowed
    assert found.action is None
    assert ledger.pending() == ()


@pytest.mark.parametrize("name", ANSWERS)
def test_the_same_resolution_again_is_repeated(
    again: Callable[..., Ledger], clock: Hand, reported: Told, name: str
) -> None:
    """By this process or another, by another channel, later and after its time: all but ``repeated`` is as it was."""
    answer, allowed = ANSWERS[name]
    pending = again().open(ASKED, decision_id="d", expires_in=60)
    first = again().resolve("d", answer, channel="web")
    clock.now += 100
    for _ in range(2):
        found = again().resolve("d", answer, channel="mcp")
        assert found == ResolvedDecision(pending, answer, first.resolved_at, "web", already_resolved=True)
        assert found.continuation == allowed
    assert reported.messages() == ["decision.opened", "decision.resolved"]


@pytest.mark.parametrize("first", ANSWERS)
@pytest.mark.parametrize("second", [*ANSWERS, "other words", "other objection", "other option"])
def test_another_resolution_comes_too_late(first: str, second: str) -> None:
    """The first one stands, for every process, whatever the second one says."""
    store = MemoryStore()
    others = {
        "other words": answer_in_words(ASKED, "Do it  twice"),
        "other objection": open_dialogue(ASKED, "Why at all"),
        "other option": select_option(ASKED, 0),
    }
    answer, late = ANSWERS[first][0], others.get(second) or ANSWERS[second][0]
    Ledger(store).open(ASKED, decision_id="d")
    Ledger(store).resolve("d", answer)
    if first == second:
        assert Ledger(store).resolve("d", late).already_resolved
    else:
        with pytest.raises(AlreadyResolved):
            Ledger(store).resolve("d", late)
    assert Ledger(store).resolve("d", answer).already_resolved


@pytest.mark.parametrize(("envelope", "answer", "error"), BAD.values(), ids=BAD)
def test_what_cannot_resolve(ledger: Ledger, reported: Told, envelope: BindingMoment, answer: Any, error: Any) -> None:
    """A typed error, nothing happens, and a resolution that holds is taken afterwards."""
    pending = ledger.open(envelope, decision_id="d")
    before = reported.messages()
    with pytest.raises(error) as raised:
        ledger.resolve("d", answer)
    assert isinstance(raised.value, ResolutionError)
    assert ledger.find("d") == pending
    assert reported.messages() == before
    assert not ledger.resolve("d", select_option(envelope, 0)).already_resolved


def test_nobody_asked(ledger: Ledger) -> None:
    """An id under which nothing was opened."""
    for call in (
        lambda: ledger.find("d"),
        lambda: ledger.resolve("d", select_option(ASKED, 0)),
        lambda: ledger.record_unresolved("d", UnresolvedReason.TIMEOUT),
        lambda: ledger.find("\ud800" * 9),
    ):
        with pytest.raises(UnknownDecision):
            call()


def test_a_decision_expires(again: Callable[..., Ledger], clock: Hand, reported: Told) -> None:
    """Up to its last moment it can be resolved, from then on never again, and not as it would have been before."""
    ledger = again()
    _, opened = (ledger.open(ASKED, decision_id=name, expires_in=60) for name in ("in time", "late"))
    clock.now += 59.999
    assert not ledger.resolve("in time", select_option(ASKED, 0)).already_resolved
    clock.now += 0.001
    for each in (ledger, again()):
        with pytest.raises(DecisionExpired):
            each.resolve("late", select_option(ASKED, 0))
    clock.now -= 30
    with pytest.raises(DecisionExpired):
        again().resolve("late", select_option(ASKED, 0))
    for found in (again().find("late"), again().open(ASKED, decision_id="late", expires_in=60)):
        assert isinstance(found, PendingDecision)
        assert (found.is_expired(clock.now), found.is_expired(0)) == (True, True)
    assert found == opened
    assert not opened.is_expired(clock.now)
    assert reported.messages().count("decision.unresolved") == 1
    assert reported.lines("decision.unresolved")[0]["reason"] == "timeout"


def test_an_option_means_its_own_action(ledger: Ledger) -> None:
    """Approving one thing never executes another; the answers that choose no option have none."""
    ledger.open(ASKED, decision_id="d", actions=("sha256:go", None))
    assert ledger.resolve("d", select_option(ASKED, 0)).action == "sha256:go"
    ledger.open(ASKED, decision_id="e", actions=("sha256:go", None))
    assert ledger.resolve("e", select_option(ASKED, 1)).action is None
    ledger.open(ASKED, decision_id="f", actions=("sha256:go", "sha256:stay"))
    assert ledger.resolve("f", open_dialogue(ASKED, "Neither")).action is None
