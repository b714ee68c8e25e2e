"""Whatever a host is handed, it says what becomes of it: nothing that an envelope may be raises."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from emitter.host import (
    EnvelopeContext,
    EnvelopeReassembler,
    HostConfig,
    OutcomeCode,
    Turn,
    build_debug_bundle,
    build_follow_up,
    render_for_model,
)
from emitter.host.model_text import MAX_DOCUMENTS
from emitter.host.validation import MAX_DEPTH
from emitter.models.envelope import AIEnvelope, EnvelopeMeta, EnvelopeSource
from emitter.models.standard_kinds import DOCUMENT
from emitter.stores import SqliteStore
from tests.host.anything import (
    ANYTHING,
    CONTEXTS,
    FINE,
    FULL,
    JSON,
    MEMBERS,
    ODD,
    OPEN,
    PARTIALS,
    RULES,
    VALID,
    deep,
    fenced,
    mutated,
    whole,
)
from tests.host.envelopes import CONTEXT, acceptor, envelope
from tests.host.judging import as_json, judge, judge_log
from tests.models.openwop import errors, needs_schemas
from tests.work import count_lines, examples

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.host import Acceptance, Acceptor

HARD = settings(max_examples=examples(120))
SOFT = settings(HARD, max_examples=examples(40))
RUNS = count()
HUGE = 10**4300
"""A number that Python does not write: it raises."""


def held(host: Acceptor, found: Acceptance) -> None:
    """Judge an acceptance, and whatever can be made of it."""
    judge(found)
    repr(found)
    build_follow_up(found)
    if found.envelope is not None:
        render_for_model(found.envelope)
    judge_log(host.store.events("run-1") if host.store else ())
    as_json(build_debug_bundle(host, "run-1"))


@pytest.mark.parametrize("kind", sorted(VALID))
def test_the_mutations_begin_with_what_holds(kind: str) -> None:
    """Otherwise no mutation would come far."""
    found = acceptor(rules()).accept(envelope(kind, payload=VALID[kind]), CONTEXT)

    assert found.status == "accepted", found.outcome


@HARD
@given(given=ANYTHING, context=CONTEXTS, rules=RULES)
def test_whatever_it_is_there_is_an_outcome(given: Any, context: EnvelopeContext, rules: HostConfig) -> None:
    """Of an envelope, of what once was one, and of what never was."""
    host = acceptor(rules)

    held(host, host.accept(given, context))


@SOFT
@given(givens=st.lists(ANYTHING, min_size=1, max_size=5), context=CONTEXTS, rules=RULES)
def test_a_turn_goes_on_whatever_comes(givens: list[Any], context: EnvelopeContext, rules: HostConfig) -> None:
    """Each has its outcome, what was counted never shrinks below 0, and the log has no gaps."""
    host = acceptor(rules)
    turn = host.turn(context)

    for each in givens:
        held(host, turn.accept(each))
    counters = turn.context.counters
    assert min(counters.envelopes, counters.schema, counters.clarification) >= 0
    assert host.turn(context).context.counters.clarification >= context.counters.clarification


@SOFT
@given(
    text=st.text(max_size=60)
    | st.builds("".join, st.lists(st.sampled_from(["```", "~~~", "json", "\n", "{", "}", "[", '"', "\ud800", "1e999"])))
    | st.builds(fenced, mutated(JSON))
    | st.builds(lambda left, right: fenced(left) + fenced(right), whole(), whole()),
    context=CONTEXTS,
    rules=RULES,
)
def test_a_text_is_read_whatever_it_says(text: str, context: EnvelopeContext, rules: HostConfig) -> None:
    """Prose, torn fences, halves of characters, documents in fences."""
    host = acceptor(rules)
    found = Turn.start(host, context).accept_text(text)

    assert len(found) <= MAX_DOCUMENTS + 1
    for each in found:
        held(host, each)


@SOFT
@given(
    chunks=st.lists(st.tuples(mutated(), st.none() | PARTIALS) | ANYTHING.map(lambda each: (each, None)), max_size=5),
    context=CONTEXTS,
    rules=RULES,
)
def test_chunks_are_put_together_whatever_they_are(
    chunks: list[Any], context: EnvelopeContext, rules: HostConfig
) -> None:
    """Those that fit, that contradict each other, and that are none; nothing is reported before the last."""
    host = acceptor(rules)
    reassembly = EnvelopeReassembler(host)

    for chunk, partial in chunks:
        given = {**chunk, "partial": partial} if partial and isinstance(chunk, dict) else chunk
        before = len(host.store.events("run-1")) if host.store else 0
        found = reassembly.accept(given, context)
        if found is not None:
            held(host, found)
        else:
            assert host.store is not None
            assert len(host.store.events("run-1")) == before
    assert reassembly.expire() == ()


@SOFT
@given(payload=JSON, context=CONTEXTS, rules=RULES)
def test_an_envelope_in_its_own_type_is_taken_as_its_document_is(
    payload: Any, context: EnvelopeContext, rules: HostConfig
) -> None:
    """``AIEnvelope`` or its JSON: the outcome is the same."""
    made = typed(payload)
    one, other = acceptor(rules), acceptor(rules)
    assume(not has_half(payload))
    found = one.accept(made, context)

    held(one, found)
    assert found.outcome == other.accept(made.to_json(), context).outcome


@SOFT
@given(given=mutated(JSON))
def test_a_store_in_a_file_takes_what_the_memory_takes(given: Any, folder: Path) -> None:
    """The same outcome, and the same log."""
    with SqliteStore(folder / "runs.db") as store:
        context = EnvelopeContext(f"run-{next(RUNS)}", "node-1")
        memory, file = acceptor(rules()), acceptor(rules(), store=store)
        assert memory.accept(given, context).outcome == file.accept(given, context).outcome
        assert memory.store is not None
        assert memory.store.events(context.run_id) == store.events(context.run_id)


@pytest.mark.parametrize("odd", range(len(ODD) + 1))
def test_no_odd_value_raises_wherever_it_stands(odd: int) -> None:
    """Each as a member, and instead of the whole; the last is as deep as memory allows."""
    value = (*ODD, lambda: deep(100_000))[odd]()
    host = acceptor(rules())

    for each in (value, *(envelope(**{name: value}) for name in MEMBERS)):
        held(host, host.accept(each, CONTEXT))


@pytest.mark.parametrize("odd", range(len(ODD) + 1))
def test_what_is_no_json_is_refused_and_not_mended(odd: int) -> None:
    """In a payload of which nothing is asked: what leaves the host is what came in."""
    value = (*ODD, lambda: deep(100_000))[odd]()
    given = [envelope(OPEN, payload={"a": [value]}), envelope(OPEN, payload={"a": {"b": value}})]

    for each in given:
        assert acceptor(rules()).accept(each, CONTEXT).status == "invalid"


def test_what_is_json_is_taken_as_it_is() -> None:
    """Also where it is large."""
    for each in FINE:
        found = acceptor(rules()).accept(envelope(OPEN, payload={"a": each}), CONTEXT)
        assert found.envelope is not None
        assert found.envelope.payload == {"a": each}


def test_a_number_of_5000_digits_is_refused() -> None:
    """No kind takes it apart, and no store can keep it."""
    held(*taken(envelope("error", payload={"code": "c", "message": "m", "details": {"n": 10 * HUGE}})))


def test_a_list_that_stands_in_itself_twice_is_refused() -> None:
    """It is no tree: walking it as one takes 2 to the power of its depth steps, and as much memory."""
    value: list[Any] = []
    value += [value, value]
    count_lines(lambda: held(*taken(envelope(payload=value))), limit=10_000_000)


def taken(given: Any) -> tuple[Acceptor, Acceptance]:
    """Return a host and what it makes of an envelope."""
    host = acceptor(rules())
    return host, host.accept(given, CONTEXT)


@needs_schemas
@HARD
@given(given=mutated(JSON) | JSON | whole())
def test_the_shape_is_taken_exactly_where_openwop_s_schema_takes_it(given: Any) -> None:
    """With what v1 lets be absent filled in, and but for ``ts``, which must be in UTC, and the node besides."""
    found = acceptor(rules()).accept(given, CONTEXT)
    assume(not is_chunk(given) and not has_half(given))
    refused = getattr(found.outcome, "code", None) == OutcomeCode.SHAPE

    assert refused is not is_valid(given), found.outcome


MEANT: dict[str, Any] = {
    **dict.fromkeys(("type", "envelopeId", "correlationId"), "a"),
    "nodeId": CONTEXT.node_id,
    "schemaVersion": 1,
    "payload": {},
    "meta": {"source": "user", "ts": "2026-05-18T10:00:00Z"},
    "partial": {"isPartial": False, "index": 0, "total": 1},
    "meta.rendering": {},
    **dict.fromkeys(("meta.source", "meta.ts", "meta.contentTrust", "meta.traceparent", "meta.label"), "a"),
    **dict.fromkeys(("meta.rendering.display", "meta.rendering.alt", "meta.rendering.mimeType", "meta.more"), "a"),
    **dict.fromkeys(("partial.isPartial", "partial.index", "partial.total", "partial.more", "more"), 1),
}
"""The members of an envelope, by their way, and a value for each."""
TIMES = [
    f"2026-05-18T10:00:00{end}"
    for end in ("Z", "+00:00", "-00:00", "+02:00", "", "z", ".5Z", ".123456789Z", ".Z", "+0000", " Z", "Z\n")
]
TIMES += ["2026-02-30T10:00:00Z", "2026-05-18T24:00:00Z", "2026-05-18 10:00:00Z", "2026-05-18t10:00:00Z"]
TIMES += ["2026-05-18T10:00:60Z", "2026-05-18T10:00Z", "2026-05-18", "20260518T100000Z", "٢٠٢٦-05-18T10:00:00Z"]
SAID = [None, True, False, 0, 1, -1, -2, 1.0, 1.5, "", "1", "true", "a", "é" * 128, "a" * 129, "é" * 256, "a" * 257]
SAID += ["user", "system", "User", "trusted", "untrusted", "markdown", [], {}, ["a"], {"a": 1}, *TIMES]


@needs_schemas
@pytest.mark.parametrize("way", MEANT)
def test_each_member_is_taken_exactly_where_openwop_s_schema_takes_it(way: str) -> None:
    """Each with each of many values, and without any."""
    for value in (*SAID, MEANT[way], ...):
        given = envelope(partial=MEANT["partial"], payload={"text": "a"})
        *around, name = way.split(".")
        holder = given
        for each in around:
            holder = holder.setdefault(each, {})
        holder[name] = value
        if value is ...:
            del holder[name]
        if not is_chunk(given):
            refused = getattr(acceptor(rules()).accept(given, CONTEXT).outcome, "code", None) == OutcomeCode.SHAPE
            assert refused is not is_valid(given), value


def is_valid(given: Any) -> bool:
    """Tell whether OpenWOP takes an envelope, with what v1 lets be absent; it must come from the node besides."""
    valid = errors(completed(given), "ai-envelope.schema.json") == []
    return valid and in_utc(given) and given.get("nodeId", CONTEXT.node_id) == CONTEXT.node_id


def completed(given: Any) -> Any:
    """Return a document with the members that v1 makes up."""
    if not isinstance(given, dict):
        return given
    meta = given.get("meta")
    said = {"source": "ai-generation", **meta} if isinstance(meta, dict) else meta
    return {"envelopeId": "made", "correlationId": "made", **given, **({"meta": said} if "meta" in given else {})}


def in_utc(given: Any) -> bool:
    """Tell whether an envelope's time is written as UTC."""
    return str(given["meta"]["ts"]).endswith(("Z", "+00:00"))


def is_chunk(given: Any) -> bool:
    """Tell whether a document is a part of an envelope, which ``accept`` refuses by its shape."""
    partial = given.get("partial") if isinstance(given, dict) else None
    return isinstance(partial, dict) and (partial.get("isPartial") is True or partial.get("index") != 0)


def has_half(given: Any) -> bool:
    """Tell whether half a character or a number that is not finite stands in it."""
    try:
        as_json(given)
    except ValueError:
        return True
    return False


def rules() -> HostConfig:
    """Return what a host takes that takes everything."""
    return HostConfig(registry=FULL)


def typed(payload: Any) -> AIEnvelope:
    """Return an envelope of the open kind, in its own type."""
    meta = EnvelopeMeta(source=EnvelopeSource.USER, ts="2026-05-18T10:00:00Z")
    return AIEnvelope(
        type=OPEN, schema_version=1, envelope_id="e", correlation_id="c", payload={"it": payload}, meta=meta
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for all examples."""
    return tmp_path_factory.mktemp("stores")


def nest(levels: int, *, names: bool) -> Any:
    """Return a document of so many levels of lists or objects."""
    document: Any = "end"
    for _ in range(levels):
        document = {"a": document} if names else [document]
    return document


@pytest.mark.parametrize("names", [False, True], ids=["lists", "objects"])
@pytest.mark.parametrize("levels", [1, 60, 61, 62, 63, 64, 65, 199])
def test_an_envelope_of_the_library_is_bounded_as_any_other(levels: int, *, names: bool) -> None:
    """Deeper than the bound, it is refused, and otherwise accepted, whoever built it."""
    payload = {"name": "x", "document": [nest(levels, names=names), *([[]] * 70)]}
    small = {"name": "x", "document": nest(levels, names=names)}
    for each in (payload, small):
        own = AIEnvelope.model_validate(envelope(DOCUMENT, payload=each))
        host = acceptor(HostConfig())
        found, expected = (accept(own, CONTEXT) for accept in (host.decide_emission, acceptor(HostConfig()).accept))
        assert found.outcome.to_json() == expected.outcome.to_json()
    assert (expected.outcome.status == "accepted") == (levels + 2 <= MAX_DEPTH)
