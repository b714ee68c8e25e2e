"""`emitter receipts`: chains are listed, exported and verified, and nothing that stands in them drives a terminal."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from emitter.authority import Authority, StopRequest
from emitter.authority.signing import load_key, make_signer, public_jwk
from emitter.stores import SqliteStore
from tests.authority.execution.making import act, approved, asked, granted, work
from tests.authority.lived import TYPES, chain
from tests.cli.ledgers import KEYS, change, found, furnish
from tests.decisions.ledger.asking import Hand

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

ENDS = ("success", "failure", "unfinished")
EVIL = 'evil\x1b[2J\nholds: "w", \u202e0 lines'


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


def test_list_tells_what_was_done(run: Run) -> None:
    """Each workflow's receipts, and the act that nobody saw end."""
    ran = run(["receipts", "list", "store.db"])
    rows = [each.split() for each in ran.out.splitlines()]

    assert (ran.status, ran.err) == (0, "")
    assert [each[0] for each in rows] == ['"w":', *ENDS, '"v":', *ENDS]
    assert '"send" on "mom", error "LookupError" (receipt "receipt_' in ran.out


def test_list_as_json_is_the_records(run: Run) -> None:
    """To the letter, for programs."""
    listed = found(run(["receipts", "list", "store.db", "--workflow", "w", "--json"]))["workflows"]

    assert [each["workflow_id"] for each in listed] == ["w"]
    assert [each["result"] for each in listed[0]["receipts"]] == ["success", "failure"]
    assert [each["intent_id"] for each in listed[0]["unfinished"]] == ["killed"]


def test_list_of_what_is_unfinished(run: Run) -> None:
    """And of nothing else; a store without workflows has none."""
    listed = found(run(["receipts", "list", "store.db", "--unfinished", "--json"]))["workflows"]

    assert [(each["receipts"], len(each["unfinished"])) for each in listed] == [([], 1), ([], 1)]
    assert "receipts" not in run(["receipts", "list", "store.db", "--unfinished"]).out
    assert run(["receipts", "list", "bare.db"]) == run(["receipts", "list", "bare.db", "--unfinished"])
    assert run(["receipts", "list", "bare.db"]).out == ""


def test_what_others_wrote_drives_no_terminal(run: Run) -> None:
    """Workflow, target, step, error and reason are somebody else's: no control, no line of their own."""
    with SqliteStore("evil.db") as store:
        authority = Authority(store)
        confirm_id = granted(authority, scope={"workflow_id": EVIL}).confirm_id
        deed = {"workflow_id": EVIL, "action": EVIL, "target": EVIL, "step_id": EVIL}
        authority.execute(confirm_id, work(act(EVIL, **deed)))
        authority.stop(StopRequest(EVIL, reason=EVIL))
    listed, verified = run(["receipts", "list", "evil.db"]), run(["receipts", "verify", "evil.db"])
    changed_too = run(["receipts", "verify", "evil.db", "--head", f"sha256:{'0' * 64}"])

    for ran, lines in ((listed, 3), (verified, 6), (changed_too, 1)):
        assert len(ran.out.splitlines()) == lines
        assert not {"\x1b", "\u202e"} & {*ran.out, *ran.err}
    assert verified.out.startswith('holds: "evil\ufffd[2J holds: \\"w\\", \ufffd0 lines", 4 lines (1 CONFIRM, ')
    assert changed_too.out.startswith('does not hold: "evil')


def test_export_and_verify_go_together(run: Run, place: Path) -> None:
    """The chain goes to standard output or into a new file; its head is reported beside."""
    exported = run(["receipts", "export", "store.db", "w"])
    into = run(["receipts", "export", "store.db", "w", "-o", "out.jsonl"])
    head = json.loads(exported.out.splitlines()[-1])["hash"]

    assert (exported.status, into.status, into.out) == (0, 0, "")
    assert (place / "out.jsonl").read_text("utf-8") == exported.out
    assert exported.err == into.err == f"emitter: {len(TYPES)} lines; the head is {head}\n"
    assert run(["receipts", "verify", "out.jsonl", "--key", "public.jwk", "--head", head]).status == 0
    assert run(["receipts", "verify", "-"], exported.out.encode()).status == 0


def test_export_writes_over_nothing(run: Run, place: Path) -> None:
    """Not even over the store itself."""
    before = (place / "store.db").read_bytes()
    ran = run(["receipts", "export", "store.db", "w", "-o", "store.db"])

    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "emitter: store.db cannot be written: File exists. Pass the name of a new file.\n"
    assert (place / "store.db").read_bytes() == before


def test_export_of_what_does_not_hold_is_evidence(run: Run) -> None:
    """It is written as it stands, and the status says that something is amiss."""
    change("UPDATE entries SET entry = replace(entry, '\"mom\"', '\"ceo\"') WHERE run_id = ?", "emitter.authority:w")
    ran = run(["receipts", "export", "store.db", "w"])

    assert (ran.status, ran.out.count("\n")) == (1, len(TYPES))
    assert ran.err == "emitter: line 1 was changed: its hash does not match.\n"


def test_verify_tells_what_a_chain_comes_to(run: Run) -> None:
    """In words, and as JSON."""
    ran = run(["receipts", "verify", "chain.jsonl"])
    (reported,) = found(run(["receipts", "verify", "chain.jsonl", "--json"]))["chains"]

    assert ran.out.startswith(f'holds: "w", {len(TYPES)} lines (4 CONFIRM, 1 EXPIRE, 3 INTENT, 2 RECEIPT, ')
    assert "acts 1, budget_usd 742 of 800, max_side_effects 1 of 3, revoked\n" in ran.out
    assert "  end         not checked: lines may be missing" in ran.out
    assert "  signatures  none\n" in ran.out
    assert (reported["holds"], reported["lines"], reported["signed"], reported["head"]) == (
        True,
        13,
        0,
        chain()[-1]["hash"],
    )
    assert [each["ended"] for each in reported["confirms"]] == ["revoked", "stopped", "expired", None]
    assert [each["intent_id"] for each in reported["unfinished"]] == ["killed"]


HEAD = chain()[-1]["hash"]
VERIFIED: dict[str, tuple[list[str], int, str]] = {
    "a chain": (["chain.jsonl"], 0, "holds"),
    "a chain of its workflow": (["chain.jsonl", "--workflow", "w"], 0, "holds"),
    "a chain with its head": (["chain.jsonl", "--head", HEAD], 0, "the chain contains the hash that --head names"),
    "a signed chain": (["signed.jsonl"], 0, "13, not checked: pass a public key with --key"),
    "a signed chain with its key": (["signed.jsonl", *KEYS], 0, "valid on every line"),
    "a store": (["store.db"], 0, 'holds: "v"'),
    "a store without its head": (["store.db"], 0, "end         checked against the store's own log;"),
    "a store with its key": (["store.db", *KEYS], 0, "valid on every line"),
    "a workflow of a store": (["store.db", "--workflow", "w"], 0, 'holds: "w"'),
    "an edited chain": (["edited.jsonl"], 1, "does not hold: line 1 was changed"),
    "a chain of another workflow": (["chain.jsonl", "--workflow", "v"], 1, "belongs to another workflow's chain"),
    "a chain that was cut off": (["cut.jsonl", "--head", HEAD], 1, "its end was cut off"),
    "a chain that was forged": (["forged.jsonl"], 1, "This workflow has no confirm with this id"),
    "a chain without signatures": (["chain.jsonl", *KEYS], 1, "line 0 is not signed"),
    "another head of a store": (["store.db", "--workflow", "w", "--head", HEAD], 1, "it is another chain"),
    "an empty file": (["empty"], 1, "has no line"),
    "no chain": (["text"], 1, "line 0 is not a line of a chain"),
}


@pytest.mark.parametrize(("arguments", "status", "reported"), VERIFIED.values(), ids=VERIFIED.keys())
def test_verify_says_whether_it_holds(run: Run, arguments: list[str], status: int, reported: str) -> None:
    """Status 0 where all holds, 1 where something does not: in words and as JSON alike."""
    ran, as_json = run(["receipts", "verify", *arguments]), run(["receipts", "verify", *arguments, "--json"])

    assert (ran.status, reported in ran.out, ran.err) == (status, True, ""), ran
    assert as_json.status == status
    assert found(as_json)["holds"] is (status == 0)


def test_clocks_may_be_allowed_to_differ(run: Run) -> None:
    """An approval of a time that the chain has not come to holds where the authority took it."""
    clock = Hand()
    with SqliteStore("skewed.db") as store:
        authority = Authority(store, clock=clock, max_skew=5)
        consent = approved(authority, asked())
        clock.now -= 4
        authority.confirm(consent, asked())

    assert run(["receipts", "verify", "skewed.db"]).status == 1
    assert run(["receipts", "verify", "skewed.db", "--max-skew", "5"]).status == 0
    assert run(["receipts", "export", "skewed.db", "w"]).status == 0


def test_a_key_signs_and_is_checked(run: Run, place: Path) -> None:
    """The private part stays in a file of its owner's; the public one is printed, and never the other."""
    made = run(["receipts", "key", "private.jwk"])
    (place / "made.jwk").write_text(made.out, "utf-8")
    secret = json.loads((place / "private.jwk").read_text("utf-8"))["d"]
    with SqliteStore("signed.db") as store:
        Authority(store, sign=make_signer(load_key("private.jwk"))).stop("w")

    assert (made.status, made.err, secret in made.out) == (0, "", False)
    assert (place / "private.jwk").stat().st_mode & 0o777 == 0o600
    assert json.loads(made.out) == public_jwk(load_key("private.jwk"))
    assert run(["receipts", "verify", "signed.db", "--key", "made.jwk"]).status == 0
    assert run(["receipts", "verify", "signed.db", *KEYS]).status == 1
    private = (place / "private.jwk").read_bytes()
    assert run(["receipts", "key", "private.jwk"]) == made
    assert (place / "private.jwk").read_bytes() == private
    assert run(["receipts", "verify", "signed.db", *KEYS, "--key", "made.jwk"]).status == 0
