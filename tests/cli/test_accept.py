"""`emitter accept`: what a host makes of envelopes in files, and one sentence for whatever is no envelope or option."""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.cli import host
from emitter.errors import EmitterError
from emitter.stores import SqliteStore
from emitter.telemetry.sinks import to_jsonl
from tests.launching import launch

if TYPE_CHECKING:
    from tests.cli.conftest import Ran, Run

NOTE, SECRET = "vendor.acme.note", "sk-live-0123456789"
NOTE_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
KIND = ["--kind", f"{NOTE}@2=note.schema.json"]
META = {"source": "ai-generation", "ts": "2026-05-18T10:00:00Z"}


def envelope(number: int = 0, kind: str = NOTE, **change: Any) -> dict[str, Any]:
    """Return an envelope with ids of its own."""
    payload = {"text": "hello"} if kind == NOTE else {"code": "stuck", "message": "I cannot."}
    ids = {"envelopeId": f"env-{number}", "correlationId": f"c-{number}"}
    return {"type": kind, "schemaVersion": 2 if kind == NOTE else 1, **ids, "payload": payload, "meta": META, **change}


def written(given: Any) -> bytes:
    """Return it as it stands in a file."""
    return json.dumps(given).encode()


FILES: dict[str, bytes] = {
    "note.schema.json": written(NOTE_SCHEMA),
    "note.json": written(envelope()),
    "error.json": written(envelope(1, "error")),
    "both.json": written([envelope(), envelope(1, "error")]),
    "answer.md": b"First:\n```json\n%b\n```\nthen\n~~~json\n%b\n~~~\n" % (written(envelope()), written(envelope(2))),
    "bad.json": written(envelope(3, payload={})),
    "elsewhere.json": written(envelope(9, nodeId="elsewhere")),
    "secret.json": written(envelope(4, payload={"text": f"It is {SECRET}."})),
    "secrets.json": written({"stripe": SECRET, "other": ["aaaa-1111", "bbbb-2222"]}),
    "contract.json": written({"accepts": [NOTE], "refusalMode": "discard-and-warn"}),
    "only.json": written({"accepts": ["vendor.acme.other"]}),
    "binary": b"\xff\xfe\x00\x01",
    "text": b"hello",
    "empty": b"",
    "list": b"[1]",
    "folder/keep": b"",
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of files."""
    monkeypatch.chdir(tmp_path)
    for name, data in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    return tmp_path


def outcomes(ran: Ran) -> list[dict[str, Any]]:
    """Return what was printed as JSON."""
    found: list[dict[str, Any]] = json.loads(ran.out)
    return found


# what is printed


def test_each_envelope_has_its_line(run: Run) -> None:
    """What became of it, its place, its kind and id, and what was reported it; of several files in the order given."""
    ran = run(["accept", "both.json", "answer.md", "-", *KIND], written(envelope(3)))

    assert (ran.status, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        f"accepted both.json#1 {NOTE} env-0 events: node.completed",
        "accepted both.json#2 error env-1 events: log.appended",
        f"accepted answer.md#1 {NOTE} env-0 accepted before",
        f"accepted answer.md#2 {NOTE} env-2 events: node.completed",
        f"accepted standard input {NOTE} env-3 events: node.completed",
    ]


BESIDE = {"file", "status", "cached", "envelope", "drift", "redactions", "warnings", "events", "followUp"}
"""What stands beside the members of an outcome."""


def test_json_is_one_document(run: Run) -> None:
    """The outcomes in their wire form, and all that is known of them; nothing else on standard output."""
    ran = run(["accept", "note.json", "bad.json", "note.json", *KIND, "--json"])
    first, bad, again = outcomes(ran)

    assert (ran.status, ran.err) == (1, "")
    assert [each["file"] for each in (first, bad, again)] == ["note.json", "bad.json", "note.json"]
    assert [each["status"] for each in (first, bad, again)] == ["accepted", "invalid", "accepted"]
    assert [each["cached"] for each in (first, bad, again)] == [False, False, True]
    assert first.keys() == again.keys() == BESIDE | {"envelopeId", "recordedEventIds"}
    assert again == {**first, "cached": True, "events": []}


def test_json_tells_what_was_accepted(run: Run) -> None:
    """The envelope as it was recorded, and the events that it led to, in their wire form."""
    (found,) = outcomes(run(["accept", "both.json", *KIND, "--json"]))[:1]

    assert found["file"] == "both.json#1"
    assert {name: found["envelope"][name] for name in ("type", "payload", "nodeId")} == {
        "type": NOTE,
        "payload": {"text": "hello"},
        "nodeId": "node",
    }
    assert [each["eventId"] for each in found["events"]] == found["recordedEventIds"]
    assert (found["drift"], found["redactions"], found["warnings"], found["followUp"]) == (None, 0, [], None)


def test_json_tells_what_was_refused(run: Run) -> None:
    """Where it does not hold, what was reported it, and what the model reads next; nothing of the envelope."""
    (bad,) = outcomes(run(["accept", "bad.json", *KIND, "--json"]))

    assert bad.keys() == BESIDE | {"reason", "details"}
    assert bad["details"][0]["instancePath"] == "/payload"
    assert (bad["envelope"], [each["type"] for each in bad["events"]]) == (None, ["log.appended"])
    assert '- /payload: the property "text"' in bad["followUp"]


NO_OBJECT = "invalid invalid_envelope_shape: /: one complete JSON object"
REFUSED: dict[str, tuple[list[str], str]] = {
    "unknown kind": (["note.json"], "gated unknown_envelope_kind: the host accepts clarification.request,"),
    "payload": (["bad.json", *KIND], 'invalid envelope_invalid: /payload: the property "text"'),
    "no envelope": (["list"], NO_OBJECT),
    "prose": (["text"], NO_OBJECT),
    "empty file": (["empty"], NO_OBJECT),
    "contract": (
        ["note.json", *KIND, "--contract", "vendor.acme.other"],
        "gated envelope_contract_violation: the",
    ),
    "contract in a file": (
        ["note.json", *KIND, "--contract", "only.json"],
        "gated envelope_contract_violation: the",
    ),
    "a contract of nothing": (
        ["note.json", *KIND, "--contract", ","],
        "gated envelope_contract_violation: the",
    ),
    "another node's": (["elsewhere.json", *KIND], "invalid invalid_envelope_shape: /nodeId: node: the id of the node"),
    "version": (
        ["note.json", "--kind", f"{NOTE}@1=note.schema.json"],
        "invalid unknown_schema_version: /schemaVersion",
    ),
    "drift, strictly": (
        ["note.json", "--kind", f"{NOTE}@3=note.schema.json", "--strict"],
        "invalid unknown_schema_version: /schemaVersion: version: version 3",
    ),
    "approval": (["note.json", *KIND, "--approving", "--untrusted"], "invalid untrusted_content_blocks_approval"),
}


@pytest.mark.parametrize(("arguments", "reported"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_ends_with_1(run: Run, arguments: list[str], reported: str) -> None:
    """The usage was right, the envelope was not: the reason is on standard output, without its content."""
    ran = run(["accept", *arguments])

    assert (ran.status, ran.err) == (1, "")
    assert ran.out.startswith(reported)
    assert ran.out.count("\n") == 1
    assert "hello" not in ran.out


TAKEN: dict[str, tuple[list[str], str]] = {
    "a contract": (["note.json", *KIND, "--contract", f" {NOTE} , vendor.acme.other,"], "accepted"),
    "a contract in a file": (["note.json", *KIND, "--contract", "contract.json"], "accepted"),
    "a universal kind under any contract": (["error.json", "--contract", "only.json"], "accepted"),
    "drift": (["note.json", "--kind", f"{NOTE}@3=note.schema.json"], "schema version below 3"),
    "untrusted": (["note.json", *KIND, "--untrusted"], "accepted"),
    "approving": (["note.json", *KIND, "--approving"], "accepted"),
    "another run and node": (["note.json", *KIND, "--run-id", "r", "--node-id", "n"], "accepted"),
    "optional kinds": (["error.json", "--media", "--a2ui"], "accepted"),
}


@pytest.mark.parametrize(("arguments", "reported"), TAKEN.values(), ids=TAKEN.keys())
def test_what_is_taken_ends_with_0(run: Run, arguments: list[str], reported: str) -> None:
    """With what was noted of it."""
    ran = run(["accept", *arguments])

    assert (ran.status, ran.err) == (0, "")
    assert reported in ran.out


def test_a_lenient_contract_discards(run: Run) -> None:
    """It says so in the outcome."""
    other = written(envelope(5, "vendor.acme.other", schemaVersion=1, payload={"text": "hello"}))
    kind = ["--kind", "vendor.acme.other=note.schema.json"]
    (gated,) = outcomes(run(["accept", "-", *kind, "--contract", "contract.json", "--json"], other))

    assert (gated["status"], gated["gate"]["refusalMode"]) == ("gated", "discard-and-warn")


def test_standard_input_is_a_file(run: Run) -> None:
    """A byte order mark is no content."""
    ran = run(["accept", "-", *KIND], b"\xef\xbb\xbf" + written(envelope()))

    assert (ran.status, ran.out) == (0, f"accepted {NOTE} env-0 events: node.completed\n")


def test_what_is_missing_is_warned_of(run: Run) -> None:
    """It is taken all the same."""
    bare = {name: each for name, each in envelope().items() if name != "correlationId"}
    ran = run(["accept", "-", *KIND], written({**bare, "meta": {"ts": META["ts"]}}))

    assert ran.status == 0
    assert "correlationId is absent" in ran.out
    assert "meta.source is absent" in ran.out
    assert ran.out.count("\n") == 1


def test_a_limit_is_a_turns(run: Run) -> None:
    """All files are one turn, which ends with the first envelope beyond it."""
    (Path("some.json")).write_bytes(written([envelope(number, "error") for number in range(30)]))
    ran = run(["accept", "some.json", "-"], written([envelope(number, "error") for number in range(30, 40)]))
    reported = [each.split()[:2] for each in ran.out.splitlines()]

    assert ran.status == 1
    assert reported == [
        *(["accepted", f"some.json#{number}"] for number in range(1, 31)),
        *(["accepted", "standard"],) * 2,
        ["breached", "standard"],
    ]
    assert ran.err == "emitter: the node failed; envelopes not processed: 7\n"


def test_a_text_holds_so_many_envelopes(run: Run) -> None:
    """What is no document of a text any more is refused as it stands."""
    many = written([envelope(number, "error") for number in range(300)])
    ran = run(["accept", "-", "--envelopes-per-turn", "999"], many)

    assert (ran.status, ran.err) == (1, "")
    assert [each.split()[0] for each in ran.out.splitlines()] == ["accepted"] * 256 + ["invalid"]


ASKING = {"payload": {"questions": [{"id": "q1", "question": "Which region?"}]}}
LIMITED: dict[str, tuple[str, list[dict[str, Any]], str]] = {
    "envelopes": ("--envelopes-per-turn", [envelope(0, "error"), envelope(1, "error")], "envelopesPerTurn"),
    "repairs": ("--schema-rounds", [envelope(0, "error", extra=1), envelope(1, "error", extra=1)], "shape"),
    "questions": (
        "--clarification-rounds",
        [envelope(number, "clarification.request", **ASKING) for number in range(2)],
        "clarificationRounds",
    ),
}


@pytest.mark.parametrize(("option", "given", "reported"), LIMITED.values(), ids=LIMITED.keys())
def test_a_limit_may_be_set(run: Run, option: str, given: list[dict[str, Any]], reported: str) -> None:
    """One is allowed, the second fails the node, and the third is not looked at."""
    ran = run(["accept", "-", "error.json", option, "1"], written(given))

    assert (ran.status, len(ran.out.splitlines())) == (1, 2)
    assert reported in ran.out.splitlines()[1]
    assert ran.err == "emitter: the node failed; envelopes not processed: 1\n"
    assert run(["accept", "-", "error.json", option, "2"], written(given)).err == ""


def test_the_ids_of_others_do_not_drive_a_terminal(run: Run) -> None:
    """Controls and invisible characters are shown as what they are."""
    ran = run(["accept", "-"], written(envelope(0, "error", envelopeId="\x1b[2J\nfake\u202e")))

    assert ran.out == "accepted error \ufffd[2J fake\ufffd events: log.appended\n"


# secrets


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_no_secret_is_printed(run: Run, place: Path, form: list[str]) -> None:
    """Neither in lines, nor in JSON, nor in the file of events, nor in the store."""
    odd = envelope(6, f"vendor.acme.{SECRET}", correlationId=SECRET)
    (place / "odd.json").write_bytes(written([odd, envelope(7, payload={SECRET: 1}), envelope(8, extra=SECRET)]))
    files = ["--events", "events.jsonl", "--store", "log.db"]
    ran = run(["accept", "secret.json", "odd.json", *KIND, *files, *form, "--secrets", "secrets.json"])

    assert ran.status == 1
    assert SECRET not in ran.out + ran.err
    for name in ("events.jsonl", "log.db", "log.db-wal"):
        assert not (place / name).exists() or SECRET.encode() not in (place / name).read_bytes()


def test_what_was_struck_out_is_counted(run: Run) -> None:
    """On the envelope's line."""
    ran = run(["accept", "secret.json", *KIND, "--secrets", "secrets.json"])

    assert ran.out == f"accepted {NOTE} env-4 events: node.completed secrets redacted: 1\n"


# events and stores


def test_every_event_is_appended(run: Run, place: Path) -> None:
    """One a line, of what was accepted and what was refused, after what stood there."""
    (place / "events.jsonl").write_text('{"before": true}\n')
    run(["accept", "note.json", "bad.json", "note.json", *KIND, "--events", "events.jsonl"])
    reported = [json.loads(line) for line in (place / "events.jsonl").read_text("utf-8").splitlines()]

    assert [each.get("type") for each in reported] == [None, "node.completed", "log.appended"]
    assert [each.get("sequence") for each in reported] == [None, 0, 1]
    assert {each.get("runId") for each in reported[1:]} == {"run"}


def test_a_store_remembers(run: Run, place: Path) -> None:
    """The next call knows what was accepted, in its run; a refused envelope may come again."""
    to = [*KIND, "--store", "log.db"]
    first, again, other = (
        run(["accept", "both.json", *to, *more]).out.splitlines() for more in ([], [], ["--run-id", "other"])
    )

    assert not [each for each in (*first, *other) if each.endswith("accepted before")]
    assert [each.endswith("accepted before") for each in again] == [True, True]
    with SqliteStore(place / "log.db") as store:
        assert [each["type"] for each in store.events("run")] == ["node.completed", "log.appended"]
        assert [each["type"] for each in store.events("other")] == ["node.completed", "log.appended"]


def test_a_store_knows_a_conflict(run: Run) -> None:
    """Another kind under the same correlation id."""
    run(["accept", "note.json", *KIND, "--store", "log.db"])
    ran = run(["accept", "-", "--store", "log.db"], written(envelope(0, "error")))

    assert ran.status == 1
    assert ran.out.startswith("invalid envelope_correlation_conflict")


# bad usage

DEEP = b'{"type": "object", "properties": {"a": ' * 20_000 + b"{}" + b"}}" * 20_000
BAD: dict[str, tuple[list[str], bytes, str]] = {
    "missing file": (["absent"], b"", "absent cannot be read: No such file"),
    "one missing file of two": (["error.json", "absent"], b"", "absent cannot be read: No such file"),
    "folder": (["."], b"", ". cannot be read: Is a directory"),
    "binary": (["binary"], b"", "binary is not UTF-8 text"),
    "binary on stdin": (["-"], b"\xff\xfe{}", "standard input is not UTF-8 text"),
    "kind, no file": (["error.json", "--kind", "vendor.acme.a"], b"", "must have the form ID=FILE or ID@VERSION=FILE"),
    "kind, no name of a file": (["error.json", "--kind", "vendor.acme.a="], b"", "must have the form ID=FILE"),
    "kind, missing file": (["error.json", "--kind", "vendor.acme.a=absent"], b"", "absent cannot be read"),
    "kind, no id": (["error.json", "--kind", "=note.schema.json"], b"", "is not a valid kind id"),
    "kind, no namespace": (
        ["error.json", "--kind", "note=note.schema.json"],
        b"",
        "note has no namespace. Use vendor.",
    ),
    "kind, reserved": (["error.json", "--kind", "error=note.schema.json"], b"", "error is reserved"),
    "kind, twice": (["error.json", *KIND, *KIND], b"", f"already has a kind {NOTE}"),
    "kind, odd version": (
        ["error.json", "--kind", "vendor.acme.a@x=note.schema.json"],
        b"",
        "must have the form ID=FILE",
    ),
    "kind, version below 0": (["error.json", "--kind", "vendor.acme.a@-1=note.schema.json"], b"", "must have the form"),
    "kind, no JSON": (["error.json", "--kind", "vendor.acme.a=text"], b"", "text is not JSON"),
    "kind, no schema": (
        ["error.json", "--kind", "vendor.acme.a=list"],
        b"",
        "A JSON Schema must be an object or a boolean",
    ),
    "kind, no object": (["error.json", "--kind", "vendor.acme.a=error.json"], b"", 'Set "type": "object"'),
    "kind, deep": (["error.json", "--kind", "vendor.acme.a=-"], DEEP, "standard input is not JSON"),
    "contract, no list": (
        ["error.json", "--contract", "list"],
        b"",
        "list is not a contract. Pass kinds separated by commas",
    ),
    "contract, no accepts": (["error.json", "--contract", "note.json"], b"", "note.json is not a contract"),
    "contract, no JSON": (["error.json", "--contract", "text"], b"", "text is not JSON"),
    "contract, binary": (["error.json", "--contract", "binary"], b"", "binary is not UTF-8 text"),
    "secrets, missing file": (["error.json", "--secrets", "absent"], b"", "absent cannot be read"),
    "secrets, no JSON": (["error.json", "--secrets", "text"], b"", "text is not JSON"),
    "secrets, no mapping": (
        ["error.json", "--secrets", "list"],
        b"",
        "The secrets are not a mapping from ids to values. Pass a mapping",
    ),
    "secrets, no text": (["error.json", "--secrets", "-"], b'{"a": 1}', "A value of secret number 1 is not a string"),
    "secrets, too short": (["error.json", "--secrets", "-"], b'{"a": "abc"}', "has fewer than 4 characters"),
    "secrets, odd id": (
        ["error.json", "--secrets", "-"],
        b'{"]": "abcdef"}',
        "secret number 1 cannot be part of a marker",
    ),
    "events, nowhere": (
        ["error.json", "--events", "absent/e"],
        b"",
        "absent/e cannot be opened for events: No such file",
    ),
    "events, folder": (["error.json", "--events", "folder"], b"", "folder cannot be opened for events: Is a directory"),
    "store, no database": (
        ["error.json", "--store", "text"],
        b"",
        "cannot be opened: file is not a database. Pass the path of another",
    ),
    "store, folder": (["error.json", "--store", "folder"], b"", "cannot be opened"),
    "store, nowhere": (["error.json", "--store", "absent/log.db"], b"", "cannot be opened"),
    "store, no name": (["error.json", "--store", ""], b"", "--store is empty. Pass a file, or remove --store."),
    "run, no id": (["error.json", "--run-id", ""], b"", "run_id must be a string of 1 to 128 characters"),
    "node, long id": (["error.json", "--node-id", "n" * 129], b"", "node_id must be a string of 1 to 128 characters"),
}


@pytest.mark.parametrize(("arguments", "stdin", "reported"), BAD.values(), ids=BAD.keys())
def test_bad_usage_gets_one_sentence(run: Run, arguments: list[str], stdin: bytes, reported: str) -> None:
    """Status 2, nothing on standard output, and what to do on one line of standard error."""
    ran = run(["accept", *arguments], stdin)

    assert reported in ran.err
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("emitter: ")
    assert ran.err.count("\n") == 1


SPOILT: dict[str, bytes] = {
    "a list": written([SECRET]),
    "a text": written(SECRET),
    "cut": f'{{"a": "{SECRET}'.encode(),
    "an odd id": written({"a]": SECRET}),
    "a value amid others": written({"a": [SECRET, 1]}),
    "id and value, the wrong way round": written({SECRET: "stripe"}),
}


@pytest.mark.parametrize("given", SPOILT.values(), ids=SPOILT.keys())
def test_no_secret_is_shown_where_its_file_is_wrong(run: Run, given: bytes) -> None:
    """Whatever is wrong with it."""
    ran = run(["accept", "error.json", "--secrets", "-"], given)

    assert SECRET not in ran.out + ran.err


def test_no_secret_is_shown_where_ids_and_values_are_the_wrong_way_round(run: Run) -> None:
    """The likeliest mistake of all."""
    assert SECRET not in run(["accept", "error.json", "--secrets", "-"], written({SECRET: "aws"})).err


def test_a_database_of_another_is_left_alone(run: Run, place: Path) -> None:
    """Its tables stay what they are."""
    with sqlite3.connect(place / "theirs.db") as connection:
        connection.execute("CREATE TABLE events (theirs TEXT)")
    connection.close()
    before = (place / "theirs.db").read_bytes()
    ran = run(["accept", "error.json", "--store", "theirs.db"])

    assert (ran.status, ran.out) == (2, "")
    assert (place / "theirs.db").read_bytes() == before


HUGE: dict[str, bytes] = {
    "brackets": b"[" * 1_000_000,
    "braces": b'{"a":' * 200_000,
    "prose": b"I would ship it. " * 200_000,
    "a long string": written(envelope(0, "error", payload={"code": "stuck", "message": "x" * 2_000_000, "a": 1})),
    "many documents": b"```json\n{}\n```\n" * 20_000,
    "long numbers": b'{"type": ' + b"9" * 100_000 + b"}",
}


@pytest.mark.parametrize("given", HUGE.values(), ids=HUGE.keys())
def test_what_is_huge_is_refused(run: Run, given: bytes) -> None:
    """As any other that is no envelope, and soon."""
    ran = run(["accept", "-"], given)

    assert ran.status == 1
    assert ran.err == "" or ran.err.startswith("emitter: the node failed; envelopes not processed: ")
    assert {line.split()[0] for line in ran.out.splitlines()} <= {"invalid", "breached"}


# what is easily got wrong


def test_a_version_may_be_too_long(run: Run) -> None:
    """Every bad value of an option is reported."""
    assert run(["accept", "error.json", "--kind", f"vendor.acme.a@{'9' * 5000}=note.schema.json"]).status == 2


def test_a_contract_may_name_many_kinds(run: Run) -> None:
    """Twenty names are more than 255 characters."""
    kinds = ",".join(f"vendor.acme.kind-{number}" for number in range(20))

    assert run(["accept", "error.json", "--contract", kinds]).status == 0


NO_LIST = "c.json is not a contract. Pass kinds separated by commas, or a .json file"
NO_CONTRACT: dict[str, tuple[str, Any, str]] = {
    "a text instead of a list": ("c.json", {"accepts": NOTE}, NO_LIST),
    "null instead of a list": ("c.json", {"accepts": None}, NO_LIST),
    "no text in the list": ("c.json", {"accepts": [1]}, NO_LIST),
    "a mode that is none": ("c.json", {"accepts": [], "refusalMode": "shrug"}, "fail-node, discard-and-warn"),
    "a file that is not there": ("absent.json", None, "absent.json cannot be read: No such file"),
    "a folder that is not there": ("absent/contract", None, "absent/contract cannot be read: No such file"),
    "a folder": ("folder", None, "folder cannot be read: Is a directory"),
}


@pytest.mark.parametrize(("name", "given", "reported"), NO_CONTRACT.values(), ids=NO_CONTRACT.keys())
def test_a_contract_that_is_none_is_reported(run: Run, place: Path, name: str, given: Any, reported: str) -> None:
    """A node that may emit nothing is seldom what was meant."""
    if given:
        (place / name).write_bytes(written(given))
    ran = run(["accept", "note.json", *KIND, f"--contract={name}"])

    assert (ran.status, ran.out) == (2, "")
    assert reported in ran.err


def test_a_contract_may_be_a_file_of_any_name(run: Run, place: Path) -> None:
    """A file that is there is read; without a mode, a refused kind fails the node."""
    (place / "contract").write_bytes(written({"accepts": ["vendor.acme.other"]}))
    (gated,) = outcomes(run(["accept", "note.json", *KIND, "--contract", "contract", "--json"]))

    assert (gated["status"], gated["gate"]["refusalMode"]) == ("gated", "fail-node")


def test_standard_input_is_read_once(run: Run) -> None:
    """Two that would read it are bad usage."""
    assert run(["accept", "-", "-"], written(envelope(0, "error"))).status == 2


FEW = ("error.json", "list", "bad.json")


def test_a_refusal_names_its_file(run: Run) -> None:
    """Of several files one has to know which was meant."""
    ran = run(["accept", *FEW, *KIND])

    assert all(name in line for name, line in zip(FEW, ran.out.splitlines(), strict=True))


def test_json_tells_what_the_lines_tell(run: Run) -> None:
    """The kind, the events, the warnings, the drift, how many secrets; and the envelope as it may leave the host."""
    arguments = ["secret.json", "--kind", f"{NOTE}@3=note.schema.json", "--secrets", "secrets.json", "--json"]
    (found,) = outcomes(run(["accept", *arguments]))

    assert found["envelope"]["payload"] == {"text": "It is [REDACTED:stripe]."}
    assert (found["drift"], found["redactions"]) == (3, 1)


def test_what_fails_the_node_ends_the_turn(run: Run) -> None:
    """All files are one turn of one node."""
    ran = run(["accept", "note.json", "error.json", *KIND, "--contract", "only.json"])

    assert [line.split()[:2] for line in ran.out.splitlines()] == [["gated", "note.json"]]
    assert (ran.status, ran.err) == (1, "emitter: the node failed; envelopes not processed: 1\n")


def test_a_hint_is_about_the_command(run: Run) -> None:
    """Who is on a command line leaves --store out."""
    assert "MemoryStore" not in run(["accept", "error.json", "--store", ""]).err


# the process


def test_every_argument_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """--help says what each is for, and what the exit status means."""
    parser = argparse.ArgumentParser(description=host.__doc__)
    host.add_accept_arguments(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])

    assert "Exit status: 0 if every envelope was accepted, 1 if one was not, 2 on bad usage" in " ".join(
        capsys.readouterr().out.split()
    )
    assert [each.dest for each in parser._actions if not each.help] == []


def spawn(code: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **streams)


LOADED = """
import sys
from emitter.cli import main
main(["accept", "error.json"])
print(" ".join(each for each in {heavy!r} if each in sys.modules), file=sys.stderr)
"""


HEAVY = (
    *("openai", "anthropic", "google.genai", "httpx2", "sqlalchemy", "starlette", "opentelemetry", "tenacity"),
    "asyncio",
)


def test_it_loads_nothing_that_it_does_not_need() -> None:
    """What talks to nobody loads no vendor's SDK, no optional package and no event loop."""
    done = spawn(LOADED.format(heavy=HEAVY))

    assert (done.stdout, done.stderr) == ("accepted error env-1 events: log.appended\n", "\n")


def test_a_full_disk_is_reported(run: Run) -> None:
    """Where the events cannot be written, nobody is told that all went well."""
    if not Path("/dev/full").exists():
        pytest.skip("/dev/full is absent: no full disk to try")
    ran = run(["accept", "error.json", "--events", "/dev/full"])

    assert (ran.status, ran.out) == (2, "")
    assert "could not be written to /dev/full" in ran.err


def test_a_file_that_nobody_may_write_is_reported(run: Run, place: Path) -> None:
    """Before anything is accepted."""
    if os.getuid() == 0:
        pytest.skip("root may write everything: no file to be refused")
    (place / "locked").touch(0o400)

    assert run(["accept", "error.json", "--events", "locked"]).status == 2
    with pytest.raises(EmitterError):
        to_jsonl(place / "locked")


def test_two_processes_share_a_store(place: Path) -> None:
    """Started at once, one accepts and the other is told what came of it; neither fails."""
    command = launch("emitter", "accept", "both.json", *KIND, "--store", "log.db")
    crew = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    reported = [each.communicate() for each in crew]

    assert [each.returncode for each in crew] == [0, 0]
    lines = sorted(line for out, _ in reported for line in out.splitlines())
    assert sorted(line.endswith("accepted before") for line in lines[:2]) == [False, True]
    assert sorted(line.endswith("accepted before") for line in lines[2:]) == [False, True]
    with SqliteStore(place / "log.db") as store:
        assert sorted(each["type"] for each in store.events("run")) == ["log.appended", "node.completed"]
