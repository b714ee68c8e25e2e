"""What an older release stored is read by this one, and can be continued."""

from __future__ import annotations

import json
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.authority.audit import report_chain
from emitter.decisions import select_option
from emitter.errors import ApprovalPending, InputError, NotApproved
from emitter.stores import MemoryStore, SqliteStore, SqlStore, Store
from tests.stores.fixtures.unversioned.write import refund
from tests.stores.making import entry, fresh

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.stores.postgres import Postgres

FOLDER = Path(__file__).with_name("fixtures") / "unversioned"
FOUND: dict[str, Any] = json.loads((FOLDER / "found.json").read_text())
_OLDER_TABLES = (
    """CREATE TABLE emitter_entries (
        run_id TEXT, correlation_id TEXT, entry TEXT NOT NULL, PRIMARY KEY (run_id, correlation_id))""",
    """CREATE TABLE emitter_events (
        run_id TEXT, sequence BIGINT, node_id TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (run_id, sequence))""",
    "CREATE INDEX emitter_events_of_node ON emitter_events (run_id, node_id, sequence)",
    "CREATE TABLE emitter_runs (run_id TEXT PRIMARY KEY, length BIGINT NOT NULL)",
)


class WithoutScan:
    """A store of the caller's own, which has the methods of ``Store`` and no others."""

    def __init__(self, store: Store) -> None:
        self.find, self.get_or_create, self.forget = store.find, store.get_or_create, store.forget
        self.append, self.events = store.append, store.events


def _rows(table: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{FOLDER / 'store.db'}?mode=ro", uri=True)) as file:
        return file.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608  a constant


def _fill_server(server: Postgres, address: str) -> None:
    """Create the tables of the older release, with its rows in another order than they were written in."""
    schema = address.rpartition("%3D")[2]
    events = _rows("events")
    lengths = {run: sum(each[0] == run for each in events) for run in {each[0] for each in events}}
    with server.connected() as connection, connection.cursor() as cursor:
        cursor.execute(f"SET search_path = {schema}".encode())
        for statement in _OLDER_TABLES:
            cursor.execute(statement.encode())
        cursor.executemany(
            "INSERT INTO emitter_entries VALUES (%s, %s, %s)", [row[:3] for row in _rows("entries")][::-1]
        )
        cursor.executemany("INSERT INTO emitter_events VALUES (%s, %s, %s, %s)", [row[:4] for row in events])
        cursor.executemany("INSERT INTO emitter_runs VALUES (%s, %s)", list(lengths.items()))


@pytest.fixture(params=["sqlite", "sqlite, without scans", "postgres"])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Return a store on what the older release left."""
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        _fill_server(server, address := server.empty())
        with SqlStore(address) as store:
            yield store
        return
    file = shutil.copy(FOLDER / "store.db", tmp_path)
    with SqliteStore(file) as store:
        yield store if request.param == "sqlite" else WithoutScan(store)


def test_what_an_older_release_stored_is_all_there(older: Any) -> None:
    """Chains, the list of workflows, receipts and decisions, and the chains verify."""
    authority = Authority(older)
    assert list(authority.workflows()) == FOUND["workflows"]
    assert [each.to_json() for each in authority.receipts()] == FOUND["receipts"]
    assert [each.decision_id for each in authority.ledger.pending()] == FOUND["pending"]
    for name, head in FOUND["heads"].items():
        assert report_chain(authority.lines(name), head=head).head == head


def test_what_an_older_release_began_goes_on(older: Any) -> None:
    """An approval counts, an open question can be answered, a refusal stands, and a result is returned."""
    authority = Authority(older)
    guard = authority.guard(refund, workflow_id="calls", ttl_seconds=100 * 365 * 24 * 3600)
    assert guard.call("done", "done", 5) == "done: 5"
    assert len(authority.receipts("calls")) == 1
    assert guard.call("approved", "approved", 5) == "approved: 5"
    with pytest.raises(ApprovalPending) as pending:
        guard.call("open", "open", 5)
    asked: Any = authority.ledger.find(pending.value.decision_id)
    authority.ledger.resolve(asked.decision_id, select_option(asked.moment, 0))
    assert guard.call("open", "open", 5) == "open: 5"
    with pytest.raises(NotApproved):
        guard.call("refused", "refused", 5)
    assert authority.stop("new").stop.workflow_id == "new"
    assert list(authority.workflows()) == list(Authority(older).workflows()) == [*FOUND["workflows"], "new"]


def test_processes_that_open_an_older_file_at_once_migrate_it_once(tmp_path: Path) -> None:
    """Each finds all of it."""
    file = shutil.copy(FOLDER / "store.db", tmp_path)

    def count() -> int:
        with SqliteStore(file) as store:
            return len(store.entries("emitter.authority:w"))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: count(), range(16))) == {
            len(_rows("entries WHERE run_id = 'emitter.authority:w'"))
        }


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_that_is_older_than_any_migration_is_refused(tmp_path: Path, version: int) -> None:
    """It is left as it is."""
    file = Path(shutil.copy(FOLDER / "store.db", tmp_path))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = file.read_bytes()
    with pytest.raises(InputError, match=f"has format {version}, and this release reads format 4"):
        SqliteStore(file)
    assert file.read_bytes() == before


def test_a_store_without_scans_is_read_entry_by_entry() -> None:
    """Two processes on such a store see each other's workflows and lines."""
    kept: Any = WithoutScan(MemoryStore())
    one, other = Authority(kept), Authority(kept)
    for each in ("a", "b"):
        one.stop(each)
    other.stop("c")
    other.stop("a")
    assert one.workflows() == other.workflows() == ("a", "b", "c")
    assert [len(list(one.lines(each))) for each in one.workflows()] == [2, 1, 1]


def test_positions_of_entries_grow_and_are_not_used_again(store: Any) -> None:
    """So whoever keeps the last one finds what was stored since, whatever was forgotten meanwhile."""
    for name in "abc":
        store.get_or_create("run", name, lambda: fresh("n", "e"))
    store.get_or_create("other", "x", lambda: fresh("n"))
    first = store.entries("run")
    assert [each.correlation_id for each in first] == ["a", "b", "c"]
    assert [each.entry for each in first] == [entry("n")] * 3
    assert first[1:] == store.entries("run", first[0].position)
    assert first[:2] == store.entries("run", limit=2)
    assert store.entries("run", first[0].position, limit=1) == first[1:2]
    store.forget("run", "c")
    assert store.entries("run") == first[:2]
    store.get_or_create("run", "c", lambda: fresh("again"))
    (again,) = store.entries("run", first[-1].position)
    assert (again.correlation_id, again.entry) == ("c", entry("again"))
    assert again.position > first[-1].position
    assert store.entries("run", again.position) == store.entries("nobody") == ()


@pytest.mark.parametrize("name", ["", "a b", "it's \\ x", "\x00\n", "é\u4f60\U0001f600", "\ud83d alone", "x" * 512])
def test_an_entry_is_scanned_under_the_id_that_it_was_stored_under(store: Any, name: str) -> None:
    """Whatever is in it. One that is too long for a database keeps its beginning."""
    store.get_or_create("run", name, fresh)
    store.get_or_create("run", "y" * 10_000, fresh)
    one, long = store.entries("run")
    assert one.correlation_id == name
    assert long.correlation_id.startswith("y" * 512)
