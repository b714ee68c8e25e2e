"""What a confirm allows: each member of its scope, its risk, its one call, its limits, its time, and that it lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.authority import Authority
from emitter.errors import (
    AlreadyUsed,
    AuthorityError,
    ConfirmExpired,
    ConfirmRevoked,
    InputError,
    LimitExceeded,
    LimitUnstated,
    NotRevocable,
    OtherCall,
    OutOfScope,
    RiskExceeded,
    UnknownConfirm,
    WorkflowStopped,
)
from tests.authority.execution.driving import Died, die
from tests.authority.execution.making import S256, act, granted, refused, types, work
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.decisions.ledger.asking import Hand

_CALL, _SAME_BYTES, _SAME_ID = (
    {"r3_s256": S256, "call_id": "c"},
    {"r3_s256": S256, "call_id": "d"},
    {"r3_s256": "E" * 43, "call_id": "c"},
)
ALLOWED: list[tuple[dict[str, Any], dict[str, Any], type[AuthorityError] | None]] = [
    ({}, {}, None),
    ({}, {"step_id": "s"}, None),
    ({"scope": {"workflow_id": "v"}}, {}, OutOfScope),
    ({"scope": {"step_ids": ("s", "t")}}, {"step_id": "t"}, None),
    ({"scope": {"step_ids": ("s", "t")}}, {"step_id": "u"}, OutOfScope),
    ({"scope": {"step_ids": ("s", "t")}}, {}, OutOfScope),
    ({"scope": {"step_ids": ()}}, {"step_id": "s"}, OutOfScope),
    ({"scope": {"step_ids": ()}}, {}, OutOfScope),
    ({"scope": {"targets": ("mom",)}}, {}, None),
    ({"scope": {"targets": ("ceo", "mom")}}, {}, None),
    ({"scope": {"targets": ("ceo",)}}, {}, OutOfScope),
    ({"scope": {"targets": ("mo",)}}, {}, OutOfScope),
    ({"scope": {"targets": ("Mom",)}}, {}, OutOfScope),
    ({"scope": {"targets": ()}}, {}, OutOfScope),
    ({"scope": {"capabilities": ("send",)}}, {}, None),
    ({"scope": {"capabilities": ("mail",)}}, {"capability": "mail"}, None),
    ({"scope": {"capabilities": ("send",)}}, {"capability": "mail"}, OutOfScope),
    ({"scope": {"capabilities": ("mail",)}}, {}, OutOfScope),
    ({"scope": {"capabilities": ()}}, {}, OutOfScope),
    ({"risk_level": "low"}, {"risk_level": "low"}, None),
    ({"risk_level": "low"}, {"risk_level": "medium"}, RiskExceeded),
    ({"risk_level": "low"}, {"risk_level": "high"}, RiskExceeded),
    ({"risk_level": "medium"}, {"risk_level": "high"}, RiskExceeded),
    ({"risk_level": "medium"}, {"risk_level": "low"}, None),
    ({"risk_level": "high"}, {"risk_level": "high"}, None),
    ({"call": _CALL}, {"call": _CALL}, None),
    ({"call": _CALL}, {"call": _SAME_BYTES}, OtherCall),
    ({"call": _CALL}, {"call": _SAME_ID}, OtherCall),
    ({"call": _CALL}, {}, OtherCall),
    ({}, {"call": _CALL}, OtherCall),
    ({"limits": {"max_side_effects": 1}}, {}, None),
    ({"limits": {"max_side_effects": 0}}, {}, LimitExceeded),
    ({"limits": {"max_side_effects": 0}}, {"is_pure": True}, None),
    ({"limits": {"max_side_effects": 0}}, {"spends": {"max_side_effects": 0}}, LimitExceeded),
    ({"limits": {"max_side_effects": 2}}, {"spends": {"max_side_effects": 2}}, None),
    ({"limits": {"max_side_effects": 2}}, {"spends": {"max_side_effects": 3}}, LimitExceeded),
    ({"limits": {"budget_usd": 100}}, {"spends": {"budget_usd": 100}}, None),
    ({"limits": {"budget_usd": 100}}, {"spends": {"budget_usd": 101}}, LimitExceeded),
    ({"limits": {"budget_usd": 0}}, {"spends": {"budget_usd": 0}}, None),
    ({"limits": {"budget_usd": 100}}, {}, LimitUnstated),
    ({"limits": {"budget_usd": 100}}, {"is_pure": True}, LimitUnstated),
    ({"limits": {"budget_usd": 100}}, {"spends": {"budget_eur": 1}}, LimitUnstated),
    ({"limits": {"budget_usd": 9}}, {"spends": {"budget_usd": 1, "budget_eur": 1}}, LimitUnstated),
    ({"limits": {"budget_usd": 9}}, {"spends": {"budget_usd": 1, "budget_eur": 0}}, None),
    ({}, {"spends": {"budget_usd": 1}}, LimitUnstated),
    ({}, {"spends": {"anything": 1}}, LimitUnstated),
]


@pytest.mark.parametrize(("terms", "members", "error"), ALLOWED, ids=[f"{t}-{m}" for t, m, _ in ALLOWED])
def test_an_act_is_covered_or_does_not_begin(
    authority: Authority, terms: dict[str, Any], members: dict[str, Any], error: type[AuthorityError] | None
) -> None:
    """A member that is absent bounds nothing, one that is empty allows nothing."""
    confirm_id, doing = granted(authority, **terms).confirm_id, work(act(**members))
    if error is None:
        assert authority.execute(confirm_id, doing) == "done"
        assert types(authority) == ["CONFIRM", "INTENT", "RECEIPT"]
        return
    with refused(authority, error) as found:
        authority.execute(confirm_id, work(act(**members), pytest.fail))
    assert (found.value.code, authority.unfinished_actions()) == (error.code, ())


def test_nobody_confirmed_it(authority: Authority) -> None:
    """Neither what is no id, nor what was approved and not confirmed; whatever is asked of it."""
    for use in (
        lambda: authority.execute("confirm_x", work()),
        lambda: authority.revoke("confirm_x"),
        lambda: authority.get_grant("confirm_x"),
    ):
        with refused(authority, UnknownConfirm):
            use()
    assert authority.workflows() == ()


@pytest.mark.parametrize(("later", "skew", "is_live"), [(599.875, 0, True), (600, 0, False), (595, 5, False)])
def test_authority_ends_with_its_time(clock: Hand, later: float, skew: float, *, is_live: bool) -> None:
    """It is dead for good, whatever a clock says that is set back; where clocks may differ, it ends so much earlier."""
    authority = Authority(clock=clock, max_skew=skew)
    confirm_id = granted(authority).confirm_id
    clock.now += later
    if is_live:
        assert authority.execute(confirm_id, work()) == "done"
        return
    with pytest.raises(ConfirmExpired):
        authority.execute(confirm_id, work(tool=pytest.fail))
    assert types(authority) == ["CONFIRM", "EXPIRE"]
    clock.now -= later
    with refused(authority, ConfirmExpired):
        authority.execute(confirm_id, work(tool=pytest.fail))


def test_what_was_taken_back_is_dead(again: Callable[..., Authority]) -> None:
    """In every process, once and for all, whatever was spent of it; it says why."""
    first, second = again(), again()
    confirm_id = granted(first).confirm_id
    assert first.execute(confirm_id, work("before")) == "done"
    revoke = second.revoke(confirm_id, reason="It was too much.")
    assert list(first.lines("w"))[-1]["record"] == revoke.to_json()
    for authority in (first, second, again()):
        with refused(authority, ConfirmRevoked):
            authority.execute(confirm_id, work("after", pytest.fail))
        with refused(authority, ConfirmRevoked):
            authority.revoke(confirm_id)


def test_what_was_stopped_is_taken_back_once(authority: Authority) -> None:
    """A confirm that is dead already can still be taken back, once."""
    confirm_id = granted(authority).confirm_id
    authority.stop("w")
    authority.revoke(confirm_id)
    with refused(authority, ConfirmRevoked):
        authority.revoke(confirm_id)


def test_what_cannot_be_taken_back_can_be_stopped(authority: Authority) -> None:
    """So it was granted."""
    confirm_id = granted(authority, revocable=False).confirm_id
    with refused(authority, NotRevocable):
        authority.revoke(confirm_id)
    assert authority.execute(confirm_id, work()) == "done"
    authority.stop("w")
    with refused(authority, WorkflowStopped):
        authority.execute(confirm_id, work("after", pytest.fail))


@pytest.mark.parametrize("reason", ["x" * 10_001, "\ud800", 5])
def test_a_reason_is_a_text(authority: Authority, reason: Any) -> None:
    """Of at most 10,000 characters."""
    confirm_id = granted(authority).confirm_id
    with refused(authority, InputError):
        authority.revoke(confirm_id, reason=reason)
    assert authority.get_grant(confirm_id).end is None


def test_one_call_is_made_once(again: Callable[..., Authority]) -> None:
    """Under whichever id, in whichever process, however it ended."""
    confirm_id = granted(again(), call=_CALL).confirm_id
    with pytest.raises(ZeroDivisionError):
        again().execute(confirm_id, work(act("first", call=_CALL), lambda: 1 // 0))
    with refused(again(), AlreadyUsed) as known:
        again().execute(confirm_id, work(act("second", call=_CALL), pytest.fail))
    assert [each.receipt_id for each in again().receipts()] == [known.value.receipt_id]


def test_one_call_that_nobody_saw_end_has_no_receipt(authority: Authority) -> None:
    """Another one under its confirm is refused all the same."""
    confirm_id = granted(authority, call=_CALL).confirm_id
    with pytest.raises(Died):
        authority.execute(confirm_id, work(act("first", call=_CALL), die))
    with refused(authority, AlreadyUsed) as known:
        authority.execute(confirm_id, work(act("second", call=_CALL), pytest.fail))
    assert known.value.receipt_id == ""


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 3), st.booleans()), max_size=8))
@settings(max_examples=examples(60))
def test_a_limit_is_spent_to_the_last_and_no_further(acts: list[tuple[int, int, bool]]) -> None:
    """Each act is allowed while all of its amounts fit into what is left, and takes just those."""
    authority, left = Authority(limits=["emails"]), {"budget_usd": 100, "max_side_effects": 3, "emails": 5}
    confirm_id = granted(authority, limits=dict(left)).confirm_id
    for number, (cents, emails, is_pure) in enumerate(acts):
        takes = {"budget_usd": cents, "emails": emails, "max_side_effects": int(not is_pure)}
        request = act(f"i{number}", spends={"budget_usd": cents, "emails": emails}, is_pure=is_pure)
        if all(takes[name] <= most for name, most in left.items()):
            authority.execute(confirm_id, work(request))
            left = {name: most - takes[name] for name, most in left.items()}
        else:
            with refused(authority, LimitExceeded):
                authority.execute(confirm_id, work(request, pytest.fail))
    standing = authority.get_grant(confirm_id)
    assert {name: most - standing.spent[name] for name, most in standing.confirm.limits.items()} == left
