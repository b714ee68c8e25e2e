"""Time passes between approval and run, and the clocks of those who share a store differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, ConfirmRequest, current_action
from emitter.authority.audit import report_chain
from emitter.authority.chain import compute_genesis_hash, make_line
from emitter.authority.records import Expire, Line
from emitter.authority.rules import GrantEnd
from emitter.errors import (
    ConfirmExpired,
    ConfirmNotYetValid,
    DecisionExpired,
    EmitterError,
    InputError,
    NotApproved,
    Tampered,
)
from emitter.events import format_timestamp
from tests.authority.execution.making import approved, asked, granted, work
from tests.authority.guard.parts import MOM, Post, approve, kept, proven, resolved, waiting
from tests.decisions.ledger.asking import START, Hand

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.stores import Store

HOUR = 3_600.0


def test_a_call_goes_on_where_it_was_after_a_restart(store: Store) -> None:
    """With a guard of the new process's own; the workflow, the decision and the confirm are those that it had."""
    post = Post()
    first = Authority(store).guard(post.send_email)
    decision_id = waiting(first)
    assert waiting(Authority(store).guard(post.send_email)) == decision_id
    resolved(Authority(store), decision_id)

    second = Authority(store).guard(post.send_email)
    assert second.call("c1", MOM) == 1
    assert Authority(store).guard(post.send_email).call("c1", MOM) == 1

    authority = Authority(store)
    assert authority.workflows() == (kept(authority, "c1")["workflow_id"],) == (first.workflow_id,)
    assert second.workflow_id != first.workflow_id
    assert post.sent == [(MOM, "hi")]
    proven(authority)


AGES = {"at once": (0.0, True), "just in time": (899.0, True), "at the end": (900.0, False), "late": (1e9, False)}


@pytest.mark.parametrize(("seconds", "runs"), AGES.values(), ids=AGES)
def test_an_approval_is_good_for_as_long_as_was_said(store: Store, seconds: float, runs: bool) -> None:
    """From when it was given, however long it took to be given; then nothing is done, and never again by it."""
    clock, post = Hand(), Post()
    guard = Authority(store, clock=clock).guard(post.send_email)
    decision_id = waiting(guard)
    clock.now += 10 * HOUR
    resolved(Authority(store, clock=clock), decision_id)
    clock.now += seconds
    again = Authority(store, clock=clock).guard(post.send_email)

    if runs:
        assert again.call("c1", MOM) == 1
        clock.now += 1e9
        assert again.call("c1", MOM) == 1
    for moved in (0.0, -seconds) if not runs else ():
        clock.now += moved
        if not moved:
            with pytest.raises(ConfirmExpired):
                again.call("c1", MOM)
    assert len(post.sent) == runs


SKEWS: dict[str, tuple[float, float, float, type[Exception] | None]] = {
    "none": (0.0, 0.0, 0.0, None),
    "the one who runs is slow, within what may be": (-30.0, 60.0, 0.0, None),
    "the one who runs is slow, by more": (-90.0, 60.0, 0.0, ConfirmNotYetValid),
    "the one who runs is fast, within what may be": (30.0, 60.0, 0.0, None),
    "the one who runs is fast, by more than the time": (HOUR, 60.0, 0.0, ConfirmExpired),
    "its time is over on a clock that may be right": (0.0, 60.0, 840.0, ConfirmExpired),
    "its time is not yet over on any": (0.0, 60.0, 839.0, None),
    "a slow clock that is not reckoned with": (-1.0, 0.0, 0.0, ConfirmNotYetValid),
}


@pytest.mark.parametrize(("behind", "skew", "later", "error"), SKEWS.values(), ids=SKEWS)
def test_clocks_that_differ(
    store: Store, behind: float, skew: float, later: float, error: type[Exception] | None
) -> None:
    """By as much as may be, an approval is good; where it may be over, or of a time that has not come, it is not."""
    here, there, post = Hand(), Hand(START + behind), Post()
    decision_id = waiting(Authority(store, clock=there, max_skew=skew).guard(post.send_email))
    resolved(Authority(store, clock=here, max_skew=skew), decision_id)
    there.now += later
    guard = Authority(store, clock=there, max_skew=skew).guard(post.send_email)

    if error is None:
        assert guard.call("c1", MOM) == 1
        proven(Authority(store))
    else:
        with pytest.raises(error):
            guard.call("c1", MOM)
        assert post.sent == []


def test_an_approval_of_a_clock_ahead_counts_once_this_one_has_caught_up(store: Store) -> None:
    """It is not lost: the error has a code of its own, says which setting allows it, and the same call runs later."""
    here, there, post = Hand(), Hand(START - 2), Post()
    guard = Authority(store, clock=there).guard(post.send_email)
    resolved(Authority(store, clock=here), waiting(guard))
    with pytest.raises(ConfirmNotYetValid, match="max_skew=") as early:
        guard.call("c1", MOM)
    there.now += 2

    assert early.value.code == "not_yet_valid"
    assert guard.call("c1", MOM) == 1
    proven(Authority(store))


def test_a_clock_that_goes_back_brings_nothing_back(store: Store) -> None:
    """An authority whose time was met as over stays over, and no line of the chain is earlier than the one before."""
    clock, post, reported = Hand(), Post(), list[str]()
    authority = Authority(store, clock=clock)

    class Late:
        """A hook that lets the time run out between the confirm and the act."""

        def before_execute(self, _: object) -> None:
            """Take long."""
            reported.append("late")
            if len(reported) == 1:
                clock.now += HOUR

    guard = Authority(store, clock=clock, hooks=[Late()]).guard(post.send_email, ask=approve)
    with pytest.raises(ConfirmExpired):
        guard.call("c1", MOM)
    clock.now -= HOUR

    with pytest.raises(ConfirmExpired):
        guard.call("c1", MOM)
    assert post.sent == []
    lines = [Line.model_validate(each) for each in authority.lines(guard.workflow_id)]
    assert [each.record.type for each in lines] == ["CONFIRM", "EXPIRE"]
    assert sorted(each.at for each in lines) == [each.at for each in lines]


@pytest.mark.parametrize("skew", [-1.0, float("inf"), float("nan")])
def test_a_skew_that_cannot_be_is_refused(skew: float) -> None:
    """Before anything is asked."""
    with pytest.raises(InputError):
        Authority(max_skew=skew)


LATE: dict[str, Callable[[Hand, PendingDecision], Any]] = {
    "nobody answered": lambda _, __: None,
    "the answer came too late": lambda clock, pending: setattr(clock, "now", clock.now + 61) or approve(pending),
}


@pytest.mark.parametrize("ask", LATE)
def test_a_question_whose_time_is_over_approves_nothing(store: Store, ask: str) -> None:
    """The error is that of a call that nobody approved, and names the decision; the same call stays so."""
    clock, post = Hand(), Post()
    authority = Authority(store, clock=clock)
    decision_id = waiting(authority.guard(post.send_email, expires_in=60))
    if ask == "nobody answered":
        clock.now += 60
    guard = authority.guard(post.send_email, expires_in=60, ask=lambda pending: LATE[ask](clock, pending))

    for _ in range(2):
        with pytest.raises(NotApproved) as refused:
            guard.call("c1", MOM)
        assert refused.value.decision_id == decision_id
    clock.now -= HOUR
    with pytest.raises(NotApproved):
        guard.call("c1", MOM)
    assert post.sent == []


def test_an_approval_that_came_too_late_is_reported_as_late() -> None:
    """Somebody did answer; the error does not say that nobody did."""
    clock, post = Hand(), Post()

    def ask(pending: PendingDecision) -> Any:
        clock.now += 61
        return approve(pending)

    guard = Authority(clock=clock).guard(post.send_email, ask=ask, expires_in=60)
    with pytest.raises(NotApproved, match=r"came too late.*expires_in="):
        guard(MOM)
    assert post.sent == []


def _line_types(authority: Authority, workflow_id: str) -> list[str]:
    return [Line.model_validate(each).record.type for each in authority.lines(workflow_id)]


@pytest.mark.parametrize("again", [1, 2])
def test_an_approval_that_was_too_old_stays_so(any_store: Store, again: int) -> None:
    """Although the clock goes back, in this process and in another; EXPIRE is recorded without a CONFIRM before it."""
    clock, post = Hand(), Post()

    def guard() -> Any:
        return Authority(any_store, clock=clock).guard(post.send_email, workflow_id="w")

    decision_id = waiting(guard())
    resolved(Authority(any_store, clock=clock), decision_id)
    clock.now += 2_000
    for _ in range(again):
        with pytest.raises(ConfirmExpired):
            guard().call("c1", MOM)
    clock.now -= 1_990

    with pytest.raises(ConfirmExpired):
        guard().call("c1", MOM)
    authority = Authority(any_store, clock=clock)
    found = authority.ledger.find(decision_id)
    with pytest.raises(EmitterError):
        authority.confirm(decision_id, ConfirmRequest.model_validate(_request_of(authority, found)))
    assert post.sent == []
    assert _line_types(authority, "w") == ["EXPIRE"]
    assert report_chain(authority.lines("w"), workflow_id="w").counts == {"EXPIRE": 1}


def _request_of(authority: Authority, found: Any) -> dict[str, Any]:
    """Return terms that another workflow would grant by the same decision."""
    known = kept(authority, "c1")
    call = {"r3_s256": known["r3_s256"], "call_id": "c1"}
    assert found.action == known["request"]
    terms = {"limits": {}, "ttl_seconds": 9_000, "risk_level": "high", "call": call}
    return {"scope": {"workflow_id": "other"}, **terms}


def test_a_question_that_was_found_to_be_over_stays_so(any_store: Store) -> None:
    """Whoever found it: who made the call, who looked the decision up, or who listed what waits."""
    for number, look in enumerate(
        (
            lambda ledger, _: ledger.pending(),
            lambda ledger, decision_id: ledger.find(decision_id),
            lambda ledger, decision_id: ledger.record_unresolved(decision_id, "dropped"),
        )
    ):
        clock, post = Hand(), Post()
        authority = Authority(any_store, clock=clock)
        decision_id = waiting(authority.guard(post.send_email, expires_in=60), f"c{number}")
        clock.now += 61
        look(Authority(any_store, clock=clock).ledger, decision_id)
        clock.now -= 60

        other = Authority(any_store, clock=clock)
        with pytest.raises(DecisionExpired):
            resolved(other, decision_id)
        with pytest.raises(NotApproved):
            other.guard(post.send_email, expires_in=60, ask=approve).call(f"c{number}", MOM)
        assert post.sent == []


def test_a_confirm_that_was_found_to_be_over_stays_so(any_store: Store) -> None:
    """By the next act, and by the act that runs and looks whether it may go on."""
    clock = Hand()
    authority, seen = Authority(any_store, clock=clock), list[bool]()
    confirm = granted(authority, ttl_seconds=60)

    def slow() -> None:
        act_here = current_action()
        clock.now += 61
        seen.append(act_here.is_stopped)
        clock.now -= 61
        seen.append(act_here.is_stopped)

    authority.execute(confirm.confirm_id, work("slow", slow))
    assert seen == [True, True]
    with pytest.raises(ConfirmExpired):
        Authority(any_store, clock=clock).execute(confirm.confirm_id, work("next"))
    assert _line_types(authority, "w") == ["CONFIRM", "INTENT", "EXPIRE", "RECEIPT"]
    assert report_chain(authority.lines("w"), workflow_id="w").confirms[0].end is GrantEnd.EXPIRED


def test_a_confirm_after_its_own_end_is_no_line_of_a_chain(any_store: Store) -> None:
    """Whoever writes it there: who reads the chain refuses it."""
    clock = Hand()
    authority = Authority(any_store, clock=clock)
    decision = approved(authority, request := asked())
    clock.now += 601
    with pytest.raises(ConfirmExpired):
        authority.confirm(decision, request)
    clock.now -= 601
    other = Authority(clock=clock)
    confirm = granted(other)
    expire = Expire(timestamp=format_timestamp(clock.now), workflow_id="w", confirm_id=confirm.confirm_id)
    first = make_line(0, format_timestamp(clock.now), compute_genesis_hash("w"), expire)[0]
    second = make_line(1, format_timestamp(clock.now), first["hash"], confirm)[0]

    with pytest.raises(Tampered, match="The approval was already recorded as expired"):
        report_chain([first, second])
