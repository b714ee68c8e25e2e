"""Decisions that wait in a store: listed, answered at the terminal or on a page, and the call that waited goes on."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import sys
import urllib.request
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import ApprovalState, Authority
from emitter.decisions import answer_in_words, open_dialogue, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision
from emitter.decisions.ledger_words import KeepWords
from emitter.errors import ApprovalPending, NotApproved
from emitter.stores import SqliteStore
from tests.authority.guard.approvals import STATES, Call
from tests.cli.ledgers import found
from tests.stores.making import edited
from tests.terminal.moments import INVOICE
from tests.terminal.process import Process
from tests.terminal.window import ENTER
from tests.web.running import answer

if TYPE_CHECKING:
    from collections.abc import Generator

    from emitter.decisions import Resolution
    from tests.cli.conftest import Run

UNKEPT = "emitter: The store keeps the kind of answer, not the words: tell them to the agent yourself.\n"
KEPT = "emitter: Your words are kept for the agent to read, as plain text, for at most 7 days.\n"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[SqliteStore]:
    """Yield a store in the working directory, which is at no terminal."""
    monkeypatch.chdir(tmp_path)
    with SqliteStore("store.db") as opened:
        yield opened


def opened(store: SqliteStore, *names: str, **how: Any) -> Ledger:
    """Open a decision under each name."""
    ledger = Ledger(store)
    for name in names:
        ledger.open(INVOICE, agent="clerk", decision_id=name, **how)
    return ledger


def test_a_call_that_waited_goes_on(store: SqliteStore, run: Run) -> None:
    """Its decision is listed, answered by another process, and gone from the list; the same call is then made."""
    sent: list[str] = []
    guard = Authority(store).guard(sent.append, name="send", workflow_id="w")
    with pytest.raises(ApprovalPending) as waiting:
        guard.call("c1", "mom")
    (reported,) = found(run(["decisions", "store.db", "--json"]))["decisions"]
    assert reported["decision_id"] == waiting.value.decision_id
    assert run(["resolve", "--store", "store.db", "--answer", "1"]).status == 0
    assert run(["decisions", "store.db"]) == run(["decisions", "store.db"]).__class__(0, "", "")
    guard.call("c1", "mom")
    assert sent == ["mom"]


def test_what_waits_is_reported(store: SqliteStore, run: Run) -> None:
    """Who asks what, since when and until when; the oldest first."""
    opened(store, "for ever")
    opened(store, "an hour", expires_in=3600)
    first, second = found(run(["decisions", "store.db", "--json"]))["decisions"]
    assert (first["decision_id"], first["agent"], first["expires_at"]) == ("for ever", "clerk", None)
    assert first["options"] == [each.label for each in INVOICE.question.options]
    assert second["opened_at"] < second["expires_at"]
    assert first["findings"] == list(INVOICE.findings)
    reported = run(["decisions", "store.db"]).out.splitlines()
    assert [each.strip() for each in reported if each.startswith("  ")] == [*INVOICE.findings] * 2
    lines = [each for each in reported if not each.startswith("  ")]
    stem = re.escape(json.dumps(INVOICE.question.stem, ensure_ascii=False))
    assert re.fullmatch(rf'"for ever": "clerk" asks {stem} \(since \S+Z\)', lines[0])
    assert re.fullmatch(rf'"an hour": "clerk" asks {stem} \(since \S+Z, until \S+Z\)', lines[1])


@pytest.mark.parametrize("how", STATES)
def test_what_became_of_a_closed_decision_is_reported(store: SqliteStore, run: Run, how: str) -> None:
    """In words, as JSON, and to whoever wants to answer it once more."""
    state, make = STATES[how]
    decision_id = make(Call(store))
    reported = found(run(["decisions", "store.db", "--closed", "--json"]))["decisions"]
    lines = run(["decisions", "store.db", "--closed"]).out.splitlines()
    again = run(["resolve", "--store", "store.db", "--decision", decision_id, "--answer", "2"])
    if state is ApprovalState.OPEN:
        assert (reported, lines, again.status) == ([], [], 0)
        return
    assert [(each["decision_id"], each["state"]) for each in reported] == [(decision_id, state.value)]
    assert [line.split(": ")[1] for line in lines if not line.startswith("  ")] == [state.label]
    assert [line.strip() for line in lines if line.startswith("  ")] == reported[0]["findings"]
    assert again.status == 2
    assert not state.label.startswith("approved") or state.deed in again.err


def test_no_name_drives_a_terminal(store: SqliteStore, run: Run) -> None:
    """Whatever somebody called a decision or themselves."""
    Ledger(store).open(INVOICE, decision_id="\x1b[2J\n", agent='a" asks "b\u202e')
    out = run(["decisions", "store.db"]).out
    assert len([each for each in out.splitlines() if not each.startswith("  ")]) == 1
    assert not set(out) & {"\x1b", "\u202e"}
    assert 'a\\" asks' in out


def test_at_the_terminal(store: SqliteStore) -> None:
    """The picker draws the decision of the store, and what was chosen stands there."""
    ledger = opened(store, "d")
    with Process("resolve", "--store", "store.db") as process:
        process.until("1-3 pick").type("2").until("> 2. Hold").type(ENTER)
        assert process.ends() == (0, "")
    resolved: Any = ledger.find("d")
    assert (resolved.resolution, resolved.channel) == (select_option(INVOICE, 1), "terminal")


NEXT = {
    "2": "Your choice is recorded. The agent may do that, and nothing else, when it reads the answer",
    "a on Friday": "Your answer is recorded. The agent takes it into account when it reads it",
    "d whose is it?": "Your objection is recorded.",
    "": "No answer is recorded, and the decision is still open",
}


@pytest.mark.parametrize("typed", NEXT)
def test_what_is_reported_an_answer_is_true_of_the_store(store: SqliteStore, run: Run, typed: str) -> None:
    """The agent may take the decision up later, or never; nothing happens now."""
    opened(store, "d")
    ran = run(["resolve", "--store", "store.db"], typed.encode())
    assert ran.out.splitlines()[-1].startswith(NEXT[typed])
    assert "now" not in ran.out.splitlines()[-1].split()


def test_a_withdrawn_decision_cannot_be_answered(store: SqliteStore, run: Run) -> None:
    """It waits no longer, and who answers it all the same is told why."""
    opened(store, "d").withdraw("d")
    ran = run(["resolve", "--store", "store.db", "--decision", "d", "--answer", "1"])
    assert (ran.status, ran.out) == (2, "")
    assert "The agent withdrew the decision." in ran.err
    assert run(["decisions", "store.db"]).out == ""


def test_a_named_person_answers(store: SqliteStore, run: Run) -> None:
    """The name is recorded with the answer."""
    ledger = opened(store, "d")
    assert run(["resolve", "--store", "store.db", "--principal", "ada@x", "--answer", "2"]).status == 0
    resolved: Any = ledger.find("d")
    assert (resolved.principal, resolved.resolution) == ("ada@x", select_option(INVOICE, 1))


def test_two_named_people_approve(store: SqliteStore, run: Run) -> None:
    """The first reads that one more is missing, however often; the second reads who was first, and resolves it."""
    ledger = opened(store, "d", actions=("a", None, None), four_eyes=True)
    command = ["resolve", "--store", "store.db", "--answer", "1", "--principal"]
    for name in ("ada", "Ada"):
        first = run([*command, name])
        assert first.status == 1
        assert first.out.endswith(
            "Your approval is recorded, and the decision is still open: another person must approve the same option, "
            "with a --principal of their own.\n"
        )
        assert isinstance(ledger.find("d"), PendingDecision)
    second = run([*command, "bob"])
    assert second.status == 0
    assert second.err.startswith('emitter: "ada" has approved "')
    assert second.out.splitlines()[-1].startswith(NEXT["2"])
    resolved: Any = ledger.find("d")
    assert (resolved.first_approval.principal, resolved.principal) == ("ada", "bob")


def test_one_named_person_refuses_what_two_must_approve(store: SqliteStore, run: Run) -> None:
    """Alone, and at once."""
    ledger = opened(store, "d", actions=("a", None, None), four_eyes=True)
    assert run(["resolve", "--store", "store.db", "--answer", "d no", "--principal", "ada"]).status == 0
    resolved: Any = ledger.find("d")
    assert (resolved.principal, resolved.resolution) == ("ada", open_dialogue(INVOICE, "no"))


ANSWERS: dict[str, tuple[str, Resolution, str]] = {
    "an option": ("2", select_option(INVOICE, 1), ""),
    "a free text": ("a on Friday", answer_in_words(INVOICE, "on Friday"), KEPT),
    "an objection": ("d whose is it?", open_dialogue(INVOICE, "whose is it?"), KEPT),
}


@pytest.mark.parametrize(("typed", "resolution", "reported"), ANSWERS.values(), ids=ANSWERS)
def test_the_answer_is_recorded(
    store: SqliteStore, run: Run, typed: str, resolution: Resolution, reported: str
) -> None:
    """As what it was; how the store keeps words is said to whoever wrote them."""
    ledger = opened(store, "d", "another")
    ran = run(["resolve", "--store", "store.db", "--decision", "d", "--json"], typed.encode())
    assert (ran.status, ran.err) == (0, reported)
    assert ledger.resolve("d", resolution).already_resolved
    assert [each.decision_id for each in ledger.pending()] == ["another"]


@pytest.mark.parametrize("command", ["resolve", "serve"])
def test_the_agent_reads_the_words_in_the_store(store: SqliteStore, run: Run, command: str) -> None:
    """The objection of a guarded call is what its error's hint leads to, whichever surface took it."""
    guard = Authority(store).guard(pytest.fail, name="fail", workflow_id="w")
    with pytest.raises(ApprovalPending):
        guard.call("c1", "x")
    if command == "resolve":
        assert run(["resolve", "--store", "store.db", "--answer", "d whose is it?"]).status == 0
    else:
        with Process("serve", "--store", "store.db") as process:
            process.until("answer at http://127.0.0.1:")
            address = re.search(r"http://\S+", process.text().replace("\n", ""))
            assert address
            assert answer(address[0], 2, choice="dialogue", objection="whose is it?") == 200
            assert process.ends()[0] == 0
    agent = Authority(store)
    with pytest.raises(NotApproved, match=r"Ledger\.find") as raised:
        agent.guard(pytest.fail, name="fail", workflow_id="w").call("c1", "x")
    found = agent.ledger.find(raised.value.decision_id)
    assert found.continuation.objection == "whose is it?"  # type: ignore[union-attr]


WORDS: dict[str, tuple[list[str], str, str]] = {
    "not kept": (["--no-words"], UNKEPT, "not_kept"),
    "encrypted": (
        ["--words-key", "words.jwk"],
        "emitter: Your words are kept for the agent to read, encrypted, for at most 7 days.\n",
        "encrypted",
    ),
    "for a minute": (
        ["--words-for", "60"],
        "emitter: Your words are kept for the agent to read, as plain text, for at most 1 minute.\n",
        "",
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_words_are_kept_as_the_command_line_says(store: SqliteStore, run: Run, name: str) -> None:
    """Not, encrypted, or for a time; who is asked is told which."""
    Path("words.jwk").write_text(json.dumps({"kty": "oct", "k": "A" * 43}))
    options, reported, why = WORDS[name]
    ledger = opened(store, "d")
    ran = run(["resolve", "--store", "store.db", "--answer", "a on Friday", *options])
    assert (ran.status, ran.err) == (0, reported)
    resolution: Any = ledger.find("d").resolution  # type: ignore[union-attr]
    assert (resolution.reason.value if why else resolution.answer) == (why or "on Friday")
    reader = Ledger(store, words=KeepWords(key=bytes(32)))
    assert (reader.find("d").resolution == answer_in_words(INVOICE, "on Friday")) is (why != "not_kept")  # type: ignore[union-attr]


def test_detail_is_asked_for_and_answered(store: SqliteStore, run: Run) -> None:
    """Nothing is decided by it, as the status says; what is asked for is listed."""
    ledger = opened(store, "d")
    asked = run(["resolve", "--store", "store.db", "--detail", "the second finding"])
    assert (asked.status, asked.err) == (1, "")
    assert asked.out == "The agent has not answered yet.\nThe decision is still open.\n"
    assert '1. detail on "the second finding" is requested\n' in run(["decisions", "store.db"]).out
    ledger.ask_detail("d", "the price")
    ledger.answer_detail("d", 2, {"price": 12})
    (reported,) = found(run(["decisions", "store.db", "--json"]))["decisions"]
    assert reported["details"] == [
        {"number": 1, "topic": "the second finding", "answer": None},
        {"number": 2, "topic": "the price", "answer": {"price": 12}},
    ]
    ran = run(["resolve", "--store", "store.db", "--detail", "more", "--json"])
    about = {"decision_id": "d", "number": 3, "topic": "more", "answer": None}
    assert (ran.status, json.loads(ran.out)) == (1, {"detail": about})
    assert [each.decision_id for each in ledger.pending()] == ["d"]


def test_an_answer_to_a_request_is_waited_for(store: SqliteStore) -> None:
    """For as long as the command line says; it is shown without what drives a terminal."""
    ledger = opened(store, "d")
    with Process("resolve", "--store", "store.db", "--detail", "the log", "--timeout", "60") as process:
        process.until("waiting for the agent")
        ledger.answer_detail("d", 1, "At noon.\x1b[2J")
        process.until("The decision is still open.")
        assert "At noon." in process.text()
        assert process.ends()[0] == 1


def test_detail_at_the_terminal(store: SqliteStore) -> None:
    """The picker comes back with the answer on the page, and the decision is made there."""
    ledger = opened(store, "d")
    ledger.ask_detail("d", "the log")  # the same topic is the same request, whoever comes first here
    with Process("resolve", "--store", "store.db", rows=60) as process:
        process.until("m more").type("m").until("What do you want to know more about?").type("the log" + ENTER)
        process.until("Asking the agent")
        ledger.answer_detail("d", 1, "It was read at noon.")
        process.until("It was read at noon.").until("1-3 pick")
        assert "You asked about: the log" in process.text()
        assert isinstance(ledger.find("d"), PendingDecision)
        process.type("2").until("> 2. Hold").type(ENTER)
        assert process.ends() == (0, "")
    assert ledger.find("d").resolution == select_option(INVOICE, 1)  # type: ignore[union-attr]


def test_a_page_is_served_for_so_long(store: SqliteStore, run: Run) -> None:
    """Then nobody decided, and the decision still waits."""
    ledger = opened(store, "d")
    ran = run(["serve", "--store", "store.db", "--timeout", "0.2"])
    assert (ran.status, json.loads(ran.out)["outcome"]) == (1, "unresolved")
    assert [each.decision_id for each in ledger.pending()] == ["d"]


def test_nobody_s_answer_leaves_it_open(store: SqliteStore, run: Run) -> None:
    """No answer is no consent; the decision still waits."""
    ledger = opened(store, "d")
    assert run(["resolve", "--store", "store.db"]).status == 1
    assert [each.decision_id for each in ledger.pending()] == ["d"]


def test_on_a_page(store: SqliteStore) -> None:
    """The page is of the decision in the store."""
    ledger = opened(store, "d")
    with Process("serve", "--store", "store.db") as process:
        process.until("answer at http://127.0.0.1:")
        address = re.search(r"http://\S+", process.text().replace("\n", ""))
        assert address
        with urllib.request.urlopen(address[0], timeout=120) as page:  # noqa: S310  it is this machine's
            assert escape(INVOICE.question.stem) in page.read().decode()
        ledger.resolve("d", select_option(INVOICE, 0), channel="elsewhere")
        assert process.ends()[0] == 0


AMISS: dict[str, tuple[list[str], str]] = {
    "a file too": (["resolve", "x.json", "--store", "store.db"], "one of the two"),
    "no store": (["resolve", "--decision", "d"], "--store"),
    "a name without a store": (["resolve", "--principal", "ada"], "--principal needs --store"),
    "nobody's name": (
        ["resolve", "--store", "store.db", "--decision", "a", "--answer", "1", "--principal", "ada\u200b"],
        "none of them invisible",
    ),
    "a page of no store": (["serve", "--decision", "d"], "--store"),
    "several": (["resolve", "--store", "store.db", "--answer", "1"], "Several decisions wait"),
    "words of no store": (["resolve", "--words-for", "60"], "--words-for needs --store"),
    "words kept and not": (
        ["serve", "--store", "store.db", "--decision", "a", "--no-words", "--words-for", "60"],
        "--no-words and --words-for exclude each other",
    ),
    "words for no time": (
        ["resolve", "--store", "store.db", "--decision", "a", "--words-for", "0", "--answer", "1"],
        "seconds must be a number",
    ),
    "words with no key": (
        ["resolve", "--store", "store.db", "--decision", "a", "--words-key", "store.db", "--answer", "1"],
        "has no key that can encrypt words",
    ),
    "detail of a file": (["resolve", "--detail", "more"], "--detail needs --store and excludes --answer"),
    "detail and an answer": (
        ["resolve", "--store", "store.db", "--decision", "a", "--detail", "more", "--answer", "1"],
        "excludes --answer",
    ),
    "detail of what is resolved": (
        ["resolve", "--store", "store.db", "--decision", "done", "--detail", "more"],
        "is resolved already",
    ),
    "unknown": (["resolve", "--store", "store.db", "--decision", "x", "--answer", "1"], "No decision has this id"),
    "resolved": (["resolve", "--store", "store.db", "--decision", "done", "--answer", "1"], "is resolved already"),
    "over": (["resolve", "--store", "store.db", "--decision", "over", "--answer", "1"], "has expired"),
    "no answer to it": (
        ["resolve", "--store", "store.db", "--decision", "a", "--answer", "9"],
        "There is no option ",
    ),
    "is not a file": (["decisions", "nowhere.db"], "is not a file"),
    "none waits": (["resolve", "--store", "bare.db", "--answer", "1"], "No decision waits"),
}


@pytest.mark.parametrize(("arguments", "reported"), AMISS.values(), ids=AMISS)
def test_what_cannot_be_answered(store: SqliteStore, run: Run, arguments: list[str], reported: str) -> None:
    """Is refused in a sentence, and nothing is recorded."""
    ledger = opened(store, "a", "b", "done")
    ledger.resolve("done", select_option(INVOICE, 0))
    Ledger(store, clock=lambda: 1.0).open(INVOICE, decision_id="over", expires_in=1)
    with SqliteStore("bare.db"):
        pass
    ran = run(arguments)
    assert (ran.status, ran.out) == (2, "")
    assert reported in ran.err
    assert [each.decision_id for each in ledger.pending()] == ["a", "b"]


def test_a_decision_that_was_altered_is_not_answered(store: SqliteStore, run: Run) -> None:
    """It is no longer what was opened; the others are listed all the same."""
    opened(store, "d")
    guard = Authority(store).guard(print, workflow_id="w")
    with pytest.raises(ApprovalPending):
        guard.call("c1", "mom")
    with edited("store.db") as connection:
        changed = connection.execute("UPDATE entries SET entry = replace(entry, 'Norwind', 'Sudwind')").rowcount
        assert changed
    assert len(found(run(["decisions", "store.db", "--json"]))["decisions"]) == 1
    assert run(["resolve", "--store", "store.db", "--decision", "d", "--answer", "1"]).status == 2


def test_a_refused_call_is_not_approved(store: SqliteStore, run: Run) -> None:
    """Whatever was said at the terminal but to run it."""
    guard = Authority(store).guard(pytest.fail, name="fail", workflow_id="w")
    with pytest.raises(ApprovalPending):
        guard.call("c1", "x")
    assert run(["resolve", "--store", "store.db", "--answer", "d why?"]).status == 0
    with pytest.raises(NotApproved):
        guard.call("c1", "x")


TOOL = """
from emitter.authority import Authority
from emitter.stores import SqliteStore

authority = Authority(SqliteStore("store.db"))


def pay(to: str) -> dict[str, str]:
    if to == "nobody":
        raise ValueError(to)
    return {"paid": to}


async def apay(to: str) -> dict[str, str]:
    return {"paid": to}


pay, apay = (authority.guard(each, workflow_id="w") for each in (pay, apay))
"""
CALLS: dict[str, tuple[str, str, int | None, int, str]] = {
    "approved": ("pay", "ada", 0, 0, '"paid"'),
    "async": ("apay", "ada", 0, 0, '"paid"'),
    "failed": ("pay", "nobody", 0, 1, "failed with ValueError"),
    "refused": ("pay", "ada", 1, 1, "not_approved"),
    "waiting": ("pay", "ada", None, 1, "approval_pending"),
}


@pytest.mark.parametrize(("name", "to", "choice", "status", "says"), CALLS.values(), ids=CALLS)
def test_an_approved_call_is_made_by_its_id(  # noqa: PLR0913, PLR0917
    store: SqliteStore, run: Run, name: str, to: str, choice: int | None, status: int, says: str
) -> None:
    """With the arguments that were stored; once; and not before it is approved."""
    module = f"tools_{name}_{status}_{choice}"
    Path(f"{module}.py").write_text(TOOL, encoding="utf-8")
    sys.path.insert(0, str(Path.cwd()))
    tool = getattr(importlib.import_module(module), name)
    sys.path.remove(str(Path.cwd()))
    waiting: Any = asyncio.run(tool.propose("job", to)) if name == "apay" else tool.propose("job", to)
    if choice is not None:
        Ledger(store).resolve(waiting.decision_id, select_option(waiting.moment, choice))
    ran = run(["call", f"{module}:{name}", "job"])
    assert (ran.status, says in ran.out + ran.err) == (status, True)
    assert run(["call", f"{module}:{name}", "unknown"]).status == 2
    assert "not a guarded tool" in run(["call", f"{module}:authority", "job"]).err
