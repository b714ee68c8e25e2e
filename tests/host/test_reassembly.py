"""Chunks come in, and the envelope is accepted once it is whole: handled once, and never before."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.events import Event, NodeCompleted
from emitter.host import (
    Acceptance,
    AIEnvelope,
    ChunkLimits,
    EnvelopeContract,
    EnvelopeReassembler,
    HostConfig,
    Secrets,
    Trust,
)
from tests.host.envelopes import CATALOGUE, CONTEXT, NOTE, acceptor, envelope, types

TIMEOUT = 10.0
SECRET = "sk-live-0123456789"
TEXT = json.dumps({"text": "hello, world"})


@dataclass
class Time:
    """A clock that goes on when a test says so."""

    now: float = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@dataclass
class Host:
    """A reassembly, its time, and what was handled."""

    reassembly: EnvelopeReassembler
    time: Time
    handled: list[Any]

    def take(self, *chunks: Any, **context: Any) -> list[str | None]:
        """Return what becomes of each chunk: a status, or None while others are awaited."""
        return [None if each is None else each.status for each in self.found(*chunks, **context)]

    def found(self, *chunks: Any, **context: Any) -> list[Acceptance | None]:
        """Return what becomes of each chunk."""
        return [self.reassembly.accept(each, replace(CONTEXT, **context)) for each in chunks]

    def log(self, run_id: str = "run-1") -> list[str]:
        """Return what was reported, by type."""
        assert self.reassembly.acceptor.store is not None
        return [each["type"] for each in self.reassembly.acceptor.store.events(run_id)]


def host(rules: HostConfig | None = None, bounds: ChunkLimits | None = None, **settings: Any) -> Host:
    """Return a host that puts chunks together, and handles notes by noting them."""
    handled: list[Any] = []

    def handle(found: AIEnvelope, _: object) -> list[Event]:
        handled.append(found.payload)
        return [NodeCompleted()]

    rules = replace(rules or HostConfig(CATALOGUE), handlers={NOTE: handle})
    time = Time()
    accepting = acceptor(rules, **settings)
    return Host(EnvelopeReassembler(accepting, bounds or ChunkLimits(timeout=TIMEOUT), time), time, handled)


def chunk(index: int, payload: Any, *, last: bool = False, total: int = -1, **change: Any) -> dict[str, Any]:
    """Return a chunk, the last or one before it."""
    partial = {"isPartial": not last, "index": index, "total": total}
    return envelope(envelopeId=f"env-{index}", payload=payload, partial=partial, **change)


def fragments(text: str = TEXT, pieces: int = 3, **change: Any) -> list[dict[str, Any]]:
    """Return a payload's text in so many pieces."""
    size = -(-len(text) // pieces)
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    return [chunk(index, each, last=index == len(cut) - 1, **change) for index, each in enumerate(cut)]


def last(found: list[Acceptance | None]) -> Acceptance:
    """Return what the last chunk came to."""
    assert found[-1] is not None
    return found[-1]


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=lambda order: "".join(map(str, order)))
def test_fragments_are_accepted_when_all_are_there(order: tuple[int, ...]) -> None:
    """In any order; until then nothing is handled, reported or remembered."""
    taken, pieces = host(), fragments()
    for index in order[:-1]:
        assert taken.take(pieces[index]) == [None]
        assert (taken.handled, taken.log()) == ([], [])
    found = last(taken.found(pieces[order[-1]]))
    assert found.envelope is not None

    assert (found.status, found.envelope.payload, found.envelope.partial) == ("accepted", json.loads(TEXT), None)
    assert (taken.handled, types(found.events)) == ([json.loads(TEXT)], ["node.completed"])


def test_the_last_snapshot_is_accepted() -> None:
    """It stands alone, whatever else came."""
    taken = host()
    found = last(taken.found(chunk(0, {"text": "h"}), chunk(2, {"text": "hello"}, last=True)))

    assert (found.status, taken.handled) == ("accepted", [{"text": "hello"}])


def test_a_whole_envelope_passes() -> None:
    """One that is no chunk, and one that is the only one."""
    assert host().take(envelope()) == ["accepted"]
    assert host().take(chunk(0, {"text": "all"}, last=True, total=1)) == ["accepted"]


@pytest.mark.parametrize(
    "given_", [None, [], "text", {}, chunk(0, "x", extra=1)], ids=["null", "list", "text", "empty", "odd"]
)
def test_what_is_no_envelope_is_refused(given_: Any) -> None:
    """As ``accept`` does, and reported as such."""
    taken = host()

    assert (taken.take(given_), taken.log()) == (["invalid"], ["log.appended"])


def test_a_chunk_that_is_not_put_together_is_refused() -> None:
    """A host that has no reassembly says so, and does not act on a part."""
    found = acceptor().accept(chunk(0, {"text": "h"}), CONTEXT)

    assert found.status == "invalid"
    assert "pass chunks to an EnvelopeReassembler" in found.outcome.to_json()["reason"]


def test_a_typed_chunk_is_taken() -> None:
    """As ``Acceptor.accept`` takes an ``AIEnvelope``."""
    typed = [AIEnvelope.model_validate(each) for each in fragments()]

    assert host().take(*typed) == [None, None, "accepted"]


# repetitions


def test_a_repeated_chunk_adds_nothing() -> None:
    """Before the end it is awaited for, and after it has the outcome of the whole."""
    taken, (one, two, three) = host(), fragments()
    early = taken.take(one, one, two, one)
    end, *late = taken.found(three, one, three)
    assert end is not None

    assert early == [None] * 4
    assert [each.cached for each in late if each is not None] == [True, True]
    assert {each.outcome.to_json()["envelopeId"] for each in (end, *late) if each is not None} == {"env-2"}
    assert (len(taken.handled), taken.log()) == (1, ["node.completed"])


def test_chunks_of_what_was_accepted_before_are_known() -> None:
    """Another process has accepted it: put together anew, it has the outcome that it had."""
    first = host()
    first.take(*fragments())
    second = host(store=first.reassembly.acceptor.store)
    found = second.found(*fragments())

    assert (last(found).status, last(found).cached, second.handled) == ("accepted", True, [])


def test_a_whole_envelope_amid_its_chunks_is_handled_once() -> None:
    """Whichever comes first counts."""
    taken, (one, two, three) = host(), fragments()
    found = taken.take(one, envelope(), two, three)

    assert (found, len(taken.handled)) == ([None, "accepted", None, "accepted"], 1)


# what contradicts

BROKEN: dict[str, list[dict[str, Any]]] = {
    "another piece": [chunk(0, "a"), chunk(0, "b")],
    "another version": [chunk(0, "a"), chunk(1, "b", schemaVersion=1)],
    "beyond the total": [chunk(0, "a", total=2), chunk(2, "b", total=2)],
    "another total": [chunk(0, "a", total=2), chunk(1, "b", total=3)],
    "pieces and snapshots": [chunk(0, "a"), chunk(1, {"text": "b"})],
    "two ends": [chunk(1, "a", last=True), chunk(2, "b", last=True)],
    "too many": [chunk(0, "a"), chunk(9, "b")],
    "too large": [chunk(0, "a"), chunk(1, "b" * 200)],
}
SMALL = ChunkLimits(max_chunks=8, max_size=100, timeout=TIMEOUT)


@pytest.mark.parametrize("chunks", BROKEN.values(), ids=BROKEN.keys())
def test_chunks_that_contradict_are_refused(chunks: list[dict[str, Any]]) -> None:
    """With the shape's code, about the envelope that they were to be; nothing is handled."""
    taken = host(bounds=SMALL)
    found = last(taken.found(*chunks))

    assert (found.status, taken.handled, taken.log()) == ("invalid", [], ["log.appended"])
    assert found.outcome.to_json()["reason"].startswith("invalid_envelope_shape: /")
    assert {each.causation_id for each in found.events} == {"run-1:node-1:0:abc123"}


def test_a_chunk_of_another_node_is_none() -> None:
    """It is refused alone, and those that the node emitted go on."""
    taken, (one, two, three) = host(), fragments()

    assert taken.take(one, {**two, "nodeId": "elsewhere"}, two, three) == [None, "invalid", None, "accepted"]
    assert taken.log() == ["log.appended", "node.completed"]


def test_another_kind_conflicts() -> None:
    """As it would with a whole one."""
    found = last(host().found(chunk(0, "a"), chunk(1, "b", type="error")))

    assert (found.status, types(found.events)) == ("invalid", ["node.failed"])
    assert found.outcome.to_json()["reason"].startswith("envelope_correlation_conflict")


def test_pieces_that_make_no_document_are_refused() -> None:
    """They are all there, and are no JSON."""
    found = last(host().found(*fragments('{"text": "hello}')))

    assert (found.status, found.outcome.to_json()["reason"].partition(":")[0]) == ("invalid", "envelope_invalid")


@pytest.mark.parametrize("chunks", [BROKEN["another piece"], fragments('{"text": "hello}')], ids=["shape", "payload"])
def test_what_broke_may_be_emitted_anew(chunks: list[dict[str, Any]]) -> None:
    """The model is told that it may mend, and does, under the same id."""
    taken = host()
    taken.take(*chunks)

    assert taken.take(*fragments())[-1] == "accepted"


def test_a_whole_that_does_not_hold_may_be_emitted_anew() -> None:
    """What is refused when it is whole is mended under the same id."""
    taken = host()
    refused = taken.take(*fragments('{"text": 12345678}'))
    mended = taken.take(*fragments())

    assert (refused, mended) == ([None, None, "invalid"], [None, None, "accepted"])


@pytest.mark.parametrize("broken", ["contradiction", "timeout"])
def test_what_broke_is_reported_once(broken: str) -> None:
    """Chunks that were under way when it broke add nothing to the log."""
    taken = host()
    taken.take(chunk(0, "a"))
    if broken == "timeout":
        taken.time.now = TIMEOUT
        taken.reassembly.expire()
    else:
        taken.take(chunk(0, "b"))
    late = taken.found(*(chunk(index, "c") for index in range(1, 5)))

    assert len(taken.log()) == 1
    assert [(each.status, each.events) for each in late if each is not None] == [("invalid", ())] * 4


def test_a_late_chunk_of_what_was_refused_is_not_awaited() -> None:
    """The node may not emit the kind: nothing that comes will make it whole."""
    taken, contract = host(), EnvelopeContract(frozenset())
    one, two, three = fragments()
    assert taken.take(one, two, three, contract=contract) == [None, None, "gated"]

    assert taken.take(three, contract=contract) == ["gated"]
    assert taken.log() == ["node.failed"]


def test_what_was_refused_for_good_does_not_begin_anew() -> None:
    """Its first chunk comes late like any other: only what may be mended is emitted again."""
    taken, contract = host(), EnvelopeContract(frozenset())
    taken.take(*fragments(), contract=contract)

    assert taken.take(*fragments(), contract=contract) == ["gated"] * 3
    assert taken.log() == ["node.failed"]


# time


def test_what_does_not_come_in_time_is_refused() -> None:
    """Once, with its own code, of the node that it came from; others go on."""
    taken = host()
    taken.take(*fragments()[:2])
    taken.time.now = TIMEOUT / 2
    other = fragments(correlationId="c-2")
    taken.take(other[0])
    assert taken.reassembly.expire() == ()

    taken.time.now = TIMEOUT
    (late,) = taken.reassembly.expire()
    assert taken.reassembly.expire() == ()
    assert late.outcome.to_json()["reason"].startswith("envelope_partial_timeout: /partial")
    assert [each.to_json()["payload"]["error"]["code"] for each in late.events] == ["envelope_partial_timeout"]
    assert [(each.node_id, each.causation_id) for each in late.events] == [("node-1", "run-1:node-1:0:abc123")]
    assert taken.take(*other[1:]) == [None, "accepted"]


def test_a_chunk_that_comes_too_late_is_reported_so() -> None:
    """Also where nobody has asked what is overdue."""
    taken, (one, two, three) = host(), fragments()
    taken.take(one, two)
    taken.time.now = TIMEOUT
    found = last(taken.found(three))

    assert (found.status, types(found.events), taken.handled) == ("invalid", ["node.failed"], [])
    assert taken.reassembly.expire() == ()


def test_what_is_awaited_is_bounded_for_each_run() -> None:
    """A run that begins many is refused a further one, which may come again; another run has its own room."""
    taken = host(bounds=ChunkLimits(max_open=2, timeout=TIMEOUT))
    begun = [fragments(correlationId=f"c-{number}") for number in range(3)]
    assert taken.take(*(each[0] for each in begun)) == [None, None, "invalid"]
    assert taken.take(begun[2][0], run_id="run-2") == [None]

    assert taken.take(*begun[0][1:]) == [None, "accepted"]
    assert taken.take(*begun[2]) == [None, None, "accepted"]


def test_what_found_no_room_may_come_again() -> None:
    """In any order, as other chunks may."""
    taken, (one, two, three) = host(bounds=ChunkLimits(max_open=1, timeout=TIMEOUT)), fragments()
    other = fragments(correlationId="c-2")
    assert taken.take(other[0], two) == [None, "invalid"]
    assert taken.take(*other[1:]) == [None, "accepted"]

    assert taken.take(two, three, one) == [None, None, "accepted"]


def test_runs_do_not_mix() -> None:
    """The same correlation id is another emission in another run."""
    taken, (one, two, three) = host(), fragments()

    assert taken.take(one, two) == [None, None]
    assert taken.take(three, run_id="run-2") == [None]
    assert taken.take(three) == ["accepted"]
    assert taken.log("run-2") == []


# trust and secrets


@pytest.mark.parametrize("tainted", range(3))
def test_one_untrusted_chunk_taints(tainted: int) -> None:
    """Whether it says so itself, or comes from a node that read what is not trusted."""
    for by_context in (True, False):
        taken = host()
        found: list[Acceptance | None] = []
        for index, each in enumerate(fragments()):
            here = index == tainted
            meta = {**each["meta"], "contentTrust": "untrusted" if here and not by_context else "trusted"}
            inputs = Trust.UNTRUSTED if here and by_context else Trust.TRUSTED
            found += taken.found({**each, "meta": meta}, inputs=inputs)
        whole = last(found).envelope
        assert whole is not None

        assert whole.meta.content_trust is Trust.UNTRUSTED
        assert {each.content_trust for each in last(found).events} == {Trust.UNTRUSTED}


@pytest.mark.parametrize("pieces", [2, 5, 17])
def test_a_secret_in_pieces_is_struck_out(pieces: int) -> None:
    """No chunk holds it, and the whole does."""
    rules = HostConfig(CATALOGUE, secrets=Secrets.of({"stripe": SECRET}))
    taken = host(rules)
    found = last(taken.found(*fragments(json.dumps({"text": f"It is {SECRET}."}), pieces)))

    assert taken.handled == [{"text": "It is [REDACTED:stripe]."}]
    assert found.redactions == 1
    assert SECRET not in repr(found)


def test_a_refusal_of_chunks_holds_no_secret() -> None:
    """Neither its reason nor its events, though an id is one."""
    rules = HostConfig(CATALOGUE, secrets=Secrets.of({"stripe": SECRET}))
    found = last(host(rules).found(chunk(0, "a", correlationId=SECRET), chunk(0, SECRET, correlationId=SECRET)))

    assert found.status == "invalid"
    assert SECRET not in json.dumps([found.outcome.to_json(), [each.to_json() for each in found.events]])


# many threads


def test_many_threads_may_feed_it() -> None:
    """Each envelope is accepted once, whoever brings its last chunk."""
    taken = host()
    chunks = [each for number in range(20) for each in fragments(correlationId=f"c-{number}", pieces=5)]
    with ThreadPoolExecutor(8) as pool:
        found = [each for each in pool.map(lambda one: taken.reassembly.accept(one, CONTEXT), chunks) if each]

    assert [each.status for each in found] == ["accepted"] * 20
    assert (len(taken.handled), len(taken.log())) == (20, 20)


ANY = st.sampled_from(
    [
        *fragments(),
        *fragments(correlationId="c-2"),
        *BROKEN["another total"],
        envelope(),
        envelope(payload={}),
        {},
        None,
        "x",
    ]
)


@given(st.lists(st.tuples(ANY, st.sampled_from(["run-1", "run-2"]), st.integers(0, 8)), max_size=14))
def test_whatever_comes_is_handled_once_at_most(given_: list[tuple[Any, str, int]]) -> None:
    """In whatever order, with time going by; nothing is raised, and nothing is left over."""
    taken = host()
    for each, run, passed in given_:
        taken.time.now += passed
        taken.take(each, run_id=run)
    taken.time.now += TIMEOUT
    taken.reassembly.expire()

    assert len(taken.handled) <= 4
    assert taken.reassembly.expire() == ()
    assert taken.reassembly._first_chunks == {}
