"""DBOS workflows that are killed and resumed: nothing is paid twice, and a decision is asked and acted on once."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from emitter.authority import Authority, Effects, Result
from emitter.decisions import select_option
from emitter.decisions.ledger import Ledger
from emitter.errors import InputError
from emitter.stores import SqliteStore
from emitter.testing import Stalled
from emitter.testing.sample_moments import ORDINARY_MOMENTS
from tests.bulk.asking import MODEL, answered, asked_of, number_in, serving
from tests.launching import KILL, launch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import Behaviour, ReceivedRequest

pytest.importorskip("dbos", reason="DBOS is not installed")

from emitter.integrations.dbos import act, aemit, ask

ROOT = Path(__file__).parents[2]
MOMENT = next(iter(ORDINARY_MOMENTS.values()))


def start(folder: Path, flow: str, argument: object) -> subprocess.Popen[str]:
    """Start the workflow in a process of its own, or resume it."""
    command = launch("tests.integrations.flows", str(folder), flow, f"{flow}-1", repr(argument))
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment())


def environment() -> dict[str, str]:
    """Return the environment of a process that imports what this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def result_of(child: subprocess.Popen[str]) -> str:
    """Return what the workflow returned."""
    output, _ = child.communicate(timeout=600)
    return next(line.removeprefix("result ") for line in output.splitlines() if line.startswith("result "))


def wait_for(ready: Any) -> Any:
    """Return what is ready."""
    for _ in range(30_000):
        if found := ready():
            return found
        time.sleep(0.02)
    raise TimeoutError


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Run a vendor that leaves some tasks unanswered."""

    class Silent:
        tasks: set[int]
        vendor: Any

    def answers(asked: ReceivedRequest) -> Behaviour:
        return Stalled() if number_in(asked.body) in Silent.tasks else answered(asked)

    with serving(answers, monkeypatch) as Silent.vendor:
        yield Silent


def test_a_finished_step_is_replayed_and_an_unknown_one_is_reported(tmp_path: Path, silent: Any) -> None:
    """The emission that was under way when the process was killed is not sent again in silence."""
    silent.tasks = {6}
    child = start(tmp_path, "count", 5)
    wait_for(lambda: asked_of(silent.vendor)[6])
    child.send_signal(KILL)
    child.communicate()

    silent.tasks = set()
    again = start(tmp_path, "count", 5)
    again.communicate(timeout=600)
    assert again.returncode != 0  # UnknownOutcome
    assert asked_of(silent.vendor) == {5: 1, 6: 1}
    with SqliteStore(tmp_path / "store.db") as store:
        (orphan,) = store.jobs.orphans()
    assert orphan.key == "count-1/2"

    assert result_of(start(tmp_path, "fork", 2)) == "18"  # as its hint says
    assert asked_of(silent.vendor) == {5: 1, 6: 2, 7: 1}


def test_a_decision_is_answered_elsewhere_and_acted_on_once(tmp_path: Path) -> None:
    """The workflow is killed while it waits; another process goes on with the answer of a third."""
    child = start(tmp_path, "decide", "invoice")
    with SqliteStore(tmp_path / "store.db") as store:
        ledger = Ledger(store)
        (pending,) = wait_for(ledger.pending)
        child.send_signal(KILL)
        child.communicate()
        ledger.resolve(pending.decision_id, select_option(pending.moment, 0))

        again = start(tmp_path, "decide", "invoice")
        authority = Authority(store, actor="bookkeeper")
        (approval,) = wait_for(authority.ledger.pending)
        authority.ledger.resolve(approval.decision_id, select_option(approval.moment, 0))
        assert result_of(again) == "['Selected', 'paid plumber']"

        third = start(tmp_path, "decide", "invoice")
        assert result_of(third) == "['Selected', 'paid plumber']"
        assert (tmp_path / "paid").read_text() == "plumber\n"
        assert [receipt.target for receipt in authority.receipts()] == ["plumber"]


@pytest.mark.parametrize(("ended", "returned"), [("success", "result paid: None"), ("failure", "result AlreadyUsed")])
def test_an_interrupted_act_waits_until_it_is_settled(tmp_path: Path, ended: str, returned: str) -> None:
    """It is not made again, and the workflow goes on with what a person found out."""
    child = start(tmp_path, "die", "plumber")
    with SqliteStore(tmp_path / "store.db") as store:
        authority = Authority(store, actor="bookkeeper")
        (approval,) = wait_for(authority.ledger.pending)
        authority.ledger.resolve(approval.decision_id, select_option(approval.moment, 0))
        child.communicate()

        again = start(tmp_path, "die", "plumber")
        (intent,) = wait_for(authority.unfinished_actions)
        assert authority.ledger.pending() == ()
        authority.resolve_unfinished(intent.workflow_id, intent.intent_id, Effects(Result(ended)))
        assert returned in again.communicate(timeout=600)[0]
        assert (tmp_path / "paid").read_text() == "plumber\n"


MISTAKES: dict[str, tuple[Any, str]] = {
    "a ledger in memory": (lambda _: ask(MOMENT, ledger=Ledger()), "in memory"),
    "a store for a ledger": (lambda store: ask(MOMENT, ledger=store), "ledger is of type SqliteStore"),
    "an authority in memory": (lambda _: act(Authority().guard(print), "x"), "in memory"),
    "a plain function": (lambda _: act(cast("Any", print), "x"), "tool is of type builtin_function_or_method"),
    "a tool that asks": (lambda store: act(Authority(store).guard(print, ask=input), "x"), "Guard it without ask="),
    "no store": (lambda _: aemit(int, "x", model=MODEL, store=cast("Any", None)), "store is None"),
}


@pytest.mark.parametrize(("step", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_reported_before_the_step(tmp_path: Path, step: Any, message: str) -> None:
    """What a process would forget, or could not use, is refused."""
    with SqliteStore(tmp_path / "store.db") as store, pytest.raises(InputError, match=re.escape(message)):
        asyncio.run(step(store))


@pytest.fixture(scope="module")
def called_off(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what became of acts whose workflow was called off, by the event and its moment."""
    command = launch("tests.integrations.called_off", str(tmp_path_factory.mktemp("called_off")))
    ran = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, timeout=600, cwd=ROOT, env=environment()
    )
    rows = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    return {(row["event"], row["moment"]): row for row in rows}


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("event", ["cancelled", "timed out", "gave up within the workflow", "failed elsewhere"])
def test_an_act_whose_workflow_is_called_off_is_not_made(called_off: Any, event: str, moment: str) -> None:
    """Before the answer, the question is withdrawn, and whoever answers reads so. After it, the approval is revoked."""
    row = called_off[event, moment]
    assert (row["acts"], row["open"]) == (0, 0)
    assert row["told"].startswith("The agent withdrew" if moment == "before" else "Your answer is recorded")
