"""Acts of tasks: the same order of things, and hooks that are waited for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, StopRequest, current_action
from emitter.errors import InputError, WorkflowStopped
from tests.authority.execution.making import act, approved, asked, granted, types, work
from tests.authority.execution.watching import CALLED, Objects, Watching

if TYPE_CHECKING:
    from collections.abc import Awaitable


async def _returned() -> str:
    await asyncio.sleep(0)
    return current_action().intent.target


@pytest.mark.parametrize("is_async", [True, False])
def test_all_the_way(is_async: bool) -> None:
    """A tool and its hooks may be coroutine functions, or none."""
    watching = Watching(is_async=is_async)
    authority, request = Authority(hooks=[watching]), asked()

    async def main() -> Any:
        confirm = await authority.aconfirm(approved(authority, request), request)
        found = await authority.aexecute(confirm.confirm_id, work(tool=_returned if is_async else lambda: "mom"))
        await authority.astop(StopRequest("w", takeover_mode="pause"))
        return found, await authority.aexecute(confirm.confirm_id, work(tool=pytest.fail))

    assert asyncio.run(main()) == ("mom", "mom")
    assert {name: type(about).__name__ for name, about in watching.called} == CALLED
    assert watching.names() == list(CALLED)


def test_an_async_tool_needs_an_async_act(authority: Authority) -> None:
    """Called by a thread it is refused, and not left waiting; what it is of has failed."""
    confirm_id = granted(authority).confirm_id
    with pytest.raises(InputError):
        authority.execute(confirm_id, work(tool=_returned))
    assert [each.error for each in authority.receipts()] == ["InputError"]


@pytest.mark.parametrize("name", ["before_execute", "after_execute"])
def test_an_async_hook_that_raises(name: str) -> None:
    """Before an act it keeps it from happening, after it costs nothing."""
    authority = Authority(hooks=[Watching(frozenset({name}), is_async=True)])

    async def main() -> Any:
        request = asked()
        confirm = await authority.aconfirm(approved(authority, request), request)
        return await authority.aexecute(confirm.confirm_id, work(tool=_returned))

    if name == "before_execute":
        with pytest.raises(Objects):
            asyncio.run(main())
        assert types(authority) == ["CONFIRM"]
    else:
        with pytest.warns(RuntimeWarning, match="^after_execute raised Objects"):
            assert asyncio.run(main()) == "mom"


def test_many_tasks_have_one_act_each(authority: Authority) -> None:
    """Of those of one id one runs; each knows its own; together they spend no more than there is."""
    confirm_id = granted(authority, limits={"max_side_effects": 5}).confirm_id
    seen: list[tuple[str, str]] = []

    def doing(name: str) -> Awaitable[Any]:
        async def tool() -> None:
            await asyncio.sleep(0)
            seen.append((name, current_action().intent.intent_id))

        return authority.aexecute(confirm_id, work(act(name), tool))

    async def main() -> None:
        await asyncio.gather(*(doing(f"i{each % 8}") for each in range(16)), return_exceptions=True)

    asyncio.run(main())
    assert len(seen) == len(set(seen)) == 5
    assert all(name == intent_id for name, intent_id in seen)


def test_a_stop_tells_a_task(authority: Authority) -> None:
    """Which may end itself where it waits."""
    confirm_id = granted(authority).confirm_id

    async def main() -> None:
        reached, stopped = asyncio.Event(), asyncio.Event()

        async def tool() -> None:
            current_action().on_stop(lambda _: stopped.set())
            reached.set()
            await stopped.wait()
            current_action().check()

        task = asyncio.create_task(authority.aexecute(confirm_id, work(tool=tool)))
        await asyncio.wait_for(reached.wait(), 20)
        await authority.astop("w")
        with pytest.raises(WorkflowStopped):
            await task

    asyncio.run(main())
    assert [each.error for each in authority.receipts()] == ["WorkflowStopped"]
