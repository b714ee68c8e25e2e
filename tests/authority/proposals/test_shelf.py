"""Proposals are kept as they were put, served as they were kept, and known for edited ones if they are."""

from __future__ import annotations

import base64
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority.proposals import Display, ProposalStore, new_proposal_uri, propose, r3_s256, read_proposal
from emitter.errors import InputError, Tampered
from emitter.stores import Entry, MemoryStore, NewEntry, SqliteStore
from tests.stores.making import edited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

URI = "https://api.example/r3/1"
MOM = propose("send_email", {"to": "mom@example.com", "body": "é\u2028\U0001f44d" * 5000, "file": b"\0"}, uri=URI)
CEO = propose("send_email", {"to": "ceo@example.com"}, uri=URI)


@pytest.fixture(params=["memory", "sqlite"])
def again(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """Return what opens a store on what is there, as after a restart."""
    memory = MemoryStore()
    with ExitStack() as closing:

        def opened() -> Any:
            if request.param == "memory":
                return memory
            return closing.enter_context(SqliteStore(tmp_path / "proposals.db", timeout=20))

        yield opened


def test_what_is_put_is_served_verbatim(again: Callable[[], Any]) -> None:
    """The bytes come back as they are, under the hash and under the URI, after a restart too."""
    assert ProposalStore(again()).put(MOM) is MOM
    shelf = ProposalStore(again())
    assert shelf.get(MOM.s256) == MOM
    assert shelf.serve(MOM.s256) == shelf.serve(URI) == MOM.document


def test_bytes_of_another_s_making_come_back(again: Callable[[], Any]) -> None:
    """A document is kept as it was spelled, with blanks and escapes."""
    document = (
        b' {"vocabulary":"urn:x:y",\r\n"operations":[{"\\u0061":1.0}], "parameters":{"x":"\\ud83d\\ude00\\u0000"}}\n'
    )
    shelf = ProposalStore(again())
    shelf.put(read_proposal(document, r3_s256(document)))
    assert shelf.serve(r3_s256(document)) == document


def test_what_was_never_put_is_not_there(again: Callable[[], Any]) -> None:
    """Nothing is served at a URI or for a hash that nobody knows."""
    shelf = ProposalStore(again())
    shelf.put(MOM)
    assert shelf.get(CEO.s256) is None
    assert [shelf.serve(each) for each in (CEO.s256, "https://api.example/r3/2", "", f"uri:{URI}")] == [None] * 4
    assert shelf.get(URI) is None


def test_a_proposal_can_be_put_again(again: Callable[[], Any]) -> None:
    """The same bytes under the same URI, or under others, are one proposal; it is known as it was first put."""
    shelf = ProposalStore(again())
    other = read_proposal(MOM.document, MOM.s256, uri="urn:uuid:2")
    nowhere = read_proposal(MOM.document, MOM.s256)
    assert [shelf.put(each) for each in (MOM, MOM, other, nowhere)] == [MOM, MOM, other, nowhere]
    assert shelf.get(MOM.s256) == MOM
    assert shelf.serve("urn:uuid:2") == MOM.document


def test_a_uri_keeps_its_bytes(again: Callable[[], Any]) -> None:
    """What a person server fetched at a URI is what is served there for ever."""
    shelf = ProposalStore(again())
    shelf.put(MOM)
    with pytest.raises(InputError):
        shelf.put(CEO)
    assert shelf.serve(URI) == MOM.document


def test_of_many_at_once_one_has_the_uri(again: Callable[[], Any]) -> None:
    """Threads that put other bytes at one URI: one of them does, and every other is reported."""
    store = again()
    proposals = [propose("f", {"n": number}, uri=URI) for number in range(8)]

    def put(proposal: Any) -> Any:
        try:
            return ProposalStore(store).put(proposal)
        except InputError:
            return None

    with ThreadPoolExecutor(8) as pool:
        kept = [each for each in pool.map(put, proposals) if each is not None]
    assert len(kept) == 1
    assert ProposalStore(store).serve(URI) == kept[0].document


EDITS: dict[str, tuple[str, str]] = {
    "another argument": ("mom@example.com", "ceo@example.com"),
    "another display": ("Call send", "Trust send"),
    "a blank": ('{\\"vocabulary', '{ \\"vocabulary'),
    "no text": ('"document":"', '"document":5,"x":"'),
    "half a character": ('"document":"', '"document":"\\ud800'),
    "no document": ('"document":', '"documents":'),
    "another kind of entry": ('"emitter.proposal"', '"emitter.other"'),
    "no URI": (f'"uri":"{URI}"', '"uri":null'),
    "a URI that is none": (f'"uri":"{URI}"', '"uri":"none at all"'),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_what_was_edited_in_the_store_is_found(edit: tuple[str, str], tmp_path: Path) -> None:
    """Whoever writes into the database changes no proposal: it is neither had, nor served, nor put again."""
    was, became = edit
    with SqliteStore(tmp_path / "proposals.db", timeout=20) as store:
        shelf = ProposalStore(store)
        shelf.put(MOM)
        _edit(tmp_path, was, became)
        for each in (shelf.get, shelf.serve):
            with pytest.raises(Tampered) as found:
                each(MOM.s256)
            assert found.value.place == MOM.s256
            assert "ceo" not in str(found.value)
        with pytest.raises(Tampered):
            shelf.put(MOM)


def _edit(folder: Path, was: str, became: str) -> None:
    with edited(folder / "proposals.db") as database:
        (table,) = (
            name
            for (name,) in database.execute("select name from sqlite_master where type = 'table'")
            if "entry" in [row[1] for row in database.execute(f"pragma table_info({name})")]
        )
        before = database.execute(f"select entry from {table} where entry like '%emitter.proposal\"%'").fetchone()[0]  # noqa: S608
        assert was in before
        database.execute(f"update {table} set entry = ? where entry = ?", (before.replace(was, became), before))  # noqa: S608


@pytest.mark.parametrize(
    "entry", [Entry("emitter.other", {"s256": MOM.s256}, {}), Entry("emitter.proposal.uri", {}, {})]
)
def test_an_address_that_is_none_is_found(entry: Entry) -> None:
    """What stands at a URI and is no hash serves nothing."""
    store = MemoryStore()
    store.get_or_create("emitter.proposals", f"uri:{URI}", lambda: NewEntry(entry))
    with pytest.raises(Tampered):
        ProposalStore(store).serve(URI)
    with pytest.raises(Tampered):
        ProposalStore(store).put(MOM)


def test_nothing_that_is_kept_back_is_in_the_store(tmp_path: Path) -> None:
    """The store holds the document, and no parameter beside it."""
    with SqliteStore(tmp_path / "proposals.db", timeout=20) as store:
        ProposalStore(store).put(propose("f", {"pin": "hunter2"}, digested=["pin"], display=Display("Pay")))
    kept = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert b"Pay" in kept
    assert not any(each in kept for each in (b"hunter2", base64.b64encode(b"hunter2")))


def test_a_uri_is_fresh() -> None:
    """Each is another, and has the prefix that was asked for."""
    made = {new_proposal_uri() for _ in range(100)} | {new_proposal_uri("https://api.example/r3/") for _ in range(100)}
    assert len(made) == 200
    assert all(re.fullmatch(r"(urn:uuid:|https://api\.example/r3/)[0-9a-f-]{36}", each) for each in made)
    assert propose("f", {}, uri=new_proposal_uri()).uri.startswith("urn:uuid:")


@pytest.mark.parametrize("prefix", ["", "mail.example", "https://mail.example", "/r3/"])
def test_an_id_runs_together_with_no_prefix(prefix: str) -> None:
    """Nor is a URI what has no scheme."""
    with pytest.raises(InputError, match="prefix"):
        new_proposal_uri(prefix)
