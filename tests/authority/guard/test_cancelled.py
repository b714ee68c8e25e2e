"""A task that is cancelled amid a guarded call loses nothing: it ends what it writes, and begins nothing after it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, brief_from_template
from emitter.errors import AlreadyUsed, ApprovalPending, NotApproved, Unfinished
from emitter.stores import MemoryStore
from tests.authority.guard.parts import MOM, Post, aapprove, approve, proven

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import ApprovalRequest
    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.models import BindingMoment
    from emitter.stores import Entry, NewEntry, StoredEntry


HOOKS = ("before_confirm", "after_confirm", "before_execute", "after_execute", "emit_receipt")
PLACES = ("brief", "ask", "tool", *HOOKS)


class Desk:
    """An async tool and all that is awaited around it; at one place a task waits until it is cancelled."""

    def __init__(self, place: str) -> None:
        self.place, self.closed, self.reached = place, True, asyncio.Event()
        self.post = Post()
        for name in HOOKS:
            setattr(self, name, partial(self.come_to, name))
        self.authority = Authority(hooks=[self])  # type: ignore[list-item]  # it has five of the methods
        self.guard: Any = self.authority.guard(self.send, ask=self.ask, brief=self.brief)

    async def come_to(self, name: str, _: object = None) -> None:
        """Come to a place."""
        if name == self.place and self.closed:
            self.reached.set()
            await asyncio.Event().wait()

    async def send(self, to: str) -> int:
        """Send."""
        await self.come_to("tool")
        return self.post.send_email(to)

    async def ask(self, pending: PendingDecision) -> Any:
        """Approve."""
        await self.come_to("ask")
        return approve(pending)

    async def brief(self, asked: ApprovalRequest) -> BindingMoment:
        """Write the envelope."""
        await self.come_to("brief")
        return brief_from_template(asked)

    async def cancelled(self) -> None:
        """Make the call, and cancel it at the place."""
        task = asyncio.ensure_future(self.guard.call("c1", MOM))
        await self.reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        self.closed = False


async def _cancelled_at(place: str) -> Desk:
    desk = Desk(place)
    await desk.cancelled()
    if place != "tool":
        assert await desk.guard.call("c1", MOM) == 1
        proven(desk.authority)
        return desk
    with pytest.raises(Unfinished) as raised:
        await desk.guard.call("c1", MOM)
    assert [each.intent_id for each in desk.authority.unfinished_actions()] == [raised.value.intent_id] == ["c1"]
    return desk


@pytest.mark.parametrize("place", PLACES)
def test_a_task_that_is_cancelled_where_it_waits(place: str) -> None:
    """Before the act nothing is lost; amid it the act is listed; after it the result stands."""
    desk = asyncio.run(_cancelled_at(place))

    assert len(desk.post.sent) == (place != "tool")
    assert desk.authority.ledger.pending() == ()


class Amid(MemoryStore):
    """A store that has something done amid the call that is numbered ``at``, and waits until a task could notice."""

    def __init__(self, at: int, act: Callable[[asyncio.AbstractEventLoop], object]) -> None:
        super().__init__()
        self.at, self.act, self.loop, self.calls = at, act, asyncio.get_running_loop(), 0

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Look something up."""
        self._count()
        return super().find(run_id, correlation_id)

    def get_or_create(self, run_id: str, correlation_id: str, make: Callable[[], NewEntry]) -> StoredEntry:
        """Keep something."""
        self._count()
        return super().get_or_create(run_id, correlation_id, make)

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.at:
            self.loop.call_soon_threadsafe(self.act, self.loop)
            asyncio.run_coroutine_threadsafe(_turns(), self.loop).result(20)


async def _turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def _cancelled_amid(at: int) -> bool:
    """Cancel a call amid what it does with its store; return whether it came so far."""
    post, tasks = Post(), list["asyncio.Future[Any]"]()
    store = Amid(at, lambda _: tasks[0].cancel())
    authority = Authority(store)

    async def send_email(to: str) -> int:
        return post.send_email(to)

    guard: Any = authority.guard(send_email, ask=aapprove)
    tasks.append(asyncio.ensure_future(guard.call("c1", MOM)))
    (first,) = await asyncio.gather(*tasks, return_exceptions=True)
    done = len(post.sent)
    assert done or isinstance(first, asyncio.CancelledError)
    try:
        assert await guard.call("c1", MOM) == 1
    except AlreadyUsed:  # it was broken off right before it began, and is receipted so
        assert [each.result.value for each in authority.receipts()] == ["failure"]
        assert post.sent == []
    store.at = 0
    assert authority.unfinished_actions() == ()
    return isinstance(first, asyncio.CancelledError)


def test_a_task_that_is_cancelled_amid_what_it_writes() -> None:
    """At each look into the store, in turn: nothing of it is broken off, nobody is called after it, and it ends."""
    found = [asyncio.run(_cancelled_amid(at)) for at in range(1, 50)]

    assert sum(found) > 20
    assert found == sorted(found, reverse=True)


def test_a_timeout_amid_what_it_writes_is_a_timeout() -> None:
    """And the task goes on after it, as it does after any other."""

    async def script() -> None:
        async def send_email(to: str) -> str:
            return to

        limit = asyncio.timeout(None)
        guard: Any = Authority(Amid(3, lambda loop: limit.reschedule(loop.time()))).guard(send_email, ask=aapprove)

        async def in_time() -> None:
            async with limit:
                await guard.call("c1", MOM)

        with pytest.raises(TimeoutError):
            await in_time()
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        assert await guard.call("c1", MOM) == MOM

    asyncio.run(script())


def test_a_limit_of_the_question_does_not_interrupt_the_call() -> None:
    """The call takes longer than the person may, and its receipt is written."""
    authority, done, limit = Authority(), list[str](), 0.05

    @authority.guard(ask=aapprove, ask_timeout=limit)
    async def transfer() -> str:
        done.append("debited")
        await asyncio.sleep(4 * limit)
        done.append("credited")
        return "transferred"

    assert asyncio.run(transfer.call("c1")) == "transferred"
    assert done == ["debited", "credited"]
    proven(authority)


@pytest.mark.parametrize("has_id", [True, False], ids=["with an id", "without an id"])
def test_a_question_that_takes_too_long_counts_as_unanswered(has_id: bool) -> None:
    """As if ask had returned Unresolved: the question of a call that can be repeated stays open."""
    authority = Authority()

    async def never(_: PendingDecision) -> Any:
        await asyncio.Event().wait()

    async def transfer() -> None:
        raise AssertionError

    guard = authority.guard(transfer, ask=never, ask_timeout=0.01)
    with pytest.raises(NotApproved) as refused:
        asyncio.run(guard.call("c1") if has_id else guard())
    assert isinstance(refused.value, ApprovalPending) is has_id
    assert len(authority.ledger.pending()) == int(has_id)


def test_a_timeout_of_ask_itself_is_raised() -> None:
    """It is no answer that came too late, but a failure of the caller's own code."""

    async def fail(_: PendingDecision) -> Any:
        raise TimeoutError("the gateway")

    async def transfer() -> None:
        raise AssertionError

    with pytest.raises(TimeoutError, match="the gateway"):
        asyncio.run(Authority().guard(transfer, ask=fail, ask_timeout=60)())
