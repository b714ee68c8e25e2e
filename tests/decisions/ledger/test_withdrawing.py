"""An agent withdraws a decision that no answer can have an effect on any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.decisions import UnresolvedReason, select_option
from emitter.decisions.ledger import Ledger, PendingDecision, ResolvedDecision
from emitter.errors import AlreadyResolved, BadResolution, DecisionExpired, UnknownDecision
from tests.decisions.ledger.asking import Hand, moment

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_withdrawn_decision_is_closed_in_every_process(again: Callable[..., Ledger]) -> None:
    """It is listed nowhere, takes no answer, and counts as unanswered, once."""
    ledger = again()
    pending = ledger.open(moment())
    for _ in range(2):
        assert ledger.withdraw(pending.decision_id).reason is UnresolvedReason.CANCELLED

    other = again()
    assert other.pending() == ()
    found = other.find(pending.decision_id)
    assert isinstance(found, PendingDecision)
    assert (found.withdrawn, found.expiry_recorded) == (True, True)
    for act in (
        lambda: other.resolve(pending.decision_id, select_option(pending.moment, 0)),
        lambda: other.ask_detail(pending.decision_id),
    ):
        with pytest.raises(DecisionExpired, match="withdrew"):
            act()
    assert (other.rates().opened, other.rates().unanswered, other.rates().resolved) == (1, 1, 0)


def test_what_is_resolved_cannot_be_withdrawn() -> None:
    """The answer stands."""
    ledger = Ledger()
    pending = ledger.open(moment())
    ledger.resolve(pending.decision_id, select_option(pending.moment, 0))

    with pytest.raises(AlreadyResolved):
        ledger.withdraw(pending.decision_id)
    assert isinstance(ledger.find(pending.decision_id), ResolvedDecision)


def test_what_has_expired_stays_expired() -> None:
    """The reason is that the time was over."""
    clock = Hand()
    ledger = Ledger(clock=clock)
    pending = ledger.open(moment(), expires_in=60)
    clock.now += 60

    assert ledger.withdraw(pending.decision_id).reason is UnresolvedReason.TIMEOUT
    found = ledger.find(pending.decision_id)
    assert isinstance(found, PendingDecision)
    assert not found.withdrawn


def test_what_cannot_be_withdrawn_is_refused() -> None:
    """An unknown decision, and a reason that is none."""
    ledger = Ledger()
    with pytest.raises(UnknownDecision):
        ledger.withdraw("unknown")
    with pytest.raises(BadResolution):
        ledger.withdraw(ledger.open(moment()).decision_id, "no reason")  # type: ignore[arg-type]
