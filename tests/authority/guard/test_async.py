"""An async tool is guarded as a sync one is; a task that is cancelled loses nothing."""

from __future__ import annotations

import asyncio
import gc
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, Effects, brief_from_template
from emitter.errors import ApprovalPending, NotApproved, Unfinished
from tests.authority.guard.parts import MOM, Post, aapprove, approve, leave, proven, resolved

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from emitter.authority import ApprovalRequest, GuardedTool
    from emitter.models import BindingMoment


class Office:
    """An authority and an async tool."""

    def __init__(self, **settings: Any) -> None:
        self.post = Post()
        self.authority = Authority(hooks=settings.pop("hooks", ()))
        self.guard: GuardedTool[..., Awaitable[int]] = self.authority.guard(
            self.send_email, **{"ask": approve, **settings}
        )

    async def send_email(self, to: str, body: str = "hi") -> int:
        """Send after a while."""
        await asyncio.sleep(0)
        return self.post.send_email(to, body)


async def _brief(asked: ApprovalRequest) -> BindingMoment:
    await asyncio.sleep(0)
    return brief_from_template(asked)


class Hooks:
    """Hooks, each of them waited for."""

    def __init__(self) -> None:
        self.called: list[str] = []
        for name in ("before_confirm", "after_confirm", "before_execute", "after_execute", "emit_receipt"):
            setattr(self, name, self._noting(name))

    def _noting(self, name: str) -> Callable[[object], Awaitable[None]]:
        async def note(_: object) -> None:
            await asyncio.sleep(0)
            self.called.append(name)

        return note


SETTINGS: dict[str, dict[str, Any]] = {
    "all of it sync": {},
    "an async question": {"ask": aapprove},
    "an async brief": {"brief": _brief},
    "both": {"ask": aapprove, "brief": _brief},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_an_async_tool_is_called_and_awaited_as_before(settings: dict[str, Any]) -> None:
    """Whatever else is async; the same call again is answered with what it returned."""
    hooks = Hooks()
    office = Office(**settings, hooks=[hooks], describe=lambda value: Effects(side_effects={"sent": value}))

    async def calls() -> list[int]:
        return [await office.guard.call("c1", MOM), await office.guard.call("c1", MOM), await office.guard(MOM)]

    assert asyncio.run(calls()) == [1, 1, 2]
    asked, done = ["before_confirm"], ["before_execute", "after_execute", "emit_receipt"]
    assert hooks.called == [*asked, "before_confirm", "after_confirm", *done] * 2
    proven(office.authority)


def test_the_arguments_are_those_of_the_call_and_not_of_the_waiting() -> None:
    """What is changed after the call, and before anybody waits for it, changes nothing."""
    office = Office()

    async def call() -> None:
        to = [MOM]
        waiting = office.guard(to)
        to[0] = "ceo"
        await waiting

    asyncio.run(call())
    assert office.post.sent == [([MOM], "hi")]


def test_many_tasks_make_the_same_call() -> None:
    """One makes it; the others have its result, or are told that it runs."""
    office = Office(ask=aapprove)

    async def calls() -> list[Any]:
        return await asyncio.gather(*(office.guard.call("c1", MOM) for _ in range(12)), return_exceptions=True)

    found = asyncio.run(calls())

    assert {type(each) for each in found} <= {int, Unfinished}
    assert len(office.post.sent) == 1
    assert asyncio.run(_awaited(office.guard.call("c1", MOM))) == 1


async def _awaited(waiting: Awaitable[Any]) -> Any:
    return await waiting


def test_who_leaves_it_and_who_does_not_answer() -> None:
    """As with a sync tool."""
    office = Office(ask=leave)
    with pytest.raises(NotApproved):
        asyncio.run(_awaited(office.guard(MOM)))
    silent = Office(ask=None)
    with pytest.raises(ApprovalPending) as waiting:
        asyncio.run(_awaited(silent.guard.call("c1", MOM)))
    resolved(silent.authority, waiting.value.decision_id)
    assert asyncio.run(_awaited(silent.guard.call("c1", MOM))) == 1
    assert office.post.sent == []


def test_an_async_call_that_nobody_waits_for_does_nothing() -> None:
    """As with any coroutine; and it may be closed."""
    office = Office()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        waiting: Any = office.guard(MOM)
        waiting.close()
        gc.collect()
    assert office.post.sent == []
    assert office.authority.ledger.pending() == ()
