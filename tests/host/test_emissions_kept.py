"""Emissions with a store: what was accepted for a run, node and turn is returned, and nobody is asked again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter import EmissionError, Invalid, Policy, Refused, Truncated, aemit, emit, emit_binding_moment, emit_many
from emitter.errors import LimitReached
from emitter.host import Acceptor, HostConfig, HostLimits
from emitter.models import Deliberation, Hatches
from emitter.models.binding_moment import Clarification, ClarificationRequest
from emitter.stores import MemoryStore, SqliteStore
from emitter.testing import Cut, Malformed, Simulator, simulator, write_decision
from emitter.testing import Refused as Refusing
from tests.host.emitting import FORM, FUNCTIONS, MODEL, POLICY, Meeting, moment, saying
from tests.host.judging import judge_log
from tests.launching import launch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.events import NodeCompleted, RunEvent
    from emitter.host import AIEnvelope, EnvelopeContext
    from emitter.messages import Json
    from emitter.stores import Store
    from emitter.testing import Behaviour, ReceivedRequest

ROOT = Path(__file__).parents[2]


def counting(asked: ReceivedRequest) -> Behaviour:
    """Say something else each time."""
    return saying(f"answer {next(_numbers)}")(asked)


_numbers = count()


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Run a vendor that the environment leads to, and that never says the same twice."""
    with simulator(answers=counting) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


def asked(store: Store, **more: Any) -> dict[str, Any]:
    """Return the settings of an emission that is kept."""
    return {"model": MODEL, "policy": POLICY, "run_id": "run-1", "host": Acceptor(store=store), **more}


def accepted(store: Store) -> list[Any]:
    """Return the types of what the log tells, having seen that it has no gaps."""
    log = store.events("run-1")
    judge_log(log)
    return [each["type"] for each in log]


@pytest.mark.parametrize("function", [each for each in FUNCTIONS if each != "batch"])
def test_what_was_accepted_is_returned_and_nobody_is_asked(function: str, vendor: Simulator) -> None:
    """Through every function: the value and the envelope that were recorded, no attempt, no event."""
    store = MemoryStore()
    first, *_ = FUNCTIONS[function](**asked(store))
    log, calls = accepted(store), len(vendor.calls)
    again, *_ = FUNCTIONS[function](**asked(store))

    assert (again.value, again.envelope) == (first.value, first.envelope)
    assert (again.attempts, again.events) == ((), ())
    assert (accepted(store), len(vendor.calls)) == (log, calls)
    assert log[-1] == "node.completed"
    assert [each.to_json() for each in first.events] == list(store.events("run-1"))


@pytest.mark.parametrize("function", ["emit", "stream", "emit_many"])
@pytest.mark.usefixtures("vendor")
def test_every_event_leads_to_the_envelope(function: str) -> None:
    """They have one ``causationId``, which is the envelope's ``correlationId``."""
    found, *_ = FUNCTIONS[function](**asked(MemoryStore()))

    assert {each.causation_id for each in found.events} == {found.envelope.correlation_id}


def test_a_batch_does_not_ask_for_what_is_kept(vendor: Simulator) -> None:
    """What another run was paid for is in no batch."""
    store = MemoryStore()
    first, *_ = FUNCTIONS["batch"](**asked(store))
    calls = len(vendor.calls)
    again, *_ = FUNCTIONS["batch"](**asked(store))

    assert (again.value, len(vendor.calls)) == (first.value, calls)


def test_one_function_returns_what_another_recorded(vendor: Simulator) -> None:
    """Whole or streamed, sync or async: the ids name the emission."""
    store = MemoryStore()
    values = [FUNCTIONS[function](**asked(store))[0].value for function in ("emit", "stream", "aemit", "astream")]

    assert values == [values[0]] * 4
    assert len(vendor.calls) == 1


def test_another_turn_node_run_or_kind_is_asked_anew(vendor: Simulator) -> None:
    """Each of them is a part of the emission's name."""
    store = MemoryStore()
    more: list[dict[str, Any]] = [{}, {"turn": 1}, {"node_id": "other"}, {"run_id": "run-2"}]
    values = [emit(FORM, "?", **asked(store, **each)).value["text"] for each in more]
    emit_binding_moment("?", **asked(store, node_id="emit"))

    assert len(set(values)) == len(more)
    assert len(vendor.calls) == len(more) + 1
    accepted(store)


@pytest.mark.parametrize("other", [({**FORM, "title": "Other"}, "?"), (FORM, "!")], ids=["form", "words"])
def test_another_question_under_the_same_ids_is_asked(other: tuple[Any, str], vendor: Simulator) -> None:
    """What was recorded answers the question that it was recorded for, and no other."""
    store = MemoryStore()
    first = emit(FORM, "?", **asked(store))
    second = emit(*other, **asked(store))

    assert second.envelope.correlation_id != first.envelope.correlation_id
    assert emit(FORM, "?", **asked(store)).envelope == first.envelope
    assert emit(*other, **asked(store)).envelope == second.envelope
    assert len(vendor.calls) == 2


@pytest.mark.parametrize(
    "change",
    [{"hatches": Hatches(free_text=False, dialogue=False)}, {"decision_class": "consent"}],
    ids=["hatches", "decision class"],
)
def test_a_decision_under_other_terms_is_asked_anew(change: dict[str, Any], vendor: Simulator) -> None:
    """An envelope with a veto closed is no answer for whoever wants it open; each is kept for its own terms."""
    store = MemoryStore()
    first = emit_binding_moment("?", **asked(store))
    other = emit_binding_moment("?", **asked(store), **change)

    assert other.envelope.correlation_id != first.envelope.correlation_id
    assert emit_binding_moment("?", **asked(store)).envelope == first.envelope
    assert emit_binding_moment("?", **asked(store), **change).envelope == other.envelope
    assert len(vendor.calls) == 2


def test_what_withholds_a_decision_is_kept_as_well(vendor: Simulator) -> None:
    """It is a success of the turn: its reason is returned again."""
    store = MemoryStore()
    vendor.script(write_decision(Deliberation(state="Open.", missing=("A date.",), permission="May I look?")))
    first, again = (emit_binding_moment("?", **asked(store)) for _ in range(2))

    assert first.envelope.type == "vendor.emitter.deliberation"
    assert (again.envelope, again.reason) == (first.envelope, first.reason)  # type: ignore[union-attr]
    assert len(vendor.calls) == 1


@pytest.mark.parametrize("wrong", [Refusing(), Malformed()], ids=["refused", "malformed"])
def test_a_failure_stands_in_the_log_and_is_asked_for_again(wrong: Behaviour, vendor: Simulator) -> None:
    """Its events have the run's numbers; it is no outcome that is remembered."""
    store = MemoryStore()
    vendor.script(wrong, wrong)
    with pytest.raises((Refused, Invalid)) as raised:
        emit(FORM, "?", **asked(store))
    vendor.reset()
    failed = accepted(store)

    assert failed[-1] == "node.failed"
    assert [each.to_json() for each in raised.value.trace.events] == list(store.events("run-1"))
    found = emit(FORM, "?", **asked(store))
    assert accepted(store) == [*failed, *[each.type for each in found.events]]
    assert [each.sequence for each in found.events] == list(range(len(failed), len(store.events("run-1"))))


def test_many_at_once_share_a_log_without_gaps(vendor: Simulator) -> None:
    """Each has its node; a second run of them asks nobody."""
    store = MemoryStore()
    first = [each.value for each in emit_many(FORM, ["?"] * 20, progress=False, **asked(store))]
    again = [each.value for each in emit_many(FORM, ["?"] * 20, progress=False, **asked(store))]

    assert first == again
    assert len(vendor.calls) == 20
    assert accepted(store).count("node.completed") == 20


class Counting(MemoryStore):
    """A store that counts the events it returns."""

    __slots__ = ("read",)
    read: int

    def events(self, run_id: str, after: int = -1, *, node_id: str | None = None) -> tuple[Mapping[str, Json], ...]:
        """Return the log."""
        found = super().events(run_id, after, node_id=node_id)
        self.read = getattr(self, "read", 0) + len(found)
        return found


@pytest.mark.usefixtures("vendor")
def test_an_emission_reads_its_own_node_s_events() -> None:
    """A run of many costs no more for each, however many there are."""
    read: list[float] = []
    for jobs in (5, 40):
        store = Counting()
        emit_many(FORM, ["?"] * jobs, progress=False, **asked(store)).results()
        read.append(store.read / jobs)

    assert read[0] == read[1]


def test_two_threads_get_the_same_envelope(vendor: Simulator) -> None:
    """Both find nothing, both ask, one is recorded, and both have that."""
    store = Meeting()
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: emit(FORM, "?", **asked(store)), range(2)))

    assert found[0].value == found[1].value
    assert found[0].envelope == found[1].envelope
    assert len(vendor.calls) == 2
    assert accepted(store).count("node.completed") == 1


def test_two_tasks_get_the_same_envelope(vendor: Simulator) -> None:
    """In one loop as well, where the store is asked between the awaits."""
    store = MemoryStore()

    async def both() -> list[Any]:
        return list(await asyncio.gather(*(aemit(FORM, "?", **asked(store)) for _ in range(2))))

    found = asyncio.run(both())
    assert found[0].envelope == found[1].envelope
    assert accepted(store).count("node.completed") == 1
    assert len(vendor.calls) == 2


def test_two_threads_whose_models_choose_otherwise_get_the_same_envelope(vendor: Simulator) -> None:
    """One model binds and the other does not: the emission is one, and what was recorded first is its outcome."""
    store = Meeting()
    vendor.script(
        write_decision(moment("it")),
        write_decision(Deliberation(state="Open.", missing=("A date.",), permission="May I?")),
    )
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: emit_binding_moment("?", **asked(store)), range(2)))

    assert found[0].envelope == found[1].envelope


# processes


def start(path: Path, vendor: Simulator, how: str = "whole") -> subprocess.Popen[str]:
    """Start a process that emits with a store in a file."""
    environment = {**os.environ, **vendor.environment(), "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    words = launch("tests.host.emitting_process", str(path), how)
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)


def ended(process: subprocess.Popen[str]) -> Any:
    """Wait for its end, and return what it reported."""
    reported, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return json.loads(reported)


def test_another_process_is_given_what_was_accepted(vendor: Simulator, tmp_path: Path) -> None:
    """The store outlives its process; the log is the first one's."""
    first = ended(start(tmp_path / "runs.db", vendor))
    again = ended(start(tmp_path / "runs.db", vendor))

    assert (first["calls"], again["calls"], len(vendor.calls)) == (1, 0, 1)
    assert (again["value"], again["envelope"]) == (first["value"], first["envelope"])
    with SqliteStore(tmp_path / "runs.db") as store:
        assert emit(FORM, "?", **asked(store)).value == first["value"]
        assert accepted(store).count("node.completed") == 1


def test_a_process_that_dies_before_the_record_leaves_no_half_of_it(vendor: Simulator, tmp_path: Path) -> None:
    """Its call stands in the log and no envelope; who comes next asks again, and goes on in the log."""
    dying = start(tmp_path / "runs.db", vendor, "killed")
    dying.communicate(timeout=600)
    with SqliteStore(tmp_path / "runs.db") as store:
        assert (dying.returncode, accepted(store)) == (-signal.SIGKILL, ["log.appended", "provider.usage"])
        found = emit(FORM, "?", **asked(store))
        assert len(vendor.calls) == 2
        assert accepted(store)[-1] == "node.completed"
        assert found.events[0].sequence == 2


def test_two_processes_at_once_get_the_same_envelope(vendor: Simulator, tmp_path: Path) -> None:
    """Each has an answer of its own before either goes on; one is recorded, and both have that."""
    (tmp_path / "meeting").mkdir()
    processes = [start(tmp_path / "runs.db", vendor, str(tmp_path / "meeting")) for _ in range(2)]
    one, other = [ended(each) for each in processes]

    assert one == other
    assert (one["calls"], len(vendor.calls)) == (1, 2)
    with SqliteStore(tmp_path / "runs.db") as store:
        assert accepted(store).count("node.completed") == 1
        assert accepted(store).count("provider.usage") == 2


def test_the_name_of_an_emission_is_not_taken_without_a_store(vendor: Simulator) -> None:
    """A host that remembers nothing asks each time."""
    host = Acceptor(store=None)
    values = [emit(FORM, "?", model=MODEL, run_id="run-1", host=host).value["text"] for _ in range(2)]

    assert len(set(values)) == len(vendor.calls) == 2
    assert issubclass(Refused, EmissionError)


# limits

FEW = HostLimits(envelopes_per_turn=32, schema_rounds=3, clarification_rounds=1)
ASKING = write_decision(ClarificationRequest(questions=(Clarification(id="q", question="Which region?"),)))


def limited(limits: HostLimits, store: Store | None) -> Acceptor:
    """Return a host that allows little."""
    return Acceptor(HostConfig(limits=limits), store=store)


def hosts(kind: str, limits: HostLimits, folder: Path) -> Iterator[Acceptor]:
    """Yield a host for each of three emissions: the same one, or another of the same store."""
    with SqliteStore(folder / "runs.db") as store:
        same = {"memory": limited(limits, MemoryStore()), "none": limited(limits, None), "shared": None}[kind]
        for _ in range(3):
            yield same or limited(limits, store)


@pytest.mark.parametrize("kind", ["memory", "none", "shared"])
def test_a_hosts_clarification_rounds_bind_the_emissions_of_a_node(
    kind: str, vendor: Simulator, tmp_path: Path
) -> None:
    """They count together, whichever turn they are of; another node of the run has rounds of its own."""
    vendor.script(*[ASKING] * 4)
    reported: list[RunEvent] = []
    for turn, host in enumerate(hosts(kind, FEW, tmp_path)):
        settings: dict[str, Any] = {**asked(MemoryStore()), "host": host, "turn": turn, "on_event": reported.append}
        if turn == 0:
            assert emit_binding_moment("?", **settings, node_id="n").envelope.type == "clarification.request"
            continue
        with pytest.raises(LimitReached) as raised:
            emit_binding_moment("?", **settings, node_id="n")
        assert raised.value.code == "cap_breached"
        assert [each.type for each in raised.value.trace.events][-2:] == ["cap.breached", "node.failed"]
        if turn == 2:
            emit_binding_moment("?", **settings, node_id="another")
    breaches = [each.to_json()["payload"] for each in reported if each.type == "cap.breached"]
    assert breaches == [{"nodeId": "n", "kind": "clarification", "limit": 1, "observed": 2}] * 2


@pytest.mark.parametrize("kind", ["memory", "none", "shared"])
def test_a_hosts_envelopes_per_turn_bind_the_emissions_of_a_turn(kind: str, vendor: Simulator, tmp_path: Path) -> None:
    """One too many is not paid for; another turn of the node begins anew."""
    given = hosts(kind, HostLimits(envelopes_per_turn=1), tmp_path)
    settings = {**asked(MemoryStore()), "node_id": "n"}
    emit(FORM, "first", **{**settings, "host": next(given)})
    with pytest.raises(LimitReached) as raised:
        emit(FORM, "second", **{**settings, "host": next(given)})
    breached, failed = (each.to_json() for each in raised.value.trace.events)

    assert raised.value.code == "cap_breached"
    assert len(vendor.calls) == 1
    assert breached["payload"] == {"kind": "envelopes", "limit": 1, "observed": 2}
    assert failed["payload"]["error"]["code"] == "cap_breached"
    emit(FORM, "third", **{**settings, "host": next(given)}, turn=1)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_limits_bind_every_function(function: str, vendor: Simulator) -> None:
    """A host that takes no envelope is asked for none, and one without rounds allows no retry."""
    shut, once = (
        limited(each, MemoryStore()) for each in (HostLimits(envelopes_per_turn=0), HostLimits(schema_rounds=0))
    )
    with pytest.raises(LimitReached):
        FUNCTIONS[function](**{**asked(MemoryStore()), "host": shut})
    assert not vendor.calls

    vendor.script(Malformed(), Malformed())
    with pytest.raises(Invalid) as raised:
        FUNCTIONS[function](**{**asked(MemoryStore()), "host": once})
    assert len(raised.value.trace.attempts) == 1


def test_a_repetition_is_no_further_envelope_of_the_turn(vendor: Simulator) -> None:
    """What was accepted is returned at the limit as well, and a batch of many situations has a node for each."""
    host = limited(HostLimits(envelopes_per_turn=1), MemoryStore())
    settings = {**asked(MemoryStore()), "host": host}

    assert emit(FORM, "?", **settings).value == emit(FORM, "?", **settings).value
    assert len([each.value for each in emit_many(FORM, ["a", "b", "c"], progress=False, **settings)]) == 3
    assert len(vendor.calls) == 4


def test_an_emission_under_way_counts(vendor: Simulator) -> None:
    """A handler that emits for its own turn finds the place of its envelope taken."""
    refused: list[str] = []

    def emitting(_: AIEnvelope, context: EnvelopeContext) -> list[NodeCompleted]:
        try:
            emit(FORM, "inner", model=MODEL, host=host, run_id=context.run_id, node_id=context.node_id)
        except LimitReached as error:
            refused.append(error.code)
        return []

    rules = HostConfig(limits=HostLimits(envelopes_per_turn=1), handlers={"vendor.emitter.document": emitting})
    host = Acceptor(rules)
    emit(FORM, "outer", model=MODEL, host=host, run_id="r", node_id="n")

    assert refused == ["cap_breached"]
    assert len(vendor.calls) == 1


@pytest.mark.parametrize(
    ("attempts", "rounds", "calls"), [(3, 0, 1), (3, 1, 2), (3, 3, 3), (8, 3, 4), (1, 3, 1), (16, 32, 16)]
)
def test_schema_rounds_are_the_lesser_of_policy_and_host(
    attempts: int, rounds: int, calls: int, vendor: Simulator
) -> None:
    """A round is a retry; ``cap.breached`` tells the ceiling that held."""
    vendor.script(*[Malformed()] * 16)
    host = limited(HostLimits(schema_rounds=rounds), MemoryStore())
    with pytest.raises(Invalid) as raised:
        emit(FORM, "?", model=MODEL, host=host, policy=Policy(max_attempts=attempts))
    (breach,) = [each.to_json()["payload"] for each in raised.value.trace.events if each.type == "cap.breached"]

    assert len(vendor.calls) == calls
    assert (breach["kind"], breach["limit"], breach["observed"]) == ("schema", calls - 1, calls)


def test_cuts_count_as_schema_rounds(vendor: Simulator) -> None:
    """A retry after a cut is a round like any other."""
    vendor.script(*[Cut()] * 16)
    with pytest.raises(Truncated):
        emit(FORM, "?", model=MODEL, host=limited(HostLimits(schema_rounds=1), None), policy=Policy(max_attempts=8))

    assert len(vendor.calls) == 2


def test_without_a_host_the_policy_alone_decides(vendor: Simulator) -> None:
    """Where no host is given none advertises a limit: neither retries nor a run's emissions are bounded by one."""
    vendor.script(*[Malformed()] * 8)
    with pytest.raises(Invalid):
        emit(FORM, "?", model=MODEL, policy=Policy(max_attempts=8))
    assert len(vendor.calls) == 8

    vendor.script(*[ASKING] * 8)
    for _ in range(8):
        emit_binding_moment("?", model=MODEL, run_id="r", node_id="n")
