"""What every store does for the threads of a process."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import InputError, StoreFailed
from tests.stores.making import entry, events, fresh, ids, never

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.stores import NewEntry


def test_a_handler_cannot_wait_for_itself(store: Any) -> None:
    """It is reported so at once."""
    with pytest.raises(InputError, match="is handling"):
        store.get_or_create("run", "c", lambda: store.get_or_create("run", "c", never).entry)
    assert store.get_or_create("run", "c", fresh).created


def test_of_many_threads_one_handles(store: Any) -> None:
    """The others wait for it, and are given what it kept."""
    threads = 8
    called = threading.Semaphore(0)
    handled: list[int] = []

    def handle() -> NewEntry:
        for _ in range(threads):
            assert called.acquire(timeout=20)
        handled.append(threading.get_ident())
        return fresh("n", "a", "b")

    def call() -> Any:
        called.release()
        return store.get_or_create("run", "c", handle)

    with ThreadPoolExecutor(threads) as pool:
        found = [each.result() for each in [pool.submit(call) for _ in range(threads)]]
    assert len(handled) == 1
    assert sorted((each.created, len(each.events)) for each in found) == [(False, 0)] * (threads - 1) + [(True, 2)]
    assert all(each.entry == entry("n") for each in found)
    assert ids(store.events("run")) == ["a", "b"]


def test_after_a_failure_the_next_in_line_handles(store: Any) -> None:
    """Each of the handlers that raise runs, one after the other, then one that does not, and no more."""
    handled: list[int] = []

    def handle() -> NewEntry:
        handled.append(1)
        if len(handled) <= 3:
            raise ValueError("not yet")
        return fresh("n", "a")

    def call(_: int) -> Any:
        try:
            return store.get_or_create("run", "c", handle)
        except ValueError as error:
            return error

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(call, range(8)))
    assert len(handled) == 4
    assert sum(isinstance(each, ValueError) for each in found) == 3
    assert ids(store.events("run")) == ["a"]


def test_others_do_not_wait(store: Any) -> None:
    """Handlers of two envelopes run at the same time, and the log of their run goes on meanwhile."""
    both = threading.Barrier(2, timeout=20)

    def call(name: str) -> Any:
        def handle() -> NewEntry:
            both.wait()
            store.append("run", events(f"{name} says"))
            both.wait()
            return fresh(name, name)

        return store.get_or_create("run", name, handle)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(call, "ab"))
    assert set(ids(store.events("run"))) == {"a", "b", "a says", "b says"}


def test_no_number_is_left_out_or_given_twice(store: Any) -> None:
    """However many threads add to however many runs."""

    def add(name: str) -> list[tuple[str, int]]:
        reported: list[tuple[str, int]] = []
        for number in range(20):
            added = store.append(f"run {number % 2}", events(f"{name}{number}", f"{name}{number}+"))
            reported += [(each.event_id, each.sequence) for each in added]
        return reported

    with ThreadPoolExecutor(8) as pool:
        reported = [each for thread in pool.map(add, "abcdefgh") for each in thread]
    kept = [store.events(f"run {run}") for run in range(2)]
    assert [len(ids(each)) for each in kept] == [160, 160]
    assert sorted(reported) == sorted((each["eventId"], each["sequence"]) for run in kept for each in run)


def test_nobody_waits_longer_than_they_want(store_for: Callable[..., Any]) -> None:
    """Whoever waits too long for a handler is reported so, and nothing is kept for it."""
    store = store_for(timeout=0.05)
    handling, ended = threading.Event(), threading.Event()

    def handle() -> NewEntry:
        handling.set()
        assert ended.wait(20)
        return fresh("n")

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(store.get_or_create, "run", "c", handle)
        assert handling.wait(20)
        with pytest.raises(StoreFailed, match=r"after 0\.05 s") as caught:
            store.get_or_create("run", "c", never)
        assert "timeout=" in caught.value.hint
        ended.set()
        assert first.result().created
    assert not store.get_or_create("run", "c", never).created


def test_a_loop_uses_it_in_threads(store: Any) -> None:
    """Whichever thread a loop lends."""

    async def main() -> list[Any]:
        calls = (
            asyncio.to_thread(store.get_or_create, "run", f"c{n % 4}", lambda n=n: fresh(n % 4, f"e{n}"))
            for n in range(16)
        )
        return await asyncio.gather(*calls)

    found = asyncio.run(main())
    assert sum(each.created for each in found) == 4
    assert [each.entry for each in found] == [entry(n % 4) for n in range(16)]
    assert len(ids(store.events("run"))) == 4
