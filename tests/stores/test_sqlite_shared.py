"""A file of ``SqliteStore`` that several stores of a process, and its forked children, have open."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from emitter.errors import InputError, StoreFailed
from emitter.stores import SqliteStore
from tests.stores.making import entry, events, fresh, ids, never

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.stores import NewEntry
    from tests.stores.workers import Workers


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return where a store goes."""
    return tmp_path / "store.db"


def test_two_names_of_one_file(place: Path) -> None:
    """A link leads to the same store and to the same locks."""
    link = place.with_name("link.db")
    link.symlink_to(place)
    with SqliteStore(place, timeout=0.05) as store, SqliteStore(link, timeout=0.05) as other:

        def handle() -> NewEntry:
            with pytest.raises(InputError, match="is handling"):
                other.get_or_create("run", "c", never)
            return fresh()

        assert store.get_or_create("run", "c", handle).created
        assert other.find("run", "c") == entry()
    assert not place.with_name("link.db-once").exists()


def test_the_file_of_locks_was_taken_away(place: Path, workers: Workers) -> None:
    """Then two may handle one envelope, but one outcome is kept, and both are given it."""
    with SqliteStore(place) as store:

        def handle() -> NewEntry:
            place.with_name("store.db-once").unlink()
            arguments = {"address": str(place), "note": "theirs"}
            assert workers.start("get_or_create", kind="sqlite", **arguments).done() == [[True, "theirs"]]
            return fresh("ours", "ours")

        kept = store.get_or_create("run", "c", handle)
        assert (kept.entry, kept.events, kept.created) == (entry("theirs"), (), False)
        assert ids(store.events("run")) == ["theirs"]


def test_a_forked_child_outlives_its_parents_store(place: Path, workers: Workers) -> None:
    """Its writes are in the file, whoever cleaned up meanwhile in the belief to be the last."""
    assert workers.start("outlive", address=str(place)).done() == [[0]]
    with SqliteStore(place) as store:
        assert ids(store.events("run")) == ["before", "child", "other", "after"]


def test_a_child_that_was_forked_amid_a_use_is_kept_out(place: Path, workers: Workers) -> None:
    """It could do harm; the parent goes on."""
    child, parent = workers.start("amid", address=str(place)).done()
    assert "is closed" in child[0]
    assert parent == [0]


def test_threads_queue_no_longer_than_they_want(place: Path) -> None:
    """Those that write wait for each other, but not for ever."""
    with SqliteStore(place, timeout=0.05) as store, ThreadPoolExecutor(1) as pool, store._database.transaction():
        failed = pool.submit(store.append, "run", events("a")).exception()
    assert isinstance(failed, StoreFailed)
    assert "locked by other writers after 0.05 s" in str(failed)
