"""A decision about a call is opened without the call being made."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from emitter.authority import Authority, StopRequest
from emitter.decisions import open_dialogue
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.errors import ApprovalPending, InputError, NotApproved, OtherCall, WorkflowStopped
from tests.authority.guard.parts import CEO, MOM, Office, aapprove, resolved


def test_it_is_the_decision_of_the_call() -> None:
    """However often it is proposed, and as it stands; nobody is asked, and nothing is done."""
    office = Office()
    pending = office.guard.propose("c1", MOM)
    assert isinstance(pending, PendingDecision)
    assert office.guard.propose("c1", MOM) == pending
    assert (office.person.asked, office.post.sent) == ([], [])

    resolved(office.authority, pending.decision_id)
    found = office.guard.propose("c1", MOM)
    assert isinstance(found, ResolvedDecision)
    assert (found.pending, office.post.sent) == (pending, [])
    assert office.call() == 1
    assert office.person.asked == []


def test_another_call_is_not_proposed_under_its_id() -> None:
    """Neither by a proposal nor by a call."""
    office = Office(ask=None)
    office.guard.propose("c1", MOM)
    for again in (office.guard.propose, office.guard.call):
        with pytest.raises(OtherCall):
            again("c1", CEO)
    with pytest.raises(ApprovalPending):
        office.call()


def test_a_call_that_may_not_begin_is_not_proposed() -> None:
    """After a stop, or once its question was refused."""
    office = Office(ask=None, workflow_id="w1")
    refused = office.guard.propose("c1", MOM)
    resolved(office.authority, refused.decision_id, lambda pending: open_dialogue(pending.moment, "No."))
    with pytest.raises(NotApproved):
        office.guard.propose("c2", MOM)
    office.authority.stop(StopRequest("w1"))
    with pytest.raises(WorkflowStopped):
        office.guard.propose("c3", CEO)
    with pytest.raises(InputError):
        office.guard.propose("", CEO)


def test_an_async_tool_is_proposed_asynchronously() -> None:
    """As it is called."""
    authority = Authority()

    async def send(to: str) -> str:
        return to

    guard = authority.guard(send, ask=aapprove)

    async def run() -> Any:
        return await guard.propose("c1", MOM)

    assert asyncio.run(run()) == authority.ledger.pending()[0]
