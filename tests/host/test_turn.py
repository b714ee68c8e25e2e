"""A turn takes its envelopes in order and counts them against the limits; a repetition is no further one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.events import NodeFailed
from emitter.host import Counters, EnvelopeContext, EnvelopeContract, HostConfig, HostLimits, RefusalMode
from emitter.stores import MemoryStore, SqliteStore
from tests.host.envelopes import CATALOGUE, CONTEXT, NOTE, acceptor, envelope, types

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.host import Acceptance, Acceptor

FEW = HostLimits(envelopes_per_turn=3, schema_rounds=2, clarification_rounds=2)
ASK, SCHEMA = "clarification.request", "schema.request"


def host(limits: HostLimits = FEW, **settings: Any) -> Acceptor:
    """Return a host that allows little."""
    return acceptor(HostConfig(CATALOGUE, limits=limits), **settings)


def numbered(number: int, kind: str = NOTE, **change: Any) -> dict[str, Any]:
    """Return an envelope of its own ids."""
    return envelope(kind, envelopeId=f"env-{number}", correlationId=f"c-{number}", **change)


def statuses(found: tuple[Acceptance, ...]) -> list[str]:
    """Return what became of each."""
    return [each.status for each in found]


def counts(context: EnvelopeContext) -> tuple[int, int, int]:
    """Return what was counted."""
    return context.counters.envelopes, context.counters.schema, context.counters.clarification


# what is counted

COUNTED: dict[str, tuple[dict[str, Any], Counters, tuple[int, int, int]]] = {
    "an envelope": (envelope(), Counters(), (1, 0, 0)),
    "an envelope that holds ends the rounds": (envelope(), Counters(schema=2), (1, 0, 0)),
    "an error ends none": (envelope("error"), Counters(schema=1), (1, 1, 0)),
    "a schema that was read ends none": (envelope("schema.response"), Counters(schema=1), (1, 1, 0)),
    "a question": (envelope(ASK), Counters(schema=1), (1, 1, 1)),
    "a schema that is asked for": (envelope(SCHEMA), Counters(), (1, 1, 0)),
    "a shape that does not hold": (envelope(extra=1), Counters(), (1, 1, 0)),
    "a payload that does not hold": (envelope(payload={}), Counters(), (1, 1, 0)),
    "an unknown kind": (envelope("vendor.acme.unknown"), Counters(), (1, 1, 0)),
    "content that the host does not render": (envelope("ui.gauge"), Counters(), (1, 0, 0)),
    "media that the host does not take": (envelope("media.video"), Counters(schema=1), (1, 1, 0)),
    "another node's": (envelope(nodeId="node-2"), Counters(), (1, 1, 0)),
    "an unknown version": (envelope(schemaVersion=9), Counters(), (1, 1, 0)),
    "no JSON": ({"payload": object()}, Counters(), (1, 1, 0)),
    "one too many": (envelope(), Counters(envelopes=3, schema=1), (4, 1, 0)),
}


@pytest.mark.parametrize(("given_", "before", "after"), COUNTED.values(), ids=COUNTED.keys())
def test_what_comes_is_counted(given_: dict[str, Any], before: Counters, after: tuple[int, int, int]) -> None:
    """Envelopes, rounds of repair, questions; what does not hold is an envelope too."""
    turn = host().turn(replace(CONTEXT, counters=before))
    turn.accept(given_)

    assert counts(turn.context) == after


@pytest.mark.parametrize("mode", RefusalMode, ids=lambda each: each.value)
def test_a_kind_that_the_node_may_not_emit_is_no_round(mode: RefusalMode) -> None:
    """The model may not mend it under the same contract."""
    turn = host().turn(replace(CONTEXT, contract=EnvelopeContract(frozenset(), mode)))
    turn.accept(envelope())

    assert counts(turn.context) == (1, 0, 0)


# limits


def test_one_too_many_is_breached() -> None:
    """As many as are allowed are accepted, and not one more."""
    turn = host().turn(CONTEXT)
    found = tuple(turn.accept(numbered(each)) for each in range(5))

    assert statuses(found) == ["accepted"] * 3 + ["breached"] * 2
    assert [each.outcome.to_json().get("observed") for each in found] == [None, None, None, 4, 5]


def test_the_next_turn_begins_anew() -> None:
    """Envelopes are a turn's; rounds and questions are the node's."""
    turn = host().turn(CONTEXT)
    for number, kind in enumerate((ASK, SCHEMA, NOTE)):
        turn.accept(numbered(number, kind))
    turn = turn.next_turn()

    assert counts(turn.context) == (0, 0, 1)
    assert turn.accept(numbered(3)).status == "accepted"


def test_rounds_go_on_in_the_next_turn() -> None:
    """A model that is asked to mend answers in its next turn; after the last round the node fails."""
    turn, reported = host().turn(CONTEXT), []
    for number in range(3):
        reported.append(types(turn.accept(numbered(number, payload={})).events))
        turn = turn.next_turn()

    assert reported == [["log.appended"], ["log.appended"], ["cap.breached", "node.failed"]]


def test_rounds_are_an_envelopes() -> None:
    """What holds ends them, so that the next envelope has its own."""
    turn = host(HostLimits(9, 1, 9)).turn(CONTEXT)
    bad, good = {"payload": {}}, {}
    found = [turn.accept(numbered(number, **change)) for number, change in enumerate((bad, good, bad, bad))]

    assert [types(each.events)[-1] for each in found] == [
        "log.appended",
        "node.completed",
        "log.appended",
        "node.failed",
    ]


def test_schemas_are_asked_for_within_the_rounds() -> None:
    """A request counts as a repair does, and is breached as one."""
    turn = host(HostLimits(9, 2, 9)).turn(CONTEXT)
    found = tuple(turn.accept(numbered(number, SCHEMA)) for number in range(3))

    assert statuses(found) == ["accepted", "accepted", "breached"]
    assert found[2].outcome.to_json()["capKind"] == "schema"


def test_questions_are_a_nodes() -> None:
    """They are counted from turn to turn, and never forgotten."""
    turn = host().turn(CONTEXT)
    found = []
    for number in range(3):
        found.append(turn.accept(numbered(number, ASK)))
        turn = turn.next_turn()

    assert statuses(tuple(found)) == ["accepted", "accepted", "breached"]


def test_a_turn_knows_the_questions_of_the_log(tmp_path: Path) -> None:
    """Whoever goes on with the run counts what its log tells; another node and another run begin with none."""
    with SqliteStore(tmp_path / "log.db") as store:
        for number in range(2):
            assert host(store=store).turn(CONTEXT).accept(numbered(number, ASK)).status == "accepted"
    with SqliteStore(tmp_path / "log.db") as store:
        later = host(store=store)
        again = later.turn(CONTEXT).accept(numbered(0, ASK))
        third = later.turn(CONTEXT).accept(numbered(2, ASK))
        others = [
            later.turn(each).accept(numbered(3, ASK))
            for each in (EnvelopeContext("run-1", "node-2"), EnvelopeContext("run-2", "node-1"))
        ]

    assert (again.status, again.cached) == ("accepted", True)
    assert third.status == "breached"
    assert statuses(tuple(others)) == ["accepted", "accepted"]


def test_the_log_does_not_lower_what_a_host_counted() -> None:
    """A context's own counters stand, where they are higher."""
    turn = host().turn(replace(CONTEXT, counters=Counters(clarification=2)))

    assert turn.accept(envelope(ASK)).status == "breached"


def test_nobody_asks_for_another_node() -> None:
    """A model that writes another ``nodeId`` is reported so, and its own node's questions are counted on."""
    turn = host(HostLimits(32, 3, 1)).turn(CONTEXT)
    found = [turn.accept(numbered(each, ASK, nodeId=node)) for each, node in enumerate(("other", "node-1", "node-1"))]

    assert statuses(tuple(found)) == ["invalid", "accepted", "breached"]
    assert found[0].outcome.to_json()["details"][0] == {
        "instancePath": "/nodeId",
        "keyword": "node",
        "message": "the id of the node that emitted it, or no nodeId",
    }
    assert counts(turn.context) == (3, 1, 1)


def test_without_a_store_a_turn_counts_what_it_sees() -> None:
    """There is no log to read."""
    turn = host(store=None).turn(CONTEXT)

    assert statuses(tuple(turn.accept(numbered(each, ASK)) for each in range(3))) == ["accepted"] * 2 + ["breached"]


# repetitions


@pytest.mark.parametrize("kind", [NOTE, ASK, SCHEMA, "error", "schema.response"])
def test_a_repetition_is_not_counted(kind: str) -> None:
    """Also at the limit, and in the next turn; it has the outcome that it had."""
    turn = host(HostLimits(1, 1, 1)).turn(CONTEXT)
    first = turn.accept(numbered(0, kind))
    before = counts(turn.context)
    again = turn.accept(numbered(0, kind))
    later = turn.next_turn().accept(numbered(0, kind))

    assert [each.cached for each in (first, again, later)] == [False, True, True]
    assert first.outcome == again.outcome == later.outcome
    assert counts(turn.context) == before


def test_what_an_earlier_process_accepted_is_not_counted() -> None:
    """A turn that is run anew after a crash has room for what was not accepted before."""
    store = MemoryStore()
    for number in range(2):
        host(store=store).turn(CONTEXT).accept(numbered(number))
    turn = host(store=store).turn(CONTEXT)
    found = tuple(turn.accept(numbered(each)) for each in range(5))

    assert [each.cached for each in found] == [True, True, False, False, False]
    assert statuses(found) == ["accepted"] * 5


@pytest.mark.parametrize("given_", [numbered(0, payload={}), numbered(0, "error")], ids=["payload", "conflict"])
def test_a_repetition_that_is_refused_is_counted(given_: dict[str, Any]) -> None:
    """Else a model fails the node, or fills its log, as often as it likes."""
    turn = host().turn(CONTEXT)
    turn.accept(numbered(0))
    found = [turn.accept(given_) for _ in range(6)]

    assert "breached" in statuses(tuple(found)) or "cap.breached" in [
        name for each in found for name in types(each.events)
    ]
    assert counts(turn.context) != (1, 0, 0)


# many at once


def test_all_are_taken_in_order() -> None:
    """An envelope that is refused, and may be mended, does not keep the next from being taken."""
    given_ = [numbered(0), numbered(1, payload={}), numbered(2)]
    found = host().turn(CONTEXT).accept_all(given_)

    assert statuses(found) == ["accepted", "invalid", "accepted"]
    assert [each.sequence for one in found for each in one.events] == [0, 1, 2]


FATAL: dict[str, tuple[list[dict[str, Any]], EnvelopeContext, list[str]]] = {
    "contract": (
        [envelope(), numbered(1, "error")],
        replace(CONTEXT, contract=EnvelopeContract(frozenset())),
        ["gated"],
    ),
    "limits": ([numbered(each) for each in range(6)], CONTEXT, ["accepted"] * 3 + ["breached"]),
    "rounds": ([numbered(each, payload={}) for each in range(6)], CONTEXT, ["invalid"] * 3),
    "conflict": ([numbered(0), numbered(0, "error"), numbered(1)], CONTEXT, ["accepted", "invalid"]),
}


@pytest.mark.parametrize(("given_", "context", "expected"), FATAL.values(), ids=FATAL.keys())
def test_what_fails_the_node_ends_the_turn(given_: list[Any], context: EnvelopeContext, expected: list[str]) -> None:
    """What comes after it is not looked at."""
    assert statuses(host(replace(FEW, schema_rounds=2)).turn(context).accept_all(given_)) == expected


def test_what_is_discarded_does_not_end_the_turn() -> None:
    """A lenient node goes on."""
    lenient = EnvelopeContract(frozenset(), RefusalMode.DISCARD_AND_WARN)
    found = host().turn(replace(CONTEXT, contract=lenient)).accept_all([envelope(), numbered(1, "error")])

    assert statuses(found) == ["gated", "accepted"]


def test_a_handler_may_fail_the_node() -> None:
    """Its ``node.failed`` ends the turn as any other; reported once, it does not end a replay."""
    rules = HostConfig(CATALOGUE, handlers={NOTE: lambda *_: [NodeFailed("full", "No room.")]})
    failing = acceptor(rules)
    found = failing.turn(CONTEXT).accept_all([numbered(0), numbered(1, "error")])
    again = failing.turn(CONTEXT).accept_all([numbered(0), numbered(1, "error")])

    assert statuses(found) == ["accepted"]
    assert [each.cached for each in again] == [True, False]


def test_nothing_is_nothing() -> None:
    """A turn may be without an envelope."""
    turn = host().turn(CONTEXT)

    assert (turn.accept_all([]), turn.accept_text("I would ship."), counts(turn.context)) == ((), (), (0, 0, 0))


def written(number: int) -> str:
    """Return an envelope as a model writes it."""
    meta = '{"source": "ai-generation", "ts": "2026-05-18T10:00:00Z"}'
    return (
        f'{{"type": "{NOTE}", "schemaVersion": 2, "envelopeId": "env-{number}", "correlationId": "c-{number}", '
        f'"payload": {{"text": "{number}"}}, "meta": {meta}}}'
    )


TEXTS: dict[str, tuple[str, list[str]]] = {
    "one document": (written(0), ["accepted"]),
    "an array": (f"[{written(0)}, {written(1)}]", ["accepted", "accepted"]),
    "fenced blocks": (
        f"First:\n```json\n{written(0)}\n```\nthen\n~~~json\n{written(1)}\n~~~",
        ["accepted", "accepted"],
    ),
    "twice the same": (f"[{written(0)}, {written(0)}]", ["accepted", "accepted"]),
    "a block that is cut": (f"```json\n{written(0)}\n```\n```json\n{written(1)[:50]}", ["accepted", "invalid"]),
    "a number": ("7", ["invalid"]),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.values(), ids=TEXTS.keys())
def test_a_text_is_taken_apart(text: str, expected: list[str]) -> None:
    """What it holds is accepted as if it had come one by one."""
    assert statuses(host().turn(CONTEXT).accept_text(text)) == expected


def test_a_typed_envelope_may_be_handed_over() -> None:
    """What was accepted comes back as an ``AIEnvelope``, and is known as one."""
    turn = host().turn(CONTEXT)
    first = turn.accept(envelope())
    assert first.envelope is not None

    assert turn.accept(first.envelope).cached
    assert counts(turn.context) == (1, 0, 0)


GIVEN = st.sampled_from(
    [numbered(number, kind) for number in range(3) for kind in (NOTE, ASK, SCHEMA, "error")]
    + [numbered(number, payload={}) for number in range(3)]
    + [{}, [], None, "text", {"correlationId": []}, {"correlationId": "c-0"}]
)


@given(st.lists(GIVEN, max_size=12))
def test_a_turn_never_accepts_more_than_it_may(given_: list[Any]) -> None:
    """Whatever comes, nothing is raised, and no count is below zero or falls but for the rounds."""
    turn = host().turn(CONTEXT)
    found = []
    for each in given_:
        before = counts(turn.context)
        found.append(turn.accept(each))
        after = counts(turn.context)
        assert after[0] >= before[0] >= 0
        assert after[2] >= before[2] >= 0
        assert after[1] >= 0
    new = [each for each in found if each.envelope is not None and not each.cached]

    assert len(new) <= FEW.envelopes_per_turn
    assert sum(each.envelope is not None and each.envelope.type == ASK for each in new) <= FEW.clarification_rounds
