"""Only what the principal chose is granted, as it was put, once, and in time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from emitter.authority import ActionRequest, Authority, Confirm, ConfirmRequest, Scope, StopRequest
from emitter.decisions import answer_in_words, open_dialogue, select_option
from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.errors import ConfirmExpired, ConfirmNotYetValid, LimitExceeded, LimitUnknown, NotConsent, WorkflowStopped
from tests.authority.execution.making import S256, act, approved, asked, granted, opened, refused, types, work
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.decisions.ledger_entries import PendingDecision
    from tests.decisions.ledger.asking import Hand

_REQUEST = asked(scope={"targets": ("mom",)}, limits={"budget_usd": 800})
_OTHER = asked(scope={"targets": ("ceo",)}, limits={"budget_usd": 800})


def _chosen(authority: Authority, index: int, *actions: str | None) -> ResolvedDecision:
    pending = opened(authority, *actions)
    return authority.ledger.resolve(pending.decision_id, select_option(pending.moment, index))


def _answered(authority: Authority, answer: Callable[[Any], Any]) -> ResolvedDecision:
    pending = opened(authority, _REQUEST.digest, None)
    return authority.ledger.resolve(pending.decision_id, answer(pending.moment))


def _forged(authority: Authority) -> ResolvedDecision:
    pending = opened(authority, _REQUEST.digest, None)
    return ResolvedDecision(pending, select_option(pending.moment, 0), authority.ledger.pending()[0].opened_at)


def _reopened(authority: Authority, pending: PendingDecision) -> ResolvedDecision:
    """Return what says of another decision that it had the action that is wanted."""
    found = authority.ledger.resolve(pending.decision_id, select_option(pending.moment, 1))
    return replace(found, pending=replace(pending, actions=(None, _REQUEST.digest)))


NO_CONSENT: dict[str, Callable[[Authority], ResolvedDecision | str]] = {
    "not answered": lambda a: opened(a, _REQUEST.digest, None).decision_id,
    "the other option": lambda a: _chosen(a, 1, _REQUEST.digest, None),
    "an option that does another thing": lambda a: _chosen(a, 1, _REQUEST.digest, _OTHER.digest),
    "a decision about another thing": lambda a: _chosen(a, 0, _OTHER.digest, None),
    "a decision that does nothing": lambda a: _chosen(a, 0),
    "free text": lambda a: _answered(a, lambda moment: answer_in_words(moment, "Do 0, yes.")),
    "an objection": lambda a: _answered(a, lambda moment: open_dialogue(moment, "Why?")),
    "made by hand, not answered": _forged,
    "made by hand, of no decision": lambda a: replace(_forged(a), pending=replace(_forged(a).pending, decision_id="x")),
    "made by hand, of another action": lambda a: _reopened(a, opened(a, _REQUEST.digest, None)),
    "an id of no decision": lambda _: "nobody was asked",
}


@pytest.mark.parametrize("decided", NO_CONSENT.values(), ids=NO_CONSENT.keys())
def test_nothing_else_is_consent(authority: Authority, decided: Callable[[Authority], ResolvedDecision | str]) -> None:
    """Whatever is handed over, what counts is what the ledger says was chosen."""
    decision = decided(authority)
    with refused(authority, NotConsent):
        authority.confirm(decision, _REQUEST)
    assert authority.workflows() == ()


_CHANGES: list[dict[str, Any]] = [
    {"scope": {}},
    {"scope": {"targets": ()}},
    {"scope": {"targets": ("mom", "ceo")}},
    {"scope": {"targets": ("mom",), "step_ids": ()}},
    {"limits": {}},
    {"limits": {"budget_usd": 801}},
    {"ttl_seconds": 601},
    {"risk_level": "low"},
    {"revocable": False},
    {"call": {"r3_s256": S256, "call_id": "c"}},
]


@pytest.mark.parametrize("changed", _CHANGES, ids=repr)
def test_what_differs_in_a_member_was_not_approved(authority: Authority, changed: dict[str, Any]) -> None:
    """Neither is what has one more, or one less."""
    request = asked(**{"scope": {"targets": ("mom",)}, "limits": {"budget_usd": 800}, **changed})
    with refused(authority, NotConsent):
        authority.confirm(approved(authority, _REQUEST), request)
    with refused(authority, NotConsent):
        authority.confirm(approved(authority, request), _REQUEST)


def test_a_confirm_is_what_was_approved(authority: Authority, clock: Hand) -> None:
    """From when it was approved, by whichever way, for as long as was said; later on by whoever holds the decision."""
    pending = opened(authority, None, _REQUEST.digest)
    decision = authority.ledger.resolve(pending.decision_id, select_option(pending.moment, 1), channel="web")
    clock.now += 60
    confirm = authority.confirm(pending.decision_id, _REQUEST)
    (line,) = authority.lines("w")
    assert line["record"] == confirm.to_json()
    assert {name: getattr(confirm, name) for name in type(_REQUEST).model_fields} == dict(_REQUEST)
    assert (confirm.timestamp, line["at"]) == ("2027-01-15T08:00:00.000Z", "2027-01-15T08:01:00.000Z")
    assert confirm.granted_by.to_json() == {
        "decision": decision.pending.reference,
        "envelope": pending.digest,
        "option": 1,
        "request": _REQUEST.digest,
        "channel": "web",
    }


def test_one_choice_is_one_confirm(again: Callable[..., Authority]) -> None:
    """In every process, and after it was used, revoked or stopped: the same record, and no other."""
    first, second = again(), again(actor="other")
    decision = approved(first, _REQUEST)
    confirm = first.confirm(decision, _REQUEST)
    assert second.confirm(decision.pending.decision_id, _REQUEST) == confirm
    second.revoke(confirm.confirm_id)
    first.stop("w")
    assert first.confirm(decision, _REQUEST) == again().confirm(decision, _REQUEST) == confirm
    assert types(first) == ["CONFIRM", "REVOKE", "STOP"]
    assert granted(again(), scope={"workflow_id": "v"}).confirm_id != confirm.confirm_id


def test_raced_it_is_one_confirm(again: Callable[..., Authority]) -> None:
    """By threads of one process and of others."""
    first = again()
    decision, barrier = approved(first, _REQUEST), threading.Barrier(8)
    everybody = [first] * 4 + [again() for _ in range(4)]

    def confirm(authority: Authority) -> Confirm:
        barrier.wait(20)
        return authority.confirm(decision, _REQUEST)

    with ThreadPoolExecutor(8) as pool:
        one, *others = pool.map(confirm, everybody)
    assert others == [one] * 7
    assert types(first) == ["CONFIRM"]
    assert first.get_grant(one.confirm_id).confirm == one


@pytest.mark.parametrize(
    ("later", "skew", "error"),
    [
        (599.875, 0, None),
        (600, 0, ConfirmExpired),
        (598.875, 1, None),
        (599, 1, ConfirmExpired),
        (-0.125, 0, ConfirmNotYetValid),
        (-1, 1, None),
        (-1.125, 1, ConfirmNotYetValid),
    ],
)
def test_an_approval_is_of_its_time(
    again: Callable[..., Authority], clock: Hand, later: float, skew: float, error: type[Exception] | None
) -> None:
    """Confirmed too late, or before it was given, it grants nothing; clocks may differ by so much as is said.

    That it was too late is recorded; that its time has not come is not, since it may come.
    """
    authority = again(max_skew=skew)
    decision = approved(authority, _REQUEST)
    clock.now += later
    if error is None:
        assert authority.confirm(decision, _REQUEST).ttl_seconds == 600
        return
    with pytest.raises(error):
        authority.confirm(decision, _REQUEST)
    assert types(authority) == (["EXPIRE"] if later > 0 else [])


@pytest.mark.parametrize(("later", "is_granted"), [(0, False), (10, False), (10.125, True)])
def test_what_was_approved_before_a_stop_is_dead(clock: Hand, later: float, *, is_granted: bool) -> None:
    """Even once the stop was lifted; where clocks may differ, so is what may have been approved before it."""
    authority = Authority(clock=clock, max_skew=10)
    stop = authority.stop(StopRequest("w", takeover_mode="pause")).stop
    clock.now += later
    decision = approved(authority, _REQUEST)
    with refused(authority, WorkflowStopped):
        authority.confirm(decision, _REQUEST)
    authority.resume("w", stop.request_id)
    if is_granted:
        assert authority.confirm(decision, _REQUEST)
        return
    with refused(authority, WorkflowStopped):
        authority.confirm(decision, _REQUEST)


@pytest.mark.parametrize(
    ("name", "is_known"),
    [
        ("max_side_effects", True),
        ("budget_usd", True),
        ("budget_xxx", True),
        ("emails", True),
        ("budget", False),
        ("budget_", False),
        ("budget_us", False),
        ("budget_euro", False),
        ("my_budget_usd", False),
        ("max_side_effect", False),
        ("email", False),
    ],
)
def test_an_unknown_limit_grants_nothing(name: str, *, is_known: bool) -> None:
    """What nobody can enforce is no bound; whoever has limits of their own says so."""
    authority, request = Authority(limits=["emails"]), asked(limits={name: 1})
    decision = approved(authority, request)
    if is_known:
        assert authority.confirm(decision, request).limits == {name: 1}
        return
    with refused(authority, LimitUnknown):
        authority.confirm(decision, request)


INEXACT: list[Any] = [
    *[True, 1.0, 1.5, 7.5, -1, None, 2**53, float("inf"), float("nan")],
    *["1", "7.50", "-7.5", "07.5", "7.", ".5", "7,5", "1e2", "0.0000001", "7.5\n", "\u0667.5"],
    *[Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("-0.5"), Decimal("1e-7"), Decimal("1e15")],
]


@pytest.mark.parametrize("amount", INEXACT, ids=repr)
def test_an_amount_is_exact(amount: Any) -> None:
    """An integer or, of money, a decimal fraction: none below 0, no float, and none that JSON's readers would round."""
    with pytest.raises(ValidationError):
        ConfirmRequest(scope=Scope(workflow_id="w"), limits={"budget_usd": amount}, ttl_seconds=1, risk_level="low")  # type: ignore[arg-type]
    deed = {"intent_id": "i", "workflow_id": "w", "action": "a", "target": "t"}
    with pytest.raises(ValidationError):
        ActionRequest.model_validate({**deed, "spends": {"budget_usd": amount}})


def test_only_money_has_fractions() -> None:
    """Half a side effect is none."""
    for name in ("max_side_effects", "emails", "budget_dollars"):
        with pytest.raises(ValidationError, match="whole number"):
            asked(limits={name: Decimal("1.5")})


MONEY = st.decimals(0, 10**14, places=6)


@settings(max_examples=examples(20))
@given(st.lists(MONEY, min_size=1, max_size=4), MONEY)
def test_money_adds_up_to_the_cent(spends: list[Decimal], more: Decimal) -> None:
    """Whatever precision the caller computes with; equal amounts are written alike, and read back the same."""
    with localcontext() as context:
        context.prec = 3
        authority, total = Authority(), sum(map(Fraction, spends), Fraction())
        confirm = granted(authority, limits={"budget_usd": Decimal(10**14 * 4)})
        for number, each in enumerate(spends):
            authority.execute(confirm.confirm_id, work(act(f"i{number}", spends={"budget_usd": each})))
        spent = authority.get_grant(confirm.confirm_id).spent["budget_usd"]

        assert Fraction(spent) == total
        assert isinstance(spent, int) == (total.denominator == 1)
        for record in (asked(limits={"budget_usd": more}), act(spends={"budget_usd": more})):
            assert type(record).model_validate_json(record.model_dump_json()) == record
            assert type(record).model_validate(record.to_json()) == record


def test_the_last_cent_is_spent_and_no_more() -> None:
    """Ten times ten cents are a dollar, which they are not as floats."""
    authority = Authority()
    confirm_id = granted(authority, limits={"budget_usd": 1}).confirm_id
    for number in range(10):
        authority.execute(confirm_id, work(act(f"i{number}", spends={"budget_usd": Decimal("0.10")})))

    with refused(authority, LimitExceeded):
        authority.execute(confirm_id, work(act("more", spends={"budget_usd": Decimal("0.01")})))
    assert authority.get_grant(confirm_id).spent["budget_usd"] == 1
