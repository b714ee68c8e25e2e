"""``aiEnvelope.redaction``: secrets in envelopes and in reasoning, and what is reported them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.openwop.asking import META, envelope, to_run
from tests.openwop.secrets import CANARIES, MARK, VALUE, error

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.openwop.asking import Seam


def test_ai_envelope_redaction__a_secret_becomes_its_mark(seam: Seam) -> None:
    """The text around it stays."""
    reported = seam.accept(error(f"the tool said {VALUE}, no less"), byokCanaries=CANARIES)

    assert reported["status"] == "accepted"
    assert reported["redactedPayload"]["message"] == f"the tool said {MARK}, no less"
    assert reported["redactionCount"] == 1


def test_ai_envelope_redaction__every_occurrence_is_struck_out_and_counted(seam: Seam) -> None:
    """At any depth, in open bags too."""
    questions = [
        {"id": "q1", "question": f"Is it {VALUE}?"},
        {"id": "q2", "question": "And then?", "context": {"trace": f"{VALUE}/{VALUE}"}},
    ]
    reported = seam.accept(envelope(payload={"questions": questions}), byokCanaries=CANARIES)

    assert reported["status"] == "accepted"
    assert VALUE not in json.dumps(reported)
    assert reported["redactionCount"] == 3


def test_ai_envelope_redaction__each_secret_has_its_own_mark(seam: Seam) -> None:
    """Of several."""
    canaries = [{"value": f"sk-live-{name}-0000", "secretId": f"key-{name}"} for name in ("alpha", "beta")]
    reported = seam.accept(error("sk-live-alpha-0000 and sk-live-beta-0000"), byokCanaries=canaries)

    assert reported["redactedPayload"]["message"] == "[REDACTED:key-alpha] and [REDACTED:key-beta]"


def test_ai_envelope_redaction__an_older_mark_stays(seam: Seam) -> None:
    """It is checked as any text, and is no further occurrence."""
    said = "[REDACTED:older-key] stood here"
    reported = seam.accept(error(said), byokCanaries=CANARIES)

    assert (reported["status"], reported["redactionCount"]) == ("accepted", 0)
    assert reported["redactedPayload"]["message"] == said


BROKEN: dict[str, Callable[[], dict[str, Any]]] = {
    "time": lambda: {**error(f"it is {VALUE}"), "meta": {**META, "ts": "tomorrow"}},
    "member": lambda: {**error("x"), VALUE: VALUE},
    "payload": lambda: error(VALUE, **{VALUE: VALUE}),
    "kind": lambda: envelope(f"vendor.acme.{VALUE}"),
    "version": lambda: {**error(VALUE), "schemaVersion": 99},
    "id": lambda: {**error("x"), "correlationId": f"r:n:0:{VALUE}", "schemaVersion": 99},
    "node": lambda: {**error("x"), "nodeId": f"node-{VALUE}", "schemaVersion": 99},
    "no-object": lambda: [VALUE],  # type: ignore[dict-item, return-value]
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_ai_envelope_redaction__a_refusal_repeats_no_secret(seam: Seam, broken: Callable[[], dict[str, Any]]) -> None:
    """Neither the outcome nor an event, a span or the bundle."""
    to = to_run("refused")
    reported = seam.accept(broken(), byokCanaries=CANARIES, projectTo=to)

    assert reported["status"] in {"invalid", "gated"}
    shown = (reported, seam.events(to["runId"]), seam.spans(to["runId"]), seam.bundle(to["runId"]))
    assert VALUE not in json.dumps(shown)


def test_ai_envelope_redaction__nothing_that_is_reported_holds_it(seam: Seam) -> None:
    """Events, spans and the debug bundle of the run; the questions of an interrupt, too."""
    to, asked = (
        to_run("reported"),
        envelope(payload={"questions": [{"id": "q1", "question": f"Shall {VALUE} be used?"}]}),
    )
    assert seam.accept(asked, byokCanaries=CANARIES, projectTo=to)["status"] == "accepted"

    events, spans, bundle = seam.events(to["runId"]), seam.spans(to["runId"]), seam.bundle(to["runId"])
    assert len(events) == 2
    assert len(spans) == 1
    assert MARK in json.dumps(events)
    assert VALUE not in json.dumps([events, spans, bundle])


REASONED = "There is {} in the page."


@pytest.mark.parametrize("kind", ["error", "clarification.request", "schema.request"])
def test_envelope_reasoning_secret_redaction__reasoning_is_struck_like_any_text(seam: Seam, kind: str) -> None:
    """In every universal kind that has it."""
    given = envelope(kind)
    given["payload"] = {"reasoning": REASONED.format(VALUE), **given["payload"]}

    reported = seam.accept(given, byokCanaries=CANARIES)

    assert reported["status"] == "accepted"
    assert reported["redactedPayload"]["reasoning"] == REASONED.format(MARK)


def test_envelope_reasoning_secret_redaction__two_occurrences_are_two(seam: Seam) -> None:
    """One in the reasoning, one beside it."""
    reported = seam.accept(error(f"it wrote {VALUE}", reasoning=REASONED.format(VALUE)), byokCanaries=CANARIES)

    assert reported["redactionCount"] == 2
    assert VALUE not in json.dumps(reported)


def test_envelope_reasoning_secret_redaction__without_a_secret_it_is_unchanged(seam: Seam) -> None:
    """Nothing is struck out that is none."""
    said = "Nothing was asked, so nothing is said."
    reported = seam.accept(error("Nothing.", reasoning=said), byokCanaries=CANARIES)

    assert (reported["redactedPayload"]["reasoning"], reported["redactionCount"]) == (said, 0)


def test_envelope_reasoning_secret_redaction__it_reaches_no_span_and_no_bundle(seam: Seam) -> None:
    """Reasoning is in neither, secrets or not."""
    to = to_run("reasoned")
    seam.accept(error("No.", reasoning=REASONED.format(VALUE)), byokCanaries=CANARIES, projectTo=to)

    shown = json.dumps([seam.spans(to["runId"]), seam.bundle(to["runId"])])
    assert VALUE not in shown
    assert "There is" not in shown


def test_envelope_reasoning_secret_redaction__nothing_is_routed_by_it(seam: Seam) -> None:
    """What is reported two envelopes that differ in it alone is the same."""
    reported: list[Any] = []
    for reasoning in ("All is well.", f"Stop here: {VALUE}. The node must fail."):
        to = to_run("routed")
        found = seam.accept(error("No.", reasoning=reasoning), byokCanaries=CANARIES, projectTo=to)
        events = [(each["type"], each["payload"].get("level")) for each in seam.events(to["runId"])]
        reported.append((found["status"], events))

    assert reported[0] == reported[1]
