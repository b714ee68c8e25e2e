"""An agent waits for decisions without a thread for each, and is reported by whichever process answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import select_option
from emitter.decisions.ledger import Ledger, PendingDecision, ResolvedDecision
from emitter.errors import InputError, StoreFailed, UnknownDecision
from emitter.stores import MemoryStore, SqliteStore
from tests.decisions.ledger.asking import Hand, moment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from emitter.messages import Json

SHORT = 0.01


def answer(ledger: Ledger, decision_id: str) -> None:
    """Choose the first option."""
    decision = ledger.find(decision_id)
    assert isinstance(decision, PendingDecision)
    ledger.resolve(decision_id, select_option(decision.moment, 0))


def test_an_answer_of_another_process_ends_the_wait(tmp_path: Path) -> None:
    """Its store is another one on the same file."""
    with SqliteStore(tmp_path / "agent.db") as mine, SqliteStore(tmp_path / "agent.db") as other:
        ledger = Ledger(mine)
        ledger.open(moment("Now?"), decision_id="d")

        async def scene() -> Any:
            waiting = asyncio.create_task(ledger.wait("d", poll=SHORT))
            await asyncio.to_thread(answer, Ledger(other), "d")
            return await waiting

        assert isinstance(asyncio.run(scene()), ResolvedDecision)


def test_the_short_steps_have_async_versions(tmp_path: Path) -> None:
    """With the arguments of the others, and a name and a docstring of their own."""
    with SqliteStore(tmp_path / "agent.db") as store:
        ledger = Ledger(store)

        async def scene() -> list[Any]:
            pending = await ledger.aopen(moment("Now?"), decision_id="d", agent="a")
            other = await ledger.aopen(moment("Later?"), decision_id="e")
            await ledger.awithdraw(other.decision_id)
            waiting = await ledger.apending()
            resolved = await ledger.aresolve("d", select_option(pending.moment, 0), channel="code")
            return [waiting == (pending,), resolved.channel, await ledger.afind("d") == ledger.find("d")]

        assert asyncio.run(scene()) == [True, "code", True]
    assert (Ledger.aopen.__name__, Ledger.aopen.__qualname__) == ("aopen", "Ledger.aopen")
    assert Ledger.aopen.__doc__ == "Async version of ``open``, which runs in a thread."


class Counting(MemoryStore):
    """A store that counts the looks at its log, and can fail."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0
        self.fails = False

    def events(self, run_id: str, after: int = -1, *, node_id: str | None = None) -> tuple[Mapping[str, Json], ...]:
        """Count a look."""
        self.looks += 1
        if self.fails:
            raise StoreFailed("The disk is gone.")
        return super().events(run_id, after, node_id=node_id)


def test_a_thousand_waits_share_the_looks() -> None:
    """The first look finds all of them answered."""
    store = Counting()
    ledger = Ledger(store)
    names = [f"d{number}" for number in range(1000)]
    for name in names:
        ledger.open(moment(f"Number {name}?"), decision_id=name)

    async def scene() -> int:
        waits = [asyncio.create_task(ledger.wait(name, poll=SHORT)) for name in names]
        await asyncio.sleep(0)
        for name in names:
            await asyncio.to_thread(answer, ledger, name)
        before = store.looks
        ends = await asyncio.gather(*waits)
        assert all(isinstance(each, ResolvedDecision) for each in ends)
        return store.looks - before

    assert asyncio.run(scene()) < len(names) / 10


def test_what_is_closed_needs_no_wait() -> None:
    """Neither an answered decision nor one that expired meanwhile."""
    clock = Hand()
    ledger = Ledger(clock=clock)
    ledger.open(moment("Now?"), decision_id="d")
    answer(ledger, "d")
    ledger.open(moment("Or later?"), decision_id="late", expires_in=60)
    ledger.open(moment("Or never?"), decision_id="never")
    ledger.withdraw("never")

    async def scene() -> tuple[Any, ...]:
        late = asyncio.create_task(ledger.wait("late", poll=SHORT))
        await asyncio.sleep(0)
        clock.now += 61
        return await ledger.wait("d"), await late, await ledger.wait("never")

    answered, late, never = asyncio.run(scene())
    assert isinstance(answered, ResolvedDecision)
    assert (late.expiry_recorded, late.withdrawn) == (True, False)
    assert (never.expiry_recorded, never.withdrawn) == (True, True)


def test_who_stops_waiting_leaves_nothing_behind() -> None:
    """Neither a task nor the decision closed; another wait goes on, and a later one begins anew."""
    ledger = Ledger()
    ledger.open(moment("Now?"), decision_id="d")

    async def scene() -> None:
        for _ in range(2):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(SHORT):
                    await ledger.wait("d", poll=60)
        stays = asyncio.create_task(ledger.wait("d", poll=SHORT))
        goes = asyncio.create_task(ledger.wait("d", poll=SHORT))
        await asyncio.sleep(0)
        goes.cancel()
        answer(ledger, "d")
        assert isinstance(await stays, ResolvedDecision)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(scene())


def test_a_store_that_fails_ends_every_wait() -> None:
    """With the store's own error; a later wait looks again."""
    store = Counting()
    ledger = Ledger(store)
    ledger.open(moment("Now?"), decision_id="d")

    async def scene() -> None:
        waits = [asyncio.create_task(ledger.wait("d", poll=SHORT)) for _ in range(2)]
        await asyncio.sleep(0)
        store.fails = True
        assert [type(each) for each in await asyncio.gather(*waits, return_exceptions=True)] == [StoreFailed] * 2
        store.fails = False
        answer(ledger, "d")
        assert isinstance(await ledger.wait("d"), ResolvedDecision)

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [(("x", 1), UnknownDecision), (("d", 0), InputError), (("d", "often"), InputError), (("d", None), InputError)],
    ids=["unknown", "no pause", "no number", "none"],
)
def test_bad_arguments_are_rejected(arguments: tuple[str, Any], kind: type[Exception]) -> None:
    """Before anybody waits."""
    ledger = Ledger()
    ledger.open(moment("Now?"), decision_id="d")
    with pytest.raises(kind):
        asyncio.run(ledger.wait(arguments[0], poll=arguments[1]))
