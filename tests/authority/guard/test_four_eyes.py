"""A tool that needs four eyes: it runs once two principals approved the call, and its chain says who they were."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emitter.authority import Authority
from emitter.authority.audit import report_chain
from emitter.authority.signing import make_signer, make_verifier, new_key, public_jwk
from emitter.decisions import Selected
from emitter.errors import ApprovalPending, BadResolution, InputError, NotApproved, Tampered
from emitter.stores import MemoryStore, NewEntry
from tests.authority.guard.parts import MOM, Post, approve, waiting
from tests.decisions.ledger.asking import Hand

ALICE, BOB, MALLORY = new_key(), new_key(), new_key()


def test_two_principals_approve_a_call() -> None:
    """One alone does not; the confirm names both, and both signatures are verified in the chain."""
    post, keys = Post(), [public_jwk(ALICE), public_jwk(BOB)]
    authority = Authority(MemoryStore(), clock=Hand(), principals=keys)
    guard = authority.guard(post.send_email, workflow_id="w", four_eyes=True)
    decision_id = waiting(guard)
    selected = approve(authority.ledger.find(decision_id))  # type: ignore[arg-type]
    assert isinstance(selected, Selected)
    authority.ledger.approve(decision_id, selected, principal="alice", sign=make_signer(ALICE))
    with pytest.raises(ApprovalPending):
        guard.call("c1", MOM)
    authority.ledger.approve(decision_id, selected, principal="bob", sign=make_signer(BOB))

    assert guard.call("c1", MOM) == 1
    chain: list[Any] = list(authority.lines("w"))
    granted = chain[0]["record"]["granted_by"]
    assert (granted["principal"], granted["first_approval"]["principal"]) == ("bob", "alice")
    ((intent, receipt),) = authority.actions_of(decision_id)
    assert receipt is not None
    assert receipt.intent_ref == intent.intent_id
    verify = make_verifier(*keys).verify_answer
    assert set(report_chain(chain, check_answer=verify).answered_by.values()) == {public_jwk(BOB)["kid"]}
    with pytest.raises(Tampered):
        report_chain(chain, check_answer=make_verifier(public_jwk(BOB)).verify_answer)


def test_one_principal_refuses_a_call() -> None:
    """Nothing runs, and nothing is on the chain."""
    post = Post()
    authority = Authority(MemoryStore(), clock=Hand())
    guard = authority.guard(post.send_email, workflow_id="w", four_eyes=True)
    decision_id = waiting(guard)
    pending = authority.ledger.find(decision_id)
    idle = next(index for index, action in enumerate(pending.actions) if action is None)  # type: ignore[union-attr]
    authority.ledger.resolve(decision_id, Selected(pending.digest, idle), principal="bob")  # type: ignore[union-attr]

    with pytest.raises(NotApproved):
        guard.call("c1", MOM)
    assert (post.sent, authority.workflows(), authority.actions_of(decision_id)) == ([], (), ())


def test_a_row_that_asks_for_one_answer_is_found() -> None:
    """Whoever changes the open decision in the store does not make one approval enough."""
    post, store = Post(), MemoryStore()
    authority = Authority(store, clock=Hand())
    guard = authority.guard(post.send_email, workflow_id="w", four_eyes=True)
    decision_id = waiting(guard)
    pending = authority.ledger.find(decision_id)
    key = f"opened:{pending.reference}"  # type: ignore[union-attr]
    entry = store.find("emitter.ledger", key)
    assert entry is not None
    weaker = {name: value for name, value in entry.outcome.items() if name != "fourEyes"}
    store.forget("emitter.ledger", key)
    store.get_or_create("emitter.ledger", key, lambda: NewEntry(replace(entry, outcome=weaker)))
    authority.ledger.resolve(decision_id, approve(authority.ledger.find(decision_id)))  # type: ignore[arg-type]

    with pytest.raises(Tampered):
        guard.call("c1", MOM)
    assert post.sent == []


def test_a_function_says_which_calls_need_two() -> None:
    """It receives the parameters; a call that it does not name needs one approval."""
    post = Post()
    authority = Authority(MemoryStore(), clock=Hand())
    guard = authority.guard(post.send_email, workflow_id="w", four_eyes=lambda call: call["to"] != MOM)
    small, large = waiting(guard), waiting(guard, "c2", "boss")
    found = [authority.ledger.find(each) for each in (small, large)]

    assert [each.four_eyes for each in found] == [False, True]  # type: ignore[union-attr]
    authority.ledger.resolve(small, approve(found[0]))  # type: ignore[arg-type]
    with pytest.raises(BadResolution):
        authority.ledger.resolve(large, approve(found[1]))  # type: ignore[arg-type]
    assert guard.call("c1", MOM) == 1


def test_a_rule_that_changes_while_a_call_waits_never_needs_fewer_people() -> None:
    """Turned on, the call is refused; turned off, its question still needs two."""
    post, authority = Post(), Authority(MemoryStore(), clock=Hand())

    def guard(four_eyes: bool) -> Any:
        return authority.guard(post.send_email, workflow_id="w", four_eyes=four_eyes)

    one = waiting(guard(False))
    authority.ledger.resolve(one, approve(authority.ledger.find(one)))  # type: ignore[arg-type]
    with pytest.raises(Tampered, match="four_eyes= was turned on"):
        guard(True).call("c1", MOM)
    two = waiting(guard(True), "c2")
    selected: Any = approve(authority.ledger.find(two))  # type: ignore[arg-type]
    with pytest.raises(BadResolution):
        authority.ledger.resolve(two, selected)
    authority.ledger.approve(two, selected, principal="alice")
    with pytest.raises(ApprovalPending):
        guard(False).call("c2", MOM)
    assert post.sent == []


def ask_later(_: object) -> Any:
    """Say nothing in particular."""
    return "yes"


async def ask_async(_: object) -> bool:
    """Say yes, later."""
    return True


WRONG = {"a word": "no", "a number": 2, "an async function": ask_async}


@pytest.mark.parametrize("value", WRONG.values(), ids=WRONG.keys())
def test_what_says_nothing_is_refused(value: Any) -> None:
    """Before any call."""
    with pytest.raises(InputError, match="four_eyes= must be"):
        Authority().guard(Post().send_email, four_eyes=value)


def test_a_function_that_says_neither_is_refused() -> None:
    """Nobody is asked."""
    guard = Authority().guard(Post().send_email, four_eyes=ask_later)
    with pytest.raises(InputError, match="of type str, not a bool"):
        guard.call("c1", MOM)


def test_it_is_not_asked_at_once() -> None:
    """``ask=`` asks one principal."""
    with pytest.raises(InputError, match="two principals"):
        Authority().guard(Post().send_email, four_eyes=True, ask=approve)
