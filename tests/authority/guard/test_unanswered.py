"""Nobody answers, for whatever reason: nothing is done, nothing is lost, and who answers later is heard."""

from __future__ import annotations

import gc
import warnings
from typing import Any

import pytest

from emitter.decisions import Unresolved, UnresolvedReason
from emitter.decisions.ledger_entries import PendingDecision
from emitter.errors import ApprovalPending, InputError
from tests.authority.guard.parts import Office, approve, resolved


@pytest.mark.parametrize("reason", UnresolvedReason)
@pytest.mark.parametrize("times", [1, 3])
def test_without_an_answer_the_decision_stays_open(reason: UnresolvedReason, times: int) -> None:
    """As often as nobody answers; whoever answers then, there or elsewhere, is heard."""
    office = Office(channel="terminal")
    office.person.says = lambda pending: Unresolved(pending.digest, reason)
    for _ in range(times):
        with pytest.raises(ApprovalPending) as waiting:
            office.call()
        assert (waiting.value.call_id, waiting.value.decision_id) == ("c1", office.person.asked[0].decision_id)
    assert isinstance(office.decision, PendingDecision)
    assert office.authority.ledger.rates().unanswered == 1

    resolved(office.authority, waiting.value.decision_id)
    assert office.call() == 1
    assert len(office.person.asked) == times


@pytest.mark.parametrize("reason", UnresolvedReason)
def test_who_answers_elsewhere_while_nobody_answers_here_is_heard(reason: UnresolvedReason) -> None:
    """The surface gives up after somebody approved on another one: what stands is what counts."""
    office = Office()

    def says(pending: PendingDecision) -> Any:
        resolved(office.authority, pending.decision_id)
        return Unresolved(pending.digest, reason)

    office.person.says = says

    assert office.call() == 1


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, StopIteration])
def test_what_raises_while_it_asks_approves_nothing(error: type[BaseException]) -> None:
    """It is raised; the decision stays open, and is put again by the same call."""
    office = Office()

    def says(_: PendingDecision) -> Any:
        raise error

    office.person.says = says
    with pytest.raises((error, RuntimeError)):
        office.call()
    assert isinstance(office.decision, PendingDecision)
    assert office.post.sent == []

    office.person.says = approve
    assert office.call() == 1
    assert len({each.decision_id for each in office.person.asked}) == 1


async def _async_ask(pending: PendingDecision) -> Any:
    return approve(pending)


def test_a_sync_tool_has_nobody_who_waits_for_an_async_question() -> None:
    """It is told so, the decision stays open, and no coroutine is left behind."""
    office = Office(ask=_async_ask)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="async"):
            office.call()
        gc.collect()
    assert office.post.sent == []
    assert len(office.authority.ledger.pending()) == 1


def test_without_anybody_to_ask_the_call_waits() -> None:
    """As often as it is made, for one decision."""
    office = Office(ask=None)
    found = set[str]()
    for _ in range(3):
        with pytest.raises(ApprovalPending) as waiting:
            office.call()
        found.add(waiting.value.decision_id)

    assert len(found) == 1
    resolved(office.authority, found.pop())
    assert office.call() == office.call() == 1
