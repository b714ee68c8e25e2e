"""Options that do something, kept: in a ledger, a store, a journal, and from one process to the next."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Emission, InputError, Invalid, emit_binding_moment, emit_many, stream_binding_moment
from emitter.bulk import Job, JobResult, emit_binding_moments
from emitter.decisions import select_option
from emitter.decisions.ledger import Ledger
from emitter.host import Accepted, Acceptor, EnvelopeContext
from emitter.stores import MemoryStore
from emitter.testing import Text
from tests.forms.binding_moment.acting import ACTIONS, BACK, LEAVE, MODEL, RESUME, offering, serving
from tests.scenarios.answers import BOUND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from emitter.testing import Simulator


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Run a simulated vendor that offers both labels and one of its own."""
    with serving(monkeypatch) as running:
        yield running


@pytest.mark.usefixtures("vendor")
def test_the_ledger_takes_what_comes_back() -> None:
    """Choosing an option is choosing what the caller tied to its label; the model's own option does nothing."""
    ledger = Ledger()
    decision = emit_binding_moment("Resume?", model=MODEL, actions=ACTIONS)
    assert isinstance(decision, Emission)

    chosen = [
        ledger.resolve(
            ledger.open(decision.value, actions=decision.actions).decision_id, select_option(decision.value, index)
        ).action
        for index in range(3)
    ]

    assert chosen == ["sha256:resume", "sha256:back", None]


@pytest.mark.usefixtures("vendor")
def test_a_decision_can_cross_a_process() -> None:
    """Digests and all; so can a job, which is told apart by what it is asked and can be a key."""
    decision = emit_binding_moment("Resume?", model=MODEL, actions=ACTIONS)
    job = Job("Resume?", actions=ACTIONS)

    assert pickle.loads(pickle.dumps(decision)) == decision
    assert pickle.loads(pickle.dumps(job)) == job
    assert hash(job) == hash(Job("Resume?", actions=dict(reversed(ACTIONS.items()))))
    assert job != Job("Resume?")


def test_what_the_caller_changes_afterwards_changes_nothing(vendor: Simulator) -> None:
    """A stream is held to the actions with which it was begun."""
    vendor.script(offering(RESUME, LEAVE))
    actions: dict[str, str | None] = dict(ACTIONS)
    with stream_binding_moment("Resume?", model=MODEL, actions=actions) as running:
        actions[RESUME] = "sha256:other"
        del actions[BACK]
        decision = running.result()

    assert decision.actions == ("sha256:resume", "sha256:back", None)


OTHERS: dict[str, dict[str, str | None]] = {
    "another digest": {**ACTIONS, BACK: "sha256:other"},
    "no digest": {**ACTIONS, BACK: None},
    "the digests changed over": {RESUME: "sha256:back", BACK: "sha256:resume"},
    "a label less": {RESUME: "sha256:resume"},
    "none": {},
}


@pytest.mark.parametrize("others", OTHERS.values(), ids=OTHERS)
@pytest.mark.usefixtures("vendor")
def test_other_actions_are_another_emission(others: dict[str, str | None]) -> None:
    """With a store, what was kept for these actions is returned with them again, and for no others."""
    settings: dict[str, Any] = {"model": MODEL, "host": Acceptor(), "run_id": "run-1"}
    first = emit_binding_moment("Resume?", **settings, actions=ACTIONS)

    other = emit_binding_moment("Resume?", **settings, actions=others)
    again = emit_binding_moment("Resume?", **settings, actions=dict(reversed(ACTIONS.items())))

    assert other.attempts
    assert not again.attempts
    assert again.actions == first.actions == ("sha256:resume", "sha256:back", None)


def test_what_is_recorded_without_a_label_is_not_taken(vendor: Simulator) -> None:
    """Whoever put it there: an envelope that lacks the option of an action is no answer to this emission."""
    settings: dict[str, Any] = {"model": MODEL, "run_id": "run-1", "actions": ACTIONS}
    envelope = emit_binding_moment("Resume?", **settings, host=Acceptor()).envelope.to_json()
    envelope["payload"]["binding_moment"]["question"]["options"][1]["label"] = "Roll back tomorrow"
    forged = Acceptor(store=MemoryStore())
    assert isinstance(forged.accept(envelope, EnvelopeContext("run-1", envelope["nodeId"])).outcome, Accepted)

    with pytest.raises(Invalid, match="A different answer was accepted before"):
        emit_binding_moment("Resume?", **settings, host=forged)

    assert len(vendor.calls) == 2


def test_each_of_many_has_its_own_actions(vendor: Simulator) -> None:
    """A digest is of one call: jobs share none, and a job that cannot be asked is an item of its own."""
    jobs = [
        Job("Resume?", actions=ACTIONS),
        Job("Resume?"),
        Job("Resume?", actions={LEAVE: "sha256:leave"}),
        Job("Resume?", actions={"Something else": "sha256:else"}),
    ]

    with emit_binding_moments(jobs, model=MODEL, in_flight=2) as run:
        items = list(run)

    assert [each.result.actions for each in items[:3]] == [
        ("sha256:resume", "sha256:back", None),
        (),
        (None, None, "sha256:leave"),
    ]
    assert isinstance(items[3].error, InputError)
    assert len(vendor.calls) == 3


@pytest.mark.usefixtures("vendor")
def test_a_journal_gives_the_digests_again(tmp_path: Path) -> None:
    """A run that goes on tells of what it reads there what it told the first time."""
    jobs = [Job("Resume?", key="1", actions=ACTIONS)]
    runs: list[JobResult[Any]] = []
    for _ in range(2):
        with emit_binding_moments(jobs, model=MODEL, journal=tmp_path / "run.jsonl") as run:
            runs.extend(run)

    assert [each.replayed for each in runs] == [False, True]
    assert [each.result.actions for each in runs] == [("sha256:resume", "sha256:back", None)] * 2


def test_what_a_journal_holds_for_other_labels_is_asked_again(vendor: Simulator, tmp_path: Path) -> None:
    """An answer that lacks a label of today's is none, under whichever key it was kept."""
    vendor.script(Text(BOUND), offering(RESUME, "Stop for good"))
    for actions in (ACTIONS, {"Stop for good": "sha256:stop"}):
        jobs = [Job("Resume?", key="1", actions=actions)]
        with emit_binding_moments(jobs, model=MODEL, journal=tmp_path / "run.jsonl") as run:
            (item,) = run

    assert item.result.actions == (None, "sha256:stop")
    assert not item.replayed


@pytest.mark.usefixtures("vendor")
def test_documents_have_no_options() -> None:
    """There is nothing to choose in a document."""
    with emit_many({"type": "object"}, [Job("x", actions=ACTIONS)], model=MODEL) as run:
        (item,) = run

    assert isinstance(item.error, InputError)
    assert "emit_binding_moments" in str(item.error)
