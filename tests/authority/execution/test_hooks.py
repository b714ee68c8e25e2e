"""The seven hooks: each has its place; before an act it can keep that from happening, after one it costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, Effects, StopRequest
from emitter.errors import AlreadyUsed, AuthorityError, InputError
from tests.authority.execution.making import act, approved, asked, granted, refused, types, work
from tests.authority.execution.watching import CALLED, Objects, Watching
from tests.decisions.ledger.asking import Told

if TYPE_CHECKING:
    from collections.abc import Callable

_LATE = ["after_execute", "emit_receipt", "on_stop", "on_takeover"]


def _all_the_way(authority: Authority, tool: Callable[[], Any] = lambda: "done") -> Any:
    found = authority.execute(granted(authority).confirm_id, work(tool=tool))
    authority.stop(StopRequest("w", takeover_mode="human"))
    return found


def test_each_is_called_in_its_place(authority: Authority) -> None:
    """Of several hooks the first one first; each with the record that it is about, which stands by then."""
    first, second = Watching(), Watching()
    authority = Authority(hooks=[first, second])
    assert _all_the_way(authority) == "done"
    assert {name: type(about).__name__ for name, about in first.called} == CALLED
    assert first.names() == second.names() == list(CALLED)
    about: dict[str, Any] = dict(first.called)
    records = [each["record"] for each in authority.lines("w")]
    assert [about[name].to_json() for name in ("after_confirm", "emit_receipt", "on_stop")] == [
        records[0],
        *records[2:],
    ]
    assert about["on_takeover"] is about["on_stop"]
    result = about["after_execute"]
    assert (result.request, result.receipt, result.value) == (about["before_execute"], about["emit_receipt"], "done")


def test_none_is_called_for_what_was_done_before() -> None:
    """A replay, a confirm that stands and a stop that does are no news; a stop without a mode is no takeover."""
    watching = Watching()
    authority, request = Authority(hooks=[watching]), asked()
    decision = approved(authority, request)
    for _ in range(2):
        authority.execute(authority.confirm(decision, request).confirm_id, work())
        authority.stop(StopRequest("w", request_id="r"))
    assert watching.names() == list(CALLED)[:-1]


def test_none_is_called_for_what_is_refused_before_it() -> None:
    """Nobody has to look at what nobody may grant."""
    watching = Watching()
    authority = Authority(hooks=[watching])
    with refused(authority, InputError):
        authority.stop("")
    with pytest.raises(AuthorityError):
        authority.confirm(approved(authority, asked(ttl_seconds=1)), asked())
    assert watching.called == []


@pytest.mark.parametrize("name", ["before_confirm", "before_execute"])
def test_what_is_raised_before_keeps_it_from_happening(name: str) -> None:
    """It is raised as it is, nothing is recorded, and the hooks after it are not called."""
    watching, after = Watching(frozenset({name})), Watching()
    store_of = Authority()
    authority = Authority(store_of._context.journal._store, hooks=[watching, after])
    request = asked()
    decision = approved(authority, request)
    confirm_id = store_of.confirm(decision, request).confirm_id if name == "before_execute" else ""
    with refused(authority, Objects):
        if name == "before_execute":
            authority.execute(confirm_id, work(tool=pytest.fail))
        else:
            authority.confirm(decision, request)
    assert (watching.names(), after.names()) == ([name], [])
    assert authority.unfinished_actions() == ()


def test_what_is_raised_after_a_confirm_is_raised() -> None:
    """Nothing was done under it yet; the confirm stands, to be taken back."""
    authority, request = Authority(hooks=[Watching(frozenset({"after_confirm"}))]), asked()
    with pytest.raises(Objects):
        authority.confirm(approved(authority, request), request)
    assert types(authority) == ["CONFIRM"]


@pytest.mark.parametrize("name", _LATE)
def test_what_is_raised_after_costs_nothing(name: str) -> None:
    """The act has its receipt, its value is returned, the others are called; it is reported, without its words."""
    watching, after, reported = Watching(frozenset({name})), Watching(), Told()
    authority = Authority(hooks=[watching, after], on_event=reported)
    with pytest.warns(RuntimeWarning, match=f"^{name} raised Objects; the records are unaffected.$") as warned:
        assert _all_the_way(authority) == "done"
    assert len(warned) == 1
    assert types(authority) == ["CONFIRM", "INTENT", "RECEIPT", "STOP"]
    assert after.names() == watching.names() == list(CALLED)
    assert reported.lines("authority.hook_failed") == [{"hook": name, "error": "Objects"}]


def test_a_failure_is_told_to_the_same_hooks() -> None:
    """With the receipt of the failure, and no value."""
    watching = Watching()
    authority = Authority(hooks=[watching])
    with pytest.raises(ZeroDivisionError):
        _all_the_way(authority, lambda: 1 // 0)
    assert watching.names() == list(CALLED)[:5]
    result = dict(watching.called)["after_execute"]
    assert (result.receipt.result.value, result.receipt.error, result.value) == ("failure", "ZeroDivisionError", None)


def test_every_receipt_is_emitted(authority: Authority) -> None:
    """That of what somebody settled as well, once."""
    watching = Watching()
    authority = Authority(hooks=[watching])
    confirm_id = granted(authority).confirm_id

    def tool() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        authority.execute(confirm_id, work(tool=tool))
    assert watching.names()[-1] == "before_execute"
    receipt = authority.resolve_unfinished("w", "i", Effects())
    assert watching.called[-1] == ("emit_receipt", receipt)
    with refused(authority, AlreadyUsed):
        authority.resolve_unfinished("w", "i", Effects())
    assert watching.names().count("emit_receipt") == 1


def test_an_async_hook_needs_an_async_act() -> None:
    """Called by a thread it is refused before an act, and reported after one; and it is not left waiting."""
    early, late = Watching(is_async=True), Watching(is_async=True)
    early_only = type("Early", (), {"before_execute": lambda _, about: early.before_execute(about)})()
    late_only = type("Late", (), {"after_execute": lambda _, about: late.after_execute(about)})()
    authority = Authority(hooks=[early_only])
    confirm_id = granted(authority).confirm_id
    with refused(authority, InputError):
        authority.execute(confirm_id, work(tool=pytest.fail))
    authority = Authority(hooks=[late_only])
    with pytest.warns(RuntimeWarning, match="^after_execute raised InputError"):
        assert authority.execute(granted(authority).confirm_id, work()) == "done"
    assert early.called == late.called == []


@pytest.mark.parametrize(
    "hook",
    [object(), Watching, None, "before_confirm", {"before_confirm": print}],
    ids=["an object", "a class", "nothing", "a text", "a mapping"],
)
def test_what_has_none_of_the_methods_is_no_hook(hook: Any) -> None:
    """It would be called by nobody, and miss by nobody."""
    with pytest.raises(InputError):
        Authority(hooks=[hook])


def test_a_hook_may_have_one_of_the_methods() -> None:
    """And need not know of the others."""
    seen: list[str] = []
    only = type("Only", (), {"before_execute": lambda _, about: seen.append(about.target)})()
    authority = Authority(hooks=[only])
    authority.execute(granted(authority).confirm_id, work(act(target="ceo")))
    assert seen == ["ceo"]


def test_a_hook_may_use_the_authority() -> None:
    """What it finds is what stands; it may stop what is about to begin."""
    stopped: list[str] = []

    class Careful:
        def before_execute(self, request: Any) -> None:
            stopped.append(authority.stop(request.workflow_id).stop.request_id)

    authority = Authority(hooks=[Careful()])
    with pytest.raises(AuthorityError):
        _all_the_way(authority, pytest.fail)
    assert types(authority) == ["CONFIRM", "STOP"]
