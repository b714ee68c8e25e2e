"""What was accepted before has the outcome that it had: no handler runs and no event is told a second time."""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.errors import EmitterError, InputError, StoreFailed
from emitter.events import NodeCompleted
from emitter.host import (
    Accepted,
    Acceptor,
    Breached,
    CapKind,
    Counters,
    EnvelopeContract,
    Gated,
    HostConfig,
    InvalidEnvelope,
    OutcomeCode,
    RefusalMode,
    Secrets,
    Trust,
    build_debug_bundle,
)
from emitter.host.outcomes import load_outcome
from emitter.schema import Violation
from emitter.stores import Entry, MemoryStore, NewEntry, SqliteStore
from tests.host.envelopes import CATALOGUE, CONTEXT, NOTE, acceptor, envelope, types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from emitter.host import EnvelopeContext, EnvelopeOutcome
    from emitter.models.envelope import AIEnvelope
    from emitter.stores import StoredEntry
    from emitter.stores.protocol import Store

CORRELATION = "run-1:node-1:0:abc123"


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return a store of each kind that needs no server."""
    if request.param == "memory":
        yield MemoryStore()
    else:
        with SqliteStore(tmp_path / "log.db") as opened:
            yield opened


@dataclass
class Handling:
    """A handler of notes that counts what it was given."""

    given: list[AIEnvelope] = field(default_factory=list)

    def __call__(self, given: AIEnvelope, _: EnvelopeContext) -> tuple[NodeCompleted, ...]:
        """Handle a note."""
        self.given.append(given)
        return (NodeCompleted({"count": len(self.given)}),)

    @property
    def rules(self) -> HostConfig:
        """Rules that have it handle notes."""
        return HostConfig(CATALOGUE, handlers={NOTE: self})


def test_a_repetition_is_the_first_again(store: Store) -> None:
    """The recorded outcome and envelope, whatever the repetition says; nothing is handled or reported."""
    handling = Handling()
    host = acceptor(handling.rules, store=store)
    first = host.accept(envelope(), CONTEXT)
    log = store.events("run-1")
    again = host.accept(envelope(envelopeId="env-2", payload={"text": "another"}), CONTEXT)

    assert (first.cached, again.cached) == (False, True)
    assert (again.outcome, again.envelope) == (first.outcome, first.envelope)
    assert again.outcome.to_json()["recordedEventIds"] == [each.event_id for each in first.events]
    assert (again.events, store.events("run-1"), len(handling.given)) == ((), log, 1)


def test_what_is_recalled_is_what_is_repeated(store: Store) -> None:
    """``recall`` needs the id alone, and knows nothing of another."""
    host = acceptor(store=store)
    first = host.accept(envelope(), CONTEXT)
    found = host.recall(CORRELATION, CONTEXT)
    assert found is not None

    assert (found.outcome, found.envelope, found.cached) == (first.outcome, first.envelope, True)
    assert host.recall("another", CONTEXT) is None
    assert host.recall(CORRELATION, replace(CONTEXT, run_id="run-2")) is None


def test_an_id_means_something_in_its_run_only(store: Store) -> None:
    """Another run has its own envelopes, and its own log."""
    handling = Handling()
    host = acceptor(handling.rules, store=store)
    found = [host.accept(envelope(), replace(CONTEXT, run_id=run)) for run in ("run-1", "run-2")]

    assert [each.cached for each in found] == [False, False]
    assert [[each.sequence for each in one.events] for one in found] == [[0], [0]]
    assert len(handling.given) == 2


def test_another_kind_under_the_same_id_conflicts(store: Store) -> None:
    """It is refused, again and again, and the first stays what it was."""
    handling = Handling()
    host = acceptor(handling.rules, store=store)
    first = host.accept(envelope(), CONTEXT)
    refused = [host.accept(envelope("error"), CONTEXT) for _ in range(2)]

    assert [(each.status, each.outcome.to_json()["details"][0]["instancePath"]) for each in refused] == [
        ("invalid", "/type")
    ] * 2
    assert [types(each.events) for each in refused] == [["node.failed"]] * 2
    assert host.accept(envelope(), CONTEXT).outcome == first.outcome


def test_what_was_refused_may_come_again(store: Store) -> None:
    """Only what was accepted is remembered: a model mends under the same id."""
    host = acceptor(store=store)
    refused, accepted = host.accept(envelope(payload={}), CONTEXT), host.accept(envelope(), CONTEXT)

    assert (refused.status, accepted.status, accepted.cached) == ("invalid", "accepted", False)
    assert [each["type"] for each in store.events("run-1")] == ["log.appended", "node.completed"]


def test_what_comes_before_dedup_is_looked_at_again(store: Store) -> None:
    """A repetition that does not hold, or that the node may not emit, is refused all the same."""
    host = acceptor(store=store)
    host.accept(envelope(), CONTEXT)
    foreign = replace(CONTEXT, contract=EnvelopeContract(frozenset()))

    assert host.accept(envelope(payload={}), CONTEXT).status == "invalid"
    assert host.accept(envelope(), foreign).status == "gated"


def test_a_secret_is_struck_out_of_what_is_remembered(store: Store) -> None:
    """Whoever reads the store, or asks again without the registry, does not see it."""
    rules = HostConfig(CATALOGUE, secrets=Secrets.of({"stripe": "sk-live-0123456789"}))
    acceptor(rules, store=store).accept(envelope(payload={"text": "sk-live-0123456789"}), CONTEXT)
    again = acceptor(store=store).accept(envelope(), CONTEXT)
    assert again.envelope is not None

    assert again.envelope.payload == {"text": "[REDACTED:stripe]"}


def test_a_recorded_envelope_keeps_its_trust(store: Store) -> None:
    """A repetition from a node that read nothing untrusted does not lift it."""
    host = acceptor(store=store)
    host.accept(envelope(), replace(CONTEXT, inputs=Trust.UNTRUSTED))
    again = host.accept(envelope(), CONTEXT)
    assert again.envelope is not None

    assert (again.cached, again.envelope.meta.content_trust) == (True, Trust.UNTRUSTED)


def test_an_approval_does_not_advance_on_what_was_recorded_as_untrusted() -> None:
    """The recorded envelope is what the gate would advance on, whatever the repetition says of itself."""
    host = acceptor()
    host.accept(envelope(), replace(CONTEXT, inputs=Trust.UNTRUSTED))
    found = host.accept(envelope(), replace(CONTEXT, approving=True))

    assert (found.status, found.outcome.to_json().get("reason")) == ("invalid", OutcomeCode.APPROVAL.value)
    assert (types(found.events), found.failed) == (["log.appended"], False)
    assert host.accept(envelope(), CONTEXT).cached


def test_an_approval_advances_on_what_was_recorded_as_trusted() -> None:
    """A repetition is no reason to hold it back."""
    host = acceptor()
    host.accept(envelope(), CONTEXT)
    found = host.accept(envelope(), replace(CONTEXT, approving=True))

    assert (found.status, found.cached) == ("accepted", True)


# a handler that fails


def failing(times: int, then: Handling) -> Callable[[AIEnvelope, EnvelopeContext], Any]:
    """Return a handler that raises so often, and then does what another does."""
    left = [OSError("the disk is full")] * times

    def handle(given: AIEnvelope, context: EnvelopeContext) -> Any:
        if left:
            raise left.pop()
        return then(given, context)

    return handle


def test_a_handler_that_raises_keeps_nothing(store: Store) -> None:
    """What it raises is raised, no event is reported, and the next try is a first one."""
    handling, heard = Handling(), list[Any]()
    rules = HostConfig(CATALOGUE, handlers={NOTE: failing(2, handling)})
    host = acceptor(rules, store=store, on_event=heard.append, observe=heard.append)
    for _ in range(2):
        with pytest.raises(OSError, match="the disk is full"):
            host.accept(envelope(), CONTEXT)

    assert (store.find("run-1", CORRELATION), store.events("run-1"), heard) == (None, (), [])
    found = host.accept(envelope(), CONTEXT)
    assert (found.status, found.cached, [each.sequence for each in found.events]) == ("accepted", False, [0])
    assert len(handling.given) == 1


def test_a_handler_that_raises_half_way_tells_nothing(store: Store) -> None:
    """A generator that fails after an event has reported none."""

    def handle(*_: object) -> Iterator[NodeCompleted]:
        yield NodeCompleted()
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011  it has no message
        acceptor(HostConfig(CATALOGUE, handlers={NOTE: handle}), store=store).accept(envelope(), CONTEXT)
    assert store.events("run-1") == ()


def test_an_event_that_no_store_can_keep_is_reported_and_nothing_is_kept(store: Store) -> None:
    """The envelope may come again, to a handler that does better."""
    odd, whole = HostConfig(CATALOGUE, handlers={NOTE: lambda *_: [NodeCompleted({"at": object()})]}), Handling()
    with pytest.raises(InputError, match="not a JSON value"):
        acceptor(odd, store=store).accept(envelope(), CONTEXT)

    assert store.find("run-1", CORRELATION) is None
    assert acceptor(whole.rules, store=store).accept(envelope(), CONTEXT).status == "accepted"


def test_a_handler_may_accept_another_envelope(store: Store) -> None:
    """What leads to another envelope of the same run is no knot."""
    host: Acceptor

    def handle(*_: object) -> list[NodeCompleted]:
        inner = host.accept(envelope("error", correlationId="c-2", envelopeId="env-2"), CONTEXT)
        return [NodeCompleted({"inner": inner.status})]

    host = acceptor(HostConfig(CATALOGUE, handlers={NOTE: handle}), store=store)
    found = host.accept(envelope(), CONTEXT)

    assert found.events[0].to_json()["payload"]["outputs"] == {"inner": "accepted"}
    assert [each["type"] for each in store.events("run-1")] == ["log.appended", "node.completed"]


def test_a_handler_may_not_wait_for_itself(store: Store) -> None:
    """The same envelope within its own handler is reported at once, and nothing is kept."""
    host: Acceptor

    def handle(*_: object) -> list[NodeCompleted]:
        host.accept(envelope(), CONTEXT)
        return []

    host = acceptor(HostConfig(CATALOGUE, handlers={NOTE: handle}), store=store)
    with pytest.raises(EmitterError, match="the envelope that it is handling"):
        host.accept(envelope(), CONTEXT)
    assert store.find("run-1", CORRELATION) is None


# no store


def test_without_a_store_nothing_is_remembered() -> None:
    """A repetition is accepted again, and every acceptance counts its events from 0."""
    handling = Handling()
    host = acceptor(handling.rules, store=None)
    found = [host.accept(envelope(), CONTEXT) for _ in range(2)]
    other = host.accept(envelope("error"), CONTEXT)

    assert [each.cached for each in (*found, other)] == [False] * 3
    assert [each.status for each in (*found, other)] == ["accepted"] * 3
    assert [[each.sequence for each in one.events] for one in found] == [[0], [0]]
    assert len(handling.given) == 2
    assert host.recall(CORRELATION, CONTEXT) is None
    with pytest.raises(InputError, match="Give the Acceptor a store"):
        build_debug_bundle(host, "run-1")


# what a host may have put into the store

REMEMBERED: dict[str, EnvelopeOutcome] = {
    "accepted": Accepted("env-0", ("ev-1", "ev-2")),
    "accepted, nothing told": Accepted("env-0"),
    "unknown kind": Gated(OutcomeCode.KIND, "unknown_envelope_kind: the host accepts error", NOTE, ("error",)),
    "contract": Gated(
        OutcomeCode.CONTRACT, "envelope_contract_violation: x", NOTE, ("error", "a.b"), RefusalMode.DISCARD_AND_WARN
    ),
    "invalid": InvalidEnvelope(
        OutcomeCode.PAYLOAD,
        "envelope_invalid: /payload/text: a text",
        (Violation("/payload/text", "type", "a text"), Violation("", "json", "one document")),
    ),
    "invalid, with the code alone": InvalidEnvelope(OutcomeCode.NOT_APPLICABLE, "not-applicable"),
    **{f"breached {each.value}": Breached(each, 3, 4) for each in CapKind},
}


def remembering(outcome: Mapping[str, Any], whole: Mapping[str, Any], kind: str = NOTE) -> MemoryStore:
    """Return a store in which an envelope stands."""
    made = MemoryStore()
    made.get_or_create("run-1", CORRELATION, lambda: NewEntry(Entry(kind, outcome, whole)))
    return made


def same(one: EnvelopeOutcome, other: EnvelopeOutcome) -> bool:
    """Tell whether two outcomes say the same: in the same words, with the same code."""
    codes = [getattr(each, "code", None) for each in (one, other)]
    return (one.to_json(), type(one), codes[0]) == (other.to_json(), type(other), codes[1])


@pytest.mark.parametrize("whole", [{}, envelope()], ids=["no envelope", "envelope"])
@pytest.mark.parametrize("known", REMEMBERED.values(), ids=REMEMBERED.keys())
def test_every_outcome_is_returned_as_it_was_put(known: EnvelopeOutcome, whole: dict[str, Any]) -> None:
    """A host may remember refusals as well; none is handled or reported again."""
    handling = Handling()
    memory = remembering(known.to_json(), whole)
    found = acceptor(handling.rules, store=memory).accept(envelope(), CONTEXT)

    assert (same(found.outcome, known), found.cached, found.events) == (True, True, ())
    assert (None if found.envelope is None else found.envelope.to_json()) == (whole or None)
    assert (handling.given, memory.events("run-1")) == ([], ())


@pytest.mark.parametrize("known", REMEMBERED.values(), ids=REMEMBERED.keys())
def test_an_outcome_of_another_kind_conflicts(known: EnvelopeOutcome) -> None:
    """Whatever became of it."""
    found = acceptor(store=remembering(known.to_json(), {}, "error")).accept(envelope(), CONTEXT)

    assert (found.status, found.cached) == ("invalid", False)
    assert found.outcome.to_json()["reason"].startswith("envelope_correlation_conflict")


_TEXT = st.text(max_size=8)
_VIOLATIONS = st.lists(st.builds(Violation, _TEXT, _TEXT, _TEXT), max_size=3).map(tuple)
OUTCOMES: st.SearchStrategy[EnvelopeOutcome] = st.one_of(
    st.builds(Accepted, _TEXT, st.lists(_TEXT, max_size=3).map(tuple)),
    st.builds(
        lambda code, rest, allowed, mode: Gated(code, f"{code.value}: {rest}", NOTE, allowed, mode),
        st.sampled_from(OutcomeCode),
        _TEXT,
        st.lists(_TEXT, max_size=3).map(tuple),
        st.sampled_from(RefusalMode),
    ),
    st.builds(
        lambda code, rest, found: InvalidEnvelope(code, f"{code.value}: {rest}", found),
        st.sampled_from(OutcomeCode),
        _TEXT,
        _VIOLATIONS,
    ),
    st.builds(Breached, st.sampled_from(CapKind), st.integers(0), st.integers(0)),
)


@given(OUTCOMES)
def test_an_outcome_is_read_as_it_was_written(given_: EnvelopeOutcome) -> None:
    """To JSON and back loses nothing."""
    assert same(load_outcome(Entry(NOTE, json.loads(json.dumps(given_.to_json())), {})), given_)


FOREIGN: dict[str, dict[str, Any]] = {
    "nothing": {},
    "an unknown status": {"status": "deferred", "reason": "later"},
    "a reason without a code": {"status": "gated", "reason": "not today"},
    "no reason": {"status": "invalid"},
    "an unknown mode": {"status": "gated", "reason": "x", "gate": {"refusalMode": "shrug"}},
    "an unknown limit": {"status": "breached", "capKind": "patience"},
    "a limit without numbers": {"status": "breached", "capKind": "schema", "limit": "3"},
    "details that are none": {"status": "invalid", "reason": "envelope_invalid", "details": "all of it"},
    "ids that are none": {"status": "accepted", "envelopeId": None, "recordedEventIds": None},
}


@pytest.mark.parametrize("kept", FOREIGN.values(), ids=FOREIGN.keys())
def test_an_outcome_in_other_words_is_returned(kept: dict[str, Any]) -> None:
    """Another host's version wrote it; an envelope is never handled because nobody understands what became of it."""
    handling = Handling()
    found = acceptor(handling.rules, store=remembering(kept, {})).accept(envelope(), CONTEXT)

    assert (found.cached, found.events, handling.given) == (True, (), [])
    assert found.outcome.to_json()["status"] in {"accepted", "gated", "invalid", "breached"}


def test_a_recorded_envelope_that_is_none_is_a_failure_of_the_store() -> None:
    """Neither what it says nor what lies behind it has a word of the content."""
    host = acceptor(store=remembering(Accepted("env-0").to_json(), {"payload": "sk-live"}))
    with pytest.raises(StoreFailed, match="envelope is not valid") as error:
        host.accept(envelope(), CONTEXT)

    assert "sk-live" not in "".join(traceback.format_exception(error.value))
    assert error.value.hint


def test_a_limit_is_reported_in_the_words_that_another_host_found() -> None:
    """What it recorded of a breach is what is returned; ours names the limit where it says nothing."""
    kept = {"status": "breached", "capKind": "schema", "limit": 3, "observed": 4}
    other, none = (
        acceptor(store=remembering({**kept, **more}, {})).accept(envelope(), CONTEXT).outcome.to_json()["reason"]
        for more in ({"reason": "enough of that"}, {})
    )

    assert (other, none) == ("enough of that", "cap_breached: schemaRounds: 4 where the limit is 3")


# races


@dataclass
class Together:
    """A store that lets nobody past dedup before all are there: everyone believes to be the first."""

    store: Store
    barrier: Barrier

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Return what is remembered, when all have asked."""
        found = self.store.find(run_id, correlation_id)
        self.barrier.wait(30)
        return found

    def get_or_create(self, run_id: str, correlation_id: str, make: Callable[[], NewEntry]) -> StoredEntry:
        """Do what the store does."""
        return self.store.get_or_create(run_id, correlation_id, make)

    def append(self, run_id: str, events: Any) -> Any:
        """Do what the store does."""
        return self.store.append(run_id, events)

    def events(self, run_id: str, after: int = -1, *, node_id: str | None = None) -> tuple[Mapping[str, Any], ...]:
        """Do what the store does."""
        return self.store.events(run_id, after, node_id=node_id)


CROWD = 8


def test_of_many_threads_one_handles(store: Store) -> None:
    """All of them have the same outcome and envelope, one of them the events, and the log tells of it once."""
    handling = Handling()
    host = acceptor(handling.rules, store=Together(store, Barrier(CROWD)))
    with ThreadPoolExecutor(CROWD) as pool:
        given_ = [envelope(envelopeId=f"env-{number}") for number in range(CROWD)]
        found = list(pool.map(lambda each: host.accept(each, CONTEXT), given_))

    assert len(handling.given) == 1
    assert sorted(each.cached for each in found) == [False] + [True] * (CROWD - 1)
    assert len({json.dumps([each.outcome.to_json(), _whole(each)]) for each in found}) == 1
    assert sum(len(each.events) for each in found) == 1
    assert [each["eventId"] for each in store.events("run-1")] == list(found[0].outcome.to_json()["recordedEventIds"])


def _whole(found: Any) -> Any:
    return found.envelope.to_json()


def test_of_two_kinds_at_once_one_is_accepted(store: Store) -> None:
    """The other has passed dedup, and is refused all the same."""
    host = acceptor(store=Together(store, Barrier(2)))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda kind: host.accept(envelope(kind), CONTEXT), (NOTE, "error")))

    by_status = {each.status: each for each in found}
    assert by_status.keys() == {"accepted", "invalid"}
    assert by_status["invalid"].outcome.to_json()["reason"].startswith("envelope_correlation_conflict")
    reported = sorted(types(by_status["accepted"].events) + types(by_status["invalid"].events))
    assert sorted(each["type"] for each in store.events("run-1")) == reported
    assert "node.failed" in reported


def test_after_one_that_failed_the_next_of_a_crowd_handles(store: Store) -> None:
    """Its caller has the error; of the others one handles, and the rest has what came of that."""
    handling = Handling()
    rules = HostConfig(CATALOGUE, handlers={NOTE: failing(1, handling)})
    host = acceptor(rules, store=Together(store, Barrier(CROWD)))

    def accept(_: int) -> str:
        try:
            return "cached" if host.accept(envelope(), CONTEXT).cached else "first"
        except OSError:
            return "failed"

    with ThreadPoolExecutor(CROWD) as pool:
        found = sorted(pool.map(accept, range(CROWD)))

    assert found == ["cached"] * (CROWD - 2) + ["failed", "first"]
    assert (len(handling.given), len(store.events("run-1"))) == (1, 1)


PROCESSES, ROUNDS = 2, 40
_PROCESS = """
import json, os, sys
from emitter.host import Acceptor, HostConfig
from emitter.events import NodeCompleted
from emitter.stores import SqliteStore
from tests.host.envelopes import CATALOGUE, CONTEXT, NOTE, envelope

file, notes, rounds = sys.argv[1], os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND), int(sys.argv[3])

def handle(given, context):
    os.write(notes, f"{given.correlation_id}\\n".encode())
    return [NodeCompleted({"by": os.getpid()}), NodeCompleted({"second": True})]

with SqliteStore(file) as store:
    host = Acceptor(HostConfig(CATALOGUE, handlers={NOTE: handle}), store=store)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(rounds):
        found = host.accept(envelope(correlationId=f"c-{number}", envelopeId=f"env-{os.getpid()}-{number}"), CONTEXT)
        print(json.dumps([found.cached, found.outcome.to_json(), len(found.events)]), flush=True)
"""


def test_of_two_processes_one_handles(tmp_path: Path) -> None:
    """Each envelope by either, and both have the same outcome; each is reported once, in one piece."""
    notes = tmp_path / "notes"
    command = [sys.executable, "-c", _PROCESS, str(tmp_path / "log.db"), str(notes), str(ROUNDS)]
    with ExitStack() as stack:
        crew = [
            stack.enter_context(
                subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
                )
            )
            for _ in range(PROCESSES)
        ]
        for each in crew:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        for each in crew:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        reported = [[json.loads(line) for line in each.communicate()[0].splitlines()] for each in crew]

    assert sorted(notes.read_text("ascii").split()) == sorted(f"c-{number}" for number in range(ROUNDS))
    for one, other in zip(*reported, strict=True):
        assert one[1] == other[1]
        assert sorted([one[0], other[0]]) == [False, True]
        assert sorted([one[2], other[2]]) == [0, 2]
    with SqliteStore(tmp_path / "log.db") as store:
        log = store.events("run-1")
    assert [each["sequence"] for each in log] == list(range(2 * ROUNDS))
    causes = [each["causationId"] for each in log]
    assert causes[::2] == causes[1::2]
    assert sorted(set(causes)) == sorted(f"c-{number}" for number in range(ROUNDS))


# content that the host cannot show

SURFACE: dict[str, Any] = {"catalogVersion": "0.9.1", "surface": {"components": [{"component": "text", "text": "Hi."}]}}
CONTENT = {"ui.a2ui-surface": SURFACE, "media.image": {"bytes": 3, "base64": "AAAA"}, "ui.gauge": {"level": 0.5}}


def unshown(kind: str = "ui.a2ui-surface", **change: Any) -> dict[str, Any]:
    """Return content of a kind that the standard catalogue does not list."""
    return envelope(kind, **{"payload": CONTENT.get(kind), "correlationId": "run-1:node-1:0:shown", **change})


@pytest.mark.parametrize("kind", CONTENT)
def test_content_that_the_host_cannot_show_is_stored(kind: str, store: Store) -> None:
    """It is gated with a warning, the node goes on, and what was emitted is there for a host that can show it."""
    host = acceptor(HostConfig(), store=store)
    found = host.accept(unshown(kind), CONTEXT)
    kept = store.find("run-1", "run-1:node-1:0:shown")

    assert (found.status, found.failed, types(found.events)) == ("gated", False, ["log.appended"])
    assert kept is not None
    assert (kept.type, kept.outcome["status"], kept.envelope["payload"]) == (kind, "gated", CONTENT[kind])
    recalled = host.recall("run-1:node-1:0:shown", CONTEXT)
    assert recalled is not None
    assert recalled.envelope is not None
    assert recalled.envelope.payload == CONTENT[kind]


def test_stored_content_is_not_reported_twice(store: Store) -> None:
    """A repetition has the outcome that it had; another kind under its id is a conflict."""
    host = acceptor(HostConfig(), store=store)
    first, again = host.accept(unshown(), CONTEXT), host.accept(unshown(), CONTEXT)
    other = host.accept(envelope("error", correlationId="run-1:node-1:0:shown"), CONTEXT)

    assert again.outcome == first.outcome
    assert (again.cached, again.events) == (True, ())
    assert len(store.events("run-1")) == len(first.events) + len(other.events)
    assert other.outcome.to_json()["reason"].startswith("envelope_correlation_conflict")


def test_stored_content_holds_no_secret_and_states_its_trust(store: Store) -> None:
    """It passes redaction and trust as an accepted envelope does."""
    host = acceptor(HostConfig(secrets=Secrets.of({"key": "sk-live-4f9a8b7c"})), store=store)
    host.accept(unshown("ui.gauge", payload={"a": ["x sk-live-4f9a8b7c"]}), replace(CONTEXT, inputs=Trust.UNTRUSTED))
    kept = store.find("run-1", "run-1:node-1:0:shown")

    assert kept is not None
    assert kept.envelope["payload"] == {"a": ["x [REDACTED:key]"]}
    assert kept.envelope["meta"]["contentTrust"] == "untrusted"


@pytest.mark.parametrize(
    ("context", "given_"),
    [
        (replace(CONTEXT, counters=Counters(envelopes=32)), unshown()),
        (replace(CONTEXT, contract=EnvelopeContract(frozenset())), unshown()),
        (CONTEXT, unshown("vendor.acme.unknown", payload={})),
    ],
    ids=["one too many", "outside the contract", "no content"],
)
def test_what_the_node_may_not_emit_is_not_stored(
    context: EnvelopeContext, given_: dict[str, Any], store: Store
) -> None:
    """Only content that nothing but its kind keeps from being accepted."""
    found = acceptor(HostConfig(), store=store).accept(given_, context)

    assert (found.status, found.failed) == ("gated", False)
    assert store.find("run-1", "run-1:node-1:0:shown") is None


@pytest.mark.parametrize("wrong", [{"payload": {}}, {"schemaVersion": 99}, {"type": "vendor.acme.unknown"}])
def test_a_refused_envelope_reserves_no_correlation_id(wrong: dict[str, Any], store: Store) -> None:
    """Another kind may follow under the same id, such as the report that it cannot be done."""
    host = acceptor(store=store)
    refused, report = host.accept(envelope(**wrong), CONTEXT), host.accept(envelope("error"), CONTEXT)
    late = host.accept(envelope(), CONTEXT)

    assert (refused.envelope, report.status) == (None, "accepted")
    assert late.outcome.to_json()["reason"].startswith("envelope_correlation_conflict")
