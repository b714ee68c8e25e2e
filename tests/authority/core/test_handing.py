"""What is handed to an authority, and what it hands out, is its caller's: what is enforced is the chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import ActionRequest, Authority, ConfirmRequest
from emitter.errors import InputError
from tests.authority.core.making import act, approved, asked, granted, work

if TYPE_CHECKING:
    from tests.ledger.asking import Hand


def test_terms_that_are_changed_meanwhile_are_what_they_were() -> None:
    """Whoever looks at a request before it is granted may stop it, and make nothing else of it."""

    class Greedy:
        def before_confirm(self, request: ConfirmRequest) -> None:
            request.limits["budget_usd"] = 10**9

    authority, request = Authority(hooks=[Greedy()]), asked(limits={"budget_usd": 1})
    assert authority.confirm(approved(authority, request), request).limits == {"budget_usd": 1}


def test_an_act_that_is_changed_meanwhile_is_what_it_was() -> None:
    """What it spends is what was said when it was asked for, whoever writes into that afterwards."""

    class Frugal:
        def before_execute(self, request: ActionRequest) -> None:
            request.spends["budget_usd"] = 0

    authority = Authority(hooks=[Frugal()])
    confirm_id = granted(authority, limits={"budget_usd": 100}).confirm_id
    authority.execute(confirm_id, work(act(spends={"budget_usd": 70})))
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
