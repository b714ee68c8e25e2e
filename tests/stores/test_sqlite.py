"""What ``SqliteStore`` does with its file beyond the contract."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from emitter.errors import EmitterError, InputError, StoreAltered, StoreFailed
from emitter.stores import SqliteStore
from tests.stores.making import event, events, fresh, ids, never

if TYPE_CHECKING:
    from emitter.stores import NewEntry
    from tests.stores.workers import Workers


_ENTRY = (
    '{"envelope":{"payload":{"note":"\\u0000\\ud83d\\ude00"}},'
    '"outcome":{"status":"accepted"},"type":"vendor.acme.note","version":1}'
)
_EVENT = (
    '{"causationId":"cause","eventId":"a","nodeId":"node","payload":{"fields":{},"level":"info","message":"noted",'
    '"nodeId":"node"},"runId":"run","sequence":0,"timestamp":"2026-05-18T10:00:00.000Z","type":"log.appended"}'
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return where a store goes."""
    return tmp_path / "store.db"


def test_it_is_durable(place: Path) -> None:
    """Its file is in WAL mode, and each connection waits for the disk at each commit."""
    with SqliteStore(place) as store, store._database.connection() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA fullfsync").fetchone() == (1,)


def test_it_is_canonical_json(place: Path) -> None:
    """Others can read it, and its bytes do not depend on who wrote it."""
    with SqliteStore(str(place)) as store:
        store.get_or_create("run", "é", lambda: fresh("\x00\N{GRINNING FACE}", "a"))
    with closing(sqlite3.connect(place)) as file:
        entries = file.execute("SELECT run_id, correlation_id, entry FROM entries").fetchall()
        assert entries == [("run", "\\xe9", _ENTRY)]
        assert file.execute("SELECT run_id, sequence, document FROM events").fetchall() == [("run", 0, _EVENT)]


def _text(place: Path) -> None:
    place.write_text("not a database, but long enough for a header of one, and then some\n" * 20)


def _others(place: Path, *statements: str) -> None:
    with closing(sqlite3.connect(place)) as file:
        for each in statements:
            file.execute(each)
        file.commit()


_NO_STORES = {
    "text": (_text, "file is not a database"),
    "a folder": (Path.mkdir, "unable to open"),
    "another's": (lambda place: _others(place, "CREATE TABLE entries (a)"), "another program"),
    "another's, marked": (lambda place: _others(place, "PRAGMA application_id = 7"), "another program"),
    "another's, numbered": (lambda place: _others(place, "PRAGMA user_version = 1"), "another program"),
    "a later one": (
        lambda place: _others(place, "PRAGMA application_id = 0x656D6974", "PRAGMA user_version = 5"),
        "written by a newer release: it has format 5, and this release reads up to format 4",
    ),
}


@pytest.mark.parametrize("name", _NO_STORES)
def test_what_is_no_store_is_left_as_it_is(name: str, place: Path) -> None:
    """The error says what it is, and nothing was written, there or beside it."""
    make, said = _NO_STORES[name]
    make(place)  # type: ignore[operator]
    before = place.read_bytes() if place.is_file() else b""
    with pytest.raises(InputError, match=said) as caught:
        SqliteStore(place)
    assert ("Update emitter" if name == "a later one" else "another file") in caught.value.hint
    assert (place.read_bytes() if place.is_file() else b"") == before
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize("name", ["", ":memory:"])
def test_it_wants_a_file(name: str) -> None:
    """Each of its connections would have a memory of its own."""
    with pytest.raises(InputError, match="MemoryStore"):
        SqliteStore(name)


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    """It is not made: it may be a mistake in the name."""
    with pytest.raises(InputError, match="unable to open"):
        SqliteStore(tmp_path / "missing" / "store.db")


def test_its_locks_need_a_file_as_well(place: Path) -> None:
    """Where that one cannot be opened, nothing is made."""
    locks = place.with_name("store.db-once")
    locks.mkdir()
    with pytest.raises(InputError, match="db-once cannot be opened") as caught:
        SqliteStore(place)
    assert "folder" in caught.value.hint
    locks.rmdir()
    with SqliteStore(place) as store:
        assert store.get_or_create("run", "c", fresh).created


def test_an_empty_file_becomes_a_store(place: Path) -> None:
    """As ``tempfile`` and ``touch`` make it."""
    place.touch()
    with SqliteStore(place) as store:
        assert store.get_or_create("run", "c", fresh).created


def test_a_damaged_store_is_reported(place: Path) -> None:
    """What was kept cannot be found, and nothing says that it was not kept."""
    with SqliteStore(place) as store:
        for number in range(100):
            store.get_or_create("run", f"c{number}", lambda: fresh("x" * 500))
    with place.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(os.path.getsize(place) - 4096))  # noqa: PTH202
    with SqliteStore(place) as store, pytest.raises(StoreAltered, match="damaged"):
        store.find("run", "c50")


def _filled(place: Path) -> dict[str, object]:
    with SqliteStore(place) as store:
        for number in range(8):
            store.get_or_create("run", f"c{number}", lambda number=number: fresh("é" * 90, f"e{number}"))  # type: ignore[misc]
        return _read(store)


def _read(store: SqliteStore) -> dict[str, object]:
    return {"events": store.events("run"), **{f"c{number}": store.find("run", f"c{number}") for number in range(8)}}


def test_no_damaged_value_is_returned(place: Path) -> None:
    """Whatever bytes of the file change, what is read is what was written, or an error says that it is not."""
    kept = _filled(place)
    whole, drawn = place.read_bytes(), random.Random(7)  # noqa: S311  the same damage each time
    silent = 0
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(drawn.choice([1, 1, 8, 200])):
            damaged[drawn.randrange(100, len(whole))] = drawn.randrange(256)
        place.write_bytes(damaged)
        try:
            with SqliteStore(place) as store:
                found = _read(store)
        except EmitterError:
            continue
        silent += 1
        assert found == {name: kept[name] if found[name] is not None else None for name in found}
        assert found["events"] == kept["events"]
    assert silent > 0
    for beside in place.parent.iterdir():
        beside.unlink()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET entry = replace(entry, 'accepted', 'rejected') WHERE correlation_id = 'c1'",
        "UPDATE entries SET entry = CAST(x'ff' AS TEXT) WHERE correlation_id = 'c1'",
        "UPDATE entries SET entry = NULL WHERE correlation_id = 'c1'",
        "UPDATE entries SET checksum = 0 WHERE correlation_id = 'c1'",
        """UPDATE entries SET (entry, checksum) = (SELECT entry, checksum FROM entries WHERE correlation_id = 'c2')
        WHERE correlation_id = 'c1'""",
        "UPDATE events SET document = replace(document, 'noted', 'voted') WHERE sequence = 3",
        "UPDATE events SET document = CAST(x'ff' AS TEXT) WHERE sequence = 3",
        "DELETE FROM events WHERE sequence = 3",
        "UPDATE events SET sequence = 30 WHERE sequence = 7",
    ],
    ids=["changed", "not-unicode", "null", "checksum", "moved", "event", "event-not-unicode", "missing", "renumbered"],
)
def test_an_altered_row_is_reported(place: Path, change: str) -> None:
    """A row whose checksum does not hold is damage, and so is a number that is missing in a log."""
    _filled(place)
    _others(place, change)
    with SqliteStore(place) as store, pytest.raises(StoreAltered, match="damaged"):
        _read(store)


def test_who_may_not_write_is_reported(workers: Workers) -> None:
    """A file that may be read only, and one that cannot be made, is no store for this user."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        SqliteStore(folder / "store.db").close()
        for each in folder.iterdir():
            each.chmod(0o444)
        folder.chmod(0o555)
        for file, said in {"store.db": "readonly", "new.db": "unable to open"}.items():
            ((kind, text),) = workers.start("unprivileged", path=str(folder / file)).done()
            assert (kind, said in text) == ("InputError", True)
        folder.chmod(0o755)


def test_a_full_disk_is_reported(place: Path, workers: Workers) -> None:
    """What was kept before stays, and nothing is there by halves."""
    *written, (kind, said), (kept,) = workers.start("crowded", path=str(place)).done()
    assert kind == "StoreFailed"
    assert "disk space" in said
    assert [[name] for name in kept] == written
    assert len(written) > 5
    with SqliteStore(place) as store:
        assert ids(store.events("run")) == kept
        assert store.append("run", events("later"))[0].sequence == len(kept)


def test_whoever_keeps_the_file_busy_is_reported(place: Path) -> None:
    """A writer does not wait for ever, and readers do not wait."""
    with SqliteStore(place, timeout=0.05) as store, closing(sqlite3.connect(place)) as other:
        store.append("run", events("a"))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreFailed, match="locked by other writers") as caught:
            store.append("run", events("b"))
        assert "timeout=" in caught.value.hint
        with pytest.raises(StoreFailed, match="locked by other writers"):
            store.get_or_create("run", "c", fresh)
        assert ids(store.events("run")) == ["a"]
        other.rollback()
        assert store.append("run", events("b"))[0].sequence == 1


def test_a_closed_store_is_closed(place: Path) -> None:
    """Nothing can be asked of it; to close it again does nothing."""
    with SqliteStore(place) as store:
        store.append("run", events("a"))
    store.close()
    for call in (
        lambda: store.find("run", "c"),
        lambda: store.get_or_create("run", "c", never),
        lambda: store.append("run", ()),
        lambda: store.events("run"),
    ):
        with pytest.raises(InputError, match="is closed"):
            call()


def test_what_is_under_way_when_it_is_closed(place: Path) -> None:
    """A handler's envelope cannot be kept any more, which its caller is told; the lock on it is let go."""
    store = SqliteStore(place)
    handling, ended = threading.Event(), threading.Event()

    def handle() -> NewEntry:
        handling.set()
        assert ended.wait(20)
        return fresh()

    with ThreadPoolExecutor(1) as pool:
        calling = pool.submit(store.get_or_create, "run", "c", handle)
        assert handling.wait(20)
        store.close()
        ended.set()
        with pytest.raises(InputError, match="is closed"):
            calling.result()
    with SqliteStore(place) as again:
        assert again.get_or_create("run", "c", fresh).created


def _open_files() -> list[str]:
    return sorted(each.name for each in Path("/proc/self/fd").iterdir())


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list a process's open files")
def test_no_file_is_left_open(place: Path) -> None:
    """Whatever was opened, by however many threads and stores, and whatever could not be."""
    before = _open_files()
    with SqliteStore(place) as store, SqliteStore(place) as other, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: (store, other)[n % 2].get_or_create("run", f"c{n}", fresh), range(16)))
        with pytest.raises(InputError):
            store.append("run", [event("e", odd=object())])
    _others(place.with_name("others"), "CREATE TABLE a (b)")
    with pytest.raises(InputError):
        SqliteStore(place.with_name("others"))
    assert _open_files() == before
    assert {each.name for each in place.parent.iterdir()} == {"store.db", "store.db-once", "others"}


def test_what_is_forgotten_is_in_no_file(tmp_path: Path) -> None:
    """Neither in the database nor in what SQLite keeps beside it, also where rows moved between pages before."""
    with SqliteStore(tmp_path / "store.db") as store:
        for number in range(60):
            store.get_or_create("run", f"{number * 37 % 60}", lambda number=number: fresh(f"{number}" * 50))  # type: ignore[misc]
        store.get_or_create("run", "c", lambda: fresh("Zebedee"))
        for number in range(60, 90):
            store.get_or_create("run", f"{number}", lambda number=number: fresh(f"{number}" * 50))  # type: ignore[misc]
        assert any(b"Zebedee" in each.read_bytes() for each in tmp_path.iterdir())
        store.forget("run", "c")
        assert not any(b"Zebedee" in each.read_bytes() for each in tmp_path.iterdir())


def test_a_store_that_cannot_be_written_is_not_answered_with_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new file would know nothing of what was done."""
    SqliteStore(tmp_path / "store.db").close()
    readonly = sqlite3.OperationalError("attempt to write a readonly database")
    readonly.sqlite_errorcode = sqlite3.SQLITE_READONLY
    monkeypatch.setattr(sqlite3, "connect", Mock(side_effect=readonly))

    with pytest.raises(InputError, match="permissions of the file and of its folder") as refused:
        SqliteStore(tmp_path / "store.db")
    assert "another file" not in str(refused.value)
