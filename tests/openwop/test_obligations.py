"""What the table of obligations names and no scenario asks."""

from __future__ import annotations

import json
import traceback
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from emitter import EmissionError, Policy, emit, stream
from emitter.host import (
    Acceptor,
    Counters,
    EnvelopeContext,
    EnvelopeReassembler,
    HostConfig,
    Secrets,
    build_follow_up,
    register_kind,
)
from emitter.host.kinds import A2UI_KIND, media_kinds
from emitter.host.registry import STANDARD
from emitter.stores import MemoryStore
from emitter.testing import Cut, Refused, Text, Violating, simulator
from tests.models.openwop import FOLDER, needs_schemas
from tests.openwop.asking import META, UNIVERSAL, envelope
from tests.openwop.secrets import MARK, SECRET, VALUE

if TYPE_CHECKING:
    from emitter.models import AIEnvelope
    from emitter.testing import Behaviour

WHERE = EnvelopeContext("r", "n")


class Note(BaseModel):
    """What a host takes, with something in it that may be absent."""

    text: str
    aside: str | None = None


OTHER = {"nodeId": "another"}
NOTE = "vendor.acme.note"
NOTES = register_kind(NOTE, Note, version=1)


def test_what_a_vendor_adds_stands_in_the_payload() -> None:
    """Neither ``meta`` nor the envelope itself has room for it."""
    extra = {"vendor.acme.colour": "red"}
    host = Acceptor(HostConfig(register_kind(NOTE, {"type": "object", "properties": {}}, version=1)))

    assert host.accept(envelope(NOTE, payload=extra), WHERE).status == "accepted"
    for given in (envelope(NOTE, meta={**META, **extra}), envelope(NOTE, **extra)):
        assert host.accept(given, WHERE).outcome.to_json()["reason"].startswith("invalid_envelope_shape: /")


@pytest.mark.parametrize("meta", [None, {}, {"source": "ai-generation"}], ids=["none", "empty", "no-ts"])
def test_an_envelope_says_when_it_was_made(meta: dict[str, Any] | None) -> None:
    """No host can make that up."""
    given = {name: each for name, each in envelope("error", meta=meta).items() if each is not None}

    assert Acceptor().accept(given, WHERE).status == "invalid"


@pytest.mark.parametrize("member", ["envelopeId", "correlationId", "nodeId"])
@pytest.mark.parametrize(("length", "status"), [(1, "accepted"), (128, "accepted"), (129, "invalid"), (0, "invalid")])
def test_an_id_has_1_to_128_characters(member: str, length: int, status: str) -> None:
    """Each of the three; characters, not bytes."""
    given = "ä" * length
    where = EnvelopeContext("r", given) if member == "nodeId" and status == "accepted" else WHERE

    assert Acceptor().accept(envelope("error", **{member: given}), where).status == status


@pytest.mark.parametrize("kind", ["error", "clarification.request"])
def test_an_envelope_speaks_for_no_other_node(kind: str) -> None:
    """It names the node that emitted it, or none; what is reported a refusal is reported the node that is known."""
    host = Acceptor()
    named, unnamed, foreign = (host.accept(envelope(kind, **each), WHERE) for each in ({"nodeId": "n"}, {}, OTHER))
    said = foreign.outcome.to_json()

    assert (named.status, unnamed.status) == ("accepted", "accepted")
    assert said["reason"].startswith("invalid_envelope_shape: /nodeId")
    assert [(each["instancePath"], each["keyword"]) for each in said["details"]] == [("/nodeId", "node")]
    assert [(each.type, each.node_id) for each in foreign.events] == [("log.appended", "n")]


def test_null_is_taken_as_absence_is() -> None:
    """Where a kind admits null: the same becomes of both, and the same is reported."""
    found = [
        Acceptor(HostConfig(NOTES)).accept(envelope(NOTE, payload=payload), WHERE)
        for payload in ({"text": "x"}, {"text": "x", "aside": None})
    ]

    assert [each.status for each in found] == ["accepted", "accepted"]
    assert found[0].events[0].event == found[1].events[0].event


TAKEN: dict[str, dict[str, Any]] = {
    **UNIVERSAL,
    NOTE: {"text": "x"},
    "media.image": {"url": "https://host.example/assets/3f9a", "bytes": 1},
    A2UI_KIND.id: {"catalogVersion": "0.9.1", "surface": {"components": []}},
}


@needs_schemas
@pytest.mark.parametrize("kind", TAKEN)
def test_no_event_is_named_after_a_kind(kind: str) -> None:
    """Whether it is accepted or refused, the types are those that the protocol lists."""
    known = json.loads((FOLDER / "run-event.schema.json").read_text("utf-8"))["$defs"]["RunEventType"]["enum"]
    host = Acceptor(HostConfig(NOTES.with_kinds(*media_kinds(), A2UI_KIND)))
    found = [host.accept(envelope(kind, payload=payload), WHERE) for payload in (TAKEN[kind], 7)]

    reported = [event.type for each in found for event in each.events]
    assert [each.status for each in found] == ["accepted", "invalid"]
    assert kind not in reported
    assert set(reported) <= set(known)


def test_what_was_wrong_goes_back_to_the_model() -> None:
    """The place and what is expected there, and no word of the envelope."""
    found = Acceptor().accept(envelope("error", payload={"code": "quillious", "message": 7}), WHERE)

    words = build_follow_up(found) or ""
    assert "/payload/message: a text" in words
    assert "quillious" not in words


def test_reasoning_is_kept_and_reported_by_no_event() -> None:
    """It stands in the recorded envelope, for whoever may see that."""
    store, payload = MemoryStore(), {"reasoning": "quillious", "code": "a", "message": "b"}
    found = Acceptor(store=store).accept(envelope("error", payload=payload), WHERE)
    assert found.envelope is not None

    kept = store.find("r", found.envelope.correlation_id)
    assert kept is not None
    assert kept.envelope["payload"] == payload
    assert "quillious" not in json.dumps(list(store.events("r")))


def test_a_surface_does_nothing_before_it_is_whole() -> None:
    """Nothing of it is reported or handed out, and no handler is asked, until the last chunk is there."""
    handled: list[Any] = []

    def handle(given: AIEnvelope, _: EnvelopeContext) -> tuple[()]:
        handled.append(given.payload)
        return ()

    host = Acceptor(HostConfig(STANDARD.with_kinds(A2UI_KIND), handlers={A2UI_KIND.id: handle}))
    chunks = EnvelopeReassembler(host)
    button = {"component": "action.button", "id": "go", "label": "Go", "action": {"target": "resume"}}
    payload = {"catalogVersion": "0.9.1", "surface": {"components": [button]}}
    first, last = (
        envelope(
            A2UI_KIND.id,
            correlationId="c",
            payload=payload,
            partial={"isPartial": index == 0, "index": index, "total": 2},
        )
        for index in range(2)
    )

    assert chunks.accept(first, WHERE) is None
    assert host.accept(first, WHERE).status == "invalid"
    assert handled == []
    whole = chunks.accept(last, WHERE)
    assert whole is not None
    assert (whole.status, handled) == ("accepted", [payload])


@pytest.mark.parametrize("kind", [A2UI_KIND.id, "ui.of-tomorrow", "media.image", "media.smell"])
def test_content_that_a_host_cannot_show_fails_no_node(kind: str) -> None:
    """It is gated with a warning, as often as it comes, and uses up no round; what was left to mend is still left."""
    turn = Acceptor().turn(EnvelopeContext("r", "n", counters=Counters(schema=3)))
    found = [turn.accept(envelope(kind)) for _ in range(5)]

    assert {(each.status, each.failed, *(reported.type for reported in each.events)) for each in found} == {
        ("gated", False, "log.appended")
    }
    assert turn.context.counters == Counters(envelopes=5, schema=3)


def test_a_stranger_of_no_such_family_is_a_round() -> None:
    """After the last one the node fails."""
    turn = Acceptor().turn(EnvelopeContext("r", "n"))
    found = [turn.accept(envelope("vendor.acme.stranger")) for _ in range(4)]

    assert [each.failed for each in found] == [False, False, False, True]
    assert turn.context.counters.schema == 4


def test_a_version_is_a_number_and_meta_is_whole() -> None:
    """RFC 0055 has an example without either; the schema decides."""
    shown = {**envelope("error"), "schemaVersion": "1.0"}
    bare = {**envelope("error"), "meta": {"rendering": {"display": "markdown"}}}

    reported = [Acceptor().accept(each, WHERE).outcome.to_json()["reason"] for each in (shown, bare)]
    assert [each.split(": ")[1] for each in reported] == ["/schemaVersion", "/meta/ts"]


@pytest.mark.parametrize(
    ("ids", "told_as"),
    [({}, "google"), ({"google": "gemini"}, "gemini"), ({"openai": "mine"}, "google")],
    ids=["nothing-said", "called-gemini", "another-is-called-otherwise"],
)
def test_a_vendor_is_reported_as_the_host_calls_it(ids: dict[str, str], told_as: str) -> None:
    """In every event that names it, of whatever end; who says nothing has the library's own id."""
    reported, answers = list[Any](), (Cut(answer=Text({"result": "x"})), Text({"result": "x"}), Refused())
    with simulator() as vendor:
        vendor.script(*answers)
        client = vendor.client(GEMINI, verify=False)
        asked: Any = {"model": GEMINI, "client": client, "on_event": reported.append, "provider_ids": ids}
        emit(FORM, "Say it.", **asked)
        with pytest.raises(EmissionError):
            emit(FORM, "Say it.", **asked)

    named = [(each.type, each.event.provider) for each in reported if hasattr(each.event, "provider")]
    assert {each for each, _ in named} == {"provider.usage", "envelope.truncated", "envelope.refusal"}
    assert {each for _, each in named} == {told_as}


GEMINI, MODEL, WIRE = "google/gemini-3.8-flash", "openai/gpt-6-sol", "openai-chat"
FORM = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
ANSWERS: dict[str, Behaviour] = {
    "value": Text({"result": f"it is {VALUE}, no less"}),
    "violating": Violating({"result": 1, VALUE: VALUE}),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_stream_tells_no_secret(name: str) -> None:
    """Neither in a piece of a text nor in two together, nor in the error that it ends with."""
    reported, failed = list[Any](), ""
    with simulator(answers=ANSWERS[name]) as vendor:
        streamed = stream(
            FORM,
            "Say it.",
            model=MODEL,
            wire=WIRE,
            follow=["/result"],
            client=vendor.client(MODEL, verify=False),
            policy=Policy(max_attempts=1),
            host=Acceptor(HostConfig(secrets=Secrets.of({SECRET: VALUE}))),
        )
        try:
            reported = list(streamed)
            reported.append(streamed.result().value)
        except EmissionError as error:
            failed = "".join(traceback.format_exception(error))

    joined = "".join(getattr(each, "text", "") for each in reported)
    assert VALUE not in repr(reported) + joined + failed
    assert (MARK in joined, bool(failed)) == ((True, False) if name == "value" else (False, True))
