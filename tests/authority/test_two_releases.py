"""Two releases over one store: this one, and the next one, whose records have one member more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.authority.audit import export_lines, read_lines, report_chain
from emitter.authority.signing import load_key, make_signer, make_verifier, new_key, public_jwk, save_key
from emitter.decisions import select_option
from emitter.decisions.ledger import Ledger
from emitter.errors import ConfirmRevoked, NewerRecord, StoreAltered, Tampered, WorkflowStopped
from emitter.host.outcomes import load_envelope
from emitter.redaction import NO_SECRETS
from emitter.stores import Entry, MemoryStore, NewEntry, SqliteStore
from emitter.stores.protocol import RECORD_VERSION, parse_entry, serialize_entry
from tests.authority.execution.making import act, granted, work
from tests.authority.lived import hashed
from tests.decisions.ledger.asking import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SOURCE = Path(__file__).parents[2] / "src"
_LATER = {
    "LINE_VERSION: Final = 1": "LINE_VERSION: Final = 2",
    "    intent_ref: RecordName\n": "    intent_ref: RecordName\n    colour: RecordName | None = 'green'\n",
    "_ref: RecordName\n    capability": "_ref: RecordName\n    colour: RecordName | None = 'green'\n    capability",
}
"""What the next release changes in the records: the version, and a member of receipts and of intents."""
_PROGRAM = """
import json, sys
from emitter.authority import Authority
from emitter.authority.audit import report_chain
from emitter.authority.signing import load_key, make_signer, make_verifier, public_jwk
from emitter.stores import SqliteStore
from tests.authority.execution.making import granted, work

place, key, what = sys.argv[1:]
key = load_key(key)
check = make_verifier(public_jwk(key))
with SqliteStore(place) as store:
    authority = Authority(store, sign=make_signer(key), check=check)
    if what == "act":
        first = granted(authority)
        assert authority.execute(first.confirm_id, work(tool=lambda: "42")) == "42"
        print(json.dumps([first.confirm_id, granted(authority).confirm_id]))
    else:
        report = report_chain(authority.lines("w"), check)
        print(json.dumps([dict(report.counts), report.newer_version, len(authority.stops("w"))]))
"""


class Later:
    """The next release, in processes of its own."""

    def __init__(self, folder: Path) -> None:
        self.source, self.key = folder / "src", folder / "key.jwk"
        shutil.copytree(SOURCE, self.source, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("prompts", "providers"):
            (folder / name).symlink_to(SOURCE.parent / name)
        records = self.source / "emitter" / "authority" / "records.py"
        text = records.read_text()
        for old, new in _LATER.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        records.write_text(text)
        save_key(new_key(), self.key)

    def run(self, place: Path, what: str) -> Any:
        """Return what a process prints."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(self.source), str(SOURCE.parent)])}
        command = [sys.executable, "-c", _PROGRAM, str(place), str(self.key), what]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Later:
    """Return the next release."""
    return Later(tmp_path_factory.mktemp("later"))


def test_this_release_verifies_stops_and_revokes_what_the_next_one_wrote(later: Later, tmp_path: Path) -> None:
    """And begins nothing there; the next one goes on from what this one wrote."""
    place, key = tmp_path / "store.db", load_key(later.key)
    check = make_verifier(public_jwk(key))
    with SqliteStore(place) as store:
        first = granted(authority := Authority(store, sign=make_signer(key), check=check))
        assert authority.execute(first.confirm_id, work(act("first"), lambda: "41")) == "41"
    used, unused = later.run(place, "act")
    with SqliteStore(place) as store:
        authority = Authority(store, sign=make_signer(key), check=check)
        lines = list(authority.lines("w"))
        assert lines[-2]["record"]["colour"] == "green"
        for source in (lines, read_lines(b"".join(export_lines(lines)))):
            assert report_chain(source, check).newer_version == 2
        assert [each.authorization_ref for each in authority.receipts("w")] == [first.confirm_id, used]
        begins: list[Callable[[], object]] = [
            lambda: authority.execute(unused, work(act("second"), pytest.fail)),
            lambda: granted(authority),
            lambda: authority.guard(print, ask=pytest.fail, workflow_id="w")("x"),
        ]
        for begin in begins:
            with pytest.raises(NewerRecord, match="by a newer release, version 2; this release knows 1"):
                begin()
        authority.revoke(unused, reason="Enough.")
        with pytest.raises(ConfirmRevoked):
            authority.revoke(unused)
        authority.stop("w")
        with pytest.raises(WorkflowStopped):
            begins[-1]()
        assert report_chain(authority.lines("w"), check).counts["STOP"] == 1
    counts, newer, stops = later.run(place, "look")
    assert (counts["REVOKE"], counts["STOP"], newer, stops) == (1, 1, 0, 1)


@pytest.mark.parametrize("change", ["the record", "the new member", "the version", "the hash"])
def test_a_line_of_the_next_release_that_was_changed_is_found(later: Later, tmp_path: Path, change: str) -> None:
    """The hash covers what is stored, and not what this release knows of it."""
    place = tmp_path / "store.db"
    later.run(place, "act")
    with SqliteStore(place) as store:
        lines: list[Any] = list(Authority(store).lines("w"))
    line = lines[2]
    match change:
        case "the record":
            line["record"] = {**line["record"], "target": "ceo"}
        case "the new member":
            line["record"] = {**line["record"], "colour": "red"}
        case "the version":
            line["version"] = 3
        case _:
            line["hash"] = lines[1]["hash"]
    with pytest.raises(Tampered, match="its hash does not match"):
        report_chain(lines)


@pytest.mark.parametrize("record", [{"type": "PARDON", "workflow_id": "w"}, {"type": "RECEIPT"}, {}], ids=str)
def test_a_record_that_this_release_does_not_know_keeps_its_place(record: dict[str, Any]) -> None:
    """The chain holds around it, and can be stopped."""
    store = MemoryStore()
    authority = Authority(store)
    authority.stop("w")
    (first,) = authority.lines("w")
    line = hashed({"version": 7, "seq": 1, "at": first["at"], "prev": first["hash"], "record": record, "more": [1.5]})
    store.get_or_create("emitter.authority:w", "1", lambda: NewEntry(Entry("?", line, {}, 9)))
    for reader in (authority, Authority(store)):
        reader.stop("w")
    report = report_chain(authority.lines("w"))
    assert (report.lines, report.newer_version, report.counts["STOP"]) == (4, 7, 3)


@pytest.fixture(params=["memory", "sqlite"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Return a store."""
    if request.param == "memory":
        yield MemoryStore()
        return
    with SqliteStore(tmp_path / "entries.db") as store:
        yield store


@pytest.mark.parametrize("version", [RECORD_VERSION, 2, 30])
def test_an_entry_keeps_its_version(kept: Any, version: int) -> None:
    """Found and scanned."""
    entry = Entry("emitter.note", {"a": 1}, {}, version)
    assert kept.get_or_create("run", "c", lambda: NewEntry(entry)).entry == entry
    assert kept.find("run", "c") == kept.entries("run")[0].entry == entry


@pytest.mark.parametrize("version", [0, -1, "1", None, 1.0, True])
def test_a_version_that_is_no_number_was_not_written_by_emitter(version: Any) -> None:
    """It is no later release's."""
    members = json.loads(serialize_entry(Entry("emitter.note", {"a": 1}, {})))
    with pytest.raises(StoreAltered):
        parse_entry(json.dumps({**members, "version": version}))


def test_a_decision_of_the_next_release_is_named_and_the_others_stay() -> None:
    """It is neither called altered nor answered."""
    store = MemoryStore()
    ledger = Ledger(store)
    opened = [ledger.open(moment(f"Number {each}?"), decision_id=f"d{each}") for each in range(2)]
    key = ("emitter.ledger", f"opened:{opened[0].reference}")
    store._entries[key] = store._entries[key].replace('"version":1', '"version":2')
    message = "A record of the ledger was written by a newer release, version 2; this release knows 1"
    with pytest.warns(RuntimeWarning, match=message):
        assert Ledger(store).pending() == (opened[1],)
    uses: list[Callable[[str], object]] = [
        ledger.find,
        lambda name: ledger.resolve(name, select_option(opened[0].moment, 0)),
        ledger.withdraw,
    ]
    for use in uses:
        with pytest.raises(NewerRecord, match=message) as raised:
            use("d0")
        assert not isinstance(raised.value, Tampered)


def test_an_envelope_of_the_next_release_is_named() -> None:
    """A host does not read it, and does not ask a model again."""
    with pytest.raises(NewerRecord, match="An accepted envelope was written by a newer release, version 2"):
        load_envelope(Entry("vendor.acme.note", {}, {"type": "vendor.acme.note"}, 2), NO_SECRETS)
