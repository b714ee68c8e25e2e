"""What a decision has come to is computed from the store, in any process."""

from __future__ import annotations

import pytest

from emitter.authority import ApprovalState, Authority
from emitter.errors import UnknownDecision
from emitter.stores import MemoryStore
from tests.authority.guard.approvals import STATES, Call


@pytest.mark.parametrize("how", STATES)
def test_each_state_is_found_by_another_process(how: str) -> None:
    """It needs nothing but the store, and the clock."""
    store, (state, make) = MemoryStore(), STATES[how]
    decision_id = make(Call(store))
    reader = Authority(store, actor="somebody else")
    assert reader.find_state(decision_id) is state
    assert reader.find_state(reader.ledger.find(decision_id)) is state


def test_every_state_has_a_case_and_words_of_its_own() -> None:
    """Nothing is called by the words of another state."""
    assert {state for state, _ in STATES.values()} == set(ApprovalState)
    assert len({state.label for state in ApprovalState}) == len(ApprovalState)
    assert all(state.deed for state in ApprovalState)


def test_an_unknown_decision_has_no_state() -> None:
    """Its error is that of the ledger."""
    with pytest.raises(UnknownDecision):
        Authority().find_state("nobody's")
