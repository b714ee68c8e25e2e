"""Replay: a run held against itself is silent, and every difference is reported in the right place."""

from __future__ import annotations

import copy
import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter import events
from emitter.events import Event, Level, LogAppended, Reason, ReplayDiverged, ReplayDivergedAtRefusal, RunEvent
from emitter.host.replay import (
    FIELD_RULES,
    REPLAY_DIVERGED_AT_REFUSAL,
    VOLATILE_FIELDS,
    Divergence,
    find_divergence_events,
    find_divergences,
)
from emitter.messages import Trust
from emitter.models.envelope import make_correlation_id
from tests.models.openwop import FOLDER, errors, needs_schemas
from tests.work import examples

Doc = dict[str, Any]

USAGE = events.ProviderUsage("acme", "m-1", 100, 20, cache_read_tokens=7)
CUT = events.EnvelopeTruncated("acme", "m-1", "max_tokens", partial_payload_available=False, output_token_count=20)
AGAIN = events.RetryAttempted(2, Reason.TRUNCATION, "the answer was cut")
READ = events.RecoveryApplied("markdown-fence", 8)
DONE = events.NodeCompleted({"envelopeId": "e-1", "envelopeType": "vendor.acme.note"})
REFUSAL = events.EnvelopeRefusal("acme", "m-1", "violence")
REFUSED = events.NodeFailed("envelope_refusal", "The model refused.", 1)
SPENT = events.RetryExhausted(3, Reason.SCHEMA_VIOLATION, "/a: a text")
CAPPED = events.CapBreached("schema", 3, 4)
FAILED = events.NodeFailed("envelope_invalid", "The answer never held.", 3, {"round": 3})
ASKED = events.ClarificationRequested("i-1", ({"id": "q1", "question": "Which?"},))
HELD = events.InterruptRequested("i-1", "clarification", "r:n:0:k", {"questions": [{"id": "q1", "question": "Which?"}]})
SUBSTITUTED = events.ModelCapabilitySubstituted("acme", "m-1", "acme", "m-2", ("vision-input",))
LOGGED = LogAppended(Level.DEBUG, "schema.request", {"envelopeType": "vendor.acme.note"})


def log(*reported: Event, run: str = "r-1", node: str = "n-1", kind: str = "k", first: int = 0) -> list[Doc]:
    """Return what a run's log holds of one emission."""
    cause = make_correlation_id(run, node, 0, kind)
    return [
        RunEvent(
            each, f"{run}-{node}-{number}", run, node, f"2026-05-18T10:00:{number:02}Z", number, cause, Trust.TRUSTED
        ).to_json()
        for number, each in enumerate(reported, first)
    ]


def changed(docs: list[Doc], at: int, **payload: Any) -> list[Doc]:
    """Return a log one of whose events says something else."""
    altered = copy.deepcopy(docs)
    altered[at]["payload"].update(payload)
    return altered


RUN = log(USAGE, CUT, AGAIN, USAGE, READ, DONE)

Told = tuple[str, int, str, str | None]


def reported(original: list[Any], replayed: list[Any]) -> list[Told]:
    """Return kind, place, point and id of what is reported."""
    found = find_divergence_events(original, replayed)
    assert all(isinstance(each, ReplayDiverged) and each.source_run_id == "r-1" for each in found)
    return [
        (each.divergence_kind, each.at_sequence, each.divergence_point, each.original_event_id)
        for each in found
        if isinstance(each, ReplayDiverged)
    ]


EVERYTHING: list[Event] = [
    *(USAGE, CUT, AGAIN, READ, DONE, REFUSAL, SPENT, CAPPED, FAILED, ASKED, HELD, SUBSTITUTED, LOGGED),
    events.NlToFormatEngaged("vendor.acme.note", 1),
    events.ModelCapabilityInsufficient("acme", "m-1", ("vision-input",)),
]


@pytest.mark.parametrize("event", EVERYTHING, ids=[each.type for each in EVERYTHING])
def test_a_replay_under_other_ids_at_another_time_is_the_same(event: Event) -> None:
    """Ids, times and what calls cost differ between any two runs, and are no divergence."""
    original, (replayed,) = log(event), log(event, run="r-2", first=7)
    replayed["timestamp"] = "2027-01-01T00:00:00Z"
    replayed["engineVersion"] = "9"
    replayed["payload"].update(durationMs=3, traceId="t", costEstimateUsd=0.5) if event is USAGE else None
    text = json.dumps(replayed).replace('"i-1"', '"i-2"').replace('"e-1"', '"e-2"')
    assert not find_divergence_events(original, [json.loads(text)])


@pytest.mark.parametrize(
    ("event", "name", "value"),
    [
        pytest.param(SPENT, "totalAttempts", 2, id="totalAttempts"),
        pytest.param(SPENT, "totalAttempts", 3.0, id="totalAttempts spelled otherwise"),
        pytest.param(SPENT, "finalReason", "parse-error", id="finalReason"),
        pytest.param(SPENT, "finalError", "another", id="finalError"),
        pytest.param(CUT, "outputTokenCount", 21, id="outputTokenCount"),
        pytest.param(CUT, "outputTokenCount", 20.0, id="outputTokenCount spelled otherwise"),
        pytest.param(CUT, "outputTokenCount", None, id="outputTokenCount gone"),
        pytest.param(CUT, "stopReason", "length", id="stopReason"),
        pytest.param(CUT, "partialPayloadAvailable", True, id="partialPayloadAvailable"),
        pytest.param(READ, "path", "jsonrepair", id="path"),
        pytest.param(READ, "byteOffset", 9, id="byteOffset"),
        pytest.param(AGAIN, "attempt", 3, id="attempt"),
        pytest.param(AGAIN, "reason", "parse-error", id="reason"),
        pytest.param(REFUSAL, "safetyCategory", "Violence", id="safetyCategory, verbatim"),
        pytest.param(REFUSAL, "safetyCategory", None, id="safetyCategory gone"),
        pytest.param(REFUSAL, "model", "m-2", id="model"),
        pytest.param(USAGE, "inputTokens", 99, id="inputTokens"),
        pytest.param(USAGE, "outputTokens", 20.0, id="outputTokens spelled otherwise"),
        pytest.param(CAPPED, "observed", 5, id="observed"),
        pytest.param(events.CapBreached("schema", 1, 2), "limit", True, id="truth for a number"),
        pytest.param(FAILED, "attempts", 2, id="attempts"),
        pytest.param(FAILED, "error", {"code": "other", "message": "The answer never held."}, id="code"),
        pytest.param(FAILED, "error", None, id="error gone"),
        pytest.param(DONE, "outputs", {"envelopeId": "e-1", "envelopeType": "other"}, id="outputs"),
        pytest.param(DONE, "outputs", {"envelopeType": "vendor.acme.note", "more": None}, id="one output more"),
        pytest.param(DONE, "outputs", [], id="outputs of another form"),
        pytest.param(ASKED, "questions", [{"id": "q1", "question": "Who?"}], id="question"),
        pytest.param(ASKED, "questions", [], id="questions gone"),
        pytest.param(HELD, "kind", "approval", id="interrupt of another kind"),
        pytest.param(SUBSTITUTED, "fallbackModel", "m-3", id="fallback"),
        pytest.param(SUBSTITUTED, "missingCapabilities", [], id="capabilities"),
        pytest.param(LOGGED, "level", "warn", id="level"),
        pytest.param(LOGGED, "message", "schema.response", id="word of a log line"),
        pytest.param(LOGGED, "fields", {"envelopeType": "other"}, id="field of a log line"),
        pytest.param(USAGE, "added", 1, id="a field that nobody knows"),
    ],
)
def test_what_must_be_reported_again(event: Event, name: str, value: object) -> None:
    """Each field that a replay must tell again is reported where it differs, at the event and its place."""
    original = log(CUT, event, first=4)
    replayed = changed(original, 1, **{name: value})
    for one, other in ((original, replayed), (replayed, original)):
        assert reported(one, other) == [("output", 5, event.type, "r-1-n-1-5")]


@pytest.mark.parametrize(
    ("event", "name", "was", "now"),
    [
        pytest.param(REFUSAL, "refusalText", "No.", None, id="refusalText gone"),
        pytest.param(REFUSAL, "refusalText", "No, Ann.", "No, [REDACTED:name].", id="refusalText redacted"),
        pytest.param(AGAIN, "previousError", "x", None, id="previousError gone"),
        pytest.param(SPENT, "finalError", "a key", "a [REDACTED:key]", id="finalError redacted"),
        pytest.param(SUBSTITUTED, "fallbackModel", "m-2", "[REDACTED]", id="fallback redacted"),
        pytest.param(USAGE, "cacheReadTokens", 7, 0, id="cache"),
        pytest.param(USAGE, "cacheHit", None, True, id="from the cache"),
        pytest.param(USAGE, "costEstimateUsd", 0.1, None, id="cost"),
        pytest.param(FAILED, "error", *({"code": "c", "message": each} for each in ("a", "b")), id="words of an error"),
        pytest.param(CAPPED, "limit", 3, 3.0, id="a number spelled otherwise"),
        pytest.param(READ, "byteOffset", None, ..., id="null and absent"),
        pytest.param(DONE, "outputs", {"a": [{"envelopeId": 1}]}, {"a": [{"envelopeId": 2}]}, id="an id, deep within"),
    ],
)
def test_what_may_differ(event: Event, name: str, was: object, now: object) -> None:
    """What a host may redact, and what a call costs, may differ either way."""
    original = changed(log(event), 0, **{name: was})
    replayed = changed(log(event), 0, **{name: now})
    if now is ...:
        del replayed[0]["payload"][name]
    assert not find_divergence_events(original, replayed)
    assert not find_divergence_events(replayed, original)


def test_another_refusal_text_is_reported() -> None:
    """A refusal in other words, none of which was struck out, is another answer."""
    original, replayed = (changed(log(REFUSAL), 0, refusalText=each) for each in ("No.", "Never."))
    assert reported(original, replayed) == [("output", 0, "envelope.refusal", "r-1-n-1-0")]


@pytest.mark.parametrize(
    ("stated", "silent"),
    [("trusted", True), ("untrusted", False)],
    ids=["as the default", "other than the default"],
)
def test_trust(stated: str, silent: bool) -> None:
    """Content that is trusted in one and not in the other is a divergence; saying nothing is saying trusted."""
    original, replayed = log(DONE), log(DONE)
    del original[0]["contentTrust"]
    replayed[0]["contentTrust"] = stated
    assert (not find_divergence_events(original, replayed)) is silent
    assert (not find_divergence_events(replayed, original)) is silent


@pytest.mark.parametrize(
    ("replayed", "expected"),
    [
        pytest.param(log(USAGE, CUT, USAGE, READ, DONE), ("missing", 2, AGAIN.type, "r-1-n-1-2"), id="one missing"),
        pytest.param(log(USAGE, READ, DONE), ("missing", 1, CUT.type, "r-1-n-1-1"), id="three missing"),
        pytest.param(
            log(USAGE, CUT, AGAIN, USAGE, READ), ("missing", 5, DONE.type, "r-1-n-1-5"), id="the last missing"
        ),
        pytest.param([], ("missing", 0, USAGE.type, "r-1-n-1-0"), id="all missing"),
        pytest.param(log(USAGE, CUT, AGAIN, USAGE, READ, READ, DONE), ("extra", 5, READ.type, None), id="one extra"),
        pytest.param(
            log(SUBSTITUTED, USAGE, CUT, AGAIN, USAGE, READ, DONE), ("extra", 0, SUBSTITUTED.type, None), id="x"
        ),
        pytest.param(
            log(USAGE, CUT, AGAIN, USAGE, READ, DONE, CAPPED), ("extra", 6, CAPPED.type, None), id="one after"
        ),
        pytest.param(
            log(USAGE, CUT, AGAIN, USAGE, SUBSTITUTED, DONE), ("type-mismatch", 4, READ.type, "r-1-n-1-4"), id="another"
        ),
        pytest.param(
            log(USAGE, AGAIN, CUT, USAGE, READ, DONE), ("type-mismatch", 1, CUT.type, "r-1-n-1-1"), id="two exchanged"
        ),
        pytest.param(
            changed(log(USAGE, CUT, USAGE, READ, DONE), 4, outputs={"a": 1}),
            ("missing", 2, AGAIN.type, "r-1-n-1-2"),
            id="one missing, and a later one otherwise",
        ),
        pytest.param(
            changed(log(USAGE, CUT, READ, AGAIN, USAGE, READ, DONE), 6, outputs={"a": 1}),
            ("extra", 2, READ.type, None),
            id="one extra, and a later one otherwise",
        ),
        pytest.param(
            changed(changed(RUN, 5, outputs={"a": 1}), 4, path="custom"),
            ("output", 4, READ.type, "r-1-n-1-4"),
            id="two otherwise, the first is told",
        ),
    ],
)
def test_the_first_divergence_of_a_chain(replayed: list[Doc], expected: Told) -> None:
    """What is missing, extra or another event is reported once, where the chain first parts."""
    assert reported(RUN, replayed) == [expected]


def test_one_extra_chain() -> None:
    """A chain that the run had not is reported behind all that it had, once."""
    assert reported(RUN, RUN + log(USAGE, DONE, node="n-2")) == [("extra", 6, USAGE.type, None)]
    (found,) = find_divergences([], log(USAGE, run="r-2"))
    assert found.event == ReplayDiverged("r-2", 0, "extra", USAGE.type)


def test_each_chain_tells_its_own() -> None:
    """Chains of other nodes and causes tell their own divergence, in the original's order, with where to tell it."""
    original = log(USAGE, DONE) + log(USAGE, DONE, node="n-2", first=2) + log(USAGE, DONE, kind="j", first=4)
    replayed = [*log(USAGE, run="r-2", node="n-2"), *log(DONE, run="r-2", kind="j", first=1)]
    found = find_divergences(original, replayed)
    assert [each.event for each in found] == [
        ReplayDiverged("r-1", 0, "missing", USAGE.type, "r-1-n-1-0"),
        ReplayDiverged("r-1", 3, "missing", DONE.type, "r-1-n-2-3"),
        ReplayDiverged("r-1", 4, "missing", USAGE.type, "r-1-n-1-4"),
    ]
    assert [each.node_id for each in found] == ["n-1", "n-2", "n-1"]
    assert [each.causation_id for each in found] == [
        make_correlation_id(run, node, 0, kind)
        for run, node, kind in (("r-1", "n-1", "k"), ("r-2", "n-2", "k"), ("r-2", "n-1", "j"))
    ]


def test_nodes_run_side_by_side() -> None:
    """The order between nodes, and that of the documents handed over, says nothing; the sequence does."""
    one, other = log(USAGE, DONE), log(USAGE, READ, DONE, node="n-2", first=2)
    again = log(USAGE, READ, DONE, node="n-2") + log(USAGE, DONE, first=3)
    assert not find_divergence_events(one + other, reversed(again))


def test_chains_without_telling_ids_are_matched_by_order() -> None:
    """Where causes are named at random, the first of a node is the first, and the second the second."""
    original = log(USAGE, DONE) + log(USAGE, READ, DONE, kind="j", first=2)
    replayed = copy.deepcopy(original)
    for each in replayed:
        each["causationId"] = f"random-{each['causationId'][-8:]}"
    assert not find_divergence_events(original, replayed)
    assert not find_divergence_events(replayed, original)
    replayed[3]["payload"]["path"] = "custom"
    assert reported(original, replayed) == [("output", 3, READ.type, "r-1-n-1-3")]


def test_runs_are_held_against_each_other_one_by_one() -> None:
    """Logs of several runs are matched by the run's id, and by order where that is new."""
    original = log(USAGE, DONE) + log(USAGE, READ, run="r-2")
    assert not find_divergence_events(original, log(USAGE, READ, run="r-2") + log(USAGE, DONE))
    assert not find_divergence_events(original, log(USAGE, DONE, run="r-3") + log(USAGE, READ, run="r-4"))
    (found,) = find_divergence_events(original, log(USAGE, DONE) + log(USAGE, run="r-9"))
    assert found.source_run_id == "r-2"


FLIPS = [
    pytest.param(log(USAGE, DONE), log(USAGE, REFUSAL, REFUSED), ("valid", "refusal", 1), id="refused now"),
    pytest.param(log(USAGE, REFUSAL, REFUSED), log(USAGE, DONE), ("refusal", "valid", 1), id="not refused any more"),
    pytest.param(
        log(USAGE, REFUSAL, REFUSED),
        changed(log(USAGE, READ, DONE), 0, outputTokens=99),
        ("refusal", "valid", 1),
        id="the refusal is the place, though another call differs before it",
    ),
    pytest.param(log(USAGE), log(USAGE, REFUSAL, REFUSED), ("valid", "refusal", 1), id="no more told than the usage"),
    pytest.param(log(ASKED, HELD), log(REFUSED), ("valid", "refusal", 0), id="a question before"),
]


@pytest.mark.parametrize(("original", "replayed", "expected"), FLIPS)
def test_refused_on_one_side_only(original: list[Doc], replayed: list[Doc], expected: tuple[str, str, int]) -> None:
    """A refusal that was none, or is none any more, has an event and a code of its own."""
    was, now, at = expected
    reported = original[at]["eventId"] if at < len(original) else None
    assert find_divergence_events(original, replayed) == (ReplayDivergedAtRefusal("r-1", at, was, now, reported),)
    assert REPLAY_DIVERGED_AT_REFUSAL == "replay_diverged_at_refusal"


@pytest.mark.parametrize(
    ("original", "replayed"),
    [
        pytest.param(log(USAGE, SPENT, CAPPED, FAILED), log(USAGE, REFUSAL, REFUSED), id="failed before"),
        pytest.param(log(USAGE, REFUSAL, REFUSED), log(USAGE, SPENT, CAPPED, FAILED), id="failed now"),
        pytest.param(log(USAGE, REFUSAL, REFUSED), [], id="nothing now"),
        pytest.param(log(LOGGED), log(REFUSAL, REFUSED), id="log lines only"),
        pytest.param(log(USAGE, REFUSAL, REFUSED), log(USAGE, REFUSAL), id="both refused"),
    ],
)
def test_no_flip(original: list[Doc], replayed: list[Doc]) -> None:
    """What failed in another way was no valid envelope: its divergence is an ordinary one."""
    (found,) = find_divergence_events(original, replayed)
    assert isinstance(found, ReplayDiverged)


@pytest.mark.parametrize(
    "event",
    [
        ReplayDiverged("r-1", 0, "output", "node.completed"),
        ReplayDivergedAtRefusal("r-1", 0, "valid", "refusal"),
        events.NodeFailed(REPLAY_DIVERGED_AT_REFUSAL, "The replay was refused."),
        LogAppended(Level.DEBUG, "calling", {"attempt": 2, "budget": 100}),
        LogAppended(Level.WARN, "call failed, will be sent again: timeout", {"fault": "timeout"}),
        LogAppended(Level.INFO, "this took 12 ms"),
    ],
    ids=["divergence", "refusal", "failed for it", "call", "fault", "sentence"],
)
def test_what_a_replay_does_not_tell_again(event: Event) -> None:
    """What a replay found, how the network was, and sentences for people are no part of what is compared."""
    original, replayed = log(USAGE, DONE), log(USAGE, event, DONE)
    assert not find_divergence_events(original, replayed)
    assert not find_divergence_events(replayed, original)


def test_a_lease_is_not_reported_again() -> None:
    """Who ran a run says nothing of what it came to."""
    lease = {**log(DONE)[0], "type": "lease.acquired"}
    assert not find_divergence_events(RUN, [lease, *RUN])


def test_types_that_nobody_knows() -> None:
    """An event of an unknown type is compared whole, but for what differs by nature."""
    original = [{**log(DONE)[0], "type": "acme.thing.made", "payload": {"size": {"w": 1}, "runId": "r-1"}}]
    replayed = [{**original[0], "payload": {"size": {"w": 1.0}, "runId": "r-2"}}]
    assert not find_divergence_events(original, replayed)
    replayed[0]["payload"] = {"size": {"w": 2}}
    assert reported(original, replayed) == [("output", 0, "acme.thing.made", "r-1-n-1-0")]


@pytest.mark.parametrize("sequence", [None, -5, True, "3", 1.5, {}], ids=repr)
def test_a_sequence_that_is_none(sequence: Any) -> None:
    """An event without a sequence that can be one stands where it is in the log."""
    original = [{**each, "sequence": sequence} for each in log(USAGE, READ, DONE)]
    assert reported(original, log(USAGE, READ)) == [("missing", 2, DONE.type, "r-1-n-1-2")]


def test_no_number_is_itself() -> None:
    """What is no JSON, and no number even to itself, is reported again by what is none either."""
    (original,) = log(DONE)
    original["payload"]["outputs"] = {"a": float("nan")}
    (replayed,) = log(DONE)
    replayed["payload"]["outputs"] = {"a": float("nan")}
    assert not find_divergence_events([original], [replayed])


def test_one_more_of_the_same_type() -> None:
    """One event more, or less, is reported as such though the one that stands in its place is of its type."""
    other = events.ProviderUsage("acme", "m-2", 1, 1)
    few, many = log(USAGE, DONE), log(other, USAGE, DONE)
    assert reported(few, many) == [("extra", 0, USAGE.type, None)]
    assert reported(many, few) == [("missing", 0, USAGE.type, "r-1-n-1-0")]


@pytest.mark.parametrize("payload", [None, 5, "text", ["a"], True], ids=repr)
def test_payloads_that_are_no_object(payload: Any) -> None:
    """A payload may be any JSON; it is compared as such."""
    original = [{**log(DONE)[0], "payload": payload}]
    assert not find_divergence_events(original, copy.deepcopy(original))
    assert len(find_divergence_events(original, [{**original[0], "payload": {"a": 1}}])) == 1
    assert len(find_divergence_events([{**original[0], "payload": 7}], original)) == 1


def test_any_mapping_is_a_document() -> None:
    """A store may hand out read-only documents: they are read, and not taken for empty ones."""
    frozen = [MappingProxyType({**each, "payload": MappingProxyType(each["payload"])}) for each in RUN]
    assert not find_divergence_events(RUN, frozen)
    assert len(find_divergence_events(frozen, log(USAGE))) == 1


def test_a_deep_payload() -> None:
    """However deep an output nests, it is compared."""
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    original, replayed = ([{**log(DONE)[0], "payload": {"outputs": each}}] for each in (deep, [deep]))
    assert not find_divergence_events(original, original)
    assert len(find_divergence_events(original, replayed)) == 1


NAMES = st.sampled_from(
    ["type", "payload", "sequence", "runId", "nodeId", "causationId", "eventId", "contentTrust", "message", "error"]
)
SCRAPS: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["", "node.failed", "log.appended"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=5,
)
HOSTILE = st.lists(SCRAPS | st.dictionaries(NAMES, SCRAPS, min_size=3, max_size=6), max_size=4)


@given(HOSTILE, HOSTILE)
@settings(max_examples=examples(50))
def test_any_log(original: list[Any], replayed: list[Any]) -> None:
    """Whatever stands in a log, nothing raises, and a log is the replay of itself."""
    for each in find_divergence_events(original, replayed):
        assert each.at_sequence >= 0
        assert each.source_run_id
    assert not find_divergence_events(original, copy.deepcopy(original))


WORDS = st.sampled_from(["a", "b", "c"])
RECORDS: st.SearchStrategy[Any] = st.one_of(
    st.builds(events.RetryAttempted, st.integers(2, 4), st.sampled_from(Reason), WORDS),
    st.builds(events.RetryExhausted, st.integers(1, 4), st.sampled_from(Reason), WORDS),
    st.builds(events.EnvelopeTruncated, WORDS, WORDS, WORDS, st.booleans(), st.integers(0, 4)),
    st.builds(events.RecoveryApplied, WORDS, st.integers(0, 4)),
    st.builds(events.CapBreached, WORDS, st.integers(0, 4), st.integers(0, 4)),
    st.builds(events.ProviderUsage, WORDS, WORDS, st.integers(0, 4), st.integers(0, 4)),
    st.builds(events.NodeCompleted, st.dictionaries(WORDS, st.integers(0, 4), min_size=1)),
    st.builds(LogAppended, st.sampled_from(Level), WORDS, st.just({"a": 1})),
)
LOGS = st.lists(st.lists(RECORDS, min_size=1, max_size=6), min_size=1, max_size=3).map(
    lambda chains: [
        doc for number, reported in enumerate(chains) for doc in log(*reported, node=f"n-{number}", first=number * 10)
    ]
)


@given(LOGS, st.data())
@settings()
def test_any_single_mutation_is_reported(original: list[Doc], data: st.DataObject) -> None:
    """One event that is dropped, doubled, of another type or content is reported once, of the right kind."""
    at = data.draw(st.integers(0, len(original) - 1))
    replayed, point = copy.deepcopy(original), original[at]["type"]
    kind = data.draw(st.sampled_from(["output", "missing", "extra", "type-mismatch"]))
    if kind == "missing":
        del replayed[at]
    elif kind == "extra":
        replayed.insert(at, copy.deepcopy(replayed[at]))
    elif kind == "type-mismatch":
        replayed[at]["type"] = "acme.other"
    else:
        free = VOLATILE_FIELDS | FIELD_RULES[point].ignored if point in FIELD_RULES else VOLATILE_FIELDS
        payload = replayed[at]["payload"]
        name = data.draw(st.sampled_from(sorted(payload.keys() - free - {"fields"})))
        payload[name] = {"another": payload[name]} if name != "message" else "other"
    (found,) = find_divergences(original, replayed)
    assert isinstance(found.event, ReplayDiverged)
    assert (found.event.divergence_kind, found.event.divergence_point) == (kind, point)
    assert found.node_id == original[at]["nodeId"]
    if kind in ("output", "type-mismatch"):
        assert found.event.at_sequence == original[at]["sequence"]
        assert found.event.original_event_id == original[at]["eventId"]
    else:
        assert abs(found.event.at_sequence - original[at]["sequence"]) <= 6


@given(LOGS)
@settings()
def test_a_run_is_its_own_replay(original: list[Doc]) -> None:
    """A run held against itself, in whatever form it was kept, is silent."""
    assert not find_divergence_events(original, json.loads(json.dumps(original, sort_keys=True)))


@needs_schemas
@pytest.mark.parametrize("kind", FIELD_RULES)
def test_the_table_names_fields_that_there_are(kind: str) -> None:
    """What the table names is a field of the event's payload, or the sentence of an error in it."""
    payloads = json.loads((FOLDER / "run-event-payloads.schema.json").read_text("utf-8"))["$defs"]
    reference = payloads["_typeIndex"]["properties"][kind]["$ref"]
    known = payloads[reference.removeprefix("#/$defs/")]["properties"]
    fields = FIELD_RULES[kind]
    assert fields.exact | fields.redactable | (fields.ignored - {"message"}) <= known.keys()


DEFINITIONS = {ReplayDiverged: "replayDiverged", ReplayDivergedAtRefusal: "replayDivergedAtRefusal"}


@needs_schemas
@pytest.mark.parametrize(
    ("original", "replayed"),
    [
        pytest.param(RUN, [], id="missing"),
        pytest.param([], RUN, id="extra"),
        *(pytest.param(*each.values[:2], id=each.id) for each in FLIPS),
    ],
)
def test_what_is_reported_holds_to_the_schemas(original: list[Doc], replayed: list[Doc]) -> None:
    """What is reported a divergence is a RunEventDoc, in the replay's own log."""
    (found,) = find_divergences(original, replayed)
    assert isinstance(found, Divergence)
    assert found.node_id is not None
    assert found.causation_id is not None
    doc = RunEvent(found.event, "e", "r-2", found.node_id, "2026-05-18T10:00:00Z", 0, found.causation_id).to_json()
    assert not errors(doc, "run-event.schema.json")
    where = f"run-event-payloads.schema.json#/$defs/{DEFINITIONS[type(found.event)]}"
    assert not errors(doc["payload"], where)
