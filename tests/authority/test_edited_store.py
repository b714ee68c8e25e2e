"""Whoever writes into a store is found out by the next who reads it, and nothing is done."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from emitter.authority import Authority
from emitter.authority.audit import report_chain
from emitter.authority.journal import read_logged_head
from emitter.authority.signing import make_signer
from emitter.errors import Tampered
from emitter.stores import SqliteStore
from tests.authority.execution.making import act, granted, types, work
from tests.authority.lived import KEY, Document, hashed, lived
from tests.stores.making import edited

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return the file of a store, in which two workflows had all that can befall one."""
    file = tmp_path / "store.db"
    with SqliteStore(file) as store:
        for each in ("w", "v"):
            lived(store, each, make_signer(KEY))
    return file


PLACE = "WHERE run_id = 'emitter.authority:w' AND correlation_id = ?"
FIND = f"SELECT entry FROM entries {PLACE}"  # noqa: S608  a constant
PUT = f"UPDATE entries SET entry = ? {PLACE}"  # noqa: S608  likewise
DROP = f"DELETE FROM entries {PLACE}"  # noqa: S608  likewise


def row(connection: sqlite3.Connection, number: int) -> Document:
    """Return what stands in the store for a line."""
    (found,) = connection.execute(FIND, (str(number),)).fetchone()
    entry: Document = json.loads(found)
    return entry


def put(connection: sqlite3.Connection, number: int, entry: Document) -> None:
    """Let something else stand there."""
    connection.execute(PUT, (json.dumps(entry), str(number)))


def retold(number: int, connection: sqlite3.Connection) -> None:
    """Let a record be of another target."""
    entry = row(connection, number)
    entry["outcome"]["record"]["target"] = "ceo"
    put(connection, number, entry)


def rehashed(connection: sqlite3.Connection) -> None:
    """Edit a record in the middle, and give its line the hash that it must have."""
    entry = row(connection, 3)
    entry["outcome"]["record"]["reason"] = "Nobody said so."
    put(connection, 3, entry | {"outcome": hashed(entry["outcome"])})


def exchanged(connection: sqlite3.Connection) -> None:
    """Put two workflows' chains in each other's place."""
    for old, new in (("w", "x"), ("v", "w"), ("x", "v")):
        runs = (f"emitter.authority:{new}", f"emitter.authority:{old}")
        connection.execute("UPDATE entries SET run_id = ? WHERE run_id = ?", runs)


ROWS: dict[str, tuple[Callable[[sqlite3.Connection], object], str]] = {
    "an intent edited": (partial(retold, 1), "its hash does not match"),
    "a receipt edited": (partial(retold, 2), "its hash does not match"),
    "edited and hashed anew": (rehashed, "line 4 .* does not follow the previous line"),
    "a line moved": (lambda it: put(it, 2, row(it, 3)), "line 2 .* does not follow the previous line"),
    "no line at all": (lambda it: put(it, 2, row(it, 2) | {"outcome": {}}), "is not a line of a chain"),
    "two chains exchanged": (exchanged, "line 0 .* does not follow the previous line"),
}


@pytest.mark.parametrize(("change", "reason"), ROWS.values(), ids=ROWS.keys())
def test_an_edited_store_authorizes_nothing(
    place: Path, change: Callable[[sqlite3.Connection], object], reason: str
) -> None:
    """Whoever reads the chain next finds it out, whatever they want, and does nothing."""
    done: list[str] = []
    with edited(place) as connection:
        confirm_id = row(connection, 11)["outcome"]["record"]["confirm_id"]
        change(connection)
    with SqliteStore(place) as store:
        authority = Authority(store)
        uses: tuple[Callable[[], object], ...] = (
            lambda: authority.execute(confirm_id, work(act("more"), lambda: done.append("done"))),
            lambda: authority.revoke(confirm_id),
            lambda: authority.get_grant(confirm_id),
            lambda: authority.stop("w"),
            lambda: authority.receipts("w"),
        )
        for use in uses:
            with pytest.raises(Tampered, match=reason):
                use()

    assert done == []


def test_a_store_tells_that_the_end_of_a_chain_was_cut_off(place: Path) -> None:
    """Its log of events has the hash of each line; who takes lines out leaves that behind."""
    with SqliteStore(place) as store:
        lines, head = list(Authority(store).lines("w")), read_logged_head(store, "w")
        assert read_logged_head(store, "elsewhere") is None
    assert report_chain(lines, head=head).head == head

    with edited(place) as connection:
        connection.execute(DROP, (str(len(lines) - 1),))
    with SqliteStore(place) as store:
        left = list(Authority(store).lines("w"))
        assert len(types(Authority(store))) == len(left) == len(lines) - 1
        with pytest.raises(Tampered, match="its end was cut off"):
            report_chain(left, head=read_logged_head(store, "w"))


def test_what_was_retained_cannot_be_edited(tmp_path: Path) -> None:
    """The receipt has its digest: a result that is another is not handed over."""
    with SqliteStore(tmp_path / "store.db") as store:
        authority = Authority(store)
        confirm_id = granted(authority).confirm_id
        assert authority.execute(confirm_id, work(tool=lambda: "42")) == "42"
        assert authority.execute(confirm_id, work(tool=lambda: "not called")) == "42"

    with edited(tmp_path / "store.db") as connection:
        put(connection, 2, row(connection, 2) | {"envelope": {"kept": {"value": "43"}}})
    with SqliteStore(tmp_path / "store.db") as store, pytest.raises(Tampered, match="does not match the receipt"):
        Authority(store).execute(confirm_id, work(tool=lambda: "not called"))


_OF_LIST = "WHERE run_id = 'emitter.authority.workflows' AND correlation_id"
LIST = f"UPDATE entries SET entry = ? {_OF_LIST} = 'w'"  # noqa: S608  a constant
LISTS: dict[str, Callable[[sqlite3.Connection], object]] = {
    "the first is taken out": lambda it: it.execute(f"DELETE FROM entries {_OF_LIST} = 'w'"),  # noqa: S608  likewise
    "the last is taken out": lambda it: it.execute(f"DELETE FROM entries {_OF_LIST} = 'v'"),  # noqa: S608  likewise
    "all are taken out": lambda it: it.execute(f"DELETE FROM entries {_OF_LIST} LIKE '%'"),  # noqa: S608  likewise
    "one is another": lambda it: it.execute(LIST, (json.dumps(listed("v")),)),
    "one is no name": lambda it: it.execute(LIST, (json.dumps(listed(None)),)),
}


def listed(name: str | None) -> Document:
    """Return a row of the list of workflows."""
    return {"type": "workflow", "outcome": {"workflow_id": name}, "envelope": {}}


@pytest.mark.parametrize("change", LISTS.values(), ids=LISTS)
def test_no_workflow_can_be_hidden(place: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    """What has no receipt is listed, or whoever asks is told that the list is not what was written."""
    with edited(place) as connection:
        change(connection)
    with SqliteStore(place) as store:
        authority = Authority(store)
        uses: tuple[Callable[[], object], ...] = (
            authority.workflows,
            authority.unfinished_actions,
            authority.receipts,
        )
        for use in (*uses, *uses):
            with pytest.raises(Tampered, match="the list of workflows was changed"):
                use()
        assert authority.stop("new").stop.workflow_id == "new"  # whatever else is wrong, a workflow can be stopped


@pytest.mark.parametrize("kept", [{}, {"values": "w"}], ids=repr)
def test_a_name_that_stands_for_nothing_authorizes_nothing(place: Path, kept: Document) -> None:
    """What is kept of a confirm by its id is no chain, and is looked at all the same."""
    with edited(place) as connection:
        confirm_id = row(connection, 11)["outcome"]["record"]["confirm_id"]
        entry = json.dumps({"type": "once", "outcome": kept, "envelope": {}})
        connection.execute("UPDATE entries SET entry = ? WHERE correlation_id = ?", (entry, f"confirm:{confirm_id}"))
    with SqliteStore(place) as store, pytest.raises(Tampered) as found:
        Authority(store).execute(confirm_id, work(tool=pytest.fail))
    assert found.value.place == f"confirm:{confirm_id}"


EVENTS = ("{", "[]", "null", "5", '"x"', "{}", '{"sequence":"0"}', '{"sequence":true}', "[" * 100_000)


@pytest.mark.parametrize("run", ["emitter.authority.workflows", "emitter.authority:w"])
@pytest.mark.parametrize("event", EVENTS, ids=range(len(EVENTS)))
def test_a_log_that_is_none_is_reported(place: Path, run: str, event: str) -> None:
    """Whatever somebody put in an event's place."""
    with edited(place) as connection:
        connection.execute("UPDATE events SET document = ? WHERE run_id = ?", (event, run))
    with SqliteStore(place) as store:
        authority = Authority(store)
        with pytest.raises(Tampered, match="the store's log"):
            authority.receipts()


def test_a_log_whose_events_have_one_number_comes_to_an_end(place: Path) -> None:
    """Each of them is read once."""
    with edited(place) as connection:
        event = '{"sequence":0}'
        connection.execute("UPDATE events SET document = ? WHERE run_id = 'emitter.authority.workflows'", (event,))
    with SqliteStore(place) as store:
        assert Authority(store).workflows() == ("w", "v")
