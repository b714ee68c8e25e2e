"""An agent waits for decisions without a thread for each, and is reported by whichever process answers."""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import ledger_waiting, select_option
from emitter.decisions.ledger import Ledger, PendingDecision, ResolvedDecision
from emitter.errors import InputError, StoreAltered, StoreFailed, UnknownDecision
from emitter.stores import MemoryStore, SqliteStore, SqlStore
from emitter.threads import run_blocking
from tests.decisions.ledger.asking import Hand, moment
from tests.stores.postgres import running

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from emitter.messages import Json
    from emitter.stores import Entry

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


class Away(MemoryStore):
    """A store that fails as often as it is told to, or for ever, whatever is asked of it."""

    __slots__ = ("asked", "failing")

    def __init__(self) -> None:
        super().__init__()
        self.failing, self.asked = 0.0, 0

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Look something up."""
        self._fail()
        return super().find(run_id, correlation_id)

    def events(self, run_id: str, after: int = -1, *, node_id: str | None = None) -> tuple[Mapping[str, Json], ...]:
        """Return the log."""
        self._fail()
        return super().events(run_id, after, node_id=node_id)

    def _fail(self) -> None:
        self.asked += 1
        if self.failing > 0:
            self.failing -= 1
            raise StoreFailed("The store is away.")


@pytest.mark.parametrize("failures", [1, 2, 5])
@pytest.mark.parametrize("begins", ["before the wait", "amid the wait"])
def test_a_store_that_is_away_ends_no_wait(begins: str, failures: int) -> None:
    """Each outage is warned of once, whoever waits; the waits go on when the store is there again."""
    store = Away()
    ledger = Ledger(store)
    for number in range(3):
        ledger.open(moment(f"Now {number}?"), decision_id=f"d{number}")

    async def outage(waits: list[asyncio.Task[Any]], number: int) -> None:
        store.failing = failures
        while store.failing:  # noqa: ASYNC110  a store sets no event
            await asyncio.sleep(0)
        assert not any(each.done() for each in waits[number:])
        await run_blocking(answer, ledger, f"d{number}")
        assert isinstance(await waits[number], ResolvedDecision)

    async def scene() -> None:
        if begins == "before the wait":
            store.failing = 1
        waits = [asyncio.create_task(ledger.wait(f"d{number}", poll=SHORT)) for number in range(3)]
        for number in range(3):
            await outage(waits, number)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(scene())
    assert 1 <= len(caught) <= 3
    assert all("The store is away" in str(each.message) for each in caught)


def test_a_wait_looks_less_and_less_often_at_a_store_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as long each time, up to half a minute; and soon again after it was there."""
    slept: list[float] = []
    sleep = asyncio.sleep

    async def note(seconds: float) -> None:
        slept.append(seconds)
        await sleep(0)

    monkeypatch.setattr(ledger_waiting.asyncio, "sleep", note)
    store = Away()
    ledger = Ledger(store)
    ledger.open(moment("Now?"), decision_id="d")
    answer(ledger, "d")
    for failures in (9, 2):
        store.failing = failures
        with pytest.warns(RuntimeWarning, match="The store is away") as caught:
            asyncio.run(ledger.wait("d", poll=0.5))
        assert len(caught) == 1
    assert slept == [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 0.5, 1]


def test_a_decision_that_was_altered_ends_the_wait() -> None:
    """Waiting does not help it."""
    store = MemoryStore()
    ledger = Ledger(store)
    opened = ledger.open(moment("Now?"), decision_id="d")
    key = ("emitter.ledger", f"opened:{opened.reference}")
    store._entries[key] = store._entries[key].replace("Now?", "Never?")
    with pytest.raises(StoreAltered):
        asyncio.run(ledger.wait("d", poll=SHORT))


def test_a_server_that_restarts_ends_no_wait() -> None:
    """An agent waits on PostgreSQL, which is restarted; the answer comes afterwards."""
    with running() as server, SqlStore(server.empty(), timeout=5) as store:
        ledger = Ledger(store)
        ledger.open(moment("Now?"), decision_id="d")

        async def scene() -> object:
            waiting = asyncio.create_task(ledger.wait("d", poll=SHORT))
            await asyncio.sleep(0)
            await run_blocking(server.stop)
            with pytest.raises(StoreFailed):
                await run_blocking(ledger.rates)
            while not caught:  # noqa: ASYNC110  a warning sets no event
                await asyncio.sleep(SHORT)
            await run_blocking(server.start)
            await run_blocking(answer, ledger, "d")
            return await waiting

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert isinstance(asyncio.run(scene()), ResolvedDecision)
        assert [each.category for each in caught] == [RuntimeWarning]


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
