"""A confirm that is revoked, and a workflow that is stopped, between approval and run or amid it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, StopRequest, TakeoverMode, current_action
from emitter.errors import ConfirmExpired, ConfirmRevoked, WorkflowStopped
from tests.authority.guard.parts import MOM, Person, Post, approve, resolved, waiting
from tests.decisions.ledger.asking import Hand

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.stores import Store

HOUR = 3_600.0


class Between:
    """A hook that does something between the confirm and the act."""

    def __init__(self, act: Callable[[str], object]) -> None:
        self.act = act
        self.confirm_id = ""

    def after_confirm(self, confirm: Any) -> None:
        """Note which one it is."""
        self.confirm_id = confirm.confirm_id

    def before_execute(self, _: object) -> None:
        """Do it."""
        self.act(self.confirm_id)


ENDS: dict[str, tuple[Callable[[Authority, str], object], type[Exception]]] = {
    "revoked": (lambda authority, confirm_id: authority.revoke(confirm_id), ConfirmRevoked),
    "stopped": (lambda authority, _: authority.stop("w"), WorkflowStopped),
    "its step stopped": (lambda authority, _: authority.stop(StopRequest("w", step_id="s")), WorkflowStopped),
    "paused": (
        lambda authority, _: authority.stop(StopRequest("w", takeover_mode=TakeoverMode.PAUSE)),
        WorkflowStopped,
    ),
}


@pytest.mark.parametrize(("end", "error"), ENDS.values(), ids=ENDS)
def test_what_is_ended_between_approval_and_run_does_not_begin(
    store: Store, end: Callable[[Authority, str], object], error: type[Exception]
) -> None:
    """By another process, right before the act; nor does it begin when the same call is made again."""
    post = Post()
    between = Between(lambda confirm_id: confirm_id and end(Authority(store), confirm_id))
    guard = Authority(store, hooks=[between]).guard(post.send_email, ask=approve, workflow_id="w", step_id="s")
    with pytest.raises(error):
        guard.call("c1", MOM)

    between.act = lambda _: None
    with pytest.raises(error):
        guard.call("c1", MOM)
    assert post.sent == []


def test_what_was_approved_before_a_stop_is_dead_and_what_is_asked_after_it_waits_for_another_workflow(
    store: Store,
) -> None:
    """Also an approval that nobody has confirmed yet; a call that was made is answered as before."""
    post, person = Post(), Person()
    authority = Authority(store)
    asking = authority.guard(post.send_email, workflow_id="w", ask=person)
    assert asking.call("made", MOM) == 1
    silent = authority.guard(post.send_email, workflow_id="w")
    resolved(authority, waiting(silent))

    authority.stop("w")

    for call_id in ("c1", "new"):
        with pytest.raises(WorkflowStopped):
            asking.call(call_id, MOM)
    assert asking.call("made", MOM) == 1
    assert len(post.sent) == 1


def test_a_pause_that_is_lifted_needs_a_new_approval(store: Store) -> None:
    """What was approved before it stays dead."""
    post, clock = Post(), Hand()
    authority = Authority(store, clock=clock)
    guard = authority.guard(post.send_email, workflow_id="w")
    resolved(authority, waiting(guard))
    stopped = authority.stop(StopRequest("w", takeover_mode="pause"))
    clock.now += 1
    authority.resume("w", stopped.stop.request_id)

    with pytest.raises(WorkflowStopped):
        guard.call("c1", MOM)
    resolved(authority, waiting(guard, "c2"))
    assert guard.call("c2", MOM) == 1


@pytest.mark.parametrize("how", ["stop", "revoke", "time"])
def test_an_act_that_runs_finds_out_that_it_is_to_end(store: Store, how: str) -> None:
    """By looking, whoever ended it; what it was reported here and what it did are in its receipt."""
    clock, reported = Hand(), list[str]()
    other = Authority(store, clock=clock)

    def send(to: str) -> str:
        act = current_action()
        act.on_stop(lambda _: reported.append("reported"))
        assert not act.is_stopped
        match how:
            case "stop":
                assert [each.intent_id for each in authority.stop("w").unfinished_intents] == ["c1"]
            case "revoke":
                other.revoke(act.intent.authorization_ref)
            case _:
                clock.now += HOUR
        act.check()
        return to

    authority = Authority(store, clock=clock)
    guard = authority.guard(send, ask=approve, workflow_id="w")
    with pytest.raises((WorkflowStopped, ConfirmRevoked, ConfirmExpired)) as raised:
        guard.call("c1", MOM)

    (receipt,) = other.receipts()
    assert (receipt.result.value, receipt.error) == ("failure", type(raised.value).__name__)
    assert reported == (["reported"] if how == "stop" else [])
