"""What is handed to an authority, and what it hands out, is its caller's: what is enforced is the chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import ActionRequest, Authority, ConfirmRequest, acting
from emitter.errors import InputError, NotConsent
from tests.authority.core.driving import Drive
from tests.authority.core.making import act, approved, asked, granted, refused, work

if TYPE_CHECKING:
    from tests.ledger.asking import Hand


def test_terms_that_are_changed_meanwhile_were_not_approved(authority: Authority) -> None:
    """By whoever still has the request that was handed in."""
    request = asked(limits={"budget_usd": 1})

    class Greedy:
        def before_confirm(self, _: ConfirmRequest) -> None:
            request.limits["budget_usd"] = 10**9

    decision = approved(authority, request)
    greedy = Authority(authority._parts.journal._store, hooks=[Greedy()])
    with refused(greedy, NotConsent):
        greedy.confirm(decision, request)


def test_a_hook_makes_nothing_else_of_what_it_looks_at() -> None:
    """It may keep a request from being granted, and an act from beginning; both are what they were."""

    class Greedy:
        def before_confirm(self, request: ConfirmRequest) -> None:
            request.limits["budget_usd"] = 10**9

        def before_execute(self, request: ActionRequest) -> None:
            request.spends["budget_usd"] = 0

    authority = Authority(hooks=[Greedy()])
    confirm = granted(authority, limits={"budget_usd": 100})
    authority.execute(confirm.confirm_id, work(act(spends={"budget_usd": 70})))
    standing = authority.standing(confirm.confirm_id)
    assert (standing.confirm.limits, standing.spent["budget_usd"]) == ({"budget_usd": 100}, 70)


def test_an_act_that_is_changed_meanwhile_is_what_it_was(authority: Authority) -> None:
    """What it spends is what was said when it was asked for, whoever writes into that afterwards."""
    request = act(spends={"budget_usd": 70})
    confirm_id = granted(authority, limits={"budget_usd": 100}).confirm_id
    drive = Drive(acting.execute(authority._parts, confirm_id, work(request)))
    drive.take()
    request.spends["budget_usd"] = 0
    assert drive.end() == "done"
    assert authority.standing(confirm_id).spent["budget_usd"] == 70


def test_what_is_handed_out_changes_nothing(authority: Authority) -> None:
    """A confirm, and how it stands, are copies."""
    request = asked(limits={"max_side_effects": 1})
    decision = approved(authority, request)
    for _ in range(2):
        authority.confirm(decision, request).limits["max_side_effects"] = 9
    confirm_id = authority.confirm(decision, request).confirm_id
    assert authority.execute(confirm_id, work("first")) == "done"
    held = authority.standing(confirm_id)
    held.spent.clear()
    held.confirm.limits.clear()
    assert authority.standing(confirm_id).confirm.limits == {"max_side_effects": 1}
    assert authority.standing(confirm_id).spent == {"max_side_effects": 1}


def test_how_it_stands_is_of_its_moment(authority: Authority, clock: Hand) -> None:
    """It does not change in the hands of whoever asked."""
    confirm_id = granted(authority).confirm_id
    before = authority.standing(confirm_id)
    authority.execute(confirm_id, work())
    authority.stop("w")
    clock.now += 600
    assert (before.uses, before.end, dict(before.spent)) == (0, None, {})
    after = authority.standing(confirm_id)
    assert (after.uses, after.end, dict(after.spent)) == (1, "stopped", {"max_side_effects": 1})


@pytest.mark.parametrize("wrong", [{"actor": ""}, {"actor": "a" * 513}, {"max_skew": -1}, {"max_skew": float("nan")}])
def test_an_authority_is_made_of_what_holds(wrong: dict[str, Any]) -> None:
    """What could only fail later is refused at once."""
    with pytest.raises(InputError):
        Authority(**wrong)
