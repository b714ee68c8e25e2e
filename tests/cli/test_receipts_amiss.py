"""`emitter receipts` on what is none of its: a spoiled store, bad usage, keys that are none; never a traceback."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from emitter.cli import main, receipts
from tests.cli.ledgers import KEYS, change, furnish

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all that there is to try."""
    folder = tmp_path_factory.mktemp("furnished")
    furnish(folder)
    return folder


@pytest.fixture(autouse=True)
def place(furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of it."""
    shutil.copytree(furnished, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_id(workflow_id: str) -> str:
    """Return under which run a store keeps a workflow's chain."""
    return f"emitter.authority:{workflow_id}"


def drop(number: str) -> None:
    """Take a line out of the store."""
    change("DELETE FROM entries WHERE run_id = ? AND correlation_id = ?", run_id("w"), number)


def spoil(entry: str) -> None:
    """Let something else stand for a line."""
    change("UPDATE entries SET entry = ? WHERE run_id = ? AND correlation_id = '3'", entry, run_id("w"))


AMISS: dict[str, tuple[Callable[[], None], str]] = {
    "a middle line dropped": (lambda: drop("3"), "its end was cut off"),
    "the last line dropped": (lambda: drop("12"), "its end was cut off"),
    "the first line dropped": (lambda: drop("0"), "has no line"),
    "an entry that is no JSON": (lambda: spoil("{"), "line 3 was not written by this library"),
    "an entry that is no object": (lambda: spoil("[]"), "line 3 was not written by this library"),
    "an entry without a line": (
        lambda: spoil('{"type":1,"outcome":5,"envelope":{}}'),
        "line 3 was not written by this",
    ),
    "an entry of another kind": (lambda: spoil('{"type":"x","outcome":{},"envelope":{}}'), "line 3 is not a line of"),
    "half a character": (
        lambda: spoil('{"type":"x","outcome":{"a":"\\ud800"},"envelope":{}}'),
        "line 3 is not a line of a chain",
    ),
    "a log that is no JSON": (
        lambda: change("UPDATE events SET document = '{' WHERE run_id = ?", run_id("w")),
        "the store's log was not written by this library",
    ),
}


@pytest.mark.parametrize(("spoiled", "reported"), AMISS.values(), ids=AMISS.keys())
def test_a_spoiled_store_is_reported(run: Run, spoiled: Callable[[], None], reported: str) -> None:
    """Never by a traceback; and what holds beside it is told to hold."""
    spoiled()
    ran = run(["receipts", "verify", "store.db", *KEYS])

    assert ran.status == 1
    assert 'does not hold: "w": ' in ran.out
    assert reported in ran.out
    assert 'holds: "v"' in ran.out
    assert "Traceback" not in ran.err


def test_a_store_without_records_holds(run: Run) -> None:
    """Nothing was done yet, so that a nightly check is content."""
    ran = run(["receipts", "verify", "bare.db"])

    assert (ran.status, ran.out) == (0, "")
    assert "nothing to verify" in ran.err


BAD: dict[str, tuple[list[str], str]] = {
    "list, absent": (["list", "absent"], "absent is not a file. Pass a store's file, or postgresql"),
    "list, folder": (["list", "folder"], "folder is not a file."),
    "list, empty file": (["list", "empty"], "empty is empty, not a store."),
    "list, empty database": (["list", "blank.db"], "blank.db is empty, not a store."),
    "list, text": (["list", "text"], "cannot be opened: file is not a database"),
    "list, another's database": (["list", "other.db"], "is the database of another program"),
    "list, no such workflow": (["list", "store.db", "--workflow", "x"], "The store holds no such workflow."),
    "list, no name": (["list", ""], "no file can be named"),
    "export, absent": (["export", "absent", "w"], "absent is not a file."),
    "export, no such workflow": (["export", "store.db", "x"], "The store holds no such workflow."),
    "export, into no folder": (["export", "store.db", "w", "-o", "absent/o"], "absent/o cannot be written: No such"),
    "verify, absent": (["verify", "absent"], "absent cannot be read: No such file"),
    "verify, folder": (["verify", "folder"], "folder cannot be read: Is a directory"),
    "verify, binary": (["verify", "binary"], "binary is not UTF-8 text"),
    "verify, another's database": (["verify", "other.db"], "is the database of another program"),
    "verify, empty database": (["verify", "blank.db"], "blank.db is empty"),
    "export, one of several": (["export", "store.db"], "The store holds 2 workflows. Name one"),
    "verify, no such workflow": (["verify", "store.db", "--workflow", "x"], "The store holds no such workflow"),
    "verify, a head of two": (
        ["verify", "store.db", "--head", "x"],
        "--head needs one chain, but the store has sever",
    ),
    "verify, absent key": (["verify", "chain.jsonl", "--key", "absent"], "absent cannot be read: No such file"),
    "verify, no key": (["verify", "chain.jsonl", "--key", "text"], "text does not contain an Ed25519 signing key"),
    "verify, one key of two": (
        ["verify", "chain.jsonl", *KEYS, "--key", "binary"],
        "binary does not contain an Ed25519 signing key",
    ),
    "key, there already": (["key", "text"], "text does not contain an Ed25519 signing key."),
    "key, a public one": (["key", "public.jwk"], "public.jwk has a public key only."),
    "key, no folder": (["key", "absent/key"], "absent/key cannot be written: No such file"),
}


@pytest.mark.parametrize(("arguments", "reported"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_sentence(run: Run, place: Path, arguments: list[str], reported: str) -> None:
    """Status 2, nothing on standard output, one line of standard error; and no file is made or changed."""
    before = contents(place)
    ran = run(["receipts", *arguments])

    assert (ran.status, ran.out) == (2, "")
    assert reported in ran.err
    assert ran.err.startswith("emitter: ")
    assert ran.err.count("\n") == 1
    assert contents(place) == before


def contents(folder: Path) -> dict[str, bytes]:
    """Return what is in a folder, but for the locks and the log that a store has beside it."""
    files = [each for each in folder.iterdir() if each.is_file() and ".db-" not in each.name]
    return {each.name: each.read_bytes() for each in files}


@pytest.mark.parametrize(
    "arguments",
    [[], ["bogus"], ["list"], ["export"], ["verify"], ["verify", "x", "--max-skew", "-1"], ["key"]],
    ids=" ".join,
)
def test_bad_usage_shows_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """As of every command: status 2, on standard error."""
    with pytest.raises(SystemExit) as ended:
        main(["receipts", *arguments])
    reported = capsys.readouterr()

    assert (ended.value.code, reported.out) == (2, "")
    assert reported.err.startswith("usage: emitter receipts")


@pytest.mark.parametrize("name", ["list", "export", "verify", "key"])
def test_every_subcommand_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In whole sentences, with something about each argument and the status."""
    with pytest.raises(SystemExit) as ended:
        main(["receipts", name, "--help"])
    reported = capsys.readouterr().out
    parser = argparse.ArgumentParser()
    receipts.add_receipts_arguments(parser)
    (subcommands,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))

    assert ended.value.code == 0
    assert subcommands.choices[name].description.strip() in reported
    assert "Exit status: 0 every chain holds, 1 a chain does not hold, 2 bad usage." in reported
    assert [each.dest for each in subcommands.choices[name]._actions if not each.help] == []


def test_a_chain_that_does_not_hold_hides_no_other(run: Run) -> None:
    """What holds is listed, what does not is named, and the status is 1."""
    sound = run(["receipts", "list", "store.db", "--workflow", "v"])
    spoil("{")
    ran = run(["receipts", "list", "store.db"])
    reason = "a line of workflow w was not written by this library."

    assert (sound.status, ran.status, ran.err) == (0, 1, "")
    assert sorted(ran.out.splitlines()) == sorted([*sound.out.splitlines(), f'does not hold: "w": {reason}'])
    assert run(["receipts", "list", "store.db", "--workflow", "w"]).status == 1

    reported = json.loads(run(["receipts", "list", "store.db", "--json"]).out)
    assert [each["workflow_id"] for each in reported["workflows"]] == ["v"]
    assert [(each["workflow_id"], each["holds"], each["reason"]) for each in reported["broken"]] == [
        ("w", False, reason)
    ]


def kept(text: str) -> None:
    """Let something else be retained beside each line that has something, or beside all."""
    change("UPDATE entries SET entry = json_set(entry, '$.envelope', json(?)) WHERE run_id = ?", text, run_id("w"))


KEPT: dict[str, Callable[[], None]] = {
    "another result": lambda: kept('{"kept":{"value":"forged"}}'),
    "a result that has no digest": lambda: kept('{"kept":{"value":1e400}}'),
    "a result that is none": lambda: kept('{"kept":5}'),
    "no result": lambda: kept("{}"),
}


@pytest.mark.parametrize("edit", KEPT.values(), ids=KEPT)
def test_a_retained_result_is_held_to_its_receipt(run: Run, edit: Callable[[], None]) -> None:
    """Else the same call would be answered by what somebody put in its place."""
    assert run(["receipts", "verify", "store.db"]).status == 0
    edit()
    ran = run(["receipts", "verify", "store.db"])
    assert ran.status == 1
    assert "the retained result does not match the receipt" in ran.out
    assert 'holds: "v"' in ran.out
    assert run(["receipts", "verify", "store.db", "--workflow", "v"]).status == 0


def test_without_the_extra_it_is_said_which() -> None:
    """Only what has to do with keys needs it."""
    given = [["key", "new"], ["verify", "chain.jsonl", *KEYS], ["verify", "chain.jsonl"]]
    code = (
        "import sys; sys.modules['joserfc'] = None\nfrom emitter.cli import main\n"
        f"sys.exit(''.join(str(main(['receipts', *each])) for each in {given!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    reported = "emitter: Signing needs joserfc. Run: pip install 'llm-emitter[signing]'\n"
    assert done.stderr == f"{reported}{reported}220\n"
