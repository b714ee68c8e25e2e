"""What is handed to an authority, and what it hands out, is its caller's: what is enforced is the chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import (
    ActionRequest,
    Authority,
    BoundCall,
    ConfirmRequest,
    Effects,
    Execution,
    Scope,
    current_action,
    execution,
)
from emitter.decisions.ledger import Ledger
from emitter.errors import InputError, NotConsent
from emitter.stores import MemoryStore
from tests.authority.execution.driving import Drive
from tests.authority.execution.making import act, approved, asked, granted, refused, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.decisions.ledger.asking import Hand


def test_terms_that_are_changed_meanwhile_are_what_they_were(authority: Authority, clock: Hand) -> None:
    """Whoever still has the request that was handed in changes nothing of what was approved, and is granted."""
    request = asked(limits={"budget_usd": 1})

    class Greedy:
        def before_confirm(self, _: ConfirmRequest) -> None:
            request.limits["budget_usd"] = 10**9

    decision = approved(authority, request)
    greedy = Authority(authority._context.journal._store, hooks=[Greedy()], clock=clock)
    assert greedy.confirm(decision, request).limits == {"budget_usd": 1}
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
    standing = authority.get_grant(confirm.confirm_id)
    assert (standing.confirm.limits, standing.spent["budget_usd"]) == ({"budget_usd": 100}, 70)


def test_an_act_that_is_changed_meanwhile_is_what_it_was(authority: Authority) -> None:
    """What it spends is what was said when it was asked for, whoever writes into that afterwards."""
    request = act(spends={"budget_usd": 70})
    confirm_id = granted(authority, limits={"budget_usd": 100}).confirm_id
    drive = Drive(execution.execute_confirmed(authority._context, confirm_id, work(request)))
    drive.take()
    request.spends["budget_usd"] = 0
    assert drive.end() == "done"
    assert authority.get_grant(confirm_id).spent["budget_usd"] == 70


def test_what_is_handed_out_changes_nothing(authority: Authority) -> None:
    """A confirm, and how it stands, are copies."""
    request = asked(limits={"max_side_effects": 1})
    decision = approved(authority, request)
    for _ in range(2):
        authority.confirm(decision, request).limits["max_side_effects"] = 9
    confirm_id = authority.confirm(decision, request).confirm_id
    assert authority.execute(confirm_id, work("first")) == "done"
    held = authority.get_grant(confirm_id)
    held.spent.clear()
    held.confirm.limits.clear()
    assert authority.get_grant(confirm_id).confirm.limits == {"max_side_effects": 1}
    assert authority.get_grant(confirm_id).spent == {"max_side_effects": 1}


def test_how_it_stands_is_of_its_moment(authority: Authority, clock: Hand) -> None:
    """It does not change in the hands of whoever asked."""
    confirm_id = granted(authority).confirm_id
    before = authority.get_grant(confirm_id)
    authority.execute(confirm_id, work())
    authority.stop("w")
    clock.now += 600
    assert (before.uses, before.end, dict(before.spent)) == (0, None, {})
    after = authority.get_grant(confirm_id)
    assert (after.uses, after.end, dict(after.spent)) == (1, "stopped", {"max_side_effects": 1})


WRONG: list[dict[str, Any]] = [
    *({"actor": each} for each in ("", "a" * 513, 5, None, "\ud800")),
    *({"max_skew": each} for each in (-1, float("nan"), float("inf"), 10**400, "1", True)),
    *({"store": each} for each in ("agent.db", 5, MemoryStore)),
    *({"store": each, "ledger": Ledger()} for each in ("agent.db", MemoryStore)),
    *({"ledger": each} for each in ("", 0, [], Ledger)),
    *({name: each} for name in ("clock", "on_event", "sign", "check") for each in (5, "x", [])),
]


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_an_authority_is_made_of_what_holds(wrong: dict[str, Any]) -> None:
    """What could only fail later is refused at once."""
    with pytest.raises(InputError):
        Authority(**wrong)


NO_TIME: list[Any] = [float("nan"), float("inf"), -1.0, 1e300, 10**400, 253_402_300_800, "1", None, True]


@pytest.mark.parametrize("at", NO_TIME, ids=str)
def test_a_clock_that_tells_no_time_authorizes_nothing(at: Any) -> None:
    """By one that is no number nothing would ever be over: what runs would go on for ever."""
    times: list[Any] = [1_800_000_000.0]
    authority = Authority(clock=lambda: times[-1])
    confirm_id = granted(authority, ttl_seconds=10).confirm_id

    def tool() -> None:
        times.append(at)
        try:
            current_action().check()
        finally:
            times.append(1_800_000_001.0)

    with pytest.raises(InputError, match="clock= must return a time"):
        authority.execute(confirm_id, work(tool=tool))
    times.append(at)
    uses: tuple[Callable[[], object], ...] = (
        lambda: authority.execute(confirm_id, work("j", pytest.fail)),
        lambda: authority.stop("w"),
        lambda: authority.revoke(confirm_id),
        lambda: granted(authority),
    )
    for use in uses:
        with refused(authority, InputError):
            use()


AMISS: dict[str, Any] = {
    "nothing": None,
    "a text": "w",
    "an object": {"workflow_id": "w"},
    "another record": asked(),
    "an amount below nothing": act().model_copy(update={"spends": {"budget_usd": -1}}),
    "a part of a cent": act().model_copy(update={"spends": {"budget_usd": 1.5}}),
    "no action": act().model_copy(update={"action": None}),
    "an empty target": act().model_copy(update={"target": ""}),
    "a step that is no text": act().model_copy(update={"step_id": 5}),
    "a workflow that is none": act().model_copy(update={"workflow_id": ["w"]}),
    "a purity that is a word": act().model_copy(update={"is_pure": "no"}),
    "a call that is none": act().model_copy(update={"call": BoundCall.model_construct(r3_s256="x")}),
    "nothing of it": ActionRequest.model_construct(),
}


@pytest.mark.parametrize("asked_for", AMISS.values(), ids=AMISS)
def test_an_act_that_is_none_is_refused_before_it_begins(authority: Authority, asked_for: Any) -> None:
    """A copy of a request that was updated need not be one: an amount below nothing would give a limit back."""
    confirm_id = granted(authority, limits={"budget_usd": 9}).confirm_id
    with refused(authority, InputError):
        authority.execute(confirm_id, Execution(asked_for, pytest.fail))
    assert authority.get_grant(confirm_id).spent == {}


@pytest.mark.parametrize(
    "given", [None, act(), lambda: 1, Execution(act(), "send"), Execution(act(), pytest.fail, "x")], ids=range(5)
)  # type: ignore[arg-type]
def test_work_that_is_none_is_refused_before_it_begins(authority: Authority, given: Any) -> None:
    """What cannot be called would cost the limit, and a receipt of a failure."""
    confirm_id = granted(authority).confirm_id
    with refused(authority, InputError):
        authority.execute(confirm_id, given)


TERMS: dict[str, Any] = {
    "a time without end": {"ttl_seconds": 10**12},
    "no time": {"ttl_seconds": 0},
    "a limit below nothing": {"limits": {"budget_usd": -1}},
    "a risk that is none": {"risk_level": "none"},
    "a scope below its model": {"scope": Scope.model_construct(workflow_id="w", targets=("",))},
    "no scope": {"scope": None},
}


@pytest.mark.parametrize("changed", TERMS.values(), ids=TERMS)
def test_terms_that_are_none_are_refused(authority: Authority, changed: dict[str, Any]) -> None:
    """Before the decision is looked at."""
    with refused(authority, InputError):
        authority.confirm("nobody was asked", asked().model_copy(update=changed))


@pytest.mark.parametrize("name", [None, 5, "", ["w"], {"w": 1}, b"w", "\ud800", "w" * 513], ids=repr)
def test_what_is_no_name_is_refused(authority: Authority, name: Any) -> None:
    """Nothing stands under it, and to say so would tell that all is well."""
    uses: list[Callable[[], object]] = [
        lambda: authority.resume(name, "r"),
        lambda: authority.resume("w", name),
        lambda: authority.resolve_unfinished(name, "i", Effects()),
        lambda: authority.resolve_unfinished("w", name, Effects()),
        lambda: authority.lines(name),
        *([] if name is None else [lambda: authority.unfinished_actions(name), lambda: authority.receipts(name)]),
    ]
    for use in uses:
        with refused(authority, InputError):
            use()
