"""The ledger once on a PostgreSQL server, where there are its programs."""

from __future__ import annotations

import pytest

from emitter.decide import dialogue, digest, selected
from emitter.errors import AlreadyResolved, DecisionExpired
from emitter.ledger import Ledger, Rates
from emitter.store import SqlStore
from tests.ledger.asking import Hand, Told, moment
from tests.store.postgres import running

CHOSEN, REFUSED, LATE = (moment(f"Number {each}?") for each in range(3))


def test_on_postgres(clock: Hand, told: Told) -> None:
    """Two ledgers with connections of their own: one opens, the other resolves, and both come to the same."""
    with running() as server:
        address = server.empty()
        with SqlStore(address, timeout=20) as one, SqlStore(address, timeout=20) as other:
            here, there = (Ledger(each, clock=clock, sink=told) for each in (one, other))
            for name, asked in {"c": CHOSEN, "r": REFUSED, "l": LATE}.items():
                here.open(asked, decision_id=name, expires_in=60 if name == "l" else None)
            assert not there.resolve("c", selected(CHOSEN, 1)).repeated
            assert here.resolve("c", selected(CHOSEN, 1)).repeated
            there.resolve("r", dialogue(REFUSED, "No."))
            assert here.find("r").resolution == dialogue(REFUSED, "No.")  # type: ignore[union-attr]
            with pytest.raises(AlreadyResolved):
                here.open(REFUSED)
            clock.now += 60
            assert here.pending() == ()
            with pytest.raises(DecisionExpired):
                there.resolve("l", selected(LATE, 0))
            assert here.vetoed("agent") == there.vetoed("agent") == {digest(REFUSED)}
            wanted = Rates(opened=3, resolved=2, question_vetoes=1, unanswered=1, settled=3)
            assert here.rates() == there.rates() == wanted
    ends = [each for each in told.messages() if each in {"decision.resolved", "decision.unresolved"}]
    assert len(ends) == 3
