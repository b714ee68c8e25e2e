"""What ``SqlStore`` does with its server beyond the contract."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.event import listen
from sqlalchemy.pool import NullPool

from emitter.errors import InputError, MissingExtra, StoreFailed
from emitter.stores import SqliteStore, SqlStore
from tests.stores.making import entry, event, events, fresh, ids, never

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from emitter.stores import NewEntry
    from tests.stores.postgres import Postgres


@pytest.fixture
def url(postgres: Postgres) -> str:
    """Return the address of a place that holds nothing yet."""
    return postgres.empty()


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    """Return an engine of the caller's."""
    made = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    yield made
    made.dispose()


def _cut(postgres: Postgres) -> None:
    """End each connection but this one, as a server does that is stopped."""
    with postgres.connected() as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")


def test_a_connection_is_lost_while_a_handler_runs(url: str, postgres: Postgres) -> None:
    """Nothing is kept, the caller is told, and the next call has a new connection."""
    with SqlStore(url) as store:

        def handle() -> NewEntry:
            _cut(postgres)
            return fresh("n", "a")

        with pytest.raises(StoreFailed, match="cannot be used: AdminShutdown") as caught:
            store.get_or_create("run", "c", handle)
        assert caught.value.__cause__ is not None
        assert store.find("run", "c") is None
        assert store.events("run") == ()
        assert store.get_or_create("run", "c", lambda: fresh("n", "b")).created
        assert ids(store.events("run")) == ["b"]


def test_a_handler_that_raises_as_the_connection_is_lost(url: str, postgres: Postgres) -> None:
    """What it raised is raised: the connection is nothing that its caller waits for."""
    with SqlStore(url) as store:

        def fail() -> NewEntry:
            _cut(postgres)
            raise ValueError("a bug")

        with pytest.raises(ValueError, match="a bug"):
            store.get_or_create("run", "c", fail)
        assert store.get_or_create("run", "c", fresh).created


def test_an_idle_connection_is_lost(url: str, postgres: Postgres) -> None:
    """Nobody notices: it is replaced before it is used."""
    with SqlStore(url) as store:
        store.append("run", events("a"))
        _cut(postgres)
        assert store.append("run", events("b"))[0].sequence == 1


def test_a_server_that_is_not_there_is_reported(tmp_path: Path) -> None:
    """Its password stands in no text."""
    with pytest.raises(StoreFailed, match="PostgreSQL cannot be used: OperationalError") as caught:
        SqlStore(f"postgresql://me:hunter2@/db?host={tmp_path}")
    assert "hunter2" not in str(caught.value) + repr(caught.value.__cause__)


@pytest.mark.parametrize(
    "given",
    ["sqlite:///store.db", "sqlite://", "store.db", "", "mysql://host/db", "postgresql+none://host/db", "nothing://",
     "postgresql+asyncpg://host/db", None, 7],
    ids=repr,
)  # fmt: skip
def test_another_database_is_refused(given: Any) -> None:
    """The error says what to write, and what there is for a file."""
    with pytest.raises(InputError, match="PostgreSQL") as caught:
        SqlStore(given)
    assert "SqliteStore(path)" in caught.value.hint


def test_an_engine_of_another_database_is_refused(tmp_path: Path) -> None:
    """As its URL is."""
    made = create_engine(f"sqlite:///{tmp_path}/store.db")
    with pytest.raises(InputError, match="SqliteStore"):
        SqlStore(made)
    made.dispose()


def test_an_engine_stays_the_callers(engine: Engine) -> None:
    """It is used as it is, and not closed with the store."""
    with SqlStore(engine) as store:
        store.append("run", events("a"))
        assert engine.pool.checkedin() == 1  # type: ignore[attr-defined]
    assert engine.pool.checkedin() == 1  # type: ignore[attr-defined]
    with engine.connect() as connection:
        assert connection.execute(text("SELECT document FROM emitter_events")).scalar() is not None
    with pytest.raises(InputError, match="is closed"):
        store.append("run", ())


@pytest.mark.parametrize("level", ["SERIALIZABLE", "REPEATABLE READ", "AUTOCOMMIT"])
def test_an_engine_of_any_level_will_do(url: str, level: str) -> None:
    """The store's transactions have the level that they rest on."""
    made = create_engine(url.replace("postgresql:", "postgresql+psycopg:"), isolation_level=level, poolclass=NullPool)
    with SqlStore(made) as store:

        def fail() -> NewEntry:
            store.append("run", events("a"))
            raise ValueError("a bug")

        with pytest.raises(ValueError, match="a bug"):
            store.get_or_create("run", "c", fail)
        assert store.find("run", "c") is None
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: SqlStore(made).get_or_create("run", "c", lambda: fresh("n", f"e{n}")), range(4)))
        assert len(ids(store.events("run"))) == 2


def test_how_long_the_server_lets_it_wait(engine: Engine) -> None:
    """It waits for others as long as it was told to, and a handler may take longer than the server would have it."""
    reported: list[tuple[Any, ...]] = []
    names = "lock_timeout", "idle_in_transaction_session_timeout"

    @lambda heard: listen(engine, "commit", heard)
    def _(connection: Any) -> None:
        asked = ", ".join(f"current_setting('{name}')" for name in names)
        reported.append(tuple(connection.exec_driver_sql(f"SELECT {asked}").one()))

    with SqlStore(engine, timeout=7) as store:
        reported.clear()
        store.get_or_create("run", "c", fresh)
        store.append("run", events("a"))
    assert reported == [("7s", "0")] * 2
    with engine.connect() as connection:
        assert connection.execute(text("SHOW lock_timeout")).scalar() == "0"


def test_many_open_a_new_place_at_once(url: str) -> None:
    """One of them makes the tables."""
    with ThreadPoolExecutor(6) as pool:
        opened = list(pool.map(SqlStore, [url] * 6))
    for number, store in enumerate(opened):
        assert store.append("run", [event("e")])[0].sequence == number
        store.close()


def test_a_failure_shows_no_content(engine: Engine) -> None:
    """Neither the error nor its cause says what was to be kept."""
    with SqlStore(engine) as store:
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE emitter_events"))
        with pytest.raises(StoreFailed, match="UndefinedTable") as caught:
            store.get_or_create("run", "c", lambda: fresh("a word", "a word"))
        assert "a word" not in f"{caught.value} {caught.value.__cause__!r} {caught.value.__cause__}"
        assert store.find("run", "c") is None


def test_both_keep_the_same_bytes(engine: Engine, tmp_path: Path) -> None:
    """What stands in PostgreSQL is what stands in SQLite."""
    with SqlStore(engine) as one, SqliteStore(tmp_path / "store.db") as other:
        for store in (one, other):
            store.get_or_create("r\x00n", "\ud800" * 700, lambda: fresh("\x00é", "a\x00", "b"))
        with other._database.connection() as file, engine.connect() as server:
            for table, columns in (("entries", "correlation_id, entry"), ("events", "sequence, document")):
                rows = f"SELECT run_id, {columns} FROM"
                there = [tuple(row) for row in server.execute(text(f"{rows} emitter_{table}"))]
                assert there == file.execute(f"{rows} {table}").fetchall()


@pytest.mark.parametrize("missing", ["sqlalchemy", "psycopg"])
def test_what_is_not_installed_is_reported(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    monkeypatch.delitem(sys.modules, "emitter.stores.postgresql", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra) as caught:
        SqlStore("postgresql://host/db")
    assert "pip install 'llm-emitter[sql]'" in caught.value.hint


def test_nobody_else_pays_for_it() -> None:
    """The other stores do not load SQLAlchemy."""
    program = (
        "import sys; from emitter.stores import MemoryStore; MemoryStore(); assert 'sqlalchemy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_kept_envelope_needs_no_transaction(engine: Engine) -> None:
    """It is found by one statement."""
    with SqlStore(engine) as store:
        store.get_or_create("run", "c", fresh)
        reported: list[str] = []
        listen(engine, "before_cursor_execute", lambda *arguments: reported.append(arguments[2].split()[0]))
        assert store.get_or_create("run", "c", never).entry == entry()
        assert reported == ["SELECT"]
