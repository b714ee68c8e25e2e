"""A call that was proposed and has not begun is taken back, whether its question was answered or not."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, current_action
from emitter.authority.chain import verify_chain
from emitter.authority.records import Revoke
from emitter.decisions.ledger_entries import PendingDecision
from emitter.errors import (
    AlreadyUsed,
    AuthorityError,
    ConfirmRevoked,
    NotApproved,
    NotRevocable,
    OtherCall,
    Unfinished,
    UnknownConfirm,
    UnknownDecision,
    WorkflowStopped,
)
from tests.authority.guard.parts import CEO, MOM, Post, kept, leave, resolved, waiting

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import GuardedTool
    from emitter.stores import Store


def types(authority: Authority) -> list[str]:
    """Verify the chains; return the types of their records."""
    return [line.record.type for name in authority.workflows() for line in verify_chain(authority.lines(name))]


def office(store: Store, **settings: Any) -> tuple[Authority, Post, GuardedTool[..., int]]:
    """Return an authority, a tool, and the guard of the tool."""
    authority, post = Authority(store), Post()
    options: dict[str, Any] = {"workflow_id": "w", **settings}
    return authority, post, authority.guard(post.send_email, **options)


def test_an_approved_call_is_taken_back_in_every_process(store: Store) -> None:
    """The approval and its revocation are on record; nothing runs, by whichever process and however often."""
    authority, post, guard = office(store)
    decision_id = waiting(guard)
    resolved(authority, decision_id)
    with pytest.raises(UnknownConfirm, match=r"revoke\(call_id, \.\.\.\)"):
        authority.revoke(decision_id)
    revoked = guard.revoke("c1", MOM)

    assert isinstance(revoked, Revoke)
    assert types(authority) == ["CONFIRM", "REVOKE"]
    other, sent, again = office(store)
    for _ in range(2):
        with pytest.raises(ConfirmRevoked):
            again.call("c1", MOM)
    with pytest.raises(ConfirmRevoked):
        again.revoke("c1", MOM)
    assert types(other) == ["CONFIRM", "REVOKE"]
    assert (post.sent, sent.sent) == ([], [])


def test_an_open_question_is_withdrawn(store: Store) -> None:
    """Nobody can approve it any more, and the call stays refused; taken back again, nothing changes."""
    authority, post, guard = office(store)
    decision_id = waiting(guard)
    assert guard.revoke("c1", MOM) is None
    assert guard.revoke("c1", MOM) is None
    decision = authority.ledger.find(decision_id)
    assert isinstance(decision, PendingDecision)
    assert decision.withdrawn
    with pytest.raises(NotApproved, match=r"withdrawn\. Make a new call, under another id\."):
        guard.call("c1", MOM)
    assert (types(authority), post.sent) == ([], [])


REFUSED: dict[str, tuple[Callable[[Authority, GuardedTool[..., int]], object], type[Exception], list[str]]] = {
    "made": (lambda _, guard: guard.call("c1", MOM), AlreadyUsed, ["CONFIRM", "INTENT", "RECEIPT"]),
    "stopped": (lambda authority, _: authority.stop("w"), WorkflowStopped, ["STOP"]),
}


@pytest.mark.parametrize(("act", "error", "records"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_taken_back_says_why(
    store: Store,
    act: Callable[[Authority, GuardedTool[..., int]], object],
    error: type[Exception],
    records: list[str],
) -> None:
    """And nothing more is recorded."""
    authority, _, guard = office(store)
    resolved(authority, waiting(guard))
    act(authority, guard)
    with pytest.raises(error):
        guard.revoke("c1", MOM)
    assert types(authority) == records


def test_what_was_not_approved_is_not_revoked(store: Store) -> None:
    """Nor another call than the one under the id, nor one that nobody was asked about, of which nothing is kept."""
    authority, _, guard = office(store)
    with pytest.raises(UnknownDecision):
        guard.revoke("c1", MOM)
    assert kept(authority, "c1") == {}
    resolved(authority, waiting(guard), leave)
    with pytest.raises(OtherCall):
        guard.revoke("c1", CEO)
    with pytest.raises(NotApproved):
        guard.revoke("c1", MOM)
    assert types(authority) == []


def test_what_was_granted_for_good_is_not_revoked(store: Store) -> None:
    """The approval is not even confirmed for it, and still counts."""
    authority, _, guard = office(store, revocable=False)
    resolved(authority, waiting(guard))
    with pytest.raises(NotRevocable):
        guard.revoke("c1", MOM)
    assert types(authority) == []
    assert guard.call("c1", MOM) == 1


def test_a_call_that_runs_is_not_taken_back(store: Store) -> None:
    """It is named as begun, and ends as it would have."""
    authority, reported = Authority(store), list[str]()

    @authority.guard(workflow_id="w")
    def send(to: str) -> int:
        with pytest.raises(Unfinished) as raised:
            send.revoke("c1", to)
        reported.append(raised.value.intent_id)
        current_action().check()
        return 1

    resolved(authority, waiting(send))
    assert send.call("c1", MOM) == 1
    assert reported == ["c1"]
    assert types(authority) == ["CONFIRM", "INTENT", "RECEIPT"]


def test_a_call_and_its_revocation_race(store: Store) -> None:
    """Exactly one of them counts."""
    authority, post, guard = office(store)
    for number in range(8):
        resolved(authority, waiting(guard, f"c{number}"))

    def tried(run: Callable[..., Any], call_id: str) -> bool:
        try:
            run(call_id, MOM)
        except AuthorityError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        ran = [pool.submit(tried, run, f"c{number}") for number in range(8) for run in (guard.call, guard.revoke)]
        counts = [each.result() for each in ran]
    assert [counts[place] + counts[place + 1] for place in range(0, 16, 2)] == [1] * 8
    assert len(post.sent) == sum(counts[::2])


def test_a_tool_with_a_method_of_that_name_is_taken_back() -> None:
    """The attributes of a tool hide none of the guard's."""
    authority = Authority()

    def send(to: str) -> int:
        return len(to)

    send.revoke = send.propose = None  # type: ignore[attr-defined]
    guard = authority.guard(send)
    assert guard.propose("c1", MOM)
    assert guard.revoke("c1", MOM) is None


def test_a_call_of_an_async_tool_is_taken_back_asynchronously() -> None:
    """As it is called."""
    authority = Authority()

    @authority.guard
    async def send(to: str) -> int:
        return len(to)

    async def take_back() -> object:
        pending = await send.propose("c1", MOM)
        resolved(authority, pending.decision_id)
        revoked = await send.revoke("c1", MOM)
        with pytest.raises(ConfirmRevoked):
            await send.call("c1", MOM)
        return revoked

    assert isinstance(asyncio.run(take_back()), Revoke)
