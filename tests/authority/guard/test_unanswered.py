"""Nobody answers, for whatever reason: nothing is done, nothing is lost, and who answers later is heard."""

from __future__ import annotations

import asyncio
import gc
import warnings
from typing import Any

import pytest

from emitter.authority import Authority
from emitter.decisions import Unresolved, UnresolvedReason
from emitter.decisions.ledger_entries import PendingDecision
from emitter.errors import ApprovalPending, BadResolution, DecisionExpired, InputError, NotApproved
from tests.authority.guard.parts import MOM, Office, Post, approve, leave, resolved
from tests.decisions.ledger.asking import Hand


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
    """It is reported so, the decision stays open, and no coroutine is left behind."""
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


def _raises(error: BaseException) -> Any:
    def says(_: PendingDecision) -> Any:
        raise error

    return says


UNANSWERED: dict[str, tuple[Any, type[BaseException]]] = {
    "nobody answers": (lambda pending: Unresolved(pending.digest, UnresolvedReason.TIMEOUT), NotApproved),
    "the person leaves": (lambda pending: Unresolved(pending.digest, UnresolvedReason.DROPPED), NotApproved),
    "ask raises": (_raises(ZeroDivisionError()), ZeroDivisionError),
    "ask is interrupted": (_raises(KeyboardInterrupt()), KeyboardInterrupt),
    "ask returns nothing": (lambda _: None, BadResolution),
    "ask returns something else": (lambda _: True, BadResolution),
    "ask is async": (_async_ask, InputError),
}


@pytest.mark.parametrize(("says", "error"), UNANSWERED.values(), ids=UNANSWERED)
def test_a_call_that_nobody_can_repeat_leaves_no_question_open(says: Any, error: type[BaseException]) -> None:
    """It has no id of the caller's, so an answer could have no effect: its question can no longer be answered."""
    office = Office()
    office.person.says = says
    with pytest.raises(error) as raised:
        office.guard(MOM)

    assert not isinstance(raised.value, ApprovalPending)
    assert office.authority.ledger.pending() == ()
    decision = office.decision
    assert isinstance(decision, PendingDecision)
    assert decision.withdrawn
    with pytest.raises(DecisionExpired, match="withdrew"):
        resolved(office.authority, decision.decision_id)
    assert office.post.sent == []


def test_who_answers_elsewhere_is_heard_by_a_call_without_an_id() -> None:
    """The answer came before the question could be withdrawn."""
    office = Office()

    def says(pending: PendingDecision) -> Any:
        resolved(office.authority, pending.decision_id)
        return Unresolved(pending.digest, UnresolvedReason.DROPPED)

    office.person.says = says
    assert office.guard(MOM) == 1


@pytest.mark.parametrize("with_id", [True, False], ids=["with an id", "without"])
def test_a_cancelled_question_stays_open_only_for_a_call_that_can_be_repeated(with_id: bool) -> None:
    """The task is cancelled while the person is asked."""
    authority, post, asked = Authority(), Post(), asyncio.Event()

    async def ask(_: PendingDecision) -> Any:
        asked.set()
        await asyncio.Event().wait()

    @authority.guard(ask=ask)
    async def send(to: str) -> None:
        """Send an e-mail."""
        post.send_email(to)

    async def main() -> None:
        task = asyncio.create_task(send.call("c1", MOM) if with_id else send(MOM))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert len(authority.ledger.pending()) == with_id
    assert post.sent == []


def test_without_anybody_to_ask_a_call_is_repeated_by_the_id_of_its_error() -> None:
    """A call that was made without one."""
    office = Office(ask=None)
    with pytest.raises(ApprovalPending) as waiting:
        office.guard(MOM)
    resolved(office.authority, waiting.value.decision_id)

    assert office.call(waiting.value.call_id) == 1


@pytest.mark.parametrize("call_id", ["c1", None], ids=["with an id", "without"])
def test_one_except_clause_is_enough_for_a_call_that_is_not_made(call_id: str | None) -> None:
    """Whether the person leaves, or refuses."""
    for says in (leave, lambda pending: Unresolved(pending.digest, UnresolvedReason.CANCELLED)):
        office = Office()
        office.person.says = says
        with pytest.raises(NotApproved) as refused:
            office.guard(MOM) if call_id is None else office.call(call_id)
        assert refused.value.decision_id == office.person.asked[0].decision_id


def test_an_unanswered_question_that_expired_meanwhile_is_not_pending() -> None:
    """The surface gives up after the time is over."""
    clock = Hand()
    authority = Authority(clock=clock)

    def ask(pending: PendingDecision) -> Any:
        clock.now += 61
        return Unresolved(pending.digest, UnresolvedReason.TIMEOUT)

    guard = authority.guard(Post().send_email, ask=ask, expires_in=60)
    for call in (lambda: guard(MOM), lambda: guard.call("c1", MOM)):
        with pytest.raises(NotApproved, match="expired without an answer") as refused:
            call()
        assert not isinstance(refused.value, ApprovalPending)
