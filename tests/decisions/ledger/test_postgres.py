"""The ledger once on a PostgreSQL server, where there are its programs."""

from __future__ import annotations

import pytest

from emitter.decisions import digest, open_dialogue, select_option
from emitter.decisions.decision_rates import DecisionRates
from emitter.decisions.ledger import Ledger
from emitter.errors import AlreadyResolved, DecisionExpired
from emitter.stores import SqlStore
from tests.decisions.ledger.asking import Hand, Told, moment
from tests.stores.postgres import running

CHOSEN, REFUSED, LATE = (moment(f"Number {each}?") for each in range(3))


def test_on_postgres(clock: Hand, reported: Told) -> None:
    """Two ledgers with connections of their own: one opens, the other resolves, and both come to the same."""
    with running() as server:
        address = server.empty()
        with SqlStore(address, timeout=20) as one, SqlStore(address, timeout=20) as other:
            here, there = (Ledger(each, clock=clock, on_event=reported) for each in (one, other))
            for name, asked in {"c": CHOSEN, "r": REFUSED, "l": LATE}.items():
                here.open(asked, decision_id=name, expires_in=60 if name == "l" else None)
            assert not there.resolve("c", select_option(CHOSEN, 1)).already_resolved
            assert here.resolve("c", select_option(CHOSEN, 1)).already_resolved
            there.resolve("r", open_dialogue(REFUSED, "No."))
            assert here.find("r").resolution == open_dialogue(REFUSED, "No.")  # type: ignore[union-attr]
            with pytest.raises(AlreadyResolved):
                here.open(REFUSED)
            clock.now += 60
            assert here.pending() == ()
            with pytest.raises(DecisionExpired):
                there.resolve("l", select_option(LATE, 0))
            assert here.refused_digests("agent") == there.refused_digests("agent") == {digest(REFUSED)}
            wanted = DecisionRates(opened=3, resolved=2, question_vetoes=1, unanswered=1, settled=3)
            assert here.rates() == there.rates() == wanted
    ends = [each for each in reported.messages() if each in {"decision.resolved", "decision.unresolved"}]
    assert len(ends) == 3
