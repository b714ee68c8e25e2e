"""No secret that a host knows leaves it, wherever in an envelope it stands and however it is written."""

from __future__ import annotations

import copy
import io
import json
import logging
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from emitter.events import Level, LogAppended, NodeCompleted
from emitter.host import (
    Acceptor,
    Counters,
    EnvelopeContext,
    EnvelopeContract,
    EnvelopeReassembler,
    HostConfig,
    RefusalMode,
    build_debug_bundle,
    build_follow_up,
    render_for_model,
)
from emitter.host.observability import observe_acceptances
from emitter.stores import MemoryStore, SqliteStore
from emitter.telemetry import sinks
from tests.host.anything import CONTEXTS, FULL, OPEN, VALID
from tests.host.envelopes import CONTEXT, NOTE, acceptor, envelope
from tests.host.leaking import FOREIGN, KEY, ODD, PAIR, PLACES, PLANTED, SECRETS, WAYS, chain, planted, shown
from tests.telemetry.collecting import Collected
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from emitter.events import Event, RunEvent
    from emitter.host import AIEnvelope

LAW = settings(max_examples=examples(50))
RULES = HostConfig(registry=FULL, secrets=SECRETS)


class Listening:
    """A host with everything that can be told to: sinks, a log, a file, spans."""

    def __init__(self, file: Path, rules: HostConfig = RULES) -> None:
        self.file, self.events, self.lines, self.spans = file, list["RunEvent"](), io.StringIO(), Collected()
        self.logger = logging.Logger("leaking")  # noqa: LOG001  of nobody else's
        self.logger.addHandler(logging.StreamHandler(self.lines))
        reported = sinks.to_all(
            self.events.append, sinks.to_logging(self.logger), sinks.to_jsonl(file), self.spans.on_event()
        )
        self.store = MemoryStore()
        self.host = acceptor(
            rules, store=self.store, on_event=reported, observe=observe_acceptances(self.spans.tracers)
        )

    def reported(self) -> list[Any]:
        """Return all that was reported, wherever."""
        spans = [(each.name, dict(each.attributes or {}), str(each.to_json())) for each in self.spans.spans]
        happened = [(each.name, dict(each.attributes or {})) for span in self.spans.spans for each in span.events]
        log = self.store.events("run-1")
        kept = list(vars_of(self.store))
        bundle = build_debug_bundle(self.host, "run-1")
        read = self.file.read_text("utf-8") if self.file.exists() else ""
        return [self.events, self.lines.getvalue(), spans, happened, log, kept, bundle, read, self.host]


def vars_of(store: MemoryStore) -> Iterable[object]:
    """Return what a store in memory holds."""
    return (getattr(store, name) for name in ("_entries", "_logs"))


def came_out(listening: Listening, given: Any, context: EnvelopeContext) -> list[Any]:
    """Return all that came of an envelope."""
    found = listening.host.accept(given, context)
    again = listening.host.accept(given, context)
    kept = [each for each in (found, again) if each.envelope is not None]
    models = [each.envelope for each in kept] + [render_for_model(each.envelope) for each in kept if each.envelope]
    known = [listening.host.recall(each.envelope.correlation_id, context) for each in kept if each.envelope]
    words = [build_follow_up(each) for each in (found, again)]
    return [found, again, found.outcome.to_json(), models, known, words, *listening.reported()]


@LAW
@given(given=planted(), context=CONTEXTS)
def test_no_secret_comes_out(given: dict[str, Any], context: EnvelopeContext, folder: Path) -> None:
    """Not in what is returned, reported, logged, kept, traced, printed, or said to a model."""
    file = folder / "events.jsonl"
    file.unlink(missing_ok=True)

    assert shown(came_out(Listening(file), given, context)) == []


@pytest.mark.parametrize("place", PLACES)
def test_no_place_and_no_way_of_writing_is_overlooked(place: str, tmp_path: Path) -> None:
    """Each place with each way, in a kind that has the place."""
    kind = _HOMES.get(place, OPEN)
    for number, (secret, way) in enumerate((secret, way) for secret in (KEY, ODD) for way in WAYS):
        given = copy.deepcopy(envelope(kind, payload=VALID[kind], correlationId=f"c-{number}"))
        PLACES[place](given, WAYS[way](secret))
        came = came_out(Listening(tmp_path / "events.jsonl"), given, CONTEXT)
        assert shown(came) == [], (secret, way)


_HOMES = {
    "questions": "clarification.request",
    "kind that is asked for": "schema.request",
    "details": "error",
    "message": "error",
    "address": "media.image",
    "catalogVersion": "ui.a2ui-surface",
}


@pytest.mark.parametrize("secret", PLANTED)
def test_the_judge_sees_what_is_there(secret: str) -> None:
    """Otherwise nothing above says anything: a host that knows no secret tells it, and each way is seen."""
    found = acceptor(HostConfig(registry=FULL)).accept(
        envelope(OPEN, payload={"a": [secret]}, schemaVersion=1), CONTEXT
    )

    assert shown(found)
    assert all(shown({"a": [way(secret)]}) and shown(ValueError(way(secret))) for way in WAYS.values())


@pytest.mark.parametrize("secret", [KEY, ODD, FOREIGN])
@pytest.mark.parametrize("size", [1, 3, 7])
def test_no_secret_comes_out_of_chunks(secret: str, size: int, tmp_path: Path) -> None:
    """In pieces it is nowhere reported, and in the whole it is struck out."""
    listening = Listening(tmp_path / "events.jsonl")
    reassembly = EnvelopeReassembler(listening.host)
    text = json.dumps({"a": secret, "b": {secret: 1}})
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    found = [reassembly.accept(chunk(number, piece, pieces), CONTEXT) for number, piece in enumerate(pieces)]

    assert [each is None for each in found] == [True] * (len(pieces) - 1) + [False]
    assert found[-1] is not None
    assert found[-1].status == "accepted"
    assert found[-1].redactions == 2
    assert shown(found, listening.reported(), reassembly) == []


def test_a_reassembly_does_not_print_what_waits() -> None:
    """Nobody has struck anything out of it yet."""
    reassembly = EnvelopeReassembler(acceptor(RULES))
    reassembly.accept(chunk(0, KEY, [KEY, ""]), CONTEXT)

    assert shown(repr(reassembly)) == []


def chunk(number: int, piece: str, pieces: list[str]) -> dict[str, Any]:
    """Return a chunk of an envelope of the open kind."""
    partial = {"isPartial": number + 1 < len(pieces), "index": number, "total": len(pieces)}
    return envelope(OPEN, payload=piece, schemaVersion=1, partial=partial)


@pytest.mark.parametrize("mode", RefusalMode)
@pytest.mark.parametrize("used", [0, 3], ids=["rounds left", "no rounds left"])
@pytest.mark.parametrize("broken", ["type", "member", "payload", "contract", "limit"])
def test_no_secret_comes_out_of_a_refusal(broken: str, used: int, mode: RefusalMode, tmp_path: Path) -> None:
    """Whichever step refuses it, and whatever that leads to."""
    contract = EnvelopeContract(frozenset({NOTE}), mode) if broken == "contract" else EnvelopeContract()
    context = EnvelopeContext(
        "run-1", "node-1", contract, counters=Counters(99 if broken == "limit" else used, used, used)
    )
    change: dict[str, Any] = {
        "type": {"type": f"vendor.acme.{KEY}"},
        "member": {KEY: KEY},
        "payload": {"payload": {KEY: KEY, "text": 7}},
        "contract": {"type": "vendor.emitter.document", "payload": {"name": KEY, "document": KEY}},
        "limit": {"payload": {"text": KEY}},
    }[broken]
    given = envelope(correlationId=f"c {KEY}", **change)

    came = came_out(listening := Listening(tmp_path / "events.jsonl"), given, context)
    assert came[0].status != "accepted"
    assert listening.events
    assert shown(came) == []


def test_a_handler_sees_no_secret_and_tells_none(tmp_path: Path) -> None:
    """It is given the redacted envelope, and what it knows by itself is struck out of its events."""
    seen: list[AIEnvelope] = []

    def handle(given: AIEnvelope, _: EnvelopeContext) -> list[Event]:
        seen.append(given)
        return [NodeCompleted({"key": KEY, ODD: [FOREIGN]}), LogAppended(Level.INFO, f"with {PAIR[0]}", {KEY: KEY})]

    listening = Listening(tmp_path / "events.jsonl", replace(RULES, handlers={OPEN: handle}))
    came = came_out(listening, envelope(OPEN, payload={"a": KEY}, schemaVersion=1), CONTEXT)

    assert len(seen) == 1
    assert shown(seen, came) == []


def test_what_a_handler_raises_holds_no_secret_of_the_envelope(tmp_path: Path) -> None:
    """Its error rises as it is, with what came of the envelope alone; nothing is kept or reported."""

    def handle(given: AIEnvelope, _: EnvelopeContext) -> list[Event]:
        try:
            return given.payload[repr(given)]
        except KeyError as error:
            raise RuntimeError(repr(given)) from error

    listening = Listening(tmp_path / "events.jsonl", replace(RULES, handlers={OPEN: handle}))
    with pytest.raises(RuntimeError) as raised:
        listening.host.accept(envelope(OPEN, payload={"a": KEY}, schemaVersion=1), CONTEXT)

    assert len(list(chain(raised.value))) >= 2
    assert shown(raised.value, listening.reported()) == []
    assert SECRETS.redact_error(RuntimeError(KEY)).endswith("[REDACTED:stripe]")


def test_a_file_of_a_store_holds_no_secret(tmp_path: Path) -> None:
    """Not a byte of one, in the database or in what stands beside it while it is open."""
    with SqliteStore(tmp_path / "runs.db") as store:
        host = acceptor(RULES, store=store)
        for number, secret in enumerate((KEY, ODD, *PAIR, FOREIGN)):
            change = {"payload": {secret: [secret]}, "schemaVersion": 1, "correlationId": f"run-1:node-1:{number}"}
            assert host.accept(envelope(OPEN, **change), CONTEXT).status == "accepted"
        held = b"".join(each.read_bytes() for each in sorted(tmp_path.iterdir())).decode("utf-8", "replace")

    assert "[REDACTED:stripe]" in held
    assert shown(held) == []


def test_an_acceptance_cannot_be_pickled_with_its_secrets() -> None:
    """Nor its host: a registry stays in its process."""
    host = Acceptor(RULES, store=None)
    for each in (host, host.config, SECRETS, host.accept(envelope(), CONTEXT)):
        with pytest.raises(TypeError) as raised:
            pickle.dumps(each)
        assert shown(raised.value) == []


def test_what_was_recorded_before_a_secret_was_known_is_struck_out_now() -> None:
    """A store outlives its host's registry: a key that is registered later stands in it already."""
    store = MemoryStore()
    given = envelope(OPEN, payload={"a": KEY}, schemaVersion=1)
    acceptor(HostConfig(registry=FULL), store=store).accept(given, CONTEXT)
    host = acceptor(RULES, store=store)

    assert shown(host.accept(given, CONTEXT), host.recall(given["correlationId"], CONTEXT)) == []


def test_an_id_that_holds_a_secret_is_refused() -> None:
    """Or two envelopes are taken for one, and the second is lost: so says docs/accept.md."""
    host = acceptor(RULES)
    first = host.accept(envelope(correlationId=PAIR[0]), CONTEXT)
    second = host.accept(envelope(correlationId=PAIR[1], payload={"text": "another"}), CONTEXT)

    assert (first.status, second.status) == ("invalid", "invalid") or not second.cached


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for all examples."""
    return tmp_path_factory.mktemp("reported")
