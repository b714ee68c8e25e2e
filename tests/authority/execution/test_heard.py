"""What a newcomer would trip over: a policy that is never called, an act that is settled while it runs, a lost list."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, Effects, Result
from emitter.errors import InputError, Unfinished
from emitter.stores import SqliteStore
from tests.authority.execution.making import act, approved, asked, granted, work

if TYPE_CHECKING:
    from pathlib import Path


def test_a_hook_that_is_misspelt_is_no_hook() -> None:
    """Nor where a right one stands beside it: the policy would never be asked."""

    class Policy:
        def before_excute(self, _: Any) -> None:
            pytest.fail("called")

        def emit_receipt(self, _: Any) -> None:
            pytest.fail("called")

    with pytest.raises(InputError, match="Did you mean before_execute"):
        Authority(hooks=[Policy()])


def test_what_runs_here_is_not_settled() -> None:
    """It will have its own receipt."""
    authority = Authority()
    reported = list[str]()

    def tool() -> str:
        with pytest.raises(Unfinished, match="still runs here"):
            authority.resolve_unfinished("w", "i", Effects(Result.FAILURE))
        reported.append("ran")
        return "done"

    authority.execute(granted(authority).confirm_id, work(act(), tool=tool))
    assert reported == ["ran"]
    assert [each.result for each in authority.receipts()] == [Result.SUCCESS]


def test_what_ended_otherwise_than_it_was_settled_as_is_reported() -> None:
    """Somebody elsewhere took it for dead; the receipt stands, and whoever listens hears of it."""
    authority = Authority(on_event=(events := list[Any]()).append)
    elsewhere = Authority(authority._context.journal._store)

    def tool() -> str:
        elsewhere.resolve_unfinished("w", "i", Effects(Result.FAILURE))
        return "done"

    with pytest.warns(RuntimeWarning, match="ended differently from its receipt"):
        authority.execute(granted(authority).confirm_id, work(act(), tool=tool))
    assert "authority.settled_otherwise" in [each.event.message for each in events]
    assert [each.result for each in authority.receipts()] == [Result.FAILURE]


def test_after_confirm_that_raised_stops_the_act_again() -> None:
    """A confirm that was not used yet is not gone on with behind its back."""

    class Policy:
        def after_confirm(self, _: Any) -> None:
            raise RuntimeError("No.")

    authority, request = Authority(hooks=[Policy()]), asked()
    decision = approved(authority, request)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="No"):
            authority.confirm(decision, request)


def test_workflows_are_listed_without_the_log(tmp_path: Path) -> None:
    """The log of events may be pruned: what was done stays listed."""
    with SqliteStore(place := tmp_path / "store.db") as store:
        authority = Authority(store)
        authority.execute(granted(authority).confirm_id, work(act()))
        connection = sqlite3.connect(place)
        with connection:
            connection.execute("DELETE FROM events")
        connection.close()
        assert Authority(store).workflows() == ("w",)
        assert len(Authority(store).receipts()) == 1
