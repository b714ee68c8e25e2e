"""What a person does about agents' acts from the shell: stop, resume, revoke, settle and forget."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, Result
from emitter.authority.signing import load_key, make_signer, make_verifier, new_key, public_jwk
from emitter.decisions import open_dialogue, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import ResolvedDecision, UnreadableAnswer
from emitter.errors import ConfirmRevoked, WorkflowStopped
from emitter.stores import SqliteStore, SqlStore
from tests.authority.execution.making import granted, work
from tests.authority.guard.parts import MOM, waiting
from tests.decisions.ledger.asking import moment
from tests.stores.postgres import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Run
    from tests.stores.postgres import Postgres


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """Run a PostgreSQL server; skip where there is none."""
    with running() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the name of a store, as a command takes it."""
    if request.param == "sqlite":
        return str(tmp_path / "agent.db")
    server: Postgres = request.getfixturevalue("postgres")
    return server.empty()


def opened(place: str) -> Any:
    """Return the store as the agent's process opens it."""
    return SqlStore(place) if "://" in place else SqliteStore(place)


def test_a_paused_workflow_goes_on_after_a_resume(run: Run, place: str) -> None:
    """The agent's process notices both at its next act; approvals from before the pause stay dead."""
    with opened(place) as store:
        authority = Authority(store)
        before = granted(authority)
        stopped = run(["stop", place, "w", "--takeover-mode", "human", "--reason", "Let me look.", "--request-id", "r"])
        assert (stopped.status, stopped.out) == (0, 'stopped "w", by the request "r"\n')
        with pytest.raises(WorkflowStopped):
            authority.execute(before.confirm_id, work())

        assert run(["resume", place, "w", "r"]).out == 'resumed "w"\n'
        with pytest.raises(WorkflowStopped):
            authority.execute(before.confirm_id, work())
        assert authority.execute(granted(authority).confirm_id, work()) == "done"


def test_the_stops_in_force_are_listed_with_the_request_that_lifts_them(run: Run, place: str) -> None:
    """For whoever did not make the stop; a stop that was lifted is gone."""
    with opened(place) as store:
        granted(Authority(store))
    run(["stop", place, "w", "--takeover-mode", "pause", "--reason", "Let me look.", "--request-id", "r"])
    run(["stop", place, "w", "--step", "s", "--request-id", "q"])
    listed = run(["receipts", "list", place]).out
    as_json = json.loads(run(["receipts", "list", place, "--json"]).out)["workflows"][0]["stops"]

    assert 'pause, reason "Let me look." (request "r")\n' in listed
    assert 'final, step "s" (request "q")\n' in listed
    assert [(each["type"], each["request_id"]) for each in as_json] == [("STOP", "r"), ("STOP", "q")]
    assert "stopped" not in run(["receipts", "list", place, "--unfinished"]).out
    run(["resume", place, "w", "r"])
    assert '"r"' not in run(["receipts", "list", place]).out


def test_who_answers_reads_that_the_workflow_is_stopped(run: Run, place: str) -> None:
    """Their approval is recorded, and counts once the workflow goes on."""
    sent = list[str]()
    with opened(place) as store:
        guard = Authority(store).guard(sent.append, workflow_id="w", name="send")
        decision_id = waiting(guard)
        run(["stop", place, "w", "--takeover-mode", "pause", "--request-id", "r"])
        answered = run(["resolve", "--store", place, "--decision", decision_id, "--answer", "1"])
        assert answered.status == 0
        assert answered.err == (
            "emitter: The workflow w is stopped. "
            "An approval has an effect only once it is resumed, if it is still valid then.\n"
        )
        with pytest.raises(WorkflowStopped):
            guard.call("c1", MOM)
        run(["resume", place, "w", "r"])
        guard.call("c1", MOM)
    assert sent == [MOM]


def test_what_needs_four_eyes_is_answered_in_the_inbox(run: Run, place: str) -> None:
    """The command answers for one person, and says where two answer."""
    with opened(place) as store:
        guard = Authority(store).guard(list[str]().append, workflow_id="w", name="send", four_eyes=True)
        answered = run(["resolve", "--store", place, "--decision", waiting(guard), "--answer", "1"])
    assert answered.status != 0
    assert answered.err == (
        "emitter: Two principals must approve this option. Answer in the inbox (`emitter inbox`), with `emitter "
        "resolve --principal NAME`, or with Ledger.approve().\n"
    )


def test_an_answer_that_must_be_signed_names_the_flag_and_the_argument(run: Run, place: str) -> None:
    """Each as it is written."""
    with opened(place) as store:
        guard = Authority(store, principals=[public_jwk(new_key())]).guard(list[str]().append, name="send")
        answered = run(["resolve", "--store", place, "--decision", waiting(guard), "--answer", "1"])
    assert "Answer with `emitter resolve --sign KEY` (or `serve --sign KEY`), or a Ledger(sign=...)." in answered.err


def test_a_stop_of_an_unknown_workflow_says_so(run: Run, place: str) -> None:
    """It may be a typing error; the name is stopped all the same, since its calls may come later."""
    with opened(place) as store:
        granted(Authority(store))
        assert run(["stop", place, "w"]).err == ""
        stopped = run(["stop", place, "v"])
        assert (stopped.status, stopped.err) == (0, 'emitter: "v" has no records yet; known workflows: "w"\n')
        assert "v" in Authority(store).workflows()


def test_a_stop_lists_what_may_still_run(run: Run, place: str) -> None:
    """A killed act is one of them, until somebody settles it."""
    with opened(place) as store:
        authority = Authority(store)
        with pytest.raises(KeyboardInterrupt):
            authority.execute(granted(authority).confirm_id, work("i", interrupted))
        stopped = json.loads(run(["stop", place, "w", "--json"]).out)
        assert [each["intent_id"] for each in stopped["unfinished"]] == ["i"]

        found = ["--result", "partial", "--side-effects", '{"rows": 3}', "--evidence", "log", "--error", "half"]
        settled = run(["settle", place, "w", "i", *found, "--json"])
        [receipt] = authority.receipts("w")
        assert json.loads(settled.out) == receipt.to_json()
        assert (receipt.result, receipt.side_effects, receipt.error) == (Result.PARTIAL, {"rows": 3}, "half")
        assert not authority.unfinished_actions()


def interrupted() -> None:
    """Stand in for a tool whose process is killed."""
    raise KeyboardInterrupt


def test_a_revoked_approval_covers_nothing(run: Run, place: str) -> None:
    """In the agent's process, too."""
    with opened(place) as store:
        authority = Authority(store)
        confirm_id = granted(authority).confirm_id
        assert run(["revoke", place, confirm_id, "--reason", "Enough."]).status == 0
        with pytest.raises(ConfirmRevoked):
            authority.execute(confirm_id, work())


def test_a_signed_chain_takes_signed_records_alone(run: Run, place: str, tmp_path: Path) -> None:
    """Without the key the command says what is missing, and with it the chain still verifies."""
    file = str(tmp_path / "key.jwk")
    assert run(["receipts", "key", file]).status == 0
    key = load_key(file)
    with opened(place) as store:
        authority = Authority(store, sign=make_signer(key), check=make_verifier(public_jwk(key)))
        confirm_id = granted(authority).confirm_id
        unsigned = run(["revoke", place, confirm_id])
        assert unsigned.status == 2
        assert "The workflow's chain is signed. Sign the record with --sign KEY." in unsigned.err
        assert run(["revoke", place, confirm_id, "--sign", file]).status == 0
        assert authority.get_grant(confirm_id).end is not None


@pytest.mark.parametrize(
    ("chosen", "deleted"),
    [(["--older-than", "0"], 2), (["--older-than", "1"], 0), (["--decision", "a"], 1)],
    ids=["all", "none is so old", "one decision"],
)
def test_words_are_forgotten_and_answers_stay(run: Run, place: str, chosen: list[str], deleted: int) -> None:
    """The kind of answer and the refusal stay, so the question is still not asked again."""
    with opened(place) as store:
        ledger = Ledger(store)
        for name in "ab":
            pending = ledger.open(moment(f"Question {name}?"), decision_id=name)
            ledger.resolve(name, open_dialogue(pending.moment, f"No, {name}."))
        chosen_option = ledger.open(moment("Question c?"), decision_id="c")
        ledger.resolve("c", select_option(chosen_option.moment, 0))

        forgotten = run(["forget", place, *chosen, "--json"])
        assert json.loads(forgotten.out) == {"deleted": deleted}
        ends = [Ledger(store).find(name) for name in "ab"]
        assert sum(isinstance(each, ResolvedDecision) for each in ends) == 2
        unreadable = [
            isinstance(each.resolution, UnreadableAnswer) for each in ends if isinstance(each, ResolvedDecision)
        ]
        assert sum(unreadable) == deleted
        assert len(Ledger(store).refused_digests("agent")) == 2
        assert json.loads(run(["forget", place, *chosen, "--json"]).out) == {"deleted": 0}


BAD: dict[str, tuple[list[str], str]] = {
    "stop, absent": (["stop", "absent", "w"], "absent is not a file"),
    "stop, delegate to nobody": (["stop", "a.db", "w", "--takeover-mode", "delegate_to_other_agent"], "Invalid stop"),
    "stop, no name": (["stop", "a.db", ""], "Invalid stop"),
    "resume, nothing stopped": (["resume", "a.db", "w", "r"], "no active stop"),
    "revoke, unknown": (["revoke", "a.db", "c"], "confirm"),
    "settle, unknown": (["settle", "a.db", "w", "i", "--result", "success"], "unfinished"),
    "settle, no object": (
        ["settle", "a.db", "w", "i", "--result", "success", "--side-effects", "3"],
        "not a JSON object",
    ),
    "forget, unknown": (["forget", "a.db", "--decision", "x"], "No decision has this id"),
    "forget, the future": (["forget", "a.db", "--older-than", "-1"], "seconds must be"),
    "forget, no number": (["forget", "a.db", "--older-than", "-1"], "seconds must be"),
    "no server": (["stop", "postgresql://nobody@127.0.0.1:1/none", "w"], '"127.0.0.1", port 1 failed'),
    "no such database": (["stop", "mysql://x/y", "w"], "PostgreSQL"),
}


@pytest.mark.parametrize(("arguments", "reported"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], reported: str
) -> None:
    """Status 2 and one line of standard error."""
    monkeypatch.chdir(tmp_path)
    with SqliteStore("a.db"):
        pass
    ran = run(arguments)
    assert (ran.status, ran.out) == (2, "")
    assert reported in ran.err
    assert ran.err.count("\n") == 1
