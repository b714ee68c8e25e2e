"""What a host tells of each kind, and of each refusal: the whole list of events, and nothing besides."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import InputError
from emitter.events import Level, LogAppended, NodeCompleted, NodeFailed
from emitter.host import (
    Acceptance,
    Acceptor,
    Counters,
    EnvelopeContext,
    EnvelopeContract,
    HostConfig,
    HostLimits,
    RefusalMode,
    Secrets,
    Strictness,
    Trust,
    register_kind,
)
from emitter.stores import MemoryStore
from tests.host.envelopes import CATALOGUE, CONTEXT, NOTE, NOTE_SCHEMA, acceptor, envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.events import Event, RunEvent
    from emitter.models.envelope import AIEnvelope

RULES = HostConfig(CATALOGUE)
CORRELATION = "run-1:node-1:0:abc123"
SECRET = "sk-live-0123456789"
UNLISTED = register_kind("vendor.acme.draft", NOTE_SCHEMA, None, registry=CATALOGUE)


def reported(events: tuple[RunEvent, ...]) -> list[tuple[str, dict[str, Any]]]:
    """Return what was reported: each type, and its payload without the node that all of them name."""
    return [
        (each.type, {name: value for name, value in each.to_json()["payload"].items() if name != "nodeId"})
        for each in events
    ]


def log(level: str, message: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    """Return what a line of the log is reported as."""
    return "log.appended", {"level": level, "message": message, "fields": fields}


def failed(code: str, message: str, **details: Any) -> tuple[str, dict[str, Any]]:
    """Return what the failure of a node is reported as."""
    return "node.failed", {"error": {"code": code, "message": message, **({"details": details} if details else {})}}


def breached(kind: str, limit: int) -> tuple[str, dict[str, Any]]:
    """Return what a limit that was reached is reported as."""
    return "cap.breached", {"kind": kind, "limit": limit, "observed": limit + 1}


QUESTIONS = [{"id": "q1", "question": "Which region?"}, {"id": "q2", "question": "When?", "schema": {"type": "string"}}]
ASKING = envelope("clarification.request", payload={"questions": QUESTIONS, "reasoning": "Hm.", "contextType": "form"})

ACCEPTED: dict[str, tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]] = {
    "a kind of the host's own": (envelope(), [("node.completed", {"outputs": {"envelopeType": NOTE}})]),
    "questions, and an interrupt": (
        ASKING,
        [
            ("clarification.requested", {"interruptId": "id-1", "questions": QUESTIONS}),
            (
                "interrupt.requested",
                {
                    "interruptId": "id-1",
                    "kind": "clarification",
                    "key": CORRELATION,
                    "data": {"questions": QUESTIONS, "contextType": "form"},
                },
            ),
        ],
    ),
    "a schema is asked for": (envelope("schema.request"), [log("debug", "schema.request", envelopeType=NOTE)]),
    "an unknown schema is asked for": (
        envelope("schema.request", payload={"envelopeType": "vendor.acme.unknown"}),
        [log("debug", "schema.request")],
    ),
    "a schema was read": (envelope("schema.response"), [log("debug", "schema.response")]),
    "the model failed": (envelope("error"), [log("error", "error", code="validation_failed")]),
    "the model failed, with no code for programs": (
        envelope("error", payload={"code": "I cannot say", "message": "No."}),
        [log("error", "error")],
    ),
}


@pytest.mark.parametrize(("given", "expected"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_is_accepted_is_reported(given: dict[str, Any], expected: list[tuple[str, dict[str, Any]]]) -> None:
    """Each kind in its own way, of a node that goes on."""
    found = acceptor().accept(given, CONTEXT)

    assert (found.status, reported(found.events)) == ("accepted", expected)


def test_an_event_is_a_whole_document() -> None:
    """It names its run, node and cause, and has its number in the run's log."""
    host = acceptor()
    host.accept(envelope("error", correlationId="c-0"), CONTEXT)
    found = host.accept(envelope(), CONTEXT)

    assert [each.to_json() for each in found.events] == [
        {
            "eventId": "id-2",
            "runId": "run-1",
            "nodeId": "node-1",
            "type": "node.completed",
            "payload": {"nodeId": "node-1", "outputs": {"envelopeType": NOTE}},
            "timestamp": "2026-05-18T10:00:01.000Z",
            "sequence": 1,
            "causationId": CORRELATION,
            "contentTrust": "trusted",
        }
    ]
    assert found.outcome.to_json()["recordedEventIds"] == ["id-2"]


@dataclass(frozen=True)
class Refused:
    """What is refused, by which rules, where; and the status and events it comes to."""

    status: str
    events: list[tuple[str, dict[str, Any]]]
    given: dict[str, Any] = field(default_factory=envelope)
    rules: HostConfig = RULES
    context: EnvelopeContext = CONTEXT


KINDS = ["clarification.request", "schema.request", "schema.response", "error"]
HIGHER = "unknown_schema_version: /schemaVersion: version: version 2, as advertised"
FOREIGN = replace(CONTEXT, contract=EnvelopeContract(frozenset({"vendor.acme.other"})))
LENIENT = replace(CONTEXT, contract=EnvelopeContract(frozenset({"vendor.acme.other"}), RefusalMode.DISCARD_AND_WARN))
TOLD_KINDS = {"refusedType": NOTE, "acceptedTypes": [*KINDS, "vendor.acme.other"]}


def counted(**counters: int) -> EnvelopeContext:
    """Return a context in which so much was counted."""
    return replace(CONTEXT, counters=Counters(**counters))


def round_of(code: str, used: int = 1, allowed: int = 3) -> tuple[str, dict[str, Any]]:
    """Return what is reported what the model may mend."""
    return log("warn", code, round=used, schemaRounds=allowed)


def unrendered(kind: str) -> tuple[str, dict[str, Any]]:
    """Return what is reported content that the host does not know: the node goes on without it."""
    return log("warn", "unknown_envelope_kind", refusedType=kind, acceptedTypes=list(CATALOGUE.ids))


REFUSED: dict[str, Refused] = {
    "shape": Refused("invalid", [round_of("invalid_envelope_shape")], envelope(extra=1)),
    "unknown kind": Refused("gated", [round_of("unknown_envelope_kind")], envelope("vendor.acme.unknown")),
    "another node's": Refused("invalid", [round_of("invalid_envelope_shape")], envelope(nodeId="node-2")),
    "media that the host does not take": Refused("gated", [unrendered("media.video")], envelope("media.video")),
    "a surface that the host does not render, after the last round": Refused(
        "gated", [unrendered("ui.gauge")], envelope("ui.gauge"), context=counted(schema=3)
    ),
    "higher version": Refused("invalid", [round_of("unknown_schema_version")], envelope(schemaVersion=3)),
    "lower version, strictly": Refused(
        "invalid",
        [round_of("unknown_schema_version")],
        envelope(schemaVersion=1),
        replace(RULES, strictness=Strictness.STRICT),
    ),
    "payload": Refused("invalid", [round_of("envelope_invalid")], envelope(payload={})),
    "payload, in the last round": Refused(
        "invalid", [round_of("envelope_invalid", 3)], envelope(payload={}), context=counted(schema=2)
    ),
    "payload, after the last round": Refused(
        "invalid",
        [
            breached("schema", 3),
            failed("envelope_invalid", 'envelope_invalid: /payload: the property "text", which is a text'),
        ],
        envelope(payload={}),
        context=counted(schema=3),
    ),
    "version, after the last round": Refused(
        "invalid",
        [breached("schema", 3), failed("unknown_schema_version", HIGHER)],
        envelope(schemaVersion=3),
        context=counted(schema=3),
    ),
    "payload, where no round is allowed": Refused(
        "invalid",
        [
            breached("schema", 0),
            failed("envelope_invalid", 'envelope_invalid: /payload: the property "text", which is a text'),
        ],
        envelope(payload={}),
        replace(RULES, limits=HostLimits(schema_rounds=0)),
    ),
    "contract": Refused(
        "gated",
        [
            failed(
                "envelope_contract_violation",
                f"envelope_contract_violation: the node may emit {', '.join(KINDS)}, vendor.acme.other",
                nodeId="node-1",
                **TOLD_KINDS,
            )
        ],
        context=FOREIGN,
    ),
    "contract, leniently": Refused(
        "gated", [log("warn", "envelope_contract_violation", **TOLD_KINDS)], context=LENIENT
    ),
    "too many envelopes": Refused(
        "breached",
        [
            breached("envelopes", 32),
            failed("cap_breached", "cap_breached: envelopesPerTurn: 33 where the limit is 32"),
        ],
        context=counted(envelopes=32),
    ),
    "too many questions": Refused(
        "breached",
        [
            breached("clarification", 5),
            failed("cap_breached", "cap_breached: clarificationRounds: 6 where the limit is 5"),
        ],
        ASKING,
        context=counted(clarification=5),
    ),
    "too many schemas": Refused(
        "breached",
        [breached("schema", 3), failed("cap_breached", "cap_breached: schemaRounds: 4 where the limit is 3")],
        envelope("schema.request"),
        context=counted(schema=3),
    ),
    "an approval on untrusted content": Refused(
        "invalid",
        [log("warn", "untrusted_content_blocks_approval")],
        context=replace(CONTEXT, approving=True, inputs=Trust.UNTRUSTED),
    ),
    "a host without envelopes": Refused(
        "invalid",
        [failed("capability_required", "capability_required")],
        rules=replace(RULES, accepts_envelopes=False),
    ),
    "a host that can ask nobody": Refused(
        "invalid",
        [failed("not-applicable", "not-applicable")],
        ASKING,
        replace(RULES, allows_clarifications=False),
    ),
}


def is_content(case: Refused) -> bool:
    """Tell whether it is content that the host stores and does not show."""
    return case.given["type"].startswith(("media.", "ui."))


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_is_reported(case: Refused) -> None:
    """With its code and never with its content; it may come again, for only content that is not shown is kept."""
    host = acceptor(case.rules)
    found = host.accept(case.given, case.context)
    assert found.failed is any(name == "node.failed" for name, _ in case.events)

    assert (found.status, reported(found.events)) == (case.status, case.events)
    assert (found.envelope, found.cached) == (None, False)
    assert (host.recall(CORRELATION, CONTEXT) is not None) is is_content(case)


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_a_refusal_is_in_the_log_and_in_the_sink(case: Refused) -> None:
    """As it was reported, numbered on from what the run reported before; also without a store."""
    heard: list[RunEvent] = []
    host, bare = acceptor(case.rules, on_event=heard.append), acceptor(case.rules, store=None, on_event=heard.append)
    found = [host.accept(case.given, case.context) for _ in range(2)]
    assert host.store is not None

    assert list(host.store.events("run-1")) == [each.to_json() for each in heard]
    times = 1 if is_content(case) else 2
    assert tuple(heard) == (*found[0].events, *found[1].events)
    assert [each.sequence for each in heard] == list(range(times * len(case.events)))
    assert reported(bare.accept(case.given, case.context).events) == case.events


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_a_refusal_has_a_cause(case: Refused) -> None:
    """The envelope's correlation id where its shape holds, and else the node that it came from."""
    unshaped = found_code(case) in {"invalid_envelope_shape", "capability_required"}
    events = acceptor(case.rules).accept(case.given, case.context).events

    assert {each.causation_id for each in events} == {"run-1:node-1" if unshaped else CORRELATION}
    assert {each.node_id for each in events} == {"node-1"}


def found_code(case: Refused) -> str:
    """Return the code with which something is refused."""
    outcome: Any = acceptor(case.rules).accept(case.given, case.context).outcome
    return str(outcome.code.value)


def test_a_conflict_fails_the_node() -> None:
    """Another kind under an id that was accepted is reported after the first's events."""
    host = acceptor()
    host.accept(envelope("error"), CONTEXT)
    found = host.accept(envelope(), CONTEXT)

    reason = (
        "envelope_correlation_conflict: /type: correlation: the kind that was accepted under this correlationId before"
    )
    assert (found.status, reported(found.events)) == ("invalid", [failed("envelope_correlation_conflict", reason)])
    assert [each.sequence for each in found.events] == [1]


def test_what_cannot_be_asked_may_be_asked_of_another_host() -> None:
    """``not-applicable`` is found while the store is held, and nothing is kept."""
    store = MemoryStore()
    mute = acceptor(replace(RULES, allows_clarifications=False), store=store).accept(ASKING, CONTEXT)
    found = acceptor(store=store).accept(ASKING, CONTEXT)

    assert (mute.status, found.status, found.cached) == ("invalid", "accepted", False)


# what is amiss and taken all the same


def without(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return an envelope without some members; ``meta.source`` is one of them."""
    meta = {name: each for name, each in given["meta"].items() if f"meta.{name}" not in names}
    return {**{name: each for name, each in given.items() if name not in names}, "meta": meta}


NO_SOURCE = "meta.source is absent; taken as ai-generation"
NO_CORRELATION = "correlationId is absent; made from run, node and envelope, so that a repetition may not be known"
UNLISTED_PAYLOAD = "the payload does not match the schema, whose version the host does not advertise"
DONE = ("node.completed", {"outputs": {"envelopeType": NOTE}})
DRIFT = log("warn", "envelope_schema_version_drift", emitted=1, advertised=2)

AMISS: dict[str, tuple[dict[str, Any], list[tuple[str, dict[str, Any]]], tuple[tuple[str, ...], int | None]]] = {
    "older version": (envelope(schemaVersion=1), [DRIFT, DONE], ((), 2)),
    "oldest version": (
        envelope(schemaVersion=0),
        [log("warn", "envelope_schema_version_drift", emitted=0, advertised=2), DONE],
        ((), 2),
    ),
    "no version": (
        without(envelope(), "schemaVersion"),
        [log("warn", "envelope_schema_version_drift", emitted=0, advertised=2), DONE],
        ((), 2),
    ),
    "no source": (without(envelope(), "meta.source"), [log("warn", NO_SOURCE), DONE], ((NO_SOURCE,), None)),
    "no correlation id": (
        without(envelope(), "correlationId"),
        [log("warn", NO_CORRELATION), DONE],
        ((NO_CORRELATION,), None),
    ),
    "all of it": (
        without(envelope(schemaVersion=1), "correlationId", "meta.source"),
        [log("warn", NO_CORRELATION), log("warn", NO_SOURCE), DRIFT, DONE],
        ((NO_CORRELATION, NO_SOURCE), 2),
    ),
    "a payload of a kind without a version": (
        envelope("vendor.acme.draft", payload={"text": 1}),
        [log("warn", UNLISTED_PAYLOAD), ("node.completed", {"outputs": {"envelopeType": "vendor.acme.draft"}})],
        ((UNLISTED_PAYLOAD,), None),
    ),
}


@pytest.mark.parametrize(("given", "expected", "noted"), AMISS.values(), ids=AMISS.keys())
def test_what_is_amiss_and_taken_is_warned_of(
    given: dict[str, Any], expected: list[tuple[str, dict[str, Any]]], noted: tuple[tuple[str, ...], int | None]
) -> None:
    """Warnings first, then the drift, then what the kind tells."""
    found = acceptor(HostConfig(UNLISTED)).accept(given, CONTEXT)

    assert (found.status, found.warnings, found.drift) == ("accepted", *noted)
    assert reported(found.events) == expected


def test_a_kind_without_a_version_is_held_to_its_schema_by_a_strict_host() -> None:
    """What is only warned of is then refused."""
    strict = HostConfig(UNLISTED, strictness=Strictness.STRICT)
    found = acceptor(strict).accept(envelope("vendor.acme.draft", payload={"text": 1}), CONTEXT)

    assert (found.status, reported(found.events)) == ("invalid", [round_of("envelope_invalid")])


def test_a_made_up_id_names_run_node_and_envelope() -> None:
    """So that a repetition with the same envelope id is known; events are caused by it."""
    host = acceptor()
    bare = without(envelope(), "correlationId")
    found, again = host.accept(bare, CONTEXT), host.accept(bare, CONTEXT)

    assert found.envelope is not None
    assert found.envelope.correlation_id == "run-1:node-1:env-1"
    assert {each.causation_id for each in found.events} == {"run-1:node-1:env-1"}
    assert again.cached


# handlers


def handled(rules: HostConfig, *events: Event) -> tuple[HostConfig, list[tuple[AIEnvelope, EnvelopeContext]]]:
    """Return rules with a handler that tells ``events``, and the calls that it will have had."""
    calls: list[tuple[AIEnvelope, EnvelopeContext]] = []

    def handle(given: AIEnvelope, context: EnvelopeContext) -> Iterator[Event]:
        calls.append((given, context))
        yield from events

    return replace(rules, handlers={NOTE: handle, "clarification.request": handle}), calls


def test_a_handler_says_what_is_reported() -> None:
    """In place of what would have been reported, whole and in order, after the warnings; it may be a generator."""
    rules, calls = handled(RULES, LogAppended(Level.INFO, "kept"), NodeCompleted({"note": 7}))
    found = acceptor(rules).accept(envelope(schemaVersion=1), CONTEXT)

    assert reported(found.events) == [DRIFT, log("info", "kept"), ("node.completed", {"outputs": {"note": 7}})]
    assert calls == [(found.envelope, CONTEXT)]


def test_a_handler_may_tell_nothing_or_a_failure() -> None:
    """A failure that the host tells is no refusal of the envelope."""
    silent, _ = handled(RULES)
    sad, _ = handled(RULES, NodeFailed("full", "No room is left."))
    quiet, loud = (acceptor(each).accept(envelope(), CONTEXT) for each in (silent, sad))

    assert (quiet.status, quiet.failed, reported(quiet.events)) == ("accepted", False, [])
    assert (loud.status, loud.failed, reported(loud.events)) == ("accepted", True, [failed("full", "No room is left.")])


def test_the_details_of_a_failure_name_the_node() -> None:
    """Those of the host's own too; a node that they name themselves stays."""
    own = NodeFailed("full", "No.", details={"room": 7})
    other = NodeFailed("full", "No.", details={"nodeId": "node-2"})
    found = acceptor(handled(RULES, own, other)[0]).accept(envelope(), CONTEXT)

    assert reported(found.events) == [
        failed("full", "No.", nodeId="node-1", room=7),
        failed("full", "No.", nodeId="node-2"),
    ]


def test_a_handler_may_take_a_universal_kind() -> None:
    """A host that asks in its own way asks, whatever else it says of clarifications."""
    rules, calls = handled(replace(RULES, allows_clarifications=False))
    found = acceptor(rules).accept(ASKING, CONTEXT)

    assert (found.status, len(calls), found.events) == ("accepted", 1, ())


def test_a_handler_is_given_what_may_leave_the_host() -> None:
    """Secrets are struck out, and the trust is stated."""
    rules, calls = handled(replace(RULES, secrets=Secrets.of({"stripe": SECRET})))
    given = envelope(payload={"text": f"It is {SECRET}."})
    found = acceptor(rules).accept(given, replace(CONTEXT, inputs=Trust.UNTRUSTED))
    ((seen, _),) = calls

    assert seen == found.envelope
    assert seen.payload == {"text": "It is [REDACTED:stripe]."}
    assert seen.meta.content_trust is Trust.UNTRUSTED
    assert given["payload"]["text"] == f"It is {SECRET}."


def test_what_a_handler_tells_is_struck_through() -> None:
    """A handler knows the host's secrets, and its events leave the host."""
    rules, _ = handled(replace(RULES, secrets=Secrets.of({"stripe": SECRET})), NodeCompleted({"key": SECRET}))
    found = acceptor(rules).accept(envelope(), CONTEXT)

    assert reported(found.events) == [("node.completed", {"outputs": {"key": "[REDACTED:stripe]"}})]


def test_a_handler_is_not_asked_about_other_kinds_or_refusals() -> None:
    """Neither about what is refused, by whichever step."""
    rules, calls = handled(RULES)
    host = acceptor(rules)
    for given in (envelope("error"), envelope(payload={}), envelope(extra=1), envelope(schemaVersion=9)):
        host.accept(given, CONTEXT)

    assert calls == []


NO_EVENTS = {
    "nothing": None,
    "a text": SECRET,
    "documents": [{"type": "node.completed"}],
    "one event, and no list": NodeCompleted(),
    "an event and more": [NodeCompleted(), SECRET],
}


@pytest.mark.parametrize("returned", NO_EVENTS.values(), ids=NO_EVENTS.keys())
def test_a_handler_that_returns_no_events_is_reported_so(returned: Any) -> None:
    """A function without ``return`` is the likeliest mistake; the error names the kind, and nothing is kept."""
    host = acceptor(replace(RULES, handlers={NOTE: lambda *_: returned}))

    with pytest.raises(InputError, match=f"handler of {NOTE} must return events") as error:
        host.accept(envelope(), CONTEXT)
    assert "emitter.events" in (error.value.hint or "")
    assert SECRET not in str(error.value)
    assert host.recall(CORRELATION, CONTEXT) is None


# trust, sinks, observers


@pytest.mark.parametrize("stated", [None, "trusted", "untrusted"], ids=["silent", "trusted", "untrusted"])
@pytest.mark.parametrize("boundary", Trust, ids=lambda each: f"boundary {each.value}")
@pytest.mark.parametrize("inputs", Trust, ids=lambda each: f"inputs {each.value}")
@pytest.mark.parametrize("kind", [NOTE, "clarification.request", "schema.request", "schema.response", "error"])
def test_every_event_has_the_trust_of_its_envelope(kind: str, inputs: Trust, boundary: Trust, stated: str) -> None:
    """One untrusted input taints; then what the envelope says counts; then the boundary."""
    given = envelope(kind)
    given["meta"] = {**without(given, "meta.contentTrust")["meta"], **({"contentTrust": stated} if stated else {})}
    found = acceptor().accept(given, replace(CONTEXT, inputs=inputs, boundary=boundary))
    meant = Trust.UNTRUSTED if inputs is Trust.UNTRUSTED else Trust(stated) if stated else boundary
    assert found.envelope is not None

    assert found.envelope.meta.content_trust is meant
    assert {each.content_trust for each in found.events} == {meant}


def test_an_observer_sees_every_acceptance() -> None:
    """Accepted, cached and refused, each once and as it is returned."""
    seen: list[Acceptance] = []
    host = acceptor(observe=seen.append)
    found = [host.accept(each, CONTEXT) for each in (envelope(), envelope(), envelope(payload={}), envelope("error"))]

    assert seen == found
    assert [(each.status, each.cached) for each in found] == [
        ("accepted", False),
        ("accepted", True),
        ("invalid", False),
        ("invalid", False),
    ]


def test_a_host_may_be_made_of_nothing() -> None:
    """By default it takes the standard kinds, remembers in memory and tells the time."""
    found = Acceptor().accept(envelope("error"), CONTEXT)

    assert (found.status, found.events[0].timestamp[-1]) == ("accepted", "Z")
    assert found.events[0].event_id


# what nobody may be made to fail by


def odd_ids() -> dict[str, Callable[[], Any]]:
    """Return makers of values that are no id, and hard to write down."""

    def deep() -> Any:
        made: Any = []
        for _ in range(100_000):
            made = [made]
        return made

    class Unspeakable:
        def __str__(self) -> str:
            raise RuntimeError

        __repr__ = __str__

    return {"a number of 5,000 digits": lambda: 10**5000, "a deep list": deep, "an object": Unspeakable}


@pytest.mark.parametrize("make", odd_ids().values(), ids=odd_ids().keys())
def test_an_id_that_is_none_is_refused(make: Callable[[], Any]) -> None:
    """Also where another is to be made from it."""
    found = acceptor().accept(without(envelope(envelopeId=make()), "correlationId"), CONTEXT)

    assert found.status == "invalid"


def cyclic() -> list[Any]:
    """Return a list that holds itself."""
    made: list[Any] = []
    made.append(made)
    return made


PAYLOADS: dict[str, Callable[[], Any]] = {
    "an object": object,
    "a cycle": cyclic,
    "a deep list": odd_ids()["a deep list"],
}


@pytest.mark.parametrize("make", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_an_envelope_whose_payload_is_no_json_is_refused(make: Callable[[], Any]) -> None:
    """An ``AIEnvelope`` may hold anything."""
    whole = acceptor().accept(envelope(), CONTEXT).envelope
    assert whole is not None

    assert acceptor().accept(whole.model_copy(update={"payload": make()}), CONTEXT).status == "invalid"
