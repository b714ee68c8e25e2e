"""Chunks become an envelope when they are all there, in whatever order they come, and not a moment before."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.host.outcomes import OutcomeCode
from emitter.host.partial import (
    BrokenChunks,
    ChunkAssembler,
    ChunkLimits,
    CompleteEnvelope,
    RepeatedChunk,
    WaitingForChunks,
)
from emitter.models.envelope import AIEnvelope

META = {"source": "ai-generation", "ts": "2026-05-18T10:00:00Z"}


def chunk(index: int, payload: Any, *, last: bool = False, total: int = -1, **change: Any) -> AIEnvelope:
    """Return a chunk, the last or one before it."""
    document = {
        "type": "vendor.acme.note",
        "schemaVersion": 1,
        "envelopeId": f"e-{index}",
        "correlationId": "c-1",
        "nodeId": "n-1",
        "payload": payload,
        "meta": META,
        "partial": {"isPartial": not last, "index": index, "total": total},
    }
    return AIEnvelope.model_validate({**document, **change}, by_name=False)


def trusted(trust: str) -> dict[str, Any]:
    """Return a meta that states a trust."""
    return {"meta": {**META, "contentTrust": trust}}


def verdicts(*chunks: AIEnvelope, bounds: ChunkLimits | None = None) -> list[Any]:
    """Return what each chunk leads to, all at one time."""
    assembly = ChunkAssembler(bounds)
    return [assembly.add(each, 0.0) for each in chunks]


def fragments(document: Any, pieces: int, *, total: int = -1) -> list[AIEnvelope]:
    """Return a document in so many fragments; the last may be short."""
    text = json.dumps(document)
    size = -(-len(text) // pieces)
    return [
        chunk(index, text[index * size : (index + 1) * size], last=index == pieces - 1, total=total)
        for index in range(pieces)
    ]


def snapshots(document: Any, pieces: int, *, total: int = -1) -> list[AIEnvelope]:
    """Return a document as it grows."""
    growing: list[Any] = [{"so far": index} for index in range(pieces - 1)]
    return [
        chunk(index, payload, last=index == pieces - 1, total=total)
        for index, payload in enumerate([*growing, document])
    ]


def test_fragments_are_joined() -> None:
    """Fragments wait for each other, and are joined in the order of their index."""
    first, second, third = fragments({"text": "häé"}, 3)
    assembly = ChunkAssembler()
    assert assembly.add(third, 0) == WaitingForChunks(1, -1)
    assert assembly.add(first, 1) == WaitingForChunks(2, -1)
    assert assembly.add(first, 2) == WaitingForChunks(2, -1)
    end = assembly.add(second, 3)
    assert isinstance(end, CompleteEnvelope)
    assert end.envelope.payload == {"text": "häé"}
    assert end.envelope.envelope_id == "e-2"
    assert assembly.add(first, 4) == RepeatedChunk()
    assert not assembly.expire(1e9)


def test_the_last_snapshot_is_the_envelope() -> None:
    """A snapshot that is the last stands alone; one that comes after it adds nothing."""
    first, second, third = snapshots({"text": "all"}, 3, total=3)
    assembly = ChunkAssembler()
    assert assembly.add(second, 0) == WaitingForChunks(1, 3)
    end = assembly.add(third, 0)
    assert isinstance(end, CompleteEnvelope)
    assert end.envelope.payload == {"text": "all"}
    assert assembly.add(first, 0) == RepeatedChunk()
    assert assembly.add(third, 0) == RepeatedChunk()


def test_the_whole_says_nothing_of_its_chunks() -> None:
    """A whole envelope is the last chunk without ``partial``, and what was absent in it is absent."""
    (end,) = verdicts(chunk(0, {"text": "x"}, last=True, total=1))
    assert end.envelope.to_json() == {
        "type": "vendor.acme.note",
        "schemaVersion": 1,
        "envelopeId": "e-0",
        "correlationId": "c-1",
        "nodeId": "n-1",
        "payload": {"text": "x"},
        "meta": META,
    }


def test_an_envelope_that_is_no_chunk_passes() -> None:
    """An envelope without ``partial`` is whole, unless chunks came under its id."""
    whole = chunk(0, {}).model_copy(update={"partial": None})
    assert verdicts(whole, whole) == [CompleteEnvelope(whole), CompleteEnvelope(whole)]
    after = verdicts(chunk(0, {}), whole)
    assert isinstance(after[1], BrokenChunks)
    assert after[1].violations[0].pointer == "/partial"


PAYLOADS = st.dictionaries(st.text(max_size=4), st.text(max_size=6) | st.integers() | st.none(), max_size=4)
PIECES = st.integers(1, 6)


@given(PAYLOADS, PIECES, st.booleans(), st.data())
@settings()
def test_any_order_and_repetition_of_fragments(payload: Any, pieces: int, known: bool, data: st.DataObject) -> None:
    """However fragments are shuffled and repeated, the same envelope is complete, once, with the last that lacked."""
    sent = fragments(payload, pieces, total=pieces if known else -1)
    repeated = data.draw(st.lists(st.sampled_from(sent), max_size=5))
    order = data.draw(st.permutations([*sent, *repeated]))
    found = verdicts(*order)
    seen: set[int] = set()
    whole = False
    for each, verdict in zip(order, found, strict=True):
        assert each.partial is not None
        seen.add(each.partial.index)
        if len(seen) < pieces:
            assert isinstance(verdict, WaitingForChunks)
            assert verdict.chunks == len(seen)
        elif not whole:
            assert isinstance(verdict, CompleteEnvelope)
            assert verdict.envelope.payload == payload
            assert verdict.envelope.envelope_id == f"e-{pieces - 1}"
            whole = True
        else:
            assert verdict == RepeatedChunk()


@given(PAYLOADS, PIECES, st.booleans(), st.data())
@settings()
def test_any_order_and_repetition_of_snapshots(payload: Any, pieces: int, known: bool, data: st.DataObject) -> None:
    """However snapshots are shuffled and repeated, the envelope is complete with the last one, and once."""
    sent = snapshots(payload, pieces, total=pieces if known else -1)
    repeated = data.draw(st.lists(st.sampled_from(sent), max_size=5))
    order = data.draw(st.permutations([*sent, *repeated]))
    found = verdicts(*order)
    at = order.index(sent[-1])
    assert all(isinstance(each, WaitingForChunks) for each in found[:at])
    assert isinstance(found[at], CompleteEnvelope)
    assert found[at].envelope.payload == payload
    assert all(each == RepeatedChunk() for each in found[at + 1 :])


@given(PAYLOADS, st.integers(2, 6), st.sampled_from([fragments, snapshots]), st.data())
@settings()
def test_nothing_is_complete_without_the_last(payload: Any, pieces: int, made: Any, data: st.DataObject) -> None:
    """Whatever came of an emission but the last chunk, it waits, and is reported when its time is over."""
    order = data.draw(st.lists(st.sampled_from(made(payload, pieces)[:-1]), min_size=1))
    assembly = ChunkAssembler()
    assert all(isinstance(assembly.add(each, 0), WaitingForChunks) for each in order)
    assert [each.broken.code for each in assembly.expire(300)] == [OutcomeCode.PARTIAL_TIMEOUT]


CONFLICTS = [
    pytest.param([chunk(0, "a"), chunk(1, "b", type="error")], OutcomeCode.CONFLICT, "/type", id="another type"),
    pytest.param(
        [chunk(0, "a"), chunk(1, "b", schemaVersion=2)], OutcomeCode.SHAPE, "/schemaVersion", id="another version"
    ),
    pytest.param([chunk(0, "a"), chunk(1, "b", nodeId="n-2")], OutcomeCode.SHAPE, "/nodeId", id="another node"),
    pytest.param(
        [chunk(0, "a"), chunk(0, "a", nodeId="n-2")], OutcomeCode.SHAPE, "/nodeId", id="repeated by another node"
    ),
    pytest.param([chunk(0, "a"), chunk(1, {})], OutcomeCode.SHAPE, "/payload", id="a text, then none"),
    pytest.param([chunk(0, {}), chunk(1, "a", last=True)], OutcomeCode.SHAPE, "/payload", id="none, then a text"),
    pytest.param([chunk(1, "a"), chunk(1, "b")], OutcomeCode.SHAPE, "/partial/index", id="two texts of one index"),
    pytest.param(
        [chunk(1, {}), chunk(1, {"a": 1})], OutcomeCode.SHAPE, "/partial/index", id="two snapshots of one index"
    ),
    pytest.param([chunk(1, 1), chunk(1, True)], OutcomeCode.SHAPE, "/partial/index", id="one and true"),
    pytest.param([chunk(1, "a"), chunk(1, "a", last=True)], OutcomeCode.SHAPE, "/partial/index", id="last after all"),
    pytest.param(
        [chunk(0, {}, total=3), chunk(1, {}, total=4)], OutcomeCode.SHAPE, "/partial/total", id="another total"
    ),
    pytest.param(
        [chunk(0, {}, total=3), chunk(0, {}, total=4)], OutcomeCode.SHAPE, "/partial/total", id="repeated otherwise"
    ),
    pytest.param([chunk(3, {}, total=3)], OutcomeCode.SHAPE, "/partial/index", id="beyond its own total"),
    pytest.param([chunk(0, {}, total=0)], OutcomeCode.SHAPE, "/partial/index", id="one of none"),
    pytest.param(
        [chunk(3, {}), chunk(0, {}, total=3)], OutcomeCode.SHAPE, "/partial/index", id="beyond a total told later"
    ),
    pytest.param(
        [chunk(2, "a", last=True), chunk(3, "b")], OutcomeCode.SHAPE, "/partial/isPartial", id="behind the last"
    ),
    pytest.param(
        [chunk(3, "a"), chunk(2, "b", last=True)], OutcomeCode.SHAPE, "/partial/isPartial", id="last before another"
    ),
    pytest.param(
        [chunk(2, "a", last=True), chunk(1, "b", last=True)],
        OutcomeCode.SHAPE,
        "/partial/isPartial",
        id="two last ones",
    ),
    pytest.param(
        [chunk(1, {}, last=True, total=3)], OutcomeCode.SHAPE, "/partial/isPartial", id="last before its total"
    ),
    pytest.param(
        [chunk(1, "a", last=True), chunk(0, "b", total=3)],
        OutcomeCode.SHAPE,
        "/partial/isPartial",
        id="total beyond the last",
    ),
    pytest.param([chunk(2, {}, total=3)], OutcomeCode.SHAPE, "/partial/isPartial", id="the total's last is none"),
    pytest.param([chunk(0, "{", last=True)], OutcomeCode.PAYLOAD, "/payload", id="no JSON"),
    pytest.param([chunk(0, "{'a': 1}", last=True)], OutcomeCode.PAYLOAD, "/payload", id="JSON only to the lenient"),
    pytest.param([chunk(0, "{}"), chunk(1, "{}", last=True)], OutcomeCode.PAYLOAD, "/payload", id="two documents"),
]


@pytest.mark.parametrize(("sent", "code", "pointer"), CONFLICTS)
def test_contradictions(sent: list[AIEnvelope], code: OutcomeCode, pointer: str) -> None:
    """Chunks that contradict each other are refused with the place, and nothing that comes later mends them."""
    late = chunk(9, {}, last=True)
    *before, broken, after = verdicts(*sent, late)
    assert all(isinstance(each, WaitingForChunks) for each in before)
    assert isinstance(broken, BrokenChunks)
    assert (broken.code, broken.violations[0].pointer) == (code, pointer)
    assert after == broken


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param([chunk(0, {}), chunk(1, {}, total=3), chunk(2, {}, last=True)], id="told later"),
        pytest.param([chunk(1, {}, total=3), chunk(0, {}), chunk(2, {}, last=True, total=3)], id="not always told"),
        pytest.param([chunk(0, "{", total=2), chunk(0, "{"), chunk(1, "}", last=True)], id="not in a repetition"),
    ],
)
def test_a_total_may_be_unknown_at_times(sent: list[AIEnvelope]) -> None:
    """A sender that does not know the total contradicts nobody who does."""
    assert isinstance(verdicts(*sent)[-1], CompleteEnvelope)


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        pytest.param([chunk(4, "a")], "/partial", id="index"),
        pytest.param([chunk(0, "a", total=5)], "/partial", id="total"),
        pytest.param([chunk(0, "a" * 60), chunk(1, "a" * 60)], "/payload", id="fragments together"),
        pytest.param([chunk(0, {"a": "b" * 100})], "/payload", id="a snapshot"),
    ],
)
def test_bounds(sent: list[AIEnvelope], pointer: str) -> None:
    """An emission beyond the bounds is refused."""
    *before, broken = verdicts(*sent, bounds=ChunkLimits(max_chunks=4, max_size=100))
    assert all(isinstance(each, WaitingForChunks) for each in before)
    assert isinstance(broken, BrokenChunks)
    assert broken.violations[0].pointer == pointer


def test_within_the_bounds() -> None:
    """Repetitions of a fragment, and snapshots one after the other, take no more than one."""
    bounds = ChunkLimits(max_chunks=4, max_size=100)
    sent = [chunk(0, '{"a": "' + "b" * 60), chunk(0, '{"a": "' + "b" * 60), chunk(1, '"}', last=True)]
    assert isinstance(verdicts(*sent, bounds=bounds)[-1], CompleteEnvelope)
    grown = [chunk(index, {"a": "b" * 60}, last=index == 3) for index in range(4)]
    assert isinstance(verdicts(*grown, bounds=bounds)[-1], CompleteEnvelope)


def test_no_json() -> None:
    """A payload that cannot be written as JSON is refused and does not raise."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for payload in (deep, {1: 2, "a": 3}, object(), 10**5_000):
        found = chunk(0, None).model_copy(update={"payload": payload})
        (verdict,) = verdicts(found)
        assert isinstance(verdict, BrokenChunks)


@pytest.mark.parametrize(
    ("stated", "meant"),
    [
        pytest.param(["trusted", "trusted"], "trusted", id="all trusted"),
        pytest.param(["untrusted", "trusted"], "untrusted", id="one untrusted"),
        pytest.param(["trusted", "untrusted"], "untrusted", id="the last untrusted"),
        pytest.param([None, "trusted"], None, id="one silent"),
        pytest.param(["trusted", None], None, id="the last silent"),
        pytest.param([None, "untrusted"], "untrusted", id="silent and untrusted"),
        pytest.param([None, None], None, id="all silent"),
    ],
)
def test_trust_of_fragments(stated: list[str | None], meant: str | None) -> None:
    """One untrusted chunk taints the envelope, and one that says nothing leaves it to the run's boundary."""
    one, other = ({} if each is None else trusted(each) for each in stated)
    sent = chunk(0, "{", **one), chunk(1, "}", last=True, **other)
    for order in (sent, reversed(sent)):
        *_, end = verdicts(*order)
        assert end.envelope.to_json()["meta"] == ({**META, "contentTrust": meant} if meant else META)


def test_trust_of_snapshots() -> None:
    """The last snapshot says what it is, and an untrusted one before it taints it."""
    sure, unsure = trusted("trusted"), trusted("untrusted")
    (_, end) = verdicts(chunk(0, {}), chunk(1, {}, last=True, **sure))
    assert end.envelope.to_json()["meta"] == {**META, "contentTrust": "trusted"}
    (_, end) = verdicts(chunk(0, {}, **unsure), chunk(1, {}, last=True, **sure))
    assert end.envelope.to_json()["meta"] == {**META, "contentTrust": "untrusted"}


def test_time_is_over() -> None:
    """An emission that is not whole in time is reported once, and a chunk that comes late is refused."""
    assembly = ChunkAssembler(ChunkLimits(timeout=10))
    assembly.add(chunk(0, "{"), 100)
    assembly.add(chunk(0, {}, correlationId="c-2"), 105, run_id="r-2")
    assert not assembly.expire(109.9)
    (late,) = assembly.expire(110)
    assert (late.run_id, late.correlation_id, late.type, late.node_id) == ("", "c-1", "vendor.acme.note", "n-1")
    assert late.broken.code is OutcomeCode.PARTIAL_TIMEOUT
    assert not assembly.expire(110)
    assert assembly.add(chunk(1, "}", last=True), 111) == late.broken
    assert [each.run_id for each in assembly.expire(115)] == ["r-2"]


def test_time_is_over_when_nobody_asked() -> None:
    """A last chunk that comes too late completes nothing, even where nobody asked what expired."""
    assembly = ChunkAssembler(ChunkLimits(timeout=10))
    assembly.add(chunk(0, {}), 0)
    verdict = assembly.add(chunk(1, {}, last=True), 10)
    assert isinstance(verdict, BrokenChunks)
    assert verdict.code is OutcomeCode.PARTIAL_TIMEOUT
    assert not assembly.expire(20)


def test_runs_are_apart() -> None:
    """A correlation id means something in its run only."""
    assembly = ChunkAssembler()
    assembly.add(chunk(0, "{"), 0, run_id="r-1")
    assert assembly.add(chunk(1, "}", last=True), 0, run_id="r-2") == WaitingForChunks(1, -1)
    end = assembly.add(chunk(1, "}", last=True), 0, run_id="r-1")
    assert isinstance(end, CompleteEnvelope)
    assert [each.run_id for each in assembly.expire(300)] == ["r-2"]


def test_open_emissions_are_bounded() -> None:
    """A run with too many emissions that wait is refused another, which may come again when there is room."""
    assembly = ChunkAssembler(ChunkLimits(max_open=2))
    first, second, third = (chunk(0, "{", correlationId=f"c-{number}") for number in range(3))
    assembly.add(first, 0)
    assembly.add(second, 0)
    refused = assembly.add(third, 0)
    assert isinstance(refused, BrokenChunks)
    assert isinstance(assembly.add(third, 0, run_id="another"), WaitingForChunks)
    assert assembly.add(chunk(1, '"a"', correlationId="c-1"), 0) == WaitingForChunks(2, -1)
    assert isinstance(assembly.add(chunk(0, {}, last=True, correlationId="c-3"), 0), CompleteEnvelope)
    assembly.add(chunk(1, "}", last=True, correlationId="c-0"), 0)
    assert isinstance(assembly.add(third, 0), WaitingForChunks)
    assert len(assembly.expire(300)) == 3


def test_what_ended_is_known_for_a_while() -> None:
    """What ended is known as long as its timeout, and no more of them than the bound says."""
    assembly = ChunkAssembler(ChunkLimits(timeout=10, max_remembered=2))
    for number in range(4):
        assembly.add(chunk(0, {}, last=True, correlationId=f"c-{number}"), number)
    assert isinstance(assembly.add(chunk(0, {}, correlationId="c-0"), 4), WaitingForChunks)
    assert isinstance(assembly.add(chunk(0, {}, correlationId="c-3"), 12), RepeatedChunk)
    assert isinstance(assembly.add(chunk(0, {}, correlationId="c-3"), 13), WaitingForChunks)


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "waiting"])
def test_forgetting(ended: bool) -> None:
    """What is forgotten may begin anew under the same id."""
    assembly = ChunkAssembler()
    assembly.add(chunk(0, {"old": 1}, last=ended), 0, run_id="r")
    assembly.forget("c-1", run_id="r")
    assert isinstance(assembly.add(chunk(0, {"new": 1}), 0, run_id="r"), WaitingForChunks)


def test_forgetting_in_another_run() -> None:
    """What is forgotten in one run is known in another."""
    assembly = ChunkAssembler()
    assembly.add(chunk(0, {}, last=True), 0, run_id="r")
    assembly.forget("c-1")
    assert isinstance(assembly.add(chunk(0, {}), 0, run_id="r"), RepeatedChunk)


def test_nothing_is_held_of_what_ended() -> None:
    """Of an emission that ended, and of its run, nothing is held but how it ended, and that for a while."""
    assembly = ChunkAssembler()
    assembly.add(chunk(0, "{"), 0, run_id="r")
    assembly.add(chunk(1, "}", last=True), 0, run_id="r")
    assembly.add(chunk(0, "{"), 0, run_id="s")
    assembly.expire(300)
    assert not assembly._open
    assembly.add(chunk(0, {}, last=True, correlationId="c-2"), 600)
    assert list(assembly._finished) == [("", "c-2")]


CHUNKS = st.builds(
    chunk,
    st.integers(0, 5),
    st.sampled_from(["{", "}", "{}", {}, {"a": 1}, None]),
    last=st.booleans(),
    total=st.integers(-1, 6),
    correlationId=st.sampled_from(["c-1", "c-2"]),
    type=st.sampled_from(["a", "b"]) | st.just("a"),
)


@given(st.lists(st.tuples(CHUNKS, st.integers(0, 20)), max_size=30))
@settings()
def test_any_sender(sent: list[tuple[AIEnvelope, int]]) -> None:
    """Whatever a sender sends, nothing raises, nothing is complete without a last chunk, and it is complete once."""
    assembly, now, last = ChunkAssembler(ChunkLimits(max_chunks=5, max_size=20, max_open=1, timeout=30)), 0, set[str]()
    done: dict[str, int] = {}
    for each, passed in sent:
        now += passed
        if each.partial is not None and not each.partial.is_partial:
            last.add(each.correlation_id)
        verdict = assembly.add(each, now)
        if isinstance(verdict, CompleteEnvelope):
            assert each.correlation_id in last
            assert verdict.envelope.partial is None
            assert now - done.get(each.correlation_id, -30) >= 30
            done[each.correlation_id] = now
    assert len(assembly.expire(now + 30)) <= 1
    assert not assembly.expire(now + 60)
